package schema

import (
	"strconv"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/podspec"
)

// graceSeconds is the termination grace of every operation Pod.
const graceSeconds = int64(podspec.TerminationGrace / time.Second)

// claim reserves an operation on the resource's present inputs.
func (v *View) claim(t intent.Operation) operation.Claim {
	return v.reserve(t, v.inputs(t, nil), 1)
}

func (v *View) reserve(t intent.Operation, inputs string, attempt int32) operation.Claim {
	c := operation.Claim{
		Type: t, Mutating: operation.Mutating(t), Attempt: attempt, StartedAt: stamp(v.Now).Time,
		Inputs: inputs, BindingEpoch: v.epoch(), Grace: podspec.TerminationGrace,
	}
	c.ID = digest.Tuple("ptah-operation-v1", string(v.Schema.UID), string(t), c.BindingEpoch, inputs, strconv.Itoa(int(attempt)), v.Nonce)
	c.JobName = v.jobName(c)
	c.Holder = c.ID
	if proof := v.Schema.Status.PendingObservation; proof != nil {
		c.Holder = proof.ApplyOperationID
		c.Realm, c.LeaseEpoch, c.LeaseSeconds = proof.CoordinationDigest, proof.LeaseEpoch, proof.LeaseDurationSeconds
	} else if t == intent.Plan || t == intent.Apply {
		c.Realm = v.realm()
		c.LeaseSeconds = int32(podspec.LeaseDuration(int64(v.deadline()/time.Second)) / time.Second) //nolint:gosec // the API bounds the deadline
	}
	return c
}

// jobName is the name that the claim reserves. It can only be missing for an operation that a schema does not have.
func (v *View) jobName(c operation.Claim) string {
	name, err := podspec.Envelope{
		Family: podspec.Schema, Name: v.Schema.Name, ResourceUID: v.Schema.UID, Operation: c.Type, OperationID: c.ID,
		Epoch: c.BindingEpoch, InputFingerprint: c.Inputs, Attempt: c.Attempt,
	}.JobName()
	if err != nil {
		return ""
	}
	return name
}

func (v *View) epoch() string {
	if b := v.Schema.Status.ExecutionBinding; b != nil {
		return b.Epoch
	}
	return ""
}

// inputs is the digest of everything that an operation rests on. A claim whose inputs moved is given up. A verification policy is bound as
// it was inspected before the claim, so c is the claim whose own inspection counts; nil takes the one of this pass.
func (v *View) inputs(t intent.Operation, c *v1alpha1.SchemaOperation) string {
	s := v.Schema
	if p := s.Status.PendingObservation; p != nil {
		return digest.Tuple("ptah-proof-inputs-v1", string(s.UID), string(t), v.epoch(), p.ApplyOperationID, p.LeaseEpoch, p.Source.Digest)
	}
	members := []string{string(s.UID), string(t), v.epoch(), strconv.FormatInt(s.Generation, 10)}
	if t != intent.Resolve && s.Status.Source != nil {
		members = append(members, s.Status.Source.Digest)
	}
	switch t {
	case intent.Verify:
		uid, sum := v.inspected(c)
		members = append(members, uid, sum)
	case intent.Observe, intent.Plan, intent.Apply:
		members = append(members, v.realm())
		if src := s.Status.Source; src != nil {
			members = append(members, string(src.VerificationPolicyUID), src.VerificationPolicyDigest)
		}
	}
	if t == intent.Plan || t == intent.Apply {
		members = append(members, v.identityDigest(), v.policyFingerprint())
	}
	if p := s.Status.Plan; t == intent.Apply && p != nil {
		members = append(members, string(p.UID), p.Fingerprint)
		if p.Approval != nil {
			members = append(members, string(p.Approval.UID))
		}
	}
	return digest.Tuple("ptah-inputs-v1", members...)
}

func (v *View) inspected(c *v1alpha1.SchemaOperation) (uid, sum string) {
	if c != nil {
		return string(c.VerificationPolicyUID), c.VerificationPolicyDigest
	}
	return string(v.Policy.Value.UID), v.Policy.Value.Digest
}

func (v *View) identityDigest() string {
	if t := v.Schema.Status.Target; t != nil {
		return t.IdentityDigest
	}
	return ""
}

// Current reports whether a claim still rests on the inputs that it was computed from.
func (v *View) Current(c operation.Claim) (ok bool, moved string) {
	op := v.Schema.Status.ActiveOperation
	if op == nil || op.ID != c.ID {
		return false, "the claim is gone"
	}
	if c.BindingEpoch != v.epoch() {
		return false, "the execution binding changed"
	}
	if c.Inputs != v.inputs(c.Type, op) {
		return false, "its inputs changed"
	}
	if v.proving() && c.Snapshot != "" && c.JobUID == "" {
		// A proof outlasts edits, so the generation is not among its inputs. Its Pod is made from spec.execution all the same.
		if _, err := v.Job(c); err != nil {
			return false, "spec.execution changed before its Job was created"
		}
	}
	return true, ""
}

// Prove reserves the next reading of a standing proof.
func (v *View) Prove(p operation.Proof) operation.Claim {
	if p.PlanRequired {
		return v.claim(intent.Plan)
	}
	return v.claim(intent.Observe)
}

// Retry reserves another attempt on the same inputs.
func (v *View) Retry(c operation.Claim) operation.Claim {
	return v.reserve(c.Type, v.inputs(c.Type, v.Schema.Status.ActiveOperation), c.Attempt+1)
}

// operationOf renders a claim that the status does not hold yet, with the selectors that its Pod and a later proof need.
func (v *View) operationOf(c operation.Claim) *v1alpha1.SchemaOperation {
	s := v.Schema
	op := &v1alpha1.SchemaOperation{
		Type: v1alpha1.SchemaOperationType(c.Type), CoordinationDigest: v.realm(), TargetIdentityDigest: v.identityDigest(),
		TerminationGracePeriodSeconds: graceSeconds,
	}
	if p := s.Status.PendingObservation; p != nil {
		op.CoordinationDigest, op.TargetIdentityDigest = p.CoordinationDigest, p.Plan.TargetIdentityDigest
		op.Source, op.Target, op.ObservationDev = p.Source.DeepCopy(), p.Target.DeepCopy(), p.Dev.DeepCopy()
		op.ObservationExclude, op.ObservationProtectedTables = clone(p.Exclude), clone(p.ProtectedTables)
		op.ObservationSeverity, op.ObservationLockTimeout, op.ObservationConnectTimeout = p.DriftSeverity, p.LockTimeout, p.ConnectTimeout
		merge(op, c)
		return op
	}
	if src := s.Status.Source; src != nil && c.Type != intent.Resolve {
		op.Source = &v1alpha1.SourceBinding{
			Digest: src.Digest, ResolvedReference: src.ResolvedReference,
			RegistryAuthFrom: s.Spec.Desired.RegistryAuthFrom.DeepCopy(), Transport: s.Spec.Desired.Transport.DeepCopy(),
		}
	}
	switch c.Type {
	case intent.Verify:
		op.VerificationPolicyUID, op.VerificationPolicyDigest = v.Policy.Value.UID, v.Policy.Value.Digest
	case intent.Observe, intent.Plan, intent.Apply:
		v.scope(op)
	}
	merge(op, c)
	return op
}

// scope copies what a reading of the database needs, so that a proof after an Apply uses exactly what the Apply was planned under.
func (v *View) scope(op *v1alpha1.SchemaOperation) {
	spec := &v.Schema.Spec
	op.Target = &v1alpha1.TargetBinding{Engine: spec.Target.Engine, URLFrom: *spec.Target.URLFrom.DeepCopy()}
	op.ObservationDev = spec.Dev.DeepCopy()
	op.ObservationExclude, op.ObservationProtectedTables = clone(spec.Policy.Exclude), clone(spec.Policy.ProtectedTables)
	op.ObservationSeverity = spec.Policy.DriftSeverity
	op.ObservationLockTimeout, op.ObservationConnectTimeout = spec.Policy.LockTimeout, spec.Execution.ConnectTimeout
	if src := v.Schema.Status.Source; src != nil {
		op.VerificationPolicyUID, op.VerificationPolicyDigest = src.VerificationPolicyUID, src.VerificationPolicyDigest
	}
}

// merge writes the lifecycle's half of a claim.
func merge(op *v1alpha1.SchemaOperation, c operation.Claim) {
	op.ID, op.Attempt, op.InputFingerprint, op.JobName = c.ID, c.Attempt, c.Inputs, c.JobName
	op.JobUID = uid(c.JobUID)
	op.StartedAt = *stamp(c.StartedAt)
	op.DispatchStarted = c.Dispatched
	op.DispatchNotAfter, op.ExecutionNotAfter = stamp(c.DispatchNotAfter), stamp(c.ExecutionNotAfter)
	op.ExecutionBindingID = c.BindingEpoch
	op.LeaseEpoch, op.LeaseDurationSeconds, op.LeaseContinuityLost = c.LeaseEpoch, c.LeaseSeconds, c.ContinuityLost
	if c.Snapshot == "" {
		op.AdmissionSnapshot = nil
	}
}

func clone(s []string) []string {
	if s == nil {
		return nil
	}
	return append([]string(nil), s...)
}

package schema

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/podspec"
	"github.com/ptah-run/ptah/pkg/realm"
)

// Prepare resolves what the API server's own admission is going to make of the claim's Pod, and an Apply's deadlines. A claim whose
// envelope cannot be foretold dispatches nothing.
func (v *View) Prepare(c operation.Claim, now time.Time) operation.Preparation {
	need := operation.Part(0)
	if !v.Admission.Fresh {
		need |= operation.PartAdmission
	}
	if c.Mutating && !v.Stored.Fresh {
		need |= operation.PartPlan
	}
	switch {
	case v.Admission.State == operation.Unknown:
		return operation.Preparation{Refused: "the namespace's admission objects cannot be read"}
	case c.Mutating && v.Stored.State == operation.Unknown:
		return operation.Preparation{Refused: "the stored plan cannot be read"}
	case need != 0:
		return operation.Preparation{Need: need}
	}
	if c.Mutating {
		c.DispatchNotAfter, c.ExecutionNotAfter = podspec.Deadlines(now, int64(v.deadline()/time.Second))
	}
	draft, err := v.build(c, nil)
	if err != nil {
		return operation.Preparation{Refused: err.Error()}
	}
	snapshot, err := podspec.SnapshotAdmission(draft, v.Admission.Value)
	if err != nil {
		return operation.Preparation{Refused: err.Error()}
	}
	c.Snapshot = snapshot.Digest
	return operation.Preparation{Claim: c, Detail: snapshot}
}

// Job builds the one Job of a claim whose snapshot is stored. A template that differs from the snapshot's is refused.
func (v *View) Job(c operation.Claim) (*batchv1.Job, error) {
	op := v.Schema.Status.ActiveOperation
	if op == nil || op.ID != c.ID || op.AdmissionSnapshot == nil {
		return nil, fmt.Errorf("building job %s: the claim has no admission snapshot", c.JobName)
	}
	job, err := v.build(c, op.AdmissionSnapshot)
	if err != nil {
		return nil, err
	}
	found, err := podspec.TemplateDigest(job.Spec.Template)
	if err != nil {
		return nil, err
	}
	if found != op.AdmissionSnapshot.TemplateDigest {
		return nil, fmt.Errorf("building job %s: its template is not the one that the admission snapshot was taken from", c.JobName)
	}
	return job, nil
}

func (v *View) build(c operation.Claim, snapshot *v1alpha1.AdmissionSnapshot) (*batchv1.Job, error) {
	op := v.Schema.Status.ActiveOperation.DeepCopy()
	if op == nil || op.ID != c.ID {
		op = v.operationOf(c) // a claim that is about to be written, snapshot and all
	}
	merge(op, c)
	op.AdmissionSnapshot = snapshot
	r, err := v.request(op)
	if err != nil {
		return nil, err
	}
	return podspec.Build(r)
}

func (v *View) request(op *v1alpha1.SchemaOperation) (podspec.Request, error) {
	s := v.Schema
	identity, ok := podspec.IdentityOf(s, op)
	if !ok {
		return podspec.Request{}, fmt.Errorf("building job %s: the execution binding of the claim is gone", op.JobName)
	}
	r := podspec.Request{Envelope: podspec.ForSchema(s, op, identity), Execution: s.Spec.Execution}
	if op.AdmissionSnapshot == nil {
		r.SnapshotDigest = ""
	}
	if r.Execution.ActiveDeadlineSeconds == 0 {
		r.Execution.ActiveDeadlineSeconds = int64(v.deadline() / time.Second)
	}
	t := intent.Operation(op.Type)
	if t != intent.Apply {
		r.Source = v.source(op)
	}
	if t == intent.Verify {
		r.Policy = &podspec.Policy{From: s.Spec.Desired.VerificationPolicyFrom, Digest: op.VerificationPolicyDigest}
	}
	if t == intent.Observe || t == intent.Plan || t == intent.Apply {
		database, err := v.database(op)
		if err != nil {
			return podspec.Request{}, err
		}
		r.Database = database
	}
	if t == intent.Apply {
		if v.Stored.State != operation.Present || v.Stored.Value.Plan == nil {
			return podspec.Request{}, fmt.Errorf("building job %s: the stored plan is gone", op.JobName)
		}
		r.Plan = v.Stored.Value.Plan.Spec.DeepCopy()
		r.DispatchNotAfter, r.ExecutionNotAfter = &op.DispatchNotAfter.Time, &op.ExecutionNotAfter.Time
	}
	return r, nil
}

func (v *View) source(op *v1alpha1.SchemaOperation) *podspec.Source {
	desired := v.Schema.Spec.Desired
	if op.Source == nil {
		return &podspec.Source{Requested: desired.OCIRef, Auth: desired.RegistryAuthFrom, Transport: desired.Transport}
	}
	return &podspec.Source{
		Requested: desired.OCIRef, Resolved: op.Source.ResolvedReference, Auth: op.Source.RegistryAuthFrom, Transport: op.Source.Transport,
	}
}

func (v *View) database(op *v1alpha1.SchemaOperation) (*podspec.Database, error) {
	engine, ok := realm.NormaliseEngine(op.Target.Engine)
	if !ok {
		return nil, fmt.Errorf("building job %s: engine %s is not supported", op.JobName, quoted(op.Target.Engine))
	}
	d := &podspec.Database{
		Engine: engine, CoordinationDigest: op.CoordinationDigest, TargetIdentityDigest: op.TargetIdentityDigest, URLFrom: op.Target.URLFrom,
		Scope: intent.Scope{
			Exclude: op.ObservationExclude, ProtectedTables: op.ObservationProtectedTables, DriftSeverity: string(op.ObservationSeverity),
			TransactionMode: string(v.Schema.Spec.Policy.TransactionMode),
			ConnectTimeout:  intent.Duration(op.ObservationConnectTimeout.Duration), LockTimeout: intent.Duration(op.ObservationLockTimeout.Duration),
		},
	}
	if op.Type == v1alpha1.SchemaObserve && v.Schema.Status.PendingObservation == nil {
		d.TargetIdentityDigest = "" // an ordinary reading names the database; nothing was planned against it yet
	}
	if op.Type == v1alpha1.SchemaPlan && op.ObservationDev != nil {
		d.DevURLFrom = op.ObservationDev.URLFrom.DeepCopy()
	}
	return d, nil
}

// MatchJob says why a Job is not exactly what the claim would create; empty where it is.
func MatchJob(s *v1alpha1.PtahSchema, job *batchv1.Job) string {
	op := s.Status.ActiveOperation
	if op == nil || op.AdmissionSnapshot == nil {
		return "the claim has no admission snapshot"
	}
	identity, ok := podspec.IdentityOf(s, op)
	if !ok {
		return "the execution binding of the claim is gone"
	}
	if err := podspec.MatchJob(job, podspec.ForSchema(s, op, identity), *op.AdmissionSnapshot); err != nil {
		return err.Error()
	}
	return ""
}

// MatchPod says why a Pod is not exactly what its Job asked for; empty where it is.
func MatchPod(s *v1alpha1.PtahSchema, job *batchv1.Job, pod *corev1.Pod) string {
	op := s.Status.ActiveOperation
	if op == nil || op.AdmissionSnapshot == nil {
		return "the claim has no admission snapshot"
	}
	if err := podspec.MatchPod(pod, job, *op.AdmissionSnapshot); err != nil {
		return err.Error()
	}
	return ""
}

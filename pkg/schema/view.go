// Package schema is the schema family of the operation lifecycle: which operation follows from which evidence, what a result means, when a
// plan may run, and what the status of a PtahSchema says about all of it. It decides and renders; the order is pkg/operation's.
package schema

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/binding"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/podspec"
	"github.com/ptah-run/ptah/pkg/realm"
)

// View is one PtahSchema as one pass sees it: the family's half of a snapshot. It is read, never changed.
type View struct {
	Schema   *v1alpha1.PtahSchema
	Now      time.Time
	Nonce    string // 32 lower-case hex digits, fresh in this pass
	Identity binding.Identity

	Policy    operation.Known[Policy]
	Admission operation.Known[podspec.AdmissionInputs]
	Stored    operation.Known[StoredPlan]
	Approvals operation.Known[[]v1alpha1.PtahSchemaApproval]
	// Published is the plan object that this process stored for the claim in flight; nil until it did.
	Published *v1alpha1.PtahSchemaPlan
}

// Policy is the verification policy as the API server holds it.
type Policy struct {
	UID       types.UID
	Digest    string // of the selected key's bytes
	Immutable bool
	HasKey    bool
}

// StoredPlan is the recorded plan, read back from its object and chunks.
type StoredPlan struct {
	Plan *v1alpha1.PtahSchemaPlan
	// Damage says what is wrong with the stored bytes, for a person; empty where every digest matches.
	Damage string
}

var _ operation.Family = (*View)(nil)

// Durable reads the lifecycle's facts out of the status.
func (v *View) Durable() operation.Durable {
	st := &v.Schema.Status
	d := operation.Durable{StateVersion: stateVersion(v.Schema)}
	if b := st.ExecutionBinding; b != nil {
		d.Epoch = b.Epoch
		d.BindingCurrent = b.ExecutionIdentity == v.Identity
	}
	if op := st.ActiveOperation; op != nil {
		c := v.claimOf(op)
		d.Claim = &c
	}
	if p := st.PendingObservation; p != nil {
		d.Proof = &operation.Proof{
			OperationID: p.ApplyOperationID, JobName: p.ApplyJobName, JobUID: string(p.ApplyJobUID),
			Realm: p.CoordinationDigest, LeaseEpoch: p.LeaseEpoch, LeaseSeconds: p.LeaseDurationSeconds,
			ObserveAfter: timeOf(p.ObserveAfter), PlanRequired: p.PlanRequired,
		}
	}
	if r := st.PendingLockRelease; r != nil {
		d.Owed = &operation.Release{Realm: r.CoordinationDigest, Epoch: r.LeaseEpoch, Seconds: r.LeaseDurationSeconds, OperationID: r.OperationID}
	}
	return d
}

// claimOf reads a claim. An operation of a proof runs under the Apply's Lease, so the Apply is its holder.
func (v *View) claimOf(op *v1alpha1.SchemaOperation) operation.Claim {
	c := operation.Claim{
		Type: intent.Operation(op.Type), ID: op.ID, Attempt: op.Attempt, StartedAt: op.StartedAt.Time,
		Inputs: op.InputFingerprint, JobName: op.JobName, JobUID: string(op.JobUID),
		Dispatched: op.DispatchStarted, DispatchNotAfter: timeOf(op.DispatchNotAfter), ExecutionNotAfter: timeOf(op.ExecutionNotAfter),
		Grace:        time.Duration(op.TerminationGracePeriodSeconds) * time.Second,
		BindingEpoch: op.ExecutionBindingID, Holder: op.ID,
		LeaseEpoch: op.LeaseEpoch, LeaseSeconds: op.LeaseDurationSeconds, ContinuityLost: op.LeaseContinuityLost,
	}
	c.Mutating = operation.Mutating(c.Type)
	if op.LeaseDurationSeconds > 0 {
		c.Realm = op.CoordinationDigest
	}
	if p := v.Schema.Status.PendingObservation; p != nil {
		c.Holder = p.ApplyOperationID
	}
	if op.AdmissionSnapshot != nil {
		c.Snapshot = op.AdmissionSnapshot.Digest
	}
	// A retry waits for the time that the failure wrote; the status has one field for "when does anybody look again".
	if op.Attempt > 1 && op.JobUID == "" {
		c.NotBefore = timeOf(v.Schema.Status.NextReconciliationTime)
	}
	return c
}

func stateVersion(s *v1alpha1.PtahSchema) int64 {
	newest := int64(0)
	for _, n := range binding.SchemaVersions(s) {
		newest = max(newest, int64(n))
	}
	return newest
}

// Gate refuses an engine that is not implemented.
func (v *View) Gate() operation.Gate {
	g := operation.Gate{Recheck: min(v.interval(), time.Minute)}
	if _, ok := v.engine(); !ok {
		g.Unsupported = true
		g.Detail = "engine " + quoted(v.Schema.Spec.Target.Engine) + " is not supported; use PostgreSQL"
		g.Mark = v.retire(v1alpha1.ReasonPlanNoLongerCurrent, "the target's engine is not supported", everyApproval)
	}
	return g
}

// Parting is empty: a schema leaves nothing behind that only its status knew.
func (v *View) Parting() []operation.Note { return nil }

// RetainsProof holds: a schema's Apply owes a reading and keeps its Lease until then.
func (v *View) RetainsProof() bool { return true }

func (v *View) engine() (string, bool) {
	return realm.NormaliseEngine(v.Schema.Spec.Target.Engine)
}

// Realm is the coordination digest of the schema's target; empty where the engine is unknown.
func Realm(s *v1alpha1.PtahSchema) string {
	engine, ok := realm.NormaliseEngine(s.Spec.Target.Engine)
	if !ok {
		return ""
	}
	return realm.Digest(engine, s.Spec.Target.CoordinationKey)
}

func (v *View) realm() string { return Realm(v.Schema) }

// Defaults of the API, for objects that were stored without them.
const (
	defaultInterval = 10 * time.Minute
	defaultRetry    = 30 * time.Second
	defaultDeadline = 15 * time.Minute
)

func (v *View) interval() time.Duration {
	return positive(v.Schema.Spec.Interval.Duration, defaultInterval)
}

func (v *View) retryInterval() time.Duration {
	return positive(v.Schema.Spec.Execution.FailureRetryInterval.Duration, defaultRetry)
}

func (v *View) deadline() time.Duration {
	return positive(time.Duration(v.Schema.Spec.Execution.ActiveDeadlineSeconds)*time.Second, defaultDeadline)
}

func positive(d, fallback time.Duration) time.Duration {
	if d <= 0 {
		return fallback
	}
	return d
}

func (v *View) policyFingerprint() string { return plan.PolicyFingerprint(v.Schema.Spec.Policy) }

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// stamp is an instant as the API stores it: whole seconds.
func stamp(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	s := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &s
}

// later is stamp rounded up, for instants before which nothing may happen.
func later(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Truncate(time.Second)
	if s.Before(t) {
		s = s.Add(time.Second)
	}
	m := metav1.NewTime(s)
	return &m
}

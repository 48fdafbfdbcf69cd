package render

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/waiting"
)

// SchemaResource is the view of a PtahSchema.
func SchemaResource(schema *v1alpha1.PtahSchema) *Resource {
	status := &schema.Status
	r := newResource(KindSchema, &schema.ObjectMeta, status.Conditions)
	r.ObservedGeneration = status.ObservedGeneration
	r.Suspended = schema.Spec.Suspend
	r.Phase = orPending(string(status.Phase))
	r.WaitingFor = NewWaiting(waiting.Schema(schema))
	r.NextReconciliation = moment(status.NextReconciliationTime)
	r.Engine = schema.Spec.Target.Engine
	r.ApplyPolicy = string(schema.Spec.Policy.Apply)
	r.Source = schemaSource(schema)
	r.Observation = reading(status.Target)
	r.Plan = schemaPlan(status.Plan)
	if r.Plan != nil {
		r.Plan.FromLastReading = waiting.Rereading(schema)
	}
	for i, c := range status.Conditions {
		r.Conditions[i].FromLastReading = waiting.FromLastReading(schema, c)
	}
	r.LockReleaseOwed = status.PendingLockRelease != nil
	r.Manager = manager(status.ExecutionBinding)
	if applied := status.Applied; applied != nil {
		r.Applied = &Applied{
			Plan: applied.PlanRef.Name, Fingerprint: applied.PlanFingerprint,
			ArtifactDigest: applied.ArtifactDigest, CompletedAt: applied.CompletedAt.UTC(),
		}
	}
	if pending := status.PendingObservation; pending != nil {
		r.PendingProof = &Proof{
			Outcome: string(pending.Outcome), Plan: pending.Plan.Name,
			ApplyJobName: pending.ApplyJobName, ObserveAfter: moment(pending.ObserveAfter),
		}
	}
	if op := status.ActiveOperation; op != nil {
		r.Operation = &Operation{
			Type: string(op.Type), ID: op.ID, Attempt: op.Attempt, JobName: op.JobName, StartedAt: op.StartedAt.UTC(),
			Dispatched: op.DispatchStarted, ExecutionNotAfter: moment(op.ExecutionNotAfter), LeaseContinuityLost: op.LeaseContinuityLost,
		}
		if op.Attempt > 1 && !op.DispatchStarted {
			r.Operation.RetryNotBefore = r.NextReconciliation // a schema keeps one time for both
		}
	}
	return r
}

// MigrationResource is the view of a PtahMigration.
func MigrationResource(migration *v1alpha1.PtahMigration) *Resource {
	status := &migration.Status
	r := newResource(KindMigration, &migration.ObjectMeta, status.Conditions)
	r.ObservedGeneration = status.ObservedGeneration
	r.Suspended = migration.Spec.Suspend
	r.Phase = orPending(string(status.Phase))
	r.WaitingFor = NewWaiting(waiting.Migration(migration))
	r.NextReconciliation = moment(status.NextReconciliationTime)
	r.Engine = migration.Spec.Target.Engine
	r.ApplyPolicy = string(migration.Spec.Policy.Apply)
	r.Source = migrationSource(migration)
	r.History = history(status.History)
	r.LastRun = lastRun(status.LastRun)
	r.UnresolvedRun = unresolved(status.UnresolvedRun)
	r.LockReleaseOwed = status.PendingLockRelease != nil
	r.Manager = manager(status.ExecutionBinding)
	if status.Plan != nil {
		r.Plan = &PlanInfo{Name: status.Plan.Name, UID: string(status.Plan.UID)}
	}
	if op := status.ActiveOperation; op != nil {
		r.Operation = &Operation{
			Type: string(op.Type), ID: op.ID, Attempt: op.Attempt, JobName: op.JobName, StartedAt: op.StartedAt.UTC(),
			Dispatched: op.DispatchStarted, ExecutionNotAfter: moment(op.ExecutionNotAfter), RetryNotBefore: moment(op.RetryNotBefore),
			LeaseContinuityLost: op.LeaseContinuityLost,
		}
	}
	return r
}

func newResource(kind string, object *metav1.ObjectMeta, conditions []metav1.Condition) *Resource {
	r := &Resource{
		ResourceKind: kind, Namespace: object.Namespace, Name: object.Name, UID: string(object.UID), Generation: object.Generation,
		CreatedAt: object.CreationTimestamp.UTC(), Deleting: object.DeletionTimestamp != nil, Conditions: make([]Condition, 0, len(conditions)),
	}
	for _, c := range conditions {
		r.Conditions = append(r.Conditions, Condition{
			Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message,
			ObservedGeneration: c.ObservedGeneration, LastTransitionTime: c.LastTransitionTime.UTC(),
		})
	}
	if p := waiting.FindProblem(conditions); p != nil {
		r.Problem = &Problem{Condition: string(p.Condition), Reason: string(p.Reason), Code: string(p.Code), Message: p.Text}
	}
	if ready := meta.FindStatusCondition(conditions, string(v1alpha1.ConditionReady)); ready != nil {
		r.Ready = string(ready.Status)
	}
	return r
}

func schemaSource(schema *v1alpha1.PtahSchema) Source {
	source := Source{Requested: schema.Spec.Desired.OCIRef}
	if s := schema.Status.Source; s != nil {
		source.Resolved, source.Digest, source.ArtifactType = s.ResolvedReference, s.Digest, s.ArtifactType
		source.ResolvedAt, source.Verified, source.VerifiedAt = moment(s.ResolvedAt), s.Verified, moment(s.VerifiedAt)
	}
	return source
}

func migrationSource(migration *v1alpha1.PtahMigration) Source {
	source := Source{Requested: migration.Spec.Artifact.OCIRef}
	if a := migration.Status.Artifact; a != nil {
		source.Resolved, source.Digest = a.ResolvedReference, a.Digest
	}
	source.Verified = meta.IsStatusConditionTrue(migration.Status.Conditions, string(v1alpha1.ConditionArtifactVerified))
	return source
}

func reading(target *v1alpha1.TargetStatus) *Reading {
	if target == nil || target.LastObservedAt == nil {
		return nil
	}
	r := &Reading{
		ObservedAt: target.LastObservedAt.UTC(), Findings: make([]Finding, 0, len(target.DriftFindings)),
		Differences: target.DriftFindingCount, Truncated: target.DriftFindingsTruncated, Worst: string(target.HighestDriftSeverity),
	}
	for _, f := range target.DriftFindings {
		r.Findings = append(r.Findings, Finding{Category: string(f.Category), Count: f.Count, Severity: string(f.Severity)})
	}
	return r
}

func history(h *v1alpha1.HistoryStatus) *History {
	if h == nil {
		return nil
	}
	return &History{
		CurrentVersion: h.CurrentVersion, CheckpointVersion: h.CheckpointVersion, Applied: h.AppliedCount, Pending: h.PendingCount,
		Dirty: h.Dirty, ModifiedVersions: h.ModifiedVersions, OutOfOrderVersions: h.OutOfOrderVersions, ObservedAt: h.ObservedAt.UTC(),
	}
}

func schemaPlan(record *v1alpha1.SchemaPlanRecord) *PlanInfo {
	if record == nil {
		return nil
	}
	info := &PlanInfo{
		Name: record.Name, UID: string(record.UID), Fingerprint: record.Fingerprint, Statements: record.StatementCount,
		Destructive: record.Destructive, StoredAt: moment(&record.CreatedAt),
	}
	if a := record.Approval; a != nil {
		info.Approval = &Decision{Name: a.Name, Approver: a.Approver.Username, ApprovedAt: a.ApprovedAt.UTC()}
	}
	return info
}

func lastRun(run *v1alpha1.MigrationRun) *Run {
	if run == nil {
		return nil
	}
	return &Run{
		Outcome: string(run.Outcome), StartedAt: run.StartedAt.UTC(), FinishedAt: moment(run.FinishedAt),
		AppliedVersions: run.AppliedVersions, JobName: run.JobName, Message: run.Message,
	}
}

func unresolved(run *v1alpha1.UnresolvedRun) *Unresolved {
	if run == nil {
		return nil
	}
	u := &Unresolved{Outcome: string(run.Outcome), RecordedAt: run.RecordedAt.UTC(), OperationID: run.OperationID, JobName: run.JobName}
	if run.PlanRef != nil {
		u.Plan = run.PlanRef.Name
	}
	return u
}

func manager(binding *v1alpha1.ExecutionBinding) *Manager {
	if binding == nil {
		return nil
	}
	return &Manager{PtahVersion: binding.PtahVersion, Revision: binding.ControllerRevision, Epoch: binding.Epoch}
}

func moment(at *metav1.Time) *time.Time {
	if at == nil || at.IsZero() {
		return nil
	}
	utc := at.UTC()
	return &utc
}

func orPending(phase string) string {
	if phase == "" {
		return "Pending"
	}
	return phase
}

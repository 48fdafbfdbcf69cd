package schema

import (
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/spelling"
)

// concluded renders the outcome of an operation: the claim goes and its record comes in the same write.
func (w *writer) concluded(d operation.Durable) {
	c, j := w.turn.Claim, w.turn.Judged
	f, _ := j.Detail.(finding)
	w.measure(c, j, f)
	switch {
	case c.Mutating:
		w.applied(f)
	case f.kind == foundFailure:
		w.failed(f)
	case f.kind == foundPolicyRefuse:
		w.policyRefused(f)
	case f.kind == foundElsewhere:
		w.elsewhere(f)
	case w.was.PendingObservation != nil && j.Proved:
		w.proved(f)
	case f.kind == foundProtected:
		w.protectedTable(f)
	default:
		w.succeeded(c.Type, &w.turn.Evidence.Result.Frame)
	}
	_ = d
}

func (w *writer) measure(c operation.Claim, j operation.Judgement, f finding) {
	outcome := [...]string{"succeeded", "refused", "failed", "uncertain"}[j.Outcome]
	if f.kind == foundStalePlan {
		outcome = "stale"
	}
	w.count(operation.Metric{Kind: operation.MetricDuration, Operation: stage(c), Outcome: outcome, Seconds: w.view.Now.Sub(c.StartedAt).Seconds()})
	if j.Outcome == operation.Succeeded {
		w.note(v1alpha1.EventOperationCompleted, false, fmt.Sprintf("%s completed (Job %s)", c.Type, c.JobName))
	}
}

// succeeded writes the evidence of a read-only operation of the ordinary chain, or the raw reading of a proof.
func (w *writer) succeeded(t intent.Operation, f *frame.Frame) {
	w.set(v1alpha1.ConditionReconciliationFailed, isFalse, v1alpha1.ReasonSucceeded, "")
	switch t {
	case intent.Resolve:
		w.resolved(f.Resolve)
	case intent.Verify:
		w.verified(f.Verify)
	case intent.Observe:
		w.observed(f)
	case intent.Plan:
		w.planned(f)
	}
}

// resolved pins the digest. A moved tag takes everything with it that was proven about the old content.
func (w *writer) resolved(r *frame.Resolved) {
	st, s := w.status, w.view.Schema
	moved := st.Source != nil && st.Source.Digest != "" && st.Source.Digest != r.Digest
	st.Source = &v1alpha1.SourceStatus{
		RequestedReference: s.Spec.Desired.OCIRef, ResolvedReference: r.ResolvedReference, Digest: r.Digest,
		MediaType: r.MediaType, ArtifactType: r.ArtifactType, Size: r.Size, ResolvedAt: stamp(w.view.Now),
	}
	w.set(v1alpha1.ConditionArtifactResolved, isTrue, v1alpha1.ReasonDigestPinned, r.Digest)
	if !moved {
		return
	}
	message := "the reference now leads to " + r.Digest
	if st.Plan != nil {
		w.note(v1alpha1.EventPlanStale, true, "plan "+st.Plan.Name+" is stale: "+message)
	}
	st.Plan, st.Applied = nil, nil
	w.set(v1alpha1.ConditionArtifactVerified, isFalse, v1alpha1.ReasonPending, message)
	w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonStale, message)
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonNotRequired, message)
	w.set(v1alpha1.ConditionInSync, isUnknown, v1alpha1.ReasonSourceRefreshPending, message)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonOperationInProgress, message)
}

func (w *writer) verified(x *frame.Verified) {
	st, op := w.status, w.was.ActiveOperation
	st.Source.Verified, st.Source.VerifiedAt = true, stamp(w.view.Now)
	if x.ArtifactType != "" {
		st.Source.ArtifactType = x.ArtifactType
	}
	st.Source.VerificationPolicyUID, st.Source.VerificationPolicyDigest = op.VerificationPolicyUID, op.VerificationPolicyDigest
	w.set(v1alpha1.ConditionArtifactVerified, isTrue, v1alpha1.ReasonPolicySatisfied, "")
}

// observed keeps the raw reading. It is advice: only the scoped plan that follows says whether anything is to be done.
func (w *writer) observed(f *frame.Frame) {
	st, op := w.status, w.was.ActiveOperation
	old := st.Target
	st.Target = w.view.observed(f, op.Target.Engine, op.CoordinationDigest)
	w.set(v1alpha1.ConditionDatabaseReachable, isTrue, v1alpha1.ReasonObserved, "")
	if st.PendingObservation != nil {
		return
	}
	w.set(v1alpha1.ConditionDriftDetected, isUnknown, v1alpha1.ReasonScopedPlanPending, "the scoped plan follows")
	if old == nil || old.IdentityDigest == st.Target.IdentityDigest {
		return
	}
	const message = "the database URL now leads to another database"
	if st.Plan != nil {
		w.note(v1alpha1.EventPlanStale, true, "plan "+st.Plan.Name+" is stale: "+message)
	}
	st.Plan, st.Applied = nil, nil
	w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonStale, message)
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonNotRequired, message)
	w.set(v1alpha1.ConditionInSync, isUnknown, v1alpha1.ReasonScopedPlanPending, message)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonOperationInProgress, message)
}

// planned is the end of the chain: converged, or a stored plan that policy and people judge.
func (w *writer) planned(f *frame.Frame) {
	w.next(w.view.interval())
	if f.Plan.NoChange {
		w.drift("in-sync")
		w.converged(v1alpha1.ReasonScopedConverged)
		return
	}
	w.drift("drift")
	w.published(plan.Record(w.view.Published))
}

func (w *writer) drift(outcome string) {
	engine, _ := w.view.engine()
	w.count(operation.Metric{Kind: operation.MetricDrift, Engine: engine, Outcome: outcome})
}

// converged is the only place that says InSync.
func (w *writer) converged(reason v1alpha1.ConditionReason) {
	st := w.status
	st.Phase, st.Plan = v1alpha1.SchemaPhaseInSync, nil
	st.LastSuccessfulReconciliation = stamp(w.view.Now)
	w.set(v1alpha1.ConditionReconciliationFailed, isFalse, v1alpha1.ReasonSucceeded, "")
	w.set(v1alpha1.ConditionDatabaseReachable, isTrue, v1alpha1.ReasonObserved, "")
	w.set(v1alpha1.ConditionDriftDetected, isFalse, v1alpha1.ReasonScopedConverged, "")
	w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonNoChanges, "")
	w.set(v1alpha1.ConditionInSync, isTrue, reason, "")
	w.set(v1alpha1.ConditionReady, isTrue, v1alpha1.ReasonInSync, "")
	if !because(st, v1alpha1.ConditionApprovalRequired, v1alpha1.ReasonSatisfied) {
		w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonNotRequired, "")
	}
	if is(st, v1alpha1.ConditionApplying, isTrue) || !has(st, v1alpha1.ConditionApplying) {
		w.set(v1alpha1.ConditionApplying, isFalse, v1alpha1.ReasonJobCompleted, "")
	}
}

func has(st *v1alpha1.PtahSchemaStatus, t v1alpha1.ConditionType) bool {
	return is(st, t, isTrue) || is(st, t, isFalse) || is(st, t, isUnknown)
}

// published makes a stored plan the current one and says what stands between it and the database.
func (w *writer) published(p v1alpha1.SchemaPlanRecord) {
	st := w.status
	known := w.was.Plan != nil && w.was.Plan.UID == p.UID
	if known {
		p.Approval = w.was.Plan.Approval
	}
	st.Plan = &p
	message := fmt.Sprintf("plan %s: %s", p.Name, spelling.Count(p.StatementCount, "statement"))
	w.set(v1alpha1.ConditionDriftDetected, isTrue, v1alpha1.ReasonScopedChanges, message)
	w.set(v1alpha1.ConditionInSync, isFalse, v1alpha1.ReasonScopedChanges, message)
	w.set(v1alpha1.ConditionPlanReady, isTrue, v1alpha1.ReasonPublished, message)
	if !has(st, v1alpha1.ConditionApplying) {
		w.set(v1alpha1.ConditionApplying, isFalse, v1alpha1.ReasonJobCompleted, "no Apply ran yet")
	}
	if !known {
		engine, _ := w.view.engine()
		w.count(operation.Metric{Kind: operation.MetricPlan, Engine: engine, Outcome: fmt.Sprint(p.Destructive)})
	}
	w.demanded(known)
}

func (w *writer) demanded(known bool) {
	st := w.status
	switch w.demand() {
	case approval.Disabled:
		w.block(v1alpha1.ReasonApplyDisabled, v1alpha1.ReasonNotRequired, "spec.policy.apply is Never: plan "+st.Plan.Name+" is recorded and not run")
	case approval.Disallowed:
		w.block(v1alpha1.ReasonDestructiveChangesDisabled, v1alpha1.ReasonPolicyBlocked,
			"plan "+st.Plan.Name+" is destructive and spec.policy.allowDestructive is false")
	case approval.NeedsNothing:
		st.Phase = v1alpha1.SchemaPhaseReadyToApply
		w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonNotRequired, "")
		w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonApplyPending, "plan "+st.Plan.Name+" is about to be applied")
	case approval.NeedsApproval:
		if st.Plan.Approval != nil {
			w.approved()
			return
		}
		fresh := !known || !is(w.was, v1alpha1.ConditionApprovalRequired, isTrue)
		w.offered("")
		if fresh {
			w.note(v1alpha1.EventApprovalRequired, false, "plan "+st.Plan.Name+" needs an approval")
			w.count(operation.Metric{Kind: operation.MetricApproval, Outcome: "required"})
		}
	}
}

// block is a deliberate refusal that stands until an input changes.
func (w *writer) block(ready, approvalReason v1alpha1.ConditionReason, message string) {
	w.status.Phase = v1alpha1.SchemaPhaseBlocked
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, approvalReason, message)
	w.set(v1alpha1.ConditionReady, isFalse, ready, message)
}

// failed is worth another attempt. What was known before stays as history.
func (w *writer) failed(f finding) {
	st, c := w.status, w.turn.Claim
	w.next(w.view.retryInterval())
	w.set(v1alpha1.ConditionReconciliationFailed, isTrue, v1alpha1.ReasonOperationFailed, f.message)
	if !says(w.was, v1alpha1.ConditionReconciliationFailed, v1alpha1.ReasonOperationFailed, f.message) || c.Attempt == 1 {
		w.note(v1alpha1.EventOperationFailed, true, fmt.Sprintf("%s failed: %s", c.Type, f.message))
	}
	w.count(operation.Metric{Kind: operation.MetricFailure, Operation: stage(c), Category: category(f.code)})
	if st.PendingObservation != nil {
		w.readyText("the reading after the Apply failed and is tried again: " + f.message)
		return
	}
	st.Phase = v1alpha1.SchemaPhaseFailed
	if c.Type == intent.Resolve {
		w.resolveFailed(f)
	}
	if c.Type == intent.Verify {
		w.set(v1alpha1.ConditionArtifactVerified, isFalse, v1alpha1.ReasonPending, f.message)
	}
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonOperationFailed, f.message)
}

// resolveFailed tells a source that was known, whose evidence stays as history, from one that never was.
func (w *writer) resolveFailed(f finding) {
	st := w.status
	if st.Source == nil || st.Source.Digest == "" {
		w.set(v1alpha1.ConditionArtifactResolved, isFalse, v1alpha1.ReasonResolveFailed, f.message)
		w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonSourceUnresolved, f.message)
		w.set(v1alpha1.ConditionInSync, isUnknown, v1alpha1.ReasonSourceResolutionUnknown, f.message)
		return
	}
	w.set(v1alpha1.ConditionArtifactResolved, isUnknown, v1alpha1.ReasonRefreshFailed, f.message)
	w.set(v1alpha1.ConditionPlanReady, isUnknown, v1alpha1.ReasonSourceFreshnessUnknown, f.message)
	w.set(v1alpha1.ConditionInSync, isUnknown, v1alpha1.ReasonSourceFreshnessUnknown, f.message)
}

// category is the metric label of a failure: what kind of thing is wrong, not what exactly.
func category(code frame.Code) string {
	switch code {
	case frame.CodeConfigurationInvalid, frame.CodeRegistryUnauthorized, frame.CodeRegistryGrantRefused, frame.CodeCredentialMissing,
		frame.CodeDatabaseURLInvalid, frame.CodeDatabaseAuthentication, frame.CodePolicyInvalid:
		return "configuration"
	case frame.CodeRegistryUnreachable, frame.CodeDatabaseUnreachable, frame.CodeDatabaseTLS, frame.CodeDeadlineExceeded, frame.CodeCancelled:
		return "infrastructure"
	case frame.CodeStalePlan, frame.CodeTargetChanged:
		return "stale-input"
	case frame.CodePolicyRefused, frame.CodeProtectedTable:
		return "policy-change"
	case "":
		return "infrastructure"
	}
	return "operation"
}

func (w *writer) policyRefused(f finding) {
	st := w.status
	st.Phase = v1alpha1.SchemaPhaseBlocked
	st.Source.Verified = false
	w.next(w.view.interval())
	w.set(v1alpha1.ConditionReconciliationFailed, isFalse, v1alpha1.ReasonSucceeded, "")
	w.set(v1alpha1.ConditionArtifactVerified, isFalse, v1alpha1.ReasonPolicyRefused, f.message)
	w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonArtifactUnverified, f.message)
	w.set(v1alpha1.ConditionInSync, isUnknown, v1alpha1.ReasonSourceFreshnessUnknown, f.message)
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonPolicyBlocked, f.message)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonPolicyRefused, f.message)
	if !says(w.was, v1alpha1.ConditionReady, v1alpha1.ReasonPolicyRefused, f.message) {
		w.note(v1alpha1.EventArtifactVerificationRefused, true, f.message)
	}
	w.count(operation.Metric{Kind: operation.MetricFailure, Operation: "verify", Category: "policy-change"})
}

// elsewhere is a plan that opened another database than the reading before it: the reading is taken again.
func (w *writer) elsewhere(f finding) {
	w.status.Phase = v1alpha1.SchemaPhasePending
	w.set(v1alpha1.ConditionDriftDetected, isUnknown, v1alpha1.ReasonStaleObservation, f.message)
	w.count(operation.Metric{Kind: operation.MetricFailure, Operation: "plan", Category: "stale-input"})
}

// protectedTable is a fence without an override: no plan is published and nothing failed.
func (w *writer) protectedTable(f finding) {
	st := w.status
	w.drift("drift")
	w.next(w.view.interval())
	st.Phase, st.Plan = v1alpha1.SchemaPhaseBlocked, nil
	w.set(v1alpha1.ConditionReconciliationFailed, isFalse, v1alpha1.ReasonSucceeded, "")
	w.set(v1alpha1.ConditionDriftDetected, isTrue, v1alpha1.ReasonScopedChanges, f.message)
	w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonProtectedTable, f.message)
	w.set(v1alpha1.ConditionInSync, isFalse, v1alpha1.ReasonProtectedTable, f.message)
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonPolicyBlocked, f.message)
	fresh := !says(w.was, v1alpha1.ConditionReady, v1alpha1.ReasonProtectedTable, f.message)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonProtectedTable, f.message)
	if fresh {
		w.note(v1alpha1.EventProtectedTableRefused, true, f.message)
	}
}

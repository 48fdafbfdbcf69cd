package schema

import (
	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
)

// applied renders the end of an Apply. Success and uncertainty both owe a reading; only a refusal before the first statement does not.
func (w *writer) applied(f finding) {
	st := w.status
	switch f.kind {
	case foundSuccess:
		w.count(operation.Metric{Kind: operation.MetricApply, Outcome: "completed"})
		w.set(v1alpha1.ConditionReconciliationFailed, isFalse, v1alpha1.ReasonSucceeded, "")
		w.set(v1alpha1.ConditionApplying, isFalse, v1alpha1.ReasonJobCompleted, "")
		w.owesProof("the Apply completed; the database is read again")
		return
	case foundUncertain:
		w.count(operation.Metric{Kind: operation.MetricApply, Outcome: "uncertain"})
		w.count(operation.Metric{Kind: operation.MetricFailure, Operation: "apply", Category: "uncertain-outcome"})
		w.note(v1alpha1.EventApplyOutcomeUnknown, true, "nobody knows what the Apply did: "+f.message)
		w.set(v1alpha1.ConditionReconciliationFailed, isTrue, v1alpha1.ReasonOperationFailed, f.message)
		w.set(v1alpha1.ConditionApplying, isFalse, v1alpha1.ReasonOutcomeUnknown, f.message)
		w.owesProof("nobody knows what the Apply did; the database is read again")
		w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonApplyOutcomeUnknown, f.message)
		return
	}
	w.note(v1alpha1.EventOperationFailed, true, "Apply failed before it changed anything: "+f.message)
	w.count(operation.Metric{Kind: operation.MetricFailure, Operation: "apply", Category: category(f.code)})
	w.set(v1alpha1.ConditionReconciliationFailed, isTrue, v1alpha1.ReasonOperationFailed, f.message)
	w.set(v1alpha1.ConditionApplying, isFalse, v1alpha1.ReasonJobCompleted, "nothing was executed: "+f.message)
	if st.Plan != nil {
		st.Plan.Approval = nil // spent on this dispatch
	}
	if f.kind == foundStalePlan {
		w.count(operation.Metric{Kind: operation.MetricApply, Outcome: "stale"})
		w.note(v1alpha1.EventPlanStale, true, "the database changed after planning; nothing was executed")
		st.Plan = nil
		w.restart(f.message)
		w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonStale, f.message)
		return
	}
	w.resting(f.message)
}

func (w *writer) owesProof(message string) {
	st := w.status
	st.Phase, st.Plan = v1alpha1.SchemaPhaseVerifyingConvergence, nil
	w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonStale, "the plan was dispatched")
	w.set(v1alpha1.ConditionDriftDetected, isUnknown, v1alpha1.ReasonStaleObservation, message)
	w.set(v1alpha1.ConditionInSync, isUnknown, v1alpha1.ReasonScopedPlanPending, message)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonVerifyingConvergence, message)
}

// resting waits out the failure interval before the chain begins again, so that an Apply which keeps failing does not spin.
func (w *writer) resting(message string) {
	st := w.status
	st.Phase = v1alpha1.SchemaPhaseFailed
	if st.Plan != nil {
		w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonStale, message)
	}
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonSatisfied, "")
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonOperationFailed, message)
	w.next(w.view.retryInterval())
}

// proved ends a proof. Only a scoped plan without changes on the same target is a proof of convergence, and only an Apply that reported
// success is credited with it.
func (w *writer) proved(f finding) {
	st, p := w.status, w.was.PendingObservation
	fr := &w.turn.Evidence.Result.Frame
	clean := w.turn.Claim.Type == intent.Plan && f.kind == foundSuccess && fr.Plan != nil && fr.Plan.NoChange
	if !clean {
		w.drift("drift")
		w.unproved(p)
		return
	}
	w.drift("in-sync")
	reason := v1alpha1.ReasonScopedConverged
	if p.Outcome == v1alpha1.OutcomeApplySucceeded {
		st.Applied = &v1alpha1.AppliedRecord{
			PlanRef: v1alpha1.ObjectRef{Name: p.Plan.Name, UID: p.Plan.UID}, PlanFingerprint: p.Plan.Fingerprint,
			ArtifactDigest: p.Plan.ArtifactDigest, CoordinationDigest: p.CoordinationDigest, TargetIdentityDigest: fr.TargetIdentityDigest,
			CompletedAt: w.view.now(), ExecutionBindingID: p.Plan.ExecutionBindingID, ExecutionIdentity: p.Plan.ExecutionIdentity,
		}
	} else {
		reason = v1alpha1.ReasonConvergedAfterUnknownOutcome
	}
	w.converged(reason)
	if reason == v1alpha1.ReasonConvergedAfterUnknownOutcome {
		w.set(v1alpha1.ConditionApplying, isFalse, v1alpha1.ReasonConvergedAfterUnknownOutcome, "the database converged; no Apply is credited with it")
	} else {
		w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonSatisfied, "")
	}
	w.next(w.view.interval())
	if w.current(p) {
		return
	}
	const message = "the inputs changed while the Apply was proven"
	w.set(v1alpha1.ConditionInSync, isFalse, v1alpha1.ReasonDesiredStateChanged, message)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonOperationInProgress, message)
	st.Phase = v1alpha1.SchemaPhasePending
	w.set(v1alpha1.ConditionDriftDetected, isUnknown, v1alpha1.ReasonStaleObservation, message)
	w.next(0)
}

// current reports whether what was proven is still what is asked for.
func (w *writer) current(p *v1alpha1.PendingObservation) bool {
	s := w.view.Schema
	return p.ApplyGeneration == s.Generation && w.was.ObservedGeneration == s.Generation && w.was.Source != nil &&
		w.was.Source.Digest == p.Source.Digest && w.was.Source.Verified && p.Plan.ExecutionBindingID == w.view.epoch()
}

// unproved is a proof that found changes: nothing is owed any more, and the chain offers a new plan, approval included.
func (w *writer) unproved(p *v1alpha1.PendingObservation) {
	const message = "the database still differs after the Apply"
	w.set(v1alpha1.ConditionReconciliationFailed, isTrue, v1alpha1.ReasonOperationFailed, message)
	w.set(v1alpha1.ConditionDriftDetected, isTrue, v1alpha1.ReasonScopedChanges, message)
	w.set(v1alpha1.ConditionInSync, isFalse, v1alpha1.ReasonScopedChanges, message)
	w.note(v1alpha1.EventOperationFailed, true, message+"; plan "+p.Plan.Name+" is not applied again, another one is offered")
	w.resting(message)
}

package schema

import (
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/realm"
)

// Settled reports whether the stored status already says what the turn would write.
func (v *View) Settled(t operation.Turn) bool {
	st := &v.Schema.Status
	switch t.Kind {
	case operation.TurnTrouble:
		return v.troubleSettled(t)
	case operation.TurnSuspended:
		c := st.PendingObservation != nil || (st.Phase == v1alpha1.SchemaPhaseSuspended && because(st, v1alpha1.ConditionReady, v1alpha1.ReasonSuspended))
		return c && is(st, v1alpha1.ConditionSuspended, isTrue) && st.ObservedGeneration == v.Schema.Generation
	case operation.TurnUnsupported:
		return st.Phase == v1alpha1.SchemaPhaseBlocked && says(st, v1alpha1.ConditionReady, v1alpha1.ReasonUnsupportedEngine, t.Detail) &&
			st.ObservedGeneration == v.Schema.Generation && (st.Plan == nil || v.Gate().Mark != nil)
	case operation.TurnContested:
		return st.Phase == v1alpha1.SchemaPhaseBlocked && says(st, v1alpha1.ConditionReady, v1alpha1.ReasonRealmConflict, censusText(t.Census)) &&
			st.ObservedGeneration == v.Schema.Generation && !v.due()
	case operation.TurnEvidence:
		return t.Judged.Detail == verdictPolicyUnusable && says(st, v1alpha1.ConditionReconciliationFailed, v1alpha1.ReasonConfigurationError, t.Detail) && !v.due()
	}
	return false
}

func (v *View) troubleSettled(t operation.Turn) bool {
	st := &v.Schema.Status
	troubled := is(st, v1alpha1.ConditionReconciliationFailed, isTrue) && because(st, v1alpha1.ConditionReconciliationFailed, v1alpha1.ReasonConfigurationError)
	if t.Detail == "" {
		return !troubled
	}
	return troubled && says(st, v1alpha1.ConditionReconciliationFailed, v1alpha1.ReasonConfigurationError, troubleText(t.Claim, t.Detail))
}

// suspended acknowledges the author's wish. A proof that is owed keeps its phase and its Lease.
func (w *writer) suspended(d operation.Durable) {
	st := w.status
	w.accept()
	w.set(v1alpha1.ConditionSuspended, isTrue, v1alpha1.ReasonRequested, "spec.suspend is true")
	if d.Proof != nil {
		w.readyText("spec.suspend is true; the reading after the Apply waits, and keeps the database's Lease")
		return
	}
	st.Phase = v1alpha1.SchemaPhaseSuspended
	if because(st, v1alpha1.ConditionArtifactResolved, v1alpha1.ReasonRefreshing) {
		w.set(v1alpha1.ConditionArtifactResolved, isUnknown, v1alpha1.ReasonRefreshSuspended, "spec.suspend is true")
	}
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonSuspended, "spec.suspend is true")
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonNotRequired, "spec.suspend is true")
	w.halt(v1alpha1.ReasonSuspended, "spec.suspend is true")
	st.NextReconciliationTime = nil
}

// halt takes back an Apply that was claimed and not dispatched.
func (w *writer) halt(reason v1alpha1.ConditionReason, message string) {
	if is(w.status, v1alpha1.ConditionApplying, isTrue) {
		w.set(v1alpha1.ConditionApplying, isFalse, reason, message)
	}
}

// unsupported is a refusal of the target's engine: no Job, no plan, no approval. The plan's pointer goes in a second write, after the
// approvals that name it were retired.
func (w *writer) unsupported(message string) {
	st := w.status
	if says(w.was, v1alpha1.ConditionReady, v1alpha1.ReasonUnsupportedEngine, message) && st.Phase == v1alpha1.SchemaPhaseBlocked {
		st.Plan = nil
	} else {
		w.note(v1alpha1.EventUnsupportedEngine, true, message)
	}
	w.accept()
	st.LastAttemptTime = stamp(w.view.Now)
	st.Phase = v1alpha1.SchemaPhaseBlocked
	w.set(v1alpha1.ConditionEngineSupported, isFalse, v1alpha1.ReasonUnsupportedEngine, message)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonUnsupportedEngine, message)
	for _, c := range []v1alpha1.ConditionType{v1alpha1.ConditionDatabaseReachable, v1alpha1.ConditionDriftDetected, v1alpha1.ConditionInSync} {
		w.set(c, isUnknown, v1alpha1.ReasonUnsupportedEngine, message)
	}
	for _, c := range []v1alpha1.ConditionType{v1alpha1.ConditionPlanReady, v1alpha1.ConditionApprovalRequired, v1alpha1.ConditionApplying} {
		w.set(c, isFalse, v1alpha1.ReasonUnsupportedEngine, message)
	}
	w.set(v1alpha1.ConditionSuspended, isFalse, v1alpha1.ReasonActive, "")
	st.NextReconciliationTime = nil
}

// contested is a realm that more than one resource claims without everybody agreeing.
func (w *writer) contested(c operation.Census) {
	st := w.status
	message := censusText(c)
	if !says(w.was, v1alpha1.ConditionReady, v1alpha1.ReasonRealmConflict, message) {
		w.note(v1alpha1.EventRealmConflict, true, message)
	}
	w.accept()
	st.LastAttemptTime = stamp(w.view.Now)
	st.Phase = v1alpha1.SchemaPhaseBlocked
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonRealmConflict, message)
	w.set(v1alpha1.ConditionEngineSupported, isTrue, v1alpha1.ReasonSupportedEngine, "")
	w.set(v1alpha1.ConditionSuspended, isFalse, v1alpha1.ReasonActive, "")
	w.set(v1alpha1.ConditionInSync, isUnknown, v1alpha1.ReasonSourceFreshnessUnknown, message)
	if st.Plan != nil {
		w.set(v1alpha1.ConditionPlanReady, isUnknown, v1alpha1.ReasonSourceFreshnessUnknown, message)
	}
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonNotRequired, message)
	w.set(v1alpha1.ConditionApplying, isFalse, v1alpha1.ReasonRealmConflict, message)
	w.next(min(w.view.interval(), time.Minute))
}

func censusText(c operation.Census) string {
	return realm.Verdict{Contested: true, Claimants: c.Claimants, Undeclared: c.Undeclared}.Message()
}

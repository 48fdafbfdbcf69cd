package schema

import (
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
)

var phases = map[intent.Operation]v1alpha1.SchemaPhase{
	intent.Resolve: v1alpha1.SchemaPhaseResolving, intent.Verify: v1alpha1.SchemaPhaseVerifying,
	intent.Observe: v1alpha1.SchemaPhaseObserving, intent.Plan: v1alpha1.SchemaPhasePlanning, intent.Apply: v1alpha1.SchemaPhaseApplying,
}

// claimed renders the reservation of an operation. A routine refresh leaves standing what was proven last; only the phase says that
// somebody looks again. What the refresh finds, or that it fails, changes the conditions.
func (w *writer) claimed(c operation.Claim) {
	st := w.status
	st.LastAttemptTime = stamp(w.view.Now)
	st.Phase = phases[c.Type]
	if st.PendingObservation != nil {
		st.Phase = v1alpha1.SchemaPhaseVerifyingConvergence
		return
	}
	switch c.Type {
	case intent.Resolve:
		w.refresh()
	case intent.Apply:
		w.set(v1alpha1.ConditionApplying, isTrue, v1alpha1.ReasonApprovedPlan, "plan "+st.Plan.Name+" is being applied")
		w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonOperationInProgress, "plan "+st.Plan.Name+" is being applied")
		reason := v1alpha1.ReasonSatisfied
		if st.Plan.Approval == nil {
			reason = v1alpha1.ReasonNotRequired
		}
		w.set(v1alpha1.ConditionApprovalRequired, isFalse, reason, "")
	default:
		w.busy(fmt.Sprintf("starting %s", c.Type))
	}
}

// refresh begins the chain: it accepts the present generation and makes everything below Resolve owed again.
func (w *writer) refresh() {
	st, s := w.status, w.view.Schema
	edited := st.ObservedGeneration != 0 && st.ObservedGeneration != s.Generation
	w.accept()
	w.set(v1alpha1.ConditionEngineSupported, isTrue, v1alpha1.ReasonSupportedEngine, "")
	w.set(v1alpha1.ConditionSuspended, isFalse, v1alpha1.ReasonActive, "")
	w.set(v1alpha1.ConditionArtifactResolved, isUnknown, v1alpha1.ReasonRefreshing, "resolving "+quotedRef(s.Spec.Desired.OCIRef))
	w.set(v1alpha1.ConditionDriftDetected, isUnknown, v1alpha1.ReasonStaleObservation, "the database is read again")
	if st.Source != nil {
		st.Source.Verified = false
	}
	if because(st, v1alpha1.ConditionArtifactVerified, v1alpha1.ReasonPolicyRefused) {
		w.set(v1alpha1.ConditionArtifactVerified, isFalse, v1alpha1.ReasonPending, "the artifact is judged again")
	}
	if st.NextReconciliationTime == nil {
		st.NextReconciliationTime = stamp(w.view.Now)
	}
	if edited || held(w.was) {
		w.withdraw(edited)
	}
	w.busy("resolving " + quotedRef(s.Spec.Desired.OCIRef))
}

// held reports whether a refusal outside of the chain was the last word.
func held(st *v1alpha1.PtahSchemaStatus) bool {
	for _, reason := range []v1alpha1.ConditionReason{
		v1alpha1.ReasonRealmConflict, v1alpha1.ReasonUnsupportedEngine, v1alpha1.ReasonSuspended, v1alpha1.ReasonStalePlan,
	} {
		if because(st, v1alpha1.ConditionReady, reason) {
			return true
		}
	}
	return false
}

// withdraw takes back what was proven under other inputs.
func (w *writer) withdraw(edited bool) {
	message, approval := "everything is read again, because what held it has ended", "no plan that could need an approval exists yet"
	if edited {
		message = "everything is read again, because the spec changed"
	}
	if w.status.Plan != nil {
		approval = "the plan is computed again before it can be approved"
	}
	if edited && is(w.was, v1alpha1.ConditionInSync, isTrue) {
		w.set(v1alpha1.ConditionInSync, isFalse, v1alpha1.ReasonDesiredStateChanged, "the spec changed after the database was proven in sync")
	} else if !is(w.was, v1alpha1.ConditionInSync, isFalse) || !edited {
		w.set(v1alpha1.ConditionInSync, isUnknown, v1alpha1.ReasonSourceRefreshPending, message)
	}
	if w.status.Plan != nil {
		w.set(v1alpha1.ConditionPlanReady, isUnknown, v1alpha1.ReasonSourceRefreshPending, message)
	}
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonNotRequired, approval)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonOperationInProgress, message)
}

// busy says that something is on its way where Ready has nothing better to say.
func (w *writer) busy(message string) {
	if w.status.Conditions == nil || readyIs(w.status, v1alpha1.ReasonOperationInProgress, v1alpha1.ReasonOperationFailed, v1alpha1.ReasonConfigurationError, "") {
		w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonOperationInProgress, message)
	}
}

func readyIs(st *v1alpha1.PtahSchemaStatus, reasons ...v1alpha1.ConditionReason) bool {
	found := false
	for _, c := range st.Conditions {
		if c.Type != string(v1alpha1.ConditionReady) {
			continue
		}
		found = true
		for _, r := range reasons {
			if c.Reason == string(r) {
				return true
			}
		}
	}
	return !found
}

func quotedRef(ref string) string { return clip(ref, 200) }

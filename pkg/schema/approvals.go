package schema

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/operation"
)

// candidates are the undecided approvals of exactly the recorded plan.
func (v *View) candidates() []v1alpha1.PtahSchemaApproval {
	current := v.Schema.Status.Plan
	var out []v1alpha1.PtahSchemaApproval
	for i := range v.Approvals.Value {
		a := &v.Approvals.Value[i]
		if v.ours(a) && a.Spec.PlanRef.UID == current.UID && a.Spec.PlanRef.Name == current.Name &&
			!approval.IsConsumed(a.Status) && !approval.IsStale(a.Status) {
			out = append(out, *a)
		}
	}
	return out
}

func (v *View) ours(a *v1alpha1.PtahSchemaApproval) bool {
	return a.Namespace == v.Schema.Namespace && a.Spec.SchemaRef.Name == v.Schema.Name
}

func (v *View) find(uid types.UID) *v1alpha1.PtahSchemaApproval {
	for i := range v.Approvals.Value {
		if a := &v.Approvals.Value[i]; a.UID == uid && v.ours(a) {
			return a
		}
	}
	return nil
}

// notCurrent selects approvals whose plan is not the recorded one, and duplicates beside a recorded decision.
func notCurrent(v *View, a *v1alpha1.PtahSchemaApproval) (bool, v1alpha1.ConditionReason) {
	st := &v.Schema.Status
	if p := st.PendingObservation; p != nil && p.Plan.UID == a.Spec.PlanRef.UID {
		return false, "" // its run is not accounted for yet
	}
	if st.Plan == nil || a.Spec.PlanRef.UID != st.Plan.UID {
		return true, v1alpha1.ReasonPlanNoLongerCurrent
	}
	if st.Plan.Approval != nil && st.Plan.Approval.UID != a.UID && !approval.IsConsumed(a.Status) {
		return true, v1alpha1.ReasonSupersededApproval
	}
	return false, ""
}

func everyApproval(*View, *v1alpha1.PtahSchemaApproval) (bool, v1alpha1.ConditionReason) {
	return true, v1alpha1.ReasonPlanNoLongerCurrent
}

// retire finds one approval that has to be marked stale; the passes that follow find the others.
func (v *View) retire(_ v1alpha1.ConditionReason, message string, selects func(*View, *v1alpha1.PtahSchemaApproval) (bool, v1alpha1.ConditionReason)) *operation.MarkStep {
	if v.Approvals.State != operation.Present {
		return nil
	}
	for i := range v.Approvals.Value {
		a := &v.Approvals.Value[i]
		if !v.ours(a) || approval.IsStale(a.Status) {
			continue
		}
		stale, reason := selects(v, a)
		if !stale {
			continue
		}
		text := message
		switch {
		case reason == v1alpha1.ReasonSupersededApproval:
			text = "another approval was recorded for this plan"
		case a.Spec.ExecutionBindingID != v.epoch():
			reason, text = v1alpha1.ReasonExecutionBindingChanged, "the execution binding that it was given under was retired"
		}
		return v.staleMark(a, approval.Verdict{Outcome: approval.Stale, Reason: reason, Message: text})
	}
	return nil
}

func (v *View) staleMark(a *v1alpha1.PtahSchemaApproval, verdict approval.Verdict) *operation.MarkStep {
	note := operation.Note{
		Event: v1alpha1.EventApprovalStale, Warning: true, OnApproval: true, Message: "Approval is stale: " + verdict.Message,
	}
	// A spent approval turns stale too, but no decision was lost with it.
	if approval.IsConsumed(a.Status) {
		note = operation.Note{}
	} else {
		note.Metric = operation.Metric{Kind: operation.MetricApproval, Outcome: "stale"}
	}
	return markOf(a, verdict, note)
}

func markOf(a *v1alpha1.PtahSchemaApproval, verdict approval.Verdict, note operation.Note) *operation.MarkStep {
	m := &operation.MarkStep{Mark: operation.Mark{Name: a.Name, UID: string(a.UID), Verdict: verdict}}
	if note != (operation.Note{}) {
		m.Notes = []operation.Note{note}
	}
	return m
}

func accepted(a *v1alpha1.PtahSchemaApproval) bool {
	return meta.IsStatusConditionTrue(a.Status.Conditions, string(v1alpha1.ConditionAccepted))
}

// Authorize repeats, on fresh reads, everything that an Apply rests on, and spends its approval.
func (v *View) Authorize(c operation.Claim) operation.Authorization {
	st := &v.Schema.Status
	if st.Plan == nil {
		return operation.Authorization{Revoked: "the plan is gone"}
	}
	if w := v.readForApply(); w != nil {
		return operation.Authorization{Need: w.Need, Uncertain: w.Unknown != ""}
	}
	if why := v.planProblem(); why != "" {
		return operation.Authorization{Revoked: why}
	}
	switch approval.Required(v.Schema.Spec.Policy, st.Plan.Destructive) {
	case approval.NeedsNothing:
		return operation.Authorization{}
	case approval.NeedsApproval:
		return v.authorizeApproval(c)
	}
	return operation.Authorization{Revoked: "spec.policy does not let the plan run"}
}

// authorizeApproval judges the recorded approval again. One that is already consumed was consumed for this claim: a claim is only made on
// an unspent approval, and no other claim exists beside it.
func (v *View) authorizeApproval(c operation.Claim) operation.Authorization {
	recorded := v.Schema.Status.Plan.Approval
	if recorded == nil {
		return operation.Authorization{Revoked: "no approval is recorded"}
	}
	live := v.find(recorded.UID)
	if live == nil {
		return operation.Authorization{Revoked: "the approval " + recorded.Name + " is gone"}
	}
	spent := approval.IsConsumed(live.Status)
	unspent := live.DeepCopy()
	meta.RemoveStatusCondition(&unspent.Status.Conditions, string(v1alpha1.ConditionConsumed))
	verdict := approval.Judge(v.judgeInput(approval.Dispatch), unspent)
	if verdict.Outcome != approval.Accepted {
		return operation.Authorization{Revoked: "the approval " + recorded.Name + " no longer counts: " + verdict.Message}
	}
	if spent {
		return operation.Authorization{}
	}
	if c.Dispatched {
		return operation.Authorization{Revoked: "the approval " + recorded.Name + " is not spent on this claim"}
	}
	return operation.Authorization{Consume: markOf(live, approval.Verdict{
		Outcome: approval.Spent, Reason: v1alpha1.ReasonDispatchCommitted, Message: "spent on the dispatch of " + c.JobName,
	}, operation.Note{Metric: operation.Metric{Kind: operation.MetricApproval, Outcome: "accepted"}})}
}

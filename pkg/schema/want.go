package schema

import (
	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
)

// Want names what the evidence in the status asks for once nothing is in flight. The place in the chain Resolve, Verify, Observe, Plan is
// read from the evidence itself: ArtifactResolved, source.verified and DriftDetected; the phase is an authority for nothing.
func (v *View) Want() operation.Want {
	if mark := v.retire(v1alpha1.ReasonPlanNoLongerCurrent, "the plan that it names is not the current plan", notCurrent); mark != nil {
		return operation.Want{Mark: mark}
	}
	st := &v.Schema.Status
	switch {
	case v.refreshDue():
		return v.wantClaim(intent.Resolve)
	case because(st, v1alpha1.ConditionArtifactVerified, v1alpha1.ReasonPolicyRefused):
		return v.rest("the verification policy refuses the artifact")
	case !st.Source.Verified:
		return v.wantVerify()
	case v.place() == placeObserve:
		return v.wantClaim(intent.Observe)
	case v.place() == placePlan:
		return v.wantClaim(intent.Plan)
	case is(st, v1alpha1.ConditionDriftDetected, isFalse):
		return v.rest("in sync")
	}
	return v.wantApply()
}

func (v *View) wantClaim(t intent.Operation) operation.Want {
	c := v.claim(t)
	return operation.Want{Claim: &c}
}

// rest waits for the durable time of the next look.
func (v *View) rest(why string) operation.Want {
	return operation.Want{Until: timeOf(v.Schema.Status.NextReconciliationTime), Why: why}
}

type place uint8

const (
	placeObserve place = iota // the database has to be read
	placePlan                 // read; the scoped plan is missing
	placeDone                 // the chain of this cycle is complete
)

func (v *View) place() place {
	st := &v.Schema.Status
	switch {
	case is(st, v1alpha1.ConditionDriftDetected, isTrue), is(st, v1alpha1.ConditionDriftDetected, isFalse):
		return placeDone
	case because(st, v1alpha1.ConditionDriftDetected, v1alpha1.ReasonScopedPlanPending) && st.Target != nil:
		return placePlan
	}
	return placeObserve
}

// refreshDue reports whether the chain starts again at Resolve: the inputs moved, a refusal outside of the chain ended, or it is time.
func (v *View) refreshDue() bool {
	st := &v.Schema.Status
	switch {
	case st.ObservedGeneration != v.Schema.Generation,
		st.Source == nil || st.Source.Digest == "",
		!is(st, v1alpha1.ConditionArtifactResolved, isTrue),
		because(st, v1alpha1.ConditionReady, v1alpha1.ReasonRealmConflict),
		because(st, v1alpha1.ConditionReady, v1alpha1.ReasonUnsupportedEngine),
		because(st, v1alpha1.ConditionReady, v1alpha1.ReasonSuspended):
		return true
	}
	refused := because(st, v1alpha1.ConditionArtifactVerified, v1alpha1.ReasonPolicyRefused)
	if refused || (st.Source.Verified && v.place() == placeDone) {
		return v.due()
	}
	// A chain that gets on is never interrupted, or an interval shorter than the chain would start it again for ever. One that keeps failing
	// does not rest on an old digest.
	return is(st, v1alpha1.ConditionReconciliationFailed, isTrue) && !v.Now.Before(timeOf(st.Source.ResolvedAt).Add(v.interval()))
}

// due reports whether the durable time of the next look has come. A missing one has: nothing else would ever look.
func (v *View) due() bool {
	next := v.Schema.Status.NextReconciliationTime
	return next == nil || !v.Now.Before(next.Time)
}

// wantVerify inspects the verification policy before its claim: it must be there, immutable, and hold the key.
func (v *View) wantVerify() operation.Want {
	if step := v.readPolicy(); step != nil {
		return *step
	}
	why := v.policyProblem()
	if why == "" {
		return v.wantClaim(intent.Verify)
	}
	t := operation.Turn{Kind: operation.TurnEvidence, Detail: why, Judged: operation.Judgement{Detail: verdictPolicyUnusable}}
	if !v.Settled(t) {
		return operation.Want{Write: &t}
	}
	return v.rest(why)
}

func (v *View) readPolicy() *operation.Want {
	switch {
	case v.Policy.State == operation.Unknown:
		return &operation.Want{Unknown: "reading the verification policy"}
	case !v.Policy.Fresh:
		return &operation.Want{Need: operation.PartPolicy}
	}
	return nil
}

// policyProblem says why the verification policy cannot be used; empty where it can.
func (v *View) policyProblem() string {
	from := v.Schema.Spec.Desired.VerificationPolicyFrom
	switch p := v.Policy; {
	case p.State != operation.Present:
		return "verification policy: ConfigMap " + quoted(from.Name) + " does not exist"
	case !p.Value.HasKey:
		return "verification policy: ConfigMap " + quoted(from.Name) + " has no key " + quoted(from.Key)
	case !p.Value.Immutable:
		return "verification policy: ConfigMap " + quoted(from.Name) + " is not immutable; create it with immutable: true"
	}
	return ""
}

// wantApply judges a plan with changes: by policy, by approval where one is needed, and at last by one captured instant.
func (v *View) wantApply() operation.Want {
	st := &v.Schema.Status
	if st.Plan == nil {
		return v.rest("no plan may run")
	}
	demand := approval.Required(v.Schema.Spec.Policy, st.Plan.Destructive)
	if !is(st, v1alpha1.ConditionPlanReady, isTrue) || demand == approval.Disabled || demand == approval.Disallowed {
		return v.rest("the plan may not run")
	}
	if demand == approval.NeedsApproval && st.Plan.Approval == nil && len(v.candidates()) == 0 {
		return v.rest("waiting for an approval")
	}
	if w := v.readForApply(); w != nil {
		return *w
	}
	if why := v.planProblem(); why != "" {
		return v.retract(why)
	}
	if demand == approval.NeedsApproval {
		if w := v.wantApproval(); w != nil {
			return *w
		}
	}
	return v.wantClaim(intent.Apply)
}

// readForApply asks for everything that an authorization rests on.
func (v *View) readForApply() *operation.Want {
	var need operation.Part
	for _, p := range []struct {
		state operation.State
		fresh bool
		part  operation.Part
		name  string
	}{
		{v.Policy.State, v.Policy.Fresh, operation.PartPolicy, "the verification policy"},
		{v.Stored.State, v.Stored.Fresh, operation.PartPlan, "the stored plan"},
		{v.Approvals.State, v.Approvals.Fresh, operation.PartApprovals, "the approvals"},
	} {
		if p.state == operation.Unknown {
			return &operation.Want{Unknown: "reading " + p.name}
		}
		if !p.fresh {
			need |= p.part
		}
	}
	if need != 0 {
		return &operation.Want{Need: need}
	}
	return nil
}

// planProblem says what makes the recorded plan unusable, after fresh reads; empty where nothing does.
func (v *View) planProblem() string {
	st := &v.Schema.Status
	if why := v.policyProblem(); why != "" {
		return why
	}
	if v.Policy.Value.UID != st.Plan.VerificationPolicyUID || v.Policy.Value.Digest != st.Plan.VerificationPolicyDigest {
		return policyMoved
	}
	switch p := v.Stored; {
	case p.State != operation.Present || p.Value.Plan == nil:
		return "plan " + st.Plan.Name + " is gone"
	case p.Value.Plan.UID != st.Plan.UID:
		return "plan " + st.Plan.Name + " was made again under another UID"
	case p.Value.Damage != "":
		return "plan " + st.Plan.Name + " is damaged: " + p.Value.Damage
	case !approval.Stored(p.Value.Plan):
		return "plan " + st.Plan.Name + " is not stored completely"
	case p.Value.Plan.Spec.SchemaPlanBindings != st.Plan.SchemaPlanBindings || p.Value.Plan.Spec.Fingerprint != st.Plan.Fingerprint:
		return "plan " + st.Plan.Name + " is not the one that was recorded"
	case st.Plan.PolicyFingerprint != v.policyFingerprint():
		return "spec.policy changed after the plan was computed"
	case st.Plan.ExecutionBindingID != v.epoch():
		return "the execution binding changed after the plan was computed"
	}
	return ""
}

const policyMoved = "the verification policy is another one than the artifact was verified with"

func (v *View) retract(why string) operation.Want {
	return operation.Want{Write: &operation.Turn{
		Kind: operation.TurnEvidence, Detail: why, Judged: operation.Judgement{Detail: verdictPlanUnusable},
	}}
}

// wantApproval leads to a recorded and marked approval; nil once it stands.
func (v *View) wantApproval() *operation.Want {
	recorded := v.Schema.Status.Plan.Approval
	if recorded == nil {
		return v.chooseApproval()
	}
	live := v.find(recorded.UID)
	if live == nil {
		return v.revoke("the approval " + recorded.Name + " is gone")
	}
	verdict := approval.Judge(v.judgeInput(approval.Claim), live)
	if verdict.Outcome != approval.Accepted {
		return v.revoke("the approval " + recorded.Name + " no longer counts: " + verdict.Message)
	}
	if !accepted(live) {
		return &operation.Want{Mark: markOf(live, verdict, operation.Note{
			Event: v1alpha1.EventApprovalAccepted, Message: "Approval " + live.Name + " by " + live.Spec.Approver.Username + " accepted for plan " + v.Schema.Status.Plan.Name,
		})}
	}
	return nil
}

func (v *View) chooseApproval() *operation.Want {
	chosen, marks := approval.Choose(v.judgeInput(approval.Claim), map[string]*v1alpha1.PtahSchemaPlan{
		v.Schema.Status.Plan.Name: v.Stored.Value.Plan,
	}, v.candidates())
	if chosen != nil {
		return &operation.Want{Write: &operation.Turn{
			Kind: operation.TurnEvidence, Detail: chosen.Name,
			Judged: operation.Judgement{Detail: approval.Record(chosen.Name, chosen.UID, chosen.Spec.ApprovalStamp)},
		}}
	}
	if len(marks) > 0 {
		return &operation.Want{Mark: v.staleMark(marks[0].Approval, marks[0].Verdict)}
	}
	rest := v.rest("waiting for an approval")
	return &rest
}

func (v *View) revoke(why string) *operation.Want {
	return &operation.Want{Write: &operation.Turn{
		Kind: operation.TurnEvidence, Detail: why, Judged: operation.Judgement{Detail: verdictRevoked},
	}}
}

func (v *View) judgeInput(stage approval.Stage) approval.Input {
	in := approval.Input{Stage: stage, Schema: v.Schema, Plan: v.Stored.Value.Plan, Identity: &v.Identity, Policy: &approval.PolicySource{}}
	if v.Policy.State == operation.Present {
		in.Policy = &approval.PolicySource{UID: string(v.Policy.Value.UID), Digest: v.Policy.Value.Digest}
	}
	return in
}

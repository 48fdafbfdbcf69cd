package approval

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/realm"
)

// Stage is who asks.
type Stage int

// The stages. Admission wants a resource that waits for exactly one approval; Claim and Dispatch are the controller's, after the decision
// was recorded or while it is about to be; Advice is the plugin's, and as strict as admission.
const (
	Admission Stage = iota
	Claim
	Dispatch
	Advice
)

// PolicySource is the verification policy as it is now.
type PolicySource struct {
	UID    string
	Digest string
}

// Input is what a schema approval is judged by, all of it read fresh by whoever authorises anything.
type Input struct {
	Stage    Stage
	Schema   *v1alpha1.PtahSchema
	Plan     *v1alpha1.PtahSchemaPlan // under the name in the approval; nil where there is none
	Policy   *PolicySource            // nil where it was not read (the plugin); the zero value where it is gone
	Identity *v1alpha1.ExecutionIdentity
	// Identity is the manager's own; nil outside of the manager, where the recorded binding has to do.
}

// Judge says how one schema approval stands.
func Judge(in Input, a *v1alpha1.PtahSchemaApproval) Verdict {
	c := Case{
		Approval: v1alpha1.ObjectRef{Name: a.Name, UID: a.UID},
		Consumed: IsConsumed(a.Status),

		NamedResource:    a.Spec.SchemaRef,
		Resource:         v1alpha1.ObjectRef{Name: in.Schema.Name, UID: in.Schema.UID},
		NamedPlan:        a.Spec.PlanRef,
		NamedFingerprint: a.Spec.PlanFingerprint,
		Bindings:         schemaMembers(a.Spec.SchemaPlanBindings),
		Plan:             planFacts(in.Plan),
		Live:             live(in),
		NotWaiting:       notWaiting(in),
	}
	if p := in.Schema.Status.Plan; p != nil {
		c.Current, c.CurrentFinger = v1alpha1.ObjectRef{Name: p.Name, UID: p.UID}, p.Fingerprint
		c.CurrentBindings = schemaMembers(p.SchemaPlanBindings)
		if p.Approval != nil {
			c.RecordedBy = v1alpha1.ObjectRef{Name: p.Approval.Name, UID: p.Approval.UID}
		}
	}
	if IsStale(a.Status) { // terminal: what was retired under one epoch does not come back under another
		return stale("the approval was retired before")
	}
	return Decide(c)
}

// Mark is a verdict that belongs on an approval.
type Mark struct {
	Approval *v1alpha1.PtahSchemaApproval
	Verdict  Verdict
}

// Choose picks the one approval that authorises the current plan, the earliest decision first, or nil; and it says what belongs on the
// others: those that are stale, and duplicates, which are superseded. Consumed and already retired approvals are evidence and skipped.
func Choose(in Input, plans map[string]*v1alpha1.PtahSchemaPlan, approvals []v1alpha1.PtahSchemaApproval) (*v1alpha1.PtahSchemaApproval, []Mark) {
	order := make([]*v1alpha1.PtahSchemaApproval, 0, len(approvals))
	for i := range approvals {
		order = append(order, &approvals[i])
	}
	slices.SortStableFunc(order, func(a, b *v1alpha1.PtahSchemaApproval) int {
		return cmp.Or(a.Spec.ApprovedAt.Compare(b.Spec.ApprovedAt.Time), cmp.Compare(a.Name, b.Name))
	})
	var chosen *v1alpha1.PtahSchemaApproval
	var marks []Mark
	for _, a := range order {
		if a.Spec.SchemaRef.Name != in.Schema.Name || IsConsumed(a.Status) || IsStale(a.Status) {
			continue
		}
		one := in
		one.Plan = plans[a.Spec.PlanRef.Name]
		v := Judge(one, a)
		switch {
		case v.Outcome == Accepted && chosen == nil:
			chosen = a
		case v.Outcome == Accepted:
			marks = append(marks, Mark{a, Verdict{Stale, v1alpha1.ReasonSupersededApproval, "an earlier approval was used for this plan"}})
		case v.Outcome == Stale:
			marks = append(marks, Mark{a, v})
		}
	}
	return chosen, marks
}

func planFacts(p *v1alpha1.PtahSchemaPlan) *PlanFacts {
	if p == nil {
		return nil
	}
	return &PlanFacts{
		Ref: v1alpha1.ObjectRef{Name: p.Name, UID: p.UID}, Resource: p.Spec.SchemaRef, Fingerprint: p.Spec.Fingerprint,
		Bindings: schemaMembers(p.Spec.SchemaPlanBindings), Ready: Stored(p),
	}
}

// Stored reports whether a plan's chunks were all read back: its Ready condition and the concrete ConfigMap of every chunk.
func Stored(p *v1alpha1.PtahSchemaPlan) bool {
	if !meta.IsStatusConditionTrue(p.Status.Conditions, string(v1alpha1.ConditionReady)) || len(p.Status.PublishedChunks) != len(p.Spec.Chunks) {
		return false
	}
	for i, ref := range p.Spec.Chunks {
		if got := p.Status.PublishedChunks[i]; got.Index != ref.Index || got.Name != ref.Name || got.UID == "" {
			return false
		}
	}
	return true
}

// live is what is true of the schema now. A member that was not read is left out.
func live(in Input) []Member {
	s := in.Schema
	out := []Member{{"policyFingerprint", plan.PolicyFingerprint(s.Spec.Policy)}}
	if engine, ok := realm.NormaliseEngine(s.Spec.Target.Engine); ok {
		out = append(out, Member{"coordinationDigest", realm.Digest(engine, s.Spec.Target.CoordinationKey)})
	} else {
		out = append(out, Member{"coordinationDigest", "that of an unsupported engine"})
	}
	if b := s.Status.ExecutionBinding; b != nil {
		out = append(out, Member{"executionBindingID", b.Epoch})
		out = append(out, identityMembers(b.ExecutionIdentity)...)
	}
	if in.Identity != nil {
		out = append(out, identityMembers(*in.Identity)...)
	}
	if src := s.Status.Source; src != nil && src.Digest != "" {
		out = append(out, Member{"artifactDigest", src.Digest})
	}
	if t := s.Status.Target; t != nil && t.IdentityDigest != "" {
		out = append(out, Member{"targetIdentityDigest", t.IdentityDigest})
	}
	if in.Policy != nil {
		out = append(out, Member{"verificationPolicyUID", in.Policy.UID}, Member{"verificationPolicyDigest", in.Policy.Digest})
	}
	return out
}

func identityMembers(id v1alpha1.ExecutionIdentity) []Member {
	return []Member{
		{"controllerImage", id.ControllerImage},
		{"controllerRevision", id.ControllerRevision},
		{"controllerStateVersion", digest.Int(int64(id.ControllerStateVersion))},
		{"ptahVersion", id.PtahVersion},
		{"executorImage", id.ExecutorImage},
		{"runnerImage", id.RunnerImage},
		{"runnerProtocolVersion", digest.Int(int64(id.RunnerProtocolVersion))},
	}
}

func sharedMembers(b v1alpha1.PlanBindings) []Member {
	return append([]Member{
		{"policyFingerprint", b.PolicyFingerprint},
		{"verificationPolicyUID", string(b.VerificationPolicyUID)},
		{"verificationPolicyDigest", b.VerificationPolicyDigest},
		{"coordinationDigest", b.CoordinationDigest},
		{"targetIdentityDigest", b.TargetIdentityDigest},
		{"executionBindingID", b.ExecutionBindingID},
	}, identityMembers(b.ExecutionIdentity)...)
}

func schemaMembers(b v1alpha1.SchemaPlanBindings) []Member {
	return append([]Member{
		{"artifactDigest", b.ArtifactDigest},
		{"desiredStateFingerprint", b.DesiredStateFingerprint},
		{"actualStateFingerprint", b.ActualStateFingerprint},
	}, sharedMembers(b.PlanBindings)...)
}

// Demand is what the policy asks of a plan.
type Demand int

// The demands.
const (
	NeedsApproval Demand = iota // AwaitingApproval
	NeedsNothing                // ReadyToApply: Always, and nothing destructive
	Disabled                    // apply: Never
	Disallowed                  // destructive, and allowDestructive is false
)

// Required is what a schema's policy asks of a plan (contract: Normal status progression; runtime sheet C5).
func Required(p v1alpha1.SchemaPolicy, destructive bool) Demand {
	switch {
	case p.Apply == v1alpha1.ApplyNever:
		return Disabled
	case destructive && !p.AllowDestructive:
		return Disallowed
	case p.Apply == v1alpha1.ApplyAlways && !destructive:
		return NeedsNothing
	}
	return NeedsApproval
}

// notWaiting says why a schema takes no approval at this stage; the zero Verdict when it does.
func notWaiting(in Input) Verdict {
	s := in.Schema
	refused := func(reason v1alpha1.ConditionReason, format string, args ...any) Verdict {
		return Verdict{Refused, reason, fmt.Sprintf(format, args...)}
	}
	if s.DeletionTimestamp != nil {
		return refused(v1alpha1.ReasonPlanNoLongerCurrent, "the schema is being deleted")
	}
	if p := s.Status.Plan; p != nil {
		switch Required(s.Spec.Policy, p.Destructive || (in.Plan != nil && in.Plan.Spec.Destructive)) {
		case Disabled:
			return refused(v1alpha1.ReasonApplyDisabled, "spec.policy.apply is Never: plans are recorded and never run")
		case Disallowed:
			return refused(v1alpha1.ReasonDestructiveChangesDisabled, "the plan is destructive and spec.policy.allowDestructive is false")
		case NeedsNothing:
			return refused(v1alpha1.ReasonNotRequired, "spec.policy.apply is Always and the plan is not destructive: it needs no approval")
		}
	}
	if in.Stage == Claim || in.Stage == Dispatch {
		return Verdict{}
	}
	op := s.Status.ActiveOperation
	switch {
	case s.Spec.Suspend:
		return refused(v1alpha1.ReasonSuspended, "the schema is suspended")
	case s.Status.ObservedGeneration != s.Generation:
		return refused(v1alpha1.ReasonDesiredStateChanged, "the schema was edited after its plan was computed; wait for the controller")
	case op != nil && op.Type == v1alpha1.SchemaApply:
		return refused(v1alpha1.ReasonOperationInProgress, "an Apply is already claimed")
	case s.Status.PendingObservation != nil:
		return refused(v1alpha1.ReasonVerifyingConvergence, "the outcome of an earlier Apply is not proven yet")
	case s.Status.Plan != nil && s.Status.Plan.Approval != nil:
		return refused(v1alpha1.ReasonSatisfied, "an approval is already recorded for this plan")
	case !meta.IsStatusConditionTrue(s.Status.Conditions, string(v1alpha1.ConditionPlanReady)):
		return refused(v1alpha1.ReasonSourceFreshnessUnknown, "the plan is not known to be current at the moment%s", because(s, v1alpha1.ConditionPlanReady))
	case !meta.IsStatusConditionTrue(s.Status.Conditions, string(v1alpha1.ConditionApprovalRequired)):
		return refused(v1alpha1.ReasonPending, "the schema is not waiting for an approval%s", because(s, v1alpha1.ConditionApprovalRequired))
	}
	return Verdict{}
}

func because(s *v1alpha1.PtahSchema, t v1alpha1.ConditionType) string {
	c := meta.FindStatusCondition(s.Status.Conditions, string(t))
	if c == nil || c.Status == metav1.ConditionTrue {
		return ""
	}
	return fmt.Sprintf(" (%s=%s, %s)", c.Type, c.Status, c.Reason)
}

package approval

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Outcome is how an approval stands.
type Outcome int

// The outcomes.
const (
	Accepted Outcome = iota // it authorises the current plan
	Refused                 // it does not authorise now; the reason may pass
	Stale                   // it will never authorise anything again
	Spent                   // it was consumed by a dispatch
)

func (o Outcome) String() string { return [...]string{"Accepted", "Refused", "Stale", "Spent"}[o] }

// Verdict is the answer of a Judge. Reason is API; Message is for people and names no secret.
type Verdict struct {
	Outcome Outcome
	Reason  v1alpha1.ConditionReason
	Message string
}

// Member is one bound value under the name of its field.
type Member struct{ Name, Value string }

// Case is everything that a verdict rests on, the same for both families. An approval is judged against the plan that it names, the plan
// against the resource's record of what is current, and the record against what is true now.
type Case struct {
	Approval v1alpha1.ObjectRef // itself
	Consumed bool

	NamedResource, Resource v1alpha1.ObjectRef // as the approval names it; as it is
	NamedPlan               v1alpha1.ObjectRef
	NamedFingerprint        string
	Bindings                []Member // as the approval repeats them

	Plan *PlanFacts // the plan object under that name; nil where there is none

	Current         v1alpha1.ObjectRef // the plan that the resource records as current; zero where none is
	CurrentFinger   string
	CurrentBindings []Member
	RecordedBy      v1alpha1.ObjectRef // the approval already recorded for the current plan; zero where none is

	Live []Member // what is true now, as far as it is known
	// NotWaiting says why the resource takes no approval at the moment; "" when it waits for exactly one.
	NotWaiting Verdict
}

// PlanFacts is a plan object.
type PlanFacts struct {
	Ref         v1alpha1.ObjectRef
	Resource    v1alpha1.ObjectRef
	Fingerprint string
	Bindings    []Member
	Ready       bool // every chunk stored and read back
}

// bound are the fields whose change means that another execution identity works here now.
var identityFields = map[string]bool{
	"executionBindingID": true, "controllerImage": true, "controllerRevision": true, "controllerStateVersion": true,
	"ptahVersion": true, "executorImage": true, "runnerImage": true, "runnerProtocolVersion": true,
}

// Decide judges one case. Its checks stand in a fixed order: what can never be repaired before what may pass.
func Decide(c Case) Verdict {
	if c.Consumed {
		return Verdict{Spent, v1alpha1.ReasonDispatchCommitted, "the approval was already used for an Apply"}
	}
	for _, check := range []func(Case) Verdict{checkResource, checkPlan, checkBindings, checkLive, checkCurrent, checkOwner, checkReady} {
		if v := check(c); v.Outcome != Accepted {
			return v
		}
	}
	if c.NotWaiting.Outcome != Accepted {
		return c.NotWaiting
	}
	return Verdict{Accepted, v1alpha1.ReasonCurrentPlan, "the approval fits the current plan"}
}

func stale(format string, args ...any) Verdict {
	return Verdict{Stale, v1alpha1.ReasonPlanNoLongerCurrent, fmt.Sprintf(format, args...)}
}

func checkResource(c Case) Verdict {
	if c.NamedResource != c.Resource {
		return stale("it names %s with UID %s, which is not this resource", c.NamedResource.Name, c.NamedResource.UID)
	}
	return Verdict{}
}

func checkPlan(c Case) Verdict {
	switch {
	case c.Plan == nil:
		return stale("there is no plan %s", c.NamedPlan.Name)
	case c.Plan.Ref != c.NamedPlan:
		return stale("plan %s was made again: it has UID %s, the approval names %s", c.NamedPlan.Name, c.Plan.Ref.UID, c.NamedPlan.UID)
	case c.Plan.Resource != c.Resource:
		return stale("plan %s belongs to another resource", c.NamedPlan.Name)
	case c.Plan.Fingerprint != c.NamedFingerprint:
		return stale("plan %s has another fingerprint than the approval names", c.NamedPlan.Name)
	}
	return Verdict{}
}

func checkBindings(c Case) Verdict {
	if m, other, differ := difference(c.Bindings, c.Plan.Bindings); differ {
		return stale("its %s is %s, the plan's is %s", m.Name, m.Value, other)
	}
	return Verdict{}
}

// checkLive comes before checkCurrent, so that a changed execution identity is named as the reason even where the plan has gone already.
func checkLive(c Case) Verdict {
	planned := index(c.Plan.Bindings)
	for _, m := range c.Live {
		want, bound := planned[m.Name]
		if !bound || want == m.Value {
			continue
		}
		v := stale("%s is now %s, the plan was computed under %s", m.Name, m.Value, want)
		if identityFields[m.Name] {
			v.Reason = v1alpha1.ReasonExecutionBindingChanged
		}
		return v
	}
	return Verdict{}
}

func checkCurrent(c Case) Verdict {
	if c.Current != c.Plan.Ref || c.CurrentFinger != c.Plan.Fingerprint {
		return stale("plan %s is not the current plan", c.NamedPlan.Name)
	}
	if m, other, differ := difference(c.Plan.Bindings, c.CurrentBindings); differ {
		return stale("the plan's %s is %s, the resource records %s", m.Name, m.Value, other)
	}
	return Verdict{}
}

func checkOwner(c Case) Verdict {
	if c.RecordedBy != (v1alpha1.ObjectRef{}) && c.RecordedBy != c.Approval {
		return Verdict{Stale, v1alpha1.ReasonSupersededApproval, "another approval was already recorded for this plan"}
	}
	return Verdict{}
}

func checkReady(c Case) Verdict {
	if !c.Plan.Ready {
		return Verdict{Refused, v1alpha1.ReasonPending, "the plan is not stored completely yet"}
	}
	return Verdict{}
}

func index(members []Member) map[string]string {
	out := make(map[string]string, len(members))
	for _, m := range members {
		out[m.Name] = m.Value
	}
	return out
}

// difference finds the first member of a that b has otherwise or not at all.
func difference(a, b []Member) (Member, string, bool) {
	in := index(b)
	for _, m := range a {
		if other, ok := in[m.Name]; !ok || other != m.Value {
			return m, other, true
		}
	}
	return Member{}, "", len(a) != len(b)
}

// SetConditions writes a verdict into an approval's conditions and reports whether anything changed. A verdict that may pass writes nothing:
// the approval is still undecided. Consumed stands beside the others, because a spent approval turns stale too.
func SetConditions(conditions *[]metav1.Condition, v Verdict, generation int64, now metav1.Time) bool {
	set := func(t v1alpha1.ConditionType, status metav1.ConditionStatus) bool {
		return meta.SetStatusCondition(conditions, metav1.Condition{
			Type: string(t), Status: status, Reason: string(v.Reason), Message: v.Message, ObservedGeneration: generation, LastTransitionTime: now,
		})
	}
	switch v.Outcome {
	case Accepted:
		a := set(v1alpha1.ConditionAccepted, metav1.ConditionTrue)
		b := set(v1alpha1.ConditionStale, metav1.ConditionFalse)
		return a || b
	case Stale:
		a := set(v1alpha1.ConditionAccepted, metav1.ConditionFalse)
		b := set(v1alpha1.ConditionStale, metav1.ConditionTrue)
		return a || b
	case Spent:
		return set(v1alpha1.ConditionConsumed, metav1.ConditionTrue)
	}
	return false
}

// IsConsumed reports whether an approval was spent.
func IsConsumed(s v1alpha1.ApprovalStatus) bool {
	return meta.IsStatusConditionTrue(s.Conditions, string(v1alpha1.ConditionConsumed))
}

// IsStale reports whether an approval was retired.
func IsStale(s v1alpha1.ApprovalStatus) bool {
	return meta.IsStatusConditionTrue(s.Conditions, string(v1alpha1.ConditionStale))
}

package approval

import "github.com/ptah-run/ptah/pkg/api/v1alpha1"

// Standing is one approval of the plan that a person rejects.
type Standing struct {
	Ref             v1alpha1.ObjectRef
	ResourceVersion string
	Approver        string
	Consumed, Stale bool
}

// StandingOf takes what a rejection needs from an approval of either family.
func StandingOf(ref v1alpha1.ObjectRef, resourceVersion string, stamp v1alpha1.ApprovalStamp, status v1alpha1.ApprovalStatus) Standing {
	return Standing{Ref: ref, ResourceVersion: resourceVersion, Approver: stamp.Approver.Username, Consumed: IsConsumed(status), Stale: IsStale(status)}
}

// Rejecting is what a rejection is decided on.
type Rejecting struct {
	// Apply is the operation that is claimed for the plan, or whose proof is owed; empty without one.
	Apply string
	// Policy of the resource, and what it asks of this very plan. Neither is read from the phase or from a condition: those say what held when
	// the last pass went over it, and the next pass goes by the policy.
	Policy    v1alpha1.ApplyPolicy
	Demand    Demand
	Approvals []Standing
}

// Rejection is the decision.
type Rejection struct {
	// Refused says why nothing can be rejected any more; empty when it can.
	Refused string
	// Withdraw are the approvals that have to go, so that the plan has none.
	Withdraw []Standing
	// Policy says what the policy does with this plan whatever is rejected; empty where an approval is all that runs it.
	Policy string
	// Spent are approvals that an earlier run used up; they authorise nothing.
	Spent []Standing
}

// Reject decides how a plan loses every approval that could still run it. The API has no decision against a plan: what runs a plan is an
// approval, so a rejected plan is one without an open approval. A run that began cannot be taken back: its claim and the proof that is owed say so, and
// not an approval that was spent, which may have been spent on a run that is long over. Where the policy runs the plan without an approval, there
// is nothing to take from it.
func Reject(in Rejecting) Rejection {
	var r Rejection
	for _, a := range in.Approvals {
		switch {
		case a.Consumed:
			r.Spent = append(r.Spent, a)
		case !a.Stale:
			r.Withdraw = append(r.Withdraw, a)
		}
	}
	switch {
	case in.Apply != "":
		r.Refused = "an Apply of this plan was claimed already (" + in.Apply + "); it is never abandoned"
	case in.Demand == NeedsNothing:
		r.Refused = "spec.policy.apply is Always, and runs this plan without an approval: a rejection could stop nothing; \"kubectl ptah suspend\" does, or another policy"
	}
	if r.Refused != "" {
		r.Withdraw = nil
		return r
	}
	switch {
	case in.Demand == Disabled:
		r.Policy = "spec.policy.apply is Never, so that no plan runs, approved or not"
	case in.Demand == Disallowed:
		r.Policy = "the plan is destructive and spec.policy.allowDestructive is false, so that it does not run, approved or not"
	case in.Policy == v1alpha1.ApplyAlways:
		r.Policy = "spec.policy.apply is Always: this plan is destructive and runs only with an approval, the next one that is not destructive runs without"
	}
	return r
}

// RequiredOfMigration is what a migration's policy asks of a plan: it knows nothing destructive, so Always asks for nothing (runtime sheet B).
func RequiredOfMigration(policy v1alpha1.ApplyPolicy) Demand {
	switch policy {
	case v1alpha1.ApplyNever:
		return Disabled
	case v1alpha1.ApplyAlways:
		return NeedsNothing
	}
	return NeedsApproval
}

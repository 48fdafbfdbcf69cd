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
	// Waiting: the resource waits for an approval of exactly this plan.
	Waiting bool
	// Always: the policy runs the plan without an approval.
	Always    bool
	Approvals []Standing
}

// Rejection is the decision.
type Rejection struct {
	// Refused says why nothing can be rejected any more; empty when it can.
	Refused string
	// Withdraw are the approvals that have to go, so that the plan has none.
	Withdraw []Standing
	// Spent are approvals that an earlier run used up; they authorise nothing.
	Spent []Standing
}

// Reject decides how a plan loses every approval that could still run it. The API has no decision against a plan: what runs a plan is an
// approval, so a rejected plan is one without an open approval. A run that began cannot be taken back: its claim and the proof that is owed say so, and
// not an approval that was spent, which may have been spent on a run that is long over.
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
	case in.Always && !in.Waiting:
		r.Refused = "policy.apply is Always, so this plan needs no approval and a rejection would stop nothing; \"kubectl ptah suspend\" does"
	}
	if r.Refused != "" {
		r.Withdraw = nil
	}
	return r
}

package timeline

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Rejection is a decision against a plan, as the Event says that keeps it. Whoever may create Events can write one: it informs and decides nothing.
type Rejection struct {
	By     string
	At     time.Time
	Reason string
	// Unfinished: not every approval could be withdrawn, so that the plan may still run. Standing are those that were not.
	Unfinished bool
	Standing   string
	// Unconfirmed: it was begun, and nothing says how far it came. The process died, or could not say it.
	Unconfirmed bool
}

// Plan is the plan that a rejection has to be about.
type Plan struct {
	// Resource is the UID of the schema or migration.
	Resource types.UID
	// Name, and Fingerprint where it is known.
	Name, Fingerprint string
	// StoredAt is when the plan object was made, and ApprovedAt when an approval of it was accepted; zero where it is not known. The same content
	// gives the same name again: what is older than the object is about another one, and an approval after a rejection overrules it.
	StoredAt, ApprovedAt time.Time
}

// Rejected finds the last rejection of a plan that still stands; nil without one. One that was asked for counts by itself where nothing tells how it
// ended: whoever asked may have withdrawn some approvals, or all.
func Rejected(events []corev1.Event, plan Plan) *Rejection {
	var last *Rejection
	for i := range events {
		event := &events[i]
		if event.InvolvedObject.UID != plan.Resource {
			continue
		}
		rejection, ok := plan.rejection(v1alpha1.EventReason(event.Reason), event.Message)
		rejection.At = entryOf(event).Last
		switch {
		case !ok, rejection.At.Before(plan.StoredAt), plan.ApprovedAt.After(rejection.At), last != nil && !last.before(&rejection):
		default:
			last = &rejection
		}
	}
	return last
}

// before says that another rejection tells more. Times may have whole seconds, in which an outcome follows what asked for it.
func (r *Rejection) before(other *Rejection) bool {
	if r.At.Equal(other.At) {
		return r.Unconfirmed || !other.Unconfirmed
	}
	return r.At.Before(other.At)
}

// rejection reads "WHO rejected plan NAME (FINGERPRINT): WHY. Approvals withdrawn: NAMES.", or of one that was not finished "WHO began to reject
// plan NAME (FINGERPRINT): WHY. Approvals withdrawn: NAMES, not withdrawn: NAMES.", or of one that was asked for "WHO is about to reject plan NAME
// (FINGERPRINT): WHY. Approvals to withdraw: NAMES.". Each may be cut at its end.
func (p Plan) rejection(event v1alpha1.EventReason, message string) (r Rejection, ok bool) {
	var rest string
	approvals := ". Approvals withdrawn: "
	switch event {
	case v1alpha1.EventPlanRejectionRequested:
		r.By, rest, ok = strings.Cut(message, " is about to reject plan "+p.Name+" (")
		r.Unconfirmed, approvals = true, ". Approvals to withdraw: "
	case v1alpha1.EventPlanRejected:
		if r.By, rest, ok = strings.Cut(message, " rejected plan "+p.Name+" ("); !ok {
			r.By, rest, ok = strings.Cut(message, " began to reject plan "+p.Name+" (")
			r.Unfinished = true
		}
	}
	fingerprint, reason, closed := strings.Cut(rest, "): ")
	if !ok || !closed || (p.Fingerprint != "" && fingerprint != p.Fingerprint) {
		return Rejection{}, false
	}
	r.Reason = reason
	if end := strings.LastIndex(reason, approvals); end >= 0 {
		r.Reason = reason[:end]
		if _, standing, found := strings.Cut(reason[end:], ", not withdrawn: "); found && r.Unfinished {
			r.Standing = strings.TrimSuffix(standing, ".")
		}
	}
	return r, true
}

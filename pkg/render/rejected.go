package render

import (
	"time"

	"github.com/ptah-run/ptah/pkg/timeline"
)

// Rejected is what is known about a decision against a plan.
type Rejected struct {
	Rejection *RejectedBy `json:"rejection,omitempty"`
	// RejectionUnknown says why it could not be told whether the plan was rejected.
	RejectionUnknown string `json:"rejectionUnknown,omitempty"`
}

// RejectedBy is who decided against a plan, when and why, as the Event says that keeps it.
type RejectedBy struct {
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// NewRejected shows a rejection; nil is none.
func NewRejected(r *timeline.Rejection) Rejected {
	if r == nil {
		return Rejected{}
	}
	return Rejected{Rejection: &RejectedBy{By: r.By, At: r.At, Reason: r.Reason}}
}

// Text is the rejection as a clause: who, when and why. Empty without one.
func (r Rejected) Text(now time.Time) string {
	if r.Rejection == nil {
		return ""
	}
	return "rejected " + r.who(now)
}

func (r Rejected) who(now time.Time) string {
	return "by " + oneLine(r.Rejection.By) + " at " + Stamp(r.Rejection.At, now) + ": " + oneLine(r.Rejection.Reason)
}

// labelled is lines for a place whose label says what it is about.
func (r Rejected) labelled(c *Canvas, now time.Time) []string {
	if r.Rejection != nil {
		return []string{c.mark(Caution) + " " + r.who(now)}
	}
	return r.lines(c, now)
}

// lines are the rejection, or that it could not be told, behind a mark; none where there is nothing to say.
func (r Rejected) lines(c *Canvas, now time.Time) []string {
	switch {
	case r.Rejection != nil:
		return []string{c.mark(Caution) + " " + r.Text(now)}
	case r.RejectionUnknown != "":
		return []string{"whether it was rejected could not be told: " + oneLine(r.RejectionUnknown)}
	}
	return nil
}

package render

import (
	"strings"
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
	// Unfinished: not every approval could be withdrawn. Standing are those that were not.
	Unfinished bool   `json:"unfinished,omitempty"`
	Standing   string `json:"standing,omitempty"`
	// Unconfirmed: it was begun, and nothing says that it was finished.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// NewRejected shows a rejection; nil is none.
func NewRejected(r *timeline.Rejection) Rejected {
	if r == nil {
		return Rejected{}
	}
	return Rejected{Rejection: &RejectedBy{By: r.By, At: r.At, Reason: r.Reason, Unfinished: r.Unfinished, Standing: r.Standing, Unconfirmed: r.Unconfirmed}}
}

// Sentence says who rejected what, when and why. Empty without a rejection.
func (r Rejected) Sentence(what string, now time.Time) string {
	switch {
	case r.Rejection == nil:
		return ""
	case r.Rejection.Unconfirmed:
		return oneLine(r.Rejection.By) + " began to reject " + what + " at " + Stamp(r.Rejection.At, now) + ", and nothing says that it was finished: " + oneLine(r.Rejection.Reason)
	}
	return what + " was " + r.text(now)
}

// text is the rejection where it is clear what it is about.
func (r Rejected) text(now time.Time) string {
	switch {
	case r.Rejection.Unconfirmed:
		return r.Sentence("it", now)
	case r.Rejection.Unfinished:
		return "rejected in part, and may still run: begun " + r.who(now)
	}
	return "rejected " + r.who(now)
}

func (r Rejected) who(now time.Time) string {
	text := "by " + oneLine(r.Rejection.By) + " at " + Stamp(r.Rejection.At, now) + ": " + oneLine(r.Rejection.Reason)
	if r.Rejection.Standing != "" {
		text += "; not withdrawn: " + oneLine(r.Rejection.Standing)
	}
	return text
}

// labelled is lines for a place whose label says what it is about.
func (r Rejected) labelled(c *Canvas, now time.Time) []string {
	if r.Rejection != nil {
		return []string{c.mark(Caution) + " " + strings.TrimPrefix(r.text(now), "rejected ")}
	}
	return r.lines(c, now)
}

// lines are the rejection, or that it could not be told, behind a mark; none where there is nothing to say.
func (r Rejected) lines(c *Canvas, now time.Time) []string {
	switch {
	case r.Rejection != nil:
		return []string{c.mark(Caution) + " " + r.text(now)}
	case r.RejectionUnknown != "":
		return []string{"whether it was rejected could not be told: " + oneLine(r.RejectionUnknown)}
	}
	return nil
}

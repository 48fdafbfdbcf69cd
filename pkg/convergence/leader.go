package convergence

import (
	"fmt"
	"time"
)

// Leader is what is known about the managers' leader Lease.
type Leader struct {
	// Problem says why nothing is known: the Lease could not be found or read. The other fields then mean nothing.
	Problem string
	// Missing: there is no such Lease, so no manager ever led.
	Missing bool
	// Holder of the Lease; empty when it was given back.
	Holder string
	// Since is when the holder took it, RenewedAt when it was last renewed, Duration how long a renewal counts.
	Since, RenewedAt time.Time
	Duration         time.Duration
}

// LeaderState is what the Lease says about the managers.
type LeaderState string

// States of leadership.
const (
	LeaderUnknown LeaderState = "Unknown" // the Lease could not be read
	LeaderNone    LeaderState = "None"    // no manager leads
	LeaderPresent LeaderState = "Present" // a manager leads
)

// Judge says whether a manager leads. The renewal is another machine's clock; a whole duration on top of its own allows for that.
func (l Leader) Judge(now time.Time) LeaderState {
	switch {
	case l.Problem != "":
		return LeaderUnknown
	case l.Missing, l.Holder == "", l.RenewedAt.IsZero(), now.Sub(l.RenewedAt) > 2*l.Duration:
		return LeaderNone
	}
	return LeaderPresent
}

// Text says it for a person.
func (l Leader) Text(now time.Time) string {
	switch l.Judge(now) {
	case LeaderUnknown:
		return "whether a manager leads could not be told: " + l.Problem
	case LeaderPresent:
		return fmt.Sprintf("manager %s leads since %s", l.Holder, clock(l.Since))
	}
	switch {
	case l.Missing:
		return "no manager ever held the leader Lease"
	case l.RenewedAt.IsZero():
		return "no manager holds the leader Lease"
	default:
		return "no manager holds the leader Lease since " + clock(l.RenewedAt)
	}
}

// Explain completes a verdict's reason: when no manager leads, that is the reason, and the resource's own state comes second.
func (l Leader) Explain(v Verdict, now time.Time) string {
	if v.State == Stalled && l.Judge(now) == LeaderNone {
		return l.Text(now) + "; " + v.Why
	}
	return v.Why
}

func clock(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

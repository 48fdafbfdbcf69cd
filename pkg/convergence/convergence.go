// Package convergence answers one question about a PtahSchema or PtahMigration: is anything still working on it? The answer is a function of
// the object and of the clock; who leads among the managers only explains it (contract: Finding a resource that has stopped converging).
package convergence

import (
	"fmt"
	"time"
)

// DefaultDeadline is the API's default of spec.execution.activeDeadlineSeconds.
const DefaultDeadline = 900 * time.Second

// climbing is the attempt from which an operation counts as failing again and again.
const climbing = 3

// State is what can be said about a resource.
type State string

// States. Only Stalled and Unknown are findings.
const (
	// OnTime: the next look is due in the future, or overdue by no more than one operation deadline.
	OnTime State = "OnTime"
	// Stalled: the next look is overdue by more than one operation deadline, or none ever came.
	Stalled State = "Stalled"
	// Suspended: the author asked for no new work; nothing is expected to move.
	Suspended State = "Suspended"
	// Parked: nothing is scheduled, and the status says what a person has to change first.
	Parked State = "Parked"
	// Unknown: nothing is scheduled, and the status does not say why.
	Unknown State = "Unknown"
)

// Finding reports whether a person should look.
func (s State) Finding() bool { return s == Stalled || s == Unknown }

// Verdict is the answer for one resource.
type Verdict struct {
	State State
	// Overdue is how long ago the next look was due; for a resource that nobody ever looked at, how long ago it was made.
	Overdue time.Duration
	// Deadline is the resource's own operation deadline, and the bound that Overdue is held against. The contract names one deadline and no
	// allowance on top, so none is added.
	Deadline time.Duration
	// Attempt of the claimed operation; 0 without one.
	Attempt int32
	// Condition is the one that says most; zero where the resource has none.
	Condition Condition
	// Why is a clause for a person: no names of other resources, no secret.
	Why string
}

// Judge gives the verdict on one resource.
func Judge(o *Object, now time.Time) Verdict {
	v := Verdict{Deadline: o.deadline(), Condition: o.telling()}
	if op := o.Status.ActiveOperation; op != nil {
		v.Attempt = op.Attempt
	}
	next := o.Status.NextReconciliationTime
	switch {
	case o.Spec.Suspend:
		v.State, v.Why = Suspended, "suspended (spec.suspend)"
	case next == nil:
		v.unscheduled(o, now)
	default:
		v.Overdue = max(now.Sub(*next), 0)
		v.State = OnTime
		if v.Overdue > v.Deadline {
			v.State = Stalled
		}
		v.Why = o.why(now)
	}
	return v
}

// unscheduled judges a resource without a time of the next look. Before the first look there is none; a refusal that only an edit can lift
// takes it away; anything else is a status that this version does not understand.
func (v *Verdict) unscheduled(o *Object, now time.Time) {
	switch age := now.Sub(o.Metadata.CreationTimestamp); {
	case o.untouched():
		v.Overdue, v.State, v.Why = max(age, 0), OnTime, "no manager looked at it yet"
		if age > v.Deadline {
			v.State, v.Why = Stalled, "no manager ever looked at it"
		}
	case o.Status.ObservedGeneration < o.Metadata.Generation:
		v.State, v.Why = Unknown, fmt.Sprintf("nothing is scheduled, and generation %d was not taken up", o.Metadata.Generation)
	case v.Condition.Reason == "UnsupportedEngine":
		v.State, v.Why = Parked, "its engine is not supported: it waits for an edit"
	default:
		v.State, v.Why = Unknown, "nothing is scheduled, and its status does not say why: "+o.why(now)
	}
}

func (o *Object) deadline() time.Duration {
	if seconds := o.Spec.Execution.ActiveDeadlineSeconds; seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return DefaultDeadline
}

func (o *Object) untouched() bool {
	return o.Status.ObservedGeneration == 0 && len(o.Status.Conditions) == 0
}

// telling picks the condition that says most: a refusal, a failure, then Ready.
func (o *Object) telling() Condition {
	var ready, failed Condition
	for _, c := range o.Status.Conditions {
		switch {
		case c.Type == "Blocked" && c.Status == "True":
			return c
		case c.Type == "ReconciliationFailed" && c.Status == "True":
			failed = c
		case c.Type == "Ready":
			ready = c
		}
	}
	if failed.Type != "" {
		return failed
	}
	return ready
}

// why says what is known about the reason, the most telling fact first.
func (o *Object) why(now time.Time) string {
	switch op, c := o.Status.ActiveOperation, o.telling(); {
	case op != nil && op.Attempt >= climbing:
		return fmt.Sprintf("%s is at attempt %d: it fails as often as it is tried", op.Type, op.Attempt)
	case op != nil && now.Sub(op.StartedAt) > o.deadline():
		return fmt.Sprintf("%s began %s ago, and nobody reads its result", op.Type, spell(now.Sub(op.StartedAt)))
	case op != nil:
		return fmt.Sprintf("%s began %s ago: slow rather than abandoned", op.Type, spell(now.Sub(op.StartedAt)))
	case o.Metadata.DeletionTimestamp != nil:
		return "its deletion waits, and nobody finishes it"
	case c.Type == "":
		return "it has no conditions"
	default:
		return fmt.Sprintf("condition %s is %s, %s", c.Type, c.Status, c.Reason)
	}
}

func spell(d time.Duration) string { return d.Truncate(time.Second).String() }

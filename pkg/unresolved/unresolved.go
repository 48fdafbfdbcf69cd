// Package unresolved decides about the record of a migration run that nobody accounted for: what it says and cannot say, whether the run could
// still be writing, what would write the record again, and the one write that clears it (contract: A migration run nobody accounted for).
package unresolved

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Presence is what is known of an object.
type Presence string

// Presences.
const (
	NotTold Presence = "Unknown" // it could not be looked at
	Gone    Presence = "Gone"
	There   Presence = "Present"
)

// Input is everything that a decision needs: the migration, and what was seen of the things that its record names.
type Input struct {
	Migration *v1alpha1.PtahMigration
	Now       time.Time
	Lease     Lease
	Job       Job
	Pods      Pods
}

// Lease is the database's Lease in the coordination namespace.
type Lease struct {
	Presence Presence
	Problem  string // of NotTold
	Holder   string // operation that holds it; empty when it was given back
	// RenewedAt is when the holder was last seen, Duration how long that counts, by the clocks that wrote them.
	RenewedAt time.Time
	Duration  time.Duration
}

// Job is the Job that the record names.
type Job struct {
	Presence Presence
	Problem  string // of NotTold
	Finished bool
}

// Pods are the Pods that the run could be writing from: owned by the Job, or made for the operation.
type Pods struct {
	Presence Presence
	Problem  string   // of NotTold
	Running  []string // names of those that have not stopped
}

// Answer is the answer to a yes-or-no question that may have none.
type Answer string

// Answers.
const (
	Yes     Answer = "Yes"
	No      Answer = "No"
	Unknown Answer = "Unknown"
)

// Writing says whether the run could still be writing.
type Writing struct {
	Answer Answer
	Why    []string // clauses, those that decide first
}

// Guard names a refusal.
type Guard string

// Guards.
const (
	GuardWriting Guard = "StillWriting"   // the run could still be writing; nothing overrides it
	GuardUntold  Guard = "WritingUnknown" // whether it does could not be told; a person may say that they checked
	GuardRebuilt Guard = "WouldBeRebuilt" // something writes the record again on the next pass
	GuardClaimed Guard = "ApplyClaimed"   // an Apply is claimed beside the record, which no manager writes
)

// Refusal is a reason against clearing.
type Refusal struct {
	Guard Guard
	Text  string
}

// Verdict is the whole decision.
type Verdict struct {
	CanClear bool
	Writing  Writing
	Rebuilt  []Refusal // standing refusals that bring the record back; empty when nothing does
	Refusals []Refusal // all that stand against clearing, in the order in which to deal with them
	Notes    []string  // what does not stand against it, and is worth knowing
}

// Judge decides. It is asked only about a migration that carries a record. With checked a person says that they looked at what could not be
// told here; that lifts GuardUntold and nothing else.
func Judge(in Input, checked bool) Verdict {
	v := Verdict{Writing: writing(in), Rebuilt: rebuilt(in.Migration)}
	if op := in.Migration.Status.ActiveOperation; op != nil && op.Type == v1alpha1.MigrationApply {
		v.Refusals = append(v.Refusals, Refusal{GuardClaimed, fmt.Sprintf("an Apply is claimed (%s); a manager settles it first", op.ID)})
	}
	switch {
	case v.Writing.Answer == Yes:
		v.Refusals = append(v.Refusals, Refusal{GuardWriting, "the run could still be writing: " + strings.Join(v.Writing.Why, "; ")})
	case v.Writing.Answer == Unknown && !checked:
		v.Refusals = append(v.Refusals, Refusal{GuardUntold, "whether the run could still be writing cannot be told from here: " + strings.Join(v.Writing.Why, "; ")})
	}
	v.Refusals = append(v.Refusals, v.Rebuilt...)
	v.CanClear = len(v.Refusals) == 0
	v.Notes = notes(in.Migration)
	return v
}

// writing looks for the run. A Lease that the run holds, a Pod that has not stopped and a Job that has not finished each say yes; a Job that
// is gone or a Lease that merely expired says nothing by itself.
func writing(in Input) Writing {
	run := in.Migration.Status.UnresolvedRun
	var yes, untold, no []string
	switch l := in.Lease; {
	case l.Presence == NotTold:
		untold = append(untold, "the database Lease: "+l.Problem)
	case l.Presence == Gone:
		no = append(no, "no database Lease exists")
	case l.Holder == "":
		no = append(no, "the database Lease was released")
	case run.OperationID == "":
		untold = append(untold, "the database Lease is held by "+l.Holder+", and the record does not say which operation ran")
	case l.Holder == run.OperationID && l.expired(in.Now):
		untold = append(untold, heldText(l)+", which is over; an expired Lease proves nothing about a Pod on a node that nobody reaches")
	case l.Holder == run.OperationID:
		yes = append(yes, heldText(l))
	default:
		no = append(no, "the database Lease is held by another operation")
	}
	switch p := in.Pods; {
	case p.Presence == NotTold:
		untold = append(untold, "its Pods: "+p.Problem)
	case len(p.Running) > 0:
		yes = append(yes, fmt.Sprintf("Pod %s has not stopped", strings.Join(p.Running, ", ")))
	default:
		no = append(no, "no Pod of it runs")
	}
	switch j := in.Job; {
	case run.JobName == "":
		no = append(no, "the record names no Job")
	case j.Presence == NotTold:
		untold = append(untold, "Job "+run.JobName+": "+j.Problem)
	case j.Presence == There && !j.Finished:
		yes = append(yes, "Job "+run.JobName+" has not finished")
	case j.Presence == There:
		no = append(no, "its Job has finished")
	default:
		no = append(no, "its Job is gone")
	}
	switch {
	case len(yes) > 0:
		return Writing{Yes, append(yes, untold...)}
	case len(untold) > 0:
		return Writing{Unknown, append(untold, no...)}
	}
	return Writing{No, no}
}

// expired allows for clocks that disagree by as much again as the Lease lasts.
func (l Lease) expired(now time.Time) bool {
	return !l.RenewedAt.IsZero() && l.Duration > 0 && now.After(l.RenewedAt.Add(2*l.Duration))
}

func heldText(l Lease) string {
	text := "the database Lease is still held by this run"
	if !l.RenewedAt.IsZero() {
		text += fmt.Sprintf(", renewed %s for %s", l.RenewedAt.UTC().Format("2006-01-02 15:04 UTC"), l.Duration)
	}
	return text
}

// Token is what a person repeats to say which run they established: the operation where the record names one, else the Job, else the time of
// the record. Each is enough to tell this record from any other of this resource.
type Token struct {
	Kind  string // "operation ID", "Job UID" or "time of the record"
	Value string
}

// TokenOf a record.
func TokenOf(run *v1alpha1.UnresolvedRun) Token {
	switch {
	case run.OperationID != "":
		return Token{"operation ID", run.OperationID}
	case run.JobUID != "":
		return Token{"Job UID", string(run.JobUID)}
	default:
		return Token{"time of the record", run.RecordedAt.UTC().Format(time.RFC3339)}
	}
}

// Adopted reports whether an upgrade made the record from what an older manager kept: such a record names neither operation nor plan.
func Adopted(run *v1alpha1.UnresolvedRun) bool { return run.OperationID == "" && run.PlanRef == nil }

// IsOf reports whether a Pod or Job was made for the recorded run: by its owner or by the operation in its envelope, which cannot be taken for
// another's.
func IsOf(run *v1alpha1.UnresolvedRun, meta *metav1.ObjectMeta) bool {
	if run.OperationID != "" && meta.Annotations[v1alpha1.OperationIDAnnotation] == run.OperationID {
		return true
	}
	for _, owner := range meta.OwnerReferences {
		if owner.Kind != "Job" {
			continue
		}
		if (run.JobUID != "" && owner.UID == run.JobUID) || (run.JobUID == "" && run.JobName != "" && owner.Name == run.JobName) {
			return true
		}
	}
	return false
}

// SameJob reports whether a Job found under the record's name is the one that ran.
func SameJob(run *v1alpha1.UnresolvedRun, uid types.UID) bool {
	return run.JobUID == "" || run.JobUID == uid
}

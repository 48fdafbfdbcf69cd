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
	Census    Census
}

// Census is who else claims the database, counted by the rule that the manager counts by. The zero Census was not told.
type Census struct {
	Told      bool
	Problem   string // of a census that was not told
	Contested bool
	Message   string // of a contested database
}

// Lease is the Lease of the database that the run was in. Gone is a Lease that should exist and does not: the operator clears the holder of a
// Lease and never deletes one, so that its absence does not say that it was given back.
type Lease struct {
	Presence Presence
	Problem  string // of NotTold
	// Searched: which database the run was in is not known, and no Lease of the coordination namespace is held by it.
	Searched bool
	Holder   string // operation that holds it; empty when it was given back
	// RenewedAt is when the holder was last seen, Duration how long that counts, by the clocks that wrote them.
	RenewedAt time.Time
	Duration  time.Duration
}

// Job is the Job that the record names, or, where it names none, the one that carries its operation.
type Job struct {
	Presence Presence
	Problem  string // of NotTold
	Name     string // of a Job that was found by its operation
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
	// Uncounted says why it could not be told who else claims the database, which would bring the record back too; "" when it could.
	Uncounted string
	Refusals  []Refusal // all that stand against clearing, in the order in which to deal with them
	Notes     []string  // what does not stand against it, and is worth knowing
}

// Judge decides. It is asked only about a migration that carries a record. With checked a person says that they looked at what could not be
// told here; that lifts GuardUntold and nothing else.
func Judge(in Input, checked bool) Verdict {
	v := Verdict{Writing: writing(in), Rebuilt: rebuilt(in.Migration, in.Census)}
	if !in.Census.Told && !Settled(in.Migration) {
		v.Uncounted = in.Census.Problem
	}
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
// is gone, a Lease that is gone and a Lease that merely expired say nothing by themselves.
func writing(in Input) Writing {
	var e evidence
	e.lease(in)
	e.pods(in)
	e.job(in)
	switch {
	case len(e.yes) > 0:
		return Writing{Yes, append(e.yes, e.untold...)}
	case len(e.untold) > 0:
		return Writing{Unknown, append(e.untold, e.no...)}
	}
	return Writing{No, e.no}
}

// evidence is what speaks for a run that still writes, against it, and neither way.
type evidence struct{ yes, untold, no []string }

func (e *evidence) lease(in Input) {
	run := in.Migration.Status.UnresolvedRun
	switch l := in.Lease; {
	case l.Presence == NotTold:
		e.untold = append(e.untold, "the database Lease: "+l.Problem)
	case l.Presence == Gone:
		e.untold = append(e.untold, "the database Lease does not exist; the operator never deletes one, so that somebody did, with what it said")
	case l.Searched:
		e.no = append(e.no, "no database Lease is held by this run")
	case l.Holder == "":
		e.no = append(e.no, "the database Lease was released")
	case run.OperationID == "":
		e.untold = append(e.untold, "the database Lease is held by "+l.Holder+", and the record does not say which operation ran")
	case l.Holder == run.OperationID && l.expired(in.Now):
		e.untold = append(e.untold, heldText(l)+", which is over; an expired Lease proves nothing about a Pod on a node that nobody reaches")
	case l.Holder == run.OperationID:
		e.yes = append(e.yes, heldText(l))
	default:
		e.no = append(e.no, "the database Lease is held by another operation")
	}
}

func (e *evidence) pods(in Input) {
	switch p := in.Pods; {
	case p.Presence == NotTold:
		e.untold = append(e.untold, "its Pods: "+p.Problem)
	case len(p.Running) > 0:
		e.yes = append(e.yes, fmt.Sprintf("Pod %s has not stopped", strings.Join(p.Running, ", ")))
	default:
		e.no = append(e.no, "no Pod of it runs")
	}
}

func (e *evidence) job(in Input) {
	j := in.Job
	what := "Job " + in.Migration.Status.UnresolvedRun.JobName
	switch named := in.Migration.Status.UnresolvedRun.JobName != ""; {
	case !named && j.Presence == NotTold:
		e.untold = append(e.untold, "its Job, which the record does not name: "+j.Problem)
		return
	case !named && j.Presence == Gone:
		e.no = append(e.no, "the record names no Job, and none carries its operation")
		return
	case !named:
		what = "Job " + j.Name + ", which carries its operation,"
	}
	switch {
	case j.Presence == NotTold:
		e.untold = append(e.untold, what+": "+j.Problem)
	case j.Presence == There && !j.Finished:
		e.yes = append(e.yes, what+" has not finished")
	case j.Presence == There:
		e.no = append(e.no, "its Job has finished")
	default:
		e.no = append(e.no, "its Job is gone")
	}
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

// IsJob reports whether a Job was made for the recorded run: by its UID or by the operation in its envelope.
func IsJob(run *v1alpha1.UnresolvedRun, meta *metav1.ObjectMeta) bool {
	return (run.OperationID != "" && meta.Annotations[v1alpha1.OperationIDAnnotation] == run.OperationID) || (run.JobUID != "" && meta.UID == run.JobUID)
}

// Traceable reports whether a record names anything that its Job and Pods could be told by.
func Traceable(run *v1alpha1.UnresolvedRun) bool {
	return run.OperationID != "" || run.JobName != "" || run.JobUID != ""
}

// SameJob reports whether a Job found under the record's name is the one that ran.
func SameJob(run *v1alpha1.UnresolvedRun, uid types.UID) bool {
	return run.JobUID == "" || run.JobUID == uid
}

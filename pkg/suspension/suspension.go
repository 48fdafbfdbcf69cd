// Package suspension says what setting or clearing spec.suspend does to a resource as it is: what may still write, what is thrown away, and
// what stays locked. The rules are the contract's section "Suspension and deletion".
package suspension

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Effect is what a change of spec.suspend does. It is of the status that it was read from.
type Effect struct {
	// Unchanged says that spec.suspend has the wanted value already.
	Unchanged bool
	// InFlight names what runs or is owed, in words; empty where nothing is.
	InFlight string
	// Lines say what happens, the most important first.
	Lines []string
	// Writing says that something may be changing the database at this moment.
	Writing bool
}

// work is what both families have in flight.
type work struct {
	operation, job string
	mutating       bool
	dispatched     bool
	proof          string // outcome of the Apply whose proof is owed
	unresolved     bool
	plan           string // that is published
	kind           string
}

// Schema judges a PtahSchema.
func Schema(schema *v1alpha1.PtahSchema, suspend bool) Effect {
	w := work{kind: "schema"}
	if op := schema.Status.ActiveOperation; op != nil {
		w.operation, w.job, w.mutating, w.dispatched = string(op.Type), op.JobName, op.Type == v1alpha1.SchemaApply, op.DispatchStarted
	}
	if p := schema.Status.PendingObservation; p != nil {
		w.proof = string(p.Outcome)
	}
	if schema.Status.Plan != nil {
		w.plan = schema.Status.Plan.Name
	}
	return w.effect(schema.Spec.Suspend, suspend)
}

// Migration judges a PtahMigration.
func Migration(migration *v1alpha1.PtahMigration, suspend bool) Effect {
	w := work{kind: "migration", unresolved: migration.Status.UnresolvedRun != nil}
	if op := migration.Status.ActiveOperation; op != nil {
		w.operation, w.job, w.mutating, w.dispatched = string(op.Type), op.JobName, op.Type == v1alpha1.MigrationApply, op.DispatchStarted
	}
	if migration.Status.Plan != nil {
		w.plan = migration.Status.Plan.Name
	}
	return w.effect(migration.Spec.Suspend, suspend)
}

func (w work) effect(now, wanted bool) Effect {
	e := Effect{Unchanged: now == wanted, InFlight: w.inFlight(), Writing: w.mutating && w.dispatched}
	if wanted {
		e.Lines = w.suspending()
	} else {
		e.Lines = w.resuming()
	}
	return e
}

func (w work) inFlight() string {
	switch {
	case w.operation != "" && w.dispatched:
		return fmt.Sprintf("%s runs as Job %s", w.operation, w.job)
	case w.operation != "":
		return w.operation + " is about to start"
	case w.proof != "":
		return "a proof is owed after an Apply (" + w.proof + ")"
	default:
		return ""
	}
}

func (w work) suspending() []string {
	lines := []string{"no new Job starts, and the database is not read"}
	switch {
	case w.mutating && w.dispatched:
		lines = append(lines, "the Apply that runs goes on: its Pod is not deleted, and it is watched until its outcome is known")
		if w.kind == "schema" {
			lines = append(lines, "the reading that this Apply then owes waits, and the database's lock is kept until it is resumed or deleted: nothing else can change that database meanwhile")
		}
	case w.mutating:
		lines = append(lines, "the Apply that was about to start is given up before it changes anything")
	case w.operation != "" && w.proof == "":
		lines = append(lines, w.operation+" only reads: its result is thrown away")
	}
	if w.proof != "" {
		lines = append(lines, "the proof that is owed waits once its reading under way is over, and the database's lock is kept until it is resumed or deleted: nothing else can change that database meanwhile")
	}
	if w.unresolved {
		lines = append(lines, "the record of the run nobody accounted for stays: only a reading clears it, and there is none while it is suspended")
	}
	if w.plan != "" && !w.mutating && w.proof == "" {
		lines = append(lines, "plan "+w.plan+" takes no approval while it is suspended")
	}
	return lines
}

func (w work) resuming() []string {
	if w.proof != "" {
		return []string{"the proof that is owed after the last Apply comes first, and then releases the database's lock"}
	}
	lines := []string{"everything is read again from the artifact on, and a new plan is made where the database differs"}
	if w.unresolved {
		lines = append(lines, "the run nobody accounted for still holds every Apply back")
	}
	return lines
}

// Identity is what has to be the same between showing and changing: the object and its spec.
type Identity struct {
	UID        types.UID
	Generation int64
}

// Same says whether two effects are the same to read. The manager goes on between showing and changing; that is no other decision, and yet
// whoever made it has to hear what became of it.
func Same(before, after Effect) bool {
	return before.Unchanged == after.Unchanged && before.InFlight == after.InFlight && slices.Equal(before.Lines, after.Lines)
}

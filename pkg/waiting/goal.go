package waiting

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Goal is a state that somebody waits for a resource to reach.
type Goal string

// Goals.
const (
	// GoalInSync: the database is what the current artifact says, by a reading of the present generation that is over.
	GoalInSync Goal = "insync"
	// GoalAwaitingApproval: a current plan waits for a person's decision.
	GoalAwaitingApproval Goal = "awaiting-approval"
	// GoalApplied: the last Apply of the current artifact, or of one named plan, is proven, or nothing was left to apply. A plan has its name
	// from its content, so the same plan can run again: while it is current, or a run is not proven, an earlier proof counts for nothing.
	GoalApplied Goal = "applied"
	// GoalSuspended: the manager has taken the suspension up and nothing runs.
	GoalSuspended Goal = "suspended"
	// GoalIdle: nothing runs and no proof is owed, whatever the state is.
	GoalIdle Goal = "idle"
	// GoalDeleted: the resource is gone.
	GoalDeleted Goal = "deleted"
)

// Goals lists what can be waited for.
func Goals() []Goal {
	return []Goal{GoalInSync, GoalAwaitingApproval, GoalApplied, GoalSuspended, GoalIdle, GoalDeleted}
}

// Wish is a goal, and what the state has to be about for it to count.
type Wish struct {
	Goal Goal
	// Digest of the artifact; a status about another one is old news. Empty takes what the reference led to last.
	Digest string
	// Plan whose Apply GoalApplied means; empty means that of the current artifact.
	Plan string
}

// Progress says how far a resource is from a goal.
type Progress uint8

// Progress values.
const (
	// Underway: not there, and it may get there by itself.
	Underway Progress = iota
	// Reached: there.
	Reached
	// NeedsDecision: not before somebody approves a plan.
	NeedsDecision
	// NeedsRepair: not before somebody changes the resource, its artifact, its policies or the database.
	NeedsRepair
)

// Distance is how far a resource is from a goal, and what stands between, as a noun phrase behind "waiting for".
type Distance struct {
	Progress Progress
	Text     string
}

var reached = Distance{Progress: Reached}

// facts are what both families know, in one form.
type facts struct {
	answer                 Answer
	current                bool // the status describes the present generation, and the artifact that is asked for
	settled                bool // no reading is under way
	busy, suspended, taken bool
	writing                bool // an Apply is dispatched
	held                   bool // a proof is owed, and waits for the end of a suspension
	inSync                 bool
	asked                  string // plan that waits for an approval
	running                bool   // an Apply is claimed, or its proof is owed
	applied                bool   // the proof on record is what is asked for, and nothing came after it
	earlier                bool   // the proof on record is of the plan that is asked for, and something came after it
	applying               string // plan that is current
}

// SchemaDistance measures a PtahSchema. A status of an older generation or of another artifact never counts.
func SchemaDistance(schema *v1alpha1.PtahSchema, wish Wish) Distance {
	status := &schema.Status
	f := facts{
		answer: Schema(schema), settled: !Rereading(schema), suspended: schema.Spec.Suspend,
		busy:    status.ActiveOperation != nil || status.PendingObservation != nil,
		taken:   meta.IsStatusConditionTrue(status.Conditions, string(v1alpha1.ConditionSuspended)) && status.ObservedGeneration >= schema.Generation,
		inSync:  status.Phase == v1alpha1.SchemaPhaseInSync && readyNow(status.Conditions, schema.Generation),
		current: status.ObservedGeneration >= schema.Generation,
	}
	if s := status.Source; wish.Digest != "" {
		f.current = f.current && s != nil && s.Digest == wish.Digest
	}
	if status.Plan != nil {
		f.applying = status.Plan.Name
		if f.answer.Party == Approver {
			f.asked = status.Plan.Name
		}
	}
	f.running = applyUnproven(status)
	if op := status.ActiveOperation; op != nil {
		f.writing = op.Type == v1alpha1.SchemaApply && op.DispatchStarted
	}
	f.held = status.PendingObservation != nil && f.answer.Reason == v1alpha1.ReasonSuspended
	if a := status.Applied; a != nil && status.Source != nil {
		matches := a.ArtifactDigest == status.Source.Digest
		if wish.Plan != "" {
			matches = a.PlanRef.Name == wish.Plan
		}
		last := proofIsLast(status)
		f.applied, f.earlier = matches && last, matches && !last
	}
	return f.distance(wish)
}

// applyUnproven says whether an Apply is claimed, or ended without its proof so far.
func applyUnproven(status *v1alpha1.PtahSchemaStatus) bool {
	if op := status.ActiveOperation; op != nil && op.Type == v1alpha1.SchemaApply {
		return true
	}
	return status.PendingObservation != nil ||
		status.Phase == v1alpha1.SchemaPhaseApplying || status.Phase == v1alpha1.SchemaPhaseVerifyingConvergence
}

// proofIsLast says whether nothing came after the proof on record. A proof leaves no current plan and a database in sync; what a later
// reading or run found wrong stays in the conditions while everything is read anew, also when it left no plan.
func proofIsLast(status *v1alpha1.PtahSchemaStatus) bool {
	if status.Plan != nil || applyUnproven(status) {
		return false
	}
	if c := meta.FindStatusCondition(status.Conditions, string(v1alpha1.ConditionInSync)); c != nil &&
		c.Status == metav1.ConditionFalse && c.Reason == string(v1alpha1.ReasonScopedChanges) {
		return false
	}
	c := meta.FindStatusCondition(status.Conditions, string(v1alpha1.ConditionApplying))
	return c == nil || c.Reason != string(v1alpha1.ReasonConvergedAfterUnknownOutcome)
}

// MigrationDistance measures a PtahMigration in the same way.
func MigrationDistance(migration *v1alpha1.PtahMigration, wish Wish) Distance {
	status := &migration.Status
	f := facts{
		answer: Migration(migration), settled: !rereadingMigration(status.Phase), suspended: migration.Spec.Suspend,
		busy:    status.ActiveOperation != nil,
		taken:   status.Phase == v1alpha1.MigrationPhaseSuspended && status.ObservedGeneration >= migration.Generation,
		inSync:  status.Phase == v1alpha1.MigrationPhaseInSync && readyNow(status.Conditions, migration.Generation) && status.UnresolvedRun == nil,
		current: status.ObservedGeneration >= migration.Generation,
	}
	if op := status.ActiveOperation; op != nil {
		f.writing = op.Type == v1alpha1.MigrationApply && op.DispatchStarted
	}
	if a := status.Artifact; wish.Digest != "" {
		f.current = f.current && a != nil && a.Digest == wish.Digest
	}
	if status.Plan != nil {
		f.applying = status.Plan.Name
		if f.answer.Party == Approver {
			f.asked = status.Plan.Name
		}
	}
	return f.distance(wish)
}

func rereadingMigration(phase v1alpha1.MigrationPhase) bool {
	switch phase {
	case v1alpha1.MigrationPhaseResolving, v1alpha1.MigrationPhaseVerifying, v1alpha1.MigrationPhaseReading, v1alpha1.MigrationPhasePlanning:
		return true
	}
	return false
}

// readyNow believes a Ready condition of the present generation only.
func readyNow(conditions []metav1.Condition, generation int64) bool {
	ready := meta.FindStatusCondition(conditions, string(v1alpha1.ConditionReady))
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration >= generation
}

func (f *facts) distance(wish Wish) Distance {
	switch wish.Goal {
	case GoalSuspended:
		return f.toSuspension()
	case GoalIdle:
		if !f.busy {
			return reached
		}
		return f.underway()
	case GoalDeleted:
		return Distance{Text: "its deletion"}
	}
	if !f.current {
		return f.toCurrency(wish)
	}
	switch wish.Goal {
	case GoalInSync:
		if f.inSync {
			return reached
		}
	case GoalAwaitingApproval:
		if f.asked != "" && f.settled {
			return reached
		}
		if f.inSync {
			return Distance{Progress: NeedsRepair, Text: "a difference to the artifact: it is in sync and has no plan to approve"}
		}
	case GoalApplied:
		if f.applied || (f.inSync && !f.running && wish.Plan == "") {
			return reached
		}
		if wish.Plan != "" && f.settled && !f.busy && !f.running && f.applying != wish.Plan {
			if f.earlier {
				return Distance{Progress: NeedsRepair, Text: "plan " + wish.Plan + ", which is not the current plan; its proof on record is older than what was found or run since"}
			}
			return Distance{Progress: NeedsRepair, Text: "plan " + wish.Plan + ", which is not the current plan and was not the last one applied"}
		}
	}
	return f.underway()
}

// toCurrency is a status that is about something else. Only what the spec itself says can stand in the way for good.
func (f *facts) toCurrency(wish Wish) Distance {
	if f.suspended {
		return Distance{Progress: NeedsRepair, Text: suspended.Text}
	}
	if wish.Digest != "" && f.answer.Party == Nobody {
		return Distance{Text: "a reading that finds the artifact " + wish.Digest}
	}
	return Distance{Text: f.text()}
}

func (f *facts) toSuspension() Distance {
	switch {
	case !f.suspended:
		return Distance{Progress: NeedsRepair, Text: "a person: spec.suspend is false"}
	case f.taken && !f.busy:
		return reached
	case f.writing:
		return Distance{Text: f.answer.Text}
	case f.taken && f.held:
		return Distance{Progress: NeedsRepair, Text: "a person: no Job runs, but the reading that the last Apply owes waits until it is resumed or deleted"}
	case f.taken:
		return Distance{Text: "what is still owed: " + f.answer.Text}
	default:
		return Distance{Text: "the manager, to take up the suspension"}
	}
}

// underway tells what comes by itself from what waits for a person. During a reading nothing is settled: it may find that the reason is gone.
func (f *facts) underway() Distance {
	d := Distance{Text: f.text()}
	switch {
	case !f.settled:
	case f.answer.Party == Approver:
		d.Progress = NeedsDecision
	case f.answer.Party == Author, f.answer.Party == Operator:
		d.Progress = NeedsRepair
		if f.answer.Reason == v1alpha1.ReasonConfigurationError {
			d.Progress = Underway // tried again by itself: what is missing may be about to be created
		}
	}
	return d
}

func (f *facts) text() string {
	if f.answer.Text == "" {
		return "the end of the reading under way"
	}
	return f.answer.Text
}

package unresolved

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/realm"
)

// repairs are the refusals that keep writing Blocked, and what ends them.
var repairs = map[v1alpha1.ConditionReason]string{
	v1alpha1.ReasonRealmConflict:     "other resources claim this database: let every claimant declare spec.target.sharedRealm, or suspend or delete the others",
	v1alpha1.ReasonUnsupportedEngine: "the engine is not supported: select another in spec.target.engine",
	v1alpha1.ReasonHistoryDirty:      "the revision table has a failed or interrupted row: repair it in the database",
	v1alpha1.ReasonHistoryModified:   "a recorded migration does not match its file: publish the file that was run, or repair the row",
	v1alpha1.ReasonHistoryOutOfOrder: "a migration waits below the current version: renumber it in the artifact, or apply it by hand",
}

// Comeback lists what would write a cleared record again, as the resource stands.
func Comeback(m *v1alpha1.PtahMigration) []Refusal { return rebuilt(m, Census{}) }

// rebuilt lists what would write the record again. Every pass begins by making a record of a Blocked condition that no reading accounts for,
// so whatever keeps writing Blocked keeps bringing the record back. A reading that settles the run ends that, however the resource is
// blocked. So does a database ahead of the artifact: that reading is itself the account. Who claims the database is counted where it could be,
// because the conditions say only what the last pass saw; where it could not be, they are all there is.
func rebuilt(m *v1alpha1.PtahMigration, census Census) []Refusal {
	if Settled(m) {
		return nil
	}
	var list []Refusal
	seen := map[v1alpha1.ConditionReason]bool{}
	add := func(reason v1alpha1.ConditionReason, detail string) {
		text := repairs[reason]
		if text == "" {
			text = "Blocked is written for a reason that this program does not know"
		}
		if !seen[reason] {
			seen[reason] = true
			list = append(list, Refusal{GuardRebuilt, fmt.Sprintf("%s is written again on every pass, and the record with it: %s%s", reason, text, detail)})
		}
	}
	if _, ok := realm.NormaliseEngine(m.Spec.Target.Engine); !ok {
		add(v1alpha1.ReasonUnsupportedEngine, "")
	}
	if census.Contested {
		add(v1alpha1.ReasonRealmConflict, " ("+census.Message+")")
	}
	if h := m.Status.History; h != nil {
		if h.Dirty {
			add(v1alpha1.ReasonHistoryDirty, "")
		}
		if len(h.ModifiedVersions) > 0 {
			add(v1alpha1.ReasonHistoryModified, fmt.Sprintf(" (version %v)", h.ModifiedVersions))
		}
		if len(h.OutOfOrderVersions) > 0 {
			add(v1alpha1.ReasonHistoryOutOfOrder, fmt.Sprintf(" (version %v)", h.OutOfOrderVersions))
		}
	}
	for _, kind := range []v1alpha1.ConditionType{v1alpha1.ConditionBlocked, v1alpha1.ConditionReady} {
		c := meta.FindStatusCondition(m.Status.Conditions, string(kind))
		if c == nil {
			continue
		}
		reason := v1alpha1.ConditionReason(c.Reason)
		if reason == v1alpha1.ReasonRealmConflict && census.Told {
			continue // counted above: the condition is from before, and goes with the next pass
		}
		_, known := repairs[reason]
		if known || (kind == v1alpha1.ConditionBlocked && c.Status == metav1.ConditionTrue && !harmless[reason]) {
			add(reason, "")
		}
	}
	return list
}

// harmless are reasons of Blocked that do not come back by themselves, or that bring no record.
var harmless = map[v1alpha1.ConditionReason]bool{
	v1alpha1.ReasonApplyOutcomeUnknown: true, // the record's own condition, which goes with it
	v1alpha1.ReasonHistoryAhead:        true,
}

// Settled reports whether the stored reading accounts for the run: taken after it finished, with nothing of the artifact left to apply, nothing
// dirty and nothing modified.
func Settled(m *v1alpha1.PtahMigration) bool {
	h, run := m.Status.History, m.Status.LastRun
	if h == nil || run == nil || h.Dirty || h.PendingCount > 0 || len(h.ModifiedVersions) > 0 {
		return false
	}
	finished := run.StartedAt
	if run.FinishedAt != nil {
		finished = *run.FinishedAt
	}
	if record := m.Status.UnresolvedRun; record != nil && record.TargetIdentityDigest != "" && record.TargetIdentityDigest != h.TargetIdentityDigest {
		return false // a reading of another database settles nothing
	}
	return h.ObservedAt.After(finished.Time)
}

func notes(m *v1alpha1.PtahMigration) []string {
	var list []string
	blocked := meta.FindStatusCondition(m.Status.Conditions, string(v1alpha1.ConditionBlocked))
	if blocked != nil && blocked.Status == metav1.ConditionTrue && v1alpha1.ConditionReason(blocked.Reason) == v1alpha1.ReasonHistoryAhead {
		list = append(list, "the database is ahead of the artifact: that does not bring the record back, and holds the resource until an artifact carries those versions")
	}
	if m.Spec.Suspend {
		list = append(list, "the resource is suspended: no pass will show whether the record stays away until it is resumed")
	}
	if op := m.Status.ActiveOperation; op != nil && op.Attempt > 1 {
		list = append(list, fmt.Sprintf("%s is at attempt %d: the reading that would clear the record by itself does not come through", op.Type, op.Attempt))
	}
	return list
}

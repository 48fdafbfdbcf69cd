package waiting

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Migration says what a PtahMigration waits for. A run nobody accounted for outranks everything that is not running.
func Migration(migration *v1alpha1.PtahMigration) Answer {
	status := &migration.Status
	if op := status.ActiveOperation; op != nil && op.Type == v1alpha1.MigrationApply && op.DispatchStarted {
		return Answer{Party: Ptah, Text: fmt.Sprintf("the Apply Job %s (attempt %d)", op.JobName, op.Attempt)}
	}
	if run := status.UnresolvedRun; run != nil {
		return Answer{Party: Operator, Text: fmt.Sprintf("a person: run %s, nobody accounted for it", run.Outcome), Reason: v1alpha1.ReasonApplyOutcomeUnknown}
	}
	if migration.DeletionTimestamp != nil {
		return Answer{Party: Ptah, Text: "its finalizer: deletion is under way"}
	}
	if migration.Spec.Suspend {
		return suspended
	}
	if answer, ok := unseen(migration.Generation, status.ObservedGeneration, status.Conditions); ok {
		return answer
	}
	if blocked := meta.FindStatusCondition(status.Conditions, string(v1alpha1.ConditionBlocked)); blocked != nil && blocked.Status == metav1.ConditionTrue {
		if answer, ok := held(blocked, migration.Spec.Target); ok {
			return answer
		}
		return Answer{Party: Operator, Text: "a person: blocked, " + blocked.Reason, Reason: v1alpha1.ConditionReason(blocked.Reason)}
	}
	ready := meta.FindStatusCondition(status.Conditions, string(v1alpha1.ConditionReady))
	if answer, ok := held(ready, migration.Spec.Target); ok {
		return answer
	}
	if op := status.ActiveOperation; op != nil {
		return migrationOperation(op, FindProblem(status.Conditions))
	}
	if answer, ok := migrationPhase(migration); ok {
		return answer
	}
	return fallback(ready)
}

func migrationOperation(op *v1alpha1.MigrationOperation, problem *Problem) Answer {
	switch {
	case op.DispatchStarted:
		return Answer{Party: Ptah, Text: fmt.Sprintf("the %s Job %s (attempt %d)", op.Type, op.JobName, op.Attempt)}
	case op.RetryNotBefore != nil:
		return Answer{Party: Ptah, Text: because(fmt.Sprintf("another try of %s (attempt %d) after a failure", op.Type, op.Attempt), problem)}
	case op.Type == v1alpha1.MigrationApply && op.LeaseEpoch == "":
		return Answer{Party: Ptah, Text: "the database lock, to start the Apply"}
	default:
		return Answer{Party: Ptah, Text: fmt.Sprintf("the start of %s (attempt %d)", op.Type, op.Attempt)}
	}
}

func migrationPhase(migration *v1alpha1.PtahMigration) (Answer, bool) {
	status := &migration.Status
	switch status.Phase {
	case v1alpha1.MigrationPhaseAwaitingApproval:
		if status.Plan != nil {
			return approvalOf(status.Plan.Name), true
		}
	case v1alpha1.MigrationPhaseInSync:
		return Answer{Party: Nobody, Reason: v1alpha1.ReasonHistoryMatched}, true
	case v1alpha1.MigrationPhasePending, "":
		return start, true
	case v1alpha1.MigrationPhaseFailed:
		return Answer{Party: Ptah, Text: because("another try after a failure", FindProblem(status.Conditions)), Reason: v1alpha1.ReasonOperationFailed}, true
	case v1alpha1.MigrationPhaseVerifyingHistory:
		return Answer{Party: Ptah, Text: "a fresh reading of the history that proves the run"}, true
	case v1alpha1.MigrationPhaseResolving, v1alpha1.MigrationPhaseVerifying, v1alpha1.MigrationPhaseReading, v1alpha1.MigrationPhasePlanning:
		return Answer{Party: Ptah, Text: "the end of " + string(status.Phase)}, true
	}
	return Answer{}, false
}

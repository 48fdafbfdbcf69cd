// Package waiting answers one question about a resource: what is it waiting for, in words, and who has to move. The answer is a function
// of the object alone, so that the manager's conditions and the plugin's tables say the same thing.
package waiting

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Party is who has to move next.
type Party string

// Parties.
const (
	// Nobody: the resource is where it should be.
	Nobody Party = "nobody"
	// Ptah: it goes on by itself.
	Ptah Party = "ptah"
	// Approver: a person who may approve the current plan.
	Approver Party = "approver"
	// Author: a person who may change the resource, its artifact or its policies.
	Author Party = "author"
	// Operator: a person who may repair the database, the registry or the cluster.
	Operator Party = "operator"
)

// Answer is what a resource waits for.
type Answer struct {
	Party Party
	// Text is a noun phrase that fits behind "waiting for": at most about 120 characters, without times, the same for the same status.
	// Empty with Nobody.
	Text string
	// Reason is the condition reason that the answer rests on, where one does.
	Reason v1alpha1.ConditionReason
}

// Schema says what a PtahSchema waits for. What may be writing outranks what is merely wanted.
func Schema(schema *v1alpha1.PtahSchema) Answer {
	status := &schema.Status
	if op := status.ActiveOperation; op != nil && op.Type == v1alpha1.SchemaApply && op.DispatchStarted {
		return Answer{Party: Ptah, Text: fmt.Sprintf("the Apply Job %s (attempt %d)", op.JobName, op.Attempt)}
	}
	if status.PendingObservation != nil {
		return proof(schema)
	}
	if schema.DeletionTimestamp != nil {
		return Answer{Party: Ptah, Text: "its finalizer: deletion is under way"}
	}
	if schema.Spec.Suspend {
		return suspended
	}
	if answer, ok := unseen(schema.Generation, status.ObservedGeneration, status.Conditions); ok {
		return answer
	}
	ready := meta.FindStatusCondition(status.Conditions, string(v1alpha1.ConditionReady))
	if answer, ok := held(ready, schema.Spec.Target); ok {
		return answer
	}
	if answer, ok := retrying(status); ok {
		return answer
	}
	if op := status.ActiveOperation; op != nil {
		return schemaOperation(op)
	}
	if answer, ok := schemaPhase(schema); ok {
		return answer
	}
	return fallback(ready)
}

// proof is the reading that an Apply owes. A deletion gives it up as soon as nothing can write any more; a suspension holds it until it is
// resumed, but for one that runs already.
func proof(schema *v1alpha1.PtahSchema) Answer {
	unknown := schema.Status.PendingObservation.Outcome == v1alpha1.OutcomeUnknown
	op := schema.Status.ActiveOperation
	switch {
	case schema.DeletionTimestamp != nil:
		return Answer{Party: Ptah, Text: "its finalizer: deletion is under way, and ends once no Pod of the Apply can write"}
	case schema.Spec.Suspend && (op == nil || !op.DispatchStarted) && unknown:
		return Answer{Party: Author, Text: "a person: suspended (spec.suspend); the outcome of the Apply stays unknown until it is resumed", Reason: v1alpha1.ReasonSuspended}
	case schema.Spec.Suspend && (op == nil || !op.DispatchStarted):
		return Answer{Party: Author, Text: "a person: suspended (spec.suspend); the reading that proves the Apply waits until it is resumed", Reason: v1alpha1.ReasonSuspended}
	case unknown:
		return Answer{Party: Ptah, Text: "a fresh reading: the outcome of the Apply is unknown", Reason: v1alpha1.ReasonApplyOutcomeUnknown}
	default:
		return Answer{Party: Ptah, Text: "a fresh reading that proves the Apply", Reason: v1alpha1.ReasonVerifyingConvergence}
	}
}

// retrying is an operation that failed and comes again by itself. The next scheduled time says when.
func retrying(status *v1alpha1.PtahSchemaStatus) (Answer, bool) {
	failed := meta.FindStatusCondition(status.Conditions, string(v1alpha1.ConditionReconciliationFailed))
	if failed == nil || failed.Status != metav1.ConditionTrue {
		return Answer{}, false
	}
	reason := v1alpha1.ConditionReason(failed.Reason)
	problem := FindProblem(status.Conditions)
	op := status.ActiveOperation
	switch {
	case op != nil && reason == v1alpha1.ReasonConfigurationError:
		return Answer{Party: Author, Text: because(fmt.Sprintf("a person: %s cannot run", op.Type), problem), Reason: reason}, true
	case op != nil && op.DispatchStarted:
		return Answer{Party: Ptah, Text: because(fmt.Sprintf("the %s Job %s (attempt %d), after a failure", op.Type, op.JobName, op.Attempt), problem), Reason: reason}, true
	case op != nil:
		return Answer{Party: Ptah, Text: because(fmt.Sprintf("another try of %s (attempt %d) after a failure", op.Type, op.Attempt), problem), Reason: reason}, true
	case reason == v1alpha1.ReasonConfigurationError:
		return Answer{Party: Author, Text: because("a person: the configuration is wrong", problem), Reason: reason}, true
	default:
		return Answer{Party: Ptah, Text: because("another try after a failure", problem), Reason: reason}, true
	}
}

func schemaOperation(op *v1alpha1.SchemaOperation) Answer {
	switch {
	case op.DispatchStarted:
		return Answer{Party: Ptah, Text: fmt.Sprintf("the %s Job %s (attempt %d)", op.Type, op.JobName, op.Attempt)}
	case op.Type == v1alpha1.SchemaApply && op.LeaseEpoch == "":
		return Answer{Party: Ptah, Text: "the database lock, to start the Apply"}
	case op.Type == v1alpha1.SchemaPlan && op.LeaseEpoch == "":
		return Answer{Party: Ptah, Text: "the database lock, to plan"}
	default:
		return Answer{Party: Ptah, Text: fmt.Sprintf("the start of %s (attempt %d)", op.Type, op.Attempt)}
	}
}

// schemaPhase answers for what the conditions do not settle.
func schemaPhase(schema *v1alpha1.PtahSchema) (Answer, bool) {
	switch schema.Status.Phase {
	case v1alpha1.SchemaPhaseAwaitingApproval:
		if plan := schema.Status.Plan; plan != nil {
			return approvalOf(plan.Name), true
		}
	case v1alpha1.SchemaPhaseReadyToApply:
		return Answer{Party: Ptah, Text: "the Apply of a plan that may run", Reason: v1alpha1.ReasonApplyPending}, true
	case v1alpha1.SchemaPhaseInSync:
		return Answer{Party: Nobody, Reason: v1alpha1.ReasonInSync}, true
	case v1alpha1.SchemaPhasePending, "":
		return start, true
	case v1alpha1.SchemaPhaseVerifyingConvergence:
		return Answer{Party: Ptah, Text: "a fresh reading that proves the Apply"}, true
	case v1alpha1.SchemaPhaseResolving, v1alpha1.SchemaPhaseVerifying, v1alpha1.SchemaPhaseObserving, v1alpha1.SchemaPhasePlanning:
		return Answer{Party: Ptah, Text: "the end of " + string(schema.Status.Phase)}, true
	}
	return Answer{}, false
}

// SchemaApproval says whether the schema waits for an approval of exactly its current plan.
func SchemaApproval(schema *v1alpha1.PtahSchema) bool {
	return schema.Status.Plan != nil && Schema(schema).Party == Approver
}

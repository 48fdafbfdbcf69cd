package waiting

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
)

// Problem is what is wrong with a resource, as its conditions say it. A plan that waits for a decision is no problem.
type Problem struct {
	Condition v1alpha1.ConditionType
	Reason    v1alpha1.ConditionReason
	// Code of the failure; empty where the message names none.
	Code frame.Code
	// Text is the condition's message.
	Text string
}

// problems are the conditions that can say what is wrong, the most telling first, and the status with which they do.
var problems = []struct {
	kind   v1alpha1.ConditionType
	status metav1.ConditionStatus
}{
	{v1alpha1.ConditionReconciliationFailed, metav1.ConditionTrue},
	{v1alpha1.ConditionBlocked, metav1.ConditionTrue},
	{v1alpha1.ConditionReady, metav1.ConditionFalse},
}

// unwell are the reasons of Ready that say that something is wrong. Of the other conditions every reason does.
var unwell = map[v1alpha1.ConditionReason]bool{
	v1alpha1.ReasonOperationFailed: true, v1alpha1.ReasonConfigurationError: true, v1alpha1.ReasonApplyOutcomeUnknown: true,
	v1alpha1.ReasonPolicyBlocked: true, v1alpha1.ReasonDestructiveChangesDisabled: true, v1alpha1.ReasonProtectedTable: true,
	v1alpha1.ReasonPolicyRefused: true, v1alpha1.ReasonRealmConflict: true, v1alpha1.ReasonUnsupportedEngine: true,
	v1alpha1.ReasonHistoryAhead: true, v1alpha1.ReasonHistoryDirty: true, v1alpha1.ReasonHistoryModified: true, v1alpha1.ReasonHistoryOutOfOrder: true,
	v1alpha1.ReasonLeaseContinuityLost: true,
}

// FindProblem gives the first thing that the conditions call wrong, and nil where they call nothing so.
func FindProblem(conditions []metav1.Condition) *Problem {
	for _, p := range problems {
		c := meta.FindStatusCondition(conditions, string(p.kind))
		if c == nil || c.Status != p.status {
			continue
		}
		if reason := v1alpha1.ConditionReason(c.Reason); p.kind != v1alpha1.ConditionReady || unwell[reason] {
			return &Problem{Condition: p.kind, Reason: reason, Code: codeIn(c.Message), Text: c.Message}
		}
	}
	return nil
}

// codeIn reads the failure code that the manager writes in front of what an executor said: "Code: text", or "Operation waits: Code: text".
func codeIn(message string) frame.Code {
	for _, word := range strings.SplitN(message, ": ", 3) {
		if code := frame.Code(word); code.Known() {
			return code
		}
	}
	return ""
}

// because appends a failure's code to a phrase.
func because(phrase string, problem *Problem) string {
	if problem == nil || problem.Code == "" {
		return phrase
	}
	return phrase + ": " + string(problem.Code)
}

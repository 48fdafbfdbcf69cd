package waiting_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/waiting"
)

func TestFindProblem(t *testing.T) {
	condition := func(kind, status, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: message}
	}
	for name, c := range map[string]struct {
		conditions []metav1.Condition
		want       *waiting.Problem
	}{
		"nothing":           {nil, nil},
		"in sync":           {[]metav1.Condition{condition("Ready", "True", "InSync", "")}, nil},
		"awaiting approval": {[]metav1.Condition{condition("Ready", "False", "AwaitingApproval", "the plan needs an approval")}, nil},
		"failed": {
			[]metav1.Condition{condition("Ready", "False", "OperationFailed", "x"), condition("ReconciliationFailed", "True", "OperationFailed", "LockTimeout: not in 30s")},
			&waiting.Problem{Condition: "ReconciliationFailed", Reason: "OperationFailed", Code: "LockTimeout", Text: "LockTimeout: not in 30s"},
		},
		"no code": {
			[]metav1.Condition{condition("ReconciliationFailed", "True", "OperationFailed", "observe left no result: the Pod is gone")},
			&waiting.Problem{Condition: "ReconciliationFailed", Reason: "OperationFailed", Text: "observe left no result: the Pod is gone"},
		},
		"over": {[]metav1.Condition{condition("ReconciliationFailed", "False", "Succeeded", "")}, nil},
		"held": {
			[]metav1.Condition{condition("Ready", "False", "ProtectedTable", "public.stock is protected"), condition("ReconciliationFailed", "False", "Succeeded", "")},
			&waiting.Problem{Condition: "Ready", Reason: "ProtectedTable", Text: "public.stock is protected"},
		},
		"blocked": {
			[]metav1.Condition{condition("Blocked", "True", "HistoryDirty", "version 13"), condition("Ready", "False", "HistoryDirty", "")},
			&waiting.Problem{Condition: "Blocked", Reason: "HistoryDirty", Text: "version 13"},
		},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, waiting.FindProblem(c.conditions)) })
	}
}

func TestFromLastReading(t *testing.T) {
	for name, c := range map[string]struct {
		phase     v1alpha1.SchemaPhase
		condition metav1.Condition
		want      bool
	}{
		"a plan while observing":             {v1alpha1.SchemaPhaseObserving, metav1.Condition{Type: "PlanReady", Status: "True"}, true},
		"a plan that waits":                  {v1alpha1.SchemaPhaseAwaitingApproval, metav1.Condition{Type: "PlanReady", Status: "True"}, false},
		"the artifact while observing":       {v1alpha1.SchemaPhaseObserving, metav1.Condition{Type: "ArtifactVerified", Status: "True"}, false},
		"the artifact while verifying":       {v1alpha1.SchemaPhaseVerifying, metav1.Condition{Type: "ArtifactVerified", Status: "True"}, true},
		"the database, planning":             {v1alpha1.SchemaPhasePlanning, metav1.Condition{Type: "DatabaseReachable", Status: "True"}, false},
		"a readiness of before":              {v1alpha1.SchemaPhaseObserving, metav1.Condition{Type: "Ready", Status: "True", Reason: "InSync"}, true},
		"a readiness of now":                 {v1alpha1.SchemaPhaseObserving, metav1.Condition{Type: "Ready", Status: "False", Reason: "OperationInProgress"}, false},
		"what says that nothing is known":    {v1alpha1.SchemaPhaseObserving, metav1.Condition{Type: "PlanReady", Status: "Unknown"}, false},
		"what is not evidence of a reading":  {v1alpha1.SchemaPhaseObserving, metav1.Condition{Type: "Suspended", Status: "False"}, false},
		"what waits for this reading itself": {v1alpha1.SchemaPhaseVerifying, metav1.Condition{Type: "ArtifactVerified", Status: "False", Reason: "Pending"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := schema(c.phase)
			assert.Equal(t, c.want, waiting.FromLastReading(s, c.condition))
			assert.Equal(t, c.phase != v1alpha1.SchemaPhaseAwaitingApproval, waiting.Rereading(s))
		})
	}
}

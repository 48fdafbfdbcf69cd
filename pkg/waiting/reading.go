package waiting

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// evidence are the conditions of a PtahSchema that rest on one step of a reading, in the order of the steps. While a step is still to come,
// what they say is from the reading before.
var evidence = []struct {
	kind   v1alpha1.ConditionType
	phases []v1alpha1.SchemaPhase // in which the step is still to come
}{
	{v1alpha1.ConditionArtifactVerified, []v1alpha1.SchemaPhase{v1alpha1.SchemaPhaseResolving, v1alpha1.SchemaPhaseVerifying}},
	{v1alpha1.ConditionDatabaseReachable, []v1alpha1.SchemaPhase{v1alpha1.SchemaPhaseResolving, v1alpha1.SchemaPhaseVerifying, v1alpha1.SchemaPhaseObserving}},
	{v1alpha1.ConditionInSync, chain},
	{v1alpha1.ConditionPlanReady, chain},
	{v1alpha1.ConditionApprovalRequired, chain},
	{v1alpha1.ConditionReady, chain},
}

// chain are the phases of a reading that is not at its end.
var chain = []v1alpha1.SchemaPhase{
	v1alpha1.SchemaPhaseResolving, v1alpha1.SchemaPhaseVerifying, v1alpha1.SchemaPhaseObserving, v1alpha1.SchemaPhasePlanning,
}

// ofNow are the reasons that speak of the reading under way whatever their condition is.
var ofNow = map[v1alpha1.ConditionReason]bool{
	v1alpha1.ReasonPending: true, v1alpha1.ReasonNotRequired: true, v1alpha1.ReasonOperationInProgress: true,
	v1alpha1.ReasonOperationFailed: true, v1alpha1.ReasonConfigurationError: true,
}

// Rereading says whether a PtahSchema is being read anew: its plan and its drift are those of the reading before.
func Rereading(schema *v1alpha1.PtahSchema) bool { return slices.Contains(chain, schema.Status.Phase) }

// FromLastReading says whether a condition of a PtahSchema speaks of the reading before the one that is under way. Unknown claims nothing.
func FromLastReading(schema *v1alpha1.PtahSchema, condition metav1.Condition) bool {
	if condition.Status == metav1.ConditionUnknown || ofNow[v1alpha1.ConditionReason(condition.Reason)] {
		return false
	}
	for _, e := range evidence {
		if string(e.kind) == condition.Type {
			return slices.Contains(e.phases, schema.Status.Phase)
		}
	}
	return false
}

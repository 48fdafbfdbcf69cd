package plugin_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// A plan has its name from its content: these clusters have a plan that ran before, was proven, and is made again.
func init() {
	clusters["again-waiting"] = func() []runtime.Object { return ranBefore(waitingCluster()) }
	clusters["again-applying"] = func() []runtime.Object { return ranBefore(applyingCluster()) }
	clusters["migration-spent-unproven"] = func() []runtime.Object {
		objects := append(migrationWaitingCluster(), migrationApprovals()...)
		ledger := objects[0].(*v1alpha1.PtahMigration)
		unaccounted(ledger)
		ledger.Status.UnresolvedRun.PlanRef = ledger.Status.Plan.DeepCopy()
		return objects
	}
	clusters["spent-rereading"] = func() []runtime.Object {
		objects := spentCluster()
		orders := objects[0].(*v1alpha1.PtahSchema)
		orders.Status.Phase = v1alpha1.SchemaPhaseObserving
		orders.Status.ActiveOperation = claim(v1alpha1.SchemaObserve, 1, 0, true)
		orders.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonOperationInProgress, "")}
		return objects
	}
}

func ranBefore(objects []runtime.Object) []runtime.Object {
	orders, object := objects[0].(*v1alpha1.PtahSchema), objects[1].(*v1alpha1.PtahSchemaPlan)
	orders.Status.Applied = applied(object, 24*time.Hour)
	orders.Status.Applied.ArtifactDigest = orders.Status.Source.Digest
	return objects
}

package plugin_test

import (
	"time"

	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

func init() {
	grants = append(grants,
		rbac.PolicyRule{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"ptahschemas"}, Verbs: []string{"watch", "patch"}},
		rbac.PolicyRule{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"ptahmigrations"}, Verbs: []string{"watch", "patch"}})
	clusters["rereading"] = rereadingCluster
	clusters["insync"] = func() []runtime.Object { return []runtime.Object{newSchema("app", "orders", 1)} }
	clusters["suspended-migration"] = func() []runtime.Object {
		ledger := newMigration("app", "ledger", 11)
		ledger.Spec.Suspend = true
		ledger.Status.Phase = v1alpha1.MigrationPhaseSuspended
		return []runtime.Object{ledger}
	}
	clusters["starting"] = startingCluster
	clusters["retry-running"] = func() []runtime.Object { return []runtime.Object{retryingSchema(true)} }
	clusters["retry-waiting"] = func() []runtime.Object { return []runtime.Object{retryingSchema(false)} }
}

// rereadingCluster reads a schema anew whose plan of the reading before waits for an approval.
func rereadingCluster() []runtime.Object {
	objects := waitingCluster()
	orders := objects[0].(*v1alpha1.PtahSchema)
	orders.Status.Phase = v1alpha1.SchemaPhaseObserving
	orders.Status.NextReconciliationTime = agoPtr(2 * time.Minute)
	orders.Status.ActiveOperation = claim(v1alpha1.SchemaObserve, 1, 20*time.Second, true)
	return objects
}

// startingCluster is a new schema whose first reading is about to start, without any plan.
func startingCluster() []runtime.Object {
	orders := newSchema("app", "orders", 1)
	orders.Status.Phase = v1alpha1.SchemaPhaseObserving
	orders.Status.NextReconciliationTime = agoPtr(time.Minute)
	orders.Status.Target = nil
	orders.Status.ActiveOperation = claim(v1alpha1.SchemaObserve, 1, time.Second, false)
	orders.Status.Conditions = []metav1.Condition{
		condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonOperationInProgress, "starting Observe"),
		condition(v1alpha1.ConditionApprovalRequired, metav1.ConditionFalse, v1alpha1.ReasonNotRequired, "no plan that could need an approval exists yet"),
	}
	return []runtime.Object{orders}
}

// retryingSchema tries again after a failure: the Job runs, or waits for its time.
func retryingSchema(running bool) *v1alpha1.PtahSchema {
	s := failingSchema()
	s.Namespace = "app"
	s.Status.ActiveOperation = claim(v1alpha1.SchemaObserve, 4, 5*time.Second, running)
	if running {
		s.Status.Phase = v1alpha1.SchemaPhaseObserving
		s.Status.NextReconciliationTime = agoPtr(4 * time.Second)
	}
	return s
}

func claim(operation v1alpha1.SchemaOperationType, attempt int32, age time.Duration, dispatched bool) *v1alpha1.SchemaOperation {
	return &v1alpha1.SchemaOperation{
		Type: operation, ID: sum(string(operation)), Attempt: attempt, InputFingerprint: sum("inputs"), JobName: "ptah-read-orders-0123456789abcdef",
		StartedAt: ago(age), DispatchStarted: dispatched,
	}
}

package plugin_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/plan"
)

// clusters are the states of the world that scenarios start from. TestScenarios -update writes each to testdata/clusters, as YAML, for
// people to read and for the servers to serve.
var clusters = map[string]func() []runtime.Object{
	"empty":         func() []runtime.Object { return nil },
	"waiting":       waitingCluster,
	"older-plan":    olderPlanCluster,
	"destructive":   destructiveCluster,
	"fleet":         fleetCluster,
	"applied":       appliedCluster,
	"old-record":    oldRecordCluster,
	"altered-chunk": alteredChunkCluster,
	"missing-chunk": missingChunkCluster,
	"altered-plan":  alteredPlanCluster,
	"deleted-plan":  deletedPlanCluster,
	"remade-plan":   remadePlanCluster,
	"applying":      applyingCluster,
	"approved":      approvedCluster,
	"spent":         spentCluster,
	"suspended":     suspendedCluster,
	"namesakes":     namesakesCluster,
}

func waitingCluster() []runtime.Object {
	orders := newSchema("app", "orders", 1)
	_, objects := awaitApproval(orders, 2, safeStatements)
	return append([]runtime.Object{orders}, objects...)
}

// olderPlanCluster has a plan whose fingerprint was formed by another contract: what it is formed of is not known here.
func olderPlanCluster() []runtime.Object {
	objects := waitingCluster()
	objects[1].(*v1alpha1.PtahSchemaPlan).Spec.ContractVersion = 2
	return objects
}

func destructiveCluster() []runtime.Object {
	orders := newSchema("app", "orders", 1)
	orders.Spec.Policy.AllowDestructive = true
	_, objects := awaitApproval(orders, 2, destructiveStatements)
	return append([]runtime.Object{orders}, objects...)
}

// fleetCluster is one resource in each state that a table has to tell apart.
func fleetCluster() []runtime.Object {
	objects := waitingCluster()
	catalog := newSchema("shop", "catalog", 10)
	ledger := newMigration("app", "ledger", 11)
	unaccounted(ledger)
	fresh := newSchema("shop", "fresh", 12)
	fresh.Status = v1alpha1.PtahSchemaStatus{}
	fresh.CreationTimestamp = ago(5 * time.Second)
	return append(objects, catalog, ledger, fresh, failingSchema(), blockedSchema())
}

func failingSchema() *v1alpha1.PtahSchema {
	s := newSchema("shop", "invoices", 13)
	s.Status.Phase = v1alpha1.SchemaPhaseFailed
	s.Status.NextReconciliationTime = agoPtr(-20 * time.Second)
	s.Status.Conditions = []metav1.Condition{
		condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonOperationFailed, "Observe did not succeed"),
		condition(v1alpha1.ConditionReconciliationFailed, metav1.ConditionTrue, v1alpha1.ReasonOperationFailed, "DatabaseUnreachable: no connection within 10s"),
	}
	return s
}

func blockedSchema() *v1alpha1.PtahSchema {
	s := newSchema("shop", "stock", 14)
	s.Status.Phase = v1alpha1.SchemaPhaseBlocked
	s.Status.NextReconciliationTime = agoPtr(131 * time.Minute)
	s.Status.Conditions = []metav1.Condition{
		condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProtectedTable, "public.stock is protected"),
	}
	return s
}

// appliedCluster is a schema whose older plan was applied, and whose newest waits; a third was never run.
func appliedCluster() []runtime.Object {
	orders := newSchema("app", "orders", 1)
	old, objects := publish(orders, 3, 9*24*time.Hour, safeStatements[:1])
	_, more := publish(orders, 4, 3*24*time.Hour, safeStatements[1:])
	objects = append(objects, more...)
	_, more = awaitApproval(orders, 2, safeStatements)
	orders.Status.Applied = applied(old, 9*24*time.Hour-time.Hour)
	return append(append([]runtime.Object{orders}, objects...), more...)
}

// oldRecordCluster records an Apply by fingerprint only, as old managers did.
func oldRecordCluster() []runtime.Object {
	objects := appliedCluster()
	objects[0].(*v1alpha1.PtahSchema).Status.Applied.PlanRef = v1alpha1.ObjectRef{}
	return objects
}

func alteredChunkCluster() []runtime.Object {
	objects := waitingCluster()
	objects[2].(*corev1.ConfigMap).BinaryData[v1alpha1.ChunkKey][40] ^= 1
	return objects
}

func missingChunkCluster() []runtime.Object { return waitingCluster()[:2] }

func alteredPlanCluster() []runtime.Object {
	objects := waitingCluster()
	objects[1].(*v1alpha1.PtahSchemaPlan).Spec.ArtifactDigest = sum("another artifact")
	return objects
}

func deletedPlanCluster() []runtime.Object { return waitingCluster()[:1] }

func remadePlanCluster() []runtime.Object {
	objects := waitingCluster()
	objects[1].(*v1alpha1.PtahSchemaPlan).UID = uid(5)
	return objects
}

func applyingCluster() []runtime.Object {
	objects := waitingCluster()
	orders := objects[0].(*v1alpha1.PtahSchema)
	orders.Status.Phase = v1alpha1.SchemaPhaseApplying
	orders.Status.Plan.Approval = &v1alpha1.ApprovalRecord{Name: "release-2", UID: uid(50), ApprovedAt: ago(2 * time.Minute), Approver: v1alpha1.Approver{Username: "bob"}}
	orders.Status.ActiveOperation = &v1alpha1.SchemaOperation{
		Type: v1alpha1.SchemaApply, ID: sum("apply"), Attempt: 1, InputFingerprint: sum("inputs"), JobName: "ptah-apply-orders-0123456789abcdef",
		StartedAt: ago(time.Minute), DispatchStarted: true, ExecutionNotAfter: agoPtr(-14 * time.Minute), LeaseEpoch: "1",
	}
	return objects
}

// approvedCluster has an approval under the name that the plugin gives.
func approvedCluster() []runtime.Object {
	objects := waitingCluster()
	object := objects[1].(*v1alpha1.PtahSchemaPlan)
	return append(objects, newApproval(object, approvalName(object), 60))
}

// spentCluster waits again for a plan whose first approval was spent.
func spentCluster() []runtime.Object {
	objects := waitingCluster()
	object := objects[1].(*v1alpha1.PtahSchemaPlan)
	return append(objects, newApproval(object, approvalName(object), 60, condition(v1alpha1.ConditionConsumed, metav1.ConditionTrue, v1alpha1.ReasonDispatchCommitted, "")))
}

func suspendedCluster() []runtime.Object {
	objects := waitingCluster()
	orders := objects[0].(*v1alpha1.PtahSchema)
	orders.Spec.Suspend = true
	orders.Status.Phase = v1alpha1.SchemaPhaseSuspended
	return objects
}

func namesakesCluster() []runtime.Object {
	return []runtime.Object{newSchema("app", "ledger", 1), newMigration("app", "ledger", 2)}
}

// manyStatements makes a plan of about the given size in bytes.
func manyStatements(size int) []plan.Statement {
	var statements []plan.Statement
	for total := 0; total < size; total += 400 {
		statement := safeStatements[1]
		statement.SQL = `COMMENT ON COLUMN "app"."orders"."note" IS 'a note that a person wrote about the order, long enough to make a plan of several chunks: ` + string(uid(len(statements))) + `'`
		statements = append(statements, statement)
	}
	return statements
}

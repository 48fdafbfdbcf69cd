package plugin_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

func init() {
	clusters["rejected"] = rejectedCluster
	clusters["rejected-in-part"] = rejectedInPartCluster
	clusters["rejected-begun"] = rejectedBegunCluster
	clusters["rejected-approved"] = func() []runtime.Object {
		objects := rejectedCluster()
		objects[0].(*v1alpha1.PtahSchema).Status.Plan.Approval = &v1alpha1.ApprovalRecord{
			Name: "release", UID: uid(950), Approver: v1alpha1.Approver{Username: "carol"}, ApprovedAt: ago(time.Minute),
		}
		return objects
	}
}

// rejectedCluster is a schema and a migration whose plans wait and were rejected: that of the schema twice, the second time with a text that would
// act on a terminal.
func rejectedCluster() []runtime.Object {
	objects := waitingCluster()
	orders := objects[0].(*v1alpha1.PtahSchema)
	migration := migrationWaitingCluster()
	ledger, plan := migration[0].(*v1alpha1.PtahMigration), migration[1].(*v1alpha1.PtahMigrationPlan)
	e := &eventMaker{}
	about := func(kind, name string, id int) corev1.ObjectReference {
		return corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Namespace: "app", Name: name, UID: uid(id)}
	}
	record := orders.Status.Plan
	e.add(about("PtahSchema", "orders", 1), time.Hour, 1, "PlanRejected", "Warning",
		"carol rejected plan "+record.Name+" ("+record.Fingerprint+"): not this week. Approvals withdrawn: none.")
	e.add(about("PtahSchema", "orders", 1), 20*time.Minute, 1, "PlanRejected", "Warning",
		"bob@example.com rejected plan "+record.Name+" ("+record.Fingerprint+"): \x1b[2Jreporting still reads orders.note. Ask first. Approvals withdrawn: release by alice.")
	e.add(about("PtahMigration", "ledger", 11), 10*time.Minute, 1, "PlanRejected", "Warning",
		"bob@example.com rejected plan "+plan.Name+" ("+plan.Spec.Fingerprint+"): wait for the freeze. Approvals withdrawn: none.")
	return append(append(append(objects, ledger), plan), e.events...)
}

// rejectedInPartCluster is a schema one of whose approvals could not be withdrawn.
func rejectedInPartCluster() []runtime.Object {
	objects := waitingCluster()
	record := objects[0].(*v1alpha1.PtahSchema).Status.Plan
	e := &eventMaker{}
	e.add(corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahSchema", Namespace: "app", Name: "orders", UID: uid(1)}, 20*time.Minute, 1, "PlanRejected", "Warning",
		"bob@example.com began to reject plan "+record.Name+" ("+record.Fingerprint+"): reporting still reads it. Approvals withdrawn: release by alice, not withdrawn: retry by carol.")
	return append(objects, e.events...)
}

// rejectedBegunCluster is a schema and a migration whose plans somebody was about to reject, and nothing says what became of it: that of the
// migration was rejected by somebody else before.
func rejectedBegunCluster() []runtime.Object {
	objects := waitingCluster()
	record := objects[0].(*v1alpha1.PtahSchema).Status.Plan
	migration := migrationWaitingCluster()
	plan := migration[1].(*v1alpha1.PtahMigrationPlan)
	about := func(kind, name string, id int) corev1.ObjectReference {
		return corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Namespace: "app", Name: name, UID: uid(id)}
	}
	e := &eventMaker{}
	e.add(about("PtahSchema", "orders", 1), 20*time.Minute, 1, "PlanRejectionRequested", "Warning",
		"bob@example.com is about to reject plan "+record.Name+" ("+record.Fingerprint+"): reporting still reads it. Approvals to withdraw: release by alice.")
	e.add(about("PtahMigration", "ledger", 11), time.Hour, 1, "PlanRejected", "Warning",
		"carol rejected plan "+plan.Name+" ("+plan.Spec.Fingerprint+"): not this week. Approvals withdrawn: none.")
	e.add(about("PtahMigration", "ledger", 11), 10*time.Minute, 1, "PlanRejectionRequested", "Warning",
		"bob@example.com is about to reject plan "+plan.Name+" ("+plan.Spec.Fingerprint+"): wait for the freeze. Approvals to withdraw: friday by alice.")
	return append(append(objects, migration...), e.events...)
}

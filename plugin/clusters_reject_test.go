package plugin_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

func init() {
	clusters["migration-waiting"] = migrationWaitingCluster
	clusters["migration-approved"] = func() []runtime.Object { return append(migrationWaitingCluster(), migrationApprovals()...) }
	clusters["migration-applying"] = migrationApplyingCluster
	clusters["migration-remade-plan"] = func() []runtime.Object {
		objects := migrationWaitingCluster()
		objects[1].(*v1alpha1.PtahMigrationPlan).UID = uid(999)
		return objects
	}
	clusters["approved-always"] = func() []runtime.Object {
		objects := waitingCluster()
		orders := objects[0].(*v1alpha1.PtahSchema)
		orders.Spec.Policy.Apply = v1alpha1.ApplyAlways
		orders.Status.Phase = v1alpha1.SchemaPhaseReadyToApply
		orders.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonApplyPending, "")}
		return objects
	}
	clusters["migration-always"] = func() []runtime.Object {
		objects := append(migrationWaitingCluster(), migrationApprovals()...) // as the last pass left it, before the policy was changed
		objects[0].(*v1alpha1.PtahMigration).Spec.Policy.Apply = v1alpha1.ApplyAlways
		return objects
	}
	clusters["waiting-always"] = func() []runtime.Object {
		objects := waitingCluster()
		objects[0].(*v1alpha1.PtahSchema).Spec.Policy.Apply = v1alpha1.ApplyAlways
		return objects
	}
	clusters["destructive-always"] = func() []runtime.Object {
		objects := destructiveCluster()
		orders := objects[0].(*v1alpha1.PtahSchema)
		orders.Spec.Policy.Apply, orders.Spec.Policy.AllowDestructive = v1alpha1.ApplyAlways, true
		return objects
	}
	clusters["spent-failed"] = func() []runtime.Object {
		objects := spentCluster()
		orders := objects[0].(*v1alpha1.PtahSchema)
		orders.Status.Phase = v1alpha1.SchemaPhaseFailed
		orders.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonOperationFailed, "")}
		return objects
	}
}

// migrationWaitingCluster is a migration whose plan waits for a person.
func migrationWaitingCluster() []runtime.Object {
	ledger := newMigration("app", "ledger", 11)
	plan := publishMigration(ledger, 77, 3*time.Hour, 12, file(13, "split names"), file(14, "drop full name"))
	ledger.Status.Phase = v1alpha1.MigrationPhaseAwaitingApproval
	ledger.Status.Plan = &v1alpha1.ObjectRef{Name: plan.Name, UID: plan.UID}
	ledger.Status.History.PendingCount = 2
	ledger.Status.Conditions = []metav1.Condition{
		condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonAwaitingApproval, "the plan needs an approval"),
		condition(v1alpha1.ConditionApprovalRequired, metav1.ConditionTrue, v1alpha1.ReasonAwaitingApproval, "the plan needs an approval"),
		condition(v1alpha1.ConditionArtifactVerified, metav1.ConditionTrue, v1alpha1.ReasonPolicySatisfied, ""),
	}
	return []runtime.Object{ledger, plan}
}

func migrationApproval(plan *v1alpha1.PtahMigrationPlan, name string, id int, conditions ...metav1.Condition) *v1alpha1.PtahMigrationApproval {
	return &v1alpha1.PtahMigrationApproval{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahMigrationApproval"},
		ObjectMeta: metav1.ObjectMeta{Namespace: plan.Namespace, Name: name, UID: uid(id), CreationTimestamp: ago(time.Hour), Generation: 1},
		Spec: v1alpha1.PtahMigrationApprovalSpec{
			MigrationRef: plan.Spec.MigrationRef, PlanRef: v1alpha1.ObjectRef{Name: plan.Name, UID: plan.UID}, PlanFingerprint: plan.Spec.Fingerprint,
			ApprovalStamp:      v1alpha1.ApprovalStamp{Approver: v1alpha1.Approver{Username: "bob"}, ApprovedAt: ago(time.Hour), MutationRequestUID: uid(id + 1)},
			HistoryFingerprint: plan.Spec.HistoryFingerprint, ArtifactDigest: plan.Spec.ArtifactDigest, PlanBindings: plan.Spec.PlanBindings,
		},
		Status: v1alpha1.ApprovalStatus{Conditions: conditions},
	}
}

// migrationApprovals are one approval in each state.
func migrationApprovals() []runtime.Object {
	plan := migrationWaitingCluster()[1].(*v1alpha1.PtahMigrationPlan)
	other := migrationApproval(plan, "another-plan", 63)
	other.Spec.PlanRef.UID = uid(555)
	return []runtime.Object{
		migrationApproval(plan, "friday", 60),
		migrationApproval(plan, "last-week", 61, condition(v1alpha1.ConditionStale, metav1.ConditionTrue, v1alpha1.ReasonPlanNoLongerCurrent, "")),
		migrationApproval(plan, "first-try", 62, condition(v1alpha1.ConditionConsumed, metav1.ConditionTrue, v1alpha1.ReasonDispatchCommitted, "")),
		other,
	}
}

func migrationApplyingCluster() []runtime.Object {
	objects := append(migrationWaitingCluster(), migrationApprovals()...)
	ledger := objects[0].(*v1alpha1.PtahMigration)
	ledger.Status.Phase = v1alpha1.MigrationPhaseApplying
	ledger.Status.ActiveOperation = &v1alpha1.MigrationOperation{
		Type: v1alpha1.MigrationApply, ID: sum("apply"), InputFingerprint: sum("inputs"), JobName: "ptah-mapply-ledger-0123456789abcdef", Attempt: 1,
		StartedAt: ago(time.Minute), DispatchStarted: true, PlanRef: ledger.Status.Plan,
	}
	return objects
}

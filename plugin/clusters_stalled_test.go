package plugin_test

import (
	"time"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	coordination "k8s.io/api/coordination/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

func init() {
	clusters["stalled"] = stalledCluster
	clusters["stalled-no-leader"] = leaderlessCluster
	clusters["stalled-no-leader-named"] = func() []runtime.Object {
		objects := leaderlessCluster()
		for _, object := range objects {
			if c, ok := object.(*admissionregistration.MutatingWebhookConfiguration); ok {
				c.Annotations[v1alpha1.ReleaseNameAnnotation], c.Annotations[v1alpha1.ReleaseNamespaceAnnotation] = "ptah", "ptah-system"
			}
		}
		return objects
	}
	clusters["unscheduled"] = unscheduledCluster
	grants = append(grants,
		rbac.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get"}},
		rbac.PolicyRule{APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"mutatingwebhookconfigurations"}, Verbs: []string{"get"}},
	)
	stored = append(stored, "/registry/leases/shop/ptah-", "/registry/mutatingwebhookconfigurations/"+v1alpha1.AdmissionConfigurationName)
}

// operatorObjects are an operator's admission configuration and its leader Lease, renewed so long ago.
func operatorObjects(renewed time.Duration) []runtime.Object {
	configuration := &admissionregistration.MutatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{
			Name: v1alpha1.AdmissionConfigurationName, UID: uid(700), CreationTimestamp: ago(90 * 24 * time.Hour),
			Annotations: map[string]string{
				v1alpha1.CoordinationNamespaceAnnotation: "shop", v1alpha1.LeaderElectionAnnotation: "true", v1alpha1.LeaderElectionIDAnnotation: v1alpha1.LeaderElectionLease,
			},
		},
	}
	lease := newLease(v1alpha1.LeaderElectionLease, 701, "ptah-7d9c-x2k4l", renewed)
	lease.Spec.LeaseDurationSeconds = ptr.To[int32](15)
	return []runtime.Object{configuration, lease}
}

// newLease is a Lease in the operator's coordination namespace of the scenarios, which is "shop".
func newLease(name string, id int, holder string, renewed time.Duration) *coordination.Lease {
	return &coordination.Lease{
		TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: uid(id), CreationTimestamp: ago(90 * 24 * time.Hour)},
		Spec: coordination.LeaseSpec{
			HolderIdentity: ptr.To(holder), LeaseDurationSeconds: ptr.To[int32](960),
			AcquireTime: ptr.To(metav1.NewMicroTime(now.Add(-26 * time.Hour))), RenewTime: ptr.To(metav1.NewMicroTime(now.Add(-renewed))),
		},
	}
}

// stalledCluster has one resource for each reason to be late, and others that only look like it. A manager leads.
func stalledCluster() []runtime.Object {
	climbing := newSchema("app", "orders", 1)
	climbing.Status.Phase = v1alpha1.SchemaPhaseResolving
	climbing.Status.NextReconciliationTime = agoPtr(2*time.Hour + 11*time.Minute)
	climbing.Status.ActiveOperation = &v1alpha1.SchemaOperation{
		Type: v1alpha1.SchemaResolve, ID: sum("resolve"), Attempt: 57, InputFingerprint: sum("inputs"), JobName: "ptah-resolve-orders-0123456789abcdef",
		StartedAt: ago(3 * time.Second), DispatchStarted: true,
	}
	late := newSchema("shop", "late", 2)
	late.Status.NextReconciliationTime = agoPtr(15 * time.Minute) // exactly one deadline: not yet
	patient := newSchema("shop", "patient", 3)
	patient.Spec.Execution.ActiveDeadlineSeconds = 7200
	patient.Status.NextReconciliationTime = agoPtr(time.Hour)
	asleep := newSchema("shop", "asleep", 4)
	asleep.Spec.Suspend = true
	asleep.Status.NextReconciliationTime = agoPtr(40 * time.Hour)
	forgotten := newMigration("shop", "forgotten", 5)
	forgotten.Status = v1alpha1.PtahMigrationStatus{}
	forgotten.CreationTimestamp = ago(3 * time.Hour)
	ledger := newMigration("app", "ledger", 6)
	unaccounted(ledger)
	ledger.Status.NextReconciliationTime = agoPtr(26 * time.Minute)
	objects := []runtime.Object{climbing, late, patient, asleep, forgotten, ledger, newMigration("shop", "audit", 7)}
	return append(objects, operatorObjects(5*time.Second)...)
}

func leaderlessCluster() []runtime.Object {
	orders := newSchema("app", "orders", 1)
	orders.Status.NextReconciliationTime = agoPtr(4 * time.Hour)
	return append([]runtime.Object{orders, newSchema("shop", "catalog", 2)}, operatorObjects(4*time.Hour+2*time.Minute)...)
}

// unscheduledCluster has a resource that a newer operator left in a state that this program does not know.
func unscheduledCluster() []runtime.Object {
	orders := newSchema("app", "orders", 1)
	orders.Status.NextReconciliationTime = nil
	return append([]runtime.Object{orders, newSchema("shop", "catalog", 2)}, operatorObjects(5*time.Second)...)
}

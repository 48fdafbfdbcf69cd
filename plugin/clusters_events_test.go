package plugin_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

func init() {
	clusters["eventful"] = eventfulCluster
	grants = append(grants, rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"get", "list", "create"}})
	stored = append(stored, "/registry/events/app/")
}

// eventfulCluster is a schema and a migration with a past: an Observe that failed three times and then got through, a plan that waits, Jobs
// and Pods that are gone, and Events of a namesake, of others, and of another namespace's resource.
func eventfulCluster() []runtime.Object {
	objects := waitingCluster()
	orders := objects[0].(*v1alpha1.PtahSchema)
	ledger := newMigration("app", "ledger", 11)
	unaccounted(ledger)
	const observe, plan = "ptah-observe-orders-0123456789abcdef", "ptah-plan-orders-fedcba9876543210"
	e := &eventMaker{}
	about := corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahSchema", Namespace: "app", Name: "orders", UID: orders.UID}
	job := func(name string) corev1.ObjectReference {
		return corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: "app", Name: name, UID: uid(500)}
	}
	pod := func(name string) corev1.ObjectReference {
		return corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "app", Name: name, UID: uid(501)}
	}
	namesake := about
	namesake.UID = uid(99)
	e.add(namesake, 50*time.Minute, 1, "OperationFailed", "Warning", "Resolve failed: RegistryUnreachable: a schema of the same name that was deleted")
	e.add(about, 30*time.Minute, 1, "OperationStarted", "Normal", "Observe started as Job "+observe)
	e.add(pod(observe+"-x7k2p"), 29*time.Minute, 4, "BackOff", "Warning", "Back-off pulling image")
	e.add(job(observe), 30*time.Minute, 1, "SuccessfulCreate", "Normal", "Created pod: "+observe+"-x7k2p")
	e.add(about, 25*time.Minute, 1, "OperationFailed", "Warning", "Observe failed: DatabaseUnreachable: no connection within 10s")
	e.add(about, 20*time.Minute, 1, "OperationFailed", "Warning", "Observe failed: DatabaseUnreachable: no connection within 10s")
	e.add(about, 15*time.Minute, 1, "OperationFailed", "Warning", "Observe failed: DatabaseUnreachable: no connection within 10s")
	e.add(about, 5*time.Minute, 1, "OperationStarted", "Normal", "Plan started as Job "+plan)
	e.add(pod(plan+"-bcdfg"), 5*time.Minute, 1, "Scheduled", "Normal", "Successfully assigned the Pod")
	e.add(about, 4*time.Minute, 1, "ApprovalRequired", "Normal", "plan ptah-plan-46ed44133ba8ec8e784af588 needs an approval")
	e.add(job("ptah-observe-other-0123456789abcdef"), 3*time.Minute, 1, "SuccessfulCreate", "Normal", "Created pod")
	e.add(corev1.ObjectReference{APIVersion: about.APIVersion, Kind: "PtahMigration", Namespace: "app", Name: "ledger", UID: ledger.UID},
		2*time.Hour, 1, "MigrationRunUncertain", "Warning", "the run ended Partial (Job ptah-mapply-ledger-1f0c1f0c1f0c1f0c)")
	return append(append(objects, ledger), e.events...)
}

type eventMaker struct{ events []runtime.Object }

func (m *eventMaker) add(about corev1.ObjectReference, age time.Duration, count int32, reason, kind, message string) {
	m.events = append(m.events, &corev1.Event{
		TypeMeta:       metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta:     metav1.ObjectMeta{Namespace: "app", Name: fmt.Sprintf("%s.%d", about.Name, len(m.events)), UID: uid(600 + len(m.events)), CreationTimestamp: ago(age)},
		InvolvedObject: about, Reason: reason, Message: message, Type: kind, Count: count, FirstTimestamp: ago(age + time.Duration(count-1)*time.Minute), LastTimestamp: ago(age),
		Source: corev1.EventSource{Component: v1alpha1.ManagedByValue},
	})
}

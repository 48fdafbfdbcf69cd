package plugin_test

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/realm"
)

func init() {
	for name, change := range map[string]func(*unaccountedFor){
		"unresolved":           func(*unaccountedFor) {},
		"unresolved-held":      (*unaccountedFor).held,
		"unresolved-pod":       (*unaccountedFor).pod,
		"unresolved-expired":   (*unaccountedFor).expired,
		"unresolved-dirty":     (*unaccountedFor).dirty,
		"unresolved-contested": (*unaccountedFor).contested,
		"unresolved-newer":     (*unaccountedFor).newerRefusal,
		"unresolved-ahead":     (*unaccountedFor).ahead,
		"unresolved-adopted":   (*unaccountedFor).adopted,
		"unresolved-nameless":  (*unaccountedFor).nameless,
		"unresolved-found":     (*unaccountedFor).found,
		"unresolved-traceless": (*unaccountedFor).traceless,
		"unresolved-leaseless": (*unaccountedFor).leaseless,
		"unresolved-planless":  (*unaccountedFor).planless,
		"unresolved-moved":     (*unaccountedFor).moved,
		"unresolved-uncounted": (*unaccountedFor).claimedTwice,
		"unresolved-settled":   (*unaccountedFor).stillSaysContested,
		"unresolved-claimed":   (*unaccountedFor).claimed,
		"unresolved-suspended": (*unaccountedFor).suspended,
		"unresolved-cleared":   (*unaccountedFor).cleared,
		"unresolved-blocked":   (*unaccountedFor).blockedAgain,
		"unresolved-old":       (*unaccountedFor).olderOperator,
	} {
		clusters[name] = func() []runtime.Object {
			u := newUnaccounted()
			change(u)
			return u.objects()
		}
	}
	clusters["unresolved-returned"] = func() []runtime.Object {
		u := newUnaccounted()
		u.migration.Status.UnresolvedRun.RecordedAt = ago(0)
		u.migration.Status.History.ObservedAt = ago(0)
		return u.objects()
	}
	grants = append(grants,
		rbac.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"list"}},
		rbac.PolicyRule{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"get", "list"}},
		rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}},
		rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "list"}},
		rbac.PolicyRule{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"ptahmigrations/status"}, Verbs: []string{"patch"}},
	)
	stored = append(stored, "/registry/jobs/app/ptah-", "/registry/pods/app/ptah-", "/registry/events/app/")
}

// unaccountedFor is a run that nobody accounted for, and everything around it.
type unaccountedFor struct {
	migration *v1alpha1.PtahMigration
	plan      *v1alpha1.PtahMigrationPlan
	lease     *coordination.Lease
	job       *batchv1.Job
	pods      []*corev1.Pod
	other     *v1alpha1.PtahSchema // claims a database
}

// newUnaccounted is the plain case: the Job is gone, the Lease was released, and nothing brings the record back.
func newUnaccounted() *unaccountedFor {
	ledger := newMigration("app", "ledger", 11)
	unaccounted(ledger)
	plan := publishMigration(ledger, 77, 3*time.Hour, 12, file(13, "split names"), file(14, "drop full name"))
	run := ledger.Status.UnresolvedRun
	run.PlanRef = &v1alpha1.ObjectRef{Name: plan.Name, UID: plan.UID}
	run.JobUID, run.TargetIdentityDigest = uid(78), sum("ledger database")
	ledger.Status.History.PendingCount = 2
	plan.Spec.CoordinationDigest = realm.Digest("postgres", ledger.Spec.Target.CoordinationKey)
	name, err := realm.LeaseName(plan.Spec.CoordinationDigest)
	must(err)
	lease := newLease(name, 702, "", 2*time.Hour)
	lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.AcquireTime = nil, nil, nil
	return &unaccountedFor{migration: ledger, plan: plan, lease: lease}
}

func (u *unaccountedFor) objects() []runtime.Object {
	objects := operatorObjects(5 * time.Second)
	if u.plan != nil {
		objects = append(objects, u.plan)
	}
	if u.lease != nil {
		objects = append(objects, u.lease)
	}
	if u.job != nil {
		objects = append(objects, u.job)
	}
	for _, pod := range u.pods {
		objects = append(objects, pod)
	}
	if u.other != nil {
		objects = append(objects, u.other)
	}
	return append(objects, u.migration) // last, so that who watches it sees the rest
}

func (u *unaccountedFor) run() *v1alpha1.UnresolvedRun { return u.migration.Status.UnresolvedRun }

func (u *unaccountedFor) held() {
	u.lease.Spec.HolderIdentity = ptr.To(u.run().OperationID)
	u.lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now.Add(-time.Minute)))
	u.runningJob()
	u.pod()
	u.plan = nil
}

func (u *unaccountedFor) runningJob() {
	u.job = &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: u.run().JobName, UID: u.run().JobUID, CreationTimestamp: ago(2 * time.Hour)},
		Spec:       batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: podSpec()}},
	}
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "operation", Image: "registry.example/ptah/executor"}}}
}

// pod leaves one Pod that runs, one that stopped, and one of somebody else.
func (u *unaccountedFor) pod() {
	pod := func(name string, id int, phase corev1.PodPhase, owner string) *corev1.Pod {
		return &corev1.Pod{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "app", Name: name, UID: uid(id), CreationTimestamp: ago(2 * time.Hour),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: owner, UID: uid(id + 100), Controller: ptr.To(true)}},
			},
			Spec: podSpec(), Status: corev1.PodStatus{Phase: phase},
		}
	}
	running := pod(u.run().JobName+"-x7k2p", 79, corev1.PodRunning, u.run().JobName)
	running.OwnerReferences[0].UID = u.run().JobUID
	stopped := pod(u.run().JobName+"-aaaaa", 80, corev1.PodFailed, u.run().JobName)
	stopped.OwnerReferences[0].UID = u.run().JobUID
	u.pods = []*corev1.Pod{running, stopped, pod("ptah-mhistory-ledger-2222", 81, corev1.PodRunning, "ptah-mhistory-ledger")}
}

func (u *unaccountedFor) expired() {
	u.lease.Spec.HolderIdentity = ptr.To(u.run().OperationID)
	u.lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now.Add(-2 * time.Hour)))
}

func (u *unaccountedFor) dirty() {
	u.migration.Status.History.Dirty = true
	u.block(v1alpha1.ReasonHistoryDirty, "an interrupted row is present")
}

func (u *unaccountedFor) contested() {
	u.claimedTwice()
	u.stillSaysContested()
}

// claimedTwice is a claim that no pass has seen yet.
func (u *unaccountedFor) claimedTwice() {
	u.other = newSchema("shop", "ledger", 55)
	u.other.Spec.Target.CoordinationKey = u.migration.Spec.Target.CoordinationKey
}

// stillSaysContested is a condition from the last pass.
func (u *unaccountedFor) stillSaysContested() {
	u.block(v1alpha1.ReasonRealmConflict, "2 resources claim this database and 1 of them has not declared spec.target.sharedRealm: true")
}

func (u *unaccountedFor) newerRefusal() { u.block("TomorrowsReason", "something new") }

func (u *unaccountedFor) ahead() {
	u.migration.Status.History.PendingCount = 0
	u.migration.Status.History.ObservedAt = ago(time.Minute)
	u.block(v1alpha1.ReasonHistoryAhead, "the database is past the artifact")
}

func (u *unaccountedFor) block(reason v1alpha1.ConditionReason, message string) {
	for i := range u.migration.Status.Conditions {
		u.migration.Status.Conditions[i].Reason, u.migration.Status.Conditions[i].Message = string(reason), message
	}
}

func (u *unaccountedFor) adopted() {
	run := u.run()
	run.OperationID, run.PlanRef, u.plan = "", nil, nil
	run.RecordedAt = ago(40 * time.Hour)
}

func (u *unaccountedFor) nameless() {
	run := u.run()
	run.Outcome, run.JobName, run.JobUID = v1alpha1.RunUnknown, "", ""
}

// found is a create that was never confirmed, and went through.
func (u *unaccountedFor) found() {
	u.runningJob()
	u.job.Annotations = map[string]string{v1alpha1.OperationIDAnnotation: u.run().OperationID}
	u.nameless()
}

// traceless is an adopted record of which not even a Job is known.
func (u *unaccountedFor) traceless() {
	u.adopted()
	u.run().JobName, u.run().JobUID = "", ""
}

// leaseless is a Lease that somebody deleted.
func (u *unaccountedFor) leaseless() { u.lease = nil }

// planless is a run whose plan is gone: which database it was in is not known.
func (u *unaccountedFor) planless() { u.plan = nil }

// moved is a run whose plan is gone and whose spec names another database since; the Lease of its own says that it goes on.
func (u *unaccountedFor) moved() {
	u.plan = nil
	u.lease.Spec.HolderIdentity = ptr.To(u.run().OperationID)
	u.lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now.Add(-time.Minute)))
	u.migration.Spec.Target.CoordinationKey = "another"
}

func (u *unaccountedFor) claimed() {
	u.migration.Status.ActiveOperation = &v1alpha1.MigrationOperation{
		Type: v1alpha1.MigrationApply, ID: sum("another apply"), InputFingerprint: sum("inputs"), JobName: "ptah-mapply-ledger-2222222222222222", Attempt: 1, StartedAt: ago(time.Minute),
	}
}

func (u *unaccountedFor) suspended() { u.migration.Spec.Suspend = true }

// cleared is what the operator's next pass leaves after a good clearing.
func (u *unaccountedFor) cleared() {
	u.migration.Status.UnresolvedRun = nil
	u.migration.Status.History.ObservedAt = ago(0)
	u.migration.Status.Phase = v1alpha1.MigrationPhaseAwaitingApproval
	u.migration.Status.Plan = &v1alpha1.ObjectRef{Name: u.plan.Name, UID: u.plan.UID}
	u.migration.Status.Conditions = []metav1.Condition{
		condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonAwaitingApproval, "the plan needs an approval"),
		condition(v1alpha1.ConditionBlocked, metav1.ConditionFalse, v1alpha1.ReasonMigrationsPending, ""),
	}
}

// blockedAgain is a next pass that found the history dirty.
func (u *unaccountedFor) blockedAgain() {
	u.migration.Status.UnresolvedRun = nil
	u.dirty()
}

// olderOperator keeps the state in the condition alone.
func (u *unaccountedFor) olderOperator() { u.migration.Status.UnresolvedRun = nil }

package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// The Apply's Job is deleted with its Pod while a statement runs. Nobody knows what the Pod did, so nothing reads the database before nothing can
// write any more; the server rolled back, which the proof finds, and a person decides again.
func TestApplyJobDeletedWithItsPod(t *testing.T) {
	t.Parallel()
	l := newLifecycle(t, "jobgone", 45)
	l.halt()
	require.NoError(t, cluster.Delete(t.Context(), l.applyJob(), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	l.uncertain()
	l.provenOnlyAfterTheDeadline(func() { l.phase("AwaitingApproval") })
	assert.Nil(t, l.get().Status.Applied)
	l.letGo()
	l.again()
	l.accounted(2, 1)
}

// The Apply's Job is deleted and its Pod is to live on, an orphan. Admission refuses to let a Pod of ours lose its owner, so that the Job stays for
// as long as its Pod does, and Kubernetes never calls a Job complete that is to go: the Apply ends well and the Job at its deadline. The proof finds
// what the Apply did, and no Apply is credited with it.
func TestApplyJobDeletedWithoutItsPod(t *testing.T) {
	t.Parallel()
	l := newLifecycle(t, "orphan", 60)
	l.halt()
	job := l.applyJob()
	require.NoError(t, cluster.Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	l.letGo()
	l.phase("InSync")
	assert.Equal(t, string(v1alpha1.ReasonConvergedAfterUnknownOutcome), l.reason(v1alpha1.ConditionInSync))
	assert.Nil(t, l.get().Status.Applied)
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(job), job))
	assert.Contains(t, job.Finalizers, metav1.FinalizerOrphanDependents)
	l.accounted(1, 1)
}

// The Apply's Pod is struck from the API without grace: its Job fails and its containers may live on for a while.
func TestApplyPodDeletedWithoutGrace(t *testing.T) {
	t.Parallel()
	l := newLifecycle(t, "podgone", 45)
	l.halt()
	require.NoError(t, cluster.Delete(t.Context(), l.applyPod(), client.GracePeriodSeconds(0)))
	l.uncertain()
	l.provenOnlyAfterTheDeadline(func() { l.phase("AwaitingApproval") })
	assert.Nil(t, l.get().Status.Applied)
	l.letGo()
	l.again()
	l.accounted(2, 1)
}

// provenOnlyAfterTheDeadline runs wait, and then demands that no operation of the proof began while the Apply could still have written: it was
// not seen to stop, so only its own deadline says so.
func (l *lifecycle) provenOnlyAfterTheDeadline(wait func()) {
	l.t.Helper()
	observeAfter := l.get().Status.PendingObservation.ObserveAfter
	if !assert.NotNil(l.t, observeAfter, "the proof waits until nothing of the Apply can write") {
		wait()
		return
	}
	known := map[string]bool{}
	for _, job := range l.jobsOf("observe") {
		known[string(job.UID)] = true
	}
	wait()
	for _, job := range l.jobsOf("observe") {
		if !known[string(job.UID)] {
			assert.False(l.t, job.CreationTimestamp.Time.Before(observeAfter.Truncate(time.Second)), "Job %s read the database before %s", job.Name, observeAfter)
		}
	}
}

// The Apply's Pod loses its network in the middle of a statement, and the network heals after the Pod gave up.
func TestApplyPodCutOffFromTheDatabase(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, os.Getenv("PTAH_CLUSTER_INSIDE"), "the rule may be set in the cluster's own network namespace only")
	l := newLifecycle(t, "cutoff", 45)
	l.halt()
	heal := cutOff(t, l.applyPod().Status.PodIP)
	l.letGo()
	l.uncertain()
	heal()
	l.phase("AwaitingApproval")
	assert.Nil(t, l.get().Status.Applied)
	l.eventually("the server gave the lost session up", func() bool { return l.sessions("true") == "0" })
	l.again()
	l.accounted(2, 1)
}

// cutOff drops every packet between a Pod and the database until the returned function is called, or the test ends.
func cutOff(t *testing.T, pod string) func() {
	t.Helper()
	table := "ptah_cut_" + strings.ReplaceAll(pod, ".", "_")
	rules := "table inet " + table + ` {
	chain in { type filter hook input priority -10; ip saddr ` + pod + " tcp dport " + it.PostgresPort + ` drop; }
	chain out { type filter hook output priority -10; ip daddr ` + pod + " tcp sport " + it.PostgresPort + ` drop; }
}`
	_, err := it.Must(t.Context(), rules, "nft", "-f", "-")
	require.NoError(t, err)
	healed := false
	heal := func() {
		if healed {
			return
		}
		healed = true
		_, err := it.Must(t.Context(), "", "nft", "delete", "table", "inet", table)
		assert.NoError(t, err)
	}
	t.Cleanup(func() {
		if !healed {
			_, err := it.Must(context.Background(), "", "nft", "delete", "table", "inet", table)
			assert.NoError(t, err)
		}
	})
	return heal
}

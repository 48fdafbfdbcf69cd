package e2e

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/test/rig"
)

// spec.suspend stops new Jobs and not the Apply that runs: it ends, its proof waits for the resume, and its Lease is kept until then.
func TestSuspendedDuringAnApply(t *testing.T) {
	t.Parallel()
	l := newLifecycle(t, "suspended", 120)
	l.halt()
	l.suspend(true)
	l.letGo()
	l.condition("Suspended", "True", string(v1alpha1.ReasonRequested))
	l.eventually("the Apply's proof is owed", func() bool { return l.get().Status.PendingObservation != nil })
	got := l.get()
	assert.Equal(t, v1alpha1.OutcomeApplySucceeded, got.Status.PendingObservation.Outcome)
	lease := l.lease()
	require.True(t, held(lease), "the Lease is kept while the proof is owed")
	assert.Equal(t, got.Status.PendingObservation.ApplyOperationID, *lease.Spec.HolderIdentity)
	l.eventually("the manager rests", func() bool { return l.get().Status.ActiveOperation == nil })
	before := len(l.jobsOf("observe"))
	l.eventually("the Lease is renewed meanwhile", func() bool {
		return l.lease().Spec.RenewTime.After(lease.Spec.RenewTime.Time)
	})
	assert.Len(t, l.jobsOf("observe"), before, "no Job is made while spec.suspend is true")
	assert.NotNil(t, l.get().Status.PendingObservation)

	l.suspend(false)
	l.phase("InSync")
	assert.NotNil(t, l.get().Status.Applied)
	l.accounted(1, 1)
}

func (s *stage) suspend(yes bool) {
	s.t.Helper()
	_, err := it.Must(s.t.Context(), "", "kubectl", "patch", "ptahschema", s.name, "-n", s.ns, "--type=merge", "-p", fmt.Sprintf(`{"spec":{"suspend":%v}}`, yes))
	require.NoError(s.t, err)
}

// Deleting the resource during an Apply runs no SQL and stops none: the object stays until the Apply's Pod has stopped, then it goes, and the
// realm's Lease is free.
func TestDeletedDuringAnApply(t *testing.T) {
	t.Parallel()
	l := newLifecycle(t, "deleted", 120)
	l.halt()
	// All objects share one store, so that their resource versions tell what came first.
	revisions := watchRevisions(t, l.ns)
	name := l.lease().Name
	_, err := it.Must(t.Context(), "", "kubectl", "delete", "ptahschema", l.name, "-n", l.ns, "--wait=false")
	require.NoError(t, err)
	require.NotNil(t, l.get().DeletionTimestamp, "the object waits for its Apply")
	require.Equal(t, "1", l.waiting(), "deleting does not stop the Apply")
	l.letGo()

	key := client.ObjectKey{Namespace: l.ns, Name: l.name}
	deadline := time.Now().Add(patience)
	for !apierrors.IsNotFound(cluster.Get(t.Context(), key, &v1alpha1.PtahSchema{})) {
		require.True(t, time.Now().Before(deadline), "the object goes once the Apply ended")
		time.Sleep(100 * time.Millisecond)
	}
	end := statementLogSize(t)
	stopped, gone := revisions(deadline)
	assert.Greater(t, gone, stopped, "the object went before the Apply's Pod had stopped")
	l.tally(1, 1)
	res, err := it.Run(t.Context(), "", "kubectl", "get", "lease", name, "-n", rig.OperatorNamespace, "-o", "jsonpath={.spec.holderIdentity}")
	require.NoError(t, err)
	assert.Empty(t, res.Stdout, "the Lease is free")
	log, err := os.ReadFile(it.PostgresLog)
	require.NoError(t, err)
	require.Contains(t, string(log[l.logStart:end]), "sentinel@"+l.database()+" LOG:  statement: ", "the log names role and database")
	assert.NotContains(t, string(log[end:]), "sentinel@"+l.database()+" LOG:  statement: ", "nothing is executed any more")
}

// watchRevisions watches the Apply's Pod and the schema; the returned function gives the revision at which the Pod was first seen stopped, and
// the one at which the schema was gone.
func watchRevisions(t *testing.T, namespace string) func(deadline time.Time) (stopped, gone int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	watching, err := client.NewWithWatch(config, client.Options{Scheme: cluster.Scheme()})
	require.NoError(t, err)
	var mu sync.Mutex
	var stopped, gone int64
	follow := func(list client.ObjectList, options []client.ListOption, see func(watch.Event)) {
		w, err := watching.Watch(ctx, list, options...)
		require.NoError(t, err)
		go func() {
			for event := range w.ResultChan() {
				mu.Lock()
				see(event)
				mu.Unlock()
			}
		}()
	}
	follow(&corev1.PodList{}, []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{v1alpha1.OperationLabel: "apply"}}, func(e watch.Event) {
		if pod, ok := e.Object.(*corev1.Pod); ok && stopped == 0 && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed) {
			stopped = revision(pod.ResourceVersion)
		}
	})
	follow(&v1alpha1.PtahSchemaList{}, []client.ListOption{client.InNamespace(namespace)}, func(e watch.Event) {
		if s, ok := e.Object.(*v1alpha1.PtahSchema); ok && e.Type == watch.Deleted {
			gone = revision(s.ResourceVersion)
		}
	})
	return func(deadline time.Time) (int64, int64) {
		for {
			mu.Lock()
			a, b := stopped, gone
			mu.Unlock()
			if a != 0 && b != 0 {
				return a, b
			}
			require.True(t, time.Now().Before(deadline), "the watches showed Pod stopped at %d and schema gone at %d", a, b)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func revision(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

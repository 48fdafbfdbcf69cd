package plugin_test

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/ptah-run/ptah/pkg/realm"
	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
)

func clearing(t *testing.T, s *stub) result {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, kubeconfig, &rest.Config{Host: s.URL})
	return invoke(scenario{}, []string{
		"clear-unresolved", "ledger", "--reason", "repaired", "--yes-i-established-what-ran", sum("operation"), "--wait", "0s", "--kubeconfig", kubeconfig,
	})
}

func unresolvedStub(t *testing.T) *stub {
	t.Helper()
	s := newStub()
	t.Cleanup(s.Close)
	for _, object := range newUnaccounted().objects() {
		s.put(toUnstructured(object))
	}
	return s
}

// What is cleared is what was shown: a pass of the operator in between makes the write fail.
func TestClearUnresolvedRefusesWhatChangedMeanwhile(t *testing.T) {
	for name, change := range map[string]func(*stub, *unstructured.Unstructured){
		"another pass": func(s *stub, m *unstructured.Unstructured) { s.put(m) },
		"made again": func(s *stub, m *unstructured.Unstructured) {
			again := m.DeepCopy()
			again.SetUID(uid(999))
			s.put(again)
		},
		"deleted": func(s *stub, m *unstructured.Unstructured) { s.remove(m) },
	} {
		t.Run(name, func(t *testing.T) {
			s := unresolvedStub(t)
			s.beforeWrite = func() { change(s, s.get("ptahmigrations", "app", "ledger")) }
			got := clearing(t, s)
			assert.Equal(t, options.Refused, got.code, got.stderr)
			assert.Contains(t, got.stderr, "nothing was changed")
			assert.Empty(t, got.stdout)
			if object := s.get("ptahmigrations", "app", "ledger"); object != nil {
				_, present, _ := unstructured.NestedMap(object.Object, "status", "unresolvedRun")
				assert.True(t, present)
			}
			assert.Equal(t, []string{"UnresolvedRunClearRequested"}, reasons(s), "it was asked for, and not done")
		})
	}
}

// One Event that says who, when, what and why, then one write, then an Event that says the same of what was done.
func TestClearUnresolvedKeepsWhoWhenAndWhy(t *testing.T) {
	s := unresolvedStub(t)
	got := clearing(t, s)
	require.Equal(t, options.Done, got.code, got.stderr)
	object := s.get("ptahmigrations", "app", "ledger")
	_, present, _ := unstructured.NestedMap(object.Object, "status", "unresolvedRun")
	assert.False(t, present)
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	require.Len(t, conditions, 1)
	assert.Equal(t, "Ready", conditions[0].(map[string]any)["type"])
	writes := 0
	for _, request := range s.requests {
		if request == "PATCH /apis/operator.ptah.run/v1alpha1/namespaces/app/ptahmigrations/ledger/status" {
			writes++
		}
	}
	assert.Equal(t, 1, writes)
	assert.Equal(t, []string{"UnresolvedRunClearRequested", "UnresolvedRunCleared"}, reasons(s))
	event := eventsOf(s)[1]
	message, _, _ := unstructured.NestedString(event.Object, "message")
	for _, part := range []string{"alice cleared", "repaired", sum("operation"), "ptah-mapply-ledger-1f0c1f0c1f0c1f0c", "ptah-mplan-", sum("ledger database"), "Partial"} {
		assert.Contains(t, message, part)
	}
	about, _, _ := unstructured.NestedString(event.Object, "involvedObject", "uid")
	assert.Equal(t, string(object.GetUID()), about)
	at, _, _ := unstructured.NestedString(event.Object, "lastTimestamp")
	assert.Equal(t, "2026-11-29T05:04:00Z", at)
}

// The spec was pointed at another database since the run: the Lease of the database that its plan was bound to still says that it could be
// writing.
func TestClearUnresolvedAsksTheLeaseOfTheRun(t *testing.T) {
	u := newUnaccounted()
	key := u.migration.Spec.Target.CoordinationKey
	u.plan.Spec.CoordinationDigest = realm.Digest("postgres", key)
	u.lease.Spec.HolderIdentity, u.lease.Spec.RenewTime = ptr.To(u.run().OperationID), ptr.To(metav1.NewMicroTime(now))
	u.migration.Spec.Target.CoordinationKey = "another"
	s := newStub()
	t.Cleanup(s.Close)
	for _, object := range u.objects() {
		s.put(toUnstructured(object))
	}
	got := clearing(t, s)
	assert.Equal(t, options.Refused, got.code, got.stderr)
	assert.Contains(t, got.stderr, "the database Lease is still held by this run")
}

// The server takes the write and the answer is lost, or a person interrupts: the second Event is written all the same.
func TestClearUnresolvedLosesNoTrace(t *testing.T) {
	t.Run("the answer is lost", func(t *testing.T) {
		s := unresolvedStub(t)
		s.afterPatch = func() { panic(http.ErrAbortHandler) }
		got := clearing(t, s)
		assert.Equal(t, options.Done, got.code, got.stderr)
		assert.Len(t, reasons(s), 2)
	})
	t.Run("interrupted", func(t *testing.T) {
		s := unresolvedStub(t)
		ctx, cancel := context.WithCancel(t.Context())
		s.afterPatch = cancel
		kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
		writeKubeconfig(t, kubeconfig, &rest.Config{Host: s.URL})
		var out, errOut bytes.Buffer
		global := options.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, options.Screen{}, fixedClock, noEnv)
		plugin.Run(ctx, global, "kubectl-ptah", []string{
			"clear-unresolved", "ledger", "--reason", "repaired", "--yes-i-established-what-ran", sum("operation"), "--wait", "0s", "--kubeconfig", kubeconfig,
		})
		assert.Len(t, reasons(s), 2, errOut.String())
	})
}

package plugin_test

import (
	"cmp"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ptah-run/ptah/plugin/options"
)

// eventsOf lists the Events that a stub holds, in the order in which they came.
func eventsOf(s *stub) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*unstructured.Unstructured
	for key, object := range s.objects {
		if strings.HasPrefix(key, "events/") {
			found = append(found, object)
		}
	}
	version := func(o *unstructured.Unstructured) int {
		n, err := strconv.Atoi(o.GetResourceVersion())
		must(err)
		return n
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int { return cmp.Compare(version(a), version(b)) })
	return found
}

func field(object *unstructured.Unstructured, path ...string) string {
	text, _, err := unstructured.NestedString(object.Object, path...)
	must(err)
	return text
}

func reasons(s *stub) []string {
	var list []string
	for _, event := range eventsOf(s) {
		list = append(list, field(event, "reason"))
	}
	return list
}

// rejecting is a migration whose plan has two approvals that nobody spent.
func rejecting(t *testing.T) *stub {
	t.Helper()
	s := newStub()
	t.Cleanup(s.Close)
	objects := append(migrationWaitingCluster(), migrationApprovals()...)
	for _, object := range objects {
		s.put(toUnstructured(object))
	}
	monday := toUnstructured(objects[2])
	monday.SetName("monday")
	monday.SetUID(uid(59))
	s.put(monday)
	return s
}

func rejection(t *testing.T, s *stub) result {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, kubeconfig, &rest.Config{Host: s.URL})
	return invoke(scenario{}, append(rejectCommand(), "--kubeconfig", kubeconfig))
}

func rejectCommand() []string {
	return []string{"reject", "ledger", "--yes", "--reason", "drops the ledger"}
}

func clearCommand() []string {
	return []string{"clear-unresolved", "ledger", "--reason", "repaired", "--yes-i-established-what-ran", sum("operation"), "--wait", "0s"}
}

// The process is killed in the very moment of its first change: the change may go through, and who made it and why is stored already.
func TestAKilledProcessLeavesWhoAndWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	binary := buildPlugin(t)
	for name, c := range map[string]struct {
		stub    func(*testing.T) *stub
		command []string
		arm     func(s *stub, kill func())
		reason  string
		message string
		done    func(s *stub) bool
	}{
		"clear-unresolved": {
			unresolvedStub, clearCommand(), func(s *stub, kill func()) { s.beforePatch = kill }, "UnresolvedRunClearRequested",
			"alice is about to clear the record of a run nobody accounted for: repaired. Outcome Partial, operation " + sum("operation"),
			func(s *stub) bool {
				_, present, _ := unstructured.NestedMap(s.get("ptahmigrations", "app", "ledger").Object, "status", "unresolvedRun")
				return !present
			},
		},
		"reject": {
			rejecting, rejectCommand(), func(s *stub, kill func()) { s.beforeDelete = func(string, string) { kill() } }, "PlanRejectionRequested",
			"): drops the ledger. Approvals to withdraw: friday by bob, monday by bob.",
			func(s *stub) bool { return s.get("ptahmigrationapprovals", "app", "friday") == nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.stub(t)
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			writeKubeconfig(t, kubeconfig, &rest.Config{Host: s.URL})
			command := exec.Command(binary, append(c.command, "--kubeconfig", kubeconfig)...)
			dead := make(chan struct{})
			c.arm(s, func() {
				assert.NoError(t, command.Process.Kill())
				<-dead
			})
			require.NoError(t, command.Start())
			require.ErrorContains(t, command.Wait(), "killed")
			close(dead)
			require.Eventually(t, func() bool { return c.done(s) }, 20*time.Second, 10*time.Millisecond, "the server takes what it was sent")
			require.Equal(t, []string{c.reason}, reasons(s))
			assert.Contains(t, field(eventsOf(s)[0], "message"), c.message)
		})
	}
}

// Without the first Event nothing is changed, except where that was asked for.
func TestNothingIsChangedWithoutATrace(t *testing.T) {
	s := unresolvedStub(t)
	s.refuseEvent = "UnresolvedRunClearRequested"
	got := clearing(t, s)
	assert.Equal(t, options.Refused, got.code)
	assert.Contains(t, got.stderr, "who cleared this, when and why would not be kept")
	_, present, _ := unstructured.NestedMap(s.get("ptahmigrations", "app", "ledger").Object, "status", "unresolvedRun")
	assert.True(t, present)

	s = rejecting(t)
	s.refuseEvent = "PlanRejectionRequested"
	got = rejection(t, s)
	assert.Equal(t, options.Refused, got.code)
	assert.Contains(t, got.stderr, "who rejected this, when and why would not be kept")
	assert.NotNil(t, s.get("ptahmigrationapprovals", "app", "friday"))
}

// The second Event is refused: what was done is said, with the Event that keeps who and why, and the exit code is not 0.
func TestASecondEventThatIsRefused(t *testing.T) {
	s := unresolvedStub(t)
	s.refuseEvent = "UnresolvedRunCleared"
	got := clearing(t, s)
	assert.Equal(t, options.Failed, got.code)
	assert.Contains(t, got.stdout, "cleared by alice")
	require.Equal(t, []string{"UnresolvedRunClearRequested"}, reasons(s))
	assert.Contains(t, got.stderr, "the second Event was not written; Event "+eventsOf(s)[0].GetName()+" keeps who asked for it and why, and this is what is missing: alice cleared the record")

	s = rejecting(t)
	s.refuseEvent = "PlanRejected"
	got = rejection(t, s)
	assert.Equal(t, options.Failed, got.code)
	assert.Contains(t, got.stdout, "rejected by alice, 2 open approvals withdrawn")
	require.Equal(t, []string{"PlanRejectionRequested"}, reasons(s))
	assert.Contains(t, got.stderr, eventsOf(s)[0].GetName())
}

// An approval that changed since it was shown may have been spent: it stays, and the rest with it. What went is said, and kept.
func TestRejectStopsAtAnApprovalThatChanged(t *testing.T) {
	for name, c := range map[string]struct {
		changes string
		reasons []string
		stays   []string
		done    string
	}{
		"the first":  {"friday", []string{"PlanRejectionRequested"}, []string{"friday", "monday"}, "; nothing was changed"},
		"the second": {"monday", []string{"PlanRejectionRequested", "PlanRejected"}, []string{"monday"}, "; 1 of 2 approvals withdrawn before"},
	} {
		t.Run(name, func(t *testing.T) {
			s := rejecting(t)
			s.beforeDelete = func(resource, name string) {
				if name == c.changes {
					s.put(s.get(resource, "app", name)) // another version
				}
			}
			got := rejection(t, s)
			assert.Equal(t, options.Refused, got.code, got.stderr)
			assert.Empty(t, got.stdout)
			assert.Contains(t, got.stderr, "approval app/"+c.changes+" changed since it was shown, perhaps because a run used it: look again"+c.done)
			assert.Equal(t, c.reasons, reasons(s))
			for _, approval := range []string{"friday", "monday"} {
				assert.Equal(t, slices.Contains(c.stays, approval), s.get("ptahmigrationapprovals", "app", approval) != nil, approval)
			}
			if len(c.reasons) == 2 {
				assert.Contains(t, field(eventsOf(s)[1], "message"), "alice began to reject plan ")
				assert.Contains(t, field(eventsOf(s)[1], "message"), "Approvals withdrawn: friday by bob, not withdrawn: monday by bob.")
			}
		})
	}
}

// The server deletes and its answer is lost: that is neither done nor undone, and is said so.
func TestRejectDoesNotGuessWhenNoAnswerComes(t *testing.T) {
	s := rejecting(t)
	s.beforeDelete = func(string, string) { panic(http.ErrAbortHandler) }
	got := rejection(t, s)
	assert.Equal(t, options.Failed, got.code, got.stderr)
	assert.Contains(t, got.stderr, "whether approval friday was withdrawn could not be told: look again; nothing else was changed")
	assert.Equal(t, []string{"PlanRejectionRequested"}, reasons(s))
}

package e2e

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/test/rig"
)

// boundary is a durable write, or an effect between two of them, on the way of an approved plan: right after it the leading manager dies the hard
// way, and the other replica goes on.
type boundary struct {
	name, point string
}

// markerOnly leaves a claim that may have made its Job.
const markerOnly = "status/dispatch"

// The nine durable writes of an Apply, in their order, and what stands between them.
func boundaries() []boundary {
	return []boundary{
		{"finalizer", "finalizer/add"},            // 1
		{"claim", "status/claim"},                 // 2
		{"acquired", "lease/acquire/Apply"},       //   the Lease is ours and the claim does not know it
		{"epoch", "status/lease-epoch/Apply"},     // 3
		{"snapshot", "status/snapshot/Apply"},     // 4
		{"spent", "approval/Spent"},               // 5, the approval's half
		{"dispatch", markerOnly},                  // 5
		{"created", "job/create/Apply"},           //   the Job runs and the claim does not know it
		{"job-uid", "status/job-uid/Apply"},       // 6
		{"cleanup", "job/cleanup/Apply"},          // 7
		{"outcome", "status/outcome/Apply"},       // 8
		{"proof-outcome", "status/outcome/Plan"},  // 9, the release staged
		{"released", "lease/release"},             //   given back and still staged
		{"finalizer-removed", "finalizer/remove"}, //   the end
	}
}

// The manager dies right after each write of an Apply. Whatever it was, no claim gets a second Apply Job, every statement of the plan is executed
// exactly once, and the schema ends in sync with the Lease free.
func TestManagerKilledAtEveryWriteOfAnApply(t *testing.T) {
	image, err := it.TestImage("manager-failpoints")
	require.NoError(t, err)
	repository, digest, _ := strings.Cut(image, "@")
	t.Cleanup(func() { restoreOperator(t) })
	require.NoError(t, it.InstallOperator(t.Context(), "--set", "image.repository="+repository, "--set", "image.digest="+digest))

	// All plans are made first and approved one after the other.
	all := boundaries()
	stages := make([]*lifecycle, len(all))
	for i, b := range all {
		stages[i] = &lifecycle{stage: newStage(t, "dies-"+b.name), table: "public.life_dies_" + strings.ReplaceAll(b.name, "-", "_")}
		stages[i].schema.Extra = "  execution: {failureRetryInterval: 2s}\n"
		if b.point == markerOnly {
			// Its proof waits until the Job that may or may not exist can write no more.
			stages[i].schema.Extra = "  execution: {failureRetryInterval: 2s, activeDeadlineSeconds: 60}\n"
		}
	}
	t.Run("plan", func(t *testing.T) {
		for i, b := range all {
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				stages[i].within(t, stages[i].begin)
			})
		}
	})
	for i, b := range all {
		t.Run("after-"+b.name, func(t *testing.T) {
			stages[i].within(t, func() { dieAt(stages[i], b.point) })
		})
	}
}

// within runs a part of a stage's life as a subtest.
func (s *stage) within(t *testing.T, do func()) {
	whole := s.t
	s.t = t
	defer func() { s.t = whole }()
	do()
}

func dieAt(l *lifecycle, point string) {
	t := l.t
	l.jobs = collectApplyJobs(t, l.stage)
	var armed []corev1.Pod
	l.eventually("two managers stand under the order, and one of them leads", func() bool {
		standing := managers(t)
		armed = arm(t, armed, standing, point)
		return len(standing) == 2 && leads(t, standing)
	})
	approvals, died := 0, false
	l.eventually("the manager died after "+point+" and the schema is in sync", func() bool {
		if !died {
			died = bury(t, armed, point)
		}
		if !died && approvals == 0 {
			standing := managers(t)
			armed = arm(t, armed, standing, point)
			if !leads(t, standing) {
				return false // what is approved now could be done by one that was never told
			}
		}
		if l.undecided() {
			res, err := it.Run(t.Context(), "", "kubectl-ptah", "approve", l.name, "-n", l.ns, "--yes")
			if err == nil && res.Code == 0 {
				approvals++
			}
		}
		return died && l.settled()
	})
	l.accounted(1, 1)
	if point == markerOnly {
		assert.GreaterOrEqual(t, approvals, 2, "nobody knows whether the Job was created: a person decides again")
		return
	}
	assert.Equal(t, 1, approvals, "approvals that it took")
}

// arm gives the order to every manager that has not got it yet. A Pod that another death replaces knows of nothing.
func arm(t *testing.T, armed, standing []corev1.Pod, point string) []corev1.Pod {
	t.Helper()
	for i := range standing {
		if !slices.ContainsFunc(armed, func(p corev1.Pod) bool { return p.UID == standing[i].UID }) {
			order(t, http.MethodPost, &standing[i], point)
			armed = append(armed, standing[i])
		}
	}
	return armed
}

// leads reports that one of these managers holds the leadership.
func leads(t *testing.T, standing []corev1.Pod) bool {
	t.Helper()
	holder := leadership(t).Spec.HolderIdentity
	return holder != nil && slices.ContainsFunc(standing, func(p corev1.Pod) bool { return strings.HasPrefix(*holder, p.Name+"_") })
}

// undecided reports that the plan on offer waits for an approval and has none that could still count.
func (s *stage) undecided() bool {
	s.t.Helper()
	st := s.get().Status
	if string(st.Phase) != "AwaitingApproval" || st.Plan == nil || st.Plan.Approval != nil {
		return false
	}
	var list v1alpha1.PtahSchemaApprovalList
	require.NoError(s.t, cluster.List(s.t.Context(), &list, client.InNamespace(s.ns)))
	for i := range list.Items {
		a := &list.Items[i]
		if a.Spec.PlanRef.UID == st.Plan.UID && !approval.IsConsumed(a.Status) && !approval.IsStale(a.Status) {
			return false
		}
	}
	return true
}

// bury looks for a manager that died as ordered. Then the others are told to live, and the next one leads at once instead of after the dead one's
// time has run out.
func bury(t *testing.T, armed []corev1.Pod, point string) bool {
	t.Helper()
	for i := range armed {
		if !killed(t, &armed[i]) {
			continue
		}
		for j := range armed {
			if j != i {
				order(t, http.MethodDelete, &armed[j], point)
			}
		}
		dethrone(t, &armed[i])
		_ = cluster.Delete(t.Context(), &armed[i]) // its next restart would be held back
		return true
	}
	return false
}

// managers are the manager's Pods that serve.
func managers(t *testing.T) []corev1.Pod {
	t.Helper()
	var pods, out corev1.PodList
	require.NoError(t, cluster.List(t.Context(), &pods, client.InNamespace(rig.OperatorNamespace), client.MatchingLabels{v1alpha1.ComponentLabel: v1alpha1.ComponentController}))
	for _, pod := range pods.Items {
		for _, c := range pod.Status.Conditions {
			if pod.DeletionTimestamp == nil && c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				out.Items = append(out.Items, pod)
			}
		}
	}
	return out.Items
}

func leadership(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	var lease coordinationv1.Lease
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: rig.OperatorNamespace, Name: v1alpha1.LeaderElectionLease}, &lease))
	return &lease
}

// dethrone takes the leadership from a dead manager, which saves the wait for its expiry.
func dethrone(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	lease := leadership(t)
	if lease.Spec.HolderIdentity == nil || !strings.HasPrefix(*lease.Spec.HolderIdentity, pod.Name+"_") {
		return
	}
	none := ""
	lease.Spec.HolderIdentity = &none
	_ = cluster.Update(t.Context(), lease) // a conflict means that somebody leads again
}

// order tells a manager of the failpoints build to die right after a step (POST), or not to (DELETE).
func order(t *testing.T, method string, pod *corev1.Pod, point string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprintf("http://%s:8099/%s", pod.Status.PodIP, point), nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// killed reports that a manager's container ended the way that nothing can catch.
func killed(t *testing.T, pod *corev1.Pod) bool {
	t.Helper()
	const sigkill = 128 + 9
	var now corev1.Pod
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(pod), &now); err != nil {
		return false
	}
	for _, c := range now.Status.ContainerStatuses {
		for _, end := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
			if end != nil && end.ExitCode == sigkill {
				return true
			}
		}
	}
	return false
}

// restoreOperator installs what is shipped again, whatever the test left.
func restoreOperator(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	assert.NoError(t, it.InstallOperator(ctx))
}

// What is shipped cannot be told to die: the default build has neither the tag nor the code.
func TestShippedManagerHasNoFailpoints(t *testing.T) {
	tags := func(name string) (string, bool) {
		path := filepath.Join(it.Bin, "linux_amd64", name)
		if link, err := filepath.EvalSymlinks(filepath.Join(it.Bin, "manager")); err == nil {
			path = filepath.Join(filepath.Dir(link), name)
		}
		info, err := buildinfo.ReadFile(path)
		require.NoError(t, err)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		used := ""
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				used = s.Value
			}
		}
		return used, strings.Contains(string(data), "PTAH_FAILPOINTS")
	}
	used, code := tags("manager")
	assert.Empty(t, used)
	assert.False(t, code)
	used, code = tags("manager-failpoints")
	assert.Equal(t, "failpoints", used)
	assert.True(t, code, "or this test could not fail")
}

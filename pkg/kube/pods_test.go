package kube

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func waitingFor(container, reason, message string) *corev1.Pod {
	return &corev1.Pod{
		Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "prepare"}, {Name: "fetch"}}, Containers: []corev1.Container{{Name: "operation"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: container, Image: "executor@sha256:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}},
	}
}

// A tired person reads why the Pod does not start, in words that do not change from one look to the next.
func TestPodTrouble(t *testing.T) {
	unschedulable := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found.",
	}}}}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"Secret missing":  {waitingFor("operation", "CreateContainerConfigError", `secret "ledger-db" not found`), `container operation cannot be configured: secret "ledger-db" not found`},
		"key missing":     {waitingFor("operation", "CreateContainerConfigError", "couldn't find key url in Secret app/ledger-db"), "container operation cannot be configured: couldn't find key url in Secret app/ledger-db"},
		"pull fails":      {waitingFor("operation", "ErrImagePull", "rpc error: 0x1234"), "container operation: its image executor@sha256:1 cannot be pulled"},
		"pull backs off":  {waitingFor("operation", "ImagePullBackOff", "Back-off pulling image"), "container operation: its image executor@sha256:1 cannot be pulled"},
		"merely starting": {waitingFor("operation", "ContainerCreating", ""), ""},
		"no node":         {unschedulable, "no node takes the Pod: 0/3 nodes are available: 3 Insufficient cpu"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, podTrouble(c.pod)) })
	}
}

func TestResultContainer(t *testing.T) {
	exit := func(name string, code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
	}
	pod := waitingFor("operation", "PodInitializing", "")
	for name, c := range map[string]struct {
		init []corev1.ContainerStatus
		want string
	}{
		"nothing failed":   {[]corev1.ContainerStatus{exit("prepare", 0), exit("fetch", 0)}, "operation"},
		"prepare failed":   {[]corev1.ContainerStatus{exit("prepare", 1)}, "prepare"},
		"fetch failed":     {[]corev1.ContainerStatus{exit("prepare", 0), exit("fetch", 1)}, "fetch"},
		"the first of two": {[]corev1.ContainerStatus{exit("fetch", 1), exit("prepare", 1)}, "prepare"},
	} {
		t.Run(name, func(t *testing.T) {
			pod.Status.InitContainerStatuses = c.init
			assert.Equal(t, c.want, resultContainer(pod))
		})
	}
}

// A phase is not believed while a container is said to run.
func TestPodStopped(t *testing.T) {
	pod := waitingFor("operation", "ContainerCreating", "")
	assert.False(t, podStopped(pod))
	pod.Status.Phase = corev1.PodFailed
	assert.True(t, podStopped(pod), "it never started")
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByPodGC"}}
	assert.False(t, podStopped(pod), "its node object is gone, and nobody knows what its kubelet had started")
	pod.Status.Conditions = nil
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	assert.False(t, podStopped(pod), "a node that went away leaves such Pods behind")
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	assert.True(t, podStopped(pod))
}

func TestJobFacts(t *testing.T) {
	job := &batchv1.Job{}
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}}
	assert.False(t, jobFacts(job, "").Terminal, "its Pod may still be stopping")
	job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonDeadlineExceeded})
	facts := jobFacts(job, "other")
	assert.True(t, facts.Terminal)
	assert.True(t, facts.DeadlineExceeded)
	assert.False(t, facts.Exact)
	job.Status.Failed, job.Status.UncountedTerminatedPods = 1, &batchv1.UncountedTerminatedPods{Failed: []types.UID{"other"}}
	assert.Equal(t, 2, jobFacts(job, "").Made)
}

func TestStableWords(t *testing.T) {
	a := stable(`Error creating: pods "ptah-observe-shop-0123456789abcdef-x7k2p" is forbidden: exceeded quota: tiny`)
	b := stable(`Error creating: pods "ptah-observe-shop-0123456789abcdef-q9z4w" is forbidden: exceeded quota: tiny`)
	assert.Equal(t, a, b)
	assert.Contains(t, a, "exceeded quota: tiny")
}

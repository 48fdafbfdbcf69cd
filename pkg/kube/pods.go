package kube

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/operation"
)

// jobFacts reads what the lifecycle needs of a Job.
func jobFacts(job *batchv1.Job, mismatch string) operation.Job {
	j := operation.Job{
		UID: string(job.UID), Exact: mismatch == "", Mismatch: mismatch,
		Cleanup: job.Spec.TTLSecondsAfterFinished != nil, Created: job.CreationTimestamp.Time,
		Made: int(job.Status.Active + job.Status.Failed + job.Status.Succeeded),
	}
	if u := job.Status.UncountedTerminatedPods; u != nil {
		j.Made += len(u.Succeeded) + len(u.Failed)
	}
	for _, c := range job.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			j.Terminal, j.Succeeded = true, true
		case batchv1.JobFailed:
			j.Terminal = true
			j.DeadlineExceeded = c.Reason == batchv1.JobReasonDeadlineExceeded
		}
	}
	return j
}

// podFacts reads what the lifecycle needs of a Pod.
func podFacts(pod *corev1.Pod, mismatch string) operation.Pod {
	return operation.Pod{
		Name: pod.Name, UID: string(pod.UID), Accepted: mismatch == "", Mismatch: mismatch,
		Stopped: podStopped(pod), Container: resultContainer(pod), Trouble: podTrouble(pod),
	}
}

// podStopped reports whether nothing in the Pod executes any more. A phase alone is not believed while a container is said to run: a node
// that went away leaves such Pods behind.
func podStopped(pod *corev1.Pod) bool {
	if !ended(pod) {
		return false
	}
	orphan := orphaned(pod)
	for _, c := range containerStatuses(pod) {
		if c.State.Running != nil || (orphan && c.State.Terminated == nil) {
			return false
		}
	}
	return true
}

// orphaned reports whether a Pod was declared failed because its node object is gone. Its kubelet said nothing: a container that it had just
// started still shows as waiting, and may run. The Pod is taken out of the API at once, so nobody waits for it for long.
func orphaned(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Reason == "DeletionByPodGC" {
			return true
		}
	}
	return false
}

func containerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	all := make([]corev1.ContainerStatus, 0, len(pod.Status.InitContainerStatuses)+len(pod.Status.ContainerStatuses))
	return append(append(all, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...)
}

// resultContainer is the one whose log holds the frame: the first init container that failed, in the Pod's own order, or the main one.
func resultContainer(pod *corev1.Pod) string {
	failed := map[string]bool{}
	for _, c := range pod.Status.InitContainerStatuses {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			failed[c.Name] = true
		}
	}
	for i := range pod.Spec.InitContainers {
		if name := pod.Spec.InitContainers[i].Name; failed[name] {
			return name
		}
	}
	return v1alpha1.OperationContainer
}

// podTrouble says why a Pod does not start, in words that stay the same for as long as the cause does; empty while nothing is wrong.
func podTrouble(pod *corev1.Pod) string {
	for _, c := range containerStatuses(pod) {
		if w := c.State.Waiting; w != nil {
			if text := waitingTrouble(c, w); text != "" {
				return text
			}
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return "no node takes the Pod: " + schedulerText(c.Message)
		}
	}
	return ""
}

func waitingTrouble(c corev1.ContainerStatus, w *corev1.ContainerStateWaiting) string {
	switch w.Reason {
	case "CreateContainerConfigError":
		// The kubelet names the Secret or ConfigMap and the key, never a value: secret "db" not found, couldn't find key url in Secret ns/db.
		return fmt.Sprintf("container %s cannot be configured: %s", c.Name, oneLine(w.Message))
	case "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable":
		// The two first take turns every few seconds; their texts differ, the cause does not.
		return fmt.Sprintf("container %s: its image %s cannot be pulled", c.Name, c.Image)
	case "CreateContainerError", "RunContainerError", "CrashLoopBackOff", "PreCreateHookError", "PostStartHookError":
		return fmt.Sprintf("container %s cannot be started: %s", c.Name, w.Reason)
	}
	return ""
}

// schedulerText keeps the part of a scheduler's message that names the cause; the rest counts nodes and changes with every look.
func schedulerText(message string) string {
	text, _, _ := strings.Cut(oneLine(message), " preemption:")
	return strings.TrimSuffix(strings.TrimSpace(text), ".")
}

const maxTrouble = 400

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxTrouble {
		s = s[:maxTrouble]
	}
	return strings.ToValidUTF8(s, "")
}

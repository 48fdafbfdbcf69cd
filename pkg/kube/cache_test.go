package kube

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What ended keeps how it ended, and never the look of something whole: whoever judges its shape has to ask the API server.
func TestSlimKeepsHowItEnded(t *testing.T) {
	meta := metav1.ObjectMeta{
		Name: "x", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}, OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "j"}},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
	}
	spec := corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "prepare", Image: "i"}, {Name: "fetch", Image: "i"}}, Containers: []corev1.Container{{Name: "operation", Image: "i"}},
	}
	failed := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}
	for phase, kept := range map[corev1.PodPhase]bool{corev1.PodPending: true, corev1.PodRunning: true, corev1.PodUnknown: true, corev1.PodSucceeded: false, corev1.PodFailed: false} {
		pod := &corev1.Pod{ObjectMeta: *meta.DeepCopy(), Spec: *spec.DeepCopy(), Status: corev1.PodStatus{
			Phase: phase, InitContainerStatuses: []corev1.ContainerStatus{{Name: "prepare"}, {Name: "fetch", State: failed}},
		}}
		before := podFacts(pod, "")
		_, err := slim(pod)
		require.NoError(t, err)
		assert.Equal(t, before, podFacts(pod, ""), phase)
		assert.Equal(t, "fetch", resultContainer(pod))
		assert.Equal(t, !kept, slimPod(pod), phase)
		assert.Equal(t, kept, assert.ObjectsAreEqual(spec, pod.Spec), phase)
		assert.Equal(t, meta.Labels, pod.Labels)
		assert.Equal(t, meta.OwnerReferences, pod.OwnerReferences)
		assert.Empty(t, pod.ManagedFields)
	}
	for _, cleanup := range []*int32{nil, new(int32)} {
		job := &batchv1.Job{ObjectMeta: *meta.DeepCopy(), Spec: batchv1.JobSpec{TTLSecondsAfterFinished: cleanup, Template: corev1.PodTemplateSpec{Spec: *spec.DeepCopy()}}}
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		before := jobFacts(job, "")
		_, err := slim(job)
		require.NoError(t, err)
		assert.Equal(t, before, jobFacts(job, ""))
		assert.Equal(t, cleanup != nil, slimJob(job))
		assert.Equal(t, meta.OwnerReferences, job.OwnerReferences)
	}
}

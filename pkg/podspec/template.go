package podspec

import (
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
)

// generatedLabels are the identity that the API server writes into a Job's template. They name the Job, so they are compared with it and
// are no part of the template's digest.
var generatedLabels = []string{batchv1.ControllerUidLabel, batchv1.JobNameLabel, legacyControllerUID, legacyJobName}

// The same labels from before they had a domain.
const (
	legacyControllerUID = "controller-uid"
	legacyJobName       = "job-name"
)

// TemplateDigest is the digest of a Pod template in canonical form: with the API's defaults, without the snapshot annotation, which follows
// from it, and without the labels that the API server generates. A built template and the same template read back have the same digest.
func TemplateDigest(t corev1.PodTemplateSpec) (string, error) {
	encoded, err := json.Marshal(canonicalTemplate(t))
	if err != nil {
		return "", fmt.Errorf("encoding pod template: %w", err)
	}
	return digest.Tuple("ptah-pod-template-v1", string(encoded)), nil
}

func canonicalTemplate(t corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	t = *t.DeepCopy()
	delete(t.Annotations, v1alpha1.AdmissionSnapshotAnnotation)
	for _, l := range generatedLabels {
		delete(t.Labels, l)
	}
	canonicalSpec(&t.Spec)
	return t
}

// canonicalSpec fills the API's defaults of every field that an operation's Pod uses, and writes empty lists and maps in one way. A field
// that operation Pods do not use keeps whatever it has, and makes the difference that it is.
func canonicalSpec(s *corev1.PodSpec) {
	setDefault(&s.RestartPolicy, corev1.RestartPolicyAlways)
	setDefault(&s.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&s.SchedulerName, corev1.DefaultSchedulerName)
	setDefault(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
	setPointer(&s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	setPointer(&s.SecurityContext, corev1.PodSecurityContext{})
	setPointer(&s.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			canonicalContainer(&list[i])
		}
	}
	for i := range s.Volumes {
		canonicalVolume(&s.Volumes[i])
	}
}

func canonicalContainer(c *corev1.Container) {
	setDefault(&c.ImagePullPolicy, corev1.PullIfNotPresent) // images are pinned by digest, never "latest"
	setDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	c.Resources.Limits, c.Resources.Requests = canonicalResources(c.Resources.Limits), canonicalResources(c.Resources.Requests)
}

// canonicalResources writes quantities in their canonical notation ("1000m" is "1"), and nothing for none.
func canonicalResources(list corev1.ResourceList) corev1.ResourceList {
	if len(list) == 0 {
		return nil
	}
	out := make(corev1.ResourceList, len(list))
	for name, q := range list {
		c := q.DeepCopy()
		_ = c.String() // caches the canonical notation
		out[name] = c
	}
	return out
}

func canonicalVolume(v *corev1.Volume) {
	if v.ConfigMap != nil {
		setPointer(&v.ConfigMap.DefaultMode, int32(0o644))
	}
	if v.Secret != nil {
		setPointer(&v.Secret.DefaultMode, int32(0o644))
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func setPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

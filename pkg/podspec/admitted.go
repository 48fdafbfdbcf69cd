package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// admitted is the Pod spec that a template becomes under the snapshot: the API's own default for Pods, then the modelled plugins in the
// order in which kube-apiserver runs them.
func admitted(template corev1.PodSpec, s v1alpha1.AdmissionSnapshot) (corev1.PodSpec, error) {
	spec := *template.DeepCopy()
	canonicalSpec(&spec)
	eachContainer(&spec, func(c *corev1.Container) { c.Resources.Requests = requestsWithLimits(c.Resources) })
	for _, lr := range s.LimitRanges {
		eachContainer(&spec, func(c *corev1.Container) {
			c.Resources.Limits = withFallback(c.Resources.Limits, lr.DefaultLimits)
			c.Resources.Requests = withFallback(c.Resources.Requests, lr.DefaultRequests)
		})
	}
	if len(spec.ImagePullSecrets) == 0 {
		spec.ImagePullSecrets = slices.Clone(s.ServiceAccount.ImagePullSecrets)
	}
	if s.AlwaysPullImagesEnabled {
		eachContainer(&spec, func(c *corev1.Container) { c.ImagePullPolicy = corev1.PullAlways })
	}
	spec.PriorityClassName = s.PriorityClass.Name
	spec.Priority = ptr(s.PriorityClass.Value)
	policy := s.PriorityClass.PreemptionPolicy
	setDefault(&policy, corev1.PreemptLowerPriority)
	spec.PreemptionPolicy = &policy
	if s.DefaultTolerationsEnabled {
		spec.Tolerations = withDefaultTolerations(spec.Tolerations, s)
	}
	if s.ExtendedResourceTolerationEnabled {
		tolerateExtendedResources(&spec)
	}
	if err := applyRuntimeClass(&spec, s.RuntimeClass); err != nil {
		return corev1.PodSpec{}, err
	}
	return spec, nil
}

func eachContainer(spec *corev1.PodSpec, f func(*corev1.Container)) {
	for i := range spec.InitContainers {
		f(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		f(&spec.Containers[i])
	}
}

// withDefaultTolerations does what DefaultTolerationSeconds does: nothing where a toleration without an effect, or for NoExecute, covers
// the taint already.
func withDefaultTolerations(tolerations []corev1.Toleration, s v1alpha1.AdmissionSnapshot) []corev1.Toleration {
	out := slices.Clone(tolerations)
	for _, taint := range []struct {
		key     string
		seconds int64
	}{
		{corev1.TaintNodeNotReady, s.DefaultNotReadyTolerationSeconds}, {corev1.TaintNodeUnreachable, s.DefaultUnreachableTolerationSeconds},
	} {
		covered := slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
			return (t.Key == taint.key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		})
		if !covered {
			out = append(out, corev1.Toleration{
				Key: taint.key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr(taint.seconds),
			})
		}
	}
	return out
}

func tolerateExtendedResources(spec *corev1.PodSpec) {
	names := map[string]bool{}
	eachContainer(spec, func(c *corev1.Container) {
		for name := range c.Resources.Requests {
			if extended(string(name)) {
				names[string(name)] = true
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(names)) {
		t := corev1.Toleration{Key: name, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
		i := slices.IndexFunc(spec.Tolerations, func(o corev1.Toleration) bool { return t.MatchToleration(&o) })
		if i < 0 {
			spec.Tolerations = append(spec.Tolerations, t)
		} else {
			spec.Tolerations[i] = t
		}
	}
}

// extended reports a resource outside of Kubernetes' own names, such as a vendor's device.
func extended(name string) bool {
	if !strings.Contains(name, "/") || strings.Contains(name, corev1.ResourceDefaultNamespacePrefix) || strings.HasPrefix(name, "requests.") {
		return false
	}
	return len(validation.IsQualifiedName("requests."+name)) == 0
}

func applyRuntimeClass(spec *corev1.PodSpec, rc *v1alpha1.RuntimeClassSnapshot) error {
	if rc == nil {
		return nil
	}
	if rc.OverheadDefined {
		spec.Overhead = canonicalResources(rc.Overhead)
	}
	for key, value := range rc.NodeSelector {
		if own, set := spec.NodeSelector[key]; set && own != value {
			return fmt.Errorf("RuntimeClass %s wants node label %s=%s, the Pod wants %s", rc.Object.Name, key, value, own)
		}
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[key] = value
	}
	if len(rc.NodeSelector)+len(rc.Tolerations) > 0 {
		spec.Tolerations = mergeTolerations(spec.Tolerations, rc.Tolerations)
	}
	return nil
}

// mergeTolerations keeps, of two tolerations of which one covers the other, only the wider.
func mergeTolerations(first, second []corev1.Toleration) []corev1.Toleration {
	all := slices.Concat(first, second)
	var merged []corev1.Toleration
	for i, t := range all {
		covered := slices.ContainsFunc(merged, func(m corev1.Toleration) bool { return covers(m, t) }) ||
			slices.ContainsFunc(all[i+1:], func(later corev1.Toleration) bool { return !equality.Semantic.DeepEqual(t, later) && covers(later, t) })
		if !covered {
			merged = append(merged, t)
		}
	}
	return merged
}

func covers(wide, t corev1.Toleration) bool {
	switch {
	case equality.Semantic.DeepEqual(wide, t):
		return true
	case t.Key != wide.Key && (wide.Key != "" || wide.Operator != corev1.TolerationOpExists):
		return false
	case t.Effect != wide.Effect && wide.Effect != "":
		return false
	case wide.Effect == corev1.TaintEffectNoExecute && wide.TolerationSeconds != nil &&
		(t.TolerationSeconds == nil || *t.TolerationSeconds > *wide.TolerationSeconds):
		return false
	}
	switch wide.Operator {
	case corev1.TolerationOpEqual, "":
		return t.Operator == corev1.TolerationOpEqual && t.Value == wide.Value
	case corev1.TolerationOpExists:
		return true
	}
	return false
}

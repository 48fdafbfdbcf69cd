package podspec

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
)

// AdmissionSettings mirrors how the cluster's kube-apiserver is configured (chart values admission.*).
type AdmissionSettings struct {
	DefaultTolerations        bool
	NotReadySeconds           int64
	UnreachableSeconds        int64
	ExtendedResourceTolerance bool
	AlwaysPullImages          bool
}

// AdmissionInputs are the credential-free objects that built-in admission reads for a Pod, as they are now.
type AdmissionInputs struct {
	Settings       AdmissionSettings
	ServiceAccount *corev1.ServiceAccount
	LimitRanges    []corev1.LimitRange // of the namespace, all of them
	// PriorityClass is the one that the Pod names, or else the cluster's default (DefaultPriorityClass); nil where there is neither.
	PriorityClass *schedulingv1.PriorityClass
	RuntimeClass  *nodev1.RuntimeClass // nil where the Pod names none
}

// maxDefaults bounds the LimitRange defaults that a snapshot keeps, requests and limits together.
const maxDefaults = 64

// DefaultPriorityClass picks the class that a Pod without one gets: the global default, the lowest where there are several.
func DefaultPriorityClass(all []schedulingv1.PriorityClass) *schedulingv1.PriorityClass {
	var found *schedulingv1.PriorityClass
	for i := range all {
		if c := &all[i]; c.GlobalDefault && (found == nil || found.Value > c.Value) {
			found = c
		}
	}
	return found
}

// SnapshotAdmission records what built-in admission is going to do to the Pod of a draft Job. It refuses what it cannot foretell: an object
// that is missing, LimitRanges that disagree on a field that a container leaves unset, more than 64 defaults, a template with resources of
// its own on the Pod.
func SnapshotAdmission(draft *batchv1.Job, in AdmissionInputs) (v1alpha1.AdmissionSnapshot, error) {
	spec := draft.Spec.Template.Spec
	fail := func(err error) (v1alpha1.AdmissionSnapshot, error) {
		return v1alpha1.AdmissionSnapshot{}, fmt.Errorf("taking admission snapshot for job %s/%s: %w", draft.Namespace, draft.Name, err)
	}
	if err := checkInputs(spec, in); err != nil {
		return fail(err)
	}
	ranges, err := limitRanges(spec, in.LimitRanges)
	if err != nil {
		return fail(err)
	}
	template, err := TemplateDigest(draft.Spec.Template)
	if err != nil {
		return fail(err)
	}
	s := v1alpha1.AdmissionSnapshot{
		Version: v1alpha1.AdmissionSnapshotVersion, TemplateDigest: template,
		DefaultTolerationsEnabled:           in.Settings.DefaultTolerations,
		DefaultNotReadyTolerationSeconds:    in.Settings.NotReadySeconds,
		DefaultUnreachableTolerationSeconds: in.Settings.UnreachableSeconds,
		ExtendedResourceTolerationEnabled:   in.Settings.ExtendedResourceTolerance,
		AlwaysPullImagesEnabled:             in.Settings.AlwaysPullImages,
		LimitRanges:                         ranges,
		ServiceAccount: v1alpha1.ServiceAccountSnapshot{
			Object: objectOf(in.ServiceAccount.ObjectMeta), ImagePullSecrets: slices.Clone(in.ServiceAccount.ImagePullSecrets),
		},
		PriorityClass: priority(in.PriorityClass),
		RuntimeClass:  runtimeClass(in.RuntimeClass),
	}
	if _, err := admitted(spec, s); err != nil {
		return fail(err)
	}
	if s.Digest, err = SnapshotDigest(s); err != nil {
		return fail(err)
	}
	return s, nil
}

// SnapshotDigest covers the whole snapshot but for the digest itself.
func SnapshotDigest(s v1alpha1.AdmissionSnapshot) (string, error) {
	s = *s.DeepCopy()
	s.Digest = ""
	encoded, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encoding admission snapshot: %w", err)
	}
	return digest.Tuple("ptah-admission-snapshot-v1", string(encoded)), nil
}

func checkInputs(spec corev1.PodSpec, in AdmissionInputs) error {
	named := ""
	if spec.RuntimeClassName != nil {
		named = *spec.RuntimeClassName
	}
	switch {
	case spec.Resources != nil:
		return fmt.Errorf("the Pod template sets resources on the Pod itself, which is not modelled")
	case in.ServiceAccount == nil || in.ServiceAccount.Name != spec.ServiceAccountName:
		return fmt.Errorf("ServiceAccount %s does not exist", spec.ServiceAccountName)
	case spec.PriorityClassName != "" && (in.PriorityClass == nil || in.PriorityClass.Name != spec.PriorityClassName):
		return fmt.Errorf("PriorityClass %s does not exist", spec.PriorityClassName)
	case named != "" && (in.RuntimeClass == nil || in.RuntimeClass.Name != named):
		return fmt.Errorf("RuntimeClass %s does not exist", named)
	case named == "" && in.RuntimeClass != nil:
		return fmt.Errorf("the Pod names no RuntimeClass")
	}
	return nil
}

func objectOf(m metav1.ObjectMeta) v1alpha1.ObjectSnapshot {
	return v1alpha1.ObjectSnapshot{Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion}
}

func priority(c *schedulingv1.PriorityClass) v1alpha1.PriorityClassSnapshot {
	if c == nil {
		return v1alpha1.PriorityClassSnapshot{PreemptionPolicy: corev1.PreemptLowerPriority}
	}
	policy := corev1.PreemptLowerPriority
	if c.PreemptionPolicy != nil {
		policy = *c.PreemptionPolicy
	}
	object := objectOf(c.ObjectMeta)
	return v1alpha1.PriorityClassSnapshot{Name: c.Name, Value: c.Value, PreemptionPolicy: policy, Object: &object}
}

func runtimeClass(c *nodev1.RuntimeClass) *v1alpha1.RuntimeClassSnapshot {
	if c == nil {
		return nil
	}
	s := &v1alpha1.RuntimeClassSnapshot{Handler: c.Handler, Object: objectOf(c.ObjectMeta)}
	if c.Scheduling != nil {
		s.NodeSelector, s.Tolerations = maps.Clone(c.Scheduling.NodeSelector), slices.Clone(c.Scheduling.Tolerations)
	}
	if c.Overhead != nil {
		s.OverheadDefined, s.Overhead = true, canonicalResources(c.Overhead.PodFixed)
	}
	return s
}

// limitRanges derives each LimitRange's container defaults and refuses a disagreement that would matter to one of the Pod's containers.
func limitRanges(spec corev1.PodSpec, all []corev1.LimitRange) ([]v1alpha1.LimitRangeSnapshot, error) {
	var out []v1alpha1.LimitRangeSnapshot
	entries := 0
	for i := range all {
		limits, requests := containerDefaults(all[i])
		if len(limits)+len(requests) == 0 {
			continue
		}
		entries += len(limits) + len(requests)
		out = append(out, v1alpha1.LimitRangeSnapshot{Object: objectOf(all[i].ObjectMeta), DefaultLimits: limits, DefaultRequests: requests})
	}
	if entries > maxDefaults {
		return nil, fmt.Errorf("the namespace's LimitRanges set %d defaults, at most %d can be kept", entries, maxDefaults)
	}
	slices.SortFunc(out, func(a, b v1alpha1.LimitRangeSnapshot) int { return cmp.Compare(a.Object.Name, b.Object.Name) })
	if name, a, b := disagreement(spec, out); name != "" {
		return nil, fmt.Errorf("LimitRanges %s and %s offer different values for %s: which one a Pod gets depends on their order", a, b, name)
	}
	return out, nil
}

// containerDefaults derives what one LimitRange gives a container: the default limit falls back to max; the default request to that limit,
// and finally to min.
func containerDefaults(lr corev1.LimitRange) (limits, requests corev1.ResourceList) {
	limits, requests = corev1.ResourceList{}, corev1.ResourceList{}
	for _, item := range lr.Spec.Limits {
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		itemLimits := withFallback(item.Default, item.Max)
		itemRequests := withFallback(withFallback(item.DefaultRequest, itemLimits), item.Min)
		maps.Copy(limits, itemLimits)
		maps.Copy(requests, itemRequests)
	}
	return canonicalResources(limits), canonicalResources(requests)
}

func withFallback(list, fallback corev1.ResourceList) corev1.ResourceList {
	out := maps.Clone(list)
	if out == nil {
		out = corev1.ResourceList{}
	}
	for name, q := range fallback {
		if _, set := out[name]; !set {
			out[name] = q
		}
	}
	return out
}

// disagreement finds a field that some container leaves unset and that two LimitRanges would fill differently.
func disagreement(spec corev1.PodSpec, ranges []v1alpha1.LimitRangeSnapshot) (field, first, second string) {
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, kind := range []struct {
			name string
			set  corev1.ResourceList
			of   func(v1alpha1.LimitRangeSnapshot) corev1.ResourceList
		}{
			{"limits", c.Resources.Limits, func(s v1alpha1.LimitRangeSnapshot) corev1.ResourceList { return s.DefaultLimits }},
			{"requests", requestsWithLimits(c.Resources), func(s v1alpha1.LimitRangeSnapshot) corev1.ResourceList { return s.DefaultRequests }},
		} {
			offered := map[corev1.ResourceName]v1alpha1.LimitRangeSnapshot{}
			for _, r := range ranges {
				for _, name := range slices.Sorted(maps.Keys(kind.of(r))) {
					if _, set := kind.set[name]; set {
						continue
					}
					earlier, seen := offered[name]
					value := kind.of(r)[name]
					if before := kind.of(earlier)[name]; seen && before.Cmp(value) != 0 {
						return fmt.Sprintf("%s.%s", kind.name, name), earlier.Object.Name, r.Object.Name
					}
					offered[name] = r
				}
			}
		}
	}
	return "", "", ""
}

// requestsWithLimits are a container's requests as admission sees them: a limit without a request has become one already.
func requestsWithLimits(r corev1.ResourceRequirements) corev1.ResourceList {
	return withFallback(r.Requests, r.Limits)
}

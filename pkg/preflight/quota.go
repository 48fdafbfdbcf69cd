package preflight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// judgeQuota projects the candidate's Pods through every Pod quota of the release namespace. The running managers count as gone: they stop
// before the candidate starts. The projection reserves nothing.
func judgeQuota(r Release) Finding {
	namespace := r.Candidate.Namespace
	if r.Quotas.State == Unknown {
		return unknown("ask somebody who may read them", "ResourceQuotas in namespace "+namespace+": "+r.Quotas.why())
	}
	var leaving []corev1.PodSpec
	if len(r.Quotas.Value) > 0 {
		switch {
		case r.LimitRanges.State == Unknown:
			return unknown("ask somebody who may read them", "LimitRanges in namespace "+namespace+", which fill in what Pods leave out: "+r.LimitRanges.why())
		case r.Pods.State == Unknown:
			return unknown("ask somebody who may read them", "Pods in namespace "+namespace+", which a new release replaces: "+r.Pods.why())
		}
		for _, p := range r.Pods.Value {
			if p.Labels[v1alpha1.ComponentLabel] == v1alpha1.ComponentController && p.Labels["app.kubernetes.io/instance"] == r.Candidate.Release && counted(p) {
				leaving = append(leaving, p.Spec)
			}
		}
	}
	return project(namespace, r.Candidate.Workloads(), leaving, r.Quotas.Value, r.LimitRanges.Value)
}

// counted reports a Pod that quotas count: one that has not ended.
func counted(p corev1.Pod) bool {
	return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
}

func project(namespace string, coming []Workload, leaving []corev1.PodSpec, quotas []corev1.ResourceQuota, ranges []corev1.LimitRange) Finding {
	d := &doubt{}
	quotas = slices.Clone(quotas)
	slices.SortFunc(quotas, func(a, b corev1.ResourceQuota) int { return cmp.Compare(a.Name, b.Name) })
	admitted := make([]Workload, len(coming))
	for i, w := range coming {
		admitted[i] = Workload{Name: w.Name, Replicas: w.Replicas, Pod: admit(w.Pod, ranges)}
	}
	var room []string
	for _, q := range quotas {
		matched := slices.DeleteFunc(slices.Clone(admitted), func(w Workload) bool { return !matches(q, w.Pod) })
		if len(matched) == 0 || len(podResources(q)) == 0 {
			continue
		}
		if !equality.Semantic.DeepEqual(q.Status.Hard, q.Spec.Hard) {
			d.dark(fmt.Sprintf("quota %s is not synchronized yet: what is used of it is not known", quoted(q.Name)))
			continue
		}
		left := projectOne(d, q, matched, slices.DeleteFunc(slices.Clone(leaving), func(p corev1.PodSpec) bool { return !matches(q, p) }))
		if left != "" {
			room = append(room, fmt.Sprintf("quota %s has room for %s", quoted(q.Name), left))
		}
	}
	good := []string{needWords(admitted)}
	if len(room) == 0 {
		good[0] += fmt.Sprintf("; no quota of namespace %s counts them", namespace)
	}
	return d.finding("free the quota or raise it, and set what it counts; nothing reserves what is free now", "look again in a minute", append(good, room...)...)
}

// needWords is what all Pods together ask for: "2 managers need 100m/192Mi".
func needWords(workloads []Workload) string {
	total := corev1.ResourceList{}
	var who []string
	for _, w := range workloads {
		add(total, podTotal(w.Pod, requestsOf), int64(w.Replicas))
		who = append(who, count(int(w.Replicas), w.Name, w.Name+"s"))
	}
	cpu, memory := total[corev1.ResourceCPU], total[corev1.ResourceMemory]
	verb := "need"
	if len(workloads) == 1 && workloads[0].Replicas == 1 {
		verb = "needs"
	}
	return fmt.Sprintf("%s %s %s/%s", strings.Join(who, " + "), verb, cpu.String(), memory.String())
}

// projectOne compares need and room for each resource that one quota bounds, and says what is free before the Pods come.
func projectOne(d *doubt, q corev1.ResourceQuota, coming []Workload, leaving []corev1.PodSpec) string {
	var free []string
	for _, name := range podResources(q) {
		hard, used := q.Status.Hard[name], q.Status.Used[name].DeepCopy()
		need := resource.Quantity{}
		for _, w := range coming {
			if missing := unset(w.Pod, name); missing != "" {
				d.wrong(fmt.Sprintf("quota %s counts %s, and container %s sets none: the %s is refused", quoted(q.Name), name, missing, w.Name))
				continue
			}
			each := usage(w.Pod, name)
			each.Mul(int64(w.Replicas))
			need.Add(each)
		}
		for _, p := range leaving {
			used.Sub(usage(p, name))
		}
		if used.Sign() < 0 {
			used = resource.Quantity{}
		}
		room := hard.DeepCopy()
		room.Sub(used)
		if room.Cmp(need) < 0 {
			d.wrong(fmt.Sprintf("quota %s: %s needed %s, free %s (used %s of %s)", quoted(q.Name), name, need.String(), floor(room), used.String(), hard.String()))
			continue
		}
		free = append(free, fmt.Sprintf("%s %s", room.String(), name))
	}
	return join(free)
}

func floor(q resource.Quantity) string {
	if q.Sign() < 0 {
		return "0"
	}
	return q.String()
}

// podResources are the resources of a quota that Pods use up.
func podResources(q corev1.ResourceQuota) []corev1.ResourceName {
	var out []corev1.ResourceName
	for _, name := range slices.Sorted(maps.Keys(q.Spec.Hard)) {
		if name == corev1.ResourcePods || name == "count/pods" || computeOf(name) != "" {
			out = append(out, name)
		}
	}
	return out
}

// computeOf is the resource of a container that a quota's name is about, "" where it is about none.
func computeOf(name corev1.ResourceName) corev1.ResourceName {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return name
	}
	for _, prefix := range []string{"requests.", "limits."} {
		if rest, ok := strings.CutPrefix(string(name), prefix); ok && rest != "storage" {
			return corev1.ResourceName(rest)
		}
	}
	return ""
}

func list(name corev1.ResourceName) func(corev1.Container) corev1.ResourceList {
	if strings.HasPrefix(string(name), "limits.") {
		return limitsOf
	}
	return requestsOf
}

func usage(pod corev1.PodSpec, name corev1.ResourceName) resource.Quantity {
	of := computeOf(name)
	if of == "" {
		return resource.MustParse("1")
	}
	return podTotal(pod, list(name))[of]
}

// unset names a container that leaves out what a quota counts. The API server refuses such a Pod for processor and memory.
func unset(pod corev1.PodSpec, name corev1.ResourceName) string {
	of := computeOf(name)
	if of != corev1.ResourceCPU && of != corev1.ResourceMemory {
		return ""
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		if _, set := list(name)(c)[of]; !set {
			return c.Name
		}
	}
	return ""
}

// matches reports whether a quota counts a Pod: all of its scopes hold.
func matches(q corev1.ResourceQuota, pod corev1.PodSpec) bool {
	for _, scope := range q.Spec.Scopes {
		if !inScope(corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}, pod) {
			return false
		}
	}
	if q.Spec.ScopeSelector == nil {
		return true
	}
	for _, requirement := range q.Spec.ScopeSelector.MatchExpressions {
		if !inScope(requirement, pod) {
			return false
		}
	}
	return true
}

func inScope(r corev1.ScopedResourceSelectorRequirement, pod corev1.PodSpec) bool {
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return pod.ActiveDeadlineSeconds != nil
	case corev1.ResourceQuotaScopeNotTerminating:
		return pod.ActiveDeadlineSeconds == nil
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(pod)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(pod)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return crossNamespace(pod.Affinity)
	case corev1.ResourceQuotaScopePriorityClass:
		return inPriority(r, pod.PriorityClassName)
	default:
		return false // about other kinds than Pods
	}
}

func inPriority(r corev1.ScopedResourceSelectorRequirement, name string) bool {
	switch r.Operator {
	case corev1.ScopeSelectorOpExists:
		return name != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return name == ""
	case corev1.ScopeSelectorOpIn:
		return slices.Contains(r.Values, name)
	case corev1.ScopeSelectorOpNotIn:
		return !slices.Contains(r.Values, name)
	default:
		return true
	}
}

func bestEffort(pod corev1.PodSpec) bool {
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, of := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if q := of[name]; !q.IsZero() {
					return false
				}
			}
		}
	}
	return true
}

func crossNamespace(a *corev1.Affinity) bool {
	var terms []corev1.PodAffinityTerm
	collect := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		terms = append(terms, required...)
		for _, p := range preferred {
			terms = append(terms, p.PodAffinityTerm)
		}
	}
	if a == nil {
		return false
	}
	if p := a.PodAffinity; p != nil {
		collect(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		collect(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil })
}

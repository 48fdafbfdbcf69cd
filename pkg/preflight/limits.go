package preflight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// admit fills in what the API server's defaulting and the namespace's LimitRanges put into a Pod that leaves it out: a limit without a request is
// its request, then each LimitRange's defaults, in the order of their names.
func admit(pod corev1.PodSpec, ranges []corev1.LimitRange) corev1.PodSpec {
	pod = *pod.DeepCopy()
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b corev1.LimitRange) int { return cmp.Compare(a.Name, b.Name) })
	for _, list := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range list {
			r := &list[i].Resources
			r.Requests = fill(r.Requests, r.Limits)
			for _, lr := range ranges {
				limits, requests := defaultsOf(lr)
				r.Limits, r.Requests = fill(r.Limits, limits), fill(r.Requests, requests)
			}
		}
	}
	return pod
}

// defaultsOf is what one LimitRange gives a container: the API server has already stored what falls back to what.
func defaultsOf(lr corev1.LimitRange) (limits, requests corev1.ResourceList) {
	for _, item := range lr.Spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			own := fill(item.Default, item.Max)
			limits = fill(limits, own)
			requests = fill(requests, fill(fill(item.DefaultRequest, own), item.Min))
		}
	}
	return limits, requests
}

// fill adds what list leaves out.
func fill(list, defaults corev1.ResourceList) corev1.ResourceList {
	out := maps.Clone(list)
	for name, quantity := range defaults {
		if _, set := out[name]; set {
			continue
		}
		if out == nil {
			out = corev1.ResourceList{}
		}
		out[name] = quantity
	}
	return out
}

// violations says which bounds of the namespace's LimitRanges an admitted Pod breaks.
func violations(pod corev1.PodSpec, ranges []corev1.LimitRange) []string {
	var out []string
	for _, lr := range ranges {
		for _, item := range lr.Spec.Limits {
			switch item.Type {
			case corev1.LimitTypeContainer:
				for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
					out = append(out, breaks("LimitRange "+lr.Name+": container "+c.Name, item, c.Resources.Requests, c.Resources.Limits)...)
				}
			case corev1.LimitTypePod:
				out = append(out, breaks("LimitRange "+lr.Name+": the Pod", item, podTotal(pod, requestsOf), podTotal(pod, limitsOf))...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func breaks(who string, item corev1.LimitRangeItem, requests, limits corev1.ResourceList) []string {
	var out []string
	for name, bound := range item.Min {
		if have, set := requests[name]; !set || have.Cmp(bound) < 0 {
			out = append(out, fmt.Sprintf("%s requests %s %s, at least %s is wanted", who, given(have, set), name, bound.String()))
		}
	}
	for name, bound := range item.Max {
		if have, set := limits[name]; !set || have.Cmp(bound) > 0 {
			out = append(out, fmt.Sprintf("%s has a limit of %s %s, at most %s is allowed", who, given(have, set), name, bound.String()))
		}
	}
	for name, bound := range item.MaxLimitRequestRatio {
		limit, request := limits[name], requests[name]
		if request.IsZero() || limit.AsApproximateFloat64() > bound.AsApproximateFloat64()*request.AsApproximateFloat64() {
			out = append(out, fmt.Sprintf("%s may limit %s at most %s times its request", who, name, bound.String()))
		}
	}
	return out
}

func given(quantity resource.Quantity, set bool) string {
	if !set {
		return "no"
	}
	return quantity.String()
}

func requestsOf(c corev1.Container) corev1.ResourceList { return c.Resources.Requests }
func limitsOf(c corev1.Container) corev1.ResourceList   { return c.Resources.Limits }

// podTotal is what a Pod takes: its containers together, or its largest init container, and its overhead.
func podTotal(pod corev1.PodSpec, of func(corev1.Container) corev1.ResourceList) corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, c := range pod.Containers {
		add(total, of(c), 1)
	}
	sidecars := corev1.ResourceList{}
	for _, c := range pod.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(total, of(c), 1)
			add(sidecars, of(c), 1)
			continue
		}
		for name, quantity := range of(c) {
			starting := sidecars[name].DeepCopy()
			starting.Add(quantity)
			if have := total[name]; have.Cmp(starting) < 0 {
				total[name] = starting
			}
		}
	}
	add(total, pod.Overhead, 1)
	return total
}

func add(total, more corev1.ResourceList, times int64) {
	for name, quantity := range more {
		sum := total[name].DeepCopy()
		part := quantity.DeepCopy()
		part.Mul(times)
		sum.Add(part)
		total[name] = sum
	}
}

// judgeLimits says whether the namespace's LimitRanges let the candidate's Pods in.
func judgeLimits(r Release) Finding {
	if r.LimitRanges.State == Unknown {
		return unknown("ask somebody who may read them", "LimitRanges in namespace "+r.Candidate.Namespace+": "+r.LimitRanges.why())
	}
	var bad []string
	for _, w := range r.Candidate.Workloads() {
		for _, text := range violations(admit(w.Pod, r.LimitRanges.Value), r.LimitRanges.Value) {
			bad = append(bad, w.Name+": "+text)
		}
	}
	if len(bad) > 0 {
		return fail("set resources in the values to what the namespace allows, or change the LimitRange", bad...)
	}
	return pass(limitWords(len(r.LimitRanges.Value), r.Candidate.Namespace))
}

func limitWords(n int, namespace string) string {
	if n == 0 {
		return "namespace " + namespace + " has none"
	}
	return count(n, "LimitRange lets", "LimitRanges let") + " the Pods in"
}

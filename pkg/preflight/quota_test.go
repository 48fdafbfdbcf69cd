package preflight

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

func amounts(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func quota(hard, used corev1.ResourceList, scopes ...corev1.ResourceQuotaScope) corev1.ResourceQuota {
	return corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: hard, Scopes: scopes}, Status: corev1.ResourceQuotaStatus{Hard: hard, Used: used},
	}
}

func onePod(requests, limits corev1.ResourceList) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}}}
}

func two(pod corev1.PodSpec) []Workload { return []Workload{{Name: "manager", Replicas: 2, Pod: pod}} }

func TestProjection(t *testing.T) {
	pod := onePod(amounts("cpu", "50m", "memory", "96Mi"), amounts("memory", "256Mi"))
	cases := map[string]struct {
		quota   corev1.ResourceQuota
		leaving []corev1.PodSpec
		ranges  []corev1.LimitRange
		want    Verdict
	}{
		"room":                       {quota(amounts("pods", "2", "requests.cpu", "100m", "limits.memory", "512Mi"), amounts("pods", "0")), nil, nil, Pass},
		"one Pod too many":           {quota(amounts("pods", "2"), amounts("pods", "1")), nil, nil, Fail},
		"old names":                  {quota(amounts("cpu", "99m"), amounts("cpu", "0")), nil, nil, Fail},
		"count/pods":                 {quota(amounts("count/pods", "1"), amounts("count/pods", "0")), nil, nil, Fail},
		"room after the old ones go": {quota(amounts("pods", "3"), amounts("pods", "3")), []corev1.PodSpec{pod, pod}, nil, Pass},
		"limit that is not set":      {quota(amounts("limits.cpu", "9"), amounts("limits.cpu", "0")), nil, nil, Fail},
		"limit by default": {
			quota(amounts("limits.cpu", "9"), amounts("limits.cpu", "0")), nil,
			[]corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Default: amounts("cpu", "1")}}}}},
			Pass,
		},
		"stale":                   {corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: amounts("pods", "9")}}, nil, nil, CouldNotTell},
		"about other things":      {quota(amounts("services", "0", "requests.storage", "0"), nil), nil, nil, Pass},
		"terminating":             {quota(amounts("pods", "0"), nil, corev1.ResourceQuotaScopeTerminating), nil, nil, Pass},
		"not terminating":         {quota(amounts("pods", "0"), nil, corev1.ResourceQuotaScopeNotTerminating), nil, nil, Fail},
		"best effort":             {quota(amounts("pods", "0"), nil, corev1.ResourceQuotaScopeBestEffort), nil, nil, Pass},
		"not best effort":         {quota(amounts("pods", "0"), nil, corev1.ResourceQuotaScopeNotBestEffort), nil, nil, Fail},
		"cross-namespace":         {quota(amounts("pods", "0"), nil, corev1.ResourceQuotaScopeCrossNamespacePodAffinity), nil, nil, Pass},
		"of a class":              {ofClass(corev1.ScopeSelectorOpIn, "high"), nil, nil, Pass},
		"of any class":            {ofClass(corev1.ScopeSelectorOpExists), nil, nil, Pass},
		"of no class":             {ofClass(corev1.ScopeSelectorOpDoesNotExist), nil, nil, Fail},
		"of another class":        {ofClass(corev1.ScopeSelectorOpNotIn, "high"), nil, nil, Fail},
		"overdrawn already":       {quota(amounts("pods", "1"), amounts("pods", "5")), nil, nil, Fail},
		"more leaves than counts": {quota(amounts("pods", "2"), amounts("pods", "1")), []corev1.PodSpec{pod, pod}, nil, Pass},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := project("ns", two(pod), tc.leaving, []corev1.ResourceQuota{tc.quota}, tc.ranges)
			assert.Equal(t, tc.want, f.Verdict, "%v", f.Details)
		})
	}
}

func ofClass(operator corev1.ScopeSelectorOperator, values ...string) corev1.ResourceQuota {
	q := quota(amounts("pods", "0"), nil)
	q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: operator, Values: values}}}
	return q
}

// More room never turns a pass into a failure, and what is needed exactly fits.
func TestMoreRoomNeverHurts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hard, used := rapid.Int64Range(0, 1000).Draw(t, "hard"), rapid.Int64Range(0, 1000).Draw(t, "used")
		each, replicas := rapid.Int64Range(1, 200).Draw(t, "each"), rapid.Int32Range(1, 5).Draw(t, "replicas")
		milli := func(n int64) corev1.ResourceList {
			return corev1.ResourceList{"requests.cpu": *resource.NewMilliQuantity(n, resource.DecimalSI)}
		}
		pod := onePod(corev1.ResourceList{"cpu": *resource.NewMilliQuantity(each, resource.DecimalSI)}, nil)
		verdict := func(hard int64) Verdict {
			return project("ns", []Workload{{Name: "manager", Replicas: replicas, Pod: pod}}, nil, []corev1.ResourceQuota{quota(milli(hard), milli(used))}, nil).Verdict
		}
		fits := hard-used >= each*int64(replicas)
		if got := verdict(hard); (got == Pass) != fits {
			t.Fatalf("hard %d used %d each %d replicas %d: %s", hard, used, each, replicas, got)
		}
		if fits && verdict(hard+1) != Pass {
			t.Fatal("more room hurts")
		}
	})
}

func TestPodTotal(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := onePod(amounts("cpu", "100m"), nil)
	pod.InitContainers = []corev1.Container{
		{Name: "sidecar", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: amounts("cpu", "10m")}},
		{Name: "big", Resources: corev1.ResourceRequirements{Requests: amounts("cpu", "300m")}},
	}
	pod.Overhead = amounts("cpu", "5m")
	cpu := podTotal(pod, requestsOf)["cpu"]
	assert.Equal(t, "315m", cpu.String())
}

func TestLimitRangesThatRefuse(t *testing.T) {
	pod := onePod(amounts("memory", "64Mi"), amounts("memory", "256Mi"))
	item := func(item corev1.LimitRangeItem) []string {
		ranges := []corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}}}}
		return violations(admit(pod, ranges), ranges)
	}
	assert.Empty(t, item(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: amounts("memory", "256Mi"), Min: amounts("memory", "64Mi")}))
	assert.NotEmpty(t, item(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: amounts("memory", "255Mi")}))
	assert.NotEmpty(t, item(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: amounts("memory", "65Mi")}))
	assert.NotEmpty(t, item(corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: amounts("memory", "255Mi")}))
	assert.NotEmpty(t, item(corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: amounts("cpu", "1")}), "a Pod bound needs a limit, and gives none")
	assert.NotEmpty(t, item(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, MaxLimitRequestRatio: amounts("memory", "2")}))
	assert.Empty(t, item(corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Max: amounts("storage", "1")}))
}

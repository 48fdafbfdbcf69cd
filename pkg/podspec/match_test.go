package podspec_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/podspec"
)

func q(s string) resource.Quantity { return resource.MustParse(s) }

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, UID: types.UID("uid-of-" + name), ResourceVersion: "7"}
}

// inputs are those of a cluster with the usual plugins and nothing special in the namespace.
func inputs() podspec.AdmissionInputs {
	return podspec.AdmissionInputs{
		Settings:       podspec.AdmissionSettings{DefaultTolerations: true, NotReadySeconds: 300, UnreachableSeconds: 300},
		ServiceAccount: &corev1.ServiceAccount{ObjectMeta: meta("default")},
	}
}

func limitRange(name string, items ...corev1.LimitRangeItem) corev1.LimitRange {
	for i := range items {
		items[i].Type = corev1.LimitTypeContainer
	}
	return corev1.LimitRange{ObjectMeta: meta(name), Spec: corev1.LimitRangeSpec{Limits: items}}
}

// created is a Job as the API server stores it, with its snapshot, and a Pod as the Job controller and admission make it; spelled out here
// and not computed by the code under test.
func created(t *testing.T, r podspec.Request, in podspec.AdmissionInputs) (*batchv1.Job, podspec.Envelope, v1alpha1.AdmissionSnapshot, *corev1.Pod) {
	t.Helper()
	draft, err := podspec.Build(r)
	require.NoError(t, err)
	snapshot, err := podspec.SnapshotAdmission(draft, in)
	require.NoError(t, err)
	r.SnapshotDigest = snapshot.Digest
	job, err := podspec.Build(r)
	require.NoError(t, err)
	job.UID = "job-uid"
	generated := map[string]string{
		"controller-uid": "job-uid", "batch.kubernetes.io/controller-uid": "job-uid", "job-name": job.Name, "batch.kubernetes.io/job-name": job.Name,
	}
	for k, v := range generated {
		job.Spec.Template.Labels[k] = v
	}
	job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": "job-uid"}}

	yes, zero, lower := true, int32(0), corev1.PreemptLowerPriority
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, GenerateName: job.Name + "-", Name: job.Name + "-x7k2p",
			Labels: job.Spec.Template.DeepCopy().Labels, Annotations: job.Spec.Template.DeepCopy().Annotations,
			Finalizers:      []string{"batch.kubernetes.io/job-tracking"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		Spec: *job.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.Priority, pod.Spec.PreemptionPolicy = &zero, &lower
	seconds := int64(300)
	for _, taint := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: taint, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &seconds})
	}
	if op := &pod.Spec.Containers[0]; len(op.Resources.Limits) > 0 && op.Resources.Requests[corev1.ResourceMemory] == (resource.Quantity{}) {
		op.Resources.Requests[corev1.ResourceMemory] = op.Resources.Limits[corev1.ResourceMemory]
	}
	e := r.Envelope
	e.SnapshotDigest = ""
	return job, e, snapshot, pod
}

func TestMatchAcceptsWhatTheClusterMakes(t *testing.T) {
	for _, op := range operations {
		t.Run(string(op), func(t *testing.T) {
			job, e, snapshot, pod := created(t, request(op, withAuth(""), withCA, withDev), inputs())
			require.NoError(t, podspec.MatchJob(job, e, snapshot))
			require.NoError(t, podspec.MatchPod(pod, job, snapshot))
			assert.True(t, podspec.Claims(pod))

			ttl := podspec.CleanupTTLSeconds
			job.Spec.TTLSecondsAfterFinished = &ttl
			require.NoError(t, podspec.MatchJob(job, e, snapshot), "a cleanup TTL is allowed")
			pod.Spec.NodeName = "node-1"
			pod.Annotations["cni.example/ip"] = "10.0.0.1"
			pod.Labels["topology.kubernetes.io/zone"] = "a"
			pod.Finalizers = nil
			pod.Spec.Tolerations[0], pod.Spec.Tolerations[1] = pod.Spec.Tolerations[1], pod.Spec.Tolerations[0]
			require.NoError(t, podspec.MatchPod(pod, job, snapshot), "the node, foreign notes and the order of tolerations are not ours")
		})
	}
}

func TestMatchJobRefuses(t *testing.T) {
	two, no, yes, long := int32(2), false, true, int64(5)
	cases := map[string]func(*batchv1.Job){
		"another name":             func(j *batchv1.Job) { j.Name += "x" },
		"another namespace":        func(j *batchv1.Job) { j.Namespace = "x" },
		"another owner":            func(j *batchv1.Job) { j.OwnerReferences[0].UID = "x" },
		"no controller":            func(j *batchv1.Job) { j.OwnerReferences[0].Controller = &no },
		"a second owner":           func(j *batchv1.Job) { j.OwnerReferences = append(j.OwnerReferences, j.OwnerReferences[0]) },
		"a label less":             func(j *batchv1.Job) { delete(j.Labels, v1alpha1.OperationLabel) },
		"a label of ours more":     func(j *batchv1.Job) { j.Labels["operator.ptah.run/extra"] = "x" },
		"another annotation":       func(j *batchv1.Job) { j.Annotations[v1alpha1.OperationIDAnnotation] = "x" },
		"another epoch":            func(j *batchv1.Job) { j.Annotations[v1alpha1.ExecutionBindingAnnotation] = "v1-b" },
		"no snapshot":              func(j *batchv1.Job) { delete(j.Annotations, v1alpha1.AdmissionSnapshotAnnotation) },
		"another snapshot below":   func(j *batchv1.Job) { j.Spec.Template.Annotations[v1alpha1.AdmissionSnapshotAnnotation] = "x" },
		"two Pods":                 func(j *batchv1.Job) { j.Spec.Parallelism = &two },
		"retries":                  func(j *batchv1.Job) { j.Spec.BackoffLimit = &two },
		"no deadline":              func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = nil },
		"suspended":                func(j *batchv1.Job) { j.Spec.Suspend = &yes },
		"another TTL":              func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = &two },
		"a failure policy":         func(j *batchv1.Job) { j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{} },
		"a foreign Job controller": func(j *batchv1.Job) { s := "x"; j.Spec.ManagedBy = &s },
		"another Job's labels":     func(j *batchv1.Job) { j.Spec.Template.Labels["batch.kubernetes.io/controller-uid"] = "x" },
		"a label below":            func(j *batchv1.Job) { j.Spec.Template.Labels["extra"] = "x" },
		"an image":                 func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Image = "x" },
		"a command":                func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Command = []string{"sh"} },
		"an argument":              func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Args = []string{"-c"} },
		"an order":                 func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Env[0].Value = "{}" },
		"an environment from":      func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{}} },
		"a token":                  func(j *batchv1.Job) { j.Spec.Template.Spec.AutomountServiceAccountToken = &yes },
		"another account":          func(j *batchv1.Job) { j.Spec.Template.Spec.ServiceAccountName = "x" },
		"a sidecar":                func(j *batchv1.Job) { s := &j.Spec.Template.Spec; s.Containers = append(s.Containers, s.Containers[0]) },
		"a deadline on the Pod":    func(j *batchv1.Job) { j.Spec.Template.Spec.ActiveDeadlineSeconds = &long },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			job, e, snapshot, _ := created(t, request(intent.Apply), inputs())
			spoil(job)
			var mismatch *podspec.MismatchError
			require.ErrorAs(t, podspec.MatchJob(job, e, snapshot), &mismatch)
			assert.NotEmpty(t, mismatch.Field)
		})
	}
}

func TestMatchJobReadsDefaultsBack(t *testing.T) {
	job, e, snapshot, _ := created(t, request(intent.Observe, withCA), inputs())
	// What an API server of another version may leave out, because it is the default.
	s := &job.Spec.Template.Spec
	s.Tolerations, s.NodeSelector = []corev1.Toleration{}, map[string]string{}
	s.Containers[0].Resources.Requests[corev1.ResourceCPU] = q("1")
	require.NoError(t, podspec.MatchJob(job, e, snapshot))
}

func TestMatchPodRefuses(t *testing.T) {
	yes, other, seconds := true, int32(7), int64(301)
	cases := map[string]func(*corev1.Pod){
		"metadata.namespace":       func(p *corev1.Pod) { p.Namespace = "x" },
		"metadata.generateName":    func(p *corev1.Pod) { p.GenerateName = "x-" },
		"metadata.name":            func(p *corev1.Pod) { p.Name += "x" },
		"metadata.ownerReferences": func(p *corev1.Pod) { p.OwnerReferences[0].UID = "x" },
		"metadata.labels":          func(p *corev1.Pod) { p.Labels["batch.kubernetes.io/job-name"] = "x" },
		"metadata.annotations":     func(p *corev1.Pod) { delete(p.Annotations, v1alpha1.OperationIDAnnotation) },
		"metadata.finalizers":      func(p *corev1.Pod) { p.Finalizers = append(p.Finalizers, "x/y") },

		"spec.priority":                                     func(p *corev1.Pod) { p.Spec.Priority = &other },
		"spec.tolerations":                                  func(p *corev1.Pod) { p.Spec.Tolerations[0].TolerationSeconds = &seconds },
		"spec.nodeSelector":                                 func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"a": "b"} },
		"spec.serviceAccountName":                           func(p *corev1.Pod) { p.Spec.ServiceAccountName = "x" },
		"spec.automountServiceAccountToken":                 func(p *corev1.Pod) { p.Spec.AutomountServiceAccountToken = &yes },
		"spec.hostNetwork":                                  func(p *corev1.Pod) { p.Spec.HostNetwork = true },
		"spec.securityContext":                              func(p *corev1.Pod) { p.Spec.SecurityContext.RunAsUser = nil },
		"spec.volumes":                                      func(p *corev1.Pod) { p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "token"}) },
		"spec.resources":                                    func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{} },
		"spec.imagePullSecrets":                             func(p *corev1.Pod) { p.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "x"}} },
		"spec.ephemeralContainers":                          func(p *corev1.Pod) { p.Spec.EphemeralContainers = make([]corev1.EphemeralContainer, 1) },
		"spec.containers":                                   func(p *corev1.Pod) { p.Spec.Containers = append(p.Spec.Containers, p.Spec.Containers[0]) },
		"spec.containers[operation].image":                  func(p *corev1.Pod) { p.Spec.Containers[0].Image = "x" },
		"spec.containers[operation].command":                func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"sh"} },
		"spec.containers[operation].args":                   func(p *corev1.Pod) { p.Spec.Containers[0].Args = []string{"x"} },
		"spec.containers[operation].env":                    func(p *corev1.Pod) { p.Spec.Containers[0].Env[0].Value = "{}" },
		"spec.containers[operation].volumeMounts":           func(p *corev1.Pod) { p.Spec.Containers[0].VolumeMounts[0].ReadOnly = false },
		"spec.containers[operation].imagePullPolicy":        func(p *corev1.Pod) { p.Spec.Containers[0].ImagePullPolicy = "Always" },
		"spec.containers[operation].securityContext":        func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.Privileged = &yes },
		"spec.containers[operation].resources":              func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = q("2Gi") },
		"spec.containers[operation].lifecycle":              func(p *corev1.Pod) { p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{} },
		"spec.initContainers[prepare].command":              func(p *corev1.Pod) { p.Spec.InitContainers[0].Command = nil },
		"spec.initContainers":                               func(p *corev1.Pod) { p.Spec.InitContainers = nil },
		"spec.containers[operation].terminationMessagePath": func(p *corev1.Pod) { p.Spec.Containers[0].TerminationMessagePath = "/x" },
	}
	for field, spoil := range cases {
		t.Run(field, func(t *testing.T) {
			job, _, snapshot, pod := created(t, request(intent.Apply), inputs())
			spoil(pod)
			var mismatch *podspec.MismatchError
			require.ErrorAs(t, podspec.MatchPod(pod, job, snapshot), &mismatch)
			assert.Equal(t, field, mismatch.Field)
		})
	}
}

func TestLimitIsCopiedIntoAnAbsentRequestAndNothingElse(t *testing.T) {
	job, _, snapshot, pod := created(t, request(intent.Apply), inputs())
	requests := pod.Spec.Containers[0].Resources.Requests
	delete(requests, corev1.ResourceMemory)
	require.NoError(t, podspec.MatchPod(pod, job, snapshot), "before the API copied it")
	requests[corev1.ResourceMemory] = q("1024Mi")
	require.NoError(t, podspec.MatchPod(pod, job, snapshot), "after the API copied it, in another notation")
	requests[corev1.ResourceMemory] = q("512Mi")
	require.Error(t, podspec.MatchPod(pod, job, snapshot))
}

func TestModelledMutations(t *testing.T) {
	never, lower := corev1.PreemptNever, corev1.PreemptLowerPriority
	type change struct {
		request option
		inputs  func(*podspec.AdmissionInputs)
		pod     func(*corev1.Pod)
	}
	nothing := func(*podspec.AdmissionInputs) {}
	cases := map[string]change{
		"LimitRange": {func(*podspec.Request) {}, func(in *podspec.AdmissionInputs) {
			in.LimitRanges = []corev1.LimitRange{limitRange("lr", corev1.LimitRangeItem{Max: corev1.ResourceList{"cpu": q("4")}, Min: corev1.ResourceList{"ephemeral-storage": q("1Mi")}})}
		}, func(p *corev1.Pod) {
			for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
				for i := range list {
					if list[i].Resources.Limits == nil {
						list[i].Resources.Limits = corev1.ResourceList{}
					}
					list[i].Resources.Limits["cpu"] = q("4")
					list[i].Resources.Requests["ephemeral-storage"] = q("1Mi")
				}
			}
		}},
		"a named PriorityClass": {func(r *podspec.Request) { r.Execution.PriorityClassName = "high" }, func(in *podspec.AdmissionInputs) {
			in.PriorityClass = &schedulingv1.PriorityClass{ObjectMeta: meta("high"), Value: 1000, PreemptionPolicy: &never}
		}, func(p *corev1.Pod) { v := int32(1000); p.Spec.Priority, p.Spec.PreemptionPolicy = &v, &never }},
		"the cluster's default PriorityClass": {func(*podspec.Request) {}, func(in *podspec.AdmissionInputs) {
			in.PriorityClass = podspec.DefaultPriorityClass([]schedulingv1.PriorityClass{
				{ObjectMeta: meta("a"), Value: 1}, {ObjectMeta: meta("b"), Value: 9, GlobalDefault: true}, {ObjectMeta: meta("c"), Value: 5, GlobalDefault: true, PreemptionPolicy: &lower},
			})
		}, func(p *corev1.Pod) { v := int32(5); p.Spec.Priority, p.Spec.PriorityClassName = &v, "c" }},
		"RuntimeClass": {func(r *podspec.Request) {
			r.Execution.RuntimeClassName, r.Execution.NodeSelector = "gvisor", map[string]string{"own": "x"}
		}, func(in *podspec.AdmissionInputs) {
			in.RuntimeClass = &nodev1.RuntimeClass{
				ObjectMeta: meta("gvisor"), Handler: "runsc", Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{"cpu": q("250m")}},
				Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"sandbox": "y"}, Tolerations: []corev1.Toleration{{Key: "sandbox", Operator: "Exists"}}},
			}
		}, func(p *corev1.Pod) {
			p.Spec.Overhead, p.Spec.NodeSelector["sandbox"] = corev1.ResourceList{"cpu": q("0.25")}, "y"
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "sandbox", Operator: "Exists"})
		}},
		"ServiceAccount pull secrets": {func(*podspec.Request) {}, func(in *podspec.AdmissionInputs) {
			in.ServiceAccount.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
		}, func(p *corev1.Pod) { p.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}} }},
		"own pull secrets win": {func(r *podspec.Request) { r.Execution.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "own"}} }, func(in *podspec.AdmissionInputs) {
			in.ServiceAccount.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
		}, func(*corev1.Pod) {}},
		"AlwaysPullImages": {func(*podspec.Request) {}, func(in *podspec.AdmissionInputs) { in.Settings.AlwaysPullImages = true }, func(p *corev1.Pod) {
			p.Spec.InitContainers[0].ImagePullPolicy, p.Spec.Containers[0].ImagePullPolicy = "Always", "Always"
		}},
		"ExtendedResourceToleration": {func(r *podspec.Request) {
			r.Execution.Resources.Limits["vendor.example/gpu"], r.Execution.Resources.Requests["vendor.example/gpu"] = q("1"), q("1")
		}, func(in *podspec.AdmissionInputs) { in.Settings.ExtendedResourceTolerance = true }, func(p *corev1.Pod) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "vendor.example/gpu", Operator: "Exists", Effect: "NoSchedule"})
		}},
		"DefaultTolerationSeconds of zero": {
			func(*podspec.Request) {}, func(in *podspec.AdmissionInputs) { in.Settings.NotReadySeconds, in.Settings.UnreachableSeconds = 0, 0 },
			func(p *corev1.Pod) {
				zero := int64(0)
				p.Spec.Tolerations[0].TolerationSeconds, p.Spec.Tolerations[1].TolerationSeconds = &zero, &zero
			},
		},
		"DefaultTolerationSeconds off": {
			func(*podspec.Request) {}, func(in *podspec.AdmissionInputs) { in.Settings.DefaultTolerations = false },
			func(p *corev1.Pod) { p.Spec.Tolerations = nil },
		},
		"a toleration of everything": {
			func(r *podspec.Request) { r.Execution.Tolerations = []corev1.Toleration{{Operator: "Exists"}} }, nothing,
			func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: "Exists"}} },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			c.inputs(&in)
			job, e, snapshot, pod := created(t, request(intent.Apply, c.request), in)
			require.NoError(t, podspec.MatchJob(job, e, snapshot))
			plain := pod.DeepCopy()
			c.pod(pod)
			require.NoError(t, podspec.MatchPod(pod, job, snapshot))
			if name != "own pull secrets win" && name != "a toleration of everything" {
				require.Error(t, podspec.MatchPod(plain, job, snapshot), "a Pod that was not mutated as foretold is refused")
			}
			unforeseen, err := podspec.Build(request(intent.Apply, c.request))
			require.NoError(t, err)
			_, err = podspec.SnapshotAdmission(unforeseen, in)
			require.NoError(t, err)
		})
	}
}

func TestSnapshotRefuses(t *testing.T) {
	many := corev1.ResourceList{}
	for i := range 33 {
		many[corev1.ResourceName(fmt.Sprintf("vendor.example/r%d", i))] = q("1")
	}
	cases := map[string]struct {
		request option
		inputs  func(*podspec.AdmissionInputs)
		want    string
	}{
		"no ServiceAccount":      {func(*podspec.Request) {}, func(in *podspec.AdmissionInputs) { in.ServiceAccount = nil }, "ServiceAccount default does not exist"},
		"another ServiceAccount": {func(r *podspec.Request) { r.Execution.ServiceAccountName = "db" }, func(*podspec.AdmissionInputs) {}, "ServiceAccount db does not exist"},
		"no PriorityClass":       {func(r *podspec.Request) { r.Execution.PriorityClassName = "high" }, func(*podspec.AdmissionInputs) {}, "PriorityClass high does not exist"},
		"no RuntimeClass":        {func(r *podspec.Request) { r.Execution.RuntimeClassName = "kata" }, func(*podspec.AdmissionInputs) {}, "RuntimeClass kata does not exist"},
		"a node label against the RuntimeClass": {
			func(r *podspec.Request) {
				r.Execution.RuntimeClassName, r.Execution.NodeSelector = "kata", map[string]string{"a": "1"}
			},
			func(in *podspec.AdmissionInputs) {
				in.RuntimeClass = &nodev1.RuntimeClass{ObjectMeta: meta("kata"), Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"a": "2"}}}
			}, "wants node label",
		},
		"LimitRanges that disagree": {func(*podspec.Request) {}, func(in *podspec.AdmissionInputs) {
			in.LimitRanges = []corev1.LimitRange{
				limitRange("a", corev1.LimitRangeItem{Default: corev1.ResourceList{"cpu": q("1")}}), limitRange("b", corev1.LimitRangeItem{Max: corev1.ResourceList{"cpu": q("2")}}),
			}
		}, "LimitRanges a and b offer different values for limits.cpu"},
		"too many defaults": {func(*podspec.Request) {}, func(in *podspec.AdmissionInputs) {
			in.LimitRanges = []corev1.LimitRange{limitRange("a", corev1.LimitRangeItem{Max: many})}
		}, "66 defaults"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			draft, err := podspec.Build(request(intent.Apply, c.request))
			require.NoError(t, err)
			in := inputs()
			c.inputs(&in)
			_, err = podspec.SnapshotAdmission(draft, in)
			require.ErrorContains(t, err, c.want)
		})
	}
	draft, err := podspec.Build(request(intent.Apply))
	require.NoError(t, err)
	draft.Spec.Template.Spec.Resources = &corev1.ResourceRequirements{}
	_, err = podspec.SnapshotAdmission(draft, inputs())
	require.ErrorContains(t, err, "resources on the Pod itself")
}

func TestLimitRangesThatDisagreeOnWhatIsSetAnyway(t *testing.T) {
	in := inputs()
	in.LimitRanges = []corev1.LimitRange{
		limitRange("a", corev1.LimitRangeItem{DefaultRequest: corev1.ResourceList{"memory": q("1Mi")}}),
		limitRange("b", corev1.LimitRangeItem{DefaultRequest: corev1.ResourceList{"memory": q("2Mi")}}),
		limitRange("c", corev1.LimitRangeItem{Default: corev1.ResourceList{"cpu": q("1000m")}}),
		limitRange("d", corev1.LimitRangeItem{Default: corev1.ResourceList{"cpu": q("1")}}),
		{ObjectMeta: meta("pods-only"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypePod, Max: corev1.ResourceList{"cpu": q("9")}}}}},
	}
	draft, err := podspec.Build(request(intent.Apply))
	require.NoError(t, err)
	s, err := podspec.SnapshotAdmission(draft, in)
	require.NoError(t, err, "every container requests memory, and equal values agree")
	assert.Len(t, s.LimitRanges, 4)
}

func TestSnapshotDigestCoversEverything(t *testing.T) {
	draft, err := podspec.Build(request(intent.Apply))
	require.NoError(t, err)
	base, err := podspec.SnapshotAdmission(draft, inputs())
	require.NoError(t, err)
	require.True(t, digest.Valid(base.Digest))
	for name, change := range map[string]func(*v1alpha1.AdmissionSnapshot){
		"template": func(s *v1alpha1.AdmissionSnapshot) { s.TemplateDigest = "x" },
		"account":  func(s *v1alpha1.AdmissionSnapshot) { s.ServiceAccount.Object.ResourceVersion = "8" },
		"pull":     func(s *v1alpha1.AdmissionSnapshot) { s.AlwaysPullImagesEnabled = true },
		"seconds":  func(s *v1alpha1.AdmissionSnapshot) { s.DefaultNotReadyTolerationSeconds++ },
		"priority": func(s *v1alpha1.AdmissionSnapshot) { s.PriorityClass.Value++ },
		"limits":   func(s *v1alpha1.AdmissionSnapshot) { s.LimitRanges = []v1alpha1.LimitRangeSnapshot{{}} },
		"runtime":  func(s *v1alpha1.AdmissionSnapshot) { s.RuntimeClass = &v1alpha1.RuntimeClassSnapshot{} },
	} {
		changed := *base.DeepCopy()
		change(&changed)
		d, err := podspec.SnapshotDigest(changed)
		require.NoError(t, err)
		assert.NotEqual(t, base.Digest, d, name)
	}
	again, err := podspec.SnapshotDigest(base)
	require.NoError(t, err)
	assert.Equal(t, base.Digest, again)
}

func TestClaims(t *testing.T) {
	_, _, _, pod := created(t, request(intent.Apply), inputs())
	clone := pod.DeepCopy()
	clone.Labels = nil
	assert.True(t, podspec.Claims(clone), "a clone without labels is still controlled by a reserved Job")
	clone.OwnerReferences = nil
	assert.False(t, podspec.Claims(clone))
	orphan := pod.DeepCopy()
	orphan.OwnerReferences = nil
	assert.True(t, podspec.Claims(orphan))
	delete(orphan.Labels, v1alpha1.OperationLabel)
	assert.False(t, podspec.Claims(orphan), "a part of the identity is not the identity")
	manager := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue, v1alpha1.ComponentLabel: v1alpha1.ComponentController, v1alpha1.OperationLabel: "x"}}}
	assert.False(t, podspec.Claims(manager))
}

func TestUpdatesThatChangeNothingOfOurs(t *testing.T) {
	_, _, _, old := created(t, request(intent.Apply), inputs())
	old.ResourceVersion = "1"
	updated := func(change func(*corev1.Pod)) *corev1.Pod {
		p := old.DeepCopy()
		p.ResourceVersion = "2"
		change(p)
		return p
	}
	tracking := "batch.kubernetes.io/job-tracking"
	assert.True(t, podspec.OnlyRemoved(old, updated(func(p *corev1.Pod) { p.Finalizers = nil }), tracking))
	assert.False(t, podspec.OnlyRemoved(old, updated(func(*corev1.Pod) {}), tracking))
	assert.False(t, podspec.OnlyRemoved(old, updated(func(p *corev1.Pod) { p.Finalizers, p.Labels["x"] = nil, "y" }), tracking))
	assert.False(t, podspec.OnlyRemoved(old, updated(func(p *corev1.Pod) { p.Finalizers, p.Spec.Containers[0].Image = nil, "y" }), tracking))
	assert.False(t, podspec.OnlyRemoved(old, updated(func(p *corev1.Pod) { p.Finalizers = []string{"x/y"} }), tracking))

	assert.True(t, podspec.OnlyForeignMetadataChanged(old, updated(func(p *corev1.Pod) { p.Annotations["cni.example/ip"] = "1"; p.Labels["x"] = "y" })))
	for name, change := range map[string]func(*corev1.Pod){
		"an image":          func(p *corev1.Pod) { p.Spec.Containers[0].Image = "x" },
		"an annotation":     func(p *corev1.Pod) { p.Annotations[v1alpha1.OperationIDAnnotation] = "x" },
		"an eviction mark":  func(p *corev1.Pod) { delete(p.Annotations, v1alpha1.SafeToEvictAnnotation) },
		"a label":           func(p *corev1.Pod) { delete(p.Labels, v1alpha1.ManagedByLabel) },
		"a generated label": func(p *corev1.Pod) { delete(p.Labels, "batch.kubernetes.io/job-name") },
		"an owner":          func(p *corev1.Pod) { p.OwnerReferences = nil },
		"a finalizer":       func(p *corev1.Pod) { p.Finalizers = nil },
		"a toleration added": func(p *corev1.Pod) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Operator: "Exists"})
		},
	} {
		assert.False(t, podspec.OnlyForeignMetadataChanged(old, updated(change)), name)
	}
}

package webhook_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/podspec"
)

var defaults = podspec.AdmissionSettings{DefaultTolerations: true, NotReadySeconds: 300, UnreachableSeconds: 300}

// claim is a dispatched operation: its schema with the claim in its status, its Job as the API server stored it.
type claim struct {
	schema   *v1alpha1.PtahSchema
	op       v1alpha1.SchemaOperation
	envelope podspec.Envelope
	job      *batchv1.Job
}

// dispatch walks the durable order of one operation against the real API server: draft, snapshot, claim, create.
func (c *cluster) dispatch(s *v1alpha1.PtahSchema, op intent.Operation, settings podspec.AdmissionSettings) claim {
	c.t.Helper()
	r := podspec.Request{
		Envelope: podspec.Envelope{
			Family: podspec.Schema, Namespace: s.Namespace, Name: s.Name, ResourceUID: s.UID, Operation: op,
			OperationID: digest.Bytes([]byte(s.Name + string(op))), Attempt: 1, InputFingerprint: digest.Bytes([]byte("in")), Epoch: "v1-a", Identity: identity,
		},
		Source: &podspec.Source{
			Requested: s.Spec.Desired.OCIRef, Resolved: "oci://registry.example/shop@" + digest.Bytes([]byte("a")),
			Auth:      &v1alpha1.RegistryAuth{Name: "registry", Mode: v1alpha1.RegistryAuthDockerConfigJSON},
			Transport: &v1alpha1.Transport{CAFrom: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "ca"}, Key: "ca"}},
		},
		Execution: s.Spec.Execution,
	}
	if op == intent.Observe || op == intent.Plan {
		r.Database = &podspec.Database{Engine: "postgres", CoordinationDigest: digest.Bytes([]byte("realm")), URLFrom: *secretKey("db")}
	}
	if op == intent.Verify {
		r.Policy = &podspec.Policy{From: s.Spec.Desired.VerificationPolicyFrom, Digest: digest.Bytes([]byte("p"))}
	}
	draft, err := podspec.Build(r)
	require.NoError(c.t, err)
	snapshot, err := podspec.SnapshotAdmission(draft, c.inputs(draft.Spec.Template.Spec, settings))
	require.NoError(c.t, err)
	r.SnapshotDigest = snapshot.Digest
	job, err := podspec.Build(r)
	require.NoError(c.t, err)
	claimed := v1alpha1.SchemaOperation{
		Type: v1alpha1.SchemaOperationType(op), ID: r.OperationID, Attempt: 1, InputFingerprint: r.InputFingerprint, JobName: job.Name,
		StartedAt: metav1.Now(), DispatchStarted: true, ExecutionBindingID: "v1-a", AdmissionSnapshot: &snapshot,
	}
	c.setStatus(s, func(st *v1alpha1.PtahSchemaStatus) {
		st.ExecutionBinding = &v1alpha1.ExecutionBinding{Epoch: "v1-a", ExecutionIdentity: identity}
		st.ActiveOperation = &claimed
	})
	c.create(job)
	require.NoError(c.t, c.admin.Get(c.t.Context(), client.ObjectKeyFromObject(job), job))
	return claim{s, *s.Status.ActiveOperation, podspec.ForSchema(s, s.Status.ActiveOperation, identity), job}
}

func (c *cluster) inputs(spec corev1.PodSpec, settings podspec.AdmissionSettings) podspec.AdmissionInputs {
	ctx := c.t.Context()
	in := podspec.AdmissionInputs{Settings: settings, ServiceAccount: &corev1.ServiceAccount{}}
	require.NoError(c.t, c.admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: spec.ServiceAccountName}, in.ServiceAccount))
	var ranges corev1.LimitRangeList
	require.NoError(c.t, c.admin.List(ctx, &ranges, client.InNamespace(namespace)))
	in.LimitRanges = ranges.Items
	var classes schedulingv1.PriorityClassList
	require.NoError(c.t, c.admin.List(ctx, &classes))
	in.PriorityClass = podspec.DefaultPriorityClass(classes.Items)
	if spec.PriorityClassName != "" {
		in.PriorityClass = &schedulingv1.PriorityClass{}
		require.NoError(c.t, c.admin.Get(ctx, client.ObjectKey{Name: spec.PriorityClassName}, in.PriorityClass))
	}
	if spec.RuntimeClassName != nil {
		in.RuntimeClass = &nodev1.RuntimeClass{}
		require.NoError(c.t, c.admin.Get(ctx, client.ObjectKey{Name: *spec.RuntimeClassName}, in.RuntimeClass))
	}
	return in
}

// podOf is the Pod that the Job controller makes of a Job.
func podOf(job *batchv1.Job) *corev1.Pod {
	t := job.Spec.Template.DeepCopy()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, GenerateName: job.Name + "-", Labels: t.Labels, Annotations: t.Annotations, Finalizers: []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: t.Spec,
	}
}

// TestOnARealAPIServer is the admission of approvals and of operation Pods behind the chart's own configurations.
func TestOnARealAPIServer(t *testing.T) {
	c := newCluster(t, nil)
	t.Run("approvals", func(t *testing.T) { testApprovals(c.with(t)) })
	t.Run("operation Pods", func(t *testing.T) { testOperationPods(c.with(t)) })
}

func testOperationPods(c *cluster) {
	t := c.t
	c.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}}})
	plain := c.schema("plain", nil)

	for _, op := range []intent.Operation{intent.Resolve, intent.Verify, intent.Observe, intent.Plan} {
		t.Run(string(op)+" as the API server defaults it", func(t *testing.T) {
			d := c.dispatch(plain, op, defaults)
			require.NoError(t, podspec.MatchJob(d.job, d.envelope, *d.op.AdmissionSnapshot))
			pod := podOf(d.job)
			require.NoError(t, c.jobController().Create(t.Context(), pod))
			require.NoError(t, c.admin.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
			require.NoError(t, podspec.MatchPod(pod, d.job, *d.op.AdmissionSnapshot))
			assert.Equal(t, []corev1.LocalObjectReference{{Name: "pull"}}, pod.Spec.ImagePullSecrets)
		})
	}
	t.Run("created by others or otherwise", func(t *testing.T) {
		c.with(t).refusedCreates(c.with(t).dispatch(c.schema("creates", nil), intent.Observe, defaults))
	})
	t.Run("changed afterwards", func(t *testing.T) {
		c.with(t).refusedUpdates(c.with(t).dispatch(c.schema("updates", nil), intent.Observe, defaults))
	})
	t.Run("bound to the claim", func(t *testing.T) { c.with(t).boundToTheClaim() })
	t.Run("every modelled mutation", func(t *testing.T) { c.with(t).everyMutation() })
}

func (c *cluster) refused(err error, why string) {
	c.t.Helper()
	require.True(c.t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(c.t, err, why)
}

func (c *cluster) refusedCreates(d claim) {
	ctx := c.t.Context()
	clone := podOf(d.job)
	c.refused(c.admin.Create(ctx, clone), "only the Job controller")
	clone.Labels = map[string]string{"app": "innocent"}
	c.refused(c.admin.Create(ctx, clone), "only the Job controller")
	require.NoError(c.t, c.admin.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "unrelated"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}), "other Pods are not our business")

	for why, change := range map[string]func(*corev1.Pod){
		"spec.containers[operation].command": func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"sh", "-c", "id"} },
		"spec.containers[operation].image":   func(p *corev1.Pod) { p.Spec.Containers[0].Image = "evil" },
		"spec.initContainers[fetch].env":     func(p *corev1.Pod) { p.Spec.InitContainers[1].Env = nil },
		"spec.volumes":                       func(p *corev1.Pod) { p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "host"}) },
		"volumeMounts differs":               func(p *corev1.Pod) { p.Spec.AutomountServiceAccountToken = nil }, // admission then projects a token
		"spec.tolerations":                   func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: "Exists"}} },
		"spec.nodeSelector":                  func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"a": "b"} },
		"spec.containers": func(p *corev1.Pod) {
			x := *p.Spec.Containers[0].DeepCopy()
			x.Name = "x"
			p.Spec.Containers = append(p.Spec.Containers, x)
		},
		"metadata.annotations":            func(p *corev1.Pod) { p.Annotations[v1alpha1.OperationIDAnnotation] = "other" },
		"metadata.labels":                 func(p *corev1.Pod) { p.Labels[v1alpha1.OperationLabel] = "apply" },
		"metadata.generateName":           func(p *corev1.Pod) { p.GenerateName = d.job.Name[:20] + "-" },
		"metadata.name was not generated": func(p *corev1.Pod) { p.Name = d.job.Name + "-mine" },
		"exactly one owner": func(p *corev1.Pod) {
			p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"})
		},
		"does not exist": func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another" },
		"spec.containers[operation].resources": func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("9")}
		},
	} {
		pod := podOf(d.job)
		change(pod)
		c.refused(c.jobController().Create(ctx, pod), why)
	}
	require.NoError(c.t, c.jobController().Create(ctx, podOf(d.job)))
}

func (c *cluster) refusedUpdates(d claim) {
	ctx, t := c.t.Context(), c.t
	pod := podOf(d.job)
	require.NoError(t, c.jobController().Create(ctx, pod))
	update := func(who client.Client, change func(*corev1.Pod)) error {
		require.NoError(t, c.admin.Get(ctx, client.ObjectKeyFromObject(pod), pod))
		next := pod.DeepCopy()
		change(next)
		return who.Patch(ctx, next, client.MergeFrom(pod.DeepCopy()))
	}
	c.refused(update(c.admin, func(p *corev1.Pod) { p.Spec.Containers[0].Image = "evil" }), "never changed")
	c.refused(update(c.admin, func(p *corev1.Pod) { delete(p.Labels, v1alpha1.ManagedByLabel); p.OwnerReferences = nil }), "never changed")
	c.refused(update(c.admin, func(p *corev1.Pod) { p.Finalizers = nil }), "never changed")
	c.refused(update(c.admin, func(p *corev1.Pod) { s := int64(5); p.Spec.ActiveDeadlineSeconds = &s }), "never changed")
	require.NoError(t, update(c.admin, func(p *corev1.Pod) { p.Annotations["cni.example/ip"] = "10.0.0.1" }), "a network plugin's note")

	require.NoError(t, c.admin.Get(ctx, client.ObjectKeyFromObject(pod), pod))
	next := pod.DeepCopy()
	next.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "i", TerminationMessagePolicy: "File"}}}
	c.refused(c.admin.SubResource("ephemeralcontainers").Update(ctx, next), "takes no ephemeralcontainers")
	next = pod.DeepCopy()
	next.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("2")}
	c.refused(c.admin.SubResource("resize").Update(ctx, next), "takes no resize")

	adopted := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "adopted"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	c.create(adopted)
	adopted.Labels = podOf(d.job).Labels
	c.refused(c.admin.Update(ctx, adopted), "never changed")

	c.setStatus(d.schema, func(s *v1alpha1.PtahSchemaStatus) { s.ActiveOperation = nil })
	c.refused(update(c.jobController(), func(p *corev1.Pod) { p.Finalizers = nil; p.Labels["x"] = "y" }), "never changed")
	require.NoError(t, update(c.jobController(), func(p *corev1.Pod) { p.Finalizers = nil }), "also after the claim is over")
}

func (c *cluster) boundToTheClaim() {
	ctx, t := c.t.Context(), c.t
	for why, spoil := range map[string]func(*v1alpha1.PtahSchemaStatus){
		"has no claim for it":          func(s *v1alpha1.PtahSchemaStatus) { s.ActiveOperation = nil },
		"was not dispatched":           func(s *v1alpha1.PtahSchemaStatus) { s.ActiveOperation.AdmissionSnapshot = nil },
		"another job of that name":     func(s *v1alpha1.PtahSchemaStatus) { s.ActiveOperation.JobUID = "another" },
		"metadata.annotations differs": func(s *v1alpha1.PtahSchemaStatus) { s.ActiveOperation.AdmissionSnapshot.Digest = "another" },
		"spec.template differs":        func(s *v1alpha1.PtahSchemaStatus) { s.ActiveOperation.AdmissionSnapshot.TemplateDigest = "another" },
		"retired execution binding":    func(s *v1alpha1.PtahSchemaStatus) { s.ExecutionBinding.Epoch = "v1-b" },
		"is not ptah-observe-claim-":   func(s *v1alpha1.PtahSchemaStatus) { s.ActiveOperation.Attempt++ },
		"metadata.annotations differs ": func(s *v1alpha1.PtahSchemaStatus) {
			s.ExecutionBinding.ExecutorImage = "x"
			s.ExecutionBinding.ControllerRevision = "x"
		},
		"spec.tolerations differs": func(s *v1alpha1.PtahSchemaStatus) {
			s.ActiveOperation.AdmissionSnapshot.DefaultNotReadyTolerationSeconds = 5
		},
		"spec.imagePullSecrets differs": func(s *v1alpha1.PtahSchemaStatus) {
			s.ActiveOperation.AdmissionSnapshot.ServiceAccount.ImagePullSecrets = nil
		},
		"spec.priority differs":   func(s *v1alpha1.PtahSchemaStatus) { s.ActiveOperation.AdmissionSnapshot.PriorityClass.Value = 5 },
		"imagePullPolicy differs": func(s *v1alpha1.PtahSchemaStatus) { s.ActiveOperation.AdmissionSnapshot.AlwaysPullImagesEnabled = true },
	} {
		s := c.schema("claim-"+digest.Hex(digest.Bytes([]byte(why)))[:8], nil)
		d := c.dispatch(s, intent.Observe, defaults)
		c.setStatus(s, spoil)
		c.refused(c.jobController().Create(ctx, podOf(d.job)), strings.TrimSpace(why))
	}

	foreign := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ptah-apply-innocent"},
		Spec:       batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: "Never", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}},
	}
	c.create(foreign)
	c.refused(c.jobController().Create(ctx, podOf(foreign)), "belongs to no Ptah resource")
	foreign = foreign.DeepCopy()
	foreign.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "innocent"}
	foreign.Spec.Selector, foreign.Spec.Template.Labels = nil, nil
	c.create(foreign)
	require.NoError(t, c.jobController().Create(ctx, podOf(foreign)), "unrelated Jobs are not our business")
}

// everyMutation lets real admission do everything that is modelled, all at once, and then changes what it rests on.
func (c *cluster) everyMutation() {
	ctx, t := c.t.Context(), c.t
	q, never := resource.MustParse, corev1.PreemptNever
	ranges := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limits"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"cpu": q("4")}, Min: corev1.ResourceList{"ephemeral-storage": q("1Mi")},
		Default: corev1.ResourceList{"memory": q("512Mi")}, DefaultRequest: corev1.ResourceList{"memory": q("64Mi")},
	}}}}
	c.create(
		ranges,
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "database"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull-a"}, {Name: "pull-b"}}},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000, PreemptionPolicy: &never},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 10, GlobalDefault: true},
		&nodev1.RuntimeClass{
			ObjectMeta: metav1.ObjectMeta{Name: "sandbox"}, Handler: "runsc", Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{"cpu": q("250m")}},
			Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"sandbox": "yes"}, Tolerations: []corev1.Toleration{{Key: "sandbox", Operator: "Exists", Effect: "NoSchedule"}}},
		},
	)
	s := c.schema("mutated", func(s *v1alpha1.PtahSchema) {
		s.Spec.Execution = v1alpha1.Execution{
			ServiceAccountName: "database", PriorityClassName: "high", RuntimeClassName: "sandbox", NodeSelector: map[string]string{"own": "x"},
			Tolerations: []corev1.Toleration{{Key: "own", Operator: "Equal", Value: "x", Effect: "NoSchedule"}},
			Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: "Exists"}}}},
			}}},
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": q("1024Mi")}, Requests: corev1.ResourceList{"cpu": q("1500m")}},
		}
	})
	d := c.dispatch(s, intent.Plan, defaults)
	require.NoError(t, podspec.MatchJob(d.job, d.envelope, *d.op.AdmissionSnapshot))
	pod := &corev1.Pod{}
	c.eventually("the Pod that admission mutated", func() error {
		pod = podOf(d.job)
		return c.jobController().Create(ctx, pod)
	})
	require.NoError(t, c.admin.Get(ctx, client.ObjectKeyFromObject(pod), pod))
	require.NoError(t, podspec.MatchPod(pod, d.job, *d.op.AdmissionSnapshot))
	assert.EqualValues(t, 1000, *pod.Spec.Priority)
	assert.Equal(t, "yes", pod.Spec.NodeSelector["sandbox"])
	assert.Len(t, pod.Spec.Tolerations, 4)
	cpu := pod.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU]
	assert.Equal(t, "4", cpu.String(), "from the LimitRange's max")

	usual := c.schema("usual", nil)
	d2 := c.dispatch(usual, intent.Resolve, defaults)
	assert.Equal(t, "usual", d2.op.AdmissionSnapshot.PriorityClass.Name)
	c.eventually("a Pod with the cluster's default class", func() error { return c.jobController().Create(ctx, podOf(d2.job)) })

	ranges.Spec.Limits[0].Max["cpu"] = q("3")
	ranges.Spec.Limits[0].Default, ranges.Spec.Limits[0].DefaultRequest = nil, nil
	require.NoError(t, c.admin.Update(ctx, ranges))
	c.eventually("refusal after the LimitRange changed", func() error {
		if err := c.jobController().Create(ctx, podOf(d.job)); apierrors.IsForbidden(err) && strings.Contains(err.Error(), "resources differs") {
			return nil
		}
		return assert.AnError
	})
}

func TestOtherAdmissionPlugins(t *testing.T) {
	c := newCluster(t, map[string]string{
		"enable-admission-plugins":               "AlwaysPullImages,ExtendedResourceToleration",
		"default-not-ready-toleration-seconds":   "0",
		"default-unreachable-toleration-seconds": "60",
	})
	c.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}})
	s := c.schema("other", func(s *v1alpha1.PtahSchema) {
		gpu := corev1.ResourceList{"vendor.example/gpu": resource.MustParse("1")}
		s.Spec.Execution.Resources = corev1.ResourceRequirements{Limits: gpu, Requests: gpu}
	})
	right := podspec.AdmissionSettings{DefaultTolerations: true, NotReadySeconds: 0, UnreachableSeconds: 60, ExtendedResourceTolerance: true, AlwaysPullImages: true}
	d := c.dispatch(s, intent.Observe, right)
	pod := podOf(d.job)
	require.NoError(t, c.jobController().Create(t.Context(), pod))
	assert.Equal(t, corev1.PullAlways, pod.Spec.Containers[0].ImagePullPolicy)

	wrong := c.dispatch(c.schema("wrong", nil), intent.Observe, defaults)
	c.refused(c.jobController().Create(t.Context(), podOf(wrong.job)), "differs")
}

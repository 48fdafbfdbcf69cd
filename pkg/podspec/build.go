package podspec

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/intent"
)

// nobody is the user that operation Pods run as; no image names one.
const nobody int64 = 65532

// maxIntent keeps a variable below the 128 KiB that Linux allows one to have.
const maxIntent = 120 << 10

// Build makes the Job of one operation, with every field that the API would default already at its default. Same request, same Job. While
// Envelope.SnapshotDigest is empty the Job is a draft to take the admission snapshot from, and not to be created.
func Build(r Request) (*batchv1.Job, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	name, err := r.JobName()
	if err != nil {
		return nil, err
	}
	order, err := intent.Encode(r.Intent())
	if err != nil {
		return nil, fmt.Errorf("building %s job for %s/%s: %w", r.Operation, r.Namespace, r.Name, err)
	}
	if len(order) > maxIntent {
		return nil, fmt.Errorf("building %s job for %s/%s: the order takes %d bytes, at most %d fit a variable: shorten exclude or protectedTables",
			r.Operation, r.Namespace, r.Name, len(order), maxIntent)
	}
	job := &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace, Name: name, Labels: r.Labels(), Annotations: r.Annotations(), OwnerReferences: []metav1.OwnerReference{r.Owner()},
		},
		Spec: batchv1.JobSpec{
			Parallelism: ptr(int32(1)), Completions: ptr(int32(1)), BackoffLimit: ptr(int32(0)), ActiveDeadlineSeconds: ptr(r.Execution.ActiveDeadlineSeconds),
			CompletionMode: ptr(batchv1.NonIndexedCompletion), Suspend: ptr(false), ManualSelector: ptr(false), PodReplacementPolicy: ptr(batchv1.Failed),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: r.Labels(), Annotations: r.Annotations()},
				Spec:       r.podSpec(order),
			},
		},
	}
	return job, nil
}

func (r Request) podSpec(order string) corev1.PodSpec {
	x := r.Execution
	serviceAccount := x.ServiceAccountName
	if serviceAccount == "" {
		serviceAccount = "default"
	}
	spec := corev1.PodSpec{
		InitContainers: r.initContainers(order),
		Containers:     []corev1.Container{r.operation(order)},
		Volumes:        r.volumes(),
		RestartPolicy:  corev1.RestartPolicyNever, DNSPolicy: corev1.DNSClusterFirst, SchedulerName: corev1.DefaultSchedulerName,
		TerminationGracePeriodSeconds: ptr(int64(TerminationGrace.Seconds())),
		ServiceAccountName:            serviceAccount, DeprecatedServiceAccount: serviceAccount,
		AutomountServiceAccountToken: ptr(false), EnableServiceLinks: ptr(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr(true), RunAsUser: ptr(nobody), RunAsGroup: ptr(nobody), FSGroup: ptr(nobody),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		ImagePullSecrets: x.ImagePullSecrets, NodeSelector: x.NodeSelector, Tolerations: x.Tolerations, Affinity: x.Affinity,
		PriorityClassName: x.PriorityClassName,
	}
	if x.RuntimeClassName != "" {
		spec.RuntimeClassName = ptr(x.RuntimeClassName)
	}
	return *spec.DeepCopy() // shares nothing with the request
}

func (r Request) initContainers(order string) []corev1.Container {
	if !r.opensDatabase() {
		return nil
	}
	containers := []corev1.Container{r.prepare(order)}
	if r.fetches() {
		containers = append(containers, r.fetch(order))
	}
	return containers
}

// prepare installs the runner; where an artifact follows it also checks the registry's grants and snapshots the CA. It holds no credential:
// of the registry's Secret it sees the grant keys alone.
func (r Request) prepare(order string) corev1.Container {
	c := container(v1alpha1.PrepareContainer, r.Identity.RunnerImage, order, v1alpha1.RunnerImageBinary, "runner", "prepare")
	c.Resources = resources("10m", "32Mi", "256Mi")
	c.VolumeMounts = []corev1.VolumeMount{{Name: v1alpha1.RunnerVolume, MountPath: v1alpha1.RunnerMountPath}}
	if r.fetches() {
		c.Env = append(c.Env, r.Source.grants()...)
		c.VolumeMounts = append(c.VolumeMounts, r.Source.caSnapshot()...)
	}
	return c
}

// fetch is the only container with registry credentials where a database credential follows.
func (r Request) fetch(order string) corev1.Container {
	c := container(v1alpha1.FetchContainer, r.Identity.RunnerImage, order, v1alpha1.RunnerImageBinary, "runner", "fetch")
	c.Resources = resources("50m", "64Mi", "384Mi")
	c.Env = append(c.Env, r.Source.credentials()...)
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: v1alpha1.WorkVolume, MountPath: v1alpha1.WorkMountPath})
	c.VolumeMounts = append(c.VolumeMounts, r.Source.dockerConfig()...)
	if r.Source.customCA() {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: v1alpha1.CAVolume, MountPath: v1alpha1.CAMountPath, ReadOnly: true})
	}
	return c
}

// operation is the main container: the registry's, for Resolve and Verify, or the database's, never both.
func (r Request) operation(order string) corev1.Container {
	if !r.opensDatabase() {
		return r.registryOperation(order)
	}
	c := container(v1alpha1.OperationContainer, r.Identity.ExecutorImage, order, v1alpha1.RunnerBinary, "runner", "run")
	c.Resources = *r.Execution.Resources.DeepCopy()
	c.Env = append(c.Env, secretEnv(v1alpha1.DatabaseURLEnv, r.Database.URLFrom.Name, r.Database.URLFrom.Key))
	if dev := r.Database.DevURLFrom; dev != nil {
		c.Env = append(c.Env, secretEnv(v1alpha1.DevDatabaseURLEnv, dev.Name, dev.Key))
	}
	c.VolumeMounts = []corev1.VolumeMount{
		{Name: v1alpha1.RunnerVolume, MountPath: v1alpha1.RunnerMountPath, ReadOnly: true},
		{Name: v1alpha1.ScratchVolume, MountPath: v1alpha1.ScratchMountPath},
	}
	if r.fetches() {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: v1alpha1.WorkVolume, MountPath: v1alpha1.WorkMountPath, ReadOnly: true})
	}
	if r.Plan != nil {
		for _, ref := range r.Plan.Chunks {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{
				Name: chunkVolume(ref.Index), MountPath: fmt.Sprintf("%s/%03d", v1alpha1.PlanMountPath, ref.Index), ReadOnly: true,
			})
		}
	}
	return c
}

func (r Request) registryOperation(order string) corev1.Container {
	c := container(v1alpha1.OperationContainer, r.Identity.RunnerImage, order, v1alpha1.RunnerImageBinary, "runner", "run")
	c.Resources = resources("20m", "32Mi", "256Mi")
	c.Env = append(c.Env, r.Source.grants()...)
	c.Env = append(c.Env, r.Source.credentials()...)
	c.VolumeMounts = []corev1.VolumeMount{{Name: v1alpha1.ScratchVolume, MountPath: v1alpha1.ScratchMountPath}}
	c.VolumeMounts = append(c.VolumeMounts, r.Source.caSnapshot()...)
	c.VolumeMounts = append(c.VolumeMounts, r.Source.dockerConfig()...)
	if r.Policy != nil {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: v1alpha1.PolicyVolume, MountPath: v1alpha1.PolicyMountPath, ReadOnly: true})
	}
	return c
}

// container is a hardened container with a fixed command; no author supplies one.
func container(name, image, order string, command ...string) corev1.Container {
	return corev1.Container{
		Name: name, Image: image, Command: command, ImagePullPolicy: corev1.PullIfNotPresent,
		Env:                    []corev1.EnvVar{{Name: v1alpha1.IntentEnv, Value: order}},
		TerminationMessagePath: corev1.TerminationMessagePathDefault, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		SecurityContext: &corev1.SecurityContext{
			Privileged: ptr(false), AllowPrivilegeEscalation: ptr(false), ReadOnlyRootFilesystem: ptr(true), RunAsNonRoot: ptr(true),
			Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
}

// secretEnv takes one key of a Secret. It is optional for the kubelet, because a Pod that cannot start says nothing until its deadline, while
// a runner that misses a variable answers at once and by name.
func secretEnv(variable, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: variable, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key, Optional: ptr(true),
	}}}
}

func resources(cpu, memory, memoryLimit string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memoryLimit)},
	}
}

func ptr[T any](v T) *T { return &v }

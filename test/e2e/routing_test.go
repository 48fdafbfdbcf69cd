package e2e

import (
	"context"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// routing is table A3: which credential may stand in which container of which operation. r is the registry's, d the database's, g the
// registry grants that are no credential, p the plan's bytes.
var routing = map[string]map[string]string{
	"resolve": {v1alpha1.OperationContainer: "gr"},
	"verify":  {v1alpha1.OperationContainer: "gr"},
	"observe": {v1alpha1.PrepareContainer: "g", v1alpha1.FetchContainer: "r", v1alpha1.OperationContainer: "d"},
	"plan":    {v1alpha1.PrepareContainer: "g", v1alpha1.FetchContainer: "r", v1alpha1.OperationContainer: "d"},
	"apply":   {v1alpha1.PrepareContainer: "", v1alpha1.OperationContainer: "dp"},
}

// Every operation's Pod, as the kubelet ran it, holds each credential only where the table says, and every hardening that we promise.
func TestCredentialsMeetOnlyWhereTheTableSays(t *testing.T) {
	s := newStage(t, "routing")
	pods := collectPods(t, s.ns)
	s.schema.Apply, s.schema.RegistrySecret = "Always", "registry-credential"
	s.ensureNamespace()
	s.createSecrets("registry-credential", map[string]string{"registry": it.Registry, "allowPlainHTTP": "true", "username": "nobody", "password": "s3ntinel-registry"})
	s.schema.Reference = s.publish(tinySchema)
	s.apply()
	s.phase("InSync")

	seen := pods()
	for operation, want := range routing {
		pod, ok := seen[operation]
		if !assert.True(t, ok, "no Pod of operation %s was seen", operation) {
			continue
		}
		t.Run(operation, func(t *testing.T) {
			assert.Equal(t, want, credentials(&pod, s.schema.Name+"-database", "registry-credential"))
			hardened(t, &pod)
		})
	}
}

// collectPods watches a namespace and keeps the first Pod of every operation.
func collectPods(t *testing.T, namespace string) func() map[string]corev1.Pod {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	var mu sync.Mutex
	seen := map[string]corev1.Pod{}
	go func() {
		for ctx.Err() == nil {
			w, err := clients.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{LabelSelector: v1alpha1.OperationLabel})
			if err != nil {
				time.Sleep(100 * time.Millisecond)
				continue
			}
			for event := range w.ResultChan() {
				pod, ok := event.Object.(*corev1.Pod)
				if !ok || event.Type == watch.Error {
					continue
				}
				mu.Lock()
				if _, known := seen[pod.Labels[v1alpha1.OperationLabel]]; !known {
					seen[pod.Labels[v1alpha1.OperationLabel]] = *pod
				}
				mu.Unlock()
			}
		}
	}()
	return func() map[string]corev1.Pod {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// credentials says what each container of a Pod can reach, as letters of the table.
func credentials(pod *corev1.Pod, database, registry string) map[string]string {
	volumes := map[string]string{}
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.Secret != nil && v.Secret.SecretName == database, v.Projected != nil:
			volumes[v.Name] = "d"
		case v.Secret != nil && v.Secret.SecretName == registry:
			volumes[v.Name] = "r"
		case v.ConfigMap != nil && len(v.Name) > len(v1alpha1.PlanVolumePrefix) && v.Name[:len(v1alpha1.PlanVolumePrefix)] == v1alpha1.PlanVolumePrefix:
			volumes[v.Name] = "p"
		}
	}
	out := map[string]string{}
	for _, c := range append(append([]corev1.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...) {
		set := map[string]bool{}
		for _, e := range c.Env {
			set[letter(e, database, registry)] = true
		}
		for _, m := range c.VolumeMounts {
			set[volumes[m.Name]] = true
		}
		delete(set, "")
		var letters []string
		for l := range set {
			letters = append(letters, l)
		}
		sort.Strings(letters)
		out[c.Name] = ""
		for _, l := range letters {
			out[c.Name] += l
		}
	}
	return out
}

func letter(e corev1.EnvVar, database, registry string) string {
	if e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil {
		return ""
	}
	ref := e.ValueFrom.SecretKeyRef
	switch {
	case ref.Name == database:
		return "d"
	case ref.Name == registry && (ref.Key == "registry" || ref.Key == "allowPlainHTTP" || ref.Key == "caSHA256"):
		return "g"
	case ref.Name == registry:
		return "r"
	}
	return "unknown Secret " + ref.Name
}

// hardened asserts the promises of every operation Pod.
func hardened(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	spec := pod.Spec
	assert.Equal(t, ptr.To(false), spec.AutomountServiceAccountToken)
	assert.Equal(t, ptr.To(false), spec.EnableServiceLinks)
	assert.Equal(t, corev1.RestartPolicyNever, spec.RestartPolicy)
	assert.Equal(t, ptr.To(true), spec.SecurityContext.RunAsNonRoot)
	assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, spec.SecurityContext.SeccompProfile.Type)
	assert.Nil(t, spec.Resources)
	for _, v := range spec.Volumes {
		assert.Nil(t, v.Projected, "no token volume: %s", v.Name)
		if v.EmptyDir != nil {
			assert.NotNil(t, v.EmptyDir.SizeLimit, "volume %s is bounded", v.Name)
		}
	}
	for _, c := range append(append([]corev1.Container{}, spec.InitContainers...), spec.Containers...) {
		assert.Equal(t, ptr.To(true), c.SecurityContext.ReadOnlyRootFilesystem, c.Name)
		assert.Equal(t, ptr.To(false), c.SecurityContext.AllowPrivilegeEscalation, c.Name)
		assert.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop, c.Name)
		assert.Contains(t, c.Image, "@sha256:", c.Name)
	}
}

package charts_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

var cluster struct {
	once       sync.Once
	env        *envtest.Environment
	client     *kubernetes.Clientset
	kubeconfig string
	err        error
}

// apiServer starts a real kube-apiserver once for the package and returns a client and a kubeconfig file.
func apiServer(t *testing.T) (*kubernetes.Clientset, string) {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip("KUBEBUILDER_ASSETS is not set: it names a directory with kube-apiserver and etcd; make test sets it")
	}
	helmBinary(t)
	cluster.once.Do(func() { cluster.err = startCluster() })
	require.NoError(t, cluster.err)
	return cluster.client, cluster.kubeconfig
}

func startCluster() error {
	cluster.env = &envtest.Environment{}
	config, err := cluster.env.Start()
	if err != nil {
		return fmt.Errorf("starting kube-apiserver and etcd of KUBEBUILDER_ASSETS: %w", err)
	}
	dir, err := os.MkdirTemp("", "charts-test-")
	if err != nil {
		return err
	}
	cluster.kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(cluster.kubeconfig, cluster.env.KubeConfig, 0o600); err != nil {
		return err
	}
	cluster.client, err = kubernetes.NewForConfig(config)
	return err
}

func TestMain(m *testing.M) {
	code := m.Run()
	if cluster.env != nil {
		if err := cluster.env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the API server:", err)
		}
		_ = os.RemoveAll(filepath.Dir(cluster.kubeconfig))
	}
	os.Exit(code)
}

// connected runs helm against the API server, without waiting: nothing runs Pods here.
func connected(t *testing.T, verb string, set ...string) (string, error) {
	t.Helper()
	_, kubeconfig := apiServer(t)
	args := append(strings.Fields(verb), "--namespace", namespace, "--kubeconfig", kubeconfig)
	for _, s := range set {
		args = append(args, "--set", s)
	}
	return helm(t, args...)
}

// One release is installed, upgraded and challenged; the steps build on each other.
func TestReleaseOnARealAPIServer(t *testing.T) {
	c, _ := apiServer(t)
	ctx := t.Context()
	out, err := connected(t, "install "+release+" "+chart+" --create-namespace", required()...)
	require.NoError(t, err, out)
	t.Cleanup(func() {
		out, err := connected(t, "uninstall "+release)
		assert.NoError(t, err, out)
	})

	t.Run("notes say what proves it and what comes next", func(t *testing.T) {
		assert.Contains(t, out, "wait --for=condition=Available --timeout=5m deployment/ptah-operator-manager")
		assert.Contains(t, out, "wait --for=condition=Established")
		assert.Contains(t, out, "kubectl ptah push schema")
	})

	t.Run("an upgrade keeps the certificate", func(t *testing.T) {
		before, err := c.CoreV1().Secrets(namespace).Get(ctx, "ptah-operator-webhook-tls", metav1.GetOptions{})
		require.NoError(t, err)
		out, err := connected(t, "upgrade "+release+" "+chart, append(required(), "replicaCount=3")...)
		require.NoError(t, err, out)
		after, err := c.CoreV1().Secrets(namespace).Get(ctx, "ptah-operator-webhook-tls", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, before.Data, after.Data)
		live, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, v1alpha1.AdmissionConfigurationName, metav1.GetOptions{})
		require.NoError(t, err)
		for _, w := range live.Webhooks {
			assert.Equal(t, before.Data["ca.crt"], w.ClientConfig.CABundle, w.Name)
		}
	})

	t.Run("what the release pins does not change online", func(t *testing.T) {
		for set, key := range map[string]string{"coordination.namespace=kube-public": v1alpha1.CoordinationNamespaceAnnotation, "leaderElection=false": v1alpha1.LeaderElectionAnnotation} {
			out, err := connected(t, "upgrade "+release+" "+chart, append(required(), "replicaCount=1", set)...)
			require.Error(t, err)
			assert.Contains(t, out, key)
			assert.Contains(t, out, "does not change online")
		}
	})

	t.Run("a second release is refused", func(t *testing.T) {
		out, err := connected(t, "install second "+chart, required()...)
		require.Error(t, err)
		assert.Contains(t, out, v1alpha1.ReleaseNameAnnotation)
		assert.Contains(t, out, "one release of this chart per cluster")
	})

	t.Run("a foreign certificate is read from its Secret", func(t *testing.T) {
		_, err := c.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Type: corev1.SecretTypeTLS,
			Data: map[string][]byte{"tls.crt": []byte("x"), "tls.key": []byte("y"), "ca.crt": []byte("PEM of mine")},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		out, err := connected(t, "upgrade "+release+" "+chart+" --dry-run=server", append(required(), "webhook.existingSecret=mine")...)
		require.NoError(t, err, out)
		assert.Contains(t, out, "caBundle: "+base64.StdEncoding.EncodeToString([]byte("PEM of mine")))
	})

	t.Run("the manager reaches no Secret anywhere", func(t *testing.T) { managerRights(t, c) })
	t.Run("the Pod webhook selects operation Pods only", func(t *testing.T) { podSelection(t, c) })
}

func managerRights(t *testing.T, c *kubernetes.Clientset) {
	may := func(verb, group, resource, subresource, ns string) bool {
		review, err := c.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   "system:serviceaccount:" + namespace + ":ptah-operator-manager-v1",
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Group: group, Resource: resource, Subresource: subresource, Namespace: ns,
			},
		}}, metav1.CreateOptions{})
		require.NoError(t, err)
		return review.Status.Allowed
	}
	for _, ns := range []string{"", namespace, "default", "kube-system"} {
		for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"} {
			assert.False(t, may(verb, "", "secrets", "", ns), "%s secrets in %q", verb, ns)
		}
		for _, verb := range []string{"create", "delete", "update", "patch"} {
			assert.False(t, may(verb, "", "pods", "", ns), "%s pods in %q", verb, ns)
		}
		assert.False(t, may("create", "", "pods", "exec", ns))
		assert.False(t, may("delete", "batch", "jobs", "", ns))
		assert.False(t, may("list", "", "serviceaccounts", "", ns))
		assert.False(t, may("create", v1alpha1.GroupName, "ptahschemaapprovals", "", ns), "the manager approves nothing")
	}
	assert.True(t, may("create", "batch", "jobs", "", "default"))
	assert.True(t, may("patch", v1alpha1.GroupName, "ptahschemas", "status", "default"))
	assert.True(t, may("update", "coordination.k8s.io", "leases", "", namespace))
	assert.False(t, may("update", "coordination.k8s.io", "leases", "", "default"), "Leases in one namespace only")
}

// podSelection creates Pods while nothing serves the webhook: those that it selects fail closed, all others pass.
func podSelection(t *testing.T, c *kubernetes.Clientset) {
	require.Eventually(t, func() bool {
		// An API server takes a moment to see a new webhook.
		return createPod(t, c, operationPod()) != nil
	}, 10*time.Second, 100*time.Millisecond)
	yes := true
	owned := func(kind, name string, controller *bool) *corev1.Pod {
		p := &corev1.Pod{}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: kind, Name: name, UID: "1", Controller: controller}}
		return p
	}
	selected := map[string]*corev1.Pod{
		"complete identity":                   operationPod(),
		"without labels under a reserved Job": owned("Job", "ptah-apply-ledger-0123456789abcdef", &yes),
		"a migration's Job":                   owned("Job", "ptah-mhistory-ledger-0123456789abcdef", &yes),
	}
	for name, pod := range selected {
		assert.ErrorContains(t, createPod(t, c, pod), v1alpha1.ValidatePodEntry, name)
	}
	halfLabelled := operationPod()
	delete(halfLabelled.Labels, v1alpha1.OperationLabel)
	manager := &corev1.Pod{}
	manager.Labels = map[string]string{v1alpha1.ManagedByLabel: "Helm", v1alpha1.ComponentLabel: v1alpha1.ComponentController}
	unrelated := map[string]*corev1.Pod{
		"plain":                 {},
		"another Job":           owned("Job", "backup-1", &yes),
		"not the controller":    owned("Job", "ptah-apply-ledger-0123456789abcdef", nil),
		"a ReplicaSet's":        owned("ReplicaSet", "ptah-apply-ledger", &yes),
		"incomplete identity":   halfLabelled,
		"the manager's own Pod": manager,
	}
	for name, pod := range unrelated {
		assert.NoError(t, createPod(t, c, pod), name)
	}

	t.Run("either side of an update", func(t *testing.T) {
		plain := podNamed(&corev1.Pod{}, "update-me")
		created, err := c.CoreV1().Pods("default").Create(t.Context(), plain, metav1.CreateOptions{})
		require.NoError(t, err)
		created.Labels = operationPod().Labels
		_, err = c.CoreV1().Pods("default").Update(t.Context(), created, metav1.UpdateOptions{})
		assert.ErrorContains(t, err, v1alpha1.ValidatePodEntry)
	})
}

func operationPod() *corev1.Pod {
	p := &corev1.Pod{}
	p.Labels = map[string]string{
		v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue, v1alpha1.ComponentLabel: v1alpha1.ComponentSchemaOp, v1alpha1.OperationLabel: "apply",
	}
	return p
}

func podNamed(pod *corev1.Pod, name string) *corev1.Pod {
	p := pod.DeepCopy()
	p.Name = name
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "registry.internal/c"}}
	return p
}

func createPod(t *testing.T, c *kubernetes.Clientset, pod *corev1.Pod) error {
	t.Helper()
	_, err := c.CoreV1().Pods("default").Create(t.Context(), podNamed(pod, "selected"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// What somebody else left under the fixed names is refused, not adopted.
func TestLeftoversAreRefused(t *testing.T) {
	c, _ := apiServer(t)
	if _, err := c.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{}); err != nil {
		_, err = c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	webhooks := c.AdmissionregistrationV1()
	name := metav1.ObjectMeta{Name: v1alpha1.AdmissionConfigurationName}
	_, err := webhooks.MutatingWebhookConfigurations().Create(t.Context(), &admissionv1.MutatingWebhookConfiguration{ObjectMeta: name}, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, webhooks.MutatingWebhookConfigurations().Delete(context.Background(), name.Name, metav1.DeleteOptions{}))
	})
	out, err := connected(t, "install "+release+" "+chart+" --dry-run=server", required()...)
	require.Error(t, err)
	assert.Contains(t, out, "MutatingWebhookConfiguration ptah-operator-admission exists without its peer")

	_, err = webhooks.ValidatingWebhookConfigurations().Create(t.Context(), &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: name}, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, webhooks.ValidatingWebhookConfigurations().Delete(context.Background(), name.Name, metav1.DeleteOptions{}))
	})
	out, err = connected(t, "install "+release+" "+chart+" --dry-run=server", required()...)
	require.Error(t, err)
	assert.Contains(t, out, "does not adopt an installation without release identity")
}

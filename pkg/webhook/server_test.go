package webhook_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	ptahwebhook "github.com/ptah-run/ptah/pkg/webhook"
)

const (
	namespace = "app"
	chartFile = "../../charts/ptah-operator/templates/webhook.yaml"
	crdDir    = "../../charts/ptah-operator/crds"
)

// cluster is a real API server with the CRDs, the chart's own webhook configurations, and the handlers behind them.
type cluster struct {
	t      *testing.T
	config *rest.Config
	scheme *runtime.Scheme
	admin  client.Client
}

var identity = v1alpha1.ExecutionIdentity{
	ControllerImage: "r/manager@sha256:1", ControllerRevision: "abc", ControllerStateVersion: 2, PtahVersion: "0.1.0",
	ExecutorImage: "r/executor@sha256:2", RunnerImage: "r/manager@sha256:1", RunnerProtocolVersion: 1,
}

// newCluster starts an API server with these additional flags. KUBEBUILDER_ASSETS names the directory that holds kube-apiserver and etcd;
// without it the test is skipped.
func newCluster(t *testing.T, flags map[string]string) *cluster {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip("KUBEBUILDER_ASSETS is not set: it names a directory with kube-apiserver and etcd; make test sets it")
	}
	log.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	mutating, validating := chartWebhooks(t)
	env := &envtest.Environment{
		CRDDirectoryPaths: []string{crdDir}, ErrorIfCRDPathMissing: true, Scheme: scheme,
		WebhookInstallOptions: envtest.WebhookInstallOptions{MutatingWebhooks: mutating, ValidatingWebhooks: validating},
	}
	args := env.ControlPlane.GetAPIServer().Configure()
	args.Disable("disable-admission-plugins") // envtest switches ServiceAccount off, which is one of the modelled plugins
	for flag, value := range flags {
		args.Set(flag, value)
	}
	config, err := env.Start()
	require.NoError(t, err, "starting kube-apiserver and etcd of KUBEBUILDER_ASSETS")
	t.Cleanup(func() { assert.NoError(t, env.Stop()) })
	admin, err := client.New(config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	c := &cluster{t: t, config: config, scheme: scheme, admin: admin}
	c.serve(env.WebhookInstallOptions)
	require.NoError(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	return c
}

// chartWebhooks reads the configurations out of the chart's template: what is tested is what is installed.
func chartWebhooks(t *testing.T) ([]*admissionv1.MutatingWebhookConfiguration, []*admissionv1.ValidatingWebhookConfiguration) {
	t.Helper()
	data, err := os.ReadFile(chartFile)
	require.NoError(t, err)
	_, tail, found := strings.Cut(string(data), "apiVersion: admissionregistration.k8s.io/v1\n")
	require.True(t, found)
	tail = regexp.MustCompile(`(?m)^\s+(labels|annotations):\n\s+\{\{- include .*\}\}\n`).ReplaceAllString(tail, "")
	tail = strings.NewReplacer("{{ $service }}", "w", "{{ .Release.Namespace }}", "default", "{{ .Values.webhook.timeoutSeconds }}", "10", "caBundle: {{ $caBundle }}", "").Replace(tail)
	require.NotContains(t, tail, "{{")
	docs := strings.Split("apiVersion: admissionregistration.k8s.io/v1\n"+tail, "\n---\n")
	require.Len(t, docs, 2)
	var m admissionv1.MutatingWebhookConfiguration
	var v admissionv1.ValidatingWebhookConfiguration
	require.NoError(t, yaml.UnmarshalStrict([]byte(docs[0]), &m))
	require.NoError(t, yaml.UnmarshalStrict([]byte(docs[1]), &v))
	require.NotEmpty(t, v.Webhooks[1].MatchConditions)
	return []*admissionv1.MutatingWebhookConfiguration{&m}, []*admissionv1.ValidatingWebhookConfiguration{&v}
}

// serve runs the handlers as the manager does, through Register.
func (c *cluster) serve(o envtest.WebhookInstallOptions) {
	mgr, err := ctrl.NewManager(c.config, ctrl.Options{
		Scheme: c.scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		WebhookServer: webhook.NewServer(webhook.Options{Host: o.LocalServingHost, Port: o.LocalServingPort, CertDir: o.LocalServingCertDir}),
	})
	require.NoError(c.t, err)
	require.NoError(c.t, ptahwebhook.Register(mgr, ptahwebhook.Options{Identity: identity}))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	c.t.Cleanup(func() {
		cancel()
		assert.NoError(c.t, <-done)
	})
	require.Eventually(c.t, func() bool { return mgr.GetWebhookServer().StartedChecker()(nil) == nil }, 30*time.Second, 50*time.Millisecond)
}

// as is a client of another authenticated user.
func (c *cluster) as(user string, groups ...string) client.Client {
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	out, err := client.New(config, client.Options{Scheme: c.scheme})
	require.NoError(c.t, err)
	return out
}

// with is the same cluster for a subtest.
func (c *cluster) with(t *testing.T) *cluster {
	sub := *c
	sub.t = t
	return &sub
}

func (c *cluster) jobController() client.Client {
	return c.as("system:serviceaccount:kube-system:job-controller", "system:serviceaccounts", "system:serviceaccounts:kube-system")
}

func (c *cluster) create(objects ...client.Object) {
	c.t.Helper()
	for _, o := range objects {
		require.NoError(c.t, c.admin.Create(c.t.Context(), o), "creating %T %s", o, o.GetName())
	}
}

// schema creates a PtahSchema; its status is written by setStatus.
func (c *cluster) schema(name string, change func(*v1alpha1.PtahSchema)) *v1alpha1.PtahSchema {
	c.t.Helper()
	s := &v1alpha1.PtahSchema{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.PtahSchemaSpec{
			Target: v1alpha1.Target{Engine: "PostgreSQL", CoordinationKey: "prod/" + name, URLFrom: *secretKey("db")},
			Desired: v1alpha1.Source{
				OCIRef:                 "oci://registry.example/shop:1",
				VerificationPolicyFrom: corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "policy"}, Key: "policy.yaml"},
			},
		},
	}
	if change != nil {
		change(s)
	}
	c.create(s)
	return s
}

func secretKey(name string) *corev1.SecretKeySelector {
	return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "url"}
}

func (c *cluster) setStatus(s *v1alpha1.PtahSchema, change func(*v1alpha1.PtahSchemaStatus)) {
	c.t.Helper()
	require.NoError(c.t, c.admin.Get(c.t.Context(), client.ObjectKeyFromObject(s), s))
	change(&s.Status)
	require.NoError(c.t, c.admin.Status().Update(c.t.Context(), s))
}

// eventually waits out what the API server's own caches (LimitRanges, classes, RBAC) need to see.
func (c *cluster) eventually(what string, f func() error) {
	c.t.Helper()
	var err error
	ok := assert.Eventually(c.t, func() bool { err = f(); return err == nil }, 20*time.Second, 200*time.Millisecond)
	require.True(c.t, ok, fmt.Sprintf("%s: %v", what, err))
}

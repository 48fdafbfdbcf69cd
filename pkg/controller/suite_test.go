package controller_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/binding"
	"github.com/ptah-run/ptah/pkg/controller"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/kube"
	"github.com/ptah-run/ptah/pkg/metrics"
	"github.com/ptah-run/ptah/pkg/podspec"
	"github.com/ptah-run/ptah/test/standin"
)

const (
	namespace    = "app"
	coordination = "ptah-coordination"
)

// cluster is a real API server with a stand-in node, shared by the tests of this package.
var cluster struct {
	config *rest.Config
	client client.Client
	model  *standin.Model
	node   *standin.Node
}

func TestMain(m *testing.M) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "controller tests need KUBEBUILDER_ASSETS (kube-apiserver and etcd); make test-unit sets it")
		os.Exit(m.Run())
	}
	os.Exit(serve(m))
}

func serve(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	env := &envtest.Environment{CRDDirectoryPaths: []string{filepath.Join("..", "..", "charts", "ptah-operator", "crds")}, ErrorIfCRDPathMissing: true}
	// The stand-in is no real kubelet: the API server must accept its certificate, and nobody else makes ServiceAccounts here.
	config, err := env.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the API server:", err)
		return 1
	}
	defer func() { _ = env.Stop() }()
	config.QPS = -1
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := prepare(ctx, config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func prepare(ctx context.Context, config *rest.Config) error {
	c, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return err
	}
	cluster.config, cluster.client, cluster.model = config, c, standin.NewModel("v1")
	for _, name := range []string{namespace, coordination} {
		if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	yes := true
	for _, o := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}},
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "policy"}, Immutable: &yes,
			Data: map[string]string{"policy.yaml": "version: 1\n"},
		},
	} {
		if err := c.Create(ctx, o); err != nil {
			return err
		}
	}
	cluster.node, err = standin.Start(ctx, c, cluster.model.Execute)
	return err
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	_ = v1alpha1.AddToScheme(scheme)
	return scheme
}

func testIdentity() binding.Identity {
	return binding.Identity{
		ControllerImage: "manager@" + standin.Sum("manager"), ControllerRevision: "1", ControllerStateVersion: binding.StateVersion, PtahVersion: "1",
		ExecutorImage: "executor@" + standin.Sum("executor"), RunnerImage: "runner@" + standin.Sum("runner"), RunnerProtocolVersion: intent.ProtocolVersion,
	}
}

// startManager runs a manager until the test ends or stop is called.
func startManager(t *testing.T, identity binding.Identity) (stop func()) {
	t.Helper()
	return startManagerAs(t, identity, cluster.config, manager.Options{})
}

// startManagerAs runs one under another user, or with a leader election.
func startManagerAs(t *testing.T, identity binding.Identity, as *rest.Config, options manager.Options) (stop func()) {
	t.Helper()
	if as == nil {
		t.Skip("no API server: KUBEBUILDER_ASSETS is not set")
	}
	skip := true
	options.Scheme, options.Cache, options.Metrics = newScheme(), kube.CacheOptions(), metricsserver.Options{BindAddress: "0"}
	options.Controller = config.Controller{SkipNameValidation: &skip}
	mgr, err := ctrl.NewManager(as, options)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, kube.Index(ctx, mgr.GetFieldIndexer()))
	core, err := kubernetes.NewForConfig(as)
	require.NoError(t, err)
	writer, err := client.New(as, client.Options{Scheme: newScheme()})
	require.NoError(t, err)
	wakes := controller.NewWakes()
	world := kube.NewWorld(kube.Settings{
		CoordinationNamespace: coordination, Identity: identity,
		Admission: podspec.AdmissionSettings{DefaultTolerations: true, NotReadySeconds: 300, UnreachableSeconds: 300},
	}, kube.Clients{Cached: mgr.GetCache(), Direct: mgr.GetAPIReader(), Writer: writer, Core: core}, wakes.Wake)
	require.NoError(t, mgr.Add(manager.RunnableFunc(world.Events.Start)))
	recorder, err := metrics.New(prometheus.NewRegistry())
	require.NoError(t, err)
	require.NoError(t, controller.SetupSchema(mgr, &controller.SchemaReconciler{
		World: world, Scheme: mgr.GetScheme(), Recorder: recorder, Wake: wakes.Wake, Background: ctx,
	}, wakes, 8))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = mgr.Start(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

func newSchema(name string, change ...func(*v1alpha1.PtahSchema)) *v1alpha1.PtahSchema {
	s := &v1alpha1.PtahSchema{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.PtahSchemaSpec{
			Target: v1alpha1.Target{
				Engine: "PostgreSQL", CoordinationKey: "test/" + name,
				URLFrom: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "url"},
			},
			Desired: v1alpha1.Source{
				OCIRef:                 "oci://registry.example/shop:stable",
				VerificationPolicyFrom: corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "policy"}, Key: "policy.yaml"},
			},
			Execution: v1alpha1.Execution{FailureRetryInterval: metav1.Duration{Duration: time.Second}},
		},
	}
	for _, f := range change {
		f(s)
	}
	return s
}

// create stores a schema and deletes it when the test ends.
func create(t *testing.T, s *v1alpha1.PtahSchema) {
	t.Helper()
	require.NoError(t, cluster.client.Create(t.Context(), s))
	t.Cleanup(func() {
		_ = cluster.client.Delete(context.Background(), s)
	})
}

func always(s *v1alpha1.PtahSchema) { s.Spec.Policy.Apply = v1alpha1.ApplyAlways }

// await reads the schema until it fits.
func await(t *testing.T, name, what string, fits func(*v1alpha1.PtahSchema) bool) *v1alpha1.PtahSchema {
	t.Helper()
	s := &v1alpha1.PtahSchema{}
	deadline := time.Now().Add(3 * time.Minute)
	for time.Now().Before(deadline) {
		if err := cluster.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s); err == nil && fits(s) {
			return s
		}
		time.Sleep(20 * time.Millisecond)
	}
	require.Failf(t, "waiting for "+what, "status: %+v", s.Status)
	return nil
}

func phase(want v1alpha1.SchemaPhase) func(*v1alpha1.PtahSchema) bool {
	return func(s *v1alpha1.PtahSchema) bool {
		return s.Status.Phase == want && s.Status.ActiveOperation == nil && s.Status.PendingLockRelease == nil && s.Status.ObservedGeneration == s.Generation
	}
}

// approve is a person, and the two admission handlers that this API server does not call.
func approve(t *testing.T, s *v1alpha1.PtahSchema) {
	t.Helper()
	p := &v1alpha1.PtahSchemaPlan{}
	require.NoError(t, cluster.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: s.Status.Plan.Name}, p))
	a := &v1alpha1.PtahSchemaApproval{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: s.Name + "-"}}
	a.Spec.SchemaRef = v1alpha1.ObjectRef{Name: s.Name, UID: s.UID}
	a.Spec.PlanRef = v1alpha1.ObjectRef{Name: p.Name, UID: p.UID}
	a.Spec.PlanFingerprint = p.Spec.Fingerprint
	require.NoError(t, approval.Bind(a, p))
	approval.Stamp(&a.Spec.ApprovalStamp, approval.User{Username: "ann"}, "request", time.Now())
	require.NoError(t, cluster.client.Create(t.Context(), a))
}

func keyOf(s *v1alpha1.PtahSchema) client.ObjectKey { return client.ObjectKeyFromObject(s) }

// unapproved reports whether nobody has decided on the schema's current plan yet, spent decisions aside.
func unapproved(t *testing.T, s *v1alpha1.PtahSchema) bool {
	t.Helper()
	var list v1alpha1.PtahSchemaApprovalList
	require.NoError(t, cluster.client.List(t.Context(), &list, client.InNamespace(namespace)))
	for i := range list.Items {
		a := &list.Items[i]
		if a.Spec.PlanRef.UID == s.Status.Plan.UID && !approval.IsConsumed(a.Status) && !approval.IsStale(a.Status) {
			return false
		}
	}
	return true
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/binding"
	"github.com/ptah-run/ptah/pkg/controller"
	"github.com/ptah-run/ptah/pkg/kube"
	"github.com/ptah-run/ptah/pkg/metrics"
	"github.com/ptah-run/ptah/pkg/webhook"
)

// run wires the manager and serves until the context ends.
func run(ctx context.Context, f *flags, identity binding.Identity) error {
	ctrl.SetLogger(newLogger(f.development, f.verbosity))
	klog.SetLogger(ctrl.Log)
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("loading the cluster's address and credentials: %w", err)
	}
	config.QPS, config.Burst = f.qps, f.burst
	config.UserAgent = "ptah-operator/" + identity.ControllerRevision
	if err := checkStoredState(ctx, config); err != nil {
		return err
	}
	mgr, err := newManager(config, f)
	if err != nil {
		return err
	}
	if err := setupControllers(ctx, mgr, f, identity); err != nil {
		return err
	}
	if err := setupAdmission(mgr, f, identity); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

func newManager(config *rest.Config, f *flags) (manager.Manager, error) {
	grace := 20 * time.Second
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme: newScheme(),
		Cache:  kube.CacheOptions(),
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: false}},
		Metrics: metricsserver.Options{
			BindAddress: f.metricsAddress,
		},
		HealthProbeBindAddress:        f.probeAddress,
		LeaderElection:                f.leaderElect,
		LeaderElectionID:              v1alpha1.LeaderElectionLease,
		LeaderElectionNamespace:       f.coordinationNamespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &grace,
		WebhookServer:                 ctrlwebhook.NewServer(ctrlwebhook.Options{Port: f.webhookPort, CertDir: f.webhookCertDir}),
	})
	if err != nil {
		return nil, fmt.Errorf("preparing the manager: %w", err)
	}
	return mgr, nil
}

func setupControllers(ctx context.Context, mgr manager.Manager, f *flags, identity binding.Identity) error {
	recorder, err := metrics.New(ctrlmetrics.Registry)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	if err := kube.Index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	core, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("preparing the log client: %w", err)
	}
	writer, err := client.New(mgr.GetConfig(), client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("preparing the direct client: %w", err)
	}
	wakes := controller.NewWakes()
	world := kube.NewWorld(
		kube.Settings{CoordinationNamespace: f.coordinationNamespace, Identity: identity, Admission: f.admission},
		kube.Clients{Cached: mgr.GetCache(), Direct: mgr.GetAPIReader(), Writer: writer, Core: core}, wakes.Wake,
	)
	if err := mgr.Add(manager.RunnableFunc(world.Events.Start)); err != nil {
		return fmt.Errorf("adding the event writer: %w", err)
	}
	reconciler := &controller.SchemaReconciler{
		World: world, Scheme: mgr.GetScheme(), Recorder: recorder, Wake: wakes.Wake, Background: ctx,
	}
	if err := controller.SetupSchema(mgr, reconciler, wakes, f.workers); err != nil {
		return err
	}
	return publishUnresolved(ctx, mgr)
}

// publishUnresolved serves the gauges of what is unaccounted for, from the caches once they have caught up.
func publishUnresolved(ctx context.Context, mgr manager.Manager) error {
	synced := make(chan struct{})
	err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if mgr.GetCache().WaitForCacheSync(ctx) {
			close(synced)
		}
		<-ctx.Done()
		return nil
	}))
	if err != nil {
		return fmt.Errorf("adding the view of unresolved attempts: %w", err)
	}
	view := func() ([]metrics.Unresolved, bool, error) {
		select {
		case <-synced:
		default:
			return nil, false, nil
		}
		reading, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		records, err := kube.Unresolved(reading, mgr.GetCache())
		return records, true, err
	}
	if err := metrics.RegisterUnresolved(ctrlmetrics.Registry, view, time.Now); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	return nil
}

func setupAdmission(mgr manager.Manager, f *flags, identity binding.Identity) error {
	ready := healthz.Checker(func(*http.Request) error { return nil })
	if f.webhooks {
		if err := webhook.Register(mgr, webhook.Options{Identity: identity}); err != nil {
			return err
		}
		ready = mgr.GetWebhookServer().StartedChecker()
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhook", ready); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	return nil
}

// checkStoredState refuses to start over state that a newer manager wrote.
func checkStoredState(ctx context.Context, config *rest.Config) error {
	reader, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return fmt.Errorf("preparing the state check: %w", err)
	}
	stored, err := kube.StoredVersions(ctx, reader)
	if err != nil {
		return err
	}
	return binding.Fence(binding.StateVersion, stored...)
}

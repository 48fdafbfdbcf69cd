package main

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/binding"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/podspec"
	"github.com/ptah-run/ptah/pkg/release"
)

// flags is what was typed.
type flags struct {
	controllerImage, controllerRevision, executorImage, runnerImage, ptahVersion string

	coordinationNamespace string
	leaderElect           bool
	workers               int
	qps                   float32
	burst                 int

	webhooks       bool
	webhookPort    int
	webhookCertDir string
	metricsAddress string
	probeAddress   string

	admission podspec.AdmissionSettings

	development bool
	verbosity   int
}

func newCommand() *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:           "manager",
		Short:         "Converge PostgreSQL schemas from OCI artifacts",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			identity, err := f.identity()
			if err != nil {
				return err
			}
			return run(cmd.Context(), f, identity)
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *flags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.controllerImage, "controller-image", "", "digest-pinned reference of this manager's own image (required)")
	fs.StringVar(&f.controllerRevision, "controller-revision", defaultRevision(), "source revision of this manager (required; the build's own by default)")
	fs.StringVar(&f.executorImage, "executor-image", "", "digest-pinned image whose engine runs SQL (required)")
	fs.StringVar(&f.runnerImage, "runner-image", "", "digest-pinned image that brings the runner (required)")
	fs.StringVar(&f.ptahVersion, "ptah-version", "", "version of the engine in the executor image, at most 128 bytes (required)")
	fs.StringVar(&f.coordinationNamespace, "coordination-namespace", "", "namespace of the database Leases and the leader Lease (required)")
	fs.BoolVar(&f.leaderElect, "leader-elect", true, "let one replica reconcile at a time")
	fs.IntVar(&f.workers, "workers", 8, "resources reconciled at once")
	fs.Float32Var(&f.qps, "kube-api-qps", -1, "requests per second to the API server; negative leaves pacing to its priority and fairness")
	fs.IntVar(&f.burst, "kube-api-burst", 0, "burst above kube-api-qps")
	fs.BoolVar(&f.webhooks, "webhooks", true, "serve admission; off only for a manager outside of a cluster in a test")
	fs.IntVar(&f.webhookPort, "webhook-port", 9443, "port of the admission webhooks")
	fs.StringVar(&f.webhookCertDir, "webhook-cert-dir", "/ptah/webhook-tls", "directory with tls.crt and tls.key")
	fs.StringVar(&f.metricsAddress, "metrics-bind-address", ":8080", "address of the metrics endpoint; 0 turns it off")
	fs.StringVar(&f.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	fs.BoolVar(&f.admission.DefaultTolerations, "admission-default-tolerations-enabled", true, "the API server runs DefaultTolerationSeconds")
	fs.Int64Var(&f.admission.NotReadySeconds, "admission-default-not-ready-toleration-seconds", 300, "its --default-not-ready-toleration-seconds")
	fs.Int64Var(&f.admission.UnreachableSeconds, "admission-default-unreachable-toleration-seconds", 300, "its --default-unreachable-toleration-seconds")
	fs.BoolVar(&f.admission.ExtendedResourceTolerance, "admission-extended-resource-toleration-enabled", false, "the API server runs ExtendedResourceToleration")
	fs.BoolVar(&f.admission.AlwaysPullImages, "admission-always-pull-images-enabled", false, "the API server runs AlwaysPullImages")
	fs.BoolVar(&f.development, "log-development", false, "log for a person at a terminal instead of JSON")
	fs.IntVar(&f.verbosity, "v", 0, "log detail: 0 state changes, 1 detail")
}

// defaultRevision is the build's own; a build that knows none leaves the flag empty, and the manager then refuses to start.
func defaultRevision() string {
	if revision := release.Describe(); revision != "unknown" {
		return revision
	}
	return ""
}

var pinned = regexp.MustCompile(`^[^@\s]+@sha256:[0-9a-f]{64}$`)

// identity is the execution binding's seven members. A manager that cannot name them exactly does not start: its plans would bind nothing.
func (f *flags) identity() (binding.Identity, error) {
	for _, image := range []struct{ flag, value string }{
		{"controller-image", f.controllerImage}, {"executor-image", f.executorImage}, {"runner-image", f.runnerImage},
	} {
		if !pinned.MatchString(image.value) {
			return binding.Identity{}, fmt.Errorf("--%s must be pinned by digest (repository@sha256:…), got %q", image.flag, image.value)
		}
	}
	for _, required := range []struct{ flag, value string }{
		{"controller-revision", f.controllerRevision}, {"ptah-version", f.ptahVersion}, {"coordination-namespace", f.coordinationNamespace},
	} {
		if required.value == "" {
			return binding.Identity{}, fmt.Errorf("--%s is required", required.flag)
		}
	}
	if f.workers < 1 {
		return binding.Identity{}, fmt.Errorf("--workers must be at least 1, got %d", f.workers)
	}
	id := binding.Identity{
		ControllerImage: f.controllerImage, ControllerRevision: f.controllerRevision, ControllerStateVersion: binding.StateVersion,
		PtahVersion: f.ptahVersion, ExecutorImage: f.executorImage, RunnerImage: f.runnerImage, RunnerProtocolVersion: intent.ProtocolVersion,
	}
	return id, binding.Validate(id)
}

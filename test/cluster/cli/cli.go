// Package cli is the command line of ptah-cluster.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/kindcluster"
	"github.com/ptah-run/ptah/test/cluster/local"
)

// Exit codes besides that of a command run by exec.
const (
	exitFailure = 1
	exitUsage   = 2
	exitDown    = 3 // status: the cluster is not running or not ready

	exitInterrupted = 130
)

// Environment variables that stand for flags, so that make targets and tests agree on one cluster.
const (
	nameVariable   = "PTAH_CLUSTER_NAME"
	driverVariable = "CLUSTER"
	noNodeVariable = "CLUSTER_CONTROL_PLANE_ONLY"
)

// exitCode ends the program without a message: whoever returns it has said all there is to say.
type exitCode int

func (e exitCode) Error() string { return "exit code " + strconv.Itoa(int(e)) }

// usageError is a mistake in the command line itself.
type usageError struct{ error }

// Main runs the command line and returns the exit code.
func Main(arguments []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := newRoot(stdout, stderr)
	root.SetArgs(arguments)
	err := root.ExecuteContext(ctx)
	var code exitCode
	var usage usageError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "ptah-cluster: interrupted")
		return exitInterrupted
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "ptah-cluster: %v\nSee ptah-cluster --help.\n", err)
		return exitUsage
	default:
		fmt.Fprintf(stderr, "ptah-cluster: %v\n", err)
		return exitFailure
	}
}

// options are the flags every verb has.
type options struct {
	name   string
	kind   string
	noNode bool
	stdout io.Writer
	stderr io.Writer
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	o := &options{stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:   "ptah-cluster",
		Short: "A real single-node Kubernetes for demo and tests",
		Long: `A real single-node Kubernetes for demo and tests: API server, controller-manager, scheduler, kubelet and
kube-proxy built from source, etcd, containerd, a registry and cluster DNS, all in Linux namespaces of their own.
The host keeps its network, kernel settings and kubeconfig; down leaves nothing behind.`,
		SilenceErrors: true, SilenceUsage: true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	flags := root.PersistentFlags()
	flags.StringVar(&o.name, "name", os.Getenv(nameVariable), "name of the cluster (default ptah, or ptah-api with --no-node) [$"+nameVariable+"]")
	flags.StringVar(&o.kind, "driver", os.Getenv(driverVariable), "local (default), or kind where a Docker daemon answers [$"+driverVariable+"]")
	flags.BoolVar(&o.noNode, "no-node", os.Getenv(noNodeVariable) != "", "the cluster without node: API server, etcd and controller-manager only [$"+noNodeVariable+"]")
	root.AddCommand(newBuild(o), newAssets(o), newUp(o), newDown(o), newStatus(o), newEnv(o), newExec(o), newLogs(o),
		newPostgres(o))
	root.AddCommand(hidden()...)
	return root
}

func (o *options) clusterName() string {
	switch {
	case o.name != "":
		return o.name
	case o.noNode:
		return cluster.APIOnlyName
	default:
		return cluster.DefaultName
	}
}

func (o *options) driver() (cluster.Driver, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	switch o.kind {
	case "", "local":
		return local.New(o.clusterName(), program)
	case "kind":
		return kindcluster.New(o.clusterName(), program)
	default:
		return nil, usageError{fmt.Errorf("unknown cluster driver %q, there are local and kind", o.kind)}
	}
}

// exactArgs is cobra's, with a usage error's exit code.
func exactArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, arguments []string) error {
		if err := cobra.ExactArgs(n)(cmd, arguments); err != nil {
			return usageError{err}
		}
		return nil
	}
}

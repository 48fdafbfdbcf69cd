package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/executor"
)

const runnerLong = `The runner carries out the order in PTAH_INTENT. Every stage prints nothing but, at most, one result frame:

  prepare  init container without any credential: registry grants, CA snapshot, installs the runner; silent on success
  fetch    init container with the registry credential: writes the digest-pinned artifact; silent on success
  run      main container: Resolve, Verify, Observe, Plan or Apply; always prints a frame

A failed init container prints a failure frame on its own log.`

func newRunner(stdout, stderr io.Writer, code *int) *cobra.Command {
	cmd := group("runner", "Carry out the order of one operation Pod", runnerLong)
	layout := executor.DefaultLayout()
	cmd.PersistentFlags().StringVar(&layout.Root, "root", layout.Root, "directory that stands for the Pod's root")
	cmd.PersistentFlags().StringVar(&layout.EngineBinary, "engine-binary", layout.EngineBinary, "program that is started as the engine")
	// For tests and for trying a replaced engine outside a Pod; a Pod's command is fixed and never has them.
	_ = cmd.PersistentFlags().MarkHidden("root")
	_ = cmd.PersistentFlags().MarkHidden("engine-binary")

	stage := func(use, short string, do func(*executor.Runner, context.Context) int) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			runner := executor.NewRunner()
			runner.Layout, runner.Stdout, runner.Stderr = layout, stdout, stderr
			*code = do(runner, cmd.Context())
			return nil
		}}
	}
	cmd.AddCommand(
		stage("prepare", "Check registry grants, snapshot the CA, install the runner", (*executor.Runner).Prepare),
		stage("fetch", "Fetch the digest-pinned artifact into the work volume", (*executor.Runner).Fetch),
		stage("run", "Perform the operation and print its result frame", (*executor.Runner).Run),
	)
	return cmd
}

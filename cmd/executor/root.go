package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/executor"
)

const rootLong = `What runs inside an operation Pod of the Ptah operator. Nobody needs to call it by hand: the operator writes the order into
PTAH_INTENT and reads the result from the Pod's log.

  runner   guards credentials, deadlines and the database's identity, starts the engine, prints one result frame
  engine   works on the database and prints one JSON answer; an executor image may bring its own

Exit codes of every command:
  0  success
  1  a typed failure was printed (a frame by the runner, an answer by the engine)
  2  wrong use or no order: nothing on standard output, one line on standard error
  3  the result could not be written`

// execute runs one command line and gives the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	code := executor.ExitOK
	root := &cobra.Command{
		Use: "ptah-executor", Short: "Run one operation of the Ptah operator", Long: rootLong,
		SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fmt.Errorf("a command is missing; see %s --help", cmd.CommandPath())
		},
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.AddCommand(newRunner(stdout, stderr, &code), newEngine(stdout, stderr, &code))
	if err := root.ExecuteContext(ctx); err != nil {
		_, _ = fmt.Fprintf(stderr, "error: %v\n", err)
		return executor.ExitUsage
	}
	return code
}

// group is a command that only holds others.
func group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fmt.Errorf("a command is missing; see %s --help", cmd.CommandPath())
		},
	}
}

package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/executor"
)

const engineLong = `The engine reads the order in PTAH_INTENT, the database URL in PTAH_DATABASE_URL and one local file, works on the database and
prints one JSON answer on standard output. Standard error is not read by anybody. An executor image may replace this program as
long as it keeps this command line and the answer of contract version 1.`

func newEngine(stdout, stderr io.Writer, code *int) *cobra.Command {
	cmd := group("engine", "Work on the database for the runner", engineLong)
	role := executor.NewEngine()
	role.Stdout, role.Stderr = stdout, stderr
	operation := func(use, short, flag, usage string, do func(*executor.Engine, context.Context, string) int) *cobra.Command {
		var path string
		c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			*code = do(role, cmd.Context(), path)
			return nil
		}}
		c.Flags().StringVar(&path, flag, "", usage)
		_ = c.MarkFlagRequired(flag) // fails only for a flag that does not exist
		return c
	}
	cmd.AddCommand(
		operation("observe", "Report how the database differs from the declared schema", "schema", "file with the canonical model of the declared schema", (*executor.Engine).Observe),
		operation("plan", "Plan the statements that lead from the database to the declared schema", "schema", "file with the canonical model of the declared schema", (*executor.Engine).Plan),
		operation("apply", "Execute exactly the statements of a plan", "plan", "file with the plan document", (*executor.Engine).Apply),
		&cobra.Command{Use: "version", Short: "Print the engine's name, version and contract as JSON", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
			*code = role.Version()
			return nil
		}},
	)
	return cmd
}

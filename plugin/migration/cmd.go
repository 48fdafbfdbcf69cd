// Package migration is "kubectl ptah migration": the whole story of one migration.
package migration

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &migrationOptions{global: global}
	cmd := &cobra.Command{
		Use:   "migration NAME",
		Short: "Show the whole story of one migration: history, plan, pending versions, runs",
		Long: `Show the whole story of one migration: where it stands, the head of its history, the current plan
with every version that it would run, who approved it, the last run, and a run that nobody
accounted for with what its record cannot say.

What could not be read is named on stderr, and the exit code is then 1; the rest is shown all
the same.`,
		Example: `  kubectl ptah migration ledger -n app
  kubectl ptah migration ledger -n app --jq '.pending[].version'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return options.Usagef("want the name of one migration, got %s", spelling.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args[0]); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: complete.Migrations(global),
	}
	o.output = global.AddOutput(cmd.Flags(), render.Text, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	return cmd
}

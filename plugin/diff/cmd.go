// Package diff is "kubectl ptah diff": what changed between two stored plans.
package diff

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &diffOptions{global: global}
	cmd := &cobra.Command{
		Use:   "diff OLD-PLAN NEW-PLAN",
		Short: "Show what changed between two stored plans, statement by statement",
		Long: `Show what changed between two stored plans, statement by statement.

Both plans are verified against every digest first. Statements are compared by what they say,
without regard to white space: added, removed, changed (the same object, another statement,
lock, hazard or rating) or moved in the order. What the plans were computed under is compared
too: artifact, database, policy, the identity of the manager. Two plans of migrations are
compared by the files that they run.`,
		Example: `  kubectl ptah diff ptah-plan-77aa02c1f0e94d55b1c2d3e4 ptah-plan-4b44084123f0958600629632 -n app
  kubectl ptah diff OLD NEW -n app --exit-code    # exit code 4 when they differ
  kubectl ptah diff OLD NEW -n app --jq '.statements[] | select(.change == "added") | .new.sql'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 || args[0] == "" || args[1] == "" {
				return options.Usagef("want the names of two plans, got %s; \"kubectl ptah prune\" lists them and deletes nothing", spelling.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: complete.StoredPlans(global),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.exitCode, "exit-code", false, "Exit with 4 when the plans differ")
	o.output = global.AddOutput(flags, render.Text, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	return cmd
}

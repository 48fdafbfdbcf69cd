// Package events is "kubectl ptah events": what happened to a schema or a migration, its plans, approvals, Jobs and Pods, in one story.
package events

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &eventsOptions{global: global}
	cmd := &cobra.Command{
		Use:   "events NAME | schema/NAME | migration/NAME",
		Short: "Show what happened to a schema or a migration, its plans, Jobs and Pods",
		Long: `Show what happened to a schema or a migration, its plans, approvals, Jobs and Pods: their Events
in the order of time, the same said again counted and not repeated.

Jobs and Pods are found by what the resource's status and its own Events say, so that they are
shown although they are gone. Without -o wide or --all only warnings and what Ptah itself says are
shown, and how many others there are; JSON and YAML have all of them.
The API server keeps Events for an hour unless it is told otherwise.

What could not be read because of a missing permission is named on stderr, and the exit code is
then 1; what could be read is shown all the same. Without any Event the exit code is 3.`,
		Example: `  kubectl ptah events orders -n app
  kubectl ptah events migration/ledger -n app --warnings
  kubectl ptah events orders -n app --watch
  kubectl ptah events orders -n app --jq '.items[] | select(.type == "Warning") | .message'`,
		Args: options.OneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args[0]); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: complete.Resources(global),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.warnings, "warnings", false, "Only what went wrong")
	flags.BoolVar(&o.everything, "all", false, "Also the normal Events of Jobs and Pods, as -o wide shows them")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Keep looking, and show what is new")
	flags.DurationVar(&o.every, "every", 2*time.Second, "How often --watch looks")
	flags.Int64Var(&o.chunk, "chunk-size", cluster.PageSize, "How many objects to read with one request")
	o.output = global.AddOutput(flags, render.Text, render.Wide, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	return cmd
}

// Package status is "kubectl ptah status": where schemas and migrations stand and what each is waiting for.
package status

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &statusOptions{global: global}
	cmd := &cobra.Command{
		Use:   "status [NAME | schema/NAME | migration/NAME]",
		Short: "Show where schemas and migrations stand and what they wait for",
		Long: `Show where schemas and migrations stand and what they wait for.

Without a name: a table of all of them in the namespace, or everywhere with -A. With a name:
everything that is known about that resource. A bare name is looked up in both kinds.

A schema is looked at every spec.interval. Any change of its spec starts a reading at once: "suspend"
and then "resume" is one that leaves nothing behind.

What could not be read because of a missing permission is named on stderr, and the exit code
is then 1; what could be read is shown all the same.`,
		Example: `  kubectl ptah status -A
  kubectl ptah status orders -n app
  kubectl ptah status -A --watch
  kubectl ptah status -A --jq '.items[] | select(.waitingFor.party == "approver") | .name'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || (len(args) == 1 && args[0] == "") {
				return options.Usagef("want one name, got %s", spelling.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: complete.Resources(global),
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "Look in all namespaces")
	flags.StringVarP(&o.selector, "selector", "l", "", "Only resources with these labels")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Keep looking, and show what changes")
	flags.DurationVar(&o.every, "every", 2*time.Second, "How often --watch looks")
	flags.Int64Var(&o.chunk, "chunk-size", cluster.PageSize, "How many objects to read with one request")
	o.output = global.AddOutput(flags, render.Text, render.Wide, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate, render.Columns)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	return cmd
}

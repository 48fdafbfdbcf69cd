// Package findstalled is "kubectl ptah find-stalled": which schemas and migrations nothing works on any more, and why.
package findstalled

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
	o := &stalledOptions{global: global}
	cmd := &cobra.Command{
		Use:   "find-stalled",
		Short: "Find schemas and migrations that nothing works on any more, and say why",
		Long: `Find schemas and migrations that nothing works on any more, and say why.

A resource is stalled when the time of its next look (status.nextReconciliationTime) is past by
more than one operation deadline (its spec.execution.activeDeadlineSeconds, 15m if unset), or
when nobody looked at it within that time of its creation. Suspended resources are not stalled.

Exit code 0: everything was seen and nothing is stalled. 4: something is stalled. 1: a list was
forbidden or broke off; what was seen is shown, and nothing can be said about the rest.

--for cron prints one line for each stalled resource and nothing when all is well.
-o prometheus prints the text format of the node exporter's textfile collector.`,
		Example: `  kubectl ptah find-stalled -A
  kubectl ptah find-stalled -n app --older-than 1h -o name
  kubectl ptah find-stalled -A --for cron
  kubectl ptah find-stalled -A -o prometheus > ptah.prom.new; mv ptah.prom.new ptah.prom`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return options.Usagef("want no arguments, got %d: select with -n, -A or -l", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "Look in all namespaces")
	flags.StringVarP(&o.selector, "selector", "l", "", "Only resources with these labels")
	flags.DurationVar(&o.olderThan, "older-than", 0, "Only resources that are overdue by more than this as well, as 1h")
	flags.StringVar(&o.purpose, "for", "", "cron: a line for each stalled resource, nothing when all is well, no colour")
	flags.StringVar(&o.coordination, "coordination-namespace", "", "Where the operator keeps its leader Lease (default: what its admission configuration says)")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Keep looking, and show what changes")
	flags.DurationVar(&o.every, "every", 30*time.Second, "How often --watch looks")
	flags.Int64Var(&o.chunk, "chunk-size", cluster.PageSize, "How many objects to read with one request")
	o.output = global.AddOutput(flags, render.Text, render.Wide, render.JSON, render.YAML, render.Name, render.Prometheus, render.JSONPath, render.GoTemplate, render.Columns)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions([]string{purposeCron}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

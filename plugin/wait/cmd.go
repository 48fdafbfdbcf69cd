// Package wait is "kubectl ptah wait": it ends when a schema or a migration has reached a state, or cannot reach it by itself.
package wait

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &waitOptions{global: global}
	cmd := &cobra.Command{
		Use:   "wait NAME | schema/NAME | migration/NAME --for STATE",
		Short: "Wait until a schema or a migration has reached a state",
		Long: `Wait until a schema or a migration has reached a state.

States:

  insync             the database is what the current artifact says, by a reading that is over
  awaiting-approval  a current plan waits for a decision
  applied            the Apply of the current artifact (with --plan: of that plan) is proven, or
                     nothing was left to apply
  suspended          spec.suspend is taken up, nothing runs any more and no proof of an Apply is held back
  idle               nothing runs and no proof is owed
  deleted            the resource is gone

A status never counts that describes an older generation of the spec. A tag can be pushed again
without any change of the spec: --digest demands a status that is about that artifact.

What stands in the way is on stderr, and again whenever it changes. Exit codes: 0 reached; 4 it
cannot get there before somebody acts, see --fail-fast; 124 the time ran out; 3 there is no such
resource. A missing or wrong Secret or setting is tried again by the operator, so waiting goes on;
a run that nobody accounted for, a refused artifact or suspension end it.

With permission to watch, changes are seen at once; without it the resource is read again every
two seconds.`,
		Example: `  kubectl ptah wait orders -n app --for insync --timeout 10m
  kubectl ptah wait orders -n app --for awaiting-approval --digest sha256:1c16…
  kubectl ptah wait orders -n app --for applied --plan ptah-plan-4b44084123f0958600629632
  kubectl ptah wait migration/ledger -n app --for insync --fail-fast=never --timeout 1h`,
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
	flags.StringVar(&o.state, "for", "", "State to wait for: "+goalList())
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "How long to wait; 0 looks once")
	flags.StringVar(&o.failFast, "fail-fast", failBlocked,
		"End early when it cannot get there by itself: blocked (not for an approval, which may come), person (also for an approval), never")
	flags.StringVar(&o.digest, "digest", "", "Only a status about this artifact counts (sha256:…)")
	flags.StringVar(&o.plan, "plan", "", "With --for applied: the plan whose Apply is meant")
	o.output = global.AddOutput(flags, render.Text, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(goals(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("fail-fast", cobra.FixedCompletions([]string{failBlocked, failPerson, failNever}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("plan", complete.Plans(global))
	_ = cmd.RegisterFlagCompletionFunc("digest", cobra.NoFileCompletions)
	return cmd
}

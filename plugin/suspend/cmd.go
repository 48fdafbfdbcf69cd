// Package suspend is "kubectl ptah suspend" and "kubectl ptah resume": it says what is in flight and what becomes of it, asks, and sets
// spec.suspend of exactly what was shown.
package suspend

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds "suspend".
func New(global *options.Global) *cobra.Command {
	return build(global, true, &cobra.Command{
		Use:   "suspend NAME | schema/NAME | migration/NAME",
		Short: "Stop a schema or a migration from starting anything new",
		Long: `Stop a schema or a migration from starting anything new.

Shows what is in flight and what suspension does to it, asks, and sets spec.suspend. A reading is
thrown away. An Apply that runs is never stopped: it is watched until its outcome is known. A proof
that is owed after an Apply waits, and keeps the database's lock.

The write demands the UID and the spec that were shown: when only the status moved meanwhile, it is
made again on the new version, up to five times. What is suspended already is left alone
(exit code 0). Refusals have exit code 5.`,
		Example: `  kubectl ptah suspend orders -n app
  kubectl ptah suspend migration/ledger -n app --yes
  kubectl ptah suspend orders -n app --dry-run=server
  kubectl ptah suspend orders -n app --yes && kubectl ptah wait orders -n app --for suspended`,
	})
}

// NewResume builds "resume".
func NewResume(global *options.Global) *cobra.Command {
	return build(global, false, &cobra.Command{
		Use:   "resume NAME | schema/NAME | migration/NAME",
		Short: "Let a suspended schema or migration go on",
		Long: `Let a suspended schema or migration go on.

Shows what comes first, asks, and clears spec.suspend: a proof that is owed after an Apply, or a
reading of everything from the artifact on. A plan that was approved before may be made again.

The write demands the UID and the spec that were shown: when only the status moved meanwhile, it is
made again on the new version, up to five times. What is not suspended is left alone
(exit code 0). Refusals have exit code 5.`,
		Example: `  kubectl ptah resume orders -n app
  kubectl ptah resume migration/ledger -n app --yes
  kubectl ptah resume orders -n app --dry-run=client`,
	})
}

func build(global *options.Global, suspend bool, cmd *cobra.Command) *cobra.Command {
	o := &suspendOptions{global: global, suspend: suspend}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return options.Usagef("want one name, got %s", spelling.Count(len(args), "argument"))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.complete(args[0]); err != nil {
			return err
		}
		return o.run(cmd.Context())
	}
	cmd.ValidArgsFunction = complete.Resources(global)
	flags := cmd.Flags()
	flags.BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	o.dryRun.AddFlag(flags)
	o.output = global.AddOutput(flags, render.Text, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	options.CompleteDryRun(cmd)
	return cmd
}

// Package approve is "kubectl ptah approve": one decision about exactly the plan that was just shown.
package approve

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &approveOptions{global: global}
	cmd := &cobra.Command{
		Use:   "approve SCHEMA",
		Short: "Show the current plan, ask, and approve exactly what was shown",
		Long: `Show the current plan, ask, and approve exactly what was shown.

The approval binds the plan's UID and fingerprint. If the current plan changed between showing
and writing, nothing is written (exit code 5). Without a terminal to ask on, --yes is needed;
give --fingerprint with it, so that a pipeline approves the plan that was reviewed and no other.

The approval's name follows from the plan, so that approving twice makes one approval. Who
approved and when is stamped by the cluster's admission, from the authenticated request.`,
		Example: `  kubectl ptah approve orders -n app
  kubectl ptah approve orders -n app --fingerprint sha256:4b44… --yes
  kubectl ptah approve orders -n app --dry-run=server`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return options.Usagef("want the name of one schema, got %s", spelling.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args[0]); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: complete.Schemas(global),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.fingerprint, "fingerprint", "", "Approve only the plan with this fingerprint (sha256:…)")
	flags.StringVar(&o.plan, "plan", "", "Approve only the plan of this name")
	flags.BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	flags.StringVar(&o.dryRun, "dry-run", dryRunNone, "client: show what would be sent; server: let the cluster check it, without storing it")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	o.output = global.AddOutput(flags, render.Text, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("plan", complete.Plans(global))
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions([]string{dryRunClient, dryRunServer, dryRunNone}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

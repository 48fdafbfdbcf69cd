// Package prune is "kubectl ptah prune": which stored plans nothing needs any more, and their deletion.
package prune

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &pruneOptions{global: global}
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Show which stored plans nothing needs any more, and delete them",
		Long: `Show which stored plans nothing needs any more, and delete them.

Without --yes nothing is deleted: every plan is shown with the live field that pins it, or with
the reason why it may go. A plan is pinned while one of these names it:

    PtahSchema             status.plan, status.pendingObservation.plan, status.applied.planRef
    PtahMigration          status.plan, status.activeOperation.planRef, status.unresolvedRun.planRef
    PtahSchemaApproval     spec.planRef
    PtahMigrationApproval  spec.planRef

An approval pins its plan as long as it exists, also when it was consumed or is stale: it is the record
of who decided on these bytes. This command deletes no approval. One that is consumed or stale runs
nothing any more, so a person may delete it once its record is exported ("kubectl ptah export" takes
approvals along) or need not be kept; the next run then frees the plan. How many plans, and how many
bytes, are kept by nothing else is said at the end.

With --yes the pins of each plan are read again just before it is deleted, and exactly the
version that was read is deleted: first the plan, then its chunks. A run that was interrupted is
repeated; chunks that it left behind are found. A plan, or such a chunk, whose schema or migration
is being worked on is left for later (exit code 5), because it can become pinned any moment.
Afterwards every pin is looked up again. Nothing restores a deleted plan: --export writes a
bundle first.

If a list that pins depend on cannot be read, nothing that it could pin is deleted.`,
		Example: `  kubectl ptah prune -n app --older-than 30d
  kubectl ptah prune -n app --older-than 30d --keep 5 --export app-plans.tar --yes
  kubectl ptah prune -A --older-than 90d --check        # exit code 4 when something may go
  kubectl ptah prune -n app --schema orders -o name`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return options.Usagef("want no argument, got %q: --schema and --migration choose whose plans", args[0])
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
	flags.StringVarP(&o.selector, "selector", "l", "", "Only plans with these labels")
	flags.StringVar(&o.schema, "schema", "", "Only plans of this schema")
	flags.StringVar(&o.migration, "migration", "", "Only plans of this migration")
	flags.Var(&o.olderThan, "older-than", "Keep plans that are younger, such as 30d, 2w or 12h")
	flags.IntVar(&o.keep, "keep", 0, "Keep so many of each owner's plans that nothing pins, the newest")
	flags.StringVar(&o.export, "export", "", "With --yes: first write what is going to be deleted to this directory or FILE.tar")
	flags.BoolVar(&o.check, "check", false, "Delete nothing, and exit with 4 when plans may go")
	flags.BoolVar(&o.whileOperating, "while-operating", false, "Also delete plans of owners that are being worked on; overrides no pin")
	flags.BoolVar(&o.yes, "yes", false, "Delete what may go")
	flags.StringVar(&o.dryRun, "dry-run", dryRunNone, "With --yes: client sends nothing, server lets the API server check without deleting")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	flags.Int64Var(&o.chunk, "chunk-size", pageSize, "How many objects to read with one request")
	o.output = global.AddOutput(flags, render.Text, render.Wide, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	_ = cmd.RegisterFlagCompletionFunc("schema", complete.AsFlag(complete.Schemas(global)))
	_ = cmd.RegisterFlagCompletionFunc("migration", complete.AsFlag(complete.Migrations(global)))
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions([]string{dryRunNone, dryRunClient, dryRunServer}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// Package clearunresolved is "kubectl ptah clear-unresolved": a person's word that a migration run was accounted for.
package clearunresolved

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &clearOptions{global: global}
	cmd := &cobra.Command{
		Use:   "clear-unresolved MIGRATION",
		Short: "Clear the record of a migration run that nobody accounted for",
		Long: `Clear the record of a migration run that nobody accounted for.

The record stands because the operator cannot tell what a run did to the database. Establish
that first: clearing it hands the next run a database that somebody checked. Do not clear it to
make a resource move again.

The record is shown, with what it can and cannot say, whether the run could still be writing,
and what would write the record again. Then the operation ID is asked for (of a record that an
upgrade adopted, which has none: its Job's UID, else the time of the record). An Event is stored
that keeps who, when and why; then one write removes the record and the condition Blocked, bound to
the version that was shown; a second Event confirms it. Afterwards the next pass of the operator is
watched.

Refused (exit code 5): while the run could still be writing; while a refusal stands that would
bring the record back; when the resource changed since it was shown; without --reason; when the
first Event could not be written. What cannot be told from here, because the database Lease, the Job
or its Pods may not be read, are gone without a trace, or are not named by the record, is refused
until --i-checked-that-nothing-writes says that somebody looked.`,
		Example: `  kubectl ptah clear-unresolved ledger -n app --reason 'row 13 repaired, see INC-4711'
  kubectl ptah clear-unresolved ledger -n app --dry-run=server
  kubectl ptah clear-unresolved ledger -n app --reason '...' --yes-i-established-what-ran=sha256:81fe…`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return options.Usagef("want the name of one migration, got %s", spelling.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.waitGiven = cmd.Flags().Changed("wait")
			if err := o.complete(args[0]); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: complete.Migrations(global),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.token, "yes-i-established-what-ran", "", "The operation ID of the record, instead of typing it when asked")
	flags.StringVar(&o.reason, "reason", "", "What was established and where that is written down; kept in the Event")
	flags.BoolVar(&o.checked, "i-checked-that-nothing-writes", false, "Go on although it cannot be told from here whether the run could still be writing")
	flags.BoolVar(&o.withoutEvent, "without-event", false, "Go on although the Event that keeps who, when and why cannot be written")
	flags.StringVar(&o.coordination, "coordination-namespace", "", "Where the operator keeps the database Leases (default: what its admission configuration says)")
	flags.DurationVar(&o.wait, "wait", 0, "How long to watch for the operator's next pass; 0 does not watch (default: until it is due, at most 15m)")
	o.dryRun.AddFlag(flags)
	o.output = global.AddOutput(flags, render.Text, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	options.CompleteDryRun(cmd)
	return cmd
}

// longestWait bounds how long the next pass is watched for when nobody says how long.
const longestWait = 15 * time.Minute

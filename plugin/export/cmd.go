// Package export is "kubectl ptah export": stored plans as a bundle that outlives them.
package export

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &exportOptions{global: global}
	cmd := &cobra.Command{
		Use:   "export {PLAN... | --all | --unpinned} -o {DIR | FILE.tar}",
		Short: "Write stored plans to a bundle that can be verified years later",
		Long: `Write stored plans to a bundle that can be verified years later, without a cluster.

The bundle is a directory, or a tar file when the name ends in .tar. For every plan it holds the
plan object with everything that the plan was computed under, the stored document byte for byte,
the SQL alone and the approvals that name the plan; and for all of it a manifest with the digest
of every file. The same plans give the same bytes.

Every chunk, the content digest and the fingerprint are checked first. If any disagrees, the
chunk is named, nothing is written and the exit code is 1. An existing file is never overwritten
without --force. A migration plan stores no SQL: keep the artifact that it names.`,
		Example: `  kubectl ptah export ptah-plan-4b44084123f0958600629632 -n app -o plan.tar
  kubectl ptah export --unpinned -n app -o backup.tar && kubectl ptah verify backup.tar
  kubectl ptah export --all -A -o plans/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: complete.StoredPlans(global),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.all, "all", false, "Export all stored plans")
	flags.BoolVar(&o.unpinned, "unpinned", false, "Export the plans that no live field names")
	flags.BoolVarP(&o.everywhere, "all-namespaces", "A", false, "With --all or --unpinned: look in all namespaces")
	flags.StringVarP(&o.destination, "output", "o", "", "Where to write the bundle: a directory or FILE.tar")
	flags.BoolVar(&o.force, "force", false, "Replace an existing bundle")
	flags.BoolVar(&o.withoutApprovals, "without-approvals", false, "Leave approvals out, and say so in the manifest")
	o.output = global.AddFormat(flags, render.Text, render.Wide, render.JSON, render.YAML, render.Name)
	_ = cmd.RegisterFlagCompletionFunc("format", complete.Formats(o.output))
	return cmd
}

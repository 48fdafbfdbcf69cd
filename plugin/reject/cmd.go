// Package reject is "kubectl ptah reject": a decision against the plan that waits.
package reject

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &rejectOptions{global: global}
	cmd := &cobra.Command{
		Use:   "reject NAME | schema/NAME | migration/NAME",
		Short: "Decide against the current plan: withdraw its approvals and record why",
		Long: `Decide against the current plan: withdraw its approvals and record why.

What runs a plan is an approval. Rejecting stores an Event that keeps who, when and why, deletes every
approval of the current plan that was not used yet, each bound to the version that was shown, and
stores a second Event that confirms it. It writes nothing else: the API knows no decision against a
plan. So the plan stays current until the artifact, the database or the policy changes, and whoever
may approve could still approve it. To keep it from running for good, publish another artifact or
suspend the resource.

Under spec.policy.apply Always a plan runs without an approval, unless it is a schema's and
destructive; where none is needed there is nothing to withdraw, and suspending is what stops it.

Refused (exit code 5): when an Apply of the plan was claimed, or its proof is owed, because a run that
began is never abandoned (an approval that an earlier run used is in nobody's way); when the policy
runs the plan without an approval, whatever the resource waits for at the moment; when something
changed since it was shown; when the first Event could not be written.`,
		Example: `  kubectl ptah reject orders -n app --reason 'drops a column that reporting still reads'
  kubectl ptah reject migration/ledger -n app --reason '...' --yes --fingerprint sha256:4b44…`,
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
	flags.StringVar(&o.reason, "reason", "", "Why (required); kept in the Event")
	flags.StringVar(&o.fingerprint, "fingerprint", "", "Reject only the plan with this fingerprint (sha256:…)")
	flags.BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	flags.BoolVar(&o.withoutEvent, "without-event", false, "Go on although the Event that keeps who, when and why cannot be written")
	o.dryRun.AddFlag(flags)
	o.output = global.AddOutput(flags, render.Text, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	options.CompleteDryRun(cmd)
	return cmd
}

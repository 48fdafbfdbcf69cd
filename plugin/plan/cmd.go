// Package plan is "kubectl ptah plan": a stored plan, shown only after every digest was checked.
package plan

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &planOptions{global: global}
	cmd := &cobra.Command{
		Use:   "plan SCHEMA",
		Short: "Show a stored plan and its SQL, verified against every digest",
		Long: `Show a stored plan and its SQL.

Every chunk is checked against its digest and size, the joined bytes against the content
digest, and the plan object against its bytes and its fingerprint, before anything reaches
stdout. A plan that does not pass was altered or damaged after it was stored: it cannot be
approved or applied, and nothing of it is printed. Keep the plan object and its ConfigMaps as
they are for whoever investigates.

Output formats:

    text   what a person needs to decide: identity, what it waits for, hazards, SQL
    sql    the statements alone, in plan order, each terminated once
    json   the stored document, byte for byte: its sha256 is the content digest
    yaml   everything that text shows, with the document inside

--name shows any stored plan, of a schema or of a migration, current or not. A migration plan
stores no SQL: its versions and checksums are shown, and json describes it.

Exit code 3 says that there is no such plan: nothing is current, nothing was applied, or no
plan of that name is stored.`,
		Example: `  kubectl ptah plan orders -n app                        # what waits or runs now
  kubectl ptah plan orders -n app --applied -o sql       # what the last proven Apply ran
  kubectl ptah plan orders -n app --name ptah-plan-4b44084123f0958600629632
  kubectl ptah plan orders -n app -o json | sha256sum    # equals the content digest
  kubectl ptah plan orders -n app --jq '.statements[] | select(.severity != "safe") | .sql'`,
		Args: o.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: complete.Schemas(global),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.current, "current", false, "Show the plan that waits or runs now (the default)")
	flags.BoolVar(&o.applied, "applied", false, "Show the plan that the last proven Apply ran")
	flags.StringVar(&o.name, "name", "", "Show the stored plan of this name, current or not")
	o.output = global.AddOutput(flags, render.Text, render.SQL, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("name", complete.Plans(global))
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	return cmd
}

// args wants one schema, which --name makes optional.
func (o *planOptions) args(_ *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return options.Usagef("want one schema, got %s", spelling.Count(len(args), "argument"))
	case len(args) == 1 && args[0] == "", len(args) == 0 && o.name == "":
		return options.Usagef("want the name of a schema; \"kubectl ptah status\" lists them")
	default:
		return nil
	}
}

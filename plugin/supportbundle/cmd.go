// Package supportbundle is "kubectl ptah support-bundle": what a bug report needs, without credentials.
package supportbundle

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &bundleOptions{global: global}
	cmd := &cobra.Command{
		Use:   "support-bundle [NAME | schema/NAME | migration/NAME] -o FILE.tar.gz",
		Short: "Collect what a bug report needs, without credentials",
		Long: `Collect what a bug report needs, without credentials.

The bundle holds Ptah's objects of the namespace (or of one resource, or of all namespaces),
the Events, Jobs and Pods around them, the manager's Deployment, Pods, Leases and the ends of
their logs, the identity of the CRDs, versions and the answers of preflight.

No Secret is read, and no SQL of a plan. Values of environment variables, foreign
annotations, credentials in URLs and whatever looks like a password or a token are taken out.
manifest.json says what is inside and what could not be read; look through the bundle before
you send it. An existing file is never overwritten.

The exit code is 1 when something could not be read; the bundle is written all the same.`,
		Example: `  kubectl ptah support-bundle -n app -o bug.tar.gz
  kubectl ptah support-bundle schema/orders -n app -o orders.tar.gz
  kubectl ptah support-bundle -A -o everything.tar.gz`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
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
	flags.StringVarP(&o.file, "output", "o", "", "File to write, ending in .tar.gz or .tgz")
	o.format = global.AddFormat(flags, render.Text, render.JSON, render.YAML, render.Name)
	_ = cmd.RegisterFlagCompletionFunc("format", complete.Formats(o.format))
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "Collect from all namespaces")
	flags.Int64Var(&o.lines, "log-lines", 2000, "How many lines of each log to take, from the end; 0 takes no logs")
	return cmd
}

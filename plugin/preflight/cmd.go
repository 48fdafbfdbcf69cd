// Package preflight is "kubectl ptah preflight": whether a cluster is ready for a release of the operator, or a namespace for one resource.
package preflight

import (
	"strings"

	"github.com/spf13/cobra"

	checks "github.com/ptah-run/ptah/pkg/preflight"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &preflightOptions{global: global}
	cmd := &cobra.Command{
		Use:   "preflight (--for install|upgrade|uninstall | schema/NAME | migration/NAME)",
		Short: "Check a cluster before Helm changes it, or a namespace before a resource needs it",
		Long: `Check a cluster before Helm changes it, or a namespace before a resource needs it.

With --for: what an install, upgrade or uninstall of the chart of this plugin's version would
stumble over. Give the values files that Helm will get. Nothing is changed, and nothing
reserves what is free now.

With schema/NAME or migration/NAME: Secrets and their keys, policy, registry, quota and
whatever else operation Pods need in the namespace. Of Secrets only the names of keys and
what they grant are looked at; no value is ever shown.

Each check says pass, fail or could not tell, with the fix. The exit code is 0 when all
pass, 4 when any fails, and 1 when none fails and something could not be seen.`,
		Example: `  kubectl ptah preflight --for upgrade --values values.yaml
  kubectl ptah preflight --for install --release ptah --release-namespace ptah-system --values values.yaml
  kubectl ptah preflight schema/orders -n app
  kubectl ptah preflight --for upgrade --jq '.results[] | select(.verdict == "fail") | .details[]'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return options.Usagef("want one resource, got %s", spelling.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args, cmd.Flags().Changed); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: completeResources(global),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.purpose, "for", "", "What is going to happen: install, upgrade or uninstall")
	flags.StringArrayVarP(&o.values, "values", "f", nil, "Values file as Helm gets it, - for stdin; repeatable, the last one on top")
	flags.StringVar(&o.release, "release", "", "Name of the Helm release (default: the installed one, else "+defaultRelease+")")
	flags.StringVar(&o.releaseNamespace, "release-namespace", "", "Namespace of the Helm release (default: of the installed one, else "+defaultNamespace+")")
	flags.BoolVar(&o.offline, "offline", false, "Do not ask the registry for the artifact")
	o.output = global.AddOutput(flags, render.Text, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(purposes(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("release", cobra.NoFileCompletions)
	return cmd
}

func purposes() []string {
	var out []string
	for _, p := range checks.Purposes() {
		out = append(out, string(p))
	}
	return out
}

// completeResources offers KIND/NAME, with the kind that complete.Resources says in its hint.
func completeResources(global *options.Global) complete.Func {
	plain := complete.Resources(global)
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		_, name, _ := strings.Cut(prefix, "/")
		words, directive := plain(cmd, args, name)
		var out []string
		for _, word := range words {
			_, hint, _ := strings.Cut(word, "\t")
			kind := render.KindSchema
			if strings.HasPrefix(hint, "migration ") {
				kind = render.KindMigration
			}
			if offered := kind + "/" + word; strings.HasPrefix(offered, prefix) {
				out = append(out, offered)
			}
		}
		return out, directive
	}
}

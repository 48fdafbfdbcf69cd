// Package version is "kubectl ptah version": which build runs here, and which operator the cluster's resources record.
package version

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &versionOptions{global: global}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this plugin, the cluster and the operator",
		Long: `Print the version of this plugin and, where the cluster can be reached, of Kubernetes, of Ptah's
API and of the operator as a resource of the namespace records it. What cannot be found out is
said on stderr; that alone is no failure.`,
		Example: `  kubectl ptah version
  kubectl ptah version --client
  kubectl ptah version --jq .client.version`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return options.Usagef("version takes no arguments")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.clientOnly, "client", false, "Only this plugin; ask no cluster")
	o.output = global.AddOutput(cmd.Flags(), render.Text, render.JSON, render.YAML, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	return cmd
}

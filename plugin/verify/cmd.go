// Package verify is "kubectl ptah verify": a bundle of plans, proven without a cluster.
package verify

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &verifyOptions{global: global}
	cmd := &cobra.Command{
		Use:   "verify {DIR | FILE.tar}",
		Short: "Prove that an exported bundle is whole and unchanged, without a cluster",
		Long: `Prove that an exported bundle is whole and unchanged, without a cluster.

Every file is compared with the manifest, every plan's document with the digest of each chunk
and of the whole, the fingerprint with everything that it binds, the SQL with the document, and
every approval with the plan that it names. The fingerprint of a migration plan cannot be
computed from the plan alone: its name is checked, and the digest of its files.

A bundle proves itself: whoever can write it can write another. Keep the bundle's digest, which
export and verify print, somewhere else and give it with --digest. Exit code 4 says that
something is wrong, 1 that the bundle cannot be read, 3 that there is none.`,
		Example: `  kubectl ptah verify backup.tar
  kubectl ptah verify plans/ --digest sha256:99a821c0f52b1eb6d643633d5f8e2f5f0f6ed4f6c4f2ab5c46dcf4f9c1f4ad21`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return options.Usagef("want one bundle, got %s", spelling.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.complete(args[0]); err != nil {
				return err
			}
			return o.run()
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.digest, "digest", "", "Digest that the bundle must have, as export printed it")
	o.output = global.AddOutput(flags, render.Text, render.Wide, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	_ = cmd.RegisterFlagCompletionFunc("digest", cobra.NoFileCompletions)
	return cmd
}

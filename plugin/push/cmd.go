// Package push is "kubectl ptah push": it publishes a declared schema or a migration directory as an OCI artifact. It needs no cluster.
package push

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "push",
		Short: "Publish a schema or a migration directory as an OCI artifact",
		Long: `Publish a schema or a migration directory as an OCI artifact and print its digest-pinned
reference. The same input gives the same digest.

Registry credentials come from the Docker configuration of whoever runs the command, credential
helpers included. A registry on a loopback address is spoken to over plain HTTP.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return options.Usagef("unknown kind %q: want \"push schema\" or \"push migrations\"", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSchema(global), newMigrations(global))
	return cmd
}

func newSchema(global *options.Global) *cobra.Command {
	o := &schemaOptions{registryOptions: registryOptions{global: global}}
	cmd := &cobra.Command{
		Use:   "schema [FILE...] oci://REFERENCE",
		Short: "Load SQL, YAML and HCL files into a dev database, read them back and publish the schema",
		Long: `Load files into a fresh scratch database, read the result back as a schema model, and publish
the model together with the files. A directory stands for its *.sql, *.yaml, *.yml and *.hcl
files in the order of their names. A relative path leads to nothing outside of the working
directory.

What YAML and HCL declare is merged and created first, in the order that it needs; SQL files
follow in the order given. The same object declared differently twice is an error that names
both places, and so is SQL that creates what is declared.

The scratch database is created on the server that an environment variable names, PTAH_DEV_URL
unless --dev-url-env names another, and dropped afterwards. Without one, and with PostgreSQL's
server programs on this machine, a disposable server is started on a loopback address in a
temporary directory and removed afterwards. The server says which database the files are for:
PostgreSQL, MySQL or MariaDB.`,
		Example: `  kubectl ptah push schema schema.sql oci://registry.example/app/orders:v2
  kubectl ptah push schema tables/ views.sql oci://registry.example/app/orders:v2 --dev-url-env CI_URL
  kubectl ptah push schema -f schema.hcl -f functions.sql --var owner=app oci://registry.example/app/orders:v2
  kubectl ptah push schema schema.yaml oci://localhost:5000/app/orders:v2 -o json --jq .digest`,
		Args: atLeast(1, "an oci:// reference"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args, cmd.Flags()); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.files, "file", "f", nil, "File or directory that declares the schema; can be repeated")
	flags.StringArrayVar(&o.variables, "var", nil, "Value of an HCL variable as NAME=VALUE; can be repeated")
	_ = cmd.RegisterFlagCompletionFunc("var", cobra.NoFileCompletions)
	flags.BoolVar(&o.empty, "allow-empty", false, "Publish a schema that declares nothing: a database that follows it loses every object")
	o.server.AddFlags(flags)
	o.addFlags(cmd)
	return cmd
}

func newMigrations(global *options.Global) *cobra.Command {
	o := &migrationsOptions{registryOptions: registryOptions{global: global}}
	cmd := &cobra.Command{
		Use:   "migrations DIRECTORY oci://REFERENCE",
		Short: "Publish a migration directory",
		Long: `Publish the *.sql files, the sum file and .ptah-lint.yaml of a migration directory. A sum file
that is present must agree with the files.`,
		Example: `  kubectl ptah push migrations migrations/ oci://registry.example/app/ledger:v13`,
		Args:    exactly(2, "one directory and an oci:// reference"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args, cmd.Flags()); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.format, "dir-format", "", "Format that the directory must have: ptah or atlas (default: what it looks like)")
	flags.BoolVar(&o.verifySum, "verify-sum", false, "Refuse a directory without a sum file")
	_ = cmd.RegisterFlagCompletionFunc("dir-format", cobra.FixedCompletions([]string{"ptah", "atlas"}, cobra.ShellCompDirectiveNoFileComp))
	o.addFlags(cmd)
	return cmd
}

// addFlags adds what both kinds have.
func (o *registryOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.registry.AddFlags(flags)
	flags.StringVar(&o.version, "version", "", "Publish under this tag, and refuse when it names other content already")
	flags.BoolVar(&o.generated, "generated-version", false, "Publish under a new tag made of the time and a random part")
	o.output = o.global.AddOutput(flags, render.Text, render.JSON, render.YAML, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
}

func atLeast(count int, want string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < count {
			return options.Usagef("want at least %s, got %s", want, spelling.Count(len(args), "argument"))
		}
		return nil
	}
}

func exactly(count int, want string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != count {
			return options.Usagef("want %s, got %s", want, spelling.Count(len(args), "argument"))
		}
		return nil
	}
}

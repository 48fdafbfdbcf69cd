// Package schema is "kubectl ptah schema": it shows, compares and formats schemas that are declared in files, published as artifacts or live in
// a database, with the same code as the Jobs. It needs no cluster.
package schema

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

const sourcesHelp = `A schema comes from one of three places:

    FILE...      SQL, YAML and HCL files and directories of them, loaded through a dev server
    oci://...    a published schema, also one that holds nothing but the public toolkit's schema.hcl
    env:NAME     the database whose URL the environment variable NAME holds; it is only read

The dev server is the one that PTAH_DEV_URL names (--dev-url-env names another variable); without
one, a disposable PostgreSQL is started from the programs that are installed here. It says which
database the files are for: PostgreSQL, MySQL or MariaDB.`

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Show, compare and format schemas in files, artifacts and databases",
		Long: `Show, compare and format schemas that are declared in files, published as artifacts, or live
in a database. This needs no cluster, and reads and plans with the same code as the Jobs.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return options.Usagef("unknown word %q: want \"schema inspect\", \"schema diff\" or \"schema fmt\"", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newInspect(global), newDiff(global), newFormat(global))
	return cmd
}

func newInspect(global *options.Global) *cobra.Command {
	o := &inspectOptions{loader: loader{global: global}}
	cmd := &cobra.Command{
		Use:   "inspect SOURCE...",
		Short: "Show a schema as text, SQL, YAML, HCL or its canonical model",
		Long: `Show a schema.

` + sourcesHelp + `

Output formats:

    text   tables with their columns, constraints and indexes, and how much there is of everything
    sql    the statements that create it in an empty database
    yaml   a declaration that loads to the same; what YAML has no words for is an error that names it,
           or SQL in the file that --rest names, which stands beside it
    hcl    the same declaration in HCL
    json   the canonical model, as an artifact holds it`,
		Example: `  kubectl ptah schema inspect schema/                          # what these files declare
  kubectl ptah schema inspect oci://registry.example/app/orders:v2
  kubectl ptah schema inspect --url-env ORDERS_URL -o yaml > schema.yaml
  kubectl ptah schema inspect env:ORDERS_URL -o yaml --rest rest.sql > schema.yaml
  kubectl ptah schema inspect env:ORDERS_URL --jq '.tables[].name'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && o.urlEnv == "" {
				return options.Usagef("want files, an oci:// reference or env:NAME")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(cmd.Context(), cmd.Flags())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.urlEnv, "url-env", "", "Environment variable that holds the URL of the database to show; the same as env:NAME")
	_ = cmd.RegisterFlagCompletionFunc("url-env", cobra.NoFileCompletions)
	flags.StringVar(&o.rest, "rest", "", "File to write as SQL what YAML or HCL has no words for, and what needs that (PostgreSQL)")
	o.addFlags(cmd)
	o.output = global.AddOutput(flags, render.Text, render.SQL, render.JSON, render.YAML, render.HCL, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	return cmd
}

func newDiff(global *options.Global) *cobra.Command {
	o := &diffOptions{loader: loader{global: global}}
	cmd := &cobra.Command{
		Use:   "diff FROM TO",
		Short: "Show the statements that lead from one schema to another, with their severities",
		Long: `Show the statements that lead from one schema to another: what a plan would run on a database
that is as FROM says. --from and --to take more than one file each.

` + sourcesHelp,
		Example: `  kubectl ptah schema diff env:ORDERS_URL schema/               # what the files would change there
  kubectl ptah schema diff oci://registry.example/app/orders:v1 oci://registry.example/app/orders:v2
  kubectl ptah schema diff --from old.sql --to schema.hcl --to views.sql --exit-code
  kubectl ptah schema diff old/ new/ -o sql`,
		Args: func(_ *cobra.Command, args []string) error {
			named := len(o.from) > 0 || len(o.to) > 0
			switch {
			case named && len(args) > 0:
				return options.Usagef("--from and --to stand in place of the arguments")
			case named && (len(o.from) == 0 || len(o.to) == 0):
				return options.Usagef("want both --from and --to")
			case !named && len(args) != 2:
				return options.Usagef("want two schemas, got %s; --from and --to take more than one file each", spelling.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(cmd.Context(), cmd.Flags())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.from, "from", nil, "Source of the first schema; can be repeated for files")
	flags.StringArrayVar(&o.to, "to", nil, "Source of the second schema; can be repeated for files")
	flags.StringArrayVar(&o.exclude, "exclude", nil, "Leave out what this selector names, as policy.exclude of a PtahSchema does; can be repeated")
	flags.BoolVar(&o.exitCode, "exit-code", false, "Exit with 4 when the schemas differ")
	o.addFlags(cmd)
	o.output = global.AddOutput(flags, render.Text, render.SQL, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	return cmd
}

func newFormat(global *options.Global) *cobra.Command {
	o := &formatOptions{global: global}
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Give YAML and HCL declarations their canonical layout",
		Long: `Give YAML and HCL declarations their canonical layout, in place, and print which files changed.
Comments stay. A directory stands for its *.yaml, *.yml and *.hcl files. A file that cannot be
read, or would not say the same in the new layout, is an error, and no file is written.

With --check nothing is written, and the exit code is 4 when a file would change.`,
		Example: `  kubectl ptah schema fmt schema/
  kubectl ptah schema fmt --check schema.yaml schema.hcl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return options.Usagef("want at least one file or directory")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.check, "check", false, "Write nothing; exit with 4 when a file would change")
	o.output = global.AddOutput(flags, render.Text, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	return cmd
}

// addFlags adds what reading a schema takes.
func (l *loader) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&l.variables, "var", nil, "Value of an HCL variable as NAME=VALUE; can be repeated")
	flags.BoolVar(&l.privileges, "privileges", false, "Read the privileges that a database (env:NAME) holds too; files and artifacts show what they declare")
	l.server.AddFlags(flags)
	l.registry.AddFlags(flags)
}

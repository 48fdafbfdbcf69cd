package options

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// DryRun is the --dry-run flag of a verb that changes the cluster.
type DryRun string

// Values of --dry-run.
const (
	DryRunNone   DryRun = "none"
	DryRunClient DryRun = "client"
	DryRunServer DryRun = "server"
)

// AddFlag adds the flag; without a value it means client.
func (d *DryRun) AddFlag(flags *pflag.FlagSet) {
	*d = DryRunNone
	flags.StringVar((*string)(d), "dry-run", string(DryRunNone), "client: show what would be sent; server: let the cluster check it, without storing it")
	flags.Lookup("dry-run").NoOptDefVal = string(DryRunClient)
}

// Validate refuses every other value.
func (d *DryRun) Validate() error {
	switch *d {
	case DryRunNone, DryRunClient, DryRunServer:
		return nil
	}
	return Usagef("--dry-run %q: want client, server or none", string(*d))
}

// CompleteDryRun completes the values.
func CompleteDryRun(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(
		[]string{string(DryRunClient), string(DryRunServer), string(DryRunNone)}, cobra.ShellCompDirectiveNoFileComp))
}

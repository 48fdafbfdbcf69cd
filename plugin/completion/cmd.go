// Package completion is "kubectl ptah completion": the shell scripts that complete words. The live names come from package complete.
package completion

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/plugin/options"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a shell script that completes commands, flags and live names",
		Long: `Print a shell script that completes commands, flags and live names for the program kubectl-ptah.

For "kubectl ptah" no script of Ptah's is needed: kubectl's own completion asks a program named
kubectl_complete-ptah on PATH. It is this same program under a second name:

    ln -s kubectl-ptah "$(dirname "$(command -v kubectl-ptah)")/kubectl_complete-ptah"`,
		Example: `  source <(kubectl ptah completion bash)
  kubectl ptah completion zsh > "${fpath[1]}/_kubectl-ptah"
  kubectl ptah completion fish > ~/.config/fish/completions/kubectl-ptah.fish`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return options.Usagef("want one of bash, zsh, fish, powershell")
			}
			return nil
		},
		ValidArgs:             shells,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			script, err := generate(cmd.Root(), args[0])
			if err != nil {
				return err
			}
			_, err = global.Out.Write(script)
			return err
		},
	}
}

func generate(root *cobra.Command, shell string) ([]byte, error) {
	var script bytes.Buffer
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&script, true)
	case "zsh":
		err = root.GenZshCompletion(&script)
	case "fish":
		err = root.GenFishCompletion(&script, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(&script)
	default:
		return nil, options.Usagef("unknown shell %q: want one of bash, zsh, fish, powershell", shell)
	}
	if err != nil {
		return nil, fmt.Errorf("writing the completion script for %s: %w", shell, err)
	}
	return script.Bytes(), nil
}

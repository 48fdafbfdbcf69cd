package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/database"
	"github.com/ptah-run/ptah/test/cluster/dns"
	"github.com/ptah-run/ptah/test/cluster/forward"
	"github.com/ptah-run/ptah/test/cluster/node"
	"github.com/ptah-run/ptah/test/cluster/process"
	"github.com/ptah-run/ptah/test/cluster/registry"
)

// hidden are the subcommands that a cluster runs for itself.
func hidden() []*cobra.Command {
	commands := []*cobra.Command{
		superviseCommand(), probeCommand(), forwardCommand(), registryCommand(), dnsCommand(), serveDatabaseCommand(),
	}
	for _, command := range commands {
		command.Hidden = true
	}
	return commands
}

func superviseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "supervise CONFIG", Short: "Be process 1 of a cluster's namespaces", Args: exactArgs(1),
		RunE: func(_ *cobra.Command, arguments []string) error {
			if os.Getpid() != 1 {
				return fmt.Errorf("supervise must be process 1 of a namespace of its own, not of the machine's")
			}
			config, err := node.LoadConfig(arguments[0])
			if err != nil {
				return err
			}
			return node.Run(config)
		},
	}
}

func probeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "probe", Short: "Try what a cluster needs of the kernel", Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if os.Getpid() != 1 {
				return fmt.Errorf("probe must run in namespaces of its own")
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(node.Probe())
		},
	}
}

func forwardCommand() *cobra.Command {
	var holder string
	var targets []string
	cmd := &cobra.Command{
		Use: "forward", Short: "Forward inherited sockets into a cluster's network", Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var identity process.Identity
			if err := json.Unmarshal([]byte(holder), &identity); err != nil {
				return fmt.Errorf("decoding --holder: %w", err)
			}
			files := make([]*os.File, len(targets))
			for i, target := range targets {
				files[i] = os.NewFile(uintptr(3+i), target)
			}
			return forward.Serve(cmd.Context(), identity, files, targets)
		},
	}
	cmd.Flags().StringVar(&holder, "holder", "", "process whose network is the target, as JSON")
	cmd.Flags().StringSliceVar(&targets, "targets", nil, "address for each socket")
	return cmd
}

func registryCommand() *cobra.Command {
	var listen, dir string
	cmd := &cobra.Command{
		Use: "registry", Short: "Serve an OCI registry", Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return registry.Serve(cmd.Context(), listen, dir) },
	}
	cmd.Flags().StringVar(&listen, "listen", cluster.RegistryAddress, "address")
	cmd.Flags().StringVar(&dir, "dir", "", "directory of the blobs")
	return cmd
}

func dnsCommand() *cobra.Command {
	var listen, kubeconfig string
	cmd := &cobra.Command{
		Use: "dns", Short: "Serve the names of Services", Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return dns.Run(cmd.Context(), listen, kubeconfig, cluster.Domain)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", cluster.NodeAddress+":53", "address")
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach the API server")
	return cmd
}

func serveDatabaseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve-database OPTIONS", Short: "Serve a throw-away database until terminated", Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			return database.Serve(cmd.Context(), arguments[0], os.Stdout)
		},
	}
}

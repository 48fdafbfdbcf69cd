package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/database"
	"github.com/ptah-run/ptah/test/cluster/dns"
	"github.com/ptah-run/ptah/test/cluster/registry"
)

// hidden are the subcommands that a cluster runs for itself.
func hidden() []*cobra.Command {
	commands := append(platformHidden(), registryCommand(), dnsCommand(), serveDatabaseCommand())
	for _, command := range commands {
		command.Hidden = true
	}
	return commands
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

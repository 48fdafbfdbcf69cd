package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/test/cluster/forward"
	"github.com/ptah-run/ptah/test/cluster/node"
	"github.com/ptah-run/ptah/test/cluster/process"
)

func platformHidden() []*cobra.Command {
	return []*cobra.Command{superviseCommand(), probeCommand(), forwardCommand()}
}

func superviseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "supervise CONFIG", Short: "Be process 1 of a cluster's namespaces", Args: exactArgs(1),
		RunE: func(_ *cobra.Command, arguments []string) error {
			if os.Getpid() != 1 {
				return errors.New("supervise must be process 1 of a namespace of its own, not of the machine's")
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
				return errors.New("probe must run in namespaces of its own")
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

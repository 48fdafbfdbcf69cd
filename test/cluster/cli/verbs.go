package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/kubebin"
)

func newBuild(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "build", Args: exactArgs(0),
		Short: "Build the Kubernetes programs into the cache, unless they are there",
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := kubebin.Resolve(cmd.Context(), kubebin.Options{NoNode: o.noNode, Progress: o.stderr})
			if err != nil {
				return err
			}
			for _, name := range kubebin.Needed(o.noNode) {
				fmt.Fprintln(o.stdout, set.Paths[name])
			}
			return nil
		},
	}
}

func newAssets(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "assets", Args: exactArgs(0),
		Short: "Print a directory for KUBEBUILDER_ASSETS: kube-apiserver, etcd and kubectl, built if they must be",
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := kubebin.Assets(cmd.Context(), o.stderr)
			if err == nil {
				fmt.Fprintln(o.stdout, dir)
			}
			return err
		},
	}
}

func newUp(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "up", Args: exactArgs(0),
		Short: "Start the cluster, or do nothing when it runs",
		RunE: func(cmd *cobra.Command, _ []string) error {
			driver, err := o.driver()
			if err != nil {
				return err
			}
			return driver.Up(cmd.Context(), cluster.UpOptions{Progress: o.stderr, NoNode: o.noNode})
		},
	}
}

func newDown(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "down", Args: exactArgs(0),
		Short: "Stop the cluster and remove everything it left",
		RunE: func(cmd *cobra.Command, _ []string) error {
			driver, err := o.driver()
			if err != nil {
				return err
			}
			return driver.Down(cmd.Context())
		},
	}
}

func newStatus(o *options) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "status", Args: exactArgs(0),
		Short: "Show whether the cluster runs; exit code 3 when it is not ready",
		RunE: func(cmd *cobra.Command, _ []string) error {
			driver, err := o.driver()
			if err != nil {
				return err
			}
			status, err := driver.Status(cmd.Context())
			if err != nil {
				return err
			}
			if err := o.printStatus(status, format); err != nil {
				return err
			}
			if !status.Ready {
				return exitCode(exitDown)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return cmd
}

func (o *options) printStatus(status cluster.Status, format string) error {
	switch format {
	case "json":
		return o.printJSON(status)
	case "text":
	default:
		return usageError{fmt.Errorf("unknown output %q, there are text and json", format)}
	}
	state := "not running"
	if status.Ready {
		state = "ready since " + status.Since.Format(time.RFC3339)
	} else if status.Running {
		state = "running, not ready"
	}
	w := tabwriter.NewWriter(o.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "cluster\t%s (%s)\nstate\t%s\n", status.Name, status.Driver, state)
	for _, line := range [][2]string{
		{"problem", status.Problem},
		{"version", status.Version},
		{"API server", status.APIServer},
		{"registry", status.Registry},
		{"databases", strings.Join(status.Databases, ", ")},
		{"directory", status.StateDir},
	} {
		if line[1] != "" {
			fmt.Fprintf(w, "%s\t%s\n", line[0], line[1])
		}
	}
	for _, c := range status.Components {
		fmt.Fprintf(w, "  %s\t%s, %d restarts\n", c.Name, c.State, c.Restarts)
	}
	return w.Flush()
}

func (o *options) printJSON(value any) error {
	encoder := json.NewEncoder(o.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func newEnv(o *options) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "env", Args: exactArgs(0),
		Short: `Print what a shell needs: eval "$(ptah-cluster env)"`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			driver, err := o.driver()
			if err != nil {
				return err
			}
			env, err := driver.Env(cmd.Context())
			if err != nil {
				return err
			}
			switch format {
			case "json":
				return o.printJSON(env)
			case "shell":
				fmt.Fprint(o.stdout, exports(env))
				return nil
			default:
				return usageError{fmt.Errorf("unknown output %q, there are shell and json", format)}
			}
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "shell", "shell or json")
	return cmd
}

func exports(env cluster.Env) string {
	var text strings.Builder
	for _, variable := range [][2]string{
		{"KUBECONFIG", env.Kubeconfig},
		{nameVariable, env.Name},
		{"PTAH_REGISTRY", env.Registry},
		{"PTAH_REGISTRY_HOST", env.RegistryHost},
	} {
		fmt.Fprintf(&text, "export %s=%s\n", variable[0], quote(variable[1]))
	}
	if env.PathEntry != "" {
		fmt.Fprintf(&text, "export PATH=%s:\"$PATH\"\n", quote(env.PathEntry))
	}
	return text.String()
}

// quote makes one word for a POSIX shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func newExec(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "exec -- COMMAND [ARGUMENT...]",
		Short: "Run a command inside the cluster's namespaces",
		Long: `Run a command where Pods, Services and the registry can be reached by their own addresses, with KUBECONFIG,
PATH and PTAH_REGISTRY set. /run, /var/lib and /var/log are the cluster's, other files are the host's; there is no
network but the cluster's. The exit code is the command's.`,
		Args: func(_ *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return usageError{fmt.Errorf("exec needs a command")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, arguments []string) error {
			driver, err := o.driver()
			if err != nil {
				return err
			}
			code, err := driver.Exec(cmd.Context(), arguments)
			if err != nil {
				return err
			}
			if code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
}

func newLogs(o *options) *cobra.Command {
	var logs cluster.LogOptions
	cmd := &cobra.Command{
		Use:   "logs [COMPONENT]",
		Short: "Show the logs of a component, or the last lines of all",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			driver, err := o.driver()
			if err != nil {
				return err
			}
			if len(arguments) == 1 {
				logs.Component = arguments[0]
			}
			return driver.Logs(cmd.Context(), os.Stdout, logs)
		},
	}
	cmd.Flags().IntVarP(&logs.Lines, "tail", "n", 0, "last lines only")
	cmd.Flags().BoolVarP(&logs.Follow, "follow", "f", false, "keep showing what is written")
	return cmd
}

package cli

import (
	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/test/cluster"
)

const defaultMajor = 15

func newPostgres(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "postgres", Short: "Throw-away PostgreSQL servers in the cluster's network"}
	// --name is the server's here, so the cluster's needs another flag.
	name := cmd.PersistentFlags().String("name", cluster.DefaultDatabase, "name of the server")
	cmd.PersistentFlags().StringVar(&o.name, "cluster", o.name, "name of the cluster [$"+nameVariable+"]")
	cmd.AddCommand(newPostgresUp(o, name), newPostgresStop(o, name), newPostgresDown(o, name))
	return cmd
}

func newPostgresUp(o *options, name *string) *cobra.Command {
	database := cluster.DatabaseOptions{Engine: "postgres"}
	cmd := &cobra.Command{
		Use: "up", Args: exactArgs(0),
		Short: "Start a server, or do nothing when it runs, and print how to reach it as JSON",
		Long: `Start a PostgreSQL server, or do nothing when it runs, and print how to reach it as JSON: "host", "port" and "url"
for Pods and for commands run by exec, "forward" for this machine. The account is the superuser's. The server is fast
and not durable (fsync off, data in memory); one that was stopped goes on with its data. Commands run by exec find
the JSON of the server called default in PTAH_POSTGRES.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			driver, err := o.driver()
			if err != nil {
				return err
			}
			database.Name, database.Progress = *name, o.stderr
			started, err := driver.StartDatabase(cmd.Context(), database)
			if err != nil {
				return err
			}
			return o.printJSON(started)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&database.Major, "major", defaultMajor, "major version")
	flags.IntVar(&database.Port, "port", 0, "port inside the cluster (default 5432 or the next one free)")
	flags.StringVar(&database.Listen, "listen", "", "address inside the cluster's network (default the one that Pods reach)")
	flags.StringVar(&database.LogStatement, "log-statement", "none", "statements to log: none, ddl, mod or all")
	flags.StringArrayVar(&database.Settings, "setting", nil, "server setting NAME=VALUE, may be repeated")
	return cmd
}

func newPostgresStop(o *options, name *string) *cobra.Command {
	return &cobra.Command{
		Use: "stop", Args: exactArgs(0),
		Short: "Stop a server and keep its data: connections are refused until up",
		RunE: func(cmd *cobra.Command, _ []string) error {
			driver, err := o.driver()
			if err != nil {
				return err
			}
			return driver.StopDatabase(cmd.Context(), *name, true)
		},
	}
}

func newPostgresDown(o *options, name *string) *cobra.Command {
	return &cobra.Command{
		Use: "down", Args: exactArgs(0),
		Short: "Stop a server and remove its data",
		RunE: func(cmd *cobra.Command, _ []string) error {
			driver, err := o.driver()
			if err != nil {
				return err
			}
			return driver.StopDatabase(cmd.Context(), *name, false)
		},
	}
}

package cli

import "github.com/spf13/cobra"

func newPostgres(o *options) *cobra.Command {
	return &cobra.Command{Use: "postgres", Short: "Throw-away PostgreSQL servers in the cluster's network"}
}

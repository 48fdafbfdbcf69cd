// Ptah-cluster brings a real single-node Kubernetes up and down for demo and tests.
package main

import (
	"os"

	"github.com/ptah-run/ptah/test/cluster/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }

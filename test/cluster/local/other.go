//go:build !linux

// Package local is the driver that runs a real single-node Kubernetes on a Linux machine.
package local

import "github.com/ptah-run/ptah/test/cluster"

// New says that this machine has no Linux kernel.
func New(string, string) (cluster.Driver, error) {
	return nil, &cluster.MissingError{Needs: []string{"Linux: elsewhere set CLUSTER=kind, which runs the cluster in Docker"}}
}

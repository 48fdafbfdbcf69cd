//go:build tools

// Package binaries pins the programs of the test cluster that are built as they are: etcd and Helm. The
// Kubernetes components come from the hyperkube directory. This module stands alone so that the dependencies of
// k8s.io/kubernetes reach neither the product nor the tool that starts the cluster.
package binaries

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "helm.sh/helm/v4/cmd/helm"
)

//go:build linux

// Package local is the driver that runs a real single-node Kubernetes on this machine: etcd, the Kubernetes components
// and containerd as plain processes in mount, network, process and host name namespaces of their own. The host keeps
// its network, its kernel settings and its files; what appears there is the state directory, control groups that Down
// removes, and listening ports on the loopback address.
package local

import (
	"time"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/database"
	"github.com/ptah-run/ptah/test/cluster/process"
)

// record is what later commands must know about a running cluster. It is written before anything is started that
// would have to be cleaned up.
type record struct {
	Name          string                     `json:"name"`
	Supervisor    process.Identity           `json:"supervisor"` // process 1 of the namespaces, as the host sees it
	Forwarder     process.Identity           `json:"forwarder"`
	APIPort       int                        `json:"apiPort"` // on the host
	RegistryPort  int                        `json:"registryPort"`
	NoNode        bool                       `json:"noNode"`
	Version       string                     `json:"version"`
	Since         time.Time                  `json:"since"`
	Cgroup        string                     `json:"cgroup"`
	CgroupEnabled []string                   `json:"cgroupEnabled,omitempty"` // v2 controllers to switch off again
	Databases     map[string]*databaseRecord `json:"databases,omitempty"`
}

type databaseRecord struct {
	Database  cluster.Database `json:"database"`
	Options   database.Options `json:"options"`
	Forwarder process.Identity `json:"forwarder"`
}

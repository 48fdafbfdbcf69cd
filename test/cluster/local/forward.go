//go:build linux

package local

import (
	"fmt"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/forward"
)

// listen opens the host's ports of the control plane: those of the record where they are set and free.
func (d *Driver) listen(r *record) (*forward.Sockets, error) {
	if r.APIPort == 0 {
		r.APIPort = forward.UsualPort(d.name)
		r.RegistryPort = r.APIPort + 1
	}
	sockets := &forward.Sockets{}
	var err error
	r.APIPort, err = sockets.Add(r.APIPort, fmt.Sprintf("%s:%d", cluster.NodeAddress, cluster.APIServerPort))
	if err == nil {
		r.RegistryPort, err = sockets.Add(r.RegistryPort, cluster.RegistryAddress)
	}
	if err != nil {
		sockets.Close()
		return nil, err
	}
	return sockets, nil
}

// forwardControlPlane replaces a forwarder that is gone. The ports are those in the kubeconfig, or it must not start.
func (d *Driver) forwardControlPlane(r *record) error {
	apiPort := r.APIPort
	sockets, err := d.listen(r)
	if err != nil {
		return err
	}
	defer sockets.Close()
	if r.APIPort != apiPort {
		return fmt.Errorf("port %d of cluster %s is taken by another program: end that, or take the cluster down and up",
			apiPort, d.name)
	}
	return d.startForwarder(r, sockets)
}

func (d *Driver) startForwarder(r *record, sockets *forward.Sockets) error {
	identity, err := sockets.Spawn(d.forwarderProgram(), r.Supervisor, d.state.Path("logs", "forwarder.log"))
	if err != nil {
		return err
	}
	r.Forwarder = identity
	return d.state.Save(r)
}

func (d *Driver) forwarderProgram() string { return d.state.Path("bin", "ptah-cluster") }

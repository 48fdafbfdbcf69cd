//go:build linux

package local

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/ptah-run/ptah/test/cluster/node"
)

const downTimeout = 30 * time.Second

// Down implements cluster.Driver.
func (d *Driver) Down(ctx context.Context) error {
	if !d.state.Exists() {
		return nil
	}
	held, err := d.state.Lock()
	if err != nil {
		return err
	}
	r, err := d.load()
	if err == nil && r != nil {
		err = d.remove(ctx, r)
	} else if err == nil {
		err = d.state.Remove()
	}
	held.Release(err == nil)
	// Gone with its last cluster; the directory of others stays.
	_ = os.Remove(filepath.Dir(string(d.state)))
	return err
}

// remove ends every recorded process, then removes control groups and state. Killing process 1 ends all others in
// its namespace, and mounts and interfaces go with the namespaces.
func (d *Driver) remove(ctx context.Context, r *record) error {
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	identities := []interface{ Kill(context.Context) error }{r.Forwarder}
	for _, database := range r.Databases {
		identities = append(identities, database.Forwarder)
	}
	for _, identity := range append(identities, r.Supervisor) {
		if err := identity.Kill(ctx); err != nil {
			return err
		}
	}
	if !r.NoNode {
		if err := node.RemoveCgroups(node.CgroupRoot, r.Cgroup, r.CgroupEnabled); err != nil {
			return err
		}
	}
	return d.state.Remove()
}

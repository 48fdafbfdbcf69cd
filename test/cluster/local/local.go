//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/namespace"
	"github.com/ptah-run/ptah/test/cluster/node"
	"github.com/ptah-run/ptah/test/cluster/pki"
	"github.com/ptah-run/ptah/test/cluster/state"
)

// Driver is one local cluster. It implements cluster.Driver.
type Driver struct {
	name     string
	cacheDir string
	state    state.Dir
	// program is this tool: the cluster runs copies of it. Tests, which are another program, set it.
	program string
}

var _ cluster.Driver = (*Driver)(nil)

// New returns the driver of the cluster called name. program is the ptah-cluster executable.
func New(name, program string) (*Driver, error) {
	if err := cluster.ValidateName(name); err != nil {
		return nil, err
	}
	cacheDir, err := cluster.CacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cacheDir, "cluster", name)
	return &Driver{name: name, cacheDir: cacheDir, state: state.Dir(dir), program: program}, nil
}

// load returns nil without error when the cluster has no record.
func (d *Driver) load() (*record, error) {
	var r record
	found, err := d.state.Load(&r)
	if err != nil || !found {
		return nil, err
	}
	return &r, nil
}

// running returns the record of a live cluster.
func (d *Driver) running() (*record, error) {
	r, err := d.load()
	if err != nil {
		return nil, err
	}
	if r == nil || !r.Supervisor.Alive() {
		return nil, &cluster.NotRunningError{Name: d.name}
	}
	return r, nil
}

// Env implements cluster.Driver.
func (d *Driver) Env(context.Context) (cluster.Env, error) {
	r, err := d.load()
	if err != nil {
		return cluster.Env{}, err
	}
	// Inside the cluster the host's process ids mean nothing, but then the cluster runs.
	inside := os.Getenv(cluster.InsideVariable) == d.name
	if r == nil || !inside && !r.Supervisor.Alive() {
		return cluster.Env{}, &cluster.NotRunningError{Name: d.name}
	}
	env := cluster.Env{
		Name: d.name, Kubeconfig: d.state.Path("pki", pki.AdminHost), PathEntry: d.state.Path("bin"),
		Registry: cluster.RegistryAddress, RegistryHost: hostAddress(r.RegistryPort),
	}
	if inside {
		env.Kubeconfig, env.RegistryHost = d.state.Path("pki", pki.AdminInside), cluster.RegistryAddress
	}
	return env, nil
}

func hostAddress(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// Exec implements cluster.Driver.
func (d *Driver) Exec(_ context.Context, argv []string) (int, error) {
	env := append(os.Environ(),
		"KUBECONFIG="+d.state.Path("pki", pki.AdminInside),
		"PATH="+d.state.Path("bin")+":"+os.Getenv("PATH"),
		"PTAH_REGISTRY="+cluster.RegistryAddress,
		"PTAH_REGISTRY_HOST="+cluster.RegistryAddress,
		cluster.InsideVariable+"="+d.name)
	switch os.Getenv(cluster.InsideVariable) {
	case "":
	case d.name:
		return 0, errors.New("already inside the cluster: run the command itself")
	default:
		return 0, fmt.Errorf("inside cluster %s: leave it first", os.Getenv(cluster.InsideVariable))
	}
	r, err := d.running()
	if err != nil {
		return 0, err
	}
	if entry := r.Databases[cluster.DefaultDatabase]; entry != nil {
		env = append(env, cluster.PostgresVariable+"="+entry.Database.JSON())
	}
	return namespace.Command(r.Supervisor.PID, argv, env)
}

// Status implements cluster.Driver.
func (d *Driver) Status(ctx context.Context) (cluster.Status, error) {
	status := cluster.Status{Name: d.name, Driver: "local"}
	r, err := d.load()
	if err != nil || r == nil {
		return status, err
	}
	status.NoNode, status.Version, status.Since, status.StateDir = r.NoNode, r.Version, r.Since, string(d.state)
	status.Running = r.Supervisor.Alive()
	if !status.Running {
		status.Problem = "the cluster's first process is gone; up starts it again, down removes what is left"
		return status, nil
	}
	status.APIServer, status.Registry = "https://"+hostAddress(r.APIPort), hostAddress(r.RegistryPort)
	status.Databases = slices.Sorted(maps.Keys(r.Databases))
	inner, err := node.NewControl(r.Supervisor.PID).Status(ctx)
	if err != nil {
		status.Problem = err.Error()
		return status, nil //nolint:nilerr // a cluster that does not answer is a status, not a failure to ask
	}
	status.Ready, status.Problem = inner.Ready, inner.Failure
	for _, p := range inner.Processes {
		status.Components = append(status.Components, cluster.ComponentStatus{
			Name: p.Name, State: p.State, PID: p.PID, Restarts: p.Restarts,
		})
	}
	if !r.Forwarder.Alive() {
		status.Ready, status.Problem = false, "the forwarder of the host's ports is gone; up starts it again"
	}
	return status, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

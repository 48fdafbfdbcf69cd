//go:build linux

package local

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/debian"
	"github.com/ptah-run/ptah/test/cluster/kubebin"
	"github.com/ptah-run/ptah/test/cluster/node"
	"github.com/ptah-run/ptah/test/cluster/pki"
	"github.com/ptah-run/ptah/test/cluster/process"
	"github.com/ptah-run/ptah/test/cluster/registry"
	"github.com/ptah-run/ptah/test/cluster/state"
)

const readyTimeout = 3 * time.Minute

// Up implements cluster.Driver.
func (d *Driver) Up(ctx context.Context, options cluster.UpOptions) error {
	started := time.Now()
	if os.Getenv(cluster.InsideVariable) != "" {
		return fmt.Errorf("a cluster cannot be started inside another one")
	}
	held, err := d.lockAsRoot(ctx, options.NoNode)
	if err != nil {
		return err
	}
	defer held.Release(false)
	done, err := d.adopt(ctx, options)
	if done || err != nil {
		return err
	}
	r, err := d.create(ctx, options)
	if err != nil {
		return err
	}
	if err := d.awaitReady(ctx, r, options.Progress); err != nil {
		return err
	}
	fmt.Fprintf(options.Progress, "cluster %s is up (%s), Kubernetes %s\n", d.name,
		time.Since(started).Round(100*time.Millisecond), r.Version)
	return nil
}

// lockAsRoot says everything that is missing instead of failing at the first file that belongs to root.
func (d *Driver) lockAsRoot(ctx context.Context, noNode bool) (*state.Lock, error) {
	if os.Geteuid() == 0 {
		return d.state.Lock()
	}
	if _, err := preflight(ctx, d.program, d.cacheDir, noNode); err != nil {
		return nil, err
	}
	return nil, &cluster.MissingError{Needs: []string{"root"}}
}

// adopt deals with a cluster that has a record: it is done when that one is well, and removes it otherwise.
func (d *Driver) adopt(ctx context.Context, options cluster.UpOptions) (done bool, err error) {
	r, err := d.load()
	if err != nil {
		return false, err
	}
	if r == nil {
		return false, nil
	}
	if r.Supervisor.Alive() {
		if r.NoNode != options.NoNode {
			return false, fmt.Errorf("cluster %s runs already, %s; take it down first or use another --name", d.name,
				map[bool]string{true: "without a node", false: "with a node"}[r.NoNode])
		}
		inner, err := node.NewControl(r.Supervisor.PID).Status(ctx)
		if err == nil && inner.Failure == "" {
			return true, d.revive(ctx, r, options.Progress)
		}
	}
	fmt.Fprintf(options.Progress, "cluster %s did not come up or has died: removing what is left of it\n", d.name)
	return false, d.remove(ctx, r)
}

// revive waits for a cluster that may still be starting and restores its forwarder.
func (d *Driver) revive(ctx context.Context, r *record, progress io.Writer) error {
	if err := d.awaitReady(ctx, r, progress); err != nil {
		return err
	}
	// Databases and forwarders that are started from now on run the present program.
	if err := state.CopyProgram(d.program, d.state.Path("bin", "ptah-cluster")); err != nil {
		return err
	}
	if !r.Forwarder.Alive() {
		fmt.Fprintln(progress, "the forwarder is gone, starting it again")
		if err := d.forwardControlPlane(r); err != nil {
			return err
		}
	}
	fmt.Fprintf(progress, "cluster %s is up already, Kubernetes %s\n", d.name, r.Version)
	return nil
}

func (d *Driver) create(ctx context.Context, options cluster.UpOptions) (*record, error) {
	packages, err := preflight(ctx, d.program, d.cacheDir, options.NoNode)
	if err != nil {
		return nil, err
	}
	if err := debian.Install(ctx, packages, options.Progress); err != nil {
		return nil, err
	}
	binaries, err := kubebin.Resolve(ctx, kubebin.Options{NoNode: options.NoNode, Progress: options.Progress})
	if err != nil {
		return nil, err
	}
	config, err := d.prepare(binaries, options.NoNode)
	if err != nil {
		return nil, err
	}
	r := &record{
		Name: d.name, NoNode: options.NoNode, Version: binaries.Version, Since: time.Now().UTC(), Cgroup: config.Cgroup,
	}
	if err := d.start(r, config); err != nil {
		if cleanup := d.remove(ctx, r); cleanup != nil {
			fmt.Fprintf(options.Progress, "cleaning up: %v\n", cleanup)
		}
		return nil, err
	}
	return r, nil
}

// prepare fills the state directory with everything that does not need a port.
func (d *Driver) prepare(binaries kubebin.Set, noNode bool) (node.Config, error) {
	config := node.Config{
		Name: d.name, StateDir: string(d.state), Self: d.state.Path("bin", "ptah-cluster"), Binaries: binaries.Paths,
		Cgroup: "ptah-" + d.name, NoNode: noNode,
	}
	if err := d.state.Make("bin", "logs", "etc", "pki", "registry"); err != nil {
		return config, err
	}
	if err := state.CopyProgram(d.program, config.Self); err != nil {
		return config, err
	}
	for _, name := range []string{"kubectl", "helm"} {
		if err := os.Symlink(binaries.Paths[name], d.state.Path("bin", name)); err != nil {
			return config, fmt.Errorf("linking %s: %w", name, err)
		}
	}
	if !noNode {
		if err := prepareNode(&config); err != nil {
			return config, err
		}
	}
	return config, config.WriteFiles()
}

func prepareNode(config *node.Config) error {
	for _, program := range debian.NodePrograms {
		switch program.Name {
		case "containerd":
			config.Binaries["containerd"] = program.Find()
		case "bridge":
			config.CNIDir = filepath.Dir(program.Find())
		}
	}
	image, err := registry.ProgramImage(config.Binaries["pause"])
	if err != nil {
		return err
	}
	config.PauseImage, err = registry.Reference(cluster.RegistryAddress, registry.PauseRepository, image)
	return err
}

// start starts the namespaces and the forwarder. The record is saved before each step that must be undone by Down.
func (d *Driver) start(r *record, config node.Config) error {
	if err := d.state.Save(r); err != nil {
		return err
	}
	sockets, err := d.listen(r)
	if err != nil {
		return err
	}
	defer sockets.Close()
	config.HostURL = "https://" + hostAddress(r.APIPort)
	err = pki.WriteCluster(d.state.Path("pki"), pki.ClusterOptions{
		NodeName: cluster.NodeName, NodeAddress: cluster.NodeAddress, ServiceIP: cluster.ServiceIP,
		InsideURL:   fmt.Sprintf("https://%s:%d", cluster.NodeAddress, cluster.APIServerPort),
		HostURL:     config.HostURL,
		ClusterName: "ptah-cluster-" + d.name,
	})
	if err != nil {
		return err
	}
	if err := config.Save(d.state.Path("etc", "node.json")); err != nil {
		return err
	}
	if !config.NoNode {
		r.CgroupEnabled, err = node.MakeCgroups(node.CgroupRoot, config.Cgroup)
		if err := d.state.Save(r); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
	if err := d.startSupervisor(r, config); err != nil {
		return err
	}
	return d.startForwarder(r, sockets)
}

func (d *Driver) startSupervisor(r *record, config node.Config) error {
	cmd := exec.Command(config.Self, "supervise", d.state.Path("etc", "node.json"))
	cmd.Env = process.CleanEnv()
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: cloneFlags, Setsid: true}
	identity, err := process.Detach(cmd, d.state.Path("logs", "supervisor.log"))
	if err != nil {
		return err
	}
	r.Supervisor = identity
	return d.state.Save(r)
}

// awaitReady reports the steps of process 1 as they happen.
func (d *Driver) awaitReady(ctx context.Context, r *record, progress io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	control, shown := node.NewControl(r.Supervisor.PID), 0
	for {
		if !r.Supervisor.Alive() {
			return fmt.Errorf("the cluster's first process ended:\n%s", tail(d.state.Path("logs", "supervisor.log"), 10))
		}
		status, err := control.Status(ctx)
		if err == nil {
			if !status.Ready || shown > 0 {
				for ; shown < len(status.Steps); shown++ {
					step := status.Steps[shown]
					fmt.Fprintf(progress, "%5.1f s  %s\n", step.Elapsed.Seconds(), step.Name)
				}
			}
			if status.Ready {
				return nil
			}
			if status.Failure != "" {
				return d.explain(status)
			}
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("waiting for cluster %s: %w (ptah-cluster logs shows its components)", d.name, err)
		}
	}
}

// explain adds the last words of components that did not stay up.
func (d *Driver) explain(status node.Status) error {
	text := "starting cluster " + d.name + ": " + status.Failure
	for _, p := range status.Processes {
		if p.State != "running" || p.Restarts > 0 {
			text += "\n" + p.Name + " (" + p.State + ", restarts: " + strconv.Itoa(p.Restarts) + "):\n" +
				tail(d.state.Path("logs", p.Name+".log"), 5)
		}
	}
	return fmt.Errorf("%s\nptah-cluster logs shows more; down removes what is left", text)
}

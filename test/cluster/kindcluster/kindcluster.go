// Package kindcluster is the driver that runs a cluster with sigs.k8s.io/kind, where a Docker (or Podman or nerdctl)
// daemon answers and its images can be had: on a laptop, or where root is not.
//
// No such daemon exists on the machine this was written on. The package compiles against kind and its pure parts are
// tested, but bringing a cluster up with it was never run there.
package kindcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"

	ptah "github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/database"
	"github.com/ptah-run/ptah/test/cluster/process"
	"github.com/ptah-run/ptah/test/cluster/state"
)

// imageVariable names a node image to use instead of the one this version of kind comes with.
const imageVariable = "PTAH_KIND_IMAGE"

const readyTimeout = 5 * time.Minute

// config lets containerd read the registry's address from a directory that is filled once it is known.
const config = `kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
containerdConfigPatches:
- |-
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/certs.d"
`

// record is what later commands must know.
type record struct {
	Since     time.Time              `json:"since"`
	Registry  process.Identity       `json:"registry"`
	Address   string                 `json:"address"` // of the registry, as nodes and Pods see it
	Listen    string                 `json:"listen"`  // of the registry, as the host sees it
	Databases map[string]*serverData `json:"databases,omitempty"`
}

type serverData struct {
	Process  process.Identity `json:"process"`
	Database ptah.Database    `json:"database"`
	Options  database.Options `json:"options"`
}

// Driver is one kind cluster. It implements cluster.Driver of this module.
type Driver struct {
	name    string
	program string
	state   state.Dir
}

var _ ptah.Driver = (*Driver)(nil)

// New returns the driver of the cluster called name. program is the ptah-cluster executable.
func New(name, program string) (*Driver, error) {
	if err := ptah.ValidateName(name); err != nil {
		return nil, err
	}
	cache, err := ptah.CacheDir()
	if err != nil {
		return nil, err
	}
	return &Driver{name: name, program: program, state: state.Dir(filepath.Join(cache, "kind", name))}, nil
}

func (d *Driver) kubeconfig() string { return d.state.Path("kubeconfig") }

// provider finds the daemon, or says how to get one.
func provider(progress io.Writer) (*cluster.Provider, error) {
	option, err := cluster.DetectNodeProvider()
	if err != nil {
		return nil, &ptah.MissingError{Needs: []string{
			"a Docker, Podman or nerdctl daemon for CLUSTER=kind: start it, or on Linux leave CLUSTER unset and use root",
		}}
	}
	return cluster.NewProvider(option, cluster.ProviderWithLogger(logger{progress})), nil
}

// Up implements the Driver interface.
func (d *Driver) Up(ctx context.Context, options ptah.UpOptions) error {
	if options.NoNode {
		return errors.New("a cluster without node is a feature of the local driver")
	}
	if err := needPrograms("kubectl", "helm"); err != nil {
		return err
	}
	kind, err := provider(options.Progress)
	if err != nil {
		return err
	}
	held, err := d.state.Lock()
	if err != nil {
		return err
	}
	defer held.Release(false)
	if err := d.state.Make("logs", "registry"); err != nil {
		return err
	}
	if err := d.ensureCluster(kind, options.Progress); err != nil {
		return err
	}
	return d.ensureRegistry(ctx, kind, options.Progress)
}

func needPrograms(names ...string) error {
	var needs []string
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			needs = append(needs, name+" in PATH")
		}
	}
	if len(needs) > 0 {
		return &ptah.MissingError{Needs: needs}
	}
	return nil
}

func (d *Driver) ensureCluster(kind *cluster.Provider, progress io.Writer) error {
	names, err := kind.List()
	if err != nil {
		return fmt.Errorf("listing kind clusters: %w", err)
	}
	if slices.Contains(names, d.name) {
		fmt.Fprintf(progress, "kind cluster %s exists\n", d.name)
		if _, err := d.load(); err != nil {
			return fmt.Errorf("kind cluster %s was not made by ptah-cluster, use another --name: %w", d.name, err)
		}
		return kind.ExportKubeConfig(d.name, d.kubeconfig(), false)
	}
	// Recorded first: Down removes only what is recorded.
	if err := d.state.Save(record{Since: time.Now().UTC()}); err != nil {
		return err
	}
	create := []cluster.CreateOption{
		cluster.CreateWithRawConfig([]byte(config)), cluster.CreateWithKubeconfigPath(d.kubeconfig()),
		cluster.CreateWithWaitForReady(readyTimeout), cluster.CreateWithDisplayUsage(false),
		cluster.CreateWithDisplaySalutation(false),
	}
	if image := os.Getenv(imageVariable); image != "" {
		create = append(create, cluster.CreateWithNodeImage(image))
	}
	if err := kind.Create(d.name, create...); err != nil {
		return fmt.Errorf("creating kind cluster %s: %w", d.name, err)
	}
	return nil
}

// ensureRegistry runs the registry on the host, where nodes and Pods can reach it, and tells containerd that it
// speaks plain HTTP.
func (d *Driver) ensureRegistry(ctx context.Context, kind *cluster.Provider, progress io.Writer) error {
	r, err := d.load()
	if err != nil {
		return err
	}
	if !r.Registry.Alive() {
		host, listen, err := hostAddress(ctx)
		if err != nil {
			return err
		}
		r.Address, r.Listen = fmt.Sprintf("%s:%d", host, ptah.RegistryPort), fmt.Sprintf("%s:%d", listen, ptah.RegistryPort)
		cmd := exec.Command(d.program, "registry", "--listen", r.Listen, "--dir", d.state.Path("registry"))
		if r.Registry, err = process.Detach(cmd, d.state.Path("logs", "registry.log")); err != nil {
			return err
		}
		if err := d.state.Save(r); err != nil {
			return err
		}
	}
	list, err := kind.ListInternalNodes(d.name)
	if err != nil {
		return fmt.Errorf("listing the nodes of %s: %w", d.name, err)
	}
	for _, n := range list {
		if err := trust(n, r.Address); err != nil {
			return err
		}
	}
	fmt.Fprintf(progress, "cluster %s is up, registry at %s\n", d.name, r.Address)
	return nil
}

func trust(n nodes.Node, address string) error {
	dir := "/etc/containerd/certs.d/" + address
	if err := n.Command("mkdir", "-p", dir).Run(); err != nil {
		return fmt.Errorf("making %s on node %s: %w", dir, n, err)
	}
	if err := nodeutils.WriteFile(n, dir+"/hosts.toml", hostsFile(address)); err != nil {
		return fmt.Errorf("telling node %s about the registry: %w", n, err)
	}
	return nil
}

func hostsFile(address string) string {
	return fmt.Sprintf("server = %q\n\n[host.%q]\n  capabilities = [\"pull\", \"resolve\"]\n",
		"http://"+address, "http://"+address)
}

// hostAddress returns the name by which nodes and Pods reach this host, and the address to listen on for them. A
// Linux daemon shares the host's network stack through its bridge; elsewhere it runs in a virtual machine that
// forwards a well-known name to the host's loopback.
func hostAddress(ctx context.Context) (host, listen string, err error) {
	if runtime.GOOS != "linux" {
		return "host.docker.internal", "127.0.0.1", nil
	}
	const format = "{{range .IPAM.Config}}{{.Gateway}} {{end}}"
	output, err := exec.CommandContext(ctx, "docker", "network", "inspect", "kind", "--format", format).Output()
	if err != nil {
		return "", "", fmt.Errorf("asking Docker for the gateway of its kind network: %w", err)
	}
	gateway := firstIPv4(string(output))
	if gateway == "" {
		return "", "", fmt.Errorf("the kind network has no IPv4 gateway: %q", output)
	}
	return gateway, gateway, nil
}

func firstIPv4(text string) string {
	for _, word := range strings.Fields(text) {
		if strings.Contains(word, ".") && !strings.Contains(word, ":") {
			return word
		}
	}
	return ""
}

// load returns the record of a cluster that was brought up.
func (d *Driver) load() (*record, error) {
	var r record
	found, err := d.state.Load(&r)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, &ptah.NotRunningError{Name: d.name}
	}
	return &r, nil
}

// Down implements the Driver interface.
func (d *Driver) Down(ctx context.Context) error {
	if !d.state.Exists() {
		return nil
	}
	held, err := d.state.Lock()
	if err != nil {
		return err
	}
	err = d.remove(ctx)
	held.Release(err == nil)
	_ = os.Remove(filepath.Dir(string(d.state))) // stays while it has other clusters
	return err
}

func (d *Driver) remove(ctx context.Context) error {
	var r record
	if _, err := d.state.Load(&r); err != nil {
		return err
	}
	identities := []process.Identity{r.Registry}
	for _, server := range r.Databases {
		identities = append(identities, server.Process)
	}
	for _, identity := range identities {
		if err := identity.Kill(ctx); err != nil {
			return err
		}
	}
	kind, err := provider(io.Discard)
	if err != nil {
		return err
	}
	if err := kind.Delete(d.name, d.kubeconfig()); err != nil {
		return fmt.Errorf("deleting kind cluster %s: %w", d.name, err)
	}
	return d.state.Remove()
}

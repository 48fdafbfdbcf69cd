// Package debian finds the system programs a cluster needs and installs the Debian packages of those that are missing.
package debian

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Program is a program the cluster runs from the system.
type Program struct {
	Name    string   // what it is called
	Package string   // Debian package it comes with
	Paths   []string // where to look besides PATH; glob patterns
}

// NodePrograms are those of a cluster with a node.
var NodePrograms = []Program{
	{Name: "containerd", Package: "containerd"},
	{Name: "containerd-shim-runc-v2", Package: "containerd"},
	{Name: "runc", Package: "runc", Paths: []string{"/usr/sbin/runc"}},
	{Name: "bridge", Package: "containernetworking-plugins", Paths: cniPlugin("bridge")},
	{Name: "host-local", Package: "containernetworking-plugins", Paths: cniPlugin("host-local")},
	{Name: "loopback", Package: "containernetworking-plugins", Paths: cniPlugin("loopback")},
	{Name: "nft", Package: "nftables", Paths: []string{"/usr/sbin/nft"}},
	{Name: "iptables", Package: "iptables", Paths: []string{"/usr/sbin/iptables"}},
	{Name: "conntrack", Package: "conntrack", Paths: []string{"/usr/sbin/conntrack"}},
}

// Postgres is the server of PostgreSQL's version in Debian 12.
var Postgres = Program{Name: "postgres", Package: "postgresql-15", Paths: []string{"/usr/lib/postgresql/*/bin/postgres"}}

func cniPlugin(name string) []string {
	return []string{"/usr/lib/cni/" + name, "/opt/cni/bin/" + name, "/usr/libexec/cni/" + name}
}

// Find returns the path of a program, empty when it is not installed.
func (p Program) Find() string {
	for _, pattern := range p.Paths {
		// The patterns are constants of this package and well-formed.
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	if len(p.Paths) > 0 && strings.Contains(p.Paths[0], "cni") {
		return "" // a program of that name in PATH would not be a plugin
	}
	path, err := exec.LookPath(p.Name)
	if err != nil {
		return ""
	}
	return path
}

// MissingPackages returns the packages of those programs that are not installed, sorted.
func MissingPackages(programs []Program) []string {
	var missing []string
	for _, program := range programs {
		if program.Find() == "" && !slices.Contains(missing, program.Package) {
			missing = append(missing, program.Package)
		}
	}
	slices.Sort(missing)
	return missing
}

// CanInstall tells whether Install has a chance: apt is there and we are root.
func CanInstall() bool {
	_, err := exec.LookPath("apt-get")
	return err == nil && os.Geteuid() == 0
}

// Install installs packages with apt-get and says so. Services that come with them are not started, and PostgreSQL
// makes no database cluster of its own: the programs are wanted, nothing else.
func Install(ctx context.Context, packages []string, progress io.Writer) error {
	if len(packages) == 0 {
		return nil
	}
	fmt.Fprintf(progress, "installing Debian packages: %s\n", strings.Join(packages, " "))
	undo, err := quiet()
	if err != nil {
		return err
	}
	defer undo()
	install := append([]string{"install", "-y", "--no-install-recommends"}, packages...)
	if apt(ctx, install) == nil {
		return nil
	}
	// The package lists may be absent or out of date, as in a fresh container.
	if err := apt(ctx, []string{"update"}); err != nil {
		return err
	}
	return apt(ctx, install)
}

func apt(ctx context.Context, arguments []string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-q", "-o", "Dpkg::Use-Pty=0"}, arguments...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running apt-get %s: %w\n%s", strings.Join(arguments, " "), err, lastLines(output, 15))
	}
	return nil
}

// policies are files that hold back what packages do at their installation, while it lasts.
var policies = []struct {
	path, text string
	mode       os.FileMode
}{
	{"/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755},
	{"/etc/postgresql-common/createcluster.d/ptah-cluster.conf", "create_main_cluster = false\n", 0o644},
}

// quiet writes the policies that are not there yet; undo removes what it wrote.
func quiet() (undo func(), err error) {
	var made []string
	undo = func() {
		for _, path := range slices.Backward(made) {
			_ = os.Remove(path) // a directory that has got other files stays
		}
	}
	for _, policy := range policies {
		for _, dir := range absentParents(policy.path) {
			if err := os.Mkdir(dir, 0o755); err != nil {
				undo()
				return nil, fmt.Errorf("making %s: %w", dir, err)
			}
			made = append(made, dir)
		}
		file, err := os.OpenFile(policy.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, policy.mode)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			undo()
			return nil, fmt.Errorf("writing %s: %w", policy.path, err)
		}
		made = append(made, policy.path)
		_, err = file.WriteString(policy.text)
		if err := errors.Join(err, file.Close()); err != nil {
			undo()
			return nil, fmt.Errorf("writing %s: %w", policy.path, err)
		}
	}
	return undo, nil
}

// absentParents returns the missing directories above path, outermost first.
func absentParents(path string) []string {
	var absent []string
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		absent = append(absent, dir)
	}
	slices.Reverse(absent)
	return absent
}

func lastLines(text []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

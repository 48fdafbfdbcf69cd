package kubebin

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
	"time"

	"golang.org/x/sys/unix"
)

// unit is one program to build.
type unit struct {
	name    string
	dir     string // below the source
	pkg     string
	stamped bool // carries the Kubernetes version
	links   []string
}

var allUnits = []unit{
	{name: "hyperkube", dir: "binaries", pkg: "./hyperkube", stamped: true, links: hyperkubeNames},
	{name: "etcd", dir: "binaries", pkg: "go.etcd.io/etcd/server/v3"},
	{name: "helm", dir: "binaries", pkg: "helm.sh/helm/v4/cmd/helm", stamped: true},
	{name: "pause", dir: ".", pkg: "./cmd/pause"},
}

func unitOf(program string) unit {
	for _, u := range allUnits {
		if u.name == program || slices.Contains(u.links, program) {
			return u
		}
	}
	return unit{name: program}
}

func appendUnit(units []unit, u unit) []unit {
	for _, known := range units {
		if known.name == u.name {
			return units
		}
	}
	return append(units, u)
}

// ensure builds those units that dir does not hold yet. Two callers never build at once: the second waits and finds
// the work done.
func ensure(ctx context.Context, source, dir string, units []unit, progress io.Writer) error {
	if len(absent(dir, units)) == 0 {
		return nil
	}
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("the Kubernetes programs must be built, and there is no go command: install Go 1.26 or newer, " +
			"or point " + kubeBinVariable + " at a directory with the v1.37 programs")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the cache directory: %w", err)
	}
	release, err := lockBuild(ctx, filepath.Join(dir, ".lock"), progress)
	if err != nil {
		return err
	}
	defer release()
	missing := absent(dir, units)
	if len(missing) == 0 {
		return nil
	}
	return build(ctx, source, dir, missing, progress)
}

func absent(dir string, units []unit) []unit {
	var missing []unit
	for _, u := range units {
		for _, file := range append([]string{u.name}, u.links...) {
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				missing = append(missing, u)
				break
			}
		}
	}
	return missing
}

func lockBuild(ctx context.Context, path string, progress io.Writer) (func(), error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the build lock: %w", err)
	}
	for told := false; ; told = true {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			file.Close()
			return nil, fmt.Errorf("locking the build: %w", err)
		}
		if !told {
			fmt.Fprintln(progress, "another process is building the same programs, waiting for it")
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func build(ctx context.Context, source, dir string, units []unit, progress io.Writer) error {
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.name
	}
	fmt.Fprintf(progress, "building %s (Kubernetes %s, etcd %s, Helm %s) into %s\n",
		strings.Join(names, ", "), KubernetesVersion, EtcdVersion, HelmVersion, dir)
	meter := newMeter(progress)
	defer meter.stop()
	meter.plan(ctx, source, units)
	for _, u := range units {
		if err := buildUnit(ctx, source, dir, u, meter); err != nil {
			return err
		}
	}
	meter.finish()
	return nil
}

func buildUnit(ctx context.Context, source, dir string, u unit, meter *meter) error {
	meter.begin(u.name)
	temporary := filepath.Join(dir, "."+u.name+".building")
	flags := "-s -w"
	if u.stamped {
		flags += stamp()
	}
	// No -trimpath: the compile work is then shared with every other build of the same modules on this machine.
	cmd := exec.CommandContext(ctx, "go", "build", "-v", "-buildvcs=false", "-ldflags="+flags, "-o", temporary, u.pkg)
	cmd.Dir = filepath.Join(source, u.dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("building %s: %w", u.name, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("building %s: %w", u.name, err)
	}
	complaints := meter.watch(stderr)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", u.name, err, complaints)
	}
	for _, link := range u.links {
		path := filepath.Join(dir, link)
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("replacing %s: %w", link, err)
		}
		if err := os.Symlink(u.name, path); err != nil {
			return fmt.Errorf("linking %s: %w", link, err)
		}
	}
	if err := os.Rename(temporary, filepath.Join(dir, u.name)); err != nil {
		return fmt.Errorf("keeping %s: %w", u.name, err)
	}
	return nil
}

// stamp is what a released binary carries: charts check the version.
func stamp() string {
	const variable = " -X k8s.io/component-base/version."
	numbers := strings.Split(strings.TrimPrefix(KubernetesVersion, "v"), ".")
	return variable + "gitVersion=" + KubernetesVersion + variable + "gitMajor=" + numbers[0] +
		variable + "gitMinor=" + numbers[1] + variable + "gitTreeState=clean"
}

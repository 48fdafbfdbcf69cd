//go:build linux

package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CgroupRoot is where control groups are mounted.
const CgroupRoot = "/sys/fs/cgroup"

// requiredControllers must be there for the kubelet to start; hugetlb is used where the machine has it.
var (
	requiredControllers = []string{"cpuset", "cpu", "memory", "pids"}
	wantedControllers   = []string{"cpuset", "cpu", "io", "memory", "hugetlb", "pids"}
)

// Unified tells whether root is a cgroup v2 hierarchy.
//
// The v2 branch of this file could not be run on the machine it was written on, which has cgroup v1: it follows the
// kernel's documentation and is covered by tests on a directory tree only.
func Unified(root string) bool {
	var stat unix.Statfs_t
	return unix.Statfs(root, &stat) == nil && stat.Type == unix.CGROUP2_SUPER_MAGIC
}

// MakeCgroups makes the cluster's directory below every controller (v1) or below the one hierarchy (v2). It returns
// the v2 controllers that it switched on at the root, for RemoveCgroups to switch off again.
func MakeCgroups(root, name string) ([]string, error) {
	if Unified(root) {
		return makeUnified(root, name)
	}
	return nil, makeLegacy(root, name)
}

func makeLegacy(root, name string) error {
	hierarchies, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("listing the cgroup hierarchies: %w", err)
	}
	for _, hierarchy := range hierarchies {
		if !hierarchy.IsDir() {
			continue
		}
		if err := os.MkdirAll(filepath.Join(root, hierarchy.Name(), name), 0o755); err != nil {
			return fmt.Errorf("making a %s cgroup: %w", hierarchy.Name(), err)
		}
	}
	// A new cpuset is empty and takes no process before it has processors and memory nodes.
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(root, "cpuset", file))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		if err := os.WriteFile(filepath.Join(root, "cpuset", name, file), value, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", file, err)
		}
	}
	return nil
}

func makeUnified(root, name string) ([]string, error) {
	added, err := enableControllers(root)
	if err != nil {
		return added, err
	}
	own := filepath.Join(root, name)
	if err := os.MkdirAll(own, 0o755); err != nil {
		return added, fmt.Errorf("making the cluster's cgroup: %w", err)
	}
	_, err = enableControllers(own)
	return added, err
}

// enableControllers delegates the wanted controllers to the children of a v2 directory and returns those that were
// not delegated before.
func enableControllers(dir string) ([]string, error) {
	available, err := readFields(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return nil, err
	}
	enabled, err := readFields(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return nil, err
	}
	var added []string
	for _, controller := range wantedControllers {
		if slices.Contains(enabled, controller) {
			continue
		}
		required := slices.Contains(requiredControllers, controller)
		if !slices.Contains(available, controller) {
			if required {
				return added, fmt.Errorf("cgroup controller %s is not available in %s", controller, dir)
			}
			continue
		}
		err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
		if err == nil {
			added = append(added, controller)
		} else if required {
			return added, fmt.Errorf("switching on cgroup controller %s in %s (inside a container, its processes must "+
				"first move to a cgroup below): %w", controller, dir, err)
		}
	}
	return added, nil
}

// RemoveCgroups removes the cluster's directories, deepest first, and switches added controllers off again. The
// processes in them must have been killed; the kernel may need a moment to let go of them.
func RemoveCgroups(root, name string, added []string) error {
	var dirs []string
	if Unified(root) {
		dirs = []string{filepath.Join(root, name)}
	} else {
		found, err := filepath.Glob(filepath.Join(root, "*", name))
		if err != nil {
			return fmt.Errorf("finding the cluster's cgroups: %w", err)
		}
		dirs = found
	}
	for _, dir := range dirs {
		if err := removeTree(dir); err != nil {
			return err
		}
	}
	for _, controller := range added {
		// Another program may rely on it by now; the kernel refuses then, and rightly so.
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("-"+controller), 0o644)
	}
	return nil
}

// removeTree removes a cgroup and everything below. Only directories are removed: the files in them are the
// kernel's.
func removeTree(dir string) error {
	const patience, pause = 5 * time.Second, 50 * time.Millisecond
	deadline := time.Now().Add(patience)
	for {
		err := removeOnce(dir)
		if err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("removing cgroup %s: %w", dir, err)
		}
		time.Sleep(pause)
	}
}

func removeOnce(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeOnce(filepath.Join(dir, entry.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return unix.Rmdir(dir)
}

func readFields(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return strings.Fields(string(data)), nil
}

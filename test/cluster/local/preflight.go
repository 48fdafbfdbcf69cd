//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/debian"
	"github.com/ptah-run/ptah/test/cluster/kubebin"
)

// Disk space in bytes: a build fills Go's caches, a cluster only its logs and its registry.
const (
	diskToBuild = 8 << 30
	diskToRun   = 1 << 30
)

// cloneFlags are the namespaces of a cluster.
const cloneFlags = unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWUTS

// preflight says everything that is missing at once, before anything is started. It returns the Debian packages that
// the caller must install.
func preflight(ctx context.Context, self, cacheDir string, noNode bool) ([]string, error) {
	var needs []string
	if os.Geteuid() != 0 {
		needs = append(needs, "root, to make namespaces and control groups: run the same command with sudo -E, "+
			"or use CLUSTER=kind where Docker can be used without root")
	} else {
		needs = append(needs, probeKernel(ctx, self)...)
	}
	missing, err := kubebin.Missing(noNode)
	if err != nil {
		return nil, err
	}
	needs = append(needs, checkDisk(cacheDir, len(missing) > 0)...)
	needs = append(needs, checkCgroups(noNode)...)
	var packages []string
	if !noNode {
		packages = debian.MissingPackages(debian.NodePrograms)
	}
	if len(packages) > 0 && !debian.CanInstall() {
		list := strings.Join(packages, " ")
		needs = append(needs, "the programs of these Debian packages: "+list+" (as root: apt-get install "+list+")")
	}
	if len(needs) > 0 {
		return nil, &cluster.MissingError{Needs: needs}
	}
	return packages, nil
}

func checkDisk(dir string, build bool) []string {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return []string{fmt.Sprintf("disk space: cannot ask how much %s has: %v", dir, err)}
	}
	free, needed, why := stat.Bavail*uint64(stat.Bsize), uint64(diskToRun), "logs and images"
	if build {
		needed, why = diskToBuild, "building Kubernetes"
	}
	if free >= needed {
		return nil
	}
	return []string{fmt.Sprintf("disk space for %s: %s has %.1f GiB free, %d GiB are needed (free some, or set "+
		"PTAH_CACHE_DIR, GOCACHE and GOMODCACHE to a larger disk)", why, dir, float64(free)/(1<<30), needed>>30)}
}

func checkCgroups(noNode bool) []string {
	if noNode {
		return nil
	}
	entries, err := os.ReadDir("/sys/fs/cgroup")
	if err != nil || len(entries) == 0 {
		return []string{"control groups: nothing is mounted on /sys/fs/cgroup (mount -t cgroup2 none /sys/fs/cgroup; " +
			"in a container, start it with --cgroupns=host and privileged)"}
	}
	return nil
}

// probeKernel runs this program once in namespaces like the cluster's.
func probeKernel(ctx context.Context, self string) []string {
	cmd := exec.CommandContext(ctx, self, "probe")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: cloneFlags}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	output, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) {
		return []string{"the right to make namespaces: refused by the kernel (in a container, start it privileged)"}
	}
	if err != nil {
		return []string{fmt.Sprintf("namespaces of its own: %v %s", err, complaints.String())}
	}
	var missing []string
	if err := json.Unmarshal(output, &missing); err != nil {
		return []string{fmt.Sprintf("namespaces of its own: reading the probe's answer: %v", err)}
	}
	return missing
}

//go:build linux

package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ptah-run/ptah/test/cluster"
)

// isolate arranges the mount namespace. Nothing here reaches the host: every mount is made private first.
func isolate(config Config) error {
	if err := unix.Sethostname([]byte(cluster.NodeName)); err != nil {
		return fmt.Errorf("setting the host name: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	// The file may be a link into /run, which is about to be covered.
	resolver, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil {
		resolver = ""
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	if err := mountDirectories(config); err != nil {
		return err
	}
	// The kubelet's mount propagation needs a shared root; it is shared only within this namespace.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("sharing the mounts within the cluster: %w", err)
	}
	if err := showSysctls(kubeletSysctls); err != nil {
		return err
	}
	return writeResolver(resolver)
}

// mountDirectories gives the cluster directories of its own where its programs insist on fixed paths.
func mountDirectories(config Config) error {
	// State and cache may be below a directory that is about to be covered: keep handles to them.
	kept, err := keep(config.StateDir, filepath.Dir(config.Self), filepath.Dir(config.Binaries["etcd"]))
	if err != nil {
		return err
	}
	defer closeAll(kept)
	if err := tmpfs("/run", "mode=755"); err != nil {
		return err
	}
	for _, dir := range []string{
		runDir + "/etcd", runDir + "/containerd", runDir + "/cni", runDir + "/volumeplugins", runDir + "/tmp",
		DatabaseDir, runDir + "/var-lib/upper", runDir + "/var-lib/work", "/run/netns", "/run/lock",
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making %s: %w", dir, err)
		}
	}
	// An overlay instead of a tmpfs: what the host keeps in /var/lib stays visible, writes stay here, and no directory
	// has to be made on the host to mount on.
	overlay := "lowerdir=/var/lib,upperdir=" + runDir + "/var-lib/upper,workdir=" + runDir + "/var-lib/work"
	if err := unix.Mount("overlay", "/var/lib", "overlay", 0, overlay); err != nil {
		return fmt.Errorf("covering /var/lib: %w", err)
	}
	if err := os.MkdirAll("/var/lib/kubelet", 0o755); err != nil {
		return fmt.Errorf("making /var/lib/kubelet: %w", err)
	}
	for _, dir := range []string{"/var/lib/kubelet", "/var/log"} {
		if err := tmpfs(dir, "mode=755"); err != nil {
			return err
		}
	}
	return restore(kept)
}

func tmpfs(dir, options string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		return fmt.Errorf("mounting a tmpfs on %s: %w", dir, err)
	}
	return nil
}

// keep opens those directories that would be hidden by the cluster's own mounts.
func keep(dirs ...string) (map[string]*os.File, error) {
	kept := map[string]*os.File{}
	for _, dir := range dirs {
		if kept[dir] != nil || !hidden(dir) {
			continue
		}
		f, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			return nil, fmt.Errorf("opening %s: %w", dir, err)
		}
		kept[dir] = f
	}
	return kept, nil
}

func hidden(dir string) bool {
	for _, cover := range []string{"/run/", "/var/run/", "/var/lib/", "/var/log/"} {
		if strings.HasPrefix(dir+"/", cover) {
			return true
		}
	}
	return false
}

func restore(kept map[string]*os.File) error {
	for dir, f := range kept {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making %s: %w", dir, err)
		}
		source := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
		if err := unix.Mount(source, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("showing %s inside the cluster: %w", dir, err)
		}
	}
	return nil
}

func closeAll(files map[string]*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// kubeletSysctls are the global kernel settings the kubelet sets at its start. It writes only where the value
// differs, so it is shown the values it wants and the machine's stay as they are.
var kubeletSysctls = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

func showSysctls(wanted map[string]string) error {
	for name, value := range wanted {
		path := "/proc/sys/" + name
		current, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || err == nil && strings.TrimSpace(string(current)) == value {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		shown := filepath.Join(runDir, "sysctl-"+strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(shown, []byte(value+"\n"), 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", shown, err)
		}
		if err := unix.Mount(shown, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("covering %s: %w", path, err)
		}
	}
	return nil
}

// writeResolver points commands inside the cluster at its DNS server; Pods get an empty file through the kubelet and
// their own from it.
func writeResolver(resolver string) error {
	empty := filepath.Join(runDir, "resolv-empty.conf")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", empty, err)
	}
	if resolver == "" {
		return nil
	}
	own := filepath.Join(runDir, "resolv.conf")
	text := fmt.Sprintf("nameserver %s\nsearch default.svc.%[2]s svc.%[2]s %[2]s\n", cluster.NodeAddress, cluster.Domain)
	if err := os.WriteFile(own, []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", own, err)
	}
	if _, err := os.Stat(resolver); err != nil {
		if err := os.MkdirAll(filepath.Dir(resolver), 0o755); err != nil {
			return fmt.Errorf("making the directory of %s: %w", resolver, err)
		}
		return os.WriteFile(resolver, []byte(text), 0o644)
	}
	if err := unix.Mount(own, resolver, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("covering %s: %w", resolver, err)
	}
	return nil
}

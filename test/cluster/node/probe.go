//go:build linux

package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Probe tries, inside throw-away namespaces, what a cluster will need of the kernel, and returns what is missing and
// how to get it. Nothing it makes outlives the namespaces.
func Probe() []string {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return []string{"mounts of its own: " + err.Error() + " (in a container, start it privileged)"}
	}
	var missing []string
	for _, probe := range []func() string{probeOverlay, probeBridge, probeVeth, probeNftables, probeForwarding} {
		if problem := probe(); problem != "" {
			missing = append(missing, problem)
		}
	}
	return missing
}

func probeOverlay() string {
	const dir = "/dev/shm"
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		return "a tmpfs: mounting one on " + dir + ": " + err.Error()
	}
	for _, name := range []string{"upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return "a tmpfs: " + err.Error()
		}
	}
	options := "lowerdir=/var/lib,upperdir=" + dir + "/upper,workdir=" + dir + "/work"
	if err := unix.Mount("overlay", dir+"/merged", "overlay", 0, options); err != nil {
		return "overlay mounts: " + err.Error() + " (modprobe overlay)"
	}
	return ""
}

func probeBridge() string {
	if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "probe0"}}); err != nil {
		return "network bridges: " + err.Error() + " (modprobe bridge)"
	}
	return ""
}

func probeVeth() string {
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "probe1"}, PeerName: "probe2"}
	if err := netlink.LinkAdd(pair); err != nil {
		return "virtual Ethernet pairs: " + err.Error() + " (modprobe veth)"
	}
	return ""
}

// probeNftables is silent where nft is not installed yet.
func probeNftables() string {
	path, err := exec.LookPath("nft")
	if err != nil {
		return ""
	}
	rules := "add table ip probe; add chain ip probe nat { type nat hook output priority -100 ; }; " +
		"add rule ip probe nat ip daddr 10.96.0.1 tcp dport 443 dnat to 10.88.0.1:6443"
	if output, err := exec.Command(path, rules).CombinedOutput(); err != nil {
		return "nftables with address translation: " + strings.TrimSpace(string(output)) + " (modprobe nf_tables nft_nat)"
	}
	return ""
}

func probeForwarding() string {
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return "a /proc of its own: " + err.Error() + " (in a container, start it privileged)"
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return "forwarding between interfaces: " + err.Error()
	}
	return ""
}

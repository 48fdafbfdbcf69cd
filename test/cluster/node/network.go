//go:build linux

package node

import (
	"fmt"
	"net"
	"os"

	"github.com/vishvananda/netlink"

	"github.com/ptah-run/ptah/test/cluster"
)

const bridgeName = "cni0"

// network gives the namespace a loopback, the bridge that Pods are plugged into, and a default route, without which
// the kernel refuses addresses of Services before it translates them.
func network() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("finding the loopback interface: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("setting the loopback interface up: %w", err)
	}
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridgeName}}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("adding bridge %s: %w", bridgeName, err)
	}
	_, pods, err := net.ParseCIDR(cluster.PodCIDR)
	if err != nil {
		return fmt.Errorf("reading the Pod network: %w", err)
	}
	address := &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(cluster.NodeAddress), Mask: pods.Mask}}
	if err := netlink.AddrAdd(bridge, address); err != nil {
		return fmt.Errorf("giving bridge %s its address: %w", bridgeName, err)
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		return fmt.Errorf("setting bridge %s up: %w", bridgeName, err)
	}
	everywhere := &net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}
	route := &netlink.Route{LinkIndex: bridge.Index, Scope: netlink.SCOPE_LINK, Dst: everywhere}
	if err := netlink.RouteAdd(route); err != nil {
		return fmt.Errorf("adding the default route: %w", err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return fmt.Errorf("switching on forwarding: %w", err)
	}
	return nil
}

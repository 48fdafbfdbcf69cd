//go:build linux

package forward

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/ptah-run/ptah/test/cluster/process"
)

// Host ports are taken from a range below the kernel's ephemeral ports.
const portBase, portSpan = 20000, 12000

// UsualPort is where the search for a free port begins. It depends on the name, so that what is made again usually
// has the ports it had.
func UsualPort(name string) int {
	const apart = 4 // room for the ports of one name next to each other
	hash := fnv.New32a()
	hash.Write([]byte(name))
	return portBase + int(hash.Sum32()%(portSpan/apart))*apart
}

// Sockets are listening sockets on the host's loopback, to be handed to a forwarder. They are opened by the caller so
// that a port once found free cannot be lost to others.
type Sockets struct {
	listeners []*net.TCPListener
	targets   []string
}

// Add listens on the first free port at or after port and returns it.
func (s *Sockets) Add(port int, target string) (int, error) {
	var last error
	for i := range portSpan {
		candidate := portBase + (port-portBase+i)%portSpan
		listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: candidate})
		if err == nil {
			s.listeners, s.targets = append(s.listeners, listener), append(s.targets, target)
			return candidate, nil
		}
		last = err
	}
	return 0, fmt.Errorf("finding a free port on 127.0.0.1: %w", last)
}

// Close closes this process's copies of the sockets.
func (s *Sockets) Close() {
	for _, listener := range s.listeners {
		listener.Close()
	}
}

// Spawn starts program as the forwarder of the sockets into the network of the holder process. It ends with that.
func (s *Sockets) Spawn(program string, holder process.Identity, logFile string) (process.Identity, error) {
	encoded, err := json.Marshal(holder)
	if err != nil {
		return process.Identity{}, fmt.Errorf("encoding the cluster's identity: %w", err)
	}
	cmd := exec.Command(program, "forward", "--holder", string(encoded), "--targets", strings.Join(s.targets, ","))
	cmd.Env = process.CleanEnv()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	for _, listener := range s.listeners {
		file, err := listener.File()
		if err != nil {
			return process.Identity{}, fmt.Errorf("handing over port %s: %w", strconv.Quote(listener.Addr().String()), err)
		}
		defer file.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	}
	return process.Detach(cmd, logFile)
}

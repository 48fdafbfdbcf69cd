//go:build linux

// Package forward carries TCP connections from ports on the host's loopback to addresses inside a cluster's network
// namespace. The host's own network configuration stays as it is.
package forward

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"time"

	"github.com/ptah-run/ptah/test/cluster/namespace"
	"github.com/ptah-run/ptah/test/cluster/process"
)

const dialTimeout = 5 * time.Second

// Serve accepts on inherited listening sockets and connects each to its target, until the process that holds the
// network namespace ends.
func Serve(ctx context.Context, holder process.Identity, files []*os.File, targets []string) error {
	if len(files) != len(targets) {
		return fmt.Errorf("forwarding: %d sockets for %d targets", len(files), len(targets))
	}
	network, err := namespace.OpenNetwork(holder.PID)
	if err != nil {
		return err
	}
	defer network.Close()
	if !holder.Alive() {
		return fmt.Errorf("forwarding: the cluster is gone")
	}
	for i, file := range files {
		listener, err := net.FileListener(file)
		if err != nil {
			return fmt.Errorf("taking over the socket for %s: %w", targets[i], err)
		}
		go accept(ctx, network, listener, targets[i])
	}
	for holder.Alive() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(500 * time.Millisecond):
		}
	}
	return nil
}

func accept(ctx context.Context, network *namespace.Network, listener net.Listener, target string) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Printf("accepting for %s: %v", target, err)
			time.Sleep(100 * time.Millisecond) // out of file descriptors: give them time to come back
			continue
		}
		go carry(ctx, network, conn, target)
	}
}

func carry(ctx context.Context, network *namespace.Network, from net.Conn, target string) {
	defer from.Close()
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	to, err := network.Dial(ctx, target)
	if err != nil {
		log.Printf("connecting to %s: %v", target, err)
		return
	}
	defer to.Close()
	var both sync.WaitGroup
	both.Go(func() { pipe(to, from) })
	both.Go(func() { pipe(from, to) })
	both.Wait()
}

// pipe copies one direction and passes the end of the stream on, leaving the other direction open.
func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from) // either side may hang up at any time
	if tcp, ok := to.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}

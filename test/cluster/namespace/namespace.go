//go:build linux

// Package namespace enters the Linux namespaces of a running cluster.
package namespace

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// kinds are entered in this order: the mount namespace last, because the others are opened through /proc.
var kinds = []struct {
	name string
	flag int
}{
	{"uts", unix.CLONE_NEWUTS},
	{"net", unix.CLONE_NEWNET},
	{"pid", unix.CLONE_NEWPID},
	{"mnt", unix.CLONE_NEWNS},
}

// Command runs a command in the namespaces of process pid, with this process's standard streams and working
// directory, and returns its exit code. Interrupts are left to the child, which shares the terminal.
func Command(pid int, argv, env []string) (int, error) {
	dir, err := os.Getwd()
	if err != nil {
		return 0, fmt.Errorf("finding the working directory: %w", err)
	}
	type result struct {
		code int
		err  error
	}
	results := make(chan result)
	go func() {
		// Never unlocked: the thread has changed namespaces and ends with this goroutine.
		runtime.LockOSThread()
		if err := enter(pid); err != nil {
			results <- result{err: err}
			return
		}
		code, err := run(dir, argv, env)
		results <- result{code, err}
	}()
	r := <-results
	return r.code, r.err
}

// enter moves the calling thread; its children are born in the process namespace.
func enter(pid int) error {
	files := make([]*os.File, len(kinds))
	for i, kind := range kinds {
		f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/ns/" + kind.name)
		if err != nil {
			return fmt.Errorf("opening the %s namespace of the cluster: %w", kind.name, err)
		}
		defer f.Close()
		files[i] = f
	}
	// A thread that shares root and working directory with others may not change its mount namespace.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("separating the thread's working directory: %w", err)
	}
	for i, kind := range kinds {
		if err := unix.Setns(int(files[i].Fd()), kind.flag); err != nil {
			return fmt.Errorf("entering the %s namespace of the cluster: %w", kind.name, err)
		}
	}
	return nil
}

func run(dir string, argv, env []string) (int, error) {
	if err := os.Setenv("PATH", lookup(env, "PATH")); err != nil {
		return 0, fmt.Errorf("setting PATH: %w", err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// No Pdeathsig: the runtime would compare parent process ids across namespaces and kill the child at once.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("running %s inside the cluster: %w", argv[0], err)
	}
	go func() {
		for received := range signals {
			if received != syscall.SIGINT && received != syscall.SIGQUIT {
				_ = cmd.Process.Signal(received) // a child that is gone needs no signal
			}
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("running %s inside the cluster: %w", argv[0], err)
	}
	return 0, nil
}

func lookup(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if len(entry) > len(name) && entry[:len(name)] == name && entry[len(name)] == '=' {
			value = entry[len(name)+1:]
		}
	}
	return value
}

// Network is an open network namespace.
type Network struct{ file *os.File }

// OpenNetwork opens the network namespace of process pid. The namespace lives at least until Close.
func OpenNetwork(pid int) (*Network, error) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/ns/net")
	if err != nil {
		return nil, fmt.Errorf("opening the network namespace of the cluster: %w", err)
	}
	return &Network{file: f}, nil
}

// Close closes the namespace.
func (n *Network) Close() error { return n.file.Close() }

// Dial connects to an IP address and port inside the namespace. A socket stays in the namespace it was made in, so
// the connection can be used from anywhere.
func (n *Network) Dial(ctx context.Context, address string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result, 1)
	go func() {
		// Never unlocked: the runtime ends the thread instead of reusing it in the wrong namespace.
		runtime.LockOSThread()
		if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
			results <- result{err: fmt.Errorf("entering the network namespace of the cluster: %w", err)}
			return
		}
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", address)
		results <- result{conn, err}
	}()
	r := <-results
	return r.conn, r.err
}

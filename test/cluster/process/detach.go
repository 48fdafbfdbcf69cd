package process

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts a process that outlives this one, with its output appended to a file, and returns its identity.
func Detach(cmd *exec.Cmd, logFile string) (Identity, error) {
	output, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return Identity{}, fmt.Errorf("opening a log: %w", err)
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr, cmd.Dir = output, output, "/"
	if err := cmd.Start(); err != nil {
		return Identity{}, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	identity, err := Identify(cmd.Process.Pid)
	// Only matters where this process lives on, as in tests: it must not keep zombies.
	go cmd.Wait() //nolint:errcheck // the process is watched by its identity
	return identity, err
}

// CleanEnv is the whole environment of the processes of a cluster: a proxy or a kubeconfig of the user's must not leak
// into it.
func CleanEnv() []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/run/ptah", "LANG=C.UTF-8",
		"TMPDIR=/tmp",
	}
}

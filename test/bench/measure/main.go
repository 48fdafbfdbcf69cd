// Command measure runs a program and writes what it needed to a file. The kernel counts the memory of whoever forked a process as that
// process's own, so the one who forks has to be small: this, and not a benchmark that holds thousands of objects.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Figure is what one run of a program needed. Times are nanoseconds.
type Figure struct {
	Elapsed  time.Duration `json:"elapsed"`
	CPU      time.Duration `json:"cpu"`
	Resident int64         `json:"resident"` // bytes, at most
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: measure FILE PROGRAM [ARGUMENT...]")
		os.Exit(2)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...) //nolint:gosec // that is the purpose
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	began := time.Now()
	err := cmd.Run()
	figure := Figure{Elapsed: time.Since(began)}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(127)
	}
	figure.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		figure.Resident = usage.Maxrss * 1024
	}
	data, err := json.Marshal(figure)
	if err == nil {
		err = os.WriteFile(os.Args[1], data, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(127)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

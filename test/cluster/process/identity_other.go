//go:build !linux

package process

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Identify returns the identity of a live process as ps tells it.
func Identify(pid int) (Identity, error) {
	output, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return Identity{}, fmt.Errorf("reading process %d: %w", pid, err)
	}
	start, err := time.ParseInLocation(time.ANSIC, strings.Join(strings.Fields(string(output)), " "), time.Local)
	if err != nil {
		return Identity{}, fmt.Errorf("reading the start time of process %d: %w", pid, err)
	}
	return Identity{PID: pid, Start: uint64(start.Unix())}, nil
}

// Alive tells whether the process still runs.
func (i Identity) Alive() bool {
	if i.PID <= 0 {
		return false
	}
	now, err := Identify(i.PID)
	return err == nil && now == i
}

func (i Identity) end(ctx context.Context, signal syscall.Signal) error {
	if !i.Alive() {
		return nil
	}
	if err := syscall.Kill(i.PID, signal); err != nil && err != syscall.ESRCH {
		return fmt.Errorf("ending process %d: %w", i.PID, err)
	}
	return i.wait(ctx)
}

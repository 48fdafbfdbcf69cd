// Package process starts, watches and ends the processes of a test cluster.
package process

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// Identity names one process for good: process ids are reused, the pair of boot and start time is not. A recorded
// Identity can be killed without ever hitting a stranger.
type Identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // Linux: clock ticks since boot; elsewhere: seconds since 1970
	Boot  string `json:"boot"`  // the Linux kernel's boot id
}

// Kill sends SIGKILL to the process if it is still the same one, and waits until it is gone.
func (i Identity) Kill(ctx context.Context) error { return i.end(ctx, syscall.SIGKILL) }

// Terminate is Kill with SIGTERM.
func (i Identity) Terminate(ctx context.Context) error { return i.end(ctx, syscall.SIGTERM) }

func (i Identity) wait(ctx context.Context) error {
	for i.Alive() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for process %d to end: %w", i.PID, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

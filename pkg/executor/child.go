package executor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// pipeGrace is how long a pipe may stay open after the engine ended: only a process that it left behind holds one.
const pipeGrace = 2 * time.Second

// child is one engine process.
type child struct {
	program   string
	args      []string
	env       []string
	grace     time.Duration // between the request to stop and the kill
	lastCheck func() error  // asked right before the start; its error means that nothing was started
}

// childResult is what became of it. Without started there was no process at all.
type childResult struct {
	started  bool
	stdout   []byte
	overflow bool // more output than allowed; the process was killed
	exitCode int  // 128 + signal number where a signal ended it
	signal   int  // 0 where it ended by itself
	stopped  error
}

// run starts the process in a group of its own and waits for it. When ctx ends, the group is asked to stop and killed after the grace; the
// kernel kills the process should the runner itself die. Standard error goes nowhere: a driver may print anything there. The error is about
// starting; everything later is in the result.
func (c child) run(ctx context.Context) (childResult, error) {
	out := &boundedBuffer{limit: maxAnswer, overflowed: make(chan struct{})}
	cmd := exec.Command(c.program, c.args...) //nolint:gosec // a fixed program with fixed arguments
	cmd.Env = c.env
	cmd.Dir = "/"
	cmd.Stdout = out
	cmd.WaitDelay = pipeGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	started, done := make(chan error, 1), make(chan error, 1)
	go func() {
		// The parent-death signal is tied to the thread that starts the process, so the thread must live as long as the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.lastCheck()
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			done <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return childResult{}, err
	}
	result := childResult{started: true}
	waitErr := c.supervise(ctx, cmd.Process.Pid, out, done, &result)
	if errors.Is(waitErr, exec.ErrWaitDelay) {
		signalGroup(cmd.Process.Pid, syscall.SIGKILL)
	}
	result.stdout = out.kept.Bytes()
	result.exitCode, result.signal = exitStatus(cmd.ProcessState)
	return result, nil
}

func (c child) supervise(ctx context.Context, pid int, out *boundedBuffer, done <-chan error, result *childResult) error {
	select {
	case err := <-done:
		return err
	case <-out.overflowed:
		result.overflow = true
	case <-ctx.Done():
		result.stopped = ctx.Err()
	}
	if !result.overflow {
		signalGroup(pid, syscall.SIGTERM)
		timer := time.NewTimer(c.grace)
		defer timer.Stop()
		select {
		case err := <-done:
			return err
		case <-timer.C:
		}
	}
	signalGroup(pid, syscall.SIGKILL)
	return <-done
}

// signalGroup reaches the process and whatever it started. A group that is already gone is no error.
func signalGroup(pid int, signal syscall.Signal) { _ = syscall.Kill(-pid, signal) }

func exitStatus(state *os.ProcessState) (code, signal int) {
	if state == nil {
		return 255, 0
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), int(status.Signal())
	}
	return state.ExitCode(), 0
}

// boundedBuffer keeps at most limit bytes and says once when there were more. The buffer is not embedded: its ReadFrom would let io.Copy
// go round Write and its bound.
type boundedBuffer struct {
	kept       bytes.Buffer
	limit      int
	overflowed chan struct{}
	over       bool
}

// Write refuses what does not fit, so that the process gets a broken pipe.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.over {
		return 0, errAnswer
	}
	if b.kept.Len()+len(p) > b.limit {
		b.over = true
		close(b.overflowed)
		return 0, errAnswer
	}
	return b.kept.Write(p)
}

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Identify returns the identity of a live process.
func Identify(pid int) (Identity, error) {
	start, _, err := readStat(pid)
	if err != nil {
		return Identity{}, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, fmt.Errorf("reading the boot id: %w", err)
	}
	return Identity{PID: pid, Start: start, Boot: strings.TrimSpace(string(boot))}, nil
}

// Alive tells whether the process still runs; a zombie does not.
func (i Identity) Alive() bool {
	if i.PID <= 0 {
		return false
	}
	now, err := Identify(i.PID)
	if err != nil || now != i {
		return false
	}
	_, state, err := readStat(i.PID)
	return err == nil && state != 'Z' && state != 'X'
}

func (i Identity) end(ctx context.Context, signal syscall.Signal) error {
	if !i.Alive() {
		return nil
	}
	// The descriptor pins the process: should it end and its id be reused between the check and the signal, the
	// signal fails instead of hitting the newcomer.
	fd, err := unix.PidfdOpen(i.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening process %d: %w", i.PID, err)
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	if !i.Alive() {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, signal, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("ending process %d: %w", i.PID, err)
	}
	return i.wait(ctx)
}

// readStat returns the start time and the state of a process.
func readStat(pid int) (start uint64, state byte, err error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, fmt.Errorf("reading process %d: %w", pid, err)
	}
	// The second field is the command in parentheses and may hold anything, so count from its end.
	end := bytes.LastIndexByte(data, ')')
	fields := strings.Fields(string(data[end+1:]))
	const stateField, startField = 0, 19
	if end < 0 || len(fields) <= startField {
		return 0, 0, fmt.Errorf("reading process %d: unexpected form of its stat file", pid)
	}
	start, err = strconv.ParseUint(fields[startField], 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("reading the start time of process %d: %w", pid, err)
	}
	return start, fields[stateField][0], nil
}

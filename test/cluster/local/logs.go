//go:build linux

package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ptah-run/ptah/test/cluster"
)

// Logs implements cluster.Driver. Logs can be read as long as the state directory exists, also after a failed start.
func (d *Driver) Logs(ctx context.Context, w io.Writer, options cluster.LogOptions) error {
	names, err := d.logNames()
	if err != nil {
		return err
	}
	if options.Component == "" {
		lines := options.Lines
		if lines == 0 {
			lines = 10
		}
		for _, name := range names {
			fmt.Fprintf(w, "==> %s <==\n%s\n", name, tail(d.state.Path("logs", name+".log"), lines))
		}
		return nil
	}
	file, err := os.Open(d.state.Path("logs", options.Component+".log"))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("component %q has no log; there are: %s", options.Component, strings.Join(names, ", "))
	}
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", options.Component, err)
	}
	defer file.Close()
	if options.Lines > 0 {
		if err := seekLines(file, options.Lines); err != nil {
			return err
		}
	}
	return follow(ctx, w, file, options.Follow)
}

func (d *Driver) logNames() ([]string, error) {
	files, err := filepath.Glob(d.state.Path("logs", "*.log"))
	if err != nil {
		return nil, fmt.Errorf("listing logs: %w", err)
	}
	if len(files) == 0 {
		return nil, &cluster.NotRunningError{Name: d.name}
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(filepath.Base(file), ".log")
	}
	return names, nil
}

func follow(ctx context.Context, w io.Writer, file *os.File, keepOn bool) error {
	for {
		if _, err := io.Copy(w, file); err != nil {
			return fmt.Errorf("copying a log: %w", err)
		}
		if !keepOn {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil // the reader had enough
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// maxTail bounds how much of a log's end is read to find its last lines.
const maxTail = 1 << 20

func seekLines(file *os.File, lines int) error {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("finding the end of a log: %w", err)
	}
	start := max(0, end-maxTail)
	data := make([]byte, end-start)
	if _, err := file.ReadAt(data, start); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the end of a log: %w", err)
	}
	_, err = file.Seek(start+int64(lastLines(data, lines)), io.SeekStart)
	return err
}

// lastLines returns where the last n lines of data begin.
func lastLines(data []byte, n int) int {
	position := len(bytes.TrimSuffix(data, []byte("\n")))
	for range n {
		position = bytes.LastIndexByte(data[:position], '\n')
		if position < 0 {
			return 0
		}
	}
	return position + 1
}

// tail returns the last n lines of a file, or why they cannot be had.
func tail(path string, n int) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if err := seekLines(file, n); err != nil {
		return err.Error()
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	return strings.TrimRight(string(data), "\n")
}

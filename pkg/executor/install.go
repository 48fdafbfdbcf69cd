package executor

import (
	"io"
	"os"
	"path/filepath"

	"github.com/ptah-run/ptah/pkg/frame"
)

// install copies the running program to path, mode 0755, by one rename: the main container never sees half a binary.
func install(path string) error {
	failed := refuse(frame.CodeConfigurationInvalid, "installing the runner: its volume is missing, full or read-only")
	self, err := os.Executable()
	if err != nil {
		return refuse(frame.CodeInternal, "installing the runner: its own program cannot be found")
	}
	source, err := os.Open(self)
	if err != nil {
		return refuse(frame.CodeInternal, "installing the runner: its own program cannot be read")
	}
	defer func() { _ = source.Close() }()
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return failed
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = io.Copy(temporary, source)
	if closeErr := temporary.Close(); err != nil || closeErr != nil {
		return failed
	}
	if os.Chmod(temporary.Name(), 0o755) != nil || os.Rename(temporary.Name(), path) != nil { //nolint:gosec // a program for another container's user
		return failed
	}
	return nil
}

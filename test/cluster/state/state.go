// Package state keeps what later commands must know about a running cluster, in one directory a cluster.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// recordFile is the record's name in its directory.
const recordFile = "cluster.json"

// Dir is the directory of one cluster.
type Dir string

// Path is a path below the directory.
func (d Dir) Path(elements ...string) string {
	return filepath.Join(append([]string{string(d)}, elements...)...)
}

// Load reads the cluster's record into r and tells whether there is one.
func (d Dir) Load(r any) (bool, error) {
	data, err := os.ReadFile(d.Path(recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the cluster's record: %w", err)
	}
	if err := json.Unmarshal(data, r); err != nil {
		return false, fmt.Errorf("decoding the cluster's record %s: %w", d.Path(recordFile), err)
	}
	return true, nil
}

// Save replaces the record as a whole, so that a reader never sees half of it.
func (d Dir) Save(r any) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the cluster's record: %w", err)
	}
	temporary := d.Path("." + recordFile)
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return fmt.Errorf("writing the cluster's record: %w", err)
	}
	if err := os.Rename(temporary, d.Path(recordFile)); err != nil {
		return fmt.Errorf("replacing the cluster's record: %w", err)
	}
	return nil
}

// Make makes the directory and some below it.
func (d Dir) Make(below ...string) error {
	for _, dir := range append([]string{"."}, below...) {
		if err := os.MkdirAll(d.Path(dir), 0o755); err != nil {
			return fmt.Errorf("making the state directory: %w", err)
		}
	}
	return nil
}

// Remove removes the directory with everything in it.
func (d Dir) Remove() error {
	if err := os.RemoveAll(string(d)); err != nil {
		return fmt.Errorf("removing the state directory: %w", err)
	}
	return nil
}

// Exists tells whether the directory is there.
func (d Dir) Exists() bool {
	_, err := os.Stat(string(d))
	return err == nil
}

// Lock takes the cluster's lock.
func (d Dir) Lock() (*Lock, error) { return Acquire(string(d) + ".lock") }

// Lock keeps other commands from changing the same cluster. The lock file is removed together with the lock when
// remove is set on release, so that nothing stays behind.
type Lock struct {
	file *os.File
	path string
}

// Acquire takes the lock, waiting for another command to end.
func Acquire(path string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the state directory: %w", err)
	}
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("opening the lock file: %w", err)
		}
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
			file.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if sameFile(file, path) {
			return &Lock{file: file, path: path}, nil
		}
		// The holder before us removed the file: the lock on it is worth nothing.
		file.Close()
	}
}

func sameFile(file *os.File, path string) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(held, named)
}

// Release gives the lock up, with remove together with its file.
func (l *Lock) Release(remove bool) {
	if remove {
		_ = os.Remove(l.path) // a lock file that stays is harmless
	}
	l.file.Close()
}

// CopyProgram copies an executable, replacing the target as a whole: processes may be running it.
func CopyProgram(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("opening this program: %w", err)
	}
	defer source.Close()
	temporary := to + ".new"
	target, err := os.OpenFile(temporary, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return fmt.Errorf("copying this program: %w", err)
	}
	_, err = io.Copy(target, source)
	if err := errors.Join(err, target.Close()); err != nil {
		return fmt.Errorf("copying this program: %w", err)
	}
	if err := os.Rename(temporary, to); err != nil {
		return fmt.Errorf("copying this program: %w", err)
	}
	return nil
}

// Package fastdir makes the directories of throw-away servers.
package fastdir

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockName is the file in a directory that its owner holds a lock on, as long as it lives. A process number would say nothing to somebody in another
// namespace.
const lockName = "owner"

// Dir is a directory that belongs to this process.
type Dir struct {
	Path string
	lock *os.File
}

// Make makes a directory in memory where there is one with room: servers write and remove many small files for every database and table. Its path is
// short, because a socket's has at most 107 bytes. What servers of killed programs left behind in memory goes first.
func Make(prefix string) (*Dir, error) {
	const shared, need = "/dev/shm", 1 << 30
	var fs syscall.Statfs_t
	if syscall.Statfs(shared, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < need { //nolint:gosec // a block's size is positive
		return in("", prefix)
	}
	sweep(filepath.Join(shared, prefix+"*"))
	return in(shared, prefix)
}

func in(parent, prefix string) (*Dir, error) {
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, fmt.Errorf("making a directory for a server: %w", err)
	}
	d := &Dir{Path: path}
	if d.lock, err = os.Create(filepath.Join(path, lockName)); err == nil {
		err = syscall.Flock(int(d.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		d.Remove()
		return nil, fmt.Errorf("marking the directory of a server as ours: %w", err)
	}
	return d, nil
}

// Remove removes the directory and everything in it.
func (d *Dir) Remove() {
	_ = os.RemoveAll(d.Path)
	_ = d.lock.Close()
}

func sweep(pattern string) {
	left, _ := filepath.Glob(pattern) // the pattern is valid
	for _, old := range left {
		lock, err := os.Open(filepath.Join(old, lockName))
		if err != nil {
			continue // just being made
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(old)
		}
		_ = lock.Close()
	}
}

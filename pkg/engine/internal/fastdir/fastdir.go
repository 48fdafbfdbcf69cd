// Package fastdir makes the directories of test servers.
package fastdir

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Make makes a directory in memory where there is one with room: servers write and remove many small files for every database and table. Its path is
// short, because a socket's has at most 107 bytes. What servers of killed test binaries left behind in memory goes first: pidFile is where in
// the directory a server writes the number of its process, on the first line.
func Make(prefix, pidFile string) (string, error) {
	const shared, need = "/dev/shm", 1 << 30
	var fs syscall.Statfs_t
	if syscall.Statfs(shared, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < need { //nolint:gosec // a block's size is positive
		return os.MkdirTemp("", prefix)
	}
	sweep(filepath.Join(shared, prefix+"*"), pidFile)
	return os.MkdirTemp(shared, prefix)
}

func sweep(pattern, pidFile string) {
	left, _ := filepath.Glob(pattern) // the pattern is valid
	for _, old := range left {
		data, err := os.ReadFile(filepath.Join(old, pidFile))
		line, _, _ := strings.Cut(string(data), "\n")
		pid, notANumber := strconv.Atoi(strings.TrimSpace(line))
		if err == nil && notANumber == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(old)
		}
	}
}

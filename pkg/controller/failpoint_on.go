//go:build failpoints

package controller

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// failpointEnv names a directory; a file in it named like a step, with "/" written as ".", makes the manager die right after that step. The file
// is removed first, so that the manager dies once.
const failpointEnv = "PTAH_FAILPOINTS"

// failpoint kills the process the hard way, without any chance to tidy up, if a test asked for it.
func failpoint(name string) {
	dir := os.Getenv(failpointEnv)
	if dir == "" {
		return
	}
	if err := os.Remove(filepath.Join(dir, strings.ReplaceAll(name, "/", "."))); err != nil {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

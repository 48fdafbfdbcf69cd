//go:build failpoints

package controller

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// failpointEnv names a directory; a file in it named like a step, with "/" written as ".", makes the manager die right after that step. The file
// is removed first, so that the manager dies once.
const failpointEnv = "PTAH_FAILPOINTS"

// failpointAddress is where a manager without such a directory, one in a Pod, takes the same orders: POST /STEP, or DELETE /STEP to take one back. They are kept in memory only,
// so that the manager dies once.
const failpointAddress = ":8099"

var armed sync.Map

func init() {
	if os.Getenv(failpointEnv) != "" {
		return
	}
	server := &http.Server{Addr: failpointAddress, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch point := strings.TrimPrefix(r.URL.Path, "/"); r.Method {
		case http.MethodPost:
			armed.Store(point, true)
		case http.MethodDelete:
			armed.Delete(point)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})}
	go func() { _ = server.ListenAndServe() }() // a test that cannot reach it fails by itself
}

// failpoint kills the process the hard way, without any chance to tidy up, if a test asked for it.
func failpoint(name string) {
	if !ordered(name) {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	// The kernel ignores that for the first process of a container. Leaving at once runs no deferred function either.
	os.Exit(int(128 + syscall.SIGKILL)) //nolint:forbidigo // dying is what this build is for
}

func ordered(name string) bool {
	dir := os.Getenv(failpointEnv)
	if dir == "" {
		_, found := armed.Load(name)
		return found
	}
	return os.Remove(filepath.Join(dir, strings.ReplaceAll(name, "/", "."))) == nil
}

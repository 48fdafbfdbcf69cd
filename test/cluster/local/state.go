// Package local is the driver that runs a real single-node Kubernetes on this machine: etcd, the Kubernetes components
// and containerd as plain processes in mount, network, process and host name namespaces of their own. The host keeps
// its network, its kernel settings and its files; what appears there is the state directory, control groups that Down
// removes, and listening ports on the loopback address.
package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/database"
	"github.com/ptah-run/ptah/test/cluster/process"
)

// record is what later commands must know about a running cluster. It is written before anything is started that
// would have to be cleaned up.
type record struct {
	Name          string                     `json:"name"`
	Supervisor    process.Identity           `json:"supervisor"` // process 1 of the namespaces, as the host sees it
	Forwarder     process.Identity           `json:"forwarder"`
	APIPort       int                        `json:"apiPort"` // on the host
	RegistryPort  int                        `json:"registryPort"`
	NoNode        bool                       `json:"noNode"`
	Version       string                     `json:"version"`
	Since         time.Time                  `json:"since"`
	Cgroup        string                     `json:"cgroup"`
	CgroupEnabled []string                   `json:"cgroupEnabled,omitempty"` // v2 controllers to switch off again
	Databases     map[string]*databaseRecord `json:"databases,omitempty"`
}

type databaseRecord struct {
	Database  cluster.Database `json:"database"`
	Options   database.Options `json:"options"`
	Forwarder process.Identity `json:"forwarder"`
}

// state is the directory of one cluster.
type state struct{ dir string }

func (s state) path(elements ...string) string {
	return filepath.Join(append([]string{s.dir}, elements...)...)
}

// load returns nil without error when the cluster has no record.
func (s state) load() (*record, error) {
	data, err := os.ReadFile(s.path("cluster.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the cluster's record: %w", err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("decoding the cluster's record %s: %w", s.path("cluster.json"), err)
	}
	return &r, nil
}

// save replaces the record as a whole, so that a reader never sees half of it.
func (s state) save(r *record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the cluster's record: %w", err)
	}
	temporary := s.path(".cluster.json")
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return fmt.Errorf("writing the cluster's record: %w", err)
	}
	if err := os.Rename(temporary, s.path("cluster.json")); err != nil {
		return fmt.Errorf("replacing the cluster's record: %w", err)
	}
	return nil
}

// lock keeps other commands from changing the same cluster. The lock file is removed together with the lock when
// remove is set on release, so that nothing stays behind.
type lock struct {
	file *os.File
	path string
}

func acquire(path string) (*lock, error) {
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
			return &lock{file: file, path: path}, nil
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

func (l *lock) release(remove bool) {
	if remove {
		_ = os.Remove(l.path) // a lock file that stays is harmless
	}
	l.file.Close()
}

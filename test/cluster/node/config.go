//go:build linux

// Package node is what runs inside the namespaces of a local cluster: process 1, which prepares mounts, network and
// cgroups, starts the components and keeps them running until it is killed.
package node

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ptah-run/ptah/test/cluster/process"
)

// Paths inside the mount namespace. /run is a tmpfs of the cluster's own, so all of it vanishes with the namespace.
const (
	runDir     = "/run/ptah"
	SocketPath = runDir + "/control.sock"
	// DatabaseDir holds the data directories of throw-away databases.
	DatabaseDir = runDir + "/databases"
)

// Config is written by `up` and read by process 1.
type Config struct {
	Name       string            `json:"name"`
	StateDir   string            `json:"stateDir"`
	Self       string            `json:"self"`     // this program, for its own subcommands
	Binaries   map[string]string `json:"binaries"` // component to path
	CNIDir     string            `json:"cniDir"`
	Cgroup     string            `json:"cgroup"` // directory name below each controller
	NoNode     bool              `json:"noNode"`
	PauseImage string            `json:"pauseImage"` // reference by digest
	HostURL    string            `json:"hostUrl"`    // API server as the host sees it
}

// LoadConfig reads a Config.
func LoadConfig(path string) (Config, error) {
	var config Config
	data, err := os.ReadFile(path)
	if err != nil {
		return config, fmt.Errorf("reading the node configuration: %w", err)
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return config, fmt.Errorf("decoding the node configuration: %w", err)
	}
	return config, nil
}

// Save writes the Config.
func (c Config) Save(path string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the node configuration: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("writing the node configuration: %w", err)
	}
	return nil
}

func (c Config) pki(file string) string { return filepath.Join(c.StateDir, "pki", file) }
func (c Config) etc(file string) string { return filepath.Join(c.StateDir, "etc", file) }

// LogFile is where a component writes.
func (c Config) LogFile(component string) string {
	return filepath.Join(c.StateDir, "logs", component+".log")
}

// Status is the answer of process 1 to GET /status.
type Status struct {
	Ready     bool            `json:"ready"`
	Failure   string          `json:"failure,omitempty"`
	Steps     []Step          `json:"steps"`
	Processes []process.State `json:"processes"`
}

// Step is something process 1 has done, with the time since its start.
type Step struct {
	Name    string        `json:"name"`
	Elapsed time.Duration `json:"elapsed"`
}

// Package cluster is the vocabulary of the test clusters: what a driver can do, where a cluster keeps its state, and
// what it tells its users. The drivers are in the packages local (a real single-node Kubernetes in namespaces of its
// own) and kindcluster (sigs.k8s.io/kind, where a Docker daemon answers).
package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Names of clusters when the user gives none.
const (
	DefaultName = "ptah"
	// APIOnlyName is the default name of a cluster without node, so that it can run beside a full one.
	APIOnlyName = "ptah-api"
)

// Addresses inside a local cluster. They may be equal in several clusters: each has a network namespace of its own.
const (
	NodeName        = "node1"
	NodeAddress     = "10.88.0.1" // the bridge: Pods reach the registry, DNS and databases here
	PodCIDR         = "10.88.0.0/16"
	ServiceCIDR     = "10.96.0.0/16"
	ServiceIP       = "10.96.0.1" // kubernetes.default
	Domain          = "cluster.local"
	APIServerPort   = 6443
	RegistryPort    = 5000
	RegistryAddress = "10.88.0.1:5000"
)

// Environment variables of commands that Driver.Exec runs, besides KUBECONFIG, PATH and those of Env.
const (
	// InsideVariable holds the name of the cluster.
	InsideVariable = "PTAH_CLUSTER_INSIDE"
	// PostgresVariable holds the Database called DefaultDatabase as JSON, where it was started.
	PostgresVariable = "PTAH_POSTGRES"
)

// DefaultDatabase is the name of a database server when the user gives none.
const DefaultDatabase = "default"

// Driver brings one cluster up and down. Every method may be called by a process of its own.
type Driver interface {
	// Up starts the cluster, or does nothing when it runs already.
	Up(ctx context.Context, options UpOptions) error
	// Down stops the cluster and removes everything it left on the machine; no error when there is nothing.
	Down(ctx context.Context) error
	// Status tells whether the cluster runs, without changing anything.
	Status(ctx context.Context) (Status, error)
	// Env returns what a shell needs to use the cluster. *NotRunningError when it does not run.
	Env(ctx context.Context) (Env, error)
	// Exec runs a command where the cluster's own addresses can be reached and returns its exit code.
	Exec(ctx context.Context, argv []string) (int, error)
	// Logs writes the logs of a component to w; an empty component means the last lines of all of them.
	Logs(ctx context.Context, w io.Writer, options LogOptions) error
	// StartDatabase starts a throw-away database server that Pods can reach.
	StartDatabase(ctx context.Context, options DatabaseOptions) (Database, error)
	// StopDatabase stops it; no error when there is none of that name. With keep its data stays, and StartDatabase
	// goes on with it at the same addresses.
	StopDatabase(ctx context.Context, name string, keep bool) error
}

// UpOptions changes what Up starts.
type UpOptions struct {
	Progress io.Writer // told what happens, one line a step; never nil
	NoNode   bool      // API server, etcd and controller-manager only: no Pod ever runs
}

// LogOptions selects what Logs shows.
type LogOptions struct {
	Component string
	Lines     int // last lines, 0 for everything
	Follow    bool
}

// DatabaseOptions describes a throw-away database server.
type DatabaseOptions struct {
	Name         string
	Engine       string // "postgres"
	Major        int    // major version of the server
	Port         int    // inside the cluster; 0: 5432 or the next one free
	Listen       string // address inside the cluster's network; empty: the one that Pods reach
	LogStatement string // PostgreSQL's log_statement: none, ddl, mod or all
	Settings     []string
	Progress     io.Writer
}

// Database tells how to reach a database server. Host, Port and URL are for Pods and for commands run by exec. The
// password is the superuser's.
type Database struct {
	Name     string  `json:"name"`
	Engine   string  `json:"engine"`
	Version  string  `json:"version"`
	User     string  `json:"user"`
	Password string  `json:"password"`
	Host     string  `json:"host"`
	Port     int     `json:"port"`
	URL      string  `json:"url"`
	Forward  Forward `json:"forward"` // the same server for programs on the host
	LogFile  string  `json:"logFile"`
}

// JSON is the description in one line.
func (d Database) JSON() string {
	data, err := json.Marshal(d)
	if err != nil {
		return "" // strings and numbers always encode
	}
	return string(data)
}

// Forward is an address on the host's loopback.
type Forward struct {
	Host string `json:"host"`
	Port int    `json:"port"`
	URL  string `json:"url"`
}

// Env is what a shell needs.
type Env struct {
	Name         string `json:"name"`
	Kubeconfig   string `json:"kubeconfig"`
	PathEntry    string `json:"path"`         // directory with kubectl and helm
	Registry     string `json:"registry"`     // host:port as Pods and the kubelet see it
	RegistryHost string `json:"registryHost"` // host:port as the host sees it
}

// Status is a snapshot for people and scripts.
type Status struct {
	Name       string            `json:"name"`
	Driver     string            `json:"driver"`
	Running    bool              `json:"running"`
	Ready      bool              `json:"ready"`
	NoNode     bool              `json:"noNode,omitempty"`
	Version    string            `json:"version,omitempty"`
	Since      time.Time         `json:"since,omitzero"`
	StateDir   string            `json:"stateDir,omitempty"`
	APIServer  string            `json:"apiServer,omitempty"`
	Registry   string            `json:"registry,omitempty"`
	Components []ComponentStatus `json:"components,omitempty"`
	Databases  []string          `json:"databases,omitempty"`
	Problem    string            `json:"problem,omitempty"`
}

// ComponentStatus is one process of a cluster.
type ComponentStatus struct {
	Name     string `json:"name"`
	State    string `json:"state"` // running, exited or restarting
	PID      int    `json:"pid,omitempty"`
	Restarts int    `json:"restarts"`
}

// NotRunningError says that a verb needs a running cluster.
type NotRunningError struct{ Name string }

func (e *NotRunningError) Error() string {
	return fmt.Sprintf("cluster %s is not running; start it with: ptah-cluster up --name %s", e.Name, e.Name)
}

// MissingError lists what the machine lacks. Each entry says how to get it.
type MissingError struct{ Needs []string }

func (e *MissingError) Error() string {
	text := "this machine cannot run the cluster yet:"
	for _, need := range e.Needs {
		text += "\n  - " + need
	}
	return text
}

var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$`)

// ValidateName refuses names that could not be a directory, a cgroup and a DNS label at once.
func ValidateName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("cluster name %q: want 1 to 32 lower case letters, digits and inner dashes", name)
	}
	return nil
}

// CacheDir is the directory outside the checkout that holds binaries and the state of running clusters:
// $PTAH_CACHE_DIR, else ptah below the user's cache directory.
func CacheDir() (string, error) {
	if dir := os.Getenv("PTAH_CACHE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache directory (set PTAH_CACHE_DIR): %w", err)
	}
	return filepath.Join(base, "ptah"), nil
}

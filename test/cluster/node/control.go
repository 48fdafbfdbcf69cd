//go:build linux

package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ptah-run/ptah/test/cluster/process"
)

// stopTimeout is how long a process may take to end by itself.
const stopTimeout = 10 * time.Second

// listen opens the control socket; the returned function serves it and blocks.
func (n *Node) listen() (func() error, error) {
	listener, err := net.Listen("unix", SocketPath)
	if err != nil {
		return nil, fmt.Errorf("opening the control socket: %w", err)
	}
	if err := os.Chmod(SocketPath, 0o600); err != nil {
		return nil, fmt.Errorf("closing the control socket to others: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", n.serveStatus)
	mux.HandleFunc("POST /processes", n.serveStart)
	mux.HandleFunc("DELETE /processes/{name}", n.serveStop)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	return func() error { return server.Serve(listener) }, nil
}

func (n *Node) serveStatus(w http.ResponseWriter, _ *http.Request) {
	n.mu.Lock()
	status := n.status
	status.Steps = slices.Clone(n.status.Steps)
	n.mu.Unlock()
	status.Processes = n.processes.List()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(status) // a client that went away needs no answer
}

func (n *Node) serveStart(w http.ResponseWriter, r *http.Request) {
	var spec process.Spec
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&spec); err != nil {
		http.Error(w, "decoding the process: "+err.Error(), http.StatusBadRequest)
		return
	}
	if spec.Name == "" || len(spec.Argv) == 0 || spec.LogFile == "" {
		http.Error(w, "a process needs a name, arguments and a log file", http.StatusBadRequest)
		return
	}
	if err := n.processes.Start(spec); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
	}
}

func (n *Node) serveStop(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), stopTimeout)
	defer cancel()
	if err := n.processes.Stop(ctx, r.PathValue("name")); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// Control talks to process 1 of a cluster from the host.
type Control struct{ http http.Client }

// NewControl reaches the control socket through the root directory of process pid, so that it needs no path on the
// host, which could be too long for a socket.
func NewControl(pid int) *Control {
	path := "/proc/" + strconv.Itoa(pid) + "/root" + SocketPath
	var dialer net.Dialer
	return &Control{http: http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", path)
		},
	}}}
}

// Status asks how the cluster is.
func (c *Control) Status(ctx context.Context) (Status, error) {
	var status Status
	data, err := c.call(ctx, http.MethodGet, "/status", nil)
	if err != nil {
		return status, fmt.Errorf("asking the cluster for its status: %w", err)
	}
	if err := json.Unmarshal(data, &status); err != nil {
		return status, fmt.Errorf("decoding the cluster's status: %w", err)
	}
	return status, nil
}

// Start runs another process in the cluster.
func (c *Control) Start(ctx context.Context, spec process.Spec) error {
	body, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encoding process %s: %w", spec.Name, err)
	}
	if _, err := c.call(ctx, http.MethodPost, "/processes", body); err != nil {
		return fmt.Errorf("starting %s in the cluster: %w", spec.Name, err)
	}
	return nil
}

// Stop ends a process of the cluster; no error when there is none.
func (c *Control) Stop(ctx context.Context, name string) error {
	if _, err := c.call(ctx, http.MethodDelete, "/processes/"+name, nil); err != nil {
		return fmt.Errorf("stopping %s in the cluster: %w", name, err)
	}
	return nil
}

func (c *Control) call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://cluster"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s", strings.TrimSpace(string(data)))
	}
	return data, nil
}

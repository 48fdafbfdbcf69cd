package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ptah-run/ptah/test/standin"
)

// account is who the manager is: as a service account it has the share of the API server that priority and fairness give it. An administrator's
// requests are never held back, and would prove nothing.
var account = envtest.User{
	Name:   "system:serviceaccount:ptah-system:ptah-operator",
	Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ptah-system", "system:authenticated"},
}

// manager is a process of its own, as a Pod would run it.
type manager struct {
	cmd     *exec.Cmd
	done    chan struct{}
	metrics string // URL
	log     string // path
}

func (b *bench) launch(ctx context.Context) (*manager, error) {
	kubeconfig, err := b.server.User(account)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	m := &manager{done: make(chan struct{}), metrics: "http://" + address + "/metrics", log: filepath.Join(b.server.Directory, "manager.log")}
	log, err := os.Create(m.log)
	if err != nil {
		return nil, fmt.Errorf("creating the manager's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	m.cmd = exec.Command(b.manager, //nolint:gosec // our own build
		"--controller-image=manager@"+standin.Sum("manager"), "--controller-revision=bench", "--executor-image=executor@"+standin.Sum("executor"),
		"--runner-image=runner@"+standin.Sum("runner"), "--ptah-version=bench", "--coordination-namespace="+coordination,
		"--leader-elect=false", "--webhooks=false", "--metrics-bind-address="+address, "--health-probe-bind-address=0")
	m.cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	m.cmd.Stdout, m.cmd.Stderr = log, log
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	go func() {
		_ = m.cmd.Wait()
		close(m.done)
	}()
	return m, m.ready(ctx)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

func (m *manager) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		_, err := m.scrape(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-m.done:
			return errors.Join(errors.New("starting the manager: it ended"), m.lastWords())
		case <-ctx.Done():
			m.stop()
			return fmt.Errorf("waiting for the manager's metrics: %w", err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// stop ends the manager as a kubelet does.
func (m *manager) stop() {
	_ = m.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-m.done:
	case <-time.After(30 * time.Second):
		_ = m.cmd.Process.Kill()
		<-m.done
	}
}

// lastWords are the last lines of the manager's log.
func (m *manager) lastWords() error {
	data, err := os.ReadFile(m.log)
	if err != nil {
		return fmt.Errorf("reading the manager's log: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return errors.New("the manager's last words:\n" + strings.Join(lines[max(0, len(lines)-5):], "\n"))
}

// complaints counts the errors in the manager's log.
func (m *manager) complaints() (int, error) {
	data, err := os.ReadFile(m.log)
	if err != nil {
		return 0, fmt.Errorf("reading the manager's log: %w", err)
	}
	return bytes.Count(data, []byte(`"level":"ERROR"`)), nil
}

// memory of the manager in bytes: now, and at most since the peak was forgotten.
type memory struct{ now, peak int64 }

func (m *manager) memory() (memory, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))
	if err != nil {
		return memory{}, fmt.Errorf("reading the manager's memory: %w", err)
	}
	var out memory
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(line, ":")
		value, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			out.now = value << 10
		case "VmHWM":
			out.peak = value << 10
		}
	}
	if out.now == 0 || out.peak == 0 {
		return memory{}, errors.New("reading the manager's memory: it has ended")
	}
	return out, nil
}

// forgetPeak lets the kernel count the peak anew. Where it may not, the peak is that of the whole run: never too low.
func (m *manager) forgetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", m.cmd.Process.Pid), []byte("5"), 0o600)
}

func (m *manager) scrape(ctx context.Context) (*sample, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.metrics, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading the manager's metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	return read(response.Body)
}

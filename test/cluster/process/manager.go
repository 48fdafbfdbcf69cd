package process

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"sort"
	"sync"
	"syscall"
	"time"
)

// restartDelay keeps a component that dies at once from spinning.
const restartDelay = time.Second

// Spec is one process to run.
type Spec struct {
	Name    string   `json:"name"`
	Argv    []string `json:"argv"`
	Env     []string `json:"env,omitempty"` // added to the manager's own
	LogFile string   `json:"logFile"`       // appended to
	Restart bool     `json:"restart"`       // start it again when it ends by itself
	// StopSignal is sent by Stop before SIGKILL; 0 means SIGTERM.
	StopSignal syscall.Signal `json:"stopSignal,omitempty"`
}

// State tells about one process.
type State struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"`
	State    string `json:"state"` // running, restarting or exited
	Exit     string `json:"exit,omitempty"`
	Restarts int    `json:"restarts"`
}

// Manager starts processes and reaps every child of this process, also those it inherits as process 1 of a
// namespace. It must be the only one in its process that waits for children.
type Manager struct {
	mu        sync.Mutex
	processes map[string]*managed
	byPID     map[int]*managed
}

type managed struct {
	spec    Spec
	state   State
	stopped bool
	done    chan struct{} // closed when the current run ended
}

// NewManager starts reaping.
func NewManager() *Manager {
	m := &Manager{processes: map[string]*managed{}, byPID: map[int]*managed{}}
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	go func() {
		for range children {
			m.reap()
		}
	}()
	return m
}

// Start starts a process. A process of the same name must have ended before.
func (m *Manager) Start(spec Spec) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.processes[spec.Name]; old != nil && old.state.State != "exited" {
		return fmt.Errorf("starting %s: it is %s already", spec.Name, old.state.State)
	}
	p := &managed{spec: spec, state: State{Name: spec.Name}}
	if err := m.spawn(p); err != nil {
		return err
	}
	m.processes[spec.Name] = p
	return nil
}

// spawn is called with the lock held: the reaper cannot see the child before it is registered.
func (m *Manager) spawn(p *managed) error {
	path, err := exec.LookPath(p.spec.Argv[0])
	if err != nil {
		return fmt.Errorf("starting %s: %w", p.spec.Name, err)
	}
	output, err := os.OpenFile(p.spec.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", p.spec.Name, err)
	}
	defer output.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("opening the input of %s: %w", p.spec.Name, err)
	}
	defer null.Close()
	pid, err := syscall.ForkExec(path, p.spec.Argv, &syscall.ProcAttr{
		Dir: "/", Env: append(os.Environ(), p.spec.Env...),
		Files: []uintptr{null.Fd(), output.Fd(), output.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("starting %s: %w", p.spec.Name, err)
	}
	p.state.PID, p.state.State, p.done = pid, "running", make(chan struct{})
	m.byPID[pid] = p
	return nil
}

func (m *Manager) reap() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if pid <= 0 || err != nil {
			return
		}
		if p := m.byPID[pid]; p != nil {
			delete(m.byPID, pid)
			m.ended(p, status)
		}
	}
}

func (m *Manager) ended(p *managed, status syscall.WaitStatus) {
	p.state.State, p.state.PID, p.state.Exit = "exited", 0, describe(status)
	close(p.done)
	if p.stopped || !p.spec.Restart {
		return
	}
	log.Printf("%s ended (%s), starting it again", p.spec.Name, p.state.Exit)
	p.state.State = "restarting"
	p.state.Restarts++
	time.AfterFunc(restartDelay, func() { m.restart(p) })
}

func (m *Manager) restart(p *managed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.stopped {
		p.state.State = "exited"
		return
	}
	if err := m.spawn(p); err != nil {
		log.Printf("%v", err)
		time.AfterFunc(restartDelay, func() { m.restart(p) })
	}
}

// Stop ends a process for good: its stop signal first, SIGKILL when ctx is done. No error when there is none.
func (m *Manager) Stop(ctx context.Context, name string) error {
	m.mu.Lock()
	p := m.processes[name]
	if p == nil {
		m.mu.Unlock()
		return nil
	}
	p.stopped = true
	delete(m.processes, name)
	pid, done := p.state.PID, p.done
	if pid > 0 {
		stop := p.spec.StopSignal
		if stop == 0 {
			stop = syscall.SIGTERM
		}
		// The lock is held and the child not reaped, so the id is still its own.
		_ = syscall.Kill(pid, stop)
	}
	m.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	m.mu.Lock()
	if p.state.PID > 0 {
		_ = syscall.Kill(-p.state.PID, syscall.SIGKILL) // its session, with the children it could not end
	}
	m.mu.Unlock()
	<-done
	return nil
}

// List returns the state of every process, sorted by name.
func (m *Manager) List() []State {
	m.mu.Lock()
	defer m.mu.Unlock()
	states := make([]State, 0, len(m.processes))
	for _, p := range m.processes {
		states = append(states, p.state)
	}
	sort.Slice(states, func(i, j int) bool { return states[i].Name < states[j].Name })
	return states
}

func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal " + status.Signal().String()
	}
	return fmt.Sprintf("exit code %d", status.ExitStatus())
}

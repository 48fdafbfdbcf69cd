// Package devserver runs a PostgreSQL for as long as one command needs a database to load a schema into: in a temporary directory, on a
// loopback address, with a password that nobody is told, and gone afterwards.
package devserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How long each step may take. A slow machine needs a few seconds for initdb.
const (
	initTimeout  = 60 * time.Second
	startTimeout = 30 * time.Second
	stopTimeout  = 10 * time.Second
	pollInterval = 20 * time.Millisecond
	maxLog       = 8 << 10
)

// superuser has a name that no schema grants anything to.
const superuser = "ptah_dev_superuser"

// Programs are the server programs of one PostgreSQL.
type Programs struct {
	Directory string
}

// Find looks for initdb and postgres: on PATH, then where packages put them, the newest version first.
func Find(getenv func(string) string) (Programs, bool) {
	for _, directory := range candidates(getenv("PATH")) {
		if isProgram(filepath.Join(directory, "initdb")) && isProgram(filepath.Join(directory, "postgres")) {
			return Programs{Directory: directory}, true
		}
	}
	return Programs{}, false
}

func candidates(path string) []string {
	var packaged []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin"} {
		matches, _ := filepath.Glob(pattern)
		packaged = append(packaged, matches...)
	}
	slices.SortFunc(packaged, func(a, b string) int { return version(b) - version(a) })
	return append(filepath.SplitList(path), packaged...)
}

// version is the first number in a packaged directory's name.
func version(directory string) int {
	digits := strings.FieldsFunc(directory, func(r rune) bool { return r < '0' || r > '9' })
	if len(digits) == 0 {
		return 0
	}
	number, _ := strconv.Atoi(digits[0])
	return number
}

func isProgram(path string) bool {
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Server is a running PostgreSQL.
type Server struct {
	// URL of the superuser, password included. It is never to be printed.
	URL string

	root    string
	process *exec.Cmd
	log     *tail
	exited  chan struct{}
}

// Start makes a cluster and starts it. As root it runs as another user, because PostgreSQL refuses root. Stop must be called.
func Start(ctx context.Context, programs Programs) (*Server, error) {
	who, err := unprivileged()
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp("", "ptah-dev-")
	if err != nil {
		return nil, fmt.Errorf("starting a disposable PostgreSQL: %w", err)
	}
	server := &Server{root: root, log: &tail{}, exited: make(chan struct{})}
	if err := server.start(ctx, programs, who); err != nil {
		server.Stop()
		return nil, fmt.Errorf("starting a disposable PostgreSQL: %w", err)
	}
	return server, nil
}

func (s *Server) start(ctx context.Context, programs Programs, who identity) error {
	password, err := secret()
	if err != nil {
		return err
	}
	if err := s.initialise(ctx, programs, who, password); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	if err := s.launch(programs, who, port); err != nil {
		return err
	}
	if err := s.ready(ctx); err != nil {
		return err
	}
	address := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path: "/postgres", RawQuery: "sslmode=disable",
	}
	s.URL = address.String()
	return nil
}

// initialise makes the cluster. The password travels in a file that only the server's user can read, never as an argument.
func (s *Server) initialise(ctx context.Context, programs Programs, who identity, password string) error {
	passwordFile := filepath.Join(s.root, "password")
	if err := os.WriteFile(passwordFile, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	for _, path := range []string{s.root, passwordFile} {
		if err := who.own(path); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, initTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(programs.Directory, "initdb"), //nolint:gosec // a program that the user installed
		"--pgdata", s.data(), "--username", superuser, "--pwfile", passwordFile, "--auth", "scram-sha-256",
		"--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions")
	var output tail
	s.prepare(command, who, &output)
	if err := command.Run(); err != nil {
		return fmt.Errorf("initdb: %s", output.last(err))
	}
	return os.Remove(passwordFile)
}

func (s *Server) launch(programs Programs, who identity, port int) error {
	// Not bound to a context: a cancelled command still has to shut the server down in order.
	s.process = exec.Command(filepath.Join(programs.Directory, "postgres"), "-D", s.data()) //nolint:gosec,noctx // a program that the user installed
	for _, setting := range []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(port), "unix_socket_directories=", "max_connections=20",
		"fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=16MB", "autovacuum=off", "logging_collector=off", "ptah.disposable=on",
	} {
		s.process.Args = append(s.process.Args, "-c", setting)
	}
	s.prepare(s.process, who, s.log)
	if err := s.process.Start(); err != nil {
		s.process = nil
		return err
	}
	go func() {
		_ = s.process.Wait()
		close(s.exited)
	}()
	return nil
}

// prepare gives a child its user, a bare environment, and a directory that it may read.
func (s *Server) prepare(command *exec.Cmd, who identity, output *tail) {
	command.Dir = s.root
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	command.Stdout, command.Stderr = output, output
	who.apply(command)
}

// ready waits until the server says so in its pid file, whose eighth line is its state.
func (s *Server) ready(ctx context.Context) error {
	deadline := time.NewTimer(startTimeout)
	defer deadline.Stop()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return errors.New("interrupted")
		case <-deadline.C:
			return fmt.Errorf("it was not ready after %s", startTimeout)
		case <-s.exited:
			return fmt.Errorf("it ended: %s", s.log.last(nil))
		case <-poll.C:
			data, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
			lines := strings.Split(string(data), "\n")
			if err == nil && len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready" {
				return nil
			}
		}
	}
}

// Stop shuts the server down and removes everything that it wrote. It is safe to call more than once.
func (s *Server) Stop() {
	if s.process != nil {
		if err := s.process.Process.Signal(os.Interrupt); err != nil {
			_ = s.process.Process.Kill() // a system without signals
		}
		select {
		case <-s.exited:
		case <-time.After(stopTimeout):
			_ = s.process.Process.Kill()
			<-s.exited
		}
		s.process = nil
	}
	_ = os.RemoveAll(s.root)
}

func (s *Server) data() string { return filepath.Join(s.root, "data") }

func secret() (string, error) {
	var random [24]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(random[:]), nil
}

// freePort asks the system. Another program could take the port before the server does; the server then ends and says so.
func freePort() (int, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // a local listen does not block
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// tail keeps the end of what a program prints.
type tail struct {
	buffer bytes.Buffer
}

// Write never fails.
func (t *tail) Write(data []byte) (int, error) {
	t.buffer.Write(data)
	if excess := t.buffer.Len() - maxLog; excess > 0 {
		t.buffer.Next(excess)
	}
	return len(data), nil
}

// last is the last line that was printed, or else the error.
func (t *tail) last(err error) string {
	lines := strings.Split(strings.TrimSpace(t.buffer.String()), "\n")
	if line := lines[len(lines)-1]; line != "" {
		return line
	}
	if err != nil {
		return err.Error()
	}
	return "it printed nothing"
}

// Package database runs throw-away database servers for demo and tests: fast, not durable, gone with their process.
//
// It starts plain server processes in whatever namespaces the caller is in, so that a test can use it without any
// cluster; ptah-cluster runs the same code inside a cluster's namespaces. PostgreSQL is the only engine so far:
// another one is another Engine.
package database

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Superuser is the name of the superuser of every server.
const Superuser = "postgres"

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 10 * time.Second
)

// Options describe one server.
type Options struct {
	Major        int       `json:"major"`    // 0: the newest installed
	Dir          string    `json:"dir"`      // made by Start unless it holds a database cluster already
	Listen       []string  `json:"listen"`   // addresses; loopback is always among them
	Port         int       `json:"port"`     // 0: a free one
	Networks     []string  `json:"networks"` // CIDRs that may connect with a password, besides loopback
	Password     string    `json:"password"` // of the superuser; empty: a random one
	LogStatement string    `json:"logStatement"`
	Settings     []string  `json:"settings"` // further NAME=VALUE of the server
	Log          io.Writer `json:"-"`        // gets the server's log; nil drops it
}

// Server is a running server.
type Server struct {
	options Options
	command *exec.Cmd
	ended   chan struct{}
}

// NoServerError says that no PostgreSQL server program of the wanted version is installed.
type NoServerError struct{ Major int }

func (e *NoServerError) Error() string {
	version := "PostgreSQL"
	if e.Major > 0 {
		version += " " + strconv.Itoa(e.Major)
	}
	return "no server programs of " + version + " in /usr/lib/postgresql; on Debian: apt-get install postgresql-15"
}

// Programs returns the directory with initdb and postgres of a major version, 0 meaning the newest one, and the
// version it is.
func Programs(major int) (dir string, found int, err error) {
	matches, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", 0, fmt.Errorf("looking for PostgreSQL: %w", err)
	}
	versions := map[int]string{}
	var sorted []int
	for _, match := range matches {
		bin := filepath.Dir(match)
		version, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
		if err == nil {
			versions[version] = bin
			sorted = append(sorted, version)
		}
	}
	sort.Ints(sorted)
	if major == 0 && len(sorted) > 0 {
		major = sorted[len(sorted)-1]
	}
	if versions[major] == "" {
		return "", 0, &NoServerError{Major: major}
	}
	return versions[major], major, nil
}

// Start makes a database cluster, or takes the one that is in Options.Dir with its password, and starts its server. It
// returns when the server answers.
func Start(ctx context.Context, options Options) (*Server, error) {
	bin, major, err := Programs(options.Major)
	if err != nil {
		return nil, err
	}
	options.Major = major
	if err := complete(&options); err != nil {
		return nil, err
	}
	owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(options.Dir, "data", "PG_VERSION")); err != nil {
		if err := initialise(ctx, bin, owner, options); err != nil {
			return nil, errors.Join(err, os.RemoveAll(options.Dir))
		}
	}
	s := &Server{options: options, ended: make(chan struct{})}
	if err := s.launch(bin, owner); err != nil {
		return nil, err
	}
	if err := s.await(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func complete(options *Options) error {
	if options.Password == "" {
		options.Password = rand.Text()
	}
	if options.LogStatement == "" {
		options.LogStatement = "none"
	}
	if options.Log == nil {
		options.Log = io.Discard
	}
	if options.Port == 0 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("finding a free port: %w", err)
		}
		options.Port = listener.Addr().(*net.TCPAddr).Port
		return listener.Close()
	}
	return nil
}

// serverUser is whom the server runs as: PostgreSQL refuses root. nil means the current user.
func serverUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(account.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("reading the user id of %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(account.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("reading the group id of %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}

// initialise runs initdb and writes the access rules.
func initialise(ctx context.Context, bin string, owner *syscall.Credential, options Options) error {
	if err := os.Mkdir(options.Dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	if owner != nil {
		if err := os.Chown(options.Dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("giving the data directory to the server's user: %w", err)
		}
	}
	// The password goes through an inherited file descriptor: arguments can be read by everybody.
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	defer read.Close()
	if _, err := write.WriteString(options.Password + "\n"); err != nil {
		return fmt.Errorf("handing over the password: %w", err)
	}
	write.Close()
	if owner != nil {
		// Opening /dev/fd/3 checks the permissions of the pipe itself.
		if err := read.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("giving the pipe to the server's user: %w", err)
		}
	}
	data := filepath.Join(options.Dir, "data")
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata="+data, "--username="+Superuser,
		"--auth=scram-sha-256", "--pwfile=/dev/fd/3", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	cmd.ExtraFiles, cmd.Dir = []*os.File{read}, options.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running initdb: %w\n%s", err, output)
	}
	return allow(filepath.Join(data, "pg_hba.conf"), options.Networks)
}

func allow(path string, networks []string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("opening the access rules: %w", err)
	}
	for _, network := range networks {
		if _, err := fmt.Fprintf(file, "host %s %s %s scram-sha-256\n", "all", "all", network); err != nil {
			return errors.Join(fmt.Errorf("writing the access rules: %w", err), file.Close())
		}
	}
	return file.Close()
}

func (s *Server) launch(bin string, owner *syscall.Credential) error {
	arguments := []string{
		"-D", filepath.Join(s.options.Dir, "data"), "-p", strconv.Itoa(s.options.Port), "-k", s.options.Dir,
	}
	settings := append([]string{
		"listen_addresses=" + strings.Join(append([]string{"127.0.0.1"}, s.options.Listen...), ","),
		"fsync=off", "synchronous_commit=off", "full_page_writes=off",
		"max_connections=200", "log_statement=" + s.options.LogStatement, "log_line_prefix=%m [%p] %u@%d ",
	}, s.options.Settings...)
	for _, setting := range settings {
		arguments = append(arguments, "-c", setting)
	}
	s.command = exec.Command(filepath.Join(bin, "postgres"), arguments...)
	s.command.Dir = s.options.Dir
	s.command.Stdout, s.command.Stderr = s.options.Log, s.options.Log
	s.command.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	if err := s.command.Start(); err != nil {
		return fmt.Errorf("starting PostgreSQL: %w", err)
	}
	go func() {
		defer close(s.ended)
		_ = s.command.Wait() // how it ended is in its log
	}()
	return nil
}

func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.URL("127.0.0.1", s.options.Port))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.ended:
			return errors.New("PostgreSQL ended while starting; its log says why")
		case <-ctx.Done():
			return fmt.Errorf("waiting for PostgreSQL to answer: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Port is where the server listens.
func (s *Server) Port() int { return s.options.Port }

// Major is the server's major version.
func (s *Server) Major() int { return s.options.Major }

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.ended }

// URL is the superuser's connection string for an address the server can be reached at. It holds the password.
func (s *Server) URL(host string, port int) string { return URL(s.options.Password, host, port) }

// URL is a superuser's connection string.
func URL(password, host string, port int) string {
	address := url.URL{
		Scheme: "postgres", User: url.UserPassword(Superuser, password),
		Host: net.JoinHostPort(host, strconv.Itoa(port)), Path: "/postgres", RawQuery: "sslmode=disable",
	}
	return address.String()
}

// Stop ends the server at once, dropping its connections. Its data stays in Options.Dir, from where Start goes on.
func (s *Server) Stop() {
	// SIGINT is PostgreSQL's fast shutdown. A server that has ended already needs none.
	_ = s.command.Process.Signal(syscall.SIGINT)
	select {
	case <-s.ended:
	case <-time.After(stopTimeout):
		_ = s.command.Process.Signal(syscall.SIGQUIT)
		<-s.ended
	}
}

// Remove ends the server and removes its data.
func (s *Server) Remove() error {
	s.Stop()
	if err := os.RemoveAll(s.options.Dir); err != nil {
		return fmt.Errorf("removing the data directory: %w", err)
	}
	return nil
}

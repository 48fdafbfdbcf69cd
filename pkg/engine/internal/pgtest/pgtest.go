// Package pgtest starts a throw-away PostgreSQL for tests, one per test binary, as a user that is not root, on a port of its own. It skips the
// tests where no server binaries are installed. PTAH_TEST_PG_BIN names a directory of binaries to use instead of the newest installed.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/test/fastdir"
)

// The superuser that tests connect as.
const (
	User     = "postgres" // dumps name it as the owner
	Password = "owner-pass-7315"
)

// Server is a running PostgreSQL.
type Server struct {
	Port      int
	SocketDir string
	LogFile   string
	major     int
	dir       string
	owned     *fastdir.Dir
	process   *exec.Cmd
}

var (
	once     sync.Once
	shared   *Server
	startErr error
	counter  atomic.Int64
)

// Main runs the tests and stops the server, if one was started. Use it as the body of TestMain.
func Main(m *testing.M) {
	m.Run() // whose code the test binary exits with
	if shared != nil {
		shared.stop()
	}
}

// Start returns the test binary's server and starts it the first time.
func Start(t testing.TB) *Server {
	t.Helper()
	bin := binaries()
	if bin == "" {
		t.Skip("no PostgreSQL server binaries: install the Debian package postgresql, or point PTAH_TEST_PG_BIN at a directory with initdb and postgres")
	}
	once.Do(func() { shared, startErr = start(bin) })
	require.NoError(t, startErr)
	return shared
}

// StartAnother starts a second server, for the duration of one test.
func StartAnother(t testing.TB) *Server {
	t.Helper()
	Start(t) // skips without binaries
	s, err := start(binaries())
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s
}

// Kill ends a server at once, as a crash of its machine would.
func (s *Server) Kill() { s.stop() }

// StartStandby starts a hot standby that streams from the server, for the duration of one test. The server must be idle while it is copied: use one
// of StartAnother.
func (s *Server) StartStandby(t testing.TB) *Server {
	t.Helper()
	standby, cred, err := prepare()
	require.NoError(t, err)
	t.Cleanup(standby.stop)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	begin, end := "SELECT pg_backup_start('standby', true)", "SELECT labelfile FROM pg_backup_stop()"
	if s.Major() < 15 {
		begin, end = "SELECT pg_start_backup('standby', true, false)", "SELECT labelfile FROM pg_stop_backup(false)"
	}
	_, err = conn.Exec(ctx, begin)
	require.NoError(t, err)
	out, err := exec.CommandContext(ctx, "cp", "-a", s.data(), standby.data()).CombinedOutput() //nolint:gosec // a test's own directories
	require.NoError(t, err, "%s", out)
	var label string
	require.NoError(t, conn.QueryRow(ctx, end).Scan(&label))
	require.NoError(t, os.Remove(filepath.Join(standby.data(), "postmaster.pid")))
	for name, content := range map[string]string{"backup_label": label, "standby.signal": ""} {
		path := filepath.Join(standby.data(), name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		if cred != nil {
			require.NoError(t, os.Chown(path, int(cred.Uid), int(cred.Gid)))
		}
	}
	require.NoError(t, standby.launch(binaries(), cred, fmt.Sprintf("primary_conninfo=host=127.0.0.1 port=%d user=%s password=%s", s.Port, User, Password)))
	return standby
}

func binaries() string {
	if dir := os.Getenv("PTAH_TEST_PG_BIN"); dir != "" {
		return dir
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	slices.SortFunc(found, func(a, b string) int { return major(b) - major(a) })
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

func major(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb)))) // 0 sorts last
	return n
}

// credential is who the server runs as: ourselves, or an unprivileged user where we are root.
func credential() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("running as root, and there is no user postgres or nobody to run the server as")
}

func start(bin string) (*Server, error) {
	s, cred, err := prepare()
	if err != nil {
		return nil, err
	}
	if err := s.initialise(bin, cred); err != nil {
		s.stop()
		return nil, err
	}
	return s, s.launch(bin, cred)
}

// prepare makes a directory for a server.
func prepare() (*Server, *syscall.Credential, error) {
	cred, err := credential()
	if err != nil {
		return nil, nil, err
	}
	dir, err := fastdir.Make("ptah-pg-")
	if err != nil {
		return nil, nil, err
	}
	if cred != nil {
		if err := os.Chown(dir.Path, int(cred.Uid), int(cred.Gid)); err != nil {
			return nil, nil, err
		}
	}
	return &Server{dir: dir.Path, owned: dir, SocketDir: dir.Path, LogFile: filepath.Join(dir.Path, "log")}, cred, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) initialise(bin string, cred *syscall.Credential) error {
	pwfile := filepath.Join(s.dir, "pw")
	if err := os.WriteFile(pwfile, []byte(Password+"\n"), 0o644); err != nil { //nolint:gosec // a test password, read by another user
		return err
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", s.data(), "-U", User, "--pwfile="+pwfile, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "-N")
	initdb.Dir, initdb.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: cred}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("running initdb: %w\n%s", err, out)
	}
	return nil
}

// launch starts the server on its data and stops it again where it does not answer.
func (s *Server) launch(bin string, cred *syscall.Credential, settings ...string) error {
	err := s.run(bin, cred, settings)
	if err != nil {
		log, _ := os.ReadFile(s.LogFile) // best effort, for the message
		s.stop()
		return fmt.Errorf("%w\n%s", err, log)
	}
	return nil
}

func (s *Server) run(bin string, cred *syscall.Credential, settings []string) error {
	var err error
	if s.Port, err = freePort(); err != nil {
		return err
	}
	log, err := os.Create(s.LogFile)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	args := []string{
		"-D", s.data(), "-k", s.SocketDir, "-h", "127.0.0.1", "-p", strconv.Itoa(s.Port),
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off", "-c", "max_connections=40", "-c", "log_statement=all",
		"-c", "log_line_prefix=%p %d ", "-c", "max_locks_per_transaction=2048", "-c", "autovacuum=off", "-c", "shared_buffers=64MB",
	}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s.process = exec.Command(filepath.Join(bin, "postgres"), args...)
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.dir, log, log
	// A backend plans many large queries in a short life: it keeps the memory of one for the next.
	const enough = "67108864"
	s.process.Env = append(os.Environ(), "MALLOC_TRIM_THRESHOLD_="+enough, "MALLOC_MMAP_THRESHOLD_="+enough, "MALLOC_TOP_PAD_=1048576")
	s.process.SysProcAttr = &syscall.SysProcAttr{Credential: cred, Pdeathsig: syscall.SIGQUIT}
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("starting postgres: %w", err)
	}
	return s.waitReady()
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (s *Server) waitReady() error {
	var last error
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		conn, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			err = conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int / 10000").Scan(&s.major)
			_ = conn.Close(ctx)
			cancel()
			return err
		}
		cancel()
		last = err
	}
	return fmt.Errorf("waiting for postgres: %w", last)
}

func (s *Server) stop() {
	if s.process != nil && s.process.Process != nil {
		_ = s.process.Process.Signal(syscall.SIGQUIT) // immediate shutdown: the data is thrown away
		_ = s.process.Wait()
	}
	s.process = nil
	s.owned.Remove()
}

// URL leads to a database as the superuser.
func (s *Server) URL(database string) string { return s.URLAs(database, User, Password) }

// URLAs leads to a database as some user.
func (s *Server) URLAs(database, name, password string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(name, password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)), Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Exec runs SQL by the simple protocol and fails the test on an error.
func (s *Server) Exec(t testing.TB, databaseURL string, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	for _, sql := range statements {
		_, err := conn.PgConn().Exec(ctx, sql).ReadAll()
		require.NoError(t, err, "%s", sql)
	}
}

// NewDatabase creates an empty database, runs SQL in it, and drops it after the test.
func (s *Server) NewDatabase(t testing.TB, statements ...string) string {
	t.Helper()
	target, drop := s.TemporaryDatabase(t)
	t.Cleanup(drop)
	if len(statements) > 0 {
		s.Exec(t, target, statements...)
	}
	return target
}

// TemporaryDatabase creates an empty database, whose sessions begin with the settings, and returns its URL and what drops it.
func (s *Server) TemporaryDatabase(t testing.TB, settings ...string) (target string, drop func()) {
	t.Helper()
	name := fmt.Sprintf("t%d_%d", os.Getpid(), counter.Add(1))
	create := "CREATE DATABASE " + name + " TEMPLATE template0"
	if s.Major() >= 15 {
		create += " STRATEGY file_copy" // the other way is for servers that must survive
	}
	statements := []string{create}
	for _, setting := range settings {
		statements = append(statements, "ALTER DATABASE "+name+" SET "+setting)
	}
	s.Exec(t, s.URL("postgres"), statements...)
	return s.URL(name), func() { s.Exec(t, s.URL("postgres"), "DROP DATABASE "+name+" WITH (FORCE)") }
}

// Log returns the server's log lines of one database.
func (s *Server) Log(t testing.TB, database string) []string {
	t.Helper()
	data, err := os.ReadFile(s.LogFile)
	require.NoError(t, err)
	var lines []string
	for line := range strings.SplitSeq(string(data), "\n") {
		if strings.Contains(line, " "+database+" ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// Major is the server's major version.
func (s *Server) Major() int { return s.major }

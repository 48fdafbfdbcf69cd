// Package mytest starts a throw-away MariaDB for tests, one per test binary, as a user that is not root, on a port of its own. It skips the tests where
// no server binaries are installed. PTAH_TEST_MYSQL_URL names a server to use instead, such as a MySQL: its account must be allowed everything.
package mytest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine/internal/fastdir"
)

// The account that tests connect as. It is allowed everything.
const (
	User     = "tester"
	Password = "owner-pass-7315"
)

// Server is a running MariaDB.
type Server struct {
	base    *url.URL // without a database
	dir     string
	process *exec.Cmd
}

var (
	once     sync.Once
	shared   *Server
	startErr error
	counter  atomic.Int64
)

// Stop ends the test binary's server, if one was started. Call it at the end of TestMain.
func Stop() {
	if shared != nil {
		shared.stop()
	}
}

// Main runs the tests and stops the server. Use it as the body of TestMain.
func Main(m *testing.M) {
	m.Run() // whose code the test binary exits with
	Stop()
}

// Start returns the test binary's server and starts it the first time.
func Start(t testing.TB) *Server {
	t.Helper()
	given := os.Getenv("PTAH_TEST_MYSQL_URL")
	daemon, install := binary("mariadbd"), binary("mariadb-install-db")
	if given == "" && (daemon == "" || install == "") {
		t.Skip("no MariaDB server binaries: install the Debian package mariadb-server, or point PTAH_TEST_MYSQL_URL at a server")
	}
	once.Do(func() {
		if given == "" {
			shared, startErr = start(daemon, install)
			return
		}
		var base *url.URL
		if base, startErr = url.Parse(given); startErr == nil {
			shared = &Server{base: base}
		}
	})
	require.NoError(t, startErr)
	return shared
}

// binary finds a program also where ordinary users do not look.
func binary(name string) string {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}

// credential is who the server runs as: ourselves, or an unprivileged user where we are root.
func credential() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"mysql", "nobody"} {
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
	return nil, errors.New("running as root, and there is no user mysql or nobody to run the server as")
}

func start(daemon, install string) (*Server, error) {
	cred, err := credential()
	if err != nil {
		return nil, err
	}
	dir, err := fastdir.Make("ptah-my-", "pid")
	if err != nil {
		return nil, err
	}
	if cred != nil {
		if err := os.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
			return nil, err
		}
	}
	s := &Server{dir: dir}
	if err := s.launch(daemon, install, cred); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log")) // best effort, for the message
		s.stop()
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	return s, nil
}

func (s *Server) launch(daemon, install string, cred *syscall.Credential) error {
	data := filepath.Join(s.dir, "data")
	initial := exec.Command(install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	initial.Dir, initial.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: cred}
	initial.Env = append(os.Environ(), "HOME="+s.dir)
	if out, err := initial.CombinedOutput(); err != nil {
		return fmt.Errorf("running mariadb-install-db: %w\n%s", err, out)
	}
	statements := filepath.Join(s.dir, "init.sql")
	account := fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s';\nGRANT ALL PRIVILEGES ON *.* TO '%s'@'%%' WITH GRANT OPTION;\n", User, Password, User)
	if err := os.WriteFile(statements, []byte(account), 0o644); err != nil { //nolint:gosec // a test password, read by another user
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	s.base = &url.URL{Scheme: "mysql", User: url.UserPassword(User, Password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.process = exec.Command(daemon, "--no-defaults", "--datadir="+data, "--socket="+filepath.Join(s.dir, "s"), "--pid-file="+filepath.Join(s.dir, "pid"),
		"--port="+strconv.Itoa(port), "--bind-address=127.0.0.1", "--skip-name-resolve", "--init-file="+statements, "--skip-log-bin", "--event-scheduler=OFF",
		"--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync",
		"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M", "--innodb-doublewrite=0", "--performance-schema=OFF", "--sync-frm=OFF")
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.dir, log, log
	s.process.SysProcAttr = &syscall.SysProcAttr{Credential: cred, Pdeathsig: syscall.SIGKILL}
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("starting mariadbd: %w", err)
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
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		db, err := open(s.URL(""))
		if err != nil {
			return err
		}
		last = db.Ping()
		_ = db.Close()
		if last == nil {
			return nil
		}
	}
	return fmt.Errorf("waiting for mariadbd: %w", last)
}

func (s *Server) stop() {
	if s.process != nil && s.process.Process != nil {
		_ = s.process.Process.Kill() // the data is thrown away
		_ = s.process.Wait()
		s.process = nil
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// Kill ends a server at once, as a crash of its machine would.
func (s *Server) Kill() { s.stop() }

// URL leads to a database as the account that is allowed everything.
func (s *Server) URL(database string) string {
	u := *s.base
	u.Path, u.RawQuery = "/"+database, "tls=false"
	return u.String()
}

// URLAs leads to a database as another account.
func (s *Server) URLAs(database, name, password string) string {
	u := *s.base
	u.User, u.Path, u.RawQuery = url.UserPassword(name, password), "/"+database, "tls=false"
	return u.String()
}

// Address is the host and port of the server.
func (s *Server) Address() string { return s.base.Host }

func open(databaseURL string) (*sql.DB, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return nil, err
	}
	c := driver.NewConfig()
	c.Net, c.Addr, c.User, c.DBName, c.Logger = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/"), &driver.NopLogger{}
	c.Passwd, _ = u.User.Password()
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// Exec runs statements on one session and fails the test on an error.
func (s *Server) Exec(t testing.TB, databaseURL string, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	db, err := open(databaseURL)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		_, err := db.ExecContext(ctx, statement)
		require.NoError(t, err, "%s", statement)
	}
}

// Open gives one session, for the test to close.
func Open(t testing.TB, databaseURL string) *sql.DB {
	t.Helper()
	db, err := open(databaseURL)
	require.NoError(t, err)
	return db
}

// StartAnother starts a second server, for the duration of one test.
func StartAnother(t testing.TB) *Server {
	t.Helper()
	Start(t) // skips without binaries
	daemon, install := binary("mariadbd"), binary("mariadb-install-db")
	if daemon == "" || install == "" {
		t.Skip("no MariaDB server binaries for a second server")
	}
	s, err := start(daemon, install)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s
}

// Value runs a query and returns the one value that it yields.
func Value[T any](t testing.TB, databaseURL, query string) T {
	t.Helper()
	db, err := open(databaseURL)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	var v T
	require.NoError(t, db.QueryRow(query).Scan(&v), "%s", query)
	return v
}

// NewDatabase creates an empty database, runs statements in it, and drops it after the test.
func (s *Server) NewDatabase(t testing.TB, statements ...string) string {
	t.Helper()
	target, drop := s.TemporaryDatabase(t)
	t.Cleanup(drop)
	if len(statements) > 0 {
		s.Exec(t, target, statements...)
	}
	return target
}

// TemporaryDatabase creates an empty database and returns its URL and what drops it.
func (s *Server) TemporaryDatabase(t testing.TB) (target string, drop func()) {
	t.Helper()
	name := fmt.Sprintf("t%d_%d", os.Getpid(), counter.Add(1))
	s.Exec(t, s.URL(""), "CREATE DATABASE "+name)
	return s.URL(name), func() { s.Exec(t, s.URL(""), "DROP DATABASE IF EXISTS "+name) }
}

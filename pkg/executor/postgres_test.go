package executor_test

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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// postgres is the test binary's server as one test sees it.
type postgres struct {
	t *testing.T
	*server
}

// server is a throw-away PostgreSQL. Its owner has the sentinel as password, so that every test is a leak test.
type server struct {
	port    int
	dir     string
	process *exec.Cmd
}

var (
	databases atomic.Int64
	once      sync.Once
	shared    *server
	errShared error
)

// startPostgres gives the server and starts it the first time.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if dir := os.Getenv("PTAH_TEST_PG_BIN"); dir != "" {
		found = []string{filepath.Join(dir, "initdb")}
	}
	if len(found) == 0 {
		t.Skip("no PostgreSQL server binaries: install the Debian package postgresql, or point PTAH_TEST_PG_BIN at a directory with initdb and postgres")
	}
	once.Do(func() { shared, errShared = launch(filepath.Dir(found[len(found)-1])) })
	require.NoError(t, errShared)
	return &postgres{t: t, server: shared}
}

// launch runs a server on a free port, as a user that is not root.
func launch(bin string) (*server, error) {
	dir, err := os.MkdirTemp("", "ptah-ex-") // short: a socket's path is limited
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	credential, err := serverUser(dir)
	if err != nil {
		return nil, err
	}
	pwfile := filepath.Join(dir, "pw")
	if err := os.WriteFile(pwfile, []byte(sentinel+"\n"), 0o644); err != nil {
		return nil, err
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", dir+"/data", "-U", "app", "--pwfile="+pwfile, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "-N")
	initdb.Dir, initdb.SysProcAttr = dir, &syscall.SysProcAttr{Credential: credential}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("running initdb: %w\n%s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return nil, err
	}
	s.process = exec.Command(filepath.Join(bin, "postgres"), "-D", dir+"/data", "-k", dir, "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-c", "fsync=off",
		"-c", "autovacuum=off", "-c", "log_statement=all", "-c", "log_line_prefix=%d ", "-c", "client_connection_check_interval=500ms")
	s.process.Dir, s.process.SysProcAttr = dir, &syscall.SysProcAttr{Credential: credential}
	log, err := os.Create(s.log())
	if err != nil {
		return nil, err
	}
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	return s, s.waitReady()
}

func (s *server) waitReady() error {
	var last error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var conn *pgx.Conn
		if conn, last = pgx.Connect(context.Background(), s.url("postgres")); last == nil {
			return conn.Close(context.Background())
		}
	}
	return last
}

// stopPostgres ends the server, if one was started.
func stopPostgres() {
	if shared == nil {
		return
	}
	_ = shared.process.Process.Signal(syscall.SIGQUIT)
	_ = shared.process.Wait()
	_ = os.RemoveAll(shared.dir)
}

// serverUser gives the directory to an unprivileged user where we are root: the server refuses to run as root.
func serverUser(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(account.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, int(uid), int(gid))
}

func (s *server) log() string { return filepath.Join(s.dir, "log") }

func (s *server) url(database string) string { return s.urlAs("app", sentinel, database) }

func (s *server) urlAs(name, password, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(name, password), Host: fmt.Sprintf("127.0.0.1:%d", s.port), Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// database makes an empty database.
func (s *postgres) database(statements ...string) (url string) {
	s.t.Helper()
	name := fmt.Sprintf("shop%d", databases.Add(1))
	s.exec(s.url("postgres"), "CREATE DATABASE "+name)
	s.exec(s.url(name), statements...)
	return s.url(name)
}

func (s *postgres) exec(url string, statements ...string) {
	s.t.Helper()
	conn := s.connect(url)
	defer func() { _ = conn.Close(context.Background()) }()
	for _, sql := range statements {
		_, err := conn.Exec(context.Background(), sql)
		require.NoError(s.t, err, sql)
	}
}

func (s *postgres) connect(url string) *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	require.NoError(s.t, err)
	return conn
}

// scalar reads one value.
func scalar[T any](s *postgres, url, sql string) T {
	s.t.Helper()
	conn := s.connect(url)
	defer func() { _ = conn.Close(context.Background()) }()
	var value T
	require.NoError(s.t, conn.QueryRow(context.Background(), sql).Scan(&value))
	return value
}

// model loads SQL the way kubectl ptah push does.
func (s *postgres) model(sql string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	db, err := engine.LoadSQL(ctx, s.url("postgres"), []engine.Source{{Name: "shop.sql", Data: []byte(sql)}})
	require.NoError(s.t, err)
	data, err := model.Encode(db)
	require.NoError(s.t, err)
	return string(data)
}

// executed counts how often the server ran a statement that holds the text in one database.
func (s *postgres) executed(database, text string) int {
	s.t.Helper()
	data, err := os.ReadFile(s.log())
	require.NoError(s.t, err)
	n := 0
	for line := range strings.SplitSeq(string(data), "\n") {
		if strings.HasPrefix(line, database+" ") && (strings.Contains(line, "statement: ") || strings.Contains(line, "execute ")) && strings.Contains(line, text) {
			n++
		}
	}
	return n
}

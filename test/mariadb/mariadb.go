// Package mariadb starts throw-away MariaDB servers from installed programs, for tests and measurements: as a user that is not root, on a free port, with
// settings that trade durability for speed. A server and its data are gone with Stop, or with the process that started it.
package mariadb

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
	"syscall"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/ptah-run/ptah/test/fastdir"
)

// The account of every server. It is allowed everything, from everywhere.
const (
	User     = "tester"
	Password = "owner-pass-7315"
)

const startTimeout = 60 * time.Second

// ErrNoPrograms says that no MariaDB is installed.
var ErrNoPrograms = errors.New("no MariaDB server programs: install the package mariadb-server")

// Options describe one server.
type Options struct {
	Host          string // the address to listen on; empty: loopback
	LogStatements bool   // keep every statement for Statements
}

// Server is a running server.
type Server struct {
	base    *url.URL // without a database
	dir     string
	owned   *fastdir.Dir
	process *exec.Cmd
}

// Installed reports whether the programs of a server are there.
func Installed() bool { return program("mariadbd") != "" && program("mariadb-install-db") != "" }

// program finds a program also where ordinary users do not look.
func program(name string) string {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}

// Start starts a server and returns when it answers. Without programs the error is ErrNoPrograms.
func Start(ctx context.Context, o Options) (*Server, error) {
	if !Installed() {
		return nil, ErrNoPrograms
	}
	cred, err := credential()
	if err != nil {
		return nil, err
	}
	dir, err := fastdir.Make("ptah-my-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir.Path, owned: dir}
	if err := s.launch(ctx, o, cred); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log")) // best effort, for the message
		s.Stop()
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	return s, nil
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

func (s *Server) launch(ctx context.Context, o Options, cred *syscall.Credential) error {
	if cred != nil {
		if err := os.Chown(s.dir, int(cred.Uid), int(cred.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(s.dir, "data")
	initial := exec.CommandContext(ctx, program("mariadb-install-db"), "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve") //nolint:gosec // a directory of ours
	initial.Dir, initial.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: cred}
	// A server that starts deletes the temporary tables that it finds in its directory for them, also those of a server that runs.
	environment := append(os.Environ(), "HOME="+s.dir, "TMPDIR="+s.dir)
	initial.Env = environment
	if out, err := initial.CombinedOutput(); err != nil {
		return fmt.Errorf("running mariadb-install-db: %w\n%s", err, out)
	}
	statements := filepath.Join(s.dir, "init.sql")
	account := fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s';\nGRANT ALL PRIVILEGES ON *.* TO '%s'@'%%' WITH GRANT OPTION;\n", User, Password, User)
	if err := os.WriteFile(statements, []byte(account), 0o644); err != nil { //nolint:gosec // a throw-away password, read by another user
		return err
	}
	host := o.Host
	if host == "" {
		host = "127.0.0.1"
	}
	port, err := freePort(host)
	if err != nil {
		return err
	}
	s.base = &url.URL{Scheme: "mysql", User: url.UserPassword(User, Password), Host: net.JoinHostPort(host, port)}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	args := []string{
		"--no-defaults", "--datadir=" + data, "--socket=" + filepath.Join(s.dir, "s"), "--pid-file=" + filepath.Join(s.dir, "pid"), "--port=" + port, "--bind-address=" + host,
		"--skip-name-resolve", "--init-file=" + statements, "--skip-log-bin", "--event-scheduler=OFF", "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M", "--innodb-doublewrite=0",
		"--performance-schema=OFF", "--sync-frm=OFF",
	}
	if o.LogStatements {
		args = append(args, "--general-log=1", "--general-log-file="+s.statements())
	}
	s.process = exec.Command(program("mariadbd"), args...) //nolint:gosec // arguments of ours
	s.process.Dir, s.process.Env, s.process.Stdout, s.process.Stderr = s.dir, environment, log, log
	s.process.SysProcAttr = &syscall.SysProcAttr{Credential: cred, Pdeathsig: syscall.SIGKILL}
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("starting mariadbd: %w", err)
	}
	return s.waitReady(ctx)
}

func freePort(host string) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

func (s *Server) waitReady(ctx context.Context) error {
	var last error
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		db, err := Open(s.URL(""))
		if err != nil {
			return err
		}
		last = db.PingContext(ctx)
		_ = db.Close()
		if last == nil {
			return nil
		}
	}
	return fmt.Errorf("waiting for mariadbd: %w", errors.Join(last, ctx.Err()))
}

// Stop ends the server at once, as a crash of its machine would, and removes its data.
func (s *Server) Stop() {
	if s.process != nil && s.process.Process != nil {
		_ = s.process.Process.Kill() // the data is thrown away
		_ = s.process.Wait()
		s.process = nil
	}
	s.owned.Remove()
}

// Base is the URL of the server without a database, with the account that is allowed everything.
func (s *Server) Base() *url.URL {
	u := *s.base
	return &u
}

// URL leads to a database as the account that is allowed everything.
func (s *Server) URL(database string) string { return On(s.base, database) }

// On is the URL of a database on the server that the base leads to.
func On(base *url.URL, database string) string {
	u := *base
	u.Path, u.RawQuery = "/"+database, "tls=false"
	return u.String()
}

func (s *Server) statements() string { return filepath.Join(s.dir, "statements") }

// Statements is the server's own log of what ran since its start. The server must have been started with LogStatements.
func (s *Server) Statements() (string, error) {
	data, err := os.ReadFile(s.statements())
	return string(data), err
}

// Open gives at most one session at a time on a database's URL, for the caller to close.
func Open(databaseURL string) (*sql.DB, error) {
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

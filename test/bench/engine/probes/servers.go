package main

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

	"ariga.io/atlas/sql/migrate"
	atlasmysql "ariga.io/atlas/sql/mysql"
	atlaspostgres "ariga.io/atlas/sql/postgres"
	"ariga.io/atlas/sql/schema"
	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of connections to PostgreSQL

	"github.com/ptah-run/ptah/plugin/push/devserver"
)

// host is a server of either kind: one connection makes and drops the databases.
type host struct {
	name    string
	base    *url.URL
	open    func(address string) (*sql.DB, error)
	driver  func(schema.ExecQuerier) (migrate.Driver, error)
	differ  func(ctx context.Context, from, to migrate.Driver) ([]schema.Change, error)
	stopped func()
	made    int
}

func (h *host) title() string { return h.name }
func (h *host) stop()         { h.stopped() }

func (h *host) create(ctx context.Context, statements []string) (string, error) {
	h.made++
	name := fmt.Sprintf("probe_%d", h.made)
	if err := h.execute(ctx, h.base.String(), "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	u := *h.base
	u.Path = "/" + name
	return u.String(), h.execute(ctx, u.String(), statements...)
}

func (h *host) drop(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	return h.execute(ctx, h.base.String(), "DROP DATABASE "+strings.TrimPrefix(u.Path, "/"))
}

// execute runs statements on one session.
func (h *host) execute(ctx context.Context, address string, statements ...string) error {
	db, err := h.open(address)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%w\n%s", err, statement)
		}
	}
	return nil
}

// library inspects both databases, compares, plans, and runs the plan in the first one.
func (h *host) library(ctx context.Context, from, to string) (verdict, error) {
	statements, err := h.libraryPlan(ctx, from, to)
	if err != nil {
		return refused, nil //nolint:nilerr // an error of the library is its answer
	}
	if len(statements) == 0 {
		return unseen, nil
	}
	if err := h.execute(ctx, from, statements...); err != nil {
		return invalid, nil //nolint:nilerr // so is a plan that does not run
	}
	return left(ctx, from, to)
}

func (h *host) libraryPlan(ctx context.Context, from, to string) ([]string, error) {
	var drivers []migrate.Driver
	for _, address := range []string{from, to} {
		db, err := h.open(address)
		if err != nil {
			return nil, err
		}
		defer func() { _ = db.Close() }()
		driver, err := h.driver(db)
		if err != nil {
			return nil, err
		}
		drivers = append(drivers, driver)
	}
	changes, err := h.differ(ctx, drivers[0], drivers[1])
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, nil
	}
	unqualified := func(o *migrate.PlanOptions) {
		if h.name == mariaDB {
			o.SchemaQualifier = new(string)
		}
	}
	plan, err := drivers[0].PlanChanges(ctx, "probe", changes, unqualified)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range plan.Changes {
		out = append(out, c.Cmd)
	}
	return out, nil
}

const mariaDB = "MariaDB"

// startPostgres starts the server that is first on PATH.
func startPostgres(ctx context.Context) (server, error) {
	programs, found := devserver.Find(os.Getenv)
	if !found {
		return nil, errors.New("no PostgreSQL server binaries: install the package postgresql")
	}
	s, err := devserver.Start(ctx, programs)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	h := &host{
		name: "PostgreSQL", base: base, stopped: s.Stop,
		open: func(address string) (*sql.DB, error) {
			u, err := url.Parse(address)
			if err != nil {
				return nil, err
			}
			query := u.Query()
			query.Set("default_query_exec_mode", "simple_protocol") // several statements in one
			u.RawQuery = query.Encode()
			return sql.Open("pgx", u.String())
		},
		driver: atlaspostgres.Open,
		differ: func(ctx context.Context, from, to migrate.Driver) ([]schema.Change, error) {
			a, err := from.InspectRealm(ctx, nil)
			if err != nil {
				return nil, err
			}
			b, err := to.InspectRealm(ctx, nil)
			if err != nil {
				return nil, err
			}
			return from.RealmDiff(a, b)
		},
	}
	return h, nil
}

// startMariaDB starts a server in a directory of its own.
func startMariaDB(ctx context.Context) (server, error) {
	dir, err := os.MkdirTemp("", "ptah-my-")
	if err != nil {
		return nil, err
	}
	process, base, err := launch(dir)
	stop := func() {
		if process != nil && process.Process != nil {
			_ = process.Process.Kill() // the data is thrown away
			_ = process.Wait()
		}
		_ = os.RemoveAll(dir)
	}
	h := &host{
		name: mariaDB, base: base, stopped: stop, open: openMariaDB, driver: atlasmysql.Open,
		differ: func(ctx context.Context, from, to migrate.Driver) ([]schema.Change, error) {
			a, err := from.InspectSchema(ctx, "", nil)
			if err != nil {
				return nil, err
			}
			b, err := to.InspectSchema(ctx, "", nil)
			if err != nil {
				return nil, err
			}
			b.Name = a.Name
			return from.SchemaDiff(a, b)
		},
	}
	if err == nil {
		err = h.ready(ctx)
	}
	if err != nil {
		stop()
		return nil, err
	}
	return h, nil
}

func (h *host) ready(ctx context.Context) error {
	var last error
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if last = h.execute(ctx, h.base.String(), "SELECT 1"); last == nil {
			return nil
		}
	}
	return fmt.Errorf("waiting for mariadbd: %w", last)
}

func openMariaDB(address string) (*sql.DB, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName, c.Logger = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/"), &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// launch makes a data directory and starts a server on a loopback port, as an unprivileged user where we are root.
func launch(dir string) (*exec.Cmd, *url.URL, error) {
	attributes := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		who, err := user.Lookup("mysql")
		if err != nil {
			return nil, nil, fmt.Errorf("running as root, and the server must not: %w", err)
		}
		uid, err := strconv.Atoi(who.Uid)
		if err != nil {
			return nil, nil, err
		}
		gid, err := strconv.Atoi(who.Gid)
		if err != nil {
			return nil, nil, err
		}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, nil, err
		}
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)} //nolint:gosec // numbers of the user database
	}
	data := filepath.Join(dir, "data")
	initial := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve") //nolint:gosec // a directory of ours
	initial.Dir, initial.SysProcAttr, initial.Env = dir, attributes, append(os.Environ(), "HOME="+dir)
	if out, err := initial.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("running mariadb-install-db (install the package mariadb-server): %w\n%s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	address := listener.Addr().String()
	_ = listener.Close()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, nil, err
	}
	accounts := filepath.Join(dir, "init.sql")
	if err := os.WriteFile(accounts, []byte("CREATE USER 'probe'@'127.0.0.1';\nGRANT ALL PRIVILEGES ON *.* TO 'probe'@'127.0.0.1' WITH GRANT OPTION;\n"), 0o644); err != nil { //nolint:gosec // no secret in it, read by another user
		return nil, nil, err
	}
	process := exec.Command("mariadbd", "--no-defaults", "--datadir="+data, "--socket="+filepath.Join(dir, "s"), "--pid-file="+filepath.Join(dir, "pid"), "--port="+port, //nolint:gosec // arguments of ours
		"--bind-address=127.0.0.1", "--skip-name-resolve", "--skip-log-bin", "--init-file="+accounts, "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync")
	attributes.Pdeathsig = syscall.SIGKILL
	process.Dir, process.SysProcAttr = dir, attributes
	return process, &url.URL{Scheme: "mysql", User: url.User("probe"), Host: address}, process.Start()
}

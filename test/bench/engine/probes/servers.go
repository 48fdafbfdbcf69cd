package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"ariga.io/atlas/sql/migrate"
	atlasmysql "ariga.io/atlas/sql/mysql"
	atlaspostgres "ariga.io/atlas/sql/postgres"
	"ariga.io/atlas/sql/schema"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of connections to PostgreSQL

	"github.com/ptah-run/ptah/plugin/push/devserver"
	"github.com/ptah-run/ptah/test/mariadb"
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

// startMariaDB starts a server of its own.
func startMariaDB(ctx context.Context) (server, error) {
	s, err := mariadb.Start(ctx, mariadb.Options{})
	if err != nil {
		return nil, err
	}
	h := &host{
		name: mariaDB, base: s.Base(), stopped: s.Stop, open: openMariaDB, driver: atlasmysql.Open,
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
	return h, nil
}

// openMariaDB lifts the bound of one session: the library has several.
func openMariaDB(address string) (*sql.DB, error) {
	db, err := mariadb.Open(address)
	if err == nil {
		db.SetMaxOpenConns(0)
	}
	return db, err
}

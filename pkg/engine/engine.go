// Package engine compares databases with declared schemas and converges them: catalog readers, differ, planner, Apply. Two dialects are
// implemented: PostgreSQL 14 to 18 in internal/postgres, MySQL 8.4 and MariaDB from 10.11 in internal/mysql; model, scope and diff are shared.
//
// What the model describes is converged; what it does not describe and exists in the managed scope, on either side, is refused by name
// (frame.CodeUnsupportedObject). Ownership is no part of a schema; privileges and rows are where a declaration speaks of them. The managed scope is everything outside of the
// system schemas that no exclude selector names: an object that only the database has is drift, and converging drops it. The schema
// "public" is never dropped, nor is a schema that holds something excluded.
//
// Every error that leaves the package is an *Error.
package engine

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/internal/mysql"
	"github.com/ptah-run/ptah/pkg/engine/internal/postgres"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/engine/scope"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

// Error is every error that leaves this package; see its fields for what is known about changes.
type Error = fault.Error

// Options of one operation.
type Options = contract.Options

// PlanResult is the outcome of Plan.
type PlanResult = contract.PlanResult

// Source is one SQL file for LoadSQL.
type Source = contract.Source

// LockName is the advisory lock that serialises Apply on one database.
const LockName = contract.LockName

// dialect is what internal/postgres and internal/mysql are.
type dialect struct {
	name    string
	title   string
	observe func(context.Context, Options, *model.Database) (frame.Observed, error)
	plan    func(context.Context, Options, *model.Database) (PlanResult, error)
	// planFrom is plan for a database that is as a model says.
	planFrom func(ctx context.Context, opts Options, from, desired *model.Database) (PlanResult, error)
	apply    func(context.Context, Options, plan.Document) (frame.Applied, error)
	inspect  func(context.Context, string) (*model.Database, error)
	load     func(context.Context, string, Declarations, []Source) (*model.Database, error)
}

var (
	postgresDialect = dialect{model.Postgres, "PostgreSQL", postgres.Observe, postgres.Plan, postgres.PlanFrom, postgres.Apply, postgres.Inspect, postgres.LoadDeclared}
	mysqlDialect    = dialect{model.MySQL, "MySQL or MariaDB", mysql.Observe, mysql.Plan, mysql.PlanFrom, mysql.Apply, mysql.Inspect, mysql.LoadDeclared}
)

// dialects are found by the scheme of a database URL.
var dialects = map[string]dialect{"postgres": postgresDialect, "postgresql": postgresDialect, "mysql": mysqlDialect, "mariadb": mysqlDialect}

// Observe compares the whole database with the declared schema, read-only and without excludes, and counts the differences by category.
// It names nothing and refuses nothing that it can read.
func Observe(ctx context.Context, opts Options, desired *model.Database) (frame.Observed, error) {
	d, err := supported(opts.URL, desired)
	if err != nil {
		return frame.Observed{}, err
	}
	observed, err := d.observe(ctx, opts, desired)
	return observed, typed(err)
}

// Plan computes, read-only, the statements that make the managed scope of the database equal to the declared schema. It computes once;
// identical inputs give identical documents.
func Plan(ctx context.Context, opts Options, desired *model.Database) (PlanResult, error) {
	d, err := supported(opts.URL, desired)
	if err != nil {
		return PlanResult{}, err
	}
	result, err := d.plan(ctx, opts, desired)
	return result, typed(err)
}

// Apply runs a document on one session, under the advisory lock LockName, which a second connection proves. The managed scope is the document's own.
// Nothing is executed unless the database has the document's source fingerprint. On PostgreSQL all is one transaction, and nothing is committed unless
// the database then has the fingerprint that the document says; statements that the document marks for it follow the transaction, one by one. MySQL and
// MariaDB commit statement by statement, and the end is compared. On error, MutationStarted and OutcomeUncertain of *Error say what is known.
func Apply(ctx context.Context, opts Options, doc plan.Document) (frame.Applied, error) {
	d, err := supported(opts.URL, nil)
	if err != nil {
		return frame.Applied{}, err
	}
	applied, err := d.apply(ctx, opts, doc)
	return applied, typed(err)
}

// Inspect reads the whole database, read-only.
func Inspect(ctx context.Context, databaseURL string) (*model.Database, error) {
	d, err := supported(databaseURL, nil)
	if err != nil {
		return nil, err
	}
	db, err := d.inspect(ctx, databaseURL)
	return db, typed(err)
}

// InspectPrivileges is Inspect with everything that is granted in the database.
func InspectPrivileges(ctx context.Context, databaseURL string) (*model.Database, error) {
	d, err := supported(databaseURL, nil)
	switch {
	case err != nil:
		return nil, err
	case d.name != model.Postgres:
		return nil, fault.New(frame.CodeConfigurationInvalid, "privileges are read from PostgreSQL only: those of MySQL and MariaDB belong to the accounts of the server")
	}
	db, err := postgres.InspectPrivileges(ctx, databaseURL)
	return db, typed(err)
}

// LoadSQL runs SQL files, in order, in a fresh scratch database of the server that devURL leads to, reads the result back and drops the
// database. Errors of the files carry file, line and column.
func LoadSQL(ctx context.Context, devURL string, files []Source) (*model.Database, error) {
	return LoadDeclared(ctx, devURL, Declarations{}, files)
}

// CheckSupported refuses, by name, what a declared schema holds and the engine does not manage, outside of what is excluded.
func CheckSupported(desired *model.Database, exclude []string) error {
	s, err := scope.Parse(exclude)
	if err != nil {
		return fault.Wrap(err, frame.CodeConfigurationInvalid, "%s", err)
	}
	managed, _ := s.Split(desired)
	return typed(contract.RefuseUnmodelled("the declared schema", managed))
}

// supported finds the dialect of a URL, and refuses other ones before anything is opened.
func supported(databaseURL string, desired *model.Database) (dialect, error) {
	if databaseURL == "" {
		return dialect{}, fault.New(frame.CodeCredentialMissing, "the database URL is empty")
	}
	u, err := url.Parse(databaseURL)
	if err != nil {
		// The error quotes the URL.
		return dialect{}, fault.New(frame.CodeDatabaseURLInvalid, "%s", contract.UnreadableURL)
	}
	d, known := dialects[strings.ToLower(u.Scheme)]
	if !known {
		return dialect{}, fault.New(frame.CodeDatabaseURLInvalid, "the database URL must start with postgres://, postgresql://, mysql:// or mariadb://")
	}
	if desired != nil && desired.Dialect != d.name {
		return dialect{}, fault.New(frame.CodeDesiredSchemaInvalid, "the declared schema is written for %q and the database is %s", desired.Dialect, d.title)
	}
	return d, nil
}

// typed makes sure that nothing else than an *Error leaves the package.
func typed(err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return fault.Wrap(err, frame.CodeInternal, "the engine failed in a way that it does not know")
}

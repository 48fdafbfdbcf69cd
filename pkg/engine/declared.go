package engine

import (
	"context"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/internal/mysql"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// Declared is one statement that was rendered from a declaration; see pkg/declare.
type Declared = contract.Declared

// Declarations are rendered declarations and the reference data that belongs to them; see pkg/declare.
type Declarations = contract.Declarations

// Rename is a declared rename.
type Rename = contract.Rename

// DeclaredRows is the reference data of one table.
type DeclaredRows = contract.DeclaredRows

// DeclaredRow is one row of it.
type DeclaredRow = contract.DeclaredRow

// DeclaredValue is one value of a row.
type DeclaredValue = contract.DeclaredValue

// DialectOf is what declarations have to be rendered for to be loaded by a server: "postgres", "mysql" or "mariadb". MySQL and MariaDB share a scheme
// of URLs and are asked.
func DialectOf(ctx context.Context, devURL string) (string, error) {
	d, err := supported(devURL, nil)
	if err != nil || d.name != model.MySQL {
		return d.name, err
	}
	server, err := mysql.ServerOf(ctx, devURL)
	return server, typed(err)
}

// LoadDeclared runs rendered declarations, then SQL files, in the order given, and fills in the declared rows, in a fresh scratch database of the server that devURL leads
// to, reads the result back and drops the database. Errors carry the place in the sources. A file that creates what is declared already is
// refused with both places.
func LoadDeclared(ctx context.Context, devURL string, declarations Declarations, files []Source) (*model.Database, error) {
	d, err := supported(devURL, nil)
	if err != nil {
		return nil, err
	}
	db, err := d.load(ctx, devURL, declarations, files)
	return db, typed(err)
}

// PlanFrom is Plan for a database that is as from says. opts.URL leads to a dev server, which is asked for what a server alone knows: casts, and the
// versions of extensions. Nothing is created there.
func PlanFrom(ctx context.Context, opts Options, from, desired *model.Database) (PlanResult, error) {
	d, err := supported(opts.URL, desired)
	switch {
	case err != nil:
		return PlanResult{}, err
	case from.Dialect != d.name:
		return PlanResult{}, fault.New(frame.CodeDesiredSchemaInvalid, "the first schema is written for %q and the dev server is %s", from.Dialect, d.title)
	}
	result, err := d.planFrom(ctx, opts, from, desired)
	return result, typed(err)
}

package engine

import (
	"context"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/internal/postgres"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// Declared is one statement that was rendered from a declaration; see pkg/declare.
type Declared = contract.Declared

// Declarations are rendered declarations and the reference data that belongs to them; see pkg/declare.
type Declarations = contract.Declarations

// DeclaredRows is the reference data of one table, and DeclaredRow one row of it.
type (
	DeclaredRows = contract.DeclaredRows
	DeclaredRow  = contract.DeclaredRow
)

// LoadDeclared runs rendered declarations, then SQL files, in the order given, and fills in the declared rows, in a fresh scratch database of the server that devURL leads
// to, reads the result back and drops the database. Errors carry the place in the sources. A file that creates what is declared already is
// refused with both places.
func LoadDeclared(ctx context.Context, devURL string, declarations Declarations, files []Source) (*model.Database, error) {
	d, err := supported(devURL, nil)
	switch {
	case err != nil:
		return nil, err
	case d.name == model.MySQL && len(declarations.Statements)+len(declarations.Rows) == 0:
		return LoadSQL(ctx, devURL, files)
	case d.name == model.MySQL:
		return nil, fault.New(frame.CodeDesiredSchemaInvalid, "schemas in YAML and HCL are rendered for PostgreSQL only: declare a MySQL or MariaDB schema in SQL")
	}
	db, err := postgres.LoadDeclared(ctx, devURL, declarations, files)
	return db, typed(err)
}

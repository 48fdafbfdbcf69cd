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

// LoadDeclared runs rendered declarations and then SQL files, in the order given, in a fresh scratch database of the server that devURL leads
// to, reads the result back and drops the database. Errors carry the place in the sources. A file that creates what is declared already is
// refused with both places.
func LoadDeclared(ctx context.Context, devURL string, statements []Declared, files []Source) (*model.Database, error) {
	d, err := supported(devURL, nil)
	switch {
	case err != nil:
		return nil, err
	case d.name == model.MySQL && len(statements) == 0:
		return LoadSQL(ctx, devURL, files)
	case d.name == model.MySQL:
		return nil, fault.New(frame.CodeDesiredSchemaInvalid, "schemas in YAML and HCL are rendered for PostgreSQL only: declare a MySQL or MariaDB schema in SQL")
	}
	db, err := postgres.LoadDeclared(ctx, devURL, statements, files)
	return db, typed(err)
}

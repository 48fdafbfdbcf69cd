package engine

import (
	"context"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/postgres"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Declared is one statement that was rendered from a declaration; see pkg/declare.
type Declared = contract.Declared

// LoadDeclared runs rendered declarations and then SQL files, in the order given, in a fresh scratch database of the server that devURL leads
// to, reads the result back and drops the database. Errors carry the place in the sources. A file that creates what is declared already is
// refused with both places.
func LoadDeclared(ctx context.Context, devURL string, statements []Declared, files []Source) (*model.Database, error) {
	if err := supported(devURL, nil); err != nil {
		return nil, err
	}
	db, err := postgres.LoadDeclared(ctx, devURL, statements, files)
	return db, typed(err)
}

package complete

import (
	"context"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

// Migrations offers the names of PtahMigrations as the first argument, with their phase as the hint.
func Migrations(global *options.Global) Func {
	return first(global, func(ctx context.Context, client *cluster.Client, query cluster.Query, add func(name, hint string)) error {
		return client.EachMigration(ctx, query, func(m *v1alpha1.PtahMigration) error {
			add(m.Name, phase(string(m.Status.Phase)))
			return nil
		})
	})
}

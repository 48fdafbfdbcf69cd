// Package resource finds the one schema or migration that a person named.
package resource

import (
	"context"
	"errors"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

// Reader is what finding needs from the cluster: get on schemas and migrations.
type Reader interface {
	Schema(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchema, error)
	Migration(ctx context.Context, namespace, name string) (*v1alpha1.PtahMigration, error)
}

// Found is what was named: exactly one of the two.
type Found struct {
	Schema    *v1alpha1.PtahSchema
	Migration *v1alpha1.PtahMigration
}

// View is the resource as commands show it.
func (f Found) View() *render.Resource {
	if f.Schema != nil {
		return render.SchemaResource(f.Schema)
	}
	return render.MigrationResource(f.Migration)
}

// Find reads a resource. A kind of "" looks in both; a name that both have is a wrong command line, because there is only one that was
// meant. A kind that may not be read, or that an older operator does not have, does not hide the other.
func Find(ctx context.Context, reader Reader, namespace, kind, name string) (Found, error) {
	var found Found
	var schemaErr, migrationErr error
	if kind != render.KindMigration {
		if found.Schema, schemaErr = reader.Schema(ctx, namespace, name); schemaErr != nil {
			found.Schema = nil
		}
	}
	if kind != render.KindSchema {
		if found.Migration, migrationErr = reader.Migration(ctx, namespace, name); migrationErr != nil {
			found.Migration = nil
		}
	}
	switch {
	case found.Schema != nil && found.Migration != nil:
		return Found{}, options.Usagef("a schema and a migration in namespace %q are named %q: say schema/%s or migration/%s", namespace, name, name, name)
	case found.Schema != nil && !hides(migrationErr), found.Migration != nil && !hides(schemaErr):
		return found, nil
	case kind != "":
		return Found{}, errors.Join(schemaErr, migrationErr)
	case cluster.IsNotFound(schemaErr) && cluster.IsNotFound(migrationErr):
		return Found{}, options.Nothingf("no schema and no migration %q in namespace %q; \"kubectl ptah status -A\" lists all", name, namespace)
	}
	return Found{}, options.Failing(schemaErr, migrationErr)
}

// hides says whether an error could hide a resource that exists and that this person may see.
func hides(err error) bool {
	return err != nil && !cluster.IsNotFound(err) && !cluster.IsForbidden(err) && !cluster.KindMissing(err)
}

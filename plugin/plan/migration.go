package plan

import (
	"context"
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/timeline"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/rejections"
	"github.com/ptah-run/ptah/plugin/storedplan"
)

// migrationReader is what showing a migration's plan needs from the cluster: get on migrations and their plans.
type migrationReader interface {
	Migration(ctx context.Context, namespace, name string) (*v1alpha1.PtahMigration, error)
	MigrationPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahMigrationPlan, error)
	rejections.Reader
}

// migrationPlan shows a stored plan of a migration. The migration may be gone; the plan is evidence all the same.
func (o *planOptions) migrationPlan(ctx context.Context, client migrationReader) error {
	object, err := client.MigrationPlan(ctx, o.namespace, o.name)
	switch {
	case cluster.IsNotFound(err):
		return options.Nothingf("no plan %s/%s is stored", o.namespace, o.name)
	case err != nil:
		return err
	case o.schema != "":
		return fmt.Errorf("plan %s/%s belongs to migration %s, not to schema %s", o.namespace, o.name, object.Spec.MigrationRef.Name, o.schema)
	}
	if err := storedplan.CheckMigration(object); err != nil {
		return err
	}
	if o.format.Kind == render.SQL {
		return options.Nothingf("plan %s/%s stores no SQL: the statements are in the artifact %s", o.namespace, o.name, object.Spec.ArtifactDigest)
	}
	owner := object.Spec.MigrationRef
	migration, err := client.Migration(ctx, o.namespace, owner.Name)
	switch {
	case cluster.IsNotFound(err), err == nil && migration.UID != owner.UID:
		migration = nil
	case err != nil:
		return err
	}
	view := render.NewMigrationPlan(migration, object, o.global.Clock())
	if view.Role == render.RoleCurrent {
		view.Rejected = rejections.Of(ctx, client, o.namespace, timeline.Plan{
			Resource: owner.UID, Name: object.Name, Fingerprint: object.Spec.Fingerprint, StoredAt: object.CreationTimestamp.UTC(),
		})
	}
	return o.output.Print(view)
}

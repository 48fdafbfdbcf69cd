package diff

import (
	"context"
	"strings"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/storedplan"
)

// client is what the verb needs from the cluster: get on plans and ConfigMaps.
type client interface {
	storedplan.Reader
	SchemaPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchemaPlan, error)
	MigrationPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahMigrationPlan, error)
}

type diffOptions struct {
	global   *options.Global
	output   *options.Output
	exitCode bool

	namespace string
	from, to  string
}

func (o *diffOptions) complete(args []string) error {
	o.from, o.to = args[0], args[1]
	if ofMigration(o.from) != ofMigration(o.to) {
		return options.Usagef("%s and %s are plans of different kinds: there is nothing to compare", o.from, o.to)
	}
	if _, err := o.output.Format(); err != nil {
		return err
	}
	var err error
	o.namespace, err = o.global.Namespace()
	return err
}

func ofMigration(name string) bool { return strings.HasPrefix(name, v1alpha1.MigrationPlanPrefix) }

func (o *diffOptions) run(ctx context.Context) error {
	connected, err := o.global.Cluster()
	if err != nil {
		return err
	}
	compare := o.schemas
	if ofMigration(o.from) {
		compare = o.migrations
	}
	view, err := compare(ctx, connected)
	if err != nil {
		return err
	}
	if err := o.output.Print(view); err != nil {
		return err
	}
	if o.exitCode && view.Differ {
		return &options.ExitError{Code: options.Findings}
	}
	return nil
}

func (o *diffOptions) schemas(ctx context.Context, c client) (*render.Diff, error) {
	from, err := o.schema(ctx, c, o.from)
	if err != nil {
		return nil, err
	}
	to, err := o.schema(ctx, c, o.to)
	if err != nil {
		return nil, err
	}
	return render.NewSchemaDiff(from.Object, to.Object, from.Document(), to.Document()), nil
}

func (o *diffOptions) schema(ctx context.Context, c client, name string) (*storedplan.Verified, error) {
	object, err := c.SchemaPlan(ctx, o.namespace, name)
	if err != nil {
		return nil, o.absent(err, name)
	}
	return storedplan.Read(ctx, c, object)
}

func (o *diffOptions) migrations(ctx context.Context, c client) (*render.Diff, error) {
	from, err := o.migration(ctx, c, o.from)
	if err != nil {
		return nil, err
	}
	to, err := o.migration(ctx, c, o.to)
	if err != nil {
		return nil, err
	}
	return render.NewMigrationDiff(from, to), nil
}

func (o *diffOptions) migration(ctx context.Context, c client, name string) (*v1alpha1.PtahMigrationPlan, error) {
	object, err := c.MigrationPlan(ctx, o.namespace, name)
	if err != nil {
		return nil, o.absent(err, name)
	}
	return object, storedplan.CheckMigration(object)
}

func (o *diffOptions) absent(err error, name string) error {
	if cluster.IsNotFound(err) {
		return options.Nothingf("no plan %s/%s is stored", o.namespace, name)
	}
	return err
}

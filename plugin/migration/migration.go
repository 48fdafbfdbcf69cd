package migration

import (
	"context"
	"errors"
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/rejections"
	"github.com/ptah-run/ptah/plugin/storedplan"
)

// reader is what the verb needs from the cluster: get on migrations and their plans, list on their approvals; list on Events for who
// rejected the plan.
type reader interface {
	Migration(ctx context.Context, namespace, name string) (*v1alpha1.PtahMigration, error)
	MigrationPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahMigrationPlan, error)
	EachMigrationApproval(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahMigrationApproval) error) error
	rejections.Reader
}

type migrationOptions struct {
	global *options.Global
	output *options.Output

	namespace, name string
	format          render.Format
}

func (o *migrationOptions) complete(arg string) error {
	var err error
	if o.format, err = o.output.Format(); err != nil {
		return err
	}
	if o.name, err = options.MigrationName(arg); err != nil {
		return err
	}
	o.namespace, err = o.global.Namespace()
	return err
}

func (o *migrationOptions) run(ctx context.Context) error {
	c, err := o.global.Cluster()
	if err != nil {
		return err
	}
	return o.show(ctx, c)
}

// show reads the migration, then what it names. A plan or an approval that cannot be read leaves a gap, not a blank page.
func (o *migrationOptions) show(ctx context.Context, c reader) error {
	m, err := c.Migration(ctx, o.namespace, o.name)
	if err != nil {
		return err
	}
	view := render.NewMigrationStory(m, o.global.Clock())
	var failures []error
	miss := func(resource string, err error) {
		if err != nil {
			view.Unseen = append(view.Unseen, render.Unseen{Resource: resource, Namespace: o.namespace, Why: cluster.WhyOf(err)})
			failures = append(failures, err)
		}
	}
	miss(cluster.MigrationPlans, o.plan(ctx, c, m, view))
	miss(cluster.MigrationReviews, o.approvals(ctx, c, m, view))
	rejections.Mark(ctx, c, o.namespace, &view.Resource)
	if err := o.output.Print(view); err != nil {
		return err
	}
	o.advise(view)
	return errors.Join(failures...)
}

// plan reads the current plan and checks that it is the one that the status names.
func (o *migrationOptions) plan(ctx context.Context, c reader, m *v1alpha1.PtahMigration, view *render.MigrationStory) error {
	ref := m.Status.Plan
	if ref == nil {
		return nil
	}
	object, err := c.MigrationPlan(ctx, m.Namespace, ref.Name)
	switch {
	case err != nil:
		return err
	case object.UID != ref.UID:
		return fmt.Errorf("reading migration plan %s/%s: it was made again since the status named it; wait for the next pass", m.Namespace, ref.Name)
	}
	if err := storedplan.CheckMigration(object); err != nil {
		return err
	}
	view.SetPlan(object)
	return nil
}

func (o *migrationOptions) approvals(ctx context.Context, c reader, m *v1alpha1.PtahMigration, view *render.MigrationStory) error {
	if m.Status.Plan == nil {
		return nil
	}
	return c.EachMigrationApproval(ctx, cluster.Query{Namespace: m.Namespace}, func(a *v1alpha1.PtahMigrationApproval) error {
		if a.Spec.PlanRef.UID == m.Status.Plan.UID {
			view.AddApproval(a)
		}
		return nil
	})
}

// advise names the next command.
func (o *migrationOptions) advise(view *render.MigrationStory) {
	if o.format.Kind != render.Text {
		return
	}
	if view.UnresolvedRun != nil {
		o.global.Next("kubectl ptah clear-unresolved %s -n %s --reason '…', once somebody established what the run did", o.name, o.namespace)
	}
}

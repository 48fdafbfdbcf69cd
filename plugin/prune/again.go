package prune

import (
	"context"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/pin"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/storedplan"
)

// metaLister lists which objects of a resource there are, and in which version.
type metaLister interface {
	EachMeta(ctx context.Context, resource string, query cluster.Query, visit func(*metav1.PartialObjectMetadata) error) error
}

// metaPage bounds one page of versions. A page is small, and fewer of them are faster.
const metaPage = 2000

// place is a list that is read again before each deletion.
type place struct{ resource, namespace string }

// versions are the objects of a list, each in one version.
type versions map[types.UID]string

// sight is a whole reading of a list, and the versions that it was made of. It stands for as long as nothing was written.
type sight struct {
	versions versions
	world    *pin.World
}

// memory is what one run keeps between deletions.
type memory struct {
	sights map[place]sight
	// older are the families whose approvals cannot be selected by their plan: the operator is older than this plugin.
	older map[pin.Family]bool
}

// again reads afresh what could name a plan, before each deletion: the approvals that name it, and its family's owners.
func (o *pruneOptions) again(ctx context.Context, c client, plan pin.Plan) (*pin.World, error) {
	approvals, err := o.approvals(ctx, c, plan)
	if err != nil {
		return nil, err
	}
	resource := cluster.Schemas
	if plan.Family == pin.Migration {
		resource = cluster.Migrations
	}
	owners, err := o.memory.whole(ctx, c, place{resource, plan.Namespace}, func() (*pin.World, error) {
		return storedplan.OwnersOf(ctx, c, plan.Family, plan.Namespace)
	})
	if err != nil {
		return nil, err
	}
	return storedplan.About(plan, o.global.Clock(), approvals, owners), nil
}

// approvals reads those that name one plan. Where they cannot be selected by it, all of them are read.
func (o *pruneOptions) approvals(ctx context.Context, c client, plan pin.Plan) (*pin.World, error) {
	if !o.memory.older[plan.Family] {
		world, err := storedplan.Approvals(ctx, c, plan.Family, plan.Namespace, plan.Name)
		if !cluster.FieldUnknown(err) {
			return world, err
		}
		if o.memory.older == nil {
			o.memory.older = map[pin.Family]bool{}
		}
		o.memory.older[plan.Family] = true
	}
	resource := cluster.SchemaApprovals
	if plan.Family == pin.Migration {
		resource = cluster.MigrationReviews
	}
	return o.memory.whole(ctx, c, place{resource, plan.Namespace}, func() (*pin.World, error) {
		return storedplan.Approvals(ctx, c, plan.Family, plan.Namespace, "")
	})
}

// whole reads a list. Versions alone are read where those of the last whole reading still stand: they were listed before it, so that objects
// which are in the same version afterwards are as the reading has them. Whatever was made, changed or deleted since makes the whole reading anew.
func (m *memory) whole(ctx context.Context, c metaLister, here place, read func() (*pin.World, error)) (*pin.World, error) {
	now := versions{}
	err := c.EachMeta(ctx, here.resource, cluster.Query{Namespace: here.namespace, PageSize: metaPage}, func(object *metav1.PartialObjectMetadata) error {
		now[object.UID] = object.ResourceVersion
		return nil
	})
	if err != nil {
		return nil, err
	}
	if last, ok := m.sights[here]; ok && maps.Equal(last.versions, now) {
		return last.world, nil
	}
	world, err := read()
	if err != nil {
		return nil, err
	}
	if m.sights == nil {
		m.sights = map[place]sight{}
	}
	m.sights[here] = sight{now, world}
	return world, nil
}

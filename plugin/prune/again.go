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

// place is where the pins of one family's plans are.
type place struct {
	family    pin.Family
	namespace string
}

// versions are the objects that can name a plan, each in one version.
type versions map[types.UID]string

// sight is a whole reading of what names plans, and the versions that it was made of. It stands for as long as nothing was written.
type sight struct {
	versions versions
	world    *pin.World
}

// again reads afresh what could name a plan, before each deletion. Versions alone are read where those of the last whole reading still stand:
// they were listed before it, so that objects which are in the same version afterwards are as the reading has them. Whatever was made, changed
// or deleted since makes the whole reading anew.
func (o *pruneOptions) again(ctx context.Context, c client, family pin.Family, namespace string) (*pin.World, error) {
	here := place{family, namespace}
	now, err := versionsOf(ctx, c, here)
	if err != nil {
		return nil, err
	}
	if last, ok := o.sights[here]; ok && maps.Equal(last.versions, now) {
		world := *last.world
		world.Now = o.global.Clock()
		return &world, nil
	}
	world, err := storedplan.Again(ctx, c, family, namespace, o.global.Clock())
	if err != nil {
		return nil, err
	}
	if o.sights == nil {
		o.sights = map[place]sight{}
	}
	o.sights[here] = sight{now, world}
	return world, nil
}

func versionsOf(ctx context.Context, c metaLister, here place) (versions, error) {
	resources := []string{cluster.SchemaApprovals, cluster.Schemas}
	if here.family == pin.Migration {
		resources = []string{cluster.MigrationReviews, cluster.Migrations}
	}
	found := versions{}
	for _, resource := range resources {
		err := c.EachMeta(ctx, resource, cluster.Query{Namespace: here.namespace, PageSize: metaPage}, func(m *metav1.PartialObjectMetadata) error {
			found[m.UID] = m.ResourceVersion
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

package kube

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/realm"
)

// claims is a cluster of claimants: a cache with the manager's own indexes, or an API server that answers page by page.
type claims struct {
	client.Reader
	schemas    []v1alpha1.PtahSchema
	migrations []v1alpha1.PtahMigration
	indexes    map[string]client.IndexerFunc // nil for the API server
	page       int
}

// IndexField takes over the manager's indexes.
func (c *claims) IndexField(_ context.Context, object client.Object, field string, value client.IndexerFunc) error {
	c.indexes[fmt.Sprintf("%T %s", object, field)] = value
	return nil
}

// List answers for both families.
func (c *claims) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(opts)
	switch l := list.(type) {
	case *v1alpha1.PtahSchemaList:
		l.Items, l.Continue = listed(c, o, c.schemas, func(s *v1alpha1.PtahSchema) client.Object { return s })
	case *v1alpha1.PtahMigrationList:
		l.Items, l.Continue = listed(c, o, c.migrations, func(m *v1alpha1.PtahMigration) client.Object { return m })
	}
	return nil
}

func key(o client.Object) string {
	if s, ok := o.(*v1alpha1.PtahSchema); ok {
		return s.Spec.Target.CoordinationKey
	}
	return o.(*v1alpha1.PtahMigration).Spec.Target.CoordinationKey
}

func listed[T any](c *claims, o client.ListOptions, all []T, object func(*T) client.Object) (items []T, next string) {
	if c.indexes == nil {
		for i := range all {
			if o.FieldSelector.Matches(fields.Set{v1alpha1.CoordinationKeyField: key(object(&all[i]))}) {
				items = append(items, all[i])
			}
		}
		begin, _ := strconv.Atoi(o.Continue)
		end := min(begin+c.page, len(items))
		if end < len(items) {
			next = strconv.Itoa(end)
		}
		return items[begin:end], next
	}
	for _, r := range o.FieldSelector.Requirements() {
		for i := range all {
			x := object(&all[i])
			if slices.Contains(c.indexes[fmt.Sprintf("%T %s", x, r.Field)](x), r.Value) {
				items = append(items, all[i])
			}
		}
	}
	return items, ""
}

// A schema beside a migration, in two namespaces: each of both families counts both, alike from the caches and from the API server, and hears
// the same verdict.
func TestSchemasAndMigrationsClaimOneRealm(t *testing.T) {
	type change func(*v1alpha1.Target, *metav1.ObjectMeta, *bool)
	declared := func(x *v1alpha1.Target, _ *metav1.ObjectMeta, _ *bool) { x.SharedRealm = true }
	suspended := func(_ *v1alpha1.Target, _ *metav1.ObjectMeta, suspend *bool) { *suspend = true }
	deleted := func(_ *v1alpha1.Target, m *metav1.ObjectMeta, _ *bool) { m.DeletionTimestamp = &metav1.Time{} }
	elsewhere := func(x *v1alpha1.Target, _ *metav1.ObjectMeta, _ *bool) { x.CoordinationKey = "other" }
	spelled := func(x *v1alpha1.Target, _ *metav1.ObjectMeta, _ *bool) { x.Engine = "postgresql" }
	unsupported := func(x *v1alpha1.Target, _ *metav1.ObjectMeta, _ *bool) { x.Engine = "Oracle" }
	all := func(changes ...change) []change { return changes }
	both := realm.Verdict{Contested: true, Claimants: 2, Undeclared: 2}
	alone := realm.Verdict{Claimants: 1, Undeclared: 1}
	for name, c := range map[string]struct {
		schema, migration     []change
		ofSchema, ofMigration realm.Verdict
	}{
		"neither declared":           {nil, nil, both, both},
		"another spelling":           {nil, all(spelled), both, both},
		"only the schema declared":   {all(declared), nil, realm.Verdict{Contested: true, Claimants: 2, Undeclared: 1}, realm.Verdict{Contested: true, Claimants: 2, Undeclared: 1}},
		"only the migration":         {nil, all(declared), realm.Verdict{Contested: true, Claimants: 2, Undeclared: 1}, realm.Verdict{Contested: true, Claimants: 2, Undeclared: 1}},
		"both declared":              {all(declared), all(declared), realm.Verdict{Claimants: 2}, realm.Verdict{Claimants: 2}},
		"the migration is suspended": {nil, all(suspended), alone, alone},
		"the schema is suspended":    {all(suspended), nil, alone, alone},
		"the migration is going":     {nil, all(deleted), alone, alone},
		"the schema is going":        {all(deleted), nil, alone, alone},
		"another database":           {nil, all(elsewhere), alone, alone},
		"an engine that is no realm": {nil, all(unsupported), alone, realm.Verdict{}},
	} {
		t.Run(name, func(t *testing.T) {
			target := v1alpha1.Target{Engine: "PostgreSQL", CoordinationKey: "prod/orders"}
			s := v1alpha1.PtahSchema{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "orders", UID: "s"}}
			m := v1alpha1.PtahMigration{ObjectMeta: metav1.ObjectMeta{Namespace: "data", Name: "orders", UID: "m"}}
			s.Spec.Target, m.Spec.Target = target, target
			for _, f := range c.schema {
				f(&s.Spec.Target, &s.ObjectMeta, &s.Spec.Suspend)
			}
			for _, f := range c.migration {
				f(&m.Spec.Target, &m.ObjectMeta, &m.Spec.Suspend)
			}
			crowd := func(n int) ([]v1alpha1.PtahSchema, []v1alpha1.PtahMigration) {
				schemas, migrations := []v1alpha1.PtahSchema{s}, []v1alpha1.PtahMigration{m}
				for i := range n {
					x, y := *s.DeepCopy(), *m.DeepCopy()
					x.UID, y.UID = types.UID(fmt.Sprintf("s%d", i)), types.UID(fmt.Sprintf("m%d", i))
					if x.Spec.Target.Engine, y.Spec.Target.Engine = "MySQL", "MySQL"; i%2 == 0 { // the same key on another server, or another key
						x.Spec.Target, y.Spec.Target = target, target
						x.Spec.Target.CoordinationKey, y.Spec.Target.CoordinationKey = "far/away", "far/away"
					}
					schemas, migrations = append(schemas, x), append(migrations, y)
				}
				slices.Reverse(schemas)
				slices.Reverse(migrations)
				return schemas, migrations
			}
			schemas, migrations := crowd(7)
			cached := &claims{schemas: schemas, migrations: migrations, indexes: map[string]client.IndexerFunc{}}
			require.NoError(t, Index(t.Context(), cached))
			server := &claims{schemas: schemas, migrations: migrations, page: 3}
			for _, resource := range []struct {
				self realm.Claimant
				key  string
				want realm.Verdict
			}{
				{SchemaClaimant(&s), s.Spec.Target.CoordinationKey, c.ofSchema},
				{MigrationClaimant(&m), m.Spec.Target.CoordinationKey, c.ofMigration},
			} {
				self := resource.self
				if self.Digest == "" {
					continue // it claims nothing that could be counted
				}
				for _, reader := range []*claims{cached, server} {
					others, err := claimants(t.Context(), reader, reader == server, self.Digest, resource.key)
					require.NoError(t, err)
					assert.Equal(t, resource.want, realm.Judge(self, others), "%s, directly: %v", self.UID, reader == server)
				}
			}
		})
	}
}

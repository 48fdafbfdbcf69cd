package pin_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/pin"
)

// live is a generated cluster, with what its live fields name written down beside it by hand.
type live struct {
	world *pin.World
	named map[string]bool // family/namespace/name/uid
	lost  map[string]bool // family/namespace/owner: carries a run that names no plan
}

func (l *live) name(family pin.Family, namespace string, r v1alpha1.ObjectRef) {
	for _, uid := range uids {
		if r.UID == "" || r.UID == uid {
			l.named[fmt.Sprint(family, "/", namespace, "/", r.Name, "/", uid)] = true
		}
	}
}

var (
	uids       = []types.UID{"u1", "u2"}
	namespaces = rapid.SampledFrom([]string{"app", "shop"})
	refs       = rapid.Custom(func(t *rapid.T) v1alpha1.ObjectRef {
		return ref(rapid.SampledFrom([]string{"p1", "p2", "p3"}).Draw(t, "name"), rapid.SampledFrom([]types.UID{"", "u1", "u2"}).Draw(t, "uid"))
	})
)

func drawSchema(t *rapid.T, l *live) {
	s := schema(v1alpha1.PtahSchemaStatus{})
	s.Namespace = namespaces.Draw(t, "namespace")
	if rapid.Bool().Draw(t, "plan") {
		r := refs.Draw(t, "plan")
		s.Status.Plan = &v1alpha1.SchemaPlanRecord{Name: r.Name, UID: r.UID}
		l.name(pin.Schema, s.Namespace, r)
	}
	if rapid.Bool().Draw(t, "pending") {
		r := refs.Draw(t, "pending")
		s.Status.PendingObservation = &v1alpha1.PendingObservation{Plan: v1alpha1.SchemaPlanRecord{Name: r.Name, UID: r.UID}}
		l.name(pin.Schema, s.Namespace, r)
	}
	if rapid.Bool().Draw(t, "applied") {
		r := refs.Draw(t, "applied")
		s.Status.Applied = &v1alpha1.AppliedRecord{PlanRef: r}
		l.name(pin.Schema, s.Namespace, r)
	}
	l.world.Pins.Add(pin.OfSchema(s)...)
	l.world.Owners.Add(pin.OwnerOfSchema(s))
}

func drawMigration(t *rapid.T, l *live) {
	m := migration(v1alpha1.PtahMigrationStatus{})
	m.Namespace = namespaces.Draw(t, "namespace")
	if rapid.Bool().Draw(t, "plan") {
		r := refs.Draw(t, "plan")
		m.Status.Plan = &r
		l.name(pin.Migration, m.Namespace, r)
	}
	if rapid.Bool().Draw(t, "operation") {
		r := refs.Draw(t, "operation")
		m.Status.ActiveOperation = &v1alpha1.MigrationOperation{PlanRef: &r}
		l.name(pin.Migration, m.Namespace, r)
	}
	switch rapid.IntRange(0, 2).Draw(t, "run") {
	case 1:
		r := refs.Draw(t, "run")
		m.Status.UnresolvedRun = &v1alpha1.UnresolvedRun{PlanRef: &r}
		l.name(pin.Migration, m.Namespace, r)
	case 2:
		m.Status.UnresolvedRun = &v1alpha1.UnresolvedRun{}
		l.lost[m.Namespace] = true
	}
	l.world.Pins.Add(pin.OfMigration(m)...)
	l.world.Owners.Add(pin.OwnerOfMigration(m))
}

func drawApproval(t *rapid.T, l *live) {
	r, namespace := refs.Draw(t, "approved"), namespaces.Draw(t, "namespace")
	if rapid.Bool().Draw(t, "of a schema") {
		a := schemaApproval(ref("orders", "s1"), r)
		a.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "a"}
		l.world.Pins.Add(pin.OfSchemaApproval(a)...)
		l.name(pin.Schema, namespace, r)
		return
	}
	a := migrationApproval(ref("ledger", "m1"), r)
	a.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "a"}
	l.world.Pins.Add(pin.OfMigrationApproval(a)...)
	l.name(pin.Migration, namespace, r)
}

func drawPlan(t *rapid.T, l *live) {
	r := refs.Draw(t, "plan")
	plan := schemaPlan(r.Name, rapid.SampledFrom(uids).Draw(t, "uid"), rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 100).Draw(t, "hours")) * time.Hour
	}).Draw(t, "age"))
	if rapid.Bool().Draw(t, "of a migration") {
		plan = migrationPlan(r.Name, plan.UID)
	}
	plan.Namespace, plan.Stored = namespaces.Draw(t, "namespace"), rapid.Bool().Draw(t, "stored")
	l.world.Plans = append(l.world.Plans, plan)
}

// Whatever the cluster and whatever the policy: a plan that a live field names never may go, and neither may any plan of a migration
// whose unaccounted run does not say what it ran.
func TestNoNamedPlanMayGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &live{world: &pin.World{Now: now}, named: map[string]bool{}, lost: map[string]bool{}}
		for _, draw := range []func(*rapid.T, *live){drawSchema, drawMigration, drawApproval, drawPlan} {
			for range rapid.IntRange(0, 4).Draw(t, "count") {
				draw(t, l)
			}
		}
		policy := pin.Policy{
			OlderThan: time.Duration(rapid.IntRange(0, 100).Draw(t, "older")) * time.Hour, Keep: rapid.IntRange(0, 3).Draw(t, "keep"),
			WhileOperating: rapid.Bool().Draw(t, "while operating"),
		}
		for i, d := range pin.Decide(l.world, policy) {
			p := l.world.Plans[i]
			if d.Plan.Name != p.Name || d.Plan.UID != p.UID {
				t.Fatalf("decision %d is about another plan", i)
			}
			named := l.named[fmt.Sprint(p.Family, "/", p.Namespace, "/", p.Name, "/", p.UID)]
			lost := p.Family == pin.Migration && l.lost[p.Namespace]
			if (named || lost) && (d.Verdict != pin.Kept || len(d.Pins) == 0) {
				t.Fatalf("%s %s/%s (%s) is named by a live field and its verdict is %s: %s", p.Family, p.Namespace, p.Name, p.UID, d.Verdict, d.Reason)
			}
			other := slices.ContainsFunc(d.Pins, func(held pin.Pin) bool { return held.Field != pin.FieldUnresolved || held.Plan.Name != p.Name })
			if !named && !lost && other { // the name alone holds only what a run nobody accounted for names
				t.Fatalf("%s %s/%s (%s) is held by %v, which does not name it", p.Family, p.Namespace, p.Name, p.UID, d.Pins)
			}
		}
	})
}

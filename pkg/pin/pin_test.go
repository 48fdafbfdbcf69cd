package pin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/pin"
)

var now = time.Date(2026, 11, 29, 5, 4, 0, 0, time.UTC)

func schema(status v1alpha1.PtahSchemaStatus) *v1alpha1.PtahSchema {
	return &v1alpha1.PtahSchema{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "orders", UID: "s1"}, Status: status}
}

func migration(status v1alpha1.PtahMigrationStatus) *v1alpha1.PtahMigration {
	return &v1alpha1.PtahMigration{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "ledger", UID: "m1"}, Status: status}
}

func schemaPlan(name string, uid types.UID, age time.Duration) pin.Plan {
	return pin.Plan{
		Family: pin.Schema, Namespace: "app", Name: name, UID: uid, Owner: pin.Ref{Name: "orders", UID: "s1"}, Fingerprint: "f-" + name,
		CreatedAt: now.Add(-age), Stored: true,
	}
}

func migrationPlan(name string, uid types.UID) pin.Plan {
	return pin.Plan{
		Family: pin.Migration, Namespace: "app", Name: name, UID: uid, Owner: pin.Ref{Name: "ledger", UID: "m1"}, Fingerprint: "f-" + name,
		CreatedAt: now.Add(-time.Hour), Stored: true,
	}
}

func world(objects ...any) *pin.World {
	w := &pin.World{Now: now}
	for _, object := range objects {
		switch o := object.(type) {
		case *v1alpha1.PtahSchema:
			w.Pins.Add(pin.OfSchema(o)...)
			w.Owners.Add(pin.OwnerOfSchema(o))
		case *v1alpha1.PtahMigration:
			w.Pins.Add(pin.OfMigration(o)...)
			w.Owners.Add(pin.OwnerOfMigration(o))
		case *v1alpha1.PtahSchemaApproval:
			w.Pins.Add(pin.OfSchemaApproval(o)...)
		case *v1alpha1.PtahMigrationApproval:
			w.Pins.Add(pin.OfMigrationApproval(o)...)
		case pin.Plan:
			w.Plans = append(w.Plans, o)
		}
	}
	return w
}

func ref(name string, uid types.UID) v1alpha1.ObjectRef {
	return v1alpha1.ObjectRef{Name: name, UID: uid}
}

func schemaApproval(owner, plan v1alpha1.ObjectRef) *v1alpha1.PtahSchemaApproval {
	a := &v1alpha1.PtahSchemaApproval{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "release"}}
	a.Spec.SchemaRef, a.Spec.PlanRef = owner, plan
	return a
}

func migrationApproval(owner, plan v1alpha1.ObjectRef) *v1alpha1.PtahMigrationApproval {
	a := &v1alpha1.PtahMigrationApproval{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "release"}}
	a.Spec.MigrationRef, a.Spec.PlanRef = owner, plan
	return a
}

func TestEveryFieldOfTheContractPins(t *testing.T) {
	a, m := schemaPlan("a", "a1", time.Hour), migrationPlan("a", "a1")
	cases := map[string]struct {
		object any
		plan   pin.Plan
		reason string
	}{
		"schema status.plan": {
			schema(v1alpha1.PtahSchemaStatus{Plan: &v1alpha1.SchemaPlanRecord{Name: "a", UID: "a1"}}), a,
			"published and awaiting approval, or being applied (status.plan)",
		},
		"schema status.pendingObservation.plan": {
			schema(v1alpha1.PtahSchemaStatus{PendingObservation: &v1alpha1.PendingObservation{Plan: v1alpha1.SchemaPlanRecord{Name: "a", UID: "a1"}}}), a,
			"the post-Apply verification owed for it has not finished (status.pendingObservation.plan)",
		},
		"schema status.applied.planRef": {
			schema(v1alpha1.PtahSchemaStatus{Applied: &v1alpha1.AppliedRecord{PlanRef: ref("a", "a1")}}), a,
			"evidence of the last confirmed apply (status.applied.planRef)",
		},
		"schema status.applied without a reference": {
			schema(v1alpha1.PtahSchemaStatus{Applied: &v1alpha1.AppliedRecord{PlanFingerprint: "f-a"}}), a,
			"evidence of the last confirmed apply (status.applied.planRef)",
		},
		"schema approval": {
			schemaApproval(ref("orders", "s1"), ref("a", "a1")), a,
			"a person authorized these exact bytes (spec.planRef of PtahSchemaApproval release)",
		},
		"migration approval": {
			migrationApproval(ref("ledger", "m1"), ref("a", "a1")), m,
			"a person authorized these exact bytes (spec.planRef of PtahMigrationApproval release)",
		},
		"migration status.plan": {
			migration(v1alpha1.PtahMigrationStatus{Plan: &v1alpha1.ObjectRef{Name: "a", UID: "a1"}}), m,
			"published and awaiting approval, or being applied (status.plan)",
		},
		"migration status.activeOperation.planRef": {
			migration(v1alpha1.PtahMigrationStatus{ActiveOperation: &v1alpha1.MigrationOperation{PlanRef: &v1alpha1.ObjectRef{Name: "a", UID: "a1"}}}), m,
			"an Apply is in flight against it (status.activeOperation.planRef)",
		},
		"migration status.unresolvedRun.planRef": {
			migration(v1alpha1.PtahMigrationStatus{UnresolvedRun: &v1alpha1.UnresolvedRun{PlanRef: &v1alpha1.ObjectRef{Name: "a", UID: "a1"}}}), m,
			"names a run nobody accounted for (status.unresolvedRun.planRef)",
		},
		"migration status.unresolvedRun adopted": {
			migration(v1alpha1.PtahMigrationStatus{UnresolvedRun: &v1alpha1.UnresolvedRun{}}), m,
			"a run nobody accounted for names no plan, so it may have been any of this migration's (status.unresolvedRun.planRef)",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := pin.Decide(world(c.object, c.plan), pin.Policy{WhileOperating: true})[0]
			assert.Equal(t, pin.Kept, d.Verdict)
			assert.Equal(t, c.reason, d.Reason)

			other := c.plan
			other.Namespace = "elsewhere"
			assert.Equal(t, pin.MayGo, pin.Decide(world(c.object, other), pin.Policy{WhileOperating: true})[0].Verdict, "the same name in another namespace")
			other = c.plan
			other.Family = map[pin.Family]pin.Family{pin.Schema: pin.Migration, pin.Migration: pin.Schema}[other.Family]
			assert.Equal(t, pin.MayGo, pin.Decide(world(c.object, other), pin.Policy{WhileOperating: true})[0].Verdict, "the same name of the other kind")
		})
	}
}

func TestUIDTellsPlansOfOneNameApart(t *testing.T) {
	cases := map[string]struct {
		recorded types.UID
		want     pin.Verdict
		finding  string
	}{
		"the same UID": {"a1", pin.Kept, ""},
		"no UID":       {"", pin.Kept, ""},
		"another UID": {
			"a0", pin.MayGo,
			"PtahSchema app/orders names plan a in status.applied.planRef with UID a0, and the stored plan of that name has UID a1: it was deleted and made again",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := world(schema(v1alpha1.PtahSchemaStatus{Applied: &v1alpha1.AppliedRecord{PlanRef: ref("a", c.recorded)}}), schemaPlan("a", "a1", time.Hour))
			assert.Equal(t, c.want, pin.Decide(w, pin.Policy{})[0].Verdict)
			findings := pin.Dangling(w)
			if c.finding == "" {
				assert.Empty(t, findings)
				return
			}
			require.Len(t, findings, 1)
			assert.Equal(t, c.finding, findings[0].Text)
		})
	}
}

func TestPolicy(t *testing.T) {
	idle := schema(v1alpha1.PtahSchemaStatus{})
	operating := schema(v1alpha1.PtahSchemaStatus{ActiveOperation: &v1alpha1.SchemaOperation{Type: v1alpha1.SchemaPlan}})
	owed := schema(v1alpha1.PtahSchemaStatus{PendingObservation: &v1alpha1.PendingObservation{Plan: v1alpha1.SchemaPlanRecord{Name: "z", UID: "z1"}}})
	halfStored := schemaPlan("a", "a1", time.Hour)
	halfStored.Stored = false
	remade := idle.DeepCopy()
	remade.UID = "s2"
	remadeOperating := operating.DeepCopy()
	remadeOperating.UID = "s2"
	cases := map[string]struct {
		objects []any
		policy  pin.Policy
		want    pin.Verdict
		reason  string
	}{
		"nothing names it":           {[]any{idle, schemaPlan("a", "a1", time.Hour)}, pin.Policy{}, pin.MayGo, "nothing names it"},
		"owner gone":                 {[]any{schemaPlan("a", "a1", time.Hour)}, pin.Policy{}, pin.MayGo, "nothing names it; its schema is gone"},
		"owner made again":           {[]any{remade, schemaPlan("a", "a1", time.Hour)}, pin.Policy{}, pin.MayGo, "nothing names it; its schema is gone"},
		"owner made again and busy":  {[]any{remadeOperating, schemaPlan("a", "a1", time.Hour)}, pin.Policy{}, pin.Busy, "schema orders: operation Plan is in flight (status.activeOperation)"},
		"younger":                    {[]any{idle, schemaPlan("a", "a1", time.Hour)}, pin.Policy{OlderThan: 2 * time.Hour}, pin.Kept, "younger than --older-than"},
		"exactly that old":           {[]any{idle, schemaPlan("a", "a1", time.Hour)}, pin.Policy{OlderThan: time.Hour}, pin.MayGo, "nothing names it"},
		"operating":                  {[]any{operating, schemaPlan("a", "a1", time.Hour)}, pin.Policy{}, pin.Busy, "schema orders: operation Plan is in flight (status.activeOperation)"},
		"proof owed":                 {[]any{owed, schemaPlan("a", "a1", time.Hour)}, pin.Policy{}, pin.Busy, "schema orders: the proof of an Apply is owed (status.pendingObservation)"},
		"while operating":            {[]any{operating, schemaPlan("a", "a1", time.Hour)}, pin.Policy{WhileOperating: true}, pin.MayGo, "nothing names it"},
		"being published":            {[]any{operating, halfStored}, pin.Policy{WhileOperating: true}, pin.Busy, "schema orders: operation Plan is in flight (status.activeOperation)"},
		"never published whole":      {[]any{idle, halfStored}, pin.Policy{}, pin.MayGo, "nothing names it; it was never published whole"},
		"kept as one of the newest":  {[]any{idle, schemaPlan("a", "a1", time.Hour)}, pin.Policy{Keep: 1}, pin.Kept, "among the 1 newest of its schema that nothing names (--keep)"},
		"beyond the newest":          {[]any{idle, schemaPlan("a", "a1", 2*time.Hour), schemaPlan("b", "b1", time.Hour)}, pin.Policy{Keep: 1}, pin.MayGo, "nothing names it"},
		"pinned do not count as new": {[]any{owed, schemaPlan("a", "a1", 2*time.Hour), schemaPlan("z", "z1", time.Hour)}, pin.Policy{Keep: 1}, pin.Kept, "among the 1 newest of its schema that nothing names (--keep)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := pin.Decide(world(c.objects...), c.policy)[0]
			assert.Equal(t, c.want, d.Verdict)
			assert.Equal(t, c.reason, d.Reason)
		})
	}
}

func TestNothingMayGoUnseen(t *testing.T) {
	w := world(schemaPlan("a", "a1", time.Hour), migrationPlan("a", "a2"), migration(v1alpha1.PtahMigrationStatus{Plan: &v1alpha1.ObjectRef{Name: "gone", UID: "g"}}))
	w.Blind = map[pin.Family]string{pin.Schema: "listing ptahschemaapprovals is forbidden", pin.Migration: ""}
	decisions := pin.Decide(w, pin.Policy{WhileOperating: true})
	assert.Equal(t, pin.Unknown, decisions[0].Verdict)
	assert.Equal(t, "could not tell: listing ptahschemaapprovals is forbidden", decisions[0].Reason)
	assert.Equal(t, pin.MayGo, decisions[1].Verdict)
	assert.Len(t, pin.Dangling(w), 1)
	w.Blind[pin.Migration] = "listing ptahmigrationplans is forbidden"
	assert.Empty(t, pin.Dangling(w), "a plan that was not read is not one that is gone")
}

func TestMigrationWithAnUnaccountedRunIsBusy(t *testing.T) {
	m := migration(v1alpha1.PtahMigrationStatus{UnresolvedRun: &v1alpha1.UnresolvedRun{PlanRef: &v1alpha1.ObjectRef{Name: "a", UID: "a1"}}})
	decisions := pin.Decide(world(m, migrationPlan("a", "a1"), migrationPlan("b", "b1")), pin.Policy{})
	assert.True(t, decisions[0].Unresolved)
	assert.Equal(t, pin.Kept, decisions[0].Verdict)
	assert.Equal(t, pin.Busy, decisions[1].Verdict)
	assert.Equal(t, "migration ledger: a run nobody accounted for stands (status.unresolvedRun)", decisions[1].Reason)
}

func TestDangling(t *testing.T) {
	waiting := schema(v1alpha1.PtahSchemaStatus{Plan: &v1alpha1.SchemaPlanRecord{Name: "a", UID: "a1", Fingerprint: "f-a"}})
	forged := schemaPlan("a", "a1", time.Hour)
	forged.Fingerprint = "f-x"
	cases := map[string]struct {
		objects []any
		want    []string
	}{
		"resolves":                     {[]any{waiting, schemaPlan("a", "a1", time.Hour)}, nil},
		"deleted":                      {[]any{waiting}, []string{"PtahSchema app/orders names plan a in status.plan, and no such plan is stored: it was deleted"}},
		"another fingerprint":          {[]any{waiting, forged}, []string{"PtahSchema app/orders names plan a in status.plan with fingerprint f-a, and that plan has f-x"}},
		"approval of a living schema":  {[]any{schema(v1alpha1.PtahSchemaStatus{}), schemaApproval(ref("orders", "s1"), ref("a", "a1"))}, []string{"PtahSchemaApproval app/release names plan a in spec.planRef, and no such plan is stored: it was deleted"}},
		"approval of a schema gone":    {[]any{schemaApproval(ref("orders", "s1"), ref("a", "a1"))}, nil},
		"record without reference":     {[]any{schema(v1alpha1.PtahSchemaStatus{Applied: &v1alpha1.AppliedRecord{PlanFingerprint: "f-a"}})}, []string{"PtahSchema app/orders records fingerprint f-a in status.applied.planRef, and no stored plan has it: it was deleted"}},
		"adopted run that names none":  {[]any{migration(v1alpha1.PtahMigrationStatus{UnresolvedRun: &v1alpha1.UnresolvedRun{}})}, nil},
		"run whose plan was destroyed": {[]any{migration(v1alpha1.PtahMigrationStatus{UnresolvedRun: &v1alpha1.UnresolvedRun{PlanRef: &v1alpha1.ObjectRef{Name: "a", UID: "a1"}}})}, []string{"PtahMigration app/ledger names plan a in status.unresolvedRun.planRef, and no such plan is stored: it was deleted"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range pin.Dangling(world(c.objects...)) {
				got = append(got, f.Text)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// Deleted and published again under its name, it is still the only description of what the run did. It is a finding all the same.
func TestTheNameOfAnUnaccountedRunsPlanPins(t *testing.T) {
	run := migration(v1alpha1.PtahMigrationStatus{UnresolvedRun: &v1alpha1.UnresolvedRun{Outcome: v1alpha1.RunPartial, OperationID: "o", PlanRef: &v1alpha1.ObjectRef{Name: "p", UID: "gone"}}})
	w := world(run, migrationPlan("p", "again"))
	decisions := pin.Decide(w, pin.Policy{WhileOperating: true})
	require.Len(t, decisions, 1)
	assert.Equal(t, pin.Kept, decisions[0].Verdict)
	require.Len(t, pin.Dangling(w), 1)
}

// An approval that was used or overtaken pins its plan like any other; what it alone holds is told apart, because a person may delete such an approval.
func TestApprovalsThatAuthorizeNothingAnyMore(t *testing.T) {
	with := func(conditions ...v1alpha1.ConditionType) pin.Pin {
		a := &v1alpha1.PtahSchemaApproval{}
		a.Name, a.Namespace = "friday", "app"
		a.Spec.SchemaRef, a.Spec.PlanRef = v1alpha1.ObjectRef{Name: "orders", UID: "o"}, v1alpha1.ObjectRef{Name: "plan", UID: "p"}
		for _, c := range conditions {
			a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{Type: string(c), Status: metav1.ConditionTrue})
		}
		return pin.OfSchemaApproval(a)[0]
	}
	m := &v1alpha1.PtahMigrationApproval{}
	m.Status.Conditions = []metav1.Condition{{Type: string(v1alpha1.ConditionConsumed), Status: metav1.ConditionTrue}}
	assert.True(t, pin.OfMigrationApproval(m)[0].Spent)
	open, consumed, stale := with(), with(v1alpha1.ConditionConsumed), with(v1alpha1.ConditionStale)
	assert.False(t, open.Spent)
	assert.True(t, consumed.Spent)
	assert.True(t, stale.Spent)
	for name, c := range map[string]struct {
		pins []pin.Pin
		want bool
	}{
		"nothing": {nil, false}, "consumed": {[]pin.Pin{consumed}, true}, "consumed and stale": {[]pin.Pin{consumed, stale}, true},
		"an open one too": {[]pin.Pin{stale, open}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &pin.World{Now: time.Unix(0, 0)}
			w.Pins.Add(c.pins...)
			d := pin.Judge(w, pin.Policy{}, pin.Plan{Family: pin.Schema, Namespace: "app", Name: "plan", UID: "p"})
			assert.Equal(t, c.want, d.HeldBySpent())
			assert.Equal(t, len(c.pins) == 0, d.Verdict == pin.MayGo, "it pins all the same")
		})
	}
}

func TestLeave(t *testing.T) {
	d := pin.Decision{Plan: pin.Plan{Chunks: []string{"a", "b"}, Sizes: []int64{3, 4}}}
	d.Leave("b", "b", "of another plan")
	assert.Equal(t, []string{"b"}, d.Left)
	assert.EqualValues(t, 4, d.LeftSize)
}

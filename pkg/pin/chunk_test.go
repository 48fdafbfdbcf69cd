package pin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/pin"
)

func chunk(name, plan string, change ...func(*metav1.PartialObjectMetadata)) pin.Chunk {
	yes := true
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "app", Name: name, UID: "c1",
		Labels:          map[string]string{v1alpha1.PlanLabel: plan, v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahSchema", Name: "orders", UID: "s1", Controller: &yes}},
	}}
	for _, f := range change {
		f(m)
	}
	return pin.OfChunk(m)
}

func TestChunkBelongsToItsPlanOnly(t *testing.T) {
	a := schemaPlan("a", "a1", time.Hour)
	a.Chunks = []string{"a-000"}
	cases := map[string]struct {
		chunk pin.Chunk
		want  string
	}{
		"its chunk":        {chunk("a-000", "a"), ""},
		"another plan's":   {chunk("b-000", "b"), "it is labelled for another plan"},
		"labelled falsely": {chunk("settings", "a"), "the plan does not list it"},
		"not the operator's": {
			chunk("a-000", "a", func(m *metav1.PartialObjectMetadata) { delete(m.Labels, v1alpha1.ManagedByLabel) }),
			"it is not labelled as the operator's",
		},
		"another owner": {chunk("a-000", "a", func(m *metav1.PartialObjectMetadata) { m.OwnerReferences[0].UID = "s2" }), "it is not owned by the plan's schema"},
		"no owner":      {chunk("a-000", "a", func(m *metav1.PartialObjectMetadata) { m.OwnerReferences = nil }), "it is not owned by the plan's schema"},
		"another kind of owner": {
			chunk("a-000", "a", func(m *metav1.PartialObjectMetadata) { m.OwnerReferences[0].Kind = "Deployment" }),
			"it is not owned by the plan's schema",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, c.chunk.Belongs(a)) })
	}
}

func TestOrphans(t *testing.T) {
	idle := schema(v1alpha1.PtahSchemaStatus{})
	a := schemaPlan("a", "a1", time.Hour)
	a.Chunks = []string{"a-000", "b-000"}
	cases := map[string]struct {
		objects []any
		chunk   pin.Chunk
		want    pin.Verdict
		reason  string
	}{
		"plan stored":            {[]any{idle, a}, chunk("a-000", "a"), "", ""},
		"listed by another plan": {[]any{idle, a}, chunk("b-000", "b"), "", ""},
		"plan gone":              {[]any{idle}, chunk("a-000", "a"), pin.MayGo, "its plan is gone"},
		"schema gone":            {nil, chunk("a-000", "a"), pin.MayGo, "its plan is gone"},
		"being published": {
			[]any{schema(v1alpha1.PtahSchemaStatus{ActiveOperation: &v1alpha1.SchemaOperation{Type: v1alpha1.SchemaPlan}})},
			chunk("a-000", "a"),
			pin.Busy, "schema orders: operation Plan is in flight (status.activeOperation)",
		},
		"still named": {
			[]any{schema(v1alpha1.PtahSchemaStatus{Plan: &v1alpha1.SchemaPlanRecord{Name: "a", UID: "a1"}})},
			chunk("a-000", "a"),
			pin.Kept, "its plan is gone and is still named: status.plan",
		},
		"somebody's own": {[]any{idle}, chunk("settings", "a"), pin.Kept, "labelled for a plan that is gone, and not a chunk that the operator wrote"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			orphans := pin.Orphans(world(c.objects...), []pin.Chunk{c.chunk})
			if c.want == "" {
				assert.Empty(t, orphans)
				return
			}
			assert.Equal(t, []pin.Orphan{{Chunk: c.chunk, Verdict: c.want, Reason: c.reason}}, orphans)
		})
	}
}

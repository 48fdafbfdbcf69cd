package kube

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/operation"
	ptahschema "github.com/ptah-run/ptah/pkg/schema"
)

// shelf is a cache or an API server that holds one schema and perhaps one Job.
type shelf struct {
	schema *v1alpha1.PtahSchema
	job    *batchv1.Job
	// approval is there where a test is about one.
	approval *v1alpha1.PtahSchemaApproval
}

func (s shelf) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	switch o := object.(type) {
	case *v1alpha1.PtahSchema:
		s.schema.DeepCopyInto(o)
		return nil
	case *v1alpha1.PtahSchemaApproval:
		s.approval.DeepCopyInto(o)
		return nil
	case *batchv1.Job:
		if s.job != nil {
			s.job.DeepCopyInto(o)
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (shelf) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// A Job that this process wrote is believed in while the cache catches up. After that a Job missing in the cache is missing: somebody deleted it,
// and its claim has to be concluded.
func TestWrittenJobThatIsDeletedIsNotRememberedForEver(t *testing.T) {
	k := Key{Kind: "PtahSchema", NamespacedName: types.NamespacedName{Namespace: "app", Name: "shop"}}
	written := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "ptah-apply", UID: "job", ResourceVersion: "7"}}
	s := &v1alpha1.PtahSchema{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "shop", UID: "u"}}
	s.Status.ActiveOperation = &v1alpha1.SchemaOperation{ID: opID, JobName: written.Name, JobUID: written.UID}
	start := time.Now()
	now := start
	w := &World{Cached: shelf{schema: s}, Direct: shelf{schema: s}, Memory: NewMemory(), Clock: func() time.Time { return now }, Nonce: func() string { return "n" }}
	look := func() operation.State {
		t.Helper()
		p, found, err := w.Gather(t.Context(), k)
		require.NoError(t, err)
		require.True(t, found)
		return p.Snapshot.Job.State
	}
	look() // the memory of a resource begins with its UID
	w.Memory.WroteJob(k, written, start)
	assert.Equal(t, operation.Present, look(), "the cache may lag behind the create")
	now = start.Add(cacheLag)
	assert.Equal(t, operation.Absent, look())
	w.Cached = shelf{schema: s, job: written}
	assert.Equal(t, operation.Present, look(), "it merely lagged")

	// What the API server itself says counts at once.
	now = start
	w.Cached = shelf{schema: s}
	p, _, err := w.Gather(t.Context(), k)
	require.NoError(t, err)
	p.readJob(t.Context())
	assert.Equal(t, operation.Known[operation.Job]{State: operation.Absent, Fresh: true}, p.Snapshot.Job)
	assert.Equal(t, operation.Absent, look())
}

// A deadline may pass while a decision's reads are under way: the one instant that a claim is judged by and begins at lies after them.
func TestInstantOfADecisionFollowsItsReads(t *testing.T) {
	now := time.Now()
	s := &v1alpha1.PtahSchema{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "shop", UID: "u"}}
	w := &World{Cached: shelf{schema: s}, Direct: shelf{schema: s}, Memory: NewMemory(), Clock: func() time.Time { return now }, Nonce: func() string { return "n" }}
	p, _, err := w.Gather(t.Context(), Key{Kind: "PtahSchema", NamespacedName: types.NamespacedName{Namespace: "app", Name: "shop"}})
	require.NoError(t, err)
	now = now.Add(time.Minute)
	_, err = p.Read(t.Context(), operation.PartApprovals)
	require.NoError(t, err)
	assert.Equal(t, now, p.Snapshot.Now)
	assert.Equal(t, now, p.View.Now)
}

// An approval is marked once and people hear of it once, however long the cache shows it unmarked.
func TestApprovalThatIsMarkedIsNotMarkedAgain(t *testing.T) {
	verdict := approval.Verdict{Outcome: approval.Stale, Reason: v1alpha1.ReasonPlanNoLongerCurrent, Message: "the plan is gone"}
	a := &v1alpha1.PtahSchemaApproval{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "yes", UID: "a"}}
	approval.SetConditions(&a.Status.Conditions, verdict, 0, metav1.Now())
	p := &Pass{Schema: &v1alpha1.PtahSchema{ObjectMeta: metav1.ObjectMeta{Namespace: "app"}}, View: &ptahschema.View{Now: time.Now()}, world: &World{Direct: shelf{approval: a}}}
	_, err := p.MarkApproval(t.Context(), operation.Mark{Name: "yes", UID: "a", Verdict: verdict})
	require.ErrorIs(t, err, ErrOutdated)
}

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
	"github.com/ptah-run/ptah/pkg/operation"
)

// shelf is a cache or an API server that holds one schema and perhaps one Job.
type shelf struct {
	schema *v1alpha1.PtahSchema
	job    *batchv1.Job
}

func (s shelf) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	switch o := object.(type) {
	case *v1alpha1.PtahSchema:
		s.schema.DeepCopyInto(o)
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

package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/operation"
)

// applying leads a world to an Apply whose Pod runs and has done nothing yet.
func applying(t *testing.T) (*world, *brain) {
	t.Helper()
	w, b := newWorld(), &brain{}
	for range 400 {
		_, waiting := w.pass(b, succeeds).(operation.Wait)
		if !waiting {
			continue
		}
		w.startPods()
		if w.writing() != "" {
			return w, b
		}
		if !w.runPods() {
			w.approve()
		}
	}
	require.Fail(t, "no Apply", strings.Join(w.trace, "\n"))
	return nil, nil
}

// pause lets the manager work for a while in which nothing but time passes.
func (w *world) pause(b *brain, d time.Duration) {
	end := w.now.Add(d)
	for w.now.Before(end) {
		if wait, waiting := w.pass(b, succeeds).(operation.Wait); waiting {
			w.now = wait.Until
			if w.lease != nil && w.lease.Holder != "thief" {
				left := w.lease.RenewedAt.Add(time.Duration(w.lease.Seconds) * time.Second).Sub(w.now)
				if left < time.Duration(w.lease.Seconds)*time.Second/2 {
					w.violated("the Lease was left alone for more than half of its duration")
				}
			}
		}
		w.check()
	}
}

// A Pod on a node that nobody reaches may still be writing: its Lease is renewed and no proof begins, for as long as that takes.
func TestUnreachableApply(t *testing.T) {
	for name, strike := range map[string]func(*world){
		"its Job is deleted":              func(w *world) { w.freeze(false); w.jobs = map[string]*batchv1.Job{} },
		"its Job ran into its deadline":   func(w *world) { w.freeze(true) },
		"and the schema is being deleted": func(w *world) { w.freeze(true); at := w.schemaNow(); w.schema.DeletionTimestamp = at; w.bump() },
		"and the schema is suspended":     func(w *world) { w.freeze(true); w.edit(func() { w.schema.Spec.Suspend = true }) },
		"and another manager takes over":  func(w *world) { w.freeze(false); w.identity = identity(2) },
	} {
		t.Run(name, func(t *testing.T) {
			guarded(t, func() {
				w, b := applying(t)
				strike(w)
				jobs := len(w.jobs)
				w.pause(b, time.Hour)
				assert.LessOrEqual(t, len(w.jobs), jobs, "no reading began")
				assert.False(t, w.gone)
				st := &w.schema.Status
				if len(w.jobs) > 0 && w.identity == identity(1) {
					require.NotNil(t, st.ActiveOperation, "a Job that ended before its Pod is not accounted for")
				}
				assert.True(t, st.ActiveOperation != nil || st.PendingObservation != nil)
				require.NotNil(t, w.lease, "nobody else may have the database meanwhile")
				w.thaw()
				if w.schema.DeletionTimestamp != nil {
					assert.True(t, w.depart(b), strings.Join(w.trace, "\n"))
					return
				}
				w.kind()
				assert.Equal(t, v1alpha1.SchemaPhaseInSync, w.settle(b), strings.Join(w.trace, "\n"))
			})
		})
	}
}

// A proof that is owed keeps its Lease through suspension, until resume and proof.
func TestSuspendedProofKeepsItsLease(t *testing.T) {
	guarded(t, func() {
		w, b := applying(t)
		w.edit(func() { w.schema.Spec.Suspend = true })
		w.runPods()
		w.pause(b, time.Hour)
		require.NotNil(t, w.schema.Status.PendingObservation)
		require.NotNil(t, w.lease)
		assert.Equal(t, "True/Requested", tuples(w.schema)["Suspended"])
		w.kind()
		assert.Equal(t, v1alpha1.SchemaPhaseInSync, w.settle(b))
		require.NotNil(t, w.schema.Status.Applied)
	})
}

// An Apply that did nothing and said that it succeeded is not believed.
func TestLyingExecutor(t *testing.T) {
	guarded(t, func() {
		w, b := applying(t)
		before := w.database
		w.runPods()
		w.database = before
		phase := w.settle(b)
		assert.Equal(t, v1alpha1.SchemaPhaseInSync, phase, "a second, honest Apply after a second approval")
		assert.Len(t, w.applied, 2)
		assert.Len(t, w.approvals, 2)
	})
}

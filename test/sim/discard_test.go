package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/operation"
)

// Another coordination key, another database behind the same key, drift and a moved tag each discard the plan and the decision about it,
// before anything is applied.
func TestChangedInputsDiscardThePlan(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"coordination key":  func(w *world) { w.edit(func() { w.schema.Spec.Target.CoordinationKey = "prod/other" }) },
		"database identity": func(w *world) { w.identify = sha("database-2") },
		"drift":             func(w *world) { w.database = "somebody's" },
		"moved tag":         func(w *world) { w.registry = sha("artifact-2") },
		"artifact policy":   func(w *world) { w.policyUID = "policy-2" },
	} {
		t.Run(name, func(t *testing.T) {
			guarded(t, func() {
				w, b := newWorld(), &brain{}
				w.until(t, b, "a plan", resting(v1alpha1.SchemaPhaseAwaitingApproval))
				old := *w.schema.Status.Plan
				require.True(t, w.approve(), "decided before anybody could know")
				change(w)
				w.now = w.schema.Status.NextReconciliationTime.Time
				w.until(t, b, "another plan", func(st *v1alpha1.PtahSchemaStatus) bool {
					return resting(v1alpha1.SchemaPhaseAwaitingApproval)(st) && st.Plan != nil && st.Plan.UID != old.UID
				})
				assert.NotEqual(t, old.Name, w.schema.Status.Plan.Name)
				assert.Nil(t, w.schema.Status.Plan.Approval)
				assert.Zero(t, w.jobsOf("apply"))
				w.until(t, b, "the approval to be retired", func(*v1alpha1.PtahSchemaStatus) bool { return w.stale(0) == "PlanNoLongerCurrent" })
				require.Equal(t, v1alpha1.SchemaPhaseInSync, w.settle(b), strings.Join(w.trace, "\n"))
				assert.NotEqual(t, old.UID, w.schema.Status.Applied.PlanRef.UID)
			})
		})
	}
}

// What was applied to one database is no evidence about another one, nor about another artifact.
func TestChangedInputsClearTheAppliedRecord(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"database identity": func(w *world) { w.identify, w.database = sha("database-2"), stateOld },
		"moved tag":         func(w *world) { w.registry = sha("artifact-2") },
	} {
		t.Run(name, func(t *testing.T) {
			guarded(t, func() {
				w, b := newWorld(), &brain{}
				require.Equal(t, v1alpha1.SchemaPhaseInSync, w.settle(b))
				require.NotNil(t, w.schema.Status.Applied)
				change(w)
				w.now = w.schema.Status.NextReconciliationTime.Time
				w.until(t, b, "another plan", resting(v1alpha1.SchemaPhaseAwaitingApproval))
				assert.Nil(t, w.schema.Status.Applied)
				assert.Equal(t, 1, w.jobsOf("apply"), "the first")
			})
		})
	}
}

// The database moved between the plan and its Apply: nothing ran, the plan is cleared, and its approval authorizes nothing again, not even
// when the database returns to where it was and the very same plan is computed again.
func TestStalePlanRefusal(t *testing.T) {
	for name, back := range map[string]bool{"the database stays": false, "the database returns": true} {
		t.Run(name, func(t *testing.T) {
			guarded(t, func() {
				w, b := applying(t)
				first := *w.schema.Status.Plan
				w.database = "somebody's"
				w.runPods()
				w.until(t, b, "the refusal", func(st *v1alpha1.PtahSchemaStatus) bool { return st.ActiveOperation == nil })
				st := &w.schema.Status
				assert.Nil(t, st.PendingObservation, "nothing ran, nothing is owed")
				assert.Nil(t, st.Plan)
				assert.Equal(t, 1, w.events(v1alpha1.EventPlanStale))
				if back {
					w.database = stateOld
				}
				w.until(t, b, "the approval to be retired", func(*v1alpha1.PtahSchemaStatus) bool { return w.stale(0) == "PlanNoLongerCurrent" })
				w.until(t, b, "the next plan", resting(v1alpha1.SchemaPhaseAwaitingApproval))
				assert.Equal(t, back, first.UID == w.schema.Status.Plan.UID, "a plan is its content")
				w.pause(b, time.Minute)
				assert.Equal(t, 1, w.jobsOf("apply"), "it waits for a decision of its own")
				require.Equal(t, v1alpha1.SchemaPhaseInSync, w.settle(b), strings.Join(w.trace, "\n"))
				assert.Len(t, w.approvals, 2)
				assert.Len(t, w.applied, 1)
			})
		})
	}
}

// A suspended schema that owes a proof is deleted: nothing of the Apply writes any more, then the record goes, then the Lease, then the
// finalizer.
func TestDeletedWhileSuspendedWithAProofOwed(t *testing.T) {
	for name, late := range map[string]bool{"nothing writes": false, "a Pod may still write": true} {
		t.Run(name, func(t *testing.T) {
			guarded(t, func() {
				w, b := applying(t)
				w.edit(func() { w.schema.Spec.Suspend = true })
				if late { // its Job is gone, the node of its Pod is cut off
					w.freeze(false)
					w.jobs = nil
				} else {
					w.runPods()
				}
				w.until(t, b, "a proof that waits", func(st *v1alpha1.PtahSchemaStatus) bool {
					return st.PendingObservation != nil && st.ActiveOperation == nil && is(st, "Suspended", "True")
				})
				at := w.schemaNow()
				w.schema.DeletionTimestamp = at
				w.bump()
				if late {
					w.pause(b, time.Hour)
					require.NotNil(t, w.schema.Status.PendingObservation)
					require.NotNil(t, w.lease, "nobody else may have the database")
					require.NotEmpty(t, w.schema.Finalizers)
					w.thaw()
					w.runPods()
				}
				var order []string
				for passes := 0; passes < 50 && !w.gone; passes++ {
					step := w.pass(b, succeeds)
					w.check()
					switch x := step.(type) {
					case operation.Wait:
						w.now = x.Until
						continue
					case operation.PatchStatus:
						order = append(order, "status "+x.Reason)
					case operation.ReleaseLease:
						assert.NotNil(t, w.schema.Status.PendingLockRelease, "it can be released again after a crash")
						order = append(order, "release")
					case operation.RemoveFinalizer:
						order = append(order, "finalizer")
					case operation.RenewLease:
					default:
						order = append(order, reasonOf(step))
					}
				}
				assert.Equal(t, []string{"status proof-ended", "release", "status released", "finalizer"}, order)
				assert.True(t, w.gone)
				assert.Nil(t, w.lease)
			})
		})
	}
}

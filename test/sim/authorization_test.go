package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
)

// reserved are the stages of an Apply whose Job nobody tried to create yet.
var reserved = map[string]func(w *world, b *brain, op *v1alpha1.SchemaOperation) bool{
	"claimed":    func(*world, *brain, *v1alpha1.SchemaOperation) bool { return true },
	"Lease held": func(_ *world, _ *brain, op *v1alpha1.SchemaOperation) bool { return op.LeaseEpoch != "" },
	"prepared":   func(_ *world, _ *brain, op *v1alpha1.SchemaOperation) bool { return op.AdmissionSnapshot != nil },
	"approval spent": func(w *world, _ *brain, _ *v1alpha1.SchemaOperation) bool {
		return approval.IsConsumed(w.approvals[0].Status)
	},
	"marked": func(_ *world, b *brain, op *v1alpha1.SchemaOperation) bool {
		return op.DispatchStarted && b.permit != ""
	},
}

// reserve leads a world to such a stage, on the approval of a person.
func reserve(t *testing.T, stage string) (*world, *brain) {
	t.Helper()
	w, b := newWorld(), &brain{}
	w.until(t, b, "a plan", resting(v1alpha1.SchemaPhaseAwaitingApproval))
	require.True(t, w.approve())
	w.until(t, b, stage, func(st *v1alpha1.PtahSchemaStatus) bool {
		return st.ActiveOperation != nil && st.ActiveOperation.Type == v1alpha1.SchemaApply && reserved[stage](w, b, st.ActiveOperation)
	})
	require.Zero(t, w.jobsOf("apply"))
	return w, b
}

// A changed generation, policy, artifact policy, coordination key or binding takes the authorization of an Apply that was not dispatched: no
// Job, the Lease goes back, and an approval that was spent on it is spent.
func TestUndispatchedApplyLosesItsAuthorization(t *testing.T) {
	revocations := map[string]struct {
		revoke func(w *world)
		phase  v1alpha1.SchemaPhase // where the chain that follows comes to rest
		stale  string               // why the approval is stale then, at least; "" where it may still count
	}{
		"another generation":            {func(w *world) { w.edit(func() { w.schema.Spec.Interval.Duration += time.Minute }) }, "", ""},
		"apply Never":                   {func(w *world) { w.edit(func() { w.schema.Spec.Policy.Apply = v1alpha1.ApplyNever }) }, v1alpha1.SchemaPhaseBlocked, "PlanNoLongerCurrent"},
		"another scope":                 {func(w *world) { w.edit(func() { w.schema.Spec.Policy.Exclude = []string{"audit"} }) }, v1alpha1.SchemaPhaseAwaitingApproval, "PlanNoLongerCurrent"},
		"another coordination key":      {func(w *world) { w.edit(func() { w.schema.Spec.Target.CoordinationKey = "prod/other" }) }, v1alpha1.SchemaPhaseAwaitingApproval, "PlanNoLongerCurrent"},
		"another verification policy":   {func(w *world) { w.policyUID = "policy-2" }, v1alpha1.SchemaPhaseAwaitingApproval, "PlanNoLongerCurrent"},
		"another binding":               {func(w *world) { w.identity = identity(2) }, v1alpha1.SchemaPhaseAwaitingApproval, "ExecutionBindingChanged"},
		"an engine that is unsupported": {func(w *world) { w.edit(func() { w.schema.Spec.Target.Engine = "Oracle" }) }, v1alpha1.SchemaPhaseBlocked, "PlanNoLongerCurrent"},
		"suspended":                     {func(w *world) { w.edit(func() { w.schema.Spec.Suspend = true }) }, v1alpha1.SchemaPhaseSuspended, ""},
		"the approval is deleted":       {func(w *world) { w.approvals[0].UID = types.UID("gone") }, v1alpha1.SchemaPhaseAwaitingApproval, ""},
	}
	for name, c := range revocations {
		for stage := range reserved {
			t.Run(name+", "+stage, func(t *testing.T) {
				guarded(t, func() {
					w, b := reserve(t, stage)
					lost := w.schema.Status.ActiveOperation.ID
					c.revoke(w)
					w.until(t, b, "the claim to be given up", func(st *v1alpha1.PtahSchemaStatus) bool {
						return (st.ActiveOperation == nil || st.ActiveOperation.ID != lost) && st.PendingLockRelease == nil
					})
					assert.Zero(t, w.jobsOf("apply"))
					assert.Empty(t, w.creates)
					assert.False(t, w.lease != nil && w.lease.Holder == lost, "the Lease goes back")
					if c.phase != "" {
						w.until(t, b, "rest", resting(c.phase))
						w.until(t, b, "the approval to be judged", func(*v1alpha1.PtahSchemaStatus) bool { return c.stale == "" || w.stale(0) != "" })
						assert.Equal(t, c.stale, w.stale(0))
						assert.Zero(t, w.jobsOf("apply"))
					}
					w.edit(func() {
						w.schema.Spec.Target.Engine, w.schema.Spec.Suspend, w.schema.Spec.Policy.Apply = "PostgreSQL", false, v1alpha1.ApplyOnApproval
					})
					require.Equal(t, v1alpha1.SchemaPhaseInSync, w.settle(b), strings.Join(w.trace, "\n"))
					assert.Len(t, w.applied, 1)
					spent := stage == "approval spent" || stage == "marked"
					if spent || c.stale != "" {
						assert.Greater(t, len(w.approvals), 1, "a person decides again")
					}
				})
			})
		}
	}
}

// UnsupportedEngine is no crash: nothing is made and nothing is reused, a dispatched Apply and its proof are finished first, and another engine
// later starts at Resolve.
func TestUnsupportedEngine(t *testing.T) {
	oracle := func(w *world) { w.edit(func() { w.schema.Spec.Target.Engine = "Oracle" }) }
	for name, reach := range map[string]func(t *testing.T) (*world, *brain){
		"reserved":   func(t *testing.T) (*world, *brain) { return reserve(t, "prepared") },
		"dispatched": applying,
		"waiting for a person, who decides too late": func(t *testing.T) (*world, *brain) {
			w, b := newWorld(), &brain{}
			w.until(t, b, "a plan", resting(v1alpha1.SchemaPhaseAwaitingApproval))
			require.True(t, w.approve())
			return w, b
		},
	} {
		t.Run(name, func(t *testing.T) {
			guarded(t, func() {
				w, b := reach(t)
				oracle(w)
				w.until(t, b, "the refusal", func(st *v1alpha1.PtahSchemaStatus) bool {
					return resting(v1alpha1.SchemaPhaseBlocked)(st) && st.Plan == nil
				})
				dispatched := 0
				if name == "dispatched" {
					dispatched = 1
					require.NotNil(t, w.schema.Status.Applied, "the proof came before the refusal")
				}
				assert.Equal(t, dispatched, w.jobsOf("apply"))
				for condition, want := range map[string]string{
					"EngineSupported": "False", "Ready": "False", "DatabaseReachable": "Unknown", "DriftDetected": "Unknown", "InSync": "Unknown",
					"PlanReady": "False", "ApprovalRequired": "False", "Applying": "False",
				} {
					assert.Equal(t, want+"/UnsupportedEngine", tuples(w.schema)[condition], condition)
				}
				assert.Nil(t, w.lease)
				jobs, plans := len(w.jobs), len(w.plans)
				w.pause(b, 24*time.Hour)
				assert.NotEmpty(t, w.stale(0))
				assert.Len(t, w.jobs, jobs)
				assert.Len(t, w.plans, plans)
				assert.Equal(t, 1, w.events(v1alpha1.EventUnsupportedEngine), "said once")

				w.edit(func() { w.schema.Spec.Target.Engine = "PostgreSQL" })
				w.until(t, b, "another operation", func(st *v1alpha1.PtahSchemaStatus) bool { return st.ActiveOperation != nil })
				assert.Equal(t, v1alpha1.SchemaResolve, w.schema.Status.ActiveOperation.Type)
				if dispatched == 0 {
					w.until(t, b, "a person to be asked", resting(v1alpha1.SchemaPhaseAwaitingApproval))
					assert.Nil(t, w.schema.Status.Plan.Approval)
				}
				require.Equal(t, v1alpha1.SchemaPhaseInSync, w.settle(b))
				assert.Len(t, w.applied, 1)
				assert.Len(t, w.approvals, 2-dispatched)
			})
		})
	}
}

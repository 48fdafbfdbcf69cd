package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/intent"
)

// chain lists the operations that a world claims until it rests in a phase again.
func (w *world) chain(t *testing.T, b *brain, p v1alpha1.SchemaPhase) []string {
	t.Helper()
	var types []string
	last := ""
	w.until(t, b, "rest in "+string(p), func(st *v1alpha1.PtahSchemaStatus) bool {
		if op := st.ActiveOperation; op != nil && op.ID != last {
			last = op.ID
			types = append(types, string(op.Type))
		}
		return len(types) > 0 && resting(p)(st)
	})
	return types
}

// rests are the phases that a refresh begins from.
var rests = map[string]struct {
	apply  v1alpha1.ApplyPolicy
	phase  v1alpha1.SchemaPhase
	before func(t *testing.T, w *world, b *brain)
}{
	"InSync": {v1alpha1.ApplyOnApproval, v1alpha1.SchemaPhaseInSync, func(t *testing.T, w *world, b *brain) {
		require.Equal(t, v1alpha1.SchemaPhaseInSync, w.settle(b))
	}},
	"AwaitingApproval": {v1alpha1.ApplyOnApproval, v1alpha1.SchemaPhaseAwaitingApproval, nil},
	"Blocked":          {v1alpha1.ApplyNever, v1alpha1.SchemaPhaseBlocked, nil},
	"ReadyToApply":     {v1alpha1.ApplyAlways, v1alpha1.SchemaPhaseReadyToApply, nil},
	"ReadyToApply, approved": {v1alpha1.ApplyOnApproval, v1alpha1.SchemaPhaseReadyToApply, func(t *testing.T, w *world, b *brain) {
		w.until(t, b, "a plan", resting(v1alpha1.SchemaPhaseAwaitingApproval))
		require.True(t, w.approve())
	}},
}

// rest leads a world there and to the instant of its next refresh.
func rest(t *testing.T, name string) (*world, *brain) {
	t.Helper()
	r := rests[name]
	w, b := newWorld(), &brain{}
	w.schema.Spec.Policy.Apply = r.apply
	if r.before != nil {
		r.before(t, w, b)
	}
	w.until(t, b, string(r.phase), resting(r.phase))
	w.now = w.schema.Status.NextReconciliationTime.Time
	return w, b
}

var whole = []string{"Resolve", "Verify", "Observe", "Plan"}

// Every interval resolves the reference again, whatever the schema rests in, and reads everything below it again. Nothing is applied by it.
func TestEveryIntervalResolvesAgain(t *testing.T) {
	for name, r := range rests {
		t.Run(name, func(t *testing.T) {
			guarded(t, func() {
				w, b := rest(t, name)
				applies := w.jobsOf("apply")
				for range 3 {
					assert.Equal(t, whole, w.chain(t, b, r.phase))
					assert.Equal(t, applies, w.jobsOf("apply"))
					assert.False(t, w.schema.Status.NextReconciliationTime.Time.Before(w.now.Add(9*time.Minute)), "the cadence goes on")
					w.now, b = w.schema.Status.NextReconciliationTime.Time, &brain{}
				}
			})
		})
	}
}

// A refresh that is due finds a moved tag, or drift: what rests on the old state is void before anything could be applied on it, and the new
// digest is verified and read from the start.
func TestDueRefreshVoidsWhatMoved(t *testing.T) {
	for name := range rests {
		for what, move := range map[string]func(w *world){
			"moved tag": func(w *world) { w.registry = sha("artifact-2") }, "drift": func(w *world) { w.database = "somebody's" },
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				guarded(t, func() {
					w, b := rest(t, name)
					before, applies := w.schema.DeepCopy().Status, w.jobsOf("apply")
					if name == "AwaitingApproval" {
						require.True(t, w.approve(), "decided in the last moment")
					}
					move(w)
					phase := rests[name].phase
					if name == "InSync" || name == "ReadyToApply, approved" {
						phase = v1alpha1.SchemaPhaseAwaitingApproval
					}
					assert.Equal(t, whole, w.chain(t, b, phase))
					st := &w.schema.Status
					require.NotNil(t, st.Plan)
					assert.Nil(t, st.Plan.Approval)
					assert.Equal(t, applies, w.jobsOf("apply"))
					if before.Plan != nil {
						assert.NotEqual(t, before.Plan.UID, st.Plan.UID)
					}
					if what == "moved tag" {
						assert.Nil(t, st.Applied, "it is evidence about the old digest")
						assert.NotEqual(t, before.Source.Digest, st.Source.Digest)
						assert.Equal(t, st.Source.Digest, st.Plan.ArtifactDigest)
					} else {
						assert.Equal(t, before.Applied, st.Applied)
					}
					for i := range w.approvals {
						w.until(t, b, "the approval to be retired", func(*v1alpha1.PtahSchemaStatus) bool { return w.stale(i) == "PlanNoLongerCurrent" })
					}
				})
			})
		}
	}
}

// outage takes the registry away for a few attempts.
func outage(t *testing.T, w *world, b *brain, attempts int32) {
	t.Helper()
	w.registry = ""
	w.until(t, b, "attempts that fail", func(st *v1alpha1.PtahSchemaStatus) bool {
		return st.ActiveOperation != nil && st.ActiveOperation.Attempt >= attempts
	})
}

// While the registry is away nothing follows the Resolve that fails, what was known stays as history and is called unknown, and nobody's
// decision is consumed. Afterwards everything is read again.
func TestOutage(t *testing.T) {
	for name, r := range rests {
		t.Run(name, func(t *testing.T) {
			guarded(t, func() {
				w, b := rest(t, name)
				before := w.schema.DeepCopy().Status
				made := map[string]int{}
				for _, operation := range []string{"resolve", "verify", "observe", "plan", "apply"} {
					made[operation] = w.jobsOf(operation)
				}
				if name == "AwaitingApproval" {
					require.True(t, w.approve())
				}
				outage(t, w, b, 8)
				assert.Equal(t, made["resolve"]+7, w.jobsOf("resolve"))
				for _, operation := range []string{"verify", "observe", "plan", "apply"} {
					assert.Equal(t, made[operation], w.jobsOf(operation), operation)
				}
				st, c := &w.schema.Status, tuples(w.schema)
				assert.Equal(t, "Unknown/RefreshFailed", c["ArtifactResolved"])
				assert.Equal(t, "Unknown/SourceFreshnessUnknown", c["PlanReady"])
				assert.Equal(t, "Unknown/SourceFreshnessUnknown", c["InSync"])
				assert.Equal(t, before.Source.Digest, st.Source.Digest)
				assert.Equal(t, before.Source.ResolvedAt, st.Source.ResolvedAt)
				assert.Equal(t, before.Target, st.Target)
				assert.Equal(t, before.Plan, st.Plan)
				assert.Equal(t, before.Applied, st.Applied)
				assert.Equal(t, before.LastSuccessfulReconciliation, st.LastSuccessfulReconciliation)
				if name == "AwaitingApproval" {
					assert.False(t, approval.IsConsumed(w.approvals[0].Status))
					assert.Empty(t, w.stale(0), "the plan may come back")
				}

				w.registry = before.Source.Digest
				assert.Equal(t, whole, w.chain(t, b, r.phase))
				c = tuples(w.schema)
				assert.Equal(t, "True/DigestPinned", c["ArtifactResolved"])
				assert.Equal(t, made["apply"], w.jobsOf("apply"))
				if name == "InSync" {
					assert.Equal(t, "False/NoChanges", c["PlanReady"])
					assert.Equal(t, "True/ScopedConverged", c["InSync"])
					assert.Equal(t, before.Applied, w.schema.Status.Applied)
					return
				}
				assert.Equal(t, before.Plan.UID, w.schema.Status.Plan.UID)
			})
		})
	}
}

// Observe and Plan fetch the artifact too: an outage delays them and changes nothing, and the chain goes on where it stood.
func TestOutageInTheMiddleOfAChain(t *testing.T) {
	for _, at := range []v1alpha1.SchemaOperationType{v1alpha1.SchemaVerify, v1alpha1.SchemaObserve, v1alpha1.SchemaPlan} {
		t.Run(string(at), func(t *testing.T) {
			guarded(t, func() {
				w, b := rest(t, "ReadyToApply")
				w.until(t, b, string(at), func(st *v1alpha1.PtahSchemaStatus) bool {
					return st.ActiveOperation != nil && st.ActiveOperation.Type == at && st.ActiveOperation.JobUID == ""
				})
				plans := len(w.plans)
				outage(t, w, b, 5)
				assert.Zero(t, w.jobsOf("apply"))
				assert.Len(t, w.plans, plans)
				assert.Equal(t, "True/OperationFailed", tuples(w.schema)["ReconciliationFailed"])
				assert.Equal(t, at, w.schema.Status.ActiveOperation.Type)
				w.registry = sha("artifact-1")
				require.Equal(t, v1alpha1.SchemaPhaseInSync, w.settle(b), strings.Join(w.trace, "\n"))
				assert.Len(t, w.applied, 1)
			})
		})
	}
}

// A policy that permits tags weakens no binding to the digest: every order after Resolve names the digest that was resolved, also where the tag
// moves meanwhile, and what moved is the next refresh's business.
func TestTagThatMovesDuringAChain(t *testing.T) {
	guarded(t, func() {
		w, b := newWorld(), &brain{}
		w.until(t, b, "Verify", func(st *v1alpha1.PtahSchemaStatus) bool {
			return st.ActiveOperation != nil && st.ActiveOperation.Type == v1alpha1.SchemaVerify
		})
		w.registry = sha("artifact-2")
		w.until(t, b, "a plan", resting(v1alpha1.SchemaPhaseAwaitingApproval))
		assert.Equal(t, sha("artifact-1"), w.schema.Status.Plan.ArtifactDigest)
		orders := 0
		for _, job := range w.jobs {
			order, err := intent.Decode(job.Spec.Template.Spec.Containers[0].Env[0].Value)
			require.NoError(t, err)
			assert.Equal(t, w.schema.Spec.Desired.OCIRef, order.Artifact.RequestedReference)
			if order.Operation != intent.Resolve {
				orders++
				assert.Equal(t, w.schema.Status.Source.ResolvedReference, order.Artifact.ResolvedReference)
			}
		}
		assert.Equal(t, 3, orders, "Verify, Observe, Plan")
		first := w.schema.Status.Plan.UID
		w.now = w.schema.Status.NextReconciliationTime.Time
		assert.Equal(t, whole, w.chain(t, b, v1alpha1.SchemaPhaseAwaitingApproval))
		assert.NotEqual(t, first, w.schema.Status.Plan.UID)
		assert.Equal(t, sha("artifact-2"), w.schema.Status.Plan.ArtifactDigest)
	})
}

package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/operation"
)

// until lets a kind world go on until something is so at the end of a pass. Nobody approves anything.
func (w *world) until(t *testing.T, b *brain, what string, done func(st *v1alpha1.PtahSchemaStatus) bool) {
	t.Helper()
	for range 2000 {
		step := w.pass(b, succeeds)
		w.check()
		if done(&w.schema.Status) {
			return
		}
		wait, waiting := step.(operation.Wait)
		if waiting && !w.startPods() && !w.runPods() {
			w.now = wait.Until
		}
	}
	require.Fail(t, "not reached: "+what, strings.Join(w.trace, "\n"))
}

// resting is a phase in which nothing is under way.
func resting(p v1alpha1.SchemaPhase) func(*v1alpha1.PtahSchemaStatus) bool {
	return func(st *v1alpha1.PtahSchemaStatus) bool {
		return st.Phase == p && st.ActiveOperation == nil && st.PendingObservation == nil && st.PendingLockRelease == nil
	}
}

// jobsOf counts the Jobs that were created for an operation.
func (w *world) jobsOf(operation string) int {
	n := 0
	for _, job := range w.jobs {
		if job.Labels[v1alpha1.OperationLabel] == operation {
			n++
		}
	}
	return n
}

func (w *world) events(reason v1alpha1.EventReason) int {
	n := 0
	for _, note := range w.notes {
		if note.Event == reason {
			n++
		}
	}
	return n
}

func (w *world) counted(kind operation.MetricKind) int {
	n := 0
	for _, note := range w.notes {
		if note.Metric.Kind == kind {
			n++
		}
	}
	return n
}

// stale is why an approval is stale; empty where it is not.
func (w *world) stale(i int) string {
	if c := meta.FindStatusCondition(w.approvals[i].Status.Conditions, string(v1alpha1.ConditionStale)); c != nil && c.Status == "True" {
		return c.Reason
	}
	return ""
}

// The same immutable plan returns as current when its inputs are unchanged: nobody is asked again, and nothing is counted or applied twice.
func TestRefreshReturnsTheSamePlan(t *testing.T) {
	for name, c := range map[string]struct {
		apply    v1alpha1.ApplyPolicy
		phase    v1alpha1.SchemaPhase
		approved bool
	}{ // approved: right before the refresh
		"Blocked":                         {v1alpha1.ApplyNever, v1alpha1.SchemaPhaseBlocked, false},
		"AwaitingApproval":                {v1alpha1.ApplyOnApproval, v1alpha1.SchemaPhaseAwaitingApproval, false},
		"AwaitingApproval and approved":   {v1alpha1.ApplyOnApproval, v1alpha1.SchemaPhaseAwaitingApproval, true},
		"ReadyToApply, the manager slept": {v1alpha1.ApplyAlways, v1alpha1.SchemaPhaseReadyToApply, false},
	} {
		t.Run(name, func(t *testing.T) {
			guarded(t, func() {
				w, b := newWorld(), &brain{}
				w.schema.Spec.Policy.Apply = c.apply
				w.until(t, b, "a plan", resting(c.phase))
				first, asked := *w.schema.Status.Plan, w.events(v1alpha1.EventApprovalRequired)
				if c.approved {
					require.True(t, w.approve())
				}
				w.now = w.schema.Status.NextReconciliationTime.Time
				b = &brain{}
				resolved := w.schema.Status.Source.ResolvedAt
				w.until(t, b, "the refresh", func(st *v1alpha1.PtahSchemaStatus) bool {
					return resting(c.phase)(st) && st.Source.ResolvedAt.After(resolved.Time) && st.Plan != nil && is(st, "PlanReady", "True") && is(st, "DriftDetected", "True")
				})
				again := *w.schema.Status.Plan
				assert.Equal(t, first, again)
				assert.Len(t, w.plans, 1)
				assert.Equal(t, 1, w.counted(operation.MetricPlan), "published once")
				assert.Equal(t, asked, w.events(v1alpha1.EventApprovalRequired), "asked once")
				assert.Zero(t, w.jobsOf("apply"))
				if c.apply == v1alpha1.ApplyNever {
					w.until(t, b, "another refresh", func(st *v1alpha1.PtahSchemaStatus) bool { return st.Source.ResolvedAt.After(w.now.Add(-time.Minute)) })
					assert.Zero(t, w.jobsOf("apply"))
					return
				}
				if !c.approved && c.apply == v1alpha1.ApplyOnApproval {
					require.True(t, w.approve())
				}
				w.until(t, b, "convergence", resting(v1alpha1.SchemaPhaseInSync))
				assert.Equal(t, first.UID, w.schema.Status.Applied.PlanRef.UID)
				assert.Len(t, w.applied, 1)
			})
		})
	}
}

func is(st *v1alpha1.PtahSchemaStatus, condition, status string) bool {
	c := meta.FindStatusCondition(st.Conditions, condition)
	return c != nil && string(c.Status) == status
}

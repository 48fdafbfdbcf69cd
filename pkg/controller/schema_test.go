package controller_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/schema"
)

func TestSchemaConvergesOnApproval(t *testing.T) {
	startManager(t, testIdentity())
	s := newSchema("approved")
	create(t, s)
	waiting := await(t, s.Name, "an approval to be asked for", phase(v1alpha1.SchemaPhaseAwaitingApproval))
	require.NotNil(t, waiting.Status.Plan)
	require.NotNil(t, waiting.Status.NextReconciliationTime)
	await(t, s.Name, "the finalizer to go: nothing is active while a person decides", func(s *v1alpha1.PtahSchema) bool { return len(s.Finalizers) == 0 })
	approve(t, waiting)
	done := await(t, s.Name, "convergence", phase(v1alpha1.SchemaPhaseInSync))
	require.NotNil(t, done.Status.Applied)
	assert.Equal(t, waiting.Status.Plan.UID, done.Status.Applied.PlanRef.UID)
	assert.Equal(t, "v1", cluster.model.State(schema.Realm(done)))
	await(t, s.Name, "the finalizer to go", func(s *v1alpha1.PtahSchema) bool { return len(s.Finalizers) == 0 })

	var jobs batchv1.JobList
	require.NoError(t, cluster.client.List(t.Context(), &jobs, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.SchemaLabel: s.Name}))
	assert.Len(t, jobs.Items, 7, "Resolve, Verify, Observe, Plan, Apply, Observe, Plan")
	for _, job := range jobs.Items {
		assert.NotNil(t, job.Spec.TTLSecondsAfterFinished, job.Name)
	}
	var leases coordinationv1.LeaseList
	require.NoError(t, cluster.client.List(t.Context(), &leases, client.InNamespace(coordination)))
	for _, l := range leases.Items {
		assert.Empty(t, l.Spec.HolderIdentity, "the Lease was handed back")
	}
	var approvals v1alpha1.PtahSchemaApprovalList
	require.NoError(t, cluster.client.List(t.Context(), &approvals, client.InNamespace(namespace)))
	require.Eventually(t, func() bool {
		_ = cluster.client.List(t.Context(), &approvals, client.InNamespace(namespace))
		return conditionsOf(approvals.Items[0].Status.Conditions)["Stale"] == "True/PlanNoLongerCurrent"
	}, 10*time.Second, 50*time.Millisecond)
	assert.Equal(t, map[string]string{
		"Accepted": "False/PlanNoLongerCurrent", "Stale": "True/PlanNoLongerCurrent", "Consumed": "True/DispatchCommitted",
	}, conditionsOf(approvals.Items[0].Status.Conditions))
	var events corev1.EventList
	require.NoError(t, cluster.client.List(t.Context(), &events, client.InNamespace(namespace)))
	reasons := map[string]int{}
	for _, e := range events.Items {
		if e.InvolvedObject.Name == s.Name {
			reasons[e.Reason]++
		}
	}
	assert.Equal(t, map[string]int{"OperationStarted": 7, "OperationCompleted": 7, "ApprovalRequired": 1, "ApprovalAccepted": 1}, reasons)
}

func TestManySchemasConverge(t *testing.T) {
	startManager(t, testIdentity())
	const n = 20
	for i := range n {
		create(t, newSchema(fmt.Sprintf("many-%d", i), always))
	}
	began := time.Now()
	for i := range n {
		await(t, fmt.Sprintf("many-%d", i), "convergence", phase(v1alpha1.SchemaPhaseInSync))
	}
	t.Logf("%d schemas in %s", n, time.Since(began).Round(10*time.Millisecond))
	for id, times := range cluster.model.Applied() {
		assert.Equal(t, 1, times, id)
	}
}

func TestFailuresAreSaidAndPass(t *testing.T) {
	startManager(t, testIdentity())
	s := newSchema("failing", always)
	cluster.model.Fail(intent.Observe, frame.CodeDatabaseAuthentication)
	defer cluster.model.Fail(intent.Observe, "")
	create(t, s)
	bad := await(t, s.Name, "a second attempt", func(s *v1alpha1.PtahSchema) bool {
		return s.Status.ActiveOperation != nil && s.Status.ActiveOperation.Attempt > 1 && s.Status.Phase == v1alpha1.SchemaPhaseFailed
	})
	c := conditionsOf(bad.Status.Conditions)
	assert.Equal(t, "True/OperationFailed", c["ReconciliationFailed"])
	assert.Equal(t, "False/OperationFailed", c["Ready"])
	cluster.model.Fail(intent.Observe, "")
	await(t, s.Name, "recovery", phase(v1alpha1.SchemaPhaseInSync))
}

func TestRegistryOutageKeepsHistory(t *testing.T) {
	startManager(t, testIdentity())
	s := newSchema("outage", always)
	create(t, s)
	before := await(t, s.Name, "convergence", phase(v1alpha1.SchemaPhaseInSync))
	assert.Equal(t, map[string]int{"resolve": 1, "verify": 1, "observe": 2, "plan": 2, "apply": 1}, jobs(t, s.Name))
	cluster.model.Fail(intent.Resolve, frame.CodeRegistryUnreachable)
	defer cluster.model.Fail(intent.Resolve, "")
	edit(t, s.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Interval.Duration = 11 * time.Minute })
	out := await(t, s.Name, "the outage to show", func(s *v1alpha1.PtahSchema) bool {
		return conditionsOf(s.Status.Conditions)["ArtifactResolved"] == "Unknown/RefreshFailed" && s.Status.ActiveOperation != nil &&
			s.Status.ActiveOperation.Attempt > 3
	})
	made := jobs(t, s.Name)
	assert.Greater(t, made["resolve"], 3)
	delete(made, "resolve")
	assert.Equal(t, map[string]int{"verify": 1, "observe": 2, "plan": 2, "apply": 1}, made, "nothing follows a Resolve that fails")
	c := conditionsOf(out.Status.Conditions)
	assert.Equal(t, "Unknown/SourceFreshnessUnknown", c["PlanReady"])
	assert.Equal(t, "Unknown/SourceFreshnessUnknown", c["InSync"])
	assert.Equal(t, before.Status.Source.Digest, out.Status.Source.Digest)
	assert.Equal(t, before.Status.Applied, out.Status.Applied)
	assert.Equal(t, before.Status.LastSuccessfulReconciliation, out.Status.LastSuccessfulReconciliation)
	cluster.model.Fail(intent.Resolve, "")
	after := await(t, s.Name, "recovery", phase(v1alpha1.SchemaPhaseInSync))
	c = conditionsOf(after.Status.Conditions)
	assert.Equal(t, "False/NoChanges", c["PlanReady"])
	assert.Equal(t, "True/ScopedConverged", c["InSync"])
	assert.Equal(t, before.Status.Applied, after.Status.Applied, "no Apply followed")
	made = jobs(t, s.Name)
	delete(made, "resolve")
	assert.Equal(t, map[string]int{"verify": 2, "observe": 3, "plan": 3, "apply": 1}, made)
}

// jobs counts what was created for a schema, by operation.
func jobs(t *testing.T, name string) map[string]int {
	t.Helper()
	var list batchv1.JobList
	require.NoError(t, cluster.client.List(t.Context(), &list, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.SchemaLabel: name}))
	out := map[string]int{}
	for _, job := range list.Items {
		out[job.Labels[v1alpha1.OperationLabel]]++
	}
	return out
}

func TestContestedRealm(t *testing.T) {
	startManager(t, testIdentity())
	key := func(s *v1alpha1.PtahSchema) { s.Spec.Target.CoordinationKey = "contested" }
	a, b := newSchema("contested-a", key, always), newSchema("contested-b", key, always, func(s *v1alpha1.PtahSchema) { s.Spec.Interval.Duration = time.Second })
	create(t, a)
	create(t, b)
	for _, name := range []string{a.Name, b.Name} {
		s := await(t, name, "the conflict to show", func(s *v1alpha1.PtahSchema) bool {
			return s.Status.Phase == v1alpha1.SchemaPhaseBlocked && conditionsOf(s.Status.Conditions)["Ready"] == "False/RealmConflict"
		})
		require.NotNil(t, s.Status.NextReconciliationTime)
	}
	edit(t, a.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Suspend = true })
	await(t, a.Name, "suspension", phase(v1alpha1.SchemaPhaseSuspended))
	await(t, b.Name, "the realm to be free", phase(v1alpha1.SchemaPhaseInSync))
	assert.Equal(t, "v1", cluster.model.State(schema.Realm(b)))
}

func TestDriftAndUnsupportedEngine(t *testing.T) {
	startManager(t, testIdentity())
	s := newSchema("drifting")
	cluster.model.Drift(schema.Realm(s), "v1")
	create(t, s)
	await(t, s.Name, "convergence without an Apply", phase(v1alpha1.SchemaPhaseInSync))
	cluster.model.Drift(schema.Realm(s), "hand made")
	edit(t, s.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Interval.Duration = 12 * time.Minute })
	waiting := await(t, s.Name, "drift to be planned away", phase(v1alpha1.SchemaPhaseAwaitingApproval))
	approve(t, waiting)
	await(t, s.Name, "convergence", phase(v1alpha1.SchemaPhaseInSync))
	edit(t, s.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Target.Engine = "Oracle" })
	gone := await(t, s.Name, "the engine to be refused", phase(v1alpha1.SchemaPhaseBlocked))
	c := conditionsOf(gone.Status.Conditions)
	assert.Equal(t, "False/UnsupportedEngine", c["EngineSupported"])
	assert.Equal(t, "False/UnsupportedEngine", c["Ready"])
	assert.Equal(t, "Unknown/UnsupportedEngine", c["InSync"])
	edit(t, s.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Target.Engine = "PostgreSQL" })
	await(t, s.Name, "the chain from Resolve on", phase(v1alpha1.SchemaPhaseInSync))
}

// A new execution binding retires a waiting plan and its approval; the same binding again is still another epoch.
func TestRolloutRetiresApprovals(t *testing.T) {
	stop := startManager(t, testIdentity())
	s := newSchema("rollout")
	create(t, s)
	first := await(t, s.Name, "a plan", phase(v1alpha1.SchemaPhaseAwaitingApproval))
	stop()
	approve(t, first)
	next := testIdentity()
	next.ControllerRevision = "2"
	startManager(t, next)
	second := await(t, s.Name, "another plan", func(x *v1alpha1.PtahSchema) bool {
		return phase(v1alpha1.SchemaPhaseAwaitingApproval)(x) && x.Status.Plan.UID != first.Status.Plan.UID
	})
	assert.NotEqual(t, first.Status.ExecutionBinding.Epoch, second.Status.ExecutionBinding.Epoch)
	assert.Nil(t, second.Status.Plan.Approval)
	require.Eventually(t, func() bool {
		var approvals v1alpha1.PtahSchemaApprovalList
		_ = cluster.client.List(t.Context(), &approvals, client.InNamespace(namespace))
		for _, a := range approvals.Items {
			if a.Spec.SchemaRef.Name == s.Name {
				return conditionsOf(a.Status.Conditions)["Stale"] == "True/ExecutionBindingChanged"
			}
		}
		return false
	}, 10*time.Second, 50*time.Millisecond)
	approve(t, second)
	await(t, s.Name, "convergence", phase(v1alpha1.SchemaPhaseInSync))
}

func edit(t *testing.T, name string, change func(*v1alpha1.PtahSchema)) {
	t.Helper()
	require.Eventually(t, func() bool {
		s := &v1alpha1.PtahSchema{}
		if cluster.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s) != nil {
			return false
		}
		change(s)
		return cluster.client.Update(t.Context(), s) == nil
	}, 10*time.Second, 20*time.Millisecond)
}

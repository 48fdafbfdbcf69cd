package controller_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/schema"
)

// A refresh that is due comes before an approval is consumed, and a tag that moved meanwhile takes plan and approval with it.
func TestDueRefreshComesBeforeTheApproval(t *testing.T) {
	stop := startManager(t, testIdentity())
	s := newSchema("moved-tag", func(s *v1alpha1.PtahSchema) { s.Spec.Interval.Duration = 2 * time.Second })
	create(t, s)
	first := await(t, s.Name, "a plan", phase(v1alpha1.SchemaPhaseAwaitingApproval))
	stop()
	approve(t, first)
	cluster.model.Publish("v2")
	defer cluster.model.Publish("v1")
	due := first.Status.NextReconciliationTime.Time
	require.Eventually(t, func() bool { return time.Now().After(due.Add(time.Second)) }, time.Minute, 100*time.Millisecond)

	startManager(t, testIdentity())
	second := await(t, s.Name, "the plan of the new artifact", func(x *v1alpha1.PtahSchema) bool {
		return x.Status.Phase == v1alpha1.SchemaPhaseAwaitingApproval && x.Status.Plan != nil && x.Status.Plan.UID != first.Status.Plan.UID
	})
	assert.NotEqual(t, first.Status.Source.Digest, second.Status.Source.Digest)
	assert.Nil(t, second.Status.Applied)
	assert.Empty(t, cluster.model.State(schema.Realm(s)), "nothing was applied on the old approval")
	assert.Empty(t, applyJobs(t, s.Name))
	require.Eventually(t, func() bool { return staleApproval(t, first) == "PlanNoLongerCurrent" }, 30*time.Second, 50*time.Millisecond)

	edit(t, s.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Interval.Duration = 10 * time.Minute })
	approve(t, await(t, s.Name, "rest", phase(v1alpha1.SchemaPhaseAwaitingApproval)))
	await(t, s.Name, "convergence", phase(v1alpha1.SchemaPhaseInSync))
	assert.Equal(t, "v2", cluster.model.State(schema.Realm(s)))
	assert.Len(t, applyJobs(t, s.Name), 1)
}

// An epoch never comes back: not with a roll-back to the very same components either.
func TestRollbackRetiresApprovalsToo(t *testing.T) {
	stop := startManager(t, testIdentity())
	s := newSchema("rollback")
	create(t, s)
	first := await(t, s.Name, "a plan", phase(v1alpha1.SchemaPhaseAwaitingApproval))
	stop()
	other := testIdentity()
	other.ExecutorImage = strings.Replace(other.ExecutorImage, "executor@", "executor-next@", 1)
	stop = startManager(t, other)
	second := await(t, s.Name, "the plan of the other build", func(x *v1alpha1.PtahSchema) bool {
		return phase(v1alpha1.SchemaPhaseAwaitingApproval)(x) && x.Status.Plan.UID != first.Status.Plan.UID
	})
	stop()
	approve(t, first) // of the build that comes back, given before it is back
	startManager(t, testIdentity())
	third := await(t, s.Name, "a third plan", func(x *v1alpha1.PtahSchema) bool {
		return phase(v1alpha1.SchemaPhaseAwaitingApproval)(x) && x.Status.Plan.UID != second.Status.Plan.UID
	})
	assert.NotEqual(t, first.Status.Plan.UID, third.Status.Plan.UID)
	assert.Equal(t, first.Status.ExecutionBinding.ExecutionIdentity, third.Status.ExecutionBinding.ExecutionIdentity)
	assert.NotEqual(t, first.Status.ExecutionBinding.Epoch, third.Status.ExecutionBinding.Epoch)
	require.Eventually(t, func() bool { return staleApproval(t, first) == "ExecutionBindingChanged" }, 30*time.Second, 50*time.Millisecond)
	assert.Empty(t, applyJobs(t, s.Name))
}

// One claimant that has not declared the realm shared blocks all of them; once both have, they take turns.
func TestSharedRealmIsMutual(t *testing.T) {
	startManager(t, testIdentity())
	shared := func(s *v1alpha1.PtahSchema) {
		s.Spec.Target.CoordinationKey = "shared"
		s.Spec.Interval.Duration = 2 * time.Second
	}
	a, b := newSchema("shared-a", shared, always), newSchema("shared-b", shared, always)
	create(t, a)
	create(t, b)
	blocked := func(text string) func(*v1alpha1.PtahSchema) bool {
		return func(s *v1alpha1.PtahSchema) bool {
			c := meta.FindStatusCondition(s.Status.Conditions, string(v1alpha1.ConditionReady))
			return s.Status.Phase == v1alpha1.SchemaPhaseBlocked && c != nil && c.Reason == "RealmConflict" && strings.Contains(c.Message, text)
		}
	}
	for _, s := range []*v1alpha1.PtahSchema{a, b} {
		await(t, s.Name, "the conflict", blocked("2 resources claim this database and 2 of them"))
	}
	edit(t, a.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Target.SharedRealm = true })
	for _, s := range []*v1alpha1.PtahSchema{a, b} {
		await(t, s.Name, "the conflict to stay", blocked("1 of them has"))
		assert.Empty(t, jobs(t, s.Name))
	}
	edit(t, b.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Target.SharedRealm = true })
	for _, s := range []*v1alpha1.PtahSchema{a, b} {
		await(t, s.Name, "convergence", func(s *v1alpha1.PtahSchema) bool { return s.Status.Phase == v1alpha1.SchemaPhaseInSync })
	}
}

func applyJobs(t *testing.T, name string) []batchv1.Job {
	t.Helper()
	var jobs batchv1.JobList
	require.NoError(t, cluster.client.List(t.Context(), &jobs, client.InNamespace(namespace),
		client.MatchingLabels{v1alpha1.SchemaLabel: name, v1alpha1.OperationLabel: "apply"}))
	return jobs.Items
}

// staleApproval is why the approval of a schema's plan is stale; empty where it is not.
func staleApproval(t *testing.T, s *v1alpha1.PtahSchema) string {
	t.Helper()
	var approvals v1alpha1.PtahSchemaApprovalList
	require.NoError(t, cluster.client.List(t.Context(), &approvals, client.InNamespace(namespace)))
	for i := range approvals.Items {
		a := &approvals.Items[i]
		if c := meta.FindStatusCondition(a.Status.Conditions, "Stale"); a.Spec.PlanRef.UID == s.Status.Plan.UID && c != nil {
			return c.Reason
		}
	}
	return ""
}

// A schema beside a migration, in another namespace, on one database: the schema is refused as it is beside another schema, before any Job, and
// what the migration declares, or that it steps aside, counts within the schema's bound although nobody tells the schema.
func TestSchemaBesideAMigration(t *testing.T) {
	startManager(t, testIdentity())
	m := &v1alpha1.PtahMigration{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "beside"}}
	m.Spec.Target = newSchema("beside").Spec.Target
	m.Spec.Artifact = newSchema("beside").Spec.Desired
	require.NoError(t, cluster.client.Create(t.Context(), m))
	t.Cleanup(func() { _ = cluster.client.Delete(context.Background(), m) })
	change := func(f func(*v1alpha1.PtahMigration)) {
		t.Helper()
		require.NoError(t, cluster.client.Get(t.Context(), client.ObjectKeyFromObject(m), m))
		f(m)
		require.NoError(t, cluster.client.Update(t.Context(), m))
	}
	s := newSchema("beside", always, func(s *v1alpha1.PtahSchema) { s.Spec.Interval.Duration = time.Second })
	create(t, s)
	conflict := func(text string) {
		t.Helper()
		await(t, s.Name, "the conflict: "+text, func(s *v1alpha1.PtahSchema) bool {
			c := meta.FindStatusCondition(s.Status.Conditions, string(v1alpha1.ConditionReady))
			return phase(v1alpha1.SchemaPhaseBlocked)(s) && c != nil && c.Reason == "RealmConflict" && strings.Contains(c.Message, text)
		})
	}
	conflict("2 resources claim this database and 2 of them have not")
	edit(t, s.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Target.SharedRealm = true })
	conflict("2 resources claim this database and 1 of them has not")
	assert.Empty(t, jobs(t, s.Name))
	change(func(m *v1alpha1.PtahMigration) { m.Spec.Target.SharedRealm = true })
	await(t, s.Name, "convergence, both declared", phase(v1alpha1.SchemaPhaseInSync))

	edit(t, s.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Target.SharedRealm = false })
	conflict("1 of them has not")
	change(func(m *v1alpha1.PtahMigration) { m.Spec.Suspend = true })
	await(t, s.Name, "convergence beside one that stepped aside", phase(v1alpha1.SchemaPhaseInSync))
	change(func(m *v1alpha1.PtahMigration) { m.Spec.Suspend = false })
	conflict("1 of them has not")
	require.NoError(t, cluster.client.Delete(t.Context(), m))
	await(t, s.Name, "convergence alone", phase(v1alpha1.SchemaPhaseInSync))
}

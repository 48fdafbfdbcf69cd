package controller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/podspec"
)

// versions are the resource versions of everything that a schema's plans are stored in.
func versions(t *testing.T, s *v1alpha1.PtahSchema) map[string]string {
	t.Helper()
	out := map[string]string{}
	var plans v1alpha1.PtahSchemaPlanList
	require.NoError(t, cluster.client.List(t.Context(), &plans, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.SchemaLabel: s.Name}))
	for _, p := range plans.Items {
		out["plan "+p.Name] = p.ResourceVersion
		ownedBy(t, s, &p.ObjectMeta)
	}
	var chunks corev1.ConfigMapList
	require.NoError(t, cluster.client.List(t.Context(), &chunks, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.SchemaLabel: s.Name}))
	for _, c := range chunks.Items {
		out["chunk "+c.Name] = c.ResourceVersion
		ownedBy(t, s, &c.ObjectMeta)
	}
	return out
}

func ownedBy(t *testing.T, s *v1alpha1.PtahSchema, m *metav1.ObjectMeta) {
	t.Helper()
	yes := true
	assert.Equal(t, []metav1.OwnerReference{{
		APIVersion: "operator.ptah.run/v1alpha1", Kind: "PtahSchema", Name: s.Name, UID: s.UID, Controller: &yes, BlockOwnerDeletion: &yes,
	}}, m.OwnerReferences, m.Name)
}

// A plan that comes back from a refresh is the one that is stored: nothing of it is written again, no Apply is made, and every Job of the way
// gets its time to live.
func TestRefreshWritesNoSecondPlan(t *testing.T) {
	startManager(t, testIdentity())
	s := newSchema("refreshed", func(s *v1alpha1.PtahSchema) {
		s.Spec.Policy.Apply = v1alpha1.ApplyNever
		s.Spec.Interval.Duration = 2 * time.Second
	})
	create(t, s)
	blocked := phase(v1alpha1.SchemaPhaseBlocked)
	first := await(t, s.Name, "a plan that is not run", func(s *v1alpha1.PtahSchema) bool { return blocked(s) && s.Status.Plan != nil })
	stored := versions(t, first)
	require.Len(t, stored, 2, "one plan, one chunk")
	for range 2 {
		seen := first.Status.Source.ResolvedAt.Time
		first = await(t, s.Name, "a refresh", func(s *v1alpha1.PtahSchema) bool {
			return blocked(s) && s.Status.Source.ResolvedAt.After(seen) && conditionsOf(s.Status.Conditions)["PlanReady"] == "True/Published"
		})
		assert.Equal(t, stored, versions(t, first))
		assert.Equal(t, "False/ApplyDisabled", conditionsOf(first.Status.Conditions)["Ready"])
	}
	edit(t, s.Name, func(s *v1alpha1.PtahSchema) { s.Spec.Suspend = true })
	await(t, s.Name, "suspension", phase(v1alpha1.SchemaPhaseSuspended))
	var jobs batchv1.JobList
	require.NoError(t, cluster.client.List(t.Context(), &jobs, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.SchemaLabel: s.Name}))
	assert.GreaterOrEqual(t, len(jobs.Items), 12, "three chains")
	for _, job := range jobs.Items {
		ownedBy(t, first, &job.ObjectMeta)
		assert.NotEqual(t, "apply", job.Labels[v1alpha1.OperationLabel])
		require.NotNil(t, job.Spec.TTLSecondsAfterFinished, job.Name)
		assert.Equal(t, podspec.CleanupTTLSeconds, *job.Spec.TTLSecondsAfterFinished)
	}
}

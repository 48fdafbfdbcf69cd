package schema_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/podspec"
	"github.com/ptah-run/ptah/pkg/schema"
)

// readyToApply is a schema whose stored plan runs without an approval.
func readyToApply() *schema.View {
	v := view(func(s *v1alpha1.PtahSchema) {
		s.Spec.Policy.Apply = v1alpha1.ApplyAlways
		bindings := v1alpha1.SchemaPlanBindings{ArtifactDigest: digestA, PlanBindings: v1alpha1.PlanBindings{
			PolicyFingerprint: plan.PolicyFingerprint(s.Spec.Policy), VerificationPolicyUID: "p", VerificationPolicyDigest: digestA,
			CoordinationDigest: schema.Realm(s), TargetIdentityDigest: digestB, ExecutionBindingID: "v1-e",
		}}
		s.Status.Plan = &v1alpha1.SchemaPlanRecord{Name: "ptah-plan-1", UID: "plan", SchemaPlanBindings: bindings}
		s.Status.Phase = v1alpha1.SchemaPhaseReadyToApply
		condition(s, v1alpha1.ConditionDriftDetected, "True", v1alpha1.ReasonScopedChanges)
		condition(s, v1alpha1.ConditionPlanReady, "True", v1alpha1.ReasonPublished)
		condition(s, v1alpha1.ConditionReady, "False", v1alpha1.ReasonApplyPending)
	})
	stored := &v1alpha1.PtahSchemaPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "ptah-plan-1", UID: "plan"}}
	stored.Spec.SchemaPlanBindings = v.Schema.Status.Plan.SchemaPlanBindings
	stored.Spec.Chunks = []v1alpha1.ChunkRef{{Name: "chunk"}}
	stored.Status.PublishedChunks = []v1alpha1.PublishedChunk{{Name: "chunk", UID: "c"}}
	stored.Status.Conditions = []metav1.Condition{{Type: string(v1alpha1.ConditionReady), Status: "True", Reason: string(v1alpha1.ReasonPublished)}}
	v.Stored = operation.Known[schema.StoredPlan]{State: operation.Present, Fresh: true, Value: schema.StoredPlan{Plan: stored}}
	return v
}

// An Apply can be reserved until right before the refresh deadline. The instant that is checked against it is the claim's start, and once the
// claim stands no later timer takes it back.
func TestOneInstantIsJudgedAndStored(t *testing.T) {
	v := readyToApply()
	due := v.Schema.Status.NextReconciliationTime.Time
	v.Now = due.Add(-time.Second)
	w := v.Want()
	require.NotNil(t, w.Claim, w.Why)
	assert.Equal(t, intent.Apply, w.Claim.Type)
	assert.True(t, w.Claim.StartedAt.Equal(v.Now))

	v.Now = due
	late := v.Want()
	require.NotNil(t, late.Claim, late.Why)
	assert.Equal(t, intent.Resolve, late.Claim.Type, "a refresh that is due comes first")

	d := v.Durable()
	d.Claim = w.Claim
	status, _ := v.Record(d, operation.Turn{Kind: operation.TurnClaimed, Claim: *w.Claim})
	v.Schema.Status = *status.(*v1alpha1.PtahSchemaStatus)
	assert.True(t, v.Schema.Status.ActiveOperation.StartedAt.Time.Equal(due.Add(-time.Second)))
	v.Now = due.Add(time.Hour)
	current, moved := v.Current(*v.Durable().Claim)
	assert.True(t, current, moved)
}

// status.target is the last raw reading: categories and counts, the total of the whole report, and no word of the scoped plan that follows.
func TestScopedPlanLeavesTheRawReading(t *testing.T) {
	read := frame.Frame{TargetIdentityDigest: digestB, Observe: &frame.Observed{
		Dialect: "postgres", ReportDigest: digestA, Total: 5, Highest: string(v1alpha1.SeverityDestructive), Findings: []frame.Finding{
			{Category: string(v1alpha1.DriftTablesRemoved), Count: 2, Severity: string(v1alpha1.SeverityDestructive)},
			{Category: string(v1alpha1.DriftTablesAdded), Count: 3, Severity: string(v1alpha1.SeveritySafe)},
		},
	}}
	v := view(func(s *v1alpha1.PtahSchema) {
		condition(s, v1alpha1.ConditionDriftDetected, "Unknown", v1alpha1.ReasonStaleObservation)
	})
	st := conclude(t, v, intent.Observe, read)
	assert.EqualValues(t, 5, st.Target.DriftFindingCount)
	assert.False(t, st.Target.DriftFindingsTruncated)
	assert.Equal(t, digestA, st.Target.DriftReportDigest)
	assert.Equal(t, "Unknown/ScopedPlanPending", tuple(st, v1alpha1.ConditionDriftDetected), "a raw reading says nothing about the scope")

	v.Schema.Status = *st.DeepCopy()
	v.Schema.Status.ActiveOperation = nil
	planned := conclude(t, v, intent.Plan, frame.Frame{TargetIdentityDigest: digestB, Plan: &frame.Planned{NoChange: true}})
	assert.Equal(t, "False/ScopedConverged", tuple(planned, v1alpha1.ConditionDriftDetected))
	assert.Equal(t, st.Target, planned.Target)
}

// A proof outlasts an edit. Its reading does too once its Job is there; before that no Job can be made from the old Pod any more, and without
// giving the claim up the proof would keep the database's Lease for ever.
func TestProofGoesOnAfterAnEditOfItsPod(t *testing.T) {
	v := view(func(s *v1alpha1.PtahSchema) {
		s.Status.PendingObservation = &v1alpha1.PendingObservation{
			ApplyOperationID: "apply", ApplyJobName: "job", CoordinationDigest: schema.Realm(s), LeaseEpoch: "v1-lease", LeaseDurationSeconds: 960,
			Plan:   v1alpha1.SchemaPlanRecord{SchemaPlanBindings: v1alpha1.SchemaPlanBindings{PlanBindings: v1alpha1.PlanBindings{TargetIdentityDigest: digestB}}},
			Source: v1alpha1.SourceBinding{Digest: digestA, ResolvedReference: "oci://r/shop@" + digestA},
			Target: v1alpha1.TargetBinding{Engine: s.Spec.Target.Engine, URLFrom: s.Spec.Target.URLFrom},
		}
	})
	v.Admission = operation.Known[podspec.AdmissionInputs]{State: operation.Present, Fresh: true, Value: podspec.AdmissionInputs{ServiceAccount: &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "default"}}}}
	c := v.Prove(*v.Durable().Proof)
	p := v.Prepare(c, now)
	require.Empty(t, p.Refused)
	d := v.Durable()
	d.Claim = &p.Claim
	status, _ := v.Record(d, operation.Turn{Kind: operation.TurnClaimed, Claim: c, Judged: operation.Judgement{Detail: p.Detail}})
	v.Schema.Status = *status.(*v1alpha1.PtahSchemaStatus)
	c = *v.Durable().Claim
	current, moved := v.Current(c)
	require.True(t, current, moved)
	_, err := v.Job(c)
	require.NoError(t, err)

	v.Schema.Generation++
	v.Schema.Spec.Policy.AllowDestructive = true
	current, moved = v.Current(c)
	require.True(t, current, moved)

	v.Schema.Spec.Execution.NodeSelector = map[string]string{"disk": "fast"}
	_, err = v.Job(c)
	require.Error(t, err, "its Job can never be made")
	current, _ = v.Current(c)
	assert.False(t, current)
	c.JobUID = "uid"
	current, moved = v.Current(c)
	assert.True(t, current, moved)
}

// A declaration on one claimant wakes no other, so a contested realm is looked at again after the interval, and after a minute at the latest.
func TestContestedRealmIsLookedAtWithinAMinute(t *testing.T) {
	for name, c := range map[string]struct{ interval, want time.Duration }{
		"default":               {0, time.Minute},
		"long":                  {12 * time.Hour, time.Minute},
		"a minute and a bit":    {time.Minute + time.Second, time.Minute},
		"a minute":              {time.Minute, time.Minute},
		"short":                 {20 * time.Second, 20 * time.Second},
		"less than a heartbeat": {time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			v := view(func(s *v1alpha1.PtahSchema) { s.Spec.Interval.Duration = c.interval })
			assert.Equal(t, c.want, v.Gate().Recheck)
			turn := operation.Turn{Kind: operation.TurnContested, Census: operation.Census{Contested: true, Claimants: 3, Undeclared: 1}}
			require.False(t, v.Settled(turn))
			v.Schema.Status = *record(v, v.Durable(), turn)
			st := &v.Schema.Status
			assert.Equal(t, now.Add(c.want), st.NextReconciliationTime.Time)
			assert.Equal(t, v1alpha1.SchemaPhaseBlocked, st.Phase)
			assert.Equal(t, "False/RealmConflict", tuple(st, v1alpha1.ConditionReady))
			assert.Contains(t, meta.FindStatusCondition(st.Conditions, "Ready").Message, "3 resources claim this database and 1 of them has not")
			require.True(t, v.Settled(turn), "said once")
			v.Now = now.Add(c.want)
			require.False(t, v.Settled(turn), "and the status says when somebody looks again")
		})
	}
}

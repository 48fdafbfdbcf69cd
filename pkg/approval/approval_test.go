package approval_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/realm"
)

var now = metav1.NewTime(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))

// world is a schema that waits for exactly one approval of a stored plan, and an approval that fits.
type world struct {
	schema   *v1alpha1.PtahSchema
	plan     *v1alpha1.PtahSchemaPlan
	approval *v1alpha1.PtahSchemaApproval
	policy   approval.PolicySource
}

func identity() v1alpha1.ExecutionIdentity {
	return v1alpha1.ExecutionIdentity{
		ControllerImage: "m@sha256:1", ControllerRevision: "abc", ControllerStateVersion: 2, PtahVersion: "0.1.0",
		ExecutorImage: "e@sha256:2", RunnerImage: "r@sha256:3", RunnerProtocolVersion: 1,
	}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	d := func(s string) string { return digest.Bytes([]byte(s)) }
	s := &v1alpha1.PtahSchema{
		ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "shop", UID: "schema-uid", Generation: 3},
		Spec: v1alpha1.PtahSchemaSpec{
			Target: v1alpha1.Target{Engine: "PostgreSQL", CoordinationKey: "prod/shop"},
			Policy: v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyOnApproval, DriftSeverity: v1alpha1.DriftAll},
		},
	}
	b := v1alpha1.SchemaPlanBindings{ArtifactDigest: d("artifact"), PlanBindings: v1alpha1.PlanBindings{
		PolicyFingerprint: plan.PolicyFingerprint(s.Spec.Policy), VerificationPolicyUID: "policy-uid", VerificationPolicyDigest: d("policy"),
		CoordinationDigest: realm.Digest("postgres", "prod/shop"), TargetIdentityDigest: d("target"),
		ExecutionBindingID: "v1-a", ExecutionIdentity: identity(),
	}}
	data, err := plan.Encode(plan.Seal(plan.Document{
		Dialect: plan.DialectPostgres, FromFingerprint: d("from"), ToFingerprint: d("to"), Statements: []plan.Statement{{SQL: "CREATE TABLE t (id int)", Reason: "r"}},
	}))
	require.NoError(t, err)
	pub, err := plan.Publish(s, data, b)
	require.NoError(t, err)
	p := pub.Plan
	p.UID = "plan-uid"
	p.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}}
	p.Status.PublishedChunks = []v1alpha1.PublishedChunk{{Index: 0, Name: p.Spec.Chunks[0].Name, UID: "chunk-uid"}}
	record := plan.Record(p)
	s.Status = v1alpha1.PtahSchemaStatus{
		ObservedGeneration: 3, Plan: &record, ExecutionBinding: &v1alpha1.ExecutionBinding{Epoch: "v1-a", ExecutionIdentity: identity()},
		Source: &v1alpha1.SourceStatus{Digest: d("artifact")}, Target: &v1alpha1.TargetStatus{IdentityDigest: d("target")},
		Conditions: []metav1.Condition{
			{Type: "PlanReady", Status: metav1.ConditionTrue, Reason: "Published"}, {Type: "ApprovalRequired", Status: metav1.ConditionTrue, Reason: "Waiting"},
		},
	}
	a := &v1alpha1.PtahSchemaApproval{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "yes", UID: "approval-uid"}}
	a.Spec.SchemaRef = v1alpha1.ObjectRef{Name: "shop", UID: "schema-uid"}
	a.Spec.PlanRef = v1alpha1.ObjectRef{Name: p.Name, UID: p.UID}
	a.Spec.PlanFingerprint = p.Spec.Fingerprint
	require.NoError(t, approval.Bind(a, p))
	approval.Stamp(&a.Spec.ApprovalStamp, approval.User{Username: "ann"}, "request", now.Time)
	return &world{s, p, a, approval.PolicySource{UID: "policy-uid", Digest: d("policy")}}
}

func (w *world) judge(stage approval.Stage) approval.Verdict {
	id := identity()
	return approval.Judge(approval.Input{Stage: stage, Schema: w.schema, Plan: w.plan, Policy: &w.policy, Identity: &id}, w.approval)
}

func TestBindFillsWhatIsOmitted(t *testing.T) {
	w := newWorld(t)
	assert.Equal(t, w.plan.Spec.SchemaPlanBindings, w.approval.Spec.SchemaPlanBindings)
}

func TestBindRefusesEveryConflictByName(t *testing.T) {
	cases := map[string]func(*v1alpha1.PtahSchemaApprovalSpec){
		"schemaRef.name":           func(s *v1alpha1.PtahSchemaApprovalSpec) { s.SchemaRef.Name = "other" },
		"schemaRef.uid":            func(s *v1alpha1.PtahSchemaApprovalSpec) { s.SchemaRef.UID = "other" },
		"planRef.name":             func(s *v1alpha1.PtahSchemaApprovalSpec) { s.PlanRef.Name = "other" },
		"planRef.uid":              func(s *v1alpha1.PtahSchemaApprovalSpec) { s.PlanRef.UID = "other" },
		"planFingerprint":          func(s *v1alpha1.PtahSchemaApprovalSpec) { s.PlanFingerprint = "other" },
		"artifactDigest":           func(s *v1alpha1.PtahSchemaApprovalSpec) { s.ArtifactDigest = "other" },
		"desiredStateFingerprint":  func(s *v1alpha1.PtahSchemaApprovalSpec) { s.DesiredStateFingerprint = "other" },
		"actualStateFingerprint":   func(s *v1alpha1.PtahSchemaApprovalSpec) { s.ActualStateFingerprint = "other" },
		"policyFingerprint":        func(s *v1alpha1.PtahSchemaApprovalSpec) { s.PolicyFingerprint = "other" },
		"verificationPolicyUID":    func(s *v1alpha1.PtahSchemaApprovalSpec) { s.VerificationPolicyUID = "other" },
		"verificationPolicyDigest": func(s *v1alpha1.PtahSchemaApprovalSpec) { s.VerificationPolicyDigest = "other" },
		"coordinationDigest":       func(s *v1alpha1.PtahSchemaApprovalSpec) { s.CoordinationDigest = "other" },
		"targetIdentityDigest":     func(s *v1alpha1.PtahSchemaApprovalSpec) { s.TargetIdentityDigest = "other" },
		"executionBindingID":       func(s *v1alpha1.PtahSchemaApprovalSpec) { s.ExecutionBindingID = "other" },
		"controllerImage":          func(s *v1alpha1.PtahSchemaApprovalSpec) { s.ControllerImage = "other" },
		"controllerRevision":       func(s *v1alpha1.PtahSchemaApprovalSpec) { s.ControllerRevision = "other" },
		"controllerStateVersion":   func(s *v1alpha1.PtahSchemaApprovalSpec) { s.ControllerStateVersion = 9 },
		"ptahVersion":              func(s *v1alpha1.PtahSchemaApprovalSpec) { s.PtahVersion = "other" },
		"executorImage":            func(s *v1alpha1.PtahSchemaApprovalSpec) { s.ExecutorImage = "other" },
		"runnerImage":              func(s *v1alpha1.PtahSchemaApprovalSpec) { s.RunnerImage = "other" },
		"runnerProtocolVersion":    func(s *v1alpha1.PtahSchemaApprovalSpec) { s.RunnerProtocolVersion = 9 },
	}
	for field, spoil := range cases {
		t.Run(field, func(t *testing.T) {
			w := newWorld(t)
			spoil(&w.approval.Spec)
			var conflict *approval.ConflictError
			require.ErrorAs(t, approval.Bind(w.approval, w.plan), &conflict)
			assert.Equal(t, field, conflict.Field)
			assert.NotEqual(t, conflict.Given, conflict.Live)
		})
	}
}

// What a person writes says which plan was read. Filling it in from whatever plan is live would approve something that nobody looked at.
func TestBindDemandsWhatThePersonRead(t *testing.T) {
	for field, omit := range map[string]func(*v1alpha1.PtahSchemaApprovalSpec){
		"schemaRef.uid":   func(s *v1alpha1.PtahSchemaApprovalSpec) { s.SchemaRef.UID = "" },
		"planRef.uid":     func(s *v1alpha1.PtahSchemaApprovalSpec) { s.PlanRef.UID = "" },
		"planFingerprint": func(s *v1alpha1.PtahSchemaApprovalSpec) { s.PlanFingerprint = "" },
	} {
		t.Run(field, func(t *testing.T) {
			w := newWorld(t)
			omit(&w.approval.Spec)
			var missing *approval.MissingError
			require.ErrorAs(t, approval.Bind(w.approval, w.plan), &missing)
			assert.Equal(t, field, missing.Field)
		})
	}
}

func TestBindMigration(t *testing.T) {
	p := &v1alpha1.PtahMigrationPlan{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u"}}
	p.Spec.MigrationRef = v1alpha1.ObjectRef{Name: "m", UID: "mu"}
	p.Spec.Fingerprint, p.Spec.HistoryFingerprint, p.Spec.ArtifactDigest = "f", "h", "a"
	p.Spec.ExecutionIdentity, p.Spec.ExecutionBindingID = identity(), "v1-a"
	var a v1alpha1.PtahMigrationApproval
	a.Spec.MigrationRef, a.Spec.PlanRef, a.Spec.PlanFingerprint = p.Spec.MigrationRef, v1alpha1.ObjectRef{Name: "p", UID: "u"}, "f"
	require.NoError(t, approval.BindMigration(&a, p))
	assert.Equal(t, p.Spec.PlanBindings, a.Spec.PlanBindings)
	assert.Equal(t, p.Spec.MigrationRef, a.Spec.MigrationRef)
	p.Spec.HistoryFingerprint = "moved"
	var conflict *approval.ConflictError
	require.ErrorAs(t, approval.BindMigration(&a, p), &conflict)
	assert.Equal(t, "historyFingerprint", conflict.Field)
}

func TestStampReplacesWhateverTheClientSent(t *testing.T) {
	s := v1alpha1.ApprovalStamp{Approver: v1alpha1.Approver{Username: "forged", UID: "x", Groups: []string{"root"}}, ApprovedAt: metav1.NewTime(time.Unix(1, 0)), MutationRequestUID: "x"}
	ann := approval.User{Username: "ann", UID: "7", Groups: []string{"dba"}}
	approval.Stamp(&s, ann, "request", now.Add(time.Millisecond))
	assert.Equal(t, v1alpha1.Approver{Username: "ann", UID: "7", Groups: []string{"dba"}}, s.Approver)
	assert.Equal(t, now, s.ApprovedAt)
	assert.EqualValues(t, "request", s.MutationRequestUID)
	assert.Empty(t, approval.CheckStamp(s, ann))
	for name, c := range map[string]struct {
		spoil func(*v1alpha1.ApprovalStamp)
		user  approval.User
	}{
		"another user":  {func(*v1alpha1.ApprovalStamp) {}, approval.User{Username: "bob", UID: "7", Groups: []string{"dba"}}},
		"another uid":   {func(*v1alpha1.ApprovalStamp) {}, approval.User{Username: "ann", UID: "8", Groups: []string{"dba"}}},
		"another group": {func(*v1alpha1.ApprovalStamp) {}, approval.User{Username: "ann", UID: "7", Groups: []string{"dev"}}},
		"nobody":        {func(s *v1alpha1.ApprovalStamp) { s.Approver = v1alpha1.Approver{} }, approval.User{}},
		"no time":       {func(s *v1alpha1.ApprovalStamp) { s.ApprovedAt = metav1.Time{} }, ann},
		"no mutation":   {func(s *v1alpha1.ApprovalStamp) { s.MutationRequestUID = "" }, ann},
	} {
		t.Run(name, func(t *testing.T) {
			changed := *s.DeepCopy()
			c.spoil(&changed)
			assert.NotEmpty(t, approval.CheckStamp(changed, c.user))
		})
	}
}

func TestJudge(t *testing.T) {
	d := digest.Bytes([]byte("other"))
	set := func(w *world, condition string, status metav1.ConditionStatus) {
		meta.SetStatusCondition(&w.schema.Status.Conditions, metav1.Condition{Type: condition, Status: status, Reason: "Test"})
	}
	type want struct {
		outcome approval.Outcome
		reason  v1alpha1.ConditionReason
	}
	staleNow := want{approval.Stale, v1alpha1.ReasonPlanNoLongerCurrent}
	staleEpoch := want{approval.Stale, v1alpha1.ReasonExecutionBindingChanged}
	ok := want{approval.Accepted, v1alpha1.ReasonCurrentPlan}
	cases := map[string]struct {
		change                     func(*world)
		admission, claim, dispatch want
	}{
		"everything fits":                {func(*world) {}, ok, ok, ok},
		"the schema was made again":      {func(w *world) { w.schema.UID = "other" }, staleNow, staleNow, staleNow},
		"the plan is gone":               {func(w *world) { w.plan = nil }, staleNow, staleNow, staleNow},
		"the plan was made again":        {func(w *world) { w.plan.UID = "other" }, staleNow, staleNow, staleNow},
		"the plan has another identity":  {func(w *world) { w.plan.Spec.Fingerprint = d }, staleNow, staleNow, staleNow},
		"the plan is another schema's":   {func(w *world) { w.plan.Spec.SchemaRef.UID = "other" }, staleNow, staleNow, staleNow},
		"the approval binds otherwise":   {func(w *world) { w.approval.Spec.ArtifactDigest = d }, staleNow, staleNow, staleNow},
		"no plan is current":             {func(w *world) { w.schema.Status.Plan = nil }, staleNow, staleNow, staleNow},
		"another plan is current":        {func(w *world) { w.schema.Status.Plan.UID = "other" }, staleNow, staleNow, staleNow},
		"the record binds otherwise":     {func(w *world) { w.schema.Status.Plan.ActualStateFingerprint = d }, staleNow, staleNow, staleNow},
		"the tag moved":                  {func(w *world) { w.schema.Status.Source.Digest = d }, staleNow, staleNow, staleNow},
		"another database was read":      {func(w *world) { w.schema.Status.Target.IdentityDigest = d }, staleNow, staleNow, staleNow},
		"the policy was edited":          {func(w *world) { w.schema.Spec.Policy.ProtectedTables = []string{"t"} }, staleNow, staleNow, staleNow},
		"the realm was edited":           {func(w *world) { w.schema.Spec.Target.CoordinationKey = "x" }, staleNow, staleNow, staleNow},
		"the engine is not supported":    {func(w *world) { w.schema.Spec.Target.Engine = "Oracle" }, staleNow, staleNow, staleNow},
		"the verification bytes changed": {func(w *world) { w.policy.Digest = d }, staleNow, staleNow, staleNow},
		"the verification was recreated": {func(w *world) { w.policy.UID = "other" }, staleNow, staleNow, staleNow},
		"the verification is gone":       {func(w *world) { w.policy = approval.PolicySource{} }, staleNow, staleNow, staleNow},
		"the epoch moved":                {func(w *world) { w.schema.Status.ExecutionBinding.Epoch = "v1-b" }, staleEpoch, staleEpoch, staleEpoch},
		"the epoch moved, plan cleared": {func(w *world) {
			w.schema.Status.ExecutionBinding.Epoch = "v1-b"
			w.schema.Status.Plan = nil
		}, staleEpoch, staleEpoch, staleEpoch},
		"the manager is another": {func(w *world) { w.schema.Status.ExecutionBinding.ExecutorImage = "x" }, staleEpoch, staleEpoch, staleEpoch},
		"already consumed": {func(w *world) {
			w.approval.Status.Conditions = []metav1.Condition{{Type: "Consumed", Status: metav1.ConditionTrue}}
		}, want{approval.Spent, v1alpha1.ReasonDispatchCommitted}, want{approval.Spent, v1alpha1.ReasonDispatchCommitted}, want{approval.Spent, v1alpha1.ReasonDispatchCommitted}},
		"already retired": {func(w *world) {
			w.approval.Status.Conditions = []metav1.Condition{{Type: "Stale", Status: metav1.ConditionTrue}}
		}, staleNow, staleNow, staleNow},
		"the chunks are not stored": {
			func(w *world) { w.plan.Status.PublishedChunks = nil },
			want{approval.Refused, v1alpha1.ReasonPending},
			want{approval.Refused, v1alpha1.ReasonPending},
			want{approval.Refused, v1alpha1.ReasonPending},
		},
		"the plan is not ready": {
			func(w *world) { w.plan.Status.Conditions[0].Status = metav1.ConditionFalse },
			want{approval.Refused, v1alpha1.ReasonPending},
			want{approval.Refused, v1alpha1.ReasonPending},
			want{approval.Refused, v1alpha1.ReasonPending},
		},
		"another approval was recorded": {func(w *world) {
			w.schema.Status.Plan.Approval = &v1alpha1.ApprovalRecord{Name: "first", UID: "first-uid"}
		}, want{approval.Stale, v1alpha1.ReasonSupersededApproval}, want{approval.Stale, v1alpha1.ReasonSupersededApproval}, want{approval.Stale, v1alpha1.ReasonSupersededApproval}},
		"this approval was recorded": {func(w *world) {
			w.schema.Status.Plan.Approval = &v1alpha1.ApprovalRecord{Name: "yes", UID: "approval-uid"}
		}, want{approval.Refused, v1alpha1.ReasonSatisfied}, ok, ok},
		"an approval of the same name was recorded": {func(w *world) {
			w.schema.Status.Plan.Approval = &v1alpha1.ApprovalRecord{Name: "yes", UID: "older-uid"}
		}, want{approval.Stale, v1alpha1.ReasonSupersededApproval}, want{approval.Stale, v1alpha1.ReasonSupersededApproval}, want{approval.Stale, v1alpha1.ReasonSupersededApproval}},
		"suspended": {func(w *world) { w.schema.Spec.Suspend = true }, want{approval.Refused, v1alpha1.ReasonSuspended}, ok, ok},
		"edited":    {func(w *world) { w.schema.Generation++ }, want{approval.Refused, v1alpha1.ReasonDesiredStateChanged}, ok, ok},
		"an Apply is claimed": {func(w *world) {
			w.schema.Status.ActiveOperation = &v1alpha1.SchemaOperation{Type: v1alpha1.SchemaApply}
		}, want{approval.Refused, v1alpha1.ReasonOperationInProgress}, ok, ok},
		"a proof is owed":          {func(w *world) { w.schema.Status.PendingObservation = &v1alpha1.PendingObservation{} }, want{approval.Refused, v1alpha1.ReasonVerifyingConvergence}, ok, ok},
		"the source is in doubt":   {func(w *world) { set(w, "PlanReady", metav1.ConditionUnknown) }, want{approval.Refused, v1alpha1.ReasonSourceFreshnessUnknown}, ok, ok},
		"nothing waits":            {func(w *world) { set(w, "ApprovalRequired", metav1.ConditionFalse) }, want{approval.Refused, v1alpha1.ReasonPending}, ok, ok},
		"deletion began":           {func(w *world) { w.schema.DeletionTimestamp = &now }, want{approval.Refused, v1alpha1.ReasonPlanNoLongerCurrent}, want{approval.Refused, v1alpha1.ReasonPlanNoLongerCurrent}, want{approval.Refused, v1alpha1.ReasonPlanNoLongerCurrent}},
		"a destructive disallowed": {func(w *world) { w.schema.Status.Plan.Destructive = true }, want{approval.Refused, v1alpha1.ReasonDestructiveChangesDisabled}, want{approval.Refused, v1alpha1.ReasonDestructiveChangesDisabled}, want{approval.Refused, v1alpha1.ReasonDestructiveChangesDisabled}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for stage, expected := range map[approval.Stage]want{approval.Admission: c.admission, approval.Advice: c.admission, approval.Claim: c.claim, approval.Dispatch: c.dispatch} {
				w := newWorld(t)
				c.change(w)
				v := w.judge(stage)
				assert.Equal(t, expected, want{v.Outcome, v.Reason}, "stage %d: %s", stage, v.Message)
				assert.NotEmpty(t, v.Message)
			}
		})
	}
}

func TestRequired(t *testing.T) {
	p := func(apply v1alpha1.ApplyPolicy, allow bool) v1alpha1.SchemaPolicy {
		return v1alpha1.SchemaPolicy{Apply: apply, AllowDestructive: allow}
	}
	for _, c := range []struct {
		policy      v1alpha1.SchemaPolicy
		destructive bool
		want        approval.Demand
	}{
		{p(v1alpha1.ApplyNever, false), false, approval.Disabled},
		{p(v1alpha1.ApplyNever, true), true, approval.Disabled},
		{p(v1alpha1.ApplyOnApproval, false), false, approval.NeedsApproval},
		{p(v1alpha1.ApplyOnApproval, false), true, approval.Disallowed},
		{p(v1alpha1.ApplyOnApproval, true), true, approval.NeedsApproval},
		{p(v1alpha1.ApplyAlways, false), false, approval.NeedsNothing},
		{p(v1alpha1.ApplyAlways, true), false, approval.NeedsNothing},
		{p(v1alpha1.ApplyAlways, false), true, approval.Disallowed},
		{p(v1alpha1.ApplyAlways, true), true, approval.NeedsApproval},
		{p("", false), false, approval.NeedsApproval},
	} {
		assert.Equal(t, c.want, approval.Required(c.policy, c.destructive), "%+v destructive=%t", c.policy, c.destructive)
	}
}

func TestChoose(t *testing.T) {
	w := newWorld(t)
	copyOf := func(name string, after time.Duration, change func(*v1alpha1.PtahSchemaApproval)) v1alpha1.PtahSchemaApproval {
		a := w.approval.DeepCopy()
		a.Name, a.UID = name, "uid-of-"+a.UID
		a.Spec.ApprovedAt = metav1.NewTime(now.Add(after))
		if change != nil {
			change(a)
		}
		return *a
	}
	list := []v1alpha1.PtahSchemaApproval{
		copyOf("later", time.Minute, nil),
		copyOf("other-schema", 0, func(a *v1alpha1.PtahSchemaApproval) { a.Spec.SchemaRef.Name = "other" }),
		copyOf("b-first", 0, nil),
		copyOf("a-consumed", -time.Hour, func(a *v1alpha1.PtahSchemaApproval) {
			a.Status.Conditions = []metav1.Condition{{Type: "Consumed", Status: metav1.ConditionTrue}}
		}),
		copyOf("old-plan", -time.Hour, func(a *v1alpha1.PtahSchemaApproval) { a.Spec.PlanRef.Name = "ptah-plan-old" }),
	}
	chosen, marks := approval.Choose(approval.Input{Stage: approval.Claim, Schema: w.schema, Policy: &w.policy}, map[string]*v1alpha1.PtahSchemaPlan{w.plan.Name: w.plan}, list)
	require.NotNil(t, chosen)
	assert.Equal(t, "b-first", chosen.Name)
	got := map[string]v1alpha1.ConditionReason{}
	for _, m := range marks {
		assert.Equal(t, approval.Stale, m.Verdict.Outcome)
		got[m.Approval.Name] = m.Verdict.Reason
	}
	assert.Equal(t, map[string]v1alpha1.ConditionReason{"later": v1alpha1.ReasonSupersededApproval, "old-plan": v1alpha1.ReasonPlanNoLongerCurrent}, got)
}

func TestConditionsOfALife(t *testing.T) {
	w := newWorld(t)
	var c []metav1.Condition
	accepted := w.judge(approval.Claim)
	require.True(t, approval.SetConditions(&c, accepted, 1, now))
	require.False(t, approval.SetConditions(&c, accepted, 1, metav1.NewTime(now.Add(time.Hour))), "the same verdict is no change")
	require.False(t, approval.SetConditions(&c, approval.Verdict{Outcome: approval.Refused}, 1, now))
	require.True(t, approval.SetConditions(&c, approval.Verdict{Outcome: approval.Spent, Reason: v1alpha1.ReasonDispatchCommitted}, 1, now))
	assert.True(t, approval.IsConsumed(v1alpha1.ApprovalStatus{Conditions: c}))
	require.True(t, approval.SetConditions(&c, approval.Verdict{Outcome: approval.Stale, Reason: v1alpha1.ReasonPlanNoLongerCurrent}, 1, now))
	var got []string
	for _, x := range c {
		got = append(got, strings.Join([]string{x.Type, string(x.Status), x.Reason}, "/"))
		assert.EqualValues(t, 1, x.ObservedGeneration)
	}
	assert.ElementsMatch(t, []string{"Accepted/False/PlanNoLongerCurrent", "Stale/True/PlanNoLongerCurrent", "Consumed/True/DispatchCommitted"}, got)
}

func TestPolicyOf(t *testing.T) {
	yes, no := true, false
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "policy", UID: "u"}, Immutable: &yes, Data: map[string]string{"policy.yaml": "version: 1\n"}}
	p, data, err := approval.PolicyOf(cm, "policy.yaml")
	require.NoError(t, err)
	assert.Equal(t, approval.PolicySource{UID: "u", Digest: digest.Bytes([]byte("version: 1\n"))}, p)
	assert.Equal(t, "version: 1\n", string(data))
	_, _, err = approval.PolicyOf(cm, "other")
	require.ErrorContains(t, err, "no key other")
	for _, mutable := range []*bool{nil, &no} {
		cm.Immutable = mutable
		_, _, err = approval.PolicyOf(cm, "policy.yaml")
		require.ErrorContains(t, err, "not immutable")
	}
}

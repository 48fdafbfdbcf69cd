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
	"github.com/ptah-run/ptah/pkg/binding"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/schema"
)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// view is a schema that rests in sync under the present binding.
func view(change ...func(*v1alpha1.PtahSchema)) *schema.View {
	id := binding.Identity{ControllerImage: "m", ControllerRevision: "1", ControllerStateVersion: 2, PtahVersion: "1", ExecutorImage: "e", RunnerImage: "r", RunnerProtocolVersion: 1}
	at := metav1.NewTime(now.Add(-time.Minute))
	next := metav1.NewTime(now.Add(time.Minute))
	s := &v1alpha1.PtahSchema{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "shop", UID: "uid", Generation: 3}}
	s.Spec.Target = v1alpha1.Target{
		Engine: "PostgreSQL", CoordinationKey: "k",
		URLFrom: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "url"},
	}
	s.Spec.Desired.OCIRef = "oci://r/shop:1"
	s.Spec.Desired.VerificationPolicyFrom = corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "policy"}, Key: "p"}
	s.Status = v1alpha1.PtahSchemaStatus{
		Phase: v1alpha1.SchemaPhaseInSync, ObservedGeneration: 3, NextReconciliationTime: &next,
		ExecutionBinding: &v1alpha1.ExecutionBinding{Epoch: "v1-e", ExecutionIdentity: id},
		Source:           &v1alpha1.SourceStatus{Digest: digestA, ResolvedReference: "oci://r/shop@" + digestA, ResolvedAt: &at, Verified: true},
		Target:           &v1alpha1.TargetStatus{IdentityDigest: digestB},
	}
	for _, c := range []struct {
		t v1alpha1.ConditionType
		s metav1.ConditionStatus
		r v1alpha1.ConditionReason
	}{
		{v1alpha1.ConditionArtifactResolved, "True", v1alpha1.ReasonDigestPinned},
		{v1alpha1.ConditionArtifactVerified, "True", v1alpha1.ReasonPolicySatisfied},
		{v1alpha1.ConditionDriftDetected, "False", v1alpha1.ReasonScopedConverged},
		{v1alpha1.ConditionInSync, "True", v1alpha1.ReasonScopedConverged},
		{v1alpha1.ConditionReady, "True", v1alpha1.ReasonInSync},
	} {
		condition(s, c.t, c.s, c.r)
	}
	for _, f := range change {
		f(s)
	}
	return &schema.View{
		Schema: s, Now: now, Nonce: "00112233445566778899aabbccddeeff", Identity: id,
		Policy:    operation.Known[schema.Policy]{State: operation.Present, Fresh: true, Value: schema.Policy{UID: "p", Digest: digestA, Immutable: true, HasKey: true}},
		Approvals: operation.Known[[]v1alpha1.PtahSchemaApproval]{State: operation.Present, Fresh: true},
		Stored:    operation.Known[schema.StoredPlan]{State: operation.Absent, Fresh: true},
	}
}

func condition(s *v1alpha1.PtahSchema, t v1alpha1.ConditionType, status metav1.ConditionStatus, reason v1alpha1.ConditionReason) {
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
		Type: string(t), Status: status, Reason: string(reason), LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)),
	})
}

// The chain: which operation follows from which evidence.
func TestWant(t *testing.T) {
	cond := func(ct v1alpha1.ConditionType, status metav1.ConditionStatus, r v1alpha1.ConditionReason) func(*v1alpha1.PtahSchema) {
		return func(s *v1alpha1.PtahSchema) { condition(s, ct, status, r) }
	}
	longAgo := func(s *v1alpha1.PtahSchema) { *s.Status.Source.ResolvedAt = metav1.NewTime(now.Add(-time.Hour)) }
	overdue := func(s *v1alpha1.PtahSchema) { *s.Status.NextReconciliationTime = metav1.NewTime(now) }
	cases := map[string]struct {
		change []func(*v1alpha1.PtahSchema)
		want   intent.Operation // "" rests
	}{
		"in sync rests":                            {nil, ""},
		"refresh due":                              {[]func(*v1alpha1.PtahSchema){overdue}, intent.Resolve},
		"no refresh time":                          {[]func(*v1alpha1.PtahSchema){func(s *v1alpha1.PtahSchema) { s.Status.NextReconciliationTime = nil }}, intent.Resolve},
		"edited":                                   {[]func(*v1alpha1.PtahSchema){func(s *v1alpha1.PtahSchema) { s.Generation++ }}, intent.Resolve},
		"never resolved":                           {[]func(*v1alpha1.PtahSchema){func(s *v1alpha1.PtahSchema) { s.Status.Source = nil }}, intent.Resolve},
		"resolving was cut short":                  {[]func(*v1alpha1.PtahSchema){cond(v1alpha1.ConditionArtifactResolved, "Unknown", v1alpha1.ReasonRefreshing)}, intent.Resolve},
		"conditions cleared by hand":               {[]func(*v1alpha1.PtahSchema){func(s *v1alpha1.PtahSchema) { s.Status.Conditions = nil }}, intent.Resolve},
		"realm was contested":                      {[]func(*v1alpha1.PtahSchema){cond(v1alpha1.ConditionReady, "False", v1alpha1.ReasonRealmConflict)}, intent.Resolve},
		"was suspended":                            {[]func(*v1alpha1.PtahSchema){cond(v1alpha1.ConditionReady, "False", v1alpha1.ReasonSuspended)}, intent.Resolve},
		"engine was unsupported":                   {[]func(*v1alpha1.PtahSchema){cond(v1alpha1.ConditionReady, "False", v1alpha1.ReasonUnsupportedEngine)}, intent.Resolve},
		"not verified":                             {[]func(*v1alpha1.PtahSchema){func(s *v1alpha1.PtahSchema) { s.Status.Source.Verified = false }}, intent.Verify},
		"policy refused rests":                     {[]func(*v1alpha1.PtahSchema){func(s *v1alpha1.PtahSchema) { s.Status.Source.Verified = false }, cond(v1alpha1.ConditionArtifactVerified, "False", v1alpha1.ReasonPolicyRefused)}, ""},
		"policy refused, refresh due":              {[]func(*v1alpha1.PtahSchema){overdue, func(s *v1alpha1.PtahSchema) { s.Status.Source.Verified = false }, cond(v1alpha1.ConditionArtifactVerified, "False", v1alpha1.ReasonPolicyRefused)}, intent.Resolve},
		"not observed":                             {[]func(*v1alpha1.PtahSchema){cond(v1alpha1.ConditionDriftDetected, "Unknown", v1alpha1.ReasonStaleObservation)}, intent.Observe},
		"observed":                                 {[]func(*v1alpha1.PtahSchema){cond(v1alpha1.ConditionDriftDetected, "Unknown", v1alpha1.ReasonScopedPlanPending)}, intent.Plan},
		"a chain under way goes on":                {[]func(*v1alpha1.PtahSchema){overdue, cond(v1alpha1.ConditionDriftDetected, "Unknown", v1alpha1.ReasonScopedPlanPending)}, intent.Plan},
		"a chain longer than its interval goes on": {[]func(*v1alpha1.PtahSchema){longAgo, cond(v1alpha1.ConditionDriftDetected, "Unknown", v1alpha1.ReasonScopedPlanPending)}, intent.Plan},
		"a slow Verify goes on":                    {[]func(*v1alpha1.PtahSchema){longAgo, func(s *v1alpha1.PtahSchema) { s.Status.Source.Verified = false }}, intent.Verify},
		"a chain that keeps failing starts again": {[]func(*v1alpha1.PtahSchema){
			longAgo, cond(v1alpha1.ConditionDriftDetected, "Unknown", v1alpha1.ReasonScopedPlanPending), cond(v1alpha1.ConditionReconciliationFailed, "True", v1alpha1.ReasonOperationFailed),
		}, intent.Resolve},
		"changes without a plan rest": {[]func(*v1alpha1.PtahSchema){cond(v1alpha1.ConditionDriftDetected, "True", v1alpha1.ReasonScopedChanges)}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := view(c.change...).Want()
			if c.want == "" {
				require.Nil(t, w.Claim)
				assert.Equal(t, now.Add(time.Minute), w.Until)
				return
			}
			require.NotNil(t, w.Claim)
			assert.Equal(t, c.want, w.Claim.Type)
			assert.NotEmpty(t, w.Claim.JobName)
		})
	}
}

// What has to be true of the verification policy before it is used.
func TestPolicyBeforeVerify(t *testing.T) {
	unverified := func(s *v1alpha1.PtahSchema) { s.Status.Source.Verified = false }
	for name, c := range map[string]struct {
		policy operation.Known[schema.Policy]
		words  string
	}{
		"missing":   {operation.Known[schema.Policy]{State: operation.Absent, Fresh: true}, "does not exist"},
		"no key":    {operation.Known[schema.Policy]{State: operation.Present, Fresh: true, Value: schema.Policy{Immutable: true}}, "no key"},
		"immutable": {operation.Known[schema.Policy]{State: operation.Present, Fresh: true, Value: schema.Policy{HasKey: true}}, "immutable"},
	} {
		t.Run(name, func(t *testing.T) {
			v := view(unverified)
			v.Policy = c.policy
			w := v.Want()
			require.NotNil(t, w.Write)
			assert.Contains(t, w.Write.Detail, c.words)
			status, notes := v.Record(v.Durable(), *w.Write)
			v.Schema.Status = *status.(*v1alpha1.PtahSchemaStatus)
			assert.Equal(t, v1alpha1.SchemaPhaseFailed, v.Schema.Status.Phase)
			assert.Len(t, notes, 2, "an Event and a counter")
			again := v.Want()
			assert.Nil(t, again.Write, "said once")
			assert.Nil(t, again.Claim)
			assert.Equal(t, now.Add(30*time.Second), again.Until)
		})
	}
	v := view(unverified)
	v.Policy = operation.Known[schema.Policy]{State: operation.Unknown, Fresh: true}
	assert.NotEmpty(t, v.Want().Unknown)
	v.Policy = operation.Known[schema.Policy]{}
	assert.Equal(t, operation.PartPolicy, v.Want().Need)
}

// running puts an operation in flight and gives its evidence to the family.
func conclude(t *testing.T, v *schema.View, typ intent.Operation, f frame.Frame) *v1alpha1.PtahSchemaStatus {
	t.Helper()
	c := claimed(v, typ)
	e := operation.Evidence{Kind: operation.EvidenceFrame, Result: operation.Result{State: operation.ResultFrame, Frame: f}, Job: operation.Job{Succeeded: f.Error == nil}, Quiet: true}
	j := v.Judge(c, e)
	d := v.Durable()
	d.Claim = nil
	if j.Again {
		again := v.Retry(c)
		d.Claim = &again
	}
	status, _ := v.Record(d, operation.Turn{Kind: operation.TurnConcluded, Claim: c, Evidence: e, Judged: j})
	return status.(*v1alpha1.PtahSchemaStatus)
}

func claimed(v *schema.View, typ intent.Operation) operation.Claim {
	c := operation.Claim{Type: typ, Mutating: operation.Mutating(typ), ID: "op", Attempt: 1, StartedAt: now, JobName: "job", BindingEpoch: "v1-e", Holder: "op"}
	d := v.Durable()
	d.Claim = &c
	status, _ := v.Record(d, operation.Turn{Kind: operation.TurnClaimed, Claim: c})
	v.Schema.Status = *status.(*v1alpha1.PtahSchemaStatus)
	return c
}

func tuple(st *v1alpha1.PtahSchemaStatus, t v1alpha1.ConditionType) string {
	c := meta.FindStatusCondition(st.Conditions, string(t))
	if c == nil {
		return ""
	}
	return string(c.Status) + "/" + c.Reason
}

func resolved(digest string) frame.Frame {
	return frame.Frame{Resolve: &frame.Resolved{Digest: digest, ResolvedReference: "oci://r/shop@" + digest}}
}

// A routine refresh that finds the same content leaves standing what was proven last; a moved tag takes it away.
func TestRefresh(t *testing.T) {
	v := view(func(s *v1alpha1.PtahSchema) { s.Status.Applied = &v1alpha1.AppliedRecord{PlanFingerprint: digestA} })
	st := conclude(t, v, intent.Resolve, resolved(digestA))
	assert.Equal(t, "True/InSync", tuple(st, v1alpha1.ConditionReady))
	assert.Equal(t, "True/ScopedConverged", tuple(st, v1alpha1.ConditionInSync))
	assert.NotNil(t, st.Applied)
	assert.False(t, st.Source.Verified, "verified again all the same")

	v = view(func(s *v1alpha1.PtahSchema) { s.Status.Applied = &v1alpha1.AppliedRecord{PlanFingerprint: digestA} })
	st = conclude(t, v, intent.Resolve, resolved(digestB))
	assert.Equal(t, digestB, st.Source.Digest)
	assert.Nil(t, st.Applied)
	assert.Nil(t, st.Plan)
	assert.Equal(t, "Unknown/SourceRefreshPending", tuple(st, v1alpha1.ConditionInSync))
	assert.Equal(t, "False/OperationInProgress", tuple(st, v1alpha1.ConditionReady))
}

func TestFailedRefreshKeepsHistory(t *testing.T) {
	v := view(func(s *v1alpha1.PtahSchema) { s.Status.Applied = &v1alpha1.AppliedRecord{PlanFingerprint: digestA} })
	st := conclude(t, v, intent.Resolve, frame.Frame{Error: &frame.Failure{Code: frame.CodeRegistryUnreachable, Message: "gone"}})
	assert.Equal(t, "Unknown/RefreshFailed", tuple(st, v1alpha1.ConditionArtifactResolved))
	assert.Equal(t, "Unknown/SourceFreshnessUnknown", tuple(st, v1alpha1.ConditionPlanReady))
	assert.Equal(t, "Unknown/SourceFreshnessUnknown", tuple(st, v1alpha1.ConditionInSync))
	assert.Equal(t, digestA, st.Source.Digest)
	assert.NotNil(t, st.Applied)
	require.NotNil(t, st.ActiveOperation)
	assert.Equal(t, int32(2), st.ActiveOperation.Attempt)
	assert.Equal(t, now.Add(30*time.Second), st.NextReconciliationTime.Time)
}

func planned(t *testing.T, sql, severity string) frame.Frame {
	t.Helper()
	data, err := plan.Encode(plan.Seal(plan.Document{
		Dialect: "postgres", FromFingerprint: digestA, ToFingerprint: digestB,
		Statements: []plan.Statement{{SQL: sql, Severity: severity, Reason: "declared", Table: "public.orders"}},
	}))
	require.NoError(t, err)
	return frame.Frame{TargetIdentityDigest: digestB, Plan: &frame.Planned{FromFingerprint: digestA, ToFingerprint: digestB, Document: data}}
}

// Policy decides what stands between a plan and the database.
func TestPolicyDecidesOnPlans(t *testing.T) {
	const safe, drop = "ALTER TABLE public.orders ADD COLUMN note text", "DROP TABLE public.orders"
	cases := map[string]struct {
		policy   v1alpha1.SchemaPolicy
		sql      string
		phase    v1alpha1.SchemaPhase
		ready    string
		approval string
	}{
		"never":                        {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyNever}, safe, v1alpha1.SchemaPhaseBlocked, "False/ApplyDisabled", "False/NotRequired"},
		"on approval":                  {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyOnApproval}, safe, v1alpha1.SchemaPhaseAwaitingApproval, "False/AwaitingApproval", "True/Waiting"},
		"always":                       {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyAlways}, safe, v1alpha1.SchemaPhaseReadyToApply, "False/ApplyPending", "False/NotRequired"},
		"on approval, destructive":     {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyOnApproval}, drop, v1alpha1.SchemaPhaseBlocked, "False/DestructiveChangesDisabled", "False/PolicyBlocked"},
		"always, destructive":          {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyAlways}, drop, v1alpha1.SchemaPhaseBlocked, "False/DestructiveChangesDisabled", "False/PolicyBlocked"},
		"always, destructive, allowed": {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyAlways, AllowDestructive: true}, drop, v1alpha1.SchemaPhaseAwaitingApproval, "False/AwaitingApproval", "True/Waiting"},
		"protected":                    {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyAlways, AllowDestructive: true, ProtectedTables: []string{"ORDERS"}}, safe, v1alpha1.SchemaPhaseBlocked, "False/ProtectedTable", "False/PolicyBlocked"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := view(func(s *v1alpha1.PtahSchema) { s.Spec.Policy = c.policy })
			v.Published = &v1alpha1.PtahSchemaPlan{ObjectMeta: metav1.ObjectMeta{Name: "ptah-plan-1", UID: "plan"}}
			// The executor may call anything safe: our own classifier raises the rating.
			f := planned(t, c.sql, plan.SeveritySafe)
			doc, err := plan.Decode(f.Plan.Document)
			require.NoError(t, err)
			v.Published.Spec.Destructive = plan.Destructive(doc)
			st := conclude(t, v, intent.Plan, f)
			assert.Equal(t, c.phase, st.Phase)
			assert.Equal(t, c.ready, tuple(st, v1alpha1.ConditionReady))
			assert.Equal(t, c.approval, tuple(st, v1alpha1.ConditionApprovalRequired))
			assert.Equal(t, now.Add(10*time.Minute), st.NextReconciliationTime.Time, "a refresh deadline stands")
			assert.Nil(t, st.ActiveOperation)
			if c.ready == "False/ProtectedTable" {
				assert.Nil(t, st.Plan)
				assert.Equal(t, "False/ProtectedTable", tuple(st, v1alpha1.ConditionPlanReady))
				assert.Equal(t, "False/ProtectedTable", tuple(st, v1alpha1.ConditionInSync))
			}
		})
	}
}

func TestPlanIsPublishedBeforeItIsRecorded(t *testing.T) {
	v := view()
	f := planned(t, "ALTER TABLE public.orders ADD COLUMN note text", plan.SeveritySafe)
	c := claimed(v, intent.Plan)
	v.Schema.Status.Source.VerificationPolicyUID, v.Schema.Status.Source.VerificationPolicyDigest = "p", digestA
	j := v.Judge(c, operation.Evidence{Kind: operation.EvidenceFrame, Result: operation.Result{Frame: f}})
	require.IsType(t, plan.Publication{}, j.Publish)
	assert.Equal(t, "v1-e", j.Publish.(plan.Publication).Plan.Spec.ExecutionBindingID)
}

// What an Apply leaves behind is a success or an unknown outcome, and both owe a reading; only a typed refusal before the first statement is
// neither.
func TestJudgeApply(t *testing.T) {
	good := frame.Frame{Apply: &frame.Applied{StatementsExecuted: 1}, MutationStarted: true, TargetIdentityDigest: digestB}
	fail := func(code frame.Code, started bool) frame.Frame {
		return frame.Frame{Error: &frame.Failure{Code: code, Message: "m"}, MutationStarted: started, TargetIdentityDigest: digestB}
	}
	// The guard of the runner refuses before it has read its URL; its child ends with an exit code, and only after the database is named.
	unopened := func(code frame.Code, started bool, exit int) frame.Frame {
		f := fail(code, started)
		f.TargetIdentityDigest, f.ExitCode = "", exit
		return f
	}
	stale := func(message string, started bool) frame.Frame {
		f := fail(frame.CodeStalePlan, started)
		f.Error.Message = message
		return f
	}
	const named = "the plan starts from " + digestA + "; the database is at " + digestB
	elsewhere, silent := good, good
	elsewhere.TargetIdentityDigest = digestA
	silent.Apply = nil
	uncertain := good
	uncertain.OutcomeUncertain = true
	for name, c := range map[string]struct {
		f    frame.Frame
		kind operation.EvidenceKind
		ok   bool
		want operation.Outcome
	}{
		"success":                      {good, operation.EvidenceFrame, true, operation.Succeeded},
		"success of a failed Job":      {good, operation.EvidenceFrame, false, operation.Uncertain},
		"nothing done, exit code 0":    {silent, operation.EvidenceFrame, true, operation.Uncertain},
		"another database":             {elsewhere, operation.EvidenceFrame, true, operation.Uncertain},
		"says it does not know":        {uncertain, operation.EvidenceFrame, true, operation.Uncertain},
		"stale plan":                   {stale(named, false), operation.EvidenceFrame, false, operation.Failed},
		"stale plan of no source":      {stale("the plan is stale", false), operation.EvidenceFrame, false, operation.Uncertain},
		"stale plan of another source": {stale("the plan starts from "+digestB, false), operation.EvidenceFrame, false, operation.Uncertain},
		"stale plan, source cut short": {stale("the plan starts from "+digestA[:70], false), operation.EvidenceFrame, false, operation.Uncertain},
		"stale plan, source with more": {stale("the plan starts from "+digestA+"a", false), operation.EvidenceFrame, false, operation.Uncertain},
		"stale plan, message cut":      {stale(named+"; and so on…", false), operation.EvidenceFrame, false, operation.Uncertain},
		"lock not obtained":            {fail(frame.CodeLockTimeout, false), operation.EvidenceFrame, false, operation.Failed},
		"stale plan after a statement": {stale(named, true), operation.EvidenceFrame, false, operation.Uncertain},
		"permission denied":            {fail(frame.CodeDatabasePermission, false), operation.EvidenceFrame, false, operation.Uncertain},
		"statement failed":             {fail(frame.CodeStatementFailed, true), operation.EvidenceFrame, false, operation.Uncertain},
		"deadline":                     {fail(frame.CodeDeadlineExceeded, false), operation.EvidenceFrame, false, operation.Uncertain},
		"started too late":             {unopened(frame.CodeDeadlineExceeded, false, 0), operation.EvidenceFrame, false, operation.Failed},
		"stopped before it began":      {unopened(frame.CodeCancelled, false, 0), operation.EvidenceFrame, false, operation.Failed},
		"deadline of a child":          {unopened(frame.CodeDeadlineExceeded, false, 1), operation.EvidenceFrame, false, operation.Uncertain},
		"late and contradictory":       {unopened(frame.CodeDeadlineExceeded, true, 0), operation.EvidenceFrame, false, operation.Uncertain},
		"refused without a database":   {unopened(frame.CodeDatabasePermission, false, 0), operation.EvidenceFrame, false, operation.Uncertain},
		"never ran":                    {frame.Frame{}, operation.EvidenceNeverRan, false, operation.Failed},
		"log lost":                     {frame.Frame{}, operation.EvidenceLost, false, operation.Uncertain},
		"Job gone":                     {frame.Frame{}, operation.EvidenceJobGone, false, operation.Uncertain},
		"Job changed":                  {frame.Frame{}, operation.EvidenceJobForeign, false, operation.Uncertain},
		"two Pods":                     {frame.Frame{}, operation.EvidenceManyPods, false, operation.Uncertain},
		"create unknown":               {frame.Frame{}, operation.EvidenceNeverSeen, false, operation.Uncertain},
		"Lease broken":                 {good, operation.EvidenceInterrupted, true, operation.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			v := view(func(s *v1alpha1.PtahSchema) {
				s.Status.ActiveOperation = &v1alpha1.SchemaOperation{Type: "Apply", ID: "op", TargetIdentityDigest: digestB}
				s.Status.Plan = &v1alpha1.SchemaPlanRecord{}
				s.Status.Plan.ActualStateFingerprint = digestA
			})
			j := v.Judge(operation.Claim{Type: intent.Apply, Mutating: true, ID: "op", ExecutionNotAfter: now.Add(time.Minute)},
				operation.Evidence{Kind: c.kind, Result: operation.Result{Frame: c.f}, Job: operation.Job{Succeeded: c.ok}})
			assert.Equal(t, c.want, j.Outcome)
			assert.False(t, j.Again, "an Apply is never tried again")
			if c.want == operation.Uncertain {
				assert.Equal(t, now.Add(90*time.Second), j.ObserveAfter, "held back until nothing can write")
			}
		})
	}
}

func TestFailureNamesTheSecret(t *testing.T) {
	v := view()
	c := claimed(v, intent.Observe)
	_ = c
	st := conclude(t, v, intent.Observe, frame.Frame{Error: &frame.Failure{Code: frame.CodeCredentialMissing, Message: "reading the database URL: empty"}})
	m := meta.FindStatusCondition(st.Conditions, string(v1alpha1.ConditionReconciliationFailed)).Message
	assert.Contains(t, m, `Secret "db" with key "url"`)
	assert.Contains(t, m, "not found")
}

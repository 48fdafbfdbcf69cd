package webhook_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/realm"
)

// publish stores a plan of the schema, Ready, and lets the schema wait for its approval.
func (c *cluster) publish(s *v1alpha1.PtahSchema, sql string) *v1alpha1.PtahSchemaPlan {
	c.t.Helper()
	ctx, d := c.t.Context(), func(x string) string { return digest.Bytes([]byte(x)) }
	var policy corev1.ConfigMap
	require.NoError(c.t, c.admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "policy"}, &policy))
	source, _, err := approval.PolicyOf(&policy, "policy.yaml")
	require.NoError(c.t, err)
	document := plan.Seal(plan.Document{Dialect: plan.DialectPostgres, FromFingerprint: d("from"), ToFingerprint: d("to"), Statements: []plan.Statement{{SQL: sql, Reason: "r"}}})
	data, err := plan.Encode(document)
	require.NoError(c.t, err)
	require.NoError(c.t, c.admin.Get(ctx, client.ObjectKeyFromObject(s), s))
	pub, err := plan.Publish(s, data, v1alpha1.SchemaPlanBindings{ArtifactDigest: d("artifact"), PlanBindings: v1alpha1.PlanBindings{
		PolicyFingerprint: plan.PolicyFingerprint(s.Spec.Policy), VerificationPolicyUID: policy.UID, VerificationPolicyDigest: source.Digest,
		CoordinationDigest: realm.Digest("postgres", s.Spec.Target.CoordinationKey), TargetIdentityDigest: d("target"),
		ExecutionBindingID: "v1-a", ExecutionIdentity: identity,
	}})
	require.NoError(c.t, err)
	p := pub.Plan
	c.create(p, pub.Chunks[0])
	p.Status = v1alpha1.PtahSchemaPlanStatus{
		PublishedChunks: []v1alpha1.PublishedChunk{{Index: 0, Name: pub.Chunks[0].Name, UID: pub.Chunks[0].UID}},
		Conditions:      []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Published", LastTransitionTime: metav1.Now()}},
	}
	require.NoError(c.t, c.admin.Status().Update(ctx, p))
	c.setStatus(s, func(st *v1alpha1.PtahSchemaStatus) {
		record := plan.Record(p)
		*st = v1alpha1.PtahSchemaStatus{
			Phase: v1alpha1.SchemaPhaseAwaitingApproval, ObservedGeneration: s.Generation, Plan: &record,
			ExecutionBinding: &v1alpha1.ExecutionBinding{Epoch: "v1-a", ExecutionIdentity: identity},
			Source:           &v1alpha1.SourceStatus{Digest: d("artifact")}, Target: &v1alpha1.TargetStatus{IdentityDigest: d("target")},
			Conditions: []metav1.Condition{
				{Type: "PlanReady", Status: metav1.ConditionTrue, Reason: "Published", LastTransitionTime: metav1.Now()},
				{Type: "ApprovalRequired", Status: metav1.ConditionTrue, Reason: "Waiting", LastTransitionTime: metav1.Now()},
			},
		}
	})
	return p
}

// three is an approval as a person writes it.
func three(name string, s *v1alpha1.PtahSchema, p *v1alpha1.PtahSchemaPlan) *v1alpha1.PtahSchemaApproval {
	return &v1alpha1.PtahSchemaApproval{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.PtahSchemaApprovalSpec{
			SchemaRef: v1alpha1.ObjectRef{Name: s.Name, UID: s.UID}, PlanRef: v1alpha1.ObjectRef{Name: p.Name, UID: p.UID}, PlanFingerprint: p.Spec.Fingerprint,
		},
	}
}

func testApprovals(c *cluster) {
	t := c.t
	ctx, yes := t.Context(), true
	c.create(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "policy"}, Immutable: &yes, Data: map[string]string{"policy.yaml": "version: 1\n"}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "dba"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects: []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "dba"}},
		},
	)
	s := c.schema("shop", nil)
	p := c.publish(s, "CREATE TABLE t (id int)")
	ann := c.as("ann@example.com", "dba")

	c.eventually("the first approval", func() error {
		a := three("first", s, p)
		a.Spec.Approver = v1alpha1.Approver{Username: "somebody-else", Groups: []string{"system:masters"}}
		a.Spec.MutationRequestUID = "forged"
		return ann.Create(ctx, a)
	})
	var stored v1alpha1.PtahSchemaApproval
	require.NoError(t, c.admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "first"}, &stored))
	assert.Equal(t, "ann@example.com", stored.Spec.Approver.Username)
	assert.ElementsMatch(t, []string{"dba", "system:authenticated"}, stored.Spec.Approver.Groups)
	assert.NotEqual(t, "forged", string(stored.Spec.MutationRequestUID))
	assert.Equal(t, p.Spec.SchemaPlanBindings, stored.Spec.SchemaPlanBindings)
	assert.Equal(t, approval.Accepted, approval.Judge(approval.Input{Stage: approval.Claim, Schema: s, Plan: p}, &stored).Outcome)

	t.Run("never changes", func(t *testing.T) {
		changed := stored.DeepCopy()
		changed.Spec.Approver.Username = "bob"
		require.ErrorContains(t, c.admin.Update(ctx, changed), "spec is immutable")
		changed = stored.DeepCopy()
		changed.Labels = map[string]string{"ticket": "42"}
		require.NoError(t, c.admin.Update(ctx, changed))
	})
	for name, c2 := range map[string]struct {
		change func(*v1alpha1.PtahSchemaApproval)
		why    string
	}{
		"a forged binding":           {func(a *v1alpha1.PtahSchemaApproval) { a.Spec.ExecutorImage = "evil" }, "spec.executorImage is evil, but the plan says"},
		"another plan's UID":         {func(a *v1alpha1.PtahSchemaApproval) { a.Spec.PlanRef.UID = "other" }, "spec.planRef.uid"},
		"another fingerprint":        {func(a *v1alpha1.PtahSchemaApproval) { a.Spec.PlanFingerprint = digest.Bytes(nil) }, "spec.planFingerprint"},
		"another schema's UID":       {func(a *v1alpha1.PtahSchemaApproval) { a.Spec.SchemaRef.UID = "other" }, "spec.schemaRef.uid"},
		"a plan that does not exist": {func(a *v1alpha1.PtahSchemaApproval) { a.Spec.PlanRef.Name = "ptah-plan-x" }, "there is no plan ptah-plan-x"},
	} {
		t.Run(name, func(t *testing.T) {
			a := three("refused", s, p)
			c2.change(a)
			require.ErrorContains(t, ann.Create(ctx, a), c2.why)
		})
	}
	refusedWhile := func(name, why string, change func(*v1alpha1.PtahSchemaStatus)) {
		t.Run(name, func(t *testing.T) {
			kept := *s.Status.DeepCopy()
			c.with(t).setStatus(s, change)
			require.ErrorContains(t, ann.Create(ctx, three("refused", s, p)), why)
			c.setStatus(s, func(st *v1alpha1.PtahSchemaStatus) { *st = kept })
		})
	}
	refusedWhile("another approval is recorded", "SupersededApproval", func(st *v1alpha1.PtahSchemaStatus) {
		r := approval.Record("first", stored.UID, stored.Spec.ApprovalStamp)
		st.Plan.Approval = &r
	})
	refusedWhile("an Apply is claimed", "OperationInProgress", func(st *v1alpha1.PtahSchemaStatus) {
		st.ActiveOperation = &v1alpha1.SchemaOperation{Type: v1alpha1.SchemaApply, ID: "i", Attempt: 1, InputFingerprint: "f", JobName: "j", StartedAt: metav1.Now()}
	})
	refusedWhile("the epoch moved", "ExecutionBindingChanged", func(st *v1alpha1.PtahSchemaStatus) { st.ExecutionBinding.Epoch = "v1-b" })
	refusedWhile("no plan is current", "PlanNoLongerCurrent", func(st *v1alpha1.PtahSchemaStatus) { st.Plan = nil })

	t.Run("the policy was made again", func(t *testing.T) {
		old := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "policy"}}
		require.NoError(t, c.admin.Delete(ctx, old))
		require.ErrorContains(t, ann.Create(ctx, three("refused", s, p)), "verificationPolicyUID")
		c.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "policy"}, Immutable: &yes, Data: map[string]string{"policy.yaml": "version: 1\n"}})
		require.ErrorContains(t, ann.Create(ctx, three("refused", s, p)), "verificationPolicyUID is now")
	})
	t.Run("a destructive plan that is not allowed", func(t *testing.T) {
		drop := c.schema("drop", nil)
		p := c.publish(drop, "DROP TABLE t")
		require.True(t, p.Spec.Destructive)
		require.ErrorContains(t, ann.Create(ctx, three("refused", drop, p)), "DestructiveChangesDisabled")
	})
	t.Run("a plan made again under its name", func(t *testing.T) {
		again := c.schema("again", nil)
		p := c.publish(again, "CREATE TABLE u (id int)")
		first := three("for-the-first", again, p)
		require.NoError(t, c.admin.Delete(ctx, p))
		fresh := p.DeepCopy()
		fresh.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: p.Name}
		c.create(fresh)
		require.ErrorContains(t, ann.Create(ctx, first), "spec.planRef.uid")
	})
}

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Two schemas in two namespaces claim one database. Both are blocked without a Job until both have declared it shared; then both go on within a
// minute, and take turns.
func TestTwoSchemasOnOneRealm(t *testing.T) {
	t.Parallel()
	a, b := newShared(t, "realm-a", "east", "west"), newShared(t, "realm-b", "west", "east")
	b.schema.URL = a.schema.URL
	for _, schema := range []string{"east", "west"} {
		require.NoError(t, it.Exec(t.Context(), a.database(), fmt.Sprintf(
			`CREATE SCHEMA %[1]s AUTHORIZATION sentinel; CREATE TABLE %[1]s.t (id bigint PRIMARY KEY); ALTER TABLE %[1]s.t OWNER TO sentinel`, schema)))
	}
	// No Job can be made before both exist, or the first one would rightly begin alone.
	free := []func(){a.allowNoJobs(), b.allowNoJobs()}
	for _, l := range []*lifecycle{a, b} {
		l.apply()
	}
	for _, l := range []*lifecycle{a, b} {
		l.refusedRealm(2)
	}
	for _, f := range free {
		f()
	}
	a.schema.SharedRealm = true
	a.apply()
	for _, l := range []*lifecycle{a, b} {
		l.refusedRealm(1)
	}
	assert.Zero(t, a.jobCount()+b.jobCount(), "a contested realm gets no Job at all")

	declared := time.Now()
	b.schema.SharedRealm = true
	b.apply()
	for _, l := range []*lifecycle{a, b} {
		l.phase("AwaitingApproval")
		assert.WithinDuration(t, declared, l.firstJob(), time.Minute+15*time.Second, "%s goes on within a minute", l.name)
		l.planned = l.offered()
	}
	takeTurns(t, a, b)
	for _, l := range []*lifecycle{a, b} {
		assert.NotNil(t, l.get().Status.Applied)
		l.tally(1)
		l.eventually("the Lease is free", func() bool { return !held(l.lease()) })
	}
}

// newShared is a schema that manages one PostgreSQL schema of realm-a's database.
func newShared(t *testing.T, name, own, other string) *lifecycle {
	t.Helper()
	l := &lifecycle{stage: newStage(t, name), table: own + ".t", logStart: statementLogSize(t)}
	l.schema.CoordinationKey = "e2e/one-realm"
	l.schema.Policy = fmt.Sprintf(`, lockTimeout: 120s, exclude: ['%[1]s.*', '%[1]s[type=schema]']`, other)
	l.schema.Extra = "  execution: {activeDeadlineSeconds: 120, failureRetryInterval: 2s}\n"
	l.schema.Reference = l.publish(fmt.Sprintf("CREATE SCHEMA %[1]s; CREATE TABLE %[1]s.t (id bigint PRIMARY KEY, extra_%[1]s text);\n", own))
	l.jobs = collectApplyJobs(t, l.stage)
	return l
}

// allowNoJobs keeps every Job out of the namespace until the returned function is called.
func (s *stage) allowNoJobs() func() {
	s.t.Helper()
	s.ensureNamespace()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "no-jobs"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}},
	}
	require.NoError(s.t, cluster.Create(s.t.Context(), quota))
	return func() {
		s.t.Helper()
		require.NoError(s.t, cluster.Delete(s.t.Context(), quota))
	}
}

// refusedRealm waits for the refusal, with the number of claimants that have not declared the realm shared.
func (s *stage) refusedRealm(undeclared int) {
	s.t.Helper()
	s.phase("Blocked")
	message := s.condition("Ready", "False", string(v1alpha1.ReasonRealmConflict))
	s.eventually("the refusal counts the claimants", func() bool {
		message = s.condition("Ready", "False", string(v1alpha1.ReasonRealmConflict))
		return strings.Contains(message, "2 resources claim") && strings.Contains(message, fmt.Sprintf("%d of them", undeclared))
	})
	assert.NotContains(s.t, message, "realm-", "no other resource is named")
}

// firstJob is when the first Job of a stage was made.
func (s *stage) firstJob() time.Time {
	s.t.Helper()
	jobs := s.jobsOf("resolve")
	require.NotEmpty(s.t, jobs)
	first := jobs[0].CreationTimestamp.Time
	for _, job := range jobs {
		if job.CreationTimestamp.Time.Before(first) {
			first = job.CreationTimestamp.Time
		}
	}
	return first
}

// takeTurns lets both Applies begin at once, holds the first one, and demands that the second one's Job is made after the first one ended.
func takeTurns(t *testing.T, a, b *lifecycle) {
	t.Helper()
	holder := &lifecycle{stage: a.stage, table: "east.t, west.t"}
	holder.hold()
	for _, l := range []*lifecycle{a, b} {
		l.approve()
	}
	a.eventually("one Apply waits for the table", func() bool { return a.waiting() == "1" })
	other := func(l *lifecycle) bool {
		op := l.get().Status.ActiveOperation
		return op != nil && op.Type == v1alpha1.SchemaApply && !op.DispatchStarted
	}
	a.eventually("the other Apply is claimed and waits for its turn", func() bool { return other(a) || other(b) })
	require.Equal(t, "1", a.waiting())
	require.Len(t, append(a.jobsOf("apply"), b.jobsOf("apply")...), 1, "one Apply Job at a time")
	holder.letGo()
	for _, l := range []*lifecycle{a, b} {
		l.phase("InSync")
	}
	first, second := only(t, a.jobsOf("apply")), only(t, b.jobsOf("apply"))
	if second.CreationTimestamp.Before(&first.CreationTimestamp) {
		first, second = second, first
	}
	assert.False(t, second.CreationTimestamp.Before(finished(t, first)), "the second Apply began before the first one ended")
}

func only(t *testing.T, jobs []batchv1.Job) *batchv1.Job {
	t.Helper()
	require.Len(t, jobs, 1)
	return &jobs[0]
}

func finished(t *testing.T, job *batchv1.Job) *metav1.Time {
	t.Helper()
	var fresh batchv1.Job
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(job), &fresh))
	require.NotNil(t, fresh.Status.CompletionTime)
	return fresh.Status.CompletionTime
}

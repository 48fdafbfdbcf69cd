package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/realm"
	"github.com/ptah-run/ptah/pkg/schema"
	"github.com/ptah-run/ptah/test/rig"
)

// patience bounds every wait of the lifecycle tests: they share the machine, and a slow one is no failure.
const patience = 8 * time.Minute

// lifecycle is a stage whose Apply can be held in the middle: its first statement waits for a lock that the test holds, so that it has begun and
// not ended for as long as the test likes.
type lifecycle struct {
	*stage
	table string
	// planned are the statements of the plan, in their order.
	planned  []string
	logStart int64
	jobs     func() map[string][]string
	holder   *pgx.Conn
}

// newLifecycle leads a schema to a plan of two statements that waits for an approval. Its operations may run for deadline seconds.
func newLifecycle(t *testing.T, name string, deadline int) *lifecycle {
	t.Helper()
	l := &lifecycle{stage: newStage(t, name), table: "public.life_" + strings.ReplaceAll(name, "-", "_")}
	l.schema.Policy = fmt.Sprintf(", lockTimeout: %ds", deadline)
	l.schema.Extra = fmt.Sprintf("  execution: {activeDeadlineSeconds: %d, failureRetryInterval: 2s}\n", deadline)
	l.jobs = collectApplyJobs(t, l.stage)
	l.begin()
	return l
}

// begin makes the table that the plan changes, publishes the change and waits for its plan.
func (l *lifecycle) begin() {
	l.t.Helper()
	require.NoError(l.t, it.Exec(l.t.Context(), l.database(),
		fmt.Sprintf("CREATE TABLE %s (id bigint PRIMARY KEY, body text); ALTER TABLE %[1]s OWNER TO sentinel", l.table)))
	l.logStart = statementLogSize(l.t)
	l.schema.Reference = l.publish(fmt.Sprintf(
		"CREATE TABLE %s (id bigint PRIMARY KEY, body text, extra text);\nCREATE INDEX %s_extra ON %[1]s (extra);\n", l.table, strings.TrimPrefix(l.table, "public.")))
	l.apply()
	l.phase("AwaitingApproval")
	l.planned = l.offered()
	require.Len(l.t, l.planned, 2)
}

// offered are the statements of the plan on offer.
func (s *stage) offered() []string { return s.statements("--current") }

// hold takes a lock that the plan's first statement has to wait for; readers pass.
func (l *lifecycle) hold() {
	l.t.Helper()
	conn, err := pgx.Connect(l.t.Context(), it.DatabaseURL(l.database()))
	require.NoError(l.t, err)
	_, err = conn.Exec(l.t.Context(), "BEGIN; LOCK TABLE "+l.table+" IN ACCESS SHARE MODE")
	require.NoError(l.t, err)
	l.holder = conn
	l.t.Cleanup(l.letGo)
}

// letGo gives the lock back.
func (l *lifecycle) letGo() {
	if l.holder != nil {
		_ = l.holder.Close(context.Background())
		l.holder = nil
	}
}

// halt approves the plan and waits until its first statement waits for the lock. On a busy machine an Apply's Pod may start too late and refuse to
// begin; then the plan is approved again.
func (l *lifecycle) halt() {
	l.t.Helper()
	l.hold()
	l.eventually("the Apply waits for the lock", func() bool {
		l.approveIfAsked()
		return l.waiting() == "1"
	})
}

// waiting counts the sessions of this database's owner that wait for a lock.
func (s *stage) waiting() string {
	return s.sessions("wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE%'")
}

func (s *stage) sessions(where string) string {
	count, err := it.Query(s.t.Context(), "postgres",
		fmt.Sprintf("SELECT count(*)::text FROM pg_stat_activity WHERE datname = '%s' AND usename = 'sentinel' AND %s", s.database(), where))
	require.NoError(s.t, err)
	return count
}

// eventually waits for a condition of the world, however slow the machine is.
func (s *stage) eventually(what string, condition func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		require.True(s.t, time.Now().Before(deadline), "waiting until %s: phase %s", what, s.get().Status.Phase)
		time.Sleep(100 * time.Millisecond)
	}
}

// applyJob is the Job of the Apply that runs.
func (s *stage) applyJob() *batchv1.Job {
	s.t.Helper()
	claim := s.get().Status.ActiveOperation
	require.NotNil(s.t, claim)
	for _, job := range s.jobsOf("apply") {
		if job.Name == claim.JobName {
			return &job
		}
	}
	require.Fail(s.t, "no Apply runs")
	return nil
}

func (s *stage) jobsOf(operation string) []batchv1.Job {
	s.t.Helper()
	var jobs batchv1.JobList
	require.NoError(s.t, cluster.List(s.t.Context(), &jobs, client.InNamespace(s.ns), client.MatchingLabels{v1alpha1.OperationLabel: operation}))
	return jobs.Items
}

// applyPod is the Pod of the Apply that runs.
func (s *stage) applyPod() *corev1.Pod {
	s.t.Helper()
	var pods corev1.PodList
	require.NoError(s.t, cluster.List(s.t.Context(), &pods, client.InNamespace(s.ns), client.MatchingLabels{batchv1.JobNameLabel: s.applyJob().Name}))
	require.Len(s.t, pods.Items, 1)
	return &pods.Items[0]
}

// lease is the realm's Lease; nil where there is none.
func (s *stage) lease() *coordinationv1.Lease {
	s.t.Helper()
	name, err := realm.LeaseName(schema.Realm(s.get()))
	require.NoError(s.t, err)
	var lease coordinationv1.Lease
	err = cluster.Get(s.t.Context(), client.ObjectKey{Namespace: rig.OperatorNamespace, Name: name}, &lease)
	if client.IgnoreNotFound(err) == nil && err != nil {
		return nil
	}
	require.NoError(s.t, err)
	return &lease
}

func held(lease *coordinationv1.Lease) bool {
	return lease != nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != ""
}

// uncertain waits until the Apply's outcome is recorded as unknown.
func (s *stage) uncertain() *v1alpha1.PtahSchema {
	s.t.Helper()
	var got *v1alpha1.PtahSchema
	s.eventually("the Apply's outcome is unknown", func() bool {
		got = s.get()
		return got.Status.PendingObservation != nil
	})
	require.Equal(s.t, v1alpha1.OutcomeUnknown, got.Status.PendingObservation.Outcome)
	return got
}

// again approves until the plan that is on offer after an unknown outcome has run.
func (s *stage) again() {
	s.t.Helper()
	s.eventually("the schema is in sync", func() bool {
		s.approveIfAsked()
		return s.settled()
	})
}

// accounted asserts the promise: no claim had two Apply Jobs, the statement log shows every statement exactly as often as it can have been begun,
// the schema is in sync and the Lease is free.
func (l *lifecycle) accounted(begun ...int) {
	l.t.Helper()
	l.phase("InSync")
	l.eventually("the Lease is free", func() bool { return !held(l.lease()) })
	l.tally(begun...)
	got := l.get()
	assert.Nil(l.t, got.Status.ActiveOperation)
	assert.Nil(l.t, got.Status.PendingObservation)
	assert.Nil(l.t, got.Status.PendingLockRelease)
	columns, err := it.Query(l.t.Context(), l.database(), "SELECT count(*)::text FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'extra'")
	require.NoError(l.t, err)
	assert.Equal(l.t, "1", columns)
}

// tally counts Apply Jobs and statements.
func (l *lifecycle) tally(begun ...int) {
	l.t.Helper()
	seen := l.jobs()
	assert.NotEmpty(l.t, seen)
	for claim, names := range seen {
		assert.Len(l.t, names, 1, "claim %s has more than one Apply Job: %v", claim, names)
	}
	require.Len(l.t, begun, len(l.planned))
	for i, statement := range l.planned {
		assert.Equal(l.t, begun[i], l.ran(statement), "how often the statement log shows: %s", statement)
	}
}

// ran counts a statement in the server's own log.
func (l *lifecycle) ran(statement string) int {
	return strings.Count(statementLogSince(l.t, l.logStart), "\n: "+statement+"\n")
}

// reason is the reason of a condition now.
func (s *stage) reason(kind v1alpha1.ConditionType) string {
	for _, c := range s.get().Status.Conditions {
		if c.Type == string(kind) {
			return c.Reason
		}
	}
	return ""
}

// hasEvent reports whether an Event with the reason was emitted.
func (s *stage) hasEvent(reason v1alpha1.EventReason) bool {
	prefix := regexp.MustCompile("^" + string(reason) + ": ")
	for _, e := range s.events() {
		if prefix.MatchString(e) {
			return true
		}
	}
	return false
}

package unresolved_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/unresolved"
)

var now = time.Date(2026, 11, 29, 5, 4, 0, 0, time.UTC)

func at(ago time.Duration) metav1.Time { return metav1.NewTime(now.Add(-ago)) }

// input is a run whose Lease was released and whose Job is gone: it may be cleared.
func input() unresolved.Input {
	m := &v1alpha1.PtahMigration{}
	m.Namespace, m.Name, m.UID, m.ResourceVersion = "app", "ledger", "m", "7"
	m.Spec.Target.Engine = "PostgreSQL"
	m.Status.Conditions = []metav1.Condition{
		{Type: "Ready", Status: metav1.ConditionFalse, Reason: "ApplyOutcomeUnknown"}, {Type: "Blocked", Status: metav1.ConditionTrue, Reason: "ApplyOutcomeUnknown"},
	}
	finished := at(2 * time.Hour)
	m.Status.LastRun = &v1alpha1.MigrationRun{Outcome: v1alpha1.RunPartial, StartedAt: at(3 * time.Hour), FinishedAt: &finished}
	m.Status.History = &v1alpha1.HistoryStatus{CurrentVersion: 12, PendingCount: 2, TargetIdentityDigest: "db", ObservedAt: at(time.Minute)}
	m.Status.UnresolvedRun = &v1alpha1.UnresolvedRun{
		Outcome: v1alpha1.RunPartial, RecordedAt: at(2 * time.Hour), OperationID: "op", PlanRef: &v1alpha1.ObjectRef{Name: "plan", UID: "p"},
		JobName: "job", JobUID: "j", TargetIdentityDigest: "db",
	}
	return unresolved.Input{
		Migration: m, Now: now, Lease: unresolved.Lease{Presence: unresolved.There}, Job: unresolved.Job{Presence: unresolved.Gone}, Pods: unresolved.Pods{Presence: unresolved.Gone},
	}
}

func TestJudge(t *testing.T) {
	held := unresolved.Lease{Presence: unresolved.There, Holder: "op", RenewedAt: now.Add(-time.Minute), Duration: 16 * time.Minute}
	block := func(reason string) func(*unresolved.Input) {
		return func(in *unresolved.Input) { in.Migration.Status.Conditions[1].Reason = reason }
	}
	cases := map[string]struct {
		change  func(*unresolved.Input)
		checked bool
		writing unresolved.Answer
		guards  []unresolved.Guard
	}{
		"nothing stands against it":     {func(*unresolved.Input) {}, false, unresolved.No, nil},
		"the run holds the Lease":       {func(in *unresolved.Input) { in.Lease = held }, true, unresolved.Yes, []unresolved.Guard{unresolved.GuardWriting}},
		"the Lease of the run expired":  {func(in *unresolved.Input) { in.Lease = held; in.Now = now.Add(time.Hour) }, false, unresolved.Unknown, []unresolved.Guard{unresolved.GuardUntold}},
		"expired, and somebody checked": {func(in *unresolved.Input) { in.Lease = held; in.Now = now.Add(time.Hour) }, true, unresolved.Unknown, nil},
		"another operation holds it":    {func(in *unresolved.Input) { in.Lease = held; in.Lease.Holder = "other" }, false, unresolved.No, nil},
		"a Lease that is gone":          {func(in *unresolved.Input) { in.Lease = unresolved.Lease{Presence: unresolved.Gone} }, false, unresolved.Unknown, []unresolved.Guard{unresolved.GuardUntold}},
		"no Lease is held by it":        {func(in *unresolved.Input) { in.Lease = unresolved.Lease{Presence: unresolved.There, Searched: true} }, false, unresolved.No, nil},
		"the Lease cannot be read":      {func(in *unresolved.Input) { in.Lease = unresolved.Lease{Presence: unresolved.NotTold} }, false, unresolved.Unknown, []unresolved.Guard{unresolved.GuardUntold}},
		"a Pod runs, and a person says that none does": {
			func(in *unresolved.Input) {
				in.Pods = unresolved.Pods{Presence: unresolved.There, Running: []string{"p"}}
			}, true, unresolved.Yes, []unresolved.Guard{unresolved.GuardWriting},
		},
		"the Pods stopped":         {func(in *unresolved.Input) { in.Pods = unresolved.Pods{Presence: unresolved.There} }, false, unresolved.No, nil},
		"the Pods cannot be read":  {func(in *unresolved.Input) { in.Pods.Presence = unresolved.NotTold }, false, unresolved.Unknown, []unresolved.Guard{unresolved.GuardUntold}},
		"the Job has not finished": {func(in *unresolved.Input) { in.Job.Presence = unresolved.There }, false, unresolved.Yes, []unresolved.Guard{unresolved.GuardWriting}},
		"the Job finished":         {func(in *unresolved.Input) { in.Job = unresolved.Job{Presence: unresolved.There, Finished: true} }, false, unresolved.No, nil},
		"the Job cannot be read":   {func(in *unresolved.Input) { in.Job.Presence = unresolved.NotTold }, true, unresolved.Unknown, nil},
		"no Job is named, and whether one exists cannot be told": {func(in *unresolved.Input) {
			in.Migration.Status.UnresolvedRun.JobName = ""
			in.Job.Presence = unresolved.NotTold
		}, false, unresolved.Unknown, []unresolved.Guard{unresolved.GuardUntold}},
		"no Job is named, and none carries the operation": {func(in *unresolved.Input) {
			in.Migration.Status.UnresolvedRun.JobName = ""
		}, false, unresolved.No, nil},
		"no Job is named, and one that carries the operation runs": {func(in *unresolved.Input) {
			in.Migration.Status.UnresolvedRun.JobName = ""
			in.Job = unresolved.Job{Presence: unresolved.There, Name: "found"}
		}, true, unresolved.Yes, []unresolved.Guard{unresolved.GuardWriting}},
		"no Job is named, and one that carries the operation finished": {func(in *unresolved.Input) {
			in.Migration.Status.UnresolvedRun.JobName = ""
			in.Job = unresolved.Job{Presence: unresolved.There, Name: "found", Finished: true}
		}, false, unresolved.No, nil},
		"adopted, and a holder": {func(in *unresolved.Input) { in.Migration.Status.UnresolvedRun.OperationID = ""; in.Lease = held }, false, unresolved.Unknown, []unresolved.Guard{unresolved.GuardUntold}},
		"a dirty row":           {func(in *unresolved.Input) { in.Migration.Status.History.Dirty = true }, true, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt}},
		"a modified migration":  {func(in *unresolved.Input) { in.Migration.Status.History.ModifiedVersions = []int64{3} }, false, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt}},
		"a late version":        {func(in *unresolved.Input) { in.Migration.Status.History.OutOfOrderVersions = []int64{3} }, false, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt}},
		"a contested realm":     {block("RealmConflict"), false, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt}},
		"contested before, and not any more": {func(in *unresolved.Input) {
			block("RealmConflict")(in)
			in.Census.Told = true
		}, false, unresolved.No, nil},
		"contested, and no pass has said so": {func(in *unresolved.Input) {
			in.Census = unresolved.Census{Told: true, Contested: true, Message: "2 resources"}
		}, true, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt}},
		"nobody could be counted":     {func(in *unresolved.Input) { in.Census.Problem = "forbidden" }, false, unresolved.No, nil},
		"an unsupported engine":       {func(in *unresolved.Input) { in.Migration.Spec.Target.Engine = "Oracle" }, false, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt}},
		"a reason of a newer manager": {block("TomorrowsReason"), false, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt}},
		"Ready carries the refusal":   {func(in *unresolved.Input) { in.Migration.Status.Conditions[0].Reason = "RealmConflict" }, false, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt}},
		"a database ahead":            {block("HistoryAhead"), false, unresolved.No, nil},
		"dirty and out of order": {func(in *unresolved.Input) {
			in.Migration.Status.History.Dirty, in.Migration.Status.History.OutOfOrderVersions = true, []int64{3}
			block("HistoryDirty")(in)
		}, false, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt, unresolved.GuardRebuilt}},
		"contested, and the reading accounts for the run": {func(in *unresolved.Input) {
			in.Migration.Status.History.PendingCount = 0
			block("RealmConflict")(in)
		}, false, unresolved.No, nil},
		"contested, and the reading is of another database": {func(in *unresolved.Input) {
			in.Migration.Status.History.PendingCount, in.Migration.Status.History.TargetIdentityDigest = 0, "other"
			block("RealmConflict")(in)
		}, false, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt}},
		"contested, and the reading is older than the run": {func(in *unresolved.Input) {
			in.Migration.Status.History.PendingCount, in.Migration.Status.History.ObservedAt = 0, at(150*time.Minute)
			block("RealmConflict")(in)
		}, false, unresolved.No, []unresolved.Guard{unresolved.GuardRebuilt}},
		"an Apply is claimed": {func(in *unresolved.Input) {
			in.Migration.Status.ActiveOperation = &v1alpha1.MigrationOperation{Type: v1alpha1.MigrationApply, ID: "x"}
		}, false, unresolved.No, []unresolved.Guard{unresolved.GuardClaimed}},
		"a reading is claimed": {func(in *unresolved.Input) {
			in.Migration.Status.ActiveOperation = &v1alpha1.MigrationOperation{Type: v1alpha1.MigrationHistory, ID: "x"}
		}, false, unresolved.No, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in := input()
			c.change(&in)
			v := unresolved.Judge(in, c.checked)
			assert.Equal(t, c.writing, v.Writing.Answer, v.Writing.Why)
			assert.Equal(t, len(c.guards) == 0, v.CanClear)
			var guards []unresolved.Guard
			for _, r := range v.Refusals {
				guards = append(guards, r.Guard)
				assert.NotEmpty(t, r.Text)
			}
			assert.Equal(t, c.guards, guards)
			assert.NotEmpty(t, v.Writing.Why)
		})
	}
}

// Whoever could not be counted is said, unless it makes no difference.
func TestJudgeSaysWhoWasNotCounted(t *testing.T) {
	in := input()
	in.Census.Problem = "forbidden"
	assert.Equal(t, "forbidden", unresolved.Judge(in, false).Uncounted)
	in.Migration.Status.History.PendingCount = 0
	assert.Empty(t, unresolved.Judge(in, false).Uncounted, "a reading accounts for the run, however the resource is blocked")
	in = input()
	in.Census.Told = true
	assert.Empty(t, unresolved.Judge(in, false).Uncounted)
}

func TestTokenAndWhatARecordCannotSay(t *testing.T) {
	run := input().Migration.Status.UnresolvedRun
	assert.Equal(t, unresolved.Token{Kind: "operation ID", Value: "op"}, unresolved.TokenOf(run))
	assert.Equal(t, []string{"whether the run or the plan named this database. Start there, do not stop there."}, unresolved.CannotSay(run))
	run.OperationID, run.PlanRef = "", nil
	assert.True(t, unresolved.Adopted(run))
	assert.Equal(t, unresolved.Token{Kind: "Job UID", Value: "j"}, unresolved.TokenOf(run))
	assert.Len(t, unresolved.CannotSay(run), 2)
	run.JobUID, run.JobName, run.TargetIdentityDigest = "", "", ""
	assert.Equal(t, unresolved.Token{Kind: "time of the record", Value: "2026-11-29T03:04:00Z"}, unresolved.TokenOf(run))
	assert.Len(t, unresolved.CannotSay(run), 3)
}

func TestIsOf(t *testing.T) {
	run := input().Migration.Status.UnresolvedRun
	owned := func(kind, name, uid string) *metav1.ObjectMeta {
		return &metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: name, UID: types.UID(uid)}}}
	}
	assert.True(t, unresolved.IsOf(run, owned("Job", "job", "j")))
	assert.False(t, unresolved.IsOf(run, owned("Job", "job", "another with the same name")))
	assert.False(t, unresolved.IsOf(run, owned("ReplicaSet", "job", "j")))
	envelope := &metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.OperationIDAnnotation: "op"}}
	assert.True(t, unresolved.IsOf(run, envelope))
	run.JobUID = ""
	assert.True(t, unresolved.IsOf(run, owned("Job", "job", "whatever")))
	run.OperationID, run.JobName = "", ""
	assert.False(t, unresolved.IsOf(run, &metav1.ObjectMeta{}))
	assert.False(t, unresolved.IsOf(run, &metav1.ObjectMeta{Annotations: map[string]string{}}))
}

// The one write removes the record and Blocked, keeps everything else of the conditions as it is stored, and is bound to what was read.
func TestPatch(t *testing.T) {
	stored := `{"metadata":{"uid":"m","resourceVersion":"7"},"status":{"phase":"Blocked","unresolvedRun":{"outcome":"Partial"},
		"conditions":[{"type":"Ready","status":"False","tomorrow":{"a":1}},{"type":"Blocked","status":"True"}]}}`
	patch, err := unresolved.Patch([]byte(stored))
	require.NoError(t, err)
	assert.JSONEq(t, `{"metadata":{"uid":"m","resourceVersion":"7"},"status":{"unresolvedRun":null,"conditions":[{"type":"Ready","status":"False","tomorrow":{"a":1}}]}}`, string(patch))
	for name, broken := range map[string]string{
		"no record":           `{"metadata":{"uid":"m","resourceVersion":"7"},"status":{}}`,
		"a null record":       `{"metadata":{"uid":"m","resourceVersion":"7"},"status":{"unresolvedRun":null}}`,
		"no resource version": `{"metadata":{"uid":"m"},"status":{"unresolvedRun":{}}}`,
		"no UID":              `{"metadata":{"resourceVersion":"7"},"status":{"unresolvedRun":{}}}`,
		"a strange condition": `{"metadata":{"uid":"m","resourceVersion":"7"},"status":{"unresolvedRun":{},"conditions":[1]}}`,
		"no JSON":             `{`,
	} {
		_, err := unresolved.Patch([]byte(broken))
		assert.Error(t, err, name)
	}
}

func TestPatchOfAnyConditions(t *testing.T) {
	kinds := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"Ready", "Blocked", "Progressing", "ArtifactVerified", "ApprovalRequired"}), rapid.ID)
	rapid.Check(t, func(t *rapid.T) {
		m := input().Migration
		m.Status.Conditions = nil
		for _, kind := range kinds.Draw(t, "kinds") {
			m.Status.Conditions = append(m.Status.Conditions, metav1.Condition{Type: kind, Status: "True", Reason: "R", Message: rapid.String().Draw(t, "message")})
		}
		stored, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := unresolved.Patch(stored)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Status struct{ Conditions []metav1.Condition }
		}
		if err := json.Unmarshal(patch, &got); err != nil {
			t.Fatal(err)
		}
		want := append([]metav1.Condition{}, m.Status.Conditions...)
		meta.RemoveStatusCondition(&want, "Blocked")
		if !assert.ObjectsAreEqualValues(append([]metav1.Condition{}, want...), append([]metav1.Condition{}, got.Status.Conditions...)) {
			t.Fatalf("want %v, got %v", want, got.Status.Conditions)
		}
	})
}

func TestReasonAndEventMessageAreBoundedAndPlain(t *testing.T) {
	assert.Equal(t, "row 13 repaired, see INC", unresolved.Reason("  row 13\n\trepaired,\x1b see\u202e INC "))
	rapid.Check(t, func(t *rapid.T) {
		run := input().Migration.Status.UnresolvedRun
		run.JobName = strings.Repeat("j", rapid.IntRange(0, 63).Draw(t, "job"))
		message := unresolved.EventMessage(run, rapid.String().Draw(t, "who"), rapid.StringN(0, 2000, -1).Draw(t, "reason"))
		if len(message) > 1024 || strings.ContainsAny(message, "\n\r\x1b\x00") {
			t.Fatalf("%d bytes: %q", len(message), message)
		}
	})
	request := unresolved.RequestMessage(input().Migration.Status.UnresolvedRun, "alice", "repaired")
	assert.Equal(t, "alice is about to clear the record of a run nobody accounted for: repaired. Outcome Partial, operation op, plan plan, Job job, database db.", request)
	message := unresolved.EventMessage(input().Migration.Status.UnresolvedRun, "alice", "repaired")
	assert.Equal(t, "alice cleared the record of a run nobody accounted for: repaired. Outcome Partial, operation op, plan plan, Job job, database db.", message)
}

func TestLook(t *testing.T) {
	written := input().Migration
	written.Status.UnresolvedRun = nil
	meta.RemoveStatusCondition(&written.Status.Conditions, "Blocked")
	blocked := func(status metav1.ConditionStatus, reason string) func(*v1alpha1.PtahMigration) {
		return func(m *v1alpha1.PtahMigration) {
			m.Status.Conditions = append(m.Status.Conditions, metav1.Condition{Type: "Blocked", Status: status, Reason: reason})
		}
	}
	cases := map[string]struct {
		change func(*v1alpha1.PtahMigration)
		want   unresolved.Outcome
	}{
		"as it was written":           {func(*v1alpha1.PtahMigration) {}, unresolved.Pending},
		"another phase":               {func(m *v1alpha1.PtahMigration) { m.Status.Phase = "Reading" }, unresolved.Pending},
		"Blocked written whole":       {blocked("False", "MigrationsPending"), unresolved.Stayed},
		"the history was read":        {func(m *v1alpha1.PtahMigration) { m.Status.History.ObservedAt = at(0) }, unresolved.Stayed},
		"ahead, which brings nothing": {blocked("True", "HistoryAhead"), unresolved.Stayed},
		"dirty":                       {func(m *v1alpha1.PtahMigration) { m.Status.History.Dirty = true; blocked("True", "HistoryDirty")(m) }, unresolved.Blocked},
		"the record is back":          {func(m *v1alpha1.PtahMigration) { m.Status.UnresolvedRun = &v1alpha1.UnresolvedRun{} }, unresolved.Returned},
		"made again":                  {func(m *v1alpha1.PtahMigration) { m.UID = "other" }, unresolved.Replaced},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			after := written.DeepCopy()
			c.change(after)
			assert.Equal(t, c.want, unresolved.Look(written, after))
		})
	}
}

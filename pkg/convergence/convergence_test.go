package convergence_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/convergence"
)

var now = time.Date(2026, 11, 29, 5, 4, 0, 0, time.UTC)

func schema(change func(*v1alpha1.PtahSchema)) *convergence.Object {
	s := &v1alpha1.PtahSchema{}
	s.Generation, s.Status.ObservedGeneration = 2, 2
	s.CreationTimestamp = metav1.NewTime(now.Add(-24 * time.Hour))
	s.Status.Phase = v1alpha1.SchemaPhaseInSync
	s.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "InSync"}}
	next(&s.Status.NextReconciliationTime, -7*time.Minute)
	change(s)
	return convergence.OfSchema(s)
}

func next(field **metav1.Time, ago time.Duration) {
	at := metav1.NewTime(now.Add(-ago))
	*field = &at
}

func operation(attempt int32, ago time.Duration) *v1alpha1.SchemaOperation {
	return &v1alpha1.SchemaOperation{Type: v1alpha1.SchemaResolve, Attempt: attempt, StartedAt: metav1.NewTime(now.Add(-ago))}
}

func TestJudge(t *testing.T) {
	cases := map[string]struct {
		change  func(*v1alpha1.PtahSchema)
		state   convergence.State
		overdue time.Duration
		why     string
	}{
		"scheduled": {func(*v1alpha1.PtahSchema) {}, convergence.OnTime, 0, "condition Ready is True, InSync"},
		"overdue by the default deadline": {
			func(s *v1alpha1.PtahSchema) { next(&s.Status.NextReconciliationTime, 15*time.Minute) },
			convergence.OnTime, 15 * time.Minute, "condition Ready is True, InSync",
		},
		"a second more": {
			func(s *v1alpha1.PtahSchema) { next(&s.Status.NextReconciliationTime, 15*time.Minute+time.Second) },
			convergence.Stalled, 15*time.Minute + time.Second, "condition Ready is True, InSync",
		},
		"a longer deadline of its own": {
			func(s *v1alpha1.PtahSchema) {
				s.Spec.Execution.ActiveDeadlineSeconds = 7200
				next(&s.Status.NextReconciliationTime, time.Hour)
			},
			convergence.OnTime, time.Hour, "condition Ready is True, InSync",
		},
		"suspended, however late": {
			func(s *v1alpha1.PtahSchema) {
				s.Spec.Suspend = true
				next(&s.Status.NextReconciliationTime, 48*time.Hour)
			},
			convergence.Suspended, 0, "suspended (spec.suspend)",
		},
		"the attempt climbs": {
			func(s *v1alpha1.PtahSchema) {
				s.Status.ActiveOperation = operation(57, time.Second)
				next(&s.Status.NextReconciliationTime, time.Hour)
			},
			convergence.Stalled, time.Hour, "Resolve is at attempt 57: it fails as often as it is tried",
		},
		"a claim that nobody reads": {
			func(s *v1alpha1.PtahSchema) {
				s.Status.ActiveOperation = operation(1, 2*time.Hour)
				next(&s.Status.NextReconciliationTime, 2*time.Hour)
			},
			convergence.Stalled, 2 * time.Hour, "Resolve began 2h0m0s ago, and nobody reads its result",
		},
		"slow": {
			func(s *v1alpha1.PtahSchema) {
				s.Status.ActiveOperation = operation(2, 5*time.Minute)
				next(&s.Status.NextReconciliationTime, 20*time.Minute)
			},
			convergence.Stalled, 20 * time.Minute, "Resolve began 5m0s ago: slow rather than abandoned",
		},
		"a failure says more than Ready": {
			func(s *v1alpha1.PtahSchema) {
				s.Status.Conditions = []metav1.Condition{{Type: "ReconciliationFailed", Status: "True", Reason: "OperationFailed"}, {Type: "Ready", Status: "False", Reason: "OperationFailed"}}
				next(&s.Status.NextReconciliationTime, time.Hour)
			},
			convergence.Stalled, time.Hour, "condition ReconciliationFailed is True, OperationFailed",
		},
		"being deleted": {
			func(s *v1alpha1.PtahSchema) {
				next(&s.DeletionTimestamp, time.Hour)
				next(&s.Status.NextReconciliationTime, time.Hour)
			},
			convergence.Stalled, time.Hour, "its deletion waits, and nobody finishes it",
		},
		"just made": {
			func(s *v1alpha1.PtahSchema) {
				s.Status, s.CreationTimestamp = v1alpha1.PtahSchemaStatus{}, metav1.NewTime(now.Add(-time.Minute))
			},
			convergence.OnTime, time.Minute, "no manager looked at it yet",
		},
		"made long ago and never looked at": {
			func(s *v1alpha1.PtahSchema) { s.Status = v1alpha1.PtahSchemaStatus{} },
			convergence.Stalled, 24 * time.Hour, "no manager ever looked at it",
		},
		"nothing scheduled after an edit": {
			func(s *v1alpha1.PtahSchema) { s.Status.NextReconciliationTime, s.Generation = nil, 3 },
			convergence.Unknown, 0, "nothing is scheduled, and generation 3 was not taken up",
		},
		"nothing scheduled, and only an edit helps": {
			func(s *v1alpha1.PtahSchema) {
				s.Status.NextReconciliationTime = nil
				s.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "UnsupportedEngine"}}
			},
			convergence.Parked, 0, "its engine is not supported: it waits for an edit",
		},
		"nothing scheduled, for no reason": {
			func(s *v1alpha1.PtahSchema) { s.Status.NextReconciliationTime = nil },
			convergence.Unknown, 0, "nothing is scheduled, and its status does not say why: condition Ready is True, InSync",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := convergence.Judge(schema(c.change), now)
			assert.Equal(t, c.state, v.State)
			assert.Equal(t, c.overdue, v.Overdue)
			assert.Equal(t, c.why, v.Why)
		})
	}
}

func TestAMigrationIsJudgedAlike(t *testing.T) {
	m := &v1alpha1.PtahMigration{}
	m.Status.ObservedGeneration = 1
	m.Spec.Execution.ActiveDeadlineSeconds = 60
	m.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "HistoryDirty"}, {Type: "Blocked", Status: "True", Reason: "HistoryDirty"}}
	m.Status.ActiveOperation = &v1alpha1.MigrationOperation{Type: v1alpha1.MigrationHistory, Attempt: 4, StartedAt: metav1.NewTime(now)}
	next(&m.Status.NextReconciliationTime, 61*time.Second)
	v := convergence.Judge(convergence.OfMigration(m), now)
	assert.Equal(t, convergence.Verdict{
		State: convergence.Stalled, Overdue: 61 * time.Second, Deadline: time.Minute, Attempt: 4,
		Condition: convergence.Condition{Type: "Blocked", Status: "True", Reason: "HistoryDirty"},
		Why:       "History is at attempt 4: it fails as often as it is tried",
	}, v)
}

// What is decoded from an object's own JSON is what the typed object gives.
func TestJSONAndTypedObjectsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &v1alpha1.PtahSchema{}
		s.Namespace, s.Name, s.Generation = "app", "orders", rapid.Int64Range(1, 9).Draw(t, "generation")
		s.CreationTimestamp = metav1.NewTime(now.Add(-time.Duration(rapid.IntRange(0, 1e6).Draw(t, "age")) * time.Second))
		s.Spec.Suspend = rapid.Bool().Draw(t, "suspended")
		s.Spec.Execution.ActiveDeadlineSeconds = rapid.Int64Range(0, 86400).Draw(t, "deadline")
		s.Status.ObservedGeneration = rapid.Int64Range(0, 9).Draw(t, "observed")
		if rapid.Bool().Draw(t, "scheduled") {
			next(&s.Status.NextReconciliationTime, time.Duration(rapid.IntRange(-1e5, 1e5).Draw(t, "next"))*time.Second)
		}
		if rapid.Bool().Draw(t, "works") {
			s.Status.ActiveOperation = operation(rapid.Int32Range(1, 9).Draw(t, "attempt"), time.Duration(rapid.IntRange(0, 1e5).Draw(t, "started"))*time.Second)
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		decoded := &convergence.Object{}
		if err := json.Unmarshal(data, decoded); err != nil {
			t.Fatal(err)
		}
		typed, read := convergence.Judge(convergence.OfSchema(s), now), convergence.Judge(decoded, now)
		if typed != read {
			t.Fatalf("typed %+v, decoded %+v", typed, read)
		}
		// The verdict only gets worse with time, and a suspended resource is never a finding.
		later := convergence.Judge(decoded, now.Add(time.Hour))
		if read.State == convergence.Stalled && later.State != convergence.Stalled || s.Spec.Suspend && later.State.Finding() {
			t.Fatalf("now %+v, later %+v", read, later)
		}
	})
}

func TestLeader(t *testing.T) {
	lead := convergence.Leader{Holder: "ptah-0", Since: now.Add(-time.Hour), RenewedAt: now.Add(-5 * time.Second), Duration: 15 * time.Second}
	gone := lead
	gone.RenewedAt = now.Add(-31 * time.Second)
	stalled := convergence.Verdict{State: convergence.Stalled, Why: "W"}
	cases := map[string]struct {
		leader convergence.Leader
		state  convergence.LeaderState
		text   string
		why    string
	}{
		"leads":          {lead, convergence.LeaderPresent, "manager ptah-0 leads since 2026-11-29 04:04 UTC", "W"},
		"stopped":        {gone, convergence.LeaderNone, "no manager holds the leader Lease since 2026-11-29 05:03 UTC", "no manager holds the leader Lease since 2026-11-29 05:03 UTC; W"},
		"given back":     {convergence.Leader{Duration: 15 * time.Second}, convergence.LeaderNone, "no manager holds the leader Lease", "no manager holds the leader Lease; W"},
		"never":          {convergence.Leader{Missing: true}, convergence.LeaderNone, "no manager ever held the leader Lease", "no manager ever held the leader Lease; W"},
		"cannot be told": {convergence.Leader{Problem: "forbidden"}, convergence.LeaderUnknown, "whether a manager leads could not be told: forbidden", "W"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.state, c.leader.Judge(now))
			assert.Equal(t, c.text, c.leader.Text(now))
			assert.Equal(t, c.why, c.leader.Explain(stalled, now))
		})
	}
}

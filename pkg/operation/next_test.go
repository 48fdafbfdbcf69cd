package operation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
)

// brief writes a step as the tables name it.
func brief(step operation.Step) string {
	switch s := step.(type) {
	case operation.PatchStatus:
		permit := ""
		if s.Permit != "" {
			permit = "+permit"
		}
		return "patch:" + s.Reason + permit
	case operation.ReadFresh:
		return fmt.Sprintf("read:%d", s.Parts)
	case operation.Wait:
		return "wait"
	default:
		return fmt.Sprintf("%T", step)[len("operation."):]
	}
}

func next(t *testing.T, s operation.Snapshot) operation.Step {
	t.Helper()
	step := operation.Next(s)
	if w, ok := step.(operation.Wait); ok {
		require.True(t, w.Until.After(s.Now), "a wait ends in the future")
		require.LessOrEqual(t, w.Until.Sub(s.Now), 10*time.Minute, "a wait has a bound")
	}
	return step
}

// The precedence: each row alone decides, and each one before it wins over it.
func TestFirstMatchWins(t *testing.T) {
	observe, apply := claim(intent.Observe), claim(intent.Apply)
	rows := []struct {
		name string
		add  func(f *family, s *operation.Snapshot)
		want string
	}{
		{"evidence", func(f *family, _ *operation.Snapshot) { f.want.Claim = &observe }, "patch:claim"},
		{"operation in flight", func(f *family, _ *operation.Snapshot) { f.durable.Claim = &observe }, "patch:snapshot"},
		{"contested realm", func(_ *family, s *operation.Snapshot) { s.Census.Value.Contested = true }, "patch:contested"},
		{"unsupported engine", func(f *family, _ *operation.Snapshot) { f.gate.Unsupported = true }, "patch:unsupported"},
		{"suspension", func(_ *family, s *operation.Snapshot) { s.Resource.Suspended = true }, "patch:suspended"},
		{"execution binding changed", func(f *family, _ *operation.Snapshot) { f.durable.BindingCurrent = false }, "patch:binding"},
		{"deletion", func(_ *family, s *operation.Snapshot) { s.Resource.Deleting = true }, "patch:deletion-end"},
		{"dispatched mutating operation", func(f *family, s *operation.Snapshot) {
			c := dispatched(apply)
			f.durable.Claim = &c
			*s = held(*s)
			s.Lease.Value.RenewedAt = now.Add(-time.Minute)
		}, "RenewLease"},
		{"lock release owed", func(f *family, _ *operation.Snapshot) {
			f.durable.Owed = &operation.Release{Realm: realm, Epoch: "old", OperationID: "op"}
		}, "patch:released"},
		{"stored state newer than this manager", func(f *family, _ *operation.Snapshot) { f.durable.StateVersion = 3 }, "wait"},
	}
	f := &family{settled: map[operation.TurnKind]bool{}}
	s := world(f)
	for _, row := range rows {
		row.add(f, &s)
		assert.Equal(t, row.want, brief(next(t, s)), row.name)
	}
}

// The order inside one mutating operation, and what the next pass makes of a crash between any two of its writes.
func TestOrderOfAnApply(t *testing.T) {
	apply := claim(intent.Apply)
	mark := &operation.MarkStep{}
	cases := map[string]struct {
		f    family
		s    func(operation.Snapshot) operation.Snapshot
		want string
	}{
		"nothing, no finalizer": {family{want: operation.Want{Claim: &apply}}, func(s operation.Snapshot) operation.Snapshot {
			s.Resource.Finalizer = false
			return s
		}, "AddFinalizer"},
		"finalizer":                  {family{want: operation.Want{Claim: &apply}}, nil, "patch:claim"},
		"claim":                      {with(apply), nil, "AcquireLease"},
		"Lease taken, epoch unknown": {with(apply), held, "patch:lease-epoch"},
		"epoch":                      {with(leased(apply)), held, "patch:snapshot"},
		"snapshot, approval live":    {family{durable: operation.Durable{Claim: ptr(prepared(apply))}, authorized: operation.Authorization{Consume: mark}}, held, "MarkApproval"},
		"approval spent":             {with(prepared(apply)), held, "patch:dispatch+permit"},
		"marker, permit here": {with(dispatched(apply)), func(s operation.Snapshot) operation.Snapshot {
			s = held(s)
			s.Permit = "op"
			return s
		}, "CreateJob"},
		"marker, crash, no Job": {with(dispatched(apply)), held, "patch:outcome"},
		"marker, another's permit": {with(dispatched(apply)), func(s operation.Snapshot) operation.Snapshot {
			s = held(s)
			s.Permit = "other"
			return s
		}, "patch:outcome"},
		"created, crash, Job found": {with(dispatched(apply)), func(s operation.Snapshot) operation.Snapshot {
			return withJob(held(s), operation.Job{})
		}, "patch:job-uid"},
		"Job UID, running": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			return withPod(withJob(held(s), operation.Job{}), operation.Pod{Accepted: true})
		}, "wait"},
		"terminal, Pod still stopping": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			return withPod(withJob(held(s), operation.Job{Terminal: true}), operation.Pod{Accepted: true})
		}, "wait"},
		"terminal": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			return withPod(withJob(held(s), operation.Job{Terminal: true}), operation.Pod{Accepted: true, Stopped: true})
		}, "ReadResult"},
		"result read": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			s.Result = operation.Result{State: operation.ResultFrame, ClaimID: "op"}
			return withPod(withJob(held(s), operation.Job{Terminal: true}), operation.Pod{Accepted: true, Stopped: true})
		}, "ScheduleCleanup"},
		"cleanup scheduled": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			s.Result = operation.Result{State: operation.ResultFrame, ClaimID: "op"}
			return withPod(withJob(held(s), operation.Job{Terminal: true, Cleanup: true}), operation.Pod{Accepted: true, Stopped: true})
		}, "patch:outcome"},
		"cleanup scheduled, crash, result forgotten": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			return withPod(withJob(held(s), operation.Job{Terminal: true, Cleanup: true}), operation.Pod{Accepted: true, Stopped: true})
		}, "ReadResult"},
		"release owed": {family{durable: operation.Durable{Owed: &operation.Release{Realm: realm, Epoch: lease, OperationID: "op"}}}, held, "ReleaseLease"},
		"released":     {family{durable: operation.Durable{Owed: &operation.Release{Realm: realm, Epoch: lease, OperationID: "op"}}}, nil, "patch:released"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := c.f
			s := world(&f)
			if c.s != nil {
				s = c.s(s)
			}
			assert.Equal(t, c.want, brief(next(t, s)))
		})
	}
}

func with(c operation.Claim) family { return family{durable: operation.Durable{Claim: &c}} }

func running2(c operation.Claim) family {
	f := with(running(c))
	f.settled = map[operation.TurnKind]bool{operation.TurnTrouble: true}
	f.retains = true
	return f
}

func ptr[T any](v T) *T { return &v }

// Whatever cannot be read decides nothing that is durable, and authorises nothing.
func TestUnknownIsNeverAbsent(t *testing.T) {
	apply := claim(intent.Apply)
	cases := map[string]struct {
		f    family
		hide func(s *operation.Snapshot)
	}{
		"Lease of a fresh claim":  {with(apply), func(s *operation.Snapshot) { s.Lease = operation.Known[operation.Lease]{State: operation.Unknown} }},
		"Lease of a release owed": {family{durable: operation.Durable{Owed: &operation.Release{Realm: realm, Epoch: lease, OperationID: "op"}}}, func(s *operation.Snapshot) { s.Lease = operation.Known[operation.Lease]{State: operation.Unknown} }},
		"Job before the marker":   {with(prepared(apply)), func(s *operation.Snapshot) { s.Job = operation.Known[operation.Job]{State: operation.Unknown} }},
		"Job after the marker":    {with(dispatched(apply)), func(s *operation.Snapshot) { s.Job = operation.Known[operation.Job]{State: operation.Unknown} }},
		"Job after the marker, permit": {with(dispatched(apply)), func(s *operation.Snapshot) {
			s.Permit = "op"
			s.Job = operation.Known[operation.Job]{State: operation.Unknown}
		}},
		"Job by UID":               {running2(apply), func(s *operation.Snapshot) { s.Job = operation.Known[operation.Job]{State: operation.Unknown} }},
		"census before the marker": {with(prepared(apply)), func(s *operation.Snapshot) { s.Census = operation.Known[operation.Census]{State: operation.Unknown} }},
		"authorization":            {family{durable: operation.Durable{Claim: ptr(prepared(apply))}, authorized: operation.Authorization{Uncertain: true}}, func(*operation.Snapshot) {}},
		"Pods of a terminal Job": {running2(apply), func(s *operation.Snapshot) {
			*s = withJob(*s, operation.Job{Terminal: true})
			s.Pods = operation.Known[[]operation.Pod]{State: operation.Unknown}
		}},
		"Pods of an Apply that owes a proof": {family{durable: operation.Durable{Proof: &operation.Proof{OperationID: "op", Realm: realm, LeaseEpoch: lease}}}, func(s *operation.Snapshot) {
			s.ProofPods = operation.Known[[]operation.Pod]{State: operation.Unknown}
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := c.f
			s := held(world(&f))
			c.hide(&s)
			assert.Equal(t, "wait", brief(next(t, s)))
		})
	}
}

// What a cache says to be absent is asked of the API server before anything follows from it.
func TestCachesProveNoAbsence(t *testing.T) {
	apply, observe := claim(intent.Apply), claim(intent.Observe)
	cases := map[string]struct {
		f    family
		age  func(s *operation.Snapshot)
		want operation.Part
	}{
		"Lease":                 {with(apply), func(s *operation.Snapshot) { s.Lease.Fresh = false }, operation.PartLease},
		"resource":              {with(prepared(apply)), func(s *operation.Snapshot) { s.Resource.Fresh = false }, operation.PartResource},
		"Job to be created":     {with(prepared(apply)), func(s *operation.Snapshot) { s.Job.Fresh = false }, operation.PartJob},
		"census of an Apply":    {with(prepared(apply)), func(s *operation.Snapshot) { s.Census.Fresh = false }, operation.PartCensus},
		"Job after a crash":     {with(dispatched(apply)), func(s *operation.Snapshot) { s.Job.Fresh = false }, operation.PartJob},
		"Job by UID":            {running2(apply), func(s *operation.Snapshot) { s.Job.Fresh = false }, operation.PartJob},
		"read-only Job":         {with(prepared(observe)), func(s *operation.Snapshot) { s.Job.Fresh = false }, operation.PartJob},
		"Pods of an Apply":      {running2(apply), func(s *operation.Snapshot) { *s = withJob(*s, operation.Job{Terminal: true}); s.Pods.Fresh = false }, operation.PartPods},
		"Pods that are gone":    {running2(observe), func(s *operation.Snapshot) { *s = withJob(*s, operation.Job{Terminal: true}); s.Pods.Fresh = false }, operation.PartPods},
		"approval to be marked": {family{want: operation.Want{Mark: &operation.MarkStep{}}}, func(s *operation.Snapshot) { s.Resource.Fresh = false }, operation.PartResource},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := c.f
			s := held(world(&f))
			c.age(&s)
			assert.Equal(t, brief(operation.ReadFresh{Parts: c.want}), brief(next(t, s)))
		})
	}
}

func TestLease(t *testing.T) {
	apply, planning := claim(intent.Apply), claim(intent.Plan)
	foreign := func(s *operation.Snapshot) {
		s.Lease.Value.Holder, s.Lease.Value.Epoch = "other", "v1-other"
	}
	stripped := func(s *operation.Snapshot) { s.Lease.Value.Epoch = "" }
	cases := map[string]struct {
		f    family
		s    func(s *operation.Snapshot)
		want string
	}{
		"held by another": {with(apply), foreign, "wait"},
		"held by another, by its own clock expired": {with(apply), func(s *operation.Snapshot) {
			foreign(s)
			s.Lease.Value.RenewedAt = now.Add(-time.Hour)
		}, "wait"},
		"held by another, seen unchanged for its duration": {with(apply), func(s *operation.Snapshot) {
			foreign(s)
			s.Lease.Value.FirstSeen = now.Add(-90 * time.Second)
		}, "AcquireLease"},
		"ours, a third used up": {with(prepared(apply)), func(s *operation.Snapshot) { s.Lease.Value.RenewedAt = now.Add(-30 * time.Second) }, "RenewLease"},
		"ours, expired, nobody took it": {running2(apply), func(s *operation.Snapshot) {
			*s = withJob(*s, operation.Job{})
			s.Lease.Value.RenewedAt = now.Add(-time.Hour)
		}, "RenewLease"},
		"epoch changed before dispatch": {with(prepared(apply)), func(s *operation.Snapshot) { s.Lease.Value.Epoch = "v1-new" }, "patch:lease-epoch"},
		"epoch changed after dispatch":  {running2(apply), func(s *operation.Snapshot) { s.Lease.Value.Epoch = "v1-new" }, "patch:continuity"},
		"stolen after dispatch":         {running2(apply), foreign, "patch:continuity"},
		"deleted after dispatch": {running2(apply), func(s *operation.Snapshot) {
			s.Lease = operation.Known[operation.Lease]{State: operation.Absent, Fresh: true}
		}, "patch:continuity"},
		"deleted after dispatch, loss noted": {lost(apply), func(s *operation.Snapshot) {
			s.Lease = operation.Known[operation.Lease]{State: operation.Absent, Fresh: true}
		}, "AcquireLease"},
		"stolen after dispatch, loss noted: still supervised": {lost(apply), func(s *operation.Snapshot) {
			foreign(s)
			*s = withPod(withJob(*s, operation.Job{}), operation.Pod{Accepted: true})
		}, "wait"},
		"stripped of its epoch after dispatch": {running2(apply), stripped, "patch:continuity"},
		"stripped of its epoch, loss noted: still supervised": {lost(apply), func(s *operation.Snapshot) {
			stripped(s)
			s.Lease.Value.RenewedAt = now.Add(-time.Minute)
			*s = withPod(withJob(*s, operation.Job{}), operation.Pod{Accepted: true})
		}, "wait"},
		"stripped of its epoch before dispatch": {with(prepared(apply)), stripped, "wait"},
		"stripped of its epoch, expired": {with(prepared(apply)), func(s *operation.Snapshot) {
			stripped(s)
			s.Lease.Value.FirstSeen = now.Add(-90 * time.Second)
		}, "AcquireLease"},
		"held for ever by somebody who is not one of us": {with(apply), func(s *operation.Snapshot) {
			foreign(s)
			s.Lease.Value.Seconds, s.Lease.Value.FirstSeen = 0, now.Add(-time.Hour)
		}, "wait"},
		"stolen while planning": {running2(planning), func(s *operation.Snapshot) {
			foreign(s)
			*s = withJob(*s, operation.Job{Cleanup: true})
		}, "patch:dropped"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := c.f
			s := held(world(&f))
			c.s(&s)
			assert.Equal(t, c.want, brief(next(t, s)))
		})
	}
}

// A record that bears our name and no epoch is no acquisition: what is staged for release under it could never be handed back.
func TestStrippedLeaseIsNotOwed(t *testing.T) {
	stripped := func(s operation.Snapshot) operation.Snapshot {
		s = held(s)
		s.Lease.Value.Epoch = ""
		return s
	}
	f := with(prepared(claim(intent.Apply)))
	f.moved = "its inputs changed"
	require.Equal(t, "patch:dropped", brief(next(t, stripped(world(&f)))))
	assert.Nil(t, f.recorded.durable.Owed)

	f = family{durable: operation.Durable{Owed: &operation.Release{Realm: realm, OperationID: "op"}}}
	assert.Equal(t, "patch:released", brief(next(t, stripped(world(&f)))))

	f = family{durable: operation.Durable{Proof: &operation.Proof{OperationID: "op", JobName: "job", Realm: realm, LeaseEpoch: lease, LeaseSeconds: 90}}}
	s := stripped(world(&f))
	assert.Equal(t, "wait", brief(next(t, s)), "a proof waits until it can take the realm again")
	s.Resource.Deleting = true
	s.Lease.Value.RenewedAt = now.Add(-time.Hour)
	require.Equal(t, "patch:proof-ended", brief(next(t, s)))
	assert.Nil(t, f.recorded.durable.Owed)
}

func lost(c operation.Claim) family {
	f := running2(c)
	f.durable.Claim.ContinuityLost = true
	return f
}

// A result that was read under a broken Lease, from a changed Job or from more than one Pod, is not handed to the family as a frame.
func TestEvidence(t *testing.T) {
	apply := claim(intent.Apply)
	frame := operation.Result{State: operation.ResultFrame, ClaimID: "op"}
	done := operation.Job{Terminal: true, Cleanup: true}
	stopped := operation.Pod{Accepted: true, Stopped: true}
	cases := map[string]struct {
		f    family
		s    func(s operation.Snapshot) operation.Snapshot
		want operation.EvidenceKind
	}{
		"frame": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			s.Result = frame
			return withPod(withJob(s, done), stopped)
		}, operation.EvidenceFrame},
		"interrupted": {lost(apply), func(s operation.Snapshot) operation.Snapshot {
			s.Result = frame
			return withPod(withJob(s, done), stopped)
		}, operation.EvidenceInterrupted},
		"two Pods": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			s.Result = frame
			return withPod(withPod(withJob(s, done), stopped), stopped)
		}, operation.EvidenceManyPods},
		"foreign Pod": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			s.Result = frame
			return withPod(withJob(s, done), operation.Pod{Stopped: true})
		}, operation.EvidenceManyPods},
		"Pod gone": {running2(apply), func(s operation.Snapshot) operation.Snapshot { return withJob(s, done) }, operation.EvidenceLost},
		"log gone": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			s.Result = operation.Result{State: operation.ResultLost, ClaimID: "op"}
			return withPod(withJob(s, done), stopped)
		}, operation.EvidenceLost},
		"no frame": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			s.Result = operation.Result{State: operation.ResultInvalid, ClaimID: "op"}
			return withPod(withJob(s, done), stopped)
		}, operation.EvidenceLost},
		"Job gone": {running2(apply), func(s operation.Snapshot) operation.Snapshot { return s }, operation.EvidenceJobGone},
		"Job changed": {running2(apply), func(s operation.Snapshot) operation.Snapshot {
			s = withJob(s, done)
			s.Job.Value.Exact = false
			return s
		}, operation.EvidenceJobForeign},
		"never seen": {with(dispatched(apply)), func(s operation.Snapshot) operation.Snapshot { return s }, operation.EvidenceNeverSeen},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := c.f
			f.retains, f.judgement = true, operation.Judgement{Outcome: operation.Uncertain, ObserveAfter: now.Add(time.Hour)}
			s := c.s(held(world(&f)))
			step := next(t, s)
			require.Equal(t, "patch:outcome", brief(step))
			assert.Equal(t, c.want, f.recorded.turn.Evidence.Kind)
			assert.Nil(t, f.recorded.durable.Claim)
			require.NotNil(t, f.recorded.durable.Proof, "claim out and record in, in one patch")
			assert.Equal(t, now.Add(time.Hour), f.recorded.durable.Proof.ObserveAfter)
			assert.Nil(t, f.recorded.durable.Owed, "the Lease stays with the proof")
		})
	}
}

// A log that is slow or away for now decides nothing.
func TestReadingsThatDecideNothing(t *testing.T) {
	for name, c := range map[string]struct {
		result operation.Result
		want   string
	}{
		"reading":            {operation.Result{State: operation.ResultReading, ClaimID: "op", At: now}, "wait"},
		"timed out just now": {operation.Result{State: operation.ResultTimedOut, ClaimID: "op", At: now}, "wait"},
		"timed out":          {operation.Result{State: operation.ResultTimedOut, ClaimID: "op", At: now.Add(-5 * time.Second)}, "ReadResult"},
		"failed":             {operation.Result{State: operation.ResultFailed, ClaimID: "op", At: now.Add(-5 * time.Second)}, "ReadResult"},
		"another claim's":    {operation.Result{State: operation.ResultFrame, ClaimID: "older"}, "ReadResult"},
	} {
		t.Run(name, func(t *testing.T) {
			f := running2(claim(intent.Apply))
			s := withPod(withJob(held(world(&f)), operation.Job{Terminal: true}), operation.Pod{Accepted: true, Stopped: true})
			s.Result = c.result
			assert.Equal(t, c.want, brief(next(t, s)))
		})
	}
}

func TestGivingUpIsFreeOnlyBeforeTheCreate(t *testing.T) {
	apply := claim(intent.Apply)
	revoked := func(c operation.Claim) family {
		f := with(c)
		f.authorized.Revoked = "the approval is gone"
		return f
	}
	cases := map[string]struct {
		f      family
		permit string
		want   string
	}{
		"before the marker":           {revoked(prepared(apply)), "", "patch:revoked"},
		"after the marker, permit":    {revoked(dispatched(apply)), "op", "patch:revoked"},
		"after the marker, no permit": {revoked(dispatched(apply)), "", "patch:outcome"},
		"Lease stolen after the marker, permit": {func() family {
			c := dispatched(apply)
			c.ContinuityLost = true
			return with(c)
		}(), "op", "patch:revoked"},
		"window passed before marker": {late(prepared(apply)), "", "patch:snapshot"},
		"window passed, permit":       {late(dispatched(apply)), "op", "patch:revoked"},
		"window passed, no permit":    {late(dispatched(apply)), "", "patch:outcome"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := c.f
			f.retains, f.judgement = true, operation.Judgement{Outcome: operation.Uncertain}
			s := held(world(&f))
			s.Permit = c.permit
			require.Equal(t, c.want, brief(next(t, s)))
			if c.want == "patch:revoked" {
				require.NotNil(t, f.recorded.durable.Owed, "the Lease goes back")
				assert.Equal(t, lease, f.recorded.durable.Owed.Epoch)
				assert.Nil(t, f.recorded.durable.Proof)
			}
		})
	}
}

func late(c operation.Claim) family {
	c.DispatchNotAfter = now
	return with(c)
}

func TestProof(t *testing.T) {
	proof := &operation.Proof{OperationID: "op", JobName: "job", Realm: realm, LeaseEpoch: lease, LeaseSeconds: 90}
	busy := operation.Known[[]operation.Pod]{State: operation.Present, Fresh: true, Value: []operation.Pod{{Name: "p"}}}
	observe := claim(intent.Observe)
	cases := map[string]struct {
		f    family
		s    func(s *operation.Snapshot)
		want string
	}{
		"begins with a reading":  {family{}, func(*operation.Snapshot) {}, "patch:claim"},
		"waits for its horizon":  {family{durable: operation.Durable{Proof: &operation.Proof{OperationID: "op", Realm: realm, LeaseEpoch: lease, ObserveAfter: now.Add(time.Minute)}}}, func(*operation.Snapshot) {}, "wait"},
		"renews while it waits":  {family{durable: operation.Durable{Proof: &operation.Proof{OperationID: "op", Realm: realm, LeaseEpoch: lease, ObserveAfter: now.Add(time.Minute)}}}, func(s *operation.Snapshot) { s.Lease.Value.RenewedAt = now.Add(-time.Minute) }, "RenewLease"},
		"late Pod holds it back": {family{}, func(s *operation.Snapshot) { s.ProofPods = busy }, "wait"},
		"late Pod voids it":      {family{durable: operation.Durable{Claim: &observe}}, func(s *operation.Snapshot) { s.ProofPods = busy }, "patch:dropped"},
		"suspended keeps Lease":  {family{settled: map[operation.TurnKind]bool{operation.TurnSuspended: true}}, func(s *operation.Snapshot) { s.Resource.Suspended = true }, "wait"},
		"suspended renews": {family{settled: map[operation.TurnKind]bool{operation.TurnSuspended: true}}, func(s *operation.Snapshot) {
			s.Resource.Suspended = true
			s.Lease.Value.RenewedAt = now.Add(-time.Minute)
		}, "RenewLease"},
		"outranks the engine": {family{gate: operation.Gate{Unsupported: true}}, func(*operation.Snapshot) {}, "patch:claim"},
		"outranks the census": {family{}, func(s *operation.Snapshot) { s.Census.Value.Contested = true }, "patch:claim"},
		"Lease gone": {family{}, func(s *operation.Snapshot) {
			s.Lease = operation.Known[operation.Lease]{State: operation.Absent, Fresh: true}
		}, "AcquireLease"},
		"Lease regained":    {family{}, func(s *operation.Snapshot) { s.Lease.Value.Epoch = "v1-again" }, "patch:proof-again"},
		"deleted: given up": {family{}, func(s *operation.Snapshot) { s.Resource.Deleting = true }, "patch:proof-ended"},
		"deleted: Lease gone, Pod writes": {family{}, func(s *operation.Snapshot) {
			s.Resource.Deleting, s.ProofPods = true, busy
			s.Lease = operation.Known[operation.Lease]{State: operation.Absent, Fresh: true}
		}, "AcquireLease"},
		"deleted: Lease gone, nothing writes": {family{}, func(s *operation.Snapshot) {
			s.Resource.Deleting = true
			s.Lease = operation.Known[operation.Lease]{State: operation.Absent, Fresh: true}
		}, "patch:proof-ended"},
		"deleted: Pod writes": {family{}, func(s *operation.Snapshot) { s.Resource.Deleting = true; s.ProofPods = busy }, "wait"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := c.f
			if f.durable.Proof == nil {
				f.durable.Proof = proof
			}
			s := held(world(&f))
			c.s(&s)
			assert.Equal(t, c.want, brief(next(t, s)))
		})
	}
}

// A migration keeps no proof. Its run is retired into a record at once; the Lease stays for as long as the run may still write, and is handed
// back only once nothing of it can.
func TestFamilyWithoutProof(t *testing.T) {
	f := with(dispatched(claim(intent.Apply)))
	f.judgement.Outcome = operation.Uncertain
	s := held(world(&f))
	require.Equal(t, "patch:outcome", brief(next(t, s)))
	assert.Nil(t, f.recorded.durable.Claim)
	assert.Nil(t, f.recorded.durable.Owed, "nobody else may have the database while the run may write")
	s.Resource.Deleting = true
	assert.Equal(t, "wait", brief(next(t, s)), "deletion does not let go before nothing can write")
	s.Resource.Deleting = false
	s.Now = f.durable.Claim.ExecutionNotAfter.Add(f.durable.Claim.Grace)
	s.Lease.Value.RenewedAt = s.Now
	require.Equal(t, "patch:outcome", brief(next(t, s)))
	assert.NotNil(t, f.recorded.durable.Owed)
	assert.Nil(t, f.recorded.durable.Proof)
}

// An instant that a family named and that has passed is waited for a moment all the same.
func TestNoWaitEndsInThePast(t *testing.T) {
	f := family{want: operation.Want{Until: now.Add(-time.Hour)}}
	s := world(&f)
	s.Resource.Finalizer = false
	assert.Equal(t, "wait", brief(next(t, s)))
}

func TestRetryHoldsBack(t *testing.T) {
	c := claim(intent.Observe)
	c.Attempt, c.NotBefore = 2, now.Add(30*time.Second)
	f := with(c)
	step, waiting := next(t, world(&f)).(operation.Wait)
	require.True(t, waiting)
	assert.Equal(t, c.NotBefore, step.Until)
}

func TestRefusedEffectsDoNotSpin(t *testing.T) {
	f := with(prepared(claim(intent.Observe)))
	f.settled = map[operation.TurnKind]bool{}
	s := world(&f)
	s.Refusal = operation.Refusal{ClaimID: "op", At: now, Message: "quota"}
	assert.Equal(t, "patch:trouble", brief(next(t, s)), "said once")
	f.settled[operation.TurnTrouble] = true
	assert.Equal(t, "wait", brief(next(t, s)), "then waited for")
	s.Now = now.Add(5 * time.Second)
	assert.Equal(t, "CreateJob", brief(next(t, s)), "then tried again")
}

// The permit is given up before a create is tried. While it is here, what failed was building the Job, and that fails again.
func TestJobThatCannotBeBuiltDoesNotSpin(t *testing.T) {
	f := with(dispatched(claim(intent.Apply)))
	f.settled = map[operation.TurnKind]bool{operation.TurnTrouble: true}
	s := held(world(&f))
	s.Permit = "op"
	s.Refusal = operation.Refusal{ClaimID: "op", At: now, Message: "building job"}
	assert.Equal(t, "wait", brief(next(t, s)))
}

func BenchmarkNext(b *testing.B) {
	f := running2(claim(intent.Apply))
	s := withPod(withJob(held(world(&f)), operation.Job{}), operation.Pod{Accepted: true})
	b.ReportAllocs()
	for b.Loop() {
		operation.Next(s)
	}
}

// A manager may die right after the create and nobody may come back: the Lease must outlast everything that the deadlines allow, so that no
// other resource gets the database beside a Pod that still writes.
func TestLeaseCoversTheRunBeforeItIsDispatched(t *testing.T) {
	for renewedAgo, want := range map[time.Duration]string{
		31 * time.Second: "RenewLease", // 960 s from then end before 900 s and 30 s of grace from now
		30 * time.Second: "patch:dispatch+permit",
		0:                "patch:dispatch+permit",
	} {
		c := prepared(claim(intent.Apply))
		c.LeaseSeconds = 960
		c.DispatchNotAfter, c.ExecutionNotAfter = now.Add(450*time.Second), now.Add(900*time.Second)
		f := with(c)
		s := held(world(&f))
		s.Lease.Value.Seconds = 960
		s.Lease.Value.RenewedAt = now.Add(-renewedAgo)
		assert.Equal(t, want, brief(next(t, s)), "renewed %s ago", renewedAgo)
	}
}

// A clock that went back, or another manager's that was ahead: no renewal makes the Lease last as long as the deadlines that it set.
func TestLeaseThatCannotCoverIsNotRenewedWithoutAPause(t *testing.T) {
	c := prepared(claim(intent.Apply))
	c.ExecutionNotAfter = now.Add(time.Hour)
	f := with(c)
	s := held(world(&f))
	s.Lease.Value.RenewedAt = now.Add(-time.Millisecond)
	assert.Equal(t, "wait", brief(next(t, s)), "nothing is dispatched under it")
	s.Lease.Value.RenewedAt = now.Add(-time.Second)
	assert.Equal(t, "RenewLease", brief(next(t, s)))

	c.Dispatched, c.JobUID = true, "uid"
	f = with(c)
	s = withPod(withJob(held(world(&f)), operation.Job{Terminal: true}), operation.Pod{Accepted: true, Stopped: true})
	s.Lease.Value.RenewedAt = now.Add(-time.Millisecond)
	assert.Equal(t, "ReadResult", brief(next(t, s)), "what runs is supervised all the same")
}

// The time by which a thief renews is nothing to wait for: once it is past, every pass would come back at once.
func TestStolenLeaseIsNotPolled(t *testing.T) {
	stolen := func(s operation.Snapshot) operation.Snapshot {
		s = held(s)
		s.Lease.Value.Holder, s.Lease.Value.RenewedAt = "thief", now.Add(-time.Hour)
		return s
	}
	f := lost(claim(intent.Apply))
	f.settled = map[operation.TurnKind]bool{operation.TurnTrouble: true}
	step, waiting := next(t, withPod(withJob(stolen(world(&f)), operation.Job{}), operation.Pod{Accepted: true})).(operation.Wait)
	require.True(t, waiting)
	assert.Equal(t, now.Add(30*time.Second), step.Until)

	f = family{durable: operation.Durable{Proof: &operation.Proof{OperationID: "op", Realm: realm, LeaseEpoch: lease, ObserveAfter: now.Add(time.Hour)}}}
	s := stolen(world(&f))
	s.Resource.Deleting = true
	step, waiting = next(t, s).(operation.Wait)
	require.True(t, waiting)
	assert.Equal(t, now.Add(30*time.Second), step.Until)
}

// A Job that counted two Pods and shows one proves nothing about the other, whatever the one says.
func TestPodThatIsGoneBesideAnotherIsNotQuiet(t *testing.T) {
	f := running2(claim(intent.Apply))
	s := withPod(withJob(held(world(&f)), operation.Job{Terminal: true, Succeeded: true, Cleanup: true, Made: 2}), operation.Pod{Accepted: true, Stopped: true})
	s.Result = operation.Result{State: operation.ResultFrame, ClaimID: "op"}
	require.Equal(t, "patch:outcome", brief(next(t, s)))
	assert.Equal(t, operation.EvidenceManyPods, f.recorded.turn.Evidence.Kind)
	assert.False(t, f.recorded.turn.Evidence.Quiet)
}

// A renewal of this very instant, or of a clock that was ahead, excuses no Lease that ends before the run could.
func TestFreshLeaseThatIsTooShortIsNotDispatchedOn(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Second} {
		c := prepared(claim(intent.Apply))
		c.ExecutionNotAfter = now.Add(10 * time.Minute) // set by a clock that has gone back since
		f := with(c)
		s := held(world(&f))
		s.Lease.Value.RenewedAt = now.Add(ahead)
		assert.Equal(t, "wait", brief(next(t, s)), "renewed %s ahead", ahead)
	}
}

// A realm that somebody else claims too is looked at again after exactly the family's own bound, and the moment it is free the chain goes on.
func TestContestedRealmIsLookedAtAgain(t *testing.T) {
	resolve := claim(intent.Resolve)
	f := family{gate: operation.Gate{Recheck: 40 * time.Second}, settled: map[operation.TurnKind]bool{operation.TurnContested: true}, want: operation.Want{Claim: &resolve}}
	s := world(&f)
	s.Resource.Finalizer = false
	s.Census.Value = operation.Census{Contested: true, Claimants: 2, Undeclared: 1}
	require.Equal(t, now.Add(40*time.Second), next(t, s).(operation.Wait).Until)
	s.Census.Value.Contested = false
	assert.Equal(t, "AddFinalizer", brief(next(t, s)), "before the claim")
}

// A Job whose result is known gets its time to live before its claim goes. Where the API server refuses that, the claim stays; only a deletion does
// not wait for it, because the Job goes with its owner.
func TestCleanupComesBeforeTheOutcome(t *testing.T) {
	apply := claim(intent.Apply)
	f := running2(apply)
	s := withPod(withJob(held(world(&f)), operation.Job{Terminal: true}), operation.Pod{Accepted: true, Stopped: true})
	s.Result = operation.Result{State: operation.ResultFrame, ClaimID: "op"}
	require.Equal(t, operation.ScheduleCleanup{JobName: "job", JobUID: "uid"}, next(t, s))
	s.Refusal = operation.Refusal{ClaimID: "op", At: now, Message: "no"}
	require.Equal(t, "wait", brief(next(t, s)), "the operation stays")
	s.Refusal.At = now.Add(-time.Minute)
	require.Equal(t, "ScheduleCleanup", brief(next(t, s)), "and is retried")
	s.Resource.Deleting = true
	assert.Equal(t, "patch:outcome", brief(next(t, s)))
}

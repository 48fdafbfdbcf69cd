package operation_test

import (
	"time"

	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
)

// family is the smallest family there can be: it holds the durable facts as they are and records turns by name.
type family struct {
	durable     operation.Durable
	gate        operation.Gate
	settled     map[operation.TurnKind]bool
	moved       string
	preparation *operation.Preparation
	authorized  operation.Authorization
	judgement   operation.Judgement
	want        operation.Want
	retains     bool
	recorded    *record
}

// record is a status of the smallest family: what the lifecycle asked to be written.
type record struct {
	durable operation.Durable
	turn    operation.Turn
}

func (f *family) Durable() operation.Durable { return f.durable }
func (f *family) Record(d operation.Durable, t operation.Turn) (operation.Status, []operation.Note) {
	f.recorded = &record{d, t}
	return f.recorded, nil
}
func (f *family) Gate() operation.Gate                              { return f.gate }
func (f *family) Settled(t operation.Turn) bool                     { return f.settled[t.Kind] }
func (f *family) Current(operation.Claim) (bool, string)            { return f.moved == "", f.moved }
func (f *family) Parting() []operation.Note                         { return nil }
func (f *family) RetainsProof() bool                                { return f.retains }
func (f *family) Want() operation.Want                              { return f.want }
func (f *family) Prove(operation.Proof) operation.Claim             { return claim(intent.Observe) }
func (f *family) Authorize(operation.Claim) operation.Authorization { return f.authorized }
func (f *family) Judge(operation.Claim, operation.Evidence) operation.Judgement {
	return f.judgement
}

func (f *family) Prepare(c operation.Claim, now time.Time) operation.Preparation {
	if f.preparation != nil {
		return *f.preparation
	}
	c.Snapshot = "snapshot"
	c.DispatchNotAfter, c.ExecutionNotAfter = now.Add(15*time.Second), now.Add(30*time.Second)
	return operation.Preparation{Claim: c}
}

func (f *family) Retry(c operation.Claim) operation.Claim {
	c.Attempt++
	c.ID += "'"
	c.JobUID, c.Snapshot, c.Dispatched = "", "", false
	return c
}

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

const (
	epoch = "v1-binding"
	lease = "v1-lease"
	realm = "sha256:realm"
)

func claim(t intent.Operation) operation.Claim {
	c := operation.Claim{
		Type: t, Mutating: operation.Mutating(t), ID: "op", Attempt: 1, StartedAt: now, JobName: "job", BindingEpoch: epoch, Holder: "op",
		Grace: 30 * time.Second,
	}
	if t == intent.Plan || t == intent.Apply {
		c.Realm, c.LeaseSeconds = realm, 90
	}
	return c
}

func leased(c operation.Claim) operation.Claim {
	c.LeaseEpoch = lease
	return c
}

func prepared(c operation.Claim) operation.Claim {
	c = leased(c)
	c.Snapshot = "snapshot"
	c.DispatchNotAfter, c.ExecutionNotAfter = now.Add(15*time.Second), now.Add(30*time.Second)
	return c
}

func dispatched(c operation.Claim) operation.Claim {
	c = prepared(c)
	c.Dispatched = true
	return c
}

func running(c operation.Claim) operation.Claim {
	c = dispatched(c)
	c.JobUID = "uid"
	return c
}

// world is a snapshot in which everything was read from the API server and nothing is there.
func world(f *family) operation.Snapshot {
	f.durable.Epoch, f.durable.BindingCurrent = epoch, true
	return operation.Snapshot{
		Now: now, Nonce: "nonce", StateVersion: 2, Family: f,
		Resource:  operation.Resource{UID: "r", Generation: 1, Fresh: true, Finalizer: true},
		Job:       operation.Known[operation.Job]{State: operation.Absent, Fresh: true},
		Pods:      operation.Known[[]operation.Pod]{State: operation.Absent, Fresh: true},
		ProofPods: operation.Known[[]operation.Pod]{State: operation.Absent, Fresh: true},
		Lease:     operation.Known[operation.Lease]{State: operation.Absent, Fresh: true},
		Census:    operation.Known[operation.Census]{State: operation.Present, Fresh: true},
	}
}

func held(s operation.Snapshot) operation.Snapshot {
	s.Lease = operation.Known[operation.Lease]{State: operation.Present, Fresh: true, Value: operation.Lease{
		Holder: "op", Epoch: lease, Seconds: 90, RenewedAt: now, FirstSeen: now,
	}}
	return s
}

func withJob(s operation.Snapshot, j operation.Job) operation.Snapshot {
	j.UID, j.Exact = "uid", true
	s.Job = operation.Known[operation.Job]{State: operation.Present, Fresh: true, Value: j}
	return s
}

func withPod(s operation.Snapshot, p operation.Pod) operation.Snapshot {
	p.Name, p.UID, p.Container = "pod", "pod-uid", "operation"
	s.Pods = operation.Known[[]operation.Pod]{State: operation.Present, Fresh: true, Value: append(s.Pods.Value, p)}
	return s
}

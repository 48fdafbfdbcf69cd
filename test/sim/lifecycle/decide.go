package lifecycle

import (
	"github.com/ptah-run/ptah/pkg/operation"
)

// sight is how well a manager sees in one pass.
type sight uint8

const (
	current sight = iota // the caches are up to date; whatever a decision asks for is read
	lagging              // the caches show an older version of everything
	blind                // the caches are up to date and no direct read succeeds
	podless              // ... and no direct read of Pods does
)

// maxReads bounds how often a decision may ask for more in one pass.
const maxReads = 16

// decide asks the real Next for this manager's step. It reports false where the decision never stops asking.
func (v *view) decide(s *State, m uint8, how sight) (operation.Step, bool) {
	v.state, v.manager, v.fresh, v.stale, v.failing, v.podless = s, m, 0, how == lagging, how == blind, how == podless
	v.seen, v.object = *s, s.Live
	if v.stale {
		v.object = s.Old
	}
	v.slot = s.freeSlot()
	for range maxReads {
		snapshot := v.snapshot()
		step := operation.Next(snapshot)
		more, reading := step.(operation.ReadFresh)
		if !reading {
			return step, true
		}
		if v.failing && more.Parts&operation.PartResource != 0 {
			return operation.Wait{Until: base.Add(tick)}, true // the shell gives the pass up
		}
		v.fresh |= more.Parts
		if more.Parts&operation.PartResource != 0 {
			v.object = s.Live
		}
	}
	return nil, false
}

// snapshot is what the edges would gather.
func (v *view) snapshot() operation.Snapshot {
	s := v.state
	out := operation.Snapshot{
		Now: base, Nonce: s.nonce(), StateVersion: 1, Family: v,
		Resource: operation.Resource{
			UID: "resource", Generation: int64(v.object.Gen), Fresh: v.fresh&operation.PartResource != 0, Deleting: v.object.Deleting,
			Finalizer: v.object.Finalizer, Suspended: v.object.Suspended,
		},
	}
	mem := &s.Managers[v.manager]
	if mem.Permit != none {
		out.Permit = slotNames[mem.Permit]
	}
	if c := v.object.Status.Claim.Slot; c != none {
		out.Job = part(v, operation.PartJob, jobState(s, c), jobFacts(s, c))
		out.Pods = podsOf(v, operation.PartPods, c)
		if mem.ResultOf == c {
			out.Result = resultFacts(mem)
		}
	} else {
		out.Job = part(v, operation.PartJob, operation.Absent, operation.Job{})
		out.Pods = part[[]operation.Pod](v, operation.PartPods, operation.Absent, nil)
	}
	if p := v.object.Status.Proof.Slot; p != none {
		out.ProofPods = podsOf(v, operation.PartProofPods, p)
	}
	if v.fresh&operation.PartLease != 0 {
		out.Lease = part(v, operation.PartLease, leaseState(s), leaseFacts(s))
	}
	contested := s.Contested && (!v.stale || v.fresh&operation.PartCensus != 0)
	out.Census = part(v, operation.PartCensus, operation.Present, operation.Census{Contested: contested, Claimants: 2, Undeclared: 1})
	return out
}

// part is one part of the world: from the API server where it was asked for, and otherwise from a cache that may lag behind.
func part[T any](v *view, p operation.Part, state operation.State, value T) operation.Known[T] {
	fresh := v.fresh&p != 0
	if fresh && (v.failing || v.podless && p&(operation.PartPods|operation.PartProofPods) != 0) {
		return operation.Known[T]{State: operation.Unknown, Fresh: true}
	}
	if !fresh && v.stale && p&(operation.PartJob|operation.PartPods|operation.PartProofPods) != 0 {
		return operation.Known[T]{State: operation.Absent}
	}
	return operation.Known[T]{State: state, Fresh: fresh, Value: value}
}

func jobState(s *State, k uint8) operation.State {
	if s.Slots[k].Job == jobNone {
		return operation.Absent
	}
	return operation.Present
}

func jobFacts(s *State, k uint8) operation.Job {
	o := &s.Slots[k]
	j := operation.Job{UID: uidNames[k], Exact: true, Cleanup: o.Cleanup, Created: ago(maxAge)}
	for _, pod := range [...]uint8{o.Pod, o.Twin} {
		if pod != podNone {
			j.Made++
		}
	}
	switch o.Job {
	case jobNone:
		return operation.Job{}
	case jobForeign:
		j.UID, j.Exact, j.Mismatch = "foreign", false, "not ours"
	case jobComplete:
		j.Terminal, j.Succeeded = true, true
	case jobFailed:
		j.Terminal = true
	}
	return j
}

var (
	ours    = operation.Pod{Name: "pod", UID: "pod", Accepted: true, Container: "operation"}
	oursEnd = operation.Pod{Name: "pod", UID: "pod", Accepted: true, Container: "operation", Stopped: true}
	// podLists are the lists that can be, by whether each of up to two Pods stopped.
	podLists = map[[2]uint8][]operation.Pod{
		{1, 0}: {ours}, {2, 0}: {oursEnd}, {1, 1}: {ours, ours}, {1, 2}: {ours, oursEnd}, {2, 1}: {oursEnd, ours}, {2, 2}: {oursEnd, oursEnd},
		{0, 1}: {ours}, {0, 2}: {oursEnd},
	}
)

func podsOf(v *view, p operation.Part, k uint8) operation.Known[[]operation.Pod] {
	o := &v.state.Slots[k]
	list := podLists[[2]uint8{presence(o.Pod), presence(o.Twin)}]
	state := operation.Present
	if len(list) == 0 {
		state = operation.Absent
	}
	return part(v, p, state, list)
}

// presence is 0 for a Pod that is not there, 1 for one that may execute, 2 for one that stopped.
func presence(pod uint8) uint8 {
	switch pod {
	case podRunning, podRan:
		return 1
	case podDone:
		return 2
	}
	return 0
}

func leaseState(s *State) operation.State {
	if s.Lease == (lease{}) {
		return operation.Absent
	}
	return operation.Present
}

func leaseFacts(s *State) operation.Lease {
	l := s.Lease
	if l == (lease{}) {
		return operation.Lease{}
	}
	out := operation.Lease{Holder: "thief", Seconds: leaseSeconds, RenewedAt: ago(l.Age), FirstSeen: ago(l.Age)}
	if l.Holder != thief {
		out.Holder = slotNames[l.Holder]
	}
	if l.Epoch != none {
		out.Epoch = epochNames[l.Epoch]
	}
	return out
}

func resultFacts(m *manager) operation.Result {
	out := operation.Result{ClaimID: slotNames[m.ResultOf], At: base}
	switch m.Result {
	case resultRead:
		out.State = operation.ResultFrame
	case resultLost:
		out.State = operation.ResultLost
	case resultTimedOut:
		out.State, out.At = operation.ResultTimedOut, ago(1)
	}
	return out
}

// freeSlot is the smallest one that nothing refers to.
func (s *State) freeSlot() uint8 {
	for k := uint8(1); k <= slotCount; k++ {
		if s.Slots[k].Kind == 0 {
			return k
		}
	}
	return slotCount
}

// nonce is the smallest number that no epoch in the state has.
func (s *State) nonce() string {
	var used uint32
	for _, o := range s.versions() {
		st := &o.Status
		used |= 1<<st.Epoch | 1<<st.Claim.Bind | 1<<st.Claim.Lease | 1<<st.Proof.Lease | 1<<st.Owed.Epoch | 1<<st.Plan.Epoch
	}
	used |= 1<<s.Lease.Epoch | 1<<s.Stored.Epoch
	for i := range s.Approvals {
		used |= 1 << s.Approvals[i].Epoch
	}
	for i := range s.Managers {
		used |= 1 << s.Managers[i].Published.Epoch
	}
	n := uint8(1)
	for used&(1<<n) != 0 {
		n++
	}
	return letters[n]
}

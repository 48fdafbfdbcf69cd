package lifecycle

import (
	"fmt"
	"time"

	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/operation"
)

// fate is what becomes of the one call of a step.
type fate uint8

const (
	succeeds  fate = iota
	fails          // before it took effect
	replyLost      // it took effect and nobody heard
)

// perform carries a step out on the world as it is now, which may have moved since the decision. It returns what was violated by it.
func (s *State) perform(v *view, step operation.Step, what fate) string {
	mem := &s.Managers[v.manager]
	switch x := step.(type) {
	case operation.AddFinalizer, operation.RemoveFinalizer:
		return s.finalizer(v, step)
	case operation.PatchStatus:
		return s.write(v, mem, x, what)
	case operation.AcquireLease:
		s.acquire(numberOf(x.Holder), numberOf(x.Epoch))
	case operation.RenewLease:
		if l := &s.Lease; l.holds(x.Holder, x.Epoch) {
			l.Age = 0
		}
	case operation.ReleaseLease:
		if s.Lease.holds(x.Holder, x.Epoch) {
			s.Lease = lease{}
		} else if s.Lease.Holder == numberOf(x.Holder) && x.Epoch == "" {
			return "I10: a release that never releases anything"
		}
	case operation.CreateJob:
		return s.create(v, mem, x, what)
	case operation.ScheduleCleanup:
		if o := &s.Slots[numberOf(x.JobName)]; o.Job != jobNone && o.Job != jobForeign {
			o.Cleanup = true
		}
	case operation.ReadResult:
		s.read(mem, numberOf(x.Claim.ID), what)
	case operation.PublishPlan:
		s.publish(mem, x.Plan.(published), what)
	case operation.MarkApproval:
		s.mark(x.Mark)
	case operation.Wait:
		if x.Until.Before(base.Add(time.Second)) {
			return "I10: a wait that is over before anything can have changed"
		}
	}
	return ""
}

func (s *State) finalizer(v *view, step operation.Step) string {
	if v.object != s.Live {
		return ""
	}
	_, add := step.(operation.AddFinalizer)
	s.Live.Finalizer = add
	if add || !s.Live.Deleting {
		return ""
	}
	s.Gone = true
	if k := s.writer(); k != none && k != s.Live.Status.Record && !s.Slots[k].Unkempt {
		return fmt.Sprintf("I4: the resource is gone and the Apply of %s may still write", slotNames[k])
	}
	return ""
}

// write is the status patch: it needs the version that was decided on.
func (s *State) write(v *view, mem *manager, x operation.PatchStatus, what fate) string {
	if v.object != s.Live {
		return ""
	}
	before, next := s.Live.Status, *x.Status.(*status)
	if bad := s.checkWrite(v, &before, &next); bad != "" {
		return bad
	}
	s.Live.Status = next
	if c := next.Claim; c.Slot != none {
		o := &s.Slots[c.Slot]
		if before.Claim.Slot != c.Slot {
			*o = slot{Kind: c.Type}
			if c.Type == opResolve {
				s.Due = false
			}
			if c.Type == opApply {
				o.From, o.To = next.Plan.From, next.Plan.To
			}
		}
		if c.Snapshot && !before.Claim.Snapshot {
			o.Age = 0
		}
		if !c.Snapshot {
			o.Age = 0
		}
	}
	if k := before.Claim.Slot; k != none && k != next.Claim.Slot {
		s.forget(k)
	}
	for _, k := range [...]uint8{next.Proof.Slot, next.Record} {
		s.Slots[k].Accounted = k != none
	}
	if t := &v.turn; t.Kind == operation.TurnConcluded && t.Claim.Mutating && t.Judged.Outcome == operation.Succeeded {
		s.Slots[before.Claim.Slot].Accounted = true
	}
	if x.Permit != "" && what == succeeds {
		mem.Permit = numberOf(x.Permit)
	}
	return ""
}

// forget drops what the processes knew about a claim that is over.
func (s *State) forget(k uint8) {
	for i := range s.Managers {
		m := &s.Managers[i]
		if m.ResultOf == k {
			m.ResultOf, m.Result = none, resultNone
		}
		m.Published = published{}
	}
}

// holds is pkg/realm's rule: a record without an epoch is nobody's acquisition.
func (l *lease) holds(holder, epoch string) bool {
	return l.Epoch != none && l.Holder == numberOf(holder) && l.Epoch == numberOf(epoch)
}

// acquire is pkg/realm's rule: free, ours, or expired by everybody's reckoning.
func (s *State) acquire(holder, epoch uint8) {
	switch l := s.Lease; {
	case l.Holder == holder && l.Epoch != none:
		s.Lease.Age = 0
	case l == (lease{}) || l.Holder == none || l.Age >= leaseTicks:
		s.Lease = lease{Holder: holder, Epoch: epoch}
	}
}

func (s *State) create(v *view, mem *manager, x operation.CreateJob, what fate) string {
	k := numberOf(x.Claim.ID)
	if bad := s.checkCreate(v, k, x); bad != "" {
		return bad
	}
	if x.Claim.Mutating {
		mem.Permit = none // before the call is tried
	}
	o := &s.Slots[k]
	if o.Kind == 0 {
		return "" // the claim was given up meanwhile and its slot is nobody's: Pod admission refuses whatever comes of it
	}
	o.Creates = min(o.Creates+1, 2)
	if what != fails && o.Job == jobNone {
		o.Job = jobActive
	}
	return ""
}

func (s *State) read(mem *manager, k uint8, what fate) {
	mem.ResultOf = k
	o := &s.Slots[k]
	switch {
	case what == fails:
		mem.Result = resultTimedOut
	case presence(o.Pod) == 2 && o.Log != logNone:
		mem.Result = resultRead
	default:
		mem.Result = resultLost
	}
}

// publish stores a plan under the name of its content, or finds it there.
func (s *State) publish(mem *manager, p published, what fate) {
	if what == fails {
		return
	}
	if have := s.Stored; have.UID == none || have.From != p.From || have.To != p.To || have.Epoch != p.Epoch || have.Gen != p.Gen {
		p.UID = s.freeUID()
		s.Stored = p
	}
	if what == succeeds {
		mem.Published = s.Stored
	}
}

func (s *State) mark(m operation.Mark) {
	for i := range s.Approvals {
		if a := &s.Approvals[i]; a.UID != none && a.UID == numberOf(m.UID) {
			switch m.Verdict.Outcome {
			case approval.Spent:
				a.Consumed = true
			case approval.Stale:
				a.Stale = true
			}
		}
	}
}

// freeUID is the smallest number that no plan and no approval has.
func (s *State) freeUID() uint8 {
	used := uint32(1)
	for _, o := range s.versions() {
		st := &o.Status
		used |= 1<<st.Plan.UID | 1<<st.Approval | 1<<st.Claim.Plan | 1<<st.Claim.Approval
	}
	used |= 1 << s.Stored.UID
	for i := range s.Approvals {
		used |= 1<<s.Approvals[i].UID | 1<<s.Approvals[i].Plan
	}
	for i := range s.Managers {
		used |= 1 << s.Managers[i].Published.UID
	}
	n := uint8(1)
	for used&(1<<n) != 0 {
		n++
	}
	return n
}

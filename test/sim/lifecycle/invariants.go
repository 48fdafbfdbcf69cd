package lifecycle

import (
	"fmt"

	"github.com/ptah-run/ptah/pkg/operation"
)

// Invariants are the promises that are checked, by the names under which a violation is reported.
var Invariants = []struct{ Name, Text string }{
	{"I1", "for one claim of an Apply at most one create is ever attempted"},
	{"I2", "a create of an Apply has its claim, snapshot, marker, held Lease, current plan, live authorization and an uncontested realm, all in the same pass"},
	{"I3", "while something dispatched may still write, nobody else gets the Lease without force"},
	{"I4", "a dispatched Apply has a claim or a record, never neither and never both, and each run is accounted for"},
	{"I5", "an approval is spent on one Apply at most, of the plan and the epoch that it names"},
	{"I6", "no result is used across a break of the Lease"},
	{"I7", "in sync and applied only after a fresh reading without changes, taken while no Apply could write"},
	{"I8", "the record of an unaccounted run leaves only by a qualifying reading, by a person, or with the object"},
	{"I9", "a Lease has a holder that the status remembers, or one whose run may still write"},
	{"I10", "once the world is kind the resource comes to rest, in sync or refused; every wait ends; no pass repeats itself"},
}

// mayWrite reports whether statements of a slot's Apply can still reach the database.
func (o *slot) mayWrite() bool {
	if o.Kind != opApply || o.Age >= writerTicks {
		return false
	}
	return presence(o.Pod) == 1 || presence(o.Twin) == 1 || o.Ghost
}

// writer is an Apply that may still write; none where there is none.
func (s *State) writer() uint8 {
	for k := uint8(1); k <= slotCount; k++ {
		if s.Slots[k].mayWrite() {
			return k
		}
	}
	return none
}

// check is what has to hold in every state; empty where it does.
func (s *State) check() string {
	st := &s.Live.Status
	if c := st.Claim; c.Slot != none && c.Type == opApply && (st.Proof.Slot != none || st.Record == c.Slot) {
		return "I4: a claim and a record at once"
	}
	if st.Claim.Slot != none && !s.Live.Finalizer {
		return "I4: a claim that would be lost with the object"
	}
	for k := uint8(1); k <= slotCount; k++ {
		o := &s.Slots[k]
		if o.Kind != opApply {
			continue
		}
		if o.Creates > 1 {
			return "I1: a second create for " + slotNames[k]
		}
		if !o.mayWrite() {
			continue
		}
		if s.Lease.Holder != k && !o.Robbed {
			return fmt.Sprintf("I3: %s may write and the Lease is another's", slotNames[k])
		}
		// A retired run shows in its Lease; one whose Lease was then taken by force shows nowhere, and a reading may settle its record.
		settled := o.Accounted && o.Robbed
		if !o.Unkempt && !settled && !s.Gone && st.Claim.Slot != k && st.Proof.Slot != k && st.Record != k {
			return fmt.Sprintf("I4: %s may write and neither a claim nor a record knows it", slotNames[k])
		}
	}
	return s.checkHolder()
}

// checkHolder is I9. A record that somebody stripped of its epoch is nobody's and waits out its duration.
func (s *State) checkHolder() string {
	if h := s.Lease.Holder; h != none && h != thief && s.Lease.Epoch != none && !s.Gone && !s.remembered(h) && !s.Slots[h].left() {
		return fmt.Sprintf("I9: the Lease is held by %s and nobody remembers it", slotNames[h])
	}
	return ""
}

// remembered reports whether the status names a holder of the Lease, so that it is going to be given back.
func (s *State) remembered(k uint8) bool {
	st := &s.Live.Status
	return k != none && (st.Claim.Slot == k || st.Proof.Slot == k || st.Owed.Slot == k)
}

// left reports whether a Lease may stay until it expires: its run was retired while it could still write, or a person wiped its claim.
func (o *slot) left() bool { return o.Unkempt || o.Kind == opApply && o.Accounted }

// checkCreate judges a create by what its pass saw.
func (s *State) checkCreate(v *view, k uint8, x operation.CreateJob) string {
	if !x.Claim.Mutating {
		if w := v.seen.writer(); w != none && v.object.Status.Proof.Slot == w {
			return "I7: the reading of a proof begins while its Apply may write"
		}
		return ""
	}
	o, st := &v.seen.Live, &v.seen.Live.Status
	c := st.Claim
	switch {
	case s.Slots[k].Creates > 0:
		return "I1: a second create for " + slotNames[k]
	case c.Slot != k || !c.Dispatched || !c.Snapshot:
		return "I2: a create without claim, snapshot or marker"
	case o.Suspended || o.Deleting:
		return "I2: a create for a resource that is suspended or deleted"
	case st.Identity != s.Managers[v.manager].Identity || c.Bind != st.Epoch:
		return "I2: a create under another execution binding"
	case v.fresh&operation.PartLease == 0 || c.Age >= windowTicks:
		return "I2: a create without a look at the Lease, or after its window"
	case v.fresh&operation.PartCensus == 0:
		return "I2: a create without a fresh census"
	case st.Record != none || st.Proof.Slot != none:
		return "I2: a create while another run is unaccounted for"
	case c.Gen != o.Gen || c.Art != st.Art || c.Plan != st.Plan.UID || st.Plan.Epoch != st.Epoch:
		return "I2: a create on inputs that moved"
	}
	if v.seen.Lease.Holder != k || v.seen.Lease.Epoch != c.Lease {
		return "I2: a create without the Lease"
	}
	if v.seen.Contested {
		return "I2: a create in a contested realm"
	}
	if v.seen.Stored != st.Plan {
		return "I2: a create on a plan that is not the stored one"
	}
	return s.checkApproval(v, k)
}

// checkApproval spends an approval in the checker's own books.
func (s *State) checkApproval(v *view, k uint8) string {
	st := &v.seen.Live.Status
	if s.Always {
		return ""
	}
	for i := range v.seen.Approvals {
		a := &v.seen.Approvals[i]
		if a.UID == none || a.UID != st.Approval {
			continue
		}
		if !a.Consumed || a.Stale || a.Plan != st.Plan.UID || a.Epoch != st.Epoch {
			return "I5: a create on an approval that is not spent, not of this plan or not of this epoch"
		}
		if a.Served > 0 && a.By != k {
			return "I5: one approval spent on two Applies"
		}
		for j := range s.Approvals {
			if s.Approvals[j].UID == a.UID {
				s.Approvals[j].Served, s.Approvals[j].By = 1, k
			}
		}
		return ""
	}
	return "I2: a create without an approval"
}

// checkWrite judges a status write.
func (s *State) checkWrite(v *view, before, next *status) string {
	t := &v.turn
	k := before.Claim.Slot
	o := &s.Slots[k]
	concluded := t.Kind == operation.TurnConcluded
	if p := next.Proof; p.Slot != none && p.Slot == k && p.Succeeded && o.Broken {
		return "I6: the result of an Apply was used although its Lease was broken"
	}
	if concluded && o.Kind == opPlan && o.Broken && next.Place == placeDone {
		return "I6: the result of a Plan was used although its Lease was broken"
	}
	if p := before.Proof; concluded && p.Slot != none && next.Proof.Slot == none && (s.Lease.Holder != p.Slot || s.Lease.Epoch != p.Lease) {
		return "I6: a proof ended under another acquisition of the Lease than it began under"
	}
	return s.checkEvidence(v, before, next)
}

// checkEvidence judges what a status write says to be proven.
func (s *State) checkEvidence(v *view, before, next *status) string {
	concluded, o := v.turn.Kind == operation.TurnConcluded, &s.Slots[before.Claim.Slot]
	if next.InSync && !before.InSync {
		if !concluded || o.Kind == opApply || o.Log != logOK || o.From != o.To {
			return "I7: in sync without a reading that found no change"
		}
		if before.Proof.Slot != none && o.Tainted {
			return "I7: proven by a reading during which an Apply could write"
		}
	}
	if next.Applied && !before.Applied && (before.Proof.Slot == none || !before.Proof.Succeeded) {
		return "I7: an Apply was credited without its proof"
	}
	if before.Record != none && next.Record == none && (!concluded || o.Kind != opObserve || o.From != o.To) {
		return "I8: the record of an unaccounted run left without a qualifying reading"
	}
	return ""
}

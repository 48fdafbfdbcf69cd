package lifecycle

import (
	"time"

	"github.com/ptah-run/ptah/pkg/operation"
)

// Record renders the lifecycle's facts and what the turn stands for.
func (v *view) Record(d operation.Durable, t operation.Turn) (operation.Status, []operation.Note) {
	n := &v.next
	*n = v.object.Status
	v.turn = t
	switch t.Kind {
	case operation.TurnBound:
		v.bound(n, d)
	case operation.TurnClaimed:
		if kindOf(t.Claim.Type) == opResolve && n.Proof.Slot == none {
			if n.Gen != v.object.Gen || n.Park != parkNone {
				n.InSync = false
			}
			n.Gen, n.Place, n.Park = v.object.Gen, placeResolve, parkNone
		}
	case operation.TurnConcluded:
		v.concluded(n)
	case operation.TurnDropped, operation.TurnRevoked, operation.TurnDeletionStop:
		unapply(n, t.Claim)
	case operation.TurnRestarted:
		n.InSync = false
	case operation.TurnSuspended:
		n.Gen = v.object.Gen
		unapply(n, t.Claim)
		if d.Proof == nil {
			n.Park = parkSuspended
		}
	case operation.TurnContested:
		n.Gen, n.Park, n.InSync = v.object.Gen, parkContested, false
		unapply(n, t.Claim)
	case operation.TurnTrouble:
		n.Trouble = t.Detail != ""
	case operation.TurnEvidence:
		v.evidence(n, t.Detail)
	}
	v.durable(n, d)
	return n, nil
}

// unapply takes back an Apply that was claimed and not dispatched: the approval has to be given again, and everything is read again.
func unapply(n *status, c operation.Claim) {
	if c.Mutating {
		n.Approval, n.Place = none, placeResolve
	}
}

func (v *view) bound(n *status, d operation.Durable) {
	n.Identity, n.Epoch = v.state.Managers[v.manager].Identity, numberOf(d.Epoch)
	if d.Proof != nil {
		return
	}
	n.Plan, n.Approval, n.Place, n.InSync = published{}, none, placeResolve, false
}

func (v *view) evidence(n *status, what string) {
	switch what {
	case verdictRecord:
		n.Approval = v.candidate().UID
	case verdictRevoke:
		n.Approval = none
	case verdictRetract:
		n.Plan, n.Approval, n.Place = published{}, none, placeResolve
	}
}

// concluded writes what an operation gave.
func (v *view) concluded(n *status) {
	c, j := v.turn.Claim, v.turn.Judged
	k := numberOf(c.ID)
	log := &v.state.Slots[k]
	n.Trouble = false
	switch {
	case c.Mutating:
		n.Plan, n.Approval, n.Place, n.InSync = published{}, none, placeResolve, false
		if v.migration() {
			n.Place = placeObserve
			if j.Outcome == operation.Uncertain {
				n.Record = k
			}
		}
	case j.Outcome != operation.Succeeded:
	case n.Proof.Slot != none && j.Proved:
		n.InSync, n.Place = log.From == log.To, placeResolve
		if n.InSync {
			n.Applied, n.Place = n.Proof.Succeeded, placeDone
		}
	case n.Proof.Slot != none:
	default:
		v.learned(n, kindOf(c.Type), log)
	}
}

// learned writes the evidence of an ordinary reading.
func (v *view) learned(n *status, kind uint8, log *slot) {
	switch {
	case kind == opResolve:
		if n.Art != log.From {
			n.Plan, n.Approval, n.Applied, n.InSync = published{}, none, false, false
		}
		n.Art, n.Place = log.From, placeVerify
	case kind == opVerify:
		n.Place = placeObserve
	case kind == opObserve && !v.migration():
		n.Place = placePlan
	default:
		n.Place, n.InSync = placeDone, log.From == log.To
		if settles, _ := v.turn.Judged.Detail.(bool); n.InSync && settles {
			n.Record = none
		}
		n.InSync = n.InSync && n.Record == none
		if n.InSync || v.dirty(log) || n.Record != none {
			n.Plan, n.Approval = published{}, none
			return
		}
		if p := v.state.Managers[v.manager].Published; n.Plan != p {
			n.Plan, n.Approval = p, none
		}
	}
}

// durable writes the lifecycle's own half.
func (v *view) durable(n *status, d operation.Durable) {
	was := n.Claim
	n.Claim = claim{}
	if c := d.Claim; c != nil {
		k := numberOf(c.ID)
		if was.Slot == k && v.object.Status.Claim.Slot == k {
			n.Claim = was
		} else {
			n.Claim = claim{
				Slot: k, Type: kindOf(c.Type), Gen: v.object.Gen, Art: n.Art, Plan: n.Plan.UID, Approval: n.Approval,
				Again: c.Attempt > 1, Hold: c.Attempt > 1,
			}
		}
		m := &n.Claim
		m.Dispatched, m.Seen, m.Bind, m.Lease, m.Lost = c.Dispatched, c.JobUID != "", numberOf(c.BindingEpoch), numberOf(c.LeaseEpoch), c.ContinuityLost
		if snapshot := c.Snapshot != ""; snapshot != m.Snapshot {
			m.Snapshot, m.Age = snapshot, 0
		}
	}
	if p := d.Proof; p == nil {
		n.Proof = proof{}
	} else {
		if k := numberOf(p.OperationID); n.Proof.Slot != k {
			n.Proof = proof{Slot: k, Succeeded: v.turn.Judged.Outcome == operation.Succeeded}
			if rest := p.ObserveAfter.Sub(base); !p.ObserveAfter.IsZero() && rest > 0 {
				n.Proof.After = uint8((rest + tick - 1) / tick) //nolint:gosec // a handful of ticks
			}
		}
		n.Proof.Lease, n.Proof.PlanRequired = numberOf(p.LeaseEpoch), p.PlanRequired
	}
	n.Owed = release{}
	if o := d.Owed; o != nil {
		n.Owed = release{numberOf(o.OperationID), numberOf(o.Epoch)}
	}
}

// ago is when something happened that has this age.
func ago(age uint8) time.Time { return base.Add(-time.Duration(age) * tick) }

package lifecycle

import (
	"time"

	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/operation"
)

// view is one manager's look at the resource in one pass: the model's family. It is reused; a decision leaves nothing in it that matters.
type view struct {
	state   *State
	seen    State // the world at the decision; what is performed on may have moved
	object  object
	manager uint8
	fresh   operation.Part // parts that the API server answered for in this pass
	stale   bool           // the caches lag behind
	failing bool           // no read succeeds
	podless bool           // no read of Pods succeeds

	claim operation.Claim
	proof operation.Proof
	owed  operation.Release
	next  status // what Record rendered last
	turn  operation.Turn
	slot  uint8 // a free one, for a new claim
}

var _ operation.Family = (*view)(nil)

// realm is the one database of the model.
const realm = "realm"

func (v *view) migration() bool { return v.state.Family == familyMigration }

// Durable reads the lifecycle's facts out of the status.
func (v *view) Durable() operation.Durable {
	st := &v.object.Status
	d := operation.Durable{StateVersion: 1, BindingCurrent: st.Identity == v.state.Managers[v.manager].Identity}
	if st.Epoch != none {
		d.Epoch = epochNames[st.Epoch]
	}
	if st.Claim.Slot != none {
		v.claim = v.claimOf(st)
		d.Claim = &v.claim
	}
	if p := st.Proof; p.Slot != none {
		v.proof = operation.Proof{
			OperationID: slotNames[p.Slot], JobName: slotNames[p.Slot], Realm: realm, LeaseEpoch: epochNames[p.Lease],
			LeaseSeconds: leaseSeconds, PlanRequired: p.PlanRequired,
		}
		if p.After > 0 {
			v.proof.ObserveAfter = base.Add(time.Duration(p.After) * tick)
		}
		d.Proof = &v.proof
	}
	if r := st.Owed; r.Slot != none {
		v.owed = operation.Release{Realm: realm, Epoch: epochNames[r.Epoch], Seconds: leaseSeconds, OperationID: slotNames[r.Slot]}
		d.Owed = &v.owed
	}
	return d
}

const leaseSeconds = int32(leaseTicks * tick / time.Second)

// needsLease says which operations work under the realm's Lease.
func (v *view) needsLease(kind uint8) bool {
	return kind == opApply || kind == opPlan || v.object.Status.Proof.Slot != none
}

func (v *view) claimOf(st *status) operation.Claim {
	c := st.Claim
	out := operation.Claim{
		Type: kinds[c.Type], Mutating: c.Type == opApply, ID: slotNames[c.Slot], Attempt: 1, StartedAt: base, JobName: slotNames[c.Slot],
		Dispatched: c.Dispatched, Grace: grace, BindingEpoch: epochNames[c.Bind], Holder: slotNames[c.Slot], ContinuityLost: c.Lost,
	}
	if v.needsLease(c.Type) {
		out.Realm, out.LeaseSeconds = realm, leaseSeconds
	}
	if st.Proof.Slot != none {
		out.Holder = slotNames[st.Proof.Slot]
	}
	if c.Lease != none {
		out.LeaseEpoch = epochNames[c.Lease]
	}
	if c.Seen {
		out.JobUID = uidNames[c.Slot]
	}
	if c.Again {
		out.Attempt = 2
	}
	if c.Hold {
		out.NotBefore = base.Add(tick)
	}
	if c.Snapshot {
		out.Snapshot = "snapshot"
		if out.Mutating {
			out.DispatchNotAfter, out.ExecutionNotAfter = instant(windowTicks, c.Age), instant(deadlineTicks, c.Age)
		}
	}
	return out
}

// instant is when something is due that was set at an age of zero.
func instant(after, age uint8) time.Time { return base.Add(time.Duration(int(after)-int(age)) * tick) }

// Gate refuses nothing of its own.
func (v *view) Gate() operation.Gate { return operation.Gate{Recheck: tick} }

// Parting says nothing: the checker sees what is lost.
func (v *view) Parting() []operation.Note { return nil }

// RetainsProof tells the two families apart.
func (v *view) RetainsProof() bool { return !v.migration() }

// Settled reports whether the status says already what the turn would write.
func (v *view) Settled(t operation.Turn) bool {
	st := &v.object.Status
	switch t.Kind {
	case operation.TurnSuspended:
		return st.Park == parkSuspended && st.Gen == v.object.Gen
	case operation.TurnContested:
		return st.Park == parkContested && st.Gen == v.object.Gen
	case operation.TurnTrouble:
		return st.Trouble == (t.Detail != "")
	}
	return false
}

// Current compares what the claim was computed from with what holds now.
func (v *view) Current(operation.Claim) (ok bool, moved string) {
	st := &v.object.Status
	c := st.Claim
	if st.Proof.Slot != none {
		return c.Lease == st.Proof.Lease, "its inputs changed"
	}
	if c.Gen != v.object.Gen {
		return false, "its inputs changed"
	}
	if c.Type != opResolve && c.Art != st.Art {
		return false, "its artifact changed"
	}
	if c.Type == opApply && (c.Plan != st.Plan.UID || c.Approval != st.Approval) {
		return false, "its plan changed"
	}
	return true, ""
}

// Prepare foretells the Pod; an Apply's rests on the stored plan.
func (v *view) Prepare(c operation.Claim, now time.Time) operation.Preparation {
	if c.Mutating && v.fresh&operation.PartPlan == 0 {
		return operation.Preparation{Need: operation.PartPlan}
	}
	if v.failing {
		return operation.Preparation{Refused: "the admission objects cannot be read"}
	}
	c.Snapshot = "snapshot"
	if c.Mutating {
		c.DispatchNotAfter, c.ExecutionNotAfter = now.Add(windowTicks*tick), now.Add(deadlineTicks*tick)
	}
	return operation.Preparation{Claim: c}
}

// needsApproval follows from the policy.
func (v *view) needsApproval() bool { return !v.state.Always }

const applyParts = operation.PartPlan | operation.PartApprovals

// Authorize repeats what an Apply rests on.
func (v *view) Authorize(c operation.Claim) operation.Authorization {
	if need := applyParts &^ v.fresh; need != 0 {
		return operation.Authorization{Need: need}
	}
	if v.failing {
		return operation.Authorization{Uncertain: true}
	}
	if why := v.planProblem(); why != "" {
		return operation.Authorization{Revoked: why}
	}
	if !v.needsApproval() {
		return operation.Authorization{}
	}
	a := v.recorded()
	switch {
	case a == nil || a.Stale || a.Plan != v.object.Status.Plan.UID || a.Epoch != v.object.Status.Epoch:
		return operation.Authorization{Revoked: "the approval is gone"}
	case a.Consumed:
		return operation.Authorization{}
	case c.Dispatched:
		return operation.Authorization{Revoked: "the approval is not spent on this claim"}
	}
	return operation.Authorization{Consume: mark(a, approval.Spent)}
}

func mark(a *decision, outcome approval.Outcome) *operation.MarkStep {
	return &operation.MarkStep{Mark: operation.Mark{Name: uidNames[a.UID], UID: uidNames[a.UID], Verdict: approval.Verdict{Outcome: outcome}}}
}

// planProblem says why the recorded plan may not run.
func (v *view) planProblem() string {
	st := &v.object.Status
	switch {
	case st.Plan.UID == none || v.state.Stored != st.Plan:
		return "the stored plan is not the recorded one"
	case st.Plan.Epoch != st.Epoch:
		return "the plan was computed under other inputs"
	case st.Record != none:
		return "a run is not accounted for"
	}
	return ""
}

// recorded is the live approval that the status names.
func (v *view) recorded() *decision {
	for i := range v.state.Approvals {
		if a := &v.state.Approvals[i]; a.UID != none && a.UID == v.object.Status.Approval {
			return a
		}
	}
	return nil
}

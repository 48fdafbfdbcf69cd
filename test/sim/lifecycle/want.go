package lifecycle

import (
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
)

// Verdicts on stored evidence.
const (
	verdictRecord  = "record approval"
	verdictRevoke  = "revoke approval"
	verdictRetract = "retract plan"
)

// Want names what the evidence asks for, in the order of the contract: a refresh that is due comes before any approval is consumed.
func (v *view) Want() operation.Want {
	st := &v.object.Status
	if m := v.staleApproval(); m != nil {
		return operation.Want{Mark: m}
	}
	switch {
	case st.Gen != v.object.Gen || st.Art == none || st.Place == placeResolve || st.Park != parkNone || v.state.Due && st.Place == placeDone:
		return v.reserve(opResolve)
	case st.Place == placeVerify:
		return v.reserve(opVerify)
	case st.Place == placeObserve:
		return v.reserve(opObserve)
	case st.Place == placePlan:
		return v.reserve(opPlan)
	case st.InSync:
		return operation.Want{Why: "in sync"}
	case st.Plan.UID == none || st.Record != none:
		return operation.Want{Why: "no plan may run"}
	}
	return v.wantApply()
}

func (v *view) wantApply() operation.Want {
	st := &v.object.Status
	if v.needsApproval() && st.Approval == none && v.candidate() == nil {
		return operation.Want{Why: "waiting for an approval"}
	}
	if need := applyParts &^ v.fresh; need != 0 {
		return operation.Want{Need: need}
	}
	if v.failing {
		return operation.Want{Unknown: "reading the stored plan"}
	}
	if v.planProblem() != "" {
		return verdict(verdictRetract)
	}
	if v.needsApproval() {
		if st.Approval == none {
			if v.candidate() == nil {
				return operation.Want{Why: "waiting for an approval"}
			}
			return verdict(verdictRecord)
		}
		if a := v.recorded(); a == nil || a.Stale || a.Consumed || a.Plan != st.Plan.UID || a.Epoch != st.Epoch {
			return verdict(verdictRevoke)
		}
	}
	return v.reserve(opApply)
}

func verdict(what string) operation.Want {
	return operation.Want{Write: &operation.Turn{Kind: operation.TurnEvidence, Detail: what}}
}

// candidate is an undecided approval of exactly the recorded plan. A lagging cache has not seen the newest.
func (v *view) candidate() *decision {
	if v.stale && v.fresh&operation.PartApprovals == 0 {
		return nil
	}
	for i := range v.state.Approvals {
		a := &v.state.Approvals[i]
		if a.UID != none && !a.Consumed && !a.Stale && a.Plan == v.object.Status.Plan.UID && a.Epoch == v.object.Status.Epoch {
			return a
		}
	}
	return nil
}

// staleApproval finds a decision about a plan that is not current.
func (v *view) staleApproval() *operation.MarkStep {
	if v.failing {
		return nil
	}
	for i := range v.state.Approvals {
		a := &v.state.Approvals[i]
		if a.UID != none && !a.Stale && !a.Consumed && a.Plan != v.object.Status.Plan.UID {
			return mark(a, approval.Stale)
		}
	}
	return nil
}

func (v *view) reserve(kind uint8) operation.Want {
	c := v.claimFor(kind, 1)
	return operation.Want{Claim: &c}
}

func (v *view) claimFor(kind uint8, attempt int32) operation.Claim {
	st := &v.object.Status
	c := operation.Claim{
		Type: kinds[kind], Mutating: kind == opApply, ID: slotNames[v.slot], Attempt: attempt, StartedAt: base, JobName: slotNames[v.slot],
		BindingEpoch: epochNames[st.Epoch], Holder: slotNames[v.slot], Grace: grace,
	}
	if v.needsLease(kind) {
		c.Realm, c.LeaseSeconds = realm, leaseSeconds
	}
	if p := st.Proof; p.Slot != none {
		c.Holder, c.LeaseEpoch = slotNames[p.Slot], epochNames[p.Lease]
	}
	return c
}

// Prove reserves the next reading of a proof.
func (v *view) Prove(p operation.Proof) operation.Claim {
	if p.PlanRequired {
		return v.claimFor(opPlan, 1)
	}
	return v.claimFor(opObserve, 1)
}

// Retry reserves another attempt.
func (v *view) Retry(c operation.Claim) operation.Claim { return v.claimFor(kindOf(c.Type), 2) }

// Judge says what the evidence of an operation means.
func (v *view) Judge(c operation.Claim, e operation.Evidence) operation.Judgement {
	if c.Mutating {
		return v.judgeApply(c, e)
	}
	log := v.state.Slots[numberOf(c.ID)]
	if e.Kind != operation.EvidenceFrame || log.Log != logOK {
		return operation.Judgement{Outcome: operation.Failed, Again: true}
	}
	j := operation.Judgement{Outcome: operation.Succeeded}
	proving := v.object.Status.Proof.Slot != none
	switch {
	case proving && c.Type == intent.Plan:
		j.Proved = true
	case proving:
		j.Reading = true
	case v.object.Status.Record != none && c.Type != intent.Resolve && c.Type != intent.Verify:
		// A reading settles a retired run only once the Lease shows that nothing of it can write any more.
		if v.fresh&operation.PartLease == 0 {
			return operation.Judgement{Need: operation.PartLease}
		}
		j.Detail = !v.failing && !v.held(v.object.Status.Record)
	case v.plans(kindOf(c.Type)) && log.From != log.To && !v.dirty(&log) && v.state.Managers[v.manager].Published.UID == none:
		j.Publish = published{From: log.From, To: log.To, Epoch: v.object.Status.Epoch, Gen: v.object.Gen}
	}
	return j
}

// held reports whether the Lease is still a slot's, unexpired.
func (v *view) held(k uint8) bool { return v.state.Lease.Holder == k && v.state.Lease.Age < leaseTicks }

// dirty is a migration's history with a run in it that was not finished.
func (v *view) dirty(log *slot) bool { return v.migration() && log.From == dbHalf }

// plans says which reading yields a plan.
func (v *view) plans(kind uint8) bool {
	if v.migration() {
		return kind == opObserve && v.object.Status.Record == none
	}
	return kind == opPlan
}

func (v *view) judgeApply(c operation.Claim, e operation.Evidence) operation.Judgement {
	if e.Kind == operation.EvidenceNeverRan {
		return operation.Judgement{Outcome: operation.Failed}
	}
	if e.Kind == operation.EvidenceFrame {
		switch v.state.Slots[numberOf(c.ID)].Log {
		case logOK:
			return operation.Judgement{Outcome: operation.Succeeded}
		case logRefused:
			return operation.Judgement{Outcome: operation.Failed}
		}
	}
	j := operation.Judgement{Outcome: operation.Uncertain}
	if !e.Quiet {
		j.ObserveAfter = c.ExecutionNotAfter.Add(grace)
	}
	return j
}

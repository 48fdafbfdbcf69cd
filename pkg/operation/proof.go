package operation

// owedProof lets only the read-only operations of a standing proof happen. It outranks newer generations, phases and retries, and keeps
// the Apply's Lease all the while.
func owedProof(s *Snapshot, d Durable) Step {
	if d.Proof == nil {
		return nil
	}
	p := *d.Proof
	if step := bindingChange(s, d); step != nil {
		return step
	}
	if step := keepProofLease(s, d, p); step != nil {
		return step
	}
	if s.Resource.Suspended && (d.Claim == nil || (d.Claim.JobUID == "" && !jobThere(s))) {
		return heldProof(s, d, p)
	}
	if s.Now.Before(p.ObserveAfter) {
		return proofPause(s, p, "waiting until no Pod of the Apply can write any more")
	}
	if step := quietApply(s, d, p); step != nil {
		return step
	}
	if d.Claim != nil {
		if ok, moved := s.Family.Current(*d.Claim); !ok {
			return drop(s, d, *d.Claim, Turn{Kind: TurnDropped, Detail: moved})
		}
		return advance(s, d, *d.Claim)
	}
	return reserve(s, d, s.Family.Prove(p))
}

func jobThere(s *Snapshot) bool { return s.Job.State == Present && s.Job.Value.Exact }

// heldProof is a proof whose author asked for no new Jobs: the Lease stays, nothing else happens.
func heldProof(s *Snapshot, d Durable, p Proof) Step {
	t := Turn{Kind: TurnSuspended, Detail: "spec.suspend is true and a proof is owed"}
	if d.Claim != nil {
		return drop(s, d, *d.Claim, t)
	}
	if !s.Family.Settled(t) {
		return patch(s, d, t)
	}
	return proofPause(s, p, t.Detail)
}

// keepProofLease renews the Apply's acquisition. A broken one makes the proof begin again under a new epoch: what was read in between may
// be another operation's doing.
func keepProofLease(s *Snapshot, d Durable, p Proof) Step {
	if step := readLease(s); step != nil {
		return step
	}
	rel := relation(s.Lease, p.OperationID, s.Now)
	if rel == leaseOurs && s.Lease.Value.Epoch == p.LeaseEpoch {
		return renewal(s, p.Realm, p.OperationID, p.LeaseSeconds)
	}
	if d.Claim != nil {
		return drop(s, d, *d.Claim, Turn{
			Kind: TurnDropped, Detail: "the database Lease was not continuous",
			Evidence: Evidence{Kind: EvidenceInterrupted},
		})
	}
	switch rel {
	case leaseOurs:
		nd, np := d, p
		np.LeaseEpoch = s.Lease.Value.Epoch
		np.PlanRequired = false
		nd.Proof = &np
		return patch(s, nd, Turn{Kind: TurnRestarted, Detail: "the database Lease was not continuous"})
	case leaseFree:
		return acquire(s, p.Realm, p.OperationID, p.LeaseSeconds)
	}
	return contend(s, p.Realm)
}

// quietApply makes sure that no Pod of the Apply executes: one that appeared late holds a proof back, and voids one in flight.
func quietApply(s *Snapshot, d Durable, p Proof) Step {
	if s.ProofPods.State == Unknown {
		return wait(s, readRetry, "reading the Apply's Pods")
	}
	if s.ProofPods.State == Unread || (!s.ProofPods.Fresh && decisive(s, d)) {
		return ReadFresh{Parts: PartProofPods}
	}
	if stopped(s.ProofPods.Value) {
		return nil
	}
	if d.Claim != nil {
		return drop(s, d, *d.Claim, Turn{Kind: TurnDropped, Detail: "a Pod of the Apply is still there"})
	}
	return proofPause(s, p, "a Pod of the Apply is still there")
}

// decisive reports whether the pass may begin a reading or believe one: only then a cache is not enough. A reading is believed in the pass
// that records its outcome, after its Job's cleanup was scheduled.
func decisive(s *Snapshot, d Durable) bool {
	if d.Claim == nil {
		return true
	}
	read := s.Result.ClaimID == d.Claim.ID && s.Result.State != ResultUnread && s.Result.State != ResultReading
	return read && (s.Job.State != Present || s.Job.Value.Cleanup)
}

// abandonProof ends a proof because its resource is being deleted: not before nothing of the Apply can write.
func abandonProof(s *Snapshot, d Durable, p Proof) Step {
	if step := readLease(s); step != nil {
		return step
	}
	ours := acquired(s.Lease, p.OperationID)
	if ours {
		if step := renewal(s, p.Realm, p.OperationID, p.LeaseSeconds); step != nil {
			return step
		}
	}
	step := quietApply(s, d, p)
	if s.Now.Before(p.ObserveAfter) {
		step = proofPause(s, p, "waiting until no Pod of the Apply can write any more")
	}
	if _, waits := step.(Wait); waits && relation(s.Lease, p.OperationID, s.Now) == leaseFree {
		return acquire(s, p.Realm, p.OperationID, p.LeaseSeconds) // nobody gets in beside what may still write
	}
	if step != nil {
		return step
	}
	nd := d
	nd.Proof = nil
	if ours {
		nd.Owed = &Release{Realm: p.Realm, Epoch: s.Lease.Value.Epoch, Seconds: p.LeaseSeconds, OperationID: p.OperationID}
	}
	return patch(s, nd, Turn{Kind: TurnAbandonProof, Detail: "the resource is being deleted"})
}

func proofPause(s *Snapshot, p Proof, why string) Step {
	until := s.Now.Add(inFlightWait)
	if acquired(s.Lease, p.OperationID) {
		if at := s.Lease.Value.renewAt(); at.Before(until) {
			until = at
		}
	}
	if !p.ObserveAfter.IsZero() && s.Now.Before(p.ObserveAfter) && p.ObserveAfter.Before(until) {
		until = p.ObserveAfter
	}
	return waitUntil(s, until, inFlightWait, why)
}

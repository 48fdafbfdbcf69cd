package operation

import "time"

// advance carries one claimed operation on by one step, in the order that makes every crash survivable.
func advance(s *Snapshot, d Durable, c Claim) Step {
	if c.JobUID == "" && !c.Dispatched && s.Now.Before(c.NotBefore) {
		return waitUntil(s, c.NotBefore, idleWait, "waiting before the next attempt")
	}
	if c.Realm != "" && d.Proof == nil {
		if step := holdLease(s, d, c); step != nil {
			return step
		}
	}
	switch {
	case c.JobUID != "":
		return supervise(s, d, c)
	case c.Snapshot == "":
		return prepare(s, d, c)
	case c.Mutating:
		return dispatchOnce(s, d, c)
	}
	return dispatchAgain(s, d, c)
}

// holdLease acquires, adopts, renews, or records the loss of the realm's Lease. nil means that nothing about it stands in the way.
func holdLease(s *Snapshot, d Durable, c Claim) Step {
	if step := readLease(s); step != nil {
		return step
	}
	rel := relation(s.Lease, c.Holder, s.Now)
	running := c.Dispatched || c.JobUID != ""
	if rel == leaseOurs && (s.Lease.Value.Epoch == c.LeaseEpoch) {
		if !covers(s, c) {
			return cover(s, c)
		}
		return renewal(s, c.Realm, c.Holder, c.LeaseSeconds)
	}
	if !c.Mutating && c.LeaseEpoch != "" {
		// A reading that may have begun under the other epoch is worth nothing, and another one costs little.
		return drop(s, d, c, Turn{
			Kind: TurnDropped, Detail: "the database Lease was not continuous",
			Evidence: Evidence{Kind: EvidenceInterrupted},
		})
	}
	if running && !c.ContinuityLost {
		nd, nc := d, c
		nc.ContinuityLost = true
		nd.Claim = &nc
		return patch(s, nd, Turn{Kind: TurnInterrupted, Claim: c})
	}
	switch rel {
	case leaseOurs:
		nd, nc := d, c
		nc.LeaseEpoch = s.Lease.Value.Epoch
		if !c.Mutating {
			return prepare(s, d, nc) // one write for both: there is nothing to be lost between them
		}
		nd.Claim = &nc
		return patch(s, nd, Turn{Kind: TurnLeased, Claim: c})
	case leaseFree:
		return acquire(s, c.Realm, c.Holder, c.LeaseSeconds)
	}
	if running {
		return nil // stolen: nothing to hold, but the run is still supervised to its end
	}
	return contend(s, c.Realm)
}

// covers reports whether the Lease outlasts everything that the claim's deadlines allow to be written, even if nobody ever renews it again: a
// manager that dies right after the create must not let another resource in beside the Pod. One renewal after the deadlines were set is
// enough, because a Lease lasts longer than they do.
func covers(s *Snapshot, c Claim) bool {
	if c.ExecutionNotAfter.IsZero() {
		return true
	}
	l := s.Lease.Value
	lasts := l.RenewedAt.Add(time.Duration(c.LeaseSeconds) * time.Second)
	return !lasts.Before(c.ExecutionNotAfter.Add(c.Grace))
}

// cover renews a Lease that does not outlast the run. Where the renewal of a moment ago did not do it, the clock that set the deadlines was ahead
// of this one: nothing is dispatched until they agree, and nobody renews without a pause.
func cover(s *Snapshot, c Claim) Step {
	if s.Now.Sub(s.Lease.Value.RenewedAt) >= renewalPause {
		return RenewLease{Realm: c.Realm, Holder: c.Holder, Epoch: c.LeaseEpoch, Seconds: c.LeaseSeconds}
	}
	if c.JobUID != "" || (c.Dispatched && s.Permit != c.ID) {
		return nil // nothing is created on it any more
	}
	return wait(s, renewalPause, "the deadlines lie further ahead than the Lease lasts: the clock went back")
}

// acquire takes the realm for a claim or a proof that is still there: the Lease's write has no precondition on the resource, and a holder
// that no resource remembers would keep everybody out until it expires.
func acquire(s *Snapshot, realm, holder string, seconds int32) Step {
	if !s.Resource.Fresh {
		return ReadFresh{Parts: PartResource}
	}
	return AcquireLease{Realm: realm, Holder: holder, Epoch: "v1-" + s.Nonce, Seconds: seconds}
}

// contend waits for a realm that somebody else holds. Leases are not watched.
func contend(s *Snapshot, realm string) Step {
	w := waitUntil(s, s.Lease.Value.expiresAt(), contentionWait, "another operation holds the database Lease")
	w.Realm = realm
	return w
}

func renewal(s *Snapshot, realm, holder string, seconds int32) Step {
	if !s.Lease.Value.renewDue(s.Now) {
		return nil
	}
	return RenewLease{Realm: realm, Holder: holder, Epoch: s.Lease.Value.Epoch, Seconds: seconds}
}

// prepare stores the admission snapshot and the deadlines. The pass ends there on purpose: no Job can exist before they are durable.
func prepare(s *Snapshot, d Durable, c Claim) Step {
	p := s.Family.Prepare(c, s.Now)
	if p.Need != 0 {
		return ReadFresh{Parts: p.Need}
	}
	if p.Refused != "" {
		return trouble(s, d, c, p.Refused)
	}
	nd := d
	nd.Claim = &p.Claim
	return patch(s, nd, Turn{Kind: TurnPrepared, Claim: p.Claim, Judged: Judgement{Detail: p.Detail}})
}

// dispatchAgain creates a read-only Job, or adopts the one that is there.
func dispatchAgain(s *Snapshot, d Durable, c Claim) Step {
	if step := readJob(s); step != nil {
		return step
	}
	if s.Job.State == Present {
		if !s.Job.Value.Exact {
			return conclude(s, d, c, Evidence{Kind: EvidenceJobForeign, Detail: s.Job.Value.Mismatch})
		}
		return seen(s, d, c)
	}
	if step := refusedEffect(s, d, c); step != nil {
		return step
	}
	return CreateJob{Claim: c}
}

// refusedEffect says what the API server refused, once, and waits before the effect is tried again.
func refusedEffect(s *Snapshot, d Durable, c Claim) Step {
	step := heldBack(s, c)
	if step != nil && !s.Family.Settled(Turn{Kind: TurnTrouble, Claim: c, Detail: s.Refusal.Message}) {
		return trouble(s, d, c, s.Refusal.Message)
	}
	return step
}

// dispatchOnce leads a mutating claim over its one-shot boundary.
func dispatchOnce(s *Snapshot, d Durable, c Claim) Step {
	if c.Dispatched && s.Permit != c.ID {
		return resume(s, d, c)
	}
	if step := authorize(s, d, c); step != nil {
		return step
	}
	if !c.Dispatched {
		nd, nc := d, c
		nc.Dispatched = true
		nd.Claim = &nc
		step := patch(s, nd, Turn{Kind: TurnDispatching, Claim: nc}).(PatchStatus)
		step.Permit = c.ID
		return step
	}
	// While the permit is here no create was tried: what failed was building the Job.
	if step := refusedEffect(s, d, c); step != nil {
		return step
	}
	return CreateJob{Claim: c}
}

// authorize repeats on fresh reads everything that a mutating Job rests on. While this process holds the permit, or the marker is not
// written yet, nothing can have run: giving up is free.
func authorize(s *Snapshot, d Durable, c Claim) Step {
	if !s.Resource.Fresh {
		return ReadFresh{Parts: PartResource}
	}
	if step := readJob(s); step != nil {
		return step
	}
	if s.Census.State == Unknown {
		return wait(s, readRetry, "counting the realm's claimants")
	}
	if !s.Census.Fresh {
		return ReadFresh{Parts: PartCensus}
	}
	if why := unauthorized(s, d, c); why != "" {
		return drop(s, d, c, Turn{Kind: TurnRevoked, Detail: why, Evidence: Evidence{Kind: EvidenceNeverRan}})
	}
	if !s.Now.Before(c.DispatchNotAfter) {
		return expired(s, d, c)
	}
	a := s.Family.Authorize(c)
	switch {
	case a.Need != 0:
		return ReadFresh{Parts: a.Need}
	case a.Uncertain:
		return wait(s, readRetry, "reading what the Apply rests on")
	case a.Revoked != "":
		return drop(s, d, c, Turn{Kind: TurnRevoked, Detail: a.Revoked, Evidence: Evidence{Kind: EvidenceNeverRan}})
	case a.Consume != nil && !c.Dispatched:
		return markApproval(s, *a.Consume)
	case a.Consume != nil:
		return drop(s, d, c, Turn{
			Kind: TurnRevoked, Detail: "the approval is not spent by this claim",
			Evidence: Evidence{Kind: EvidenceNeverRan},
		})
	}
	return nil
}

// unauthorized lists what the lifecycle itself knows against a dispatch.
func unauthorized(s *Snapshot, d Durable, c Claim) string {
	switch {
	case s.Resource.Deleting:
		return "the resource is being deleted"
	case s.Resource.Suspended:
		return "spec.suspend is true"
	case !d.BindingCurrent || c.BindingEpoch != d.Epoch:
		return "the execution binding changed"
	case s.Census.Value.Contested:
		return "the realm is contested"
	case c.ContinuityLost:
		return "the database Lease was not continuous"
	case s.Job.State == Present:
		return "a Job that this claim did not create stands under its name"
	}
	if ok, moved := s.Family.Current(c); !ok {
		return moved
	}
	return ""
}

// expired handles a dispatch window that passed before a create was tried: an unmarked claim resolves its envelope anew, a marked one
// whose permit is still here is given up.
func expired(s *Snapshot, d Durable, c Claim) Step {
	if c.Dispatched {
		return drop(s, d, c, Turn{
			Kind: TurnRevoked, Detail: "the dispatch window passed before the Job was created",
			Evidence: Evidence{Kind: EvidenceNeverRan},
		})
	}
	nd, nc := d, c
	nc.Snapshot = ""
	nc.DispatchNotAfter, nc.ExecutionNotAfter = time.Time{}, time.Time{}
	nd.Claim = &nc
	return patch(s, nd, Turn{Kind: TurnPrepared, Claim: nc, Detail: "the dispatch window passed"})
}

// resume finds out what became of a create that somebody may have tried: the Job is adopted, or the outcome is unknown.
func resume(s *Snapshot, d Durable, c Claim) Step {
	if step := readJob(s); step != nil {
		return step
	}
	switch {
	case s.Job.State == Present && s.Job.Value.Exact:
		return seen(s, d, c)
	case s.Job.State == Present:
		return conclude(s, d, c, Evidence{Kind: EvidenceJobForeign, Detail: s.Job.Value.Mismatch})
	}
	return conclude(s, d, c, Evidence{Kind: EvidenceNeverSeen, Detail: "nobody knows whether the Job was created"})
}

func seen(s *Snapshot, d Durable, c Claim) Step {
	nd, nc := d, c
	nc.JobUID, nc.Dispatched = s.Job.Value.UID, true
	nd.Claim = &nc
	return patch(s, nd, Turn{Kind: TurnSeen, Claim: nc})
}

// trouble writes what keeps an operation from running, once, and then waits for the world.
func trouble(s *Snapshot, d Durable, c Claim, text string) Step {
	t := Turn{Kind: TurnTrouble, Claim: c, Detail: text}
	if !s.Family.Settled(t) {
		return patch(s, d, t)
	}
	return inFlightPause(s, c, text)
}

// inFlightPause waits for a watch, but not past the next renewal of a Lease.
func inFlightPause(s *Snapshot, c Claim, why string) Step {
	until := s.Now.Add(inFlightWait)
	if c.Realm != "" && acquired(s.Lease, c.Holder) { // when another holder renews is nothing to wait for
		if at := s.Lease.Value.renewAt(); at.Before(until) {
			until = at
		}
	}
	if why == "" {
		why = "the operation is running"
	}
	return waitUntil(s, until, inFlightWait, why)
}

func readJob(s *Snapshot) Step {
	switch {
	case s.Job.State == Unknown:
		return wait(s, readRetry, "reading the Job")
	case s.Job.State == Unread || !s.Job.Fresh:
		return ReadFresh{Parts: PartJob}
	}
	return nil
}

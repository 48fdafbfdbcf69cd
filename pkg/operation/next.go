// Package operation is the lifecycle of one operation, written once for every family and for reading and mutating operations alike:
// claim, Lease, admission snapshot, dispatch marker, the one create, supervision by UID, result, cleanup, outcome, proof, release.
// Next decides one step from one snapshot and touches nothing. Dying after any step is survivable: the next pass reads the durable facts
// and goes on, and a mutating Job is never created twice for one claim.
package operation

import "time"

// How long a pass leaves the world alone where no watch would wake it, or as the safety net under the watches that do.
const (
	readRetry      = 2 * time.Second  // a read failed
	renewalPause   = time.Second      // between two renewals that do not help
	contentionWait = 2 * time.Second  // somebody else holds the realm: Leases are not watched
	refusalRetry   = 5 * time.Second  // the API server refused an effect
	resultRetry    = 5 * time.Second  // a log could not be read
	inFlightWait   = 30 * time.Second // watches wake a running operation; this is their net
	idleWait       = 10 * time.Minute // nothing is due
	fenceWait      = time.Minute      // stored state is newer than this manager
)

// rule is one row of the order: nil passes the decision on to the next row.
type rule struct {
	name   string
	decide func(s *Snapshot, d Durable) Step
}

// order is the whole precedence: the first rule that answers wins.
var order = []rule{
	{"stored state newer than this manager", stateFence},
	{"lock release owed", owedRelease},
	{"dispatched mutating operation", dispatchedMutation},
	{"deletion", deletion},
	{"proof owed", owedProof},
	{"execution binding changed", bindingChange},
	{"suspension", suspension},
	{"unsupported engine", unsupported},
	{"contested realm", contested},
	{"operation in flight", inFlight},
	{"evidence", evidence},
}

// Next decides the one step that follows from a snapshot. It is total and deterministic.
func Next(s Snapshot) Step {
	d := s.Family.Durable()
	for _, r := range order {
		if step := r.decide(&s, d); step != nil {
			return step
		}
	}
	return wait(&s, idleWait, "nothing is due")
}

func stateFence(s *Snapshot, d Durable) Step {
	if d.StateVersion <= s.StateVersion {
		return nil
	}
	return wait(s, fenceWait, "the stored state was written by a newer manager")
}

// owedRelease hands a Lease back before anything else may happen. Exactly the owed acquisition is released; any other record means that
// it is released already.
func owedRelease(s *Snapshot, d Durable) Step {
	if d.Owed == nil {
		return nil
	}
	if step := readLease(s); step != nil {
		return step
	}
	held := acquired(s.Lease, d.Owed.OperationID) && s.Lease.Value.Epoch == d.Owed.Epoch
	if held {
		return ReleaseLease{Realm: d.Owed.Realm, Holder: d.Owed.OperationID, Epoch: d.Owed.Epoch}
	}
	nd := d
	nd.Owed = nil
	return patch(s, nd, Turn{Kind: TurnReleased})
}

func dispatchedMutation(s *Snapshot, d Durable) Step {
	if d.Claim == nil || !d.Claim.Mutating || !d.Claim.Dispatched {
		return nil
	}
	return advance(s, d, *d.Claim)
}

// deletion runs no SQL. Nothing that may write is left once this rule is reached with neither claim nor proof.
func deletion(s *Snapshot, d Durable) Step {
	if !s.Resource.Deleting {
		return nil
	}
	if d.Claim != nil {
		return drop(s, d, *d.Claim, Turn{Kind: TurnDeletionStop, Detail: "the resource is being deleted"})
	}
	if d.Proof != nil {
		return abandonProof(s, d, *d.Proof)
	}
	if s.Resource.Finalizer {
		return RemoveFinalizer{Notes: s.Family.Parting()}
	}
	return wait(s, idleWait, "the object is being deleted")
}

// bindingChange retires everything that rests on another manager, executor or runner, in one patch with the new epoch.
func bindingChange(s *Snapshot, d Durable) Step {
	if d.BindingCurrent {
		return nil
	}
	nd := d
	nd.Epoch = "v1-" + s.Nonce
	nd.BindingCurrent = true
	if d.Claim == nil {
		return patch(s, nd, Turn{Kind: TurnBound})
	}
	return drop(s, nd, *d.Claim, Turn{Kind: TurnBound, Detail: "the execution binding changed"})
}

func suspension(s *Snapshot, d Durable) Step {
	if !s.Resource.Suspended {
		return nil
	}
	return parked(s, d, Turn{Kind: TurnSuspended, Detail: "spec.suspend is true"}, nil, idleWait)
}

func unsupported(s *Snapshot, d Durable) Step {
	gate := s.Family.Gate()
	if !gate.Unsupported {
		return nil
	}
	return parked(s, d, Turn{Kind: TurnUnsupported, Detail: gate.Detail}, gate.Mark, idleWait)
}

// contested refuses a realm that somebody else claims too. Another resource's edit raises no event here, so the census is retaken on a
// bounded cadence.
func contested(s *Snapshot, d Durable) Step {
	switch s.Census.State {
	case Unread:
		return ReadFresh{Parts: PartCensus}
	case Unknown:
		return wait(s, readRetry, "counting the realm's claimants")
	}
	if !s.Census.Value.Contested {
		return nil
	}
	gate := s.Family.Gate()
	return parked(s, d, Turn{Kind: TurnContested, Census: s.Census.Value, Detail: "the realm is contested"}, nil, gate.Recheck)
}

// parked holds a resource still: whatever is not dispatched is given up, the refusal is written once, the finalizer goes.
func parked(s *Snapshot, d Durable, t Turn, mark *MarkStep, recheck time.Duration) Step {
	if d.Claim != nil {
		return drop(s, d, *d.Claim, t)
	}
	if !s.Family.Settled(t) {
		return patch(s, d, t)
	}
	if mark != nil {
		return markApproval(s, *mark)
	}
	if s.Resource.Finalizer {
		return RemoveFinalizer{}
	}
	return wait(s, recheck, t.Detail)
}

// inFlight finishes what is claimed, or gives it up because its inputs moved.
func inFlight(s *Snapshot, d Durable) Step {
	if d.Claim == nil {
		return nil
	}
	if ok, moved := s.Family.Current(*d.Claim); !ok {
		return drop(s, d, *d.Claim, Turn{Kind: TurnDropped, Detail: moved})
	}
	return advance(s, d, *d.Claim)
}

// evidence asks the family what the stored evidence calls for.
func evidence(s *Snapshot, d Durable) Step {
	w := s.Family.Want()
	switch {
	case w.Need != 0:
		return ReadFresh{Parts: w.Need}
	case w.Unknown != "":
		return wait(s, readRetry, w.Unknown)
	case w.Mark != nil:
		return markApproval(s, *w.Mark)
	case w.Claim != nil:
		return reserve(s, d, *w.Claim)
	case w.Write != nil:
		return patch(s, d, *w.Write)
	case s.Resource.Finalizer:
		return RemoveFinalizer{}
	}
	return waitUntil(s, w.Until, idleWait, w.Why)
}

// markApproval judges an approval by the resource as it is: a mark carries no precondition on the resource, so a stale copy of it could
// retire a decision about a newer plan.
func markApproval(s *Snapshot, m MarkStep) Step {
	if !s.Resource.Fresh {
		return ReadFresh{Parts: PartResource}
	}
	return MarkApproval(m)
}

// reserve writes a claim; the finalizer stands before it, so that nothing active is ever lost with the object. A reading that waits for no
// Lease takes its admission snapshot along: one write instead of two, and nothing can exist before either.
func reserve(s *Snapshot, d Durable, c Claim) Step {
	if !s.Resource.Finalizer {
		return AddFinalizer{}
	}
	nd, t := d, Turn{Kind: TurnClaimed, Claim: c}
	nd.Claim = &c
	if !c.Mutating && (c.Realm == "" || d.Proof != nil) {
		p := s.Family.Prepare(c, s.Now)
		if p.Need != 0 {
			return ReadFresh{Parts: p.Need}
		}
		if p.Refused == "" { // a refusal is said once the claim stands
			nd.Claim, t.Judged = &p.Claim, Judgement{Detail: p.Detail}
		}
	}
	return patch(s, nd, t)
}

// drop gives up a claim that cannot have changed anything: its Job gets its time to live, its Lease is staged for release in the same
// patch that removes the claim.
func drop(s *Snapshot, d Durable, c Claim, t Turn) Step {
	if step := cleanup(s, c); step != nil && !s.Resource.Deleting {
		return step
	}
	nd := d
	nd.Claim = nil
	if c.Realm != "" && d.Proof == nil {
		if step := readLease(s); step != nil {
			return step
		}
		if acquired(s.Lease, c.Holder) {
			nd.Owed = owe(c, s.Lease.Value.Epoch)
		}
	}
	t.Claim = c
	return patch(s, nd, t)
}

func owe(c Claim, epoch string) *Release {
	return &Release{Realm: c.Realm, Epoch: epoch, Seconds: c.LeaseSeconds, OperationID: c.Holder}
}

// cleanup schedules the removal of a claim's Job, where the cache shows one without a time to live.
func cleanup(s *Snapshot, c Claim) Step {
	if s.Job.State != Present || s.Job.Value.Cleanup || !s.Job.Value.Exact {
		return nil
	}
	if c.JobUID != "" && c.JobUID != s.Job.Value.UID {
		return nil
	}
	if step := heldBack(s, c); step != nil {
		return step
	}
	return ScheduleCleanup{JobName: c.JobName, JobUID: s.Job.Value.UID}
}

// readLease makes sure that the API server itself answered for the realm's Lease.
func readLease(s *Snapshot) Step {
	switch {
	case s.Lease.State == Unknown:
		return wait(s, readRetry, "reading the database Lease")
	case s.Lease.State == Unread || !s.Lease.Fresh:
		return ReadFresh{Parts: PartLease}
	}
	return nil
}

// heldBack waits out the API server's last refusal of an effect of this claim.
func heldBack(s *Snapshot, c Claim) Step {
	if s.Refusal.ClaimID != c.ID {
		return nil
	}
	until := s.Refusal.At.Add(refusalRetry)
	if !s.Now.Before(until) || s.Refusal.At.After(s.Now) {
		return nil
	}
	return Wait{Until: until, Reason: s.Refusal.Message}
}

func patch(s *Snapshot, d Durable, t Turn) Step {
	status, notes := s.Family.Record(d, t)
	return PatchStatus{Status: status, Reason: string(t.Kind), Notes: notes}
}

func wait(s *Snapshot, d time.Duration, why string) Wait {
	return Wait{Until: s.Now.Add(d), Reason: why}
}

// waitUntil waits for an instant, but never longer than a bound and never not at all.
func waitUntil(s *Snapshot, until time.Time, bound time.Duration, why string) Wait {
	latest := s.Now.Add(bound)
	if until.IsZero() || until.After(latest) {
		until = latest
	}
	if earliest := s.Now.Add(100 * time.Millisecond); until.Before(earliest) {
		until = earliest
	}
	return Wait{Until: until, Reason: why}
}

package operation

import (
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// podPatience is how long a Job may have no Pod before somebody asks why.
const podPatience = 6 * time.Second

// supervise watches a created Job by its UID until its outcome can be told, and accounts for it.
func supervise(s *Snapshot, d Durable, c Claim) Step {
	j := s.Job
	if j.State != Present || j.Value.UID != c.JobUID {
		if step := readJob(s); step != nil {
			return step
		}
		return conclude(s, d, c, Evidence{Kind: EvidenceJobGone, Detail: "the Job is gone"})
	}
	if !j.Value.Exact {
		return conclude(s, d, c, Evidence{Kind: EvidenceJobForeign, Detail: j.Value.Mismatch, Job: j.Value})
	}
	if !j.Value.Terminal {
		return running(s, d, c)
	}
	return account(s, d, c)
}

// running says what keeps the Pod from starting, while it is kept, and otherwise waits.
func running(s *Snapshot, d Durable, c Claim) Step {
	text := s.Job.Value.Trouble
	for _, p := range s.Pods.Value {
		if p.Trouble != "" {
			text = p.Trouble
		}
	}
	step := trouble(s, d, c, text)
	look := s.Job.Value.Created.Add(podPatience)
	if w, pausing := step.(Wait); pausing && text == "" && s.Pods.State == Absent && s.Now.Before(look) {
		return waitUntil(s, minTime(w.Until, look), podPatience, w.Reason)
	}
	return step
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// account reads the result of a terminal Job. Its Pods must have stopped: a Job can end before its Pod does.
func account(s *Snapshot, d Durable, c Claim) Step {
	read := s.Result.ClaimID == c.ID && s.Result.State == ResultFrame
	if step := readPods(s, c, read); step != nil {
		return step
	}
	pods := s.Pods.Value
	if s.Pods.State == Present && !stopped(pods) {
		return inFlightPause(s, c, "the Job ended and its Pod is stopping")
	}
	// A Pod that is gone from the API proves nothing about its container: a deletion without grace leaves it running for a while.
	quiet := read || (s.Pods.State == Present && len(pods) > 0)
	if made := s.Job.Value.Made; made > 1 {
		quiet = len(pods) >= made // what one Pod says is no word about the other
	}
	ev := Evidence{Pods: pods, Job: s.Job.Value, Quiet: quiet, Result: s.Result}
	switch {
	case s.Job.Value.Made > 1 || (s.Pods.State == Present && len(pods) > 1):
		ev.Kind, ev.Detail = EvidenceManyPods, "the Job made more than one Pod"
	case s.Pods.State == Present && len(pods) == 1 && !pods[0].Accepted:
		ev.Kind, ev.Detail = EvidenceManyPods, pods[0].Mismatch
	case c.ContinuityLost:
		ev.Kind, ev.Detail = EvidenceInterrupted, "the database Lease was not continuous"
	case read:
		ev.Kind = EvidenceFrame
	case s.Pods.State == Absent || len(pods) == 0:
		ev.Kind, ev.Detail = EvidenceLost, lostPod(s.Job.Value)
	default:
		if step := readResult(s, c, pods[0]); step != nil {
			return step
		}
		ev.Kind, ev.Detail = EvidenceLost, s.Result.Failure
	}
	return conclude(s, d, c, ev)
}

func lostPod(j Job) string {
	if j.DeadlineExceeded {
		return "the Job ran into its deadline"
	}
	return "the Job ended and its Pod is gone"
}

// readPods asks the API server itself wherever the cache proves nothing: for a mutating operation, and before a Pod is called gone.
func readPods(s *Snapshot, c Claim, read bool) Step {
	if s.Pods.State == Unknown {
		return wait(s, readRetry, "reading the operation's Pods")
	}
	if s.Pods.Fresh || (s.Pods.State == Present && !c.Mutating) || (read && !c.Mutating) {
		return nil
	}
	return ReadFresh{Parts: PartPods}
}

// readResult starts or awaits the reading of the log. A read that timed out or failed decides nothing and is tried again.
func readResult(s *Snapshot, c Claim, p Pod) Step {
	if s.Result.ClaimID != c.ID {
		return ReadResult{Claim: c, Pod: p}
	}
	switch s.Result.State {
	case ResultUnread:
		return ReadResult{Claim: c, Pod: p}
	case ResultReading:
		return inFlightPause(s, c, "the result is being read")
	case ResultTimedOut, ResultFailed:
		again := s.Result.At.Add(resultRetry)
		if s.Now.Before(again) && !s.Result.At.After(s.Now) {
			return waitUntil(s, again, resultRetry, "the result could not be read")
		}
		step := ReadResult{Claim: c, Pod: p}
		if s.Result.State == ResultTimedOut {
			step.Notes = []Note{{Event: v1alpha1.EventResultReadTimedOut, Warning: true, Message: "reading the result of Job " + c.JobName + " took too long; it is read again"}}
		}
		return step
	}
	return nil
}

// conclude accounts for an operation: publish what has to be stored, schedule the Job's removal, then claim out and record in, in one
// patch. A Lease that nobody needs any more is staged for release in that same patch.
func conclude(s *Snapshot, d Durable, c Claim, ev Evidence) Step {
	j := s.Family.Judge(c, ev)
	if j.Need != 0 {
		return ReadFresh{Parts: j.Need}
	}
	if j.Publish != nil {
		if step := refusedEffect(s, d, c); step != nil {
			return step
		}
		return PublishPlan{Plan: j.Publish}
	}
	if leavesLease(s, c, ev, j) && s.Resource.Deleting {
		return inFlightPause(s, c, "waiting until nothing of this operation can write any more")
	}
	return outcome(s, d, c, ev, j)
}

// leavesLease reports whether a retired run may still be writing and no proof keeps its Lease. The record comes at once then and the Lease
// stays where it is: it lasts longer than the run can, shows for how long that may be, and then expires by itself.
func leavesLease(s *Snapshot, c Claim, ev Evidence, j Judgement) bool {
	return c.Mutating && !s.Family.RetainsProof() && j.Outcome == Uncertain && !ev.Quiet && s.Now.Before(c.ExecutionNotAfter.Add(c.Grace))
}

func outcome(s *Snapshot, d Durable, c Claim, ev Evidence, j Judgement) Step {
	if step := cleanup(s, c); step != nil && !s.Resource.Deleting {
		return step
	}
	nd := d
	nd.Claim = nil
	switch {
	case c.Mutating && s.Family.RetainsProof() && (j.Outcome == Succeeded || j.Outcome == Uncertain):
		nd.Proof = proofOf(c, j)
	case d.Proof != nil && j.Proved:
		nd.Proof = nil
		nd.Owed = &Release{Realm: d.Proof.Realm, Epoch: d.Proof.LeaseEpoch, Seconds: d.Proof.LeaseSeconds, OperationID: d.Proof.OperationID}
	case d.Proof != nil:
		p := *d.Proof
		p.PlanRequired = p.PlanRequired || j.Reading
		nd.Proof = &p
	case c.Realm != "" && c.LeaseEpoch != "" && !leavesLease(s, c, ev, j):
		nd.Owed = owe(c, c.LeaseEpoch)
	}
	if j.Again && !c.Mutating {
		again := s.Family.Retry(c)
		nd.Claim = &again
	}
	return patch(s, nd, Turn{Kind: TurnConcluded, Claim: c, Evidence: ev, Judged: j})
}

func proofOf(c Claim, j Judgement) *Proof {
	return &Proof{
		OperationID: c.ID, JobName: c.JobName, JobUID: c.JobUID,
		Realm: c.Realm, LeaseEpoch: c.LeaseEpoch, LeaseSeconds: c.LeaseSeconds,
		ObserveAfter: j.ObserveAfter,
	}
}

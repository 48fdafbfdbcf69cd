package operation

import (
	"time"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

// State says how much is known about one part of the world.
type State uint8

// The states of a part. Unknown is never treated as Absent: a read that failed proves nothing.
const (
	Unread  State = iota // nobody looked in this pass
	Unknown              // a read was tried and failed
	Absent               // a read found nothing
	Present              // a read found the value
)

// Known is one part of the world together with how it is known. Fresh says that the API server itself answered in this pass;
// without it the value comes from a watch cache and may be any older version.
type Known[T any] struct {
	State State
	Fresh bool
	Value T
}

// Part names what a decision may ask to be read directly from the API server before it is taken again.
type Part uint16

// The parts of the world. A Part is a bit, so that one step can ask for several.
const (
	PartResource  Part = 1 << iota // the resource itself
	PartJob                        // the Job under the claim's reserved name
	PartPods                       // the Pods that this Job owns
	PartProofPods                  // the Pods that the Apply Job of a standing proof owns
	PartLease                      // the database Lease of the realm
	PartCensus                     // every claimant of the realm
	PartAdmission                  // what the built-in Pod admission would add
	PartPolicy                     // the verification policy object
	PartPlan                       // the recorded plan and its chunks
	PartApprovals                  // the approvals of the resource
)

// Snapshot is everything that one decision is taken on: plain values, read before, nothing read after.
type Snapshot struct {
	Now time.Time
	// Nonce is a fresh random text of this pass: the only source of identifiers in the decision.
	Nonce string
	// StateVersion is the newest stored state that this manager understands.
	StateVersion int64

	Resource Resource
	Family   Family

	Job       Known[Job]
	Pods      Known[[]Pod]
	ProofPods Known[[]Pod]
	Lease     Known[Lease]
	Census    Known[Census]
	Result    Result

	// Permit is the ID of the claim whose dispatch marker this very process wrote and for which it has not tried a create yet. It lives
	// in memory only: after a crash nobody holds it, and a marked claim without a Job is an unknown outcome.
	Permit string
	// Refusal is this process's memory of the last effect that the API server refused; it keeps a permanent refusal from spinning.
	Refusal Refusal
}

// Resource is what the lifecycle itself needs to know about the object.
type Resource struct {
	UID        string
	Generation int64
	Fresh      bool // read from the API server in this pass
	Deleting   bool
	Finalizer  bool // ours is present
	Suspended  bool
}

// Claim is the durable reservation of one operation: written before its Job exists, removed in the patch that records its outcome.
type Claim struct {
	Type      intent.Operation
	Mutating  bool
	ID        string
	Attempt   int32
	StartedAt time.Time
	// NotBefore holds a retry back; zero on a first attempt.
	NotBefore time.Time
	Inputs    string // digest of everything the claim was computed from
	JobName   string
	JobUID    string

	Dispatched        bool // marker: the one permitted create may have been tried
	DispatchNotAfter  time.Time
	ExecutionNotAfter time.Time
	Grace             time.Duration // of the Pod

	BindingEpoch string
	// Realm is the coordination digest whose Lease the operation holds; empty where it needs none. Holder is the identity under which
	// the Lease is held: the claim's own ID, or the Apply's ID for an operation of a proof.
	Realm          string
	Holder         string
	LeaseEpoch     string
	LeaseSeconds   int32
	ContinuityLost bool

	Snapshot string // digest of the persisted admission snapshot; empty while there is none
}

// Proof is a reading that is owed after an Apply. While it stands the realm's Lease stays with the Apply's holder.
type Proof struct {
	OperationID string // of the Apply; the Lease holder
	JobName     string
	JobUID      string

	Realm        string
	LeaseEpoch   string
	LeaseSeconds int32

	// ObserveAfter is the earliest reading where the Job's creation or identity is uncertain; zero where it is certain.
	ObserveAfter time.Time
	PlanRequired bool // the raw reading is done
}

// Release is a Lease that has to be handed back before anything else happens.
type Release struct {
	Realm       string
	Epoch       string
	Seconds     int32
	OperationID string
}

// Durable is what the stored status says about the lifecycle. A claim or a record: never both for one Apply, never neither.
type Durable struct {
	StateVersion int64 // newest controller-state version stamped anywhere in the status; 0 where none is
	Epoch        string
	// BindingCurrent is false where the stored execution binding is absent or names another manager, executor or runner.
	BindingCurrent bool
	Claim          *Claim
	Proof          *Proof
	Owed           *Release
}

// Job is the Job under a claim's reserved name.
type Job struct {
	UID      string
	Exact    bool   // controlled by exactly this resource, and nothing but what the claim would create
	Mismatch string // why not Exact, for a person
	Terminal bool   // carries Complete or Failed
	Succeeded,
	DeadlineExceeded bool
	Cleanup bool // a TTL is set
	Created time.Time
	// Made is how many Pods the Job controller counted: more than are there to be seen where one is gone from the API.
	Made int
	// Trouble says why no Pod could be made, for a person; empty while there is none.
	Trouble string
}

// Pod is one Pod that a Job owns.
type Pod struct {
	Name     string
	UID      string
	Accepted bool   // matches the persisted envelope
	Mismatch string // why not Accepted, for a person
	Stopped  bool   // every container terminated, or never can start: nothing in it executes any more
	// Container whose log holds the frame: the first failed init container, or the main one.
	Container string
	// Trouble says why the Pod does not start, for a person, in words that do not change between two looks; empty while there is none.
	Trouble string
}

// Lease is the record of a realm.
type Lease struct {
	Holder    string
	Epoch     string
	Seconds   int32
	RenewedAt time.Time
	// FirstSeen is when this process first saw exactly this record: another node's clock decides nothing.
	FirstSeen time.Time
}

// Census is what the resources that claim a realm add up to.
type Census struct {
	Contested  bool
	Claimants  int
	Undeclared int
}

// ResultState says how far the reading of an operation's log is.
type ResultState uint8

// States of a result.
const (
	ResultUnread   ResultState = iota
	ResultReading              // in flight, off the reconcile path
	ResultTimedOut             // ran into its own deadline; decides nothing
	ResultFailed               // the read failed for now; decides nothing
	ResultLost                 // the log is gone for good
	ResultInvalid              // the log is there and holds no frame of this operation
	ResultFrame
)

// Result is what the log of a claim's Pod gave.
type Result struct {
	State   ResultState
	ClaimID string
	Failure string // for a person; written by us
	Frame   frame.Frame
	At      time.Time // when the state was reached
}

// Refusal is an effect that the API server refused for a reason that time alone may not cure.
type Refusal struct {
	ClaimID string
	At      time.Time
	Message string // for a person; written by us from the status reason, never a pass-through of a body
}

// leaseRelation says whose a Lease is from the point of view of one holder.
type leaseRelation uint8

const (
	leaseOurs leaseRelation = iota
	leaseFree
	leaseForeign
)

// relation judges the realm's Lease for a holder. An absent or released record is free; a foreign one is free only after its own duration
// has passed since this process first saw it unchanged. Our own record stays ours after it expired: nobody else took it in between. One that
// bears our name and no epoch is not ours: somebody changed it, and no acquisition can be renewed or handed back under it.
func relation(lease Known[Lease], holder string, now time.Time) leaseRelation {
	if lease.State == Absent || lease.Value.Holder == "" {
		return leaseFree
	}
	if acquired(lease, holder) {
		return leaseOurs
	}
	if !now.Before(lease.Value.expiresAt()) {
		return leaseFree
	}
	return leaseForeign
}

// acquired reports whether the realm's record is an acquisition of a holder.
func acquired(lease Known[Lease], holder string) bool {
	return lease.State == Present && lease.Value.Holder == holder && lease.Value.Epoch != ""
}

// expiresAt is when a foreign holder is out of time. A record without a duration is not one of ours and never expires by itself.
func (l Lease) expiresAt() time.Time {
	if l.Seconds <= 0 {
		return l.FirstSeen.AddDate(100, 0, 0)
	}
	return l.FirstSeen.Add(time.Duration(l.Seconds) * time.Second)
}

// renewAt is when a third of the Lease is used up, so that two renewals may fail before it expires.
func (l Lease) renewAt() time.Time {
	return l.RenewedAt.Add(time.Duration(l.Seconds) * time.Second / 3)
}

func (l Lease) renewDue(now time.Time) bool {
	// A renewal from the future is a clock that jumped back: write the present one.
	return !now.Before(l.renewAt()) || l.RenewedAt.After(now.Add(time.Minute))
}

// stopped reports whether nothing in these Pods can execute any more.
func stopped(pods []Pod) bool {
	for i := range pods {
		if !pods[i].Stopped {
			return false
		}
	}
	return true
}

package operation

import (
	"time"

	"github.com/ptah-run/ptah/pkg/intent"
)

// Family is what a resource kind adds to the lifecycle: its inputs and its verdicts. It is a pure value made for one snapshot and says
// nothing about order. A verdict that cannot be given yet names the parts it Needs.
type Family interface {
	// Durable reads the lifecycle's facts out of the stored status.
	Durable() Durable
	// Record writes the lifecycle's facts back, together with the phase, conditions and records that the turn stands for.
	Record(d Durable, t Turn) (Status, []Note)

	// Gate judges what lies outside any operation: an unsupported engine.
	Gate() Gate
	// Settled reports whether the stored status already says what the turn would write, so that nothing is written twice.
	Settled(t Turn) bool

	// Current reports whether a claim still rests on the inputs that it was computed from; the text says what moved.
	Current(c Claim) (ok bool, moved string)
	// Prepare resolves the admission snapshot and the deadlines of a claim.
	Prepare(c Claim, now time.Time) Preparation
	// Authorize repeats, on fresh reads, everything that a mutating claim rests on.
	Authorize(c Claim) Authorization
	// Judge says what the evidence of a finished operation means.
	Judge(c Claim, e Evidence) Judgement
	// Want names what the evidence in the status asks for once nothing is in flight.
	Want() Want
	// Prove reserves the next read-only operation of a standing proof.
	Prove(p Proof) Claim
	// Retry reserves another attempt of a read-only operation that failed.
	Retry(c Claim) Claim
	// Parting says what is lost with the object when its finalizer goes.
	Parting() []Note
	// RetainsProof reports whether an Apply leaves a proof that keeps the Lease (a schema), or whether its Lease goes back as soon as
	// nothing can write any more (a migration).
	RetainsProof() bool
}

// Gate is a refusal that precedes every operation.
type Gate struct {
	Unsupported bool
	Detail      string
	// Mark is an approval that the refusal retires.
	Mark *MarkStep
	// Recheck is how long a contested realm may be left alone.
	Recheck time.Duration
}

// MarkStep is a mark and what is said about it.
type MarkStep struct {
	Mark  Mark
	Notes []Note
}

// Preparation is the outcome of resolving a claim's admission envelope.
type Preparation struct {
	Need    Part
	Claim   Claim  // with Snapshot and deadlines set
	Detail  any    // the snapshot itself, handed back to Record
	Refused string // why no Pod may be dispatched, for a person
}

// Authorization is the last judgement before a mutating Job.
type Authorization struct {
	Need Part
	// Revoked says why the claim may not run; empty while it may.
	Revoked string
	// Consume spends the approval; nil where it is spent by this claim already, or none is needed.
	Consume *MarkStep
	// Uncertain says that a part could not be read.
	Uncertain bool
}

// EvidenceKind says how an operation ended, as far as anybody can tell.
type EvidenceKind uint8

// Kinds of evidence.
const (
	EvidenceFrame       EvidenceKind = iota // a whole frame of this operation
	EvidenceNeverRan                        // no create was tried; nothing can have run
	EvidenceLost                            // the log or the Pod is gone, or holds no frame
	EvidenceJobGone                         // the Job vanished
	EvidenceJobForeign                      // something else stands under the name, or the Job was changed
	EvidenceManyPods                        // more than one Pod, or one that is not ours
	EvidenceNeverSeen                       // the create's fate is unknown
	EvidenceInterrupted                     // the database Lease was not continuous
)

// Evidence is what a finished operation left behind.
type Evidence struct {
	Kind   EvidenceKind
	Detail string // for a person
	Result Result // with EvidenceFrame
	Pods   []Pod
	Job    Job
	// Quiet says that nothing of this operation can execute any more, as read from the API server.
	Quiet bool
}

// Outcome is what a finished operation means to the lifecycle.
type Outcome uint8

// Outcomes. Only a mutating operation can be Uncertain.
const (
	Succeeded Outcome = iota
	Refused           // a deliberate answer that stands until an input changes
	Failed            // worth another attempt; nothing was changed
	Uncertain         // may have changed the database
)

// Judgement is a family's verdict on evidence.
type Judgement struct {
	Need    Part
	Outcome Outcome
	// Publish is a plan that has to be stored before the outcome is recorded.
	Publish any
	// Proved ends the standing proof; Reading only marks its raw reading as done.
	Proved, Reading bool
	// ObserveAfter holds the proof of an uncertain Apply back.
	ObserveAfter time.Time
	// Again asks for another attempt of the same operation.
	Again bool
	// Status-relevant verdict, opaque to the lifecycle and handed back to Record.
	Detail any
}

// TurnKind names a durable write of the lifecycle.
type TurnKind string

// Turns. The names appear in logs and as failpoints.
const (
	TurnBound        TurnKind = "binding"      // a new execution binding epoch
	TurnClaimed      TurnKind = "claim"        // an operation reserved
	TurnLeased       TurnKind = "lease-epoch"  // the claim learned its Lease epoch
	TurnPrepared     TurnKind = "snapshot"     // admission snapshot and deadlines stored
	TurnDispatching  TurnKind = "dispatch"     // the marker before the one create
	TurnSeen         TurnKind = "job-uid"      // the Job's identity stored
	TurnInterrupted  TurnKind = "continuity"   // the Lease was not continuous
	TurnTrouble      TurnKind = "trouble"      // something keeps the operation from running, or no longer does
	TurnConcluded    TurnKind = "outcome"      // claim out, record in
	TurnDropped      TurnKind = "dropped"      // an undispatched or read-only claim given up
	TurnRestarted    TurnKind = "proof-again"  // the proof begins again under a new Lease epoch
	TurnReleased     TurnKind = "released"     // the owed release is done
	TurnSuspended    TurnKind = "suspended"    // the author's wish is acknowledged
	TurnUnsupported  TurnKind = "unsupported"  // the engine is not implemented
	TurnContested    TurnKind = "contested"    // the realm has another claimant
	TurnAbandonProof TurnKind = "proof-ended"  // deletion gave the proof up
	TurnEvidence     TurnKind = "evidence"     // a family's own verdict on stored evidence
	TurnRest         TurnKind = "rest"         // nothing to write
	TurnFinalizer    TurnKind = "finalizer"    // not a status write
	TurnProofWaits   TurnKind = "proof-waits"  // the proof owed is held back
	TurnRevoked      TurnKind = "revoked"      // the authorization of an undispatched claim is gone
	TurnDeletionStop TurnKind = "deletion-end" // deletion gave an undispatched claim up
)

// Turn tells a family which durable write it is asked to render.
type Turn struct {
	Kind     TurnKind
	Claim    Claim // the claim that the turn is about, as it was
	Evidence Evidence
	Judged   Judgement
	Detail   string // for a person
	Census   Census
}

// Want is what a family's evidence asks for next. Exactly one field besides Need is meaningful, the first that is set.
type Want struct {
	Need Part
	// Unknown names a part that could not be read; nothing is decided on it.
	Unknown string
	Mark    *MarkStep
	// Claim reserves the next operation.
	Claim *Claim
	// Write is a verdict on stored evidence that is not in the status yet.
	Write *Turn
	// Until is when to look again at rest.
	Until time.Time
	Why   string
}

// Mutating reports whether an operation may change a database.
func Mutating(t intent.Operation) bool { return t == intent.Apply }

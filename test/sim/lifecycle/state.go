package lifecycle

import (
	"time"

	"github.com/ptah-run/ptah/pkg/intent"
)

// The model's clock. A Job may run for four ticks and must start within two; its Lease lasts one tick longer than the Job, as pkg/podspec has it.
const (
	tick          = time.Minute
	windowTicks   = 2
	deadlineTicks = 4
	leaseTicks    = 5
	maxAge        = 5
	grace         = 30 * time.Second
	// writerTicks is the age of an admission snapshot from which nothing dispatched under it can write any more: deadline and grace, rounded up.
	writerTicks = deadlineTicks + 1
)

// base is the present of every state.
var base = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

// Counts of what can exist at once.
const (
	slotCount     = 5
	managerCount  = 2
	approvalCount = 2
)

// none is the absent value of every index; indices in use start at 1, so that a zero struct is empty.
const none uint8 = 0

// Kinds of operations, as small numbers.
const (
	opResolve uint8 = iota + 1
	opVerify
	opObserve // History for a migration
	opPlan
	opApply
)

var kinds = [...]intent.Operation{"", intent.Resolve, intent.Verify, intent.Observe, intent.Plan, intent.Apply}

func kindOf(t intent.Operation) uint8 {
	switch t {
	case intent.Resolve:
		return opResolve
	case intent.Verify:
		return opVerify
	case intent.Observe, intent.History:
		return opObserve
	case intent.Plan:
		return opPlan
	}
	return opApply
}

// Families of the model.
const (
	familySchema uint8 = iota
	familyMigration
)

// Databases: a value per managed state. half is what an interrupted run without transactions leaves.
const (
	dbOld uint8 = iota + 1
	dbNew
	dbNewer
	dbHalf
)

// desired is what each artifact declares. Artifact 3 is a registry that does not answer.
var desired = [...]uint8{0, dbNew, dbNewer}

const registryAway = 3

// Places in the chain of evidence.
const (
	placeResolve uint8 = iota
	placeVerify
	placeObserve
	placePlan
	placeDone
)

// Reasons for being parked.
const (
	parkNone uint8 = iota
	parkSuspended
	parkContested
)

// claim is status.activeOperation.
type claim struct {
	Slot, Type                 uint8
	Dispatched, Seen, Snapshot bool
	Age                        uint8 // ticks since the admission snapshot
	Bind, Lease                uint8 // epochs
	Lost, Hold, Again          bool  // continuity lost; a retry that still waits; a retry
	Gen, Art, Plan, Approval   uint8 // inputs
}

// proof is status.pendingObservation.
type proof struct {
	Slot, Lease, After uint8 // After: ticks until it may begin
	PlanRequired       bool
	Succeeded          bool // what the Apply said of itself
}

// release is status.pendingLockRelease.
type release struct{ Slot, Epoch uint8 }

// published is a plan, stored or recorded.
type published struct{ UID, From, To, Epoch, Gen uint8 }

// status is everything durable about the resource besides its spec.
type status struct {
	Claim claim
	Proof proof
	Owed  release

	Identity, Epoch uint8 // execution binding
	Gen             uint8 // observed
	Art, Place      uint8
	Plan            published
	Approval        uint8
	InSync, Applied bool
	Park            uint8
	Record          uint8 // slot of a run that nobody accounted for
	Trouble         bool
}

// object is the resource at one version.
type object struct {
	Gen                            uint8
	Suspended, Deleting, Finalizer bool
	Status                         status
}

// Job states.
const (
	jobNone uint8 = iota
	jobActive
	jobComplete
	jobFailed
	jobForeign // something else stands under the name
)

// Pod states. A running Pod has done nothing yet; one that ran has sent its statements and not said so.
const (
	podNone uint8 = iota
	podRunning
	podRan
	podDone
	podGone
)

// What a Pod's log holds.
const (
	logNone uint8 = iota
	logOK
	logRefused // typed: nothing was executed
	logError   // typed: a reading failed
)

// slot is one operation's traces in the cluster and in the database.
type slot struct {
	Kind, Job, Pod, Twin, Log uint8
	Frozen, Cleanup           bool
	Ghost                     bool  // its Pod is gone from the API and its container runs on
	From, To                  uint8 // of the plan that an Apply carries out; what a reading found
	Age                       uint8 // ticks since the admission snapshot, for what may still write

	// What only the checker knows.
	Creates            uint8
	Ran                uint8
	Robbed             bool // somebody took its Lease by force
	Broken             bool // ... while its Job existed
	Tainted            bool // a reading while an Apply could still write
	Accounted, Unkempt bool // the run was accounted for; a person wiped its claim
}

// manager is what one process remembers.
type manager struct {
	Alive            bool
	Identity         uint8
	Permit           uint8 // slot
	ResultOf, Result uint8
	Published        published // by this process, for the claim in flight
}

// Results in a manager's memory.
const (
	resultNone uint8 = iota
	resultRead
	resultLost
	resultTimedOut
)

// decision is an approval.
type decision struct {
	UID, Plan, Epoch uint8
	Consumed, Stale  bool
	Served, By       uint8 // Applies that were created on it, and the last one's slot
}

// lease is the realm's record. thief is a holder outside of this resource.
type lease struct{ Holder, Epoch, Age uint8 }

const thief = slotCount + 1

// State is one state of everything: a plain value, comparable, without time and without names.
type State struct {
	Live, Old object
	Lag       bool // the caches stand still and show Old
	Slots     [slotCount + 1]slot
	Managers  [managerCount]manager
	Approvals [approvalCount]decision
	Stored    published // the plan object
	Lease     lease
	DB        uint8
	Registry  uint8
	Due       bool // the refresh deadline has passed
	Contested bool
	Gone      bool
	Faults    uint8 // hostile moves that are left
	Family    uint8
	Always    bool // policy
}

// versions are the objects that somebody may look at.
func (s *State) versions() [2]*object { return [2]*object{&s.Live, &s.Old} }

// Root is the state right after the resource was created.
func Root(family uint8, always bool, faults uint8) State {
	s := State{DB: dbOld, Registry: 1, Faults: faults, Family: family, Always: always}
	s.Live.Gen = 1
	s.Managers[0] = manager{Alive: true, Identity: 1}
	return s
}

// Roots are the states that a check starts from.
func Roots(faults uint8) []State {
	return []State{
		Root(familySchema, false, faults), Root(familySchema, true, faults),
		Root(familyMigration, false, faults), Root(familyMigration, true, faults),
	}
}

// Names of slots, epochs and UIDs, made once.
var slotNames, epochNames, uidNames, letters = nameTable("op-"), nameTable("v1-"), nameTable("uid-"), nameTable("")

// nameTable spells numbers as a prefix and one letter; the number none has no name.
func nameTable(prefix string) (out [32]string) {
	for i := 1; i < len(out); i++ {
		out[i] = prefix + string(rune('@'+i))
	}
	return out
}

// numberOf reads the number back out of any of those names.
func numberOf(name string) uint8 {
	if name == "" {
		return none
	}
	return name[len(name)-1] - '@'
}

// older is what becomes of an age, or of a remaining time, in one tick.
func older(age uint8) uint8 { return min(age+1, maxAge) }

func sooner(rest uint8) uint8 {
	if rest == 0 {
		return 0
	}
	return rest - 1
}

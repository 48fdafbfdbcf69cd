package operation

import (
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
)

// Step is the one thing a pass does next: a closed sum. A shell performs exactly one, then gathers again. Only ReadFresh and ReadResult
// change nothing in the world.
type Step interface{ step() }

// Status is a family's new status, whole. The shell writes it with the resourceVersion that the snapshot was read at.
type Status any

type (
	// AddFinalizer holds the object while something of ours may be active.
	AddFinalizer struct{}
	// RemoveFinalizer lets the object go: nothing of ours is active.
	RemoveFinalizer struct{ Notes []Note }
	// PatchStatus is one durable write. Permit names the claim whose dispatch marker it sets: success hands this process the one permit to
	// create that claim's Job.
	PatchStatus struct {
		Status Status
		Reason string // what the write is, for the log and for failpoints
		Permit string
		Notes  []Note
	}
	// AcquireLease takes the realm for a holder under a new epoch.
	AcquireLease struct {
		Realm, Holder, Epoch string
		Seconds              int32
	}
	// RenewLease prolongs exactly this acquisition.
	RenewLease struct {
		Realm, Holder, Epoch string
		Seconds              int32
	}
	// ReleaseLease hands back exactly this acquisition; repeating it is harmless.
	ReleaseLease struct{ Realm, Holder, Epoch string }
	// CreateJob is the one create of a claim. For a mutating claim the shell gives up the permit before it tries, and any error leaves the
	// outcome unknown; a read-only Job that already exists is adopted in the next pass.
	CreateJob struct {
		Claim Claim
		Notes []Note
	}
	// ScheduleCleanup gives a Job whose result was read its time to live.
	ScheduleCleanup struct{ JobName, JobUID string }
	// ReadResult starts reading a container's log with a deadline of its own, off the reconcile path.
	ReadResult struct {
		Claim Claim
		Pod   Pod
		Notes []Note // an earlier read of the same log ran into its deadline
	}
	// PublishPlan stores the plan of a Plan result under its fingerprint's name and reads it back; repeating it is harmless.
	PublishPlan struct{ Plan any }
	// MarkApproval writes conditions of one approval.
	MarkApproval struct {
		Mark  Mark
		Notes []Note
	}
	// ReadFresh decides again, in the same pass, after the API server itself answered for these parts.
	ReadFresh struct{ Parts Part }
	// Wait leaves the world alone until something moves, and looks again at Until at the latest.
	Wait struct {
		Until  time.Time
		Reason string // for the log
		Realm  string // whose Lease is awaited; a release in this process ends the wait early
	}
)

func (AddFinalizer) step()    {}
func (RemoveFinalizer) step() {}
func (PatchStatus) step()     {}
func (AcquireLease) step()    {}
func (RenewLease) step()      {}
func (ReleaseLease) step()    {}
func (CreateJob) step()       {}
func (ScheduleCleanup) step() {}
func (ReadResult) step()      {}
func (PublishPlan) step()     {}
func (MarkApproval) step()    {}
func (ReadFresh) step()       {}
func (Wait) step()            {}

// Mark is what is to be said on an approval.
type Mark struct {
	Name    string
	UID     string
	Verdict approval.Verdict
}

// Note is what people and dashboards hear when a step succeeded: an Event, a counter, or both. Notes hang on the step that caused them,
// never on a state that was merely seen.
type Note struct {
	Event   v1alpha1.EventReason // empty for none
	Warning bool
	// OnApproval puts the Event on the approval that the step marks.
	OnApproval bool
	Message    string // at most MaxMessage bytes; no credential, SQL or row
	Metric     Metric
}

// MaxMessage bounds an Event's message, in bytes (the API's own limit).
const MaxMessage = 1024

// MetricKind names a counter of the contract.
type MetricKind uint8

// Counters of the contract.
const (
	MetricNone MetricKind = iota
	MetricDrift
	MetricPlan
	MetricApproval
	MetricApply
	MetricDuration
	MetricFailure
)

// Metric is one increment, with labels from closed sets only.
type Metric struct {
	Kind      MetricKind
	Engine    string
	Operation string // lower case; the stage of a failure
	Outcome   string
	Category  string
	Seconds   float64
}

package realm

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Claim is what an operation wants of its realm's Lease.
type Claim struct {
	Namespace, Name string        // of the Lease
	Holder          string        // operation id
	Epoch           string        // this acquisition; on Acquire a fresh one, used only where the Lease changes hands
	Duration        time.Duration // whole seconds, covers the Job's deadline and grace; fixed for the life of the claim
	Now             time.Time
}

// Record identifies one unchanged state of a Lease, as opposed to its name.
type Record struct {
	UID, ResourceVersion, Holder, Epoch string
}

// RecordOf a Lease; the zero Record where there is none.
func RecordOf(lease *coordinationv1.Lease) Record {
	if lease == nil {
		return Record{}
	}
	return Record{string(lease.UID), lease.ResourceVersion, holderOf(lease), lease.Annotations[v1alpha1.LeaseEpochAnnotation]}
}

// Sight is this process's own first look at an unchanged record: expiry of a foreign holder counts from there and never from a time that
// another machine wrote.
type Sight struct {
	Record Record
	Since  time.Time
}

// Look updates a sight: it starts over whenever the record is another one.
func Look(sight Sight, lease *coordinationv1.Lease, now time.Time) Sight {
	if record := RecordOf(lease); record != sight.Record || sight.Since.IsZero() {
		return Sight{record, now}
	}
	return sight
}

// Action is what the caller does with a Decision.
type Action int

// The actions. Create and Update must be conditional on what was read (create fails on an existing Lease, update carries the resource
// version): a conflict means that somebody else moved, and the decision is taken anew.
const (
	Wait    Action = iota // held by another: look again at RetryAt
	Create                // create Decision.Lease
	Update                // update Decision.Lease
	Lost                  // the acquisition that the claim names is over; what ran under it proves nothing
	Nothing               // nothing is owed
)

func (a Action) String() string {
	return [...]string{"Wait", "Create", "Update", "Lost", "Nothing"}[a]
}

// Decision is the next step on a Lease.
type Decision struct {
	Action  Action
	Lease   *coordinationv1.Lease // what to write; a new object, never the one that was read
	Epoch   string                // the acquisition that the claim belongs to once the write succeeded
	RetryAt time.Time             // Wait: when the foreign holder can have expired at the earliest
}

// Acquire decides how a claim gets the Lease: it is free where nobody holds it, where the holder's whole duration passed since our own
// first sight of the unchanged record, or where it is ours already, which keeps its epoch.
func Acquire(lease *coordinationv1.Lease, claim Claim, sight Sight) Decision {
	switch {
	case lease == nil:
		return Decision{Action: Create, Lease: taken(nil, claim, claim.Epoch), Epoch: claim.Epoch}
	case holderOf(lease) == claim.Holder && epochOf(lease) != "":
		return Decision{Action: Update, Lease: taken(lease, claim, epochOf(lease)), Epoch: epochOf(lease)}
	case holderOf(lease) == "":
		return Decision{Action: Update, Lease: taken(lease, claim, claim.Epoch), Epoch: claim.Epoch}
	}
	expiry := Expiry(lease, sight, claim.Now)
	if claim.Now.Before(expiry) {
		return Decision{Action: Wait, RetryAt: expiry}
	}
	return Decision{Action: Update, Lease: taken(lease, claim, claim.Epoch), Epoch: claim.Epoch}
}

// Renew decides how a holder keeps its Lease. Anything but its own name and its own epoch on it is Lost: another may have worked in between.
func Renew(lease *coordinationv1.Lease, claim Claim) Decision {
	if !Holds(lease, claim.Holder, claim.Epoch) {
		return Decision{Action: Lost}
	}
	return Decision{Action: Update, Lease: taken(lease, claim, claim.Epoch), Epoch: claim.Epoch}
}

// Release decides how a Lease is given back: its holder is cleared, exactly if it is this holder's exact acquisition. Anything else is
// Nothing, so that releasing twice, or after a loss, is harmless.
func Release(lease *coordinationv1.Lease, holder, epoch string) Decision {
	if !Holds(lease, holder, epoch) {
		return Decision{Action: Nothing}
	}
	next := lease.DeepCopy()
	next.Spec.HolderIdentity = nil
	next.Spec.RenewTime = nil
	next.Spec.AcquireTime = nil
	return Decision{Action: Update, Lease: next}
}

// Holds reports whether the Lease is in this very acquisition of this holder: the continuity that a result is bound to.
func Holds(lease *coordinationv1.Lease, holder, epoch string) bool {
	return lease != nil && holder != "" && epoch != "" && holderOf(lease) == holder && epochOf(lease) == epoch
}

// RenewAt is when a holder should have renewed by: a third of the duration after the last renewal.
func RenewAt(renewed time.Time, duration time.Duration) time.Time { return renewed.Add(duration / 3) }

// Expiry is when a foreign holder can have expired at the earliest, by our own clock. Without a sight of exactly this record the count
// starts now. A Lease with a holder and no duration never expires by itself: it is not one of ours.
func Expiry(lease *coordinationv1.Lease, sight Sight, now time.Time) time.Time {
	const never = 100 * 365 * 24 * time.Hour
	if lease.Spec.LeaseDurationSeconds == nil || *lease.Spec.LeaseDurationSeconds <= 0 {
		return now.Add(never)
	}
	since := now
	if sight.Record == RecordOf(lease) && !sight.Since.IsZero() {
		since = sight.Since
	}
	return since.Add(time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second)
}

// Seconds is a Lease duration in the API's unit, rounded up.
func Seconds(d time.Duration) (int32, error) {
	s := int64((d + time.Second - 1) / time.Second)
	if s < 1 || s > 1<<31-1 {
		return 0, fmt.Errorf("computing lease duration: %s is out of bounds", d)
	}
	return int32(s), nil
}

// taken is the Lease as the claim leaves it. Its acquire time and transition count change only with the epoch.
func taken(lease *coordinationv1.Lease, claim Claim, epoch string) *coordinationv1.Lease {
	next := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: claim.Namespace, Name: claim.Name, Labels: map[string]string{v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue},
	}}
	if lease != nil {
		next = lease.DeepCopy()
	}
	now := metav1.NewMicroTime(claim.Now)
	if lease == nil || holderOf(lease) != claim.Holder || epochOf(lease) != epoch {
		transitions := int32(0)
		if lease != nil && lease.Spec.LeaseTransitions != nil {
			transitions = *lease.Spec.LeaseTransitions + 1
		}
		next.Spec.LeaseTransitions = &transitions
		next.Spec.AcquireTime = &now
	}
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[v1alpha1.LeaseEpochAnnotation] = epoch
	holder, seconds := claim.Holder, int32((claim.Duration+time.Second-1)/time.Second) //nolint:gosec // bounded by Seconds when the claim was made
	next.Spec.HolderIdentity = &holder
	next.Spec.LeaseDurationSeconds = &seconds
	next.Spec.RenewTime = &now
	return next
}

func holderOf(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

func epochOf(lease *coordinationv1.Lease) string {
	return lease.Annotations[v1alpha1.LeaseEpochAnnotation]
}

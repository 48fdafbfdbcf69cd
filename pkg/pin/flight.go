package pin

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Owner is a live schema or migration, as far as its plans are concerned.
type Owner struct {
	Family    Family
	Namespace string
	Name      string
	UID       types.UID
	// Busy says what is under way, field and all; "" is nothing. While something is, a plan that nothing names can become named any moment.
	Busy string
	// Since is when it began.
	Since time.Time
}

// OwnerOfSchema says whether a schema is being worked on.
func OwnerOfSchema(s *v1alpha1.PtahSchema) Owner {
	o := Owner{Family: Schema, Namespace: s.Namespace, Name: s.Name, UID: s.UID}
	switch status := s.Status; {
	case status.ActiveOperation != nil:
		o.Busy, o.Since = operating(string(status.ActiveOperation.Type)), status.ActiveOperation.StartedAt.Time
	case status.PendingObservation != nil:
		o.Busy = "the proof of an Apply is owed (status.pendingObservation)"
	}
	return o
}

// OwnerOfMigration says whether a migration is being worked on, or carries a run that may still be writing.
func OwnerOfMigration(m *v1alpha1.PtahMigration) Owner {
	o := Owner{Family: Migration, Namespace: m.Namespace, Name: m.Name, UID: m.UID}
	switch status := m.Status; {
	case status.ActiveOperation != nil:
		o.Busy, o.Since = operating(string(status.ActiveOperation.Type)), status.ActiveOperation.StartedAt.Time
	case status.UnresolvedRun != nil:
		o.Busy, o.Since = "a run nobody accounted for stands (status.unresolvedRun)", status.UnresolvedRun.RecordedAt.Time
	}
	return o
}

func operating(kind string) string {
	return fmt.Sprintf("operation %s is in flight (status.activeOperation)", kind)
}

func (o Owner) busyText() string { return fmt.Sprintf("%s %s: %s", o.Family, o.Name, o.Busy) }

// Owners are all live schemas and migrations, by UID and by name.
type Owners struct {
	byUID  map[types.UID]Owner
	byName map[key]Owner
}

// Add takes over one owner.
func (o *Owners) Add(owner Owner) {
	if o.byUID == nil {
		o.byUID, o.byName = map[types.UID]Owner{}, map[key]Owner{}
	}
	o.byUID[owner.UID] = owner
	o.byName[key{owner.Family, owner.Namespace, owner.Name}] = owner
}

// Of finds a plan's owner; false when it is gone, even if another has taken its name.
func (o *Owners) Of(family Family, ref Ref) (Owner, bool) {
	owner, ok := o.byUID[ref.UID]
	return owner, ok && owner.Family == family
}

// Named reports whether an owner of this name exists.
func (o *Owners) Named(family Family, namespace, name string) bool {
	_, ok := o.byName[key{family, namespace, name}]
	return ok
}

// busy says what is under way at a plan's owner, or at whoever has its name now: a publication works by name.
func (o *Owners) busy(plan Plan) (Owner, bool) {
	owner, ok := o.Of(plan.Family, plan.Owner)
	if !ok || owner.Busy == "" {
		owner, ok = o.byName[key{plan.Family, plan.Namespace, plan.Owner.Name}]
	}
	return owner, ok && owner.Busy != ""
}

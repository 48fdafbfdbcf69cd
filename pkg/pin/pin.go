// Package pin says which stored plans must stay: a plan is pinned while a field of a live object names it (contract: Which plans are
// pinned). It reads objects and decides; it deletes nothing and asks nobody.
package pin

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Family is one of the two kinds of resource that have plans.
type Family string

// Families.
const (
	Schema    Family = "schema"
	Migration Family = "migration"
)

// Ref names an object of a known namespace. The UID tells it from another that had the same name; "" is a record without one.
type Ref struct {
	Name string
	UID  types.UID
}

// Object is a live object that says something about a plan.
type Object struct {
	Kind      string // PtahSchema, PtahSchemaApproval, PtahMigration or PtahMigrationApproval
	Namespace string
	Name      string
}

// Pin is one field of a live object that names a plan.
type Pin struct {
	Family Family // of the plan
	By     Object
	Field  string // status.applied.planRef and the like
	Why    string
	// Plan that is named. Without a name, Fingerprint says which plan of Owner is meant; without either, any plan of Owner may be.
	Plan        Ref
	Fingerprint string
	// Owner of the plan, as far as the object says.
	Owner Ref
	// Unresolved marks the record of a run nobody accounted for. Nothing overrides it.
	Unresolved bool
	// Spent marks an approval that authorizes nothing any more: it was consumed, or is stale. It pins all the same, as the record of who decided.
	Spent bool
}

// The fields that pin a plan.
const (
	FieldPlan         = "status.plan"
	FieldPending      = "status.pendingObservation.plan"
	FieldApplied      = "status.applied.planRef"
	FieldApproved     = "spec.planRef"
	FieldOperation    = "status.activeOperation.planRef"
	FieldUnresolved   = "status.unresolvedRun.planRef"
	whyPlan           = "published and awaiting approval, or being applied"
	whyPending        = "the post-Apply verification owed for it has not finished"
	whyApplied        = "evidence of the last confirmed apply"
	whyApproved       = "a person authorized these exact bytes"
	whySpent          = "a person authorized these exact bytes, and the approval was used or overtaken"
	whyOperation      = "an Apply is in flight against it"
	whyUnresolved     = "names a run nobody accounted for"
	whyUnresolvedLost = "a run nobody accounted for names no plan, so it may have been any of this migration's"
)

// OfSchema lists what a PtahSchema pins.
func OfSchema(s *v1alpha1.PtahSchema) []Pin {
	of := naming{Schema, Object{"PtahSchema", s.Namespace, s.Name}, Ref{s.Name, s.UID}}
	var pins []Pin
	if p := s.Status.Plan; p != nil {
		pins = append(pins, of.pin(FieldPlan, whyPlan, Ref{p.Name, p.UID}, p.Fingerprint))
	}
	if p := s.Status.PendingObservation; p != nil {
		pins = append(pins, of.pin(FieldPending, whyPending, Ref{p.Plan.Name, p.Plan.UID}, p.Plan.Fingerprint))
	}
	if a := s.Status.Applied; a != nil {
		pins = append(pins, of.pin(FieldApplied, whyApplied, refOf(a.PlanRef), a.PlanFingerprint))
	}
	return pins
}

// OfMigration lists what a PtahMigration pins.
func OfMigration(m *v1alpha1.PtahMigration) []Pin {
	of := naming{Migration, Object{"PtahMigration", m.Namespace, m.Name}, Ref{m.Name, m.UID}}
	var pins []Pin
	if p := m.Status.Plan; p != nil {
		pins = append(pins, of.pin(FieldPlan, whyPlan, refOf(*p), ""))
	}
	if op := m.Status.ActiveOperation; op != nil && op.PlanRef != nil {
		pins = append(pins, of.pin(FieldOperation, whyOperation, refOf(*op.PlanRef), ""))
	}
	if run := m.Status.UnresolvedRun; run != nil {
		p := of.pin(FieldUnresolved, whyUnresolvedLost, Ref{}, "")
		if run.PlanRef != nil {
			p = of.pin(FieldUnresolved, whyUnresolved, refOf(*run.PlanRef), "")
		}
		p.Unresolved = true
		pins = append(pins, p)
	}
	return pins
}

// OfSchemaApproval lists what a PtahSchemaApproval pins: spent and stale ones too, for they say what a person once authorized.
func OfSchemaApproval(a *v1alpha1.PtahSchemaApproval) []Pin {
	of := naming{Schema, Object{"PtahSchemaApproval", a.Namespace, a.Name}, refOf(a.Spec.SchemaRef)}
	return []Pin{of.approved(a.Spec.PlanRef, a.Spec.PlanFingerprint, a.Status)}
}

// OfMigrationApproval lists what a PtahMigrationApproval pins.
func OfMigrationApproval(a *v1alpha1.PtahMigrationApproval) []Pin {
	of := naming{Migration, Object{"PtahMigrationApproval", a.Namespace, a.Name}, refOf(a.Spec.MigrationRef)}
	return []Pin{of.approved(a.Spec.PlanRef, a.Spec.PlanFingerprint, a.Status)}
}

func refOf(r v1alpha1.ObjectRef) Ref { return Ref{r.Name, r.UID} }

// naming is the object whose fields are being read.
type naming struct {
	family Family
	by     Object
	owner  Ref
}

func (n naming) approved(plan v1alpha1.ObjectRef, fingerprint string, status v1alpha1.ApprovalStatus) Pin {
	p := n.pin(FieldApproved, whyApproved, refOf(plan), fingerprint)
	p.Spent = meta.IsStatusConditionTrue(status.Conditions, string(v1alpha1.ConditionConsumed)) ||
		meta.IsStatusConditionTrue(status.Conditions, string(v1alpha1.ConditionStale))
	if p.Spent {
		p.Why = whySpent
	}
	return p
}

func (n naming) pin(field, why string, plan Ref, fingerprint string) Pin {
	return Pin{Family: n.family, By: n.by, Field: field, Why: why, Plan: plan, Fingerprint: fingerprint, Owner: n.owner}
}

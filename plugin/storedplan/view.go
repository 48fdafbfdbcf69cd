package storedplan

import (
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/timeline"
	"github.com/ptah-run/ptah/pkg/waiting"
)

// View builds what is shown of a verified plan. A schema that is gone leaves its plan without a role.
func View(schema *v1alpha1.PtahSchema, verified *Verified, now time.Time) *render.Plan {
	object := verified.Object
	view := &render.Plan{
		Namespace: object.Namespace, Schema: object.Spec.SchemaRef.Name, Name: object.Name, UID: string(object.UID),
		Role: render.RoleStored, Fingerprint: object.Spec.Fingerprint, ContentDigest: object.Spec.ContentDigest,
		Chunks: len(object.Spec.Chunks), Size: object.Spec.Size, Dialect: object.Spec.Dialect,
		Statements: verified.Statements, Destructive: verified.Head.Destructive,
		StoredAt: object.CreationTimestamp.UTC(), Document: verified.Head, Unproven: verified.Unproven,
	}
	if schema == nil {
		return view.WithBytes(verified.Bytes, now)
	}
	if applied := schema.Status.Applied; applied != nil && applied.PlanFingerprint == object.Spec.Fingerprint {
		at := applied.CompletedAt.UTC()
		view.AppliedAt = &at
		view.Role = render.RoleApplied
	}
	if record := schema.Status.Plan; record != nil && record.UID == object.UID {
		view.Role = render.RoleCurrent
		view.WaitingFor = render.NewWaiting(waiting.Schema(schema))
	}
	return view.WithBytes(verified.Bytes, now)
}

// Rejectable is a schema's current plan as a rejection of it names it.
func Rejectable(schema *v1alpha1.PtahSchema, object *v1alpha1.PtahSchemaPlan) timeline.Plan {
	p := timeline.Plan{Resource: schema.UID, Name: object.Name, Fingerprint: object.Spec.Fingerprint, StoredAt: object.CreationTimestamp.UTC()}
	if record := schema.Status.Plan; record != nil && record.Approval != nil {
		p.ApprovedAt = record.Approval.ApprovedAt.UTC()
	}
	return p
}

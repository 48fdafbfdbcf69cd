package reject

import (
	"context"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/waiting"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/resource"
)

// subject is the resource whose plan is rejected, whichever kind it is.
type subject struct {
	kind, apiKind, approvals string // render's word, the API's kind, the resource of its approvals
	namespace, name, uid     string
	resourceVersion          string
	plan                     v1alpha1.ObjectRef
	fingerprint              string
	input                    approval.Rejecting
	waitsFor                 string
}

// look finds the resource, its current plan and everything that could run the plan.
func (o *rejectOptions) look(ctx context.Context, c *cluster.Client) (*subject, error) {
	found, err := resource.Find(ctx, c, o.namespace, o.kind, o.name)
	if err != nil {
		return nil, err
	}
	if found.Schema != nil {
		return schemaSubject(ctx, c, found.Schema)
	}
	return migrationSubject(ctx, c, found.Migration)
}

func schemaSubject(ctx context.Context, c *cluster.Client, schema *v1alpha1.PtahSchema) (*subject, error) {
	answer := waiting.Schema(schema)
	s := &subject{
		kind: render.KindSchema, apiKind: "PtahSchema", approvals: cluster.SchemaApprovals,
		namespace: schema.Namespace, name: schema.Name, uid: string(schema.UID), resourceVersion: schema.ResourceVersion, waitsFor: answer.Text,
	}
	record := schema.Status.Plan
	if record == nil {
		return s, nil
	}
	s.plan, s.fingerprint = v1alpha1.ObjectRef{Name: record.Name, UID: record.UID}, record.Fingerprint
	s.input.Policy, s.input.Demand = schema.Spec.Policy.Apply, approval.Required(schema.Spec.Policy, record.Destructive)
	if op := schema.Status.ActiveOperation; op != nil && op.Type == v1alpha1.SchemaApply {
		s.input.Apply = op.JobName
	}
	if pending := schema.Status.PendingObservation; pending != nil && pending.Plan.UID == record.UID {
		s.input.Apply = "its proof is owed"
	}
	err := c.EachSchemaApproval(ctx, cluster.Query{Namespace: schema.Namespace}, func(a *v1alpha1.PtahSchemaApproval) error {
		if a.Spec.PlanRef.UID == record.UID {
			s.add(approval.StandingOf(v1alpha1.ObjectRef{Name: a.Name, UID: a.UID}, a.ResourceVersion, a.Spec.ApprovalStamp, a.Status))
		}
		return nil
	})
	return s, err
}

func migrationSubject(ctx context.Context, c *cluster.Client, m *v1alpha1.PtahMigration) (*subject, error) {
	answer := waiting.Migration(m)
	s := &subject{
		kind: render.KindMigration, apiKind: "PtahMigration", approvals: cluster.MigrationReviews,
		namespace: m.Namespace, name: m.Name, uid: string(m.UID), resourceVersion: m.ResourceVersion, waitsFor: answer.Text,
	}
	ref := m.Status.Plan
	if ref == nil {
		return s, nil
	}
	object, err := c.MigrationPlan(ctx, m.Namespace, ref.Name)
	switch {
	case err != nil:
		return nil, err
	case object.UID != ref.UID:
		return nil, options.Refusedf("plan %s/%s was made again since the status named it: wait for the next pass; nothing was changed", m.Namespace, ref.Name)
	}
	s.plan, s.fingerprint = *ref, object.Spec.Fingerprint
	s.input.Policy, s.input.Demand = m.Spec.Policy.Apply, approval.RequiredOfMigration(m.Spec.Policy.Apply)
	s.input.Apply = migrationRun(&m.Status, ref)
	err = c.EachMigrationApproval(ctx, cluster.Query{Namespace: m.Namespace}, func(a *v1alpha1.PtahMigrationApproval) error {
		if a.Spec.PlanRef.UID == ref.UID {
			s.add(approval.StandingOf(v1alpha1.ObjectRef{Name: a.Name, UID: a.UID}, a.ResourceVersion, a.Spec.ApprovalStamp, a.Status))
		}
		return nil
	})
	return s, err
}

// migrationRun names the run of the plan that is claimed, or that is not proven; empty when every run of it is over.
func migrationRun(status *v1alpha1.PtahMigrationStatus, plan *v1alpha1.ObjectRef) string {
	run := status.UnresolvedRun
	switch op := status.ActiveOperation; {
	case op != nil && op.Type == v1alpha1.MigrationApply:
		return op.JobName
	case status.Phase == v1alpha1.MigrationPhaseVerifyingHistory:
		return "its proof is owed"
	case run != nil && run.PlanRef != nil && run.PlanRef.UID == plan.UID:
		return "nobody accounted for its run"
	}
	return ""
}

func (s *subject) add(standing approval.Standing) {
	s.input.Approvals = append(s.input.Approvals, standing)
}

package controller

import (
	"context"
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/kube"
	"github.com/ptah-run/ptah/pkg/metrics"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/plan"
)

// writeStatus is the one durable write of a pass. The permit for a create is handed out only for a dispatch marker that the API server
// confirmed: a lost reply leaves nobody with one.
func (r *SchemaReconciler) writeStatus(ctx context.Context, p *kube.Pass, s operation.PatchStatus) error {
	status, ok := s.Status.(*v1alpha1.PtahSchemaStatus)
	if !ok {
		return fmt.Errorf("writing status of schema %s: a %T is none", p.Key.NamespacedName, s.Status)
	}
	if err := p.WriteStatus(ctx, status); err != nil {
		return err
	}
	if s.Permit != "" {
		r.World.Memory.Grant(p.Key, s.Permit)
	}
	return nil
}

func (r *SchemaReconciler) publish(ctx context.Context, p *kube.Pass, s operation.PublishPlan) error {
	publication, ok := s.Plan.(plan.Publication)
	if !ok {
		return fmt.Errorf("publishing plan of schema %s: a %T is none", p.Key.NamespacedName, s.Plan)
	}
	object, err := p.Publish(ctx, publication)
	if err != nil {
		return err
	}
	r.World.Memory.WrotePlan(p.Key, p.Schema.Status.ActiveOperation.ID, object)
	return nil
}

func (r *SchemaReconciler) mark(ctx context.Context, p *kube.Pass, s operation.MarkApproval) ([]operation.Note, error) {
	approval, err := p.MarkApproval(ctx, s.Mark)
	if err != nil {
		return nil, err
	}
	rest := make([]operation.Note, 0, len(s.Notes))
	for _, n := range s.Notes {
		if n.OnApproval {
			r.World.Events.Emit(approval, r.Scheme, n, p.Snapshot.Now)
			n.Event = ""
		}
		rest = append(rest, n)
	}
	return rest, nil
}

// tell emits the Events and moves the counters of a step that succeeded.
func (r *SchemaReconciler) tell(p *kube.Pass, notes []operation.Note) {
	for _, n := range notes {
		r.World.Events.Emit(p.Schema, r.Scheme, n, p.Snapshot.Now)
		if n.Metric.Kind != operation.MetricNone {
			r.Recorder.Note(metrics.FamilySchema, n.Metric)
		}
	}
}

// failpoints are the names under which a test can stop the manager after a step: the step's, and the step's of this very operation.
func failpoints(p *kube.Pass, step operation.Step) []string {
	name := failpointOf(step)
	if op := p.Schema.Status.ActiveOperation; op != nil {
		return []string{name, name + "/" + string(op.Type)}
	}
	return []string{name}
}

// failpointOf names a step for the log and for the tests that kill the manager after it.
func failpointOf(step operation.Step) string {
	switch s := step.(type) {
	case operation.AddFinalizer:
		return "finalizer/add"
	case operation.RemoveFinalizer:
		return "finalizer/remove"
	case operation.PatchStatus:
		return "status/" + s.Reason
	case operation.AcquireLease:
		return "lease/acquire"
	case operation.RenewLease:
		return "lease/renew"
	case operation.ReleaseLease:
		return "lease/release"
	case operation.CreateJob:
		return "job/create"
	case operation.ScheduleCleanup:
		return "job/cleanup"
	case operation.ReadResult:
		return "result/read"
	case operation.PublishPlan:
		return "plan/publish"
	case operation.MarkApproval:
		return "approval/" + s.Mark.Verdict.Outcome.String()
	}
	return "none"
}

// Package controller is the reconcilers: shells that gather one snapshot, ask for one decision, perform exactly that step and come back.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ptah-run/ptah/pkg/kube"
	"github.com/ptah-run/ptah/pkg/metrics"
	"github.com/ptah-run/ptah/pkg/operation"
)

// schemaKind is the kind that the schema reconciler works for.
const schemaKind = "PtahSchema"

// Priorities of the work queue: what holds a Lease comes before what is merely in flight, and that before new work.
const (
	priorityHolder   = 100
	priorityInFlight = 10
	priorityNew      = 0
)

// maxReads bounds how often one pass may ask the API server again before it gives the worker back.
const maxReads = 16

// SchemaReconciler moves PtahSchemas.
type SchemaReconciler struct {
	World    *kube.World
	Scheme   *runtime.Scheme
	Recorder *metrics.Recorder
	// Wake asks for another look at a resource, from any goroutine.
	Wake func(kube.Key)
	// Background outlives a reconcile: readings run under it.
	Background context.Context //nolint:containedctx // the process's own lifetime, not a request's
}

// Reconcile is one pass: gather, one decision, one step.
func (r *SchemaReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	key := kube.Key{Kind: schemaKind, NamespacedName: req.NamespacedName}
	pass, found, err := r.World.Gather(ctx, key)
	if err != nil {
		return r.failed(ctx, err)
	}
	if !found {
		return reconcile.Result{}, nil
	}
	step, found, err := decide(ctx, pass)
	if err != nil {
		return r.failed(ctx, err)
	}
	if !found {
		return reconcile.Result{}, nil
	}
	result, err := r.perform(ctx, pass, step)
	if err != nil {
		return r.failed(ctx, err)
	}
	priority := priorityOf(pass)
	result.Priority = &priority
	return result, nil
}

// failed is a pass that the API server would not let finish. The queue's own back-off decides when the next one comes.
func (r *SchemaReconciler) failed(_ context.Context, err error) (reconcile.Result, error) {
	r.Recorder.Reconciled(metrics.FamilySchema, false)
	r.Recorder.Failed(metrics.FamilySchema, "infrastructure")
	return reconcile.Result{}, err
}

// decide asks for the step, reading more where the decision asks for it.
func decide(ctx context.Context, pass *kube.Pass) (operation.Step, bool, error) {
	for range maxReads {
		step := operation.Next(pass.Snapshot)
		more, reading := step.(operation.ReadFresh)
		if !reading {
			return step, true, nil
		}
		found, err := pass.Read(ctx, more.Parts)
		if err != nil || !found {
			return nil, false, err
		}
	}
	return operation.Wait{Until: pass.Snapshot.Now.Add(time.Second), Reason: "the world did not hold still"}, true, nil
}

func priorityOf(p *kube.Pass) int {
	st := &p.Schema.Status
	switch {
	case st.PendingObservation != nil, st.PendingLockRelease != nil, st.ActiveOperation != nil && st.ActiveOperation.LeaseEpoch != "":
		return priorityHolder
	case st.ActiveOperation != nil:
		return priorityInFlight
	}
	return priorityNew
}

// again comes back at once: the step changed something, and the next one follows from what is there now.
func again() reconcile.Result { return reconcile.Result{RequeueAfter: time.Nanosecond} }

// soon comes back when a conflict, or a cache that lags behind, had time to pass.
func soon() reconcile.Result { return reconcile.Result{RequeueAfter: 50 * time.Millisecond} }

// perform carries out one step and tells what has to be told of it.
func (r *SchemaReconciler) perform(ctx context.Context, p *kube.Pass, step operation.Step) (reconcile.Result, error) {
	if w, waiting := step.(operation.Wait); waiting {
		if w.Realm != "" {
			r.World.Memory.Queue(w.Realm, p.Key)
		}
		after := max(time.Millisecond, w.Until.Sub(p.Snapshot.Now))
		describe(log.FromContext(ctx), p, step).V(1).Info("waiting", "reason", w.Reason, "requeue", true, "requeueAfter", after)
		return reconcile.Result{RequeueAfter: after}, nil
	}
	logger := describe(log.FromContext(ctx), p, step)
	names := failpoints(p, step)
	notes, err := r.effect(ctx, p, step)
	for _, name := range names {
		failpoint(name)
	}
	switch {
	case errors.Is(err, kube.ErrOutdated), errors.Is(err, kube.ErrHeld):
		logger.V(1).Info("step came too late; looking again", "cause", err.Error())
		r.World.Memory.Distrust(p.Key)
		return soon(), nil
	case err != nil:
		return r.refused(ctx, p, step, err)
	}
	r.tell(p, notes)
	r.Recorder.Reconciled(metrics.FamilySchema, true)
	result := again()
	if _, reading := step.(operation.ReadResult); reading {
		result.RequeueAfter = 30 * time.Second // the reading wakes the resource
	}
	logger.Info("step done", "requeue", true, "requeueAfter", result.RequeueAfter)
	return result, nil
}

// refused remembers an effect that the API server would not carry out, so that the next pass can say why and does not spin. A create's
// fate is never guessed here: the next pass looks.
func (r *SchemaReconciler) refused(ctx context.Context, p *kube.Pass, step operation.Step, err error) (reconcile.Result, error) {
	op := p.Schema.Status.ActiveOperation
	switch step.(type) {
	case operation.CreateJob:
		if apierrors.IsAlreadyExists(err) {
			return again(), nil
		}
	case operation.ScheduleCleanup, operation.PublishPlan:
	default:
		return reconcile.Result{}, err
	}
	if op == nil {
		return reconcile.Result{}, err
	}
	log.FromContext(ctx).Error(err, "step refused", "step", fmt.Sprintf("%T", step), "operation", op.Type, "attempt", op.Attempt)
	r.Recorder.Reconciled(metrics.FamilySchema, false)
	r.World.Memory.Refuse(p.Key, op.ID, refusalText(err), p.Snapshot.Now)
	return again(), nil
}

// refusalText is what the API server says of an object that carries no credential.
func refusalText(err error) string {
	const bound = 500
	text := err.Error()
	if len(text) > bound {
		text = text[:bound]
	}
	return text
}

// effect performs the step. It returns what has to be told where the step did not fail.
func (r *SchemaReconciler) effect(ctx context.Context, p *kube.Pass, step operation.Step) ([]operation.Note, error) {
	w, memory := r.World, r.World.Memory
	switch s := step.(type) {
	case operation.AddFinalizer:
		return nil, p.SetFinalizer(ctx, true)
	case operation.RemoveFinalizer:
		return s.Notes, p.SetFinalizer(ctx, false)
	case operation.PatchStatus:
		return s.Notes, r.writeStatus(ctx, p, s)
	case operation.AcquireLease:
		return nil, w.AcquireLease(ctx, s)
	case operation.RenewLease:
		return nil, w.RenewLease(ctx, s)
	case operation.ReleaseLease:
		err := w.ReleaseLease(ctx, s)
		for _, k := range memory.Waiting(s.Realm) {
			r.Wake(k)
		}
		return nil, err
	case operation.CreateJob:
		return s.Notes, p.CreateJob(ctx, s.Claim)
	case operation.ScheduleCleanup:
		return nil, p.ScheduleCleanup(ctx, s)
	case operation.ReadResult:
		w.Logs.Start(r.Background, p.Key, s)
		return s.Notes, nil
	case operation.PublishPlan:
		return nil, r.publish(ctx, p, s)
	case operation.MarkApproval:
		return r.mark(ctx, p, s)
	}
	return nil, fmt.Errorf("performing step %T: the manager does not know it", step)
}

func describe(logger logr.Logger, p *kube.Pass, step operation.Step) logr.Logger {
	logger = logger.WithValues("step", failpointOf(step), "phase", p.Schema.Status.Phase)
	if op := p.Schema.Status.ActiveOperation; op != nil {
		logger = logger.WithValues("operation", op.Type, "attempt", op.Attempt)
	}
	return logger
}

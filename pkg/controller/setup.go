package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/kube"
)

// Wakes carries requests for another look from readings and from other resources to the work queue.
type Wakes chan event.TypedGenericEvent[kube.Key]

// NewWakes makes a channel that rarely blocks.
func NewWakes() Wakes { return make(Wakes, 1024) }

// Wake asks for another look.
func (w Wakes) Wake(k kube.Key) { w <- event.TypedGenericEvent[kube.Key]{Object: k} }

// SetupSchema registers the schema reconciler: its own kind, the Jobs and Pods that carry our label, the approvals, and wake-ups.
func SetupSchema(mgr manager.Manager, r *SchemaReconciler, wakes Wakes, workers int) error {
	err := builder.ControllerManagedBy(mgr).
		Named("schema").
		For(&v1alpha1.PtahSchema{}, builder.WithPredicates(foreignWrites(r.World.Memory))).
		Watches(&batchv1.Job{}, handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.PtahSchema{}, handler.OnlyControllerOwner())).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(byLabel(v1alpha1.SchemaLabel))).
		Watches(&v1alpha1.PtahSchemaApproval{}, handler.EnqueueRequestsFromMapFunc(approvalTarget)).
		WatchesRawSource(source.TypedChannel(wakes, wakeHandler())).
		WithOptions(ctrl.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the schema controller: %w", err)
	}
	return nil
}

// foreignWrites drops the echo of our own writes: the pass that wrote has come back already.
func foreignWrites(memory *kube.Memory) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		k := kube.Key{Kind: schemaKind, NamespacedName: client.ObjectKeyFromObject(e.ObjectNew)}
		return !memory.OurWrite(k, e.ObjectNew.GetResourceVersion())
	}}
}

func byLabel(label string) handler.MapFunc {
	return func(_ context.Context, o client.Object) []reconcile.Request {
		name := o.GetLabels()[label]
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
	}
}

func approvalTarget(_ context.Context, o client.Object) []reconcile.Request {
	a, ok := o.(*v1alpha1.PtahSchemaApproval)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: a.Namespace, Name: a.Spec.SchemaRef.Name}}}
}

func wakeHandler() handler.TypedEventHandler[kube.Key, reconcile.Request] {
	return handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, k kube.Key) []reconcile.Request {
		if k.Kind != schemaKind {
			return nil
		}
		return []reconcile.Request{{NamespacedName: k.NamespacedName}}
	})
}

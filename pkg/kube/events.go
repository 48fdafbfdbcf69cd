package kube

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/operation"
)

// maxEvents is how many Events may wait to be written. More are dropped: an Event is a courtesy, the status is the record.
const maxEvents = 1024

// Events writes Events in the background, in order. They are emitted on transitions only, so nothing is aggregated and nothing is withheld.
type Events struct {
	writer client.Client
	queue  chan *corev1.Event
}

// NewEvents makes a writer that Start has to run.
func NewEvents(writer client.Client) *Events {
	return &Events{writer: writer, queue: make(chan *corev1.Event, maxEvents)}
}

// Emit queues one Event about an object.
func (e *Events) Emit(about client.Object, scheme *runtime.Scheme, n operation.Note, now time.Time) {
	if n.Event == "" {
		return
	}
	gvk, err := apiutil.GVKForObject(about, scheme)
	if err != nil {
		return
	}
	kind := corev1.EventTypeNormal
	if n.Warning {
		kind = corev1.EventTypeWarning
	}
	at := metav1.NewTime(now)
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: about.GetNamespace(), Name: fmt.Sprintf("%s.%s", about.GetName(), randomNonce()[:16])},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Namespace: about.GetNamespace(), Name: about.GetName(),
			UID: about.GetUID(), ResourceVersion: about.GetResourceVersion(),
		},
		Type: kind, Reason: string(n.Event), Message: n.Message, Count: 1, FirstTimestamp: at, LastTimestamp: at,
		Source: corev1.EventSource{Component: v1alpha1.ManagedByValue}, ReportingController: v1alpha1.GroupName + "/" + v1alpha1.ManagedByValue,
	}
	select {
	case e.queue <- event:
	default:
	}
}

// Start writes queued Events until the context ends.
func (e *Events) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("events")
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-e.queue:
			if err := e.writer.Create(ctx, event); err != nil && ctx.Err() == nil {
				logger.Error(err, "writing event", "namespace", event.Namespace, "name", event.InvolvedObject.Name, "reason", event.Reason)
			}
		}
	}
}

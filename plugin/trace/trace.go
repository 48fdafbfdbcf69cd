// Package trace keeps who changed something by hand, when and why. What is changed is gone afterwards, so the trace is two Events: one is stored
// before anything is changed, and one after it. A process that dies in between leaves the first.
package trace

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

// Writer writes Events; with dryRun the server only says whether it would take one.
type Writer interface {
	CreateEvent(ctx context.Context, event *corev1.Event, dryRun bool) error
}

// Trace is what is kept of one change.
type Trace struct {
	Global *options.Global
	Writer Writer
	// Did is what was done in the words of "who … this": cleared, rejected.
	Did string
	// Without goes on although nothing can be kept.
	Without bool
	About   corev1.ObjectReference
	// Subject identifies what is changed: with About, the reason and the time it makes the name of an Event.
	Subject string
	// Requested and Outcome are the names of the Events that were stored.
	Requested, Outcome string
}

// Begin stores who is about to change what, and why. Where it cannot be stored nothing may be changed, unless that was asked for. Under a dry
// run the server is only asked.
func (t *Trace) Begin(ctx context.Context, reason v1alpha1.EventReason, message string, dryRun bool) error {
	event := t.event(reason, message)
	err := t.Writer.CreateEvent(ctx, event, dryRun)
	switch {
	case err == nil && dryRun:
		return nil
	case err == nil:
		t.Requested = event.Name
		return nil
	case t.Without && (cluster.Answered(err) || ctx.Err() == nil):
		t.Global.Note(render.Caution, "%s: nothing in the cluster will keep who %s this, when and why", err, t.Did)
		return nil
	case cluster.IsForbidden(err) || cluster.IsAdmissionRefusal(err):
		return options.Refusedf("%w: who %s this, when and why would not be kept; get the permission, or give --without-event and write it down elsewhere; nothing was changed", err, t.Did)
	}
	return fmt.Errorf("%w; nothing was changed", err)
}

// End stores what was done. The first Event stands by now, so that a failure loses nothing but the confirmation; it is said all the same.
func (t *Trace) End(ctx context.Context, reason v1alpha1.EventReason, message string) error {
	if t.Requested == "" {
		return nil
	}
	event := t.event(reason, message)
	if err := t.Writer.CreateEvent(ctx, event, false); err != nil {
		t.Global.Note(render.Bad, "it was done, and the second Event was not written; Event %s keeps who asked for it and why, and this is what is missing: %s", t.Requested, message)
		return err
	}
	t.Outcome = event.Name
	return nil
}

func (t *Trace) event(reason v1alpha1.EventReason, message string) *corev1.Event {
	at := metav1.NewTime(t.Global.Clock())
	id := digest.Hex(digest.Tuple(string(reason), string(t.About.UID), t.Subject, at.UTC().Format(time.RFC3339Nano)))[:16]
	return &corev1.Event{
		TypeMeta:       metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta:     metav1.ObjectMeta{Namespace: t.About.Namespace, Name: t.About.Name + "." + id},
		InvolvedObject: t.About,
		Type:           corev1.EventTypeWarning, Reason: string(reason), Message: message, Count: 1, FirstTimestamp: at, LastTimestamp: at,
		Source: corev1.EventSource{Component: "kubectl-ptah"}, ReportingController: v1alpha1.GroupName + "/kubectl-ptah",
	}
}

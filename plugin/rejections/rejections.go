// Package rejections reads who decided against a plan. The API keeps no such decision: "kubectl ptah reject" leaves Events, which live as long as
// the API server keeps Events and which not everybody may read. So this never fails a command: it tells, or says why it cannot.
package rejections

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/timeline"
	"github.com/ptah-run/ptah/plugin/cluster"
)

// Reader lists Events.
type Reader interface {
	EachEvent(ctx context.Context, query cluster.Query, visit func(*corev1.Event) error) error
}

// Of says whether a plan of one resource was rejected.
func Of(ctx context.Context, reader Reader, namespace string, plan timeline.Plan) render.Rejected {
	found, why := read(ctx, reader, namespace, plan.Resource)
	return verdict(found, why, plan)
}

// Mark says of each resource's current plan whether it was rejected, with one reading of the Events of a namespace, or of all for "".
func Mark(ctx context.Context, reader Reader, namespace string, items ...*render.Resource) {
	var planned []*render.Resource
	for _, item := range items {
		if item.Plan != nil {
			planned = append(planned, item)
		}
	}
	var only types.UID
	switch len(planned) {
	case 0:
		return
	case 1:
		only, namespace = types.UID(planned[0].UID), planned[0].Namespace
	}
	found, why := read(ctx, reader, namespace, only)
	for _, item := range planned {
		p := item.Plan
		plan := timeline.Plan{Resource: types.UID(item.UID), Name: p.Name, Fingerprint: p.Fingerprint}
		if p.StoredAt != nil {
			plan.StoredAt = *p.StoredAt
		}
		if p.Approval != nil {
			plan.ApprovedAt = p.Approval.ApprovedAt
		}
		p.Rejected = verdict(found, why, plan)
	}
}

// told are the Events that a rejection leaves. A list can be selected by one reason only, so each has its own.
var told = []v1alpha1.EventReason{v1alpha1.EventPlanRejectionRequested, v1alpha1.EventPlanRejected}

func read(ctx context.Context, reader Reader, namespace string, resource types.UID) ([]corev1.Event, string) {
	var found []corev1.Event
	for _, reason := range told {
		query := cluster.Query{Namespace: namespace, Fields: "reason=" + string(reason)}
		if resource != "" {
			query.Fields += ",involvedObject.uid=" + string(resource)
		}
		err := reader.EachEvent(ctx, query, func(event *corev1.Event) error {
			if event.Reason == string(reason) {
				found = append(found, *event)
			}
			return nil
		})
		if err != nil {
			return nil, cluster.WhyOf(err)
		}
	}
	return found, ""
}

func verdict(events []corev1.Event, why string, plan timeline.Plan) render.Rejected {
	if why != "" {
		return render.Rejected{RejectionUnknown: why}
	}
	return render.NewRejected(timeline.Rejected(events, plan))
}

package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// EachEvent reads the Events of a namespace, or of all for "", page by page.
func (c *Client) EachEvent(ctx context.Context, query Query, visit func(*corev1.Event) error) error {
	return EachObject(ctx, c, KindEvents, query, visit)
}

package kube

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/metrics"
)

// Unresolved lists every record of a mutation that nobody accounted for, from durable status.
func Unresolved(ctx context.Context, reader client.Reader) ([]metrics.Unresolved, error) {
	var out []metrics.Unresolved
	var schemas v1alpha1.PtahSchemaList
	if err := reader.List(ctx, &schemas, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing schemas: %w", err)
	}
	for i := range schemas.Items {
		p := schemas.Items[i].Status.PendingObservation
		if p == nil || p.Outcome != v1alpha1.OutcomeUnknown {
			continue
		}
		u := metrics.Unresolved{Family: metrics.FamilySchema}
		if p.ObserveAfter != nil {
			u.Since = p.ObserveAfter.Time
		} else if at := schemas.Items[i].Status.LastAttemptTime; at != nil {
			u.Since = at.Time
		}
		out = append(out, u)
	}
	var migrations v1alpha1.PtahMigrationList
	if err := reader.List(ctx, &migrations, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing migrations: %w", err)
	}
	for i := range migrations.Items {
		if r := migrations.Items[i].Status.UnresolvedRun; r != nil {
			out = append(out, metrics.Unresolved{Family: metrics.FamilyMigration, Since: r.RecordedAt.Time})
		}
	}
	return out, nil
}

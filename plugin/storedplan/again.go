package storedplan

import (
	"context"
	"time"

	"github.com/ptah-run/ptah/pkg/pin"
	"github.com/ptah-run/ptah/plugin/cluster"
)

// byPlan selects the approvals that name one plan. Both kinds of approval let themselves be selected by it; the CRDs of an older operator do not.
const byPlan = "spec.planRef.name="

// Approvals reads afresh what approvals pin: those that name one plan, or all for "". An approval always names a plan, so that none is missed.
func Approvals(ctx context.Context, lister Lister, family pin.Family, namespace, plan string) (*pin.World, error) {
	s := &Survey{}
	query := cluster.Query{Namespace: namespace}
	if plan != "" {
		query.Fields = byPlan + plan
	}
	if family == pin.Migration {
		return &s.World, s.migrationApprovals(ctx, lister, query)
	}
	return &s.World, s.schemaApprovals(ctx, lister, query)
}

// OwnersOf reads afresh what schemas or migrations pin, and what is under way at them.
func OwnersOf(ctx context.Context, lister Lister, family pin.Family, namespace string) (*pin.World, error) {
	s := &Survey{}
	query := cluster.Query{Namespace: namespace}
	if family == pin.Migration {
		return &s.World, s.migrations(ctx, lister, query)
	}
	return &s.World, s.schemas(ctx, lister, query)
}

// About is what readings of approvals and of owners say of one plan.
func About(plan pin.Plan, now time.Time, approvals, owners *pin.World) *pin.World {
	world := &pin.World{Now: now, Owners: owners.Owners}
	world.Pins.Add(approvals.Pins.Of(plan)...)
	world.Pins.Add(owners.Pins.Of(plan)...)
	return world
}

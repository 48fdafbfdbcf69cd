package cluster

import (
	"context"
	"errors"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/realm"
)

// Claimants lists who claims a database, in a namespace or, for "", in all. What could be listed is there beside the error.
func (c *Client) Claimants(ctx context.Context, namespace string) ([]realm.Claimant, error) {
	var out []realm.Claimant
	query := Query{Namespace: namespace}
	schemas := c.EachSchema(ctx, query, func(s *v1alpha1.PtahSchema) error {
		out = append(out, ClaimantOf(string(s.UID), s.Spec.Target, s.Spec.Suspend, s.DeletionTimestamp != nil))
		return nil
	})
	migrations := c.EachMigration(ctx, query, func(m *v1alpha1.PtahMigration) error {
		out = append(out, ClaimantOf(string(m.UID), m.Spec.Target, m.Spec.Suspend, m.DeletionTimestamp != nil))
		return nil
	})
	return out, errors.Join(schemas, migrations)
}

// ClaimantOf is a resource of either family as the census counts it; without a digest where its engine is not supported.
func ClaimantOf(uid string, target v1alpha1.Target, suspended, deleted bool) realm.Claimant {
	c := realm.Claimant{UID: uid, Shared: target.SharedRealm, Suspended: suspended, Deleted: deleted}
	if engine, ok := realm.NormaliseEngine(target.Engine); ok {
		c.Digest = realm.Digest(engine, target.CoordinationKey)
	}
	return c
}

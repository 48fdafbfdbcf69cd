package diff

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// relationSeverity rates what differs in a table of PostgreSQL itself.
func relationSeverity(o, n *model.Relation) string {
	var all []string
	add := func(differs bool, severity string) {
		if differs {
			all = append(all, severity)
		}
	}
	add(!o.Unlogged && n.Unlogged, Destructive) // a crash of the server empties it
	add(o.Unlogged && !n.Unlogged || o.AccessMethod != n.AccessMethod || o.ReplicaIdentity != n.ReplicaIdentity || o.ReplicaIndex != n.ReplicaIndex, Warning)
	add(o.PartitionBy != n.PartitionBy, Destructive)
	// Rows leave the parent, or come into it.
	leaves := func(p model.Name) bool { return !slices.Contains(n.Parents(), p) }
	add(slices.ContainsFunc(o.Parents(), leaves), Destructive)
	add(n.Partition != nil && (o.Partition == nil || *o.Partition != *n.Partition) || !slices.Equal(o.Inherits, n.Inherits), Warning)
	return Worst(all...)
}

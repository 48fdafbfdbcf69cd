package model

import (
	"fmt"
	"strconv"
)

// Relation is what a table of PostgreSQL may be beside its columns and constraints.
type Relation struct {
	Unlogged     bool     `json:"unlogged,omitempty"`
	AccessMethod string   `json:"access_method,omitempty"` // empty for heap
	ToastOptions []string `json:"toast_options,omitempty"` // storage parameters of the table's overflow, sorted
	// ReplicaIdentity is empty for the primary key, else "full", "nothing" or "index", which ReplicaIndex names.
	ReplicaIdentity string `json:"replica_identity,omitempty"`
	ReplicaIndex    string `json:"replica_index,omitempty"`
	Cluster         string `json:"cluster,omitempty"` // the index that CLUSTER sorts by

	PartitionBy string     `json:"partition_by,omitempty"` // the server's text: RANGE (a)
	Partition   *Partition `json:"partition,omitempty"`
	// Inherits are the parents of a table that is no partition, in order.
	Inherits []Name `json:"inherits,omitempty"`
}

// Partition is the place of a table under its parent. What it has from the parent (columns marked Inherited, constraints, indexes) is not repeated
// in it; column properties that may differ from the parent's are.
type Partition struct {
	Parent Name   `json:"parent"`
	Bound  string `json:"bound"` // the server's text: FOR VALUES …, DEFAULT
}

// Parents of a table: one for a partition, any number for an inheriting table.
func (r *Relation) Parents() []Name {
	if r.Partition != nil {
		return []Name{r.Partition.Parent}
	}
	return r.Inherits
}

// ColumnExtras are what a column of PostgreSQL may have beside its definition.
type ColumnExtras struct {
	Inherited  bool     `json:"inherited,omitempty"`  // the table has it from its parents alone
	Statistics *int     `json:"statistics,omitempty"` // nil for the server's default
	Options    []string `json:"options,omitempty"`    // n_distinct and the like, sorted
	// NotNullRule is set where the constraint behind NOT NULL has a name, a state or a comment of its own (PostgreSQL 18).
	NotNullRule *NotNullRule `json:"not_null_rule,omitempty"`
}

// NotNullRule is the constraint behind a NOT NULL.
type NotNullRule struct {
	Name      string `json:"name"`
	NotValid  bool   `json:"not_valid,omitempty"`
	NoInherit bool   `json:"no_inherit,omitempty"`
	Comment   string `json:"comment,omitempty"`
}

func (r *Relation) validate() error {
	switch r.ReplicaIdentity {
	case "", "full", "nothing":
	case "index":
		return text("replica identity", r.ReplicaIndex)
	default:
		return fmt.Errorf("unknown replica identity %q", r.ReplicaIdentity)
	}
	if r.Partition != nil {
		if len(r.Inherits) > 0 {
			return fmt.Errorf("is a partition and inherits")
		}
		return text("partition", r.Partition.Parent.Schema, r.Partition.Parent.Name, r.Partition.Bound)
	}
	return nil
}

func (c *collector) relation(r *Relation) {
	c.flag("unlogged", r.Unlogged)
	c.add("access method", r.AccessMethod)
	c.add("toast options", list(r.ToastOptions...))
	if r.ReplicaIdentity != "" {
		c.add("replica identity", list(r.ReplicaIdentity, r.ReplicaIndex))
	}
	c.add("cluster", r.Cluster)
	c.add("partition by", r.PartitionBy)
	if r.Partition != nil {
		c.add("partition", list(r.Partition.Parent.Schema, r.Partition.Parent.Name, r.Partition.Bound))
	}
	var parents []string
	for _, p := range r.Inherits {
		parents = append(parents, p.Schema, p.Name)
	}
	c.add("inherits", list(parents...))
}

func (c *collector) extras(e *ColumnExtras) {
	c.flag("inherited", e.Inherited)
	if e.Statistics != nil {
		c.add("statistics", strconv.Itoa(*e.Statistics))
	}
	c.add("column options", list(e.Options...))
	if r := e.NotNullRule; r != nil {
		c.add("not null rule", list(r.Name, strconv.FormatBool(r.NotValid), strconv.FormatBool(r.NoInherit), r.Comment))
	}
}

// KeyStatistics is the statistics target of one key of an index, which is an expression.
type KeyStatistics struct {
	Key    int `json:"key"` // from 1
	Target int `json:"target"`
}

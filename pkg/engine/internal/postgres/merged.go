package postgres

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// A column is merged where a table has it of its own and from a parent as well: the server changes it with the parent's, and keeps it where the
// parent loses it. Nothing makes it the table's own later, or takes that back.

// givers are the parents that have a column and that a table stays under while the plan runs.
func (p *planner) givers(t *model.Table, column string) []*model.Table {
	var out []*model.Table
	for _, name := range t.Parents() {
		if parent := p.relative(name); parent != nil && parent.Column(column) != nil && p.from.Table(t.Name) != nil {
			out = append(out, parent)
		}
	}
	return out
}

// follows reports whether a column that stays changes with a parent's.
func (p *planner) follows(t *model.Table, column string) bool {
	return !p.fresh(t.Name, column) && slices.ContainsFunc(p.givers(t, column), func(parent *model.Table) bool {
		return p.from.Table(parent.Name) == nil || !p.fresh(parent.Name, column)
	})
}

// mergesNew reports whether a column is added to a table and to a parent of it.
func (p *planner) mergesNew(t *model.Table, column string) bool {
	return p.fresh(t.Name, column) && slices.ContainsFunc(p.givers(t, column), func(parent *model.Table) bool {
		return p.from.Table(parent.Name) != nil && p.fresh(parent.Name, column)
	})
}

// tops are the tables of a family that a column comes from in the end.
func (p *planner) tops(t *model.Table, column string) []model.Name {
	givers := p.givers(t, column)
	if len(givers) == 0 {
		return []model.Name{t.Name}
	}
	var out []model.Name
	for _, parent := range givers {
		for _, name := range p.tops(parent, column) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// refuseMerged names columns whose place in a family changes, and those that two families would have to change at once.
func (p *planner) refuseMerged() error {
	for i := range p.to.Tables {
		n := &p.to.Tables[i]
		o := p.from.Table(n.Name)
		if o == nil && p.namesComing(n, mentionedColumns(n, n.PartitionBy)) {
			return refuseObject("the new table %q.%q is partitioned by a column that its parent gains in the same plan: let the parent gain the column first", n.Schema, n.Name.Name)
		}
		for j := range n.Columns {
			var err error
			switch {
			case len(n.Inherits) == 0:
			case o == nil:
				err = p.refuseNewMerged(n, &n.Columns[j])
			default:
				err = p.refuseMergedColumn(o, n, &n.Columns[j])
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseNewMerged names a column of a new child that has another type than its parents have it in while the child is created.
func (p *planner) refuseNewMerged(n *model.Table, c *model.Column) error {
	for _, name := range n.Parents() {
		parent := p.relative(name)
		if c.Inherited || parent == nil || !p.hasWhenCreated(parent, c.Name) {
			continue
		}
		if start := p.startState(parent, c.Name); start.Type != c.Type || start.Collation != c.Collation {
			return refuseObject("column %q of the new table %q.%q is declared in its parent %q.%q too, which takes another type in the same plan: let the parent take it first", c.Name, n.Schema, n.Name.Name, parent.Schema, parent.Name.Name)
		}
	}
	return nil
}

func (p *planner) refuseMergedColumn(o, n *model.Table, c *model.Column) error {
	old := o.Column(c.Name)
	switch {
	case !p.fresh(n.Name, c.Name) && c.Inherited && !old.Inherited:
		return refuseObject("column %q of table %q.%q is declared as inherited alone and is the table's own as well: PostgreSQL cannot change that; declare it in the table too", c.Name, n.Schema, n.Name.Name)
	case !p.fresh(n.Name, c.Name) && !c.Inherited && old.Inherited && p.follows(n, c.Name):
		return refuseObject("column %q of table %q.%q is declared in the table too and is inherited alone: PostgreSQL cannot change that; declare it in the parents alone", c.Name, n.Schema, n.Name.Name)
	case p.follows(n, c.Name) && (old.Type != c.Type || old.Collation != c.Collation):
		tops := p.tops(n, c.Name)
		if p.excluded.Table(tops[0]) != nil {
			return refuseObject("column %q of table %q.%q is declared with another type and comes from the excluded table %q.%q, which the plan leaves alone", c.Name, n.Schema, n.Name.Name, tops[0].Schema, tops[0].Name)
		}
		if len(tops) > 1 {
			return refuseObject("column %q of table %q.%q is declared with another type and comes from tables %q.%q and %q.%q: PostgreSQL changes it in one family at a time; let the table leave all parents but one first",
				c.Name, n.Schema, n.Name.Name, tops[0].Schema, tops[0].Name, tops[1].Schema, tops[1].Name)
		}
	case !c.Inherited && p.mergesNew(n, c.Name):
		for _, parent := range p.givers(n, c.Name) {
			if p.fresh(parent.Name, c.Name) && p.addPhase(n.Name, c) != p.addPhase(parent.Name, parent.Column(c.Name)) {
				return refuseObject("column %q is declared in table %q.%q and in its parent %q.%q, and one of them has to wait for a routine that the plan creates; declare it in one of them first",
					c.Name, n.Schema, n.Name.Name, parent.Schema, parent.Name.Name)
			}
		}
	}
	return nil
}

// mergedFirst puts what adds a merged column or check in front, children first: the parent's statement finds it there and merges them.
func mergedFirst(steps []step) []step {
	var first, rest []step
	for _, s := range steps {
		if s.merged {
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	return append(childrenFirst(first), rest...)
}

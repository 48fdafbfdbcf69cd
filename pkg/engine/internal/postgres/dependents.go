package postgres

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// findRebuilt marks generated columns that the server cannot change in place.
func (p *planner) findRebuilt() {
	for i := range p.to.Tables {
		n := &p.to.Tables[i]
		o := p.from.Table(n.Name)
		if o == nil {
			continue
		}
		moved := movedColumns(o, n)
		for j := range n.Columns {
			if old := o.Column(n.Columns[j].Name); old != nil && p.needsRebuild(old, &n.Columns[j], moved) {
				p.rebuilt[model.ColumnRef{Table: n.Name, Column: old.Name}] = true
			}
		}
	}
}

// movedColumns are the columns of a table that go or change their type, which no generated column may depend on meanwhile.
func movedColumns(o, n *model.Table) map[string]bool {
	moved := map[string]bool{}
	for i := range o.Columns {
		old := &o.Columns[i]
		if c := n.Column(old.Name); c == nil || c.Type != old.Type || c.Collation != old.Collation || c.Generated != nil && old.Generated == nil {
			moved[old.Name] = true
		}
	}
	return moved
}

func (p *planner) needsRebuild(o, n *model.Column, moved map[string]bool) bool {
	switch {
	case o.Generated == nil:
		return n.Generated != nil
	case n.Generated == nil:
		return o.Generated.Virtual
	case *o.Generated != *n.Generated && (p.major < 17 || n.Generated.Virtual || o.Generated.Virtual),
		o.Type != n.Type, o.Collation != n.Collation, p.callsMoving(o.Generated.Expression):
		return true
	}
	for name := range mentions(o.Generated.Expression) {
		if moved[name] {
			return true
		}
	}
	return false
}

// findRecreated marks constraints and indexes that are the same on both sides and have to go and come back: those on rebuilt columns,
// and foreign keys whose columns or referenced keys change under them.
func (p *planner) findRecreated() {
	for i := range p.to.Tables {
		n := &p.to.Tables[i]
		o := p.from.Table(n.Name)
		if o == nil {
			continue
		}
		for j := range n.Constraints {
			c := &n.Constraints[j]
			if c.Kind != model.ForeignKey && p.onBothSides(o, c) && (p.touchesRebuilt(n.Name, c.Columns, c.Include, mentionedColumns(n, c.Definition)) || p.callsMoving(c.Expression) || p.callsMoving(c.Definition) || p.strictBelow(o, n, counterpart(o, c))) {
				p.recreated[partKey{table: n.Name, name: c.Name}] = true
			}
		}
		for j := range n.Indexes {
			x := &n.Indexes[j]
			if slices.ContainsFunc(o.Indexes, func(old model.Index) bool { return sameIndex(&old, x) }) &&
				(p.touchesRebuilt(n.Name, indexColumns(n, x)) || p.callsMoving(indexExpressions(x)...)) {
				p.recreated[partKey{table: n.Name, index: true, name: x.Name}] = true
			}
		}
	}
	for i := range p.to.Tables {
		n := &p.to.Tables[i]
		o := p.from.Table(n.Name)
		if o == nil {
			continue
		}
		for j := range n.Constraints {
			c := &n.Constraints[j]
			if c.Kind == model.ForeignKey && p.onBothSides(o, c) && p.foreignKeyMoves(n.Name, c) {
				p.recreated[partKey{table: n.Name, name: c.Name}] = true
			}
		}
	}
}

// strictBelow reports whether a check is on a column that takes another type, and is unproved or not enforced while a table below has it otherwise: the
// server makes both anew with the type, and the parent's first, which the child's does not merge with.
func (p *planner) strictBelow(o, n *model.Table, c *model.Constraint) bool {
	if c.Kind != model.Check || c.NoInherit || !c.NotValid && !c.NotEnforced || !slices.ContainsFunc(c.Columns, func(name string) bool { return movedColumns(o, n)[name] }) {
		return false
	}
	return slices.ContainsFunc(p.from.Tables, func(t model.Table) bool {
		if !slices.Contains(t.Inherits, o.Name) || p.to.Table(t.Name) == nil {
			return false
		}
		i := slices.IndexFunc(t.Constraints, func(k model.Constraint) bool { return k.Kind == model.Check && k.Name == c.Name })
		return i >= 0 && (c.NotValid && !t.Constraints[i].NotValid || c.NotEnforced && !t.Constraints[i].NotEnforced) || p.strictBelow(&t, p.to.Table(t.Name), c)
	})
}

// onBothSides reports whether the old table has the constraint with the same definition, as far as it cannot be altered in place; others
// are dropped and added anyway.
func (p *planner) onBothSides(o *model.Table, c *model.Constraint) bool {
	old := counterpart(o, c)
	if old == nil {
		return false
	}
	_, inPlace := alterConstraint(o.Name, old, c)
	return inPlace
}

// counterpart finds a constraint's other side: by name, or the one primary key.
func counterpart(t *model.Table, c *model.Constraint) *model.Constraint {
	for i := range t.Constraints {
		k := &t.Constraints[i]
		if k.Kind == model.PrimaryKey && c.Kind == model.PrimaryKey || k.Name == c.Name && k.Kind == c.Kind {
			return k
		}
	}
	return nil
}

func sameIndex(o, n *model.Index) bool {
	return o.Name == n.Name && onlyOptions(diff.IndexChange{Old: o, New: n})
}

func (p *planner) touchesRebuilt(table model.Name, lists ...[]string) bool {
	return slices.ContainsFunc(slices.Concat(lists...), func(name string) bool { return p.rebuilt[model.ColumnRef{Table: table, Column: name}] })
}

// indexColumns are the columns that an index depends on, its expressions and predicate included.
func indexColumns(t *model.Table, x *model.Index) []string {
	columns := slices.Clone(x.Include)
	text := x.Predicate
	for _, k := range x.Keys {
		if k.Column != "" {
			columns = append(columns, k.Column)
		}
		text += " " + k.Expression
	}
	for name := range mentions(text) {
		if t.Column(name) != nil {
			columns = append(columns, name)
		}
	}
	return columns
}

// foreignKeyMoves reports whether a foreign key of the target has to be dropped while the plan runs, although it is declared as it is.
func (p *planner) foreignKeyMoves(table model.Name, c *model.Constraint) bool {
	ref := c.Reference
	for i := range c.Columns {
		if p.columnMoves(table, c.Columns[i]) || p.columnMoves(ref.Table, ref.Columns[i]) {
			return true
		}
	}
	return p.keyGoes(ref)
}

// columnMoves reports whether a column is rebuilt or gets a type of another family, so that no comparison spans the change.
func (p *planner) columnMoves(table model.Name, column string) bool {
	if p.rebuilt[model.ColumnRef{Table: table, Column: column}] {
		return true
	}
	o, n := p.from.Table(table), p.to.Table(table)
	if o == nil || n == nil {
		return false
	}
	a, b := o.Column(column), n.Column(column)
	if a == nil || b == nil {
		return false
	}
	return a.Collation != b.Collation || a.Type != b.Type && !diff.Widens(a.Type, b.Type) && !diff.Widens(b.Type, a.Type)
}

// keyGoes reports whether a key that a foreign key may rest on is dropped or built again.
func (p *planner) keyGoes(ref *model.Reference) bool {
	o := p.from.Table(ref.Table)
	n := p.to.Table(ref.Table)
	if o == nil || n == nil {
		return o != nil
	}
	for i := range o.Constraints {
		k := &o.Constraints[i]
		if (k.Kind == model.PrimaryKey || k.Kind == model.Unique) && sameSet(k.Columns, ref.Columns) && !p.keyStays(n, k) {
			return true
		}
	}
	for i := range o.Indexes {
		x := &o.Indexes[i]
		stays := slices.ContainsFunc(n.Indexes, func(k model.Index) bool { return sameIndex(x, &k) }) && !p.recreated[partKey{table: o.Name, index: true, name: x.Name}]
		if x.Unique && !stays && sameSet(indexColumns(o, x), slices.Concat(ref.Columns, x.Include)) {
			return true
		}
	}
	return false
}

func (p *planner) keyStays(n *model.Table, k *model.Constraint) bool {
	return slices.ContainsFunc(n.Constraints, func(c model.Constraint) bool {
		if c.Kind != k.Kind || c.Name != k.Name && k.Kind != model.PrimaryKey || p.recreated[partKey{table: n.Name, name: c.Name}] {
			return false
		}
		_, inPlace := alterConstraint(n.Name, k, &c)
		return inPlace
	})
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// mentionedColumns are the columns of a table that a text mentions, sorted.
func mentionedColumns(t *model.Table, text string) []string {
	var columns []string
	for name := range mentions(text) {
		if t.Column(name) != nil {
			columns = append(columns, name)
		}
	}
	slices.Sort(columns)
	return columns
}

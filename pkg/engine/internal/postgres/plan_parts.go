package postgres

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Parts of tables call routines: defaults, generated columns, checks, indexes. Most routines come before the tables and go after them. One that
// stands on a relation cannot, so that the parts which call it are taken off before it goes and put on behind it.

// findMovingLate finds the routines that go, or go and come back, before the tables change.
func (p *planner) findMovingLate() {
	p.movingLate = map[model.Name]bool{}
	for key := range p.lateFrom {
		if p.fates[key] >= recreated {
			p.movingLate[model.Name{Schema: key.Schema, Name: key.Name}] = true
		}
	}
}

// early is the phase in which a part goes: its own, or the one before the late routines that it calls.
func (p *planner) early(ph phase, expressions ...string) phase {
	if callsAny(p.movingLate, expressions...) {
		return phaseReleaseParts
	}
	return ph
}

// behind is the phase in which something is put on: its own, or the one behind the late routines that it calls.
func (p *planner) behind(ph phase, expression string) phase {
	if callsAny(p.awaited, expression) {
		return phaseLateColumns
	}
	return ph
}

// releaseParts takes off what would otherwise go with its table or column, later than the routine that it calls.
func (p *planner) releaseParts() {
	routines := p.movingLate
	if len(routines) == 0 {
		return
	}
	for i := range p.from.Tables {
		t := &p.from.Tables[i]
		gone := p.to.Table(t.Name) == nil
		for j := range t.Columns {
			c := &t.Columns[j]
			switch {
			case callsAny(routines, c.Default) && p.columnGoes(model.ColumnRef{Table: t.Name, Column: c.Name}):
				p.add(phaseReleaseParts, p.columnStep(t.Name, c, "ALTER COLUMN "+ident(c.Name)+" DROP DEFAULT", "drop_default", diff.Warning, "the routine that it calls goes before the column does", ""))
			case gone && c.Generated != nil && callsAny(routines, c.Generated.Expression):
				p.dropColumn(t.Name, c, nil)
			}
		}
		if !gone {
			continue
		}
		for j := range t.Constraints {
			if c := &t.Constraints[j]; callsAny(routines, c.Expression) || p.keyReleases(t.Name, c) {
				p.dropConstraint(t.Name, c, "the routine that it calls goes before the table does")
			}
		}
		for j := range t.Indexes {
			if x := &t.Indexes[j]; callsAny(routines, indexExpressions(x)...) {
				p.dropIndex(t.Name, x, "the routine that it calls goes before the table does")
			}
		}
	}
}

// keyReleases reports whether a foreign key joins a generated column that goes before a late routine does.
func (p *planner) keyReleases(table model.Name, c *model.Constraint) bool {
	if len(p.movingLate) == 0 || c.Reference == nil {
		return false
	}
	early := func(name model.Name, columns []string) bool {
		t := p.from.Table(name)
		return t != nil && slices.ContainsFunc(columns, func(column string) bool {
			x := t.Column(column)
			return x != nil && x.Generated != nil && callsAny(p.movingLate, x.Generated.Expression)
		})
	}
	return early(table, c.Columns) || early(c.Reference.Table, c.Reference.Columns)
}

// firstForm is a new table without what has to wait for a routine, or for a column that its parent gains; the constraints among that are returned, the
// columns and defaults planned.
func (p *planner) firstForm(t *model.Table) (*model.Table, []*model.Constraint) {
	if len(p.awaited) == 0 && len(t.Parents()) == 0 {
		return t, nil
	}
	first := *t
	first.Columns, first.Constraints = nil, nil
	for i := range t.Columns {
		c := t.Columns[i]
		switch {
		case c.Inherited:
		case p.comesLater(t, &c):
			p.addColumn(t.Name, &t.Columns[i], false)
			continue
		case callsAny(p.awaited, c.Default):
			p.add(phaseLateColumns, p.columnStep(t.Name, &c, "ALTER COLUMN "+ident(c.Name)+" SET DEFAULT "+c.Default, "set_default", diff.Safe, "the routine that it calls stands on a table", ""))
			c.Default = ""
		}
		first.Columns = append(first.Columns, c)
	}
	var later []*model.Constraint
	for i := range t.Constraints {
		if c := &t.Constraints[i]; p.constraintWaits(t.Name, c) || p.namesComing(t, c.Columns, mentionedColumns(t, c.Definition)) {
			later = append(later, c)
		} else {
			first.Constraints = append(first.Constraints, *c)
		}
	}
	return &first, later
}

// comesLater reports whether a column of a new table's own is added to it, and no part of its CREATE TABLE.
func (p *planner) comesLater(t *model.Table, c *model.Column) bool {
	return p.lateColumns[model.ColumnRef{Table: t.Name, Column: c.Name}] || c.Generated != nil && p.namesComing(t, mentionedColumns(t, c.Generated.Expression))
}

// namesComing reports whether a new table has one of some columns only when its parent has gained it.
func (p *planner) namesComing(t *model.Table, lists ...[]string) bool {
	return slices.ContainsFunc(slices.Concat(lists...), func(name string) bool { return !p.hasWhenCreated(t, name) })
}

func (p *planner) constraintWaits(table model.Name, c *model.Constraint) bool {
	return p.waits(table, slices.Concat(c.Columns, c.Include), c.Expression) || c.Reference != nil && p.waits(c.Reference.Table, c.Reference.Columns)
}

// laterPhase is where a constraint or index that waits is made instead.
func laterPhase(ph phase) phase {
	if later, ok := map[phase]phase{phaseKeys: phaseLateKeys, phaseChecks: phaseLateChecks, phaseForeignKeys: phaseLateForeignKeys, phaseIndexes: phaseLateIndexes}[ph]; ok {
		return later
	}
	return ph
}

package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// fate is what becomes of a definition of the target.
type fate int

const (
	stays     fate = iota
	replaced       // redefined in place
	recreated      // dropped and created: redefined otherwise, or something under it goes or changes
	goes
)

// definitionPlan is what the planner knows about definitions before it writes a statement.
type definitionPlan struct {
	fates map[model.Dependency]fate // of the target's, those that stay left out
	// moving are the names of routines that are not there for a while, or for good.
	moving map[model.Name]bool
	// late are the routines of both sides that stand on a relation, so that they come after tables and go before them; all other routines go
	// the other way, because tables use them.
	lateFrom, lateTo map[model.Dependency]bool
	movingLate       map[model.Name]bool // the moving routines that are late on the target, by name
	// awaited are late routines that are created, by name: parts of tables that call them have to wait.
	awaited     map[model.Name]bool
	lateColumns map[model.ColumnRef]bool // columns that can only be added behind an awaited routine
}

// findFates says what becomes of everything on the target that may not stay as it is: definitions, and the columns, constraints and indexes under
// and above them. Each may bring down others, until nothing more falls.
func (p *planner) findFates() {
	p.fates, p.moving = map[model.Dependency]fate{}, map[model.Name]bool{}
	p.lateFrom, p.lateTo = lateRoutines(p.from), lateRoutines(p.to)
	for _, c := range p.diff.Definitions {
		switch {
		case c.Old == nil || !c.Redefined() && c.New != nil:
		case c.New == nil:
			p.fall(c.Old, goes)
		case c.InPlace():
			p.fates[c.Old.Key()] = replaced
		default:
			p.fall(c.Old, recreated)
		}
	}
	for again := true; again; {
		p.findRebuilt()
		p.findRecreated()
		again = p.findFallen()
	}
	p.findMovingLate()
	p.findAwaited()
}

func (p *planner) fall(d *model.Definition, f fate) {
	p.fates[d.Key()] = f
	if isRoutine(d.Kind) {
		p.moving[model.Name{Schema: d.Schema, Name: d.Name}] = true
	}
}

// findFallen marks the definitions that stand on something which goes or changes; it reports whether it found any.
func (p *planner) findFallen() bool {
	found := false
	for again := true; again; {
		again = false
		for i := range p.from.Definitions {
			d := &p.from.Definitions[i]
			if p.fates[d.Key()] < recreated && (slices.ContainsFunc(d.DependsOn, p.gives) || p.storesOldRows(d) || p.losesTarget(d)) {
				p.fall(d, recreated)
				again, found = true, true
			}
		}
	}
	return found
}

// gives reports whether what a definition stands on gives way: it goes, is built again, or changes in a way that the server refuses under it.
func (p *planner) gives(dep model.Dependency) bool {
	key := dep
	key.Column = ""
	if p.fates[key] >= recreated {
		return true
	}
	name := model.Name{Schema: dep.Schema, Name: dep.Name}
	switch dep.Kind {
	case model.KindTable:
		return p.from.Table(name) != nil && (p.to.Table(name) == nil || dep.Column != "" && p.columnGives(name, dep.Column))
	case "constraint":
		return p.constraintGives(model.Name{Schema: dep.Schema, Name: dep.Table}, dep.Name)
	case model.KindSequence:
		return hasName(p.from.Sequences, name, sequenceName) && !hasName(p.to.Sequences, name, sequenceName)
	case model.KindComposite:
		return p.types.goes(typeKey{dep.Kind, name}) || dep.Column != "" && p.attributeGives(name, dep.Column)
	case model.KindEnum, model.KindDomain, model.KindRange, model.KindCollation:
		return p.types.goes(typeKey{dep.Kind, name})
	}
	return false
}

// storesOldRows reports a materialized view with whole rows of a table that writes its rows anew, or has them judged: the server refuses that over stored
// rows.
func (p *planner) storesOldRows(d *model.Definition) bool {
	return d.Kind == model.KindMaterializedView && strings.Contains(d.Create, ".*") && slices.ContainsFunc(d.DependsOn, func(dep model.Dependency) bool {
		name := model.Name{Schema: dep.Schema, Name: dep.Name}
		return dep.Kind == model.KindTable && dep.Column == "" && (p.writesAnew(name) || p.judgesRows(name))
	})
}

// judgesRows reports whether the plan gives a rule to a domain of which a table has values, and keeps them.
func (p *planner) judgesRows(table model.Name) bool {
	t := p.from.Table(table)
	if t == nil {
		t = p.excluded.Table(table)
	}
	return t != nil && slices.ContainsFunc(p.diff.Domains, func(d diff.Change[model.Domain]) bool {
		return d.Old != nil && d.New != nil && gainsRule(d.Old, d.New) && slices.ContainsFunc(t.Columns, func(c model.Column) bool {
			return p.isOver(c.Type, d.New.Name) && !p.columnGoes(model.ColumnRef{Table: table, Column: c.Name})
		})
	})
}

// writesAnew reports whether the plan may have the server compute values for the rows of a table.
func (p *planner) writesAnew(table model.Name) bool {
	o, n := p.from.Table(table), p.to.Table(table)
	if o == nil || n == nil {
		return false
	}
	return o.Unlogged != n.Unlogged || slices.ContainsFunc(n.Columns, func(c model.Column) bool {
		if p.fresh(table, c.Name) {
			return c.Default != "" || c.Generated != nil || c.Identity != nil || p.constrained(c.Type)
		}
		return p.columnGives(table, c.Name)
	})
}

// goes reports whether a type is dropped, for good or to be built again.
func (t *typePlan) goes(key typeKey) bool {
	return slices.ContainsFunc(t.gone, func(n *typeNode) bool { return n.typeKey == key })
}

// attributeGives reports whether an attribute of a composite type goes or changes under what uses it.
func (p *planner) attributeGives(composite model.Name, attribute string) bool {
	for _, c := range p.diff.Composites {
		if c.Old != nil && c.New != nil && c.New.Name == composite {
			o, n := diff.AttributeOf(c.Old, attribute), diff.AttributeOf(c.New, attribute)
			return o == nil || n == nil || o.Type != n.Type || o.Collation != n.Collation
		}
	}
	return false
}

func sequenceName(s *model.Sequence) model.Name { return s.Name }

func hasName[T any](items []T, name model.Name, of func(*T) model.Name) bool {
	_, ok := slices.BinarySearchFunc(items, name, func(x T, n model.Name) int { return of(&x).Compare(n) })
	return ok
}

// losesTarget reports statistics on a column that is computed otherwise: the server makes them anew with it, and forgets their target.
func (p *planner) losesTarget(d *model.Definition) bool {
	return d.Kind == model.KindStatistics && slices.ContainsFunc(d.DependsOn, func(dep model.Dependency) bool {
		name := model.Name{Schema: dep.Schema, Name: dep.Name}
		o, n := p.from.Table(name), p.to.Table(name)
		return dep.Kind == model.KindTable && o != nil && n != nil && reexpressed(o.Column(dep.Column), n.Column(dep.Column))
	})
}

// reexpressed reports whether a column is computed before and after, and otherwise.
func reexpressed(o, n *model.Column) bool {
	return o != nil && n != nil && o.Generated != nil && n.Generated != nil && o.Generated.Expression != n.Generated.Expression
}

func (p *planner) columnGives(table model.Name, column string) bool {
	if p.columnGoes(model.ColumnRef{Table: table, Column: column}) {
		return true
	}
	o, n := p.from.Table(table).Column(column), p.to.Table(table).Column(column)
	return o != nil && (o.Type != n.Type || o.Collation != n.Collation)
}

func (p *planner) constraintGives(table model.Name, name string) bool {
	o, n := p.from.Table(table), p.to.Table(table)
	if o == nil || n == nil {
		return o != nil
	}
	for i := range o.Constraints {
		k := &o.Constraints[i]
		if k.Name == name {
			c := counterpart(n, k)
			return c == nil || p.recreated[partKey{table: table, name: c.Name}] || !p.onBothSides(o, c)
		}
	}
	return false
}

// callsMoving reports whether a deparsed expression calls a routine that is not there for a while.
func (p *planner) callsMoving(expressions ...string) bool { return callsAny(p.moving, expressions...) }

func callsAny(routines map[model.Name]bool, expressions ...string) bool {
	if len(routines) == 0 {
		return false
	}
	return slices.ContainsFunc(expressions, func(e string) bool {
		return slices.ContainsFunc(calls(e), func(n model.Name) bool { return routines[n] })
	})
}

// lateRoutines are the routines of a database that stand on a relation, directly or through others.
func lateRoutines(db *model.Database) map[model.Dependency]bool {
	late := map[model.Dependency]bool{}
	onRelation := func(dep model.Dependency) bool {
		switch dep.Kind {
		case model.KindTable, model.KindView, model.KindMaterializedView, "foreign table", "constraint":
			return true
		}
		return late[dep]
	}
	for again := true; again; {
		again = false
		for i := range db.Definitions {
			d := &db.Definitions[i]
			if isRoutine(d.Kind) && !late[d.Key()] && slices.ContainsFunc(d.DependsOn, onRelation) {
				late[d.Key()], again = true, true
			}
		}
	}
	return late
}

// findAwaited finds what has to wait for late routines.
func (p *planner) findAwaited() {
	p.awaited, p.lateColumns = map[model.Name]bool{}, map[model.ColumnRef]bool{}
	for i := range p.to.Definitions {
		d := &p.to.Definitions[i]
		if p.lateTo[d.Key()] && p.isCreated(d) {
			p.awaited[model.Name{Schema: d.Schema, Name: d.Name}] = true
		}
	}
	if len(p.awaited) == 0 {
		return
	}
	for _, t := range familyOrder(p.to.Tables) {
		o := p.from.Table(t.Name)
		for j := range t.Columns {
			c := &t.Columns[j]
			ref := model.ColumnRef{Table: t.Name, Column: c.Name}
			added := o == nil || o.Column(c.Name) == nil || p.rebuilt[ref]
			if added && c.Inherited {
				p.lateColumns[ref] = slices.ContainsFunc(t.Parents(), func(parent model.Name) bool { return p.lateColumns[model.ColumnRef{Table: parent, Column: c.Name}] })
				continue
			}
			// An added column fills existing rows with its default; a new table has none, and gets the default alone later.
			if added && (c.Generated != nil && callsAny(p.awaited, c.Generated.Expression) || o != nil && callsAny(p.awaited, c.Default)) {
				p.lateColumns[ref] = true
			}
		}
		p.findComputed(t)
	}
}

// findComputed finds the columns that are computed from late ones.
func (p *planner) findComputed(t *model.Table) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated == nil {
			continue
		}
		for name := range mentions(c.Generated.Expression) {
			if p.lateColumns[model.ColumnRef{Table: t.Name, Column: name}] && name != c.Name {
				p.lateColumns[model.ColumnRef{Table: t.Name, Column: c.Name}] = true
			}
		}
	}
}

// isCreated reports whether the plan creates a declared definition, anew or again.
func (p *planner) isCreated(d *model.Definition) bool {
	return p.from.Definition(d.Key()) == nil || p.fates[d.Key()] == recreated
}

// waits reports whether a constraint or index of a table can only be made behind an awaited routine.
func (p *planner) waits(table model.Name, columns []string, expressions ...string) bool {
	return callsAny(p.awaited, expressions...) || slices.ContainsFunc(columns, func(c string) bool { return p.lateColumns[model.ColumnRef{Table: table, Column: c}] })
}

// definitionChange is how a definition differs; nil on both sides where it does not.
func (p *planner) definitionChange(key model.Dependency) diff.DefinitionChange {
	wanted := &model.Definition{Object: key.Object, Arguments: key.Arguments}
	i, ok := slices.BinarySearchFunc(p.diff.Definitions, wanted, func(c diff.DefinitionChange, k *model.Definition) int {
		if c.New != nil {
			return c.New.CompareKey(k)
		}
		return c.Old.CompareKey(k)
	})
	if !ok {
		return diff.DefinitionChange{}
	}
	return p.diff.Definitions[i]
}

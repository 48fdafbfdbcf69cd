package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// outsideTransaction marks a statement that runs by itself, after the transaction.
const outsideTransaction = "none"

// validatesLate reports whether a constraint that comes to a table with rows is added without looking at them and validated afterwards, under a
// lock that lets everybody read and write.
func (p *planner) validatesLate(table model.Name, c *model.Constraint) bool {
	switch {
	case !p.online || c.NotValid || c.NotEnforced || !p.standsAlone(table):
		return false
	case c.Kind == model.ForeignKey:
		other := p.relative(c.Reference.Table)
		return other == nil || other.PartitionBy == ""
	}
	return c.Kind == model.Check
}

// standsAlone reports whether a table exists and has neither parents nor children, before and after: what a family shares cannot come in two halves,
// and a partitioned table takes neither NOT VALID nor CONCURRENTLY.
func (p *planner) standsAlone(table model.Name) bool {
	alone := func(t *model.Table) bool {
		return t != nil && t.PartitionBy == "" && t.Partition == nil && len(t.Inherits) == 0
	}
	return alone(p.from.Table(table)) && alone(p.to.Table(table)) && !p.children[table] && !p.moves[table]
}

// addAndValidate plans the two halves of a constraint; add is the statement that would do both at once.
func (p *planner) addAndValidate(ph phase, add step, c *model.Constraint) {
	p.late[partKey{table: add.table, name: c.Name}] = true
	unchecked := *c
	unchecked.NotValid = true
	validate := add
	add.SQL, add.Hazard = "ALTER TABLE "+qualified(add.table)+" ADD "+constraintSQL(&unchecked), ""
	p.add(ph, add)
	validate.SQL, validate.Kind = "ALTER TABLE "+qualified(add.table)+" VALIDATE CONSTRAINT "+ident(c.Name), "validate_constraint"
	validate.Lock, validate.Hazard, validate.Tx = lockShareUpdate, hazardRowsAgainst+"; reads the whole table while others read and write", outsideTransaction
	p.add(ph, validate)
}

// buildsLate reports whether an index that comes to a table with rows is built while others write. One that takes the place of another of its
// name is built in the transaction: between them there would be none. So is one that a foreign key of the plan may stand on.
func (p *planner) buildsLate(table model.Name, x *model.Index) bool {
	o := p.from.Table(table)
	if !p.online || !p.standsAlone(table) {
		return false
	}
	replaces := slices.ContainsFunc(o.Indexes, func(k model.Index) bool { return k.Name == x.Name }) && !p.isLeftover(table, x.Name)
	return !replaces && !p.marked(table, x) && (!x.Unique || !p.pointedAtAnew(table))
}

// pointedAtAnew reports whether a foreign key to the table is new on the target.
func (p *planner) pointedAtAnew(table model.Name) bool {
	for i := range p.diff.Tables {
		c := &p.diff.Tables[i]
		if c.New == nil {
			continue
		}
		for j := range c.New.Constraints {
			k := &c.New.Constraints[j]
			if k.Kind == model.ForeignKey && k.Reference.Table == table && (c.Old == nil || !p.onBothSides(c.Old, k)) {
				return true
			}
		}
	}
	return false
}

func (p *planner) createConcurrently(s step, table model.Name, x *model.Index) {
	p.late[partKey{table: table, index: true, name: x.Name}] = true
	s.SQL = strings.Replace(s.SQL, "INDEX ", "INDEX CONCURRENTLY ", 1) // the first word INDEX is the keyword: no name stands before it
	s.Lock, s.Hazard, s.Tx = lockShareUpdate, "reads the whole table twice while others read and write", outsideTransaction
	if x.Unique {
		s.Hazard = hazardDuplicates + "; " + s.Hazard
	}
	p.add(phaseIndexes, s)
	if x.Comment != "" {
		index := model.Name{Schema: table.Schema, Name: x.Name}
		p.add(phaseComments, step{table: table, Statement: plan.Statement{
			SQL: "COMMENT ON INDEX " + qualified(index) + " IS " + literal(x.Comment), Severity: diff.Safe, Kind: "set_comment",
			Object: display(index.Schema, index.Name), Reason: "the comment differs", Lock: lockShareUpdate, Tx: outsideTransaction,
		}})
	}
}

// midway is the target as it is when the transaction ends: without the late indexes, with the late constraints not validated.
func (p *planner) midway(target *model.Database) *model.Database {
	mid := *target
	mid.Tables = slices.Clone(target.Tables)
	for i := range mid.Tables {
		t := &mid.Tables[i]
		t.Indexes = slices.DeleteFunc(slices.Clone(t.Indexes), func(x model.Index) bool {
			return p.late[partKey{table: t.Name, index: true, name: x.Name}]
		})
		t.Constraints = slices.Clone(t.Constraints)
		for j := range t.Constraints {
			if p.late[partKey{table: t.Name, name: t.Constraints[j].Name}] {
				t.Constraints[j].NotValid = true
			}
		}
	}
	return &mid
}

// invalidIndex is what a concurrent build that was interrupted leaves behind. It is no object of its own: the index is there, and unusable.
const invalidIndex = "invalid index"

// leftovers are the invalid indexes of tables that both sides have. They are dropped, and built again where they are declared.
func (p *planner) leftovers() []model.Object {
	var out []model.Object
	for _, o := range p.from.Unmodelled {
		name := model.Name{Schema: o.Schema, Name: o.Table}
		if o.Kind == invalidIndex && p.from.Table(name) != nil && p.to.Table(name) != nil {
			out = append(out, o)
		}
	}
	return out
}

func (p *planner) isLeftover(table model.Name, index string) bool {
	return slices.Contains(p.leftovers(), model.Object{Kind: invalidIndex, Schema: table.Schema, Table: table.Name, Name: index})
}

// refusable is the database without what the plan repairs.
func (p *planner) refusable() *model.Database {
	left := p.leftovers()
	d := *p.from
	d.Unmodelled = slices.DeleteFunc(slices.Clone(d.Unmodelled), func(o model.Object) bool { return slices.Contains(left, o) })
	return &d
}

// findLeftovers marks the declared ones to be built again; changeIndex drops the others like every index that is not declared.
func (p *planner) findLeftovers() {
	for _, o := range p.leftovers() {
		name := model.Name{Schema: o.Schema, Name: o.Table}
		same := func(t *model.Table) *model.Index {
			i := slices.IndexFunc(t.Indexes, func(x model.Index) bool { return x.Name == o.Name })
			if i < 0 {
				return nil
			}
			return &t.Indexes[i]
		}
		if old, declared := same(p.from.Table(name)), same(p.to.Table(name)); old != nil && declared != nil {
			p.recreated[partKey{table: name, index: true, name: o.Name}] = true
		}
	}
}

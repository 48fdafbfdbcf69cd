package postgres

import (
	"maps"
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// PostgreSQL leaves a check, and since 18 what is behind a NOT NULL, in a child whose parent loses the column: it counts as inherited from then on, no parent
// has it, and no statement drops or renames it. In all else it is the table's own.

// orphans are those of the target; while it is read, everything that counts as inherited.
type orphans struct {
	checks   map[partKey]bool
	notNulls map[model.ColumnRef]bool
}

func newOrphans() orphans {
	return orphans{checks: map[partKey]bool{}, notNulls: map[model.ColumnRef]bool{}}
}

func (o orphans) cloneOrphans() orphans {
	return orphans{checks: maps.Clone(o.checks), notNulls: maps.Clone(o.notNulls)}
}

// renameTable is for the checks.
func (o orphans) renameTable(old, name model.Name) {
	for key := range maps.Clone(o.checks) {
		if key.table == old {
			delete(o.checks, key)
			key.table = name
			o.checks[key] = true
		}
	}
}

// adoptOrphans makes what no parent has the table's own.
func (r *reader) adoptOrphans() {
	tables := make(map[model.Name]*model.Table, len(r.tables))
	for _, t := range r.tables {
		tables[t.Name] = t
	}
	// A parent that is not read may have it.
	given := func(t *model.Table, has func(parent *model.Table) bool) bool {
		return slices.ContainsFunc(t.Parents(), func(name model.Name) bool { return tables[name] == nil || has(tables[name]) })
	}
	for key := range r.checks {
		t := tables[key.table]
		if given(t, func(parent *model.Table) bool {
			return hasCheck(parent, key.name) || hasCheck(r.inherited[parent.Name], key.name)
		}) {
			delete(r.checks, key)
		} else if from := r.inherited[t.Name]; hasCheck(from, key.name) {
			i := slices.IndexFunc(from.Constraints, func(c model.Constraint) bool { return c.Kind == model.Check && c.Name == key.name })
			t.Constraints = append(t.Constraints, from.Constraints[i])
			from.Constraints = slices.Delete(from.Constraints, i, i+1)
		}
	}
	for ref := range r.notNulls {
		t := tables[ref.Table]
		if given(t, func(parent *model.Table) bool { return handsDown(parent.Column(ref.Column)) }) {
			delete(r.notNulls, ref)
		} else if !r.ownNotNulls[ref] {
			r.ownNotNulls[ref] = true
			if from := r.inherited[t.Name]; from != nil && from.Column(ref.Column) != nil {
				t.Column(ref.Column).NotNullRule = from.Column(ref.Column).NotNullRule
				from.Columns = slices.DeleteFunc(from.Columns, func(c model.Column) bool { return c.Name == ref.Column })
			}
		}
	}
}

const orphanWay = "PostgreSQL keeps it as inherited since a parent lost the column, and neither drops nor renames it: declare it as it is, or have a superuser set coninhcount to 0 and conislocal to true for it in pg_constraint"

// refuseOrphans names those that the plan would take off a table or rename.
func (p *planner) refuseOrphans() error {
	for i := range p.from.Tables {
		o := &p.from.Tables[i]
		n := p.to.Table(o.Name)
		if n == nil {
			continue
		}
		for j := range o.Constraints {
			if key := (partKey{table: o.Name, name: o.Constraints[j].Name}); p.checks[key] && p.dropped[key] {
				return refuseObject("the check %q of table %q.%q would be dropped: "+orphanWay, key.name, o.Schema, o.Name.Name)
			}
		}
		for j := range o.Columns {
			ref := model.ColumnRef{Table: o.Name, Column: o.Columns[j].Name}
			c := n.Column(ref.Column)
			if !p.notNulls[ref] || c == nil || p.rebuilt[ref] {
				continue
			}
			if name := p.notNullBefore(o.Name, ref.Column); !c.NotNull || p.declaredNotNull(n, ref.Column) != name {
				return refuseObject("the NOT NULL constraint %q of table %q.%q would be dropped or renamed: "+orphanWay, name, o.Schema, o.Name.Name)
			}
		}
	}
	return nil
}

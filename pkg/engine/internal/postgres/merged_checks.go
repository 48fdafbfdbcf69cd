package postgres

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// A check is merged where a table has it of its own and from a parent as well: it stays when the parent loses it, and only then can be taken off.
// ADD CONSTRAINT makes one that comes from a parent the table's own too. Partitions have none: what the parent has is the parent's alone.

// hasCheck reports whether a table of a database has a check that its children get too.
func hasCheck(t *model.Table, name string) bool {
	return t != nil && slices.ContainsFunc(t.Constraints, func(c model.Constraint) bool { return c.Kind == model.Check && c.Name == name && !c.NoInherit })
}

// handsCheck reports whether the children of a declared table have a check from it in the end.
func (p *planner) handsCheck(t *model.Table, name string) bool {
	return t != nil && slices.ContainsFunc(p.lineage(t), func(above *model.Table) bool { return hasCheck(above, name) })
}

// keepsCheck reports whether a table hands a check down as long as the plan runs. It is for tables that are planned.
func (p *planner) keepsCheck(name model.Name, check string) bool {
	t := p.from.Table(name)
	if t == nil {
		t = p.excluded.Table(name)
	}
	if hasCheck(t, check) && !p.dropped[partKey{table: name, name: check}] {
		return true
	}
	return t != nil && p.heldFromParents(t, check)
}

// heldFromParents reports whether a table of the target has a check from a parent that it stays under, and that keeps it.
func (p *planner) heldFromParents(t *model.Table, check string) bool {
	return slices.ContainsFunc(t.Parents(), func(parent model.Name) bool { return p.keepsCheck(parent, check) })
}

// mergesCheck reports whether a check of a declared table comes from a parent as well in the end. It is added to the table first: one that is validated does
// not merge with what a parent that adds it NOT VALID leaves there.
func (p *planner) mergesCheck(table model.Name, check string) bool {
	t := p.to.Table(table)
	return t != nil && slices.ContainsFunc(t.Parents(), func(parent model.Name) bool { return p.handsCheck(p.relative(parent), check) })
}

// heldCheck is a check that a table of the target has from its parents alone, throughout the plan, and that is declared as its own too; nil where it
// has none.
func (p *planner) heldCheck(table model.Name, c *model.Constraint) *model.Constraint {
	t, inherited := p.from.Table(table), p.inherited[table]
	if t == nil || inherited == nil || c.Kind != model.Check || !p.heldFromParents(t, c.Name) {
		return nil
	}
	return counterpart(inherited, c)
}

// mergeCheck makes an inherited check the table's own as well, which takes no look at the rows.
func (p *planner) mergeCheck(table model.Name, inherited, c *model.Constraint) {
	merged := *c
	merged.NotValid = c.NotValid || inherited.NotValid // the server merges no other
	p.add(phaseChecks, step{table: table, Statement: plan.Statement{
		SQL: "ALTER TABLE " + qualified(table) + " ADD " + constraintSQL(&merged), Severity: diff.Warning, Kind: "add_check",
		Object: display(table.Schema, table.Name, c.Name), Reason: "the constraint is declared in the table as well as in its parent", Lock: lockExclusive,
	}})
	at := *inherited
	at.NotEnforced, at.NotValid = c.NotEnforced, merged.NotValid
	if steps, inPlace := alterConstraint(table, &at, c); inPlace {
		for _, s := range steps {
			p.add(phaseChecks, s.step)
		}
	}
	p.constraintComment(table, inherited, c)
}

// refuseHeldChecks names checks that a table has from a parent, and that the plan would take off it, or put another state on.
func (p *planner) refuseHeldChecks() error {
	for _, n := range familyOrder(p.to.Tables) {
		o := p.from.Table(n.Name)
		if o == nil || len(o.Inherits) == 0 {
			continue
		}
		for i := range o.Constraints {
			if c := &o.Constraints[i]; p.dropped[partKey{table: n.Name, name: c.Name}] && c.Kind == model.Check && p.heldFromParents(o, c.Name) {
				return refuseObject("the check %q of table %q.%q is the table's own and comes from a parent as well, and is declared otherwise: PostgreSQL cannot change that while the parent has it; declare it in the table too, as it is",
					c.Name, n.Schema, n.Name.Name)
			}
		}
		for i := range n.Constraints {
			c := &n.Constraints[i]
			if k := p.heldCheck(n.Name, c); k != nil && !hasCheck(o, c.Name) && c.NotValid && !k.NotValid {
				return refuseObject("the check %q of table %q.%q is declared NOT VALID in the table, which has it validated from its parent: PostgreSQL cannot change that; declare it validated", c.Name, n.Schema, n.Name.Name)
			}
		}
	}
	return nil
}

// lineage is a declared table with everything that it inherits from, each before its parents.
func (p *planner) lineage(t *model.Table) []*model.Table {
	out := []*model.Table{t}
	for _, name := range t.Parents() {
		if parent := p.relative(name); parent != nil {
			for _, above := range p.lineage(parent) {
				if !slices.Contains(out, above) {
					out = append(out, above)
				}
			}
		}
	}
	return out
}

// handedChecks are the checks that the children of a declared table have from it in the end.
func (p *planner) handedChecks(t *model.Table) []model.Constraint {
	var out []model.Constraint
	for _, above := range p.lineage(t) {
		for _, c := range above.Constraints {
			if c.Kind == model.Check && !c.NoInherit && !slices.ContainsFunc(out, func(k model.Constraint) bool { return k.Name == c.Name }) {
				out = append(out, c)
			}
		}
	}
	return out
}

package postgres

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// A check is merged where a table has it of its own and from a parent as well: it stays when the parent loses it, and only then can be taken off.
// ADD CONSTRAINT makes one that comes from a parent the table's own too. Partitions have none: what the parent has is the parent's alone.

// hasCheck reports whether a table of a database has a check that its children get too.
func hasCheck(t *model.Table, name string) bool {
	return t != nil && slices.ContainsFunc(t.Constraints, func(c model.Constraint) bool { return c.Kind == model.Check && c.Name == name && !c.NoInherit })
}

// givesCheck reports whether a declared table hands a check down in the end: its own, or its parents'.
func (p *planner) givesCheck(t *model.Table, name string) bool {
	return t != nil && (hasCheck(t, name) || slices.ContainsFunc(t.Parents(), func(parent model.Name) bool { return p.givesCheck(p.relative(parent), name) }))
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

// refuseHeldChecks names checks that the plan would take off a table which has them from a parent as well.
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
	}
	return nil
}

// inheritedChecks are the checks that a declared table has from a parent in the end.
func (p *planner) inheritedChecks(parent *model.Table) []model.Constraint {
	var out []model.Constraint
	for _, c := range parent.Constraints {
		if c.Kind == model.Check && !c.NoInherit {
			out = append(out, c)
		}
	}
	for _, name := range parent.Parents() {
		if above := p.relative(name); above != nil {
			for _, c := range p.inheritedChecks(above) {
				if !slices.ContainsFunc(out, func(k model.Constraint) bool { return k.Name == c.Name }) {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

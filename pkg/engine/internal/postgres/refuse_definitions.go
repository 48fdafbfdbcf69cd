package postgres

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// refuseHeldDefinitions names what an excluded definition, or a part of an excluded table, holds back.
func (p *planner) refuseHeldDefinitions() error {
	for i := range p.excluded.Definitions {
		d := &p.excluded.Definitions[i]
		if j := slices.IndexFunc(d.DependsOn, p.gives); j >= 0 {
			return refuseObject("%s, which is excluded, depends on %s, which the plan would drop or change under it: the plan never cascades into what is excluded",
				contract.NameObject(d.Object), nameDependency(d.DependsOn[j]))
		}
		if p.storesOldRows(d) {
			return refuseObject("%s, which is excluded, stores whole rows of a table whose rows the plan would write anew, or judge by a new rule of a domain, which PostgreSQL does not do under them",
				contract.NameObject(d.Object))
		}
	}
	for _, db := range []*model.Database{p.from, p.excluded} {
		for i := range db.Domains {
			if err := p.refuseHeldDomain(&db.Domains[i]); err != nil {
				return err
			}
		}
	}
	for i := range p.excluded.Tables {
		t := &p.excluded.Tables[i]
		called := ""
		tableExpressions(t, func(e string) {
			for _, n := range calls(e) {
				if p.moving[n] {
					called = contract.NameObject(model.Object{Kind: "routine", Schema: n.Schema, Name: n.Name})
				}
			}
		})
		if called != "" {
			return refuseObject("the excluded table %q.%q calls %s, which the plan would drop: the plan never cascades into what is excluded", t.Schema, t.Name.Name, called)
		}
	}
	return nil
}

// refuseStoredRows names a column that holds whole rows of another table which the plan has written anew or judged: the server refuses that.
func (p *planner) refuseStoredRows() error {
	for _, tables := range [][]model.Table{p.from.Tables, p.excluded.Tables} {
		for i := range tables {
			t := &tables[i]
			for j := range t.Columns {
				c := &t.Columns[j]
				used := parseType(c.Type)
				row := model.Name{Schema: used.schema, Name: used.name}
				if !p.writesAnew(row) && !p.judgesRows(row) || p.excluded.Table(t.Name) == nil && (p.to.Table(t.Name) == nil || p.columnGoes(model.ColumnRef{Table: t.Name, Column: c.Name})) {
					continue
				}
				return refuseObject("column %q of table %q.%q holds whole rows of table %q.%q, whose rows the plan would write anew, or judge by a new rule of a domain, which PostgreSQL does not do under them: change the column first",
					c.Name, t.Schema, t.Name.Name, row.Schema, row.Name)
			}
		}
	}
	return nil
}

// refuseHeldDomain names a domain that stays and calls a routine which the plan would drop, for good or to create it again.
func (p *planner) refuseHeldDomain(x *model.Domain) error {
	if !p.holdsRoutine(x) {
		return nil
	}
	return refuseObject("domain %q.%q calls a routine that the plan would drop, and stays: take the call out in a step of its own", x.Schema, x.Name.Name)
}

func (p *planner) holdsRoutine(x *model.Domain) bool {
	gone := p.types.goes(typeKey{model.KindDomain, x.Name})
	i := slices.IndexFunc(p.to.Domains, func(d model.Domain) bool { return d.Name == x.Name })
	after := &model.Domain{Default: x.Default, Checks: x.Checks} // an excluded one stays as it is
	if i >= 0 {
		after = &p.to.Domains[i]
	} else if gone {
		after = &model.Domain{}
	}
	if p.callsMoving(x.Default) && after.Default != "" {
		return true
	}
	return slices.ContainsFunc(x.Checks, func(k model.DomainCheck) bool {
		return p.callsMoving(k.Expression) && slices.ContainsFunc(after.Checks, func(c model.DomainCheck) bool { return c.Name == k.Name && c.Expression == k.Expression })
	})
}

// routinesOfGoneDomains are the names of the routines that domains call which go: the routines go after them.
func (p *planner) routinesOfGoneDomains() map[model.Name]bool {
	found := map[model.Name]bool{}
	for i := range p.from.Domains {
		x := &p.from.Domains[i]
		if !p.types.goes(typeKey{model.KindDomain, x.Name}) {
			continue
		}
		for _, n := range calls(x.Default) {
			found[n] = true
		}
		for _, k := range x.Checks {
			for _, n := range calls(k.Expression) {
				found[n] = true
			}
		}
	}
	return found
}

func nameDependency(dep model.Dependency) string {
	if dep.Column != "" {
		return contract.NameObject(model.Object{Kind: "column", Schema: dep.Schema, Table: dep.Name, Name: dep.Column})
	}
	return contract.NameObject(dep.Object)
}

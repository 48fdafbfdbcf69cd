package mysql

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

var definitionPhases = map[string]phase{
	kindFunction: phaseRoutines, kindProcedure: phaseRoutines, kindView: phaseViews, kindTrigger: phaseTriggers, kindEvent: phaseEvents,
}

const hazardTriggerless = "rows change without the trigger until it is made again, also where the plan stops before"

// planDefinitions drops what is not declared first of all, and makes the rest last of all, when everything that it may name exists.
func (p *planner) planDefinitions() {
	var views []*model.Definition
	groups := map[string]bool{}
	for _, c := range p.diff.Definitions {
		either := c.New
		if either == nil {
			either = c.Old
		}
		switch {
		case either.Kind == kindTrigger:
			p.dropTrigger(c)
			if c.New != nil {
				groups[groupOf(c.New)] = true
			}
		case c.New == nil:
			p.dropDefinition(c.Old, "exists and is not declared", "")
		case c.New.Kind == kindView:
			views = append(views, c.New)
		default:
			if c.Old != nil && !p.server.replaceRoutines {
				p.dropDefinition(c.Old, otherwise(c.Old, c.New), "whoever calls it fails until it is made again, also where the plan stops before")
			}
			p.create(c.New, c.Old != nil)
		}
	}
	p.createViews(views)
	p.createTriggers(groups)
}

func (p *planner) create(d *model.Definition, exists bool) {
	sql, severity, reason := d.Create, diff.Safe, "the "+d.Kind+" is declared and does not exist"
	if exists {
		severity, reason = diff.Warning, "the "+d.Kind+" "+otherwise(p.from.Definition(d.Key()), d)
		if d.Kind == kindView || p.server.replaceRoutines {
			sql = strings.Replace(sql, "CREATE ", "CREATE OR REPLACE ", 1)
		}
	}
	ph := definitionPhases[d.Kind]
	session := func(statement string) {
		p.add(ph, step{table: d.Table, Statement: plan.Statement{
			SQL: statement, Severity: diff.Warning, Kind: "set_session", Object: display(d.Name),
			Reason: "the " + d.Kind + " is declared with a setting of its own, which the server records",
		}})
	}
	// A character set that the text is not written in would change it: see refuseCharset.
	for _, property := range d.Properties {
		if property.Name != propertyOrder {
			session(property.Set)
		}
	}
	p.add(ph, step{table: d.Table, Statement: plan.Statement{
		SQL: sql, Severity: severity, Kind: "create_" + d.Kind, Object: display(d.Name), Reason: reason, Lock: "an exclusive metadata lock on the " + d.Kind,
	}})
	for _, property := range d.Properties {
		if property.Unset != "" {
			session(property.Unset)
		}
	}
}

// otherwise says in what a declared definition differs from the one that there is: the text may be the same.
func otherwise(o, n *model.Definition) string {
	if o == nil || o.Create != n.Create {
		return "is declared otherwise"
	}
	var names []string
	for _, list := range [][]model.Property{o.Properties, n.Properties} {
		for _, property := range list {
			if !slices.Contains(o.Properties, property) || !slices.Contains(n.Properties, property) {
				names = append(names, property.Name)
			}
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return "is declared otherwise"
	}
	return "is declared with another " + strings.Join(names, ", ")
}

func (p *planner) dropDefinition(d *model.Definition, why, hazard string) {
	p.add(phaseDropDefinitions, step{table: d.Table, Statement: plan.Statement{
		SQL: "DROP " + strings.ToUpper(d.Kind) + " " + ident(d.Name), Severity: diff.Destructive, Kind: "drop_" + d.Kind, Object: display(d.Name),
		Reason: "the " + d.Kind + " " + why, Lock: "an exclusive metadata lock on the " + d.Kind, Hazard: hazard,
	}})
}

// createViews makes views after those that they stand on. A circle cannot exist on a server.
func (p *planner) createViews(views []*model.Definition) {
	for len(views) > 0 {
		i := slices.IndexFunc(views, func(v *model.Definition) bool {
			return !slices.ContainsFunc(views, func(o *model.Definition) bool { return o != v && slices.Contains(v.DependsOn, o.Key()) })
		})
		v := views[max(i, 0)]
		p.create(v, p.from.Definition(v.Key()) != nil)
		views = slices.DeleteFunc(views, func(o *model.Definition) bool { return o == v })
	}
}

// groupOf tells the triggers apart that run one after another: of one table, time and event.
func groupOf(d *model.Definition) string {
	toks := tokens(d.Create)
	for i, t := range toks {
		if t.is("TRIGGER") && i+3 < len(toks) {
			return strings.Join([]string{ident(d.Table), toks[i+2].text, toks[i+3].text}, " ")
		}
	}
	return d.Table
}

// dropTrigger drops what changes or goes; a trigger of a table that goes, goes with it.
func (p *planner) dropTrigger(c diff.DefinitionChange) {
	if c.Old == nil || p.to.Table(model.Name{Name: c.Old.Table}) == nil && p.from.Table(model.Name{Name: c.Old.Table}) != nil {
		return
	}
	if c.New == nil {
		p.dropDefinition(c.Old, "exists and is not declared", "")
		return
	}
	p.dropDefinition(c.Old, otherwise(c.Old, c.New), hazardTriggerless)
}

// createTriggers makes the triggers of every group that changes, in their order: a new one always runs last.
func (p *planner) createTriggers(groups map[string]bool) {
	var all []*model.Definition
	for i := range p.to.Definitions {
		if d := &p.to.Definitions[i]; d.Kind == kindTrigger && groups[groupOf(d)] {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b *model.Definition) int {
		if c := strings.Compare(groupOf(a), groupOf(b)); c != 0 {
			return c
		}
		return orderOf(a) - orderOf(b)
	})
	for _, d := range all {
		if !p.changes(d) {
			// It stays the same, and what comes after it must come after it again.
			p.dropDefinition(d, "keeps its place among others that change", hazardTriggerless)
		}
		p.create(d, false)
	}
}

func (p *planner) changes(d *model.Definition) bool {
	return slices.ContainsFunc(p.diff.Definitions, func(c diff.DefinitionChange) bool { return c.New != nil && c.New.Key() == d.Key() })
}

func orderOf(d *model.Definition) int {
	for _, property := range d.Properties {
		if property.Name == propertyOrder {
			n, _, _ := signed(tokens(property.Set), 0)
			return int(n)
		}
	}
	return 0
}

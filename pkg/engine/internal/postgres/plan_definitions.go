package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// planDefinitions plans views, routines, triggers and their like: what goes or falls is dropped before the tables change, dependents first, and what
// is declared is created or replaced behind them, dependents last.
func (p *planner) planDefinitions() error {
	if err := p.dropDefinitions(); err != nil {
		return err
	}
	return p.createDefinitions()
}

func (p *planner) dropDefinitions() error {
	var list []*model.Definition
	for i := range p.from.Definitions {
		if d := &p.from.Definitions[i]; p.fates[d.Key()] >= recreated {
			list = append(list, d)
		}
	}
	ordered, err := orderDefinitions(list)
	if err != nil {
		return err
	}
	used := routinesOfTables(p.from)
	under := standingUnder(list, func(d *model.Definition) bool { return p.lateFrom[d.Key()] && used[routineOf(d)] })
	domains := p.routinesOfGoneDomains()
	last := standingUnder(list, func(d *model.Definition) bool { return domains[routineOf(d)] })
	slices.Reverse(ordered)
	for _, d := range ordered {
		if p.goesWithRelation(d) {
			continue
		}
		ph := phaseDropDefinitions
		switch {
		case d.Kind == model.KindEventTrigger:
			ph = phaseDropEventTriggers
		case last[d.Key()] && p.fates[d.Key()] == goes:
			ph = phaseDropRoutinesLast
		case isRoutine(d.Kind) && !p.lateFrom[d.Key()]:
			ph = phaseDropRoutines
		case under[d.Key()]:
			ph = phaseDropUnderTables
		}
		reason := "it exists and is not declared"
		switch c := p.definitionChange(d.Key()); {
		case c.Redefined():
			reason = "it is declared otherwise, and cannot be replaced in place"
		case p.fates[d.Key()] == recreated:
			reason = "something that it depends on goes or changes; it is created again"
		}
		p.add(ph, p.definitionStep(d, dropSQL(d), "drop", diff.DefinitionChange{Old: d}.Severity(), reason))
	}
	return nil
}

func routineOf(d *model.Definition) model.Name {
	return model.Name{Schema: d.Schema, Name: d.Name}
}

// goesWithRelation reports whether a part of a relation that is dropped needs no statement of its own: all that it holds back beside the relation
// is dropped later.
func (p *planner) goesWithRelation(d *model.Definition) bool {
	if d.Table == "" || p.fates[d.Key()] != goes {
		return false
	}
	of := model.Name{Schema: d.Schema, Name: d.Table}
	kind := model.KindTable
	if p.from.Table(of) == nil {
		kind = model.KindView
		if p.from.Definition(viewKey(of, kind)) == nil {
			kind = model.KindMaterializedView
		}
		if p.fates[viewKey(of, kind)] < recreated {
			return false
		}
	} else if p.to.Table(of) != nil {
		return false
	}
	return !slices.ContainsFunc(d.DependsOn, func(dep model.Dependency) bool {
		own := dep.Kind == kind && dep.Schema == of.Schema && dep.Name == of.Name
		switch dep.Kind {
		case model.KindTable, model.KindView, model.KindMaterializedView, "constraint":
			return !own
		}
		dep.Column = ""
		return p.lateFrom[dep]
	})
}

func viewKey(n model.Name, kind string) model.Dependency {
	return model.Dependency{Object: model.Object{Kind: kind, Schema: n.Schema, Name: n.Name}}
}

func (p *planner) createDefinitions() error {
	var list []*model.Definition
	for i := range p.to.Definitions {
		d := &p.to.Definitions[i]
		if p.isCreated(d) || p.fates[d.Key()] == replaced {
			list = append(list, d)
		} else if c := p.definitionChange(d.Key()); c.Old != nil {
			p.alterProperties(propertyPhase(d), c.Old, c.New, false)
			p.definitionComment(propertyPhase(d), d, c.Old.Comment)
		}
	}
	ordered, err := orderDefinitions(list)
	if err != nil {
		return err
	}
	used := routinesOfTables(p.to)
	under := standingUnder(list, func(d *model.Definition) bool { return p.lateTo[d.Key()] && used[routineOf(d)] })
	for _, d := range ordered {
		ph := phaseDefinitions
		switch {
		case d.Kind == model.KindEventTrigger:
			ph = phaseEventTriggers
		case isRoutine(d.Kind) && !p.lateTo[d.Key()]:
			ph = phaseRoutines
		case under[d.Key()]:
			ph = phaseUnderTables
		}
		p.createDefinition(ph, d)
	}
	if slices.ContainsFunc(list, func(d *model.Definition) bool { return isRoutine(d.Kind) && strings.Contains(d.Create, "\nAS ") }) {
		p.add(phaseBodies, step{Statement: plan.Statement{
			SQL: "SET LOCAL check_function_bodies = off", Severity: diff.Safe, Kind: "set_check_function_bodies", Object: "check_function_bodies",
			Reason: "a body may name what the plan creates after the routine; it is read when it first runs",
		}})
	}
	return nil
}

func propertyPhase(d *model.Definition) phase {
	if d.Kind == model.KindEventTrigger {
		return phaseEventTriggers
	}
	return phaseDefinitionProperties
}

func (p *planner) createDefinition(ph phase, d *model.Definition) {
	c := p.definitionChange(d.Key())
	if p.fates[d.Key()] == replaced {
		sql := d.Alter
		if sql == "" {
			sql = "CREATE OR REPLACE" + strings.TrimPrefix(d.Create, "CREATE")
		}
		p.add(ph, p.definitionStep(d, sql, "replace", diff.Warning, "it is declared otherwise"))
		// Replacing takes a view's options and a trigger's state back to the defaults.
		p.alterProperties(ph, c.Old, d, d.Kind == model.KindView || d.Kind == model.KindTrigger)
		p.definitionComment(ph, d, c.Old.Comment)
		return
	}
	reason := "it is declared and does not exist"
	if p.fates[d.Key()] == recreated {
		reason = "it is created again"
	}
	severity := diff.DefinitionChange{New: d}.Severity()
	if t := (model.Name{Schema: d.Schema, Name: d.Table}); p.to.Table(t) != nil && p.from.Table(t) == nil {
		severity = diff.Safe // nothing has used the table yet
	}
	p.add(ph, p.definitionStep(d, d.Create, "create", severity, reason))
	p.alterProperties(ph, &model.Definition{}, d, false)
	p.definitionComment(ph, d, "")
}

// alterProperties leads from one list of properties to another; again sets those too that stay.
func (p *planner) alterProperties(ph phase, o, n *model.Definition, again bool) {
	add := func(sql, reason string) {
		p.add(ph, p.definitionStep(n, sql, "alter", diff.Warning, reason))
	}
	has := func(list []model.Property, name string) int {
		return slices.IndexFunc(list, func(x model.Property) bool { return x.Name == name })
	}
	for _, old := range o.Properties {
		if has(n.Properties, old.Name) < 0 {
			add(old.Unset, "its "+old.Name+" is not declared")
		}
	}
	for _, x := range n.Properties {
		if i := has(o.Properties, x.Name); again || i < 0 || o.Properties[i] != x {
			add(x.Set, "its "+x.Name+" is declared")
		}
	}
}

func (p *planner) definitionComment(ph phase, d *model.Definition, old string) {
	if d.Comment == old {
		return
	}
	text := "NULL"
	if d.Comment != "" {
		text = literal(d.Comment)
	}
	s := p.definitionStep(d, "COMMENT ON "+target(d)+" IS "+text, "comment", diff.Safe, "the comment differs")
	s.Kind, s.Hazard, s.Lock = "set_comment", "", ""
	if d.Kind == model.KindView || d.Kind == model.KindMaterializedView || d.Kind == model.KindIndex {
		s.Lock = lockShareUpdate
	}
	p.add(ph, s)
}

// definitionStep is a statement about a definition. The severity of its text may raise the given one.
func (p *planner) definitionStep(d *model.Definition, sql, verb, severity, reason string) step {
	s := step{Statement: plan.Statement{
		SQL: sql, Severity: diff.Worst(severity, plan.Classify(model.Postgres, sql).Severity), Kind: verb + "_" + strings.ReplaceAll(d.Kind, " ", "_"),
		Object: displayDefinition(d), Reason: reason,
	}}
	if t := (model.Name{Schema: d.Schema, Name: d.Table}); d.Table != "" && (p.from.Table(t) != nil || p.to.Table(t) != nil) {
		s.table = t
	} else if verb != "drop" {
		s.made = p.madeHere(d)
	}
	if d.Kind == model.KindRule && (s.made || s.table != (model.Name{}) && !p.relationExists(s.table)) { // the tables of its actions
		for _, dep := range d.DependsOn {
			if dep.Schema != d.Schema || dep.Name != d.Table {
				s.others = append(s.others, model.Name{Schema: dep.Schema, Name: dep.Name})
			}
		}
	}
	s.Lock, s.Hazard = p.cost(d, verb)
	switch {
	case strings.HasPrefix(sql, "COMMENT ON COLUMN"):
		s.Severity, s.Kind, s.Lock = diff.Safe, "set_comment", lockShareUpdate
	case d.Kind == model.KindMaterializedView && verb == "alter" && !strings.Contains(sql, " COLUMN "):
		s.Lock = lockShareUpdate // storage parameters
	case d.Kind == model.KindIndex && verb == "drop":
		s.others = []model.Name{{Schema: d.Schema, Name: d.Table}}
	}
	return s
}

// madeHere reports whether a definition is, or belongs to, a view or materialized view that the plan creates.
func (p *planner) madeHere(d *model.Definition) bool {
	for _, kind := range []string{model.KindView, model.KindMaterializedView} {
		of := d
		if d.Kind != kind {
			of = p.to.Definition(viewKey(model.Name{Schema: d.Schema, Name: d.Table}, kind))
		}
		if of != nil {
			return p.isCreated(of)
		}
	}
	return false
}

// displayDefinition names a definition for a person.
func displayDefinition(d *model.Definition) string {
	var parts []string
	for _, part := range []string{d.Schema, d.Table, d.Name} {
		if part != "" && (part != d.Table || part != d.Name || len(parts) < 2) {
			parts = append(parts, part)
		}
	}
	if isRoutine(d.Kind) {
		parts[len(parts)-1] += "(" + d.Arguments + ")"
	}
	return display(parts...)
}

// target is a definition as COMMENT and DROP name it.
func target(d *model.Definition) string {
	on := " ON " + qualified(model.Name{Schema: d.Schema, Name: d.Table})
	switch d.Kind {
	case model.KindTrigger, model.KindConstraintTrigger:
		return "TRIGGER " + ident(d.Name) + on
	case model.KindRule, model.KindPolicy:
		return strings.ToUpper(d.Kind) + " " + ident(d.Name) + on
	case model.KindEventTrigger:
		return "EVENT TRIGGER " + ident(d.Name)
	case model.KindWindowFunction:
		return "FUNCTION " + signature(d.Key())
	case model.KindFunction, model.KindProcedure, model.KindAggregate:
		return strings.ToUpper(d.Kind) + " " + signature(d.Key())
	}
	return strings.ToUpper(d.Kind) + " " + qualified(model.Name{Schema: d.Schema, Name: d.Name})
}

func dropSQL(d *model.Definition) string {
	alter := "ALTER TABLE " + qualified(model.Name{Schema: d.Schema, Name: d.Table})
	switch d.Kind {
	case model.KindRowSecurity:
		return alter + " DISABLE ROW LEVEL SECURITY"
	case model.KindForcedRowSecurity:
		return alter + " NO FORCE ROW LEVEL SECURITY"
	}
	return "DROP " + target(d)
}

package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

const hazardDomainScan = "fails if a value violates it; reads every table that has a column of the domain while nobody can write it"

func (p *planner) createCollation(x *model.Collation) {
	var options []string
	add := func(name, value string) {
		if value != "" {
			options = append(options, name+" = "+literal(value))
		}
	}
	add("PROVIDER", x.Provider)
	add("LOCALE", x.Locale)
	add("LC_COLLATE", x.Collate)
	add("LC_CTYPE", x.CType)
	add("RULES", x.Rules)
	if x.NonDeterministic {
		options = append(options, "DETERMINISTIC = false")
	}
	p.typeStep(phaseTypes, x.Name, "CREATE COLLATION "+qualified(x.Name)+" ("+strings.Join(options, ", ")+")", "create_collation", diff.Safe, "the collation is declared and does not exist", "")
}

func (p *planner) createRange(x *model.Range) {
	options := []string{"SUBTYPE = " + x.Subtype}
	for _, o := range []struct{ name, value string }{{"SUBTYPE_OPCLASS", x.Opclass}, {"COLLATION", x.Collation}, {"SUBTYPE_DIFF", x.SubtypeDiff}} {
		if o.value != "" {
			options = append(options, o.name+" = "+o.value)
		}
	}
	options = append(options, "MULTIRANGE_TYPE_NAME = "+qualified(x.Multirange))
	p.typeStep(phaseTypes, x.Name, "CREATE TYPE "+qualified(x.Name)+" AS RANGE ("+strings.Join(options, ", ")+")", "create_range_type", diff.Safe, "the range type is declared and does not exist", "")
}

func attributeSQL(a *model.Attribute) string {
	sql := ident(a.Name) + " " + a.Type
	if a.Collation != "" {
		sql += " COLLATE " + a.Collation
	}
	return sql
}

func (p *planner) createComposite(x *model.Composite) {
	attributes := make([]string, len(x.Attributes))
	for i := range x.Attributes {
		attributes[i] = attributeSQL(&x.Attributes[i])
	}
	p.typeStep(phaseTypes, x.Name, "CREATE TYPE "+qualified(x.Name)+" AS ("+strings.Join(attributes, ", ")+")", "create_composite_type", diff.Safe, "the composite type is declared and does not exist", "")
}

// alterComposite changes attributes in place: nothing that holds values is retyped, see refuseAttributes.
func (p *planner) alterComposite(o, n *model.Composite) {
	alter := "ALTER TYPE " + qualified(n.Name) + " "
	for i := range o.Attributes {
		if old := &o.Attributes[i]; diff.AttributeOf(n, old.Name) == nil {
			p.typeStep(phaseTypes, n.Name, alter+"DROP ATTRIBUTE "+ident(old.Name), "drop_attribute", diff.Destructive, "the attribute exists and is not declared", "its values are lost wherever the type is used")
		}
	}
	for i := range n.Attributes {
		a := &n.Attributes[i]
		old := diff.AttributeOf(o, a.Name)
		switch {
		case old == nil:
			p.typeStep(phaseTypes, n.Name, alter+"ADD ATTRIBUTE "+attributeSQL(a), "add_attribute", diff.Safe, "the attribute is declared and does not exist", "")
		case old.Type != a.Type || old.Collation != a.Collation:
			action := "ALTER ATTRIBUTE " + ident(a.Name) + " TYPE " + strings.TrimPrefix(attributeSQL(a), ident(a.Name)+" ")
			p.typeStep(phaseTypes, n.Name, alter+action, "alter_attribute", diff.Worst(diff.Warning, diff.TypeChangeSeverity(old.Type, a.Type)), "the attribute has another type or collation", "")
		}
	}
}

func (p *planner) createDomain(x *model.Domain) {
	sql := "CREATE DOMAIN " + qualified(x.Name) + " AS " + x.Type
	if x.Collation != "" {
		sql += " COLLATE " + x.Collation
	}
	later := p.callsDefinition(x.Default)
	if x.Default != "" && !later {
		sql += " DEFAULT " + x.Default
	}
	if x.NotNull {
		sql += " NOT NULL"
	}
	var checks []*model.DomainCheck
	for i := range x.Checks {
		if k := &x.Checks[i]; k.NotValid || p.callsDefinition(k.Expression) {
			checks = append(checks, k)
		} else {
			sql += " " + domainCheckSQL(k)
		}
	}
	p.typeStep(phaseTypes, x.Name, sql, "create_domain", diff.Safe, "the domain is declared and does not exist", "")
	for _, k := range checks {
		p.addDomainCheck(x.Name, k, diff.Safe, hazardDomainScan)
	}
	if later {
		p.typeStep(phaseChecks, x.Name, "ALTER DOMAIN "+qualified(x.Name)+" SET DEFAULT "+x.Default, "set_default", diff.Safe, "the default needs what comes after the domain", "")
	}
}

// callsDefinition reports whether an expression mentions something that is made after the types.
func (p *planner) callsDefinition(expression string) bool {
	found := map[model.Name]bool{}
	qualifiedNames(expression, found)
	return len(found) > 0 && slices.ContainsFunc(p.to.Definitions, func(d model.Definition) bool {
		return found[model.Name{Schema: d.Schema, Name: d.Name}]
	})
}

func domainCheckSQL(k *model.DomainCheck) string {
	sql := "CONSTRAINT " + ident(k.Name) + " CHECK (" + k.Expression + ")"
	if k.NotValid {
		sql += " NOT VALID"
	}
	return sql
}

// rulePhase is when a domain gets a rule: before new tables hold its values in arrays and composites, which the server does not look into.
func (p *planner) rulePhase(expression string) phase {
	if p.callsDefinition(expression) {
		return phaseChecks
	}
	return phaseTypes
}

func (p *planner) addDomainCheck(domain model.Name, k *model.DomainCheck, severity, hazard string) {
	if k.NotValid {
		hazard = ""
	}
	p.domainStep(p.rulePhase(k.Expression), domain, "ALTER DOMAIN "+qualified(domain)+" ADD "+domainCheckSQL(k), "add_domain_check", severity, "the check is declared and does not exist as declared", hazard)
}

// domainStep is a statement about a domain. A new rule has to be judged in every table that holds values.
func (p *planner) domainStep(ph phase, domain model.Name, sql, kind, severity, reason, hazard string) {
	s := step{Statement: plan.Statement{SQL: sql, Severity: severity, Kind: kind, Object: display(domain.Schema, domain.Name), Reason: reason}}
	holding := []*model.Database{p.from, p.excluded}
	if ph == phaseChecks {
		holding = append(holding, p.to)
	}
	if hazard != hazardDomainScan {
		s.Hazard = hazard
	} else if s.others = p.holders(domain, holding...); len(s.others) > 0 {
		s.Lock, s.Hazard = lockShare, hazard
	}
	p.add(ph, s)
}

func (p *planner) alterDomain(o, n *model.Domain) {
	alter := "ALTER DOMAIN " + qualified(n.Name) + " "
	add := func(ph phase, action, kind, severity, reason, hazard string) {
		p.domainStep(ph, n.Name, alter+action, kind, severity, reason, hazard)
	}
	switch {
	case o.Default == n.Default:
	case n.Default == "":
		add(phaseRelease, "DROP DEFAULT", "drop_default", diff.Warning, "the default is not declared", "inserts that relied on it get NULL or fail")
	default:
		add(p.rulePhase(n.Default), "SET DEFAULT "+n.Default, "set_default", diff.Warning, "the default differs", "")
	}
	switch {
	case o.NotNull && !n.NotNull:
		add(phaseTypes, "DROP NOT NULL", "drop_not_null", diff.Destructive, "the domain is declared without NOT NULL", "NULL becomes possible")
	case !o.NotNull && n.NotNull:
		add(phaseTypes, "SET NOT NULL", "set_not_null", diff.Warning, "the domain is declared NOT NULL", hazardDomainScan)
	}
	for _, k := range diff.DomainChecks(o, n) {
		p.alterDomainCheck(n.Name, k)
	}
}

func (p *planner) alterDomainCheck(domain model.Name, k diff.Change[model.DomainCheck]) {
	alter := "ALTER DOMAIN " + qualified(domain) + " "
	drop := func(reason string) {
		p.typeStep(phaseDropConstraints, domain, alter+"DROP CONSTRAINT "+ident(k.Old.Name), "drop_domain_check", diff.Destructive, reason, "values that the check would have refused become possible")
	}
	switch {
	case k.Old == nil:
		p.addDomainCheck(domain, k.New, diff.Warning, hazardDomainScan)
	case k.New == nil:
		drop("the check exists and is not declared")
	case k.Old.Expression != k.New.Expression || !k.Old.NotValid && k.New.NotValid:
		drop("the check is declared otherwise")
		p.addDomainCheck(domain, k.New, diff.Warning, hazardDomainScan)
	case k.Old.NotValid && !k.New.NotValid:
		p.domainStep(phaseTypes, domain, alter+"VALIDATE CONSTRAINT "+ident(k.New.Name), "validate_domain_check", diff.Warning, "the check is not validated", hazardDomainScan)
	}
}

func (p *planner) domainComments(o, n *model.Domain) {
	p.comment("DOMAIN "+qualified(n.Name), model.Name{}, display(n.Schema, n.Name.Name), o.Comment, n.Comment)
	for i := range n.Checks {
		k := &n.Checks[i]
		old := ""
		for j := range o.Checks {
			// One that is dropped and added again has lost its comment.
			if before := &o.Checks[j]; before.Name == k.Name && before.Expression == k.Expression && (before.NotValid || !k.NotValid) {
				old = before.Comment
			}
		}
		p.comment("CONSTRAINT "+ident(k.Name)+" ON DOMAIN "+qualified(n.Name), model.Name{}, display(n.Schema, n.Name.Name, k.Name), old, k.Comment)
	}
}

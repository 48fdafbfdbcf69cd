package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// typePlan is what becomes of the types that are not as declared.
type typePlan struct {
	rebuilt map[typeKey]bool // both sides have it, and the server has no statement for the difference
	early   map[typeKey]bool // of those that go: before the new ones come
	order   []*typeNode      // of the declared types
	gone    []*typeNode      // removed or rebuilt, users first
}

// findTypes decides which types are made anew and which have to go early.
func (p *planner) findTypes() {
	p.types = typePlan{rebuilt: map[typeKey]bool{}, early: map[typeKey]bool{}, order: sortTypes(typeGraph(p.to))}
	p.findRebuiltTypes()
	declared := map[typeKey]bool{}
	for _, n := range p.types.order {
		declared[n.typeKey] = true
	}
	before := sortTypes(typeGraph(p.from))
	for _, n := range slices.Backward(before) {
		if !declared[n.typeKey] || p.types.rebuilt[n.typeKey] {
			p.types.gone = append(p.types.gone, n)
		}
	}
	p.findEarly()
}

// refuseTypes refuses what something that stays still uses.
func (p *planner) refuseTypes() error {
	for _, n := range p.types.gone {
		if !p.types.early[n.typeKey] {
			continue
		}
		if user := p.typeUser(n); user != "" {
			if p.types.rebuilt[n.typeKey] {
				return refuseObject("%s %q.%q is declared otherwise in a way that PostgreSQL cannot change in place, and %s uses it: declare a new type and change its users to it", n.kind, n.name.Schema, n.name.Name, user)
			}
			return refuseObject("%s %q.%q goes while something else takes its name and %s still uses it: rename it in a step of its own", n.kind, n.name.Schema, n.name.Name, user)
		}
	}
	if err := p.refuseRules(); err != nil {
		return err
	}
	return p.refuseAttributes()
}

// findEarly marks what goes before the new types come: what is rebuilt or loses its name, and everything that goes and uses it.
func (p *planner) findEarly() {
	for changed := true; changed; {
		changed = false
		for _, n := range p.types.gone {
			if p.types.early[n.typeKey] {
				continue
			}
			usesEarly := slices.ContainsFunc(p.types.gone, func(m *typeNode) bool { return p.types.early[m.typeKey] && n.usesNode(m) })
			if usesEarly || p.types.rebuilt[n.typeKey] || n.kind != model.KindCollation && slices.ContainsFunc(n.names, p.nameTaken) {
				p.types.early[n.typeKey], changed = true, true
			}
		}
	}
}

// findRebuiltTypes marks differences that no statement makes.
func (p *planner) findRebuiltTypes() {
	both := func(kind string, name model.Name, differs bool) {
		if differs {
			p.types.rebuilt[typeKey{kind, name}] = true
		}
	}
	for _, c := range p.diff.Collations {
		if c.Old != nil && c.New != nil {
			both(model.KindCollation, c.New.Name, !diff.OnlyCollationComment(c))
		}
	}
	for _, c := range p.diff.Domains {
		if c.Old != nil && c.New != nil {
			both(model.KindDomain, c.New.Name, c.Old.Type != c.New.Type || c.Old.Collation != c.New.Collation)
		}
	}
	for _, c := range p.diff.Composites {
		if c.Old != nil && c.New != nil {
			both(model.KindComposite, c.New.Name, !appended(c.Old, c.New))
		}
	}
	for _, c := range p.diff.Ranges {
		if c.Old != nil && c.New != nil {
			both(model.KindRange, c.New.Name, !diff.OnlyRangeComment(c))
		}
	}
}

// appended reports whether the attributes that stay keep their order and the new ones stand behind them.
func appended(o, n *model.Composite) bool {
	var kept []string
	for _, a := range o.Attributes {
		if diff.AttributeOf(n, a.Name) != nil {
			kept = append(kept, a.Name)
		}
	}
	for i, name := range kept {
		if n.Attributes[i].Name != name {
			return false
		}
	}
	return true
}

// typeUser names something that stays on the target and uses a type; empty where there is nothing.
func (p *planner) typeUser(n *typeNode) string {
	if user := p.tableUser(n); user != "" {
		return user
	}
	for _, m := range typeGraph(p.from) {
		if m.usesNode(n) && !slices.ContainsFunc(p.types.gone, func(g *typeNode) bool { return g.typeKey == m.typeKey }) {
			return m.kind + " " + display(m.name.Schema, m.name.Name)
		}
	}
	return "" // definitions give way by themselves
}

// tableUser names a table that stays on the target, or is excluded, and uses a type.
func (p *planner) tableUser(n *typeNode) string {
	for i := range p.from.Tables {
		t := &p.from.Tables[i]
		goes := func(column string) bool { return p.columnGoes(model.ColumnRef{Table: t.Name, Column: column}) }
		if p.to.Table(t.Name) != nil && tableMentions(t, n.names, goes) {
			return "table " + display(t.Schema, t.Name.Name)
		}
	}
	for i := range p.excluded.Tables {
		t := &p.excluded.Tables[i]
		if tableMentions(t, n.names, func(string) bool { return false }) {
			return "the excluded table " + display(t.Schema, t.Name.Name)
		}
	}
	return ""
}

// refuseAttributes refuses what the server cannot change while tables hold values of a composite type.
func (p *planner) refuseAttributes() error {
	for _, c := range p.diff.Composites {
		if c.Old == nil || c.New == nil || p.types.rebuilt[typeKey{model.KindComposite, c.New.Name}] {
			continue
		}
		for _, old := range c.Old.Attributes {
			a := diff.AttributeOf(c.New, old.Name)
			if a == nil || a.Type == old.Type && a.Collation == old.Collation {
				continue
			}
			if user := p.holder(c.New.Name, map[model.Name]bool{}); user != "" {
				return refuseObject("attribute %q of composite type %q.%q has another type and %s holds values of it: PostgreSQL cannot convert them; declare a new type and change the columns to it",
					old.Name, c.New.Schema, c.New.Name.Name, user)
			}
		}
	}
	return nil
}

// refuseRules refuses a new rule of a domain whose values stand inside of arrays, composites or ranges: the server does not look there.
func (p *planner) refuseRules() error {
	for _, c := range p.diff.Domains {
		if c.Old == nil || c.New == nil || !gainsRule(c.Old, c.New) {
			continue
		}
		for _, db := range []*model.Database{p.from, p.excluded} {
			for i := range db.Tables {
				t := &db.Tables[i]
				for j := range t.Columns {
					if ref := (model.ColumnRef{Table: t.Name, Column: t.Columns[j].Name}); !p.columnGoes(ref) && p.inside(t.Columns[j].Type, c.New.Name, false) {
						return refuseObject("domain %q.%q gains a rule and column %q of table %q.%q holds its values inside of another type, where PostgreSQL cannot check them: add the rule by hand, or change the column first",
							c.New.Schema, c.New.Name.Name, ref.Column, t.Schema, t.Name.Name)
					}
				}
			}
		}
	}
	return nil
}

func gainsRule(o, n *model.Domain) bool {
	return !o.NotNull && n.NotNull || slices.ContainsFunc(diff.DomainChecks(o, n), func(k diff.Change[model.DomainCheck]) bool {
		return k.New != nil && !k.New.NotValid && (k.Old == nil || k.Old.Expression != k.New.Expression || k.Old.NotValid)
	})
}

// inside reports whether values of a printed type hold values of a domain in an array, a composite or a range. Deep says that such a
// container was met already.
func (p *planner) inside(printed string, domain model.Name, deep bool) bool {
	t := parseType(printed)
	name := model.Name{Schema: t.schema, Name: t.name}
	deep = deep || t.dimensions > 0
	if t.schema == "" {
		return false
	}
	if deep && name == domain {
		return true
	}
	for _, db := range []*model.Database{p.from, p.excluded} {
		for i := range db.Domains {
			if db.Domains[i].Name == name && p.inside(db.Domains[i].Type, domain, deep) {
				return true
			}
		}
		for i := range db.Composites {
			if db.Composites[i].Name == name && slices.ContainsFunc(db.Composites[i].Attributes, func(a model.Attribute) bool { return p.inside(a.Type, domain, true) }) {
				return true
			}
		}
		for i := range db.Ranges {
			if x := &db.Ranges[i]; (x.Name == name || x.Multirange == name) && p.inside(x.Subtype, domain, true) {
				return true
			}
		}
	}
	return false
}

// holder names a table that has values of a type, also inside of other types.
func (p *planner) holder(name model.Name, seen map[model.Name]bool) string {
	if seen[name] {
		return ""
	}
	seen[name] = true
	if user := p.tableUser(&typeNode{names: []model.Name{name}}); user != "" {
		return user
	}
	for _, n := range typeGraph(p.from) {
		if n.uses[name] {
			for _, own := range n.names {
				if user := p.holder(own, seen); user != "" {
					return user
				}
			}
		}
	}
	return ""
}

// refuseHeldTypes names what something excluded holds back.
func (p *planner) refuseHeldTypes() error {
	for _, n := range p.types.gone {
		for i := range p.excluded.Tables {
			t := &p.excluded.Tables[i]
			if tableMentions(t, n.names, func(string) bool { return false }) {
				return refuseObject("the excluded table %q.%q uses %s %q.%q, which the plan would drop: the plan never cascades into what is excluded", t.Schema, t.Name.Name, n.kind, n.name.Schema, n.name.Name)
			}
		}
		for _, m := range typeGraph(p.excluded) {
			if m.usesNode(n) {
				return refuseObject("the excluded %s %q.%q uses %s %q.%q, which the plan would drop: the plan never cascades into what is excluded", m.kind, m.name.Schema, m.name.Name, n.kind, n.name.Schema, n.name.Name)
			}
		}
	}
	return nil
}

// planTypes creates and changes types in the order of their use, and drops them in reverse.
func (p *planner) planTypes() {
	for _, n := range p.types.order {
		switch n.kind {
		case model.KindCollation:
			planType(p, n, p.diff.Collations, func(x *model.Collation) model.Name { return x.Name }, p.createCollation, nil, p.collationComment)
		case model.KindDomain:
			planType(p, n, p.diff.Domains, func(x *model.Domain) model.Name { return x.Name }, p.createDomain, p.alterDomain, p.domainComments)
		case model.KindComposite:
			planType(p, n, p.diff.Composites, func(x *model.Composite) model.Name { return x.Name }, p.createComposite, p.alterComposite, p.compositeComments)
		case model.KindRange:
			planType(p, n, p.diff.Ranges, func(x *model.Range) model.Name { return x.Name }, p.createRange, nil, p.rangeComment)
		}
	}
	for _, n := range p.types.gone {
		p.dropType(n)
	}
}

// planType plans one declared type that differs.
func planType[T any](p *planner, n *typeNode, changes []diff.Change[T], key func(*T) model.Name, create func(*T), alter func(o, n *T), comment func(o, n *T)) {
	i := slices.IndexFunc(changes, func(c diff.Change[T]) bool { return c.New != nil && key(c.New) == n.name })
	if i < 0 {
		return
	}
	c := changes[i]
	if c.Old == nil || p.types.rebuilt[n.typeKey] {
		create(c.New)
		comment(new(T), c.New)
		return
	}
	if alter != nil {
		alter(c.Old, c.New)
	}
	comment(c.Old, c.New)
}

func (p *planner) dropType(n *typeNode) {
	ph := phaseDropTypes
	if p.types.early[n.typeKey] {
		ph = phaseDropTypesEarly
	}
	reason := "the " + n.kind + " exists and is not declared"
	if p.types.rebuilt[n.typeKey] {
		reason = "the " + n.kind + " is declared otherwise and nothing uses it"
	} else if n.kind == model.KindEnum && p.asideOf(n.name) != nil {
		reason = "everything uses the enum that was built again"
	}
	word := map[string]string{model.KindCollation: "COLLATION", model.KindDomain: "DOMAIN"}[n.kind]
	if word == "" {
		word = "TYPE"
	}
	hazard, aside := "", n.kind == model.KindEnum && p.asideOf(n.name) != nil
	if (p.types.rebuilt[n.typeKey] || aside) && n.kind != model.KindCollation && !p.manages(n.kind) {
		hazard = hazardLostGrants
	}
	p.typeStep(ph, n.name, "DROP "+word+" "+qualified(n.name), "drop_"+strings.ReplaceAll(n.kind, " ", "_"), diff.Destructive, reason, hazard)
}

func (p *planner) typeStep(ph phase, n model.Name, sql, kind, severity, reason, hazard string) {
	p.add(ph, step{Statement: plan.Statement{SQL: sql, Severity: severity, Kind: kind, Object: display(n.Schema, n.Name), Reason: reason, Hazard: hazard}})
}

func (p *planner) collationComment(o, n *model.Collation) {
	p.comment("COLLATION "+qualified(n.Name), model.Name{}, display(n.Schema, n.Name.Name), o.Comment, n.Comment)
}

func (p *planner) rangeComment(o, n *model.Range) {
	p.comment("TYPE "+qualified(n.Name), model.Name{}, display(n.Schema, n.Name.Name), o.Comment, n.Comment)
}

func (p *planner) compositeComments(o, n *model.Composite) {
	p.comment("TYPE "+qualified(n.Name), model.Name{}, display(n.Schema, n.Name.Name), o.Comment, n.Comment)
	for _, a := range n.Attributes {
		old := ""
		if before := diff.AttributeOf(o, a.Name); before != nil {
			old = before.Comment
		}
		p.comment("COLUMN "+qualified(n.Name)+"."+ident(a.Name), model.Name{}, display(n.Schema, n.Name.Name, a.Name), old, a.Comment)
	}
}

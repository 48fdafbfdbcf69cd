package postgres

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// privilegePlan is what the planner knows about privileges. Authority is nil where the target is a model: then everything is one's own.
type privilegePlan struct {
	authority *authority
	managed   model.Managed
	declared  []model.Grant // with what is granted to owners
}

// managedPrivileges is what a document covers.
func managedPrivileges(doc plan.Document) model.Managed {
	return model.Managed{Classes: doc.ManagedPrivileges, Roles: doc.ManagedDefaults}
}

// covers fills in what a document covers. The role that applies a model has no name.
func (p *planner) covers(doc *plan.Document) {
	doc.ManagedPrivileges = p.managed.Classes
	doc.ManagedDefaults = slices.DeleteFunc(slices.Clone(p.managed.Roles), func(role string) bool { return role == "" })
}

func (p *planner) manages(kind string) bool {
	return slices.Contains(p.managed.Classes, model.ClassOf(kind))
}

// dropOwners leaves out of the declared grants what owners have by owning. What the plan creates belongs to the connected role.
func (p *planner) dropOwners() {
	if p.authority != nil {
		p.to.Grants = withoutOwners(p.declared, p.ownerOf)
	}
}

func (p *planner) ownerOf(key model.Dependency) string {
	if p.comesNew(key) {
		return p.authority.role
	}
	return p.authority.ownerOf(p.liveKey(key))
}

// liveKey is what an object is called before the plan's renames.
func (p *planner) liveKey(key model.Dependency) model.Dependency {
	name := &key.Name
	if key.Kind == model.KindIdentity {
		key.Name, name = p.liveColumn(model.Name{Schema: key.Schema, Name: key.Table}, key.Name), &key.Table
	}
	if key.Kind == model.KindTable || key.Kind == model.KindRowType || key.Kind == model.KindIdentity {
		*name = p.liveTable(model.Name{Schema: key.Schema, Name: *name})
	}
	return key
}

func (p *planner) liveTable(name model.Name) string {
	if t := p.to.Table(name); t != nil && t.RenamedFrom != "" && p.live.Table(name) == nil {
		return t.RenamedFrom
	}
	return name.Name
}

func (p *planner) liveColumn(table model.Name, column string) string {
	t, live := p.to.Table(table), p.live.Table(model.Name{Schema: table.Schema, Name: p.liveTable(table)})
	if t == nil || live == nil || t.Column(column) == nil || t.Column(column).RenamedFrom == "" || live.Column(column) != nil {
		return column
	}
	return t.Column(column).RenamedFrom
}

// renameGranted makes privileges stand on a table, its row type and its identity sequences under its new name.
func renameGranted(g *model.Grant, old, name model.Name) {
	switch {
	case g.Schema != old.Schema:
	case (g.Kind == model.KindTable || g.Kind == model.KindRowType) && g.Name == old.Name:
		g.Name = name.Name
	case g.Kind == model.KindIdentity && g.Table == old.Name:
		g.Table = name.Name
	}
}

func renameGrantedColumn(g *model.Grant, table model.Name, old, name string) {
	switch {
	case g.Schema != table.Schema:
	case g.Kind == model.KindTable && g.Name == table.Name && g.Column == old:
		g.Column = name
	case g.Kind == model.KindIdentity && g.Table == table.Name && g.Name == old:
		g.Name = name
	}
}

// comesNew reports whether the plan creates an object, anew or again, so that it starts without what was granted before.
func (p *planner) comesNew(key model.Dependency) bool {
	name := model.Name{Schema: key.Schema, Name: key.Name}
	switch key.Kind {
	case model.KindIdentity:
		table := model.Name{Schema: key.Schema, Name: key.Table}
		return !p.from.Has(key) || p.rebuilt[model.ColumnRef{Table: table, Column: key.Name}]
	case model.KindEnum, model.KindDomain, model.KindComposite, model.KindRange:
		return !p.from.Has(key) || p.types.goes(typeKey{key.Kind, name})
	case model.KindMultirange:
		i := slices.IndexFunc(p.to.Ranges, func(x model.Range) bool { return x.Multirange == name })
		return !p.from.Has(key) || i >= 0 && p.types.goes(typeKey{model.KindRange, p.to.Ranges[i].Name})
	case model.KindRowType:
		return !p.from.Has(key) || p.fates[viewKey(name, model.KindView)] == recreated || p.fates[viewKey(name, model.KindMaterializedView)] == recreated
	}
	return !p.from.Has(key) || p.fates[key] == recreated
}

func (p *planner) planPrivileges() error {
	if p.managed.Empty() {
		return nil
	}
	p.dropOwners() // what is created again changes hands
	if err := p.refuseRoles(); err != nil {
		return err
	}
	from, to := grantsByKey(p.from.Grants), grantsByKey(p.to.Grants)
	for _, key := range p.grantedObjects(from, to) {
		if err := p.planObjectPrivileges(key, from[key], to[key]); err != nil {
			return err
		}
	}
	return p.planDefaults()
}

func grantsByKey(grants []model.Grant) map[model.Dependency][]model.Grant {
	out := map[model.Dependency][]model.Grant{}
	for i := range grants {
		out[grants[i].Key()] = append(out[grants[i].Key()], grants[i])
	}
	return out
}

// grantedObjects are the declared objects whose privileges may differ, sorted: those with a grant on either side, and those that the plan creates.
func (p *planner) grantedObjects(from, to map[model.Dependency][]model.Grant) []model.Dependency {
	keys := map[model.Dependency]bool{}
	for _, side := range []map[model.Dependency][]model.Grant{from, to} {
		for key := range side {
			keys[key] = p.to.Has(key)
		}
	}
	if p.authority != nil && len(p.authority.fresh) > 0 {
		for _, key := range objectsOf(p.to) {
			keys[key] = keys[key] || p.manages(key.Kind) && p.comesNew(key)
		}
	}
	maps.DeleteFunc(keys, func(_ model.Dependency, there bool) bool { return !there })
	return slices.SortedFunc(maps.Keys(keys), model.Dependency.Compare)
}

// objectsOf lists what default privileges are about.
func objectsOf(d *model.Database) []model.Dependency {
	var out []model.Dependency
	add := func(kind, schema, table, name string) {
		out = append(out, model.Dependency{Object: model.Object{Kind: kind, Schema: schema, Table: table, Name: name}})
	}
	for i := range d.Schemas {
		add(model.KindSchema, "", "", d.Schemas[i].Name)
	}
	for i := range d.Tables {
		t := &d.Tables[i]
		add(model.KindTable, t.Schema, "", t.Name.Name)
		for j := range t.Columns {
			if t.Columns[j].Identity != nil {
				add(model.KindIdentity, t.Schema, t.Name.Name, t.Columns[j].Name)
			}
		}
	}
	for i := range d.Sequences {
		add(model.KindSequence, d.Sequences[i].Schema, "", d.Sequences[i].Name.Name)
	}
	for i := range d.Enums {
		add(model.KindEnum, d.Enums[i].Schema, "", d.Enums[i].Name.Name)
	}
	for i := range d.Domains {
		add(model.KindDomain, d.Domains[i].Schema, "", d.Domains[i].Name.Name)
	}
	for i := range d.Composites {
		add(model.KindComposite, d.Composites[i].Schema, "", d.Composites[i].Name.Name)
	}
	for i := range d.Ranges {
		add(model.KindRange, d.Ranges[i].Schema, "", d.Ranges[i].Name.Name)
	}
	for i := range d.Definitions {
		if def := &d.Definitions[i]; def.Kind == model.KindView || def.Kind == model.KindMaterializedView || isRoutine(def.Kind) {
			out = append(out, def.Key())
		}
	}
	return out
}

// freshRights is what everybody may do with an object that the connected role has just created.
func (p *planner) freshRights(key model.Dependency) rights {
	class := model.ClassOf(key.Kind)
	if p.authority == nil || key.Kind == model.KindRowType || key.Kind == model.KindMultirange {
		return rightsOf(nil, ownByClass(class))
	}
	out := rights{}
	add := func(r rights) {
		for h, privileges := range r {
			for privilege, grantable := range privileges {
				out.give(h, privilege, grantable)
			}
		}
	}
	if anywhere, stated := p.authority.fresh[freshKey{class, ""}]; stated {
		add(anywhere)
	} else {
		add(rightsOf(nil, ownByClass(class)))
	}
	if p.from.Has(model.Dependency{Object: model.Object{Kind: model.KindSchema, Name: key.Schema}}) {
		add(p.authority.fresh[freshKey{class, key.Schema}])
	}
	return out
}

func (p *planner) planObjectPrivileges(key model.Dependency, from, to []model.Grant) error {
	own := ownPrivileges(key, p.major)
	start := rightsOf(from, own)
	if p.comesNew(key) {
		start = p.freshRights(key)
	}
	table := model.Name{Schema: key.Schema, Name: key.Name}
	maps.DeleteFunc(start, func(h holder, _ held) bool { // a column takes what was granted on it along
		return h.column != "" && key.Kind == model.KindTable && p.columnGoes(model.ColumnRef{Table: table, Column: h.column})
	})
	c := privilegeChange{start: start, want: rightsOf(to, own)}
	c.find()
	if c.empty() {
		return nil
	}
	if err := p.refusePrivileges(key, &c); err != nil {
		return err
	}
	on := " ON " + p.privilegeTarget(key)
	for _, s := range c.statements(on, "") {
		st := step{Statement: s}
		st.Object = displayDefinition(&model.Definition{Object: key.Object, Arguments: key.Arguments})
		if key.Kind == model.KindTable {
			st.table = table
		}
		ph := phaseGrant
		if s.Kind == "revoke" {
			ph = phaseRevoke
		}
		p.add(ph, st)
	}
	return nil
}

// privilegeChange is how the privileges on one object change.
type privilegeChange struct {
	start, want rights
	// What to do, by holder: true where it is about the right to grant on.
	revoke, grant rights
}

func (c *privilegeChange) empty() bool { return len(c.revoke)+len(c.grant) == 0 }

// find compares. A privilege that is revoked on a whole table goes on all of its columns too, so that what stays there is granted again.
func (c *privilegeChange) find() {
	c.revoke, c.grant = rights{}, rights{}
	now := rights{}
	for h, privileges := range c.start {
		now[h] = maps.Clone(privileges)
	}
	holders := slices.SortedFunc(maps.Keys(c.start), holder.compare) // the whole before its columns
	for _, h := range holders {
		for _, privilege := range slices.Sorted(maps.Keys(now[h])) {
			grantable := now[h][privilege]
			wantGrantable, wanted := c.want[h][privilege]
			if wanted && (wantGrantable || !grantable) {
				continue
			}
			c.revoke.give(h, privilege, wanted)
			for other := range now {
				if other != h && (h.column != "" || other.grantee != h.grantee) {
					continue
				}
				if _, has := now[other][privilege]; has && wanted {
					now[other][privilege] = false
				} else {
					delete(now[other], privilege)
				}
			}
		}
	}
	for h, privileges := range c.want {
		for privilege, grantable := range privileges {
			if has, there := now[h][privilege]; !there || grantable && !has {
				c.grant.give(h, privilege, grantable)
			}
		}
	}
}

func (h holder) compare(o holder) int {
	return cmp.Or(cmp.Compare(h.column, o.column), cmp.Compare(h.grantee, o.grantee))
}

const (
	hazardRevoke = "whoever does this by the privilege is refused from then on"
	hazardPublic = "every role of the server gets it"
)

// statements of a change: one for each grantee and form, revokes first.
func (c *privilegeChange) statements(on, prefix string) []plan.Statement {
	var out []plan.Statement
	each := func(r rights, option bool, write func(list, grantee string) plan.Statement) {
		for _, grantee := range r.grantees() {
			if list := r.list(grantee, option); list != "" {
				out = append(out, write(list, grantee))
			}
		}
	}
	for _, option := range []bool{true, false} {
		each(c.revoke, option, func(list, grantee string) plan.Statement {
			s := plan.Statement{
				SQL: prefix + "REVOKE " + list + on + " FROM " + granteeSQL(grantee), Severity: diff.Warning, Kind: "revoke",
				Reason: roleName(grantee) + " holds what is not declared", Hazard: hazardRevoke,
			}
			if option {
				s.SQL, s.Hazard = prefix+"REVOKE GRANT OPTION FOR "+list+on+" FROM "+granteeSQL(grantee), ""
				s.Reason = roleName(grantee) + " is not declared to grant it on"
			}
			return s
		})
	}
	for _, option := range []bool{false, true} {
		each(c.grant, option, func(list, grantee string) plan.Statement {
			s := plan.Statement{
				SQL: prefix + "GRANT " + list + on + " TO " + granteeSQL(grantee), Severity: diff.Warning, Kind: "grant", Reason: "it is declared for " + roleName(grantee),
			}
			if option {
				s.SQL += " WITH GRANT OPTION"
			}
			if grantee == "" {
				s.Hazard = hazardPublic
			}
			return s
		})
	}
	return out
}

func (r rights) grantees() []string {
	var out []string
	for h := range r {
		out = append(out, h.grantee)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// list writes the privileges of one grantee, those on the whole first.
func (r rights) list(grantee string, option bool) string {
	whole, columns := []string(nil), map[string][]string{}
	for h, privileges := range r {
		for privilege, o := range privileges {
			switch {
			case h.grantee != grantee || o != option:
			case h.column == "":
				whole = append(whole, privilege)
			default:
				columns[privilege] = append(columns[privilege], h.column)
			}
		}
	}
	slices.Sort(whole)
	for _, privilege := range slices.Sorted(maps.Keys(columns)) {
		slices.Sort(columns[privilege])
		whole = append(whole, privilege+" ("+idents(columns[privilege])+")")
	}
	return strings.Join(whole, ", ")
}

// privilegeTarget is an object as GRANT names it.
func (p *planner) privilegeTarget(key model.Dependency) string {
	name := qualified(model.Name{Schema: key.Schema, Name: key.Name})
	switch key.Kind {
	case model.KindSchema:
		return "SCHEMA " + ident(key.Name)
	case model.KindSequence:
		return "SEQUENCE " + name
	case model.KindIdentity:
		return "SEQUENCE " + qualified(p.identitySequence(key))
	case model.KindProcedure:
		return "PROCEDURE " + signature(key)
	case model.KindFunction, model.KindWindowFunction:
		return "FUNCTION " + signature(key)
	case model.KindAggregate:
		return "FUNCTION " + name + "(" + plainArguments(key.Arguments) + ")"
	}
	if model.ClassOf(key.Kind) == model.ClassTable {
		return "TABLE " + name
	}
	return "TYPE " + name
}

// plainArguments are the arguments of an aggregate as those of a function: the direct ones and the sorted ones in one list.
func plainArguments(arguments string) string {
	direct, sorted, both := strings.Cut(arguments, "ORDER BY ")
	direct = strings.TrimSpace(direct)
	switch {
	case arguments == "*":
		return ""
	case !both || direct == sorted:
		return direct
	case direct == "":
		return sorted
	}
	return direct + ", " + sorted
}

// identitySequence is the sequence of an identity column: as it is called on the target, or as the server is going to call it.
func (p *planner) identitySequence(key model.Dependency) model.Name {
	if p.authority != nil && !p.comesNew(key) {
		live := p.liveKey(key)
		return p.authority.identities[model.ColumnRef{Table: model.Name{Schema: live.Schema, Name: live.Table}, Column: live.Name}]
	}
	return model.Name{Schema: key.Schema, Name: chosenName(key.Table, key.Name, "_seq")}
}

// planDefaults plans ALTER DEFAULT PRIVILEGES.
func (p *planner) planDefaults() error {
	from, to := defaultsByKey(p.from.DefaultPrivileges), defaultsByKey(p.to.DefaultPrivileges)
	keys := map[defaultKey]bool{}
	for _, side := range []map[defaultKey]rights{from, to} {
		for key := range side {
			keys[key] = true
		}
	}
	schema := func(name string) model.Dependency {
		return model.Dependency{Object: model.Object{Kind: model.KindSchema, Name: name}}
	}
	for _, key := range slices.SortedFunc(maps.Keys(keys), defaultKey.compare) {
		if key.schema != "" && !p.to.Has(schema(key.schema)) {
			continue // they go with it
		}
		c := privilegeChange{start: from[key], want: to[key]}
		for _, side := range []*rights{&c.start, &c.want} {
			if *side == nil {
				*side = rightsOf(nil, ownDefaults(key))
			}
		}
		if key.schema != "" && !p.from.Has(schema(key.schema)) {
			c.start = rights{}
		}
		c.find()
		if c.empty() {
			continue
		}
		if !p.authority.mine(key.role) {
			return refuseObject("the default privileges of role %q are declared otherwise, and only that role, or a member of it, can change them: apply the schema as one, or leave them out", key.role)
		}
		if key.class == model.ClassLargeObject && p.major < 18 {
			return refuseObject("default privileges on large objects are declared, which PostgreSQL has from 18, and the server is PostgreSQL %d", p.major)
		}
		p.alterDefaults(key, &c)
	}
	return nil
}

func (k defaultKey) compare(o defaultKey) int {
	return cmp.Or(cmp.Compare(k.role, o.role), cmp.Compare(k.schema, o.schema), cmp.Compare(k.class, o.class))
}

func defaultsByKey(all []model.DefaultPrivilege) map[defaultKey]rights {
	out := map[defaultKey]rights{}
	for i := range all {
		d := &all[i]
		key := defaultKey{d.Role, d.Schema, d.Class}
		if out[key] == nil {
			out[key] = rightsOf(nil, ownDefaults(key))
		}
		out[key].take(holder{grantee: d.Grantee}, &d.Rights)
	}
	return out
}

func (p *planner) alterDefaults(key defaultKey, c *privilegeChange) {
	prefix, object := "ALTER DEFAULT PRIVILEGES ", key.class+"s"
	if key.role != "" {
		prefix += "FOR ROLE " + ident(key.role) + " "
		object += " of " + key.role
	}
	if key.schema != "" {
		prefix += "IN SCHEMA " + ident(key.schema) + " "
		object += " in " + key.schema
	}
	for _, s := range c.statements(" ON "+strings.ToUpper(key.class)+"S", prefix) {
		s.Kind, s.Object = "alter_default_privileges", display(object)
		if s.Hazard == hazardRevoke {
			s.Hazard = ""
		}
		p.add(phaseDefaultPrivileges, step{Statement: s})
	}
}

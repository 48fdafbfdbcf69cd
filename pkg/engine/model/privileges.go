package model

import (
	"cmp"
	"fmt"
	"slices"
)

// Classes of objects that have privileges, in the words of ALTER DEFAULT PRIVILEGES. A declaration manages a class when it holds any grant on an
// object of it; views and columns are of the class of tables, procedures and aggregates of that of functions, domains of that of types.
const (
	ClassSchema      = "schema"
	ClassTable       = "table"
	ClassSequence    = "sequence"
	ClassFunction    = "function"
	ClassType        = "type"
	ClassLargeObject = "large object" // of default privileges alone
)

// Classes lists the classes that objects of the model belong to, sorted.
func Classes() []string {
	return []string{ClassFunction, ClassSchema, ClassSequence, ClassTable, ClassType}
}

// Kinds of what has privileges and is no object of its own. An identity sequence is named by its column.
const (
	KindIdentity   = "identity sequence"
	KindRowType    = "row type"
	KindMultirange = "multirange type"
	// KindDefaultPrivileges is what selectors match the default privileges of a schema by.
	KindDefaultPrivileges = "default privileges"
)

// Rights are privileges by name, each list sorted: those held, those held with the right to grant them on, and those that PUBLIC would have by
// itself and does not.
type Rights struct {
	Privileges []string `json:"privileges,omitempty"`
	Grantable  []string `json:"grantable,omitempty"`
	Revoked    []string `json:"revoked,omitempty"`
}

// Grant is what one role may do with one object or, with Column, one column. An empty grantee is PUBLIC. What the owner has by owning and what PUBLIC
// has by itself is left out, and who granted it is no part of it.
type Grant struct {
	Object
	Arguments string `json:"arguments,omitempty"`
	Column    string `json:"column,omitempty"`
	Grantee   string `json:"grantee,omitempty"`
	Rights
}

// Key is the object that a grant is on.
func (g *Grant) Key() Dependency { return Dependency{Object: g.Object, Arguments: g.Arguments} }

// Class is the class of the object that a grant is on.
func (g *Grant) Class() string { return ClassOf(g.Kind) }

// ClassOf is the class that objects of a kind belong to; what has no other is a type.
func ClassOf(kind string) string {
	switch kind {
	case KindSchema:
		return ClassSchema
	case KindTable, KindView, KindMaterializedView, "foreign table":
		return ClassTable
	case KindSequence, KindIdentity:
		return ClassSequence
	case KindFunction, KindProcedure, KindAggregate, KindWindowFunction:
		return ClassFunction
	}
	return ClassType
}

// CompareKey orders grants by object, column and grantee.
func (g *Grant) CompareKey(o *Grant) int {
	return cmp.Or(g.Compare(o.Object), cmp.Compare(g.Arguments, o.Arguments), cmp.Compare(g.Column, o.Column), cmp.Compare(g.Grantee, o.Grantee))
}

// DefaultPrivilege is what a role may do with the objects of a class that another role is going to create, in one schema or, without one, anywhere. An
// empty Role is the role that applies the schema, an empty grantee PUBLIC.
type DefaultPrivilege struct {
	Role    string `json:"role,omitempty"`
	Schema  string `json:"schema,omitempty"`
	Class   string `json:"class"`
	Grantee string `json:"grantee,omitempty"`
	Rights
}

// CompareKey orders default privileges by creator, schema, class and grantee.
func (p *DefaultPrivilege) CompareKey(o *DefaultPrivilege) int {
	return cmp.Or(cmp.Compare(p.Role, o.Role), cmp.Compare(p.Schema, o.Schema), cmp.Compare(p.Class, o.Class), cmp.Compare(p.Grantee, o.Grantee))
}

// Managed says which privileges are compared: the classes of objects, and the roles whose default privileges are. Both are sorted.
type Managed struct {
	Classes, Roles []string
}

// Empty reports that no privileges are compared.
func (m Managed) Empty() bool { return len(m.Classes)+len(m.Roles) == 0 }

// ManagedPrivileges is what a declared schema speaks of. What it is silent about is left to whoever grants it.
func (d *Database) ManagedPrivileges() Managed {
	var m Managed
	for i := range d.Grants {
		m.Classes = append(m.Classes, d.Grants[i].Class())
	}
	for i := range d.DefaultPrivileges {
		m.Roles = append(m.Roles, d.DefaultPrivileges[i].Role)
	}
	slices.Sort(m.Classes)
	slices.Sort(m.Roles)
	m.Classes, m.Roles = slices.Compact(m.Classes), slices.Compact(m.Roles)
	return m
}

// WithPrivileges is the database with the privileges that m names, and no others.
func (d *Database) WithPrivileges(m Managed) *Database {
	out := *d
	out.Grants = slices.DeleteFunc(slices.Clone(d.Grants), func(g Grant) bool { return !slices.Contains(m.Classes, g.Class()) })
	out.DefaultPrivileges = slices.DeleteFunc(slices.Clone(d.DefaultPrivileges), func(p DefaultPrivilege) bool { return !slices.Contains(m.Roles, p.Role) })
	return &out
}

func (r *Rights) lists() []*[]string { return []*[]string{&r.Privileges, &r.Grantable, &r.Revoked} }

func (r *Rights) normalise() {
	for _, list := range r.lists() {
		slices.Sort(*list)
	}
}

func (r *Rights) validate() error {
	seen := map[string]bool{}
	for _, list := range r.lists() {
		for i, p := range *list {
			if err := text("privilege", p); err != nil {
				return err
			}
			if seen[p] || i > 0 && (*list)[i-1] >= p {
				return fmt.Errorf("privilege %q is out of order or repeated", p)
			}
			seen[p] = true
		}
	}
	if len(seen) == 0 {
		return fmt.Errorf("no privilege is named")
	}
	return nil
}

func (d *Database) validatePrivileges() error {
	if err := ascending("grant", d.Grants, (*Grant).CompareKey); err != nil {
		return err
	}
	if err := ascending("default privilege", d.DefaultPrivileges, (*DefaultPrivilege).CompareKey); err != nil {
		return err
	}
	if d.Dialect != Postgres && len(d.Grants)+len(d.DefaultPrivileges) > 0 {
		return fmt.Errorf("privileges belong to %s", Postgres)
	}
	for i := range d.Grants {
		g := &d.Grants[i]
		err := text("grant", g.Kind, g.Name)
		if err == nil {
			err = g.validate()
		}
		if err != nil {
			return fmt.Errorf("grant %d: %w", i+1, err)
		}
	}
	classes := append(Classes(), ClassLargeObject)
	for i := range d.DefaultPrivileges {
		p := &d.DefaultPrivileges[i]
		err := p.validate()
		if err == nil && !slices.Contains(classes, p.Class) {
			err = fmt.Errorf("unknown class %q", p.Class)
		}
		if err != nil {
			return fmt.Errorf("default privilege %d: %w", i+1, err)
		}
	}
	return nil
}

func (d *Database) normalisePrivileges() {
	for i := range d.Grants {
		d.Grants[i].normalise()
	}
	slices.SortFunc(d.Grants, func(a, b Grant) int { return a.CompareKey(&b) })
	for i := range d.DefaultPrivileges {
		d.DefaultPrivileges[i].normalise()
	}
	slices.SortFunc(d.DefaultPrivileges, func(a, b DefaultPrivilege) int { return a.CompareKey(&b) })
}

func (c *collector) privileges(d *Database) {
	for i := range d.Grants {
		g := &d.Grants[i]
		c.object("privileges of "+g.Kind, g.Schema, g.Table, g.Name)
		c.current.Arguments = g.Arguments
		c.rights(list(g.Column, g.Grantee), &g.Rights)
	}
	for i := range d.DefaultPrivileges {
		p := &d.DefaultPrivileges[i]
		c.object(KindDefaultPrivileges, p.Schema, "", p.Class)
		c.rights(list(p.Role, p.Grantee), &p.Rights)
	}
}

func (c *collector) rights(holder string, r *Rights) {
	c.add("held "+holder, list(r.Privileges...))
	c.add("grantable "+holder, list(r.Grantable...))
	c.add("revoked "+holder, list(r.Revoked...))
}

// Has reports whether an object that privileges are on is a part of the database.
func (d *Database) Has(key Dependency) bool {
	name := Name{Schema: key.Schema, Name: key.Name}
	switch key.Kind {
	case KindSchema:
		return found(d.Schemas, key.Name, func(s *Schema) int { return cmp.Compare(s.Name, key.Name) })
	case KindTable:
		return d.Table(name) != nil
	case KindIdentity:
		t := d.Table(Name{Schema: key.Schema, Name: key.Table})
		return t != nil && t.Column(key.Name) != nil && t.Column(key.Name).Identity != nil
	case KindSequence:
		return found(d.Sequences, name, func(s *Sequence) int { return s.Compare(name) })
	case KindEnum:
		return found(d.Enums, name, func(e *Enum) int { return e.Compare(name) })
	case KindDomain:
		return found(d.Domains, name, func(x *Domain) int { return x.Compare(name) })
	case KindComposite:
		return found(d.Composites, name, func(x *Composite) int { return x.Compare(name) })
	case KindRange:
		return found(d.Ranges, name, func(x *Range) int { return x.Compare(name) })
	case KindMultirange:
		return slices.ContainsFunc(d.Ranges, func(x Range) bool { return x.Multirange == name })
	case KindRowType:
		return d.Table(name) != nil || d.isView(name)
	}
	return d.Definition(key) != nil
}

func (d *Database) isView(name Name) bool {
	for _, kind := range []string{KindView, KindMaterializedView} {
		if d.Definition(Dependency{Object: Object{Kind: kind, Schema: name.Schema, Name: name.Name}}) != nil {
			return true
		}
	}
	return false
}

func found[T, K any](items []T, key K, compare func(*T) int) bool {
	_, ok := slices.BinarySearchFunc(items, key, func(x T, _ K) int { return compare(&x) })
	return ok
}

package declare

import (
	"cmp"
	"fmt"
	"slices"
)

// Kind of a declared object.
type Kind string

// The kinds.
const (
	SchemaKind       Kind = "schema"
	TableKind        Kind = "table"
	ColumnKind       Kind = "column"
	IndexKind        Kind = "index"
	ConstraintKind   Kind = "constraint"
	EnumKind         Kind = "enum"
	DomainKind       Kind = "domain"
	CompositeKind    Kind = "composite type"
	RangeKind        Kind = "range type"
	SequenceKind     Kind = "sequence"
	ExtensionKind    Kind = "extension"
	FunctionKind     Kind = "function"
	ProcedureKind    Kind = "procedure"
	EventKind        Kind = "event"
	ViewKind         Kind = "view"
	MaterializedKind Kind = "materialized view"
	TriggerKind      Kind = "trigger"
	PolicyKind       Kind = "policy"
	RowSecurityKind  Kind = "row security"
	RoleKind         Kind = "role"
	GrantKind        Kind = "permission"
	RevocationKind   Kind = "revocation"
	DefaultsKind     Kind = "default privileges"
	DataKind         Kind = "managed rows"
)

// Key identifies an object. Arguments tell functions of one name apart, and constraints and indexes without a name.
type Key struct {
	Kind                           Kind
	Schema, Table, Name, Arguments string
}

// Compare orders keys by kind, schema, table, name and arguments.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Schema, o.Schema), cmp.Compare(k.Table, o.Table), cmp.Compare(k.Name, o.Name), cmp.Compare(k.Arguments, o.Arguments))
}

// String names the object for a person.
func (k Key) String() string {
	name := fmt.Sprintf("%s %q", k.Kind, k.Name)
	switch {
	case k.Kind == DataKind && k.Table != "":
		return fmt.Sprintf("%s of table %q.%q", k.Kind, k.Schema, k.Table)
	case k.Kind == DataKind:
		return string(k.Kind)
	case k.Name == "":
		name = fmt.Sprintf("unnamed %s", k.Kind)
	case k.Table == "" && k.Schema != "" && k.Kind != SchemaKind:
		name = fmt.Sprintf("%s %q.%q", k.Kind, k.Schema, k.Name)
	}
	if k.Table != "" {
		name += fmt.Sprintf(" of table %q", k.Table)
		if k.Schema != "" {
			name = fmt.Sprintf("%s %q of table %q.%q", k.Kind, k.Name, k.Schema, k.Table)
		}
	}
	return name
}

// Object is one declared object.
type Object struct {
	Key Key
	At  Position

	attrs   map[string]Value
	columns []*Object // of a table, in their order
	parts   []*Object // of a table: constraints and indexes, in their order
	target  *Object   // of a grant or revocation; nil for the schema that is there without being declared
}

// form says what a Value holds.
type form int

const (
	formText    form = iota
	formNumber       // numeral in text
	formFlag         // flag
	formNull         //
	formSQL          // text is free SQL
	formList         // list
	formMap          // entries
	formRef          // text is the name, kind and the rest in ref
	formColumns      // list of keys of an index
)

// Value of one property.
type Value struct {
	at      Position
	form    form
	text    string
	flag    bool
	list    []Value
	entries []entry
	ref     *reference
}

type entry struct {
	name  string
	at    Position
	value Value
}

// reference to something that has to be declared.
type reference struct {
	kind   Kind
	parts  []string // schema, if any, and name
	column string
}

// same compares what two values say, not where they say it.
func (v Value) same(o Value) bool {
	if v.form != o.form || v.text != o.text || v.flag != o.flag || len(v.list) != len(o.list) || len(v.entries) != len(o.entries) || (v.ref == nil) != (o.ref == nil) {
		return false
	}
	if v.ref != nil && (v.ref.kind != o.ref.kind || v.ref.column != o.ref.column || !slices.Equal(v.ref.parts, o.ref.parts)) {
		return false
	}
	for i := range v.list {
		if !v.list[i].same(o.list[i]) {
			return false
		}
	}
	for i := range v.entries {
		if v.entries[i].name != o.entries[i].name || !v.entries[i].value.same(o.entries[i].value) {
			return false
		}
	}
	return true
}

// entry finds the value of a name in a mapping.
func (v Value) entry(name string) (Value, bool) {
	for _, e := range v.entries {
		if e.name == name {
			return e.value, true
		}
	}
	return Value{}, false
}

// entryFlag is a flag in a mapping, false where it is absent.
func (v Value) entryFlag(name string) bool {
	e, _ := v.entry(name)
	return e.flag
}

// texts are the texts of a list.
func (v Value) texts() []string {
	out := make([]string, len(v.list))
	for i := range v.list {
		out[i] = v.list[i].text
	}
	return out
}

func (o *Object) has(name string) bool {
	_, ok := o.attrs[name]
	return ok
}

// text is the text of a property; empty where it is absent.
func (o *Object) text(name string) string { return o.attrs[name].text }

func (o *Object) flag(name string) bool { return o.attrs[name].flag }

// where is the position of a property, or that of the object.
func (o *Object) where(name string) Position {
	if v, ok := o.attrs[name]; ok {
		return v.at
	}
	return o.At
}

func (o *Object) set(name string, v Value) {
	if o.attrs == nil {
		o.attrs = map[string]Value{}
	}
	o.attrs[name] = v
}

func (o *Object) column(name string) *Object {
	for _, c := range o.columns {
		if c.Key.Name == name {
			return c
		}
	}
	return nil
}

// Tree is everything that the files declare, merged, each reference resolved.
type Tree struct {
	dialect string
	// database is what the files call the one schema of MySQL and MariaDB.
	database   string
	databaseAt Position
	objects    []*Object // top level, sorted by key
	index      map[Key]*Object
}

// Rename is a declared rename of a table or, with Column or Index, of one of those.
type Rename struct {
	Schema, Table, Column, Index string
	From                         string
	At                           Position
}

// Renames are the declared renames, sorted.
func (t *Tree) Renames() []Rename {
	var out []Rename
	for _, o := range t.objects {
		if o.Key.Kind != TableKind {
			continue
		}
		if o.has("renamed_from") {
			out = append(out, Rename{Schema: o.Key.Schema, Table: o.Key.Name, From: o.text("renamed_from"), At: o.where("renamed_from")})
		}
		for _, p := range o.parts {
			if p.has("renamed_from") {
				out = append(out, Rename{Schema: o.Key.Schema, Table: o.Key.Name, Index: p.Key.Name, From: p.text("renamed_from"), At: p.where("renamed_from")})
			}
		}
		for _, c := range o.columns {
			if c.has("renamed_from") {
				out = append(out, Rename{Schema: o.Key.Schema, Table: o.Key.Name, Column: c.Key.Name, From: c.text("renamed_from"), At: c.where("renamed_from")})
			}
		}
	}
	return out
}

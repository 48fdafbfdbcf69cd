package declare

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// table normalises columns and turns what they say about keys into parts of the table.
func (n *normaliser) table(o *Object) {
	if len(o.columns) == 0 && !o.has("custom_sql") {
		n.bag.add(o.At, "%s has no columns", o.Key)
	}
	var fromColumns []*Object
	seen := map[string]*Object{}
	for _, c := range o.columns {
		n.override(c)
		n.drop(c)
		c.Key = Key{Kind: ColumnKind, Schema: o.Key.Schema, Table: o.Key.Name, Name: c.text("name")}
		delete(c.attrs, "name")
		if !n.named(c) {
			continue
		}
		if before, twice := seen[c.Key.Name]; twice {
			n.bag.add(c.At, "%s is declared twice, first at %s", c.Key, before.At)
			continue
		}
		seen[c.Key.Name] = c
		if n.mysql {
			fromColumns = append(fromColumns, n.columnMySQL(c)...)
		} else {
			fromColumns = append(fromColumns, n.column(o, c)...)
		}
	}
	n.primaryKey(o)
	n.parts(o, slices.Concat(n.tableChecks(o), fromColumns, o.parts))
	if v, ok := o.attrs["rls_enabled"]; ok {
		delete(o.attrs, "rls_enabled")
		security := &Object{Key: Key{Kind: RowSecurityKind}, At: v.at, attrs: map[string]Value{"table": refValue(v.at, []string{o.Key.Schema, o.Key.Name}, "")}}
		onTable(security)
		n.done = append(n.done, security)
	}
	for _, v := range o.attrs["custom_sql"].list {
		if problem := checkSQL(v.text, asElements, isMySQL(n.dialect)); problem != "" {
			n.bag.add(v.at, "%s: custom_sql %s", o.Key, problem)
		}
	}
}

// parts gives the constraints and indexes of an object their keys.
func (n *normaliser) parts(o *Object, parts []*Object) {
	o.parts = nil
	for _, p := range parts {
		n.override(p)
		n.drop(p)
		p.Key.Schema, p.Key.Table, p.Key.Name = o.Key.Schema, o.Key.Name, p.text("name")
		delete(p.attrs, "name")
		n.part(p)
		n.addPart(o, p)
	}
}

// addPart adds a part, once.
func (n *normaliser) addPart(o, p *Object) {
	for _, other := range o.parts {
		switch {
		case other.Key == p.Key:
			n.bag.add(p.At, "%s is declared twice, first at %s", p.Key, other.At)
			return
		case isPrimary(other) && isPrimary(p):
			n.bag.add(p.At, "%s has two primary keys, the first at %s", o.Key, other.At)
			return
		}
	}
	o.parts = append(o.parts, p)
}

func isPrimary(p *Object) bool {
	return p.Key.Kind == ConstraintKind && p.text("type") == "PRIMARY KEY"
}

// primaryKey turns flags and lists into one constraint.
func (n *normaliser) primaryKey(o *Object) {
	var flagged []string
	var at Position
	for _, c := range o.columns {
		if v, ok := c.attrs["primary"]; ok {
			flagged, at = append(flagged, c.Key.Name), v.at
			delete(c.attrs, "primary")
		}
	}
	v, ok := o.attrs["primary_key"]
	delete(o.attrs, "primary_key")
	switch {
	case !ok && len(flagged) == 0:
		return
	case !ok:
		v = listValue(at, flagged...)
	case len(flagged) > 0 && !slices.Equal(slices.Sorted(slices.Values(flagged)), slices.Sorted(slices.Values(v.texts()))):
		n.bag.add(v.at, "%s: primary_key lists other columns than those with primary: %s", o.Key, strings.Join(flagged, ", "))
	}
	o.parts = append([]*Object{newPart(ConstraintKind, v.at, map[string]Value{"type": textValue(v.at, "PRIMARY KEY"), "columns": v})}, o.parts...)
}

func newPart(kind Kind, at Position, attrs map[string]Value) *Object {
	return &Object{Key: Key{Kind: kind}, At: at, attrs: attrs}
}

func (n *normaliser) tableChecks(o *Object) []*Object {
	v := o.attrs["checks"]
	delete(o.attrs, "checks")
	var out []*Object
	for _, item := range v.list {
		expr, _ := item.entry("expr")
		attrs := map[string]Value{"type": textValue(item.at, "CHECK"), "check": expr}
		if name, ok := item.entry("name"); ok {
			attrs["name"] = name
		}
		out = append(out, newPart(ConstraintKind, item.at, attrs))
	}
	return out
}

// column normalises one column and returns the parts of the table that it declares.
func (n *normaliser) column(t, c *Object) []*Object {
	n.nullable(c)
	n.inlineEnum(t, c)
	n.require(c, required[ColumnKind]...)
	if v, ok := c.attrs["auto_increment"]; ok {
		delete(c.attrs, "auto_increment")
		if !strings.Contains(strings.ToLower(c.text("type")), "serial") && !c.has("identity_generation") {
			c.set("identity_generation", textValue(v.at, "BY DEFAULT"))
		}
	}
	n.without(c, "identity_generation", "identity_start", "identity_increment", "identity_options")
	if v, ok := c.attrs["identity_options"]; ok && !identityOptions.MatchString(v.text) {
		n.bag.add(v.at, "%s: identity_options can hold MINVALUE, MAXVALUE, NO MINVALUE, NO MAXVALUE, CACHE, CYCLE and NO CYCLE with numbers", c.Key)
	}
	n.conflict(c, "default", "default_expr", "generated", "identity_generation")
	n.generated(c)
	n.without(c, "foreign", "foreign_key_name", "on_delete", "on_update")
	n.without(c, "check", "check_name")
	return n.columnParts(c)
}

var identityOptions = regexp.MustCompile(`(?i)^\s*((no\s+)?(minvalue|maxvalue|cycle)|(minvalue|maxvalue|cache)\s+-?[0-9]+)(\s+((no\s+)?(minvalue|maxvalue|cycle)|(minvalue|maxvalue|cache)\s+-?[0-9]+))*\s*$`)

func (n *normaliser) generated(c *Object) {
	kind, stored := c.attrs["generated_kind"], c.attrs["stored"]
	n.without(c, "generated", "generated_kind", "stored")
	delete(c.attrs, "stored")
	if !c.has("generated") {
		return
	}
	switch {
	case stored.flag && kind.text == "VIRTUAL":
		n.bag.add(kind.at, "%s: stored and generated_kind contradict each other", c.Key)
	case kind.text == "" && n.mysql && !stored.flag: // the server's own default
	case kind.text == "":
		c.set("generated_kind", textValue(c.where("generated"), "STORED"))
	}
}

// inlineEnum makes a type of its own out of the values that a column lists.
func (n *normaliser) inlineEnum(t, c *Object) {
	values, ok := c.attrs["enum"]
	delete(c.attrs, "enum")
	if !ok {
		if strings.EqualFold(c.text("type"), "enum") {
			n.bag.add(c.where("type"), "%s: the type ENUM needs enum, the list of its values", c.Key)
		}
		return
	}
	if typ, ok := c.attrs["type"]; ok && !strings.EqualFold(strings.TrimSpace(typ.text), "enum") {
		n.bag.add(typ.at, "%s: enum and another type exclude each other", c.Key)
		return
	}
	name := "enum_" + t.Key.Name + "_" + c.Key.Name
	if problem := checkName(name, false); problem != "" {
		n.bag.add(values.at, "%s: the name %q of its type %s; declare the enum by itself", c.Key, name, problem)
		return
	}
	n.done = append(n.done, &Object{Key: Key{Kind: EnumKind, Schema: t.Key.Schema, Name: name}, At: values.at, attrs: map[string]Value{"values": values}})
	c.set("type", Value{at: values.at, form: formRef, ref: &reference{kind: EnumKind, parts: []string{t.Key.Schema, name}}})
}

func (n *normaliser) columnParts(c *Object) []*Object {
	var out []*Object
	take := func(name string) (Value, bool) {
		v, ok := c.attrs[name]
		delete(c.attrs, name)
		return v, ok
	}
	if v, ok := take("unique"); ok {
		out = append(out, newPart(ConstraintKind, v.at, map[string]Value{"type": textValue(v.at, "UNIQUE"), "columns": listValue(v.at, c.Key.Name)}))
	}
	if v, ok := take("unique_expr"); ok {
		key := Value{at: v.at, form: formMap, entries: []entry{{"expr", v.at, v}}}
		out = append(out, newPart(IndexKind, v.at, map[string]Value{"unique": flagValue(v.at, true), "fields": {at: v.at, form: formList, list: []Value{key}}}))
	}
	if v, ok := take("index"); ok {
		key := Value{at: v.at, form: formMap, entries: []entry{{"column", v.at, textValue(v.at, c.Key.Name)}}}
		out = append(out, newPart(IndexKind, v.at, map[string]Value{"fields": {at: v.at, form: formList, list: []Value{key}}}))
	}
	if v, ok := take("foreign"); ok {
		attrs := map[string]Value{
			"type": textValue(v.at, "FOREIGN KEY"), "columns": listValue(v.at, c.Key.Name),
			"foreign_table": refValue(v.at, v.ref.parts, ""), "foreign_column": listValue(v.at, v.ref.column),
		}
		for from, to := range map[string]string{"foreign_key_name": "name", "on_delete": "on_delete", "on_update": "on_update"} {
			if x, ok := take(from); ok {
				attrs[to] = x
			}
		}
		out = append(out, newPart(ConstraintKind, v.at, attrs))
	}
	if n.mysql && !c.has("check_name") {
		return out
	}
	if v, ok := take("check"); ok {
		attrs := map[string]Value{"type": textValue(v.at, "CHECK"), "check": v}
		if name, ok := take("check_name"); ok {
			attrs["name"] = name
		}
		out = append(out, newPart(ConstraintKind, v.at, attrs))
	}
	return out
}

// partKeys are the properties that each type of constraint has besides type and comment; the first ones it must have.
var partKeys = map[string]struct{ must, may []string }{
	"PRIMARY KEY": {[]string{"columns"}, []string{"include", "deferrable", "initially", "options"}},
	"UNIQUE":      {[]string{"columns"}, []string{"include", "deferrable", "initially", "options", "nulls_distinct"}},
	"FOREIGN KEY": {[]string{"columns"}, []string{"foreign_table", "foreign_column", "on_delete", "on_update", "deferrable", "initially", "not_valid", "match_full"}},
	"CHECK":       {[]string{"check"}, []string{"not_valid", "no_inherit", "not_enforced"}},
	"EXCLUDE":     {[]string{"elements"}, []string{"using", "condition", "deferrable", "initially", "options"}},
}

// part checks one constraint or index, and gives those without a name an identity: what they say.
func (n *normaliser) part(p *Object) {
	if v, ok := p.attrs["enforced"]; ok {
		delete(p.attrs, "enforced")
		if !v.flag {
			p.set("not_enforced", flagValue(v.at, true))
		}
	}
	if p.Key.Kind == IndexKind {
		n.require(p, required[IndexKind]...)
	} else {
		n.constraint(p)
	}
	if p.text("on_delete") == "NO ACTION" && !n.mysql { // MySQL and MariaDB keep the words
		delete(p.attrs, "on_delete")
	}
	if p.text("on_update") == "NO ACTION" && !n.mysql {
		delete(p.attrs, "on_update")
	}
	if p.text("initially") == "IMMEDIATE" {
		delete(p.attrs, "initially")
	}
	if p.Key.Name != "" {
		return
	}
	if v, ok := p.attrs["renamed_from"]; ok {
		n.bag.add(v.at, "%s: renamed_from without a name", p.Key)
	}
	for _, name := range slices.Sorted(maps.Keys(p.attrs)) {
		if name != "table" {
			p.Key.Arguments += name + p.attrs[name].key()
		}
	}
}

func (n *normaliser) constraint(p *Object) {
	n.require(p, required[ConstraintKind]...)
	if n.mysql && p.text("type") == "EXCLUDE" {
		n.bag.add(p.where("type"), "%s: exclusion constraints belong to PostgreSQL", p.Key)
		return
	}
	if p.text("initially") == "DEFERRED" && !p.has("deferrable") {
		n.bag.add(p.where("initially"), "%s: initially without deferrable", p.Key)
	}
	allowed, ok := partKeys[p.text("type")]
	if !ok {
		return
	}
	n.require(p, allowed.must...)
	for _, name := range slices.Sorted(maps.Keys(p.attrs)) {
		if !slices.Contains(allowed.must, name) && !slices.Contains(allowed.may, name) && !slices.Contains([]string{"type", "comment", "table"}, name) {
			n.bag.add(p.where(name), "%s: %s has no meaning for the type %s; allowed here: %s", p.Key, name, p.text("type"), oneOf(append(slices.Clone(allowed.must), allowed.may...)))
		}
	}
}

package declare

import (
	"maps"
	"slices"
	"strings"
)

// grantOn leads from the property that names what privileges are granted on to the kinds that it may be.
var grantOn = map[string][]Kind{
	"on_schema":   {SchemaKind},
	"on_table":    {TableKind, ViewKind, MaterializedKind},
	"on_sequence": {SequenceKind},
	"on_function": {FunctionKind},
	"on_type":     {EnumKind, DomainKind, CompositeKind, RangeKind},
}

// isAboutPrivileges reports the kinds of declarations that say who may do what.
func (k Kind) isAboutPrivileges() bool {
	return k == GrantKind || k == RevocationKind || k == DefaultsKind
}

// grantTargets are all of those kinds.
func grantTargets() []Kind { return slices.Concat(slices.Collect(maps.Values(grantOn))...) }

// privileges are the words that a server may know; whether they fit the object is for the server to say.
var privileges = []string{"ALL", "CREATE", "DELETE", "EXECUTE", "INSERT", "MAINTAIN", "REFERENCES", "SELECT", "TRIGGER", "TRUNCATE", "UPDATE", "USAGE"}

// grant normalises one grant: each privilege once, in one spelling and order.
func (n *normaliser) grant(o *Object) {
	on := append(slices.Sorted(maps.Keys(grantOn)), "for")
	count := 0
	for _, name := range on {
		if o.has(name) {
			count++
		}
	}
	if count != 1 {
		n.bag.add(o.At, "%s: want one of %s", o.Key, strings.Join(on, ", "))
	}
	n.privileges(o)
}

// privileges puts each privilege there once, in one spelling and order.
func (n *normaliser) privileges(o *Object) {
	v, ok := o.attrs["privileges"]
	if !ok {
		return
	}
	out := Value{at: v.at, form: formList}
	for _, item := range v.list {
		item.text = strings.TrimSuffix(strings.ToUpper(strings.Join(strings.Fields(item.text), " ")), " PRIVILEGES")
		if !slices.Contains(privileges, item.text) {
			n.bag.add(item.at, "%s: unknown privilege %q; allowed here: %s", o.Key, item.text, oneOf(privileges))
			return
		}
		out.list = append(out.list, item)
	}
	slices.SortFunc(out.list, func(a, b Value) int { return strings.Compare(a.text, b.text) })
	out.list = slices.CompactFunc(out.list, func(a, b Value) bool { return a.text == b.text })
	o.set("privileges", out)
}

// fromEverybody demands that nothing is revoked from anybody but PUBLIC.
func (n *normaliser) fromEverybody(o *Object) {
	if v, ok := o.attrs["from"]; ok && !strings.EqualFold(v.text, "PUBLIC") {
		n.bag.add(v.at, "%s: from is PUBLIC: a role has what is granted to it and nothing else, so that there is nothing to revoke", o.Key.Kind)
	}
}

// defaults normalises what is granted on objects to come, or taken from everybody there.
func (n *normaliser) defaults(o *Object) {
	n.privileges(o)
	if o.has("role") == o.has("from") {
		n.bag.add(o.At, "%s: want one of from, role", o.Key.Kind)
		return
	}
	if !o.has("from") {
		return
	}
	n.fromEverybody(o)
	for name, why := range map[string]string{"in_schema": "those of a schema only add to the others", "with_option": "it belongs to what is granted"} {
		if o.has(name) {
			n.bag.add(o.where(name), "%s: %s cannot stand beside from: %s", o.Key.Kind, name, why)
		}
	}
}

// grant finds what is granted on.
func (r *resolver) grant(o *Object) {
	if v, ok := o.attrs["for"]; ok {
		r.target(o, v, v.ref.kind)
		return
	}
	for name, kinds := range grantOn {
		if v, ok := o.attrs[name]; ok {
			if name == "on_schema" {
				v = refValue(v.at, []string{v.text}, "")
			}
			r.target(o, v, kinds...)
		}
	}
}

func (r *resolver) target(o *Object, v Value, kinds ...Kind) {
	if slices.Equal(kinds, []Kind{SchemaKind}) && slices.Equal(v.ref.parts, []string{defaultSchema}) {
		return
	}
	if o.target = r.find(v, kinds...); o.target == nil || !o.has("columns") {
		return
	}
	if o.target.Key.Kind != TableKind && o.target.Key.Kind != ViewKind && o.target.Key.Kind != MaterializedKind {
		r.bag.add(o.where("columns"), "%s: columns are those of tables and views", o.Key)
		return
	}
	r.columns(o.target, "columns", o.attrs["columns"])
}

// publicHas are the privileges that everybody has on an object by itself.
func publicHas(o *Object) []string {
	schema, isSchema := o.attrs["on_schema"]
	if v, ok := o.attrs["for"]; ok && v.ref.kind == SchemaKind {
		schema, isSchema = textValue(v.at, v.ref.parts[0]), true
	}
	switch {
	case isSchema && schema.text == defaultSchema:
		return []string{"CREATE", "USAGE"} // CREATE up to PostgreSQL 14
	case isSchema || o.target == nil:
		return nil
	case o.target.Key.Kind == FunctionKind:
		return []string{"EXECUTE"}
	case slices.Contains(grantOn["on_type"], o.target.Key.Kind):
		return []string{"USAGE"}
	}
	return nil
}

// revocable refuses what would change nothing.
func (r *resolver) revocable(o *Object) {
	has := publicHas(o)
	if len(has) == 0 {
		if o.target != nil || o.has("on_schema") {
			r.bag.add(o.At, "%s: PUBLIC has no privilege there by itself: leave it out", o.Key.Kind)
		}
		return
	}
	for _, v := range o.attrs["privileges"].list {
		if v.text != "ALL" && !slices.Contains(has, v.text) {
			r.bag.add(v.at, "%s: PUBLIC does not have %s there by itself, but %s", o.Key.Kind, v.text, strings.Join(has, " and "))
		}
	}
}

// defaults writes privileges on objects to come.
func (r *renderer) defaults(o *Object) {
	w := start(o).add("ALTER DEFAULT PRIVILEGES")
	if v, ok := o.attrs["for_role"]; ok {
		w.from(v.at).add(" FOR ROLE ", Quote(v.text))
	}
	if v, ok := o.attrs["in_schema"]; ok {
		w.from(v.at).add(" IN SCHEMA ", Quote(v.text))
	}
	verb, to := " GRANT ", " TO "
	if o.has("from") {
		verb, to = " REVOKE ", " FROM PUBLIC"
	}
	w = r.privileges(w.add(verb), o)
	w.from(o.where("on")).add(" ON ", o.text("on")).from(o.At).add(to)
	if o.has("role") {
		w.from(o.where("role")).add(granteeText(o.text("role")))
	}
	if o.has("with_option") {
		w.from(o.where("with_option")).add(" WITH GRANT OPTION")
	}
	r.emit(rankDefaults, w)
}

func granteeText(role string) string {
	if strings.EqualFold(role, "PUBLIC") {
		return "PUBLIC"
	}
	return Quote(role)
}

// privileges writes a list of privileges, each with its columns.
func (r *renderer) privileges(w *writer, o *Object) *writer {
	w.from(o.where("privileges"))
	for i, v := range o.attrs["privileges"].list {
		if i > 0 {
			w.add(", ")
		}
		w.add(v.text)
		if columns, ok := o.attrs["columns"]; ok {
			w.add(" (", quoteAll(columns.texts()), ")")
		}
	}
	return w
}

func (r *renderer) grant(o *Object) {
	w := r.privileges(start(o).add("GRANT "), o)
	w.from(o.At).add(" ON ", grantTarget(o.target), " TO ").from(o.where("role")).add(granteeText(o.text("role")))
	if o.has("with_option") {
		w.from(o.where("with_option")).add(" WITH GRANT OPTION")
	}
	r.emit(rankGrant, w)
}

func grantTarget(t *Object) string {
	if t == nil {
		return "SCHEMA " + Quote(defaultSchema)
	}
	switch t.Key.Kind {
	case SchemaKind:
		return "SCHEMA " + Quote(t.Key.Name)
	case SequenceKind:
		return "SEQUENCE " + Quote(t.Key.Schema, t.Key.Name)
	case FunctionKind:
		signature := "FUNCTION " + Quote(t.Key.Schema, t.Key.Name) + "("
		if p, ok := t.attrs["params"]; ok {
			signature += closed(withoutDefaults(p.text), false)
		}
		return signature + ")"
	case EnumKind, DomainKind, CompositeKind, RangeKind:
		return "TYPE " + Quote(t.Key.Schema, t.Key.Name)
	}
	return "TABLE " + Quote(t.Key.Schema, t.Key.Name)
}

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

func (r *renderer) grant(o *Object) {
	w := start(o).add("GRANT ").from(o.where("privileges"))
	for i, v := range o.attrs["privileges"].list {
		if i > 0 {
			w.add(", ")
		}
		w.add(v.text)
		if columns, ok := o.attrs["columns"]; ok {
			w.add(" (", quoteAll(columns.texts()), ")")
		}
	}
	w.from(o.At).add(" ON ", grantTarget(o.target), " TO ").from(o.where("role"))
	if role := o.text("role"); strings.EqualFold(role, "PUBLIC") {
		w.add("PUBLIC")
	} else {
		w.add(Quote(role))
	}
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

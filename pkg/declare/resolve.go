package declare

import (
	"slices"
)

// resolver gives every reference the object that it means.
type resolver struct {
	tree   *Tree
	bag    *bag
	byName map[string][]*Object
}

func newResolver(t *Tree, b *bag) *resolver {
	r := &resolver{tree: t, bag: b, byName: map[string][]*Object{}}
	for _, o := range t.objects {
		r.byName[o.Key.Name] = append(r.byName[o.Key.Name], o)
	}
	return r
}

// find is the object of one of the kinds that a reference means. Without a schema it means the only one of that name.
func (r *resolver) find(v Value, kinds ...Kind) *Object {
	if v.ref == nil || len(v.ref.parts) == 0 {
		return nil
	}
	parts := v.ref.parts
	if len(parts) == 2 && isMySQL(r.tree.dialect) && parts[0] == r.tree.database {
		parts = parts[1:]
	}
	var found []*Object
	for _, o := range r.byName[parts[len(parts)-1]] {
		if slices.Contains(kinds, o.Key.Kind) && (len(parts) == 1 || o.Key.Schema == parts[0]) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		r.bag.add(v.at, "unknown reference: no %s %s is declared", kinds[0], Quote(parts...))
	default:
		r.bag.add(v.at, "ambiguous reference: %s at %s and %s at %s; write the schema too", found[0].Key, found[0].At, found[1].Key, found[1].At)
	}
	return nil
}

// bind finds the table of an object and keeps its name in the key.
func (r *resolver) bind(o *Object, kinds ...Kind) *Object {
	v, ok := o.attrs["table"]
	if !ok {
		return nil
	}
	t := r.find(v, kinds...)
	if t == nil {
		return nil
	}
	delete(o.attrs, "table")
	o.Key.Schema, o.Key.Table = t.Key.Schema, t.Key.Name
	return t
}

// attach adds a constraint or index that is declared outside of its table.
func (r *resolver) attach(o *Object) {
	t := r.bind(o, TableKind, MaterializedKind)
	if t == nil {
		return
	}
	for _, p := range t.parts {
		if p.Key == o.Key {
			if d := differ(p, o); d != nil {
				r.bag.add(d.second, "%s is declared differently at %s: %s", o.Key, d.first, d.property)
			}
			return
		}
		if isPrimary(p) && isPrimary(o) {
			r.bag.add(o.At, "%s has two primary keys, the first at %s", t.Key, p.At)
			return
		}
	}
	if t.Key.Kind == MaterializedKind && o.Key.Kind != IndexKind {
		r.bag.add(o.At, "%s can have indexes and no constraints", t.Key)
		return
	}
	t.parts = append(t.parts, o)
}

// run resolves everything and puts objects that hang on a table under their final keys.
func (r *resolver) run() {
	if name := r.tree.database; name != "" && r.tree.index[Key{Kind: SchemaKind, Name: name}] == nil {
		r.bag.add(r.tree.databaseAt, "unknown reference: no schema %q is declared", name)
	}
	again := &Tree{dialect: r.tree.dialect, index: map[Key]*Object{}}
	for _, o := range r.tree.objects {
		r.object(o)
		again.merge(o, r.bag)
	}
	r.tree.index = again.index
	r.tree.objects = r.tree.objects[:0]
	for _, o := range again.index {
		r.tree.objects = append(r.tree.objects, o)
	}
	slices.SortFunc(r.tree.objects, func(a, b *Object) int { return a.Key.Compare(b.Key) })
	r.checkNames()
}

func (r *resolver) object(o *Object) {
	r.schema(o.Key.Schema, o)
	switch o.Key.Kind {
	case TableKind:
		for _, c := range o.columns {
			r.typ(c, "type")
		}
		for _, p := range o.parts {
			r.part(o, p)
		}
	case MaterializedKind:
		for _, p := range o.parts {
			r.part(o, p)
		}
		r.dependsOn(o)
	case ViewKind:
		r.dependsOn(o)
	case DomainKind, SequenceKind:
		r.typ(o, "type")
		r.ownedBy(o)
	case RangeKind:
		r.typ(o, "subtype")
	case CompositeKind:
		r.fields(o)
	case FunctionKind:
		r.typ(o, "returns")
	case ExtensionKind:
		if v, ok := o.attrs["schema"]; ok {
			r.schema(v.text, o)
		}
	case DataKind:
		r.rows(o)
	case TriggerKind:
		o.Key.Arguments = ""
		r.bind(o, TableKind, ViewKind)
	case GrantKind:
		r.grant(o)
	case RevocationKind:
		r.grant(o)
		r.revocable(o)
	case DefaultsKind:
		r.schema(o.text("in_schema"), o)
	case PolicyKind, RowSecurityKind:
		o.Key.Arguments = ""
		if r.bind(o, TableKind) != nil && o.Key.Kind == RowSecurityKind {
			o.Key.Name = o.Key.Table
		}
	}
}

// schema demands that a schema is declared; the default one always exists.
func (r *resolver) schema(name string, o *Object) {
	if name == "" || name == defaultSchema || o.Key.Kind == SchemaKind {
		return
	}
	if _, ok := r.tree.index[Key{Kind: SchemaKind, Name: name}]; !ok {
		r.bag.add(o.At, "%s: unknown reference: no schema %q is declared", o.Key, name)
	}
}

// typ turns a reference to a declared type into its name.
func (r *resolver) typ(o *Object, name string) {
	v, ok := o.attrs[name]
	if !ok || v.form != formRef {
		return
	}
	kind := v.ref.kind
	if kind == "" {
		kind = EnumKind
	}
	if t := r.find(v, kind); t != nil {
		o.set(name, Value{at: v.at, form: formSQL, text: Quote(t.Key.Schema, t.Key.Name)})
	}
}

func (r *resolver) fields(o *Object) {
	fields := o.attrs["fields"]
	for i, f := range fields.list {
		for j, e := range f.entries {
			if e.name != "type" || e.value.form != formRef {
				continue
			}
			if t := r.find(e.value, e.value.ref.kind); t != nil {
				fields.list[i].entries[j].value = Value{at: e.value.at, form: formSQL, text: Quote(t.Key.Schema, t.Key.Name)}
			}
		}
	}
}

func (r *resolver) dependsOn(o *Object) {
	v, ok := o.attrs["depends_on"]
	if !ok {
		return
	}
	out := Value{at: v.at, form: formList}
	for _, item := range v.list {
		if t := r.find(item, ViewKind, MaterializedKind, TableKind, FunctionKind, SequenceKind, EnumKind, DomainKind, CompositeKind, RangeKind); t != nil {
			out.list = append(out.list, textValue(item.at, exactly(t.Key)))
		}
	}
	o.set("depends_on", out)
}

func (r *resolver) ownedBy(o *Object) {
	v, ok := o.attrs["owned_by"]
	if !ok || v.form != formRef {
		return
	}
	t := r.find(v, TableKind)
	if t == nil {
		return
	}
	r.columns(t, "owned_by", Value{at: v.at, list: []Value{textValue(v.at, v.ref.column)}})
	o.set("owned_by", refValue(v.at, []string{t.Key.Schema, t.Key.Name}, v.ref.column))
}

// columns demands that a table has the columns. Where free SQL adds to a table, nobody knows what it adds.
func (r *resolver) columns(t *Object, what string, v Value) {
	if t.Key.Kind != TableKind || t.has("custom_sql") {
		return
	}
	for _, item := range v.list {
		if t.column(item.text) == nil {
			r.bag.add(item.at, "%s: unknown reference: %s has no column %q", what, t.Key, item.text)
		}
	}
}

func (r *resolver) part(t, p *Object) {
	r.columns(t, "columns", p.attrs["columns"])
	r.columns(t, "include", p.attrs["include"])
	for _, key := range p.attrs["fields"].list {
		if c, ok := key.entry("column"); ok {
			r.columns(t, "columns", Value{list: []Value{c}})
		}
	}
	if p.text("type") == "FOREIGN KEY" {
		r.foreignKey(t, p)
	}
}

func (r *resolver) foreignKey(t, p *Object) {
	target := t
	if v, ok := p.attrs["foreign_table"]; ok {
		if target = r.find(v, TableKind); target == nil {
			return
		}
	}
	p.set("foreign_table", refValue(p.where("foreign_table"), []string{target.Key.Schema, target.Key.Name}, ""))
	v, ok := p.attrs["foreign_column"]
	if !ok {
		return
	}
	r.columns(target, "foreign_column", v)
	if len(v.list) != len(p.attrs["columns"].list) {
		r.bag.add(v.at, "%s: %d columns point to %d", p.Key, len(p.attrs["columns"].list), len(v.list))
	}
}

// checkNames reports two objects that a server keeps under one name.
func (r *resolver) checkNames() {
	relations, types := map[Key]*Object{}, map[Key]*Object{}
	claim := func(names map[Key]*Object, o *Object) {
		key := Key{Schema: o.Key.Schema, Name: o.Key.Name}
		if other, taken := names[key]; taken && other != o {
			r.bag.add(o.At, "%s has the name of %s at %s", o.Key, other.Key, other.At)
			return
		}
		names[key] = o
	}
	for _, o := range r.tree.objects {
		switch o.Key.Kind {
		case TableKind, ViewKind, MaterializedKind, SequenceKind:
			claim(relations, o)
			if isMySQL(r.tree.dialect) {
				continue
			}
			if o.Key.Kind != SequenceKind {
				claim(types, o)
			}
			for _, p := range o.parts {
				if p.Key.Kind == IndexKind && p.Key.Name != "" {
					claim(relations, p)
				}
			}
		case EnumKind, DomainKind, RangeKind:
			claim(types, o)
		case CompositeKind:
			claim(types, o)
			claim(relations, o)
		}
	}
}

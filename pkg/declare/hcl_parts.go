package declare

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// constraintBlock reads the blocks that declare a constraint. Without a type the block says it.
func constraintBlock(typ string) func(*hclReader, *Object, *hclsyntax.Block, nestedBlock) {
	return func(r *hclReader, o *Object, b *hclsyntax.Block, n nestedBlock) {
		c := r.child(ConstraintKind, b)
		if typ != "" {
			c.set("type", textValue(c.At, typ))
		}
		if typ == "FOREIGN KEY" {
			r.foreignKey(c, b, n.keys)
		} else {
			r.fill(c, b, n.keys, nil)
		}
		o.parts = append(o.parts, c)
	}
}

// foreignKey reads ref_columns, whose references name the table too. A column of the own table needs no table.
func (r *hclReader) foreignKey(c *Object, b *hclsyntax.Block, g grammar) {
	rest := *b
	body := *b.Body
	body.Attributes = hclsyntax.Attributes{}
	for name, a := range b.Body.Attributes {
		if name != "ref_columns" {
			body.Attributes[name] = a
		}
	}
	rest.Body = &body
	r.fill(c, &rest, g, nil)
	a, ok := b.Body.Attributes["ref_columns"]
	if !ok {
		r.bag.add(c.At, "foreign_key: want ref_columns")
		return
	}
	v, ok := r.value(a.Expr)
	if !ok {
		return
	}
	if v.form != formList || len(v.list) == 0 {
		r.bag.add(v.at, "want a list of references such as table.users.column.id")
		return
	}
	columns := Value{at: v.at, form: formList}
	var table *Value
	for i := range v.list {
		item := v.list[i]
		if item.form != formRef || item.ref.column == "" {
			r.bag.add(item.at, "want a reference such as table.users.column.id")
			return
		}
		columns.list = append(columns.list, textValue(item.at, item.ref.column))
		if item.ref.kind == ColumnKind {
			continue
		}
		named := Value{at: item.at, form: formRef, ref: &reference{kind: TableKind, parts: item.ref.parts}}
		if table != nil && !table.same(named) {
			r.bag.add(item.at, "a foreign key points to one table")
			return
		}
		table = &named
	}
	c.set("foreign_column", columns)
	if table != nil {
		c.set("foreign_table", *table)
	}
}

func (r *hclReader) rowSecurity(o *Object, b *hclsyntax.Block, n nestedBlock) {
	in := r.inner(o, b, n.keys)
	v, ok := in.attrs["enabled"]
	if !ok {
		r.bag.add(in.At, "row_security: want enabled")
		return
	}
	o.set("rls_enabled", v)
}

func (r *hclReader) domainCheck(o *Object, b *hclsyntax.Block, n nestedBlock) {
	in := r.inner(o, b, n.keys)
	v, ok := in.attrs["expr"]
	if !ok {
		r.bag.add(in.At, "check: want expr")
		return
	}
	item := Value{at: in.At, form: formMap, entries: []entry{{"expr", v.at, v}}}
	if len(b.Labels) > 0 {
		at := positionOf(b.LabelRanges[0])
		if problem := checkName(b.Labels[0], r.mysql); problem != "" {
			r.bag.add(at, "the name %q %s", b.Labels[0], problem)
			return
		}
		item.entries = append(item.entries, entry{"name", at, textValue(at, b.Labels[0])})
	}
	checks := o.attrs["checks"]
	checks.form, checks.at = formList, in.At
	checks.list = append(checks.list, item)
	o.set("checks", checks)
}

func (r *hclReader) field(o *Object, b *hclsyntax.Block, n nestedBlock) {
	in := r.inner(o, b, n.keys)
	typ, ok := in.attrs["type"]
	if !ok {
		r.bag.add(in.At, "field: want type")
		return
	}
	at := positionOf(b.LabelRanges[0])
	if problem := checkName(b.Labels[0], r.mysql); problem != "" {
		r.bag.add(at, "the name %q %s", b.Labels[0], problem)
		return
	}
	item := Value{at: in.At, form: formMap}
	if collation, ok := in.attrs["collation"]; ok {
		item.entries = append(item.entries, entry{"collation", collation.at, collation})
	}
	item.entries = append(item.entries, entry{"name", at, textValue(at, b.Labels[0])}, entry{"type", typ.at, typ})
	fields := o.attrs["fields"]
	fields.form, fields.at = formList, in.At
	fields.list = append(fields.list, item)
	o.set("fields", fields)
}

// argument adds one parameter to those of the function.
func (r *hclReader) argument(o *Object, b *hclsyntax.Block, n nestedBlock) {
	in := r.inner(o, b, n.keys)
	typ, ok := in.attrs["type"]
	switch {
	case !ok:
		r.bag.add(in.At, "arg: want type")
		return
	case typ.form == formRef:
		typ.text = Quote(typ.ref.parts...)
	}
	name := Quote(b.Labels[0])
	if r.mysql {
		name = quoteMySQL(b.Labels[0])
	}
	text := name + " " + typ.text
	if mode := in.text("mode"); mode != "" {
		text = mode + " " + text
	}
	if v, ok := in.attrs["default"]; ok {
		text += " DEFAULT (" + closed(v.text, r.mysql) + ")"
	}
	params, again := o.attrs["params"]
	if again {
		text = params.text + ", " + text
	}
	if params.at.Line == 0 {
		params.at = in.At
	}
	params.form, params.text = formSQL, text
	if problem := checkSQL(text, asElements, r.mysql); problem != "" {
		r.bag.add(in.At, "arg: %s", problem)
		return
	}
	o.set("params", params)
}

// timing reads before, after and instead_of.
func timing(word string) func(*hclReader, *Object, *hclsyntax.Block, nestedBlock) {
	return func(r *hclReader, o *Object, b *hclsyntax.Block, n nestedBlock) {
		in := r.inner(o, b, n.keys)
		if o.has("timing") {
			r.bag.add(in.At, "trigger: one of before, after and instead_of")
			return
		}
		events := Value{at: in.At, form: formList}
		for _, name := range []string{"insert", "update", "update_of", "delete", "truncate"} {
			v, ok := in.attrs[name]
			switch {
			case name == "update_of" && ok:
				events.list = append(events.list, textValue(v.at, "UPDATE OF "+quoteAll(v.texts())))
			case ok && v.flag:
				events.list = append(events.list, textValue(v.at, strings.ToUpper(name)))
			}
		}
		if len(events.list) == 0 {
			r.bag.add(in.At, "%s: want insert, update, delete or truncate", b.Type)
			return
		}
		o.set("timing", textValue(in.At, word))
		o.set("event", events)
	}
}

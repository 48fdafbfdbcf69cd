package declare

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// wanted evaluates an expression for what a property wants.
func (r *hclReader) wanted(p property, e hcl.Expression) (Value, bool) {
	at := positionOf(e.Range())
	switch p.want {
	case wantType:
		return r.typeText(e)
	case wantWord, wantName:
		if p.want == wantName && len(p.words) == 0 {
			break
		}
		if word := hcl.ExprAsKeyword(e); word != "" {
			return r.accepted(p, textValue(at, word))
		}
	case wantTexts:
		if list, ok := e.(*hclsyntax.TupleConsExpr); ok && len(p.words) > 0 {
			return r.words(p, list)
		}
	case wantColumns, wantChecks:
		return r.items(p.want, e)
	}
	v, ok := r.value(e)
	if !ok {
		return v, false
	}
	return r.accepted(p, v)
}

// accepted checks a value, references included.
func (r *hclReader) accepted(p property, v Value) (Value, bool) {
	p.mysql = r.mysql
	if p.want == wantTarget {
		if v.form == formRef && v.ref.column == "" && slices.Contains(grantTargets(), v.ref.kind) {
			return v, true
		}
		r.bag.add(v.at, "want a schema, table, view, sequence, function or type")
		return v, false
	}
	if v.form == formRef {
		if out, ok := r.acceptReference(p, v); ok {
			return out, true
		}
		r.bag.add(v.at, "a reference to a %s cannot stand here", v.ref.kind)
		return v, false
	}
	if p.want == wantNames && v.form == formList {
		return r.names(v)
	}
	switch p.want {
	case wantSQL, wantQuery, wantElements, wantBody:
		if v.form == formSQL {
			v.form = formText
		}
	case wantLiteral:
		if v.form == formSQL {
			return r.accepted(property{want: wantSQL}, v)
		}
	}
	if p.want == wantRows && !v.weigh(r.budget, &r.text) {
		r.bag.add(v.at, "the rows of the sources hold more than %d values or %d bytes", maxNodes, maxText)
		return v, false
	}
	at := v.at
	v, problem := accept(p, v)
	if problem != "" {
		if v.at.Line == 0 {
			v.at = at
		}
		r.bag.add(v.at, "%s", problem)
		return v, false
	}
	return v, true
}

func (r *hclReader) acceptReference(p property, v Value) (Value, bool) {
	ref := v.ref
	switch p.want {
	case wantName:
		if ref.kind == SchemaKind || ref.kind == RoleKind {
			return textValue(v.at, ref.parts[0]), true
		}
	case wantQName:
		return v, ref.kind != ColumnKind && ref.column == ""
	case wantColumnOf:
		return v, ref.kind == TableKind && ref.column != ""
	case wantNames, wantQNames:
		return r.accepted(p, Value{at: v.at, form: formList, list: []Value{v}})
	}
	return v, false
}

// names turns references to columns and roles, and texts, into names.
func (r *hclReader) names(v Value) (Value, bool) {
	out := Value{at: v.at, form: formList}
	for _, item := range v.list {
		switch {
		case item.form == formText && checkName(item.text, r.mysql) == "":
		case item.form == formRef && item.ref.kind == ColumnKind:
			item = textValue(item.at, item.ref.column)
		case item.form == formRef && item.ref.kind == RoleKind:
			item = textValue(item.at, item.ref.parts[0])
		default:
			r.bag.add(item.at, "want a name or a reference such as column.id")
			return v, false
		}
		out.list = append(out.list, item)
	}
	if len(out.list) == 0 {
		r.bag.add(v.at, "the list is empty")
		return v, false
	}
	return out, true
}

// words reads a list of keywords, such as privileges.
func (r *hclReader) words(p property, list *hclsyntax.TupleConsExpr) (Value, bool) {
	v := Value{at: positionOf(list.Range()), form: formList}
	for _, e := range list.Exprs {
		item := textValue(positionOf(e.Range()), hcl.ExprAsKeyword(e))
		if item.text == "" {
			var ok bool
			if item, ok = r.value(e); !ok {
				return v, false
			}
		}
		v.list = append(v.list, item)
	}
	return r.accepted(p, v)
}

// items reads the special lists.
func (r *hclReader) items(w want, e hcl.Expression) (Value, bool) {
	v, ok := r.value(e)
	if !ok {
		return v, false
	}
	if v.form != formList || len(v.list) == 0 {
		r.bag.add(v.at, "want a list")
		return v, false
	}
	out := Value{at: v.at, form: formList}
	for _, item := range v.list {
		switch {
		case item.form == formRef && item.ref.kind == ColumnKind:
			item = textValue(item.at, item.ref.column)
		case item.form == formSQL:
			item.form = formText
			item = Value{at: item.at, form: formMap, entries: []entry{{"expr", item.at, item}}}
		}
		at := item.at
		accepted, problem := acceptItem(w, item, r.mysql)
		if problem != "" {
			if accepted.at.Line > 0 {
				at = accepted.at
			}
			r.bag.add(at, "%s", problem)
			return v, false
		}
		out.list = append(out.list, accepted)
	}
	return out, true
}

// spelled are types of more than one word, as an identifier can write them.
var spelled = map[string]string{
	"double_precision": "double precision", "character_varying": "character varying", "bit_varying": "bit varying", "timestamp_with_time_zone": "timestamp with time zone",
	"timestamp_without_time_zone": "timestamp without time zone", "time_with_time_zone": "time with time zone", "time_without_time_zone": "time without time zone",
}

// typeText reads a type: an identifier, one with numbers, text, sql("…"), or a reference to a declared type.
func (r *hclReader) typeText(e hcl.Expression) (Value, bool) {
	at := positionOf(e.Range())
	if word := hcl.ExprAsKeyword(e); word != "" {
		if long, ok := spelled[word]; ok {
			word = long
		}
		return r.accepted(property{want: wantType}, textValue(at, word))
	}
	if call, ok := e.(*hclsyntax.FunctionCallExpr); ok && call.Name != "sql" {
		return r.typeCall(call)
	}
	v, ok := r.value(e)
	if !ok {
		return v, false
	}
	switch v.form {
	case formSQL:
		v.form = formText
	case formRef:
		if slices.Contains([]Kind{EnumKind, DomainKind, CompositeKind, RangeKind, TableKind}, v.ref.kind) && v.ref.column == "" {
			return v, true
		}
		r.bag.add(v.at, "a reference to a %s is no type", v.ref.kind)
		return v, false
	}
	return r.accepted(property{want: wantType}, v)
}

// typeCall reads varchar(255).
func (r *hclReader) typeCall(call *hclsyntax.FunctionCallExpr) (Value, bool) {
	at := positionOf(call.Range())
	name := call.Name
	if long, ok := spelled[name]; ok {
		name = long
	}
	var args []string
	for _, a := range call.Args {
		v, ok := r.value(a)
		if !ok {
			return v, false
		}
		if r.mysql && v.form == formText && (name == "enum" || name == "set") {
			args = append(args, literalMySQL(v.text))
			continue
		}
		if v.form != formNumber || !integer.MatchString(v.text) || call.ExpandFinal {
			r.bag.add(v.at, "a type takes whole numbers; write any other type as sql(\"…\")")
			return v, false
		}
		args = append(args, v.text)
	}
	if len(args) == 0 {
		r.bag.add(at, "%s() has no numbers; leave the parentheses out", name)
		return Value{at: at}, false
	}
	return r.accepted(property{want: wantType}, textValue(at, name+"("+strings.Join(args, ", ")+")"))
}

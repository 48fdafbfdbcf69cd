package declare

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

type hclVariable struct {
	typ      hcl.Expression
	fallback hcl.Expression
	at       Position
	value    *Value
}

type hclLocal struct {
	expr    hcl.Expression
	value   *Value
	reading bool
}

const allowedExpressions = "text, numbers, true, false, null, lists, objects, var.NAME, local.NAME, sql(\"…\") and references such as table.orders"

// value evaluates an expression: only what a declaration needs, within the budget of produced text.
func (r *hclReader) value(e hcl.Expression) (Value, bool) {
	at := positionOf(e.Range())
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return r.literal(e)
	case *hclsyntax.TemplateExpr:
		return r.template(e)
	case *hclsyntax.TemplateWrapExpr:
		return r.value(e.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		return r.value(e.Expression)
	case *hclsyntax.ScopeTraversalExpr:
		return r.traversal(e.Traversal, at)
	case *hclsyntax.UnaryOpExpr:
		v, ok := r.value(e.Val)
		if ok && e.Op == hclsyntax.OpNegate && v.form == formNumber && !strings.HasPrefix(v.text, "-") {
			v.text, v.at = "-"+v.text, at
			return v, true
		}
		return v, r.unusable(at, ok)
	case *hclsyntax.TupleConsExpr:
		v := Value{at: at, form: formList}
		for _, x := range e.Exprs {
			item, ok := r.value(x)
			if !ok {
				return v, false
			}
			v.list = append(v.list, item)
		}
		return v, true
	case *hclsyntax.ObjectConsExpr:
		return r.object(e)
	case *hclsyntax.FunctionCallExpr:
		if e.Name == "sql" && len(e.Args) == 1 && !e.ExpandFinal {
			v, ok := r.value(e.Args[0])
			if ok && v.form == formText {
				v.form, v.at = formSQL, at
				return v, true
			}
		}
	}
	return Value{at: at}, r.unusable(at, true)
}

// unusable reports an expression that is not in the grammar, once.
func (r *hclReader) unusable(at Position, report bool) bool {
	if report {
		r.bag.add(at, "this expression cannot be used; allowed here: %s", allowedExpressions)
	}
	return false
}

func (r *hclReader) literal(e *hclsyntax.LiteralValueExpr) (Value, bool) {
	at := positionOf(e.Range())
	switch {
	case e.Val.IsNull():
		return Value{at: at, form: formNull}, true
	case e.Val.Type() == cty.Bool:
		return flagValue(at, e.Val.True()), true
	case e.Val.Type() == cty.String:
		return textValue(at, e.Val.AsString()), true
	}
	// The numeral as it is written: evaluating 1e999999999 would not end well.
	text := string(e.Range().SliceBytes(r.src[e.Range().Filename]))
	if !decimal.MatchString(text) || len(text) > 1000 {
		return Value{at: at}, r.unusable(at, true)
	}
	return Value{at: at, form: formNumber, text: text}, true
}

func (r *hclReader) template(e *hclsyntax.TemplateExpr) (Value, bool) {
	at := positionOf(e.Range())
	var b strings.Builder
	for _, part := range e.Parts {
		v, ok := r.value(part)
		if !ok {
			return v, false
		}
		switch v.form {
		case formText, formNumber:
		case formFlag:
			v.text = fmt.Sprint(v.flag)
		default:
			r.bag.add(v.at, "only text, numbers, true and false can stand inside of text")
			return v, false
		}
		if r.text -= len(v.text); r.text < 0 {
			r.bag.add(at, "the expressions make more than %d bytes of text", maxText)
			return v, false
		}
		b.WriteString(v.text)
	}
	return textValue(at, b.String()), true
}

func (r *hclReader) object(e *hclsyntax.ObjectConsExpr) (Value, bool) {
	v := Value{at: positionOf(e.Range()), form: formMap}
	for _, item := range e.Items {
		key := hcl.ExprAsKeyword(item.KeyExpr)
		at := positionOf(item.KeyExpr.Range())
		if key == "" {
			k, ok := r.value(unwrapKey(item.KeyExpr))
			if !ok || k.form != formText {
				return v, r.unusable(at, ok)
			}
			key = k.text
		}
		if _, twice := v.entry(key); twice {
			r.bag.add(at, "key %q stands twice", key)
			return v, false
		}
		value, ok := r.value(item.ValueExpr)
		if !ok {
			return v, false
		}
		v.entries = append(v.entries, entry{key, at, value})
	}
	return v, true
}

func unwrapKey(e hclsyntax.Expression) hclsyntax.Expression {
	if key, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		return key.Wrapped
	}
	return e
}

// references are the roots that name objects, with the kind of each.
var references = map[string]Kind{
	"schema": SchemaKind, "table": TableKind, "column": ColumnKind, "enum": EnumKind, "domain": DomainKind, "composite": CompositeKind, "range": RangeKind, "sequence": SequenceKind,
	"role": RoleKind, "view": ViewKind, "materialized": MaterializedKind, "function": FunctionKind, "procedure": ProcedureKind, "extension": ExtensionKind,
}

// traversal is a variable, a local, or a reference.
func (r *hclReader) traversal(t hcl.Traversal, at Position) (Value, bool) {
	steps, ok := stepsOf(t)
	if !ok {
		return Value{at: at}, r.unusable(at, true)
	}
	root := steps[0]
	if r.sealed {
		r.bag.add(at, "the value of a variable may not use anything else")
		return Value{at: at}, false
	}
	switch kind, known := references[root]; {
	case root == "var" && len(steps) >= 2:
		return r.into(r.variable(steps[1], at))(steps[2:], at)
	case root == "local" && len(steps) >= 2:
		return r.into(r.local(steps[1], at))(steps[2:], at)
	case known:
		return r.reference(kind, steps[1:], at)
	}
	return Value{at: at}, r.unusable(at, true)
}

func stepsOf(t hcl.Traversal) ([]string, bool) {
	var steps []string
	for _, s := range t {
		switch s := s.(type) {
		case hcl.TraverseRoot:
			steps = append(steps, s.Name)
		case hcl.TraverseAttr:
			steps = append(steps, s.Name)
		case hcl.TraverseIndex:
			if s.Key.IsNull() || s.Key.Type() != cty.String {
				return nil, false
			}
			steps = append(steps, s.Key.AsString())
		default:
			return nil, false
		}
	}
	return steps, len(steps) > 0
}

// into goes on from a value to its members.
func (r *hclReader) into(v Value, ok bool) func(steps []string, at Position) (Value, bool) {
	return func(steps []string, at Position) (Value, bool) {
		for _, s := range steps {
			if !ok {
				return v, false
			}
			var found bool
			if v, found = v.entry(s); !found {
				r.bag.add(at, "there is no member %q", s)
				return v, false
			}
		}
		v.at = at
		return v, ok
	}
}

func (r *hclReader) reference(kind Kind, steps []string, at Position) (Value, bool) {
	column := ""
	if kind == ColumnKind {
		if len(steps) != 1 {
			r.bag.add(at, "want column.NAME")
			return Value{at: at}, false
		}
		return Value{at: at, form: formRef, ref: &reference{kind: ColumnKind, column: steps[0]}}, true
	}
	if n := len(steps); kind == TableKind && n >= 3 && steps[n-2] == "column" {
		column, steps = steps[n-1], steps[:n-2]
	}
	limit := 2
	if kind == SchemaKind || kind == RoleKind || kind == ExtensionKind {
		limit = 1
	}
	if len(steps) == 0 || len(steps) > limit {
		r.bag.add(at, "this is no reference to a %s", kind)
		return Value{at: at}, false
	}
	return Value{at: at, form: formRef, ref: &reference{kind: kind, parts: steps, column: column}}, true
}

func (r *hclReader) local(name string, at Position) (Value, bool) {
	l, ok := r.locals[name]
	switch {
	case !ok:
		r.bag.add(at, "local %q is not declared", name)
		return Value{}, false
	case l.reading:
		r.bag.add(at, "local %q is made of itself", name)
		return Value{}, false
	case l.value == nil:
		l.reading = true
		v, ok := r.value(l.expr)
		l.reading = false
		if !ok {
			return v, false
		}
		l.value = &v
	}
	return *l.value, true
}

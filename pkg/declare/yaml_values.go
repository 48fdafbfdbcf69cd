package declare

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// property reads one value.
func (r *yamlReader) property(o *Object, name string, prop property, p pair) {
	var v Value
	var problem string
	prop.mysql = r.mysql
	switch prop.want {
	case wantColumns, wantFields, wantChecks:
		v, problem = r.special(prop.want, p)
	default:
		v, problem = r.value(p.value, 0)
		if values, text := maxNodes, maxText; prop.want == wantRows && problem == "" && !v.weigh(&values, &text) {
			problem = fmt.Sprintf("the rows hold more than %d values or %d bytes", maxNodes, maxText)
		}
		if problem == "" {
			v, problem = accept(prop, v)
		}
	}
	if problem != "" {
		at := p.at
		if v.at.Line > 0 {
			at = v.at
		}
		r.bag.add(at, "%s: %s", strings.TrimSpace(string(o.Key.Kind)+" "+p.key), problem)
		return
	}
	o.set(name, v)
}

// value reads scalars, lists and mappings of them.
func (r *yamlReader) value(n *yaml.Node, depth int) (Value, string) {
	at := r.at(n)
	n = r.target(n)
	if n == nil {
		return Value{at: at}, "is too large"
	}
	if depth > maxDepth {
		return Value{at: at}, "is nested too deep"
	}
	if !plainTag(n) {
		return Value{at: at}, fmt.Sprintf("has the type %s, which is not in the grammar", n.Tag)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		v := Value{at: at, form: formList}
		for _, e := range n.Content {
			item, problem := r.value(e, depth+1)
			if problem != "" {
				return item, problem
			}
			v.list = append(v.list, item)
		}
		return v, ""
	case yaml.MappingNode:
		pairs, ok := r.pairs(n, "the value")
		if !ok {
			return Value{at: at}, "is not a mapping"
		}
		v := Value{at: at, form: formMap}
		for _, p := range pairs {
			item, problem := r.value(p.value, depth+1)
			if problem != "" {
				return item, problem
			}
			v.entries = append(v.entries, entry{p.key, p.at, item})
		}
		return v, ""
	}
	return scalar(n, at)
}

var decimal = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

func scalar(n *yaml.Node, at Position) (Value, string) {
	switch n.Tag {
	case "!!str", "!!timestamp":
		return textValue(at, n.Value), ""
	case "!!bool":
		return flagValue(at, strings.EqualFold(n.Value, "true")), ""
	case "!!null":
		return Value{at: at, form: formNull}, ""
	}
	if !decimal.MatchString(n.Value) || len(n.Value) > 1000 {
		return Value{at: at}, "write numbers in decimal"
	}
	return Value{at: at, form: formNumber, text: strings.TrimPrefix(n.Value, "+")}, ""
}

// special reads the three lists that have a grammar of their own.
func (r *yamlReader) special(w want, p pair) (Value, string) {
	v := Value{at: p.at, form: formList}
	n := r.target(p.value)
	if n == nil {
		return v, "is too large"
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && w != wantFields {
		return r.item(v, w, pair{at: r.at(n), value: n})
	}
	if n.Kind != yaml.SequenceNode && (n.Kind != yaml.MappingNode || w == wantColumns) {
		return v, "want a list"
	}
	for _, e := range r.elements(p.key, p.value) {
		var problem string
		if v, problem = r.item(v, w, e); problem != "" {
			return v, problem
		}
	}
	if len(v.list) == 0 {
		return v, "is empty"
	}
	return v, ""
}

func (r *yamlReader) item(v Value, w want, e pair) (Value, string) {
	item, problem := r.value(e.value, 0)
	if problem != "" {
		return item, problem
	}
	if e.key != "" {
		item = Value{at: e.at, form: formMap, entries: []entry{{"name", e.at, textValue(e.at, e.key)}, {valueKey(w), item.at, item}}}
	}
	item, problem = acceptItem(w, item, r.mysql)
	if problem != "" {
		return item, problem
	}
	v.list = append(v.list, item)
	return v, ""
}

func valueKey(w want) string {
	if w == wantFields {
		return "type"
	}
	return "expr"
}

func keysOf[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

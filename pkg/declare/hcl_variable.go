package declare

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// variableType is what a variable block declares.
var variableType = regexp.MustCompile(`^(?:(list|set|map)\((bool|int|number|string)\)|(bool|int|number|string))$`)

// unreadVariables keeps what is given for the end, where names without a block are an error.
func (r *hclReader) unreadVariables() []string {
	var out []string
	for name := range r.given {
		if _, ok := r.vars[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func (r *hclReader) collectVariable(block *hclsyntax.Block) {
	at := positionOf(block.TypeRange)
	if len(block.Labels) != 1 {
		r.bag.add(at, "a variable block has one label, its name")
		return
	}
	name := block.Labels[0]
	if other, twice := r.vars[name]; twice {
		r.bag.add(at, "variable %q is declared twice, first at %s", name, other.at)
		return
	}
	r.noBlocks(block)
	v := &hclVariable{at: at}
	for _, a := range sortedAttributes(block.Body) {
		switch a.Name {
		case "type":
			v.typ = a.Expr
		case "default":
			v.fallback = a.Expr
		case "description":
		default:
			r.bag.add(positionOf(a.NameRange), "variable: unknown attribute %q; allowed here: default, description, type", a.Name)
		}
	}
	r.vars[name] = v
}

// variable evaluates a variable: what the command line gives, or its default.
func (r *hclReader) variable(name string, at Position) (Value, bool) {
	v, ok := r.vars[name]
	if !ok {
		r.bag.add(at, "variable %q is not declared", name)
		return Value{}, false
	}
	if v.value != nil {
		return *v.value, true
	}
	typ, ok := r.typeOf(name, v)
	if !ok {
		return Value{}, false
	}
	value, ok := r.valueOf(name, v, typ)
	if !ok {
		return Value{}, false
	}
	if problem := fits(value, typ); problem != "" {
		r.bag.add(v.at, "variable %q is declared as %s: %s", name, typ, problem)
		return Value{}, false
	}
	v.value = &value
	return value, true
}

func (r *hclReader) typeOf(name string, v *hclVariable) (string, bool) {
	if v.typ == nil {
		r.bag.add(v.at, "variable %q has no type", name)
		return "", false
	}
	source := v.typ.Range().SliceBytes(r.src[v.typ.Range().Filename])
	typ := strings.ReplaceAll(string(source), " ", "")
	if !variableType.MatchString(typ) {
		r.bag.add(positionOf(v.typ.Range()), "want bool, int, number, string, or list, set or map of one of them")
		return "", false
	}
	return typ, true
}

func (r *hclReader) valueOf(name string, v *hclVariable, typ string) (Value, bool) {
	given, ok := r.given[name]
	switch {
	case !ok && v.fallback == nil:
		r.bag.add(v.at, "variable %q has no value; give it one with --var %s=VALUE", name, name)
		return Value{}, false
	case !ok:
		return r.constant(v.fallback)
	case typ == "string":
		return textValue(v.at, given), true
	}
	file := "--var " + name
	if len(given) > 1<<16 || strings.Count(given, "[")+strings.Count(given, "(")+strings.Count(given, "{")+strings.Count(given, "-")+strings.Count(given, "!")+strings.Count(given, "?") > maxDepth {
		r.bag.add(v.at, "the value of variable %q is too large", name)
		return Value{}, false
	}
	expr, diags := hclsyntax.ParseExpression([]byte(given), file, hcl.InitialPos)
	if diags.HasErrors() {
		r.bag.add(v.at, "the value that --var gives to %q is not a %s", name, typ)
		return Value{}, false
	}
	r.src[file] = []byte(given)
	return r.constant(expr)
}

// constant evaluates what may not use variables and locals.
func (r *hclReader) constant(e hcl.Expression) (Value, bool) {
	sealed := r.sealed
	r.sealed = true
	v, ok := r.value(e)
	r.sealed = sealed
	return v, ok
}

// fits says why a value is not of a type; empty where it is.
func fits(v Value, typ string) string {
	if container, of, ok := strings.Cut(strings.TrimSuffix(typ, ")"), "("); ok {
		if container == "map" {
			if v.form != formMap {
				return "want a map"
			}
			for _, e := range v.entries {
				if problem := fits(e.value, of); problem != "" {
					return problem
				}
			}
			return ""
		}
		if v.form != formList {
			return "want a list"
		}
		for _, e := range v.list {
			if problem := fits(e, of); problem != "" {
				return problem
			}
		}
		return ""
	}
	ok := map[string]bool{
		"bool": v.form == formFlag, "int": v.form == formNumber && integer.MatchString(v.text), "number": v.form == formNumber, "string": v.form == formText,
	}[typ]
	if !ok {
		return "want " + typ
	}
	return ""
}

package declare

import (
	"fmt"
	"slices"
)

// itemGrammars are those of the members of the special lists.
var itemGrammars = map[want]grammar{
	wantColumns: columnKeys,
	wantChecks:  {"name": {want: wantName}, "expr": {want: wantSQL}},
	wantFields:  {"name": {want: wantName}, "type": {want: wantType}, "collation": {want: wantQName}},
}

// acceptItem checks one member of a special list and gives it its one form, a mapping with sorted keys.
func acceptItem(w want, v Value, mysql bool) (Value, string) {
	g := itemGrammars[w]
	if v.form == formText {
		short := map[want]string{wantColumns: "column", wantChecks: "expr"}[w]
		if short == "" {
			return v, "want a mapping with name and type"
		}
		v = Value{at: v.at, form: formMap, entries: []entry{{short, v.at, v}}}
	}
	if v.form != formMap {
		return v, "want text or a mapping"
	}
	out := Value{at: v.at, form: formMap}
	for _, e := range v.entries {
		p, known := g[e.name]
		switch {
		case !known:
			return Value{at: e.at}, fmt.Sprintf("unknown key %q; allowed here: %s", e.name, oneOf(g.names(mysql)))
		case p.refusal(mysql) != "":
			return Value{at: e.at}, fmt.Sprintf("%s is refused: %s", e.name, p.refusal(mysql))
		}
		p.mysql = mysql
		accepted, problem := accept(p, e.value)
		if problem != "" {
			accepted.at = e.value.at
			return accepted, e.name + " " + problem
		}
		out.entries = append(out.entries, entry{e.name, e.at, accepted})
	}
	slices.SortFunc(out.entries, func(a, b entry) int { return compareText(a.name, b.name) })
	return out, checkItem(w, out)
}

func checkItem(w want, v Value) string {
	_, column := v.entry("column")
	_, expr := v.entry("expr")
	_, name := v.entry("name")
	_, typ := v.entry("type")
	_, prefix := v.entry("prefix")
	switch {
	case w == wantColumns && column == expr:
		return "want either column or expr"
	case w == wantColumns && prefix && expr:
		return "an expression has no prefix"
	case w == wantColumns && v.entryFlag("nulls_first") && v.entryFlag("nulls_last"):
		return "nulls_first and nulls_last exclude each other"
	case w == wantChecks && !expr:
		return "want expr"
	case w == wantFields && (!name || !typ):
		return "want name and type"
	}
	return ""
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// overridable finds the property that an override names.
func overridable(kind Kind, dialect, name string) (property, string) {
	g := grammars[kind]
	p, known := g[name]
	switch {
	case !known || p.want == wantObjects || slices.Contains(fixed, name):
		var allowed []string
		for _, n := range g.names(isMySQL(dialect)) {
			if g[n].want != wantObjects && !slices.Contains(fixed, n) {
				allowed = append(allowed, n)
			}
		}
		return p, fmt.Sprintf("an override for %s cannot have the key %q; allowed here: %s", dialect, name, oneOf(allowed))
	case p.refusal(isMySQL(dialect)) != "":
		return p, fmt.Sprintf("%s is refused: %s", name, p.refusal(isMySQL(dialect)))
	}
	p.mysql = isMySQL(dialect)
	return p, ""
}

func checkDialect(name string) string {
	if slices.Contains(dialects, name) {
		return ""
	}
	return fmt.Sprintf("unknown dialect %q; allowed here: %s", name, oneOf(dialects))
}

package declare

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

func (r *renderer) extension(o *Object) {
	w := start(o).add("CREATE EXTENSION ")
	if o.has("if_not_exists") {
		w.add("IF NOT EXISTS ")
	}
	w.add(Quote(o.Key.Name))
	if v, ok := o.attrs["schema"]; ok {
		w.from(v.at).add(" SCHEMA ", Quote(v.text)).need(schemaNeed(v.text))
	}
	if v, ok := o.attrs["version"]; ok {
		w.from(v.at).add(" VERSION ", literal(v.text))
	}
	r.emit(rankExtension, w)
	r.comment(o, "EXTENSION "+Quote(o.Key.Name))
}

func (r *renderer) domain(o *Object) {
	w := r.create(o, "DOMAIN").add(" AS ").sql(o.attrs["type"])
	if v, ok := o.attrs["collation"]; ok {
		w.from(v.at).add(" COLLATE ", Quote(v.ref.parts...))
	}
	if v, ok := o.attrs["default"]; ok {
		w.from(v.at).add(" DEFAULT ", defaultText(v))
	}
	if v, ok := o.attrs["default_expr"]; ok {
		w.from(v.at).add(" DEFAULT (").sql(v).add(")")
	}
	if v, ok := o.attrs["not_null"]; ok {
		w.from(v.at).add(" NOT NULL")
	}
	for _, item := range o.attrs["checks"].list {
		w.from(item.at)
		if name, ok := item.entry("name"); ok {
			w.add(" CONSTRAINT ", Quote(name.text))
		}
		expr, _ := item.entry("expr")
		w.add(" CHECK (").sql(expr).add(")")
	}
	r.emit(rankType, w, o.Key.Name)
	r.comment(o, "DOMAIN "+Quote(o.Key.Schema, o.Key.Name))
}

func (r *renderer) composite(o *Object) {
	w := r.create(o, "TYPE").add(" AS (")
	separate := w.lines()
	for _, f := range o.attrs["fields"].list {
		separate()
		name, _ := f.entry("name")
		typ, _ := f.entry("type")
		w.from(f.at).add(Quote(name.text), " ").sql(typ)
		if v, ok := f.entry("collation"); ok {
			w.from(v.at).add(" COLLATE ", Quote(v.ref.parts...))
		}
	}
	r.emit(rankType, w.add("\n)"), o.Key.Name)
	r.comment(o, "TYPE "+Quote(o.Key.Schema, o.Key.Name))
}

func (r *renderer) rangeType(o *Object) {
	w := r.create(o, "TYPE").add(" AS RANGE (SUBTYPE = ").sql(o.attrs["subtype"])
	for _, name := range []string{"subtype_opclass", "collation", "canonical", "subtype_diff"} {
		if v, ok := o.attrs[name]; ok {
			w.from(v.at).add(", ", strings.ToUpper(name), " = ", Quote(v.ref.parts...)).need(v.ref.parts[len(v.ref.parts)-1])
		}
	}
	if v, ok := o.attrs["multirange_name"]; ok {
		w.from(v.at).add(", MULTIRANGE_TYPE_NAME = ", Quote(o.Key.Schema, v.text))
	}
	r.emit(rankType, w.add(")"), o.Key.Name)
	r.comment(o, "TYPE "+Quote(o.Key.Schema, o.Key.Name))
}

func (r *renderer) sequence(o *Object) {
	what := "SEQUENCE"
	if o.has("if_not_exists") {
		what += " IF NOT EXISTS"
	}
	w := r.create(o, what)
	if v, ok := o.attrs["type"]; ok {
		w.add(" AS ").sql(v)
	}
	for _, p := range []struct{ name, sql string }{{"start", "START WITH"}, {"increment", "INCREMENT BY"}, {"min_value", "MINVALUE"}, {"max_value", "MAXVALUE"}, {"cache", "CACHE"}} {
		if v, ok := o.attrs[p.name]; ok {
			w.from(v.at).add(" ", p.sql, " ", v.text)
		}
	}
	if o.has("cycle") {
		w.add(" CYCLE")
	}
	r.emit(rankSequence, w, o.Key.Name)
	name := Quote(o.Key.Schema, o.Key.Name)
	if v, ok := o.attrs["owned_by"]; ok {
		owner := start(o)
		owner.at = v.at
		owner.add("ALTER SEQUENCE ", name, " OWNED BY ", Quote(append(slices.Clone(v.ref.parts), v.ref.column)...))
		r.emit(rankOwner, owner.need(o.Key.Name, v.ref.parts[1]))
	}
	r.comment(o, "SEQUENCE "+name)
}

// variables is the part of a body of PL/pgSQL in front of its block.
var variables = regexp.MustCompile(`(?is)^.*?\bbegin\b`)

func (r *renderer) function(o *Object) {
	w := r.create(o, "FUNCTION").add("(").sql(o.attrs["params"]).add(")")
	if v, ok := o.attrs["returns"]; ok {
		w.add(" RETURNS ").sql(v)
	}
	w.from(o.where("language")).add(" LANGUAGE ", Quote(strings.ToLower(o.text("language"))))
	if v, ok := o.attrs["volatility"]; ok {
		w.add(" ", v.text)
	}
	if v, ok := o.attrs["security"]; ok {
		w.add(" SECURITY ", v.text)
	}
	body := o.attrs["body"]
	tag := dollarTag(body.text)
	w.add(" AS ").from(body.at).add(tag, body.text, tag)
	switch strings.ToLower(o.text("language")) {
	case "sql":
		maps.Copy(w.needs, Mentions(body.text, false))
	case "plpgsql": // the server looks up the types of variables at once, and the rest when it runs
		maps.Copy(w.needs, Mentions(variables.FindString(body.text), false))
	}
	delete(w.needs, o.Key.Name) // a function may call itself
	r.emit(rankFunction, w, o.Key.Name)
	if v, ok := o.attrs["comment"]; ok {
		c := start(o)
		c.at = v.at
		c.add("COMMENT ON FUNCTION ", Quote(o.Key.Schema, o.Key.Name), "(")
		if p, ok := o.attrs["params"]; ok {
			c.add(closed(withoutDefaults(p.text), false))
		}
		r.emit(rankComment, c.add(") IS ", literal(v.text)))
	}
}

// dollarTag is a quote that does not stand in a text.
func dollarTag(text string) string {
	tag := "$body$"
	for i := 0; strings.Contains(text+"$", tag); i++ { // what is added closes a tag that the text only begins
		tag = fmt.Sprintf("$body%d$", i)
	}
	return tag
}

// withoutDefaults leaves the parameters that identify a function.
func withoutDefaults(params string) string {
	s := scanner{src: params}
	var out strings.Builder
	s.words = map[string]bool{}
	skipping := false
	for s.pos < len(params) {
		depth, from := len(s.stack), s.pos
		if s.next() != "" {
			return params
		}
		token := params[from:s.pos]
		switch {
		case depth == 0 && token == ",":
			skipping = false
		case depth == 0 && (strings.EqualFold(token, "DEFAULT") || token == "="):
			skipping = true
		}
		if !skipping {
			out.WriteString(token)
		}
	}
	return strings.TrimSpace(out.String())
}

func (r *renderer) view(o *Object, what string) {
	w := r.create(o, what).add(" AS ").sql(o.attrs["body"])
	if v, ok := o.attrs["depends_on"]; ok {
		// What a person says is in place of what the text mentions, which may be the name of a column.
		w.needs = map[string]bool{schemaNeed(o.Key.Schema): true}
		w.need(v.texts()...)
	}
	if v, ok := o.attrs["with_check"]; ok {
		w.from(v.at).add(" WITH ", v.text, " CHECK OPTION")
	}
	delete(w.needs, o.Key.Name)
	r.emit(rankView, w, o.Key.Name)
	r.comment(o, what+" "+Quote(o.Key.Schema, o.Key.Name))
	for _, p := range o.parts {
		r.index(p, Quote(o.Key.Schema, o.Key.Name))
		r.partComment(p, "INDEX "+Quote(p.Key.Schema, p.Key.Name))
	}
}

var executes = regexp.MustCompile(`(?i)^\s*EXECUTE\s+(FUNCTION|PROCEDURE)\s+[^()]+\(.*\)\s*$`)

func (r *renderer) trigger(o *Object) {
	body := o.attrs["body"]
	text := strings.TrimRight(strings.TrimSpace(body.text), ";")
	problem := checkSQL(text, asQuery, false)
	switch {
	case problem != "":
		r.faults = append(r.faults, &Error{body.at, o.Key.String() + ": the body " + problem})
		return
	case !executes.MatchString(strings.ReplaceAll(text, "\n", " ")):
		r.faults = append(r.faults, &Error{body.at, o.Key.String() + ": on PostgreSQL the body of a trigger is EXECUTE FUNCTION name(); declare the function by itself"})
		return
	}
	w := start(o).add("CREATE TRIGGER ", Quote(o.Key.Name), " ", o.text("timing"), " ").from(o.where("event")).add(eventText(o.attrs["event"]))
	w.from(o.At).add(" ON ", Quote(o.Key.Schema, o.Key.Table))
	each := o.text("for")
	if each == "" {
		each = "STATEMENT"
	}
	w.add(" FOR EACH ", each)
	if v, ok := o.attrs["when"]; ok {
		w.add(" WHEN (").sql(v).add(")")
	}
	body.text = text
	r.emit(rankTrigger, w.add(" ").sql(body))
	r.comment(o, "TRIGGER "+Quote(o.Key.Name)+" ON "+Quote(o.Key.Schema, o.Key.Table))
}

// specialRoles are words and not names.
var specialRoles = []string{"PUBLIC", "CURRENT_USER", "CURRENT_ROLE", "SESSION_USER"}

func (r *renderer) policy(o *Object) {
	target := Quote(o.Key.Schema, o.Key.Table)
	w := start(o).add("CREATE POLICY ", Quote(o.Key.Name), " ON ", target)
	if v, ok := o.attrs["for"]; ok {
		w.from(v.at).add(" FOR ", v.text)
	}
	if v, ok := o.attrs["to"]; ok {
		w.from(v.at).add(" TO ")
		for i, role := range v.texts() {
			if i > 0 {
				w.add(", ")
			}
			if upper := strings.ToUpper(role); slices.Contains(specialRoles, upper) {
				w.add(upper)
			} else {
				w.add(Quote(role))
			}
		}
	}
	if v, ok := o.attrs["using"]; ok {
		w.from(v.at).add(" USING (").sql(v).add(")")
	}
	if v, ok := o.attrs["with_check"]; ok {
		w.from(v.at).add(" WITH CHECK (").sql(v).add(")")
	}
	r.emit(rankSecurity, w)
	r.comment(o, "POLICY "+Quote(o.Key.Name)+" ON "+target)
}

package declare

import (
	"slices"
	"strings"
)

// schemaNeed is what an object in a schema needs; no name of an object is like it.
func schemaNeed(schema string) string { return "\x00" + schema }

// qualified starts a statement about an object of a schema.
func (r *renderer) create(o *Object, what string) *writer {
	w := start(o)
	if o.Key.Schema != "" {
		w.need(schemaNeed(o.Key.Schema))
	}
	return w.add("CREATE ", what, " ", Quote(o.Key.Schema, o.Key.Name))
}

func (r *renderer) object(o *Object) {
	switch o.Key.Kind {
	case SchemaKind:
		r.schema(o)
	case ExtensionKind:
		r.extension(o)
	case EnumKind:
		w := r.create(o, "TYPE").add(" AS ENUM (").from(o.where("values")).add(joinLiterals(o.attrs["values"].texts()), ")")
		r.emit(rankType, w, o.Key.Name)
		r.comment(o, "TYPE "+Quote(o.Key.Schema, o.Key.Name))
	case DomainKind:
		r.domain(o)
	case CompositeKind:
		r.composite(o)
	case RangeKind:
		r.rangeType(o)
	case SequenceKind:
		r.sequence(o)
	case FunctionKind:
		r.function(o)
	case TableKind:
		r.table(o)
	case ViewKind:
		r.view(o, "VIEW")
	case MaterializedKind:
		r.view(o, "MATERIALIZED VIEW")
	case TriggerKind:
		r.trigger(o)
	case PolicyKind:
		r.policy(o)
	case GrantKind:
		r.grant(o)
	case RevocationKind:
		w := r.privileges(start(o).add("REVOKE "), o)
		r.emit(rankGrant, w.from(o.At).add(" ON ", grantTarget(o.target), " FROM PUBLIC"))
	case DefaultsKind:
		r.defaults(o)
	case RowSecurityKind:
		r.emit(rankSecurity, start(o).add("ALTER TABLE ", Quote(o.Key.Schema, o.Key.Table), " ENABLE ROW LEVEL SECURITY"))
	}
}

func joinLiterals(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = literal(v)
	}
	return strings.Join(quoted, ", ")
}

// schema is created, except the one that every database has.
func (r *renderer) schema(o *Object) {
	if o.Key.Name != defaultSchema {
		r.emit(rankSchema, start(o).add("CREATE SCHEMA ", Quote(o.Key.Name)), schemaNeed(o.Key.Name))
	}
	r.comment(o, "SCHEMA "+Quote(o.Key.Name))
}

func (r *renderer) table(o *Object) {
	w := r.create(o, "TABLE").add(" (")
	name := Quote(o.Key.Schema, o.Key.Name)
	separate := w.lines()
	for _, c := range o.columns {
		separate()
		r.column(w.from(c.At), c)
		r.comment(c, "COLUMN "+name+"."+Quote(c.Key.Name))
	}
	for _, p := range o.parts {
		if p.Key.Kind == ConstraintKind && p.text("type") != "FOREIGN KEY" && !p.has("not_valid") && !repeatsKey(o, p) {
			separate()
			r.constraint(w.from(p.At), p)
		}
	}
	for _, v := range o.attrs["custom_sql"].list {
		separate()
		w.sql(v)
	}
	w.add("\n)")
	w.options(o.attrs["options"])
	r.emit(rankTable, w, o.Key.Name)
	r.comment(o, "TABLE "+name)
	r.parts(o, name)
}

// lines returns what begins the next element of a list, each on a line of its own.
func (w *writer) lines() func() {
	first := true
	return func() {
		if !first {
			w.add(",")
		}
		first = false
		w.add("\n  ")
	}
}

// options adds storage parameters.
func (w *writer) options(v Value) {
	if len(v.entries) == 0 {
		return
	}
	w.from(v.at).add(" WITH (")
	for i, e := range v.entries {
		if i > 0 {
			w.add(", ")
		}
		w.add(optionKey(e.name), " = ", optionValue(e.value))
	}
	w.add(")")
}

// optionKey quotes each part of a name such as toast.autovacuum_enabled.
func optionKey(name string) string { return Quote(strings.Split(name, ".")...) }

func optionValue(v Value) string {
	switch v.form {
	case formFlag:
		return flagText(v.flag)
	case formNumber:
		return v.text
	}
	return literal(v.text)
}

func flagText(flag bool) string {
	if flag {
		return "true"
	}
	return "false"
}

func (r *renderer) column(w *writer, c *Object) {
	w.add(Quote(c.Key.Name), " ").sql(c.attrs["type"])
	if v, ok := c.attrs["collation"]; ok {
		w.from(v.at).add(" COLLATE ", Quote(v.ref.parts...))
	}
	if v, ok := c.attrs["storage"]; ok {
		r.separately(c, "storage", "SET STORAGE "+v.text)
	}
	if v, ok := c.attrs["compression"]; ok {
		r.separately(c, "compression", "SET COMPRESSION "+strings.ToLower(v.text))
	}
	if v, ok := c.attrs["default"]; ok {
		w.from(v.at).add(" DEFAULT ", defaultText(v))
	}
	if v, ok := c.attrs["default_expr"]; ok {
		w.from(v.at).add(" DEFAULT (").sql(v).add(")")
	}
	if v, ok := c.attrs["generated"]; ok {
		w.from(v.at).add(" GENERATED ALWAYS AS (").sql(v).add(") ", c.text("generated_kind"))
	}
	if v, ok := c.attrs["identity_generation"]; ok {
		w.from(v.at).add(" GENERATED ", v.text, " AS IDENTITY", identityText(c))
	}
	if v, ok := c.attrs["not_null"]; ok {
		w.from(v.at).add(" NOT NULL")
	}
	w.from(w.at)
}

// separately adds what PostgreSQL 14 and 15 accept behind a table's creation only.
func (r *renderer) separately(c *Object, name, action string) {
	w := start(c)
	w.at = c.where(name)
	r.emit(rankOwner, w.add("ALTER TABLE ", Quote(c.Key.Schema, c.Key.Table), " ALTER COLUMN ", Quote(c.Key.Name), " ", action).need(c.Key.Table))
}

func defaultText(v Value) string {
	switch v.form {
	case formNull:
		return "NULL"
	case formFlag:
		return flagText(v.flag)
	case formNumber:
		return v.text
	}
	return literal(v.text)
}

func identityText(c *Object) string {
	var options []string
	if v, ok := c.attrs["identity_start"]; ok {
		options = append(options, "START WITH "+v.text)
	}
	if v, ok := c.attrs["identity_increment"]; ok {
		options = append(options, "INCREMENT BY "+v.text)
	}
	if v, ok := c.attrs["identity_options"]; ok {
		options = append(options, strings.ToUpper(strings.Join(strings.Fields(v.text), " ")))
	}
	if len(options) == 0 {
		return ""
	}
	return " (" + strings.Join(options, " ") + ")"
}

// repeatsKey reports a unique constraint with a name over the columns of another key: PostgreSQL would leave out one of two alike in CREATE TABLE.
func repeatsKey(o, p *Object) bool {
	return p.Key.Name != "" && p.text("type") == "UNIQUE" && slices.ContainsFunc(o.parts, func(other *Object) bool {
		return other != p && (isPrimary(other) || other.text("type") == "UNIQUE") && slices.Equal(other.attrs["columns"].texts(), p.attrs["columns"].texts())
	})
}

// parts are what is added once all tables exist.
func (r *renderer) parts(o *Object, name string) {
	for _, p := range o.parts {
		switch {
		case p.Key.Kind == IndexKind:
			r.index(p, name)
		case p.text("type") == "FOREIGN KEY":
			r.add(rankForeignKey, p, name)
		case p.has("not_valid") || repeatsKey(o, p):
			r.add(rankOwner, p, name)
		}
		if p.Key.Kind == ConstraintKind {
			r.partComment(p, "CONSTRAINT "+Quote(p.Key.Name)+" ON "+name)
		} else {
			r.partComment(p, "INDEX "+Quote(p.Key.Schema, p.Key.Name))
		}
	}
}

func (r *renderer) partComment(p *Object, target string) {
	if v, ok := p.attrs["comment"]; ok && p.Key.Name == "" {
		r.faults = append(r.faults, &Error{v.at, "a comment on something without a name; give it a name"})
		return
	}
	r.comment(p, target)
}

func (r *renderer) add(rank int, p *Object, table string) {
	w := start(p).add("ALTER TABLE ", table, " ADD ")
	r.constraint(w, p)
	r.emit(rank, w.need(p.Key.Table))
}

func (r *renderer) constraint(w *writer, p *Object) {
	if p.Key.Name != "" {
		w.add("CONSTRAINT ", Quote(p.Key.Name), " ")
	}
	typ := p.text("type")
	columns := func() { w.from(p.where("columns")).add(" (", quoteAll(p.attrs["columns"].texts()), ")") }
	w.add(typ)
	switch typ {
	case "PRIMARY KEY":
		columns()
	case "UNIQUE":
		if v, ok := p.attrs["nulls_distinct"]; ok {
			w.from(v.at).add(" NULLS NOT DISTINCT")
		}
		columns()
	case "FOREIGN KEY":
		columns()
		r.referenced(w, p)
	case "CHECK":
		w.add(" (").sql(p.attrs["check"]).add(")")
		if p.has("no_inherit") {
			w.add(" NO INHERIT")
		}
	case "EXCLUDE":
		if p.has("using") {
			w.from(p.where("using")).add(" USING ", Quote(p.text("using")))
		}
		w.add(" (").sql(p.attrs["elements"]).add(")")
	}
	r.constraintEnd(w, p)
}

func (r *renderer) constraintEnd(w *writer, p *Object) {
	if v, ok := p.attrs["include"]; ok {
		w.from(v.at).add(" INCLUDE (", quoteAll(v.texts()), ")")
	}
	w.options(p.attrs["options"])
	if v, ok := p.attrs["condition"]; ok {
		w.from(v.at).add(" WHERE (").sql(v).add(")")
	}
	if p.has("deferrable") {
		w.from(p.where("deferrable")).add(" DEFERRABLE")
	}
	if p.has("initially") {
		w.add(" INITIALLY DEFERRED")
	}
	if p.has("not_valid") {
		w.add(" NOT VALID")
	}
	w.from(w.at)
}

func (r *renderer) referenced(w *writer, p *Object) {
	v := p.attrs["foreign_table"]
	w.from(v.at).add(" REFERENCES ", Quote(v.ref.parts...)).need(v.ref.parts[1])
	if v, ok := p.attrs["foreign_column"]; ok {
		w.from(v.at).add(" (", quoteAll(v.texts()), ")")
	}
	if p.has("match_full") {
		w.add(" MATCH FULL")
	}
	for _, name := range []string{"on_update", "on_delete"} {
		if v, ok := p.attrs[name]; ok {
			w.from(v.at).add(" ", strings.ToUpper(strings.Replace(name, "_", " ", 1)), " ", v.text)
		}
	}
}

func (r *renderer) index(p *Object, table string) {
	w := start(p).add("CREATE ").need(p.Key.Table)
	if p.flag("unique") {
		w.add("UNIQUE ")
	}
	w.add("INDEX ")
	if p.Key.Name != "" {
		w.add(Quote(p.Key.Name), " ")
	}
	w.add("ON ", table)
	if v, ok := p.attrs["type"]; ok {
		w.from(v.at).add(" USING ", Quote(strings.ToLower(v.text)))
	}
	w.add(" (")
	for i, key := range p.attrs["fields"].list {
		if i > 0 {
			w.add(", ")
		}
		r.indexKey(w.from(key.at), key, p.attrs["ops"])
	}
	w.add(")")
	if v, ok := p.attrs["include"]; ok {
		w.from(v.at).add(" INCLUDE (", quoteAll(v.texts()), ")")
	}
	if v, ok := p.attrs["nulls_distinct"]; ok {
		w.from(v.at).add(" NULLS NOT DISTINCT")
	}
	w.options(p.attrs["options"])
	if v, ok := p.attrs["where"]; ok {
		w.from(v.at).add(" WHERE (").sql(v).add(")")
	}
	r.emit(rankIndex, w)
}

func (r *renderer) indexKey(w *writer, key, ops Value) {
	if c, ok := key.entry("column"); ok {
		w.add(Quote(c.text))
	} else {
		expr, _ := key.entry("expr")
		w.add("(").sql(expr).add(")")
	}
	if v, ok := key.entry("collation"); ok {
		w.from(v.at).add(" COLLATE ", Quote(v.ref.parts...))
	}
	if v, ok := key.entry("ops"); ok {
		ops = v
	}
	if ops.text != "" {
		w.add(" ").sql(ops)
	}
	for _, name := range []string{"desc", "nulls_first", "nulls_last"} {
		if key.entryFlag(name) {
			w.add(" ", strings.ToUpper(strings.ReplaceAll(name, "_", " ")))
		}
	}
}

// eventText joins the events of a trigger, in the order of PostgreSQL's own text.
func eventText(v Value) string {
	events := v.texts()
	slices.SortStableFunc(events, func(a, b string) int { return eventRank(a) - eventRank(b) })
	return strings.Join(events, " OR ")
}

func eventRank(event string) int {
	word, _, _ := strings.Cut(event, " ")
	return slices.Index([]string{"INSERT", "DELETE", "UPDATE", "TRUNCATE"}, word)
}

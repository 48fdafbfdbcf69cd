package declare

import (
	"regexp"
	"slices"
	"strings"
)

// quoteMySQL writes a name as MySQL and MariaDB quote it.
func quoteMySQL(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func quoteAllMySQL(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quoteMySQL(n)
	}
	return strings.Join(quoted, ", ")
}

// literalMySQL quotes text for a session in which a backslash escapes.
func literalMySQL(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
}

func startMySQL(o *Object) *writer {
	w := start(o)
	w.mysql = true
	return w
}

func (r *renderer) fault(o *Object, name, text string) {
	r.faults = append(r.faults, &Error{o.where(name), o.Key.String() + ": " + text})
}

func (r *renderer) objectMySQL(o *Object) {
	switch o.Key.Kind {
	case SchemaKind:
		r.databaseMySQL(o)
	case SequenceKind:
		r.sequenceMySQL(o)
	case TableKind:
		r.tableMySQL(o)
	case ViewKind:
		r.viewMySQL(o)
	case FunctionKind, ProcedureKind:
		r.routineMySQL(o)
	case TriggerKind:
		r.triggerMySQL(o)
	case EventKind:
		r.eventMySQL(o)
	}
}

// databaseMySQL sets what tables have that say nothing of their own. The one database is there already, whatever its name.
func (r *renderer) databaseMySQL(o *Object) {
	if o.has("charset") || o.has("collation") {
		w := startMySQL(o).add("ALTER DATABASE")
		w.charset(o)
		r.emit(rankSchema, w, schemaNeed(""))
	}
}

// charset adds a character set and a collation.
func (w *writer) charset(o *Object) {
	if v, ok := o.attrs["charset"]; ok {
		w.from(v.at).add(" CHARACTER SET ", quoteMySQL(v.text))
	}
	if v, ok := o.attrs["collation"]; ok {
		name := v.text
		if v.ref != nil {
			name = v.ref.parts[len(v.ref.parts)-1]
		}
		w.from(v.at).add(" COLLATE ", quoteMySQL(name))
	}
}

func (r *renderer) sequenceMySQL(o *Object) {
	w := startMySQL(o).add("CREATE SEQUENCE ")
	if o.has("if_not_exists") {
		w.add("IF NOT EXISTS ")
	}
	w.add(quoteMySQL(o.Key.Name))
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
	r.noComment(o)
	r.emit(rankSequence, w, o.Key.Name)
}

func (r *renderer) noComment(o *Object) {
	if o.has("comment") {
		r.fault(o, "comment", "MySQL and MariaDB keep no comment of a "+string(o.Key.Kind))
	}
}

func (r *renderer) tableMySQL(o *Object) {
	w := startMySQL(o).add("CREATE TABLE ", quoteMySQL(o.Key.Name), " (").need(schemaNeed(""))
	separate := w.lines()
	for _, c := range o.columns {
		separate()
		r.columnMySQL(w.from(c.At), c)
	}
	for _, p := range o.parts {
		switch {
		case p.Key.Kind == IndexKind:
			separate()
			r.indexMySQL(w.from(p.At), p)
		case p.text("type") != "FOREIGN KEY":
			separate()
			r.constraintMySQL(w.from(p.At), p)
		default:
			r.foreignKeyMySQL(o, p)
		}
	}
	for _, v := range o.attrs["custom_sql"].list {
		separate()
		w.sql(v)
	}
	w.add("\n)")
	r.tableEndMySQL(w, o)
	r.emit(rankTable, w, o.Key.Name)
}

func (r *renderer) tableEndMySQL(w *writer, o *Object) {
	if v, ok := o.attrs["engine"]; ok {
		w.from(v.at).add(" ENGINE=", quoteMySQL(v.text))
	}
	if o.has("charset") || o.has("collation") {
		w.add(" DEFAULT")
		w.charset(o)
	}
	if v, ok := o.attrs["auto_increment"]; ok {
		w.from(v.at).add(" AUTO_INCREMENT=", v.text)
	}
	w.optionsMySQL(o.attrs["options"])
	if v, ok := o.attrs["comment"]; ok {
		w.from(v.at).add(" COMMENT=", literalMySQL(v.text))
	}
	if v, ok := o.attrs["system_versioned"]; ok {
		w.from(v.at).add(" WITH SYSTEM VERSIONING")
	}
	if v, ok := o.attrs["partition_by"]; ok {
		w.add("\n").from(v.at).add("PARTITION BY ").sql(v)
	}
}

var optionWord = regexp.MustCompile(`^[A-Za-z][A-Za-z_]*$`)

// optionsMySQL adds options of a table or an index: a word or number as it is, anything else in quotes.
func (w *writer) optionsMySQL(v Value) {
	for _, e := range v.entries {
		text := literalMySQL(e.value.text)
		switch {
		case e.value.form == formNumber || optionWord.MatchString(e.value.text):
			text = e.value.text
		case e.value.form == formFlag && e.value.flag:
			text = "1"
		case e.value.form == formFlag:
			text = "0"
		}
		w.from(e.at).add(" ", e.name, "=", text)
	}
}

// moment is what a column can be set to by itself: the time.
var moment = regexp.MustCompile(`(?i)^\s*(current_timestamp|now|localtime|localtimestamp)\s*(\(\s*[0-6]?\s*\))?\s*$`)

// bits is a literal that is none any more between parentheses.
var bits = regexp.MustCompile(`(?i)^[bx]'[0-9a-f]*'$`)

func (r *renderer) columnMySQL(w *writer, c *Object) {
	w.add(quoteMySQL(c.Key.Name), " ").sql(c.attrs["type"])
	w.charset(c)
	if v, ok := c.attrs["row_period"]; ok {
		w.from(v.at).add(" GENERATED ALWAYS AS ROW ", v.text)
	}
	if v, ok := c.attrs["generated"]; ok {
		w.from(v.at).add(" GENERATED ALWAYS AS (").sql(v).add(")")
	}
	if v, ok := c.attrs["generated_kind"]; ok {
		w.from(v.at).add(" ", v.text)
	}
	if v, ok := c.attrs["not_null"]; ok {
		w.from(v.at).add(" NOT NULL")
	}
	if v, ok := c.attrs["invisible"]; ok {
		w.from(v.at).add(" INVISIBLE")
	}
	r.defaultMySQL(w, c)
	if v, ok := c.attrs["on_update_expr"]; ok {
		if !moment.MatchString(v.text) {
			r.fault(c, "on_update_expr", "ON UPDATE takes CURRENT_TIMESTAMP, with or without a precision, and nothing else")
		}
		w.from(v.at).add(" ON UPDATE ").sql(v)
	}
	if v, ok := c.attrs["auto_increment"]; ok {
		w.from(v.at).add(" AUTO_INCREMENT")
	}
	if v, ok := c.attrs["comment"]; ok {
		w.from(v.at).add(" COMMENT ", literalMySQL(v.text))
	}
	if v, ok := c.attrs["without_versioning"]; ok {
		w.from(v.at).add(" WITHOUT SYSTEM VERSIONING")
	}
	if v, ok := c.attrs["check"]; ok {
		w.from(v.at).add(" CHECK (").sql(v).add(")")
	}
	w.from(w.at)
}

func (r *renderer) defaultMySQL(w *writer, c *Object) {
	if v, ok := c.attrs["default"]; ok {
		text := literalMySQL(v.text)
		switch v.form {
		case formNull:
			text = "NULL"
		case formFlag:
			text = strings.ToUpper(flagText(v.flag))
		case formNumber:
			text = v.text
		}
		w.from(v.at).add(" DEFAULT ", text)
	}
	if v, ok := c.attrs["default_expr"]; ok {
		w.from(v.at).add(" DEFAULT ")
		if moment.MatchString(v.text) || bits.MatchString(v.text) {
			w.sql(v)
		} else {
			w.add("(").sql(v).add(")")
		}
	}
}

// indexKinds are the types of an index that are kinds of their own; the others say how one is built.
var indexKinds = []string{"FULLTEXT", "SPATIAL", "VECTOR"}

func (r *renderer) indexMySQL(w *writer, p *Object) {
	typ := strings.ToUpper(p.text("type"))
	switch {
	case p.flag("unique"):
		w.add("UNIQUE ")
	case slices.Contains(indexKinds, typ):
		w.add(typ, " ")
	}
	w.add("KEY ")
	if p.Key.Name != "" {
		w.add(quoteMySQL(p.Key.Name), " ")
	}
	w.add("(")
	for i, key := range p.attrs["fields"].list {
		if i > 0 {
			w.add(", ")
		}
		w.from(key.at)
		if c, ok := key.entry("column"); ok {
			w.add(quoteMySQL(c.text))
			if prefix, ok := key.entry("prefix"); ok {
				w.add("(", prefix.text, ")")
			}
		} else {
			expr, _ := key.entry("expr")
			w.add("(").sql(expr).add(")")
		}
		if key.entryFlag("desc") {
			w.add(" DESC")
		}
	}
	w.add(")")
	if v, ok := p.attrs["type"]; ok && !slices.Contains(indexKinds, typ) {
		if !slices.Contains([]string{"BTREE", "HASH", "RTREE"}, typ) {
			r.fault(p, "type", "want BTREE, HASH, RTREE, FULLTEXT, SPATIAL or VECTOR")
		}
		w.from(v.at).add(" USING ", typ)
	}
	w.optionsMySQL(p.attrs["options"])
	if v, ok := p.attrs["parser"]; ok {
		w.from(v.at).add(" WITH PARSER ", quoteMySQL(v.text))
	}
	r.indexComment(w, p)
	if v, ok := p.attrs["invisible"]; ok {
		word := " INVISIBLE"
		if r.mariadb {
			word = " IGNORED"
		}
		w.from(v.at).add(word)
	}
	w.from(w.at)
}

func (r *renderer) indexComment(w *writer, p *Object) {
	if v, ok := p.attrs["comment"]; ok {
		w.from(v.at).add(" COMMENT ", literalMySQL(v.text))
	}
}

func (r *renderer) constraintMySQL(w *writer, p *Object) {
	name := ""
	if p.Key.Name != "" {
		name = quoteMySQL(p.Key.Name) + " "
	}
	switch p.text("type") {
	case "CHECK":
		if name != "" {
			w.add("CONSTRAINT ", name)
		}
		w.add("CHECK (").sql(p.attrs["check"]).add(")")
		if v, ok := p.attrs["not_enforced"]; ok {
			w.from(v.at).add(" NOT ENFORCED")
		}
		r.noComment(p)
		return
	case "PRIMARY KEY":
		w.add("PRIMARY KEY ") // the server calls every one PRIMARY
	default:
		w.add("UNIQUE KEY ", name)
	}
	w.from(p.where("columns")).add("(", quoteAllMySQL(p.attrs["columns"].texts()), ")")
	r.indexComment(w, p)
	w.from(w.at)
}

// foreignKeyMySQL is added once all tables exist.
func (r *renderer) foreignKeyMySQL(o, p *Object) {
	w := startMySQL(p).add("ALTER TABLE ", quoteMySQL(o.Key.Name), " ADD ").need(o.Key.Name)
	if p.Key.Name != "" {
		w.add("CONSTRAINT ", quoteMySQL(p.Key.Name), " ")
	}
	target := p.attrs["foreign_table"]
	w.from(p.where("columns")).add("FOREIGN KEY (", quoteAllMySQL(p.attrs["columns"].texts()), ")")
	w.from(target.at).add(" REFERENCES ", quoteMySQL(target.ref.parts[1])).need(target.ref.parts[1])
	if v, ok := p.attrs["foreign_column"]; ok {
		w.from(v.at).add(" (", quoteAllMySQL(v.texts()), ")")
	} else {
		r.fault(p, "columns", "want foreign_column: MySQL and MariaDB do not take the primary key by themselves")
	}
	for _, name := range []string{"on_delete", "on_update"} {
		if v, ok := p.attrs[name]; ok {
			w.from(v.at).add(" ", strings.ToUpper(strings.Replace(name, "_", " ", 1)), " ", v.text)
		}
	}
	for _, e := range o.attrs["options"].entries {
		if strings.EqualFold(e.name, "PAGE_CHECKSUM") {
			w.add(",").optionsMySQL(Value{entries: []entry{e}}) // which an ALTER TABLE takes off when it does not say it again
		}
	}
	r.noComment(p)
	r.emit(rankForeignKey, w)
}

func (r *renderer) viewMySQL(o *Object) {
	w := startMySQL(o).add("CREATE ")
	if v, ok := o.attrs["algorithm"]; ok {
		w.from(v.at).add("ALGORITHM=", v.text, " ")
	}
	if v, ok := o.attrs["security"]; ok {
		w.from(v.at).add("SQL SECURITY ", v.text, " ")
	}
	w.add("VIEW ", quoteMySQL(o.Key.Name), " AS\n").sql(o.attrs["body"])
	if v, ok := o.attrs["depends_on"]; ok {
		w.needs = map[string]bool{}
		w.need(v.texts()...)
	}
	if v, ok := o.attrs["with_check"]; ok {
		w.from(v.at).add(" WITH ", v.text, " CHECK OPTION")
	}
	delete(w.needs, o.Key.Name)
	r.noComment(o)
	r.emit(rankView, w, o.Key.Name)
}

// statementBody is what a routine does: without the semicolon that a person may have put at its end.
func statementBody(v Value) string {
	return strings.TrimRight(strings.TrimSpace(v.text), "; \t\r\n")
}

func (r *renderer) routineMySQL(o *Object) {
	function := o.Key.Kind == FunctionKind
	w := startMySQL(o).add("CREATE ", strings.ToUpper(string(o.Key.Kind)), " ", quoteMySQL(o.Key.Name), "(").sql(o.attrs["params"]).add(")")
	switch v, ok := o.attrs["returns"]; {
	case ok:
		w.add(" RETURNS ").sql(v)
	case function:
		r.fault(o, "returns", "want returns")
	}
	if function && o.has("language") && !strings.EqualFold(o.text("language"), "sql") {
		r.fault(o, "language", "MySQL and MariaDB know the language sql alone")
	}
	if o.flag("deterministic") {
		w.from(o.where("deterministic")).add(" DETERMINISTIC")
	}
	if v, ok := o.attrs["data_access"]; ok {
		w.from(v.at).add(" ", v.text)
	}
	if v, ok := o.attrs["security"]; ok {
		w.from(v.at).add(" SQL SECURITY ", v.text)
	}
	if v, ok := o.attrs["comment"]; ok {
		w.from(v.at).add(" COMMENT ", literalMySQL(v.text))
	}
	w.needs = map[string]bool{} // what a body names has to be there when it runs
	body := o.attrs["body"]
	w.add("\n").from(body.at).add(statementBody(body))
	r.emit(rankFunction, w)
}

// triggerName is what a trigger gives; no table has a name like it.
func triggerName(name string) string { return "\x00trigger " + name }

func (r *renderer) triggerMySQL(o *Object) {
	events := o.attrs["event"].texts()
	if len(events) != 1 || !slices.Contains([]string{"INSERT", "UPDATE", "DELETE"}, events[0]) {
		r.fault(o, "event", "want one of INSERT, UPDATE and DELETE; declare one trigger for each")
		return
	}
	if o.text("timing") == "INSTEAD OF" {
		r.fault(o, "timing", "want BEFORE or AFTER")
	}
	if v, ok := o.attrs["for"]; ok && v.text != "ROW" {
		r.fault(o, "for", "MySQL and MariaDB run triggers for each ROW")
	}
	w := startMySQL(o).add("CREATE TRIGGER ", quoteMySQL(o.Key.Name), " ", o.text("timing"), " ").from(o.where("event")).add(events[0])
	w.from(o.At).add(" ON ", quoteMySQL(o.Key.Table), " FOR EACH ROW").need(o.Key.Table)
	if v, ok := o.attrs["follows"]; ok {
		w.from(v.at).add(" FOLLOWS ", quoteMySQL(v.text)).need(triggerName(v.text))
	}
	body := o.attrs["body"]
	r.emit(rankTrigger, w.add("\n").from(body.at).add(statementBody(body)), triggerName(o.Key.Name))
}

func (r *renderer) eventMySQL(o *Object) {
	w := startMySQL(o).add("CREATE EVENT ", quoteMySQL(o.Key.Name), " ON SCHEDULE ").sql(o.attrs["schedule"])
	if o.flag("preserve") {
		w.add(" ON COMPLETION PRESERVE")
	}
	if v, ok := o.attrs["status"]; ok {
		w.from(v.at).add(" ", v.text)
	}
	if v, ok := o.attrs["comment"]; ok {
		w.from(v.at).add(" COMMENT ", literalMySQL(v.text))
	}
	w.needs = map[string]bool{}
	body := o.attrs["body"]
	r.emit(rankTrigger, w.add(" DO\n").from(body.at).add(statementBody(body)))
}

package plan

import (
	"slices"
	"strings"
)

// TouchesProtected returns the entries of protected that the document would change, sorted. An entry is "table" (in any schema) or
// "schema.table"; names compare without case. What a statement touches is read from its SQL and from what the planner says of it. A name
// without a schema in the SQL matches an entry with one, because the search path is not known here; a statement whose reach cannot be
// read (a routine call, a CASCADE) touches every entry.
func TouchesProtected(d Document, protected []string) []string {
	var out []string
	for _, entry := range protected {
		fenced := parseTable(entry)
		touched := slices.ContainsFunc(d.Statements, func(s Statement) bool {
			reach := reachOf(d.Dialect, s)
			return reach.everything || slices.ContainsFunc(reach.tables, fenced.matches) ||
				(fenced.schema != "" && slices.ContainsFunc(reach.schemas, func(n string) bool { return strings.EqualFold(n, fenced.schema) }))
		})
		if touched && !slices.Contains(out, entry) {
			out = append(out, entry)
		}
	}
	slices.Sort(out)
	return out
}

// table is a possibly qualified table name.
type table struct{ schema, name string }

func (t table) matches(other table) bool {
	if !strings.EqualFold(t.name, other.name) {
		return false
	}
	return t.schema == "" || other.schema == "" || strings.EqualFold(t.schema, other.schema)
}

// parseTable reads "table", "schema.table" and the same with double quotes.
func parseTable(s string) table {
	var parts []string
	var b strings.Builder
	inQuotes := false
	for _, r := range strings.TrimSpace(s) {
		switch {
		case r == '"':
			inQuotes = !inQuotes
		case r == '.' && !inQuotes:
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteRune(r)
		}
	}
	return tableOf(append(parts, b.String()))
}

func tableOf(parts []string) table {
	switch n := len(parts); n {
	case 0:
		return table{}
	case 1:
		return table{name: parts[0]}
	default: // a catalog in front of the schema says nothing more
		return table{parts[n-2], parts[n-1]}
	}
}

// reach is what one statement changes.
type reach struct {
	tables     []table
	schemas    []string // whole schemas
	everything bool     // cannot be told
}

func reachOf(dialect string, s Statement) reach {
	var r reach
	if s.Table != "" {
		r.tables = append(r.tables, parseTable(s.Table))
	}
	toks, problem := tokenize(dialect, s.SQL)
	if problem != "" || len(toks) == 0 {
		return reach{everything: true}
	}
	r.read(toks)
	return r
}

func (r *reach) add(parts []string) {
	if len(parts) > 0 {
		r.tables = append(r.tables, tableOf(parts))
	}
}

// addList reads a comma-separated list of names.
func (r *reach) addList(c *cursor) {
	for {
		c.take("ONLY")
		r.add(c.object())
		if c.peek().punct("*") {
			c.pos++
		}
		if !c.peek().punct(",") {
			return
		}
		c.pos++
	}
}

func (r *reach) read(toks []lexeme) {
	c := &cursor{toks: toks}
	verb := c.keyword()
	c.pos++
	switch verb {
	case "CREATE":
		r.create(c)
	case "ALTER":
		r.alter(c)
	case "DROP":
		r.drop(c)
	case "TRUNCATE", "LOCK":
		r.everything = has(toks, "CASCADE")
		c.takeAny("TABLE", "TABLES")
		r.addList(c)
	case "INSERT", "REPLACE", "MERGE":
		c.takeAny("IGNORE", "INTO")
		c.take("ONLY")
		r.add(c.object())
	case "UPDATE":
		c.takeAny("IGNORE", "ONLY")
		r.addList(c)
	case "DELETE":
		c.takeAny("IGNORE", "FROM", "ONLY")
		r.addList(c)
	case "COMMENT":
		r.comment(c)
	case "GRANT", "REVOKE":
		r.grant(c)
	case "RENAME":
		c.take("TABLE")
		r.addPairs(c)
	case "REINDEX", "CLUSTER", "VACUUM", "ANALYZE", "REFRESH", "SET", "RESET": // touch no definition and no row
	case "SELECT":
		r.everything = classify(toks).Severity == SeverityDestructive
	default:
		r.everything = true
	}
}

// addPairs reads "a TO b, c TO d".
func (r *reach) addPairs(c *cursor) {
	for {
		r.add(c.object())
		if c.take("TO") {
			r.add(c.object())
		}
		if !c.peek().punct(",") {
			return
		}
		c.pos++
	}
}

func (r *reach) create(c *cursor) {
	c.take("OR", "REPLACE")
	c.takeAny("GLOBAL", "LOCAL", "TEMP", "TEMPORARY", "UNLOGGED", "UNIQUE", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "EVENT")
	c.skipRights()
	switch {
	case c.take("TABLE"):
		c.take("IF", "NOT", "EXISTS")
		r.add(c.object())
		r.parents(c)
	case c.take("INDEX"), c.take("TRIGGER"), c.take("POLICY"):
		if c.seek("ON") {
			c.take("ONLY")
			r.add(c.object())
		}
	case c.take("RULE"):
		if c.seek("TO") {
			r.add(c.object())
		}
	}
}

// parents adds the tables that a new one becomes a part of.
func (r *reach) parents(c *cursor) {
	for _, t := range []struct{ a, b string }{{"PARTITION", "OF"}, {"INHERITS", ""}} {
		for i := range c.toks {
			p := &cursor{c.toks, i}
			if !p.take(t.a) || (t.b != "" && !p.take(t.b)) {
				continue
			}
			if p.peek().punct("(") {
				p.pos++
			}
			r.addList(p)
		}
	}
}

func (r *reach) alter(c *cursor) {
	switch {
	case c.take("TABLE"), c.take("FOREIGN", "TABLE"):
		c.take("IF", "EXISTS")
		if has(c.toks[c.pos:min(c.pos+1, len(c.toks))], "ALL") { // every table of a tablespace
			r.everything = true
			return
		}
		c.take("ONLY")
		parts := c.object()
		r.add(parts)
		r.tableActions(c, parts)
	case c.take("POLICY"), c.take("TRIGGER"), c.take("RULE"):
		if c.seek("ON") {
			r.add(c.object())
		}
	case has(c.toks, "CASCADE"):
		r.everything = true
	}
}

// tableActions adds what an ALTER TABLE reaches beyond its own table: the new name, partitions, parents, and what a CASCADE takes along.
func (r *reach) tableActions(c *cursor, own []string) {
	if c.peek().punct("*") {
		c.pos++
	}
	for _, action := range c.actions() {
		a := &cursor{toks: action}
		switch {
		case a.take("RENAME", "TO"):
			if renamed := a.object(); len(renamed) > 0 && len(own) > 1 {
				r.add([]string{own[len(own)-2], renamed[len(renamed)-1]})
			} else {
				r.add(renamed)
			}
		case a.take("ATTACH", "PARTITION"), a.take("DETACH", "PARTITION"), a.take("INHERIT"), a.take("NO", "INHERIT"):
			r.add(a.object())
		case a.keyword() == "SET" && hasSequence(action, "SET", "SCHEMA"):
			a.pos += 2
			if schema := a.object(); len(schema) > 0 && len(own) > 0 {
				r.add([]string{schema[0], own[len(own)-1]})
			}
		case a.keyword() == "DROP" && has(action, "CASCADE"):
			r.everything = true
		}
	}
}

func (r *reach) drop(c *cursor) {
	r.everything = has(c.toks, "CASCADE")
	c.takeAny("FOREIGN", "TEMPORARY")
	switch {
	case c.take("TABLE"):
		c.take("IF", "EXISTS")
		r.addList(c)
	case c.take("SCHEMA"), c.take("DATABASE"):
		c.take("IF", "EXISTS")
		for _, list := range c.actions() {
			if parts := (&cursor{toks: list}).object(); len(parts) > 0 {
				r.schemas = append(r.schemas, parts[0])
			}
		}
	case c.take("TRIGGER"), c.take("POLICY"), c.take("RULE"), c.take("INDEX"):
		if c.seek("ON") {
			r.add(c.object())
		}
	case c.take("OWNED"):
		r.everything = true
	}
}

func (r *reach) comment(c *cursor) {
	c.take("ON")
	switch {
	case c.take("TABLE"):
		r.add(c.object())
	case c.take("COLUMN"):
		if parts := c.object(); len(parts) > 1 {
			r.add(parts[:len(parts)-1])
		}
	case c.take("CONSTRAINT"), c.take("TRIGGER"), c.take("POLICY"), c.take("RULE"):
		c.object()
		if c.take("ON") {
			r.add(c.object())
		}
	}
}

// grant adds the tables of GRANT … ON [TABLE] a, b TO …; privileges on other kinds of objects touch no table.
func (r *reach) grant(c *cursor) {
	if !c.seek("ON") {
		return
	}
	switch {
	case c.take("ALL", "TABLES", "IN", "SCHEMA"):
		r.schemas = append(r.schemas, qualified(c.object()))
	case slices.Contains([]string{
		"SCHEMA", "SEQUENCE", "FUNCTION", "PROCEDURE", "ROUTINE", "DATABASE", "DOMAIN", "LANGUAGE", "LARGE", "PARAMETER", "TABLESPACE", "TYPE",
		"FOREIGN", "ALL",
	}, c.keyword()):
	default:
		c.take("TABLE")
		r.addList(c)
	}
}

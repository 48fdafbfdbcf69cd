package plan

import "slices"

// Assessment is what our own classifier makes of one statement.
type Assessment struct {
	Severity string
	Why      string // one phrase, for a person
}

func safe() Assessment { return Assessment{Severity: SeveritySafe} }

func warning(why string) Assessment { return Assessment{SeverityWarning, why} }

func destructive(why string) Assessment { return Assessment{SeverityDestructive, why} }

// Classify rates one statement from its text alone. It knows which statements are harmless and calls everything else destructive, so
// that a statement which it does not know can never pass as harmless. Its rating may raise a planner's, never lower it.
func Classify(dialect, sql string) Assessment {
	toks, problem := tokenize(dialect, sql)
	if problem != "" {
		return destructive("cannot be read: " + problem)
	}
	if len(toks) == 0 {
		return destructive("is empty")
	}
	return classify(toks)
}

// Destructive reports whether running the document may lose data: as it says itself, or as our own classifier says of any statement.
func Destructive(d Document) bool {
	if d.Destructive {
		return true
	}
	return slices.ContainsFunc(d.Statements, func(s Statement) bool {
		return s.Severity == SeverityDestructive || Classify(d.Dialect, s.SQL).Severity == SeverityDestructive
	})
}

func classify(toks []lexeme) Assessment {
	c := &cursor{toks: toks}
	verb := c.keyword()
	c.pos++
	switch verb {
	case "CREATE":
		return classifyCreate(c)
	case "ALTER":
		return classifyAlter(c)
	case "DROP":
		return classifyDrop(c)
	case "INSERT":
		return classifyInsert(toks)
	case "UPDATE":
		if !topLevel(toks, "WHERE") {
			return destructive("changes every row of a table")
		}
		return warning("changes rows")
	case "SELECT":
		return classifySelect(c)
	case "SET", "RESET":
		return classifySet(c)
	case "COMMENT", "ANALYZE":
		return safe()
	case "GRANT", "REVOKE":
		return warning("changes privileges")
	case "REFRESH", "REINDEX", "CLUSTER", "VACUUM", "LOCK":
		return warning("may hold a lock for long")
	case "RENAME":
		return warning("renames")
	case "DELETE", "TRUNCATE":
		return destructive("deletes rows")
	case "MERGE", "REPLACE", "WITH":
		return destructive("may delete or overwrite rows")
	case "DO", "CALL", "EXECUTE":
		return destructive("runs code that the safety check cannot follow")
	}
	return destructive("is not a statement that the safety check knows")
}

func topLevel(toks []lexeme, keyword string) bool {
	return slices.ContainsFunc(toks, func(t lexeme) bool { return t.depth == 0 && t.is(keyword) })
}

func classifyInsert(toks []lexeme) Assessment {
	switch {
	case hasSequence(toks, "DELETE", "FROM"), hasSequence(toks, "MERGE", "INTO"):
		return destructive("deletes rows")
	case hasSequence(toks, "DO", "UPDATE"), hasSequence(toks, "DUPLICATE", "KEY"):
		return warning("changes rows that exist")
	}
	return safe()
}

// classifySelect knows one harmless use of SELECT in a plan: setting a sequence. Any other may call anything.
func classifySelect(c *cursor) Assessment {
	parts := c.object()
	known := len(parts) == 1 || (len(parts) == 2 && asciiUpper(parts[0]) == "PG_CATALOG")
	if known && asciiUpper(parts[len(parts)-1]) == "SETVAL" && !has(c.toks[1:], "SELECT", "FROM", "INTO") {
		return safe()
	}
	return destructive("may call functions that the safety check cannot follow")
}

func classifySet(c *cursor) Assessment {
	c.takeAny("LOCAL", "SESSION")
	if c.take("GLOBAL") || c.take("PERSIST") || c.take("PERSIST_ONLY") {
		return destructive("changes the server")
	}
	switch asciiUpper(qualified(c.object())) {
	case "LOCK_TIMEOUT", "STATEMENT_TIMEOUT", "CHECK_FUNCTION_BODIES", "SEARCH_PATH":
		return safe()
	case "SESSION_REPLICATION_ROLE", "FOREIGN_KEY_CHECKS":
		return destructive("switches triggers or foreign keys off")
	}
	return warning("changes a session setting")
}

func classifyDrop(c *cursor) Assessment {
	if c.take("INDEX") || c.take("STATISTICS") {
		return warning("drops something that can be built again")
	}
	return destructive("drops an object")
}

// replaceable are the objects that OR REPLACE redefines without losing rows.
var replaceable = []string{"FUNCTION", "PROCEDURE", "AGGREGATE", "VIEW", "TRIGGER", "EVENT", "RULE", "TRANSFORM", "LANGUAGE"}

// harmlessNew are the objects whose creation changes nothing that exists.
var harmlessNew = []string{
	"TABLE", "INDEX", "SCHEMA", "TYPE", "DOMAIN", "SEQUENCE", "VIEW", "FUNCTION", "PROCEDURE", "AGGREGATE", "EXTENSION", "COLLATION",
	"STATISTICS", "TRIGGER", "POLICY", "OPERATOR", "TEXT", "CAST", "CONVERSION", "ROLE", "USER", "GROUP", "ACCESS",
}

func classifyCreate(c *cursor) Assessment {
	replace := c.take("OR", "REPLACE")
	// Words that may stand before the kind of object.
	c.takeAny("GLOBAL", "LOCAL", "TEMP", "TEMPORARY", "UNLOGGED", "UNIQUE", "FULLTEXT", "SPATIAL", "RECURSIVE", "MATERIALIZED",
		"CONSTRAINT", "TRUSTED", "PROCEDURAL", "FOREIGN", "DEFAULT")
	c.skipRights()
	kind := c.keyword()
	switch {
	case replace && !slices.Contains(replaceable, kind):
		return destructive("replaces an object")
	case replace:
		return warning("replaces a definition")
	case kind == "USER" && len(c.toks) > c.pos+1 && c.toks[c.pos+1].is("MAPPING"):
		return warning("opens a way to another server")
	case slices.Contains(harmlessNew, kind):
		return safe()
	}
	return warning("creates something outside of tables")
}

func classifyAlter(c *cursor) Assessment {
	if c.take("TABLE") || c.take("FOREIGN", "TABLE") {
		return classifyAlterTable(c)
	}
	rest := c.toks[min(c.pos, len(c.toks)):]
	switch {
	case c.take("SYSTEM"):
		return destructive("changes the server")
	case has(rest, "DROP", "DISABLE"):
		return destructive("drops a part of an object")
	case c.take("TYPE"):
		return classifyAlterType(c)
	}
	return warning("changes an object")
}

func classifyAlterType(c *cursor) Assessment {
	c.object()
	switch {
	case c.take("ADD", "VALUE"):
		return safe()
	case has(c.toks[c.pos:], "ALTER"):
		return destructive("changes the type of an attribute")
	}
	return warning("changes a type")
}

func classifyAlterTable(c *cursor) Assessment {
	c.take("IF", "EXISTS")
	c.take("ONLY")
	if len(c.object()) == 0 {
		return destructive("is not a statement that the safety check knows")
	}
	if c.peek().punct("*") {
		c.pos++
	}
	worst := safe()
	for _, action := range c.actions() {
		if a := classifyTableAction(&cursor{toks: action}); rankOf(a.Severity) > rankOf(worst.Severity) {
			worst = a
		}
	}
	return worst
}

func classifyTableAction(c *cursor) Assessment {
	verb := c.keyword()
	c.pos++
	switch verb {
	case "ADD", "VALIDATE", "ENABLE", "FORCE":
		return safe()
	case "ALTER":
		return classifyAlterColumn(c)
	case "DROP":
		if c.take("INDEX") || c.take("KEY") {
			return warning("drops something that can be built again")
		}
		return destructive("drops a column or a constraint")
	case "SET":
		if c.take("UNLOGGED") {
			return destructive("gives up crash safety of a table")
		}
		return warning("changes a table's settings")
	case "MODIFY":
		c.take("COLUMN")
		c.take("IF", "EXISTS")
		c.object()
		return classifyModify(c)
	case "CHANGE":
		c.take("COLUMN")
		c.take("IF", "EXISTS")
		c.object()
		c.object()
		return classifyModify(c)
	case "NO":
		if c.take("INHERIT") {
			return warning("changes inheritance")
		}
		return destructive("switches protection off")
	case "DISABLE":
		return destructive("switches protection off")
	case "RENAME", "OWNER", "INHERIT", "ATTACH", "CLUSTER", "REPLICA", "RESET", "OF", "NOT", "ENGINE", "AUTO_INCREMENT", "ALGORITHM":
		return warning("changes a table")
	}
	if a, known := classifyOption(verb, c); known {
		return a
	}
	return destructive("is not a change of a table that the safety check knows")
}

func classifyAlterColumn(c *cursor) Assessment {
	if c.take("CONSTRAINT") {
		return warning("changes a constraint")
	}
	if hidesIndex(*c) {
		return warning("changes whether an index is used")
	}
	c.take("COLUMN")
	c.object()
	switch {
	case c.take("TYPE"), c.take("SET", "DATA", "TYPE"):
		return classifyType(c)
	case c.take("DROP", "DEFAULT"):
		return warning("drops a default")
	case c.take("DROP"):
		return destructive("drops a property of a column")
	case c.take("SET", "DEFAULT"), c.take("ADD"):
		return safe()
	case c.take("SET"), c.take("RESET"), c.take("RESTART"), c.take("COMPRESSION"):
		return warning("changes a column")
	}
	return destructive("is not a change of a column that the safety check knows")
}

// classifyType rates a column's new type. The types below take every value that an implicit conversion can bring, or refuse it aloud;
// others may round or cut, and a USING expression may do anything.
func classifyType(c *cursor) Assessment {
	lossless := c.take("CHARACTER", "VARYING") || c.take("TEXT") || c.take("VARCHAR") || c.take("BIGINT") || c.take("INT8") ||
		((c.take("NUMERIC") || c.take("DECIMAL")) && !c.peek().punct("("))
	if lossless && !has(c.toks, "USING") {
		return warning("changes the type of a column")
	}
	return destructive("changes the type of a column in a way that may lose values")
}

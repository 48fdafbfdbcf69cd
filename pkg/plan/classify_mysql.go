package plan

// skipRights moves over what MySQL and MariaDB write between CREATE and the kind of a view, routine, trigger or event.
func (c *cursor) skipRights() {
	for again := true; again; {
		again = false
		switch {
		case c.keyword() == "ALGORITHM" && c.pos+2 < len(c.toks) && c.toks[c.pos+1].punct("="):
			c.pos += 3
			again = true
		case c.keyword() == "DEFINER" && c.pos+2 < len(c.toks) && c.toks[c.pos+1].punct("="):
			c.pos += 3
			if c.peek().punct("@") {
				c.pos += 2
			} else if c.take("CURRENT_USER") || c.peek().punct("(") {
				for c.peek().punct("(") || c.peek().punct(")") {
					c.pos++
				}
			}
			again = true
		case c.take("SQL", "SECURITY"):
			c.pos++
			again = true
		case c.take("AGGREGATE"):
			if c.keyword() != "FUNCTION" {
				c.pos--
				return
			}
			again = true
		}
	}
}

// keeping are the types of MySQL and MariaDB that take every value an implicit conversion can bring, or refuse it aloud in strict mode, which
// Apply sets.
var keeping = []string{
	"VARCHAR", "TEXT", "MEDIUMTEXT", "LONGTEXT", "BIGINT", "INT8", "ENUM", "SET", "JSON", "VARBINARY", "BLOB", "MEDIUMBLOB", "LONGBLOB",
}

// classifyModify rates a column that is defined anew as a whole: neither its old type nor what else changes can be seen.
func classifyModify(c *cursor) Assessment {
	if has(c.toks, "GENERATED", "AS") {
		return destructive("may replace the values of a column by computed ones")
	}
	for _, name := range keeping {
		if c.take(name) {
			return warning("defines a column anew")
		}
	}
	return destructive("defines a column anew, in a way that may lose values")
}

// hidesIndex recognises ALTER INDEX name [NOT] IGNORED, VISIBLE, INVISIBLE.
func hidesIndex(c cursor) bool {
	if !c.take("INDEX") && !c.take("KEY") {
		return false
	}
	if len(c.object()) != 1 {
		return false
	}
	return (c.take("NOT", "IGNORED") || c.take("IGNORED") || c.take("VISIBLE") || c.take("INVISIBLE")) && c.done()
}

// harmlessOptions are table options that change how rows are stored or measured, never which there are.
var harmlessOptions = map[string]bool{
	"ROW_FORMAT": true, "KEY_BLOCK_SIZE": true, "STATS_PERSISTENT": true, "STATS_AUTO_RECALC": true, "STATS_SAMPLE_PAGES": true, "PACK_KEYS": true,
	"DELAY_KEY_WRITE": true, "CHECKSUM": true, "PAGE_CHECKSUM": true, "TRANSACTIONAL": true, "MAX_ROWS": true, "MIN_ROWS": true, "AVG_ROW_LENGTH": true,
	"COMPRESSION": true, "PAGE_COMPRESSED": true, "PAGE_COMPRESSION_LEVEL": true, "CHARACTER": true, "CHARSET": true, "COLLATE": true,
}

// classifyOption rates an action of ALTER TABLE that sets an option of the table as a whole.
func classifyOption(verb string, c *cursor) (Assessment, bool) {
	switch {
	case verb == "COMMENT" && c.peek().punct("="):
		return safe(), true
	case verb == "COMMENT", verb == "LOCK":
		return warning("changes a table"), true
	case verb == "DEFAULT" && (c.take("CHARACTER", "SET") || c.take("CHARSET") || c.take("COLLATE")):
		return warning("changes the character set of new columns"), true
	case verb == "PARTITION" && c.keyword() == "BY", verb == "REMOVE" && c.take("PARTITIONING"):
		return warning("distributes the rows of a table anew"), true
	case harmlessOptions[verb]:
		return warning("changes an option of a table"), true
	}
	return Assessment{}, false
}

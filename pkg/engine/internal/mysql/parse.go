package mysql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// parsed is a table as SHOW CREATE TABLE prints it. Whatever the parser does not know is in problems, by the part that has it, so that
// a table is either understood to the last word or refused by name.
type parsed struct {
	table    model.Table
	problems []model.Object
}

func (p *parsed) problem(kind, name, what string) {
	p.problems = append(p.problems, model.Object{Kind: kind, Table: p.table.Name.Name, Name: name + " (" + strings.ToValidUTF8(what, "?") + ")"})
}

// parseTable reads the statement that SHOW CREATE TABLE prints.
func parseTable(name, create string) *parsed {
	p := &parsed{table: model.Table{Name: model.Name{Name: name}, MySQL: &model.TableMySQL{}}}
	open := strings.IndexByte(create, '(')
	// The name stands in front and may hold a parenthesis.
	if quote := strings.IndexByte(create, '`'); quote >= 0 && quote < open {
		end := skipQuoted(create, quote)
		if next := strings.IndexByte(create[end:], '('); next >= 0 {
			open = end + next
		}
	}
	if open < 0 {
		p.problem("table option", name, "no columns")
		return p
	}
	closing := skipParens(create, open)
	if closing <= open+1 {
		p.problem("table option", name, "not closed")
		return p
	}
	for _, item := range splitTop(create[open+1 : closing-1]) {
		p.item(strings.TrimSpace(item))
	}
	p.options(create[closing:])
	return p
}

func (p *parsed) item(text string) {
	toks := tokens(text)
	if len(toks) == 0 {
		return
	}
	switch {
	case toks[0].quoted():
		p.column(toks)
	case toks[0].is("PERIOD"):
		p.table.MySQL.Periods = append(p.table.MySQL.Periods, join(toks))
	case toks[0].is("CONSTRAINT") && len(toks) > 3:
		p.constraint(toks)
	default:
		p.index(toks)
	}
}

// clauseWords begin the clauses behind a column's type. Expressions that the server prints have none of them in upper case, NULL aside.
var clauseWords = []string{
	"CHARACTER", "COLLATE", "GENERATED", "NOT", "NULL", "INVISIBLE", "DEFAULT", "ON", "AUTO_INCREMENT", "COMMENT", "CHECK", "WITHOUT", "SRID", "VIRTUAL", "STORED",
	"COLUMN_FORMAT", "STORAGE",
}

func (p *parsed) column(toks []token) {
	c := model.Column{Name: unquote(toks[0].text), MySQL: &model.ColumnMySQL{}}
	rest := toks[1:]
	end := clauseEnd(rest, 0)
	c.Type = join(rest[:end])
	rest = rest[end:]
	for len(rest) > 0 {
		n := readClause(&c, rest)
		if n == 0 {
			p.problem("column options", c.Name, rest[0].text)
			break
		}
		rest = rest[n:]
	}
	slices.Sort(c.MySQL.Attributes)
	p.table.Columns = append(p.table.Columns, c)
}

// clauseEnd is where the next clause begins, from position i on.
func clauseEnd(toks []token, i int) int {
	for i < len(toks) && !toks[i].is(clauseWords...) {
		i++
	}
	return i
}

func phrase(toks []token, words ...string) bool {
	if len(toks) < len(words) {
		return false
	}
	for i, w := range words {
		if !toks[i].is(w) {
			return false
		}
	}
	return true
}

// readClause reads one clause of a column and returns its length, 0 where it is unknown.
func readClause(c *model.Column, toks []token) int {
	switch {
	case phrase(toks, "CHARACTER", "SET") && len(toks) > 2:
		return 3 // information_schema has the effective one
	case toks[0].is("COLLATE") && len(toks) > 1:
		return 2
	case phrase(toks, "NOT", "NULL"):
		c.NotNull = true
		return 2
	case toks[0].is("NULL"):
		return 1
	case toks[0].is("COMMENT") && len(toks) > 1 && toks[1].isString():
		c.Comment = unliteral(toks[1].text)
		return 2
	}
	return readValueClause(c, toks)
}

// readValueClause reads a clause about where the values of a column come from, or what else only this dialect knows.
func readValueClause(c *model.Column, toks []token) int {
	m := c.MySQL
	switch {
	case phrase(toks, "GENERATED", "ALWAYS", "AS", "ROW") && len(toks) > 4:
		m.RowPeriod = join(toks[3:5])
		return 5
	case phrase(toks, "GENERATED", "ALWAYS", "AS") && len(toks) > 4 && toks[3].paren():
		c.Generated = &model.Generated{Expression: toks[3].inParens(), Virtual: toks[4].is("VIRTUAL")}
		return 5
	case toks[0].is("INVISIBLE"):
		m.Invisible = true
		return 1
	case toks[0].is("DEFAULT") && len(toks) > 1:
		end := clauseEnd(toks, 2)
		c.Default = join(toks[1:end])
		return end
	case phrase(toks, "ON", "UPDATE"):
		end := clauseEnd(toks, 2)
		m.OnUpdate = join(toks[2:end])
		return end
	case toks[0].is("AUTO_INCREMENT"):
		m.AutoIncrement = true
		return 1
	case toks[0].is("CHECK") && len(toks) > 1 && toks[1].paren():
		m.Check = toks[1].inParens()
		return 2
	case phrase(toks, "WITHOUT", "SYSTEM", "VERSIONING"):
		m.Unversioned = true
		return 3
	case toks[0].is("SRID", "COLUMN_FORMAT", "STORAGE") && len(toks) > 1:
		m.Attributes = append(m.Attributes, join(toks[:2]))
		return 2
	}
	return 0
}

var indexKinds = map[string]string{"FULLTEXT": "fulltext", "SPATIAL": "spatial", "VECTOR": "vector"}

// methodDefault is the method of an index that names none.
const methodDefault = "default"

func (p *parsed) index(toks []token) {
	x := model.Index{Method: methodDefault}
	switch {
	case phrase(toks, "PRIMARY", "KEY"):
		x.Name, x.Unique = model.PrimaryIndex, true
		toks = toks[2:]
	case phrase(toks, "UNIQUE", "KEY"):
		x.Unique = true
		toks = toks[2:]
	case toks[0].is("KEY"):
		toks = toks[1:]
	case len(toks) > 1 && toks[1].is("KEY") && indexKinds[toks[0].text] != "":
		x.Method = indexKinds[toks[0].text]
		toks = toks[2:]
	default:
		p.problem("index option", toks[0].text, join(toks))
		return
	}
	if x.Name == "" && len(toks) > 0 && toks[0].quoted() {
		x.Name = unquote(toks[0].text)
		toks = toks[1:]
	}
	if x.Name == "" || len(toks) == 0 || !toks[0].paren() {
		p.problem("index option", x.Name, join(toks))
		return
	}
	for _, part := range splitTop(toks[0].inParens()) {
		x.Keys = append(x.Keys, indexKey(tokens(part)))
	}
	p.indexOptions(&x, toks[1:])
	p.table.Indexes = append(p.table.Indexes, x)
}

// indexKey reads one key: a column, its prefix length and direction, or else an expression as it stands.
func indexKey(toks []token) model.IndexKey {
	k := model.IndexKey{Expression: join(toks)}
	if len(toks) == 0 || !toks[0].quoted() {
		return withoutDirection(k, toks)
	}
	column := model.IndexKey{Column: unquote(toks[0].text)}
	rest := toks[1:]
	if len(rest) > 0 && rest[0].paren() {
		n, err := strconv.Atoi(rest[0].inParens())
		if err != nil {
			return k
		}
		column.Prefix, rest = n, rest[1:]
	}
	switch {
	case len(rest) == 0:
		return column
	case len(rest) == 1 && rest[0].is("DESC"):
		column.Order = "DESC"
		return column
	}
	return k
}

func withoutDirection(k model.IndexKey, toks []token) model.IndexKey {
	if n := len(toks) - 1; n > 0 && toks[n].is("DESC") {
		return model.IndexKey{Expression: join(toks[:n]), Order: "DESC"}
	}
	return k
}

func (p *parsed) indexOptions(x *model.Index, toks []token) {
	var m model.IndexMySQL
	for len(toks) > 0 {
		n := 2
		switch {
		case toks[0].is("IGNORED", "INVISIBLE"):
			m.Hidden, n = true, 1
		case toks[0].is("USING") && len(toks) > 1:
			x.Method = strings.ToLower(toks[1].text)
		case toks[0].is("COMMENT") && len(toks) > 1 && toks[1].isString():
			x.Comment = unliteral(toks[1].text)
		case phrase(toks, "WITH", "PARSER") && len(toks) > 2:
			m.Parser, n = unquote(toks[2].text), 3
		case phrase(toks, "KEY_BLOCK_SIZE", "=") && len(toks) > 2:
			size, err := strconv.Atoi(toks[2].text)
			m.KeyBlockSize, n = size, 3
			if err != nil {
				n = 0
			}
		case len(toks) > 2 && toks[1].is("=") && !toks[0].isString():
			x.Options = append(x.Options, join(toks[:3]))
			n = 3
		default:
			n = 0
		}
		if n == 0 {
			p.problem("index option", x.Name, join(toks))
			return
		}
		toks = toks[n:]
	}
	if m != (model.IndexMySQL{}) {
		x.MySQL = &m
	}
}

func (p *parsed) constraint(toks []token) {
	c := model.Constraint{Name: unquote(toks[1].text)}
	rest := toks[2:]
	switch {
	case phrase(rest, "FOREIGN", "KEY") && len(rest) > 2 && rest[2].paren():
		c.Kind, c.Columns = model.ForeignKey, names(rest[2])
		if !readReference(&c, rest[3:]) {
			p.problem("constraint option", c.Name, join(rest[3:]))
			return
		}
	case rest[0].is("CHECK") && len(rest) > 1 && rest[1].paren():
		c.Kind, c.Expression = model.Check, rest[1].inParens()
		c.NotEnforced = phrase(rest[2:], "NOT", "ENFORCED")
		if len(rest) > 2 && !c.NotEnforced {
			p.problem("constraint option", c.Name, join(rest[2:]))
			return
		}
	default:
		p.problem("constraint option", c.Name, join(rest))
		return
	}
	p.table.Constraints = append(p.table.Constraints, c)
}

func names(list token) []string {
	var out []string
	for _, part := range splitTop(list.inParens()) {
		out = append(out, unquote(strings.TrimSpace(part)))
	}
	return out
}

func readReference(c *model.Constraint, toks []token) bool {
	if len(toks) < 3 || !toks[0].is("REFERENCES") || !toks[1].quoted() {
		return false
	}
	r := &model.Reference{Table: model.Name{Name: unquote(toks[1].text)}}
	toks = toks[2:]
	if len(toks) > 2 && toks[0].is(".") {
		r.Table.Schema, r.Table.Name = r.Table.Name, unquote(toks[1].text)
		toks = toks[2:]
	}
	if !toks[0].paren() {
		return false
	}
	r.Columns = names(toks[0])
	toks = toks[1:]
	for len(toks) > 2 && toks[0].is("ON") {
		n := 3
		if toks[2].is("SET", "NO") {
			n = 4
		}
		if len(toks) < n {
			return false
		}
		action := join(toks[2:n])
		switch {
		case toks[1].is("DELETE"):
			r.OnDelete = action
		case toks[1].is("UPDATE"):
			r.OnUpdate = action
		default:
			return false
		}
		toks = toks[n:]
	}
	c.Reference = r
	return len(toks) == 0
}

// options reads what stands behind the list of columns.
func (p *parsed) options(text string) {
	t := &p.table
	toks := tokens(text)
	for len(toks) > 0 {
		switch {
		case phrase(toks, "WITH", "SYSTEM", "VERSIONING"):
			t.MySQL.Versioned = true
			toks = toks[3:]
		case phrase(toks, "PARTITION", "BY"):
			t.MySQL.Partitioning = strings.TrimSuffix(strings.TrimSpace(text[toks[0].start:]), " */")
			return
		case phrase(toks, "DEFAULT", "CHARSET", "=") && len(toks) > 3:
			toks = toks[4:] // the collation says it
		case len(toks) > 2 && toks[1].is("="):
			n := 3
			p.option(toks[0].text, toks[2].text)
			toks = toks[n:]
		default:
			p.problem("table option", t.Name.Name, toks[0].text)
			return
		}
	}
}

func (p *parsed) option(key, value string) {
	t := &p.table
	switch key {
	case "ENGINE":
		t.MySQL.Engine = value
	case "AUTO_INCREMENT": // the next value is data
	case "COLLATE":
		t.MySQL.Collation = value
	case "COMMENT":
		t.Comment = unliteral(value)
	default:
		if _, ok := resets[key]; !ok {
			p.problem("table option", t.Name.Name, fmt.Sprintf("%s=%s", key, value))
			return
		}
		t.Options = append(t.Options, key+"="+value)
	}
}

// resets are the table options that can be taken off again, and what says so.
var resets = map[string]string{
	"ROW_FORMAT": "DEFAULT", "KEY_BLOCK_SIZE": "0", "STATS_PERSISTENT": "DEFAULT", "STATS_AUTO_RECALC": "DEFAULT", "STATS_SAMPLE_PAGES": "DEFAULT",
	"PACK_KEYS": "DEFAULT", "DELAY_KEY_WRITE": "0", "CHECKSUM": "0", "PAGE_CHECKSUM": "DEFAULT", "TRANSACTIONAL": "DEFAULT", "MAX_ROWS": "0", "MIN_ROWS": "0",
	"AVG_ROW_LENGTH": "0", "COMPRESSION": "''", "ENCRYPTION": "'N'", "INSERT_METHOD": "NO",
	"`PAGE_COMPRESSED`": "DEFAULT", "`PAGE_COMPRESSION_LEVEL`": "DEFAULT", "`ENCRYPTED`": "DEFAULT", "`ENCRYPTION_KEY_ID`": "DEFAULT",
	"`page_compressed`": "DEFAULT", "`page_compression_level`": "DEFAULT", "`encrypted`": "DEFAULT", "`encryption_key_id`": "DEFAULT",
}

package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// refusePositions names definitions whose text counts the columns of a table, where these stand in another order on the server than in the
// declaration. The order of columns is no difference, and such a text would read one column for another without any sign of it.
func (p *planner) refusePositions() error {
	moved := map[model.Name]bool{}
	for i := range p.to.Tables {
		if t := &p.to.Tables[i]; !slices.Equal(p.endOrder(t), columnNames(t.Columns)) {
			moved[t.Name] = true
		}
	}
	if len(moved) == 0 {
		return nil
	}
	of := map[model.Name]model.Name{} // from what is named in a text to the table whose columns it has
	for name := range moved {
		of[name] = name
	}
	for i := range p.to.Definitions {
		d := &p.to.Definitions[i]
		table, head := returnedRow(d.Create)
		if !moved[table] {
			continue
		}
		of[model.Name{Schema: d.Schema, Name: d.Name}] = table
		if strings.HasSuffix(head, "BEGIN ATOMIC") {
			return p.refusePosition(d, table)
		}
	}
	for i := range p.to.Definitions {
		d := &p.to.Definitions[i]
		if countsColumns(d.Kind) {
			if name := listed(d.Create, of); name != (model.Name{}) {
				return p.refusePosition(d, of[name])
			}
		}
	}
	return nil
}

func (p *planner) refusePosition(d *model.Definition, table model.Name) error {
	return refuseObject("%s %q.%q counts the columns of table %q.%q, and on the server these stand in the order %s: declare the table with its columns in that order",
		d.Kind, d.Schema, d.Name, table.Schema, table.Name, idents(p.endOrder(p.to.Table(table))))
}

// countsColumns reports whether the server writes the definition's query itself.
func countsColumns(kind string) bool {
	return slices.Contains([]string{model.KindView, model.KindMaterializedView, model.KindRule, model.KindPolicy, model.KindFunction, model.KindProcedure}, kind)
}

func columnNames(columns []model.Column) []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	return names
}

// endOrder is the order in which the columns of a declared table stand once the plan has run: what is added goes behind what is there.
func (p *planner) endOrder(t *model.Table) []string {
	var there, added, computed, late []string
	if o := p.from.Table(t.Name); o != nil {
		for i := range o.Columns {
			if name := o.Columns[i].Name; t.Column(name) != nil && !p.fresh(t.Name, name) {
				there = append(there, name)
			}
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		switch {
		case !p.fresh(t.Name, c.Name):
		case p.lateColumns[model.ColumnRef{Table: t.Name, Column: c.Name}]:
			late = append(late, c.Name)
		case c.Generated != nil && p.from.Table(t.Name) != nil:
			computed = append(computed, c.Name)
		default:
			added = append(added, c.Name)
		}
	}
	return slices.Concat(there, added, computed, late)
}

// returnedRow is the table whose rows a routine returns, and its text up to the line where its body begins. The server writes both in one way.
func returnedRow(create string) (table model.Name, head string) {
	for start := 0; start < len(create); {
		end := lineEnd(create, start)
		line := create[start:end]
		if returned, ok := strings.CutPrefix(line, " RETURNS "); ok {
			t := parseType(strings.TrimPrefix(returned, "SETOF "))
			table = model.Name{Schema: t.schema, Name: t.name}
		}
		if line == "BEGIN ATOMIC" || strings.HasPrefix(line, "AS ") {
			return table, create[:end]
		}
		start = end + 1
	}
	return table, create
}

// lineEnd is where the line that starts at i ends. A name or a default may have line breaks of its own.
func lineEnd(s string, i int) int {
	for i < len(s) && s[i] != '\n' {
		if s[i] == '"' || s[i] == '\'' {
			i = skipQuoted(s, i)
		} else {
			i++
		}
	}
	return i
}

// listed is the first of the names, those of tables and of routines, behind whose mention the text has an alias with a list of columns.
func listed(text string, names map[model.Name]model.Name) model.Name {
	var schema, name string // the last two names of a dotted chain
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'':
			i, schema, name = skipQuoted(text, i), "", ""
		case c == '"' || isWord(c):
			end := nameToken(text, i)
			if name == "." {
				name = unquote(text[i:end])
				if found := (model.Name{Schema: schema, Name: name}); names[found] != (model.Name{}) && aliasList(text[end:]) {
					return found
				}
			} else {
				schema, name = "", unquote(text[i:end])
			}
			i = end
		case c == '.' && name != "" && name != "." && schema == "":
			schema, name = name, "."
			i++
		default:
			schema, name = "", ""
			i++
		}
	}
	return model.Name{}
}

// aliasList reports whether what follows a name, and the arguments of a routine, is an alias with a list of columns.
func aliasList(rest string) bool {
	if strings.HasPrefix(rest, "(") {
		rest = rest[closing(rest):]
	}
	rest, spaced := strings.CutPrefix(rest, " ")
	if !spaced || rest == "" || rest[0] != '"' && !isWord(rest[0]) {
		return false
	}
	return strings.HasPrefix(rest[nameToken(rest, 0):], "(")
}

// closing is the position behind the parenthesis that closes the one at the start.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		switch s[i] {
		case '\'', '"':
			i = skipQuoted(s, i)
			continue
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(s)
}

package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// refusePositions names definitions whose text counts the columns of a table, where these stand in another order on the server than in the
// declaration. The order of columns is no difference, and such a text would read one column for another without any sign of it. It asks the planned
// statements.
func (p *planner) refusePositions() error {
	moved, orders := map[model.Name]bool{}, p.endOrders()
	for i := range p.to.Tables {
		if t := &p.to.Tables[i]; !slices.Equal(orders[t.Name], columnNames(t.Columns)) {
			moved[t.Name] = true
		}
	}
	refuse := func(d *model.Definition, table model.Name) error {
		return refuseObject("%s %q.%q counts the columns of table %q.%q, and on the server these stand in the order %s: declare the table with its columns in that order",
			d.Kind, d.Schema, d.Name, table.Schema, table.Name, idents(orders[table]))
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
			return refuse(d, table)
		}
	}
	for i := range p.to.Definitions {
		d := &p.to.Definitions[i]
		if countsColumns(d.Kind) {
			if name := listed(d.Create, of); name != (model.Name{}) {
				return refuse(d, of[name])
			}
		}
	}
	return nil
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

// endOrders are the orders in which the columns of declared tables stand once the plan has run: a new table begins with what its parents have by then,
// and what is added goes behind what is there, to the table and to its children.
func (p *planner) endOrders() map[model.Name][]string {
	orders, tables := map[model.Name][]string{}, familyOrder(p.to.Tables)
	for _, t := range tables {
		if o := p.from.Table(t.Name); o != nil {
			orders[t.Name] = slices.DeleteFunc(columnNames(o.Columns), func(name string) bool { return t.Column(name) == nil || p.fresh(t.Name, name) })
		}
	}
	var add func(table model.Name, columns ...string)
	add = func(table model.Name, columns ...string) {
		for _, name := range columns {
			if slices.Contains(orders[table], name) {
				continue // merged
			}
			orders[table] = append(orders[table], name)
			for _, t := range tables {
				if _, there := orders[t.Name]; there && slices.Contains(t.Parents(), table) {
					add(t.Name, name)
				}
			}
		}
	}
	for _, t := range tables {
		if p.from.Table(t.Name) != nil {
			continue
		}
		orders[t.Name] = nil
		for _, parent := range t.Parents() {
			if above := p.excluded.Table(parent); above != nil {
				add(t.Name, columnNames(above.Columns)...)
			}
			add(t.Name, orders[parent]...)
		}
		for i := range t.Columns {
			if c := &t.Columns[i]; !c.Inherited && !p.comesLater(t, c) {
				add(t.Name, c.Name)
			}
		}
	}
	for _, steps := range p.phases {
		for _, s := range steps {
			if s.adds != "" {
				add(s.table, s.adds)
			}
		}
	}
	return orders
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

package postgres

import (
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// A server does not always print an expression again as it has read it: what was written as v IN ('a', 'b') for a varchar prints as
// (ARRAY['a'::character varying, …])::text[], and that, read and printed once more, as ARRAY[('a'::character varying)::text, …], which then stays.
// Every expression of a model has the second form, so that it does not matter how often its text went through a server.

// settleDatabase brings all expressions of a model into the form that stays.
func settleDatabase(db *model.Database) {
	for i := range db.Domains {
		d := &db.Domains[i]
		d.Default = settle(d.Default)
		for j := range d.Checks {
			d.Checks[j].Expression = settle(d.Checks[j].Expression)
		}
	}
	for i := range db.Tables {
		settleTable(&db.Tables[i])
	}
	for i := range db.Definitions {
		d := &db.Definitions[i]
		if strings.Contains(d.Create, "\nAS $") {
			continue // a routine whose body is a string, which is the author's own
		}
		d.Create, d.Alter = settle(d.Create), settle(d.Alter)
		for j := range d.Properties {
			d.Properties[j].Set = settle(d.Properties[j].Set)
		}
	}
}

func settleTable(t *model.Table) {
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Default = settle(c.Default)
		if c.Generated != nil {
			c.Generated.Expression = settle(c.Generated.Expression)
		}
	}
	for i := range t.Constraints {
		c := &t.Constraints[i]
		c.Expression, c.Definition = settle(c.Expression), settle(c.Definition)
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		x.Predicate = settle(x.Predicate)
		for j := range x.Keys {
			x.Keys[j].Expression = settle(x.Keys[j].Expression)
		}
	}
}

const arrayOpening = "(ARRAY["

// settle moves the cast of an array to its elements, which is what the server does when it reads one. Text in quotes stays as it is.
func settle(sql string) string {
	if !strings.Contains(sql, arrayOpening) {
		return sql
	}
	var out strings.Builder
	for i := 0; i < len(sql); {
		switch {
		case sql[i] == '\'' || sql[i] == '"':
			end := skipQuoted(sql, i)
			out.WriteString(sql[i:end])
			i = end
		case strings.HasPrefix(sql[i:], arrayOpening):
			if elements, element, end := castArray(sql, i); end > 0 {
				for j, e := range elements {
					elements[j] = "(" + settle(e) + ")::" + element
				}
				out.WriteString("ARRAY[" + strings.Join(elements, ", ") + "]")
				i = end
				continue
			}
			out.WriteString(arrayOpening)
			i += len(arrayOpening)
		default:
			out.WriteByte(sql[i])
			i++
		}
	}
	return out.String()
}

// castArray reads (ARRAY[…])::type[] at an offset: its elements, the type of one and where it ends. The end is 0 where something else stands there: an
// array without a cast, of arrays, or cast to a type with a modifier.
func castArray(sql string, start int) (elements []string, element string, end int) {
	i, from, depth := start+len(arrayOpening), start+len(arrayOpening), 0
	for ; i < len(sql); i++ {
		switch sql[i] {
		case '\'', '"':
			i = skipQuoted(sql, i) - 1
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth < 0 {
				return closeArray(sql, i, append(elements, sql[from:i]))
			}
		case ',':
			if depth == 0 {
				elements, from = append(elements, sql[from:i]), i+2 // a comma and a space, as the server prints
			}
		}
	}
	return nil, "", 0
}

func closeArray(sql string, at int, elements []string) ([]string, string, int) {
	const closing, list = "])::", "[]"
	if !strings.HasPrefix(sql[at:], closing) || strings.HasPrefix(elements[0], "ARRAY[") {
		return nil, "", 0
	}
	rest := sql[at+len(closing):]
	length := strings.Index(rest, list)
	if length <= 0 || strings.ContainsAny(rest[:length], `()[]',;`) {
		return nil, "", 0
	}
	return elements, rest[:length], at + len(closing) + length + len(list)
}

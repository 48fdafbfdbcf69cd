package postgres

import (
	"errors"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// ident quotes an identifier, always.
func ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// qualified quotes the name of an object in a schema.
func qualified(n model.Name) string { return ident(n.Schema) + "." + ident(n.Name) }

// idents quotes a list of identifiers.
func idents(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = ident(n)
	}
	return strings.Join(quoted, ", ")
}

// literal quotes a string; standard_conforming_strings is on wherever ours are read.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// unquote turns one identifier as the server prints it into its name.
func unquote(printed string) string {
	if inner, ok := strings.CutPrefix(printed, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
	}
	return printed
}

// skipQuoted returns the position behind a quoted run that starts at i: a string, an identifier. The server's deparsed text has
// standard strings, and E” strings in which a backslash escapes.
func skipQuoted(s string, i int) int {
	quote := s[i]
	escapes := quote == '\'' && i > 0 && (s[i-1] == 'E' || s[i-1] == 'e') && (i == 1 || !isWord(s[i-2]))
	for i++; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// mentions returns the identifiers in a deparsed expression, unquoted. Keywords and functions are among them, so that it may name too
// much, never too little.
func mentions(expression string) map[string]bool {
	found := map[string]bool{}
	for i := 0; i < len(expression); {
		switch c := expression[i]; {
		case c == '\'':
			i = skipQuoted(expression, i)
		case c == '"':
			end := skipQuoted(expression, i)
			found[unquote(expression[i:end])] = true
			i = end
		case isWord(c):
			end := i
			for end < len(expression) && isWord(expression[end]) {
				end++
			}
			found[expression[i:end]] = true
			i = end
		default:
			i++
		}
	}
	return found
}

var errIndexDefinition = errors.New("not an index definition")

// parseIndexKeys cuts the key list out of the server's index definition. columns are the bare keys as the server prints them: each key
// starts with its own, and what follows is its collation, operator class and order.
func parseIndexKeys(definition string, columns []string) ([]model.IndexKey, error) {
	pos := keyListStart(definition)
	keys := make([]model.IndexKey, 0, len(columns))
	for i, column := range columns {
		if pos < 0 || !strings.HasPrefix(definition[pos:], column) {
			return nil, errIndexDefinition
		}
		pos += len(column)
		end := keyEnd(definition, pos)
		key := model.IndexKey{Expression: column}
		if err := parseKeySuffix(&key, definition[pos:end]); err != nil {
			return nil, err
		}
		keys = append(keys, key)
		if i < len(columns)-1 {
			if !strings.HasPrefix(definition[end:], ", ") {
				return nil, errIndexDefinition
			}
			end += len(", ")
		}
		pos = end
	}
	return keys, nil
}

// keyListStart is the position behind the parenthesis that opens the key list, the first one outside of quotes.
func keyListStart(definition string) int {
	for i := 0; i < len(definition); {
		switch definition[i] {
		case '"':
			i = skipQuoted(definition, i)
		case '(':
			return i + 1
		default:
			i++
		}
	}
	return -1
}

// keyEnd is where the key ends: at a comma or a closing parenthesis that belongs to the key list.
func keyEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '"':
			i = skipQuoted(s, i)
			continue
		case c == '(':
			depth++
		case depth == 0 && (c == ',' || c == ')'):
			return i
		case c == ')':
			depth--
		}
		i++
	}
	return i
}

// parseKeySuffix reads " COLLATE x opclass (options) DESC NULLS LAST", every part optional.
func parseKeySuffix(key *model.IndexKey, suffix string) error {
	rest := suffix
	if after, ok := strings.CutPrefix(rest, " COLLATE "); ok {
		end := nameEnd(after)
		key.Collation, rest = after[:end], after[end:]
	}
	for _, order := range []string{" DESC NULLS LAST", " NULLS FIRST", " DESC"} {
		if before, ok := strings.CutSuffix(rest, order); ok {
			key.Order, rest = order[1:], before
			break
		}
	}
	if rest == "" {
		return nil
	}
	if rest[0] != ' ' || len(rest) == 1 {
		return errIndexDefinition
	}
	key.Opclass = rest[1:]
	return nil
}

// nameEnd is the end of a possibly quoted, possibly qualified name.
func nameEnd(s string) int {
	for i := 0; i < len(s); {
		switch {
		case s[i] == '"':
			i = skipQuoted(s, i)
		case s[i] == '.' || isWord(s[i]):
			i++
		default:
			return i
		}
	}
	return len(s)
}

// typeName is a type as the server prints it, taken apart: schema is empty for built-in types.
type typeName struct {
	schema, name string
	modifier     string // "(10)", "(10,2)"
	dimensions   int
}

// parseType takes a printed type apart.
func parseType(printed string) typeName {
	var t typeName
	for strings.HasSuffix(printed, "[]") {
		printed = strings.TrimSuffix(printed, "[]")
		t.dimensions++
	}
	end := nameEnd(printed)
	if dot := topDot(printed[:end]); dot >= 0 {
		t.schema, t.name = unquote(printed[:dot]), unquote(printed[dot+1:end])
		t.modifier = printed[end:]
		return t
	}
	// Built-in types may have several words and a modifier in the middle: "timestamp(3) with time zone".
	if open := strings.IndexByte(printed, '('); open >= 0 {
		if closing := strings.IndexByte(printed, ')'); closing > open {
			t.modifier = printed[open : closing+1]
			printed = printed[:open] + printed[closing+1:]
		}
	}
	t.name = unquote(printed)
	return t
}

// topDot is the dot between schema and name, outside of quotes.
func topDot(s string) int {
	for i := 0; i < len(s); {
		switch s[i] {
		case '"':
			i = skipQuoted(s, i)
		case '.':
			return i
		default:
			i++
		}
	}
	return -1
}

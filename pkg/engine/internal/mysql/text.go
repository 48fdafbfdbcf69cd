package mysql

import (
	"strconv"
	"strings"
)

// ident quotes an identifier, always.
func ident(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func idents(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = ident(n)
	}
	return strings.Join(quoted, ", ")
}

// literal quotes a string for a session whose sql_mode lets a backslash escape, as ours does.
func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''", "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`).Replace(s) + "'"
}

// unliteral reads a string in single quotes as such a session does.
func unliteral(printed string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(printed, "'"), "'")
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '\'' && i+1 < len(inner) && inner[i+1] == '\'':
			i++
			b.WriteByte('\'')
		case c == '\\' && i+1 < len(inner):
			i++
			if plain, ok := map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', '0': 0, 'Z': 0x1a}[inner[i]]; ok {
				b.WriteByte(plain)
			} else {
				b.WriteByte(inner[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unquote turns an identifier in backticks into its name.
func unquote(printed string) string {
	if inner, ok := strings.CutPrefix(printed, "`"); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, "`"), "``", "`")
	}
	return printed
}

// skipQuoted returns the position behind a quoted run that starts at i. A backslash escapes between ' and ", not between backticks.
func skipQuoted(s string, i int) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch {
		case quote != '`' && s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

func isQuote(c byte) bool { return c == '\'' || c == '"' || c == '`' }

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// token is one piece of the server's text: a word or number, something in quotes, a run in parentheses, or a single other character. Blanks
// says that white space stands before it.
type token struct {
	text   string
	start  int
	blanks bool
}

func (t token) is(words ...string) bool {
	for _, w := range words {
		if t.text == w {
			return true
		}
	}
	return false
}

func (t token) quoted() bool   { return t.text[0] == '`' }
func (t token) isString() bool { return t.text[0] == '\'' }
func (t token) paren() bool {
	return len(t.text) > 1 && t.text[0] == '(' && t.text[len(t.text)-1] == ')'
}
func (t token) inParens() string { return t.text[1 : len(t.text)-1] }

// tokens cuts text and leaves comments out. A versioned comment is what stands in it.
func tokens(s string) []token { return firstTokens(s, len(s)) }

// firstTokens are the first tokens of a text.
func firstTokens(s string, most int) []token {
	var out []token
	blanks := false
	for i := 0; i < len(s) && len(out) < most; {
		start := i
		switch c := s[i]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			i++
			blanks = true
			continue
		case strings.HasPrefix(s[i:], "/*!"), strings.HasPrefix(s[i:], "/*M!"):
			i += strings.IndexByte(s[i:], '!') + 1
			for i < len(s) && '0' <= s[i] && s[i] <= '9' {
				i++
			}
			blanks = true
			continue
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return out
			}
			i += 2 + end + 2
			blanks = true
			continue
		case c == '#', isDashes(s[i:]):
			i += lineLength(s[i:])
			blanks = true
			continue
		case strings.HasPrefix(s[i:], "*/"):
			i += 2
			blanks = true
			continue
		case isQuote(c):
			i = skipQuoted(s, i)
		case c == '(':
			i = skipParens(s, i)
		case isWord(c):
			for i < len(s) && isWord(s[i]) {
				i++
			}
		default:
			i++
		}
		out = append(out, token{s[start:i], start, blanks})
		blanks = false
	}
	return out
}

// skipParens returns the position behind the parenthesis that closes the one at i.
func skipParens(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch c := s[i]; {
		case isQuote(c):
			i = skipQuoted(s, i)
			continue
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(s)
}

// splitTop cuts text at the commas outside of quotes and parentheses.
func splitTop(s string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case isQuote(c):
			i = skipQuoted(s, i)
		case c == '(':
			i = skipParens(s, i)
		case c == ',':
			parts = append(parts, s[start:i])
			i++
			start = i
		default:
			i++
		}
	}
	return append(parts, s[start:])
}

// join puts tokens together again, one blank where there was white space.
func join(toks []token) string {
	var b strings.Builder
	for i, t := range toks {
		if i > 0 && t.blanks {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// mentions returns the names in backticks of an expression.
func mentions(expression string) map[string]bool {
	found := map[string]bool{}
	for i := 0; i < len(expression); {
		switch c := expression[i]; {
		case c == '`':
			end := skipQuoted(expression, i)
			found[unquote(expression[i:end])] = true
			i = end
		case isQuote(c):
			i = skipQuoted(expression, i)
		default:
			i++
		}
	}
	return found
}

// withoutDatabase takes the database's own name off the names in the server's text. It reports false where that cannot be done, because something
// else in the text is called like the database.
func withoutDatabase(text, database string) (string, bool) {
	own := ident(database)
	var b strings.Builder
	taken, other := false, false
	for i := 0; i < len(text); {
		if !isQuote(text[i]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		end := skipQuoted(text, i)
		switch {
		case text[i:end] != own:
			b.WriteString(text[i:end])
		case end < len(text) && text[end] == '.' && !strings.HasSuffix(b.String(), "."):
			taken = true
			end++
		default:
			other = true
			b.WriteString(text[i:end])
		}
		i = end
	}
	if !taken {
		return text, true
	}
	return b.String(), !other
}

// display joins parts of a name for a person: control characters escaped, at most 400 bytes.
func display(parts ...string) string {
	clean := make([]string, len(parts))
	for i, part := range parts {
		clean[i] = part
		if strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			quoted := strconv.Quote(part)
			clean[i] = quoted[1 : len(quoted)-1]
		}
	}
	s := strings.Join(clean, ".")
	const limit = 400
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

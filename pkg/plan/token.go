package plan

import (
	"strings"
	"unicode/utf8"
)

// tokenKind tells words that may be keywords from everything that may not.
type tokenKind int

const (
	word   tokenKind = iota // unquoted identifier or keyword
	quoted                  // quoted identifier, quotes removed
	text                    // string literal of any notation
	body                    // dollar-quoted string, delimiters removed
	number
	punct // one byte of punctuation, or one other character
)

// lexeme is one token of a statement. upper is the word in upper case, so that keywords compare simply; it is empty for other kinds,
// so that a quoted identifier or a literal is never taken for a keyword.
type lexeme struct {
	kind  tokenKind
	value string
	upper string
	depth int // parentheses and brackets around it
}

func (l lexeme) is(keyword string) bool { return l.kind == word && l.upper == keyword }

func (l lexeme) punct(p string) bool { return l.kind == punct && l.value == p }

func (l lexeme) name() bool { return l.kind == word || l.kind == quoted }

const unbalanced = "parentheses or brackets are not balanced"

// lexer cuts SQL into lexemes the way the server does: comments vanish, quotes and dollar quotes hide what they hold. What is
// hidden on the server must be hidden here and the other way round, or a keyword could pass unseen.
type lexer struct {
	src   string
	pos   int
	mysql bool
	depth int
	out   []lexeme
}

// tokenize returns the lexemes of sql, or what is wrong with it: an unterminated quote or comment, unbalanced parentheses.
func tokenize(dialect, sql string) ([]lexeme, string) {
	l := &lexer{src: sql, mysql: dialect == DialectMySQL}
	for l.pos < len(l.src) {
		if problem := l.next(); problem != "" {
			return nil, problem
		}
	}
	if l.depth != 0 {
		return nil, unbalanced
	}
	return l.out, ""
}

func (l *lexer) rest() string { return l.src[l.pos:] }

func (l *lexer) emit(kind tokenKind, value string) {
	tok := lexeme{kind: kind, value: value, depth: l.depth}
	if kind == word {
		tok.upper = asciiUpper(value)
	}
	l.out = append(l.out, tok)
}

func (l *lexer) next() string {
	c := l.src[l.pos]
	switch {
	case space(c):
		l.pos++
		return ""
	case l.lineComment():
		return ""
	case strings.HasPrefix(l.rest(), "/*"):
		return l.blockComment()
	case c == '\'':
		return l.literal(l.mysql)
	case c == '"', c == '`' && l.mysql:
		return l.quotedName(c)
	case c == '$' && !l.mysql:
		return l.dollar()
	case digit(c):
		l.number()
		return ""
	case wordStart(c):
		return l.wordOrPrefixed()
	}
	return l.punctuation()
}

func (l *lexer) punctuation() string {
	switch c := l.src[l.pos]; c {
	case '(', '[':
		l.emit(punct, string(c))
		l.depth++
	case ')', ']':
		l.depth--
		if l.depth < 0 {
			return unbalanced
		}
		l.emit(punct, string(c))
	case 0:
		return "a NUL byte"
	case '\\':
		return "a backslash outside a literal"
	default:
		l.emit(punct, string(c))
	}
	l.pos++
	return ""
}

func (l *lexer) lineComment() bool {
	rest := l.rest()
	dashes := strings.HasPrefix(rest, "--")
	if dashes && l.mysql { // MySQL wants white space after the dashes; "1--1" is a subtraction there
		dashes = len(rest) == 2 || space(rest[2]) || rest[2] < ' '
	}
	if !dashes && (!l.mysql || rest[0] != '#') {
		return false
	}
	end := strings.IndexAny(rest, "\n\r")
	if l.mysql { // only a line feed ends a comment there
		end = strings.IndexByte(rest, '\n')
	}
	if end < 0 {
		end = len(rest) - 1
	}
	l.pos += end + 1
	return true
}

// blockComment skips a comment: nested ones on PostgreSQL, flat ones on MySQL. A comment that MySQL may run as SQL, depending on its
// own version, is refused: no reading of it here could be sure to be the server's.
func (l *lexer) blockComment() string {
	if l.mysql && (strings.HasPrefix(l.rest(), "/*!") || strings.HasPrefix(l.rest(), "/*M!")) {
		return "a comment that the server may run as SQL"
	}
	depth := 0
	for l.pos < len(l.src) {
		switch rest := l.rest(); {
		case strings.HasPrefix(rest, "/*") && (!l.mysql || depth == 0):
			depth++
			l.pos += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.pos += 2
			if depth == 0 {
				return ""
			}
		default:
			l.pos++
		}
	}
	return "a comment is not closed"
}

// literal reads a string between single quotes. A doubled quote stands for one; a backslash escapes where the notation says so.
func (l *lexer) literal(backslash bool) string {
	value, problem := l.between('\'', backslash)
	if problem == "" {
		l.emit(text, value)
	}
	return problem
}

func (l *lexer) quotedName(quote byte) string {
	start := l.pos
	value, problem := l.between(quote, false)
	if problem != "" {
		return problem
	}
	// Between double quotes MySQL reads a string with escapes or a name without, as its sql_mode says: only text that is the same in both is safe.
	if l.mysql && quote == '"' && strings.ContainsRune(l.src[start:l.pos], '\\') {
		return "a backslash between double quotes"
	}
	l.emit(quoted, value)
	return ""
}

func (l *lexer) between(quote byte, backslash bool) (value, problem string) {
	var b strings.Builder
	for i := l.pos + 1; i < len(l.src); i++ {
		c := l.src[i]
		switch {
		case c == '\\' && backslash && i+1 < len(l.src):
			i++
			b.WriteByte(l.src[i])
		case c != quote:
			b.WriteByte(c)
		case i+1 < len(l.src) && l.src[i+1] == quote:
			i++
			b.WriteByte(quote)
		default:
			l.pos = i + 1
			return b.String(), ""
		}
	}
	return "", "a quote is not closed"
}

// dollar reads $tag$…$tag$, or a parameter, which a stored plan cannot have.
func (l *lexer) dollar() string {
	rest := l.rest()
	end := strings.IndexByte(rest[1:], '$')
	if end < 0 || !dollarTag(rest[1:end+1]) {
		return "a dollar sign that starts no quote"
	}
	tag := rest[:end+2]
	closing := strings.Index(rest[len(tag):], tag)
	if closing < 0 {
		return "a dollar quote is not closed"
	}
	l.emit(body, rest[len(tag):len(tag)+closing])
	l.pos += len(tag) + closing + len(tag)
	return ""
}

func (l *lexer) number() {
	start := l.pos
	for l.pos < len(l.src) && (digit(l.src[l.pos]) || l.src[l.pos] == '.') {
		l.pos++
	}
	l.emit(number, l.src[start:l.pos])
}

// wordOrPrefixed reads a word, or the literal that a one-letter prefix announces: E'…' has backslash escapes, B, X, N and U& have not.
func (l *lexer) wordOrPrefixed() string {
	rest := l.rest()
	upper := asciiUpper(rest[:min(3, len(rest))])
	switch {
	case strings.HasPrefix(upper, "E'") && !l.mysql:
		l.pos++
		return l.literal(true)
	case strings.HasPrefix(upper, "B'"), strings.HasPrefix(upper, "X'"), strings.HasPrefix(upper, "N'"):
		l.pos++
		return l.literal(l.mysql)
	case (upper == "U&'" || upper == `U&"`) && !l.mysql:
		return "unicode-escaped notation (U&) hides names from the safety check; write the characters themselves"
	}
	start := l.pos
	for l.pos < len(l.src) && wordPart(l.src[l.pos]) {
		l.pos++
	}
	l.emit(word, l.src[start:l.pos])
	return ""
}

func dollarTag(tag string) bool {
	for i := range len(tag) {
		c := tag[i]
		if c == '$' || !wordPart(c) || (i == 0 && digit(c)) {
			return false
		}
	}
	return true
}

func asciiUpper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - ('a' - 'A')
		}
	}
	return string(b)
}

func space(c byte) bool { return c == ' ' || (c >= '\t' && c <= '\r') }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func wordStart(c byte) bool {
	return c == '_' || (c|0x20 >= 'a' && c|0x20 <= 'z') || c >= utf8.RuneSelf
}

func wordPart(c byte) bool { return wordStart(c) || digit(c) || c == '$' }

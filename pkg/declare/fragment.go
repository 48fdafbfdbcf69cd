package declare

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// place says where free SQL stands, which decides what it may hold.
type place int

const (
	inParentheses place = iota // an expression between parentheses of ours
	asType                     // a type in front of other clauses
	asQuery                    // a query at the end of a statement
	asElements                 // a list between parentheses of ours
)

// clauseWords would begin the next clause where a type stands.
var clauseWords = []string{
	"AS", "BEGIN", "CHECK", "COLLATE", "COMMENT", "CONSTRAINT", "DEFAULT", "EXCLUDE", "FOREIGN", "GENERATED", "INHERITS", "LANGUAGE", "LIKE", "NOT", "NULL", "PARTITION",
	"PRIMARY", "REFERENCES", "RETURN", "STORAGE", "UNIQUE", "USING", "WITH", "SET", "COST", "ROWS", "SUPPORT", "IMMUTABLE", "STABLE", "VOLATILE", "STRICT", "LEAKPROOF", "PARALLEL", "SECURITY", "WINDOW", "CALLED", "COMPRESSION",
}

// clauseWordsMySQL are the same of MySQL and MariaDB, where character set and collation are words of a type.
var clauseWordsMySQL = []string{
	"AS", "AUTO_INCREMENT", "BEGIN", "CHECK", "COLUMN_FORMAT", "COMMENT", "CONSTRAINT", "CONTAINS", "DEFAULT", "DETERMINISTIC", "GENERATED", "INVISIBLE", "KEY", "LANGUAGE", "MODIFIES", "NO", "NOT", "NULL", "ON",
	"PERSISTENT", "PRIMARY", "READS", "REFERENCES", "RETURN", "SQL", "STORAGE", "STORED", "UNIQUE", "VIRTUAL", "VISIBLE", "WITH", "WITHOUT",
}

// checkSQL says why free SQL may not stand in its place; empty where it may.
func checkSQL(text string, where place, mysql bool) string {
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return "is not text in UTF-8"
	}
	s := scanner{src: text, mysql: mysql}
	if problem := s.run(); problem != "" {
		return problem
	}
	words := clauseWords
	if mysql {
		words = clauseWordsMySQL
	}
	switch {
	case s.tokens == 0:
		return "is empty"
	case where == asType:
		for i, w := range s.top {
			if w == "WITH" && i+1 < len(s.top) && s.top[i+1] == "TIME" { // ZONE
				continue
			}
			if slices.Contains(words, w) {
				return fmt.Sprintf("goes beyond a type with the word %s", w)
			}
		}
		if s.commas > 0 {
			return "has a comma outside of parentheses"
		}
	case where == inParentheses && s.commas > 0:
		return "has a comma outside of parentheses"
	}
	return ""
}

// Balanced reports that SQL, of MySQL and MariaDB or else of PostgreSQL, closes every parenthesis, quote and comment that it opens.
func Balanced(text string, mysql bool) bool {
	s := scanner{src: text, mysql: mysql}
	return s.run() == ""
}

// closed gives free SQL an end that nothing behind it can be swallowed by.
func closed(text string, mysql bool) string {
	s := scanner{src: text, mysql: mysql}
	_ = s.run()
	text = strings.TrimSpace(text)
	if s.openComment {
		return text + "\n"
	}
	return text
}

// scanner walks over SQL as the lexer of PostgreSQL or that of MySQL and MariaDB does, as far as quotes, comments and parentheses go.
type scanner struct {
	src   string
	pos   int
	mysql bool

	stack       []byte
	tokens      int
	commas      int             // outside of parentheses
	top         []string        // words outside of parentheses, upper case
	words       map[string]bool // every identifier and word: quoted as they are, others in lower case
	openComment bool            // ends within a comment that lasts until the end of the line
}

func (s *scanner) run() string {
	s.words = map[string]bool{}
	for s.pos < len(s.src) {
		if problem := s.next(); problem != "" {
			return problem
		}
	}
	if len(s.stack) > 0 {
		return fmt.Sprintf("has an unclosed %q", s.stack[len(s.stack)-1])
	}
	return ""
}

func (s *scanner) next() string {
	rest := s.src[s.pos:]
	switch c := rest[0]; {
	case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		s.pos++
		return ""
	case s.isLineComment(rest):
		s.lineComment(rest)
		return ""
	case s.mysql && (strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*M!")):
		return "has a comment that a server may run as SQL"
	case strings.HasPrefix(rest, "/*"):
		return s.comment()
	}
	s.tokens++
	return s.token(rest)
}

func (s *scanner) token(rest string) string {
	switch c := rest[0]; {
	case c == ';':
		return "has a semicolon, which would end the statement that it stands in"
	case c == '\\':
		return "has a backslash outside of quotes"
	case c == '\'' || c == '"' || c == '`' && s.mysql:
		return s.quoted(c)
	case c == '$' && !s.mysql:
		return s.dollar()
	case isWord(c):
		s.word()
		return ""
	case c == '(' || c == '[':
		s.stack = append(s.stack, c)
		if len(s.stack) > maxDepth*4 {
			return "is nested too deep"
		}
	case c == ')' || c == ']':
		if problem := s.closing(c); problem != "" {
			return problem
		}
	case c == ',' && len(s.stack) == 0:
		s.commas++
	}
	s.pos++
	return ""
}

// lineComment passes over a comment that lasts until the end of the line.
func (s *scanner) lineComment(rest string) {
	ends := "\r\n"
	if s.mysql {
		ends = "\n"
	}
	end := strings.IndexAny(rest, ends)
	if end < 0 {
		s.openComment, end = true, len(rest)
	}
	s.pos += end
}

func (s *scanner) isLineComment(rest string) bool {
	if !s.mysql {
		return strings.HasPrefix(rest, "--")
	}
	return rest[0] == '#' || strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' ')
}

func (s *scanner) closing(c byte) string {
	want := byte('(')
	if c == ']' {
		want = '['
	}
	if len(s.stack) == 0 || s.stack[len(s.stack)-1] != want {
		return fmt.Sprintf("has a %q that closes nothing", c)
	}
	s.stack = s.stack[:len(s.stack)-1]
	return ""
}

func (s *scanner) comment() string {
	depth := 0
	for s.pos < len(s.src) {
		switch rest := s.src[s.pos:]; {
		case strings.HasPrefix(rest, "/*") && (depth == 0 || !s.mysql):
			depth++
			s.pos += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			s.pos += 2
			if depth == 0 {
				return ""
			}
		default:
			s.pos++
		}
	}
	return "has an unclosed comment"
}

func (s *scanner) quoted(quote byte) string {
	if s.mysql {
		return s.quotedMySQL(quote)
	}
	escapes := quote == '\'' && s.pos > 0 && (s.src[s.pos-1] == 'E' || s.src[s.pos-1] == 'e') && (s.pos == 1 || !isWord(s.src[s.pos-2]))
	start := s.pos
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case escapes && c == '\\':
			s.pos++
		case c == quote && s.pos+1 < len(s.src) && s.src[s.pos+1] == quote:
			s.pos++
		case c == quote:
			s.pos++
			if escapes && s.continues() {
				continue
			}
			if quote == '"' {
				s.words[strings.ReplaceAll(s.src[start+1:s.pos-1], `""`, `"`)] = true
			}
			return ""
		}
	}
	return "has an unclosed quote"
}

// quotedMySQL passes over text, in which a backslash escapes, or over a name between backticks, in which it does not.
func (s *scanner) quotedMySQL(quote byte) string {
	start := s.pos
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case quote != '`' && c == '\\':
			s.pos++
		case c == quote && s.pos+1 < len(s.src) && s.src[s.pos+1] == quote:
			s.pos++
		case c == quote:
			s.pos++
			if quote == '`' {
				s.words[strings.ReplaceAll(s.src[start+1:s.pos-1], "``", "`")] = true
			}
			return ""
		}
	}
	return "has an unclosed quote"
}

// continues moves to the quote that goes on with a string on a later line, in which a backslash keeps its meaning.
func (s *scanner) continues() bool {
	newline := false
	for i := s.pos; i < len(s.src); {
		switch rest := s.src[i:]; {
		case rest[0] == '\n' || rest[0] == '\r':
			newline = true
			i++
		case strings.IndexByte(" \t\f\v", rest[0]) >= 0:
			i++
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexAny(rest, "\r\n")
			if end < 0 {
				return false
			}
			i += end
		case rest[0] == '\'' && newline:
			s.pos = i
			return true
		default:
			return false
		}
	}
	return false
}

func (s *scanner) dollar() string {
	rest := s.src[s.pos:]
	end := 1
	for end < len(rest) && isWord(rest[end]) && rest[end] != '$' && (end > 1 || rest[end] < '0' || rest[end] > '9') {
		end++
	}
	if end >= len(rest) || rest[end] != '$' {
		s.pos++
		return ""
	}
	tag := rest[:end+1]
	closing := strings.Index(rest[len(tag):], tag)
	if closing < 0 {
		return "has an unclosed quote " + tag
	}
	s.pos += 2*len(tag) + closing
	return ""
}

func (s *scanner) word() {
	start := s.pos
	for s.pos < len(s.src) && isWord(s.src[s.pos]) {
		s.pos++
	}
	w := s.src[start:s.pos]
	s.words[strings.ToLower(w)] = true
	if s.mysql {
		s.words[w] = true // names of tables keep their case
	}
	if len(s.stack) == 0 {
		s.top = append(s.top, strings.ToUpper(w))
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Mentions are the identifiers and words of free SQL: what a statement with it is taken to need. It may name too much, never too little.
func Mentions(text string, mysql bool) map[string]bool {
	s := scanner{src: text, mysql: mysql}
	_ = s.run()
	return s.words
}

package mysql

import (
	"slices"
	"strings"
)

// sqlStatement is one statement of a file, without its delimiter; start is its byte offset.
type sqlStatement struct {
	text  string
	start int
}

// splitProblem is a place in a file that no statement can be cut at.
type splitProblem struct {
	offset int
	text   string
}

// splitter cuts a file where the command-line client would: at the delimiter outside of quotes and comments, which DELIMITER lines change.
type splitter struct {
	src       string
	pos       int
	start     int // of the current statement; -1 before its first token
	delimiter string
	out       []sqlStatement
}

// splitSQL returns the statements of a file, or the first problem.
func splitSQL(src string) ([]sqlStatement, *splitProblem) {
	s := &splitter{src: src, start: -1, delimiter: ";"}
	if strings.HasPrefix(src, "\uFEFF") {
		s.pos = len("\uFEFF")
	}
	for s.pos < len(src) {
		if problem := s.next(); problem != nil {
			return nil, problem
		}
	}
	s.finish()
	return s.out, nil
}

func (s *splitter) finish() {
	if s.start >= 0 {
		if text := strings.TrimRight(s.src[s.start:s.pos], " \t\r\n"); text != "" {
			s.out = append(s.out, sqlStatement{text, s.start})
		}
	}
	s.start = -1
}

func (s *splitter) next() *splitProblem {
	rest := s.src[s.pos:]
	if strings.HasPrefix(rest, s.delimiter) {
		s.finish()
		s.pos += len(s.delimiter)
		return nil
	}
	switch c := rest[0]; {
	case isBlank(c):
		s.pos++
		return nil
	case c == '#', isDashes(rest):
		s.pos += lineLength(rest)
		return nil
	case strings.HasPrefix(rest, "/*") && !strings.HasPrefix(rest, "/*!") && !strings.HasPrefix(rest, "/*M!"):
		return s.skipComment()
	case s.start < 0 && isDelimiterLine(rest):
		return s.setDelimiter()
	case c == '\\' && s.start < 0:
		return &splitProblem{s.pos, "commands of the command-line client cannot be used"}
	}
	if s.start < 0 {
		s.start = s.pos
	}
	switch c := rest[0]; {
	case isQuote(c):
		end := skipQuoted(s.src, s.pos)
		if end == len(s.src) && (s.src[end-1] != c || end-s.pos < 2) {
			return &splitProblem{s.pos, "the quote is not closed"}
		}
		s.pos = end
	case strings.HasPrefix(rest, "/*"):
		return s.skipComment()
	case isWord(c):
		// A delimiter may be made of letters only at the start of a word.
		for s.pos < len(s.src) && isWord(s.src[s.pos]) && !s.inWord() {
			s.pos++
		}
	default:
		s.pos++
	}
	return nil
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

// inWord reports a delimiter such as $$, whose characters are those of words.
func (s *splitter) inWord() bool {
	return !isLetters(s.delimiter) && strings.HasPrefix(s.src[s.pos:], s.delimiter)
}

func isLetters(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r >= 0x80 || r == '$' || !isWord(byte(r)) //nolint:gosec // below 0x80 a rune is a byte
	})
}

// isDashes reports a comment: two dashes and white space behind them.
func isDashes(rest string) bool {
	return strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' ')
}

func lineLength(rest string) int {
	if end := strings.IndexByte(rest, '\n'); end >= 0 {
		return end
	}
	return len(rest)
}

// skipComment passes over a comment. One that the server runs as SQL stays in the statement, its strings included.
func (s *splitter) skipComment() *splitProblem {
	start := s.pos
	executed := strings.HasPrefix(s.src[s.pos:], "/*!") || strings.HasPrefix(s.src[s.pos:], "/*M!")
	for s.pos += 2; s.pos < len(s.src); {
		switch {
		case strings.HasPrefix(s.src[s.pos:], "*/"):
			s.pos += 2
			return nil
		case executed && isQuote(s.src[s.pos]):
			s.pos = skipQuoted(s.src, s.pos)
		default:
			s.pos++
		}
	}
	return &splitProblem{start, "the comment is not closed"}
}

const delimiterWord = "DELIMITER"

func isDelimiterLine(rest string) bool {
	return len(rest) > len(delimiterWord) && strings.EqualFold(rest[:len(delimiterWord)], delimiterWord) && (rest[len(delimiterWord)] == ' ' || rest[len(delimiterWord)] == '\t')
}

func (s *splitter) setDelimiter() *splitProblem {
	line := s.src[s.pos : s.pos+lineLength(s.src[s.pos:])]
	fields := strings.Fields(line)
	if len(fields) < 2 || strings.Contains(fields[1], `\`) {
		return &splitProblem{s.pos, "DELIMITER needs a delimiter, and no backslash in it"}
	}
	s.delimiter = fields[1]
	s.pos += len(line)
	return nil
}

// refusedStatement says why a statement may not run: it reaches outside of the scratch database, needs a file, or brings rows from one.
func refusedStatement(text string) string {
	var words []string
	for _, t := range tokens(text) {
		words = append(words, strings.ToUpper(t.text))
	}
	first := append(slices.Clone(words), "", "", "", "")
	switch {
	case first[0] == "USE":
		return "USE leads to another database; a declared schema stands in the one database that it is applied to: leave the line out"
	case slices.Contains([]string{"CREATE", "ALTER", "DROP"}, first[0]) && (slices.ContainsFunc(first[1:3], isServerObject) || first[1] == "OR" && isServerObject(first[3])):
		return first[0] + " of a database, an account or the server reaches outside of the scratch database and is no part of a schema"
	case slices.Contains([]string{"GRANT", "REVOKE", "INSTALL", "UNINSTALL", "SHUTDOWN", "KILL", "CHANGE", "RESET", "PURGE", "FLUSH", "CLONE", "BINLOG", "RESTART"}, first[0]):
		return first[0] + " changes the server or its accounts and is no part of a schema"
	case first[0] == "LOAD", first[0] == "IMPORT", slices.Contains(words, "OUTFILE"), slices.Contains(words, "DUMPFILE"):
		return "reading and writing files is no part of a schema"
	case first[0] == "SET":
		return refusedSet(words)
	case namesOtherDatabase(tokens(text), words):
		return "the name has a database in front; a declared schema stands in the one database that it is applied to: leave the database out"
	}
	return ""
}

// namesOtherDatabase reports a statement whose own object is named with a database in front.
func namesOtherDatabase(toks []token, words []string) bool {
	if !slices.Contains([]string{"CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "INSERT", "REPLACE", "DELETE"}, first(words)) {
		return false
	}
	kinds := []string{"TABLE", "TABLES", "VIEW", "PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "SEQUENCE", "INTO", "FROM"}
	i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(kinds, w) })
	if i < 0 {
		return false
	}
	for i++; i < len(words) && slices.Contains([]string{"IF", "NOT", "EXISTS", "IGNORE"}, words[i]); i++ {
	}
	for i+1 < len(toks) && !toks[i].paren() {
		if toks[i+1].is(".") {
			return true
		}
		if !toks[i+1].is(",") || words[0] == "CREATE" {
			return false
		}
		i += 2
	}
	return false
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func isServerObject(word string) bool {
	return slices.Contains([]string{"DATABASE", "SCHEMA", "USER", "ROLE", "SERVER", "INSTANCE", "TABLESPACE", "UNDO", "LOGFILE", "RESOURCE"}, word)
}

func refusedSet(words []string) string {
	for i, w := range words {
		switch w {
		case "GLOBAL", "PERSIST", "PERSIST_ONLY", "PASSWORD", "ROLE":
			if i > 0 && (words[i-1] == "SET" || words[i-1] == "," || words[i-1] == "@" || words[i-1] == "DEFAULT") {
				return "SET " + w + " changes the server or the account and is no part of a schema"
			}
		case "NAMES", "CHARSET", "CHARACTER_SET_CLIENT", "CHARACTER_SET_RESULTS", "CHARACTER_SET_CONNECTION":
			value := strings.Join(words[i+1:], "")
			value = strings.Trim(strings.TrimLeft(value, "="), "'\"")
			if !strings.HasPrefix(value, "UTF8") && !strings.HasPrefix(value, "@") && value != "DEFAULT" {
				return "files are read as UTF-8: SET of another character set would change their text"
			}
		}
	}
	return ""
}

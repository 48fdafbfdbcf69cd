package postgres

import (
	"strings"
	"unicode/utf8"
)

// sqlStatement is one statement of a file, without its semicolon; start is its byte offset.
type sqlStatement struct {
	text  string
	start int
}

// splitter cuts a file into statements where psql would: at semicolons outside of quotes, comments, parentheses and the bodies of SQL
// routines.
type splitter struct {
	src   string
	pos   int
	start int // of the current statement; -1 before its first token
	words []string
	paren int
	block int // BEGIN ATOMIC … END
	out   []sqlStatement

	refuse func(text string) string
}

// splitProblem is a place in a file that no statement can be cut at.
type splitProblem struct {
	offset int
	text   string
}

// splitSQL returns the statements of a file, or the first problem. refuse is asked about every statement as soon as it is cut, because what
// follows a refused one (the rows of COPY) need not be SQL.
func splitSQL(src string, refuse func(text string) string) ([]sqlStatement, *splitProblem) {
	s := &splitter{src: src, start: -1, refuse: refuse}
	if strings.HasPrefix(src, "\uFEFF") {
		s.pos = len("\uFEFF")
	}
	for s.pos < len(src) {
		if problem := s.next(); problem != nil {
			return nil, problem
		}
	}
	return s.out, s.finish()
}

func (s *splitter) finish() *splitProblem {
	if s.start >= 0 {
		text := strings.TrimRight(s.src[s.start:s.pos], " \t\r\n")
		if reason := s.refuse(text); reason != "" {
			return &splitProblem{s.start, reason}
		}
		s.out = append(s.out, sqlStatement{text, s.start})
	}
	s.start, s.words, s.paren, s.block = -1, nil, 0, 0
	return nil
}

// token marks that the statement has begun.
func (s *splitter) token() {
	if s.start < 0 {
		s.start = s.pos
	}
}

func (s *splitter) next() *splitProblem {
	rest := s.src[s.pos:]
	switch c := rest[0]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
		s.pos++
		return nil
	case strings.HasPrefix(rest, "--"):
		s.pos += lineLength(rest)
		return nil
	case strings.HasPrefix(rest, "/*"):
		return s.comment()
	case c == '\\':
		return &splitProblem{s.pos, "psql meta-commands cannot be used: " + metaCommand(rest)}
	case c == ';' && s.paren == 0 && s.block == 0:
		problem := s.finish()
		s.pos++
		return problem
	}
	s.token()
	switch c := rest[0]; {
	case c == '\'' || c == '"':
		return s.quoted(c, c == '\'' && s.pos > 0 && (s.src[s.pos-1] == 'E' || s.src[s.pos-1] == 'e') && (s.pos == 1 || !isWord(s.src[s.pos-2])))
	case c == '$':
		return s.dollar()
	case isWord(c):
		s.word()
		return nil
	case c == '(':
		s.paren++
	case c == ')' && s.paren > 0:
		s.paren--
	}
	s.pos++
	return nil
}

func lineLength(rest string) int {
	if end := strings.IndexByte(rest, '\n'); end >= 0 {
		return end
	}
	return len(rest)
}

// metaCommand is the command's name alone: its arguments may hold a password.
func metaCommand(rest string) string {
	end := 1
	for end < len(rest) && end < 20 && rest[end] > ' ' {
		end++
	}
	return strings.ToValidUTF8(rest[:end], "")
}

func (s *splitter) comment() *splitProblem {
	start, depth := s.pos, 0
	for s.pos < len(s.src) {
		switch rest := s.src[s.pos:]; {
		case strings.HasPrefix(rest, "/*"):
			depth++
			s.pos += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			s.pos += 2
			if depth == 0 {
				return nil
			}
		default:
			s.pos++
		}
	}
	return &splitProblem{start, "the comment is not closed"}
}

func (s *splitter) quoted(quote byte, escapes bool) *splitProblem {
	start := s.pos
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case escapes && c == '\\':
			s.pos++
		case c == quote:
			// A doubled quote opens the next run at once, which reads the same.
			s.pos++
			if s.pos < len(s.src) && s.src[s.pos] == quote {
				continue
			}
			if next := continued(s.src, s.pos); escapes && next > 0 {
				s.pos = next
				continue
			}
			return nil
		}
	}
	s.pos = len(s.src)
	return &splitProblem{start, "the quote is not closed"}
}

// continued is where a string goes on that is closed before pos: its next quote on a later line, in which a backslash keeps its meaning; 0 where
// it does not.
func continued(src string, pos int) int {
	newline := false
	for pos < len(src) {
		switch rest := src[pos:]; {
		case rest[0] == '\n' || rest[0] == '\r':
			newline = true
			pos++
		case strings.IndexByte(" \t\f\v", rest[0]) >= 0:
			pos++
		case strings.HasPrefix(rest, "--"):
			pos += lineLength(rest)
		case rest[0] == '\'' && newline:
			return pos
		default:
			return 0
		}
	}
	return 0
}

// dollar reads $tag$ … $tag$, or a parameter.
func (s *splitter) dollar() *splitProblem {
	rest := s.src[s.pos:]
	end := 1
	for end < len(rest) && isWord(rest[end]) && rest[end] != '$' && (end > 1 || rest[end] < '0' || rest[end] > '9') {
		end++
	}
	if end >= len(rest) || rest[end] != '$' {
		s.pos++
		return nil
	}
	tag := rest[:end+1]
	closing := strings.Index(rest[len(tag):], tag)
	if closing < 0 {
		return &splitProblem{s.pos, "the quote " + tag + " is not closed"}
	}
	s.pos += 2*len(tag) + closing
	return nil
}

// word reads an identifier or a number and keeps the first ones of the statement, which say what it is.
func (s *splitter) word() {
	start := s.pos
	for s.pos < len(s.src) && isWord(s.src[s.pos]) {
		s.pos++
	}
	w := strings.ToUpper(s.src[start:s.pos])
	if len(s.words) < 4 {
		s.words = append(s.words, w)
	}
	if s.paren > 0 || !createsRoutine(s.words) {
		return
	}
	switch {
	case w == "BEGIN", w == "CASE" && s.block > 0:
		s.block++
	case w == "END" && s.block > 0:
		s.block--
	}
}

func createsRoutine(words []string) bool {
	if len(words) > 3 && words[1] == "OR" && words[2] == "REPLACE" {
		words = append([]string{words[0]}, words[3:]...)
	}
	return len(words) > 1 && words[0] == "CREATE" && (words[1] == "FUNCTION" || words[1] == "PROCEDURE")
}

// position is where a byte offset lies, line and column from 1, columns in characters.
func position(src string, offset int) (line, column int) {
	offset = min(max(offset, 0), len(src))
	before := src[:offset]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// keywords are the first words of a statement, upper case, for deciding what it is.
func keywords(text string, limit int) []string {
	var words []string
	for i := 0; i < len(text) && len(words) < limit; {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "--"):
			i += lineLength(text[i:])
		case strings.HasPrefix(text[i:], "/*"):
			s := splitter{src: text, pos: i}
			s.comment()
			i = s.pos
		case c == '\'' || c == '"':
			i = skipQuoted(text, i)
			words = append(words, string(c))
		case isWord(c):
			end := i
			for end < len(text) && isWord(text[end]) {
				end++
			}
			words = append(words, strings.ToUpper(text[i:end]))
			i = end
		default:
			i++
		}
	}
	return words
}

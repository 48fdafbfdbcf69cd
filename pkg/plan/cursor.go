package plan

import "strings"

// cursor walks over the lexemes of one statement.
type cursor struct {
	toks []lexeme
	pos  int
}

func (c *cursor) done() bool { return c.pos >= len(c.toks) }

func (c *cursor) peek() lexeme {
	if c.done() {
		return lexeme{kind: punct}
	}
	return c.toks[c.pos]
}

// keyword is the current word in upper case, or "".
func (c *cursor) keyword() string { return c.peek().upper }

// take moves over the given keywords if all of them come next.
func (c *cursor) take(keywords ...string) bool {
	for i, k := range keywords {
		if c.pos+i >= len(c.toks) || !c.toks[c.pos+i].is(k) {
			return false
		}
	}
	c.pos += len(keywords)
	return true
}

// takeAny moves over every one of the keywords, in any order and number.
func (c *cursor) takeAny(keywords ...string) {
	for again := true; again; {
		again = false
		for _, k := range keywords {
			if c.take(k) {
				again = true
			}
		}
	}
}

// object moves over a possibly qualified name and returns its parts.
func (c *cursor) object() (parts []string) {
	for c.peek().name() {
		parts = append(parts, c.peek().value)
		c.pos++
		if !c.peek().punct(".") {
			break
		}
		c.pos++
	}
	return parts
}

// seek moves just behind the first of the keywords outside of parentheses; false, and to the end, where there is none.
func (c *cursor) seek(keywords ...string) bool {
	for ; !c.done(); c.pos++ {
		tok := c.peek()
		if tok.depth != 0 || tok.kind != word {
			continue
		}
		for _, k := range keywords {
			if tok.upper == k {
				c.pos++
				return true
			}
		}
	}
	return false
}

// actions cuts the rest at the commas that no parenthesis surrounds.
func (c *cursor) actions() [][]lexeme {
	return split(c.toks[min(c.pos, len(c.toks)):], ",")
}

// split cuts lexemes at a punctuation mark outside parentheses.
func split(toks []lexeme, mark string) [][]lexeme {
	var out [][]lexeme
	start := 0
	for i, t := range toks {
		if t.depth == 0 && t.punct(mark) {
			out = append(out, toks[start:i])
			start = i + 1
		}
	}
	return append(out, toks[start:])
}

// has reports whether any of the keywords occurs at any depth.
func has(toks []lexeme, keywords ...string) bool {
	for _, t := range toks {
		for _, k := range keywords {
			if t.is(k) {
				return true
			}
		}
	}
	return false
}

// hasSequence reports whether the keywords occur one after another, at any depth.
func hasSequence(toks []lexeme, keywords ...string) bool {
	for i := range toks {
		c := cursor{toks, i}
		if c.take(keywords...) {
			return true
		}
	}
	return false
}

func qualified(parts []string) string { return strings.Join(parts, ".") }

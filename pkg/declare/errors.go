package declare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a source; lines and columns count from 1, columns in characters.
type Position struct {
	File         string
	Line, Column int
}

// String is file:line:column.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Compare orders positions by file, line and column.
func (p Position) Compare(o Position) int {
	return cmp.Or(cmp.Compare(p.File, o.File), cmp.Compare(p.Line, o.Line), cmp.Compare(p.Column, o.Column))
}

// Error is one fault of a declaration.
type Error struct {
	At   Position
	Text string
}

// Error is the place and the fault, on one line.
func (e *Error) Error() string { return e.At.String() + ": " + e.Text }

// bag gathers faults, so that a person sees more than the first one.
type bag struct {
	found []*Error
	seen  map[Error]bool
}

func (b *bag) add(at Position, format string, args ...any) {
	e := Error{At: at, Text: oneLine(fmt.Sprintf(format, args...))}
	if b.seen == nil {
		b.seen = map[Error]bool{}
	}
	if b.seen[e] || len(b.found) >= maxErrors {
		return
	}
	b.seen[e] = true
	b.found = append(b.found, &e)
}

// full says that there is no use in reading on.
func (b *bag) full() bool { return len(b.found) >= maxErrors }

// err joins what was found, in the order of the sources.
func (b *bag) err() error {
	if len(b.found) == 0 {
		return nil
	}
	slices.SortStableFunc(b.found, func(a, c *Error) int { return a.At.Compare(c.At) })
	all := make([]error, len(b.found))
	for i, e := range b.found {
		all[i] = e
	}
	return errors.Join(all...)
}

// oneLine keeps what a source says from breaking out of the message.
func oneLine(s string) string {
	const limit = 600
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

// oneOf lists what is allowed.
func oneOf(words []string) string {
	sorted := slices.Sorted(slices.Values(words))
	return strings.Join(sorted, ", ")
}

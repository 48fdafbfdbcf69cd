// Package plandiff says what changed between two stored plans, statement by statement: what was added, what is gone, what was changed in
// place and what only moved.
package plandiff

import (
	"strings"
	"unicode"

	"github.com/ptah-run/ptah/pkg/plan"
)

// Change is what became of a statement.
type Change string

// Changes.
const (
	Same    Change = "same"
	Added   Change = "added"
	Removed Change = "removed"
	Changed Change = "changed" // the same object, another statement or another rating
	Moved   Change = "moved"   // the same statement elsewhere in the order
)

// Entry is one statement of either plan. From and To are its positions, counted from 1; 0 is in neither.
type Entry struct {
	Change   Change
	From, To int
	Old, New *plan.Statement
}

// Statements compares two documents. The entries are in the order of the new plan; what is gone stands before what stayed after it, or last.
func Statements(from, to plan.Document) []Entry {
	old, now := keysOf(from), keysOf(to)
	pairs := longest(old, now)
	pairMoved(old, now, pairs)
	pairChanged(from, to, pairs)
	return merge(from, to, pairs)
}

// pairing maps positions of the old plan to the new and back; absent is without a partner.
type pairing struct {
	kept         map[int]int // in order
	moved        map[int]int
	changed      map[int]int
	fromA, fromB map[int]bool // taken positions
}

func (p *pairing) take(into map[int]int, a, b int) {
	into[a] = b
	p.fromA[a], p.fromB[b] = true, true
}

func keysOf(d plan.Document) []string {
	keys := make([]string, len(d.Statements))
	for i, s := range d.Statements {
		keys[i] = Normal(s.SQL)
	}
	return keys
}

// maxTable bounds the table of the comparison; larger middles are compared by what is equal, and not by the best order.
const maxTable = 4 << 20

// longest pairs the longest common subsequence, after what both begin and end with.
func longest(a, b []string) *pairing {
	p := &pairing{kept: map[int]int{}, moved: map[int]int{}, changed: map[int]int{}, fromA: map[int]bool{}, fromB: map[int]bool{}}
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		p.take(p.kept, start, start)
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
		p.take(p.kept, endA, endB)
	}
	if n, m := endA-start, endB-start; n*m <= maxTable {
		common(p, a[start:endA], b[start:endB], start)
	}
	return p
}

// common is the textbook table over the middle.
func common(p *pairing, a, b []string, offset int) {
	table := make([][]int32, len(a)+1)
	for i := range table {
		table[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			p.take(p.kept, i+offset, j+offset)
			i, j = i+1, j+1
		case table[i+1][j] >= table[i][j+1]:
			i++
		default:
			j++
		}
	}
}

// pairMoved pairs what is equal and left over.
func pairMoved(a, b []string, p *pairing) {
	free := map[string][]int{}
	for j, key := range b {
		if !p.fromB[j] {
			free[key] = append(free[key], j)
		}
	}
	for i, key := range a {
		if list := free[key]; !p.fromA[i] && len(list) > 0 {
			p.take(p.moved, i, list[0])
			free[key] = list[1:]
		}
	}
}

// pairChanged pairs what is left over and about the same thing: kind and object first, then the object alone.
func pairChanged(from, to plan.Document, p *pairing) {
	for _, subject := range []func(plan.Statement) string{
		func(s plan.Statement) string { return s.Kind + "\x00" + s.Object },
		func(s plan.Statement) string { return s.Object },
	} {
		free := map[string][]int{}
		for j, s := range to.Statements {
			if !p.fromB[j] && s.Object != "" {
				free[subject(s)] = append(free[subject(s)], j)
			}
		}
		for i, s := range from.Statements {
			if list := free[subject(s)]; !p.fromA[i] && s.Object != "" && len(list) > 0 {
				p.take(p.changed, i, list[0])
				free[subject(s)] = list[1:]
			}
		}
	}
}

// merge puts the entries in the order of the new plan, and what is gone after what stood before it.
func merge(from, to plan.Document, p *pairing) []Entry {
	back := map[int]int{}
	for _, m := range []map[int]int{p.kept, p.moved, p.changed} {
		for a, b := range m {
			back[b] = a
		}
	}
	var entries []Entry
	next := 0 // first position of the old plan that was not told yet
	gone := func(until int) {
		for ; next < until; next++ {
			if !p.fromA[next] {
				entries = append(entries, Entry{Change: Removed, From: next + 1, Old: &from.Statements[next]})
			}
		}
	}
	for j := range to.Statements {
		a, paired := back[j]
		if !paired {
			entries = append(entries, Entry{Change: Added, To: j + 1, New: &to.Statements[j]})
			continue
		}
		if _, kept := p.kept[a]; kept {
			gone(a)
		}
		entries = append(entries, Entry{Change: kind(p, a, j, from, to), From: a + 1, To: j + 1, Old: &from.Statements[a], New: &to.Statements[j]})
	}
	gone(len(from.Statements))
	return entries
}

// kind tells a paired statement's change. One that reads the same may still be rated otherwise.
func kind(p *pairing, a, b int, from, to plan.Document) Change {
	if _, changed := p.changed[a]; changed {
		return Changed
	}
	old, now := from.Statements[a], to.Statements[b]
	old.SQL, now.SQL = "", ""
	if old != now {
		return Changed
	}
	if _, moved := p.moved[a]; moved {
		return Moved
	}
	return Same
}

// Normal folds what does not change a statement: white space outside of quotes, and the closing semicolon. Letters stay as they are, for
// in a quoted word, and to some servers in a bare one, their case is content.
func Normal(sql string) string {
	var out strings.Builder
	var quote rune
	space := false
	for _, r := range strings.TrimRight(strings.TrimSpace(sql), "; \t\r\n") {
		switch {
		case quote != 0:
			out.WriteRune(r)
			if r == quote {
				quote = 0
			}
			continue
		case unicode.IsSpace(r):
			space = true
			continue
		case r == '\'' || r == '"' || r == '`':
			quote = r
		case r == '$' || r == '-' || r == '/' || r == '#' || r == '\\':
			// Dollar quotes, comments and escapes make white space count in ways that only a full reader knows.
			return strings.TrimSpace(sql)
		}
		if space && out.Len() > 0 {
			out.WriteByte(' ')
		}
		space = false
		out.WriteRune(r)
	}
	return out.String()
}

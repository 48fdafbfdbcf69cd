// Package scope decides which objects of a database are managed: everything that no exclude selector names.
//
// A selector is `name`, `schema.name` or `schema.*`, where `*` stands for any run of characters and `?` for one. A part in double quotes
// is literal, so that names with dots or stars can be written. `[type=table]`, or several types joined by `|`, narrows it to kinds.
// Names are compared exactly, never folded. A one-part selector without a type matches the bare name of any object, and a schema together
// with its contents; with `[type=schema]` it matches the schema itself and not its contents. `schema.*` matches the contents and not the schema.
// Whatever belongs to an excluded table (its triggers, policies, owned sequences) is excluded with it.
package scope

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// maxSelector bounds one selector, in bytes.
const maxSelector = 512

type selector struct {
	schema glob // nil for a one-part selector
	name   glob
	kinds  []string // nil for all
}

// token is one element of a glob: a literal character, any one (anyOne) or any run (anyRun).
type token rune

const (
	anyOne token = -1
	anyRun token = -2
)

type glob []token

// match walks both sides once and goes back only to the last run, so that no selector can be slow.
func (g glob) match(name string) bool {
	text := []rune(name)
	i, j, run, mark := 0, 0, -1, 0
	for j < len(text) {
		switch {
		case i < len(g) && g[i] == anyRun:
			run, mark = i, j
			i++
		case i < len(g) && (g[i] == anyOne || g[i] == token(text[j])):
			i++
			j++
		case run >= 0:
			mark++
			i, j = run+1, mark
		default:
			return false
		}
	}
	for i < len(g) && g[i] == anyRun {
		i++
	}
	return i == len(g)
}

// parseSelector reads one selector; the error names what is wrong with it.
func parseSelector(text string) (selector, error) {
	if text == "" || len(text) > maxSelector || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		return selector{}, fmt.Errorf("is empty, longer than %d bytes or not one line of text", maxSelector)
	}
	first, rest, err := parsePart(text)
	if err != nil {
		return selector{}, err
	}
	s := selector{name: first}
	if after, ok := strings.CutPrefix(rest, "."); ok {
		s.schema = first
		if s.name, rest, err = parsePart(after); err != nil {
			return selector{}, err
		}
	}
	if strings.HasPrefix(rest, ".") {
		return selector{}, fmt.Errorf("has more than two parts: schemas and the objects in them can be excluded, parts of tables cannot")
	}
	if s.kinds, err = parseKinds(rest); err != nil {
		return selector{}, err
	}
	return s, nil
}

func parsePart(text string) (glob, string, error) {
	var g glob
	if rest, ok := strings.CutPrefix(text, `"`); ok {
		for rest != "" {
			if strings.HasPrefix(rest, `""`) {
				g, rest = append(g, '"'), rest[2:]
				continue
			}
			r, n := utf8.DecodeRuneInString(rest)
			rest = rest[n:]
			if r == '"' {
				if len(g) == 0 {
					return nil, "", fmt.Errorf("has an empty part")
				}
				return g, rest, nil
			}
			g = append(g, token(r))
		}
		return nil, "", fmt.Errorf("has a quote that is not closed")
	}
	for i, r := range text {
		switch r {
		case '.', '[':
			text = text[i:]
			if len(g) == 0 {
				return nil, "", fmt.Errorf("has an empty part")
			}
			return g, text, nil
		case '*':
			if len(g) == 0 || g[len(g)-1] != anyRun {
				g = append(g, anyRun)
			}
		case '?':
			g = append(g, anyOne)
		case '"', ']':
			return nil, "", fmt.Errorf("has a stray %q", r)
		default:
			g = append(g, token(r))
		}
	}
	if len(g) == 0 {
		return nil, "", fmt.Errorf("has an empty part")
	}
	return g, "", nil
}

func parseKinds(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	list, ok := strings.CutPrefix(text, "[type=")
	list, closed := strings.CutSuffix(list, "]")
	if !ok || !closed {
		return nil, fmt.Errorf("ends in something that is not [type=…]")
	}
	var kinds []string
	for name := range strings.SplitSeq(list, "|") {
		kind := strings.ReplaceAll(name, "_", " ")
		if !slices.Contains(knownKinds(), kind) {
			return nil, fmt.Errorf("names the unknown type %q", name)
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

func knownKinds() []string {
	return append(append(model.UnmodelledKinds(), model.DefinitionKinds()...), model.Kinds()...)
}

func (s selector) hasKind(kind string) bool { return s.kinds == nil || slices.Contains(s.kinds, kind) }

// matches reports whether the selector names an object of that kind.
func (s selector) matches(kind, schema, name string) bool {
	if s.schema != nil {
		return s.hasKind(kind) && schema != "" && s.schema.match(schema) && s.name.match(name)
	}
	if s.hasKind(kind) && s.name.match(name) {
		return true
	}
	return s.kinds == nil && schema != "" && s.name.match(schema)
}

// matchesSchema reports whether the selector names a schema itself.
func (s selector) matchesSchema(name string) bool {
	return s.schema == nil && s.hasKind(model.KindSchema) && s.name.match(name)
}

package mysql

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// renameDirective stands on a line of its own above CREATE TABLE, or above a column or an index of it.
var renameDirective = regexp.MustCompile(`(?m)^[ \t]*--[ \t]+\+ptah[ \t]+renamed_from=([^\r\n]*?)[ \t]*\r?$`)

const directivePlaces = "renamed_from stands above CREATE TABLE or above a column or an index of it, and names what it was"

// renames reads the directives of a file: each is about what begins on the next line that is neither empty nor a comment.
func (l *loader) renames(statements []sqlStatement) error {
	for _, m := range renameDirective.FindAllStringSubmatchIndex(l.src, -1) {
		ahead := firstTokens(l.src[m[1]:], 3)
		if len(ahead) == 0 {
			return l.fault(nil, m[0], directivePlaces)
		}
		start := m[1] + ahead[0].start
		i := slices.IndexFunc(statements, func(s sqlStatement) bool { return s.start <= start && start < s.start+len(s.text) })
		r := contract.Rename{From: bareName(l.src[m[2]:m[3]]), At: l.place(m[0])}
		if i < 0 || r.From == "" {
			return l.fault(nil, m[0], directivePlaces)
		}
		made := parseCreate(statements[i].text)
		if made.kind != "TABLE" {
			return l.fault(nil, m[0], directivePlaces)
		}
		r.Table = model.Name{Name: made.name}
		if start > statements[i].start {
			r.Column, r.Index = columnOrIndex(ahead)
		}
		l.found = append(l.found, r)
	}
	return nil
}

// columnOrIndex is the name at the beginning of an item between the parentheses of CREATE TABLE.
func columnOrIndex(toks []token) (column, index string) {
	words := toks
	if isAnyWord(toks[0], "UNIQUE", "FULLTEXT", "SPATIAL") {
		words = toks[1:]
	}
	if len(words) > 0 && isAnyWord(words[0], "KEY", "INDEX") {
		words = words[1:]
	} else if len(words) == len(toks) {
		return bareName(toks[0].text), ""
	}
	if len(words) == 0 || words[0].paren() {
		return bareName(toks[0].text), "" // the server makes a name up, which nobody can have meant
	}
	return "", bareName(words[0].text)
}

func isAnyWord(t token, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(t.text, w) })
}

// bareName takes the quotes off a name, where it has some.
func bareName(text string) string {
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
	}
	return unquote(text)
}

// setRenames notes the declared renames in the model that was read back.
func (s *session) setRenames(db *model.Database, renames []contract.Rename) error {
	for _, r := range renames {
		t := tableNamed(db, r.Table)
		if t == nil && s.foldsNames {
			t = tableNamed(db, model.Name{Name: strings.ToLower(r.Table.Name)})
		}
		var from *string
		switch {
		case t == nil:
			return placeFault(nil, r.At, "renamed_from is for a table that does not exist in the end", "")
		case r.Column != "":
			if c := columnNamed(t, r.Column); c != nil {
				from = &c.RenamedFrom
			}
		case r.Index != "":
			if x := indexNamed(t, r.Index); x != nil {
				from = &x.RenamedFrom
			}
		default:
			from = &t.RenamedFrom
		}
		if from == nil {
			return placeFault(nil, r.At, "renamed_from is for a column or an index that does not exist in the end", "")
		}
		*from = r.From
	}
	return nil
}

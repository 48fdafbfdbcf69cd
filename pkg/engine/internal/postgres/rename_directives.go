package postgres

import (
	"context"
	"regexp"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// renameDirective stands on a line of its own above CREATE TABLE or above a column.
var renameDirective = regexp.MustCompile(`(?m)^[ \t]*--[ \t]*\+ptah[ \t]+renamed_from=([^\r\n]*?)[ \t]*\r?$`)

// foundDirective is a directive of a file and what it is about; a statement of -1 has nothing below it.
type foundDirective struct {
	offset, statement int
	column, from      string
}

// findDirectives matches each directive with the table or column on the next line that is neither empty nor a comment.
func findDirectives(src string, statements []sqlStatement) []foundDirective {
	var out []foundDirective
	for _, m := range renameDirective.FindAllStringSubmatchIndex(src, -1) {
		t := tokens{src: src, pos: m[1]}
		text := t.text() // skips blanks and comments
		d := foundDirective{offset: m[0], statement: -1, from: unquoteDirective(src[m[2]:m[3]])}
		for i, s := range statements {
			if !strings.Contains(strings.Join(keywords(s.text, 4), " ")+" ", " TABLE ") {
				continue
			}
			switch {
			case t.pos == s.start && text != "":
				d.statement = i
			case t.pos > s.start && t.pos < s.start+len(s.text) && text != "":
				d.statement, d.column = i, fold(text)
			}
		}
		out = append(out, d)
	}
	return out
}

func unquoteDirective(name string) string {
	if strings.HasPrefix(name, `"`) && strings.HasSuffix(name, `"`) && len(name) > 1 {
		return unquote(name)
	}
	return name
}

// renames resolves the directives of one statement, in the session that runs it.
func (l *loader) renames(ctx context.Context, s *session, index int, statement sqlStatement) error {
	for _, d := range l.directives {
		if d.statement != index {
			continue
		}
		made := parseCreate(statement.text)
		if made.class != relationClass {
			return l.fault(nil, d.offset, "renamed_from stands above CREATE TABLE or above a column of it")
		}
		if made.name.Schema == "" {
			if err := s.conn.QueryRow(ctx, "SELECT coalesce(current_schema(), '')").Scan(&made.name.Schema); err != nil {
				return queryFault(ctx, err, "running "+l.file)
			}
		}
		l.found = append(l.found, contract.Rename{Table: made.name, Column: d.column, From: d.from, At: l.place(d.offset)})
	}
	return nil
}

// setRenames notes the declared renames in the model that was read back.
func setRenames(db *model.Database, renames []contract.Rename) error {
	for _, r := range renames {
		t := db.Table(r.Table)
		if t == nil {
			return placeFault(nil, r.At, "renamed_from is for a table that does not exist in the end", "")
		}
		if r.Column == "" {
			t.RenamedFrom = r.From
			continue
		}
		c := t.Column(r.Column)
		if c == nil {
			return placeFault(nil, r.At, "renamed_from is for a column that does not exist in the end", "")
		}
		c.RenamedFrom = r.From
	}
	return nil
}

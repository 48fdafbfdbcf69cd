package mysql

import (
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

func refuseObject(format string, args ...any) error {
	return fault.New(frame.CodeUnsupportedObject, format, args...)
}

// refuse names what differs and cannot be converged.
func (p *planner) refuse() error {
	if err := contract.RefuseUnmodelled("the declared schema", p.to); err != nil {
		return err
	}
	if err := contract.RefuseUnmodelled("the database", p.from); err != nil {
		return err
	}
	for _, c := range p.diff.Sequences {
		if c.Old != nil && c.New != nil && c.Old.Type != c.New.Type {
			return refuseObject("sequence %q changes its type from %s to %s, which the server has no statement for: drop it and declare another", c.New.Name.Name, c.Old.Type, c.New.Type)
		}
	}
	for i := range p.diff.Tables {
		t := &p.diff.Tables[i]
		if err := refuseVersions(t); err != nil {
			return err
		}
		for _, c := range t.Columns {
			if c.Old != nil && c.New != nil && !convertible(c.Old.Type, c.New.Type) && (isShape(typeWord(c.Old.Type)) || isShape(typeWord(c.New.Type))) {
				return refuseObject("column %q of table %q changes from %s to %s, which the server has no conversion for: drop the column and declare another", c.New.Name, t.New.Name.Name, c.Old.Type, c.New.Type)
			}
		}
	}
	for _, c := range p.diff.Definitions {
		if c.New == nil {
			continue
		}
		for _, property := range c.New.Properties {
			if property.Name == "character_set_client" && !isASCII(c.New.Create) && !strings.Contains(property.Set, "'utf8") {
				return refuseObject("%s %q was written in a character set of its own and holds text that is not ASCII: declare it in a file in UTF-8", c.New.Kind, c.New.Name)
			}
		}
	}
	return nil
}

// refuseVersions refuses what the server does not change of a table with system versioning.
func refuseVersions(t *diff.TableChange) error {
	if t.Old == nil || t.New == nil || !t.Old.MySQLPart().Versioned || !t.New.MySQLPart().Versioned {
		return nil
	}
	o, n := t.Old.MySQLPart(), t.New.MySQLPart()
	const advice = "take the versioning off in a step of its own"
	switch {
	case o.Engine != n.Engine:
		return refuseObject("table %q has system versioning and is declared with another engine, which the server refuses: %s", t.New.Name.Name, advice)
	case systemPeriod(o) == "" && systemPeriod(n) != "":
		return refuseObject("table %q has system versioning and is declared with columns for its period, which the server cannot add any more: %s", t.New.Name.Name, advice)
	}
	for _, c := range t.Columns {
		if c.Old != nil && c.New != nil && c.New.MySQLPart().RowPeriod != "" && c.Old.MySQLPart().RowPeriod == c.New.MySQLPart().RowPeriod {
			return refuseObject("column %q of table %q is a part of the system period and declared otherwise, which the server has no statement for: %s", c.New.Name, t.New.Name.Name, advice)
		}
	}
	return nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f })
}

// refuseHeldBack names what an excluded table holds back: the plan never touches what is excluded.
func (p *planner) refuseHeldBack() error {
	for i := range p.excluded.Tables {
		t := &p.excluded.Tables[i]
		for j := range t.Constraints {
			c := &t.Constraints[j]
			if c.Kind != model.ForeignKey || p.from.Table(c.Reference.Table) == nil {
				continue
			}
			o, n := p.from.Table(c.Reference.Table), p.to.Table(c.Reference.Table)
			if n == nil || p.loses(o, n, c.Reference.Columns) {
				return refuseObject("foreign key %q of the excluded table %q points to table %q, which the plan would drop or change under it: the plan never touches what is excluded",
					c.Name, t.Name.Name, c.Reference.Table.Name)
			}
		}
	}
	return nil
}

// checkServer refuses a declared schema that this server cannot have written: it would never read the same.
func (s *session) checkServer(desired *model.Database) error {
	if desired.Server != s.server.name {
		return fault.New(frame.CodeDesiredSchemaInvalid, "the declared schema is in the words of %s and the database is %s: publish it again with a dev database of the same kind", titleOf(desired.Server), s.server.title)
	}
	if len(desired.Rows) > 0 {
		return refuseObject("the rows of table %q are declared, and rows are managed on PostgreSQL only: declare the table without them", desired.Rows[0].Table.Name)
	}
	if !s.foldsNames {
		return nil
	}
	for i := range desired.Tables {
		if name := desired.Tables[i].Name.Name; name != strings.ToLower(name) {
			return refuseObject("table %q is declared with upper-case letters, and the server folds the names of tables (lower_case_table_names): declare it in lower case", name)
		}
	}
	return nil
}

func titleOf(name string) string {
	for i := range servers {
		if servers[i].name == name {
			return servers[i].title
		}
	}
	return "another server"
}

package postgres

import (
	"slices"
	"strings"

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
	if err := contract.RefuseUnmodelled("the database", p.refusable()); err != nil {
		return err
	}
	if err := p.refuseRelations(); err != nil {
		return err
	}
	for _, c := range p.diff.Extensions {
		if err := p.refuseExtension(c); err != nil {
			return err
		}
	}
	return nil
}

// refuseHeldBack names what an excluded table holds back: the plan never cascades.
func (p *planner) refuseHeldBack() error {
	if err := p.refuseHeldDefinitions(); err != nil {
		return err
	}
	if err := p.refuseTies(); err != nil {
		return err
	}
	for i := range p.excluded.Tables {
		t := &p.excluded.Tables[i]
		for j := range t.Constraints {
			c := &t.Constraints[j]
			if c.Kind == model.ForeignKey && p.referenceGoes(c.Reference) {
				return refuseObject("foreign key %q of the excluded table %q.%q points to table %q.%q, which the plan would drop or change under it: the plan never cascades into what is excluded",
					c.Name, t.Schema, t.Name.Name, c.Reference.Table.Schema, c.Reference.Table.Name)
			}
		}
	}
	if err := p.refuseHeldChildren(); err != nil {
		return err
	}
	return p.refuseHeldTypes()
}

func (p *planner) referenceGoes(r *model.Reference) bool {
	if p.from.Table(r.Table) == nil {
		return false
	}
	for _, column := range r.Columns {
		if p.columnGoes(model.ColumnRef{Table: r.Table, Column: column}) || p.columnMoves(r.Table, column) {
			return true
		}
	}
	return p.keyGoes(r)
}

// refuseFreshValues finds statements that use an enum value which the same plan adds: the server allows that only after a COMMIT.
func (p *planner) refuseFreshValues(steps []step) error {
	for _, c := range p.diff.Enums {
		if c.Old == nil || c.New == nil {
			continue
		}
		for _, v := range c.New.Values {
			if slices.Contains(c.Old.Values, v) {
				continue
			}
			for _, s := range steps {
				if s.Kind != "add_enum_value" && s.Kind != "set_comment" && !hasStringBody(s) && (p.isRowOf(s, c.New.Name) || mentionsType(s.SQL, c.New.Name)) && holdsLiteral(s.SQL, v) {
					return refuseObject("enum %q.%q gains the value %q and %s uses it at once: PostgreSQL allows that only in a later transaction; publish the value first, then its use",
						c.New.Schema, c.New.Name.Name, v, s.Object)
				}
			}
		}
	}
	return nil
}

// hasStringBody reports a routine whose body the server does not read while it creates it.
func hasStringBody(s step) bool {
	_, what, _ := strings.Cut(s.Kind, "_")
	return isRoutine(strings.ReplaceAll(what, "_", " ")) && strings.Contains(s.SQL, "\nAS ")
}

// isRowOf reports a statement for managed rows of a table that has the enum.
func (p *planner) isRowOf(s step, enum model.Name) bool {
	if !strings.HasSuffix(s.Kind, "_row") && !strings.HasSuffix(s.Kind, "_rows") {
		return false
	}
	t := p.to.Table(s.table)
	return t != nil && tableMentions(t, []model.Name{enum}, func(string) bool { return false })
}

func mentionsType(sql string, name model.Name) bool {
	found := map[model.Name]bool{}
	qualifiedNames(sql, found)
	return found[name]
}

// holdsLiteral errs on the side of yes: some literal holds the text.
func holdsLiteral(sql, value string) bool {
	for i := 0; i < len(sql); {
		switch sql[i] {
		case '\'':
			end := skipQuoted(sql, i)
			if strings.Contains(sql[i:end], strings.Trim(literal(value), "'")) {
				return true
			}
			i = end
		case '"':
			i = skipQuoted(sql, i)
		default:
			i++
		}
	}
	return false
}

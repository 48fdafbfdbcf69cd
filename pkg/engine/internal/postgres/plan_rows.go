package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// rowsPerInsert bounds one INSERT.
const rowsPerInsert = 100

// planRows plans the reference data that differs. Only declared values stand in the statements: rows that nobody declares are described by the
// keys that they do not have.
func (p *planner) planRows() error {
	var tables []*model.Table
	for _, c := range p.diff.Rows {
		if c.New != nil {
			tables = append(tables, p.to.Table(c.New.Table))
		}
	}
	ordered := parentsFirst(tables)
	for _, t := range ordered {
		if err := p.tableRows(t, p.from.RowsOf(t.Name), p.to.RowsOf(t.Name)); err != nil {
			return err
		}
	}
	slices.Reverse(p.phases[phaseDeleteRows])
	return nil
}

func (p *planner) tableRows(t *model.Table, o, n *model.RowSet) error {
	live := map[string][]*string{}
	if o != nil {
		for _, row := range o.Rows {
			key := o.KeyOf(row)
			if _, twice := live[key]; twice {
				return refuseObject("table %q.%q has two rows with the same key (%s), so that its managed rows cannot be told apart: remove one", t.Schema, t.Name.Name, strings.Join(n.Keys, ", "))
			}
			live[key] = row
		}
	}
	fresh := p.freshValues(t, n)
	var missing [][]*string
	for _, row := range n.Rows {
		old, exists := live[n.KeyOf(row)]
		if !exists {
			missing = append(missing, row)
			continue
		}
		delete(live, n.KeyOf(row))
		p.updateRow(t, n, old, row, fresh)
	}
	atOnce := rowsPerInsert
	if pointsToItself(t) {
		atOnce = max(len(missing), 1) // the server looks for the other end after the statement
	}
	for part := range slices.Chunk(missing, atOnce) {
		p.insertRows(t, n, part)
	}
	if len(live) > 0 {
		p.deleteRows(t, n, len(live))
	}
	return nil
}

// freshValues are the columns whose old values say nothing of those after the plan's other statements: columns that come, are built again or change
// their type.
func (p *planner) freshValues(t *model.Table, n *model.RowSet) map[string]bool {
	fresh := map[string]bool{}
	o := p.from.Table(t.Name)
	for _, name := range n.Columns {
		if o == nil || o.Column(name) == nil || !p.sameButAside(o.Column(name).Type, t.Column(name).Type) || p.rebuilt[model.ColumnRef{Table: t.Name, Column: name}] {
			fresh[name] = true
		}
	}
	return fresh
}

func sameValue(a, b *string) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

func valueSQL(v *string) string {
	if v == nil {
		return "NULL"
	}
	return literal(*v)
}

func (p *planner) updateRow(t *model.Table, n *model.RowSet, old, row []*string, fresh map[string]bool) {
	var set, where []string
	for i, name := range n.Columns {
		switch {
		case i < len(n.Keys):
			where = append(where, ident(name)+" = "+valueSQL(row[i]))
		case fresh[name] || !sameValue(old[i], row[i]):
			set = append(set, ident(name)+" = "+valueSQL(row[i]))
		}
	}
	if len(set) == 0 {
		return
	}
	p.rowStep(phaseUpdateRows, t, plan.Statement{
		SQL:      fmt.Sprintf("UPDATE %s SET %s WHERE %s", qualified(t.Name), strings.Join(set, ", "), strings.Join(where, " AND ")),
		Severity: diff.Destructive, Kind: "update_row", Reason: "a managed row has other values", Hazard: "the values that stand there are lost",
	})
}

func (p *planner) insertRows(t *model.Table, n *model.RowSet, rows [][]*string) {
	p.rowStep(phaseInsertRows, t, plan.Statement{
		SQL:      insertSQL(t, n.Columns, rows),
		Severity: diff.Safe, Kind: "insert_rows", Reason: fmt.Sprintf("%s declared and missing", counted(len(rows), "managed row is", "managed rows are")),
	})
}

// deleteRows takes out what nobody declares, without naming it.
func (p *planner) deleteRows(t *model.Table, n *model.RowSet, count int) {
	sql := "DELETE FROM " + qualified(t.Name)
	if len(n.Rows) > 0 {
		keys := make([]string, len(n.Rows))
		for i, row := range n.Rows {
			list := make([]string, len(n.Keys))
			for j := range list {
				list[j] = valueSQL(row[j])
			}
			keys[i] = strings.Join(list, ", ")
			if len(list) > 1 {
				keys[i] = "(" + keys[i] + ")"
			}
		}
		left := idents(n.Keys)
		if len(n.Keys) > 1 {
			left = "(" + left + ")"
		}
		sql += fmt.Sprintf(" WHERE %s NOT IN (%s)", left, strings.Join(keys, ", "))
	}
	p.rowStep(phaseDeleteRows, t, plan.Statement{
		SQL: sql, Severity: diff.Destructive, Kind: "delete_rows", Reason: fmt.Sprintf("%s in the table and not declared", counted(count, "row is", "rows are")),
		Hazard: hazardLostRows + p.followers(t),
	})
}

// followers says what else the foreign keys to a table change when its rows go.
func (p *planner) followers(t *model.Table) string {
	var names []string
	for i := range p.to.Tables {
		child := &p.to.Tables[i]
		for j := range child.Constraints {
			c := &child.Constraints[j]
			if c.Kind == model.ForeignKey && c.Reference.Table == t.Name && (c.Reference.OnDelete == "CASCADE" || strings.HasPrefix(c.Reference.OnDelete, "SET")) {
				names = append(names, display(child.Schema, child.Name.Name)+" (ON DELETE "+c.Reference.OnDelete+")")
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; rows that point to them change too: " + strings.Join(slices.Compact(names), ", ")
}

func (p *planner) rowStep(ph phase, t *model.Table, s plan.Statement) {
	s.Object, s.Lock = display(t.Schema, t.Name.Name), "ROW EXCLUSIVE"
	p.add(ph, step{table: t.Name, Statement: s})
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

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
	var all []*rowChanges
	for _, t := range parentsFirst(tables) {
		c, err := p.changesOf(t, p.from.RowsOf(t.Name), p.to.RowsOf(t.Name))
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	if err := orderRows(all); err != nil {
		return err
	}
	for _, c := range all {
		p.tableRows(c)
	}
	slices.Reverse(p.phases[phaseDeleteRowsFirst])
	slices.Reverse(p.phases[phaseDeleteRows])
	return nil
}

func (p *planner) tableRows(c *rowChanges) {
	for _, x := range c.changed {
		p.updateRow(c, x)
	}
	atOnce := rowsPerInsert
	if pointsToItself(c.table) {
		atOnce = max(len(c.missing), 1) // the server looks for the other end after the statement
	}
	for part := range slices.Chunk(c.missing, atOnce) {
		p.insertRows(c.table, c.set, part)
	}
	if len(c.gone) > 0 {
		p.deleteRows(c)
	}
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

func (p *planner) updateRow(c *rowChanges, x *changedRow) {
	var set, where []string
	for i, name := range c.set.Columns {
		switch {
		case i < len(c.set.Keys):
			where = append(where, ident(name)+" = "+valueSQL(x.row[i]))
		case c.sets(i, x.old, x.row):
			set = append(set, ident(name)+" = "+valueSQL(x.row[i]))
		}
	}
	ph := phaseUpdateRows
	if x.first {
		ph = phaseUpdateRowsFirst
	}
	p.rowStep(ph, c.table, plan.Statement{
		SQL:      fmt.Sprintf("UPDATE %s SET %s WHERE %s", qualified(c.table.Name), strings.Join(set, ", "), strings.Join(where, " AND ")),
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
func (p *planner) deleteRows(c *rowChanges) {
	t, n, count := c.table, c.set, len(c.gone)
	ph := phaseDeleteRows
	if c.goneFirst {
		ph = phaseDeleteRowsFirst
	}
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
	p.rowStep(ph, t, plan.Statement{
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

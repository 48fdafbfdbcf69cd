package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// fromParents is where the constraints and indexes go that a table has from its parents.
func (r *reader) fromParents(n model.Name) *model.Table {
	t := r.inherited[n]
	if t == nil {
		t = &model.Table{Name: n}
		r.inherited[n] = t
	}
	return t
}

// mark notes that a table is clustered by an index, or that the index identifies its rows to replicas.
func mark(t *model.Table, index, marks string) {
	if strings.Contains(marks, "c") {
		t.Cluster = index
	}
	if strings.Contains(marks, "r") {
		t.ReplicaIndex = index
	}
}

func (r *reader) readParents(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var oid uint32
		var parent model.Name
		if err := rows.Scan(&oid, &parent.Schema, &parent.Name); err != nil {
			return err
		}
		if t := r.tables[oid]; t.Partition != nil {
			t.Partition.Parent = parent
		} else {
			t.Inherits = append(t.Inherits, parent)
		}
		return nil
	}, parentsQuery, r.oids)
}

func (r *reader) readNotNulls(ctx context.Context) error {
	if r.session.major < 18 {
		return nil
	}
	return r.each(ctx, func(rows pgx.Rows) error {
		var (
			oid            uint32
			column         string
			rule           model.NotNullRule
			own, inherited bool
		)
		if err := rows.Scan(&oid, &column, &rule.Name, &rule.NotValid, &rule.NoInherit, &rule.Comment, &own, &inherited); err != nil {
			return err
		}
		t := r.tables[oid]
		if inherited {
			r.notNulls[model.ColumnRef{Table: t.Name, Column: column}] = true
		}
		if own {
			r.ownNotNulls[model.ColumnRef{Table: t.Name, Column: column}] = true
		}
		switch {
		case rule == (model.NotNullRule{Name: notNullName(t.Name.Name, column)}):
		case own:
			t.Column(column).NotNullRule = &rule
		default:
			inherited := r.fromParents(t.Name)
			inherited.Columns = append(inherited.Columns, model.Column{Name: column, ColumnExtras: model.ColumnExtras{NotNullRule: &rule}})
		}
		return nil
	}, notNullsQuery, r.oids)
}

// maxIdentifier is the longest name of PostgreSQL, in bytes.
const maxIdentifier = 63

// notNullName is the name that the server gives the constraint behind a NOT NULL, where it is free.
func notNullName(table, column string) string { return chosenName(table, column, "_not_null") }

// chosenName is the name that the server makes up: table, column and a label, the longer of the first two cut until all of it fits.
func chosenName(table, column, label string) string {
	left, right := len(table), len(column)
	for left+right+1+len(label) > maxIdentifier {
		if left > right {
			left--
		} else {
			right--
		}
	}
	return clip(table, left) + "_" + clip(column, right) + label
}

// clip cuts a name at a length, between characters.
func clip(name string, length int) string {
	if length >= len(name) {
		return name
	}
	return strings.ToValidUTF8(name[:length], "")
}

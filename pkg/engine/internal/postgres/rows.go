package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

// maxRows bounds the rows of one table of reference data: what has more is no reference data.
const maxRows = 100_000

// readRows reads what stands in the tables of the sets, within the current transaction. A table that does not exist has no rows, and a column that
// does not exist has no values.
func (s *session) readRows(ctx context.Context, db *model.Database, sets []model.RowSet) error {
	if len(sets) > 0 {
		// A policy would hide rows without a word. The server refuses the query then.
		if err := s.run(ctx, "SET LOCAL row_security = off"); err != nil {
			return queryFault(ctx, err, "preparing to read managed rows")
		}
	}
	for i := range sets {
		r := model.RowSet{Table: sets[i].Table, Keys: sets[i].Keys, Columns: sets[i].Columns}
		if t := db.Table(r.Table); t != nil {
			var err error
			if r.Rows, err = s.rowsOf(ctx, t, r.Columns); err != nil {
				return err
			}
		}
		db.Rows = append(db.Rows, r)
	}
	db.Normalise()
	return nil
}

func (s *session) rowsOf(ctx context.Context, t *model.Table, columns []string) ([][]*string, error) {
	values := make([]string, len(columns))
	for i, name := range columns {
		values[i] = "NULL::text"
		if t.Column(name) != nil {
			values[i] = ident(name) + "::text"
		}
	}
	what := fmt.Sprintf("reading the managed rows of table %q.%q (all of them: a role that row-level security holds back cannot manage them)", t.Schema, t.Name.Name)
	rows, err := s.conn.Query(ctx, fmt.Sprintf("SELECT %s FROM %s LIMIT %d", strings.Join(values, ", "), qualified(t.Name), maxRows+1))
	if err != nil {
		return nil, queryFault(ctx, err, what)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]*string, error) {
		read := make([]*string, len(columns))
		targets := make([]any, len(columns))
		for i := range read {
			targets[i] = &read[i]
		}
		return read, row.Scan(targets...)
	})
	switch {
	case err != nil:
		return nil, queryFault(ctx, err, what)
	case len(out) > maxRows:
		return nil, fault.New(frame.CodeUnsupportedObject, "table %q.%q has more than %d rows: that is no reference data; take it out of the managed rows", t.Schema, t.Name.Name, maxRows)
	}
	return out, nil
}

// managedRows is what a document says of the sets: their columns, and a hash over their content.
func managedRows(to *model.Database) (sets []plan.RowSet, fingerprint string) {
	var digests []string
	for i := range to.Rows {
		r := &to.Rows[i]
		sets = append(sets, plan.RowSet{Schema: r.Table.Schema, Table: r.Table.Name, Keys: r.Keys, Columns: r.Columns})
		digests = append(digests, r.Digest())
	}
	if len(sets) == 0 {
		return nil, ""
	}
	return sets, digest.Tuple("ptah-managed-rows-v1", digests...)
}

// rowSets are the sets that a document covers, without content.
func rowSets(doc plan.Document) []model.RowSet {
	var sets []model.RowSet
	for _, r := range doc.ManagedRows {
		sets = append(sets, model.RowSet{Table: model.Name{Schema: r.Schema, Name: r.Table}, Keys: r.Keys, Columns: r.Columns})
	}
	return sets
}

// parentsFirst orders tables so that a foreign key never points to a later one, as far as there is no circle.
func parentsFirst(tables []*model.Table) []*model.Table {
	remaining := slices.Clone(tables)
	var out []*model.Table
	for len(remaining) > 0 {
		i := max(slices.IndexFunc(remaining, func(t *model.Table) bool { return !pointsInto(t, remaining) }), 0)
		out = append(out, remaining[i])
		remaining = slices.Delete(remaining, i, i+1)
	}
	return out
}

func pointsInto(t *model.Table, others []*model.Table) bool {
	return slices.ContainsFunc(t.Constraints, func(c model.Constraint) bool {
		return c.Kind == model.ForeignKey && slices.ContainsFunc(others, func(o *model.Table) bool { return o != t && o.Name == c.Reference.Table })
	})
}

func pointsToItself(t *model.Table) bool {
	return slices.ContainsFunc(t.Constraints, func(c model.Constraint) bool { return c.Kind == model.ForeignKey && c.Reference.Table == t.Name })
}

// withSetsOf gives a declared database, in place of its own sets of rows, those that another one has: the same tables, keys and columns. A column that
// it does not declare has no values.
func withSetsOf(from, to *model.Database) *model.Database {
	db := from.WithoutRows()
	if len(to.Rows) == 0 {
		return db
	}
	shaped := *db
	for i := range to.Rows {
		r := model.RowSet{Table: to.Rows[i].Table, Keys: to.Rows[i].Keys, Columns: to.Rows[i].Columns}
		if own := from.RowsOf(r.Table); own != nil {
			for _, row := range own.Rows {
				values := make([]*string, len(r.Columns))
				for j, name := range r.Columns {
					if at := slices.Index(own.Columns, name); at >= 0 {
						values[j] = row[at]
					}
				}
				r.Rows = append(r.Rows, values)
			}
		}
		shaped.Rows = append(shaped.Rows, r)
	}
	shaped.Normalise()
	return &shaped
}

// insertSQL inserts rows with the values of the columns.
func insertSQL(t *model.Table, columns []string, rows [][]*string) string {
	values := make([]string, len(rows))
	for i, row := range rows {
		list := make([]string, len(row))
		for j, v := range row {
			list[j] = valueSQL(v)
		}
		values[i] = "(" + strings.Join(list, ", ") + ")"
	}
	overriding := ""
	if slices.ContainsFunc(columns, func(name string) bool { c := t.Column(name); return c.Identity != nil && c.Identity.Always }) {
		overriding = " OVERRIDING SYSTEM VALUE"
	}
	return fmt.Sprintf("INSERT INTO %s (%s)%s VALUES %s", qualified(t.Name), idents(columns), overriding, strings.Join(values, ", "))
}

package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
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
	what := fmt.Sprintf("reading the managed rows of table %q.%q", t.Schema, t.Name.Name)
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

// loadRows fills the tables of a scratch database and reads everything back, so that declared values have the server's own text.
func (s *session) loadRows(ctx context.Context, declared []contract.DeclaredRows) (*model.Database, error) {
	if len(declared) == 0 {
		return s.inspect(ctx, nil)
	}
	structure, err := s.inspect(ctx, nil)
	if err != nil {
		return nil, err
	}
	sets := make([]model.RowSet, len(declared))
	var tables []*model.Table
	for i, d := range declared {
		t := structure.Table(d.Table)
		if t == nil {
			return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: rows are declared for table %q.%q, which is not declared", d.At, d.Table.Schema, d.Table.Name)
		}
		sets[i] = model.RowSet{Table: d.Table, Keys: d.Keys, Columns: d.Columns}
		if err := sets[i].Fits(t); err != nil {
			return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: rows of table %q.%q: %s", d.At, d.Table.Schema, d.Table.Name, err)
		}
		tables = append(tables, t)
	}
	for _, t := range parentsFirst(tables) {
		i := slices.IndexFunc(declared, func(d contract.DeclaredRows) bool { return d.Table == t.Name })
		if err := s.fill(ctx, t, &declared[i]); err != nil {
			return nil, err
		}
	}
	return s.inspect(ctx, sets)
}

// fill replaces whatever the files have put into a table.
func (s *session) fill(ctx context.Context, t *model.Table, d *contract.DeclaredRows) error {
	if err := s.run(ctx, "DELETE FROM "+qualified(t.Name)); err != nil {
		return declaredFault(ctx, &contract.Declared{At: d.At}, err, s.conn.Config().Password)
	}
	for _, row := range d.Rows {
		sql := insertSQL(t, d.Columns, [][]*string{row.Values})
		if err := s.run(ctx, sql); err != nil {
			return declaredFault(ctx, &contract.Declared{SQL: sql, At: row.At}, err, s.conn.Config().Password)
		}
	}
	return nil
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

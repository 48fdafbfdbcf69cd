package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
)

// RowSet is the whole content of a table of reference data, as far as it is compared: the columns that are named. On a live database it is what
// stands there. Values are the server's own text, nil is NULL.
type RowSet struct {
	Table   Name        `json:"table"`
	Keys    []string    `json:"keys"`    // identify a row: the columns of a primary key or unique constraint
	Columns []string    `json:"columns"` // the keys first, then the others
	Rows    [][]*string `json:"rows,omitempty"`
}

// KeyOf is what identifies a row, as one string that no other key has.
func (r *RowSet) KeyOf(row []*string) string {
	values := make([]string, len(r.Keys))
	for i := range values {
		values[i] = valueText(row[i])
	}
	return list(values...)
}

// valueText tells NULL from every text.
func valueText(v *string) string {
	if v == nil {
		return "0"
	}
	return "1" + *v
}

func (r *RowSet) normalise() {
	slices.SortFunc(r.Rows, func(a, b []*string) int {
		for i := range r.Keys {
			if order := cmp.Compare(valueText(a[i]), valueText(b[i])); order != 0 {
				return order
			}
		}
		return 0
	})
}

func (c *collector) rows(r *RowSet) {
	c.object("rows", r.Table.Schema, "", r.Table.Name)
	c.add("keys", list(r.Keys...))
	c.add("columns", list(r.Columns...))
	c.add("content", r.Digest())
}

// Digest is a hash over the values, which says nothing of them.
func (r *RowSet) Digest() string {
	h := sha256.New()
	values := make([]string, len(r.Columns))
	for _, row := range r.Rows {
		for i, v := range row {
			values[i] = valueText(v)
		}
		_, _ = io.WriteString(h, list(values...)) // a hash never fails to write
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// validateRows checks each set against the table that it fills.
func (d *Database) validateRows() error {
	if err := ascending("set of rows", d.Rows, func(a, b *RowSet) int { return a.Table.Compare(b.Table) }); err != nil {
		return err
	}
	for i := range d.Rows {
		r := &d.Rows[i]
		if err := r.validate(d.Table(r.Table)); err != nil {
			return fmt.Errorf("rows of table %q.%q: %w", r.Table.Schema, r.Table.Name, err)
		}
	}
	return nil
}

func (r *RowSet) validate(t *Table) error {
	if len(r.Keys) == 0 || len(r.Columns) < len(r.Keys) || !slices.Equal(r.Keys, r.Columns[:len(r.Keys)]) {
		return fmt.Errorf("the keys are not the first columns")
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(r.Columns))); len(unique) != len(r.Columns) {
		return fmt.Errorf("a column is there twice")
	}
	seen := map[string]bool{}
	for _, row := range r.Rows {
		if len(row) != len(r.Columns) {
			return fmt.Errorf("a row has %d values for %d columns", len(row), len(r.Columns))
		}
		if slices.Contains(row[:len(r.Keys)], nil) {
			return fmt.Errorf("a key is NULL")
		}
		key := r.KeyOf(row)
		if seen[key] {
			return fmt.Errorf("two rows have the same key")
		}
		seen[key] = true
	}
	if t == nil {
		return fmt.Errorf("there is no such table")
	}
	return r.Fits(t)
}

// Fits checks that the table can tell the rows apart and takes their values.
func (r *RowSet) Fits(t *Table) error {
	for _, name := range r.Columns {
		switch c := t.Column(name); {
		case c == nil:
			return fmt.Errorf("there is no column %q", name)
		case c.Generated != nil:
			return fmt.Errorf("column %q is generated", name)
		}
	}
	identified := slices.ContainsFunc(t.Constraints, func(c Constraint) bool {
		return (c.Kind == PrimaryKey || c.Kind == Unique) && len(c.Columns) == len(r.Keys) && !slices.ContainsFunc(r.Keys, func(k string) bool { return !slices.Contains(c.Columns, k) })
	})
	if !identified {
		return fmt.Errorf("the keys are neither the primary key nor a unique constraint")
	}
	return nil
}

// RowsOf finds the set of a table; nil where there is none.
func (d *Database) RowsOf(table Name) *RowSet {
	i, ok := slices.BinarySearchFunc(d.Rows, table, func(r RowSet, k Name) int { return r.Table.Compare(k) })
	if !ok {
		return nil
	}
	return &d.Rows[i]
}

// WithoutRows is the structure alone.
func (d *Database) WithoutRows() *Database {
	if len(d.Rows) == 0 {
		return d
	}
	structure := *d
	structure.Rows = nil
	return &structure
}

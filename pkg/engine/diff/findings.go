package diff

import (
	"cmp"
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Finding counts the differences of one category; Severity is the highest among them.
type Finding struct {
	Category string `json:"category"`
	Count    int    `json:"count"`
	Severity string `json:"severity"`
}

// Findings aggregates a diff by the closed category vocabulary of the operator's status, severity descending, then category ascending.
// The vocabulary has no word for some objects, and each counts in the closest one: schemas and sequences as tables, properties of a
// table or a changed sequence as columns_modified, views as tables, triggers as functions, domains as enums, privileges as roles_modified. Constraints of tables are
// table_constraints; a removed unique constraint or unique index is unique_protections_removed. A thing that is replaced counts
// as removed and as added.
func (d *Diff) Findings() []Finding {
	t := tally{}
	for _, c := range d.Schemas {
		t.add(bySide(c.Old, c.New, "tables_added", "tables_removed", "columns_modified"), c.Severity())
	}
	t.types(&d.TypeChanges)
	for _, c := range d.Enums {
		t.enum(c)
	}
	for _, c := range d.Sequences {
		t.add(bySide(c.Old, c.New, "tables_added", "tables_removed", "columns_modified"), c.Severity())
	}
	for i := range d.Tables {
		t.table(&d.Tables[i])
	}
	for _, c := range d.Definitions {
		t.definition(c)
	}
	t.privileges(&d.PrivilegeChanges)
	for _, c := range d.Unmodelled {
		if c.Old == nil {
			t.add(stemOf(c.New)+"_added", c.Severity())
		} else {
			t.add(stemOf(c.Old)+"_removed", c.Severity())
		}
	}
	return t.sorted()
}

type tally map[string]*Finding

func (t tally) add(category, severity string) {
	f := t[category]
	if f == nil {
		f = &Finding{Category: category, Severity: severity}
		t[category] = f
	}
	f.Count++
	f.Severity = Worst(f.Severity, severity)
}

func (t tally) sorted() []Finding {
	out := make([]Finding, 0, len(t))
	for _, f := range t {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(Rank(b.Severity), Rank(a.Severity)), cmp.Compare(a.Category, b.Category))
	})
	return out
}

func (t tally) enum(c EnumChange) {
	if c.Old == nil || c.New == nil {
		t.add(bySide(c.Old, c.New, "enums_added", "enums_removed", ""), c.Severity())
		return
	}
	before := t.total()
	for _, v := range c.New.Values {
		if !slices.Contains(c.Old.Values, v) {
			t.add("enum_values_added", Safe)
		}
	}
	for _, v := range c.Old.Values {
		if !slices.Contains(c.New.Values, v) {
			t.add("enum_values_removed", Destructive)
		}
	}
	switch {
	case c.Severity() == Destructive && Subsequence(intersect(c.Old.Values, c.New.Values), c.New.Values):
	case c.Severity() == Destructive:
		t.add("enum_values_removed", Destructive) // reordered: a value leaves its place
	case c.Old.Comment != c.New.Comment && t.total() == before:
		t.add("columns_modified", Safe)
	}
}

func intersect(a, b []string) []string {
	var out []string
	for _, v := range a {
		if slices.Contains(b, v) {
			out = append(out, v)
		}
	}
	return out
}

func (t tally) total() int {
	n := 0
	for _, f := range t {
		n += f.Count
	}
	return n
}

func (t tally) table(c *TableChange) {
	if c.Old == nil || c.New == nil {
		t.add(bySide(c.Old, c.New, "tables_added", "tables_removed", ""), bySide(c.Old, c.New, Safe, Destructive, ""))
		return
	}
	if c.Properties() {
		t.add("columns_modified", c.Severity())
	}
	for _, col := range c.Columns {
		t.add(bySide(col.Old, col.New, "columns_added", "columns_removed", "columns_modified"), col.Severity())
	}
	for _, k := range c.Constraints {
		t.constraint(k)
	}
	for _, x := range c.Indexes {
		t.index(x)
	}
}

func (t tally) constraint(c ConstraintChange) {
	if c.OnlyComment() {
		t.add("columns_modified", Safe)
		return
	}
	if c.Old != nil && c.New != nil && c.Severity() == Warning { // altered in place
		t.add("table_constraints_added", Warning)
		return
	}
	if c.Old != nil {
		category := "table_constraints_removed"
		if c.Old.Kind == model.Unique {
			category = "unique_protections_removed"
		}
		t.add(category, ConstraintChange{Old: c.Old}.Severity())
	}
	if c.New != nil {
		t.add("table_constraints_added", ConstraintChange{New: c.New}.Severity())
	}
}

func (t tally) index(c IndexChange) {
	if c.OnlyComment() {
		t.add("columns_modified", Safe)
		return
	}
	if c.Old != nil {
		category := "indexes_removed"
		if c.Old.Unique {
			category = "unique_protections_removed"
		}
		t.add(category, IndexChange{Old: c.Old}.Severity())
	}
	if c.New != nil {
		t.add("indexes_added", IndexChange{New: c.New}.Severity())
	}
}

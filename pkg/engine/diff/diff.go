// Package diff compares two models and says what applying the second to the first would do, as typed changes. It is total: it describes
// every difference, also those that no planner can converge, and it never guesses a rename.
package diff

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Diff is everything that differs. Every list is sorted by key.
type Diff struct {
	Schemas []SchemaChange
	TypeChanges
	Enums       []EnumChange
	Sequences   []SequenceChange
	Tables      []TableChange
	Definitions []DefinitionChange
	Rows        []RowsChange
	Unmodelled  []ObjectChange
	PrivilegeChanges
}

// SchemaChange is one schema. Old is nil where it is added, New where it is removed; so it is with every change below.
type SchemaChange struct{ Old, New *model.Schema }

// EnumChange is one enum.
type EnumChange struct{ Old, New *model.Enum }

// SequenceChange is one sequence.
type SequenceChange struct{ Old, New *model.Sequence }

// DefinitionChange is one definition. DependsOn alone is no difference.
type DefinitionChange struct{ Old, New *model.Definition }

// RowsChange is the reference data of one table. It is no finding of a drift report: only a plan says that rows differ.
type RowsChange struct{ Old, New *model.RowSet }

// ObjectChange is something unmodelled that only one side has.
type ObjectChange struct{ Old, New *model.Object }

// TableChange is one table; the lists are empty where the whole table is added or removed.
type TableChange struct {
	Old, New    *model.Table
	Columns     []ColumnChange
	Constraints []ConstraintChange
	Indexes     []IndexChange
}

// Properties reports a difference of the table itself: its comment or options.
func (t *TableChange) Properties() bool {
	return t.Old != nil && t.New != nil && (t.Old.Comment != t.New.Comment || !slices.Equal(t.Old.Options, t.New.Options) ||
		!equal(t.Old.MySQLPart(), t.New.MySQLPart()) || !equal(&t.Old.Relation, &t.New.Relation))
}

// ColumnChange is one column. MySQL says in which dialect its types are printed.
type ColumnChange struct {
	Old, New *model.Column
	MySQL    bool
}

// ConstraintChange is one constraint.
type ConstraintChange struct{ Old, New *model.Constraint }

// OnlyComment reports that nothing but the comment differs.
func (c ConstraintChange) OnlyComment() bool {
	if c.Old == nil || c.New == nil {
		return false
	}
	o := *c.Old
	o.Comment = c.New.Comment
	return equal(&o, c.New)
}

// IndexChange is one index.
type IndexChange struct{ Old, New *model.Index }

// OnlyComment reports that nothing but the comment differs.
func (c IndexChange) OnlyComment() bool {
	if c.Old == nil || c.New == nil {
		return false
	}
	o := *c.Old
	o.Comment = c.New.Comment
	return equal(&o, c.New)
}

// Empty reports that nothing differs.
func (d *Diff) Empty() bool {
	return len(d.Schemas) == 0 && d.TypeChanges.empty() && d.PrivilegeChanges.empty() && len(d.Enums) == 0 && len(d.Sequences) == 0 && len(d.Tables) == 0 && len(d.Definitions) == 0 && len(d.Rows) == 0 && len(d.Unmodelled) == 0
}

// Compare says how from becomes to. Both must be normalised.
func Compare(from, to *model.Database) *Diff {
	d := &Diff{TypeChanges: compareTypes(&from.Types, &to.Types), PrivilegeChanges: comparePrivileges(from, to)}
	pairs(from.Schemas, to.Schemas, func(a, b *model.Schema) int { return cmp.Compare(a.Name, b.Name) }, func(o, n *model.Schema) {
		d.Schemas = append(d.Schemas, SchemaChange{o, n})
	})
	pairs(from.Enums, to.Enums, func(a, b *model.Enum) int { return a.Compare(b.Name) }, func(o, n *model.Enum) {
		d.Enums = append(d.Enums, EnumChange{o, n})
	})
	pairs(from.Sequences, to.Sequences, func(a, b *model.Sequence) int { return a.Compare(b.Name) }, func(o, n *model.Sequence) {
		d.Sequences = append(d.Sequences, SequenceChange{o, n})
	})
	pairs(from.Tables, to.Tables, func(a, b *model.Table) int { return a.Compare(b.Name) }, func(o, n *model.Table) {
		if t := compareTables(o, n); t != nil {
			d.Tables = append(d.Tables, *t)
		}
	})
	pairs(from.Definitions, to.Definitions, (*model.Definition).CompareKey, func(o, n *model.Definition) {
		if c := (DefinitionChange{o, n}); c.differs() {
			d.Definitions = append(d.Definitions, c)
		}
	})
	pairs(from.Rows, to.Rows, func(a, b *model.RowSet) int { return a.Table.Compare(b.Table) }, func(o, n *model.RowSet) {
		d.Rows = append(d.Rows, RowsChange{o, n})
	})
	pairs(from.Unmodelled, to.Unmodelled, func(a, b *model.Object) int { return a.Compare(*b) }, func(o, n *model.Object) {
		d.Unmodelled = append(d.Unmodelled, ObjectChange{o, n})
	})
	return d
}

// pairs walks two lists sorted by the same key and reports every key that one side lacks or that differs.
func pairs[T any](from, to []T, compare func(a, b *T) int, report func(o, n *T)) {
	i, j := 0, 0
	for i < len(from) || j < len(to) {
		var order int
		switch {
		case i == len(from):
			order = 1
		case j == len(to):
			order = -1
		default:
			order = compare(&from[i], &to[j])
		}
		switch {
		case order < 0:
			report(&from[i], nil)
			i++
		case order > 0:
			report(nil, &to[j])
			j++
		default:
			if !equal(&from[i], &to[j]) {
				report(&from[i], &to[j])
			}
			i++
			j++
		}
	}
}

// equal compares values field by field; an absent list equals an empty one.
func equal[T any](a, b *T) bool {
	return equalValues(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem())
}

func equalValues(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Name == "RenamedFrom" {
				continue // how a declared name came to be is no state
			}
			if !equalValues(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equalValues(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equalValues(a.Elem(), b.Elem())
	default:
		return a.Equal(b)
	}
}

// compareTables returns nil where only the order of the columns differs.
func compareTables(o, n *model.Table) *TableChange {
	t := &TableChange{Old: o, New: n}
	if o == nil || n == nil {
		return t
	}
	byName := func(a, b *model.Column) int { return cmp.Compare(a.Name, b.Name) }
	pairs(sortedColumns(o), sortedColumns(n), byName, func(o, n *model.Column) {
		t.Columns = append(t.Columns, ColumnChange{o, n, t.Old.MySQL != nil})
	})
	pairs(o.Constraints, n.Constraints, func(a, b *model.Constraint) int { return cmp.Compare(a.Name, b.Name) }, func(o, n *model.Constraint) {
		t.Constraints = append(t.Constraints, ConstraintChange{o, n})
	})
	t.Constraints = pairPrimaryKeys(t.Constraints)
	pairs(o.Indexes, n.Indexes, func(a, b *model.Index) int { return cmp.Compare(a.Name, b.Name) }, func(o, n *model.Index) {
		t.Indexes = append(t.Indexes, IndexChange{o, n})
	})
	if !t.Properties() && len(t.Columns)+len(t.Constraints)+len(t.Indexes) == 0 {
		return nil
	}
	return t
}

// pairPrimaryKeys joins a primary key that goes with the one that comes. A table has one, so that this guesses no rename.
func pairPrimaryKeys(changes []ConstraintChange) []ConstraintChange {
	removed := slices.IndexFunc(changes, func(c ConstraintChange) bool { return c.New == nil && c.Old.Kind == model.PrimaryKey })
	added := slices.IndexFunc(changes, func(c ConstraintChange) bool { return c.Old == nil && c.New.Kind == model.PrimaryKey })
	if removed < 0 || added < 0 {
		return changes
	}
	changes[added].Old = changes[removed].Old
	return slices.Delete(changes, removed, removed+1)
}

func sortedColumns(t *model.Table) []model.Column {
	columns := slices.Clone(t.Columns)
	slices.SortFunc(columns, func(a, b model.Column) int { return strings.Compare(a.Name, b.Name) })
	return columns
}

package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Missing rows come first, parents before children; rows with other values follow, and what nobody declares goes last, children before parents. That
// keeps every foreign key, and breaks a unique constraint where a row takes a value that another row gives up later. There, the other one goes first.

// rowChanges is what becomes of the rows of one table.
type rowChanges struct {
	table   *model.Table
	set     *model.RowSet
	fresh   map[string]bool
	missing [][]*string
	changed []*changedRow
	gone    [][]*string
	// goneFirst says that the rows which go do so before all others.
	goneFirst bool
}

// changedRow is a declared row that has other values on the target.
type changedRow struct {
	old, row []*string
	first    bool // before the missing rows come
}

// changesOf compares the rows of a table.
func (p *planner) changesOf(t *model.Table, o, n *model.RowSet) (*rowChanges, error) {
	c := &rowChanges{table: t, set: n, fresh: p.freshValues(t, n)}
	live := map[string][]*string{}
	if o != nil {
		for _, row := range o.Rows {
			key := o.KeyOf(row)
			if _, twice := live[key]; twice {
				return nil, refuseObject("table %q.%q has two rows with the same key (%s), so that its managed rows cannot be told apart: remove one", t.Schema, t.Name.Name, strings.Join(n.Keys, ", "))
			}
			live[key] = row
		}
	}
	for _, row := range n.Rows {
		old, exists := live[n.KeyOf(row)]
		delete(live, n.KeyOf(row))
		switch {
		case !exists:
			c.missing = append(c.missing, row)
		case c.differs(old, row):
			c.changed = append(c.changed, &changedRow{old: old, row: row})
		}
	}
	if o != nil {
		for _, row := range o.Rows {
			if _, left := live[o.KeyOf(row)]; left {
				c.gone = append(c.gone, row)
			}
		}
	}
	return c, nil
}

func (c *rowChanges) differs(old, row []*string) bool {
	for i := len(c.set.Keys); i < len(c.set.Columns); i++ {
		if c.sets(i, old, row) {
			return true
		}
	}
	return false
}

// sets reports whether the i-th column of a changed row is written.
func (c *rowChanges) sets(i int, old, row []*string) bool {
	return i >= len(c.set.Keys) && (c.fresh[c.set.Columns[i]] || !sameValue(old[i], row[i]))
}

// uniqueness is something that lets no two rows have the same values: columns of the set, or what cannot be compared here.
type uniqueness struct {
	name          string
	columns       []int // nil where rows cannot be compared
	touched       []int // the columns of the set that it is about, all of them where that is not known
	nullsConflict bool
}

// uniques are what a table has beside the keys that its rows are told apart by. What the server checks only when the transaction ends is no matter.
func (c *rowChanges) uniques() []uniqueness {
	var out []uniqueness
	add := func(name string, columns []string, known, nulls bool) {
		u := uniqueness{name: name, nullsConflict: nulls}
		for _, column := range columns {
			i := slices.Index(c.set.Columns, column)
			known = known && i >= 0 && !c.fresh[column]
			if i >= 0 {
				u.columns, u.touched = append(u.columns, i), append(u.touched, i)
			}
		}
		if len(u.touched) == 0 {
			return
		}
		if !known {
			u.columns = nil
		}
		out = append(out, u)
	}
	for i := range c.table.Constraints {
		switch k := &c.table.Constraints[i]; {
		case k.Deferred:
		case k.Kind == model.Exclusion:
			add(k.Name, mentionedColumns(c.table, k.Definition), false, false)
		case (k.Kind == model.PrimaryKey || k.Kind == model.Unique) && !sameSet(k.Columns, c.set.Keys):
			add(k.Name, k.Columns, !k.Period, k.NullsNotDistinct)
		}
	}
	for i := range c.table.Indexes {
		x := &c.table.Indexes[i]
		if !x.Unique {
			continue
		}
		whole := x.Predicate == "" && !slices.ContainsFunc(x.Keys, func(k model.IndexKey) bool { return k.Expression != "" })
		columns := slices.DeleteFunc(indexColumns(c.table, x), func(name string) bool { return slices.Contains(x.Include, name) })
		add(x.Name, columns, whole, x.NullsNotDistinct)
	}
	return out
}

// valueOf is what a row has under a uniqueness; false where it can have no conflict.
func (u *uniqueness) valueOf(row []*string) (string, bool) {
	picked := make([]*string, len(u.columns))
	for at, i := range u.columns {
		if row[i] == nil && !u.nullsConflict {
			return "", false
		}
		picked[at] = row[i]
	}
	all := model.RowSet{Keys: make([]string, len(picked))}
	return all.KeyOf(picked), true
}

// orderRows decides what has to happen out of turn.
func orderRows(all []*rowChanges) error {
	for _, c := range all {
		var takers []taker
		for _, u := range c.uniques() {
			if u.columns != nil {
				takers = append(takers, c.takeovers(&u)...)
				continue
			}
			// Nobody can say whether a row that goes is in the way. It goes first where that harms nothing.
			c.goneFirst = c.goneFirst || len(c.gone) > 0 && (len(c.missing) > 0 || c.touches(&u)) && !slices.ContainsFunc(all, func(o *rowChanges) bool { return o.leaves(c) })
		}
		if err := c.sort(takers); err != nil {
			return err
		}
	}
	for _, c := range all { // parents before children
		for _, parent := range all {
			if !parent.goneFirst || !c.pointsTo(parent.table) {
				continue
			}
			c.goneFirst = true
			if c.leaves(parent) {
				return refuseObject("managed rows of table %q.%q move away from rows of %q.%q that go, and other rows take the values of these: declare it in two steps, first the rows that come and move, then the rest",
					c.table.Schema, c.table.Name.Name, parent.table.Schema, parent.table.Name.Name)
			}
		}
		for _, parent := range all {
			if c.joinsEarly(parent) {
				return refuseObject("managed rows of table %q.%q move to new rows of %q.%q and give up values that other rows take: declare it in two steps, first the rows that move, then those that come",
					c.table.Schema, c.table.Name.Name, parent.table.Schema, parent.table.Name.Name)
			}
		}
	}
	return nil
}

// touches reports whether a changed row gets another value under a uniqueness.
func (c *rowChanges) touches(u *uniqueness) bool {
	return slices.ContainsFunc(c.changed, func(x *changedRow) bool {
		return slices.ContainsFunc(u.touched, func(i int) bool { return c.sets(i, x.old, x.row) })
	})
}

// taker is a missing row, or a changed one, that takes a value from a changed row.
type taker struct {
	by, from *changedRow // by is nil for a missing row
	name     string      // of the uniqueness
}

// takeovers finds who takes a value that another row has on the target. Rows that go give theirs up before all others come.
func (c *rowChanges) takeovers(u *uniqueness) []taker {
	goes, givesUp := map[string]bool{}, map[string]*changedRow{}
	for _, row := range c.gone {
		if v, ok := u.valueOf(row); ok {
			goes[v] = true
		}
	}
	for _, x := range c.changed {
		before, ok := u.valueOf(x.old)
		if after, _ := u.valueOf(x.row); ok && before != after {
			givesUp[before] = x
		}
	}
	var out []taker
	take := func(x *changedRow, row []*string) {
		v, ok := u.valueOf(row)
		c.goneFirst = c.goneFirst || ok && goes[v]
		if other := givesUp[v]; ok && other != nil {
			out = append(out, taker{x, other, u.name})
		}
	}
	for _, row := range c.missing {
		take(nil, row)
	}
	for _, x := range c.changed {
		take(x, x.row)
	}
	return out
}

// sort puts each changed row behind those whose values it takes, and before the missing rows what these take the values of.
func (c *rowChanges) sort(takers []taker) error {
	var first func(x *changedRow)
	first = func(x *changedRow) {
		if x.first {
			return
		}
		x.first = true
		for _, t := range takers {
			if t.by == x {
				first(t.from)
			}
		}
	}
	for _, t := range takers {
		if t.by == nil {
			first(t.from)
		}
	}
	placed, placing := map[*changedRow]bool{}, map[*changedRow]bool{}
	var out []*changedRow
	var place func(x *changedRow) error
	place = func(x *changedRow) error {
		if placed[x] {
			return nil
		}
		placing[x] = true
		for _, t := range takers {
			if t.by != x {
				continue
			}
			if placing[t.from] {
				return refuseObject("managed rows of table %q.%q exchange values of %q, which the server checks row by row: declare another value for one of them first", c.table.Schema, c.table.Name.Name, t.name)
			}
			if err := place(t.from); err != nil {
				return err
			}
		}
		placing[x], placed[x] = false, true
		out = append(out, x)
		return nil
	}
	for _, x := range c.changed {
		if err := place(x); err != nil {
			return err
		}
	}
	c.changed = out
	return nil
}

func (c *rowChanges) pointsTo(t *model.Table) bool {
	return slices.ContainsFunc(c.table.Constraints, func(k model.Constraint) bool { return k.Reference != nil && k.Reference.Table == t.Name })
}

// leaves reports whether a changed row pointed to a row of a table that goes.
func (c *rowChanges) leaves(parent *rowChanges) bool {
	return slices.ContainsFunc(c.changed, func(x *changedRow) bool { return c.moves(x, x.old, parent, parent.gone) })
}

// joinsEarly reports whether a row that changes before the missing ones come is going to point to one of those.
func (c *rowChanges) joinsEarly(parent *rowChanges) bool {
	return slices.ContainsFunc(c.changed, func(x *changedRow) bool { return x.first && c.moves(x, x.row, parent, parent.missing) })
}

// moves reports whether a changed row gets another value in a foreign key that leads, with the values given, to one of the rows given. Columns that no
// set names do not change.
func (c *rowChanges) moves(x *changedRow, values []*string, parent *rowChanges, rows [][]*string) bool {
	for i := range c.table.Constraints {
		k := &c.table.Constraints[i]
		if k.Reference == nil || k.Reference.Table != parent.table.Name || !slices.ContainsFunc(k.Columns, func(name string) bool {
			at := slices.Index(c.set.Columns, name)
			return at >= 0 && c.sets(at, x.old, x.row)
		}) {
			continue
		}
		leads := func(row []*string) bool {
			for j, name := range k.Columns {
				own, other := slices.Index(c.set.Columns, name), slices.Index(parent.set.Columns, k.Reference.Columns[j])
				if own >= 0 && other >= 0 && (values[own] == nil || !sameValue(values[own], row[other])) {
					return false
				}
			}
			return true
		}
		if slices.ContainsFunc(rows, leads) {
			return true
		}
	}
	return false
}

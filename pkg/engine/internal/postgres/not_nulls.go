package postgres

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Since PostgreSQL 18 there is a constraint behind every NOT NULL. What a parent has it hands down to its children: to one that has none under the
// parent's name, and one that has its own keeps that and its name, and only counts as inherited too. While it does, nothing can rename it but the
// same rename of the parent's. So a child gets its own constraint, under its name, before the parent hands one down, and changes it after the parent
// has stopped to.

// handsDown reports whether children of a table with that column have its NOT NULL.
func handsDown(c *model.Column) bool {
	return c != nil && c.NotNull && (c.NotNullRule == nil || !c.NotNullRule.NoInherit)
}

// columnBefore is a column of any table as the plan's statements on NOT NULL find it: what is new is as declared.
func (p *planner) columnBefore(table model.Name, column string) *model.Column {
	for _, db := range []*model.Database{p.from, p.excluded} {
		if t := db.Table(table); t != nil && t.Column(column) != nil && !p.rebuilt[model.ColumnRef{Table: table, Column: column}] {
			return t.Column(column)
		}
	}
	return p.columnAfter(table, column)
}

func (p *planner) columnAfter(table model.Name, column string) *model.Column {
	if t := p.relative(table); t != nil {
		return t.Column(column)
	}
	return nil
}

// handedDown reports whether a declared table's parents hand a NOT NULL down, before the plan's statements on it and after them.
func (p *planner) handedDown(t *model.Table, column string) (before, after bool) {
	for _, parent := range t.Parents() {
		before = before || handsDown(p.columnBefore(parent, column))
		after = after || handsDown(p.columnAfter(parent, column))
	}
	return before, after
}

// ownNotNull reports whether a table has a constraint of its own behind a NOT NULL, whatever its parents have.
func (p *planner) ownNotNull(table model.Name, column string) bool {
	if p.fresh(table, column) {
		c := p.columnAfter(table, column)
		return c != nil && c.NotNull && (!c.Inherited || c.NotNullRule != nil)
	}
	return p.ownNotNulls[model.ColumnRef{Table: table, Column: column}]
}

// notNullBefore is what the constraint behind a NOT NULL is called before the plan's statements on it.
func (p *planner) notNullBefore(table model.Name, column string) string {
	if !p.fresh(table, column) && !p.ownNotNull(table, column) {
		if t := p.inherited[table]; t != nil && t.Column(column) != nil {
			return t.Column(column).NotNullRule.Name
		}
		return notNullName(table.Name, column)
	}
	if c := p.columnBefore(table, column); c != nil && c.NotNullRule != nil {
		return c.NotNullRule.Name
	}
	if p.ownNotNull(table, column) {
		return notNullName(table.Name, column)
	}
	if t := p.relative(table); t != nil {
		for _, parent := range t.Parents() {
			if handsDown(p.columnBefore(parent, column)) {
				return p.notNullBefore(parent, column)
			}
		}
	}
	return notNullName(table.Name, column)
}

// notNullAfter is what it is called once the plan's statements on the parents have run; these hand it down before and after.
func (p *planner) notNullAfter(t *model.Table, column string) string {
	name := p.notNullBefore(t.Name, column)
	for _, parent := range t.Parents() {
		if !handsDown(p.columnBefore(parent, column)) || !handsDown(p.columnAfter(parent, column)) || p.notNullBefore(parent, column) != name {
			continue
		}
		if now := p.relative(parent); p.from.Table(parent) != nil && now != nil {
			return p.declaredNotNull(now, column)
		}
	}
	return name
}

// declaredNotNull is what the constraint of a declared table is called in the end.
func (p *planner) declaredNotNull(t *model.Table, column string) string {
	if r := t.Column(column).NotNullRule; r != nil {
		return r.Name
	}
	if before, after := p.handedDown(t, column); before && after && !p.ownNotNull(t.Name, column) {
		return p.notNullAfter(t, column)
	}
	return notNullName(t.Name.Name, column)
}

// refuseNotNulls names constraints of children that would have to be renamed while a parent has them too, or that keep a parent from another type.
func (p *planner) refuseNotNulls() error {
	if p.major < 18 {
		return nil
	}
	for i := range p.to.Tables {
		t := &p.to.Tables[i]
		for j := range t.Columns {
			if err := p.refuseNotNull(t, &t.Columns[j]); err != nil {
				return err
			}
			if err := p.refuseNotNullUnderType(t, t, t.Columns[j].Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *planner) refuseNotNull(t *model.Table, c *model.Column) error {
	before, after := p.handedDown(t, c.Name)
	if !before || !after {
		return nil
	}
	if p.from.Table(t.Name) == nil {
		return p.refuseNewNotNull(t, c)
	}
	name, givers := p.notNullBefore(t.Name, c.Name), 0
	for _, parent := range t.Parents() {
		if handsDown(p.columnBefore(parent, c.Name)) {
			givers++
		}
	}
	for _, parent := range t.Parents() {
		o, n := p.columnBefore(parent, c.Name), p.columnAfter(parent, c.Name)
		if !handsDown(o) || !handsDown(n) || p.from.Table(parent) == nil || p.relative(parent) == nil {
			continue
		}
		was, now := p.notNullBefore(parent, c.Name), p.declaredNotNull(p.relative(parent), c.Name)
		if was != now && (givers > 1 || name != was) {
			return refuseObject("the NOT NULL constraint %q of table %q.%q is declared as %q, and its child %q.%q has it as %q, or from another parent too: PostgreSQL renames it in all children or not at all; detach the child first",
				was, parent.Schema, parent.Name, now, t.Schema, t.Name.Name, name)
		}
	}
	final, want := p.notNullAfter(t, c.Name), p.declaredNotNull(t, c.Name)
	if final != want && (c.NotNullRule != nil || p.ownNotNull(t.Name, c.Name)) {
		return refuseObject("the NOT NULL constraint %q of table %q.%q is declared as %q: its parent has it too, and PostgreSQL cannot rename it there; detach the table first, or keep the name",
			final, t.Schema, t.Name.Name, want)
	}
	return nil
}

// refuseNewNotNull names a constraint of a new child on a column that comes with the parent's ADD COLUMN, and so under the parent's name, or that takes another
// type in the parent.
func (p *planner) refuseNewNotNull(t *model.Table, c *model.Column) error {
	if c.NotNullRule == nil {
		return nil
	}
	if p.hasWhenCreated(t, c.Name) {
		if above := p.retypedAbove(t, c.Name); above != nil {
			return refuseObject("column %q of table %q.%q changes its type, and its NOT NULL constraint is called %q in the new child %q.%q: PostgreSQL cannot make both anew; let the parent take the type first",
				c.Name, above.Schema, above.Name.Name, c.NotNullRule.Name, t.Schema, t.Name.Name)
		}
		return nil
	}
	for _, name := range t.Parents() {
		if parent := p.relative(name); parent != nil && handsDown(parent.Column(c.Name)) && p.declaredNotNull(parent, c.Name) != c.NotNullRule.Name {
			return refuseObject("the NOT NULL constraint %q of the new table %q.%q is on a column that its parent %q.%q gains with a NOT NULL of its own, whose name PostgreSQL takes for both: let the parent gain the column first",
				c.NotNullRule.Name, t.Schema, t.Name.Name, parent.Schema, parent.Name.Name)
		}
	}
	return nil
}

// refuseNotNullUnderType looks at the parents of a table, and at theirs: with the type of a column the server makes NOT NULL anew in the whole family
// under the parent's name, and then fails for a child's own one under another.
func (p *planner) refuseNotNullUnderType(t, under *model.Table, column string) error {
	ref := model.ColumnRef{Table: t.Name, Column: column}
	if p.fresh(t.Name, column) || !p.ownNotNulls[ref] {
		return nil
	}
	name := p.notNullBefore(t.Name, column)
	for _, parent := range under.Parents() {
		above := p.relative(parent)
		if o := p.from.Table(under.Name); above == nil || o == nil || !slices.Contains(o.Parents(), parent) || p.fresh(parent, column) {
			continue
		}
		o, n := p.columnBefore(parent, column), p.columnAfter(parent, column)
		if own := p.ownNotNulls[model.ColumnRef{Table: parent, Column: column}]; own && handsDown(o) && n != nil && (o.Type != n.Type || o.Collation != n.Collation) && p.notNullBefore(parent, column) != name {
			return refuseObject("column %q of table %q.%q changes its type, and its NOT NULL constraint %q is called %q in the child %q.%q: PostgreSQL cannot make both anew; declare the column without NOT NULL in the parent first, then with the new type, then with NOT NULL again",
				column, parent.Schema, parent.Name, p.notNullBefore(parent, column), name, t.Schema, t.Name.Name)
		}
		if err := p.refuseNotNullUnderType(t, above, column); err != nil {
			return err
		}
	}
	return nil
}

// childNotNull plans the NOT NULL of a column whose table has parents that hand one down, and reports whether it has; else it leaves the column as the
// statements of the parents leave it in o.
func (p *planner) childNotNull(table model.Name, o, n *model.Column) bool {
	t := p.to.Table(table)
	if p.major < 18 || t == nil || len(t.Parents()) == 0 {
		return false
	}
	before, after := p.handedDown(t, n.Name)
	own, name := p.startNotNull(t, o, n), p.notNullBefore(table, n.Name)
	switch {
	case before && after:
		o.NotNullRule = &model.NotNullRule{Name: p.declaredNotNull(t, n.Name)}
		if r := p.columnBefore(table, n.Name).NotNullRule; r != nil && !p.fresh(table, n.Name) {
			o.NotNullRule.NotValid, o.NotNullRule.NoInherit, o.NotNullRule.Comment = r.NotValid, r.NoInherit, r.Comment
		}
		if n.NotNullRule == nil {
			return true
		}
		if !own {
			p.add(p.onceThere(table, n), p.columnStep(table, n, "ALTER COLUMN "+ident(n.Name)+" SET NOT NULL", "set_not_null", diff.Warning, "the column is declared NOT NULL in the table as well", ""))
		}
	case after: // the child first
		if o.NotNull || n.NotNullRule != nil {
			p.setNotNull(phaseChildNotNulls, table, o, n)
		}
		return true
	case before && !own && n.NotNull && p.keepsNotNull(table, n):
		p.add(phaseRelease, p.columnStep(table, n, "ALTER COLUMN "+ident(n.Name)+" SET NOT NULL", "set_not_null", diff.Warning, "the column stays NOT NULL in the table when its parent's does not", ""))
		o.NotNull, o.NotNullRule = true, &model.NotNullRule{Name: name}
	case before && !own: // what the parents leave
		o.NotNull, o.NotNullRule = false, nil
		for _, parent := range t.Parents() {
			if c := p.columnAfter(parent, n.Name); handsDown(p.columnBefore(parent, n.Name)) && c != nil && c.NotNull {
				o.NotNull, o.NotNullRule = true, &model.NotNullRule{Name: name} // NO INHERIT makes it the child's own
			}
		}
	}
	return false
}

// startNotNull leaves a column in o as it is before the plan's statements on it, or as the CREATE TABLE of a new child leaves it, and reports whether the
// table has the constraint of its own.
func (p *planner) startNotNull(t *model.Table, o, n *model.Column) bool {
	before, after := p.handedDown(t, n.Name)
	if !p.fresh(t.Name, n.Name) {
		b := p.columnBefore(t.Name, n.Name)
		o.NotNull, o.NotNullRule = b.NotNull, b.NotNullRule
		return p.ownNotNull(t.Name, n.Name)
	}
	if p.from.Table(t.Name) != nil || !p.writesNotNull(t, n, after) {
		o.NotNull, o.NotNullRule = before, nil
		return false
	}
	o.NotNull, o.NotNullRule = true, &model.NotNullRule{Name: p.declaredNotNull(t, n.Name)}
	if r := n.NotNullRule; r != nil {
		o.NotNullRule.NoInherit = r.NoInherit
	}
	return true
}

// keepsNotNull reports whether the table can make its own what it has from its parents before they lose it: no row has to be read again, and a key of the
// table holds the constraint fast.
func (p *planner) keepsNotNull(table model.Name, n *model.Column) bool {
	b := p.columnBefore(table, n.Name)
	if p.fresh(table, n.Name) || !b.NotNull || n.NotNullRule != nil && n.NotNullRule.NotValid {
		return false
	}
	t := p.inherited[table]
	return t == nil || t.Column(n.Name) == nil || !t.Column(n.Name).NotNullRule.NotValid
}

// dropsNotNullAlone reports whether a table loses a NOT NULL without those that inherit from it, because one of them keeps it: no row has to be read again,
// and a key there holds it fast. Servers with a constraint behind it have no such statement.
func (p *planner) dropsNotNullAlone(table model.Name, column string) bool {
	return p.major < 18 && slices.ContainsFunc([]*model.Database{p.to, p.excluded}, func(db *model.Database) bool {
		return slices.ContainsFunc(db.Tables, func(t model.Table) bool {
			c := t.Column(column)
			return slices.Contains(t.Inherits, table) && (c != nil && c.NotNull || p.dropsNotNullAlone(t.Name, column))
		})
	})
}

// refuseKeyedNotNulls names a partitioned table that loses a NOT NULL which the key of a partition holds fast.
func (p *planner) refuseKeyedNotNulls() error {
	for i := range p.to.Tables {
		t := &p.to.Tables[i]
		o := p.from.Table(t.Name)
		if o == nil || t.Partition == nil || p.major >= 18 {
			continue
		}
		for j := range o.Constraints {
			k := &o.Constraints[j]
			if k.Kind != model.PrimaryKey || p.dropped[partKey{table: t.Name, name: k.Name}] {
				continue
			}
			for _, column := range k.Columns {
				if above := p.losesAbove(t, column); above != nil {
					return refuseObject("column %q of table %q.%q is declared without NOT NULL, and the primary key %q of its partition %q.%q needs it: PostgreSQL %d takes it off both or not at all; detach the partition first",
						column, above.Schema, above.Name.Name, k.Name, t.Schema, t.Name.Name, p.major)
				}
			}
		}
	}
	return nil
}

// losesAbove is a partitioned table above a partition whose column loses NOT NULL; nil where there is none.
func (p *planner) losesAbove(t *model.Table, column string) *model.Table {
	for _, above := range p.lineage(t)[1:] {
		if o := p.from.Table(above.Name); o != nil && o.Column(column) != nil && o.Column(column).NotNull && above.Column(column) != nil && !above.Column(column).NotNull {
			return above
		}
	}
	return nil
}

// releaseNotNull takes a NOT NULL off a column that goes while a table below keeps it: with the column alone, the server would leave the constraint there as
// inherited for good.
func (p *planner) releaseNotNull(table model.Name, c *model.Column) {
	if p.major < 18 || !handsDown(c) || !p.keptBelow(table, c.Name) {
		return
	}
	if c.Identity != nil {
		p.add(phaseRelease, p.columnStep(table, c, "ALTER COLUMN "+ident(c.Name)+" DROP IDENTITY", "drop_identity", diff.Destructive, "the column exists and is not declared", "the position of its sequence is lost"))
	}
	p.add(phaseDropExpressions, p.columnStep(table, c, "ALTER COLUMN "+ident(c.Name)+" DROP NOT NULL", "drop_not_null", diff.Destructive, "the column exists and is not declared, and stays in a table that inherits from this one", "NULL becomes possible"))
}

// keptBelow reports whether a column that a table loses stays in a table that inherits from it, or from such a one.
func (p *planner) keptBelow(table model.Name, column string) bool {
	return slices.ContainsFunc(p.to.Tables, func(t model.Table) bool {
		return slices.Contains(t.Inherits, table) && p.from.Table(t.Name) != nil && (t.Column(column) != nil && !p.rebuilt[model.ColumnRef{Table: t.Name, Column: column}] || p.keptBelow(t.Name, column))
	})
}

// writesNotNull reports whether the CREATE TABLE of a child holds a constraint for a column that it has from a parent.
func (p *planner) writesNotNull(t *model.Table, c *model.Column, handed bool) bool {
	return c.Inherited && c.NotNull && (c.NotNullRule == nil && !handed || c.NotNullRule != nil && !c.NotNullRule.NotValid) && p.hasWhenCreated(t, c.Name) &&
		p.retypedAbove(t, c.Name) == nil
}

// retypedAbove is a table above a new child that changes the type of a column while both have a NOT NULL, under two names: PostgreSQL cannot make both anew.
func (p *planner) retypedAbove(t *model.Table, column string) *model.Table {
	for _, above := range p.lineage(t)[1:] {
		o, n := p.columnBefore(above.Name, column), above.Column(column)
		if !p.fresh(above.Name, column) && handsDown(o) && n != nil && (o.Type != n.Type || o.Collation != n.Collation) && p.notNullBefore(above.Name, column) != p.declaredNotNull(t, column) {
			return above
		}
	}
	return nil
}

// hasWhenCreated reports whether a new table has a column from the start, and not once an ADD COLUMN of a parent has brought it.
func (p *planner) hasWhenCreated(t *model.Table, column string) bool {
	c := t.Column(column)
	switch {
	case c == nil:
		return false
	case p.from.Table(t.Name) != nil:
		return !p.fresh(t.Name, column)
	case !c.Inherited || p.to.Table(t.Name) == nil:
		return true
	}
	return slices.ContainsFunc(t.Parents(), func(name model.Name) bool {
		parent := p.relative(name)
		return parent != nil && p.hasWhenCreated(parent, column)
	})
}

// inheritedNotNulls are the lines of a CREATE TABLE for those.
func (p *planner) inheritedNotNulls(t *model.Table) []string {
	if p.major < 18 {
		return nil
	}
	var lines []string
	for i := range t.Columns {
		c := &t.Columns[i]
		if _, after := p.handedDown(t, c.Name); p.writesNotNull(t, c, after) {
			line := "CONSTRAINT " + ident(p.declaredNotNull(t, c.Name)) + " NOT NULL " + ident(c.Name)
			if r := c.NotNullRule; r != nil && r.NoInherit {
				line += " NO INHERIT"
			}
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

// attachedNotNulls makes constraints a partition's own again: ATTACH leaves none.
func (p *planner) attachedNotNulls(n, parent *model.Table) {
	for i := range n.Columns {
		c := &n.Columns[i]
		if p.major >= 18 && c.NotNullRule != nil && handsDown(parent.Column(c.Name)) {
			p.add(phaseAttach, p.columnStep(n.Name, c, "ALTER COLUMN "+ident(c.Name)+" SET NOT NULL", "set_not_null", diff.Warning, "the column is declared NOT NULL in the table as well", ""))
		}
	}
}

// hasNewChild reports whether the plan creates a child of a table.
func (p *planner) hasNewChild(table model.Name) bool {
	return slices.ContainsFunc(p.to.Tables, func(t model.Table) bool {
		return p.from.Table(t.Name) == nil && slices.Contains(t.Parents(), table)
	})
}

// childrenFirst turns the order of tables around, and keeps that of each table's statements.
func childrenFirst(steps []step) []step {
	out := make([]step, 0, len(steps))
	for end := len(steps); end > 0; {
		start := end - 1
		for start > 0 && steps[start-1].table == steps[start].table {
			start--
		}
		out = append(out, steps[start:end]...)
		end = start
	}
	return out
}

// The server gives a NOT NULL that is written without a name the first one of its own that no constraint of the schema has. Where another has that,
// it would be called something else than declared, and so its name is written: two tables may have constraints of one name, as after LIKE.

// named is a column with the name of its NOT NULL where the server would choose another.
func (p *planner) named(table model.Name, c *model.Column) *model.Column {
	if p.major < 18 || !c.NotNull || c.NotNullRule != nil || c.Inherited {
		return c
	}
	if t := p.to.Table(table); t != nil {
		if _, after := p.handedDown(t, c.Name); after {
			return c // it is theirs
		}
	}
	name := notNullName(table.Name, c.Name)
	ref := model.ColumnRef{Table: table, Column: c.Name}
	if !slices.ContainsFunc(p.takenNames()[model.Name{Schema: table.Schema, Name: name}], func(by model.ColumnRef) bool { return by != ref }) {
		return c
	}
	written := *c
	written.NotNullRule = &model.NotNullRule{Name: name}
	return &written
}

func (p *planner) namedColumns(t *model.Table) *model.Table {
	out := *t
	out.Columns = slices.Clone(t.Columns)
	for i := range out.Columns {
		out.Columns[i] = *p.named(t.Name, &t.Columns[i])
	}
	return &out
}

// takenNames are the names of all constraints that are there before the plan or behind it, with the column of a NOT NULL.
func (p *planner) takenNames() map[model.Name][]model.ColumnRef {
	if p.taken != nil {
		return p.taken
	}
	p.taken = map[model.Name][]model.ColumnRef{}
	take := func(schema, name string, by model.ColumnRef) {
		key := model.Name{Schema: schema, Name: name}
		p.taken[key] = append(p.taken[key], by)
	}
	table := func(t *model.Table) {
		for i := range t.Constraints {
			take(t.Schema, t.Constraints[i].Name, model.ColumnRef{Table: t.Name})
		}
		for i := range t.Columns {
			ref := model.ColumnRef{Table: t.Name, Column: t.Columns[i].Name}
			if r := t.Columns[i].NotNullRule; r != nil {
				take(t.Schema, r.Name, ref)
			} else if t.Columns[i].NotNull {
				take(t.Schema, notNullName(t.Name.Name, ref.Column), ref)
			}
		}
	}
	for _, db := range []*model.Database{p.from, p.to, p.excluded} {
		for i := range db.Tables {
			table(&db.Tables[i])
		}
		for i := range db.Domains {
			d := &db.Domains[i]
			for j := range d.Checks {
				take(d.Schema, d.Checks[j].Name, model.ColumnRef{Table: d.Name})
			}
			if d.NotNull {
				take(d.Schema, d.Name.Name+"_not_null", model.ColumnRef{Table: d.Name})
			}
		}
	}
	for _, t := range p.inherited {
		table(t)
	}
	for i := range p.to.Tables { // and what parents of other schemas hand down
		t := &p.to.Tables[i]
		for _, above := range p.lineage(t)[1:] {
			if above.Schema != t.Schema {
				given := *above
				given.Columns = slices.Clone(above.Columns)
				for j := range given.Columns {
					if c := &given.Columns[j]; c.NotNull && c.NotNullRule == nil {
						c.NotNullRule = &model.NotNullRule{Name: notNullName(above.Name.Name, c.Name)}
					}
				}
				given.Name = t.Name
				table(&given)
			}
		}
	}
	return p.taken
}

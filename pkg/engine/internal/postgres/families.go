package postgres

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// A family is a table with its partitions, or with the tables that inherit from it. What ALTER TABLE does to a parent's columns and constraints
// the server does to the children as well; what may differ between them (defaults, storage, statistics) is changed one by one, by ONLY.

// findFamilies plans which tables leave and join their parents. While the plan runs, one that leaves is a table by itself from the start, and one
// that joins is so until the end: from and to are changed into that, for the planner's own use.
func (p *planner) findFamilies() error {
	p.children, p.moves = map[model.Name]bool{}, map[model.Name]bool{}
	for _, db := range []*model.Database{p.from, p.to, p.excluded} {
		for i := range db.Tables {
			for _, parent := range db.Tables[i].Parents() {
				p.children[parent] = true
			}
		}
	}
	from, to := *p.from, *p.to
	from.Tables, to.Tables = slices.Clone(from.Tables), slices.Clone(to.Tables)
	changed := false
	for i := range from.Tables {
		o := &from.Tables[i]
		j, ok := slices.BinarySearchFunc(to.Tables, o.Name, func(t model.Table, k model.Name) int { return t.Compare(k) })
		if !ok {
			changed = p.leaveToDrop(o) || changed
			continue
		}
		n := &to.Tables[j]
		if o.PartitionBy != n.PartitionBy {
			return refuseObject("table %q.%q is declared with another partition key, or with one where it has none: PostgreSQL cannot change that; declare a new table and move the rows", n.Schema, n.Name.Name)
		}
		leaves, joins := moves(o, n)
		if err := p.refuseJoin(o, n, leaves, joins); err != nil {
			return err
		}
		bound := n.Partition
		if len(leaves)+len(joins) > 0 {
			p.moves[n.Name] = true
		}
		if len(leaves) > 0 {
			p.leave(o, leaves)
		}
		if len(joins) > 0 {
			p.join(o, n, joins, bound)
		}
		changed = changed || len(leaves)+len(joins) > 0
	}
	if changed {
		from.Normalise()
		to.Normalise()
		p.from, p.to = &from, &to
		p.diff = diff.Compare(p.from, p.to)
	}
	return p.refusePartitionKeys()
}

// moves are the parents that a table leaves and those that it joins; a partition with another bound leaves and comes back.
func moves(o, n *model.Table) (leaves, joins []model.Name) {
	rebound := o.Partition != nil && n.Partition != nil && *o.Partition != *n.Partition || (o.Partition == nil) != (n.Partition == nil)
	for _, parent := range o.Parents() {
		if rebound || !slices.Contains(n.Parents(), parent) {
			leaves = append(leaves, parent)
		}
	}
	for _, parent := range n.Parents() {
		if rebound || !slices.Contains(o.Parents(), parent) {
			joins = append(joins, parent)
		}
	}
	return leaves, joins
}

// leaveToDrop detaches a partition that goes from a parent that stays: foreign keys to the parent hold it otherwise.
func (p *planner) leaveToDrop(o *model.Table) bool {
	if o.Partition == nil || p.from.Table(o.Partition.Parent) != nil && p.to.Table(o.Partition.Parent) == nil {
		return false
	}
	p.detach(o, o.Partition.Parent)
	o.Partition = nil
	return true
}

func (p *planner) familyStep(ph phase, t *model.Table, sql, kind, severity, reason, hazard string, others []model.Name) {
	p.add(ph, step{table: t.Name, others: slices.Concat(others, p.below(t.Name)), Statement: plan.Statement{
		SQL: sql, Severity: severity, Kind: kind, Object: display(t.Schema, t.Name.Name), Reason: reason, Lock: lockExclusive, Hazard: hazard,
	}})
}

func (p *planner) detach(o *model.Table, parent model.Name) {
	hazard, pointing := "its rows are no longer rows of "+display(parent.Schema, parent.Name), p.pointingAt(parent)
	if len(pointing) > 0 {
		hazard = "fails if a row points to one of it; reads every table with a foreign key to " + display(parent.Schema, parent.Name) + "; " + hazard
	}
	p.familyStep(phaseDetach, o, "ALTER TABLE "+qualified(parent)+" DETACH PARTITION "+qualified(o.Name), "detach_partition", diff.Destructive,
		"the table is not declared as this partition", hazard, slices.Concat(p.defaultPartition(parent), pointing))
}

// leave makes a table of the target one by itself: what it had from its parents is its own then.
func (p *planner) leave(o *model.Table, parents []model.Name) {
	wasPartition := o.Partition != nil
	for _, parent := range parents {
		if wasPartition {
			p.detach(o, parent)
			continue
		}
		p.familyStep(phaseDetach, o, "ALTER TABLE "+qualified(o.Name)+" NO INHERIT "+qualified(parent), "no_inherit", diff.Destructive,
			"the table is not declared as a child of that parent", "its rows are no longer rows of "+display(parent.Schema, parent.Name), nil)
	}
	o.Partition = nil
	o.Inherits = slices.DeleteFunc(slices.Clone(o.Inherits), func(n model.Name) bool { return slices.Contains(parents, n) })
	own := p.inherited[o.Name]
	if len(o.Inherits) > 0 { // columns of the parents that stay; a plan that is wrong about the others does not reach its end
		if own != nil {
			o.Constraints = slices.Concat(o.Constraints, slices.DeleteFunc(slices.Clone(own.Constraints), func(c model.Constraint) bool {
				return slices.ContainsFunc(o.Inherits, func(parent model.Name) bool { return p.keepsCheck(parent, c.Name) })
			}))
		}
		return
	}
	o.Columns = slices.Clone(o.Columns)
	for i := range o.Columns {
		o.Columns[i].Inherited = false
	}
	if own != nil {
		for i := range own.Columns {
			o.Column(own.Columns[i].Name).NotNullRule = own.Columns[i].NotNullRule
		}
		o.Constraints = slices.Concat(o.Constraints, own.Constraints)
		if wasPartition {
			o.Indexes = slices.Concat(o.Indexes, own.Indexes)
		}
	}
}

// refuseJoin refuses what the server would not make of a table that joins a parent.
func (p *planner) refuseJoin(o, n *model.Table, leaves, joins []model.Name) error {
	if len(joins) == 0 || n.Partition != nil {
		return nil
	}
	for i := range n.Columns {
		if c := &n.Columns[i]; c.Inherited && (o.Column(c.Name) == nil || !o.Column(c.Name).Inherited || len(leaves) == len(o.Inherits)) {
			return refuseObject("column %q of table %q.%q is declared as inherited and is the table's own: PostgreSQL cannot change that; declare it in the table as well", c.Name, n.Schema, n.Name.Name)
		}
	}
	for _, parent := range joins {
		t := p.relative(parent)
		if t == nil {
			continue
		}
		for _, c := range p.handedChecks(t) {
			stays := slices.ContainsFunc(o.Parents(), func(name model.Name) bool {
				return !slices.Contains(leaves, name) && p.handsCheck(p.relative(name), c.Name)
			})
			if !stays && !hasCheck(n, c.Name) {
				return refuseObject("the check %q of table %q.%q is declared in its new parent %q.%q alone: PostgreSQL wants it in a table that joins a parent, and keeps it there; declare it in the table as well",
					c.Name, n.Schema, n.Name.Name, parent.Schema, parent.Name)
			}
		}
	}
	return nil
}

// join plans that a table comes to its parents at the end, with everything that they want of it.
func (p *planner) join(o, n *model.Table, parents []model.Name, bound *model.Partition) {
	for _, parent := range parents {
		sql, kind := "ALTER TABLE "+qualified(n.Name)+" INHERIT "+qualified(parent), "inherit"
		if bound != nil {
			sql, kind = "ALTER TABLE "+qualified(parent)+" ATTACH PARTITION "+qualified(n.Name)+" "+bound.Bound, "attach_partition"
		}
		var others []model.Name
		hazard := "its rows become rows of " + display(parent.Schema, parent.Name)
		if bound != nil {
			hazard, others = "fails if a row does not belong there; "+hazardScanExcl, slices.Concat(p.defaultPartition(parent), p.pointingAt(parent))
			if bound.Bound == "DEFAULT" && !slices.ContainsFunc(p.to.Tables, func(t model.Table) bool {
				return t.Partition != nil && t.Partition.Parent == parent && t.Name != n.Name
			}) {
				hazard = "its rows become rows of " + display(parent.Schema, parent.Name) // every row belongs there
			}
		}
		p.familyStep(phaseAttach, n, sql, kind, diff.Warning, "the table is declared under that parent", hazard, others)
		if t := p.relative(parent); t != nil && bound != nil {
			p.adopt(o, n, t)
			p.attachedNotNulls(n, t)
		}
	}
	n.Partition = nil
	n.Inherits = slices.DeleteFunc(slices.Clone(n.Inherits), func(name model.Name) bool { return slices.Contains(parents, name) })
	if bound != nil {
		n.Columns = slices.Clone(n.Columns)
		for i := range n.Columns {
			n.Columns[i].Inherited = false
		}
	}
}

// adopt gives a table that becomes a partition the checks that its parent wants, and leaves what the keys and indexes of the parent, or of its parents, will take over.
func (p *planner) adopt(o, n, parent *model.Table) {
	n.Constraints, n.Indexes = slices.Clone(n.Constraints), slices.Clone(n.Indexes)
	has := func(name string) bool {
		return slices.ContainsFunc(n.Constraints, func(c model.Constraint) bool { return c.Name == name })
	}
	for _, c := range p.handedChecks(parent) {
		if !has(c.Name) {
			c.Comment = ""
			if i := slices.IndexFunc(o.Constraints, func(k model.Constraint) bool { return k.Name == c.Name }); i >= 0 {
				c.Comment = o.Constraints[i].Comment
			}
			n.Constraints = append(n.Constraints, c)
		}
	}
	lineage := p.lineage(parent)
	for _, k := range o.Constraints {
		if k.Kind != model.Check && !has(k.Name) && slices.ContainsFunc(lineage, func(above *model.Table) bool {
			return slices.ContainsFunc(above.Constraints, func(c model.Constraint) bool { return sameButName(&c, &k) })
		}) {
			n.Constraints = append(n.Constraints, k)
		}
	}
	for _, x := range o.Indexes {
		declared := slices.ContainsFunc(n.Indexes, func(y model.Index) bool { return y.Name == x.Name })
		if !declared && slices.ContainsFunc(lineage, func(above *model.Table) bool {
			return slices.ContainsFunc(above.Indexes, func(y model.Index) bool {
				y.Name, y.Comment, y.Options = x.Name, x.Comment, x.Options
				return diff.IndexChange{Old: &x, New: &y}.OnlyComment()
			})
		}) {
			n.Indexes = append(n.Indexes, x)
		}
	}
}

func sameButName(a, b *model.Constraint) bool {
	c := *a
	c.Name, c.Options, c.Comment = b.Name, b.Options, b.Comment
	return sameConstraint(&c, b)
}

// relative finds a table as it is declared, or outside of the managed scope.
func (p *planner) relative(name model.Name) *model.Table {
	if t := p.to.Table(name); t != nil {
		return t
	}
	return p.excluded.Table(name)
}

// refusePartitionKeys refuses a new type of a column that rows are placed by, and access methods where they cannot change.
func (p *planner) refusePartitionKeys() error {
	for i := range p.diff.Tables {
		c := &p.diff.Tables[i]
		if c.Old == nil || c.New == nil {
			continue
		}
		if c.Old.AccessMethod != c.New.AccessMethod && p.major < 15 {
			return refuseObject("table %q.%q is declared with another access method: PostgreSQL %d cannot change it", c.New.Schema, c.New.Name.Name, p.major)
		}
		keys := mentions(c.New.PartitionBy)
		for _, col := range c.Columns {
			if col.Old != nil && col.New != nil && keys[col.New.Name] && (col.Old.Type != col.New.Type || col.Old.Collation != col.New.Collation) {
				return refuseObject("column %q of the partitioned table %q.%q is a part of its key and declared with another type: PostgreSQL cannot change that; declare a new table and move the rows", col.New.Name, c.New.Schema, c.New.Name.Name)
			}
		}
	}
	return nil
}

// refuseHeldChildren names excluded children of a table that goes: the server would drop partitions with it.
func (p *planner) refuseHeldChildren() error {
	for i := range p.excluded.Tables {
		t := &p.excluded.Tables[i]
		for _, parent := range t.Parents() {
			if p.from.Table(parent) != nil && p.to.Table(parent) == nil {
				return refuseObject("the excluded table %q.%q is a child of table %q.%q, which the plan would drop: the plan never cascades into what is excluded", t.Schema, t.Name.Name, parent.Schema, parent.Name)
			}
		}
	}
	return nil
}

// familyOrder orders tables so that parents, and tables whose rows are a column's type, come before those that need them.
func familyOrder(tables []model.Table) []*model.Table {
	index := map[model.Name]*model.Table{}
	for i := range tables {
		index[tables[i].Name] = &tables[i]
	}
	out := make([]*model.Table, 0, len(tables))
	done := map[model.Name]bool{}
	var visit func(t *model.Table)
	visit = func(t *model.Table) {
		if t == nil || done[t.Name] {
			return
		}
		done[t.Name] = true
		for _, parent := range t.Parents() {
			visit(index[parent])
		}
		for i := range t.Columns {
			if used := parseType(t.Columns[i].Type); used.schema != "" {
				visit(index[model.Name{Schema: used.schema, Name: used.name}])
			}
		}
		out = append(out, t)
	}
	for i := range tables {
		visit(&tables[i])
	}
	return out
}

// parentWith finds the parent that a table has a column from; nil where there is none.
func (p *planner) parentWith(t *model.Table, column string) *model.Table {
	for _, name := range t.Parents() {
		if parent := p.relative(name); parent != nil && parent.Column(column) != nil {
			return parent
		}
	}
	return nil
}

func sameGenerated(a, b *model.Generated) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// inheritedState is a declared column that its table has from a parent, as it is once the statements on the parent have run.
func (p *planner) inheritedState(t *model.Table, column string) model.Column {
	c := t.Column(column)
	b := p.startState(t, column)
	retyped := b.Type != c.Type || b.Collation != c.Collation
	b.Type, b.Collation, b.Identity = c.Type, c.Collation, nil
	if p.fresh(t.Name, column) {
		b.Generated = c.Generated
	}
	if retyped {
		b.Default, b.Storage, b.Compression = "", "", ""
	}
	for parent := p.parentWith(t, column); parent != nil; parent = p.parentWith(parent, column) {
		o, n := p.from.Table(parent.Name), parent.Column(column)
		if o == nil || o.Column(column) == nil {
			continue
		}
		old := o.Column(column)
		if !p.fresh(t.Name, column) && !sameGenerated(old.Generated, n.Generated) {
			b.Generated = n.Generated
		}
		if retyped && (old.Default != "" || n.Default != "") {
			b.Default = n.Default
		}
		if old.NotNull != n.NotNull && p.major < 18 && (n.NotNull || !p.dropsNotNullAlone(parent.Name, column)) { // see childNotNull
			b.NotNull = n.NotNull
			break
		}
	}
	return b
}

// startState is a declared column before its table's own statements.
func (p *planner) startState(t *model.Table, column string) model.Column {
	c, o := t.Column(column), p.from.Table(t.Name)
	if !p.fresh(t.Name, column) {
		return *o.Column(column)
	}
	parent := p.parentWith(t, column)
	var b model.Column
	switch {
	case p.excluded.Table(t.Name) != nil:
		b = *c
	case !c.Inherited || parent == nil:
		b = *c
		b.Storage, b.Compression = "", ""
		if parent != nil && p.hasWhenCreated(parent, column) { // CREATE TABLE merges them
			above := p.startState(parent, column)
			b.Storage, b.Compression = above.Storage, above.Compression
		}
	default:
		b = p.startState(parent, column)
		if !p.fresh(parent.Name, column) && p.released(&b, parent.Column(column)) {
			b.Default = ""
		}
	}
	if o != nil { // came by ADD COLUMN, which copies neither
		b.Storage, b.Compression = "", ""
	}
	b.Comment, b.ColumnExtras = "", model.ColumnExtras{}
	return b
}

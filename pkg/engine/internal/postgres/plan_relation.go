package postgres

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// only restricts a change to one table of a family.
func (p *planner) only(table model.Name) string {
	if p.children[table] {
		return "ONLY "
	}
	return ""
}

// single are the kinds of column changes that tables of a family make one by one.
var single = []string{"set_default", "drop_default", "set_storage", "set_compression", "set_statistics", "set_column_options"}

// relationSQL is what stands behind the columns of a new table.
func relationSQL(t *model.Table) string {
	sql := ""
	if len(t.Inherits) > 0 {
		parents := make([]string, len(t.Inherits))
		for i, n := range t.Inherits {
			parents[i] = qualified(n)
		}
		sql += " INHERITS (" + strings.Join(parents, ", ") + ")"
	}
	if t.PartitionBy != "" {
		sql += " PARTITION BY " + t.PartitionBy
	}
	if t.AccessMethod != "" {
		sql += " USING " + ident(t.AccessMethod)
	}
	options := slices.Concat(setOptions(t.Options), toastOptions(setOptions(t.ToastOptions)))
	if len(options) > 0 {
		sql += " WITH (" + strings.Join(options, ", ") + ")"
	}
	return sql
}

func toastOptions(options []string) []string {
	out := make([]string, len(options))
	for i, o := range options {
		out[i] = ident("toast") + "." + o
	}
	return out
}

// alterRelation plans what a table itself differs in, families aside.
func (p *planner) alterRelation(o, n *model.Table) {
	alter := func(ph phase, action, kind, severity, reason, lock, hazard string) {
		p.add(ph, step{table: n.Name, Statement: plan.Statement{
			SQL: "ALTER TABLE " + qualified(n.Name) + " " + action, Severity: severity, Kind: kind, Object: display(n.Schema, n.Name.Name), Reason: reason, Lock: lock, Hazard: hazard,
		}})
	}
	if o.AccessMethod != n.AccessMethod {
		method := n.AccessMethod
		if method == "" {
			method = "heap"
		}
		alter(phaseOptions, "SET ACCESS METHOD "+ident(method), "set_access_method", diff.Warning, "the access method differs", lockExclusive, hazardRewrite)
	}
	set, reset := optionChanges(o.ToastOptions, n.ToastOptions)
	for _, action := range []string{reset, set} {
		if action != "" {
			alter(phaseOptions, strings.NewReplacer(`("`, `("toast"."`, `, "`, `, "toast"."`).Replace(action), "set_table_options", diff.Safe, "the storage parameters of the overflow differ", lockShareUpdate, "")
		}
	}
	p.marks(o, n)
}

// planPersistence orders by foreign keys: a logged table may not point to an unlogged one.
func (p *planner) planPersistence() {
	var unlogged []step
	for _, n := range referencedFirst(p.to.Tables) {
		o := p.from.Table(n.Name)
		if o == nil || o.Unlogged == n.Unlogged {
			continue
		}
		s := step{table: n.Name, Statement: plan.Statement{
			SQL: "ALTER TABLE " + qualified(n.Name) + " SET LOGGED", Severity: diff.Warning, Kind: "set_logged", Object: display(n.Schema, n.Name.Name),
			Reason: "the table is declared logged", Lock: lockExclusive, Hazard: hazardRewrite,
		}}
		if !n.Unlogged {
			p.add(phaseOptions, s)
			continue
		}
		s.SQL, s.Kind, s.Severity = "ALTER TABLE "+qualified(n.Name)+" SET UNLOGGED", "set_unlogged", diff.Destructive
		s.Reason, s.Hazard = "the table is declared unlogged", "a crash of the server empties the table; "+hazardRewrite
		unlogged = append(unlogged, s)
	}
	for _, s := range slices.Backward(unlogged) {
		p.add(phaseUnlogged, s)
	}
}

// referencedFirst orders tables so that what foreign keys point to comes before those that have them.
func referencedFirst(tables []model.Table) []*model.Table {
	index := map[model.Name]*model.Table{}
	for i := range tables {
		index[tables[i].Name] = &tables[i]
	}
	var out []*model.Table
	done := map[model.Name]bool{}
	var visit func(t *model.Table)
	visit = func(t *model.Table) {
		if t == nil || done[t.Name] {
			return
		}
		done[t.Name] = true
		for i := range t.Constraints {
			if r := t.Constraints[i].Reference; r != nil {
				visit(index[r.Table])
			}
		}
		out = append(out, t)
	}
	for i := range tables {
		visit(&tables[i])
	}
	return out
}

// again reports whether a table's index goes in this plan, though it may come back.
func (p *planner) again(table model.Name, index string) bool {
	return index != "" && (p.dropped[partKey{table: table, name: index}] || p.dropped[partKey{table: table, index: true, name: index}])
}

// marks plans what points to an index: it is lost when the index is built again.
func (p *planner) marks(o, n *model.Table) {
	add := func(action, kind, reason, lock, hazard string) {
		p.add(phaseMarks, step{table: n.Name, Statement: plan.Statement{
			SQL: "ALTER TABLE " + qualified(n.Name) + " " + action, Severity: diff.Warning, Kind: kind, Object: display(n.Schema, n.Name.Name), Reason: reason, Lock: lock, Hazard: hazard,
		}})
	}
	again := func(index string) bool { return p.again(n.Name, index) }
	if released := p.releaseIdentity(o); released || o.ReplicaIdentity != n.ReplicaIdentity || o.ReplicaIndex != n.ReplicaIndex || again(n.ReplicaIndex) {
		identity := map[string]string{"": "DEFAULT", "full": "FULL", "nothing": "NOTHING"}[n.ReplicaIdentity]
		if n.ReplicaIdentity == "index" {
			identity = "USING INDEX " + ident(n.ReplicaIndex)
		}
		add("REPLICA IDENTITY "+identity, "set_replica_identity", "the replica identity differs", lockExclusive, "subscribers see other old rows in the stream")
	}
	switch {
	case n.Cluster == "" && o.Cluster != "" && !again(o.Cluster):
		add("SET WITHOUT CLUSTER", "set_cluster", "the table is not declared as clustered", lockShareUpdate, "")
	case n.Cluster != "" && (o.Cluster != n.Cluster || again(n.Cluster)):
		add("CLUSTER ON "+ident(n.Cluster), "set_cluster", "the table is declared as clustered by that index", lockShareUpdate, "")
	}
	for i := range n.Indexes {
		p.keyStatistics(o, n, &n.Indexes[i])
	}
}

// releaseIdentity takes an index out of its duty where a column of it loses NOT NULL, be it for a while, which the server would not allow. It reports
// whether it has.
func (p *planner) releaseIdentity(o *model.Table) bool {
	if o.ReplicaIdentity != "index" || p.again(o.Name, o.ReplicaIndex) {
		return false
	}
	loses := func(column string) bool { return p.losesNotNull(o.Name, column) }
	covers := slices.ContainsFunc(o.Indexes, func(x model.Index) bool {
		return x.Name == o.ReplicaIndex && slices.ContainsFunc(x.Keys, func(k model.IndexKey) bool { return loses(k.Column) })
	}) || slices.ContainsFunc(o.Constraints, func(c model.Constraint) bool {
		return c.Name == o.ReplicaIndex && slices.ContainsFunc(c.Columns, loses)
	})
	if covers {
		p.add(phaseRelease, step{table: o.Name, Statement: plan.Statement{
			SQL: "ALTER TABLE " + qualified(o.Name) + " REPLICA IDENTITY DEFAULT", Severity: diff.Warning, Kind: "release_replica_identity", Object: display(o.Schema, o.Name.Name),
			Reason: "a column of the replica identity loses NOT NULL", Lock: lockExclusive,
		}})
	}
	return covers
}

// losesNotNull reports whether a statement of the plan takes a NOT NULL off a column that stays, or leaves it unproved: the table's own, or a parent's
// that the table may get back.
func (p *planner) losesNotNull(table model.Name, column string) bool {
	o, n := p.from.Table(table), p.to.Table(table)
	if o == nil || n == nil {
		return false
	}
	holds := func(c *model.Column) bool { return c.NotNull && (c.NotNullRule == nil || !c.NotNullRule.NotValid) }
	before, after := o.Column(column), n.Column(column)
	if before == nil || after == nil || !holds(before) {
		return false
	}
	return !holds(after) || slices.ContainsFunc(o.Parents(), func(parent model.Name) bool { return p.losesNotNull(parent, column) })
}

// keyStatistics plans the targets of an index's expressions. Another type of a column may have built the index again.
func (p *planner) keyStatistics(o, n *model.Table, x *model.Index) {
	var old []model.KeyStatistics
	made := true
	if i := slices.IndexFunc(o.Indexes, func(y model.Index) bool { return y.Name == x.Name }); i >= 0 && !p.dropped[partKey{table: n.Name, index: true, name: x.Name}] && !retypes(o, n) {
		old, made = o.Indexes[i].Statistics, false
	}
	set := func(key, target int) {
		p.add(phaseMarks, step{table: n.Name, made: made, Statement: plan.Statement{
			SQL:      "ALTER INDEX " + qualified(model.Name{Schema: n.Schema, Name: x.Name}) + " ALTER COLUMN " + strconv.Itoa(key) + " SET STATISTICS " + strconv.Itoa(target),
			Severity: diff.Safe, Kind: "set_statistics", Object: display(n.Schema, x.Name), Reason: "the statistics target differs", Lock: lockShareUpdate,
		}})
	}
	for _, s := range old {
		if !slices.ContainsFunc(x.Statistics, func(k model.KeyStatistics) bool { return k.Key == s.Key }) {
			set(s.Key, -1)
		}
	}
	for _, s := range x.Statistics {
		if !slices.Contains(old, s) {
			set(s.Key, s.Target)
		}
	}
}

// retypes reports whether a column takes another type, or is computed otherwise: both make indexes anew.
func retypes(o, n *model.Table) bool {
	return slices.ContainsFunc(n.Columns, func(c model.Column) bool {
		old := o.Column(c.Name)
		return old != nil && (old.Type != c.Type || old.Collation != c.Collation || reexpressed(old, &c))
	})
}

// marked reports whether something of the plan points to an index, so that it must be there when the transaction ends.
func (p *planner) marked(table model.Name, x *model.Index) bool {
	t := p.to.Table(table)
	return t != nil && (t.PartitionBy != "" || t.Cluster == x.Name || t.ReplicaIndex == x.Name || len(x.Statistics) > 0)
}

// columnTargets plans statistics targets and options of a column.
func (p *planner) columnTargets(ph phase, table model.Name, o, c *model.Column) {
	alter := "ALTER COLUMN " + ident(c.Name) + " "
	target := func(x *model.Column) int {
		if x.Statistics == nil {
			return -1
		}
		return *x.Statistics
	}
	if target(o) != target(c) {
		p.add(ph, p.columnStep(table, c, alter+"SET STATISTICS "+strconv.Itoa(target(c)), "set_statistics", diff.Safe, "the statistics target differs", ""))
	}
	set, reset := optionChanges(o.Options, c.Options)
	for _, action := range []string{reset, set} {
		if action != "" {
			p.add(ph, p.columnStep(table, c, alter+action, "set_column_options", diff.Safe, "the options of the column differ", ""))
		}
	}
}

// notNullSQL is NOT NULL as a column definition wants it; one that is not valid comes later.
func notNullSQL(c *model.Column) string {
	r := c.NotNullRule
	switch {
	case !c.NotNull || r != nil && r.NotValid:
		return ""
	case r == nil:
		return " NOT NULL"
	}
	sql := " CONSTRAINT " + ident(r.Name) + " NOT NULL"
	if r.NoInherit {
		sql += " NO INHERIT"
	}
	return sql
}

// alterNotNull plans NOT NULL and the constraint behind it.
func (p *planner) alterNotNull(table model.Name, o, n *model.Column) {
	before := *o
	if !p.childNotNull(table, &before, n) {
		p.setNotNull(p.onceThere(table, n), table, &before, n)
	}
}

func (p *planner) setNotNull(ph phase, table model.Name, o, n *model.Column) {
	add := func(action, kind, severity, reason, hazard string) {
		p.add(ph, p.columnStep(table, n, action, kind, severity, reason, hazard))
	}
	rule := func(c *model.Column) model.NotNullRule {
		if c.NotNullRule == nil {
			return model.NotNullRule{Name: notNullName(table.Name, c.Name)}
		}
		return *c.NotNullRule
	}
	before, after := rule(o), rule(n)
	drop := o.NotNull && (!n.NotNull || !before.NotValid && after.NotValid)
	if drop {
		add("ALTER COLUMN "+ident(n.Name)+" DROP NOT NULL", "drop_not_null", diff.Destructive, "the column is declared without NOT NULL", "NULL becomes possible")
	}
	switch {
	case n.NotNull && (!o.NotNull || drop):
		hazard := hazardExistingNull + "; " + hazardScanExcl
		if p.provedNotNull(table, n.Name) {
			hazard = ""
		}
		if n = p.named(table, n); n.NotNullRule == nil {
			add("ALTER COLUMN "+ident(n.Name)+" SET NOT NULL", "set_not_null", diff.Warning, "the column is declared NOT NULL", hazard)
			return
		}
		p.addNotNullRule(ph, table, n, hazard)
	case n.NotNull:
		rename := func() {
			if before.Name != after.Name {
				s := p.columnStep(table, n, "RENAME CONSTRAINT "+ident(before.Name)+" TO "+ident(after.Name), "rename_constraint", diff.Warning, "the NOT NULL constraint has another name", "")
				if ph == phaseColumns && p.hasNewChild(table) {
					p.add(phaseRename, s) // while the child does not have it under a name of its own
				} else {
					p.add(ph, s)
				}
			}
		}
		inherit := func(name, word string) {
			add("ALTER CONSTRAINT "+ident(name)+" "+word, "alter_constraint", diff.Warning, "the NOT NULL constraint is inherited otherwise", "")
		}
		switch { // renamed while the children do not have it
		case after.NoInherit && !before.NoInherit:
			inherit(before.Name, "NO INHERIT")
			rename()
		case before.NoInherit && !after.NoInherit:
			rename()
			inherit(after.Name, "INHERIT")
		default:
			rename()
		}
		if before.NotValid && !after.NotValid {
			add("VALIDATE CONSTRAINT "+ident(after.Name), "validate_constraint", diff.Warning, "the NOT NULL constraint is not validated", hazardExistingNull+"; "+hazardScanBeside)
		}
		p.comment("CONSTRAINT "+ident(after.Name)+" ON "+qualified(table), table, display(table.Schema, table.Name, after.Name), before.Comment, after.Comment)
	}
}

// addNotNullRule adds a NOT NULL that has something of its own.
func (p *planner) addNotNullRule(ph phase, table model.Name, c *model.Column, hazard string) {
	r := c.NotNullRule
	action := "ADD CONSTRAINT " + ident(r.Name) + " NOT NULL " + ident(c.Name)
	if r.NoInherit {
		action += " NO INHERIT"
	}
	if r.NotValid {
		action, hazard = action+" NOT VALID", ""
	}
	p.add(ph, p.columnStep(table, c, action, "set_not_null", diff.Warning, "the column is declared NOT NULL", hazard))
	p.comment("CONSTRAINT "+ident(r.Name)+" ON "+qualified(table), table, display(table.Schema, table.Name, r.Name), "", r.Comment)
}

// newNotNullRule plans what CREATE TABLE and ADD COLUMN leave out of a NOT NULL.
func (p *planner) newNotNullRule(table model.Name, c *model.Column) {
	switch r := c.NotNullRule; {
	case r == nil:
	case r.NotValid:
		p.addNotNullRule(p.onceAdded(table, c), table, c, "")
	default:
		p.comment("CONSTRAINT "+ident(r.Name)+" ON "+qualified(table), table, display(table.Schema, table.Name, r.Name), "", r.Comment)
	}
}

// refuseRelations names what only newer servers can have.
func (p *planner) refuseRelations() error {
	for i := range p.to.Tables {
		t := &p.to.Tables[i]
		for j := range t.Columns {
			if r := t.Columns[j].NotNullRule; r != nil && p.major < 18 {
				return refuseObject("the NOT NULL constraint %q of table %q.%q has a name or a state of its own: PostgreSQL %d has no such constraints", r.Name, t.Schema, t.Name.Name, p.major)
			}
		}
		for j := range t.Constraints {
			if c := &t.Constraints[j]; (c.Period || c.NotEnforced) && p.major < 18 {
				return refuseObject("constraint %q of table %q.%q needs PostgreSQL 18", c.Name, t.Schema, t.Name.Name)
			}
		}
	}
	for i := range p.to.Sequences {
		if s := &p.to.Sequences[i]; s.Unlogged && p.major < 15 {
			return refuseObject("the unlogged sequence %q.%q needs PostgreSQL 15", s.Schema, s.Name.Name)
		}
	}
	return nil
}

package mysql

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// dropParts plans the checks, periods and indexes that go, or go to come back.
func (p *planner) dropParts(t *diff.TableChange) []clause {
	var out []clause
	for i := range t.Old.Constraints {
		c := &t.Old.Constraints[i]
		if c.Kind == model.Check && p.checkGoes(t, c) {
			out = append(out, clause{
				sql: p.server.dropCheck + ident(c.Name), kind: "drop_check", severity: diff.Destructive, weight: instant,
				reason: "check " + display(c.Name) + " is not declared like this", hazard: "rows that the check would have refused become possible",
			})
		}
	}
	for _, period := range t.Old.MySQLPart().Periods {
		if !slices.Contains(t.New.MySQLPart().Periods, period) && !strings.HasPrefix(period, "PERIOD FOR SYSTEM_TIME") {
			name, _, _ := strings.Cut(strings.TrimPrefix(period, "PERIOD FOR "), " (")
			out = append(out, clause{sql: "DROP PERIOD FOR " + name, kind: "drop_period", severity: diff.Destructive, weight: rewrite, reason: "a period exists and is not declared"})
		}
	}
	for i := range t.Old.Indexes {
		x := &t.Old.Indexes[i]
		if !p.indexGoes(t, x) {
			continue
		}
		c := clause{
			sql: "DROP INDEX " + ident(x.Name), kind: "drop_index", severity: diff.IndexChange{Old: x}.Severity(), weight: brief, hazard: "queries that use it become slow",
			reason: "index " + display(x.Name) + " is not declared like this",
		}
		if x.Name == model.PrimaryIndex {
			c.sql, c.kind, c.weight = "DROP PRIMARY KEY", "drop_primary_key", rewrite
		}
		if x.Unique {
			c.hazard = "duplicates become possible"
		}
		out = append(out, c)
	}
	return out
}

// addParts plans the periods, indexes and checks that come.
func (p *planner) addParts(t *diff.TableChange) []clause {
	var out []clause
	for _, period := range t.New.MySQLPart().Periods {
		if !slices.Contains(t.Old.MySQLPart().Periods, period) && !strings.HasPrefix(period, "PERIOD FOR SYSTEM_TIME") {
			out = append(out, clause{
				sql: "ADD " + period, kind: "add_period", severity: diff.Warning, weight: rewrite, reason: "a period is declared and does not exist",
				hazard: "fails if a row ends before it starts",
			})
		}
	}
	for i := range t.New.Indexes {
		x := &t.New.Indexes[i]
		old := index(t.Old, x.Name)
		switch {
		case old != nil && !p.indexGoes(t, old):
			if old.MySQLPart().Hidden != x.MySQLPart().Hidden {
				out = append(out, p.showIndex(x))
			}
		default:
			out = append(out, p.addIndex(x))
		}
	}
	for i := range t.New.Constraints {
		c := &t.New.Constraints[i]
		if c.Kind != model.Check {
			continue
		}
		if old := constraint(t.Old, c.Name); old == nil || p.checkGoes(t, old) {
			out = append(out, clause{
				sql: "ADD " + constraintSQL(c), kind: "add_check", severity: diff.Warning, weight: rewrite, reason: "check " + display(c.Name) + " is declared",
				hazard: "fails if a row violates it",
			})
		}
	}
	return out
}

func (p *planner) showIndex(x *model.Index) clause {
	word := p.server.shown
	if x.MySQLPart().Hidden {
		word = p.server.hidden
	}
	return clause{
		sql: "ALTER INDEX " + ident(x.Name) + " " + word, kind: "alter_index", severity: diff.Warning, weight: instant,
		reason: "index " + display(x.Name) + " differs in whether the optimizer uses it",
	}
}

func (p *planner) addIndex(x *model.Index) clause {
	c := clause{sql: "ADD " + p.server.indexSQL(x), kind: "add_index", severity: diff.IndexChange{New: x}.Severity(), weight: inplace, reason: "index " + display(x.Name) + " is declared"}
	switch {
	case x.Name == model.PrimaryIndex:
		c.kind, c.weight = "add_primary_key", rewrite
	case x.Unique && strings.EqualFold(x.Method, "hash"), slices.ContainsFunc(x.Keys, func(k model.IndexKey) bool { return strings.Contains(k.Order+k.Expression, "OVERLAPS") }):
		c.weight = rewrite // the server finds duplicates by itself, not the storage engine
	case isStructure(x.Method):
		c.weight = shared
	}
	if x.Unique {
		c.hazard = "fails if rows hold duplicates"
	}
	return c
}

func index(t *model.Table, name string) *model.Index {
	i := slices.IndexFunc(t.Indexes, func(x model.Index) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Indexes[i]
}

func constraint(t *model.Table, name string) *model.Constraint {
	i := slices.IndexFunc(t.Constraints, func(c model.Constraint) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Constraints[i]
}

// indexGoes reports an index of the target that cannot stay as it is.
func (p *planner) indexGoes(t *diff.TableChange, x *model.Index) bool {
	return p.indexChanges(t, x) || p.isShadowed(t, x)
}

// indexChanges reports an index of the target that is not declared like this, or that holds a column which is built again.
func (p *planner) indexChanges(t *diff.TableChange, x *model.Index) bool {
	for _, c := range t.Indexes {
		if c.Old != nil && c.Old.Name == x.Name {
			return c.New == nil || !onlyHidden(c)
		}
	}
	for _, k := range x.Keys {
		for name := range keyColumns(k) {
			if p.rebuilt[model.ColumnRef{Table: t.New.Name, Column: name}] {
				return true
			}
		}
	}
	return false
}

func keyColumns(k model.IndexKey) map[string]bool {
	if k.Column != "" {
		return map[string]bool{k.Column: true}
	}
	return mentions(k.Expression)
}

func onlyHidden(c diff.IndexChange) bool {
	o, n := *c.Old, *c.New
	om, nm := *o.MySQLPart(), *n.MySQLPart()
	om.Hidden = nm.Hidden
	o.MySQL, n.MySQL = &om, &nm
	return n.Name != model.PrimaryIndex && diff.IndexChange{Old: &o, New: &n}.OnlyComment() && o.Comment == n.Comment
}

// isShadowed reports an index that the server made for a foreign key and would silently drop, because an index that comes could serve the key as well.
// Written down in the same statement, it is an index like any other.
func (p *planner) isShadowed(t *diff.TableChange, x *model.Index) bool {
	if x.Unique || index(t.New, x.Name) == nil || !slices.ContainsFunc(t.Old.Constraints, func(c model.Constraint) bool { return c.Kind == model.ForeignKey && serves(x, c.Columns) }) {
		return false
	}
	return slices.ContainsFunc(t.Indexes, func(c diff.IndexChange) bool {
		return c.New != nil && c.New.Name != x.Name && serves(c.New, columnsOf(x))
	})
}

func columnsOf(x *model.Index) []string {
	var out []string
	for _, k := range x.Keys {
		out = append(out, k.Column)
	}
	return out
}

// serves reports an index whose first keys are these columns, in order.
func serves(x *model.Index, columns []string) bool {
	if len(x.Keys) < len(columns) || isStructure(x.Method) {
		return false
	}
	for i, name := range columns {
		if x.Keys[i].Column != name || name == "" || x.Keys[i].Prefix > 0 {
			return false
		}
	}
	return true
}

// checkGoes reports a check of the target that cannot stay as it is.
func (p *planner) checkGoes(t *diff.TableChange, c *model.Constraint) bool {
	for _, change := range t.Constraints {
		if change.Old != nil && change.Old.Name == c.Name {
			return true
		}
	}
	for _, name := range c.Columns {
		if p.rebuilt[model.ColumnRef{Table: t.New.Name, Column: name}] {
			return true
		}
	}
	return false
}

// planForeignKeys drops the foreign keys that are not declared, stand on something that changes, or hold a circle of tables together that goes; it adds
// what is then missing.
func (p *planner) planForeignKeys() {
	for i := range p.from.Tables {
		o := &p.from.Tables[i]
		n := p.to.Table(o.Name)
		var drops []clause
		for j := range o.Constraints {
			if c := &o.Constraints[j]; c.Kind == model.ForeignKey && p.foreignKeyGoes(o, n, c) {
				drops = append(drops, clause{
					sql: "DROP FOREIGN KEY " + ident(c.Name), kind: "drop_foreign_key", severity: diff.Destructive, weight: instant,
					reason: "foreign key " + display(c.Name) + " is not declared, or what it stands on changes", hazard: "rows that point nowhere become possible",
				})
			}
		}
		p.alter(phaseDropForeignKeys, o.Name.Name, drops)
	}
	for i := range p.to.Tables {
		n := &p.to.Tables[i]
		o := p.from.Table(n.Name)
		var adds []clause
		for j := range n.Constraints {
			c := &n.Constraints[j]
			if c.Kind != model.ForeignKey {
				continue
			}
			if o != nil {
				if old := constraint(o, c.Name); old != nil && old.Kind == model.ForeignKey && !p.foreignKeyGoes(o, n, old) {
					continue
				}
			}
			add := clause{
				sql: "ADD " + constraintSQL(c), kind: "add_foreign_key", severity: diff.Warning, weight: rewrite, reason: "foreign key " + display(c.Name) + " is declared",
				hazard: "fails if a row points nowhere",
			}
			if o == nil {
				add.severity, add.weight, add.hazard = diff.Safe, instant, ""
			}
			adds = append(adds, add)
		}
		p.alter(phaseForeignKeys, n.Name.Name, adds)
	}
}

// foreignKeyGoes reports a foreign key of the target that has to be dropped, for good or to come back.
func (p *planner) foreignKeyGoes(o, n *model.Table, c *model.Constraint) bool {
	if n == nil {
		return p.inCircle(o, c)
	}
	declared := constraint(n, c.Name)
	if declared == nil || !diff.SameConstraint(c, declared) {
		return true
	}
	return p.loses(o, n, c.Columns) || p.loses(p.from.Table(c.Reference.Table), p.to.Table(c.Reference.Table), c.Reference.Columns)
}

// inCircle reports a foreign key of a table that goes, to a table that goes and leads back to it.
func (p *planner) inCircle(o *model.Table, c *model.Constraint) bool {
	if c.Reference.Table == o.Name {
		return false // the table drops with it
	}
	seen := map[model.Name]bool{}
	var leads func(model.Name) bool
	leads = func(at model.Name) bool {
		t := p.from.Table(at)
		if at == o.Name {
			return true
		}
		if t == nil || seen[at] || p.to.Table(at) != nil {
			return false
		}
		seen[at] = true
		return slices.ContainsFunc(t.Constraints, func(k model.Constraint) bool { return k.Kind == model.ForeignKey && leads(k.Reference.Table) })
	}
	return leads(c.Reference.Table)
}

// loses reports that the columns of a foreign key change, or that the index which serves them is not there all the time, or that the table is
// rewritten into another engine.
func (p *planner) loses(o, n *model.Table, columns []string) bool {
	if o == nil || n == nil {
		return false // excluded, or of another database
	}
	for _, name := range columns {
		if p.moved[model.ColumnRef{Table: n.Name, Column: name}] {
			return true
		}
	}
	if o.MySQLPart().Engine != n.MySQLPart().Engine || o.MySQLPart().Partitioning != n.MySQLPart().Partitioning || o.MySQLPart().Versioned != n.MySQLPart().Versioned {
		return true
	}
	t := p.tableChange(n.Name)
	if t == nil {
		return false
	}
	for i := range o.Indexes {
		// One that is shadowed comes back in the statement that it goes in, and so does the one that casts the shadow.
		if x := &o.Indexes[i]; serves(x, columns) && p.indexChanges(t, x) {
			return true
		}
	}
	return false
}

func (p *planner) tableChange(name model.Name) *diff.TableChange {
	for i := range p.diff.Tables {
		if t := &p.diff.Tables[i]; t.Old != nil && t.New != nil && t.New.Name == name {
			return t
		}
	}
	return nil
}

package mysql

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

func (p *planner) planTables() {
	var dropped []*model.Table
	for i := range p.diff.Tables {
		c := &p.diff.Tables[i]
		switch {
		case c.Old == nil:
			p.add(phaseTables, step{table: c.New.Name.Name, Statement: plan.Statement{
				SQL: p.server.createTableSQL(c.New), Severity: diff.Safe, Kind: "create_table", Object: display(c.New.Name.Name), Reason: "the table is declared and does not exist",
			}})
		case c.New == nil:
			dropped = append(dropped, c.Old)
		default:
			p.alterTable(c)
		}
	}
	p.dropTables(dropped)
}

// dropTables drops children first; the foreign keys of a circle have been cut by then.
func (p *planner) dropTables(tables []*model.Table) {
	remaining := slices.Clone(tables)
	for len(remaining) > 0 {
		i := slices.IndexFunc(remaining, func(t *model.Table) bool {
			return !slices.ContainsFunc(remaining, func(o *model.Table) bool { return o != t && p.pointsAt(o, t) })
		})
		i = max(i, 0)
		t := remaining[i]
		p.add(phaseDropTables, step{table: t.Name.Name, Statement: plan.Statement{
			SQL: "DROP TABLE " + ident(t.Name.Name), Severity: diff.Destructive, Kind: "drop_table", Object: display(t.Name.Name),
			Reason: "the table exists and is not declared", Lock: "an exclusive metadata lock", Hazard: "the rows are lost",
		}})
		remaining = slices.Delete(remaining, i, i+1)
	}
}

// pointsAt reports a foreign key that is still there when tables are dropped.
func (p *planner) pointsAt(child, parent *model.Table) bool {
	return slices.ContainsFunc(child.Constraints, func(c model.Constraint) bool {
		return c.Kind == model.ForeignKey && c.Reference.Table == parent.Name && !p.inCircle(child, &c)
	})
}

// alterTable plans what differs inside of a table: one ALTER TABLE, and more only around partitions, which no other change can share a statement with.
func (p *planner) alterTable(c *diff.TableChange) {
	o, n := c.Old.MySQLPart(), c.New.MySQLPart()
	name := c.New.Name.Name
	clauses := p.dropParts(c)
	clauses = append(clauses, p.columns(c)...)
	clauses = append(clauses, p.addParts(c)...)
	clauses = append(clauses, tableOptions(c)...)
	versioning := versioningClauses(c)
	repartition := o.Partitioning != n.Partitioning
	if repartition && o.Partitioning != "" && (n.Partitioning == "" || len(clauses)+len(versioning) > 0) {
		p.alter(phaseUnpartition, name, []clause{{sql: "REMOVE PARTITIONING", kind: "remove_partitioning", severity: diff.Warning, reason: "the table is declared with other partitions or none", weight: rewrite}})
	}
	p.alter(phaseAlter, name, viaText(c))
	// The server wants a change of versioning by itself.
	if len(versioning) > 0 && (o.Versioned && !n.Versioned || !o.Versioned && hasUnversioned(c.New)) {
		isEngine := func(c clause) bool { return c.kind == "set_engine" }
		if !o.Versioned { // a table with versions keeps its engine
			p.alter(phaseAlter, name, slices.DeleteFunc(slices.Clone(clauses), func(c clause) bool { return !isEngine(c) }))
			clauses = slices.DeleteFunc(clauses, isEngine)
		}
		p.alter(phaseAlter, name, versioning)
		p.alter(phaseAlter, name, clauses)
	} else {
		p.alter(phaseAlter, name, clauses)
		p.alter(phaseAlter, name, versioning)
	}
	if kept := keptOption(c); kept != "" {
		p.alter(phaseAlter, name, []clause{{sql: kept, kind: "set_table_options", severity: diff.Safe, reason: "the table options differ", weight: rewrite}})
	}
	if repartition && n.Partitioning != "" {
		p.alter(phasePartition, name, []clause{{
			sql: n.Partitioning, kind: "partition_table", severity: diff.Warning, reason: "the table is declared with other partitions",
			hazard: "fails if a row fits into no partition", weight: rewrite,
		}})
	}
}

// hasUnversioned reports a column that only a table with versions can have.
func hasUnversioned(t *model.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c model.Column) bool { return c.MySQLPart().Unversioned })
}

// keptOption is the reset of an option that Aria gives every table and that stays when the table leaves that engine.
func keptOption(c *diff.TableChange) string {
	const option = "PAGE_CHECKSUM="
	has := func(t *model.Table) bool {
		return slices.ContainsFunc(t.Options, func(s string) bool { return strings.HasPrefix(s, option) })
	}
	if c.Old.MySQLPart().Engine != "Aria" || c.New.MySQLPart().Engine == "Aria" || !has(c.Old) || has(c.New) {
		return ""
	}
	return option + "DEFAULT"
}

// versioningClauses switch system versioning, together with the columns and the period that it needs.
func versioningClauses(c *diff.TableChange) []clause {
	o, n := c.Old.MySQLPart(), c.New.MySQLPart()
	if o.Versioned == n.Versioned && !systemPeriodDiffers(o, n) {
		return nil
	}
	var out []clause
	add := func(sql, kind, severity, reason, hazard string) {
		out = append(out, clause{sql: sql, kind: kind, severity: severity, reason: reason, hazard: hazard, weight: rewrite})
	}
	for i := range c.Old.Columns {
		if col := &c.Old.Columns[i]; col.MySQLPart().RowPeriod != "" && (!n.Versioned || systemPeriodDiffers(o, n)) && rowColumn(c.New, col.Name) == nil {
			add("DROP COLUMN "+ident(col.Name), "drop_column", diff.Destructive, "column "+display(col.Name)+" exists and is not declared", "the times of the row versions are lost")
		}
	}
	for i := range c.New.Columns {
		if col := &c.New.Columns[i]; col.MySQLPart().RowPeriod != "" && rowColumn(c.Old, col.Name) == nil {
			add("ADD COLUMN "+columnSQL(col), "add_column", diff.Safe, "column "+display(col.Name)+" is declared and does not exist", "")
		}
	}
	if period := systemPeriod(n); period != "" && period != systemPeriod(o) {
		add("ADD "+period, "add_period", diff.Warning, "the system period is declared", "")
	}
	switch {
	case !o.Versioned && n.Versioned:
		add("ADD SYSTEM VERSIONING", "add_versioning", diff.Warning, "the table is declared with system versioning", "")
	case o.Versioned && !n.Versioned:
		// Without its columns the period has gone already.
		out = append([]clause{{
			sql: "DROP SYSTEM VERSIONING", kind: "drop_versioning", severity: diff.Destructive, reason: "the table is declared without system versioning",
			hazard: "every row version of the past is lost", weight: rewrite,
		}}, out...)
	}
	return out
}

func systemPeriod(t *model.TableMySQL) string {
	for _, period := range t.Periods {
		if strings.HasPrefix(period, "PERIOD FOR SYSTEM_TIME") {
			return period
		}
	}
	return ""
}

func systemPeriodDiffers(o, n *model.TableMySQL) bool { return systemPeriod(o) != systemPeriod(n) }

func rowColumn(t *model.Table, name string) *model.Column {
	if c := t.Column(name); c != nil && c.MySQLPart().RowPeriod != "" {
		return c
	}
	return nil
}

// tableOptions plan engine, default collation, comment and the options that have a name.
func tableOptions(c *diff.TableChange) []clause {
	var out []clause
	o, n := c.Old.MySQLPart(), c.New.MySQLPart()
	if o.Engine != n.Engine {
		out = append(out, clause{sql: "ENGINE=" + n.Engine, kind: "set_engine", severity: diff.Warning, reason: "the storage engine differs", weight: rewrite})
	}
	if o.Collation != n.Collation && n.Collation != "" {
		out = append(out, clause{sql: charsetSQL(n.Collation), kind: "set_collation", severity: diff.Safe, reason: "the default character set of new columns differs", weight: inplace})
	}
	for _, option := range c.New.Options {
		if !slices.Contains(c.Old.Options, option) {
			out = append(out, clause{sql: option, kind: "set_table_options", severity: diff.Safe, reason: "the table options differ", weight: inplace})
		}
	}
	for _, option := range c.Old.Options {
		key, _, _ := strings.Cut(option, "=")
		if !slices.ContainsFunc(c.New.Options, func(s string) bool { return strings.HasPrefix(s, key+"=") }) {
			out = append(out, clause{sql: key + "=" + resets[key], kind: "set_table_options", severity: diff.Safe, reason: "the table options differ", weight: inplace})
		}
	}
	if c.Old.Comment != c.New.Comment {
		out = append(out, clause{sql: "COMMENT=" + literal(c.New.Comment), kind: "set_comment", severity: diff.Safe, reason: "the comment differs"})
	}
	return out
}

package postgres

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
		if c := &p.diff.Tables[i]; c.New == nil {
			dropped = append(dropped, c.Old)
		}
	}
	p.dropTables(dropped)
	p.planPersistence()
	for _, n := range familyOrder(p.to.Tables) {
		if o := p.from.Table(n.Name); o != nil {
			p.alterTable(o, n)
		} else {
			p.createTable(n)
		}
	}
}

func (p *planner) createTable(t *model.Table) {
	first, waiting := p.firstForm(t)
	sql, later := createTableSQL(p.namedColumns(first), p.inheritedNotNulls(t))
	s := step{table: t.Name, Statement: plan.Statement{
		SQL: sql, Severity: diff.Safe, Kind: "create_table", Object: display(t.Schema, t.Name.Name), Reason: "the table is declared and does not exist",
	}}
	p.underParents(&s, t)
	p.add(phaseTables, s)
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Inherited {
			p.inheritedColumn(t, nil, c)
		} else {
			p.columnExtras(t.Name, p.mergedStart(t, c.Name), c)
			p.newNotNullRule(t.Name, c)
		}
	}
	p.marks(&model.Table{}, t)
	for _, c := range slices.Concat(later, waiting) {
		p.addConstraint(t.Name, c, true)
	}
	for i := range t.Constraints {
		p.constraintComment(t.Name, nil, &t.Constraints[i])
	}
	for i := range t.Indexes {
		p.createIndex(t.Name, &t.Indexes[i], "the index is declared and does not exist")
	}
	p.comment("TABLE "+qualified(t.Name), t.Name, display(t.Schema, t.Name.Name), "", t.Comment)
}

// mergedStart is what a column of a new table takes from its parents' besides what CREATE TABLE says; nil for nothing.
func (p *planner) mergedStart(t *model.Table, column string) *model.Column {
	if start := p.startState(t, column); start.Storage != "" || start.Compression != "" {
		return &model.Column{Storage: start.Storage, Compression: start.Compression}
	}
	return nil
}

// underParents says what a new table costs the parents that are there before it.
func (p *planner) underParents(s *step, t *model.Table) {
	if !slices.ContainsFunc(t.Parents(), func(n model.Name) bool { return p.from.Table(n) != nil || p.excluded.Table(n) != nil }) {
		return
	}
	if t.Partition == nil {
		s.Lock = lockShareUpdate
		return
	}
	s.Lock = lockExclusive
	s.others = p.defaultPartition(t.Partition.Parent)
	if len(s.others) > 0 {
		s.Hazard = hazardDefaultPartition
	}
	s.others = append(s.others, p.pointingAt(t.Partition.Parent)...)
}

// dropTables drops children first. Where tables point at each other in a circle, a foreign key goes first by itself.
func (p *planner) dropTables(tables []*model.Table) {
	remaining := slices.Clone(tables)
	cut := map[partKey]bool{}
	for len(remaining) > 0 {
		i := slices.IndexFunc(remaining, func(t *model.Table) bool { return !pointedAt(remaining, t, cut) })
		if i >= 0 {
			t := remaining[i]
			others := pointedTo(t)
			if t.Partition != nil {
				others = slices.Concat(others, t.Parents(), p.defaultPartition(t.Partition.Parent))
			}
			p.add(phaseDropTables, step{table: t.Name, others: others, Statement: plan.Statement{
				SQL: "DROP TABLE " + qualified(t.Name), Severity: diff.Destructive, Kind: "drop_table", Object: display(t.Schema, t.Name.Name),
				Reason: "the table exists and is not declared", Lock: lockExclusive, Hazard: hazardLostRows,
			}})
			remaining = slices.Delete(remaining, i, i+1)
			continue
		}
		victim := remaining[slices.IndexFunc(remaining, func(t *model.Table) bool { return referencedBy(remaining, t, cut) })]
		for _, t := range remaining {
			for j := range t.Constraints {
				c := &t.Constraints[j]
				key := partKey{table: t.Name, name: c.Name}
				if t != victim && c.Kind == model.ForeignKey && c.Reference.Table == victim.Name && !cut[key] {
					cut[key] = true
					p.dropConstraint(t.Name, c, "its table goes, in a circle of foreign keys")
				}
			}
		}
	}
}

// pointedTo are the tables that the foreign keys of a table lead to.
func pointedTo(t *model.Table) []model.Name {
	var out []model.Name
	for i := range t.Constraints {
		if r := t.Constraints[i].Reference; r != nil {
			out = append(out, r.Table)
		}
	}
	return out
}

// pointedAt reports whether another table of the list has to go before t.
func pointedAt(tables []*model.Table, t *model.Table, cut map[partKey]bool) bool {
	return referencedBy(tables, t, cut) || slices.ContainsFunc(tables, func(o *model.Table) bool {
		return o != t && (slices.Contains(o.Parents(), t.Name) || slices.ContainsFunc(o.Columns, func(c model.Column) bool {
			used := parseType(c.Type)
			return used.schema == t.Schema && used.name == t.Name.Name
		}))
	})
}

// referencedBy reports whether another table of the list has a foreign key to t that was not cut.
func referencedBy(tables []*model.Table, t *model.Table, cut map[partKey]bool) bool {
	return slices.ContainsFunc(tables, func(o *model.Table) bool {
		return o != t && slices.ContainsFunc(o.Constraints, func(c model.Constraint) bool {
			return c.Kind == model.ForeignKey && c.Reference.Table == t.Name && !cut[partKey{table: o.Name, name: c.Name}]
		})
	})
}

// alterTable plans everything inside a table that both sides have.
func (p *planner) alterTable(o, n *model.Table) {
	c := p.tableChange(n.Name)
	if c != nil {
		p.tableOptions(o, n)
		p.comment("TABLE "+qualified(n.Name), n.Name, display(n.Schema, n.Name.Name), o.Comment, n.Comment)
		for _, k := range c.Constraints {
			p.changeConstraint(n.Name, k)
		}
		for _, x := range c.Indexes {
			p.changeIndex(n.Name, x)
		}
	}
	p.planColumns(o, n)
	p.recreateParts(o, n)
	p.alterRelation(o, n) // last: it asks what was dropped
}

func (p *planner) tableChange(name model.Name) *diff.TableChange {
	i, ok := slices.BinarySearchFunc(p.diff.Tables, name, func(c diff.TableChange, k model.Name) int {
		if c.New != nil {
			return c.New.Compare(k)
		}
		return c.Old.Compare(k)
	})
	if !ok {
		return nil
	}
	return &p.diff.Tables[i]
}

// recreateParts drops and adds what stays the same and cannot stay where it is.
func (p *planner) recreateParts(o, n *model.Table) {
	for i := range n.Constraints {
		c := &n.Constraints[i]
		if p.recreated[partKey{table: n.Name, name: c.Name}] {
			p.dropConstraint(n.Name, counterpart(o, c), "something that it depends on is built again")
			p.addConstraint(n.Name, c, false)
			p.constraintComment(n.Name, nil, c)
		}
	}
	for i := range n.Indexes {
		x := &n.Indexes[i]
		if p.recreated[partKey{table: n.Name, index: true, name: x.Name}] {
			gone, back := "a column of it is built again", "a column of it was built again"
			if p.isLeftover(n.Name, x.Name) {
				gone, back = "an interrupted build left it unusable", "an interrupted build left it unusable"
			}
			p.dropIndex(n.Name, x, gone)
			p.createIndex(n.Name, x, back)
		}
	}
}

func (p *planner) tableOptions(o, n *model.Table) {
	set, reset := optionChanges(o.Options, n.Options)
	for _, action := range []string{reset, set} {
		if action != "" {
			p.add(phaseOptions, step{table: n.Name, Statement: plan.Statement{
				SQL: "ALTER TABLE " + qualified(n.Name) + " " + action, Severity: diff.Safe, Kind: "set_table_options", Object: display(n.Schema, n.Name.Name),
				Reason: "the storage parameters differ", Lock: tableOptionLock(action),
			}})
		}
	}
}

// tableOptionLock is light for all parameters of a table but one.
func tableOptionLock(action string) string {
	if strings.Contains(action, `"user_catalog_table"`) {
		return lockExclusive
	}
	return lockShareUpdate
}

// optionChanges returns the SET and the RESET that lead from one list of storage parameters to another; empty where not needed.
func optionChanges(o, n []string) (set, reset string) {
	var changed, gone []string
	for _, option := range n {
		if !slices.Contains(o, option) {
			changed = append(changed, option)
		}
	}
	for _, option := range o {
		key, _, _ := strings.Cut(option, "=")
		if !slices.ContainsFunc(n, func(s string) bool { return strings.HasPrefix(s, key+"=") }) {
			gone = append(gone, ident(key))
		}
	}
	if len(changed) > 0 {
		set = "SET (" + strings.Join(setOptions(changed), ", ") + ")"
	}
	if len(gone) > 0 {
		reset = "RESET (" + strings.Join(gone, ", ") + ")"
	}
	return set, reset
}

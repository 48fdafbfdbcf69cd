package postgres

import (
	"reflect"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// changeConstraint plans one constraint of a table that both sides have.
func (p *planner) changeConstraint(table model.Name, c diff.ConstraintChange) {
	switch {
	case c.Old == nil && p.heldCheck(table, c.New) != nil:
		p.mergeCheck(table, p.heldCheck(table, c.New), c.New)
	case c.Old == nil:
		p.addConstraint(table, c.New, false)
		p.constraintComment(table, nil, c.New)
	case c.New == nil:
		if !p.goesWithColumn(table, c.Old) {
			p.dropConstraint(table, c.Old, "the constraint exists and is not declared")
		}
	default:
		if p.recreated[partKey{table: table, name: c.New.Name}] {
			return // recreateParts does it
		}
		steps, inPlace := alterConstraint(table, c.Old, c.New)
		if inPlace {
			for _, s := range steps {
				p.add(s.phase, s.step)
			}
			p.constraintComment(table, c.Old, c.New)
			return
		}
		p.dropConstraint(table, c.Old, "the constraint is declared otherwise")
		p.addConstraint(table, c.New, false)
		p.constraintComment(table, nil, c.New)
	}
}

// goesWithColumn reports whether a constraint that is not declared vanishes with one of its columns. Foreign keys and what they
// point to are always dropped by name, and so are checks that children have as well: the server would leave them there as inherited for good.
func (p *planner) goesWithColumn(table model.Name, c *model.Constraint) bool {
	if c.Kind != model.Check || p.children[table] || callsAny(p.movingLate, c.Expression) {
		return false
	}
	for _, column := range c.Columns {
		if p.columnGoes(model.ColumnRef{Table: table, Column: column}) {
			return true
		}
	}
	return false
}

// phased is a step with its phase.
type phased struct {
	phase phase
	step  step
}

// alterConstraint changes a constraint without dropping it, where the server can. It reports whether that covers all that differs but
// the comment.
func alterConstraint(table model.Name, o, n *model.Constraint) ([]phased, bool) {
	at, object := *o, display(table.Schema, table.Name, n.Name)
	var out []phased
	add := func(ph phase, sql, kind, reason, lock, hazard string) {
		out = append(out, phased{ph, step{table: table, Statement: plan.Statement{
			SQL: sql, Severity: diff.Warning, Kind: kind, Object: object, Reason: reason, Lock: lock, Hazard: hazard,
		}}})
	}
	alter := "ALTER TABLE " + qualified(table) + " "
	if at.Name != n.Name { // primary keys only
		add(phaseRename, alter+"RENAME CONSTRAINT "+ident(at.Name)+" TO "+ident(n.Name), "rename_constraint", "the primary key has another name", lockExclusive, "")
		at.Name = n.Name
	}
	if at.Kind == model.ForeignKey && (at.Deferrable != n.Deferrable || at.Deferred != n.Deferred) {
		rule := deferSQL(n)
		if rule == "" {
			rule = " NOT DEFERRABLE"
		}
		add(phaseForeignKeys, alter+"ALTER CONSTRAINT "+ident(n.Name)+rule, "alter_constraint", "the time of its check differs", lockExclusive, "")
		at.Deferrable, at.Deferred = n.Deferrable, n.Deferred
	}
	if at.Kind == model.ForeignKey && at.NotEnforced != n.NotEnforced {
		word, hazard := "ENFORCED", hazardRowsAgainst+"; "+hazardScanExcl
		if n.NotEnforced {
			word, hazard = "NOT ENFORCED", hazardUnprotected
		}
		add(phaseForeignKeys, alter+"ALTER CONSTRAINT "+ident(n.Name)+" "+word, "alter_constraint", "whether it is enforced differs", lockExclusive, hazard)
		last := &out[len(out)-1].step
		last.others = []model.Name{n.Reference.Table}
		if n.NotEnforced {
			last.Severity = diff.Destructive
		}
		at.NotEnforced, at.NotValid = n.NotEnforced, false
	}
	if at.NotValid && !n.NotValid {
		ph := phaseForeignKeys
		if at.Kind == model.Check {
			ph = phaseKeys // a parent's check merges with one that is validated alone
		}
		add(ph, alter+"VALIDATE CONSTRAINT "+ident(n.Name), "validate_constraint", "the constraint is not validated", lockShareUpdate, hazardRowsAgainst+"; "+hazardScanBeside)
		at.NotValid = false
	}
	set, reset := optionChanges(at.Options, n.Options)
	for _, action := range []string{reset, set} {
		if action != "" {
			add(phaseKeys, "ALTER INDEX "+qualified(model.Name{Schema: table.Schema, Name: n.Name})+" "+action, "set_index_options", "the storage parameters differ", indexOptionLock(action), "")
		}
	}
	at.Options, at.Comment = n.Options, n.Comment
	if !sameConstraint(&at, n) {
		return nil, false
	}
	return out, true
}

// sameConstraint compares all but lists that are absent on one side and empty on the other.
func sameConstraint(a, b *model.Constraint) bool {
	return diff.ConstraintChange{Old: a, New: b}.OnlyComment() || reflect.DeepEqual(a, b)
}

func (p *planner) dropConstraint(table model.Name, c *model.Constraint, reason string) {
	p.dropped[partKey{table: table, name: c.Name}] = true
	ph := p.early(phaseDropConstraints, c.Expression+c.Definition)
	if c.Kind == model.ForeignKey {
		ph = phaseDropForeignKeys
		if p.keyReleases(table, c) {
			ph = phaseReleaseKeys
		}
	}
	var others []model.Name
	if c.Reference != nil {
		others = []model.Name{c.Reference.Table}
	}
	p.add(ph, step{table: table, others: others, Statement: plan.Statement{
		SQL: "ALTER TABLE " + qualified(table) + " DROP CONSTRAINT " + ident(c.Name), Severity: diff.Destructive, Kind: "drop_" + string(c.Kind),
		Object: display(table.Schema, table.Name, c.Name), Reason: reason, Lock: lockExclusive, Hazard: hazardUnprotected,
	}})
}

func (p *planner) addConstraint(table model.Name, c *model.Constraint, newTable bool) {
	s := step{table: table, Statement: plan.Statement{
		SQL: "ALTER TABLE " + qualified(table) + " ADD " + constraintSQL(c), Severity: diff.Warning, Kind: "add_" + string(c.Kind),
		Object: display(table.Schema, table.Name, c.Name), Reason: "the constraint is declared and does not exist as declared", Lock: lockExclusive,
	}}
	ph := phaseChecks
	switch c.Kind {
	case model.PrimaryKey, model.Unique:
		ph, s.Hazard = phaseKeys, hazardDuplicates+"; builds an index while nobody can read or write the table"
	case model.Exclusion:
		ph, s.Hazard = phaseKeys, "fails if rows conflict; builds an index while nobody can read or write the table"
	case model.ForeignKey:
		ph, s.Lock, s.Hazard = phaseForeignKeys, lockShareRow, hazardRowsAgainst+"; "+hazardScan+", nor the referenced one"
		s.others = p.below(c.Reference.Table)
	case model.Check:
		s.merged = p.mergesCheck(table, c.Name)
		s.Hazard = hazardRowsAgainst + "; " + hazardScanExcl
	}
	if c.NotValid || c.NotEnforced {
		s.Hazard = ""
	}
	if p.constraintWaits(table, c) {
		ph = laterPhase(ph)
	}
	if newTable {
		s.Severity, s.Hazard = diff.Safe, ""
		if c.Kind == model.ForeignKey && !p.relationExists(c.Reference.Table) {
			s.Lock = ""
		}
	}
	if !newTable && p.validatesLate(table, c) {
		p.addAndValidate(ph, s, c)
		return
	}
	p.add(ph, s)
}

func (p *planner) constraintComment(table model.Name, o, n *model.Constraint) {
	old := ""
	if o != nil {
		old = o.Comment
	}
	p.comment("CONSTRAINT "+ident(n.Name)+" ON "+qualified(table), table, display(table.Schema, table.Name, n.Name), old, n.Comment)
}

// changeIndex plans one index of a table that both sides have.
func (p *planner) changeIndex(table model.Name, c diff.IndexChange) {
	switch {
	case c.Old == nil:
		p.createIndex(table, c.New, "the index is declared and does not exist")
	case c.New == nil:
		p.dropIndex(table, c.Old, "the index exists and is not declared")
	case p.recreated[partKey{table: table, index: true, name: c.New.Name}]:
	case onlyOptions(c):
		p.indexOptions(table, c)
	default:
		p.dropIndex(table, c.Old, "the index is declared otherwise")
		p.createIndex(table, c.New, "the index is declared otherwise")
	}
}

// onlyOptions reports that an index differs in what ALTER INDEX and COMMENT can change.
func onlyOptions(c diff.IndexChange) bool {
	o := *c.Old
	o.Options = c.New.Options
	return diff.IndexChange{Old: &o, New: c.New}.OnlyComment()
}

func (p *planner) indexOptions(table model.Name, c diff.IndexChange) {
	index := model.Name{Schema: table.Schema, Name: c.New.Name}
	set, reset := optionChanges(c.Old.Options, c.New.Options)
	for _, action := range []string{reset, set} {
		if action != "" {
			p.add(phaseIndexes, step{table: table, Statement: plan.Statement{
				SQL: "ALTER INDEX " + qualified(index) + " " + action, Severity: diff.Safe, Kind: "set_index_options", Object: display(index.Schema, index.Name),
				Reason: "the storage parameters differ", Lock: indexOptionLock(action),
			}})
		}
	}
	p.comment("INDEX "+qualified(index), table, display(index.Schema, index.Name), c.Old.Comment, c.New.Comment)
}

func (p *planner) dropIndex(table model.Name, x *model.Index, reason string) {
	p.dropped[partKey{table: table, index: true, name: x.Name}] = true
	index := model.Name{Schema: table.Schema, Name: x.Name}
	s := step{table: table, Statement: plan.Statement{
		SQL: "DROP INDEX " + qualified(index), Severity: diff.IndexChange{Old: x}.Severity(), Kind: "drop_index", Object: display(index.Schema, index.Name),
		Reason: reason, Lock: lockExclusive, Hazard: "queries that use it become slow",
	}}
	if x.Unique {
		s.Hazard = "duplicates become possible"
	}
	p.add(p.early(phaseDropIndexes, indexExpressions(x)...), s)
}

func (p *planner) createIndex(table model.Name, x *model.Index, reason string) {
	index := model.Name{Schema: table.Schema, Name: x.Name}
	s := step{table: table, Statement: plan.Statement{
		SQL: createIndexSQL(table, x), Severity: diff.IndexChange{New: x}.Severity(), Kind: "create_index", Object: display(index.Schema, index.Name), Reason: reason,
	}}
	if p.from.Table(table) == nil {
		s.Severity = diff.Safe
	} else {
		s.Lock, s.Hazard = lockShare, hazardScan
		if x.Unique {
			s.Hazard = hazardDuplicates + "; " + hazardScan
		}
	}
	ph := phaseIndexes
	switch {
	case p.waits(table, indexColumns(p.to.Table(table), x), indexExpressions(x)...):
		ph = laterPhase(ph)
	case p.buildsLate(table, x):
		p.createConcurrently(s, table, x)
		return
	}
	p.add(ph, s)
	p.commentOn("INDEX "+qualified(index), table, display(index.Schema, index.Name), "", x.Comment, true)
}

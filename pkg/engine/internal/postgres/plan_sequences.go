package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

func (p *planner) planSequences() {
	for _, c := range p.diff.Sequences {
		switch {
		case c.Old == nil:
			p.addSequence(phaseSequences, c.New, createSequenceSQL(c.New), "create_sequence", c.Severity(), "the sequence is declared and does not exist", "")
		case c.New == nil && !p.goesWithOwner(c.Old):
			if c.Old.Owner != nil && p.columnGoes(*c.Old.Owner) {
				p.release(c.Old, "another column uses the sequence until it goes as well")
			}
			p.addSequence(phaseDropSequences, c.Old, "DROP SEQUENCE "+qualified(c.Old.Name), "drop_sequence", c.Severity(), "the sequence exists and is not declared", "its position is lost")
		case c.New != nil:
			p.alterSequence(c)
		}
		if c.New != nil {
			old := ""
			if c.Old != nil {
				old = c.Old.Comment
			}
			p.commentOn("SEQUENCE "+qualified(c.New.Name), ownerTable(c.New), display(c.New.Schema, c.New.Name.Name), old, c.New.Comment, c.Old == nil)
		}
	}
	p.persistSequences()
	p.moveOwners()
}

// persistSequences gives every sequence that stays its declared persistence. It may have lost it to its owner: since PostgreSQL 15, a table takes its
// sequences with it.
func (p *planner) persistSequences() {
	for i := range p.to.Sequences {
		n := &p.to.Sequences[i]
		j, ok := slices.BinarySearchFunc(p.from.Sequences, n.Name, func(s model.Sequence, k model.Name) int { return s.Compare(k) })
		if !ok {
			continue
		}
		o := &p.from.Sequences[j]
		unlogged := o.Unlogged
		if o.Owner != nil && !p.columnGoes(*o.Owner) && p.major >= 15 {
			if before, after := p.from.Table(o.Owner.Table), p.to.Table(o.Owner.Table); before != nil && after != nil && before.Unlogged != after.Unlogged {
				unlogged = after.Unlogged
			}
		}
		if unlogged != n.Unlogged {
			word := map[bool]string{true: "UNLOGGED", false: "LOGGED"}[n.Unlogged]
			p.addSequence(phaseOwners, n, "ALTER SEQUENCE "+qualified(n.Name)+" SET "+word, "alter_sequence", diff.Warning, "whether it survives a crash differs", "")
		}
	}
}

func (p *planner) addSequence(ph phase, s *model.Sequence, sql, kind, severity, reason, hazard string) {
	lock := map[string]string{"create_sequence": "", "drop_sequence": lockExclusive}[kind]
	switch {
	case strings.HasSuffix(sql, "LOGGED"):
		lock = lockExclusive
	case kind == "alter_sequence" || kind == "own_sequence" || kind == "release_sequence":
		lock = lockShareRow
	}
	if !p.relationExists(s.Name) {
		lock = ""
	}
	p.add(ph, step{table: ownerTable(s), Statement: plan.Statement{
		SQL: sql, Severity: severity, Kind: kind, Object: display(s.Schema, s.Name.Name), Reason: reason, Lock: lock, Hazard: hazard,
	}})
}

func ownerTable(s *model.Sequence) model.Name {
	if s.Owner == nil {
		return model.Name{}
	}
	return s.Owner.Table
}

func (p *planner) alterSequence(c diff.SequenceChange) {
	options := sequenceOptions(c.New.Type, c.New.SequenceOptions, afterTypeChange(c.Old.Type, c.New.Type, c.Old.SequenceOptions))
	if c.Old.Type != c.New.Type {
		options = strings.TrimSpace("AS " + c.New.Type + " " + options)
	}
	if options != "" {
		p.addSequence(phaseSequences, c.New, "ALTER SEQUENCE "+qualified(c.New.Name)+" "+options, "alter_sequence", c.Severity(), "the sequence's options differ", "")
	}
}

// afterTypeChange are the options once the type has changed: the server moves bounds that were the old type's own.
func afterTypeChange(oldType, newType string, o model.SequenceOptions) *model.SequenceOptions {
	was, is := defaultOptions(oldType, o.Increment), defaultOptions(newType, o.Increment)
	if o.Max == was.Max {
		o.Max = is.Max
	}
	if o.Min == was.Min {
		o.Min = is.Min
	}
	return &o
}

// fitsType reports whether a sequence of a type can have the options.
func fitsType(sequenceType string, o *model.SequenceOptions) bool {
	high := defaultOptions(sequenceType, 1).Max
	low := -high - 1
	return low <= o.Min && o.Max <= high && low <= o.Start && o.Start <= high
}

// release takes a sequence from its owner before the owner goes.
func (p *planner) release(s *model.Sequence, reason string) {
	p.addSequence(phaseRelease, s, "ALTER SEQUENCE "+qualified(s.Name)+" OWNED BY NONE", "release_sequence", diff.Safe, reason, "")
}

// goesWithOwner reports whether a sequence can vanish with the column that owns it: that column goes, and no other uses the sequence.
func (p *planner) goesWithOwner(s *model.Sequence) bool {
	if s.Owner == nil || !p.columnGoes(*s.Owner) {
		return false
	}
	for i := range p.from.Tables {
		t := &p.from.Tables[i]
		for j := range t.Columns {
			c := &t.Columns[j]
			if (model.ColumnRef{Table: t.Name, Column: c.Name}) != *s.Owner && usesSequence(c.Default, s.Name.Name) {
				return false
			}
		}
	}
	return true
}

// usesSequence errs on the side of yes: it does not look at the schema.
func usesSequence(expression, sequence string) bool {
	printed := strings.NewReplacer("'", "''", `"`, `""`).Replace(sequence)
	return strings.Contains(expression, "nextval(") && strings.Contains(expression, printed)
}

// columnGoes reports whether the plan drops a column of the target, alone, with its table, or to build it again.
func (p *planner) columnGoes(ref model.ColumnRef) bool {
	if p.from.Table(ref.Table) == nil {
		return false // not managed
	}
	t := p.to.Table(ref.Table)
	return t == nil || t.Column(ref.Column) == nil || p.rebuilt[ref]
}

// moveOwners takes sequences that stay from owners that go, and gives every sequence the owner that it is declared with.
func (p *planner) moveOwners() {
	for i := range p.to.Sequences {
		n := &p.to.Sequences[i]
		var owner *model.ColumnRef
		if j, ok := slices.BinarySearchFunc(p.from.Sequences, n.Name, func(s model.Sequence, k model.Name) int { return s.Compare(k) }); ok {
			owner = p.from.Sequences[j].Owner
		}
		if owner != nil && p.columnGoes(*owner) {
			p.release(n, "the sequence stays and its owner goes")
			owner = nil
		}
		if sameOwner(owner, n.Owner) {
			continue
		}
		to := "NONE"
		if n.Owner != nil {
			to = qualified(n.Owner.Table) + "." + ident(n.Owner.Column)
		}
		p.addSequence(phaseOwners, n, "ALTER SEQUENCE "+qualified(n.Name)+" OWNED BY "+to, "own_sequence", diff.Safe, "the sequence's owner differs", "")
	}
}

func sameOwner(a, b *model.ColumnRef) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

package mysql

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// phase orders statements: what others depend on goes last and comes first. Every statement commits by itself, so that each phase must leave a
// database that the next one can start from.
type phase int

const (
	phaseDropDefinitions phase = iota
	phaseRenameTables          // everything below has the new names
	phaseRenameParts
	phaseDropForeignKeys // before the columns, indexes and tables they stand on
	phaseDropTables
	phaseDropSequencesEarly // only where something else takes the name
	phaseSequences
	phaseTables
	phaseUnpartition // before keys that the partitions would not allow
	phaseAlter
	phasePartition
	phaseDropSequences
	phaseForeignKeys // last of the tables, so that circles work
	phaseRoutines
	phaseViews
	phaseTriggers
	phaseEvents
	phaseCount
)

// planner turns a diff into statements. It is pure: the same inputs give the same statements.
type planner struct {
	// live is the managed scope of the database as it is; renames lead from there to from.
	live     *model.Database
	renames  *renamer
	from, to *model.Database // managed scope
	excluded *model.Database // of the target: what the plan must leave alone
	diff     *diff.Diff
	server   *server

	phases  [phaseCount][]step
	rebuilt map[model.ColumnRef]bool // columns that are dropped and added again
	// moved are columns that no foreign key may stand on while they change, lost the indexes that are not there all the time.
	moved map[model.ColumnRef]bool
}

// newPlanner carries out the declared renames and compares what they leave.
func newPlanner(live, to, excluded *model.Database, s *server) (*planner, error) {
	renames, err := applyRenames(live, to, excluded, s)
	if err != nil {
		return nil, err
	}
	return &planner{live: live, renames: renames, from: renames.db, to: to, excluded: renames.excluded, diff: diff.Compare(renames.db, to), server: s}, nil
}

// step is a statement with the table it touches as a key.
type step struct {
	plan.Statement
	table string
}

func (p *planner) add(ph phase, s step) {
	s.Table = display(s.table)
	p.phases[ph] = append(p.phases[ph], s)
}

// plan returns the statements in order, or the refusal of what cannot be planned.
func (p *planner) plan() ([]step, error) {
	if err := p.refuse(); err != nil {
		return nil, err
	}
	p.findMoved()
	if err := p.refuseHeldBack(); err != nil {
		return nil, err
	}
	p.planRenames()
	p.planSequences()
	p.planTables()
	p.planForeignKeys()
	p.planDefinitions()
	var out []step
	for _, steps := range p.phases {
		out = append(out, steps...)
	}
	return out, nil
}

// What the server does to a table while it changes it, from the lightest to the heaviest.
type weight int

const (
	instant weight = iota // metadata only
	brief                 // the same, and not by the algorithm of that name
	inplace               // rebuilds or builds beside the running writes
	shared                // as inplace, but writes wait
	rewrite               // copies the table; writes wait
)

var weights = [...]struct{ lock, hazard string }{
	instant: {"a short exclusive metadata lock (ALGORITHM=INSTANT)", ""},
	brief:   {"a short exclusive metadata lock (ALGORITHM=INPLACE, LOCK=NONE)", ""},
	inplace: {"a short exclusive metadata lock (ALGORITHM=INPLACE, LOCK=NONE)", "works through the table while others read and write it"},
	shared:  {"LOCK=SHARED (ALGORITHM=INPLACE)", "works through the table while nobody can write it"},
	rewrite: {"LOCK=SHARED (ALGORITHM=COPY)", "copies the table while nobody can write it, and waits for every transaction that uses it"},
}

// clause is one action of an ALTER TABLE.
type clause struct {
	sql, kind, severity, reason, hazard string
	weight                              weight
}

// alter adds one ALTER TABLE with all its clauses: the server does them together or not at all.
func (p *planner) alter(ph phase, table string, clauses []clause) {
	if len(clauses) == 0 {
		return
	}
	forgotten := p.forgotten(table, clauses)
	var actions, reasons, hazards []string
	severity, heaviest := diff.Safe, instant
	for _, c := range clauses {
		actions = append(actions, c.sql)
		severity = diff.Worst(severity, c.severity)
		heaviest = max(heaviest, c.weight)
		for _, part := range []struct {
			list *[]string
			text string
		}{{&reasons, c.reason}, {&hazards, c.hazard}} {
			if part.text != "" && !slices.Contains(*part.list, part.text) {
				*part.list = append(*part.list, part.text)
			}
		}
	}
	if weights[heaviest].hazard != "" {
		hazards = append(hazards, weights[heaviest].hazard)
	}
	kind := "alter_table"
	if same := clauses[0].kind; !slices.ContainsFunc(clauses, func(c clause) bool { return c.kind != same }) {
		kind = same
	}
	separator := ",\n  "
	if len(clauses) == 1 {
		separator = ""
	}
	if len(forgotten) > 0 {
		// Partitions stand behind the options without a comma.
		if strings.HasPrefix(clauses[0].sql, "PARTITION BY") || clauses[0].sql == "REMOVE PARTITIONING" {
			actions[0] = strings.Join(forgotten, " ") + " " + actions[0]
		} else {
			actions, separator = append(actions, forgotten...), ",\n  "
			heaviest = max(heaviest, brief)
		}
	}
	p.add(ph, step{table: table, Statement: plan.Statement{
		SQL: "ALTER TABLE " + ident(table) + " " + strings.Join(actions, separator), Severity: severity, Kind: kind, Object: display(table),
		Reason: listed(reasons), Lock: weights[heaviest].lock, Hazard: listed(hazards),
	}})
}

// forgotten are the options that an ALTER TABLE takes off when it does not say them again.
func (p *planner) forgotten(table string, clauses []clause) []string {
	t := p.to.Table(model.Name{Name: table})
	if t == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Options), func(option string) bool {
		return !strings.HasPrefix(option, "PAGE_CHECKSUM=") || slices.ContainsFunc(clauses, func(c clause) bool { return c.sql == option })
	})
}

// listed joins phrases; a table with very many differences does not name them all.
func listed(phrases []string) string {
	const most = 12
	if len(phrases) > most {
		phrases = append(slices.Clone(phrases[:most]), "and more")
	}
	return strings.Join(phrases, "; ")
}

func (p *planner) planSequences() {
	for _, c := range p.diff.Sequences {
		var s step
		ph := phaseSequences
		switch {
		case c.Old == nil:
			s.Statement = plan.Statement{SQL: "CREATE SEQUENCE " + ident(c.New.Name.Name) + typeSQL(c.New) + " " + sequenceSQL(c.New), Kind: "create_sequence", Reason: "the sequence is declared and does not exist"}
		case c.New == nil:
			ph = phaseDropSequences
			if p.nameTaken(c.Old.Name) {
				ph = phaseDropSequencesEarly
			}
			s.Statement = plan.Statement{SQL: "DROP SEQUENCE " + ident(c.Old.Name.Name), Kind: "drop_sequence", Reason: "the sequence exists and is not declared", Hazard: "its position is lost"}
		default:
			s.Statement = plan.Statement{SQL: "ALTER SEQUENCE " + ident(c.New.Name.Name) + " " + sequenceSQL(c.New), Kind: "alter_sequence", Reason: "the sequence is declared otherwise"}
		}
		name := c.New
		if name == nil {
			name = c.Old
		}
		s.Severity, s.Object = c.Severity(), display(name.Name.Name)
		p.add(ph, s)
	}
}

func typeSQL(s *model.Sequence) string {
	if s.Type == "bigint" {
		return ""
	}
	return " AS " + map[string]string{"integer": "int"}[s.Type] + strings.TrimPrefix(s.Type, "integer")
}

// nameTaken reports whether a declared table or view needs the name of something that goes.
func (p *planner) nameTaken(n model.Name) bool {
	return p.to.Table(n) != nil || p.to.Definition(model.Dependency{Object: model.Object{Kind: kindView, Name: n.Name}}) != nil
}

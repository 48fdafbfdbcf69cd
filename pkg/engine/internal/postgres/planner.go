package postgres

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// phase orders statements: what others depend on goes last and comes first. Within a phase the order is that of the keys, or of the
// table's columns, so that the same inputs give the same plan.
type phase int

const (
	phaseBodies phase = iota // before any routine
	phaseDropEventTriggers
	phaseDropDefinitions
	phaseRelease         // defaults, identities and sequence owners that would hold something back
	phaseDetach          // before what a parent would hold
	phaseReleaseKeys     // foreign keys on what the next phase takes off
	phaseReleaseParts    // before the routines that they call, which go before the tables
	phaseDropUnderTables // those routines, and what they stand on
	phaseDropForeignKeys // before the keys and tables they point to
	phaseDropTables
	phaseDropIndexes
	phaseDropConstraints
	phaseDropExpressions
	phaseDropGenerated // before the columns they are computed from
	phaseDropColumns
	phaseDropRoutines
	phaseDropSequences
	phaseDropTypesEarly // only where something else takes the name, or the type is built again
	phaseRename
	phaseSchemas
	phaseExtensions
	phaseEnums
	phaseTypes
	phaseSequences
	phaseRoutines // that stand on no relation: tables may call them
	phaseTables
	phaseAlterTypes
	phaseAddColumns
	phaseChildNotNulls // before the parents hand theirs down
	phaseColumns
	phaseAddGenerated
	phaseOptions
	phaseKeys
	phaseIndexes
	phaseChecks
	phaseAttach
	phaseMarks
	phaseUnlogged // behind everything that logged tables may not have
	phaseOwners
	phaseForeignKeys // behind the tables, so that cycles work
	phaseUnderTables // routines that stand on relations and that tables call, and what they stand on
	phaseLateColumns
	phaseLateKeys
	phaseLateChecks
	phaseLateForeignKeys
	phaseLateIndexes
	phaseDeleteRowsFirst // whose values others take
	phaseUpdateRowsFirst
	phaseInsertRows // parents first
	phaseUpdateRows
	phaseDeleteRows // children first
	phaseDefinitions
	phaseDefinitionProperties
	phaseDropTypes
	phaseDropRoutinesLast // that domains called
	phaseDropExtensions
	phaseComments
	phaseDropSchemas
	phaseRevoke // behind everything that the plan creates, which may come with privileges
	phaseGrant
	phaseDefaultPrivileges // behind them: what the plan creates comes with those that were
	phaseEventTriggers     // last: they would run on the plan's own statements
	phaseCount
)

// planner turns a diff into statements. It is pure: the same inputs give the same statements.
type planner struct {
	// live is the managed scope of the database as it is; renames lead from there to from.
	live     *model.Database
	renames  []step
	asides   []aside         // enums that are built again
	from, to *model.Database // managed scope
	excluded *model.Database // of the target: what the plan must leave alone, and may collide with
	diff     *diff.Diff
	major    int
	// online moves what reads whole tables out of the transaction, behind it.
	online bool
	known  known

	phases [phaseCount][]step
	// rebuilt are the columns that have to be dropped and added again; recreated are constraints and indexes that stay the same and
	// have to be dropped and added again because of something else.
	rebuilt   map[model.ColumnRef]bool
	recreated map[partKey]bool
	// late are the constraints and indexes of the target that are not whole yet when the transaction ends.
	late     map[partKey]bool
	types    typePlan
	shelf    *shelf
	children map[model.Name]bool // the tables that have children, on either side
	moves    map[model.Name]bool // the tables that leave or join a parent
	dropped  map[partKey]bool    // constraints and indexes that the plan drops
	taken    map[model.Name][]model.ColumnRef
	heritage // under the names behind the renames
	ties     []tie
	definitionPlan
	privilegePlan
}

// partKey identifies a constraint or an index of a table.
type partKey struct {
	table model.Name
	index bool
	name  string
}

// step is a statement with the table it touches as a key.
type step struct {
	plan.Statement
	table  model.Name
	adds   string       // the column that it adds
	merged bool         // it adds a column or a check that a parent gains as well
	made   bool         // it is about an object beside the tables that the plan has created
	others []model.Name // tables that it locks beside its own, as far as it is made known here: see lockedBeside
}

func (p *planner) add(ph phase, s step) {
	if s.table != (model.Name{}) {
		s.Table = display(s.table.Schema, s.table.Name)
	}
	p.phases[ph] = append(p.phases[ph], s)
}

// display joins parts of a name for a person: no quotes, control characters escaped, at most 400 bytes.
func display(parts ...string) string {
	clean := make([]string, len(parts))
	for i, part := range parts {
		quoted := strconv.Quote(part)
		clean[i] = part
		if strings.Contains(quoted, `\`) && strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			clean[i] = quoted[1 : len(quoted)-1]
		}
	}
	s := strings.Join(clean, ".")
	const limit = 400
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

// plan returns the statements in order, or the refusal of what cannot be planned.
func (p *planner) plan() ([]step, error) {
	p.rebuilt, p.recreated, p.late = map[model.ColumnRef]bool{}, map[partKey]bool{}, map[partKey]bool{}
	p.dropped = map[partKey]bool{}
	if err := p.refuse(); err != nil {
		return nil, err
	}
	if err := p.findFamilies(); err != nil {
		return nil, err
	}
	p.findTypes()
	p.findFates()
	p.findLeftovers()
	if err := p.refuseNotNulls(); err != nil {
		return nil, err
	}
	if err := p.refuseTypes(); err != nil {
		return nil, err
	}
	if err := p.refuseMerged(); err != nil {
		return nil, err
	}
	if err := p.refuseHeldBack(); err != nil {
		return nil, err
	}
	if err := p.refuseStoredRows(); err != nil {
		return nil, err
	}
	p.planSchemas()
	p.planExtensions()
	p.planEnums()
	p.planTypes()
	p.planSequences()
	p.planTables()
	if err := p.refuseHeldChecks(); err != nil {
		return nil, err
	}
	if err := p.refuseKeyedNotNulls(); err != nil {
		return nil, err
	}
	if err := p.refuseOrphans(); err != nil {
		return nil, err
	}
	p.releaseParts()
	if err := p.planRows(); err != nil {
		return nil, err
	}
	if err := p.planDefinitions(); err != nil {
		return nil, err
	}
	if err := p.planPrivileges(); err != nil {
		return nil, err
	}
	p.phases[phaseChildNotNulls] = childrenFirst(p.phases[phaseChildNotNulls])
	for _, ph := range []phase{phaseAddColumns, phaseAddGenerated, phaseLateColumns, phaseChecks, phaseLateChecks} {
		p.phases[ph] = mergedFirst(p.phases[ph])
	}
	if err := p.refusePositions(); err != nil {
		return nil, err
	}
	var out, outside []step
	for _, steps := range p.phases {
		for _, s := range steps {
			if s.Tx == "" {
				out = append(out, s)
			} else {
				outside = append(outside, s)
			}
		}
	}
	out = append(out, outside...)
	if err := p.refuseFreshValues(out); err != nil {
		return nil, err
	}
	for i := range out {
		p.sayLocks(&out[i])
	}
	return out, nil
}

func (p *planner) planSchemas() {
	for _, c := range p.diff.Schemas {
		switch {
		case c.Old == nil:
			p.add(phaseSchemas, step{Statement: plan.Statement{
				SQL: "CREATE SCHEMA " + ident(c.New.Name), Severity: c.Severity(), Kind: "create_schema", Object: display(c.New.Name),
				Reason: "the schema is declared and does not exist",
			}})
			p.comment("SCHEMA "+ident(c.New.Name), model.Name{}, display(c.New.Name), "", c.New.Comment)
		case c.New == nil:
			p.add(phaseDropSchemas, step{Statement: plan.Statement{
				SQL: "DROP SCHEMA " + ident(c.Old.Name), Severity: c.Severity(), Kind: "drop_schema", Object: display(c.Old.Name),
				Reason: "the schema exists and is not declared", Hazard: "fails if anything is left in the schema",
			}})
		default:
			p.comment("SCHEMA "+ident(c.New.Name), model.Name{}, display(c.New.Name), c.Old.Comment, c.New.Comment)
		}
	}
}

// Locks, as the server names them.
const (
	lockExclusive          = "ACCESS EXCLUSIVE"
	lockShare              = "SHARE"
	lockShareRow           = "SHARE ROW EXCLUSIVE"
	lockShareUpdate        = "SHARE UPDATE EXCLUSIVE"
	hazardRewrite          = "rewrites the table and its indexes while nobody can read or write it"
	hazardScan             = "reads the whole table while nobody can write it"
	hazardScanExcl         = "reads the whole table while nobody can read or write it"
	hazardScanBeside       = "reads the whole table while others read and write it"
	hazardDefaultPartition = "fails if a row of the default partition belongs there; reads the whole table of that one while nobody can read or write it"
	hazardTooLong          = "a value that the new type cannot hold stops the plan"
	hazardConversion       = "a value that the new type cannot hold stops the plan; others may be rounded or cut"
	hazardLostRows         = "the rows are lost"
	hazardLostValues       = "the values are lost"
	hazardUnprotected      = "rows that the constraint would have refused become possible"
	hazardExistingNull     = "fails if a row holds NULL"
	hazardDuplicates       = "fails if rows hold duplicates"
	hazardRowsAgainst      = "fails if a row violates it"
)

// comment plans a comment that differs; target is what follows COMMENT ON.
func (p *planner) comment(target string, table model.Name, object, old, comment string) {
	p.commentOn(target, table, object, old, comment, false)
}

// commentOn is the same for what may be new itself, while its table is not.
func (p *planner) commentOn(target string, table model.Name, object, old, comment string, made bool) {
	if old == comment {
		return
	}
	text := "NULL"
	if comment != "" {
		text = literal(comment)
	}
	lock := ""
	if word, _, _ := strings.Cut(target, " "); slices.Contains([]string{"TABLE", "INDEX", "SEQUENCE"}, word) || word == "COLUMN" && table != (model.Name{}) {
		lock = lockShareUpdate
	}
	p.add(phaseComments, step{table: table, made: made, Statement: plan.Statement{
		SQL: "COMMENT ON " + target + " IS " + text, Severity: diff.Safe, Kind: "set_comment", Object: object,
		Reason: "the comment differs", Lock: lock,
	}})
}

func (p *planner) planEnums() {
	for _, c := range p.diff.Enums {
		switch {
		case c.Old == nil:
			p.createEnum(c)
		case c.New == nil:
			continue // planTypes does it, in the order of all types
		default:
			p.addValues(c)
		}
		if c.New != nil {
			old := ""
			if c.Old != nil {
				old = c.Old.Comment
			}
			p.comment("TYPE "+qualified(c.New.Name), model.Name{}, display(c.New.Schema, c.New.Name.Name), old, c.New.Comment)
		}
	}
}

func (p *planner) createEnum(c diff.EnumChange) {
	values := make([]string, len(c.New.Values))
	for i, v := range c.New.Values {
		values[i] = literal(v)
	}
	reason := "the enum is declared and does not exist"
	if p.asideOf(c.New.Name) != nil {
		reason = "the enum is built again with the declared values"
	}
	p.add(phaseEnums, step{Statement: plan.Statement{
		SQL: "CREATE TYPE " + qualified(c.New.Name) + " AS ENUM (" + strings.Join(values, ", ") + ")", Severity: c.Severity(), Kind: "create_enum",
		Object: display(c.New.Schema, c.New.Name.Name), Reason: reason,
	}})
}

// addValues adds the missing values in their places: behind the value before them, or before the first old one.
func (p *planner) addValues(c diff.EnumChange) {
	for i, v := range c.New.Values {
		if slices.Contains(c.Old.Values, v) {
			continue
		}
		sql := "ALTER TYPE " + qualified(c.New.Name) + " ADD VALUE " + literal(v)
		switch {
		case i == 0 && len(c.Old.Values) > 0:
			sql += " BEFORE " + literal(c.Old.Values[0])
		case i > 0 && anyOf(c.New.Values[i+1:], c.Old.Values):
			sql += " AFTER " + literal(c.New.Values[i-1])
		}
		p.add(phaseEnums, step{Statement: plan.Statement{
			SQL: sql, Severity: diff.Safe, Kind: "add_enum_value", Object: display(c.New.Schema, c.New.Name.Name), Reason: "the value is declared and missing",
			Hazard: "cannot be taken back without rebuilding the type",
		}})
	}
}

func anyOf(values, among []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return slices.Contains(among, v) })
}

// nameTaken reports whether something else of the declared schema needs the name that a dropped type has: types, tables, sequences and
// views share one name space.
func (p *planner) nameTaken(n model.Name) bool {
	_, sequence := slices.BinarySearchFunc(p.to.Sequences, n, func(s model.Sequence, k model.Name) int { return s.Compare(k) })
	return sequence || p.to.Table(n) != nil ||
		slices.ContainsFunc(p.types.order, func(t *typeNode) bool { return t.kind != model.KindCollation && slices.Contains(t.names, n) }) ||
		p.to.Definition(viewKey(n, model.KindView)) != nil || p.to.Definition(viewKey(n, model.KindMaterializedView)) != nil
}

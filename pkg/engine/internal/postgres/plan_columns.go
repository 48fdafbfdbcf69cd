package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// planColumns plans the columns of a table that both sides have, in the order that the declared table has.
func (p *planner) planColumns(o, n *model.Table) {
	for i := range o.Columns {
		old := &o.Columns[i]
		if old.Inherited {
			continue // goes with the parent's
		}
		if c := n.Column(old.Name); c == nil || p.rebuilt[model.ColumnRef{Table: n.Name, Column: old.Name}] {
			p.releaseNotNull(n.Name, old)
			p.dropColumn(n.Name, old, c)
		}
	}
	for i := range n.Columns {
		c := &n.Columns[i]
		old := o.Column(c.Name)
		if c.Inherited || p.follows(n, c.Name) {
			p.inheritedColumn(n, old, c)
			continue
		}
		if old == nil || p.rebuilt[model.ColumnRef{Table: n.Name, Column: c.Name}] {
			p.addColumn(n.Name, c, old != nil)
			p.columnExtras(n.Name, nil, c)
			p.newNotNullRule(n.Name, c)
			continue
		}
		p.alterColumn(n.Name, old, c)
	}
}

// inheritedColumn plans what a table changes of a column that it has from a parent.
func (p *planner) inheritedColumn(n *model.Table, old, c *model.Column) {
	retyped := old != nil && (old.Type != c.Type || old.Collation != c.Collation)
	if retyped && old.Default != "" {
		// The server may not be able to convert it, and the parent's statement does not reach it.
		p.add(phaseRelease, p.columnStep(n.Name, c, "ALTER COLUMN "+ident(c.Name)+" DROP DEFAULT", "drop_default", diff.Warning, "the type changes under the default", ""))
	}
	state := p.inheritedState(n, c.Name)
	if state.Default != "" && c.Default == "" && (old == nil || old.Default != state.Default || retyped) {
		// The parent's statement brings it.
		p.add(p.onceThere(n.Name, c), p.columnStep(n.Name, c, "ALTER COLUMN "+ident(c.Name)+" DROP DEFAULT", "drop_default", diff.Warning, "the default is the parent's alone", ""))
		state.Default = ""
	}
	p.alterColumn(n.Name, &state, c)
}

func (p *planner) columnStep(table model.Name, c *model.Column, action, kind, severity, reason, hazard string) step {
	only := ""
	if slices.Contains(single, kind) || kind == "drop_column" && p.childKeeps(table, c.Name) || kind == "drop_not_null" && p.dropsNotNullAlone(table, c.Name) {
		only = p.only(table)
	}
	lock := lockExclusive
	if slices.Contains(lightKinds, kind) {
		lock = lockShareUpdate
	}
	return step{table: table, Statement: plan.Statement{
		SQL: "ALTER TABLE " + only + qualified(table) + " " + action, Severity: severity, Kind: kind, Object: display(table.Schema, table.Name, c.Name),
		Reason: reason, Lock: lock, Hazard: hazard,
	}}
}

// lightKinds are the changes of columns that let others read and write.
var lightKinds = []string{"set_statistics", "set_column_options", "validate_constraint"}

// childKeeps reports whether a child keeps a column that its parent loses: it is the child's own then.
func (p *planner) childKeeps(table model.Name, column string) bool {
	if t := p.to.Table(table); t == nil || t.Column(column) != nil {
		return false
	}
	return slices.ContainsFunc(p.to.Tables, func(t model.Table) bool {
		return slices.Contains(t.Inherits, table) && t.Column(column) != nil && p.from.Table(t.Name) != nil
	})
}

func (p *planner) dropColumn(table model.Name, old, again *model.Column) {
	ph := phaseDropColumns
	if old.Generated != nil {
		ph = p.early(phaseDropGenerated, old.Generated.Expression)
	}
	reason, hazard := "the column exists and is not declared", hazardLostValues
	if again != nil {
		reason = "the column is declared with another generation expression, which the server cannot change in place"
		if old.Generated != nil {
			hazard = "the values are computed again"
		}
		if !p.manages(model.KindTable) {
			hazard += "; " + hazardLostGrants
		}
	}
	p.add(ph, p.columnStep(table, old, "DROP COLUMN "+ident(old.Name), "drop_column", diff.Destructive, reason, hazard))
}

func (p *planner) addColumn(table model.Name, c *model.Column, again bool) {
	ph, hazard := p.addPhase(table, c), p.columnCost(table, c)
	reason := "the column is declared and does not exist"
	if again {
		reason = "the column is built again"
	}
	if c.Identity != nil && p.hasHeirs(table) { // the server adds no identity to a column that children gain too
		bare := *c
		bare.Identity = nil
		p.alterIdentity(table, &bare, c)
		c, hazard = &bare, p.columnCost(table, &bare)
	}
	s := p.columnStep(table, c, "ADD COLUMN "+columnSQL(p.named(table, c)), "add_column", diff.ColumnChange{New: c}.Severity(), reason, hazard)
	s.adds, s.merged = c.Name, p.mergesNew(p.to.Table(table), c.Name)
	p.add(ph, s)
}

// addPhase is when a column is added.
func (p *planner) addPhase(table model.Name, c *model.Column) phase {
	switch {
	case p.lateColumns[model.ColumnRef{Table: table, Column: c.Name}]:
		return phaseLateColumns
	case c.Generated != nil:
		return phaseAddGenerated
	}
	return phaseAddColumns
}

// hasHeirs reports whether tables inherit from a declared table, other than partitions.
func (p *planner) hasHeirs(table model.Name) bool {
	inherits := func(t model.Table) bool { return slices.Contains(t.Inherits, table) }
	return slices.ContainsFunc(p.to.Tables, inherits) || slices.ContainsFunc(p.excluded.Tables, inherits)
}

// onceAdded is the phase for what follows the ADD COLUMN of a column.
func (p *planner) onceAdded(table model.Name, c *model.Column) phase {
	switch ph := p.addPhase(table, c); ph {
	case phaseLateColumns:
		return phaseLateKeys
	case phaseAddGenerated:
		return ph
	default:
		return phaseColumns
	}
}

// onceThere is the phase for changes of a column, which a parent may gain late.
func (p *planner) onceThere(table model.Name, c *model.Column) phase {
	if p.lateColumns[model.ColumnRef{Table: table, Column: c.Name}] {
		return phaseLateKeys
	}
	return phaseColumns
}

// columnExtras plans what ADD COLUMN and CREATE TABLE cannot say on every server: storage, compression, comment.
func (p *planner) columnExtras(table model.Name, old, c *model.Column) {
	alter, ph := "ALTER COLUMN "+ident(c.Name)+" ", phaseColumns
	if old == nil || p.lateColumns[model.ColumnRef{Table: table, Column: c.Name}] {
		ph = p.onceAdded(table, c)
	}
	if old == nil {
		old = &model.Column{}
	}
	if c.Storage != old.Storage {
		storage := c.Storage
		if storage == "" {
			storage = p.typeStorage(c.Type)
		}
		p.add(ph, p.columnStep(table, c, alter+"SET STORAGE "+storage, "set_storage", diff.Safe, "the storage mode differs", ""))
	}
	if c.Compression != old.Compression {
		compression := c.Compression
		if compression == "" {
			compression = "default"
		}
		p.add(ph, p.columnStep(table, c, alter+"SET COMPRESSION "+compression, "set_compression", diff.Safe, "the compression method differs", ""))
	}
	p.columnTargets(ph, table, old, c)
	p.comment("COLUMN "+qualified(table)+"."+ident(c.Name), table, display(table.Schema, table.Name, c.Name), old.Comment, c.Comment)
}

// typeStorage is the storage mode that a variable-length type has by itself. Fixed-length types have but one and never get here.
func (p *planner) typeStorage(printed string) string {
	switch t := parseType(printed); {
	case t.dimensions == 0 && t.schema != "":
		for i := range p.to.Domains {
			if x := &p.to.Domains[i]; x.Schema == t.schema && x.Name.Name == t.name {
				return p.typeStorage(x.Type)
			}
		}
	case t.dimensions == 0 && t.schema == "" && (t.name == "numeric" || t.name == "inet" || t.name == "cidr"):
		return "main"
	}
	return "extended"
}

// alterColumn plans a column that both sides have and that stays where it is.
func (p *planner) alterColumn(table model.Name, o, n *model.Column) {
	alter := "ALTER COLUMN " + ident(n.Name) + " "
	add := func(ph phase, action, kind, severity, reason, hazard string) {
		p.add(ph, p.columnStep(table, n, alter+action, kind, severity, reason, hazard))
	}
	if o.Generated != nil && n.Generated == nil {
		add(p.early(phaseDropExpressions, o.Generated.Expression), "DROP EXPRESSION", "drop_expression", diff.Destructive, "the column is declared without a generation expression", "the values stay and are no longer kept up to date")
	} else if o.Generated != nil && o.Generated.Expression != n.Generated.Expression {
		ph := p.behind(phaseAddGenerated, n.Generated.Expression)
		if p.lateColumns[model.ColumnRef{Table: table, Column: n.Name}] {
			ph = phaseLateKeys
		}
		s := p.columnStep(table, n, alter+"SET EXPRESSION AS ("+n.Generated.Expression+")", "set_expression", diff.Warning, "the generation expression differs", hazardRewrite)
		s.others = p.joined(table, n.Name)
		p.add(ph, s)
	}
	if o.Identity != nil && n.Identity == nil {
		add(phaseRelease, "DROP IDENTITY", "drop_identity", diff.Destructive, "the column is declared without identity", "the position of its sequence is lost")
	}
	ph, dropped := phaseRelease, p.released(o, n)
	if p.fresh(table, n.Name) { // it has its parent's default, which nothing has to let go
		ph, dropped = p.onceThere(table, n), o.Default != "" && n.Default == ""
	}
	if dropped {
		add(ph, "DROP DEFAULT", "drop_default", diff.Warning, "the default is not declared", "inserts that relied on it get NULL or fail")
	}
	retyped := p.alterType(table, o, n, dropped)
	if n.Default != "" && !retyped && (dropped || o.Default != n.Default) {
		add(max(p.onceThere(table, n), p.behind(phaseColumns, n.Default)), "SET DEFAULT "+n.Default, "set_default", diff.Warning, "the default differs", "")
	}
	p.alterNotNull(table, o, n)
	p.alterIdentity(table, o, n)
	before := *o
	if o.Type != n.Type || o.Collation != n.Collation {
		before.Storage, before.Compression = "", "" // a new type brings its own
	}
	p.columnExtras(table, &before, n)
}

// released reports whether a column that stays loses its default before anything goes.
func (p *planner) released(o, n *model.Column) bool {
	return o.Default != "" && (n.Default == "" || p.freesSequence(o, n) || p.callsMoving(o.Default))
}

// fresh reports whether a declared column is not there before the plan runs.
func (p *planner) fresh(table model.Name, column string) bool {
	o := p.from.Table(table)
	return o == nil || o.Column(column) == nil || p.rebuilt[model.ColumnRef{Table: table, Column: column}]
}

// freesSequence reports whether a default that differs may hold back a sequence that goes.
func (p *planner) freesSequence(o, n *model.Column) bool {
	if o.Default == n.Default || !strings.Contains(o.Default, "nextval(") {
		return false
	}
	for _, c := range p.diff.Sequences {
		if c.New == nil {
			return true
		}
	}
	return false
}

// alterType changes type and collation. A default is taken off before and put on after, because the server may not be able to convert
// it; alterType reports whether it has set the declared default.
func (p *planner) alterType(table model.Name, o, n *model.Column, dropped bool) bool {
	if o.Type == n.Type && o.Collation == n.Collation {
		return false
	}
	alter := "ALTER COLUMN " + ident(n.Name) + " "
	action := alter + "TYPE " + n.Type
	if n.Collation != "" {
		action += " COLLATE " + n.Collation
	}
	action += p.using(o, n)
	if o.Default != "" && !dropped {
		action = alter + "DROP DEFAULT, " + action
	}
	defaulted := n.Default != "" && !callsAny(p.awaited, n.Default)
	if defaulted {
		action += ", " + alter + "SET DEFAULT " + n.Default
	}
	severity, loss := diff.Warning, ""
	if o.Type != n.Type {
		severity = diff.TypeChangeSeverity(o.Type, n.Type)
	}
	switch {
	case severity != diff.Destructive:
	case p.assigned(o.Type, n.Type) && !slices.Contains(rounded, p.underlying(n.Type).name):
		loss = hazardTooLong
	default:
		loss = hazardConversion
	}
	if strings.HasPrefix(o.Type, "timestamp") && strings.HasSuffix(o.Type, "without time zone") != strings.HasSuffix(n.Type, "without time zone") && strings.HasPrefix(n.Type, "timestamp") {
		loss = "the times are taken as those of UTC"
	}
	reason := "the type or collation differs"
	if t := parseType(n.Type); o.Type != n.Type && p.sameButAside(o.Type, n.Type) {
		reason, loss = "the enum is built again", p.asideOf(model.Name{Schema: t.schema, Name: t.name}).hazard
	}
	s := p.columnStep(table, n, action, "alter_type", severity, reason, joinHazards(loss, p.typeCost(table, o, n)))
	s.others = p.joined(table, n.Name)
	p.add(phaseAlterTypes, s)
	return defaulted
}

// rounded are types that take a value which is near.
var rounded = []string{
	"smallint", "integer", "bigint", "numeric", "real", "double precision",
	"interval", "date", "time without time zone", "time with time zone", "timestamp without time zone", "timestamp with time zone",
}

// using is how the values travel: by the server's implicit cast where nothing is lost, by an explicit cast where there is one, else
// through their text.
func (p *planner) using(o, n *model.Column) string {
	if o.Type == n.Type || diff.Widens(o.Type, n.Type) || p.assigned(o.Type, n.Type) {
		return ""
	}
	from, to := parseType(o.Type), parseType(n.Type)
	viaText := " USING " + ident(n.Name) + "::text" + strings.Repeat("[]", min(from.dimensions, 1)*min(to.dimensions, 1)) + "::" + n.Type
	switch {
	case p.isEnum(from) || p.isEnum(to):
		return viaText
	case p.known.conversions[conversion{o.Type, n.Type}].exists, p.underlying(o.Type) == p.underlying(n.Type):
		return " USING " + ident(n.Name) + "::" + n.Type
	}
	return viaText
}

// families are types of which the server assigns one to the other, as an INSERT does: what does not fit is an error. An explicit cast would cut a text
// or a string of bits that is too long.
var families = [][]string{
	{"text", "character varying", "character"},
	{"bit", "bit varying"},
	{"smallint", "integer", "bigint", "numeric", "real", "double precision"},
}

// assigned reports whether the server converts values without being told how.
func (p *planner) assigned(from, to string) bool {
	f, t := p.underlying(from), p.underlying(to)
	if f.dimensions != t.dimensions || f.schema != t.schema || p.isEnum(f) || p.isEnum(t) {
		return false
	}
	return f.name == t.name || f.schema == "" && slices.ContainsFunc(families, func(family []string) bool {
		return slices.Contains(family, f.name) && slices.Contains(family, t.name)
	})
}

// isEnum reports whether a type is an enum of either side.
func (p *planner) isEnum(t typeName) bool {
	if t.schema == "" {
		return false
	}
	name := model.Name{Schema: t.schema, Name: t.name}
	for _, db := range []*model.Database{p.from, p.to, p.excluded} {
		for i := range db.Enums {
			if db.Enums[i].Name == name {
				return true
			}
		}
	}
	return false
}

func (p *planner) alterIdentity(table model.Name, o, n *model.Column) {
	if n.Identity == nil {
		return
	}
	alter := "ALTER COLUMN " + ident(n.Name) + " "
	if o.Identity == nil {
		p.add(phaseColumns, p.columnStep(table, n, alter+"ADD "+identitySQL(n.Type, n.Identity), "add_identity", diff.Warning, "the column is declared with identity",
			"the new sequence starts from its own start and not behind the existing values"))
		return
	}
	var actions []string
	if o.Identity.Always != n.Identity.Always {
		actions = append(actions, "SET GENERATED "+identityKind(n.Identity))
	}
	ph, before := phaseColumns, afterTypeChange(o.Type, n.Type, o.Identity.SequenceOptions)
	if !fitsType(n.Type, before) {
		ph, before = phaseRelease, &o.Identity.SequenceOptions // the server takes no narrower type over them
	}
	// SET stands before every option of an identity.
	options := sequenceOptions(n.Type, n.Identity.SequenceOptions, before)
	for _, option := range []string{"INCREMENT", "MINVALUE", "MAXVALUE", "START", "CACHE", "NO CYCLE"} {
		options = strings.Replace(options, option, "SET "+option, 1)
	}
	if !strings.Contains(options, "NO CYCLE") {
		options = strings.Replace(options, "CYCLE", "SET CYCLE", 1)
	}
	if options != "" {
		actions = append(actions, options)
	}
	if len(actions) > 0 {
		p.add(ph, p.columnStep(table, n, alter+strings.Join(actions, " "), "alter_identity", diff.Warning, "the identity's options differ", ""))
	}
}

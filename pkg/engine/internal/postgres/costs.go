package postgres

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// What the statements of a plan cost on tables that hold rows: whether the server writes them anew, reads them all, or looks at its catalog alone,
// and which tables beside a statement's own it locks. The tests hold every probe against what a server really does.

// known is what planning asks the server, because no model says it.
type known struct {
	conversions map[conversion]cast
	// volatile says of the routines that defaults of new columns call whether they are; what the server does not have is missing.
	volatile map[model.Name]bool
}

// conversion is a change of a column's type, as printed.
type conversion struct{ from, to string }

// cast is what the server has for a conversion.
type cast struct {
	exists bool
	binary bool // the bytes stay as they are
}

// typeCost is what another type or collation of a column costs. Where the bytes stay as they are, indexes and checks may still have to be built and
// judged again.
func (p *planner) typeCost(table model.Name, o, n *model.Column) string {
	t := p.to.Table(table)
	if p.holdsNothing(t) {
		return ""
	}
	if o.Type != n.Type && p.rewrites(o, n) {
		return hazardRewrite
	}
	var costs []string
	if p.buildsIndexesAgain(t, o, n) {
		costs = append(costs, "builds indexes again while nobody can read or write the table")
	}
	if slices.ContainsFunc(t.Constraints, func(c model.Constraint) bool {
		return c.Kind == model.Check && !c.NotValid && !c.NotEnforced && slices.Contains(c.Columns, n.Name) && p.stays(table, &c)
	}) {
		costs = append(costs, hazardScanExcl+", for its checks")
	}
	return strings.Join(costs, "; ")
}

// holdsNothing reports a partitioned table without partitions to hold its rows.
func (p *planner) holdsNothing(t *model.Table) bool {
	return t.PartitionBy != "" && !slices.ContainsFunc(p.below(t.Name), func(n model.Name) bool { return p.to.Table(n) != nil || p.excluded.Table(n) != nil })
}

// stays reports a constraint that is there, as it is declared, while the plan changes columns.
func (p *planner) stays(table model.Name, c *model.Constraint) bool {
	o := p.from.Table(table)
	return o != nil && p.onBothSides(o, c) && !p.recreated[partKey{table: table, name: c.Name}]
}

// buildsIndexesAgain reports whether an index of a column cannot keep its file although the rows keep theirs: one with another order of values, and
// one with an expression or a predicate, which the server does not compare.
func (p *planner) buildsIndexesAgain(t *model.Table, o, n *model.Column) bool {
	from, to := p.underlying(o.Type), p.underlying(n.Type)
	otherOrder := from.name != to.name && (!isText(from) || !isText(to)) && (from.name != "cidr" || to.name != "inet")
	for i := range t.Indexes {
		x := &t.Indexes[i]
		old := p.from.Table(t.Name)
		if !slices.Contains(indexColumns(t, x), n.Name) || !slices.ContainsFunc(old.Indexes, func(k model.Index) bool { return sameIndex(&k, x) }) || p.recreated[partKey{table: t.Name, index: true, name: x.Name}] {
			continue
		}
		for _, k := range x.Keys {
			if k.Expression != "" || x.Predicate != "" || k.Column == n.Name && (otherOrder || o.Collation != n.Collation && k.Collation == "") {
				return true
			}
		}
	}
	return slices.ContainsFunc(t.Constraints, func(c model.Constraint) bool {
		switch {
		case !p.stays(t.Name, &c):
			return false
		case c.Kind == model.Exclusion:
			return mentions(c.Definition)[n.Name]
		}
		return (c.Kind == model.PrimaryKey || c.Kind == model.Unique) && slices.Contains(c.Columns, n.Name) && (otherOrder || o.Collation != n.Collation)
	})
}

func isText(t typeName) bool {
	return t.schema == "" && t.dimensions == 0 && (t.name == "text" || t.name == "character varying")
}

// rewrites reports whether the server writes every row anew for another type. It does not where it sees that the bytes stay as they are.
func (p *planner) rewrites(o, n *model.Column) bool {
	from, to := p.underlying(o.Type), p.underlying(n.Type)
	switch {
	case p.constrained(n.Type), strings.Contains(p.using(o, n), "::text") && !isText(from):
		return true
	case from == to, to.modifier == "" && p.known.conversions[conversion{o.Type, n.Type}].binary:
		return false
	case from.dimensions+to.dimensions > 0 || from.schema != "" || to.schema != "":
		return true
	case isText(from) && isText(to):
		return !longer(from, to, 0)
	case from.name == "timestamp without time zone" && to.name == "timestamp with time zone", from.name == "timestamp with time zone" && to.name == "timestamp without time zone":
		return to.modifier != "" // the session's time zone is UTC, where the two are the same bytes
	case from.name != to.name:
		return from.name != "cidr" || to.name != "inet"
	case from.name == "numeric":
		a, b := modifiers(from), modifiers(to)
		return len(b) > 0 && (len(a) < 2 || len(b) < 2 || a[1] != b[1] || b[0] < a[0])
	case from.name == "bit varying":
		return !longer(from, to, 0)
	case strings.HasPrefix(from.name, "time") || strings.HasPrefix(from.name, "interval"):
		const most = 6 // digits behind the second
		return !longer(from, to, most)
	}
	return true
}

// longer reports whether a type has room for as much as another one. Unlimited is how much a type without a modifier has, 0 for any.
func longer(from, to typeName, unlimited int) bool {
	room := func(t typeName) int {
		if m := modifiers(t); len(m) > 0 {
			return m[0]
		}
		return unlimited
	}
	a, b := room(from), room(to)
	return b == 0 && to.modifier == "" || a != 0 && b >= a
}

// modifiers are the numbers of a type.
func modifiers(t typeName) []int {
	var out []int
	for part := range strings.SplitSeq(strings.Trim(t.modifier, "()"), ",") {
		if n, err := strconv.Atoi(part); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// underlying is what values of a type are made of: the type itself, or what its domain is over.
func (p *planner) underlying(printed string) typeName {
	t := parseType(printed)
	if d := p.domainOf(t); d != nil {
		return p.underlying(d.Type)
	}
	return t
}

// constrained reports whether a type is a domain with a rule, its own or one of a domain under it, when the plan changes columns. A check that calls
// what the plan makes comes behind that.
func (p *planner) constrained(printed string) bool {
	d := p.domainOf(parseType(printed))
	return d != nil && (d.NotNull || p.constrained(d.Type) || slices.ContainsFunc(d.Checks, func(k model.DomainCheck) bool {
		return !p.callsDefinition(k.Expression) || p.hadCheck(d.Name, &k)
	}))
}

// hadCheck reports a check that a domain of the target has.
func (p *planner) hadCheck(domain model.Name, k *model.DomainCheck) bool {
	return slices.ContainsFunc(p.from.Domains, func(d model.Domain) bool {
		return d.Name == domain && slices.ContainsFunc(d.Checks, func(old model.DomainCheck) bool { return old.Name == k.Name && old.Expression == k.Expression })
	})
}

func (p *planner) domainOf(t typeName) *model.Domain {
	if t.schema == "" || t.dimensions > 0 {
		return nil
	}
	for _, db := range []*model.Database{p.to, p.from, p.excluded} {
		for i := range db.Domains {
			if x := &db.Domains[i]; x.Schema == t.schema && x.Name.Name == t.name {
				return x
			}
		}
	}
	return nil
}

// columnCost is what a new column costs on a table with rows.
func (p *planner) columnCost(table model.Name, c *model.Column) string {
	switch {
	case p.holdsNothing(p.to.Table(table)):
		return ""
	case c.Generated != nil && c.Generated.Virtual:
		return ""
	case c.Generated != nil, c.Identity != nil, p.constrained(c.Type), p.isVolatile(c.Default):
		return hazardRewrite
	case c.NotNull && c.Default == "":
		return "fails if the table holds rows: they would have no value"
	}
	return ""
}

var volatility = regexp.MustCompile(`(?m)^ (IMMUTABLE|STABLE)`)

// isVolatile reports whether a default has to be computed for each row. A routine that is not there yet and not declared, as one of an extension, may be
// volatile.
func (p *planner) isVolatile(expression string) bool {
	return slices.ContainsFunc(routinesIn(expression), func(name model.Name) bool {
		for i := range p.to.Definitions {
			if d := &p.to.Definitions[i]; isRoutine(d.Kind) && routineOf(d) == name {
				head, _, _ := strings.Cut(d.Create, "\nAS ")
				return !volatility.MatchString(head)
			}
		}
		volatile, found := p.known.volatile[name]
		return volatile || !found && name.Schema != "pg_catalog"
	})
}

// routinesIn are the routines that a deparsed expression calls, the server's own among them.
func routinesIn(expression string) []model.Name {
	found := calls(expression)
	for i := 0; i < len(expression); {
		switch c := expression[i]; {
		case c == '\'' || c == '"':
			i = skipQuoted(expression, i)
		case isWord(c):
			end := nameToken(expression, i)
			if end < len(expression) && expression[end] == '(' && (i == 0 || expression[i-1] != '.' && expression[i-1] != ':') {
				found = append(found, model.Name{Schema: "pg_catalog", Name: expression[i:end]})
			}
			i = end
		default:
			i++
		}
	}
	return found
}

// provedNotNull reports a check that the server believes instead of looking for NULL.
func (p *planner) provedNotNull(table model.Name, column string) bool {
	t := p.to.Table(table)
	return slices.ContainsFunc(t.Constraints, func(c model.Constraint) bool {
		return c.Kind == model.Check && !c.NotValid && !c.NotEnforced && p.stays(table, &c) && strings.Trim(c.Expression, "()") == bare(column)+" IS NOT NULL"
	})
}

// below are the tables that have a table as a parent, or a parent's parent, on the target.
func (p *planner) below(table model.Name) []model.Name {
	var out []model.Name
	for _, db := range []*model.Database{p.from, p.excluded} {
		for i := range db.Tables {
			if t := &db.Tables[i]; slices.Contains(t.Parents(), table) && !slices.Contains(out, t.Name) {
				out = append(out, t.Name)
				out = append(out, p.below(t.Name)...)
			}
		}
	}
	return out
}

// defaultPartition is the partition of a parent that holds what fits nowhere else, and so has to be looked through when another one comes.
func (p *planner) defaultPartition(parent model.Name) []model.Name {
	for _, db := range []*model.Database{p.from, p.excluded} {
		for i := range db.Tables {
			if t := &db.Tables[i]; t.Partition != nil && t.Partition.Parent == parent && t.Partition.Bound == "DEFAULT" {
				return append([]model.Name{t.Name}, p.below(t.Name)...)
			}
		}
	}
	return nil
}

// pointingAt are the tables of the target with foreign keys to a table.
func (p *planner) pointingAt(table model.Name) []model.Name {
	var out []model.Name
	for _, db := range []*model.Database{p.from, p.excluded} {
		for i := range db.Tables {
			t := &db.Tables[i]
			if t.Name != table && slices.Contains(pointedTo(t), table) {
				out = append(out, t.Name)
			}
		}
	}
	return out
}

// joined are the tables at the other ends of the foreign keys of a column that stay while its type changes.
func (p *planner) joined(table model.Name, column string) []model.Name {
	var out []model.Name
	for i := range p.to.Tables {
		t := &p.to.Tables[i]
		for j := range t.Constraints {
			c := &t.Constraints[j]
			switch {
			case c.Kind != model.ForeignKey || !p.stays(t.Name, c):
			case t.Name == table && slices.Contains(c.Columns, column):
				out = append(out, c.Reference.Table)
			case c.Reference.Table == table && slices.Contains(c.Reference.Columns, column):
				out = append(out, t.Name)
			}
		}
	}
	return out
}

// holders are the tables of the target that have columns of a domain in one of the databases.
func (p *planner) holders(domain model.Name, databases ...*model.Database) []model.Name {
	var out []model.Name
	for _, db := range databases {
		for i := range db.Tables {
			t := &db.Tables[i]
			if p.from.Table(t.Name) == nil && p.excluded.Table(t.Name) == nil || slices.Contains(out, t.Name) {
				continue
			}
			if slices.ContainsFunc(t.Columns, func(c model.Column) bool { return p.isOver(c.Type, domain) }) {
				out = append(out, t.Name)
			}
		}
	}
	return out
}

// isOver reports whether a type is a domain, or a domain over it.
func (p *planner) isOver(printed string, domain model.Name) bool {
	t := parseType(printed)
	d := p.domainOf(t)
	return d != nil && (d.Name == domain || p.isOver(d.Type, domain))
}

// wholeFamily are the kinds of statements that do to a partitioned table's partitions what they do to it.
var wholeFamily = []string{"add_primary_key", "add_unique", "add_exclusion", "add_foreign_key", "drop_primary_key", "drop_unique", "drop_exclusion", "drop_foreign_key", "create_index", "drop_index", "create_trigger", "drop_trigger"}

// lockedBeside are the tables that a statement locks beside its own and that are there before the plan.
func (p *planner) lockedBeside(s *step) []model.Name {
	others := slices.Clone(s.others)
	for _, name := range s.others {
		if t := p.from.Table(name); t != nil && t.PartitionBy != "" {
			others = append(others, p.below(name)...)
		}
	}
	if t := p.from.Table(s.table); t != nil && p.children[s.table] && !strings.HasPrefix(s.SQL, "ALTER TABLE ONLY ") {
		alters := strings.Contains(s.SQL, " COLUMN ") || s.Kind == "set_not_null" || s.Kind == "add_check" || s.Kind == "drop_check" || s.Kind == "validate_constraint" || s.Kind == "rename_constraint"
		if alters && strings.HasPrefix(s.SQL, "ALTER TABLE ") || t.PartitionBy != "" && slices.Contains(wholeFamily, s.Kind) {
			others = append(others, p.below(s.table)...)
		}
	}
	var out []model.Name
	for _, name := range others {
		if p.relationExists(name) && name != s.table && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// relationExists reports whether the target has a table, view or sequence before the plan.
func (p *planner) relationExists(name model.Name) bool {
	for _, db := range []*model.Database{p.from, p.excluded} {
		_, sequence := slices.BinarySearchFunc(db.Sequences, name, func(s model.Sequence, n model.Name) int { return s.Compare(n) })
		if sequence || db.Table(name) != nil || db.Definition(viewKey(name, model.KindView)) != nil || db.Definition(viewKey(name, model.KindMaterializedView)) != nil {
			return true
		}
	}
	return false
}

// onlyNew reports whether a statement locks what the plan has created, and nothing else that is known here.
func (p *planner) onlyNew(s *step) bool {
	if s.made || s.Lock == "" {
		return s.Lock != ""
	}
	elsewhere := s.Kind == "create_table" || s.Kind == "add_foreign_key" || strings.HasSuffix(s.Kind, "_sequence") // decided where they are planned
	return !elsewhere && s.table != (model.Name{}) && !p.relationExists(s.table)
}

// sayLocks adds to the hazard of a statement the tables that it locks beside its own. What it does to a relation that the plan has created costs nobody
// anything; a new table under a parent, and a foreign key, lock another table too, and say so where they are planned.
func (p *planner) sayLocks(s *step) {
	const most = 6
	names := p.lockedBeside(s)
	if len(names) == 0 && p.onlyNew(s) {
		s.Lock, s.Hazard = "", ""
		return
	}
	if len(names) == 0 {
		return
	}
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, display(name.Schema, name.Name))
	}
	text := "locks " + strings.Join(shown, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	s.Hazard = joinHazards(s.Hazard, text+" as well")
}

// joinHazards puts what may be lost in front of what it costs.
func joinHazards(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// indexOptionLock is the lock that a change of an index's storage parameters takes.
func indexOptionLock(action string) string {
	for _, m := range optionName.FindAllStringSubmatch(action, -1) {
		if m[1] != "fillfactor" && m[1] != "deduplicate_items" {
			return lockExclusive
		}
	}
	return lockShareUpdate
}

// optionName finds the names in SET ("a" = …, "b" = …) and RESET ("a", "b"); values stand between single quotes.
var optionName = regexp.MustCompile(`[(,] ?"([a-z_]+)"`)

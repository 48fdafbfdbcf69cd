package mysql

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

const hazardRename = "whoever still uses the old name fails from then on"

// renamer carries out the declared renames that are not done yet, in a copy of the database: what the rest of the plan goes on from. A rename is
// never guessed but for the case of letters, which the server does not tell apart; it is done where the old name exists and the new one does not, over where it is the other way round, and refused where both exist.
type renamer struct {
	from, to *model.Database
	db       *model.Database // from, or its copy once something is renamed
	excluded *model.Database // as db, of what the plan leaves alone
	copied   bool
	server   *server

	tables []step
	parts  []partRenames
}

// partRenames are the columns and indexes of one table that get a new name.
type partRenames struct {
	table   string
	clauses []clause
}

func (r *renamer) empty() bool { return len(r.tables)+len(r.parts) == 0 }

func applyRenames(from, to, excluded *model.Database, s *server) (*renamer, error) {
	r := &renamer{from: from, to: to, db: from, excluded: excluded, server: s}
	if err := contract.RefuseSharedOrigins(to); err != nil {
		return nil, err
	}
	for i := range to.Tables {
		if err := r.table(&to.Tables[i]); err != nil {
			return nil, err
		}
	}
	for i := range to.Tables {
		if err := r.inside(&to.Tables[i]); err != nil {
			return nil, err
		}
	}
	if r.copied {
		r.db.Normalise()
		r.excluded.Normalise()
	}
	return r, nil
}

// planRenames adds the statements. All new names inside of one table share one statement.
func (p *planner) planRenames() {
	for _, s := range p.renames.tables {
		p.add(phaseRenameTables, s)
	}
	for _, parts := range p.renames.parts {
		p.alter(phaseRenameParts, parts.table, parts.clauses)
	}
}

// own makes the copies that are changed.
func (r *renamer) own() {
	if r.copied {
		return
	}
	r.copied = true
	r.db, r.excluded = ownTables(r.db), ownTables(r.excluded)
	r.db.Definitions = slices.Clone(r.db.Definitions)
	for i := range r.db.Definitions {
		r.db.Definitions[i].DependsOn = slices.Clone(r.db.Definitions[i].DependsOn)
	}
}

func ownTables(from *model.Database) *model.Database {
	db := *from
	db.Tables = slices.Clone(db.Tables)
	for i := range db.Tables {
		t := &db.Tables[i]
		own := *t.MySQLPart()
		own.Periods = slices.Clone(own.Periods)
		t.MySQL = &own
		t.Columns, t.Constraints, t.Indexes = slices.Clone(t.Columns), slices.Clone(t.Constraints), slices.Clone(t.Indexes)
		for j := range t.Columns {
			c := &t.Columns[j]
			if c.MySQL != nil {
				part := *c.MySQL
				c.MySQL = &part
			}
			if c.Generated != nil {
				generated := *c.Generated
				c.Generated = &generated
			}
		}
		for j := range t.Constraints {
			c := &t.Constraints[j]
			c.Columns = slices.Clone(c.Columns)
			if c.Reference != nil {
				reference := *c.Reference
				reference.Columns = slices.Clone(reference.Columns)
				c.Reference = &reference
			}
		}
		for j := range t.Indexes {
			t.Indexes[j].Keys = slices.Clone(t.Indexes[j].Keys)
		}
	}
	return &db
}

func (r *renamer) table(n *model.Table) error {
	old := model.Name{Name: n.RenamedFrom}
	switch {
	case old.Name == "":
		return nil
	case r.to.Table(old) != nil:
		return refuseObject("table %q is declared as renamed from %q, which is declared too", n.Name.Name, old.Name)
	case r.from.Table(old) == nil:
		return nil
	case r.from.Table(n.Name) != nil:
		return refuseObject("table %q is declared as renamed from %q, and both exist: nobody but a person can say which of them holds the rows", n.Name.Name, old.Name)
	case r.excluded.Table(n.Name) != nil, sequenceNamed(r.from, n.Name), sequenceNamed(r.excluded, n.Name):
		return refuseObject("table %q is declared as renamed from %q, and something else that the plan does not take away before has the new name", n.Name.Name, old.Name)
	}
	if err := r.refuseMention(old.Name, "", "table "+display(old.Name)); err != nil {
		return err
	}
	r.renameTable(old, n.Name)
	return nil
}

func sequenceNamed(d *model.Database, n model.Name) bool {
	return slices.ContainsFunc(d.Sequences, func(s model.Sequence) bool { return s.Name == n })
}

// refuseMention names an excluded view or trigger that a rename would break: the server does not follow a new name in those.
func (r *renamer) refuseMention(table, column, what string) error {
	for i := range r.excluded.Definitions {
		d := &r.excluded.Definitions[i]
		if (d.Kind == kindView || d.Kind == kindTrigger) && hasName(d.Create, table) && (column == "" || hasName(d.Create, column)) {
			return refuseObject("%s is declared under a new name, and the excluded %s %q names it: the plan never touches what is excluded", what, d.Kind, d.Name)
		}
	}
	return nil
}

func (r *renamer) renameTable(old, name model.Name) {
	r.own()
	r.tables = append(r.tables, step{table: old.Name, Statement: plan.Statement{ // what is protected under its old name stays so
		SQL: "RENAME TABLE " + ident(old.Name) + " TO " + ident(name.Name), Severity: diff.Warning, Kind: "rename_table", Object: display(name.Name),
		Reason: "the table is declared as renamed from " + display(old.Name), Lock: "an exclusive metadata lock", Hazard: hazardRename,
	}})
	for _, db := range []*model.Database{r.db, r.excluded} {
		for i := range db.Tables {
			t := &db.Tables[i]
			if t.Name == old {
				t.Name = name
				r.renameGenerated(t, old.Name, name.Name)
			}
			for j := range t.Constraints {
				if ref := t.Constraints[j].Reference; ref != nil && ref.Table == old {
					ref.Table = name
				}
			}
		}
	}
	for i := range r.db.Definitions {
		d := &r.db.Definitions[i]
		if d.Kind != kindTrigger || d.Table != old.Name {
			continue
		}
		d.Table = name.Name
		d.Create = strings.Replace(d.Create, " ON "+ident(old.Name)+" FOR EACH ROW ", " ON "+ident(name.Name)+" FOR EACH ROW ", 1)
		for j := range d.DependsOn {
			if dep := &d.DependsOn[j]; dep.Kind == model.KindTable && dep.Name == old.Name {
				dep.Name = name.Name
			}
		}
	}
}

// renameGenerated gives the constraints whose names the server made of the table's name those that it makes of the new one.
func (r *renamer) renameGenerated(t *model.Table, old, name string) {
	for i := range t.Constraints {
		c := &t.Constraints[i]
		infix := "_ibfk_"
		if c.Kind == model.Check {
			infix = r.server.checkInfix
		}
		if rest, ok := strings.CutPrefix(c.Name, old+infix); ok && infix != "" {
			c.Name = name + infix + rest
		}
	}
}

// tableNamed finds a table in a list that may be out of order between two renames.
func tableNamed(db *model.Database, name model.Name) *model.Table {
	i := slices.IndexFunc(db.Tables, func(t model.Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &db.Tables[i]
}

// columnNamed finds a column as the server does, which does not tell upper case from lower case.
func columnNamed(t *model.Table, name string) *model.Column {
	if c := t.Column(name); c != nil {
		return c
	}
	for i := range t.Columns {
		if strings.EqualFold(t.Columns[i].Name, name) {
			return &t.Columns[i]
		}
	}
	return nil
}

func indexNamed(t *model.Table, name string) *model.Index {
	if x := index(t, name); x != nil {
		return x
	}
	for i := range t.Indexes {
		if strings.EqualFold(t.Indexes[i].Name, name) {
			return &t.Indexes[i]
		}
	}
	return nil
}

// inside renames the columns and indexes of a table.
func (r *renamer) inside(n *model.Table) error {
	if tableNamed(r.db, n.Name) == nil {
		return nil
	}
	parts := partRenames{table: n.Name.Name}
	for i := range n.Columns {
		c := &n.Columns[i]
		if other := columnNamed(n, c.RenamedFrom); other != nil && other != c {
			return refuseObject("column %q of table %q is declared as renamed from %q, which is declared too", c.Name, n.Name.Name, c.RenamedFrom)
		}
		old, err := r.oldColumn(n, c)
		if err != nil {
			return err
		}
		if old != "" {
			parts.clauses = append(parts.clauses, r.renameColumn(n.Name, old, c.Name))
		}
	}
	for i := range n.Indexes {
		x := &n.Indexes[i]
		t := tableNamed(r.db, n.Name)
		old := indexNamed(t, x.RenamedFrom)
		if old == nil {
			old = indexNamed(t, x.Name)
		}
		if other := indexNamed(n, x.RenamedFrom); other != nil && other != x {
			return refuseObject("index %q of table %q is declared as renamed from %q, which is declared too", x.Name, n.Name.Name, x.RenamedFrom)
		}
		if old == nil || old.Name == x.Name {
			continue
		}
		if taken := indexNamed(t, x.Name); taken != nil && taken != old {
			return refuseObject("index %q of table %q is declared as renamed from %q, and both exist", x.Name, n.Name.Name, x.RenamedFrom)
		}
		parts.clauses = append(parts.clauses, r.renameIndex(n.Name, old.Name, x.Name))
	}
	if len(parts.clauses) > 0 {
		r.parts = append(r.parts, parts)
	}
	return nil
}

// oldColumn is the column that gets a new name; empty where that is done already, or there was none. A name in another case needs no word of a person:
// to the server it is the same, so that there is one such column and it holds the values.
func (r *renamer) oldColumn(n *model.Table, c *model.Column) (string, error) {
	o := tableNamed(r.db, n.Name)
	old := columnNamed(o, c.RenamedFrom)
	if old == nil {
		old = columnNamed(o, c.Name)
	}
	if old == nil || old.Name == c.Name {
		return "", nil
	}
	if taken := columnNamed(o, c.Name); taken != nil && taken != old {
		return "", refuseObject("column %q of table %q is declared as renamed from %q, and both exist: nobody but a person can say which of them holds the values", c.Name, n.Name.Name, c.RenamedFrom)
	}
	what := "column " + display(n.Name.Name, old.Name)
	if user := usedIn(o, old.Name); user != "" && !r.server.renamesInExpressions {
		return "", refuseObject("%s is declared under a new name, and %s stands on it, which %s does not follow", what, user, r.server.title)
	}
	if strings.EqualFold(old.Name, c.Name) { // who uses the old name goes on
		return old.Name, nil
	}
	was := n.Name.Name
	if n.RenamedFrom != "" && r.from.Table(model.Name{Name: n.RenamedFrom}) != nil {
		was = n.RenamedFrom
	}
	return old.Name, r.refuseMention(was, old.Name, what)
}

// usedIn names an expression of the table that is about the column; empty where there is none.
func usedIn(t *model.Table, column string) string {
	if mentions(t.MySQLPart().Partitioning)[column] {
		return "the partitioning"
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Name != column && (c.Generated != nil && mentions(c.Generated.Expression)[column] || mentions(c.Default)[column]) {
			return "column " + display(c.Name)
		}
	}
	for i := range t.Constraints {
		if c := &t.Constraints[i]; c.Kind == model.Check && mentions(c.Expression)[column] {
			return "check " + display(c.Name)
		}
	}
	for i := range t.Indexes {
		for _, k := range t.Indexes[i].Keys {
			if mentions(k.Expression)[column] {
				return "index " + display(t.Indexes[i].Name)
			}
		}
	}
	return ""
}

func (r *renamer) renameColumn(table model.Name, old, name string) clause {
	r.own()
	t := tableNamed(r.db, table)
	text := func(expressions ...*string) {
		for _, e := range expressions {
			*e = renameIn(*e, old, name)
		}
	}
	text(&t.MySQL.Partitioning)
	for i := range t.MySQL.Periods {
		text(&t.MySQL.Periods[i])
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Name == old {
			c.Name = name
		}
		text(&c.Default)
		if c.Generated != nil {
			text(&c.Generated.Expression)
		}
		if c.MySQL != nil {
			text(&c.MySQL.Check)
		}
	}
	for i := range t.Constraints {
		c := &t.Constraints[i]
		replaceAll(old, name, c.Columns)
		text(&c.Expression)
	}
	for i := range t.Indexes {
		for j := range t.Indexes[i].Keys {
			k := &t.Indexes[i].Keys[j]
			if k.Column == old {
				k.Column = name
			}
			text(&k.Expression)
		}
	}
	for _, db := range []*model.Database{r.db, r.excluded} {
		for i := range db.Tables {
			for j := range db.Tables[i].Constraints {
				if ref := db.Tables[i].Constraints[j].Reference; ref != nil && ref.Table == table {
					replaceAll(old, name, ref.Columns)
				}
			}
		}
	}
	out := clause{
		sql: "RENAME COLUMN " + ident(old) + " TO " + ident(name), kind: "rename_column", severity: diff.Warning,
		reason: renamedFrom("column", name, old), hazard: hazardRename, weight: instant,
	}
	if strings.EqualFold(old, name) {
		out.hazard = ""
	}
	return out
}

func renamedFrom(what, name, old string) string {
	if strings.EqualFold(old, name) {
		return what + " " + display(name) + " is " + display(old) + ", declared in another case"
	}
	return what + " " + display(name) + " is declared as renamed from " + display(old)
}

func (r *renamer) renameIndex(table model.Name, old, name string) clause {
	r.own()
	indexNamed(tableNamed(r.db, table), old).Name = name
	return clause{
		sql: "RENAME INDEX " + ident(old) + " TO " + ident(name), kind: "rename_index", severity: diff.Warning,
		reason: renamedFrom("index", name, old), weight: instant,
	}
}

func replaceAll(old, name string, list []string) {
	for i := range list {
		if list[i] == old {
			list[i] = name
		}
	}
}

// renameIn puts a new name where an expression, as the server prints it, has a column.
func renameIn(expression, old, name string) string {
	var b strings.Builder
	for i := 0; i < len(expression); {
		end := i + 1
		if isQuote(expression[i]) {
			end = skipQuoted(expression, i)
		}
		piece := expression[i:end]
		if piece == ident(old) {
			piece = ident(name)
		}
		b.WriteString(piece)
		i = end
	}
	return b.String()
}

// hasName reports that a text has a name in it, in backticks or bare, whatever its case.
func hasName(text, name string) bool {
	for i := 0; i < len(text); {
		end := i + 1
		switch c := text[i]; {
		case isQuote(c):
			end = skipQuoted(text, i)
		case isWord(c):
			for end < len(text) && isWord(text[end]) {
				end++
			}
		}
		if strings.EqualFold(unquote(text[i:end]), name) {
			return true
		}
		i = end
	}
	return false
}

package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

const hazardRename = "whoever still uses the old name fails from then on"

// applyRenames carries out the declared renames that are not done yet: it returns the statements, and the database as it is behind them. A rename
// is never guessed; it is done where the old name exists and the new one does not, over where it is the other way round, and refused where both exist.
func applyRenames(from, to *model.Database, h *heritage, major int) (*model.Database, []step, error) {
	r := &renamer{from: from, to: to, db: from, heritage: h, major: major}
	if err := contract.RefuseSharedOrigins(to); err != nil {
		return nil, nil, err
	}
	for i := range to.Tables {
		if err := r.table(&to.Tables[i]); err != nil {
			return nil, nil, err
		}
	}
	if len(r.steps) > 0 {
		r.db.Normalise()
	}
	return r.db, r.steps, nil
}

type renamer struct {
	from, to *model.Database
	db       *model.Database // from, or its copy once something is renamed
	heritage *heritage       // follows
	major    int
	steps    []step
}

// own makes the copy that is changed.
func (r *renamer) own() {
	if r.db != r.from {
		return
	}
	db := *r.from
	db.Tables = slices.Clone(db.Tables)
	for i := range db.Tables {
		t := &db.Tables[i]
		cloneParts(t)
		t.Inherits = slices.Clone(t.Inherits)
		if t.Partition != nil {
			partition := *t.Partition
			t.Partition = &partition
		}
	}
	db.Sequences, db.Definitions, db.Unmodelled, db.Grants = slices.Clone(db.Sequences), slices.Clone(db.Definitions), slices.Clone(db.Unmodelled), slices.Clone(db.Grants)
	for i := range db.Definitions {
		d := &db.Definitions[i]
		d.DependsOn, d.Properties = slices.Clone(d.DependsOn), slices.Clone(d.Properties)
	}
	for i := range db.Sequences {
		if o := db.Sequences[i].Owner; o != nil {
			owner := *o
			db.Sequences[i].Owner = &owner
		}
	}
	r.db = &db
}

// cloneParts lets the parts of a table be changed.
func cloneParts(t *model.Table) {
	t.Columns, t.Constraints, t.Indexes = slices.Clone(t.Columns), slices.Clone(t.Constraints), slices.Clone(t.Indexes)
	for j := range t.Constraints {
		c := &t.Constraints[j]
		c.Columns, c.Include = slices.Clone(c.Columns), slices.Clone(c.Include)
		if c.Reference != nil {
			reference := *c.Reference
			reference.Columns, reference.DeleteColumns = slices.Clone(reference.Columns), slices.Clone(reference.DeleteColumns)
			c.Reference = &reference
		}
	}
	for j := range t.Indexes {
		t.Indexes[j].Keys, t.Indexes[j].Include = slices.Clone(t.Indexes[j].Keys), slices.Clone(t.Indexes[j].Include)
	}
}

func (r *renamer) table(n *model.Table) error {
	if n.RenamedFrom != "" {
		old := model.Name{Schema: n.Schema, Name: n.RenamedFrom}
		switch {
		case r.to.Table(old) != nil:
			return refuseObject("table %q.%q is declared as renamed from %q, which is declared too", n.Schema, n.Name.Name, n.RenamedFrom)
		case r.from.Table(old) != nil && r.from.Table(n.Name) != nil:
			return refuseObject("table %q.%q is declared as renamed from %q, and both exist: nobody but a person can say which of them holds the rows", n.Schema, n.Name.Name, n.RenamedFrom)
		case r.from.Table(old) != nil:
			r.renameTable(old, n.Name)
		}
	}
	o := tableNamed(r.db, n.Name)
	if o == nil {
		return nil
	}
	for i := range n.Columns {
		c := &n.Columns[i]
		if c.RenamedFrom == "" {
			continue
		}
		switch {
		case n.Column(c.RenamedFrom) != nil:
			return refuseObject("column %q of table %q.%q is declared as renamed from %q, which is declared too", c.Name, n.Schema, n.Name.Name, c.RenamedFrom)
		case o.Column(c.RenamedFrom) != nil && o.Column(c.Name) != nil:
			return refuseObject("column %q of table %q.%q is declared as renamed from %q, and both exist: nobody but a person can say which of them holds the values", c.Name, n.Schema, n.Name.Name, c.RenamedFrom)
		case o.Column(c.RenamedFrom) != nil:
			r.renameColumn(n.Name, c.RenamedFrom, c.Name)
			o = tableNamed(r.db, n.Name)
		}
	}
	return nil
}

// tableNamed finds a table in a list that may be out of order between two renames.
func tableNamed(db *model.Database, name model.Name) *model.Table {
	for i := range db.Tables {
		if db.Tables[i].Name == name {
			return &db.Tables[i]
		}
	}
	return nil
}

func (r *renamer) renameTable(old, name model.Name) {
	r.own()
	r.steps = append(r.steps, step{table: old, Statement: plan.Statement{ // what is protected under its old name stays so
		SQL: "ALTER TABLE " + qualified(old) + " RENAME TO " + ident(name.Name), Severity: diff.Warning, Kind: "rename_table", Object: display(name.Schema, name.Name),
		Table: display(old.Schema, old.Name), Reason: "the table is declared as renamed from " + display(old.Name), Lock: lockExclusive, Hazard: hazardRename,
	}})
	r.heritage.renameTable(old, name)
	for i := range r.db.Tables {
		t := &r.db.Tables[i]
		for j := range t.Inherits {
			if t.Inherits[j] == old {
				t.Inherits[j] = name
			}
		}
		if t.Partition != nil && t.Partition.Parent == old {
			t.Partition.Parent = name
		}
		if t.Name == old {
			t.Name = name
			for j := range t.Columns {
				c := &t.Columns[j]
				r.notNullStays(t, c, notNullName(old.Name, c.Name), notNullName(name.Name, c.Name))
			}
		}
		for j := range t.Constraints {
			if ref := t.Constraints[j].Reference; ref != nil && ref.Table == old {
				ref.Table = name
			}
		}
	}
	for i := range r.db.Sequences {
		if o := r.db.Sequences[i].Owner; o != nil && o.Table == old {
			o.Table = name
		}
	}
	for i := range r.db.Definitions {
		if o := &r.db.Definitions[i].Object; o.Schema == old.Schema && o.Table == old.Name {
			o.Table = name.Name
		}
	}
	r.renameUnder(old, name)
	for i := range r.db.Grants {
		renameGranted(&r.db.Grants[i], old, name)
	}
	for i := range r.db.Unmodelled {
		if o := &r.db.Unmodelled[i]; o.Schema == old.Schema && o.Table == old.Name {
			o.Table = name.Name
		}
	}
}

func (r *renamer) renameColumn(table model.Name, old, name string) {
	r.own()
	r.steps = append(r.steps, step{table: table, Statement: plan.Statement{
		SQL: "ALTER TABLE " + qualified(table) + " RENAME COLUMN " + ident(old) + " TO " + ident(name), Severity: diff.Warning, Kind: "rename_column",
		Object: display(table.Schema, table.Name, name), Table: display(table.Schema, table.Name), Reason: "the column is declared as renamed from " + display(old), Lock: lockExclusive, Hazard: hazardRename,
	}})
	r.columnRenamed(table, old, name)
}

// columnRenamed puts the new name wherever a table's column stands. The server renames it in partitions and children too, whatever the plan does with
// them afterwards.
func (r *renamer) columnRenamed(table model.Name, old, name string) {
	r.heritage.renameColumn(table, old, name)
	t := tableNamed(r.db, table)
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Name == old {
			c.Name = name
			r.notNullStays(t, c, notNullName(table.Name, old), notNullName(table.Name, name))
		}
	}
	renameInParts(t, old, name)
	r.columnRenamedUnder(table, old, name)
	for i := range r.db.Tables {
		child := &r.db.Tables[i]
		if c := child.Column(old); c != nil && slices.Contains(child.Parents(), table) {
			r.columnRenamed(child.Name, old, name)
		}
	}
}

// renameInParts puts a column's new name wherever its table uses it.
func renameInParts(t *model.Table, old, name string) {
	text := func(expressions ...*string) {
		for _, e := range expressions {
			*e = renameIn(*e, old, name)
		}
	}
	text(&t.PartitionBy)
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Generated != nil {
			generated := *c.Generated
			text(&generated.Expression)
			c.Generated = &generated
		}
	}
	for i := range t.Constraints {
		c := &t.Constraints[i]
		replaceAll(old, name, c.Columns, c.Include)
		text(&c.Expression, &c.Definition)
		if c.Reference != nil {
			replaceAll(old, name, c.Reference.DeleteColumns)
		}
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		replaceAll(old, name, x.Include)
		text(&x.Predicate)
		for j := range x.Keys {
			if x.Keys[j].Column == old {
				x.Keys[j].Column = name
			}
			text(&x.Keys[j].Expression)
		}
	}
}

// columnRenamedUnder puts the new name into what stands on the column.
func (r *renamer) columnRenamedUnder(table model.Name, old, name string) {
	for i := range r.db.Tables {
		for j := range r.db.Tables[i].Constraints {
			if ref := r.db.Tables[i].Constraints[j].Reference; ref != nil && ref.Table == table {
				replaceAll(old, name, ref.Columns)
			}
		}
	}
	for i := range r.db.Definitions {
		for j := range r.db.Definitions[i].DependsOn {
			if dep := &r.db.Definitions[i].DependsOn[j]; dep.Kind == model.KindTable && dep.Schema == table.Schema && dep.Name == table.Name && dep.Column == old {
				dep.Column = name
			}
		}
	}
	for i := range r.db.Sequences {
		if o := r.db.Sequences[i].Owner; o != nil && o.Table == table && o.Column == old {
			o.Column = name
		}
	}
	for i := range r.db.Grants {
		renameGrantedColumn(&r.db.Grants[i], table, old, name)
	}
}

// notNullStays keeps the name of the constraint behind a NOT NULL: since PostgreSQL 18 there is one, and no rename of its table or column changes it.
// was and now are what the server would call it, before the rename and after.
func (r *renamer) notNullStays(t *model.Table, c *model.Column, was, now string) {
	if r.major < 18 || !c.NotNull {
		return
	}
	if r.heritage.hasNotNull(t, c.Name) {
		r.heritage.nameNotNull(t.Name, c.Name, was)
		return
	}
	rule := model.NotNullRule{Name: was}
	if c.NotNullRule != nil {
		rule = *c.NotNullRule
	}
	c.NotNullRule = &rule
	if rule == (model.NotNullRule{Name: now}) {
		c.NotNullRule = nil
	}
}

func replaceAll(old, name string, lists ...[]string) {
	for _, list := range lists {
		for i := range list {
			if list[i] == old {
				list[i] = name
			}
		}
	}
}

// renameIn puts a new name where an expression, as the server prints it, has a column. Where it is wrong, the expression counts as changed or the
// end of the Apply is not as planned, and nothing is committed.
func renameIn(expression, old, name string) string {
	var b strings.Builder
	for i := 0; i < len(expression); {
		end := i + 1
		switch c := expression[i]; {
		case c == '\'' || c == '"':
			end = skipQuoted(expression, i)
		case isWord(c):
			for end < len(expression) && isWord(expression[end]) {
				end++
			}
		}
		token := expression[i:end]
		identifier := expression[i] == '"' || isWord(expression[i])
		beside := end < len(expression) && (expression[end] == '(' || expression[end] == '.') || i > 0 && (expression[i-1] == '.' || expression[i-1] == ':')
		if identifier && !beside && unquote(token) == old {
			token = bare(name)
		}
		b.WriteString(token)
		i = end
	}
	return b.String()
}

// bare writes a name as the server prints it: in quotes only where it has to be.
func bare(name string) string {
	plain := name != "" && (name[0] == '_' || name[0] >= 'a' && name[0] <= 'z')
	for i := range len(name) {
		c := name[i]
		plain = plain && (c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	}
	if plain {
		return name
	}
	return ident(name)
}

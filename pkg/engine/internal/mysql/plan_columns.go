package mysql

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// findMoved marks the columns that change so much that no foreign key may stand on them meanwhile, and those that the server can only build again.
func (p *planner) findMoved() {
	p.rebuilt, p.moved = map[model.ColumnRef]bool{}, map[model.ColumnRef]bool{}
	for i := range p.diff.Tables {
		t := &p.diff.Tables[i]
		if t.Old == nil || t.New == nil {
			continue
		}
		for _, c := range t.Columns {
			if c.Old == nil || c.New == nil {
				continue
			}
			ref := model.ColumnRef{Table: t.New.Name, Column: c.New.Name}
			if needsRebuild(c) {
				p.rebuilt[ref] = true
			}
			if p.rebuilt[ref] || c.Old.Type != c.New.Type || c.Old.Collation != c.New.Collation || c.Old.NotNull != c.New.NotNull || (c.Old.Generated == nil) != (c.New.Generated == nil) {
				p.moved[ref] = true
			}
		}
		p.spread(t)
	}
}

// spread adds the generated columns that are computed from rebuilt ones.
func (p *planner) spread(t *diff.TableChange) {
	for again := true; again; {
		again = false
		for i := range t.New.Columns {
			c := &t.New.Columns[i]
			old := t.Old.Column(c.Name)
			ref := model.ColumnRef{Table: t.New.Name, Column: c.Name}
			if p.rebuilt[ref] || c.Generated == nil || old == nil || old.Generated == nil {
				continue
			}
			for name := range mentions(old.Generated.Expression) {
				if p.rebuilt[model.ColumnRef{Table: t.New.Name, Column: name}] {
					p.rebuilt[ref], p.moved[ref], again = true, true, true
				}
			}
		}
	}
}

// needsRebuild reports a change that MODIFY COLUMN does not do: to or from a virtual column, or a period's.
func needsRebuild(c diff.ColumnChange) bool {
	virtual := func(x *model.Column) bool { return x.Generated != nil && x.Generated.Virtual }
	return virtual(c.Old) != virtual(c.New) || c.Old.MySQLPart().RowPeriod != c.New.MySQLPart().RowPeriod
}

// columns plans the columns of a table that both sides have: first those that go, then those that change and come, in the declared order.
func (p *planner) columns(t *diff.TableChange) []clause {
	var out []clause
	ref := func(name string) model.ColumnRef { return model.ColumnRef{Table: t.New.Name, Column: name} }
	for i := range t.Old.Columns {
		old := &t.Old.Columns[i]
		again := p.rebuilt[ref(old.Name)]
		if t.New.Column(old.Name) != nil && !again || old.MySQLPart().RowPeriod != "" {
			continue
		}
		c := clause{
			sql: "DROP COLUMN " + ident(old.Name), kind: "drop_column", severity: diff.Destructive, weight: instant,
			reason: "column " + display(old.Name) + " exists and is not declared", hazard: "the values are lost",
		}
		if again {
			c.reason = "column " + display(old.Name) + " has to be built again"
			if old.Generated != nil {
				c.hazard = "the values are computed again"
			}
		}
		out = append(out, c)
	}
	for i := range t.New.Columns {
		n := &t.New.Columns[i]
		change := diff.ColumnChange{Old: t.Old.Column(n.Name), New: n, MySQL: true}
		switch {
		case change.Old == nil || p.rebuilt[ref(n.Name)]:
			if n.MySQLPart().RowPeriod == "" {
				out = append(out, addColumn(n, change.Old != nil))
			}
		case slices.ContainsFunc(t.Columns, func(c diff.ColumnChange) bool { return c.New != nil && c.New.Name == n.Name }):
			out = append(out, modifyColumn(change))
		}
	}
	return out
}

func addColumn(n *model.Column, again bool) clause {
	c := clause{
		sql: "ADD COLUMN " + columnSQL(n), kind: "add_column", severity: diff.ColumnChange{New: n, MySQL: true}.Severity(), weight: instant,
		reason: "column " + display(n.Name) + " is declared and does not exist",
	}
	switch m := n.MySQLPart(); {
	case n.Generated != nil && !n.Generated.Virtual, m.AutoIncrement, m.Check != "":
		c.weight = rewrite
	case c.severity == diff.Warning:
		c.hazard = "existing rows get an empty value that nobody chose"
	}
	if again {
		c.reason, c.weight = "column "+display(n.Name)+" is built again", rewrite
	}
	return c
}

// modifyColumn plans a column that both sides have and that stays where it is.
func modifyColumn(c diff.ColumnChange) clause {
	o, n := c.Old, c.New
	out := clause{sql: "MODIFY COLUMN " + columnSQL(n), kind: "modify_column", severity: c.Severity(), weight: rewrite}
	var what []string
	add := func(differs bool, text string) {
		if differs {
			what = append(what, text)
		}
	}
	om, nm := o.MySQLPart(), n.MySQLPart()
	retyped := o.Type != n.Type || o.Collation != n.Collation
	add(o.Type != n.Type, "type")
	add(o.Collation != n.Collation, "character set or collation")
	add(o.NotNull != n.NotNull, "nullability")
	add(o.Default != n.Default, "default")
	add(om.OnUpdate != nm.OnUpdate, "update rule")
	add(om.AutoIncrement != nm.AutoIncrement, "auto increment")
	generated := (o.Generated == nil) != (n.Generated == nil) || o.Generated != nil && *o.Generated != *n.Generated
	add(generated, "generation")
	add(om.Check != nm.Check, "check")
	add(om.Invisible != nm.Invisible, "visibility")
	add(om.Unversioned != nm.Unversioned, "versioning")
	add(!slices.Equal(om.Attributes, nm.Attributes), "attributes")
	add(o.Comment != n.Comment, "comment")
	out.reason = "column " + display(n.Name) + " differs in its " + listed(what)
	switch {
	case retyped && !generated && diff.WidensMySQL(o.Type, n.Type) && o.Collation == n.Collation && grows(o.Type, n.Type):
		out.weight = instant
	case !retyped && !generated && om.AutoIncrement == nm.AutoIncrement && om.Check == nm.Check && om.Unversioned == nm.Unversioned && slices.Equal(om.Attributes, nm.Attributes):
		out.weight = instant
		switch {
		case o.NotNull != n.NotNull && typeWord(n.Type) == "timestamp":
			out.weight = rewrite
		case o.NotNull != n.NotNull:
			out.weight = inplace
		}
	}
	switch {
	case !o.NotNull && n.NotNull:
		out.hazard = "fails if a row holds NULL"
	case retyped && out.severity == diff.Destructive:
		out.hazard = lossOf(o.Type, n.Type)
	case om.Check != nm.Check && nm.Check != "":
		out.hazard = "fails if a row violates the check"
	}
	return out
}

// lossOf says what becomes of values that a narrower type cannot hold.
func lossOf(from, to string) string {
	after := diff.EnumValues(to)
	gone := slices.DeleteFunc(diff.EnumValues(from), func(value string) bool { return slices.Contains(after, value) })
	switch {
	case len(after) > 0 && len(gone) > 0:
		for i := range gone {
			gone[i] = literal(gone[i])
		}
		return "a row that holds " + listed(gone) + " stops the plan"
	case len(after) > 0:
		return "a value that the new type cannot hold stops the plan"
	}
	return "a value that the new type cannot hold stops the plan; fractions may be rounded"
}

// grows reports a widening that only changes metadata: values added at the end of an enum, or a longer variable text.
func grows(from, to string) bool {
	o, n := diff.EnumValues(from), diff.EnumValues(to)
	return len(o) > 0 && len(n) > len(o) && slices.Equal(o, n[:len(o)])
}

// Types whose values convert to and from text, and to nothing else; those of the second list only among each other.
var (
	opaque = []string{"uuid", "inet4", "inet6"}
	shapes = []string{"vector", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection"}
)

// convertible reports a change of type that the server has a conversion for.
func convertible(from, to string) bool {
	f, t := typeWord(from), typeWord(to)
	textual := func(word string) bool {
		return slices.Contains([]string{"char", "varchar", "binary", "varbinary", "enum", "set", "json"}, word) || strings.HasSuffix(word, "text") || strings.HasSuffix(word, "blob")
	}
	closed := func(word string) bool { return slices.Contains(opaque, word) || slices.Contains(shapes, word) }
	return f == t || !closed(f) && !closed(t) || textual(f) || textual(t) || isShape(f) && isShape(t)
}

func isShape(word string) bool { return slices.Contains(shapes, word) }

func typeWord(printed string) string {
	word, _, _ := strings.Cut(printed, "(")
	word, _, _ = strings.Cut(word, " ")
	return word
}

// viaText leads columns over text where the server has no conversion. Values that the new type cannot read stop the plan.
func viaText(t *diff.TableChange) []clause {
	var out []clause
	for _, c := range t.Columns {
		if c.Old == nil || c.New == nil || convertible(c.Old.Type, c.New.Type) || c.Old.Generated != nil || c.New.Generated != nil {
			continue
		}
		between := model.Column{Name: c.Old.Name, Type: "varchar(64)", Collation: "latin1_bin", NotNull: c.Old.NotNull}
		out = append(out, clause{
			sql: "MODIFY COLUMN " + columnSQL(&between), kind: "modify_column", severity: diff.Destructive, weight: rewrite,
			reason: "column " + display(c.Old.Name) + " has a type that converts to its new one only over text", hazard: "a value that the new type cannot hold stops the plan",
		})
	}
	return out
}

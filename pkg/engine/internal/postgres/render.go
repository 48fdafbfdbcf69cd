package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// columnSQL is a column as CREATE TABLE and ADD COLUMN want it.
func columnSQL(c *model.Column) string {
	var b strings.Builder
	b.WriteString(ident(c.Name) + " " + c.Type)
	if c.Collation != "" {
		b.WriteString(" COLLATE " + c.Collation)
	}
	switch {
	case c.Generated != nil:
		b.WriteString(" GENERATED ALWAYS AS (" + c.Generated.Expression + ")")
		if c.Generated.Virtual {
			b.WriteString(" VIRTUAL")
		} else {
			b.WriteString(" STORED")
		}
	case c.Identity != nil:
		b.WriteString(" " + identitySQL(c.Type, c.Identity))
	case c.Default != "":
		b.WriteString(" DEFAULT " + c.Default)
	}
	b.WriteString(notNullSQL(c))
	return b.String()
}

func identitySQL(columnType string, id *model.Identity) string {
	s := "GENERATED " + identityKind(id) + " AS IDENTITY"
	if options := sequenceOptions(columnType, id.SequenceOptions, nil); options != "" {
		s += " (" + options + ")"
	}
	return s
}

func identityKind(id *model.Identity) string {
	if id.Always {
		return "ALWAYS"
	}
	return "BY DEFAULT"
}

// defaultOptions are what the server fills in for a sequence of that type and increment.
func defaultOptions(sequenceType string, increment int64) model.SequenceOptions {
	high := map[string]int64{"smallint": 1<<15 - 1, "integer": 1<<31 - 1}[sequenceType]
	if high == 0 {
		high = 1<<63 - 1
	}
	if increment < 0 {
		return model.SequenceOptions{Start: -1, Increment: increment, Min: -high - 1, Max: -1, Cache: 1}
	}
	return model.SequenceOptions{Start: 1, Increment: increment, Min: 1, Max: high, Cache: 1}
}

// sequenceOptions writes the options that differ from those in force: old, or the server's defaults for a new sequence.
func sequenceOptions(sequenceType string, o model.SequenceOptions, old *model.SequenceOptions) string {
	base := defaultOptions(sequenceType, o.Increment)
	if old != nil {
		base = *old
	} else {
		base.Increment = 1
		if o.Increment > 0 {
			base.Start = o.Min // START follows MINVALUE where it is not given
		} else {
			base.Start = o.Max
		}
	}
	var parts []string
	add := func(differs bool, format string, value int64) {
		if differs {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add(o.Increment != base.Increment, "INCREMENT BY %d", o.Increment)
	add(o.Min != base.Min, "MINVALUE %d", o.Min)
	add(o.Max != base.Max, "MAXVALUE %d", o.Max)
	add(o.Start != base.Start, "START WITH %d", o.Start)
	add(o.Cache != base.Cache, "CACHE %d", o.Cache)
	switch {
	case o.Cycle && !base.Cycle:
		parts = append(parts, "CYCLE")
	case !o.Cycle && base.Cycle:
		parts = append(parts, "NO CYCLE")
	}
	return strings.Join(parts, " ")
}

func createSequenceSQL(s *model.Sequence) string {
	sql := "CREATE SEQUENCE " + qualified(s.Name)
	if s.Unlogged {
		sql = "CREATE UNLOGGED SEQUENCE " + qualified(s.Name)
	}
	if s.Type != "bigint" {
		sql += " AS " + s.Type
	}
	if options := sequenceOptions(s.Type, s.SequenceOptions, nil); options != "" {
		sql += " " + options
	}
	return sql
}

// constraintSQL is a constraint as CREATE TABLE and ADD want it.
func constraintSQL(c *model.Constraint) string {
	var b strings.Builder
	b.WriteString("CONSTRAINT " + ident(c.Name) + " ")
	switch c.Kind {
	case model.PrimaryKey, model.Unique:
		b.WriteString(keySQL(c))
	case model.Exclusion:
		b.WriteString(c.Definition)
	case model.ForeignKey:
		b.WriteString(foreignKeySQL(c))
	case model.Check:
		b.WriteString("CHECK (" + c.Expression + ")")
		if c.NoInherit {
			b.WriteString(" NO INHERIT")
		}
	}
	b.WriteString(deferSQL(c))
	if c.NotEnforced {
		b.WriteString(" NOT ENFORCED")
	}
	if c.NotValid {
		b.WriteString(" NOT VALID")
	}
	return b.String()
}

func deferSQL(c *model.Constraint) string {
	switch {
	case c.Deferred:
		return " DEFERRABLE INITIALLY DEFERRED"
	case c.Deferrable:
		return " DEFERRABLE"
	}
	return ""
}

func keySQL(c *model.Constraint) string {
	sql := "PRIMARY KEY"
	if c.Kind == model.Unique {
		sql = "UNIQUE"
		if c.NullsNotDistinct {
			sql += " NULLS NOT DISTINCT"
		}
	}
	sql += " (" + idents(c.Columns)
	if c.Period {
		sql += " WITHOUT OVERLAPS"
	}
	sql += ")"
	if len(c.Include) > 0 {
		sql += " INCLUDE (" + idents(c.Include) + ")"
	}
	return sql + withOptions(c.Options)
}

func withOptions(options []string) string {
	if len(options) == 0 {
		return ""
	}
	return " WITH (" + strings.Join(setOptions(options), ", ") + ")"
}

// setOptions writes "key=value" as the grammar wants it.
func setOptions(options []string) []string {
	out := make([]string, len(options))
	for i, o := range options {
		key, value, _ := strings.Cut(o, "=")
		out[i] = ident(key) + " = " + literal(value)
	}
	return out
}

func foreignKeySQL(c *model.Constraint) string {
	r := c.Reference
	columns := func(names []string) string {
		if last := len(names) - 1; c.Period && last == 0 {
			return "PERIOD " + ident(names[last])
		} else if c.Period {
			return idents(names[:last]) + ", PERIOD " + ident(names[last])
		}
		return idents(names)
	}
	sql := "FOREIGN KEY (" + columns(c.Columns) + ") REFERENCES " + qualified(r.Table) + " (" + columns(r.Columns) + ")"
	if r.MatchFull {
		sql += " MATCH FULL"
	}
	if r.OnUpdate != "" {
		sql += " ON UPDATE " + r.OnUpdate
	}
	if r.OnDelete != "" {
		sql += " ON DELETE " + r.OnDelete
		if len(r.DeleteColumns) > 0 {
			sql += " (" + idents(r.DeleteColumns) + ")"
		}
	}
	return sql
}

func createIndexSQL(table model.Name, x *model.Index) string {
	var b strings.Builder
	b.WriteString("CREATE ")
	if x.Unique {
		b.WriteString("UNIQUE ")
	}
	keys := make([]string, len(x.Keys))
	for i := range x.Keys {
		keys[i] = indexKeySQL(&x.Keys[i])
	}
	fmt.Fprintf(&b, "INDEX %s ON %s USING %s (%s)", ident(x.Name), qualified(table), ident(x.Method), strings.Join(keys, ", "))
	if len(x.Include) > 0 {
		b.WriteString(" INCLUDE (" + idents(x.Include) + ")")
	}
	if x.NullsNotDistinct {
		b.WriteString(" NULLS NOT DISTINCT")
	}
	b.WriteString(withOptions(x.Options))
	if x.Predicate != "" {
		b.WriteString(" WHERE " + x.Predicate)
	}
	return b.String()
}

func indexKeySQL(k *model.IndexKey) string {
	// The server prints an expression as the grammar wants it back: in parentheses unless it is a plain call.
	sql := k.Expression
	if k.Column != "" {
		sql = ident(k.Column)
	}
	if k.Collation != "" {
		sql += " COLLATE " + k.Collation
	}
	if k.Opclass != "" {
		sql += " " + k.Opclass
	}
	if k.Order != "" {
		sql += " " + k.Order
	}
	return sql
}

// createTableSQL writes a table with every constraint that can stand in CREATE TABLE, and with more lines behind its columns; the others are returned.
func createTableSQL(t *model.Table, more []string) (string, []*model.Constraint) {
	lines := make([]string, 0, len(t.Columns)+len(t.Constraints))
	for i := range t.Columns {
		if !t.Columns[i].Inherited {
			lines = append(lines, "  "+columnSQL(&t.Columns[i]))
		}
	}
	lines = append(lines, more...)
	var later []*model.Constraint
	var keys [][]string
	for _, kind := range []model.ConstraintKind{model.PrimaryKey, model.Unique, model.Exclusion, model.Check, model.ForeignKey} {
		for i := range t.Constraints {
			c := &t.Constraints[i]
			switch {
			case c.Kind != kind:
			// Of two keys over the same columns in one CREATE TABLE the server makes only one.
			case c.Kind == model.ForeignKey || c.NotValid || c.Kind == model.Unique && slices.ContainsFunc(keys, func(k []string) bool { return slices.Equal(k, c.Columns) }):
				later = append(later, c)
			default:
				if c.Kind == model.PrimaryKey || c.Kind == model.Unique {
					keys = append(keys, c.Columns)
				}
				lines = append(lines, "  "+constraintSQL(c))
			}
		}
	}
	sql := "CREATE TABLE "
	if t.Unlogged {
		sql = "CREATE UNLOGGED TABLE "
	}
	sql += qualified(t.Name)
	if t.Partition != nil {
		sql += " PARTITION OF " + qualified(t.Partition.Parent)
	}
	switch {
	case len(lines) > 0:
		sql += " (\n" + strings.Join(lines, ",\n") + "\n)"
	case t.Partition == nil:
		sql += " ()"
	}
	if t.Partition != nil {
		sql += " " + t.Partition.Bound
	}
	return sql + relationSQL(t), later
}

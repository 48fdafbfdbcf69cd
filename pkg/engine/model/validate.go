package model

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Validate checks what the planner relies on: known version and dialect, sorted unique keys, references that exist inside a table,
// text that a server could have written.
func (d *Database) Validate() error {
	switch {
	case d.FormatVersion != FormatVersion:
		return fmt.Errorf("format version %d, this build reads %d", d.FormatVersion, FormatVersion)
	case d.Dialect != Postgres && d.Dialect != MySQL:
		return fmt.Errorf("unknown dialect %q", d.Dialect)
	}
	for _, check := range []func() error{d.validateTop, d.validateTypes, d.validateTables, d.validateDefinitions, d.validateRows, d.validatePrivileges, d.validateServer} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Database) validateTop() error {
	if err := ascending("schema", d.Schemas, func(a, b *Schema) int { return strings.Compare(a.Name, b.Name) }); err != nil {
		return err
	}
	if err := ascending("enum", d.Enums, func(a, b *Enum) int { return a.Compare(b.Name) }); err != nil {
		return err
	}
	if err := ascending("sequence", d.Sequences, func(a, b *Sequence) int { return a.Compare(b.Name) }); err != nil {
		return err
	}
	if err := ascending("table", d.Tables, func(a, b *Table) int { return a.Compare(b.Name) }); err != nil {
		return err
	}
	if err := ascending("unmodelled object", d.Unmodelled, func(a, b *Object) int { return a.Compare(*b) }); err != nil {
		return err
	}
	for i := range d.Schemas {
		if err := text("schema name", d.Schemas[i].Name); err != nil {
			return err
		}
	}
	for i := range d.Enums {
		e := &d.Enums[i]
		if err := text("enum name", e.Schema, e.Name.Name); err != nil {
			return err
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(e.Values))); len(unique) != len(e.Values) {
			return fmt.Errorf("enum %q.%q repeats a value", e.Schema, e.Name.Name)
		}
	}
	for i := range d.Sequences {
		s := &d.Sequences[i]
		if err := text("sequence name or type", d.schemaOf(s.Name), s.Name.Name, s.Type); err != nil {
			return err
		}
	}
	for _, o := range d.Unmodelled {
		if err := text("unmodelled object", o.Kind, o.Name); err != nil {
			return err
		}
	}
	return nil
}

// schemaOf is the schema that a name must have; where a dialect has none, the name itself.
func (d *Database) schemaOf(n Name) string {
	if d.Dialect == MySQL {
		return n.Name
	}
	return n.Schema
}

func (d *Database) validateTables() error {
	for i := range d.Tables {
		if err := text("table name", d.schemaOf(d.Tables[i].Name), d.Tables[i].Name.Name); err != nil {
			return err
		}
		if err := d.Tables[i].validate(); err != nil {
			return fmt.Errorf("table %q.%q: %w", d.Tables[i].Schema, d.Tables[i].Name.Name, err)
		}
	}
	return nil
}

func (t *Table) validate() error {
	columns := map[string]bool{}
	for i := range t.Columns {
		c := &t.Columns[i]
		if err := text("column name or type", c.Name, c.Type); err != nil {
			return err
		}
		if columns[c.Name] {
			return fmt.Errorf("column %q is there twice", c.Name)
		}
		if c.Generated != nil && (c.Default != "" || c.Identity != nil) || c.Identity != nil && c.Default != "" {
			return fmt.Errorf("column %q has more than one of default, identity and generated", c.Name)
		}
		columns[c.Name] = true
	}
	if err := ascending("constraint", t.Constraints, func(a, b *Constraint) int { return strings.Compare(a.Name, b.Name) }); err != nil {
		return err
	}
	if err := ascending("index", t.Indexes, func(a, b *Index) int { return strings.Compare(a.Name, b.Name) }); err != nil {
		return err
	}
	if err := t.Relation.validate(); err != nil {
		return err
	}
	keys := 0
	for i := range t.Constraints {
		c := &t.Constraints[i]
		if err := c.validate(columns); err != nil {
			return fmt.Errorf("constraint %q: %w", c.Name, err)
		}
		if c.Kind == PrimaryKey {
			keys++
		}
	}
	if keys > 1 {
		return fmt.Errorf("has %d primary keys", keys)
	}
	for i := range t.Indexes {
		if err := t.Indexes[i].validate(columns); err != nil {
			return fmt.Errorf("index %q: %w", t.Indexes[i].Name, err)
		}
	}
	return nil
}

func (c *Constraint) validate(columns map[string]bool) error {
	if err := text("constraint name", c.Name); err != nil {
		return err
	}
	for _, name := range slices.Concat(c.Columns, c.Include) {
		if !columns[name] {
			return fmt.Errorf("column %q does not exist", name)
		}
	}
	switch c.Kind {
	case PrimaryKey, Unique:
		if len(c.Columns) == 0 {
			return fmt.Errorf("has no columns")
		}
	case ForeignKey:
		if c.Reference == nil || len(c.Columns) == 0 || len(c.Columns) != len(c.Reference.Columns) {
			return fmt.Errorf("does not pair its columns")
		}
	case Check:
		return text("expression", c.Expression)
	case Exclusion:
		return text("definition", c.Definition)
	default:
		return fmt.Errorf("unknown kind %q", c.Kind)
	}
	return nil
}

func (x *Index) validate(columns map[string]bool) error {
	if err := text("index name or method", x.Name, x.Method); err != nil {
		return err
	}
	if len(x.Keys) == 0 {
		return fmt.Errorf("has no keys")
	}
	for _, k := range x.Keys {
		if (k.Column == "") == (k.Expression == "") {
			return fmt.Errorf("a key is either a column or an expression")
		}
		if k.Column != "" && !columns[k.Column] {
			return fmt.Errorf("column %q does not exist", k.Column)
		}
	}
	for _, name := range x.Include {
		if !columns[name] {
			return fmt.Errorf("column %q does not exist", name)
		}
	}
	return nil
}

// ascending refuses unsorted and repeated keys.
func ascending[T any](what string, items []T, compare func(a, b *T) int) error {
	for i := 1; i < len(items); i++ {
		if compare(&items[i-1], &items[i]) >= 0 {
			return fmt.Errorf("%s %d is out of order or repeated", what, i+1)
		}
	}
	return nil
}

// text refuses what no server could have sent: empty, invalid UTF-8, NUL.
func text(what string, values ...string) error {
	for _, v := range values {
		if v == "" || !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
			return fmt.Errorf("%s is empty or not text", what)
		}
	}
	return nil
}

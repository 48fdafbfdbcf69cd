package model

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// fingerprintScheme versions the facts behind Fingerprint. It changes whenever the same database would yield other facts.
const fingerprintScheme = "ptah.schema.facts.v5"

// Fact is one statement about one object: which aspect has which value. Two databases are equal when their facts are.
type Fact struct {
	Kind      string
	Schema    string
	Table     string
	Name      string
	Arguments string // of a routine
	Aspect    string
	Value     string
}

// Fingerprint names a state, "sha256:" + 64 hex digits: a hash over the scheme and the length-prefixed facts of a normalised model, in the model's
// own order. The order of a table's columns is no fact, because no ALTER can change it.
func Fingerprint(d *Database) string {
	h := sha256.New()
	_, _ = h.Write(appendList(nil, fingerprintScheme, d.Dialect)) // a hash never fails to write
	var n [8]byte
	var buffer []byte
	walk(d, func(f *Fact) {
		buffer = appendList(buffer[:0], f.Kind, f.Schema, f.Table, f.Name, f.Arguments, f.Aspect, f.Value)
		binary.BigEndian.PutUint64(n[:], uint64(len(buffer)))
		_, _ = h.Write(n[:])
		_, _ = h.Write(buffer)
	})
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// list writes values so that no two lists share bytes: each after its length, eight bytes.
func list(values ...string) string {
	if len(values) == 0 {
		return ""
	}
	return string(appendList(nil, values...))
}

func appendList(buffer []byte, values ...string) []byte {
	for _, v := range values {
		buffer = binary.BigEndian.AppendUint64(buffer, uint64(len(v)))
		buffer = append(buffer, v...)
	}
	return buffer
}

// Facts are everything that a model says, in the order of the fingerprint.
func Facts(d *Database) []Fact {
	var facts []Fact
	walk(d, func(f *Fact) { facts = append(facts, *f) })
	return facts
}

// walk visits the facts of a normalised model; a fact is valid only during its visit.
func walk(d *Database, visit func(*Fact)) {
	c := &collector{visit: visit}
	for i := range d.Schemas {
		c.object("schema", d.Schemas[i].Name, "", d.Schemas[i].Name)
		c.add("comment", d.Schemas[i].Comment)
	}
	c.types(&d.Types)
	for i := range d.Enums {
		e := &d.Enums[i]
		c.object("enum", e.Schema, "", e.Name.Name)
		c.add("values", list(e.Values...))
		c.add("comment", e.Comment)
	}
	for i := range d.Sequences {
		c.sequence(&d.Sequences[i])
	}
	for i := range d.Tables {
		c.table(&d.Tables[i])
	}
	for i := range d.Rows {
		c.rows(&d.Rows[i])
	}
	for i := range d.Definitions {
		c.definition(&d.Definitions[i])
	}
	c.privileges(d)
	for _, o := range d.Unmodelled {
		c.object("unmodelled "+o.Kind, o.Schema, o.Table, o.Name)
	}
}

// collector states the facts of one object after another.
type collector struct {
	visit   func(*Fact)
	current Fact
}

// object starts an object; that it exists is a fact of its own.
func (c *collector) object(kind, schema, table, name string) {
	c.current = Fact{Kind: kind, Schema: schema, Table: table, Name: name}
	c.visit(&c.current)
}

// add states an aspect; the empty value is its absence.
func (c *collector) add(aspect, value string) {
	if value == "" {
		return
	}
	c.current.Aspect, c.current.Value = aspect, value
	c.visit(&c.current)
	c.current.Aspect, c.current.Value = "", ""
}

func (c *collector) flag(aspect string, value bool) {
	if value {
		c.add(aspect, "true")
	}
}

func (c *collector) options(o SequenceOptions) {
	c.add("options", list(number(o.Start), number(o.Increment), number(o.Min), number(o.Max), number(o.Cache), strconv.FormatBool(o.Cycle)))
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func (c *collector) sequence(s *Sequence) {
	c.object("sequence", s.Schema, "", s.Name.Name)
	c.add("type", s.Type)
	c.options(s.SequenceOptions)
	c.flag("unlogged", s.Unlogged)
	if s.Owner != nil {
		c.add("owner", list(s.Owner.Table.Schema, s.Owner.Table.Name, s.Owner.Column))
	}
	c.add("comment", s.Comment)
}

func (c *collector) table(t *Table) {
	c.object("table", t.Schema, "", t.Name.Name)
	c.add("comment", t.Comment)
	c.add("options", list(t.Options...))
	c.tableMySQL(t.MySQL)
	c.relation(&t.Relation)
	columns := make([]*Column, len(t.Columns))
	for i := range t.Columns {
		columns[i] = &t.Columns[i]
	}
	slices.SortFunc(columns, func(a, b *Column) int { return strings.Compare(a.Name, b.Name) })
	for _, column := range columns {
		c.column(t, column)
	}
	for i := range t.Constraints {
		c.constraint(t, &t.Constraints[i])
	}
	for i := range t.Indexes {
		c.index(t, &t.Indexes[i])
	}
}

func (c *collector) column(t *Table, col *Column) {
	c.object("column", t.Schema, t.Name.Name, col.Name)
	c.add("type", col.Type)
	c.add("collation", col.Collation)
	c.flag("not null", col.NotNull)
	c.add("default", col.Default)
	if col.Identity != nil {
		c.add("identity", strconv.FormatBool(col.Identity.Always))
		c.options(col.Identity.SequenceOptions)
	}
	if col.Generated != nil {
		c.add("generated", list(strconv.FormatBool(col.Generated.Virtual), col.Generated.Expression))
	}
	c.add("storage", col.Storage)
	c.add("compression", col.Compression)
	c.add("comment", col.Comment)
	c.columnMySQL(col.MySQL)
	c.extras(&col.ColumnExtras)
}

func (c *collector) constraint(t *Table, k *Constraint) {
	c.object("constraint", t.Schema, t.Name.Name, k.Name)
	c.add("kind", string(k.Kind))
	c.add("columns", list(k.Columns...))
	c.flag("deferrable", k.Deferrable)
	c.flag("deferred", k.Deferred)
	c.flag("not valid", k.NotValid)
	c.add("include", list(k.Include...))
	c.flag("nulls not distinct", k.NullsNotDistinct)
	c.add("options", list(k.Options...))
	if r := k.Reference; r != nil {
		c.add("reference", list(r.Table.Schema, r.Table.Name, list(r.Columns...), strconv.FormatBool(r.MatchFull), r.OnUpdate, r.OnDelete, list(r.DeleteColumns...)))
	}
	c.add("expression", k.Expression)
	c.flag("no inherit", k.NoInherit)
	c.flag("not enforced", k.NotEnforced)
	c.flag("period", k.Period)
	c.add("definition", k.Definition)
	c.add("comment", k.Comment)
}

func (c *collector) index(t *Table, x *Index) {
	c.object("index", t.Schema, t.Name.Name, x.Name)
	c.add("method", x.Method)
	c.flag("unique", x.Unique)
	c.flag("nulls not distinct", x.NullsNotDistinct)
	for i, k := range x.Keys {
		c.add("key "+strconv.Itoa(i), list(k.Column, k.Expression, k.Collation, k.Opclass, k.Order))
	}
	c.add("include", list(x.Include...))
	c.add("options", list(x.Options...))
	c.add("predicate", x.Predicate)
	c.add("comment", x.Comment)
	for _, s := range x.Statistics {
		c.add("statistics "+strconv.Itoa(s.Key), strconv.Itoa(s.Target))
	}
	c.indexMySQL(x)
}

// Package model is the canonical model of a database: what Ptah compares, converges and carries in a schema artifact. Objects are
// identified by struct keys, never by joined strings. A model has one deterministic order (Normalise) and one byte form (Encode).
//
// What belongs to the model is what a schema declares. Ownership is no part of it; privileges and data are as far as they are declared. Whatever
// else exists is listed in Unmodelled, so that a caller can refuse it by name.
package model

import (
	"cmp"
	"slices"
)

// FormatVersion of the encoded model.
const FormatVersion = 1

// Dialects.
const (
	Postgres = "postgres"
	MySQL    = "mysql"
)

// Name identifies an object that lives in a schema.
type Name struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// Compare orders names by schema, then name, bytewise.
func (n Name) Compare(o Name) int {
	return cmp.Or(cmp.Compare(n.Schema, o.Schema), cmp.Compare(n.Name, o.Name))
}

// Database is one database, or one declared schema.
type Database struct {
	FormatVersion int      `json:"format_version"`
	Dialect       string   `json:"dialect"`
	Server        string   `json:"server,omitempty"` // of the MySQL dialect: whose words the model is in
	Schemas       []Schema `json:"schemas,omitempty"`
	Types
	Enums       []Enum       `json:"enums,omitempty"`
	Sequences   []Sequence   `json:"sequences,omitempty"`
	Tables      []Table      `json:"tables,omitempty"`
	Definitions []Definition `json:"definitions,omitempty"`
	Rows        []RowSet     `json:"rows,omitempty"` // reference data that is declared
	// Grants and DefaultPrivileges hold what is managed; see ManagedPrivileges.
	Grants            []Grant            `json:"grants,omitempty"`
	DefaultPrivileges []DefaultPrivilege `json:"default_privileges,omitempty"`
	Unmodelled        []Object           `json:"unmodelled,omitempty"`
}

// Schema is a namespace.
type Schema struct {
	Name    string `json:"name"`
	Comment string `json:"comment,omitempty"`
}

// Enum is an enumerated type; the order of its values is part of it.
type Enum struct {
	Name
	Values  []string `json:"values,omitempty"`
	Comment string   `json:"comment,omitempty"`
}

// SequenceOptions are the numbers of a sequence, all of them explicit.
type SequenceOptions struct {
	Start     int64 `json:"start"`
	Increment int64 `json:"increment"`
	Min       int64 `json:"min"`
	Max       int64 `json:"max"`
	Cache     int64 `json:"cache"`
	Cycle     bool  `json:"cycle,omitempty"`
}

// Sequence is a sequence that is not the inner part of an identity column. A serial column is a column whose default calls nextval on
// a sequence that the column owns.
type Sequence struct {
	Name
	Type string `json:"type"` // smallint, integer or bigint
	SequenceOptions
	Owner    *ColumnRef `json:"owner,omitempty"`
	Unlogged bool       `json:"unlogged,omitempty"`
	Comment  string     `json:"comment,omitempty"`
}

// ColumnRef identifies a column.
type ColumnRef struct {
	Table  Name   `json:"table"`
	Column string `json:"column"`
}

// Table is an ordinary permanent table. Columns are in the table's own order, which is kept for CREATE TABLE and is otherwise no
// difference; constraints and indexes are sorted by name.
type Table struct {
	Name
	Comment     string       `json:"comment,omitempty"`
	Options     []string     `json:"options,omitempty"` // storage parameters, "key=value", sorted
	Columns     []Column     `json:"columns,omitempty"`
	Constraints []Constraint `json:"constraints,omitempty"`
	Indexes     []Index      `json:"indexes,omitempty"` // without those that belong to a constraint
	Relation
	MySQL *TableMySQL `json:"mysql,omitempty"`

	// RenamedFrom is the name that a declared table had before. It says how to get there and is no part of a state: no fact, and no difference.
	RenamedFrom string `json:"renamed_from,omitempty"`
}

// Column of a table. Type, Collation, Default and expressions are the server's own canonical text, every name qualified.
type Column struct {
	Name        string     `json:"name"`
	Type        string     `json:"type"`
	Collation   string     `json:"collation,omitempty"` // qualified; empty where it is the type's own
	NotNull     bool       `json:"not_null,omitempty"`
	Default     string     `json:"default,omitempty"`
	Identity    *Identity  `json:"identity,omitempty"`
	Generated   *Generated `json:"generated,omitempty"`
	Storage     string     `json:"storage,omitempty"`     // plain, external, extended or main; empty where it is the type's own
	Compression string     `json:"compression,omitempty"` // pglz or lz4; empty for the server's default
	Comment     string     `json:"comment,omitempty"`
	ColumnExtras

	MySQL *ColumnMySQL `json:"mysql,omitempty"`

	RenamedFrom string `json:"renamed_from,omitempty"` // as that of a table
}

// Identity is GENERATED … AS IDENTITY.
type Identity struct {
	Always bool `json:"always,omitempty"` // ALWAYS, else BY DEFAULT
	SequenceOptions
}

// Generated is GENERATED ALWAYS AS (expression).
type Generated struct {
	Expression string `json:"expression"`
	Virtual    bool   `json:"virtual,omitempty"` // else STORED
}

// ConstraintKind tells constraints apart.
type ConstraintKind string

// The kinds of constraints.
const (
	PrimaryKey ConstraintKind = "primary_key"
	Unique     ConstraintKind = "unique"
	ForeignKey ConstraintKind = "foreign_key"
	Check      ConstraintKind = "check"
	Exclusion  ConstraintKind = "exclusion"
)

// Constraint of a table. Deferrable, Deferred and NotValid mean what they mean in SQL.
type Constraint struct {
	Name       string         `json:"name"`
	Kind       ConstraintKind `json:"kind"`
	Columns    []string       `json:"columns,omitempty"` // of a check: those it mentions, sorted
	Deferrable bool           `json:"deferrable,omitempty"`
	Deferred   bool           `json:"deferred,omitempty"`  // INITIALLY DEFERRED
	NotValid   bool           `json:"not_valid,omitempty"` // foreign keys and checks

	// Primary keys and uniques.
	Include          []string `json:"include,omitempty"`
	NullsNotDistinct bool     `json:"nulls_not_distinct,omitempty"`
	Options          []string `json:"options,omitempty"` // storage parameters of the index, sorted

	Reference *Reference `json:"reference,omitempty"` // foreign keys

	// Checks.
	Expression string `json:"expression,omitempty"`
	NoInherit  bool   `json:"no_inherit,omitempty"`

	NotEnforced bool `json:"not_enforced,omitempty"` // of a check on MySQL, and of PostgreSQL 18

	// Period is WITHOUT OVERLAPS of a key and PERIOD of a foreign key: it is about the last column.
	Period bool `json:"period,omitempty"`
	// Definition is the whole text of an exclusion constraint, as the server prints it.
	Definition string `json:"definition,omitempty"`

	Comment string `json:"comment,omitempty"`
}

// Reference is where a foreign key points to. Actions are "" for NO ACTION, else RESTRICT, CASCADE, SET NULL or SET DEFAULT.
type Reference struct {
	Table         Name     `json:"table"`
	Columns       []string `json:"columns"`
	MatchFull     bool     `json:"match_full,omitempty"`
	OnUpdate      string   `json:"on_update,omitempty"`
	OnDelete      string   `json:"on_delete,omitempty"`
	DeleteColumns []string `json:"delete_columns,omitempty"` // SET NULL (…) and SET DEFAULT (…)
}

// Index that belongs to no constraint.
type Index struct {
	Name             string     `json:"name"`
	Method           string     `json:"method"`
	Unique           bool       `json:"unique,omitempty"`
	NullsNotDistinct bool       `json:"nulls_not_distinct,omitempty"`
	Keys             []IndexKey `json:"keys"`
	Include          []string   `json:"include,omitempty"`
	Options          []string   `json:"options,omitempty"` // storage parameters, sorted
	Predicate        string     `json:"predicate,omitempty"`
	Comment          string     `json:"comment,omitempty"`
	// Statistics are the targets of expression keys, in order.
	Statistics []KeyStatistics `json:"statistics,omitempty"`

	MySQL *IndexMySQL `json:"mysql,omitempty"`

	RenamedFrom string `json:"renamed_from,omitempty"` // as that of a table, on MySQL and MariaDB
}

// IndexKey is one key of an index: a column or an expression. Order is the server's text for what follows the operator class.
type IndexKey struct {
	Column     string `json:"column,omitempty"`
	Expression string `json:"expression,omitempty"`
	Collation  string `json:"collation,omitempty"` // qualified; empty where it is the key's own
	Opclass    string `json:"opclass,omitempty"`   // with its parameters; empty for the default one
	Order      string `json:"order,omitempty"`     // DESC, NULLS FIRST, DESC NULLS LAST; empty for the default
	Prefix     int    `json:"prefix,omitempty"`    // length, on MySQL
}

// Object identifies something by its kind and names: a definition, or what exists and is not modelled.
type Object struct {
	Kind   string `json:"kind"` // "view", "trigger", …
	Schema string `json:"schema,omitempty"`
	Table  string `json:"table,omitempty"` // where it is a part of a table
	Name   string `json:"name"`
}

// Compare orders objects by kind, schema, table and name.
func (o Object) Compare(p Object) int {
	return cmp.Or(cmp.Compare(o.Kind, p.Kind), cmp.Compare(o.Schema, p.Schema), cmp.Compare(o.Table, p.Table), cmp.Compare(o.Name, p.Name))
}

// New is an empty database.
func New(dialect string) *Database { return &Database{FormatVersion: FormatVersion, Dialect: dialect} }

// Normalise puts everything into the one order that Encode wants. Columns, enum values and index keys keep theirs.
func (d *Database) Normalise() {
	slices.SortFunc(d.Schemas, func(a, b Schema) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(d.Enums, func(a, b Enum) int { return a.Compare(b.Name) })
	slices.SortFunc(d.Sequences, func(a, b Sequence) int { return a.Compare(b.Name) })
	slices.SortFunc(d.Tables, func(a, b Table) int { return a.Compare(b.Name) })
	slices.SortFunc(d.Unmodelled, Object.Compare)
	d.normalise()
	d.normalisePrivileges()
	for i := range d.Rows {
		d.Rows[i].normalise()
	}
	slices.SortFunc(d.Rows, func(a, b RowSet) int { return a.Table.Compare(b.Table) })
	for i := range d.Definitions {
		d.Definitions[i].normalise()
	}
	slices.SortFunc(d.Definitions, func(a, b Definition) int { return a.CompareKey(&b) })
	for i := range d.Tables {
		t := &d.Tables[i]
		slices.Sort(t.Options)
		slices.Sort(t.ToastOptions)
		for j := range t.Columns {
			slices.Sort(t.Columns[j].Options)
		}
		if t.MySQL != nil {
			slices.Sort(t.MySQL.Periods)
		}
		slices.SortFunc(t.Constraints, func(a, b Constraint) int { return cmp.Compare(a.Name, b.Name) })
		slices.SortFunc(t.Indexes, func(a, b Index) int { return cmp.Compare(a.Name, b.Name) })
		for j := range t.Constraints {
			slices.Sort(t.Constraints[j].Options)
			if t.Constraints[j].Kind == Check {
				slices.Sort(t.Constraints[j].Columns)
			}
		}
		for j := range t.Indexes {
			slices.Sort(t.Indexes[j].Options)
		}
	}
}

// Table finds a table by its key; nil where there is none.
func (d *Database) Table(key Name) *Table {
	i, ok := slices.BinarySearchFunc(d.Tables, key, func(t Table, k Name) int { return t.Compare(k) })
	if !ok {
		return nil
	}
	return &d.Tables[i]
}

// Column finds a column by name; nil where there is none.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

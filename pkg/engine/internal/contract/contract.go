// Package contract holds the types that pkg/engine shares with its dialects.
package contract

import (
	"time"

	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// Values of Options.DriftSeverity.
const (
	DriftAll         = "all"
	DriftDestructive = "destructive"
)

// Values of Options.TransactionMode.
const (
	TransactionFile = "file"
	TransactionAll  = "all"
	TransactionNone = "none"
)

// LockName is the advisory lock that serialises Apply on one database.
const LockName = "ptah_schema_apply"

// UnreadableURL is said of a database URL that no parser takes; what the parser says would quote it.
const UnreadableURL = "the database URL cannot be parsed: write what means something in a URL as its code in a user name or password (%25 for %, %2F for /, %23 for #, %3A for :, %40 for @)"

// Options of one operation. Zero timeouts mean the engine's defaults, empty modes "all" and "file".
type Options struct {
	URL string
	// ConnectTimeout bounds opening one connection, LockTimeout every wait for a lock of the database.
	ConnectTimeout, LockTimeout time.Duration
	// Exclude are selectors of pkg/engine/scope. ProtectedTables are "table" or "schema.table", compared without case.
	Exclude, ProtectedTables []string
	// DriftSeverity is a threshold: with "destructive" a Plan without a destructive difference is no change, and a Plan with one
	// converges everything, so that the database is as declared afterwards.
	DriftSeverity string
	// TransactionMode "file" and "all" mean one transaction for the plan; "none" moves what reads whole tables out of it.
	TransactionMode string
}

// PlanResult is either no change or a document. From and To are the fingerprints of the managed scope, now and as declared; they differ
// without a change only when DriftSeverity lets differences pass.
type PlanResult struct {
	NoChange bool
	Document plan.Document
	From, To string
}

// Declared is one statement that was written for a declaration of YAML or HCL, without a semicolon. Object is what it creates or changes; its
// kind is a word of the declarations. At is where it is declared and Where the place that a byte offset of the SQL comes from, both as
// file:line:column.
type Declared struct {
	SQL    string
	Object model.Object
	At     string
	Where  func(offset int) string
}

// Declarations are what was written as YAML or HCL, ready for a server.
type Declarations struct {
	Statements []Declared
	Rows       []DeclaredRows
	Renames    []Rename
	// Left is told, at the end, which tables hold rows that the SQL files wrote and that nothing declares. It may be nil.
	Left func(tables []model.Name)
}

// Rename is a declared rename of a table or, with Column or Index, of one of those.
type Rename struct {
	Table               model.Name
	Column, Index, From string
	At                  string
}

// DeclaredRows is the whole content of one table of reference data, as it is declared.
type DeclaredRows struct {
	Table         model.Name
	Keys, Columns []string // the keys are the first columns
	Rows          []DeclaredRow
	At            string // where the set is declared
}

// DeclaredRow is one row and where it is declared.
type DeclaredRow struct {
	Values []DeclaredValue
	At     string
}

// DeclaredValue is text that the server reads as the column's type, nil is NULL. JSON marks a list or a mapping, written as JSON.
type DeclaredValue struct {
	Text *string
	JSON bool
	At   string // where it is declared
}

// Source is one SQL file. Name is what messages call it.
type Source struct {
	Name string
	Data []byte
}

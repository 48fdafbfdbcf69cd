// Package plan is the stored plan: its document, its identity, how it is cut into chunks and joined again with every digest checked.
package plan

// FormatVersion of the plan document.
const FormatVersion = 1

// Document is what the engine plans and the chunks hold: canonical JSON with a fixed key order, no HTML escaping, ended by one newline,
// at most MaxSize bytes, free of times, URLs and random values. The same inputs give the same bytes.
type Document struct {
	FormatVersion   int    `json:"format_version"`
	Name            string `json:"name"`             // "plan_" + 12 hex digits of sha256(from|to|statements)
	Dialect         string `json:"dialect"`          // "postgres" or "mysql"
	FromFingerprint string `json:"from_fingerprint"` // managed scope of the database that the plan starts from
	ToFingerprint   string `json:"to_fingerprint"`   // the same after the plan
	// CommittedFingerprint is the state between the transaction and the statements outside of it, where there are any.
	CommittedFingerprint string   `json:"committed_fingerprint,omitempty"`
	Destructive          bool     `json:"destructive"` // any statement is destructive
	Exclude              []string `json:"exclude,omitempty"`
	// ManagedRows are the tables whose reference data the fingerprints cover; RowsFingerprint is a hash over what it is afterwards.
	ManagedRows     []RowSet `json:"managed_rows,omitempty"`
	RowsFingerprint string   `json:"rows_fingerprint,omitempty"`
	// ManagedPrivileges are the classes of objects whose privileges the fingerprints cover, ManagedDefaults the roles whose default privileges they do.
	ManagedPrivileges []string    `json:"managed_privileges,omitempty"`
	ManagedDefaults   []string    `json:"managed_defaults,omitempty"`
	Statements        []Statement `json:"statements"`
}

// RowSet names a table of reference data and its columns, without any value.
type RowSet struct {
	Schema  string   `json:"schema"`
	Table   string   `json:"table"`
	Keys    []string `json:"keys"`
	Columns []string `json:"columns"` // the keys first
}

// Statement is one SQL statement, without a closing semicolon.
type Statement struct {
	SQL      string `json:"sql"`
	Severity string `json:"severity"`         // safe, warning or destructive
	Reason   string `json:"reason"`           // why it is there, for a person
	Kind     string `json:"kind,omitempty"`   // what it does, e.g. "add_column"
	Object   string `json:"object,omitempty"` // qualified name of what it touches
	Table    string `json:"table,omitempty"`  // qualified table it touches, for protectedTables
	Lock     string `json:"lock,omitempty"`   // strongest lock it takes, e.g. "ACCESS EXCLUSIVE"
	Hazard   string `json:"hazard,omitempty"` // what it may cost: a rewrite, a scan, lost data
	Tx       string `json:"tx,omitempty"`     // "none" when it runs outside of the transaction, after it
}

// MaxSize bounds an encoded document, its closing newline included, in bytes.
const MaxSize = 8 << 20

// MaxChunk bounds one stored chunk, in bytes; every chunk but the last has exactly this size.
const MaxChunk = 512 << 10

// MaxChunks is how many chunks a plan of MaxSize needs.
const MaxChunks = MaxSize / MaxChunk

// Package declare reads declared schemas that are written as YAML or HCL into one strict tree, and renders the tree as SQL statements of a
// dialect, in an order in which a server can run them. It is pure: what a statement means is for a server to say, which runs it in a scratch
// database and reads the result back.
//
// Whatever is not in the grammar is an error with file, line and column and with what is allowed there: an unknown key, a key or block that
// stands twice, a second document, another type, a reference to something that nobody declares. Free SQL (expressions, types, bodies) is passed
// on as written, and can neither end the statement that it stands in nor leave its place there.
//
//go:generate go run ../../hack/declarations -out ../../docs/reference/declarations.md
package declare

// Bounds of what is read.
const (
	MaxFile    = 8 << 20  // bytes of one file
	MaxTotal   = 64 << 20 // bytes of all files
	maxNodes   = 1 << 20  // values of all files, each counted as often as an alias repeats it
	maxDepth   = 64       // of nested values
	maxText    = 8 << 20  // bytes that expressions of one HCL file may produce
	maxErrors  = 20       // that are reported at once
	maxObjects = 100_000
)

// The dialects that can be rendered. MySQL and MariaDB share nearly everything but the overrides that are for one of them.
const (
	Postgres = "postgres"
	MySQL    = "mysql"
	MariaDB  = "mariadb"
)

func isMySQL(dialect string) bool { return dialect == MySQL || dialect == MariaDB }

// dialects are those that a declaration may have overrides for.
var dialects = []string{"clickhouse", "cockroachdb", MariaDB, MySQL, "oracle", Postgres, "spanner", "sqlite", "sqlserver", "yugabytedb"}

// File is one source. Its name says what it is written in: .yaml, .yml or .hcl.
type File struct {
	Name string
	Data []byte
}

// Options of Read.
type Options struct {
	// Dialect that the tree is for: Postgres, MySQL or MariaDB.
	Dialect string
	// Variables are the values of HCL's variable blocks.
	Variables map[string]string
}

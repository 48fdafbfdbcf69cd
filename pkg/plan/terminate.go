package plan

import "strings"

// Statements is the SQL of a document alone: its statements in plan order, each ended by exactly one semicolon and a newline, never split
// or changed otherwise. A body of MySQL or MariaDB with semicolons of its own stands between DELIMITER lines, as its client wants it.
func Statements(d Document) string {
	var b strings.Builder
	for i := range d.Statements {
		b.WriteString(Terminated(d.Dialect, d.Statements[i].SQL))
		b.WriteByte('\n')
	}
	return b.String()
}

// Terminated is one statement of Statements, without the newline.
func Terminated(dialect, sql string) string { return terminated(dialect, sql) }

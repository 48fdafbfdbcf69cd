package plan

import "strings"

// Statements is the SQL of a document alone: its statements in plan order, each ended by exactly one semicolon and a newline, never split
// or changed otherwise.
func Statements(d Document) string {
	var b strings.Builder
	for i := range d.Statements {
		b.WriteString(Terminated(d.Dialect, d.Statements[i].SQL))
		b.WriteByte('\n')
	}
	return b.String()
}

// Terminated is one statement ended by exactly one semicolon, which goes to a line of its own where a closing comment would swallow it.
func Terminated(dialect, sql string) string { return terminated(dialect, sql) }

package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ptah-run/ptah/pkg/spelling"
)

// SQL writes a document for people: its statements in order, each under comments that say what the planner thinks of it and each ended by
// exactly one semicolon. It is a reading aid; what Apply runs is the document.
func SQL(d Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s (%s), %s\n", d.Name, d.Dialect, spelling.Count(len(d.Statements), "statement"))
	fmt.Fprintf(&b, "-- from %s\n-- to   %s\n", d.FromFingerprint, d.ToFingerprint)
	for i, s := range d.Statements {
		fmt.Fprintf(&b, "\n-- %d: %s", i+1, s.Severity)
		if s.Object != "" {
			fmt.Fprintf(&b, ", %s", oneLine(s.Object))
		}
		b.WriteByte('\n')
		comment(&b, "", s.Reason)
		comment(&b, "hazard: ", s.Hazard)
		comment(&b, "takes lock: ", s.Lock)
		if s.Tx == "none" {
			comment(&b, "", "runs outside of the transaction")
		}
		b.WriteString(terminated(d.Dialect, s.SQL))
		b.WriteByte('\n')
	}
	return b.String()
}

func comment(b *strings.Builder, label, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(b, "-- %s%s\n", label, oneLine(line))
	}
}

// oneLine keeps a planner's words inside their comment: no line end and no terminal control passes.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// terminated ends SQL with one semicolon. A closing line comment would swallow it, so it then goes to a line of its own. The client of MySQL and MariaDB
// cuts at every semicolon: a body that has some stands between lines that give it another delimiter.
func terminated(dialect, sql string) string {
	sql = strings.TrimRight(sql, " \t\r\n")
	if delimiter := delimiterFor(dialect, sql); delimiter != "" {
		return "DELIMITER " + delimiter + "\n" + sql + "\n" + delimiter + "\nDELIMITER ;"
	}
	if !strings.Contains(sql, "--") && !strings.Contains(sql, "#") { // no comment to the end of a line
		return sql + ";"
	}
	if toks, problem := tokenize(dialect, sql+"\n;"); problem == "" && len(toks) > 0 {
		if swallowed, p := tokenize(dialect, sql+";"); p != "" || len(swallowed) != len(toks) {
			return sql + "\n;"
		}
	}
	return sql + ";"
}

// delimiterFor is what ends a statement of MySQL or MariaDB that has semicolons of its own; empty where a semicolon does.
func delimiterFor(dialect, sql string) string {
	if dialect != DialectMySQL || !strings.Contains(sql, ";") {
		return ""
	}
	toks, problem := tokenize(dialect, sql)
	if problem != "" || !slices.ContainsFunc(toks, func(t lexeme) bool { return t.punct(";") }) {
		return ""
	}
	delimiter := "$$"
	for strings.Contains(sql, delimiter) {
		delimiter += "$"
	}
	return delimiter
}

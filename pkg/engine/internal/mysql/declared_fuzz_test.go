package mysql

import (
	"strings"
	"testing"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// FuzzRendered puts hostile names, types, expressions and bodies into a declaration. Whatever is accepted is exactly the statements that were
// meant: as many, and of the same kinds, as for a harmless one, and a table with as many columns.
func FuzzRendered(f *testing.F) {
	for _, s := range []string{"a", "1); DROP TABLE x; -- ", "a -- b", "a # b", "/* a */ b", "/*! a */", "'a;b'", "\"a;b\"", "`a;b`", "'\\';", "(a", "a) , b (", "é", "'", "\\", "a\r) b"} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, name, expression, body string) {
		quote := func(s string) string {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\0`).Replace(s) + `"`
		}
		text := "tables:\n  t:\n    comment: " + quote(body) + "\n    columns:\n      id: {type: int}\n      " + quote(name) + ": {type: text, check: " + quote(expression) + ", comment: " + quote(body) + "}\n" +
			"views:\n  v: {body: " + quote(expression) + ", with_check: LOCAL}\n"
		tree, err := declare.Read([]declare.File{{Name: "a.yaml", Data: []byte(text)}}, declare.Options{Dialect: declare.MariaDB})
		if err != nil {
			return
		}
		statements, err := tree.Render()
		if err != nil {
			return
		}
		var kinds []string
		var declared contract.Declarations
		for _, s := range statements {
			kinds = append(kinds, parseCreate(s.SQL).kind)
			declared.Statements = append(declared.Statements, contract.Declared{SQL: s.SQL, At: s.At.String(), Object: model.Object{Kind: string(s.Key.Kind), Name: s.Key.Name}})
			if s.Key.Kind != declare.TableKind {
				continue
			}
			toks := tokens(s.SQL)
			if len(toks) < 4 || !toks[3].paren() || len(splitTop(toks[3].inParens())) != 2 {
				t.Fatalf("another table: %q", s.SQL)
			}
		}
		if _, err := newDeclared(declared); err != nil && !strings.Contains(err.Error(), "reading and writing files") && !strings.Contains(err.Error(), "database") {
			t.Fatalf("%v in %q", err, text)
		}
		if got := strings.Join(kinds, ", "); got != "TABLE, VIEW" && got != "VIEW, TABLE" {
			t.Fatalf("%q renders %s", text, got)
		}
	})
}

package postgres

import (
	"strings"
	"testing"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
)

// FuzzRendered puts hostile names, types, expressions and bodies into a declaration. Whatever is accepted is exactly the statements that were
// meant: as many, and of the same kinds, as for a harmless one.
func FuzzRendered(f *testing.F) {
	for _, s := range []string{"a", "1); DROP TABLE x; --", "a -- b", "/* a */ b", "'a;b'", `"a;b"`, "$x$;$x$", "E'a'\n'\\''", "a$body$b", "U&\"a\"", "(a", "a) , b (", "é", "'", "\\"} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, name, expression, body string) {
		quote := func(s string) string {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\0`).Replace(s) + `"`
		}
		text := "tables:\n  t:\n    columns:\n      id: {type: int}\n      " + quote(name) + ": {type: text, check: " + quote(expression) + ", comment: " + quote(body) + "}\n" +
			"functions:\n  f: {returns: int, language: plpgsql, body: " + quote(body) + "}\nviews:\n  v: {body: " + quote(expression) + ", with_check: LOCAL}\n"
		tree, err := declare.Read([]declare.File{{Name: "a.yaml", Data: []byte(text)}}, declare.Options{Dialect: declare.Postgres})
		if err != nil {
			return
		}
		statements, err := tree.Render()
		if err != nil {
			return
		}
		var words []string
		var declared []contract.Declared
		for _, s := range statements {
			words = append(words, strings.Join(keywords(s.SQL, 2), " "))
			declared = append(declared, contract.Declared{SQL: s.SQL, At: s.At.String()})
		}
		if _, err := newDeclared(declared); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		want := "CREATE FUNCTION, CREATE TABLE, CREATE VIEW"
		if body != "" {
			want += ", COMMENT ON"
		}
		if !sameWords(words, want) {
			t.Fatalf("%v in place of %s", words, want)
		}
	})
}

// sameWords compares without regard to the order, which what is mentioned decides.
func sameWords(words []string, want string) bool {
	for _, w := range strings.Split(want, ", ") {
		if strings.Count(strings.Join(words, ", "), w) != strings.Count(want, w) {
			return false
		}
	}
	return len(words) == len(strings.Split(want, ", "))
}

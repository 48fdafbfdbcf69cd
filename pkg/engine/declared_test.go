package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	declarations "github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// rendered turns declarations into what the engine runs, as the plugin does.
func rendered(t testing.TB, files ...declarations.File) []engine.Declared {
	t.Helper()
	tree, err := declarations.Read(files, declarations.Options{Dialect: declarations.Postgres})
	require.NoError(t, err)
	statements, err := tree.Render()
	require.NoError(t, err)
	var out []engine.Declared
	for i := range statements {
		s := &statements[i]
		out = append(out, engine.Declared{
			SQL: s.SQL, Object: model.Object{Kind: string(s.Key.Kind), Schema: s.Key.Schema, Table: s.Key.Table, Name: s.Key.Name},
			At: s.At.String(), Where: func(offset int) string { return s.Where(offset).String() },
		})
	}
	return out
}

// TestExamplesEqualTheirSQL loads the examples of the grammar and reads back what the equal SQL gives.
func TestExamplesEqualTheirSQL(t *testing.T) {
	s := pgtest.Start(t)
	file := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "declare", "testdata", name))
		require.NoError(t, err)
		return data
	}
	want, err := engine.LoadSQL(testContext(t), s.URL("postgres"), []engine.Source{{Name: "shop.sql", Data: file("shop.sql")}})
	require.NoError(t, err)
	for _, name := range []string{"shop.yaml", "shop.hcl"} {
		t.Run(name, func(t *testing.T) {
			got, err := engine.LoadDeclared(testContext(t), s.URL("postgres"), engine.Declarations{Statements: rendered(t, declarations.File{Name: name, Data: file(name)})}, nil)
			require.NoError(t, err)
			got.Normalise()
			assert.Equal(t, model.Facts(want), model.Facts(got))
		})
	}
}

const declaredYAML = `
tables:
  t:
    columns:
      id: {type: bigint, primary: true}
      b: {type: text, check: length(b) > 0}
    indexes:
      i: {fields: [b]}
functions:
  f: {params: a int, returns: int, language: sql, body: SELECT a}
views:
  v: {body: SELECT id FROM t}
`

// TestDeclaredErrorsNameThePlace has the server refuse what was rendered.
func TestDeclaredErrorsNameThePlace(t *testing.T) {
	s := pgtest.Start(t)
	for name, c := range map[string]struct{ yaml, want string }{
		"unknown type":     {"tables:\n  t:\n    columns:\n      id: {type: nosuch}", `a.yaml:4:18: type "nosuch" does not exist (SQLSTATE 42704)`},
		"unknown function": {"tables:\n  t:\n    columns:\n      id: {type: int, check: f(id) > 0}", `a.yaml:4:30: function f(integer) does not exist`},
		"view":             {"views:\n  v:\n    body: SELECT nosuch FROM pg_class", `a.yaml:3:11: column "nosuch" does not exist`},
		"no position":      {"tables:\n  t:\n    columns:\n      id: {type: int, default: x}", `a.yaml:`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.LoadDeclared(testContext(t), s.URL("postgres"), engine.Declarations{Statements: rendered(t, declarations.File{Name: "a.yaml", Data: []byte(c.yaml)})}, nil)
			assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, c.want)
		})
	}
}

// TestFilesGoOnFromDeclarations lets SQL files use and extend what is declared, and refuses what creates it again, in silence or not.
func TestFilesGoOnFromDeclarations(t *testing.T) {
	s := pgtest.Start(t)
	load := func(sql string) (*model.Database, error) {
		return engine.LoadDeclared(testContext(t), s.URL("postgres"), engine.Declarations{Statements: rendered(t, declarations.File{Name: "a.yaml", Data: []byte(declaredYAML)})}, []engine.Source{{Name: "b.sql", Data: []byte(sql)}})
	}
	got, err := load("CREATE TABLE u (id bigint REFERENCES t);\nALTER TABLE t ADD c int;\nCREATE SCHEMA other;\nCREATE TABLE other.t (i int);\nCREATE FUNCTION f(a text) RETURNS int LANGUAGE sql AS 'SELECT 1';\n" +
		"SET search_path = other; CREATE VIEW v AS SELECT 1 AS one; CREATE INDEX i ON t (i)")
	require.NoError(t, err)
	require.NotNil(t, got.Table(model.Name{Schema: "public", Name: "t"}).Column("c"))
	for sql, want := range map[string]string{
		"CREATE TABLE t (x int)": `b.sql:1:1: table "public"."t" is declared already, at a.yaml:3:3; keep one of the two`,
		"\n/* c */ create /* d */ table if not exists\n public . \"t\" (x int)":                                     `b.sql:2:9: table "public"."t" is declared already, at a.yaml:3:3`,
		"CREATE UNLOGGED TABLE T (x int)":                                                                           `table "public"."t" is declared already`,
		"CREATE OR REPLACE VIEW v AS SELECT id FROM t":                                                              `view "public"."v" is declared already, at a.yaml:12:3`,
		"CREATE INDEX IF NOT EXISTS i ON t (id)":                                                                    `index "i" of table "public"."t" is declared already, at a.yaml:8:7`,
		"CREATE OR REPLACE FUNCTION f(z int) RETURNS int LANGUAGE sql AS 'SELECT 2'":                                `b.sql:1:1: `,
		"CREATE OR REPLACE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'SELECT 2'":                                `function "public"."f" is declared already, at a.yaml:10:3`,
		"CREATE SCHEMA s; SET search_path = s; CREATE TABLE t (i int); CREATE TABLE IF NOT EXISTS public.t (i int)": `table "public"."t" is declared already`,
		"CREATE TYPE t AS ENUM ('a')":                                                                               `table "public"."t" is declared already`,
	} {
		t.Run(sql, func(t *testing.T) {
			_, err := load(sql)
			assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, want)
		})
	}
}

// TestDeclaredStaysOneStatement refuses what would run more than was meant, whoever rendered it.
func TestDeclaredStaysOneStatement(t *testing.T) {
	s := pgtest.Start(t)
	for _, sql := range []string{"CREATE TABLE t (a int); DROP TABLE t", "SELECT 1;", "SELECT 'a", "-- nothing"} {
		_, err := engine.LoadDeclared(testContext(t), s.URL("postgres"), engine.Declarations{Statements: []engine.Declared{{SQL: sql, At: "a.yaml:1:1"}}}, nil)
		assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, "a.yaml:1:1: what is declared here does not stay within one statement", sql)
	}
}

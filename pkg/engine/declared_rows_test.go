package engine_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	declarations "github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// declaredOf renders files and their rows as the plugin does.
func declaredOf(t testing.TB, files ...declarations.File) engine.Declarations {
	t.Helper()
	tree, err := declarations.Read(files, declarations.Options{Dialect: declarations.Postgres})
	require.NoError(t, err)
	out := engine.Declarations{Statements: rendered(t, files...)}
	for _, set := range tree.Rows() {
		rows := engine.DeclaredRows{Table: model.Name{Schema: set.Schema, Name: set.Table}, Keys: set.Keys, Columns: set.Columns, At: set.At.String()}
		for _, row := range set.Rows {
			one := engine.DeclaredRow{At: row.At.String()}
			for _, v := range row.Values {
				value := engine.DeclaredValue{JSON: v.Nested, At: v.At.String()}
				if !v.Null {
					value.Text = &v.Text
				}
				one.Values = append(one.Values, value)
			}
			rows.Rows = append(rows.Rows, one)
		}
		out.Rows = append(out.Rows, rows)
	}
	return out
}

const kindsYAML = `enums:
  mood: [sad, ok]
domains:
  rates: {type: "numeric(6,3)[]"}
tables:
  kinds:
    columns:
      id: {type: bigint, primary: true}
      parent: {type: bigint, foreign: kinds(id), foreign_key_name: kinds_parent}
      n: {type: numeric}
      j: {type: json}
      b: {type: jsonb}
      raw: {type: bytea}
      at: {type: timestamptz}
      day: {type: date}
      m: {type: mood}
      moods: {type: "mood[]"}
      grid: {type: "int[]"}
      rates: {type: rates}
      f: {type: double precision}
      ok: {type: boolean}
      t: {type: text}
data:
  kinds:
    keys: [id]
    rows:
`

// TestDeclaredValuesOfEveryKind keeps what is declared, digit for digit, and the order of rows that point to each other has no meaning.
func TestDeclaredValuesOfEveryKind(t *testing.T) {
	s := pgtest.Start(t)
	text := kindsYAML + `      - {id: 9223372036854775807, parent: 2, n: 12345678901234567890.12345678901234567890, j: {b: [1.50, null], a: "x"}, b: {b: [1.50, null], a: "x"}, raw: '\xDEAD00', at: 2026-11-30 10:00:00.000001+02, day: 2026-11-30, m: sad, moods: [ok, sad], grid: [[1, 2], [3, 4]], rates: [1.500, null], f: 0.1, ok: true, t: 007}
      - {id: 2, parent: null, n: -0.10, j: null, b: null, raw: null, at: null, day: null, m: null, moods: [], grid: [], rates: [], f: null, ok: false, t: "NULL"}
`
	desired, err := engine.LoadDeclared(testContext(t), s.URL("postgres"), declaredOf(t, declarations.File{Name: "a.yaml", Data: []byte(text)}), nil)
	require.NoError(t, err)
	target := s.NewDatabase(t)
	converge(t, engine.Options{URL: target}, desired)
	assert.Equal(t, `(9223372036854775807,2,12345678901234567890.12345678901234567890,"{""b"": [1.50, null], ""a"": ""x""}","{""a"": ""x"", ""b"": [1.50, null]}","\\xdead00","2026-11-30 08:00:00.000001+00",2026-11-30,sad,"{ok,sad}","{{1,2},{3,4}}","{1.500,NULL}",0.1,t,007)`,
		query[string](t, target, "SELECT k::text FROM (SELECT id, parent, n, j, b, raw, at AT TIME ZONE 'UTC' || '+00' AS at, day, m, moods, grid, rates, f, ok, t FROM kinds WHERE id > 2) k"))
	assert.Equal(t, "(2,,-0.10,,,,,,,{},{},{},,f,NULL)", query[string](t, target, "SELECT k::text FROM kinds k WHERE id = 2"))
	s.Exec(t, target, "UPDATE kinds SET n = n + 0.00000000000000000001 WHERE id > 2")
	doc := planned(t, engine.Options{URL: target}, desired)
	assert.Equal(t, []string{`UPDATE "public"."kinds" SET "n" = '12345678901234567890.12345678901234567890' WHERE "id" = '9223372036854775807'`}, statements(doc))
}

// TestManyRowsThatPointToEachOther are inserted at once: no other cut of them has both ends of every foreign key.
func TestManyRowsThatPointToEachOther(t *testing.T) {
	s := pgtest.Start(t)
	text := "tables: {n: {columns: {id: {type: int, primary: true}, next: {type: int, foreign: n(id)}}}}\ndata: {n: {keys: [id], rows: [{id: 0, next: null}"
	for i := range 250 {
		text += ", {id: " + strconv.Itoa(250-i) + ", next: " + strconv.Itoa(249-i) + "}"
	}
	desired, err := engine.LoadDeclared(testContext(t), s.URL("postgres"), declaredOf(t, declarations.File{Name: "a.yaml", Data: []byte(text + "]}}")}), nil)
	require.NoError(t, err)
	converge(t, engine.Options{URL: s.NewDatabase(t)}, desired)
}

// TestDeclaredRowsNameThePlace has the server refuse values.
func TestDeclaredRowsNameThePlace(t *testing.T) {
	s := pgtest.Start(t)
	const base = "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: \"numeric(4,2)\"}, m: {type: int, check: m > 0}, a: {type: \"int[]\"}, k: {type: text, unique: true}, g: {type: int, generated: m + 1}}}\ndata:\n  t:\n    keys: [id]\n    rows:\n"
	for name, c := range map[string]struct{ rows, want string }{
		"wrong type":      {"      - {id: 1, m: many}", `a.yaml:7:20: invalid input syntax for type integer: "many"`},
		"wrong key":       {"      - {id: one}", `a.yaml:7:14: invalid input syntax for type integer: "one"`},
		"check":           {"      - {id: 1, m: 1}\n      - {id: 2, m: 0}", `a.yaml:8:9: new row for relation "t" violates check constraint`},
		"another unique":  {"      - {id: 1, k: a}\n      - {id: 2, k: a}", `a.yaml:8:9: duplicate key value violates unique constraint`},
		"same number":     {"      - {id: 1}\n      - {id: 01}", `a.yaml:8:9: duplicate key value violates unique constraint "t_pkey"`},
		"rounded":         {"      - {id: 1, n: 1.005}", `a.yaml:7:20: column "n" holds 1.01 where 1.005 is declared`},
		"too large":       {"      - {id: 1, n: 100}", `a.yaml:7:9: numeric field overflow`},
		"mapping":         {"      - {id: 1, m: {a: 1}}", `a.yaml:7:20: column "m": a list or mapping cannot be a value of type integer`},
		"mapping in list": {"      - {id: 1, a: [{a: 1}]}", `a.yaml:7:20: column "a": a mapping cannot be a member of an array`},
		"wrong member":    {"      - {id: 1, a: [x]}", `a.yaml:7:20: invalid input syntax for type integer: "x"`},
		"generated":       {"      - {id: 1, g: 1}", `a.yaml:4:3: rows of table "public"."t": column "g" is generated`},
		"unknown table":   {"      []\n  nowhere: {keys: [id], rows: []}", `a.yaml:8:3: rows are declared for table "public"."nowhere", which is not declared`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.LoadDeclared(testContext(t), s.URL("postgres"), declaredOf(t, declarations.File{Name: "a.yaml", Data: []byte(base + c.rows)}), nil)
			assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, c.want)
		})
	}
}

// TestRowsOfTwoDeclarations compares two declarations that name other columns.
func TestRowsOfTwoDeclarations(t *testing.T) {
	s := pgtest.Start(t)
	from := declareRows(t, s, rowsBase, set("country", 1, []string{"code", "name"}, []string{"de", "Germany"}, []string{"xx", "Gone"}))
	to := declareRows(t, s, rowsBase, set("country", 1, []string{"code", "name", "note"}, []string{"de", "Germany", "new"}))
	result, err := engine.PlanFrom(testContext(t), engine.Options{URL: s.URL("postgres")}, from, to)
	require.NoError(t, err)
	assert.Equal(t, []string{
		`UPDATE "public"."country" SET "note" = 'new' WHERE "code" = 'de'`,
		`DELETE FROM "public"."country" WHERE "code" NOT IN ('de')`,
	}, statements(result.Document))
	same, err := engine.PlanFrom(testContext(t), engine.Options{URL: s.URL("postgres")}, from, declareRows(t, s, rowsBase))
	require.NoError(t, err)
	assert.True(t, same.NoChange, "rows that are no longer declared are no longer managed")
}

package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/gentest"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

const rowsBase = `CREATE TABLE country (code char(2) PRIMARY KEY, name text NOT NULL, rate numeric(4,2), tags text[], note text);
CREATE TABLE city (country char(2) REFERENCES country, name text, size int, PRIMARY KEY (country, name));`

func value(s string) *string { return &s }

// set declares rows; "-" is NULL.
func set(table string, keys int, columns []string, rows ...[]string) engine.DeclaredRows {
	d := engine.DeclaredRows{Table: model.Name{Schema: "public", Name: table}, Keys: columns[:keys], Columns: columns, At: table + ".yaml:1:1"}
	for _, row := range rows {
		declared := engine.DeclaredRow{At: table + ".yaml:2:1"}
		for _, v := range row {
			if v == "-" {
				declared.Values = append(declared.Values, engine.DeclaredValue{})
			} else {
				declared.Values = append(declared.Values, engine.DeclaredValue{Text: value(v)})
			}
		}
		d.Rows = append(d.Rows, declared)
	}
	return d
}

func declareRows(t testing.TB, s *pgtest.Server, sql string, sets ...engine.DeclaredRows) *model.Database {
	t.Helper()
	db, err := engine.LoadDeclared(testContext(t), s.URL("postgres"), engine.Declarations{Rows: sets}, []engine.Source{{Name: "schema.sql", Data: []byte(sql)}})
	require.NoError(t, err)
	data, err := model.Encode(db)
	require.NoError(t, err)
	db, err = model.Decode(data)
	require.NoError(t, err)
	return db
}

var (
	countries = []string{"code", "name", "rate", "tags"}
	cities    = []string{"country", "name", "size"}
)

func TestManagedRowsConverge(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, rowsBase, `INSERT INTO country VALUES ('de', 'Germani', 19, '{eu}', 'mine'), ('xx', 'Nowhere secret', 0, NULL, NULL); INSERT INTO city VALUES ('xx', 'Secret City', 1)`)
	opts := engine.Options{URL: target}
	desired := declareRows(t, s, rowsBase,
		set("city", 2, cities, []string{"fr", "L'Haÿ", "30000"}, []string{"de", "Köln", "-"}),
		set("country", 1, countries, []string{"fr", "France", "20.0", "{eu,euro}"}, []string{"de", "Germany", "19", "{eu}"}))
	observed, err := engine.Observe(testContext(t), opts, desired)
	require.NoError(t, err)
	assert.Zero(t, observed.Total, "rows are no finding")

	doc := converge(t, opts, desired)
	assert.Equal(t, []string{
		`INSERT INTO "public"."country" ("code", "name", "rate", "tags") VALUES ('fr', 'France', '20.00', '{eu,euro}')`,
		`INSERT INTO "public"."city" ("country", "name", "size") VALUES ('de', 'Köln', NULL), ('fr', 'L''Haÿ', '30000')`,
		`UPDATE "public"."country" SET "name" = 'Germany' WHERE "code" = 'de'`,
		`DELETE FROM "public"."city" WHERE ("country", "name") NOT IN (('de', 'Köln'), ('fr', 'L''Haÿ'))`,
		`DELETE FROM "public"."country" WHERE "code" NOT IN ('de', 'fr')`,
	}, statements(doc))
	assert.True(t, doc.Destructive)
	assert.Equal(t, []plan.RowSet{{Schema: "public", Table: "city", Keys: cities[:2], Columns: cities}, {Schema: "public", Table: "country", Keys: countries[:1], Columns: countries}}, doc.ManagedRows)
	data, err := json.Marshal(doc)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "ecret", "a row that nobody declares is named")
	assert.Equal(t, "mine", query[string](t, target, "SELECT note FROM country WHERE code = 'de'"), "a column that nobody declares stays")

	s.Exec(t, target, "UPDATE city SET size = 5 WHERE name = 'Köln'")
	assert.Equal(t, []string{`UPDATE "public"."city" SET "size" = NULL WHERE "country" = 'de' AND "name" = 'Köln'`}, statements(converge(t, opts, desired)))
}

// TestRowsMakeAPlanStale changes a managed row between plan and Apply.
func TestRowsMakeAPlanStale(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, rowsBase, `INSERT INTO country VALUES ('de', 'Germani', 19, '{eu}', NULL)`)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declareRows(t, s, rowsBase, set("country", 1, countries, []string{"de", "Germany", "19", "{eu}"})))
	s.Exec(t, target, "UPDATE country SET rate = 7")
	_, err := engine.Apply(testContext(t), opts, doc)
	assert.False(t, refusal(t, err, frame.CodeStalePlan).MutationStarted)
	s.Exec(t, target, "UPDATE country SET rate = 19, note = 'not managed'")
	_, err = engine.Apply(testContext(t), opts, doc)
	require.NoError(t, err)
}

func TestRowsComeWithTheirTableAndColumns(t *testing.T) {
	s := pgtest.Start(t)
	for name, from := range map[string]string{
		"no table":     "",
		"no column":    `CREATE TABLE country (code char(2) PRIMARY KEY, name text NOT NULL, note text); INSERT INTO country VALUES ('de', 'Germany')`,
		"other type":   `CREATE TABLE country (code char(2) PRIMARY KEY, name text NOT NULL, rate int, tags text, note text); INSERT INTO country VALUES ('de', 'Germany', 19, '{eu}')`,
		"no key":       `CREATE TABLE country (code char(2) NOT NULL, name text NOT NULL, rate numeric(4,2), tags text[], note text); INSERT INTO country VALUES ('de', 'Germany', 19, '{eu}')`,
		"other values": rowsBase + `INSERT INTO country VALUES ('de', 'Germany', 19, '{eu}', NULL)`,
	} {
		t.Run(name, func(t *testing.T) {
			converge(t, engine.Options{URL: s.NewDatabase(t, from)}, declareRows(t, s, rowsBase,
				set("country", 1, countries, []string{"de", "Germany", "19.5", "{eu}"}), set("city", 2, cities, []string{"de", "Köln", "1"})))
		})
	}
	t.Run("emptied", func(t *testing.T) {
		target := s.NewDatabase(t, rowsBase+`INSERT INTO country VALUES ('de', 'Germany', 19, '{eu}', NULL)`)
		doc := converge(t, engine.Options{URL: target}, declareRows(t, s, rowsBase, set("country", 1, countries)))
		assert.Equal(t, []string{`DELETE FROM "public"."country"`}, statements(doc))
	})
	t.Run("identity", func(t *testing.T) {
		sql := "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n text)"
		converge(t, engine.Options{URL: s.NewDatabase(t)}, declareRows(t, s, sql, set("t", 1, []string{"id", "n"}, []string{"7", "seven"})))
	})
	t.Run("online", func(t *testing.T) {
		target := s.NewDatabase(t, rowsBase)
		converge(t, engine.Options{URL: target, TransactionMode: "none"}, declareRows(t, s, rowsBase+"CREATE INDEX i ON country (name)", set("country", 1, countries, []string{"de", "Germany", "19", "-"})))
	})
}

func TestRowsAreRefused(t *testing.T) {
	s := pgtest.Start(t)
	for name, c := range map[string]struct {
		set  engine.DeclaredRows
		want string
	}{
		"no table":     {set("nowhere", 1, []string{"a"}), `nowhere.yaml:1:1: rows are declared for table "public"."nowhere", which is not declared`},
		"no column":    {set("country", 1, []string{"code", "nope"}), `there is no column "nope"`},
		"no key":       {set("country", 1, []string{"name", "code"}), "the keys are neither the primary key nor a unique constraint"},
		"bad value":    {set("country", 1, countries, []string{"de", "Germany", "a lot", "-"}), "country.yaml:2:1"},
		"twice":        {set("country", 1, countries, []string{"de", "a", "-", "-"}, []string{"de", "b", "-", "-"}), "country.yaml:2:1"},
		"null":         {set("country", 1, countries, []string{"de", "-", "-", "-"}), "country.yaml:2:1"},
		"no parent":    {set("city", 2, cities, []string{"de", "Köln", "1"}), "city.yaml:2:1"},
		"more columns": {set("country", 1, []string{"code", "name", "name"}, []string{"de", "a", "b"}), "country.yaml:2:1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.LoadDeclared(testContext(t), s.URL("postgres"), engine.Declarations{Rows: []engine.DeclaredRows{c.set}}, []engine.Source{{Name: "schema.sql", Data: []byte(rowsBase)}})
			assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, c.want)
		})
	}
	target := s.NewDatabase(t, rowsBase)
	opts := engine.Options{URL: target, ProtectedTables: []string{"country"}}
	desired := declareRows(t, s, rowsBase, set("country", 1, countries, []string{"de", "Germany", "19", "-"}))
	_, err := engine.Plan(testContext(t), opts, desired)
	_ = refusal(t, err, frame.CodeProtectedTable)
	opts = engine.Options{URL: target, Exclude: []string{"country"}}
	result, err := engine.Plan(testContext(t), opts, desired)
	require.NoError(t, err)
	assert.True(t, result.NoChange, "the rows of an excluded table are not managed")

	loose := s.NewDatabase(t, `CREATE TABLE country (code char(2), name text NOT NULL, rate numeric(4,2), tags text[], note text); INSERT INTO country VALUES ('de', 'a'), ('de', 'b')`)
	_, err = engine.Plan(testContext(t), engine.Options{URL: loose}, declareRows(t, s, rowsBase, set("country", 1, countries, []string{"de", "Germany", "19", "-"})))
	assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, `table "public"."country" has two rows with the same key (code)`)
}

// TestAnyRowsConverge goes from any content to any other and back, with values that need care.
func TestAnyRowsConverge(t *testing.T) {
	s := pgtest.Start(t)
	const sql = `CREATE TABLE t (a text, b text, v text, PRIMARY KEY (a, b))`
	text := rapid.SampledFrom([]string{"", "a", "A", "'", `\`, `''`, "NULL", "line\nbreak", "ü", "-- x", "$$", `"`, "0"})
	gentest.Few(t, 6)
	rapid.Check(t, func(rt *rapid.T) {
		target, drop := s.TemporaryDatabase(t)
		defer drop()
		for _, name := range []string{"first", "second", "third"} {
			type key struct{ a, b string }
			seen := map[key]bool{}
			var rows [][]string
			for range rapid.IntRange(0, 6).Draw(rt, name) {
				k := key{text.Draw(rt, "a"), text.Draw(rt, "b")}
				if !seen[k] {
					seen[k] = true
					rows = append(rows, []string{k.a, k.b, rapid.OneOf(text, rapid.Just("-")).Draw(rt, "v")})
				}
			}
			converge(t, engine.Options{URL: target}, declareRows(t, s, sql, set("t", 2, []string{"a", "b", "v"}, rows...)))
		}
	})
}

// TestRowsTakeValuesOfOthers: a row that comes or changes may have what another row gives up only later in the usual order.
func TestRowsTakeValuesOfOthers(t *testing.T) {
	s := pgtest.Start(t)
	const sql = `CREATE TABLE a (id int PRIMARY KEY, code text UNIQUE, n int); CREATE UNIQUE INDEX low ON a (lower(code)); CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a, c int UNIQUE);`
	a := func(rows ...[]string) engine.DeclaredRows { return set("a", 1, []string{"id", "code"}, rows...) }
	b := func(rows ...[]string) engine.DeclaredRows { return set("b", 1, []string{"id", "a", "c"}, rows...) }
	for name, c := range map[string]struct {
		live string
		sets []engine.DeclaredRows
		want []string
	}{
		"inserted, of one that goes": {"INSERT INTO a VALUES (1, 'x')", []engine.DeclaredRows{a([]string{"2", "x"})}, []string{
			`DELETE FROM "public"."a" WHERE "id" NOT IN ('2')`, `INSERT INTO "public"."a" ("id", "code") VALUES ('2', 'x')`,
		}},
		"inserted, under an expression": {"INSERT INTO a VALUES (1, 'x')", []engine.DeclaredRows{a([]string{"2", "X"})}, []string{
			`DELETE FROM "public"."a" WHERE "id" NOT IN ('2')`, `INSERT INTO "public"."a" ("id", "code") VALUES ('2', 'X')`,
		}},
		"changed, of one that goes": {"INSERT INTO a VALUES (1, 'x'), (2, 'y')", []engine.DeclaredRows{a([]string{"2", "x"})}, []string{
			`DELETE FROM "public"."a" WHERE "id" NOT IN ('2')`, `UPDATE "public"."a" SET "code" = 'x' WHERE "id" = '2'`,
		}},
		"with rows that point to it": {"INSERT INTO a VALUES (1, 'x'); INSERT INTO b VALUES (1, 1, 7)", []engine.DeclaredRows{a([]string{"2", "x"}), b()}, []string{
			`DELETE FROM "public"."b"`, `DELETE FROM "public"."a" WHERE "id" NOT IN ('2')`, `INSERT INTO "public"."a" ("id", "code") VALUES ('2', 'x')`,
		}},
		"inserted, of one that changes": {"INSERT INTO a VALUES (1, 'x'), (2, 'y')", []engine.DeclaredRows{a([]string{"1", "y"}, []string{"2", "z"}, []string{"3", "x"})}, []string{
			`UPDATE "public"."a" SET "code" = 'z' WHERE "id" = '2'`, `UPDATE "public"."a" SET "code" = 'y' WHERE "id" = '1'`, `INSERT INTO "public"."a" ("id", "code") VALUES ('3', 'x')`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, statements(converge(t, engine.Options{URL: s.NewDatabase(t, sql, c.live)}, declareRows(t, s, sql, c.sets...))))
		})
	}
	for name, c := range map[string]struct {
		live string
		sets []engine.DeclaredRows
		want string
	}{
		"exchanged":    {"INSERT INTO a VALUES (1, 'x'), (2, 'y')", []engine.DeclaredRows{a([]string{"1", "y"}, []string{"2", "x"})}, `managed rows of table "public"."a" exchange values of "a_code_key"`},
		"moving away":  {"INSERT INTO a VALUES (1, 'x'); INSERT INTO b VALUES (1, 1, 7)", []engine.DeclaredRows{a([]string{"2", "x"}), b([]string{"1", "2", "7"})}, `managed rows of table "public"."b" move away from rows of "public"."a" that go`},
		"moving early": {"INSERT INTO a VALUES (1, 'x'); INSERT INTO b VALUES (1, 1, 7)", []engine.DeclaredRows{a([]string{"1", "x"}, []string{"2", "y"}), b([]string{"1", "2", "8"}, []string{"2", "1", "7"})}, `managed rows of table "public"."b" move to new rows of "public"."a"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, sql, c.live)}, declareRows(t, s, sql, c.sets...))
			assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, c.want)
		})
	}
}

// TestRowsMoveUnderAnExpression: a unique index that cannot be compared changes nothing where the usual order is needed.
func TestRowsMoveUnderAnExpression(t *testing.T) {
	s := pgtest.Start(t)
	const sql = `CREATE TABLE a (id int PRIMARY KEY, code text); CREATE UNIQUE INDEX low ON a (lower(code)); CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a);`
	target := s.NewDatabase(t, sql, "INSERT INTO a VALUES (1, 'x'); INSERT INTO b VALUES (1, 1)")
	converge(t, engine.Options{URL: target}, declareRows(t, s, sql, set("a", 1, []string{"id", "code"}, []string{"2", "y"}), set("b", 1, []string{"id", "a"}, []string{"1", "2"})))
}

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

const (
	moods = "CREATE TYPE e AS ENUM ('a', 'b', 'c'); "
	fewer = "CREATE TYPE e AS ENUM ('c', 'a'); "
)

// enumProbes are enums that lose values or have them in another order, with everything that can stand on one.
var enumProbes = map[string]probe{
	"enum again, unused":      {moods, fewer},
	"enum again, renamed":     {"CREATE TYPE e AS ENUM ('a', 'b')", "CREATE TYPE e AS ENUM ('a', 'c'); COMMENT ON TYPE e IS 'x'"},
	"enum again, emptied":     {moods, "CREATE TYPE e AS ENUM ()"},
	"enum again, new value":   {"CREATE TYPE e AS ENUM ('a', 'b'); CREATE TABLE t (k e DEFAULT 'a')", "CREATE TYPE e AS ENUM ('new', 'a'); CREATE TABLE t (k e DEFAULT 'new')"},
	"enum again, columns":     {moods + "CREATE TABLE t (k e NOT NULL DEFAULT 'a', ks e[] DEFAULT '{a,b}', o e[])", fewer + "CREATE TABLE t (k e NOT NULL DEFAULT 'c', ks e[] DEFAULT '{a}', o e[])"},
	"enum again, keys":        {moods + "CREATE TABLE t (k e PRIMARY KEY, u e UNIQUE); CREATE TABLE r (k e REFERENCES t, u e REFERENCES t (u))", fewer + "CREATE TABLE t (k e PRIMARY KEY, u e UNIQUE); CREATE TABLE r (k e REFERENCES t, u e REFERENCES t (u))"},
	"enum again, indexes":     {moods + "CREATE TABLE t (k e, n int); CREATE INDEX i ON t (k); CREATE INDEX j ON t (n) WHERE k = 'a'; CREATE INDEX l ON t ((k < 'a'::e))", fewer + "CREATE TABLE t (k e, n int); CREATE INDEX i ON t (k); CREATE INDEX j ON t (n) WHERE k = 'a'; CREATE INDEX l ON t ((k < 'a'::e))"},
	"enum again, checks":      {moods + "CREATE TABLE t (k e CHECK (k <> 'a'), n text CHECK (n::e = 'a'), EXCLUDE USING btree (k WITH =) WHERE (k <> 'a'))", fewer + "CREATE TABLE t (k e CHECK (k <> 'a'), n text CHECK (n::e = 'a'), EXCLUDE USING btree (k WITH =) WHERE (k <> 'a'))"},
	"enum again, generated":   {moods + "CREATE TABLE t (k e, g boolean GENERATED ALWAYS AS (k = 'a') STORED, h e GENERATED ALWAYS AS (k) STORED)", fewer + "CREATE TABLE t (k e, g boolean GENERATED ALWAYS AS (k = 'a') STORED, h e GENERATED ALWAYS AS (k) STORED)"},
	"enum again, views":       {moods + "CREATE TABLE t (k e); CREATE VIEW v AS SELECT k FROM t WHERE k = 'a'; CREATE VIEW w AS SELECT 'a'::e AS x; CREATE MATERIALIZED VIEW m AS SELECT k FROM v; CREATE INDEX mi ON m (k)", fewer + "CREATE TABLE t (k e); CREATE VIEW v AS SELECT k FROM t WHERE k = 'a'; CREATE VIEW w AS SELECT 'a'::e AS x; CREATE MATERIALIZED VIEW m AS SELECT k FROM v; CREATE INDEX mi ON m (k)"},
	"enum again, routines":    {moods + "CREATE FUNCTION f(k e DEFAULT 'a') RETURNS e LANGUAGE sql AS 'SELECT k'; CREATE FUNCTION p(k e[]) RETURNS SETOF e LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT unnest(k); END'; CREATE FUNCTION b() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT 'a'::e::text; END; CREATE TABLE t (n text DEFAULT f('a')::text)", fewer + "CREATE FUNCTION f(k e DEFAULT 'a') RETURNS e LANGUAGE sql AS 'SELECT k'; CREATE FUNCTION p(k e[]) RETURNS SETOF e LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT unnest(k); END'; CREATE FUNCTION b() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT 'a'::e::text; END; CREATE TABLE t (n text DEFAULT f('a')::text)"},
	"enum again, policies":    {moods + "CREATE TABLE t (k e); ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY y ON t USING (k = 'a')", fewer + "CREATE TABLE t (k e); ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY y ON t USING (k = 'a')"},
	"enum again, triggers":    {moods + "CREATE TABLE t (k e); CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER r BEFORE UPDATE OF k ON t FOR EACH ROW WHEN (NEW.k = 'a') EXECUTE FUNCTION g()", fewer + "CREATE TABLE t (k e); CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER r BEFORE UPDATE OF k ON t FOR EACH ROW WHEN (NEW.k = 'a') EXECUTE FUNCTION g()"},
	"enum again, statistics":  {moods + "CREATE TABLE t (k e, n int); CREATE STATISTICS x ON k, n FROM t; ALTER TABLE t ALTER k SET STATISTICS 7", fewer + "CREATE TABLE t (k e, n int); CREATE STATISTICS x ON k, n FROM t; ALTER TABLE t ALTER k SET STATISTICS 7"},
	"enum again, inheritance": {moods + "CREATE TABLE t (k e DEFAULT 'a' CHECK (k <> 'c')); CREATE TABLE u (n int) INHERITS (t); ALTER TABLE u ALTER k SET DEFAULT 'b'", "CREATE TYPE e AS ENUM ('c', 'b', 'a'); CREATE TABLE t (k e DEFAULT 'a' CHECK (k <> 'c')); CREATE TABLE u (n int) INHERITS (t); ALTER TABLE u ALTER k SET DEFAULT 'b'"},
	"enum again, partitions":  {moods + "CREATE TABLE t (n int, k e DEFAULT 'a') PARTITION BY LIST (n); CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1); CREATE INDEX ON t (k)", fewer + "CREATE TABLE t (n int, k e DEFAULT 'a') PARTITION BY LIST (n); CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1); CREATE INDEX ON t (k)"},
	"enum again, types":       {moods + "CREATE DOMAIN d AS e DEFAULT 'a' CHECK (VALUE <> 'c'); CREATE TYPE y AS (k e, ks e[])", fewer + "CREATE DOMAIN d AS e DEFAULT 'a' CHECK (VALUE <> 'c'); CREATE TYPE y AS (k e, ks e[])"},
	"enum again, odd names":   {`CREATE TYPE "e ""x'." AS ENUM ('it''s', '\', ''); CREATE TYPE "ptah_old_e ""x'." AS ENUM (); CREATE TABLE "t '" ("k ""1" "e ""x'." DEFAULT 'it''s' CHECK ("k ""1" <> ''))`, `CREATE TYPE "e ""x'." AS ENUM ('\', 'it''s'); CREATE TYPE "ptah_old_e ""x'." AS ENUM (); CREATE TABLE "t '" ("k ""1" "e ""x'." DEFAULT 'it''s' CHECK ("k ""1" <> '\'))`},
}

// TestEnumIsBuiltAgain shows the plan, and that rows keep the values that stay.
func TestEnumIsBuiltAgain(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, moods+"CREATE TABLE t (k e DEFAULT 'a', ks e[])", "INSERT INTO t VALUES ('a', '{c,a}'), (NULL, NULL), ('c', '{}')")
	doc := converge(t, engine.Options{URL: target}, declare(t, s, fewer+"CREATE TABLE t (k e DEFAULT 'a', ks e[])"))
	assert.Equal(t, []string{
		`ALTER TYPE "public"."e" RENAME TO "ptah_old_e"`,
		`CREATE TYPE "public"."e" AS ENUM ('c', 'a')`,
		`ALTER TABLE "public"."t" ALTER COLUMN "k" DROP DEFAULT, ALTER COLUMN "k" TYPE public.e USING "k"::text::public.e, ALTER COLUMN "k" SET DEFAULT 'a'::public.e`,
		`ALTER TABLE "public"."t" ALTER COLUMN "ks" TYPE public.e[] USING "ks"::text[]::public.e[]`,
		`DROP TYPE "public"."ptah_old_e"`,
	}, statements(doc))
	assert.True(t, doc.Destructive)
	const hazard = `removes "b": a row that holds one stops the plan, and nothing is changed`
	assert.Equal(t, []string{hazard, "", hazard + "; rewrites the table and its indexes while nobody can read or write it"}, []string{doc.Statements[0].Hazard, doc.Statements[1].Hazard, doc.Statements[2].Hazard})
	assert.Equal(t, "ACCESS EXCLUSIVE", doc.Statements[2].Lock)
	assert.Equal(t, "c:{} a:{c,a}", query[string](t, target, "SELECT string_agg(k || ':' || ks::text, ' ' ORDER BY k) FROM t WHERE k IS NOT NULL"))

	moved := converge(t, engine.Options{URL: target}, declare(t, s, "CREATE TYPE e AS ENUM ('a', 'c'); CREATE TABLE t (k e DEFAULT 'a', ks e[])"))
	assert.Equal(t, "values compare and sort in another order", moved.Statements[0].Hazard)
}

// TestRemovedEnumValueInUse leaves everything as it is where a row holds a value that is declared no more.
func TestRemovedEnumValueInUse(t *testing.T) {
	s := pgtest.Start(t)
	for name, rows := range map[string]string{"scalar": "('b', NULL)", "array": "(NULL, '{a,b}')"} {
		t.Run(name, func(t *testing.T) {
			target := s.NewDatabase(t, moods+"CREATE TABLE t (k e DEFAULT 'a', ks e[]); CREATE VIEW v AS SELECT k FROM t", "INSERT INTO t VALUES "+rows)
			opts := engine.Options{URL: target}
			doc := planned(t, opts, declare(t, s, fewer+"CREATE TABLE t (k e DEFAULT 'a', ks e[]); CREATE VIEW v AS SELECT k FROM t"))
			before := fingerprint(t, target)
			_, err := engine.Apply(testContext(t), opts, doc)
			e := refusal(t, err, frame.CodeStatementFailed)
			assert.Contains(t, e.Message, "(alter_type public.t.k"+map[string]string{"array": "s"}[name]+") was refused by the server with SQLSTATE 22P02: a value cannot be converted; the transaction was rolled back and nothing has changed")
			assert.False(t, e.OutcomeUncertain)
			assert.Equal(t, before, fingerprint(t, target))
			assert.Equal(t, 1, query[int](t, target, "SELECT count(*)::int FROM t WHERE k = 'b' OR 'b' = ANY (ks)"))
		})
	}
}

// TestEnumThatCannotBeBuiltAgain is refused by name.
func TestEnumThatCannotBeBuiltAgain(t *testing.T) {
	s := pgtest.Start(t)
	for name, c := range map[string]struct{ a, b, want string }{
		"excluded table":    {"CREATE TABLE keep_t (k e)", "", `enum "public"."e" loses values or has them in another order, and the excluded table "public"."keep_t" uses it`},
		"excluded array":    {"CREATE TABLE keep_t (k e[])", "", `the excluded table "public"."keep_t" uses it`},
		"excluded domain":   {"CREATE DOMAIN keep_d AS e", "", `the excluded domain "public"."keep_d" uses it`},
		"excluded function": {"CREATE FUNCTION keep_f(k e) RETURNS int LANGUAGE sql AS 'SELECT 1'", "", `the excluded function "public"."keep_f" uses it`},
		"excluded view":     {"CREATE TABLE t (k e); CREATE VIEW keep_v AS SELECT k FROM t", "CREATE TABLE t (k e)", `keep_v`},
		"partition key":     {"CREATE TABLE t (k e) PARTITION BY LIST (k)", "CREATE TABLE t (k e) PARTITION BY LIST (k)", `"public"."t"`},
		"domain in use":     {"CREATE DOMAIN d AS e; CREATE TABLE t (k d)", "CREATE DOMAIN d AS e; CREATE TABLE t (k d)", `domain "public"."d"`},
		"composite in use":  {"CREATE TYPE y AS (k e); CREATE TABLE t (k y)", "CREATE TYPE y AS (k e); CREATE TABLE t (k y)", `attribute "k" of composite type "public"."y"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, moods+c.a), Exclude: []string{"keep_*"}}, declare(t, s, fewer+c.b))
			message := refusal(t, err, frame.CodeUnsupportedObject).Message
			assert.Contains(t, message, c.want)
			assert.NotContains(t, message, "ptah_old", "the name that a person knows")
		})
	}
}

// TestRowsThatNeedANewEnumValue are refused before the server would.
func TestRowsThatNeedANewEnumValue(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, "CREATE TYPE e AS ENUM ('a'); CREATE TABLE t (id int PRIMARY KEY, k e)")
	desired := declareRows(t, s, "CREATE TYPE e AS ENUM ('a', 'b'); CREATE TABLE t (id int PRIMARY KEY, k e)", set("t", 1, []string{"id", "k"}, []string{"1", "b"}))
	_, err := engine.Plan(testContext(t), engine.Options{URL: target}, desired)
	assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, `enum "public"."e" gains the value "b" and public.t uses it at once`)
}

// TestRowsOfAnEnumThatIsBuiltAgain does not write rows that are as declared.
func TestRowsOfAnEnumThatIsBuiltAgain(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, moods+"CREATE TABLE t (id int PRIMARY KEY, k e)", "INSERT INTO t VALUES (1, 'a'), (2, 'c')")
	doc := converge(t, engine.Options{URL: target}, declareRows(t, s, fewer+"CREATE TABLE t (id int PRIMARY KEY, k e)", set("t", 1, []string{"id", "k"}, []string{"1", "a"}, []string{"2", "a"})))
	var rows []plan.Statement
	for _, statement := range doc.Statements {
		if statement.Kind == "update_row" {
			rows = append(rows, statement)
		}
	}
	assert.Len(t, rows, 1)
	assert.Equal(t, model.Name{Schema: "public", Name: "t"}, model.Name{Schema: doc.ManagedRows[0].Schema, Name: doc.ManagedRows[0].Table})
}

package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

// TestDefinitionsRefusedByName: what is excluded, or stays, holds back what a plan would drop; a circle has no order.
func TestDefinitionsRefusedByName(t *testing.T) {
	s := pgtest.Start(t)
	for name, c := range map[string]struct {
		a, b    string
		exclude []string
		want    string
	}{
		"view on a dropped table": {base + view, "", []string{"v"}, `view "public"."v", which is excluded, depends on column "id" of table "public"."t", which the plan would drop or change under it`},
		"view on a retyped column": {
			"CREATE TABLE t (id int, n int); " + view, "CREATE TABLE t (id int, n bigint)",
			[]string{"*[type=view]"},
			`view "public"."v", which is excluded, depends on column "n" of table "public"."t"`,
		},
		"view on a view":              {base + view + "CREATE VIEW kept AS SELECT id FROM v", base, []string{"kept"}, `view "public"."kept", which is excluded, depends on column "id" of table "public"."v"`},
		"trigger of a dropped table":  {base + trigger + "CREATE TRIGGER g BEFORE INSERT ON t EXECUTE FUNCTION tf()", trigger, []string{"g"}, `trigger "g" of table "public"."t", which is excluded`},
		"trigger on a function":       {base + trigger + "CREATE TRIGGER g BEFORE INSERT ON t EXECUTE FUNCTION tf()", base, []string{"g"}, `depends on function "public"."tf"`},
		"default of an excluded":      {fn + "CREATE TABLE kept (n int DEFAULT f(1))", "", []string{"kept"}, `the excluded table "public"."kept" calls routine "public"."f"`},
		"domain that stays":           {fn + "CREATE DOMAIN d AS int CHECK (f(VALUE) > 0)", fnText + "CREATE DOMAIN d AS int CHECK (f(VALUE) > 0)", nil, `domain "public"."d" calls a routine that the plan would drop`},
		"functions in a circle":       {"", circle, nil, `in a circle, which no order of statements can create or drop`},
		"function that calls itself":  {"", "CREATE FUNCTION a() RETURNS int LANGUAGE sql RETURN 1; CREATE OR REPLACE FUNCTION a() RETURNS int LANGUAGE sql RETURN CASE WHEN random() < 2 THEN 1 ELSE a() END", nil, `function "public"."a" and others depend on each other in a circle`},
		"new enum value in a view":    {"CREATE TYPE e AS ENUM ('a')", "CREATE TYPE e AS ENUM ('a', 'b'); CREATE VIEW v AS SELECT 'b'::e AS k", nil, `gains the value "b" and public.v uses it at once`},
		"materialized view elsewhere": {"CREATE MATERIALIZED VIEW m WITH (toast.autovacuum_enabled = off) AS SELECT 'a'::text AS a", "", nil, `table option "public"."m"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, c.a), Exclude: c.exclude}, declare(t, s, c.b))
			e := refusal(t, err, frame.CodeUnsupportedObject)
			assert.Contains(t, e.Message, c.want)
		})
	}
}

const circle = `CREATE FUNCTION a() RETURNS int LANGUAGE sql RETURN 1; CREATE FUNCTION b() RETURNS int LANGUAGE sql RETURN a();
CREATE OR REPLACE FUNCTION a() RETURNS int LANGUAGE sql RETURN CASE WHEN random() < 2 THEN 1 ELSE b() END; `

// TestStringBodiesInACircle: what calls itself or each other by name only is no circle for the server.
func TestStringBodiesInACircle(t *testing.T) {
	s := pgtest.Start(t)
	doc := converge(t, engine.Options{URL: s.NewDatabase(t)}, declare(t, s, `SET check_function_bodies = off; CREATE FUNCTION a() RETURNS int LANGUAGE plpgsql AS 'begin return b(); end';
CREATE FUNCTION b() RETURNS int LANGUAGE plpgsql AS 'begin return a(); end'; CREATE FUNCTION new_rows() RETURNS trigger LANGUAGE plpgsql AS 'declare r gone%rowtype; begin return new; end'; CREATE TABLE gone (id int)`))
	assert.Equal(t, "SET LOCAL check_function_bodies = off", doc.Statements[0].SQL)
}

// TestEventTriggers have a database of their own: they run on every DDL in it.
func TestEventTriggers(t *testing.T) {
	s := pgtest.Start(t)
	const function = "CREATE FUNCTION ef() RETURNS event_trigger LANGUAGE plpgsql AS 'begin if false then raise exception ''no''; end if; end'; "
	const first = function + "CREATE EVENT TRIGGER \"e t\" ON ddl_command_end EXECUTE FUNCTION ef()"
	bothDirections(t, s, []string{function}, []string{first, "COMMENT ON EVENT TRIGGER \"e t\" IS 'x'"}, func(t *testing.T, doc plan.Document) { assert.NotEmpty(t, doc.Statements) })
	bothDirections(t, s, []string{first}, []string{function + "CREATE EVENT TRIGGER \"e t\" ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'DROP TABLE') EXECUTE FUNCTION ef(); ALTER EVENT TRIGGER \"e t\" ENABLE ALWAYS"},
		func(t *testing.T, doc plan.Document) {
			assert.Equal(t, "drop_event_trigger", doc.Statements[0].Kind)
			assert.Equal(t, "create_event_trigger", doc.Statements[1].Kind)
		})
}

// TestHostileNames puts every kind of definition under names that need quoting, and goes there and back.
func TestHostileNames(t *testing.T) {
	s := pgtest.Start(t)
	for _, n := range []string{`a"b`, "line\nbreak", "select", "Ünï çödé, with a prefix of two it has 63 bytes, the most.", `it's \ $1; --`, "Case"} {
		q := `"` + doubled(n) + `"`
		sql := `CREATE SCHEMA ` + q + `; SET search_path = ` + q + `; CREATE TABLE ` + q + ` (` + q + ` int NOT NULL, k text);
CREATE FUNCTION ` + q + `(` + q + ` int DEFAULT 5) RETURNS int IMMUTABLE LANGUAGE sql AS $x$SELECT 1 /* $function$ */$x$; CREATE PROCEDURE "p ` + doubled(n) + `"(` + q + ` text) LANGUAGE plpgsql AS 'begin end';
CREATE AGGREGATE "a ` + doubled(n) + `"(int) (SFUNC = int4pl, STYPE = int); CREATE FUNCTION "t ` + doubled(n) + `"() RETURNS trigger LANGUAGE plpgsql AS 'begin return new; end';
CREATE VIEW "v ` + doubled(n) + `" WITH (security_barrier) AS SELECT ` + q + `, k FROM ` + q + `; ALTER VIEW "v ` + doubled(n) + `" ALTER ` + q + ` SET DEFAULT 3; COMMENT ON COLUMN "v ` + doubled(n) + `".` + q + ` IS E'it''s\n"x"';
CREATE MATERIALIZED VIEW "m ` + doubled(n) + `" AS SELECT ` + q + ` FROM "v ` + doubled(n) + `"; CREATE UNIQUE INDEX "i ` + doubled(n) + `" ON "m ` + doubled(n) + `" (` + q + `); COMMENT ON INDEX "i ` + doubled(n) + `" IS 'x';
CREATE TRIGGER ` + q + ` BEFORE UPDATE OF ` + q + ` ON ` + q + ` FOR EACH ROW EXECUTE FUNCTION "t ` + doubled(n) + `"('it''s'); ALTER TABLE ` + q + ` DISABLE TRIGGER ` + q + `; COMMENT ON TRIGGER ` + q + ` ON ` + q + ` IS 'x';
CREATE RULE ` + q + ` AS ON DELETE TO ` + q + ` DO INSTEAD NOTHING; CREATE POLICY ` + q + ` ON ` + q + ` USING (` + q + ` > 0); ALTER TABLE ` + q + ` ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE STATISTICS ` + q + ` ON ` + q + `, k FROM ` + q + `; CREATE EVENT TRIGGER ` + q + ` ON sql_drop EXECUTE FUNCTION "e ` + doubled(n) + `"();`
		sql = `CREATE FUNCTION "e ` + doubled(n) + `"() RETURNS event_trigger LANGUAGE plpgsql AS 'begin end'; SET search_path = public; ` + sql
		sql = replaceLast(sql, `FUNCTION "e `, `FUNCTION public."e `)
		t.Run(n, func(t *testing.T) {
			bothDirections(t, s, nil, []string{sql}, func(t *testing.T, doc plan.Document) { assert.NotEmpty(t, doc.Statements) })
		})
	}
}

// TestExcludedViewTakesItsParts: what belongs to an excluded view is excluded with it, and its schema stays.
func TestExcludedViewTakesItsParts(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, "CREATE SCHEMA gone; CREATE MATERIALIZED VIEW gone.m AS SELECT 1 AS a; CREATE INDEX i ON gone.m (a); CREATE VIEW gone.v AS SELECT 1 AS a; CREATE RULE r AS ON DELETE TO gone.v DO INSTEAD NOTHING")
	live, err := engine.Inspect(testContext(t), target)
	require.NoError(t, err)
	opts := engine.Options{URL: target, Exclude: []string{"*[type=view|materialized_view]"}}
	converge(t, opts, declare(t, s, base))
	after, err := engine.Inspect(testContext(t), target)
	require.NoError(t, err)
	assert.Equal(t, live.Definitions, after.Definitions)
	assert.Contains(t, after.Schemas, model.Schema{Name: "gone"})
}

func doubled(name string) string { return strings.ReplaceAll(name, `"`, `""`) }

func replaceLast(s, old, replacement string) string {
	i := strings.LastIndex(s, old)
	return s[:i] + replacement + s[i+len(old):]
}

// TestRenamedTableKeepsItsDefinitions: what names its table once follows a declared rename without a statement; a view is replaced in place.
func TestRenamedTableKeepsItsDefinitions(t *testing.T) {
	s := pgtest.Start(t)
	parts := func(table string) string {
		return "CREATE TABLE " + table + " (id int, n int); CREATE TRIGGER g BEFORE UPDATE ON " + table + " FOR EACH ROW EXECUTE FUNCTION tf(); ALTER TABLE " + table + " DISABLE TRIGGER g, ENABLE ROW LEVEL SECURITY; " +
			"CREATE POLICY p ON " + table + " USING (n > 0); CREATE STATISTICS st ON id, n FROM " + table + "; CREATE VIEW v AS SELECT n FROM " + table + "; "
	}
	desired := declare(t, s, trigger+parts("clients"))
	desired.Table(model.Name{Schema: "public", Name: "clients"}).RenamedFrom = "Old customers"
	doc := converge(t, engine.Options{URL: s.NewDatabase(t, trigger+parts(`"Old customers"`))}, desired)
	var kinds []string
	for _, st := range doc.Statements {
		kinds = append(kinds, st.Kind)
	}
	assert.Equal(t, []string{"rename_table", "replace_view"}, kinds)
}

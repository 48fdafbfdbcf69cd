package engine_test

import "strings"

const (
	fn      = "CREATE FUNCTION f(a int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT a + 1'; "
	fnText  = "CREATE FUNCTION f(a int) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT a + 1::bigint'; "
	trigger = "CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'begin return new; end'; "
	view    = "CREATE VIEW v AS SELECT id, n FROM t; "
	matview = "CREATE MATERIALIZED VIEW m AS SELECT id, n FROM t; "
)

// definitionProbes are the differences of what is described by the statement that creates it.
var definitionProbes = map[string]probe{
	"view":                            {base, base + view},
	"view comment":                    {base + view, base + view + "COMMENT ON VIEW v IS 'it''s'; COMMENT ON COLUMN v.n IS 'a column'"},
	"view query":                      {base + view, base + "CREATE VIEW v AS SELECT id, n FROM t WHERE n > 5"},
	"view gains a column":             {base + view, base + "CREATE VIEW v AS SELECT id, n, s FROM t"},
	"view columns in another order":   {base + view, base + "CREATE VIEW v AS SELECT n, id FROM t"},
	"view barrier":                    {base + view, base + "CREATE VIEW v WITH (security_barrier) AS SELECT id, n FROM t"},
	"view check option":               {base + view, base + "CREATE VIEW v AS SELECT id, n FROM t WHERE n > 0 WITH LOCAL CHECK OPTION"},
	"view check option kind":          {base + "CREATE VIEW v AS SELECT id, n FROM t WITH LOCAL CHECK OPTION", base + "CREATE VIEW v AS SELECT id, n FROM t WITH CASCADED CHECK OPTION"},
	"view query and options":          {base + "CREATE VIEW v WITH (security_barrier) AS SELECT id, n FROM t", base + "CREATE VIEW v WITH (security_barrier) AS SELECT id, n FROM t WHERE n > 1; ALTER VIEW v ALTER n SET DEFAULT 5"},
	"view default":                    {base + view, base + view + "ALTER VIEW v ALTER n SET DEFAULT 7"},
	"view recursive":                  {base, base + "CREATE RECURSIVE VIEW v(x) AS VALUES (1) UNION ALL SELECT x + 1 FROM v WHERE x < 9"},
	"view without columns":            {base, "CREATE VIEW v AS SELECT; " + base},
	"view over a retyped column":      {"CREATE TABLE t (id int NOT NULL, n int); " + view + "COMMENT ON VIEW v IS 'kept'; ALTER VIEW v SET (security_barrier = true)", "CREATE TABLE t (id int NOT NULL, n bigint); " + view + "COMMENT ON VIEW v IS 'kept'; ALTER VIEW v SET (security_barrier = true)"},
	"view over views":                 {"CREATE TABLE t (id int, n int); " + view + "CREATE VIEW a AS SELECT * FROM v; CREATE VIEW b AS SELECT a.n, v.id FROM a JOIN v USING (id)", "CREATE TABLE t (id int, n text); " + view + "CREATE VIEW a AS SELECT * FROM v; CREATE VIEW b AS SELECT a.n, v.id FROM a JOIN v USING (id)"},
	"view loses the view under it":    {base + view + "CREATE VIEW a AS SELECT id FROM v", base + "CREATE VIEW a AS SELECT id FROM t"},
	"view takes the name of a table":  {base, "CREATE TABLE other (id int); CREATE VIEW t AS SELECT * FROM other"},
	"view takes the name of an enum":  {"CREATE TYPE x AS ENUM ('a'); CREATE TABLE t (k text)", "CREATE TABLE t (k text); CREATE VIEW x AS SELECT * FROM t"},
	"view becomes materialized":       {base + view, base + "CREATE MATERIALIZED VIEW v AS SELECT id, n FROM t"},
	"view needs a primary key":        {"CREATE TABLE t (id int PRIMARY KEY, n int); CREATE VIEW v AS SELECT id, n FROM t GROUP BY id", "CREATE TABLE t (id int, n int, CONSTRAINT t_pkey PRIMARY KEY (id) DEFERRABLE); CREATE VIEW v AS SELECT id, n FROM t GROUP BY id, n"},
	"view under a primary key":        {"CREATE TABLE t (id int PRIMARY KEY, n int, k int NOT NULL); CREATE VIEW v AS SELECT id, n FROM t GROUP BY id", "CREATE TABLE t (id int, n int, k int NOT NULL, CONSTRAINT t_pkey PRIMARY KEY (id) INCLUDE (k)); CREATE VIEW v AS SELECT id, n FROM t GROUP BY id"},
	"view loses a column":             {base + "CREATE VIEW v AS SELECT id, n, s FROM t", base + view},
	"view of a dropped column":        {base + "ALTER TABLE t ADD k int; CREATE VIEW v AS SELECT id, k FROM t", base + "CREATE VIEW v AS SELECT id, 5 AS k FROM t"},
	"view of a sequence":              {"CREATE SEQUENCE q; CREATE VIEW v AS SELECT last_value FROM q", "CREATE SEQUENCE r; CREATE VIEW v AS SELECT last_value FROM r"},
	"view of an enum":                 {"CREATE TYPE e AS ENUM ('a'); CREATE VIEW v AS SELECT 'a'::e AS k", "CREATE TYPE f AS ENUM ('a'); CREATE VIEW v AS SELECT 'a'::f AS k"},
	"view with a trigger":             {base + view + trigger, base + view + trigger + "CREATE TRIGGER g INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION tf()"},
	"view with a trigger moves":       {"CREATE TABLE t (id int, n int); " + view + trigger + "CREATE TRIGGER g INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION tf(); CREATE RULE r AS ON DELETE TO v DO INSTEAD NOTHING", "CREATE TABLE t (id int, n text); " + view + trigger + "CREATE TRIGGER g INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION tf(); CREATE RULE r AS ON DELETE TO v DO INSTEAD NOTHING"},
	"materialized view":               {base, base + matview},
	"materialized view query":         {base + matview + "CREATE UNIQUE INDEX mi ON m (id); COMMENT ON INDEX mi IS 'i'", base + "CREATE MATERIALIZED VIEW m AS SELECT id, n FROM t WHERE n > 1; CREATE UNIQUE INDEX mi ON m (id); COMMENT ON INDEX mi IS 'i'"},
	"materialized view comment":       {base + matview, base + matview + "COMMENT ON MATERIALIZED VIEW m IS 'x'; COMMENT ON COLUMN m.id IS 'y'"},
	"materialized view options":       {base + matview, base + matview + "ALTER MATERIALIZED VIEW m SET (fillfactor = 70)"},
	"materialized view index":         {base + matview, base + matview + "CREATE INDEX mi ON m (n DESC) INCLUDE (id) WITH (fillfactor = 50) WHERE n > 0"},
	"materialized view index differs": {base + matview + "CREATE INDEX mi ON m (n)", base + matview + "CREATE UNIQUE INDEX mi ON m (n)"},
	"materialized view storage":       {base + "CREATE MATERIALIZED VIEW m AS SELECT s FROM t", base + "CREATE MATERIALIZED VIEW m AS SELECT s FROM t; ALTER MATERIALIZED VIEW m ALTER s SET STORAGE external, ALTER s SET COMPRESSION pglz"},
	"materialized view reads by name": {"", base + "CREATE VIEW z AS SELECT id FROM t; CREATE FUNCTION a() RETURNS int LANGUAGE plpgsql AS 'declare r int; begin select max(id) into r from z; return r; end'; ALTER FUNCTION a() SET search_path FROM CURRENT; CREATE MATERIALIZED VIEW m AS SELECT a() AS x"},

	"function":                      {"", fn},
	"function body":                 {fn, "CREATE FUNCTION f(a int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT a + 2'"},
	"function volatility":           {fn, "CREATE FUNCTION f(a int) RETURNS int STABLE STRICT SECURITY DEFINER PARALLEL SAFE COST 5 LEAKPROOF LANGUAGE sql SET work_mem = '1MB' AS 'SELECT a + 1'"},
	"function result":               {fn, fnText},
	"function argument name":        {fn, "CREATE FUNCTION f(b int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT b + 1'"},
	"function overload":             {fn, fn + "CREATE FUNCTION f(a text) RETURNS text LANGUAGE sql AS 'SELECT a'; COMMENT ON FUNCTION f(text) IS 'x'"},
	"function default":              {fn, "CREATE FUNCTION f(a int DEFAULT 5) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT a + 1'"},
	"function out parameters":       {"CREATE FUNCTION o(a int, OUT b int, OUT c text) LANGUAGE sql AS 'SELECT 1, null::text'", "CREATE FUNCTION o(a int, OUT b int, OUT d text) LANGUAGE sql AS 'SELECT 1, null::text'"},
	"function table":                {"CREATE FUNCTION o() RETURNS TABLE (a int) LANGUAGE sql AS 'SELECT 1'", "CREATE FUNCTION o() RETURNS TABLE (a int, b int) LANGUAGE sql AS 'SELECT 1, 2'"},
	"function variadic":             {"", "CREATE FUNCTION o(VARIADIC a int[] DEFAULT '{}') RETURNS int LANGUAGE sql AS 'SELECT 1'"},
	"function standard body":        {base, base + "CREATE FUNCTION o() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(CASE WHEN n > 1 THEN 1 END) AS c FROM t; END"},
	"function standard return":      {base, base + "CREATE FUNCTION o(a int) RETURNS int LANGUAGE sql RETURN a + 1"},
	"function over a moved column":  {"CREATE TABLE t (n int); CREATE FUNCTION o() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(n)::bigint AS m FROM t; END", "CREATE TABLE t (n bigint); CREATE FUNCTION o() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(n)::bigint AS m FROM t; END"},
	"function of a row":             {base, base + "CREATE FUNCTION o(r t) RETURNS text LANGUAGE sql AS 'SELECT r.s'; CREATE FUNCTION oo() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t'"},
	"function of an enum":           {"CREATE TYPE e AS ENUM ('a'); CREATE FUNCTION o(k e) RETURNS e LANGUAGE sql AS 'SELECT k'", "CREATE TYPE g AS ENUM ('a'); CREATE FUNCTION o(k g) RETURNS g LANGUAGE sql AS 'SELECT k'"},
	"function to procedure":         {"CREATE FUNCTION o(a int) RETURNS void LANGUAGE sql AS ''", "CREATE PROCEDURE o(a int) LANGUAGE sql AS ''"},
	"function comment":              {fn, fn + "COMMENT ON FUNCTION f IS 'x'"},
	"function in a default":         {base, fn + "CREATE TABLE t (id int NOT NULL, n int DEFAULT f(1), s text, v varchar(20)); "},
	"function result in everything": {fn + everything, fnText + everything},
	"function in everything goes":   {fn + everything, "CREATE TABLE t (id int NOT NULL, n int, g bigint, k bigint)"},
	"functions of functions":        {fn + "CREATE FUNCTION a(x int) RETURNS int LANGUAGE sql RETURN f(x)", fnText + "CREATE FUNCTION a(x int) RETURNS int LANGUAGE sql RETURN f(x)::int"},
	"functions by name":             {"", "CREATE FUNCTION b() RETURNS int LANGUAGE sql AS 'SELECT 1'; SET check_function_bodies = off; CREATE FUNCTION a() RETURNS int LANGUAGE sql AS 'SELECT b()'; CREATE FUNCTION r(x int) RETURNS int LANGUAGE sql AS 'SELECT r(x)'"},
	"function of a table not there": {"", "CREATE TABLE zz (id int); CREATE FUNCTION a() RETURNS int LANGUAGE plpgsql AS 'declare r zz%rowtype; begin return 1; end'"},
	"function in a late default":    {"CREATE TABLE t (n int)", late + "CREATE TABLE t (n int); CREATE TABLE u (n bigint DEFAULT o(), CHECK (p(n) > 0)); CREATE INDEX ui ON u (p(n)); ALTER TABLE t ADD k bigint DEFAULT o(), ADD CHECK (p(k) >= 0)"},
	"function under a late default": {late + "CREATE TABLE u (n bigint DEFAULT o()); CREATE VIEW w AS SELECT o() AS o", lateOverNumeric + "CREATE TABLE u (n bigint DEFAULT o()); CREATE VIEW w AS SELECT o() AS o"},
	"late generated column":         {"CREATE TABLE t (n int)", late + "CREATE TABLE t (n int); CREATE TABLE u (n bigint, g bigint GENERATED ALWAYS AS (p(n)) STORED UNIQUE); ALTER TABLE t ADD g bigint GENERATED ALWAYS AS (p(n::bigint)) STORED CHECK (g > 0); CREATE VIEW w AS SELECT g FROM u; CREATE TABLE x (g bigint REFERENCES u (g))"},
	"function in a domain":          {fn + "CREATE TABLE t (n int)", fn + "CREATE TABLE t (n int); CREATE DOMAIN d AS int DEFAULT f(1) CHECK (f(VALUE) > 0)"},
	"function and its domain":       {"CREATE TABLE t (n int)", fn + "CREATE DOMAIN d AS int CHECK (f(VALUE) > 0); CREATE TABLE t (n int, d d); CREATE VIEW v AS SELECT d, 5::d AS e FROM t"},
	"function of a composite":       {"CREATE TYPE y AS (a int, b text); CREATE FUNCTION o(x y) RETURNS int LANGUAGE sql RETURN x.a; CREATE VIEW v AS SELECT ROW(1, 'a')::y AS y", "CREATE TYPE y AS (b text, a int); CREATE FUNCTION o(x y) RETURNS int LANGUAGE sql RETURN x.a; CREATE VIEW v AS SELECT ROW('a', 1)::y AS y"},
	"view over a rebuilt domain":    {"CREATE DOMAIN d AS int; CREATE VIEW v AS SELECT 1::d AS a; CREATE VIEW w AS SELECT a FROM v; CREATE FUNCTION o(x d) RETURNS d[] LANGUAGE sql AS 'SELECT null::d[]'", "CREATE DOMAIN d AS bigint; CREATE VIEW v AS SELECT 1::d AS a; CREATE VIEW w AS SELECT a FROM v; CREATE FUNCTION o(x d) RETURNS d[] LANGUAGE sql AS 'SELECT null::d[]'"},
	"view over an attribute":        {"CREATE TYPE y AS (a int, b text); CREATE VIEW v AS SELECT (ROW(1, 'a')::y).a", "CREATE TYPE y AS (a bigint, b text); CREATE VIEW v AS SELECT (ROW(1, 'a')::y).a"},
	"view over a collation":         {"CREATE COLLATION co (provider = libc, locale = 'C'); CREATE VIEW v AS SELECT 'a'::text COLLATE co AS a", "CREATE COLLATION co (provider = libc, lc_collate = 'C', lc_ctype = 'POSIX'); CREATE VIEW v AS SELECT 'a'::text COLLATE co AS a"},
	"procedure":                     {"", "CREATE PROCEDURE o(a int, INOUT b int) LANGUAGE sql AS 'SELECT 1'; COMMENT ON PROCEDURE o IS 'x'"},
	"procedure body":                {"CREATE PROCEDURE o(a int) LANGUAGE sql AS 'SELECT 1'", "CREATE PROCEDURE o(a int) LANGUAGE sql AS 'SELECT 2'"},
	"window function":               {"", "CREATE FUNCTION o() RETURNS int8 LANGUAGE internal WINDOW AS 'window_row_number'; COMMENT ON FUNCTION o() IS 'w'"},
	"aggregate":                     {"", "CREATE AGGREGATE ag(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0'); COMMENT ON AGGREGATE ag(int) IS 'x'"},
	"aggregate state":               {"CREATE AGGREGATE ag(int) (SFUNC = int4pl, STYPE = int)", "CREATE AGGREGATE ag(int) (SFUNC = int4pl, STYPE = int, INITCOND = '7', SSPACE = 100, COMBINEFUNC = int4pl, PARALLEL = SAFE, MSFUNC = int4pl, MINVFUNC = int4mi, MSTYPE = int, MINITCOND = '7')"},
	"aggregate of everything":       {"", "CREATE AGGREGATE ag(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0')"},
	"aggregate sorted":              {"", "CREATE AGGREGATE ag(float8 ORDER BY anyelement) (SFUNC = ordered_set_transition, STYPE = internal, FINALFUNC = percentile_disc_final, FINALFUNC_EXTRA)"},
	"aggregate with operator":       {"", "CREATE AGGREGATE ag(int) (SFUNC = int4larger, STYPE = int, SORTOP = >)"},
	"aggregate over a function":     {"CREATE FUNCTION tr(int, int) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE AGGREGATE ag(int) (SFUNC = tr, STYPE = int)", "CREATE FUNCTION tr(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE AGGREGATE ag(int) (SFUNC = tr, STYPE = int)"},

	"trigger":                       {base + trigger, base + trigger + "CREATE TRIGGER g BEFORE INSERT OR UPDATE OF n ON t FOR EACH ROW WHEN (new.n > 0) EXECUTE FUNCTION tf('it''s', 'b')"},
	"trigger event":                 {base + trigger + "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf(); ALTER TABLE t DISABLE TRIGGER g; COMMENT ON TRIGGER g ON t IS 'c'", base + trigger + "CREATE TRIGGER g BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION tf(); ALTER TABLE t DISABLE TRIGGER g; COMMENT ON TRIGGER g ON t IS 'c'"},
	"trigger disabled":              {base + trigger + "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf()", base + trigger + "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf(); ALTER TABLE t DISABLE TRIGGER g"},
	"trigger always":                {base + trigger + "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf(); ALTER TABLE t ENABLE REPLICA TRIGGER g", base + trigger + "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf(); ALTER TABLE t ENABLE ALWAYS TRIGGER g"},
	"trigger comment":               {base + trigger + "CREATE TRIGGER g BEFORE INSERT ON t EXECUTE FUNCTION tf()", base + trigger + "CREATE TRIGGER g BEFORE INSERT ON t EXECUTE FUNCTION tf(); COMMENT ON TRIGGER g ON t IS 'x'"},
	"trigger transition tables":     {base + trigger, base + trigger + "CREATE TRIGGER g AFTER UPDATE ON t REFERENCING OLD TABLE AS o NEW TABLE AS w FOR EACH STATEMENT EXECUTE FUNCTION tf()"},
	"trigger on a moved column":     {"CREATE TABLE t (n int); " + trigger + "CREATE TRIGGER g BEFORE UPDATE OF n ON t FOR EACH ROW EXECUTE FUNCTION tf(); COMMENT ON TRIGGER g ON t IS 'x'", "CREATE TABLE t (n bigint); " + trigger + "CREATE TRIGGER g BEFORE UPDATE OF n ON t FOR EACH ROW EXECUTE FUNCTION tf(); COMMENT ON TRIGGER g ON t IS 'x'"},
	"trigger and its table":         {"", base + trigger + "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf()"},
	"constraint trigger":            {base + trigger, base + trigger + "CREATE CONSTRAINT TRIGGER g AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tf()"},
	"constraint trigger deferrable": {base + trigger + "CREATE CONSTRAINT TRIGGER g AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf()", base + trigger + "CREATE CONSTRAINT TRIGGER g AFTER INSERT ON t DEFERRABLE FOR EACH ROW EXECUTE FUNCTION tf(); ALTER TABLE t DISABLE TRIGGER g"},
	"trigger to constraint trigger": {base + trigger + "CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf()", base + trigger + "CREATE CONSTRAINT TRIGGER g AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf()"},
	"trigger calls a late function": {base + view + trigger, base + view + trigger + "CREATE FUNCTION lf(x int) RETURNS bool LANGUAGE sql BEGIN ATOMIC SELECT count(*) > x AS b FROM v; END; CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW WHEN (lf(new.n)) EXECUTE FUNCTION tf()"},

	"rule":                      {base, base + "CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING"},
	"rule differs":              {base + "CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING; COMMENT ON RULE r ON t IS 'x'", base + "CREATE RULE r AS ON DELETE TO t WHERE old.n > 0 DO INSTEAD NOTHING; COMMENT ON RULE r ON t IS 'x'"},
	"rule disabled":             {base + "CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING", base + "CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING; ALTER TABLE t DISABLE RULE r"},
	"rule with two statements":  {base, base + "CREATE TABLE log (n int); CREATE RULE r AS ON UPDATE TO t DO ALSO (INSERT INTO log VALUES (new.n); INSERT INTO log VALUES (old.n))"},
	"rule over a dropped table": {base + "CREATE TABLE a (n int); CREATE RULE r AS ON UPDATE TO t DO ALSO INSERT INTO a VALUES (new.n)", base},
	"rules in a circle":         {"", "CREATE TABLE a (n int); CREATE TABLE b (n int); CREATE RULE r AS ON UPDATE TO a DO ALSO INSERT INTO b VALUES (new.n); CREATE RULE r AS ON UPDATE TO b DO ALSO INSERT INTO a VALUES (new.n)"},

	"row security":              {base, base + "ALTER TABLE t ENABLE ROW LEVEL SECURITY"},
	"row security forced":       {base + "ALTER TABLE t ENABLE ROW LEVEL SECURITY", base + "ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"},
	"row security forced alone": {base, base + "ALTER TABLE t FORCE ROW LEVEL SECURITY"},
	"policy":                    {base, base + "CREATE POLICY p ON t USING (n > 0) WITH CHECK (n > 1); COMMENT ON POLICY p ON t IS 'x'"},
	"policy without anything":   {base, base + "CREATE POLICY p ON t"},
	"policy condition":          {base + "CREATE POLICY p ON t FOR SELECT USING (n > 0)", base + "CREATE POLICY p ON t FOR SELECT USING (n > 1)"},
	"policy check gained":       {base + "CREATE POLICY p ON t USING (n > 0)", base + "CREATE POLICY p ON t USING (n > 0) WITH CHECK (n > 5)"},
	"policy command":            {base + "CREATE POLICY p ON t FOR SELECT USING (n > 0)", base + "CREATE POLICY p ON t FOR DELETE USING (n > 0)"},
	"policy restrictive":        {base + "CREATE POLICY p ON t USING (n > 0)", base + "CREATE POLICY p ON t AS RESTRICTIVE USING (n > 0)"},
	"policy roles":              {base + "CREATE POLICY p ON t TO pg_monitor, pg_read_all_stats USING (n > 0)", base + "CREATE POLICY p ON t TO pg_read_all_stats, pg_signal_backend, current_user USING (n > 0)"},
	"policy over another table": {base, base + "CREATE TABLE a (n int); CREATE POLICY p ON t USING (n IN (SELECT a.n FROM a))"},
	"policies in a circle":      {"", base + "CREATE TABLE a (n int); CREATE POLICY p ON t USING (n IN (SELECT a.n FROM a)); CREATE POLICY p ON a USING (n IN (SELECT t.n FROM t))"},
	"policy calls a function":   {base + fn + "CREATE POLICY p ON t USING (f(n) > 0)", base + fnText + "CREATE POLICY p ON t USING (f(n) > 0)"},
	"policy over a moved column": {
		"CREATE TABLE t (n int); CREATE POLICY p ON t USING (n > 0); ALTER TABLE t ENABLE ROW LEVEL SECURITY",
		"CREATE TABLE t (n bigint); CREATE POLICY p ON t USING (n > 0); ALTER TABLE t ENABLE ROW LEVEL SECURITY",
	},

	"statistics":             {base, base + "CREATE STATISTICS st ON id, n FROM t; COMMENT ON STATISTICS st IS 'x'"},
	"statistics kinds":       {base + "CREATE STATISTICS st (ndistinct) ON id, n FROM t", base + "CREATE STATISTICS st (dependencies, mcv) ON id, n FROM t"},
	"statistics target":      {base + "CREATE STATISTICS st ON id, n FROM t", base + "CREATE STATISTICS st ON id, n FROM t; ALTER STATISTICS st SET STATISTICS 50"},
	"statistics expressions": {base + "CREATE STATISTICS st ON id, (n + 1) FROM t", base + "CREATE STATISTICS st ON (id + 2), (n + 1) FROM t"},
	"statistics of a moved column": {
		"CREATE TABLE t (a int, b int); CREATE STATISTICS st ON a, b FROM t; ALTER STATISTICS st SET STATISTICS 50",
		"CREATE TABLE t (a bigint, b int); CREATE STATISTICS st ON a, b FROM t; ALTER STATISTICS st SET STATISTICS 50",
	},
	"statistics of a dropped column": {"CREATE TABLE t (a int, b int, c int); CREATE STATISTICS st ON a, b FROM t", "CREATE TABLE t (a int, c int); CREATE STATISTICS st ON a, c FROM t"},
}

// everything is a table whose every kind of part calls f.
const everything = `CREATE TABLE t (id int NOT NULL, n int DEFAULT f(1), g bigint GENERATED ALWAYS AS (f(n)) STORED, k bigint, CONSTRAINT c CHECK (f(n) > 0));
CREATE INDEX i ON t (f(id)) WHERE f(n) > 1; CREATE UNIQUE INDEX gi ON t (g); CREATE VIEW v AS SELECT g, f(n) AS fn FROM t; CREATE MATERIALIZED VIEW m AS SELECT * FROM v;
CREATE INDEX mi ON m (f(g::int)); CREATE POLICY p ON t USING (f(n) > 2); CREATE STATISTICS st ON (f(n)), id FROM t; CREATE VIEW d AS SELECT id FROM t; ALTER VIEW d ALTER id SET DEFAULT f(3);
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'begin return new; end'; CREATE TRIGGER tg BEFORE UPDATE ON t FOR EACH ROW WHEN (f(new.n) > 0) EXECUTE FUNCTION tf();
CREATE RULE r AS ON DELETE TO d DO INSTEAD UPDATE t SET n = f(old.id);`

// late are functions that stand on a table and that other tables can use.
const late = `CREATE TABLE base (b bigint NOT NULL); CREATE VIEW bv AS SELECT b FROM base; CREATE FUNCTION o() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(b) AS m FROM bv; END;
CREATE FUNCTION p(x bigint) RETURNS bigint IMMUTABLE LANGUAGE sql BEGIN ATOMIC SELECT x + count(base.b) - count(base.b) + 1 AS m FROM base; END; `

// lateOverNumeric is late, over another type of column.
var lateOverNumeric = strings.Replace(strings.Replace(late, "b bigint NOT NULL", "b numeric NOT NULL", 1), "max(b)", "max(b)::bigint", 1)

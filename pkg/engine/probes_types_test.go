package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/frame"
)

// typeProbes are converged in both directions.
var typeProbes = map[string]probe{
	"collation":                      {"", `CREATE COLLATION co (provider = libc, locale = 'C')`},
	"collation comment":              {`CREATE COLLATION co (provider = libc, locale = 'C')`, `CREATE COLLATION co (provider = libc, locale = 'C'); COMMENT ON COLLATION co IS 'x'`},
	"collation locale":               {`CREATE COLLATION co (provider = libc, locale = 'C')`, `CREATE COLLATION co (provider = libc, lc_collate = 'C', lc_ctype = 'POSIX')`},
	"collation used":                 {"", `CREATE COLLATION "Co o" (provider = libc, locale = 'C'); CREATE DOMAIN d AS text COLLATE "Co o"; CREATE TABLE t (a text COLLATE "Co o", b d); CREATE INDEX i ON t (b COLLATE "Co o")`},
	"domain":                         {"", "CREATE DOMAIN d AS int"},
	"domain with everything":         {"", `CREATE DOMAIN d AS varchar(10) COLLATE "C" DEFAULT 'a' NOT NULL CONSTRAINT "c '1" CHECK (VALUE <> '') CHECK (length(VALUE) > 0); COMMENT ON DOMAIN d IS 'x'; COMMENT ON CONSTRAINT "c '1" ON DOMAIN d IS 'y'`},
	"domain comment":                 {"CREATE DOMAIN d AS int", "CREATE DOMAIN d AS int; COMMENT ON DOMAIN d IS 'x'"},
	"domain default":                 {"CREATE DOMAIN d AS int", "CREATE DOMAIN d AS int DEFAULT 5"},
	"domain default changed":         {"CREATE DOMAIN d AS int DEFAULT 4", "CREATE DOMAIN d AS int DEFAULT 5"},
	"domain not null":                {"CREATE DOMAIN d AS int; CREATE TABLE t (a d)", "CREATE DOMAIN d AS int NOT NULL; CREATE TABLE t (a d)"},
	"domain check":                   {"CREATE DOMAIN d AS int; CREATE TABLE t (a d)", "CREATE DOMAIN d AS int CONSTRAINT k CHECK (VALUE > 0); CREATE TABLE t (a d)"},
	"domain check changed":           {"CREATE DOMAIN d AS int CONSTRAINT k CHECK (VALUE > 0); COMMENT ON CONSTRAINT k ON DOMAIN d IS 'x'", "CREATE DOMAIN d AS int CONSTRAINT k CHECK (VALUE > 1); COMMENT ON CONSTRAINT k ON DOMAIN d IS 'x'"},
	"domain check not valid":         {"CREATE DOMAIN d AS int; ALTER DOMAIN d ADD CONSTRAINT k CHECK (VALUE > 0) NOT VALID; COMMENT ON CONSTRAINT k ON DOMAIN d IS 'x'", "CREATE DOMAIN d AS int CONSTRAINT k CHECK (VALUE > 0); COMMENT ON CONSTRAINT k ON DOMAIN d IS 'x'"},
	"domain check comment":           {"CREATE DOMAIN d AS int CONSTRAINT k CHECK (VALUE > 0)", "CREATE DOMAIN d AS int CONSTRAINT k CHECK (VALUE > 0); COMMENT ON CONSTRAINT k ON DOMAIN d IS 'x'"},
	"domain type, unused":            {"CREATE DOMAIN d AS int CHECK (VALUE > 0)", "CREATE DOMAIN d AS text CHECK (VALUE <> '')"},
	"domain over domain over enum":   {"", "CREATE TYPE zz AS ENUM ('a'); CREATE DOMAIN z AS zz DEFAULT 'a'; CREATE DOMAIN a AS z CHECK (VALUE::zz = 'a'::zz); CREATE TABLE t (x a)"},
	"domain becomes enum":            {"CREATE DOMAIN x AS text; CREATE DOMAIN y AS x", "CREATE TYPE x AS ENUM ('a')"},
	"domain name taken by table":     {"CREATE DOMAIN x AS text; CREATE TABLE t (a int, b x)", "CREATE TABLE t (a int); CREATE TABLE x (b int)"},
	"text to domain":                 {base, "CREATE DOMAIN d AS text; CREATE TABLE t (id int NOT NULL, n int, s d, v varchar(20)); "},
	"int to domain array":            {"CREATE TABLE t (n int[])", "CREATE DOMAIN d AS int; CREATE TABLE t (n d[])"},
	"domain to other domain":         {"CREATE DOMAIN d AS int DEFAULT 1; CREATE TABLE t (n d DEFAULT 2)", "CREATE DOMAIN e AS bigint DEFAULT 1; CREATE TABLE t (n e DEFAULT 3)"},
	"storage of a domain":            {"CREATE DOMAIN d AS numeric; CREATE TABLE t (n d)", "CREATE DOMAIN d AS numeric; CREATE TABLE t (n d); ALTER TABLE t ALTER n SET STORAGE EXTERNAL"},
	"composite type":                 {"", `CREATE TYPE y AS (a int, "b b" text COLLATE "C", c numeric(4,2)); COMMENT ON TYPE y IS 'x'; COMMENT ON COLUMN y."b b" IS 'z'`},
	"composite without attributes":   {"", "CREATE TYPE y AS ()"},
	"composite comment":              {"CREATE TYPE y AS (a int)", "CREATE TYPE y AS (a int); COMMENT ON TYPE y IS 'x'; COMMENT ON COLUMN y.a IS 'z'"},
	"composite attribute":            {"CREATE TYPE y AS (a int, b text)", "CREATE TYPE y AS (a int, b text, c date)"},
	"composite attribute in use":     {"CREATE TYPE y AS (a int, b text); CREATE TABLE t (v y)", "CREATE TYPE y AS (a int, b text, c date); CREATE TABLE t (v y)"},
	"composite attribute type":       {"CREATE TYPE y AS (a int, b text)", `CREATE TYPE y AS (a bigint, b text COLLATE "C")`},
	"composite attribute order":      {"CREATE TYPE y AS (a int, b text)", "CREATE TYPE y AS (b text, a int)"},
	"composite of new domain":        {"CREATE TYPE y AS (a int)", "CREATE DOMAIN zd AS int; CREATE TYPE y AS (a int, b zd[])"},
	"composite in column":            {base, base + "CREATE TYPE y AS (a int); ALTER TABLE t ADD k y DEFAULT '(1)', ADD l y[]"},
	"composite of composite":         {"", "CREATE TYPE z AS (a int); CREATE TYPE a AS (z z, zs z[]); CREATE TABLE t (x a)"},
	"range type":                     {"", "CREATE TYPE y AS RANGE (subtype = int8); COMMENT ON TYPE y IS 'x'"},
	"range type with options":        {"", `CREATE TYPE y AS RANGE (subtype = text, collation = "C", subtype_opclass = text_pattern_ops, multirange_type_name = "Multi y")`},
	"range type diff":                {"CREATE TYPE y AS RANGE (subtype = float8)", "CREATE TYPE y AS RANGE (subtype = float8, subtype_diff = float8mi)"},
	"range type comment":             {"CREATE TYPE y AS RANGE (subtype = int8)", "CREATE TYPE y AS RANGE (subtype = int8); COMMENT ON TYPE y IS 'x'"},
	"range over domain and column":   {"", "CREATE DOMAIN z AS int; CREATE TYPE y AS RANGE (subtype = z); CREATE DOMAIN d AS y; CREATE TABLE t (a y, b d, c y_multirange)"},
	"types with odd names":           {"", "CREATE TYPE \"e \"\"'.\" AS ENUM ('a'); CREATE DOMAIN \"d \"\"'.\" AS \"e \"\"'.\"[]; CREATE TYPE \"c \"\"'.\" AS (\"line\nbreak\" \"d \"\"'.\"); CREATE TYPE \"select\" AS RANGE (subtype = \"e \"\"'.\"); CREATE TABLE t (x \"c \"\"'.\", y \"select\"[], z \"d \"\"'.\")"},
	"type dropped with table column": {base + "CREATE DOMAIN d AS int; ALTER TABLE t ADD k d CHECK (k > 1); CREATE INDEX i ON t (k)", base},
}

// extensionProbes share the database of all probes; each extension stands in one probe only.
var extensionProbes = map[string]probe{
	"extension":          {"", "CREATE EXTENSION citext SCHEMA {{s}}; CREATE TABLE t (a citext DEFAULT 'a'); CREATE INDEX i ON t (a)"},
	"extension requires": {"", "CREATE EXTENSION cube SCHEMA {{s}}; CREATE EXTENSION earthdistance SCHEMA {{s}}"},
	"extension comment":  {"CREATE EXTENSION pg_trgm SCHEMA {{s}}", "CREATE EXTENSION pg_trgm SCHEMA {{s}}; COMMENT ON EXTENSION pg_trgm IS 'mine'"},
	"extension opclass":  {"CREATE EXTENSION btree_gin SCHEMA {{s}}; CREATE TABLE t (a int)", "CREATE EXTENSION btree_gin SCHEMA {{s}}; CREATE TABLE t (a int); CREATE INDEX i ON t USING gin (a)"},
	"extension schema":   {"CREATE SCHEMA e; CREATE EXTENSION unaccent SCHEMA e", "CREATE SCHEMA e; CREATE EXTENSION unaccent SCHEMA {{s}}"},
}

func TestTypesRefusedByName(t *testing.T) {
	s := pgtest.Start(t)
	for name, c := range map[string]struct{ a, b, want string }{
		"domain type in use":              {"CREATE DOMAIN d AS int; CREATE TABLE t (a d)", "CREATE DOMAIN d AS bigint; CREATE TABLE t (a d)", `domain "public"."d" is declared otherwise in a way that PostgreSQL cannot change in place, and table public.t uses it`},
		"domain type in a cast":           {"CREATE DOMAIN d AS int; CREATE TABLE t (a int DEFAULT 1::d)", "CREATE DOMAIN d AS bigint; CREATE TABLE t (a int DEFAULT 1::d)", `domain "public"."d"`},
		"domain type in another type":     {"CREATE DOMAIN d AS int; CREATE TYPE y AS (a d)", "CREATE DOMAIN d AS bigint; CREATE TYPE y AS (a d)", `composite type public.y uses it`},
		"composite order in use":          {"CREATE TYPE y AS (a int, b text); CREATE TABLE t (v y[])", "CREATE TYPE y AS (b text, a int); CREATE TABLE t (v y[])", `composite type "public"."y"`},
		"composite type in use":           {"CREATE TYPE y AS (a int); CREATE DOMAIN d AS y; CREATE TABLE t (v d)", "CREATE TYPE y AS (a bigint); CREATE DOMAIN d AS y; CREATE TABLE t (v d)", `attribute "a" of composite type "public"."y" has another type and table public.t holds values of it`},
		"domain rule inside":              {"CREATE DOMAIN d AS int; CREATE DOMAIN e AS d; CREATE TYPE y AS (a e); CREATE TABLE t (v y)", "CREATE DOMAIN d AS int CHECK (VALUE > 0); CREATE DOMAIN e AS d; CREATE TYPE y AS (a e); CREATE TABLE t (v y)", `domain "public"."d" gains a rule and column "v" of table "public"."t" holds its values`},
		"range in use":                    {"CREATE TYPE y AS RANGE (subtype = int8); CREATE TABLE t (v y_multirange)", "CREATE TYPE y AS RANGE (subtype = int4); CREATE TABLE t (v y_multirange)", `range type "public"."y"`},
		"collation in use":                {"CREATE COLLATION co (locale = 'C'); CREATE TABLE t (v text COLLATE co)", "CREATE COLLATION co (lc_collate = 'C', lc_ctype = 'POSIX'); CREATE TABLE t (v text COLLATE co)", `collation "public"."co"`},
		"enum becomes domain in use":      {"CREATE TYPE x AS ENUM ('a'); CREATE TABLE t (v x)", "CREATE DOMAIN x AS text; CREATE TABLE t (v x)", `enum "public"."x" goes while something else takes its name`},
		"extension moves under its users": {"CREATE SCHEMA o; CREATE EXTENSION citext; CREATE TABLE t (v citext)", "CREATE SCHEMA o; CREATE EXTENSION citext SCHEMA o; CREATE TABLE t (v o.citext)", `extension "citext" moves to schema "o" and table "public"."t" uses its "public"."citext"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, c.a)}, declare(t, s, c.b))
			var e *engine.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, frame.CodeUnsupportedObject, e.Code)
			assert.Contains(t, e.Message, c.want)
		})
	}
}

func TestExcludedHoldsTypesBack(t *testing.T) {
	s := pgtest.Start(t)
	for name, c := range map[string]struct{ sql, want string }{
		"domain":    {"CREATE DOMAIN d AS int; CREATE TABLE keep_t (a d)", `the excluded table "public"."keep_t" uses domain "public"."d"`},
		"enum":      {"CREATE TYPE d AS ENUM ('a'); CREATE TABLE keep_t (a text CHECK (a::d = 'a'))", `the excluded table "public"."keep_t" uses enum "public"."d"`},
		"type":      {"CREATE TYPE d AS (a int); CREATE DOMAIN keep_d AS d", `the excluded domain "public"."keep_d" uses composite type "public"."d"`},
		"extension": {"CREATE EXTENSION citext; CREATE TABLE keep_t (a citext)", `the excluded table "public"."keep_t" uses "public"."citext" of extension "citext"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, c.sql), Exclude: []string{"keep_*"}}, declare(t, s, ""))
			var e *engine.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, frame.CodeUnsupportedObject, e.Code)
			assert.Contains(t, e.Message, c.want)
		})
	}
}

func TestExtensionVersionIsTheServersUnlessDeclared(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, "CREATE EXTENSION hstore VERSION '1.7'")
	opts := engine.Options{URL: target}
	result, err := engine.Plan(testContext(t), opts, declare(t, s, "CREATE EXTENSION hstore"))
	require.NoError(t, err)
	assert.True(t, result.NoChange)
	observed, err := engine.Observe(testContext(t), opts, declare(t, s, "CREATE EXTENSION hstore"))
	require.NoError(t, err)
	assert.Zero(t, observed.Total)
	doc := converge(t, opts, declare(t, s, "CREATE EXTENSION hstore VERSION '1.8'"))
	assert.Equal(t, []string{`ALTER EXTENSION "hstore" UPDATE TO '1.8'`}, statements(doc))

	_, err = engine.Plan(testContext(t), opts, declare(t, s, "CREATE EXTENSION hstore VERSION '1.7'"))
	var e *engine.Error
	require.ErrorAs(t, err, &e)
	assert.Contains(t, e.Message, `extension "hstore" is in version "1.8" and the server knows no way to "1.7"`)

	missing := declare(t, s, "CREATE EXTENSION hstore VERSION '1.8'")
	missing.Extensions[0].Name = "no such"
	_, err = engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t)}, missing)
	require.ErrorAs(t, err, &e)
	assert.Contains(t, e.Message, `extension "no such" is not available on the server`)
}

func TestDependencyChainOfTypes(t *testing.T) {
	s := pgtest.Start(t)
	doc := converge(t, engine.Options{URL: s.NewDatabase(t)}, declare(t, s, `CREATE TYPE zz AS ENUM ('a'); CREATE DOMAIN yy AS zz; CREATE TYPE xx AS (a yy); CREATE DOMAIN ww AS xx[]; CREATE TABLE t (a ww);`))
	assert.Equal(t, []string{
		`CREATE TYPE "public"."zz" AS ENUM ('a')`,
		`CREATE DOMAIN "public"."yy" AS public.zz`,
		`CREATE TYPE "public"."xx" AS ("a" public.yy)`,
		`CREATE DOMAIN "public"."ww" AS public.xx[]`,
		"CREATE TABLE \"public\".\"t\" (\n  \"a\" public.ww\n)",
	}, statements(doc))
}

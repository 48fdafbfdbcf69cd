package engine_test

import (
	"fmt"
	"maps"
	"slices"
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

// grantRoles exist on the test server for the tests of privileges.
var grantRoles = []string{"g_app", "g_reader", `we"ird; --`, "line\nbreak", "Ünï'çödé", "PUBLIC"}

const grantPassword = "grant-pass-4402"

// makeGrantRoles makes them, g_app with a right to log in.
func makeGrantRoles(t testing.TB, s *pgtest.Server) {
	t.Helper()
	for _, role := range grantRoles {
		name := `"` + strings.ReplaceAll(role, `"`, `""`) + `"`
		s.Exec(t, s.URL("postgres"), "DO $do$ BEGIN CREATE ROLE "+name+"; EXCEPTION WHEN duplicate_object THEN NULL; END $do$")
	}
	s.Exec(t, s.URL("postgres"), "ALTER ROLE g_app LOGIN PASSWORD '"+grantPassword+"'")
}

// privilegesControl holds a grant of every class, so that both sides manage all of them.
const privilegesControl = `CREATE SCHEMA ctl; GRANT USAGE ON SCHEMA ctl TO g_reader; CREATE TABLE ctl.t (a int); GRANT SELECT ON ctl.t TO g_reader; CREATE SEQUENCE ctl.q; GRANT USAGE ON SEQUENCE ctl.q TO g_reader;
CREATE FUNCTION ctl.f() RETURNS int LANGUAGE sql AS 'SELECT 1'; GRANT EXECUTE ON FUNCTION ctl.f() TO g_reader; CREATE DOMAIN ctl.d AS int; GRANT USAGE ON DOMAIN ctl.d TO g_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA ctl GRANT SELECT ON TABLES TO g_reader`

const (
	grantView  = base + "CREATE VIEW v AS SELECT id, n FROM t; "
	grantViews = "GRANT SELECT ON v TO g_app; GRANT UPDATE (n) ON v TO g_app WITH GRANT OPTION; "
	grantAgg   = "CREATE AGGREGATE ag(int) (SFUNC = int4pl, STYPE = int); "
	identity   = "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY); "
)

// privilegeProbes differ in privileges. {{s}} is a schema of the probe's own, which is the search path.
var privilegeProbes = map[string]probe{
	"schema":                             {base, base + "GRANT USAGE, CREATE ON SCHEMA {{s}} TO g_app"},
	"schema to everybody":                {base, base + "GRANT USAGE ON SCHEMA {{s}} TO PUBLIC"},
	"table":                              {base, base + "GRANT SELECT, INSERT ON t TO g_app"},
	"table to everybody":                 {base, base + "GRANT SELECT ON t TO PUBLIC"},
	"table to a role called PUBLIC":      {base + "GRANT SELECT ON t TO PUBLIC", base + `GRANT SELECT ON t TO "PUBLIC"`},
	"table all":                          {base + "GRANT SELECT ON t TO g_app", base + "GRANT ALL ON t TO g_app"},
	"table grant option":                 {base + "GRANT SELECT ON t TO g_app", base + "GRANT SELECT ON t TO g_app WITH GRANT OPTION"},
	"table grant option and more":        {base + "GRANT SELECT, UPDATE ON t TO g_app WITH GRANT OPTION", base + "GRANT SELECT, DELETE ON t TO g_app"},
	"table explicit default":             {base, base + "GRANT ALL ON t TO CURRENT_USER; GRANT SELECT ON t TO g_app"},
	"table owner":                        {base + "ALTER TABLE t OWNER TO g_app", base + "ALTER TABLE t OWNER TO g_app; GRANT SELECT ON t TO g_reader"},
	"hostile roles":                      {base, base + `GRANT SELECT ON t TO "we""ird; --", "line` + "\n" + `break"; GRANT INSERT, UPDATE (n) ON t TO "Ünï'çödé" WITH GRANT OPTION`},
	"hostile object":                     {`CREATE TABLE "it's ""x"" y" ("a ""b" int)`, `CREATE TABLE "it's ""x"" y" ("a ""b" int); GRANT SELECT ("a ""b") ON "it's ""x"" y" TO g_app`},
	"new table":                          {"", base + "GRANT SELECT, UPDATE ON t TO g_app; GRANT INSERT (id, n), UPDATE (n) ON t TO g_reader WITH GRANT OPTION"},
	"predefined role":                    {base, base + "GRANT SELECT ON t TO pg_monitor"},
	"column":                             {base, base + "GRANT SELECT (id, n), UPDATE (n) ON t TO g_app"},
	"column option":                      {base + "GRANT SELECT (n) ON t TO g_app", base + "GRANT SELECT (n) ON t TO g_app WITH GRANT OPTION"},
	"column under its table":             {base + "GRANT SELECT ON t TO g_app; GRANT SELECT (n) ON t TO g_app", base + "GRANT SELECT (n) ON t TO g_app"},
	"column option under its table":      {base + "GRANT SELECT ON t TO g_app WITH GRANT OPTION; GRANT SELECT (n) ON t TO g_app WITH GRANT OPTION", base + "GRANT SELECT ON t TO g_app; GRANT SELECT (n) ON t TO g_app WITH GRANT OPTION"},
	"column that goes":                   {base + "ALTER TABLE t ADD k int; GRANT SELECT (k, n) ON t TO g_app", base + "GRANT SELECT (n) ON t TO g_app"},
	"column that is built again":         {base + "ALTER TABLE t ADD g int GENERATED ALWAYS AS (n * 2) STORED; GRANT SELECT (g) ON t TO g_app", base + "ALTER TABLE t ADD g int GENERATED ALWAYS AS (n * 3) STORED; GRANT SELECT (g) ON t TO g_app"},
	"view":                               {grantView, grantView + grantViews},
	"view built again":                   {"CREATE TABLE t (id int, n int); CREATE VIEW v AS SELECT id, n FROM t; " + grantViews, "CREATE TABLE t (id int, n text); CREATE VIEW v AS SELECT id, n FROM t; " + grantViews},
	"view built again with fewer":        {"CREATE TABLE t (id int, n int); CREATE VIEW v AS SELECT id, n FROM t; " + grantViews, "CREATE TABLE t (id int, n text); CREATE VIEW v AS SELECT id, n FROM t; GRANT SELECT ON v TO g_reader"},
	"materialized view":                  {base + "CREATE MATERIALIZED VIEW m AS SELECT id FROM t", base + "CREATE MATERIALIZED VIEW m AS SELECT id FROM t; GRANT SELECT ON m TO g_app"},
	"materialized view built again":      {base + "CREATE MATERIALIZED VIEW m AS SELECT id FROM t; GRANT SELECT ON m TO g_app", base + "CREATE MATERIALIZED VIEW m AS SELECT id FROM t WHERE id > 1; GRANT SELECT ON m TO g_app"},
	"partition":                          {"CREATE TABLE t (a int) PARTITION BY LIST (a); CREATE TABLE u PARTITION OF t DEFAULT", "CREATE TABLE t (a int) PARTITION BY LIST (a); CREATE TABLE u PARTITION OF t DEFAULT; GRANT SELECT ON u TO g_app; GRANT INSERT ON t TO g_app"},
	"sequence":                           {"CREATE SEQUENCE q", "CREATE SEQUENCE q; GRANT USAGE, SELECT ON SEQUENCE q TO g_app"},
	"sequence of a serial":               {"CREATE TABLE t (id serial)", "CREATE TABLE t (id serial); GRANT ALL ON ALL SEQUENCES IN SCHEMA {{s}} TO g_app"},
	"sequence of an identity":            {identity, identity + "GRANT USAGE ON ALL SEQUENCES IN SCHEMA {{s}} TO g_app"},
	"identity comes":                     {"CREATE TABLE t (id int NOT NULL)", identity + "GRANT USAGE ON ALL SEQUENCES IN SCHEMA {{s}} TO g_app"},
	"identity with a name of its own":    {"CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME {{s}}.other))", "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME {{s}}.another)); GRANT USAGE ON ALL SEQUENCES IN SCHEMA {{s}} TO g_app"},
	"identity of a long table":           {"", `CREATE TABLE "sixty-three bytes long, which is the most that a name can have." ("another long name of a column, ünï çödé and more" int GENERATED ALWAYS AS IDENTITY); GRANT USAGE ON ALL SEQUENCES IN SCHEMA {{s}} TO g_app`},
	"function":                           {fn, fn + "GRANT EXECUTE ON FUNCTION f(int) TO g_app"},
	"function kept from everybody":       {fn, fn + "REVOKE ALL ON FUNCTION f(int) FROM PUBLIC"},
	"function kept from all but one":     {fn, fn + "REVOKE ALL ON FUNCTION f(int) FROM PUBLIC; GRANT EXECUTE ON FUNCTION f(int) TO g_app WITH GRANT OPTION"},
	"function built again":               {fn + "REVOKE ALL ON FUNCTION f(int) FROM PUBLIC", fnText + "REVOKE ALL ON FUNCTION f(int) FROM PUBLIC"},
	"function replaced":                  {fn + "REVOKE ALL ON FUNCTION f(int) FROM PUBLIC", "CREATE FUNCTION f(a int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT a + 2'; GRANT EXECUTE ON FUNCTION f(int) TO g_app"},
	"function overloads":                 {fn + "CREATE FUNCTION f(a text, VARIADIC b int[] DEFAULT '{}', OUT c int) LANGUAGE sql AS 'SELECT 1'", fn + "CREATE FUNCTION f(a text, VARIADIC b int[] DEFAULT '{}', OUT c int) LANGUAGE sql AS 'SELECT 1'; GRANT EXECUTE ON FUNCTION f(text, int[]) TO g_app"},
	"procedure":                          {"CREATE PROCEDURE o(a int, INOUT b int) LANGUAGE sql AS 'SELECT 1'", "CREATE PROCEDURE o(a int, INOUT b int) LANGUAGE sql AS 'SELECT 1'; REVOKE EXECUTE ON PROCEDURE o FROM PUBLIC; GRANT EXECUTE ON PROCEDURE o TO g_app"},
	"aggregate":                          {grantAgg, grantAgg + "REVOKE EXECUTE ON FUNCTION ag(int) FROM PUBLIC; GRANT EXECUTE ON FUNCTION ag(int) TO g_app"},
	"aggregate of everything":            {"CREATE AGGREGATE ag(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0')", "CREATE AGGREGATE ag(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0'); GRANT EXECUTE ON FUNCTION ag() TO g_app"},
	"aggregate sorted":                   {"CREATE AGGREGATE ag(float8 ORDER BY anyelement) (SFUNC = ordered_set_transition, STYPE = internal, FINALFUNC = percentile_disc_final, FINALFUNC_EXTRA)", "CREATE AGGREGATE ag(float8 ORDER BY anyelement) (SFUNC = ordered_set_transition, STYPE = internal, FINALFUNC = percentile_disc_final, FINALFUNC_EXTRA); GRANT EXECUTE ON FUNCTION ag(float8, anyelement) TO g_app"},
	"window function":                    {"CREATE FUNCTION o() RETURNS int8 LANGUAGE internal WINDOW AS 'window_row_number'", "CREATE FUNCTION o() RETURNS int8 LANGUAGE internal WINDOW AS 'window_row_number'; GRANT EXECUTE ON FUNCTION o() TO g_app"},
	"enum":                               {"CREATE TYPE e AS ENUM ('a')", "CREATE TYPE e AS ENUM ('a'); GRANT USAGE ON TYPE e TO g_app; REVOKE USAGE ON TYPE e FROM PUBLIC"},
	"domain":                             {"CREATE DOMAIN d AS int", "CREATE DOMAIN d AS int; GRANT USAGE ON DOMAIN d TO g_app WITH GRANT OPTION"},
	"domain built again":                 {"CREATE DOMAIN d AS int; GRANT USAGE ON DOMAIN d TO g_app", "CREATE DOMAIN d AS bigint; GRANT USAGE ON DOMAIN d TO g_app"},
	"composite":                          {"CREATE TYPE y AS (a int)", "CREATE TYPE y AS (a int); REVOKE USAGE ON TYPE y FROM PUBLIC"},
	"range":                              {"CREATE TYPE r AS RANGE (SUBTYPE = float8)", "CREATE TYPE r AS RANGE (SUBTYPE = float8); GRANT USAGE ON TYPE r TO g_app"},
	"row type":                           {base, base + "GRANT USAGE ON TYPE t TO g_app"},
	"row type of a view":                 {grantView, grantView + "REVOKE USAGE ON TYPE v FROM PUBLIC"},
	"new everything":                     {"", base + fn + grantAgg + "CREATE SEQUENCE q; CREATE TYPE e AS ENUM ('a'); CREATE VIEW v AS SELECT id FROM t; GRANT ALL ON t, v TO g_app; GRANT ALL ON SEQUENCE q TO g_app; GRANT ALL ON FUNCTION f(int), ag(int) TO g_app; GRANT ALL ON TYPE e TO g_app; GRANT ALL ON SCHEMA {{s}} TO g_app; ALTER DEFAULT PRIVILEGES IN SCHEMA {{s}} GRANT ALL ON TABLES TO g_app"},
	"default privileges":                 {base, base + "ALTER DEFAULT PRIVILEGES IN SCHEMA {{s}} GRANT SELECT ON TABLES TO g_app; ALTER DEFAULT PRIVILEGES IN SCHEMA {{s}} GRANT USAGE ON SEQUENCES TO PUBLIC"},
	"default privileges option":          {base + "ALTER DEFAULT PRIVILEGES IN SCHEMA {{s}} GRANT SELECT ON TABLES TO g_app", base + "ALTER DEFAULT PRIVILEGES IN SCHEMA {{s}} GRANT SELECT, INSERT ON TABLES TO g_app WITH GRANT OPTION; ALTER DEFAULT PRIVILEGES IN SCHEMA {{s}} GRANT EXECUTE ON FUNCTIONS TO g_app; ALTER DEFAULT PRIVILEGES IN SCHEMA {{s}} GRANT USAGE ON TYPES TO g_reader"},
	"default privileges of another role": {base + "ALTER DEFAULT PRIVILEGES FOR ROLE g_app IN SCHEMA {{s}} GRANT SELECT ON TABLES TO g_reader", base + "ALTER DEFAULT PRIVILEGES FOR ROLE g_app IN SCHEMA {{s}} GRANT UPDATE ON TABLES TO g_reader"},
	"default privileges on new objects":  {base + "ALTER DEFAULT PRIVILEGES IN SCHEMA {{s}} GRANT SELECT, UPDATE ON TABLES TO g_app; ALTER DEFAULT PRIVILEGES IN SCHEMA {{s}} GRANT USAGE ON SEQUENCES TO g_app", base + identity2 + "ALTER DEFAULT PRIVILEGES IN SCHEMA {{s}} GRANT SELECT ON TABLES TO g_app; CREATE TABLE w (a int)"},
}

const identity2 = "CREATE TABLE u (id int GENERATED ALWAYS AS IDENTITY); GRANT INSERT ON u TO g_app; "

func TestPrivilegesConvergeBothWays(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	probes := maps.Clone(privilegeProbes)
	if s.Major() >= 17 {
		probes["maintain"] = probe{base, base + "GRANT MAINTAIN ON t TO g_app"}
	} else {
		probes["multirange type"] = probe{"CREATE TYPE r AS RANGE (SUBTYPE = float8, MULTIRANGE_TYPE_NAME = mr)", "CREATE TYPE r AS RANGE (SUBTYPE = float8, MULTIRANGE_TYPE_NAME = mr); GRANT USAGE ON TYPE mr TO g_app"}
	}
	a, b := []string{privilegesControl}, []string{privilegesControl}
	names := slices.Sorted(maps.Keys(probes))
	for i, name := range names {
		schema := fmt.Sprintf("probe_%d", i)
		enter := fmt.Sprintf("CREATE SCHEMA %s; SET search_path = %s", schema, schema)
		here := strings.NewReplacer("{{s}}", schema)
		a, b = append(a, enter, here.Replace(probes[name].a)), append(b, enter, here.Replace(probes[name].b))
	}
	urls := []string{s.NewDatabase(t, a...), s.NewDatabase(t, b...)}
	models := []*model.Database{inspectPrivileges(t, urls[0]), inspectPrivileges(t, urls[1])}
	for i, url := range urls {
		want := models[1-i]
		observed, err := engine.Observe(testContext(t), engine.Options{URL: url}, want)
		require.NoError(t, err)
		assert.True(t, slices.ContainsFunc(observed.Findings, func(f frame.Finding) bool { return f.Category == "roles_modified" && f.Severity == "warning" }))
		doc := converge(t, engine.Options{URL: url}, want)
		for j, name := range names {
			assert.True(t, slices.ContainsFunc(doc.Statements, func(st plan.Statement) bool {
				return strings.Contains(strings.ReplaceAll(st.SQL, `"`, "")+" ", fmt.Sprintf("probe_%d.", j)) || strings.Contains(strings.ReplaceAll(st.SQL, `"`, "")+" ", fmt.Sprintf("probe_%d ", j))
			}), "%s: nothing planned", name)
		}
		after, err := engine.Observe(testContext(t), engine.Options{URL: url}, want)
		require.NoError(t, err)
		assert.Zero(t, after.Total)
		got := inspectPrivileges(t, url)
		assert.Equal(t, want.Grants, got.Grants)
		assert.Equal(t, want.DefaultPrivileges, got.DefaultPrivileges)
	}
}

func inspectPrivileges(t testing.TB, url string) *model.Database {
	t.Helper()
	db, err := engine.InspectPrivileges(testContext(t), url)
	require.NoError(t, err)
	return db
}

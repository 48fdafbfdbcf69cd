package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	declarations "github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

const byHand = base + fn + `GRANT SELECT ON t TO g_app; GRANT UPDATE (n) ON t TO g_reader; REVOKE ALL ON FUNCTION f(int) FROM PUBLIC; GRANT CREATE ON SCHEMA public TO g_app;
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO g_reader`

// TestPrivilegesOfSilentDeclarationsAreLeftAlone: who declares no privileges loses none, and has the artifacts and fingerprints that were.
func TestPrivilegesOfSilentDeclarationsAreLeftAlone(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	url := s.NewDatabase(t, byHand)
	desired := declare(t, s, base+fn)
	data, err := model.Encode(desired)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "grant")
	assert.NotContains(t, string(data), "privilege")
	result, err := engine.Plan(testContext(t), engine.Options{URL: url}, desired)
	require.NoError(t, err)
	assert.True(t, result.NoChange)
	assert.Equal(t, result.From, model.Fingerprint(desired))
	observed, err := engine.Observe(testContext(t), engine.Options{URL: url}, desired)
	require.NoError(t, err)
	assert.Zero(t, observed.Total)
}

// TestPrivilegesAreManagedByClass: a declared grant on one table speaks of all tables, and of nothing else.
func TestPrivilegesAreManagedByClass(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	url := s.NewDatabase(t, byHand)
	before := inspectPrivileges(t, url)
	doc := converge(t, engine.Options{URL: url}, declare(t, s, base+fn+"CREATE TABLE other (id int); GRANT SELECT ON other TO g_app"))
	assert.Equal(t, []string{"table"}, doc.ManagedPrivileges)
	assert.Empty(t, doc.ManagedDefaults)
	assert.Equal(t, []string{
		`CREATE TABLE "public"."other" (` + "\n" + `  "id" integer` + "\n)",
		`REVOKE SELECT ON TABLE "public"."other" FROM "g_reader"`, // the default privileges of the database gave it
		`REVOKE SELECT ON TABLE "public"."t" FROM "g_app"`,
		`REVOKE UPDATE ("n") ON TABLE "public"."t" FROM "g_reader"`,
		`GRANT SELECT ON TABLE "public"."other" TO "g_app"`,
	}, statements(doc))
	assert.False(t, doc.Destructive)
	for _, st := range doc.Statements[1:] {
		assert.Equal(t, plan.SeverityWarning, st.Severity)
		assert.Equal(t, plan.SeverityWarning, plan.Classify(model.Postgres, st.SQL).Severity)
	}
	after := inspectPrivileges(t, url)
	rest := model.Managed{Classes: []string{"function", "schema"}, Roles: []string{pgtest.User}}
	assert.Equal(t, before.WithPrivileges(rest).Grants, after.WithPrivileges(rest).Grants)
	assert.Equal(t, before.DefaultPrivileges, after.DefaultPrivileges)
}

func refused(t *testing.T, opts engine.Options, desired *model.Database, want ...string) {
	t.Helper()
	before := inspectPrivileges(t, opts.URL)
	_, err := engine.Plan(testContext(t), opts, desired)
	e := refusal(t, err, frame.CodeUnsupportedObject)
	for _, w := range want {
		assert.Contains(t, e.Message, w)
	}
	assert.Equal(t, before, inspectPrivileges(t, opts.URL))
}

func TestPrivilegesOfMissingRolesAreRefused(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	url := s.NewDatabase(t, base)
	for name, sql := range map[string]string{
		"grant":              base + "GRANT SELECT ON t TO g_app",
		"default privileges": base + "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO g_app",
		"creator":            base + "ALTER DEFAULT PRIVILEGES FOR ROLE g_app GRANT SELECT ON TABLES TO g_reader",
	} {
		t.Run(name, func(t *testing.T) {
			desired := declare(t, s, sql)
			data, err := model.Encode(desired)
			require.NoError(t, err)
			desired, err = model.Decode([]byte(strings.ReplaceAll(string(data), "g_app", "g_gone")))
			require.NoError(t, err)
			refused(t, engine.Options{URL: url}, desired, `role "g_gone"`, "create it there")
		})
	}
}

func TestPrivilegesThatOthersGrantedAreRefused(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	given := base + "GRANT SELECT ON t TO g_app WITH GRANT OPTION; SET ROLE g_app; GRANT SELECT ON t TO g_reader; RESET ROLE"
	url := s.NewDatabase(t, given)
	control := "CREATE TABLE other (id int); GRANT SELECT ON other TO g_app; "
	refused(t, engine.Options{URL: url}, declare(t, s, base+control+"GRANT SELECT ON t TO g_app WITH GRANT OPTION"), `SELECT on table "public.t" was granted to "g_reader" by "g_app"`, `revoke it as "g_app"`)
	refused(t, engine.Options{URL: url}, declare(t, s, base+control+"GRANT SELECT ON t TO g_app; GRANT SELECT ON t TO g_reader"), `taken from role "g_app", which granted it on to "g_reader"`)
	converge(t, engine.Options{URL: url}, declare(t, s, base+control+"GRANT SELECT ON t TO g_app WITH GRANT OPTION; GRANT SELECT ON t TO g_reader WITH GRANT OPTION"))
}

func TestPrivilegesOfForeignOwners(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	url := s.NewDatabase(t, base+"GRANT USAGE ON SCHEMA public TO g_app")
	asApp := strings.Replace(url, "postgres:"+pgtest.Password, "g_app:"+grantPassword, 1)
	t.Run("only the owner grants", func(t *testing.T) {
		refused(t, engine.Options{URL: asApp}, declare(t, s, base+"GRANT SELECT ON t TO g_reader"), `only its owner "postgres" can change them`)
	})
	t.Run("only the creator has default privileges", func(t *testing.T) {
		refused(t, engine.Options{URL: asApp}, declare(t, s, base+"ALTER DEFAULT PRIVILEGES FOR ROLE g_reader GRANT SELECT ON TABLES TO g_app"), `default privileges of role "g_reader"`)
	})
	t.Run("an owner without more", func(t *testing.T) {
		url := s.NewDatabase(t, base+"ALTER TABLE t OWNER TO g_app; GRANT ALL ON SCHEMA public TO g_app; GRANT DELETE ON t TO g_reader")
		desired := declare(t, s, base+"GRANT SELECT ON t TO g_reader; GRANT INSERT ON t TO g_app; CREATE TABLE u (id int); GRANT SELECT ON u TO g_reader; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO g_reader")
		doc := converge(t, engine.Options{URL: strings.Replace(url, "postgres:"+pgtest.Password, "g_app:"+grantPassword, 1)}, desired)
		assert.Equal(t, []string{"g_app"}, doc.ManagedDefaults)
		assert.NotContains(t, strings.Join(statements(doc), ";"), `TO "g_app"`, "an owner has everything by owning")
	})
	t.Run("what is built again changes hands", func(t *testing.T) {
		v := "CREATE VIEW v AS SELECT n FROM t; "
		url := s.NewDatabase(t, "CREATE TABLE t (n int); "+v+"ALTER VIEW v OWNER TO g_app; GRANT SELECT ON t TO g_app")
		doc := converge(t, engine.Options{URL: url}, declare(t, s, "CREATE TABLE t (n text); "+v+"GRANT SELECT ON v, t TO g_app"))
		assert.Contains(t, statements(doc), `GRANT SELECT ON TABLE "public"."v" TO "g_app"`)
	})
}

func TestPrivilegesFollowRenamesAndScope(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	t.Run("renames", func(t *testing.T) {
		url := s.NewDatabase(t, "CREATE TABLE old (a int GENERATED ALWAYS AS IDENTITY, b int); GRANT SELECT (a), UPDATE (b) ON old TO g_app; GRANT SELECT ON old TO g_reader; GRANT USAGE ON SEQUENCE old_a_seq TO g_app; REVOKE USAGE ON TYPE old FROM PUBLIC")
		if s.Major() >= 18 {
			s.Exec(t, url, "ALTER TABLE old RENAME CONSTRAINT old_a_not_null TO new_id_not_null") // is an object there
		}
		desired := declare(t, s, "-- +ptah renamed_from=old\nCREATE TABLE new (\n-- +ptah renamed_from=a\nid int GENERATED ALWAYS AS IDENTITY, b int);\nGRANT SELECT (id) ON new TO g_app; GRANT UPDATE ON new TO g_app; GRANT SELECT ON SEQUENCE new_id_seq TO g_app; REVOKE USAGE ON TYPE new FROM PUBLIC")
		doc := converge(t, engine.Options{URL: url}, desired)
		assert.Equal(t, []string{
			`ALTER TABLE "public"."old" RENAME TO "new"`, `ALTER TABLE "public"."new" RENAME COLUMN "a" TO "id"`,
			`REVOKE USAGE ON SEQUENCE "public"."old_a_seq" FROM "g_app"`, `REVOKE UPDATE ("b") ON TABLE "public"."new" FROM "g_app"`, `REVOKE SELECT ON TABLE "public"."new" FROM "g_reader"`,
			`GRANT SELECT ON SEQUENCE "public"."old_a_seq" TO "g_app"`, `GRANT UPDATE ON TABLE "public"."new" TO "g_app"`,
		}, statements(doc))
	})
	t.Run("exclude", func(t *testing.T) {
		url := s.NewDatabase(t, base+"CREATE TABLE hidden (id int); GRANT SELECT ON hidden TO g_app; CREATE SCHEMA away; ALTER DEFAULT PRIVILEGES IN SCHEMA away GRANT SELECT ON TABLES TO g_app")
		desired := declare(t, s, base+"GRANT SELECT ON t TO g_app; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO g_app")
		doc := converge(t, engine.Options{URL: url, Exclude: []string{"hidden", "away"}}, desired)
		assert.Len(t, doc.Statements, 2)
	})
	t.Run("stale", func(t *testing.T) {
		url := s.NewDatabase(t, base)
		result, err := engine.Plan(testContext(t), engine.Options{URL: url}, declare(t, s, base+"GRANT SELECT ON t TO g_app"))
		require.NoError(t, err)
		s.Exec(t, url, "GRANT INSERT ON t TO g_reader")
		_, err = engine.Apply(testContext(t), engine.Options{URL: url}, result.Document)
		_ = refusal(t, err, frame.CodeStalePlan)
	})
	t.Run("outside of the transaction", func(t *testing.T) {
		url := s.NewDatabase(t, base)
		converge(t, engine.Options{URL: url, TransactionMode: "none"}, declare(t, s, base+"CREATE INDEX i ON t (n); ALTER TABLE t ADD CHECK (n > 0); GRANT SELECT ON t TO g_app"))
	})
	t.Run("a schema that goes", func(t *testing.T) {
		url := s.NewDatabase(t, base+"CREATE SCHEMA gone; CREATE TABLE gone.t (a int); GRANT USAGE ON SCHEMA gone TO g_app; GRANT SELECT ON gone.t TO g_app; ALTER DEFAULT PRIVILEGES IN SCHEMA gone GRANT SELECT ON TABLES TO g_app")
		doc := converge(t, engine.Options{URL: url}, declare(t, s, base+"GRANT SELECT ON t TO g_app; GRANT USAGE ON SCHEMA public TO g_app; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO g_app"))
		assert.NotContains(t, strings.Join(statements(doc), ";"), "REVOKE")
	})
}

// TestHazardOfUnmanagedPrivileges: where nobody declares them, what is built again loses them, and the plan says so.
func TestHazardOfUnmanagedPrivileges(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	v := "CREATE VIEW v AS SELECT n FROM t; GRANT SELECT ON v TO g_app; "
	hazard := func(desired *model.Database) string {
		result, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, "CREATE TABLE t (n int); "+v)}, desired)
		require.NoError(t, err)
		return result.Document.Statements[0].Hazard
	}
	assert.Equal(t, "it comes back without what was granted on it by hand", hazard(declare(t, s, "CREATE TABLE t (n text); CREATE VIEW v AS SELECT n FROM t")))
	assert.Empty(t, hazard(declare(t, s, "CREATE TABLE t (n text); "+v)))
}

// TestHazardOfTypesBuiltAgain: types and generated columns lose them as well.
func TestHazardOfTypesBuiltAgain(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	const grants = "; GRANT USAGE ON TYPE e, d TO g_app; GRANT SELECT (g) ON t TO g_app"
	const before = "CREATE TYPE e AS ENUM ('a', 'b'); CREATE DOMAIN d AS int; CREATE TABLE t (n int, g int GENERATED ALWAYS AS (n + 1) STORED)"
	const after = "CREATE TYPE e AS ENUM ('b', 'a'); CREATE DOMAIN d AS text; CREATE TABLE t (n bigint, g int GENERATED ALWAYS AS (n + 1) STORED)"
	for name, c := range map[string]struct {
		desired string
		want    int
	}{"not managed": {after, 3}, "managed": {after + grants, 0}} {
		t.Run(name, func(t *testing.T) {
			doc := converge(t, engine.Options{URL: s.NewDatabase(t, before+grants)}, declare(t, s, c.desired))
			said := 0
			for _, statement := range doc.Statements {
				if strings.Contains(statement.Hazard, "it comes back without what was granted on it by hand") {
					said++
				}
			}
			assert.Equal(t, c.want, said, "%v", statements(doc))
		})
	}
}

func TestDeclaredPrivileges(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	const sql = `CREATE SCHEMA app; CREATE TABLE app.t (a int, b int); CREATE SEQUENCE app.q; CREATE TYPE app.e AS ENUM ('x'); CREATE FUNCTION app.f(n integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'; CREATE VIEW app.v AS SELECT a FROM app.t;
GRANT USAGE ON SCHEMA app TO g_app; GRANT USAGE ON SCHEMA public TO g_app; GRANT SELECT, INSERT ON app.t TO g_app; GRANT UPDATE (b) ON app.t TO g_reader WITH GRANT OPTION; GRANT SELECT ON app.v TO PUBLIC; GRANT ALL ON SEQUENCE app.q TO g_app;
GRANT USAGE ON TYPE app.e TO g_app; GRANT EXECUTE ON FUNCTION app.f(integer) TO g_app;
REVOKE EXECUTE ON FUNCTION app.f FROM PUBLIC; REVOKE USAGE ON TYPE app.e FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC; ALTER DEFAULT PRIVILEGES FOR ROLE g_app IN SCHEMA app GRANT SELECT, INSERT ON TABLES TO g_reader WITH GRANT OPTION`
	const yaml = `schemas: [app]
tables: {app.t: {columns: {a: {type: int}, b: {type: int}}}}
sequences: {app.q: {}}
enums: {app.e: [x]}
functions: {app.f: {params: n integer DEFAULT 4, returns: integer, language: sql, body: SELECT 1}}
views: {app.v: {body: SELECT a FROM app.t}}
grants:
  - {role: g_app, privileges: [usage], on_schema: app}
  - {role: g_app, privileges: [USAGE], on_schema: public}
  - {role: g_app, privileges: [SELECT, INSERT, SELECT], on_table: app.t}
  - {role: g_reader, privilege: UPDATE, on_table: t, columns: [b], with_option: true}
  - {role: PUBLIC, privileges: [SELECT], on_table: app.v}
  - {role: g_app, privileges: [ALL PRIVILEGES], on_sequence: app.q}
  - {role: g_app, privileges: [USAGE], on_type: app.e}
  - {role: g_app, privileges: [EXECUTE], on_function: app.f}
revokes:
  - {from: public, privileges: [EXECUTE], on_function: app.f}
  - {privileges: [ALL], on_type: e}
  - {privileges: [USAGE, CREATE], on_schema: public}
default_privileges:
  - {on: functions, from: PUBLIC, privileges: [EXECUTE]}
  - {for_role: g_app, in_schema: app, on: tables, role: g_reader, privileges: [SELECT, INSERT], with_option: true}
`
	const hcl = `schema "app" {}
table "t" {
  schema = schema.app
  column "a" {
    type = int
    null = true
  }
  column "b" {
    type = int
    null = true
  }
}
sequence "q" {
  schema = schema.app
}
enum "e" {
  schema = schema.app
  values = ["x"]
}
function "f" {
  schema = schema.app
  arg "n" {
    type = integer
  }
  returns  = integer
  language = sql
  body     = "SELECT 1"
}
view "v" {
  schema = schema.app
  as     = "SELECT a FROM app.t"
}
permission {
  to         = "g_app"
  for        = schema.app
  privileges = [USAGE]
}
permission {
  to         = "g_app"
  for        = schema.public
  privileges = [USAGE]
}
permission {
  to         = "g_app"
  for        = table.t
  privileges = [SELECT, INSERT]
}
permission {
  to         = "g_reader"
  for        = table.t
  columns    = ["b"]
  privileges = [UPDATE]
  grantable  = true
}
permission {
  to         = PUBLIC
  for        = view.v
  privileges = [SELECT]
}
permission {
  to         = "g_app"
  for        = sequence.q
  privileges = [ALL]
}
permission {
  to         = "g_app"
  for        = enum.e
  privileges = [USAGE]
}
permission {
  to         = "g_app"
  for        = function.f
  privileges = [EXECUTE]
}
revocation {
  from       = PUBLIC
  for        = function.f
  privileges = [EXECUTE]
}
revocation {
  for        = enum.e
  privileges = [USAGE]
}
revocation {
  for        = schema.public
  privileges = [ALL]
}
default_privileges {
  on         = FUNCTIONS
  from       = PUBLIC
  privileges = [EXECUTE]
}
default_privileges {
  for_role   = g_app
  schema     = schema.app
  on         = TABLES
  to         = "g_reader"
  privileges = [SELECT, INSERT]
  grantable  = true
}
`
	want := declare(t, s, sql)
	require.Len(t, want.Grants, 11)
	require.Len(t, want.DefaultPrivileges, 2)
	for name, file := range map[string]declarations.File{"YAML": {Name: "a.yaml", Data: []byte(yaml)}, "HCL": {Name: "a.hcl", Data: []byte(hcl)}} {
		t.Run(name, func(t *testing.T) {
			db, err := engine.LoadDeclared(testContext(t), s.URL("postgres"), engine.Declarations{Statements: rendered(t, file)}, nil)
			require.NoError(t, err)
			assert.Equal(t, want.Grants, db.Grants)
			assert.Equal(t, want.DefaultPrivileges, db.DefaultPrivileges)
		})
	}
	t.Run("canonical", func(t *testing.T) {
		data, err := model.Encode(want)
		require.NoError(t, err)
		again, err := model.Decode(data)
		require.NoError(t, err)
		assert.Equal(t, model.Fingerprint(want), model.Fingerprint(again))
	})
	t.Run("SQL of it", func(t *testing.T) {
		empty := model.New(model.Postgres)
		empty.Schemas = []model.Schema{{Name: "public"}}
		declared := declare(t, s, sql+"; ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC; CREATE TABLE i (id int GENERATED ALWAYS AS IDENTITY); GRANT USAGE ON SEQUENCE i_id_seq TO g_app")
		result, err := engine.PlanFrom(testContext(t), engine.Options{URL: s.URL("postgres")}, empty, declared)
		require.NoError(t, err)
		assert.Equal(t, declared, declare(t, s, strings.Join(statements(result.Document), ";\n")))
	})
}

// TestRolesOfTheDevServer: a server that says it is disposable gets the roles that files name; on any other they have to be there.
func TestRolesOfTheDevServer(t *testing.T) {
	s := pgtest.StartAnother(t)
	load := func(url, sql string) (*model.Database, error) {
		return engine.LoadSQL(testContext(t), url, []engine.Source{{Name: "a.sql", Data: []byte(sql)}})
	}
	url := s.URL("postgres")
	disposable := url + "&options=-c%20ptah.disposable%3Don"
	for name, c := range map[string]struct{ sql, want string }{
		"missing":             {"CREATE TABLE t ();\n  GRANT SELECT ON t TO nobody_here, \"Odd \"\"x\"", `a.sql:2:3: role "nobody_here" does not exist on the dev server: create it there`},
		"missing in a revoke": {"CREATE TABLE t (); REVOKE SELECT ON t FROM nobody_here CASCADE", `role "nobody_here" does not exist`},
		"missing creator":     {"ALTER DEFAULT PRIVILEGES FOR ROLE nobody_here GRANT SELECT ON TABLES TO PUBLIC", `role "nobody_here" does not exist`},
		"missing of a policy": {"CREATE TABLE t (); CREATE POLICY p ON t TO nobody_here USING (true)", `role "nobody_here" does not exist`},
		"the loading role":    {"CREATE TABLE t (); GRANT SELECT ON t TO Postgres", `role "postgres" is the one that loads schemas`},
		"its own defaults":    {"ALTER DEFAULT PRIVILEGES FOR USER postgres GRANT SELECT ON TABLES TO PUBLIC", `role "postgres" is the one that loads schemas`},
		"membership":          {"GRANT pg_monitor TO pg_signal_backend", "GRANT of a role reaches outside of the scratch database"},
		"membership taken":    {"REVOKE pg_monitor FROM pg_signal_backend", "REVOKE of a role reaches outside"},
		"database":            {"GRANT CONNECT ON DATABASE postgres TO PUBLIC", "GRANT … ON DATABASE reaches outside of the scratch database"},
		"language":            {"GRANT USAGE ON LANGUAGE plpgsql TO PUBLIC", "privileges on languages, large objects and foreign servers are not managed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(url, c.sql)
			e := refusal(t, err, frame.CodeDesiredSchemaInvalid)
			assert.Contains(t, e.Message, c.want)
		})
	}
	t.Run("the loading role and the schema public", func(t *testing.T) {
		if s.Major() < 15 {
			t.Skip("the schema public has an owner of its own since PostgreSQL 15")
		}
		db, err := load(url, "GRANT ALL ON SCHEMA public TO postgres; GRANT ALL ON SCHEMA public TO PUBLIC")
		require.NoError(t, err)
		require.Len(t, db.Grants, 2)
		assert.Equal(t, []string{"CREATE"}, db.Grants[0].Privileges, "PUBLIC has USAGE by itself")
		assert.Equal(t, pgtest.User, db.Grants[1].Grantee)
	})
	t.Run("disposable", func(t *testing.T) {
		db, err := load(disposable, `CREATE TABLE t (a int); BEGIN; GRANT SELECT, UPDATE (a) ON t TO app, GROUP "Odd ""x", PUBLIC WITH GRANT OPTION; COMMIT`)
		_ = refusal(t, err, frame.CodeDesiredSchemaInvalid) // the server's own: PUBLIC cannot grant on
		require.Nil(t, db)
		db, err = load(disposable, `CREATE TABLE t (a int); BEGIN; GRANT SELECT, UPDATE (a) ON t TO app, GROUP "Odd ""x"; COMMIT; ALTER DEFAULT PRIVILEGES FOR ROLE maker, app GRANT USAGE ON TYPES TO "Line`+"\n"+`break"; CREATE POLICY p ON t TO reader`)
		require.NoError(t, err)
		assert.Len(t, db.Grants, 4)
		assert.Len(t, db.DefaultPrivileges, 2)
		assert.Equal(t, 5, query[int](t, url, `SELECT count(*)::int FROM pg_roles WHERE rolname IN ('app', 'Odd "x', 'maker', 'reader', E'Line\nbreak') AND NOT rolcanlogin`))
	})
	assertNoScratch(t, s)
}

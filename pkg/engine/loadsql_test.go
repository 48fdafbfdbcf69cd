package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

func TestLoadSQLErrorsNameThePlace(t *testing.T) {
	s := pgtest.Start(t)
	for name, c := range map[string]struct{ sql, want string }{
		"syntax":              {"CREATE TABLE a (id int);\n\n  CREATE TABEL b (id int);", `two.sql:3:10: syntax error at or near "TABEL" (SQLSTATE 42601)`},
		"unknown type":        {"CREATE TABLE a (\n  id int,\n  öö nosuch\n);", `two.sql:3:6: type "nosuch" does not exist (SQLSTATE 42704)`},
		"no position":         {"CREATE TABLE a (id int);\n/* here */ CREATE TABLE a (id int);", `two.sql:2:12: relation "a" already exists (SQLSTATE 42P07)`},
		"runtime":             {"CREATE TABLE a (id int NOT NULL);\nINSERT INTO a VALUES (NULL);", `two.sql:2:1: null value in column "id"`},
		"meta command":        {"CREATE TABLE a (id int);\n\\connect other_db -password hidden", `two.sql:2:1: psql meta-commands cannot be used: \connect`},
		"open quote":          {"CREATE TABLE a (id int);\nSELECT 'abc", `two.sql:2:8: the quote is not closed`},
		"open comment":        {"/* a /* b */ SELECT 1;", `two.sql:1:1: the comment is not closed`},
		"open dollar":         {"SELECT $x$abc", `two.sql:1:8: the quote $x$ is not closed`},
		"file of the server":  {"CREATE TABLE a (id int);\n COPY a TO PROGRAM 'true';", `two.sql:2:2: COPY reads and writes files and programs`},
		"subscription":        {"CREATE SUBSCRIPTION s CONNECTION 'host=h' PUBLICATION p WITH (connect = false)", `two.sql:1:1: CREATE SUBSCRIPTION connects the scratch database to another server`},
		"rows":                {"CREATE TABLE a (id int);\nCOPY a (id) FROM stdin;\n1'\n\\.\n", `two.sql:2:1: COPY … FROM stdin carries rows`},
		"role":                {"CREATE ROLE x PASSWORD 'hidden';", `two.sql:1:1: CREATE ROLE reaches outside of the scratch database`},
		"database":            {"-- c\nDROP /* d */ DATABASE postgres", `two.sql:2:1: DROP DATABASE reaches outside of the scratch database`},
		"system":              {"ALTER SYSTEM SET x = 1", `ALTER SYSTEM changes the whole server`},
		"transaction left":    {"BEGIN; CREATE TABLE a (id int);\n", `two.sql:2:1: the file ends inside of a transaction that it opened`},
		"not UTF-8":           {"SELECT '\xff'", `two.sql: not a text file in UTF-8`},
		"cannot run in a tx":  {"BEGIN;\nVACUUM;", `two.sql:2:1: VACUUM cannot run inside a transaction block (SQLSTATE 25001)`},
		"password in message": {"DO $$ BEGIN RAISE EXCEPTION 'see " + pgtest.Password + "'; END $$", `two.sql:1:1: see *** (SQLSTATE P0001)`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.LoadSQL(testContext(t), s.URL("postgres"), []engine.Source{{Name: "one.sql", Data: []byte("CREATE TABLE first (id int)")}, {Name: "two.sql", Data: []byte(c.sql)}})
			e := refusal(t, err, frame.CodeDesiredSchemaInvalid)
			assert.Contains(t, e.Message, c.want)
			assert.NotContains(t, e.Message, "hidden")
		})
	}
	assertNoScratch(t, s)
}

func assertNoScratch(t *testing.T, s *pgtest.Server) {
	t.Helper()
	assert.Zero(t, query[int](t, s.URL("postgres"), `SELECT count(*)::int FROM pg_database WHERE datname LIKE 'ptah\_dev\_%'`))
}

func TestLoadSQLReadsWhatPsqlWould(t *testing.T) {
	s := pgtest.Start(t)
	db, err := engine.LoadSQL(testContext(t), s.URL("postgres"), []engine.Source{
		{Name: "a.sql", Data: []byte("\uFEFFSET search_path = app;\nCREATE SCHEMA app; CREATE TABLE app.t (id int);;\r\nCREATE INDEX CONCURRENTLY i ON t (id);\n-- the end; \\d")},
		{Name: "b.sql", Data: []byte(`CREATE TYPE e AS ENUM ('a'); ALTER TYPE e ADD VALUE 'b'; CREATE TABLE u (k e DEFAULT 'b', s text DEFAULT E'it\'s; "', d text DEFAULT $q$;'$q$);
BEGIN; INSERT INTO u DEFAULT VALUES; COMMIT; CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END AS one; END;
CREATE RULE r AS ON DELETE TO u DO ALSO (SELECT 1; SELECT 2);`)},
	})
	require.NoError(t, err)
	require.NotNil(t, db.Table(model.Name{Schema: "app", Name: "t"}))
	u := db.Table(model.Name{Schema: "public", Name: "u"})
	require.NotNil(t, u, "the search path of the first file is gone")
	assert.Equal(t, `'it''s; "'::text`, u.Column("s").Default)
	assert.Equal(t, `';'''::text`, u.Column("d").Default)
	assert.Empty(t, db.Unmodelled)
	require.Len(t, db.Definitions, 2)
	assert.Equal(t, model.Object{Kind: "function", Schema: "public", Name: "f"}, db.Definitions[0].Object)
	assert.Equal(t, model.Object{Kind: "rule", Schema: "public", Table: "u", Name: "r"}, db.Definitions[1].Object)
	assertNoScratch(t, s)
}

// TestEveryFileStartsAnew: nothing that one file does to its session reaches the next one.
func TestEveryFileStartsAnew(t *testing.T) {
	s := pgtest.Start(t)
	const clean = `DO $$ BEGIN ASSERT current_setting('search_path') = '"$user", public' AND current_setting('my.own', true) IS NULL AND to_regclass('pg_temp.tt') IS NULL AND current_setting('role') = 'none'; END $$`
	for name, dirty := range map[string]string{
		"setting":        "SET search_path = app; CREATE TABLE public.a (id int)",
		"own setting":    "SET my.own = 1",
		"by a function":  "SELECT set_config('my.own', '1', false)",
		"in a default":   "CREATE TABLE a (v text DEFAULT set_config('my.own', '1', false)); INSERT INTO a DEFAULT VALUES",
		"temporary":      "CREATE TEMP TABLE tt (id int)",
		"role":           "SET ROLE pg_monitor",
		"authorization":  "SET SESSION AUTHORIZATION pg_monitor",
		"left by a body": "CREATE FUNCTION f() RETURNS text LANGUAGE sql AS 'SELECT set_config(''my.own'', ''1'', false)'; CREATE TABLE a (v text DEFAULT f()); INSERT INTO a DEFAULT VALUES",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.LoadSQL(testContext(t), s.URL("postgres"), []engine.Source{{Name: "one.sql", Data: []byte(dirty)}, {Name: "two.sql", Data: []byte(clean)}})
			require.NoError(t, err)
		})
	}
	files := make([]engine.Source, 40)
	for i := range files {
		files[i] = engine.Source{Name: "f.sql", Data: []byte("INSERT INTO backends VALUES (pg_backend_pid())")}
	}
	files[0].Data = []byte("CREATE TABLE backends (pid int); CREATE VIEW more AS SELECT 1 / (CASE WHEN count(DISTINCT pid) > 1 THEN 0 ELSE 1 END) AS v FROM backends")
	files[39].Data = []byte("CREATE TABLE one AS SELECT v FROM more")
	_, err := engine.LoadSQL(testContext(t), s.URL("postgres"), files)
	require.NoError(t, err, "each file has a backend of its own")
}

func TestLoadSQLDropsItsDatabaseWhenCancelled(t *testing.T) {
	s := pgtest.Start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_, err := engine.LoadSQL(ctx, s.URL("postgres"), []engine.Source{{Name: "slow.sql", Data: []byte("SELECT pg_sleep(60)")}})
	_ = refusal(t, err, frame.CodeDeadlineExceeded)
	assertNoScratch(t, s)
}

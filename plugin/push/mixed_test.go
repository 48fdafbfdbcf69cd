package push_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/push/devserver"
)

// inDirectory makes files in a directory of their own and goes there.
func inDirectory(t *testing.T, files map[string]string) {
	t.Helper()
	directory := t.TempDir()
	t.Chdir(directory)
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

// TestPushMixedSources publishes what YAML, HCL and SQL declare together, with the files beside it.
func TestPushMixedSources(t *testing.T) {
	needServer(t)
	programs, _ := devserver.Find(os.Getenv)
	server, err := devserver.Start(t.Context(), programs)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	env := map[string]string{"PTAH_DEV_URL": server.URL}
	host := startRegistry(t)
	inDirectory(t, map[string]string{
		"schema/a.yaml": "tables:\n  users:\n    columns:\n      id: {type: bigint, primary: true}\n      kind: {type: kind}\n",
		"schema/b.hcl":  "variable \"first\" {\n  type = string\n}\nenum \"kind\" {\n  values = [var.first, \"b\"]\n}\n",
		"schema/c.sql":  "CREATE VIEW names AS SELECT id FROM users;",
		"schema/.x.yml": "not: [ours",
		"orders.sql":    "CREATE TABLE orders (id bigint PRIMARY KEY, buyer bigint REFERENCES users);",
		"again.sql":     "CREATE TABLE IF NOT EXISTS users (id int);",
		"nothing.sql":   "-- later\n",
		"nothing.yaml":  "",
		"rows.sql":      "CREATE TABLE a (id int); CREATE TABLE b (id int); CREATE TABLE c (id int); CREATE TABLE d (id int); CREATE TABLE e (id int); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1); INSERT INTO c VALUES (1); INSERT INTO d VALUES (1); DELETE FROM b",
		"wrong.yaml":    "tables:\n  wrong:\n    columns:\n      id: {type: nosuch}\n",
	})

	stdout, stderr, code := ptah(t, env, "push", "schema", "-f", "schema", "-f", "orders.sql", "--var", "first=a", "oci://"+host+"/app/orders:v1")
	require.Equal(t, options.Done, code, stderr)
	client, err := artifact.New(artifact.Options{PlainHTTP: true})
	require.NoError(t, err)
	directory := filepath.Join(t.TempDir(), "fetched")
	require.NoError(t, client.Fetch(t.Context(), stdout[:len(stdout)-1], intent.SchemaArtifact, directory))
	data, err := os.ReadFile(filepath.Join(directory, artifact.ModelFile))
	require.NoError(t, err)
	database, err := model.Decode(data)
	require.NoError(t, err)
	require.NotNil(t, database.Table(model.Name{Schema: "public", Name: "orders"}))
	assert.Equal(t, []string{"a", "b"}, database.Enums[0].Values)
	for _, name := range []string{"schema/a.yaml", "schema/b.hcl", "schema/c.sql", "orders.sql"} {
		assert.FileExists(t, filepath.Join(directory, artifact.SourcesDir, name))
	}

	t.Run("SQL creates what YAML declares", func(t *testing.T) {
		_, stderr, code := ptah(t, env, "push", "schema", "schema", "again.sql", "--var", "first=a", "oci://"+host+"/app/orders:v1")
		assert.Equal(t, options.Failed, code)
		assert.Contains(t, stderr, `error: again.sql:1:1: table "public"."users" is declared already, at schema/a.yaml:2:3`)
	})
	t.Run("files that declare nothing", func(t *testing.T) {
		stdout, stderr, code := ptah(t, env, "push", "schema", "nothing.sql", "nothing.yaml", "oci://"+host+"/app/orders:v2")
		assert.Equal(t, options.Failed, code)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "error: nothing was published: the files declare nothing, and a database that follows them would lose every object; --allow-empty publishes that")
		_, stderr, code = ptah(t, env, "push", "schema", "nothing.sql", "--allow-empty", "oci://"+host+"/app/orders:v2")
		assert.Equal(t, options.Done, code, stderr)
	})
	t.Run("files that write rows", func(t *testing.T) {
		_, stderr, code := ptah(t, env, "push", "schema", "rows.sql", "oci://"+host+"/app/orders:v3")
		assert.Equal(t, options.Done, code, stderr)
		assert.Contains(t, stderr, "rows that SQL files write are no part of a schema and are left out, as those of tables public.a, public.c, public.d; rows that belong")
	})
	t.Run("the server refuses a declaration", func(t *testing.T) {
		_, stderr, code := ptah(t, env, "push", "schema", "wrong.yaml", "oci://"+host+"/app/orders:v1")
		assert.Equal(t, options.Failed, code)
		assert.Contains(t, stderr, `error: wrong.yaml:4:18: type "nosuch" does not exist`)
	})
}

// TestSourcesThatAreRefused needs no server: nothing is started for what cannot be read.
func TestSourcesThatAreRefused(t *testing.T) {
	outside := file(t, "outside.sql", "SELECT 1")
	inDirectory(t, map[string]string{"a.yaml": "tabels: {}\nviews: {v: {bdy: x}}\n", "b.yaml": "enums: {e: [a]}", "c.yaml": "enums: {e: [b]}", "d.hcl": "", "e.txt": "", "empty/x": ""})
	require.NoError(t, os.Symlink(outside, "link.sql"))
	for name, c := range map[string]struct {
		args []string
		code options.Code
		want string
	}{
		"every fault of a file": {[]string{"a.yaml"}, options.Failed, "error: a.yaml:1:1: unknown key \"tabels\"; allowed here: composites, constraints, data, default_privileges, domains, enums, extensions, functions, grants, indexes, materialized_views, matviews, ranges, revokes, rls_enabled, rls_enabled_tables, rls_policies, roles, schemas, sequences, tables, triggers, views\nerror: a.yaml:2:13: view \"v\": unknown key \"bdy\""},
		"declared differently":  {[]string{"b.yaml", "c.yaml"}, options.Failed, `c.yaml:1:12: enum "public"."e" is declared differently at b.yaml:1:12: property values`},
		"a link out":            {[]string{"link.sql"}, options.Usage, "link.sql leads out of the working directory"},
		"a path out":            {[]string{"../x.sql"}, options.Failed, "reading the schema"},
		"another kind of file":  {[]string{"e.txt"}, options.Usage, "e.txt: want a *.sql, *.yaml, *.yml or *.hcl file"},
		"nothing in there":      {[]string{"empty"}, options.Usage, "directory empty has no *.sql, *.yaml, *.yml or *.hcl files"},
		"unknown variable":      {[]string{"d.hcl", "--var", "x=1"}, options.Failed, `no file declares a variable "x"`},
		"a variable for YAML":   {[]string{"b.yaml", "--var", "x"}, options.Usage, "--var wants NAME=VALUE"},
		"no file":               {nil, options.Usage, "want at least one file, as an argument or with -f"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := ptah(t, nil, append(append([]string{"push", "schema"}, c.args...), "oci://registry.example/app/orders:v1")...)
			assert.Equal(t, c.code, code, stderr)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, c.want)
			assert.NotContains(t, stderr, "disposable")
		})
	}
}

package schema_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/jackc/pgx/v5"
	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/push/devserver"
)

// ptah runs one command line as main does, with an empty Docker configuration.
func ptah(t *testing.T, env map[string]string, args ...string) (stdout, stderr string, code options.Code) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	global := options.New(streams, options.Screen{}, func() time.Time { return time.Date(2026, 11, 29, 5, 4, 0, 0, time.UTC) }, func(name string) string { return env[name] })
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	code = plugin.Run(ctx, global, "kubectl-ptah", args)
	return out.String(), errOut.String(), code
}

func startRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// inDirectory makes files in a directory of their own and goes there.
func inDirectory(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

const (
	before = "tables:\n  users:\n    columns:\n      id: {type: bigint, primary: true}\n      name: {type: text, not_null: true}\n"
	after  = "table \"users\" {\n  schema = schema.public\n  column \"id\" {\n    type = bigint\n  }\n  column \"age\" {\n    type = int\n    null = true\n  }\n  primary_key {\n    columns = [column.id]\n  }\n}\nschema \"public\" {\n}\n"
)

// TestSchemasInAllPlaces takes one schema through files, an artifact and a database, and finds it the same everywhere.
func TestSchemasInAllPlaces(t *testing.T) {
	programs, found := devserver.Find(os.Getenv)
	if !found {
		t.Skip("PostgreSQL's programs initdb and postgres are not installed")
	}
	server, err := devserver.Start(t.Context(), programs)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	env := map[string]string{"PTAH_DEV_URL": server.URL, "LIVE_URL": server.URL}
	host := startRegistry(t)
	inDirectory(t, map[string]string{"before.yaml": before, "after.hcl": after, "view.sql": "CREATE STATISTICS ext ON id, name FROM users;"})
	ok := func(args ...string) string {
		stdout, stderr, code := ptah(t, env, args...)
		require.Equal(t, options.Done, code, stderr)
		return stdout
	}

	text := ok("schema", "inspect", "before.yaml")
	assert.Contains(t, text, "Objects:        1 schema, 1 table\n")
	assert.Contains(t, text, "\ntable public.users\n  id    bigint  not null\n  name  text    not null\n  primary key users_pkey (id)\n")
	canonical := ok("schema", "inspect", "before.yaml", "-o", "json")
	_, err = model.Decode([]byte(canonical))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("again.yaml", []byte(ok("schema", "inspect", "before.yaml", "-o", "yaml")), 0o600))
	require.NoError(t, os.WriteFile("again.sql", []byte(ok("schema", "inspect", "before.yaml", "-o", "sql")), 0o600))
	assert.Equal(t, canonical, ok("schema", "inspect", "again.yaml", "-o", "json"))
	require.NoError(t, os.WriteFile("again.hcl", []byte(ok("schema", "inspect", "before.yaml", "-o", "hcl")), 0o600))
	assert.Equal(t, canonical, ok("schema", "inspect", "again.hcl", "-o", "json"))
	assert.Equal(t, canonical, ok("schema", "inspect", "again.sql", "-o", "json"))
	assert.Equal(t, "users\n", ok("schema", "inspect", "before.yaml", "--jq", ".tables[].name"))

	pushed := strings.TrimSpace(ok("push", "schema", "before.yaml", "oci://"+host+"/app/orders:v1"))
	assert.Equal(t, canonical, ok("schema", "inspect", pushed, "-o", "json"))
	assert.Contains(t, ok("schema", "diff", pushed, "before.yaml", "--exit-code"), "Difference:     none")

	stdout, _, code := ptah(t, env, "schema", "diff", pushed, "after.hcl", "--exit-code")
	assert.Equal(t, options.Findings, code)
	assert.Contains(t, stdout, "-- 1/2  destructive  public.users.name\n")
	assert.Contains(t, stdout, `ALTER TABLE "public"."users" DROP COLUMN "name";`)
	assert.Equal(t, "ALTER TABLE \"public\".\"users\" DROP COLUMN \"name\";\nALTER TABLE \"public\".\"users\" ADD COLUMN \"age\" integer;\n", ok("schema", "diff", "--from", pushed, "--to", "after.hcl", "-o", "sql"))
	var comparison struct {
		Kind  string
		Equal bool
		From  string
	}
	require.NoError(t, json.Unmarshal([]byte(ok("schema", "diff", "env:LIVE_URL", "before.yaml", "-o", "json")), &comparison))
	assert.Equal(t, "SchemaComparison", comparison.Kind)
	assert.Equal(t, "env:LIVE_URL", comparison.From, "the variable, never the URL")
	assert.Contains(t, ok("schema", "inspect", "--url-env", "LIVE_URL"), "Schema:         env:LIVE_URL")

	t.Run("what YAML has no words for", func(t *testing.T) {
		_, stderr, code := ptah(t, env, "schema", "inspect", "before.yaml", "view.sql", "-o", "yaml")
		assert.Equal(t, options.Failed, code)
		assert.Contains(t, stderr, `error: YAML cannot declare statistics "ext" of table "public"."users"; --rest FILE writes that as SQL beside the others, and -o sql declares everything`)

		for _, language := range []string{"yaml", "hcl"} {
			require.NoError(t, os.WriteFile("most."+language, []byte(ok("schema", "inspect", "before.yaml", "view.sql", "-o", language, "--rest", "rest.sql")), 0o600))
			assert.Equal(t, ok("schema", "inspect", "before.yaml", "view.sql", "-o", "json"), ok("schema", "inspect", "most."+language, "rest.sql", "-o", "json"))
		}
		rest, err := os.ReadFile("rest.sql")
		require.NoError(t, err)
		assert.Contains(t, string(rest), "CREATE STATISTICS")
		assert.NotContains(t, string(rest), "CREATE TABLE")
		require.NoError(t, os.WriteFile("most.yaml", []byte(ok("schema", "inspect", "before.yaml", "-o", "yaml", "--rest", "rest.sql")), 0o600))
		assert.Equal(t, canonical, ok("schema", "inspect", "most.yaml", "rest.sql", "-o", "json"), "there may be nothing left for SQL")
		_, stderr, code = ptah(t, env, "schema", "inspect", "before.yaml", "-o", "json", "--rest", "rest.sql")
		assert.Equal(t, options.Usage, code)
		assert.Contains(t, stderr, "--rest goes with -o yaml and -o hcl")
		for _, rest := range []string{"view.sql", "./view.sql"} {
			_, stderr, code = ptah(t, env, "schema", "inspect", "before.yaml", "view.sql", "-o", "yaml", "--rest", rest)
			assert.Equal(t, options.Usage, code)
			assert.Contains(t, stderr, "--rest "+rest+" would write over view.sql, which the schema is read from")
		}
		require.NoError(t, os.WriteFile("bodies.sql", []byte("CREATE TABLE f (id int); CREATE FUNCTION cnt() RETURNS bigint LANGUAGE sql STRICT AS 'SELECT count(*) FROM public.f'"), 0o600))
		require.NoError(t, os.WriteFile("all.sql", []byte(ok("schema", "inspect", "bodies.sql", "-o", "sql")), 0o600))
		assert.Equal(t, ok("schema", "inspect", "bodies.sql", "-o", "json"), ok("schema", "inspect", "all.sql", "-o", "json"), "a body may name what stands behind it")
	})
	t.Run("privileges", func(t *testing.T) {
		const name = "granted.sql"
		require.NoError(t, os.WriteFile(name, []byte("CREATE TABLE t (a int); GRANT SELECT, UPDATE (a) ON t TO app; GRANT USAGE ON SCHEMA public TO app WITH GRANT OPTION; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC"), 0o600))
		text := ok("schema", "inspect", name) // the role is made: the server is disposable
		assert.Contains(t, text, "Objects:        1 schema, 1 table, 3 grants, 1 default privilege\n")
		assert.Contains(t, text, "\ngrant USAGE on schema public to app with grant option\ngrant SELECT on table public.t to app\ngrant UPDATE on table public.t, column a to app\ndefault grant SELECT on each new table to PUBLIC\n")
		require.NoError(t, os.WriteFile("granted-again.sql", []byte(ok("schema", "inspect", name, "-o", "sql")), 0o600))
		assert.Equal(t, ok("schema", "inspect", name, "-o", "json"), ok("schema", "inspect", "granted-again.sql", "-o", "json"))
		require.NoError(t, os.WriteFile("granted.yaml", []byte(ok("schema", "inspect", name, "-o", "yaml")), 0o600))
		assert.Equal(t, ok("schema", "inspect", name, "-o", "json"), ok("schema", "inspect", "granted.yaml", "-o", "json"))
		assert.Contains(t, ok("schema", "diff", "before.yaml", name, "-o", "sql"), `GRANT SELECT, UPDATE ("a") ON TABLE "public"."t" TO "app"`)
		assert.NotContains(t, ok("schema", "inspect", "env:LIVE_URL"), "grant")
		assert.NotContains(t, ok("schema", "inspect", "env:LIVE_URL", "--privileges"), "grant", "nobody granted anything there")
	})
	t.Run("the form of the public toolkit", func(t *testing.T) {
		reference := pushToolkit(t, host, after)
		stdout, stderr, code := ptah(t, env, "schema", "inspect", reference, "-o", "yaml")
		require.Equal(t, options.Done, code, stderr)
		assert.Contains(t, stderr, "the operator refuses it until")
		assert.Equal(t, ok("schema", "inspect", "after.hcl", "-o", "yaml"), stdout)
	})
}

// pushToolkit publishes what the public toolkit publishes: one layer, schema.hcl.
func pushToolkit(t *testing.T, host, text string) string {
	t.Helper()
	put := func(path, mediaType string, data []byte) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+host+path, bytes.NewReader(data))
		require.NoError(t, err)
		request.Header.Set("Content-Type", mediaType)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		require.Equal(t, http.StatusCreated, response.StatusCode)
	}
	blob := func(mediaType string, data []byte) ocispec.Descriptor {
		d := digest.FromBytes(data)
		response, err := http.Post("http://"+host+"/v2/app/toolkit/blobs/uploads/", "", nil) //nolint:noctx // a registry in this process
		require.NoError(t, err)
		_ = response.Body.Close()
		put(response.Header.Get("Location")+"?digest="+d.String(), "application/octet-stream", data)
		return ocispec.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(data))}
	}
	layer := blob(v1alpha1.SchemaHCLLayerMediaType, []byte(text))
	layer.Annotations = map[string]string{ocispec.AnnotationTitle: "schema.hcl"}
	manifest, err := json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: v1alpha1.SchemaArtifactType,
		Config: blob(ocispec.MediaTypeEmptyJSON, []byte("{}")), Layers: []ocispec.Descriptor{layer},
	})
	require.NoError(t, err)
	put("/v2/app/toolkit/manifests/v1", ocispec.MediaTypeImageManifest, manifest)
	return "oci://" + host + "/app/toolkit:v1"
}

const rowsOfCountries = "tables:\n  countries:\n    columns:\n      code: {type: text, primary: true}\n      rate: {type: numeric, not_null: true}\ndata:\n  countries: {keys: [code], file: rows/countries.yaml}\n"

// TestSchemasWithRows shows and compares declared rows, and shows none of a database that nobody declares.
func TestSchemasWithRows(t *testing.T) {
	programs, found := devserver.Find(os.Getenv)
	if !found {
		t.Skip("PostgreSQL's programs initdb and postgres are not installed")
	}
	server, err := devserver.Start(t.Context(), programs)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	env := map[string]string{"PTAH_DEV_URL": server.URL, "LIVE_URL": server.URL}
	host := startRegistry(t)
	inDirectory(t, map[string]string{
		"a.yaml": rowsOfCountries, "rows/countries.yaml": "- {code: de, rate: 19.00}\n- {code: fr, rate: 20.0}\n", "b/a.yaml": rowsOfCountries, "b/rows/countries.yaml": "- {rate: 7, code: de}\n",
		"out/a.yaml": strings.Replace(rowsOfCountries, "rows/", "../../", 1), "none/a.yaml": rowsOfCountries,
	})
	ok := func(args ...string) string {
		stdout, stderr, code := ptah(t, env, args...)
		require.Equal(t, options.Done, code, stderr)
		return stdout
	}
	assert.Contains(t, ok("schema", "inspect", "a.yaml"), "\n  managed rows (code, rate): 2, keyed by (code)\n")
	canonical := ok("schema", "inspect", "a.yaml", "-o", "json")
	require.NoError(t, os.WriteFile("again.yaml", []byte(ok("schema", "inspect", "a.yaml", "-o", "yaml")), 0o600))
	assert.Equal(t, canonical, ok("schema", "inspect", "again.yaml", "-o", "json"))
	assert.Contains(t, ok("schema", "inspect", "a.yaml", "-o", "sql"), `INSERT INTO "public"."countries" ("code", "rate") VALUES ('de', '19.00'), ('fr', '20.0');`)
	pushed := strings.TrimSpace(ok("push", "schema", "a.yaml", "oci://"+host+"/app/rows:v1"))
	assert.Equal(t, canonical, ok("schema", "inspect", pushed, "-o", "json"))
	assert.Equal(t, "UPDATE \"public\".\"countries\" SET \"rate\" = '7' WHERE \"code\" = 'de';\nDELETE FROM \"public\".\"countries\" WHERE \"code\" NOT IN ('de');\n", ok("schema", "diff", pushed, "b/a.yaml", "-o", "sql"))
	assert.Contains(t, ok("schema", "fmt", "--check", "a.yaml", "rows/countries.yaml"), "")

	connection, err := pgx.Connect(t.Context(), server.URL)
	require.NoError(t, err)
	defer func() { _ = connection.Close(context.Background()) }()
	_, err = connection.Exec(t.Context(), "CREATE TABLE countries (code text PRIMARY KEY, rate numeric NOT NULL); INSERT INTO countries VALUES ('zz-secret', 1)")
	require.NoError(t, err)
	for _, args := range [][]string{{"schema", "inspect", "env:LIVE_URL"}, {"schema", "inspect", "env:LIVE_URL", "-o", "json"}, {"schema", "inspect", "env:LIVE_URL", "-o", "sql"}, {"schema", "diff", "env:LIVE_URL", "a.yaml"}, {"schema", "diff", "env:LIVE_URL", "a.yaml", "-o", "json"}} {
		assert.NotContains(t, ok(args...), "zz-secret", args)
	}
	_, stderr, code := ptah(t, env, "schema", "inspect", "out/a.yaml")
	assert.NotEqual(t, options.Done, code)
	assert.Contains(t, stderr, "error: a.yaml:7:35: managed rows: file \"../../countries.yaml\" is not there")
	_, stderr, code = ptah(t, env, "schema", "inspect", "none/a.yaml")
	assert.Equal(t, options.Failed, code)
	assert.Contains(t, stderr, "error: a.yaml:7:35: managed rows: file \"rows/countries.yaml\" is not there")
}

// TestRefusals needs neither server nor registry.
func TestRefusals(t *testing.T) {
	inDirectory(t, map[string]string{"a.yaml": before, "b.hcl": "table {"})
	const secret = "hunter2-7731"
	for name, c := range map[string]struct {
		args []string
		code options.Code
		want string
	}{
		"URL as an argument": {[]string{"inspect", "postgres://u:" + secret + "@h/d"}, options.Usage, "env:NAME"},
		"URL for a name":     {[]string{"inspect", "--url-env", "postgres://u:" + secret + "@h/d"}, options.Usage, "env"},
		"empty variable":     {[]string{"inspect", "env:NOWHERE"}, options.Usage, "env:NOWHERE: the environment variable is empty or not set"},
		"two kinds":          {[]string{"inspect", "a.yaml", "env:X"}, options.Usage, "only files can be put together"},
		"one side":           {[]string{"diff", "a.yaml"}, options.Usage, "want two schemas, got 1 argument"},
		"one flag":           {[]string{"diff", "--from", "a.yaml"}, options.Usage, "want both --from and --to"},
		"not HCL":            {[]string{"inspect", "b.hcl"}, options.Failed, "b.hcl:1:7: "},
		"unknown word":       {[]string{"show"}, options.Usage, `want "schema inspect"`},
		"down":               {[]string{"inspect", "env:DOWN"}, options.Failed, "error: "},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := ptah(t, map[string]string{"DOWN": "postgres://u:" + secret + "@127.0.0.1:1/d?sslmode=disable"}, append([]string{"schema"}, c.args...)...)
			assert.Equal(t, c.code, code, stderr)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, c.want)
			assert.NotContains(t, stderr, secret)
		})
	}
}

func TestFormat(t *testing.T) {
	const canonical = "enums:\n  e: [a]\n"
	inDirectory(t, map[string]string{"d/a.yaml": "enums:\n    e: [a]\n", "d/b.hcl": "enum \"f\" {\nvalues=[\"a\"]\n}\n", "d/c.yaml": canonical, "d/x.sql": "SELECT 1"})
	stdout, stderr, code := ptah(t, nil, "schema", "fmt", "--check", "d")
	assert.Equal(t, options.Findings, code, stderr)
	assert.Equal(t, "d/a.yaml\nd/b.hcl\n", stdout)
	unchanged, err := os.ReadFile("d/a.yaml")
	require.NoError(t, err)
	assert.NotEqual(t, canonical, string(unchanged))
	stdout, stderr, code = ptah(t, nil, "schema", "fmt", "d", "--jq", ".changed")
	assert.Equal(t, options.Done, code, stderr)
	assert.Equal(t, "2\n", stdout)
	written, err := os.ReadFile("d/a.yaml")
	require.NoError(t, err)
	assert.Equal(t, canonical, string(written))
	stdout, _, code = ptah(t, nil, "schema", "fmt", "--check", "d")
	assert.Equal(t, options.Done, code)
	assert.Empty(t, stdout)

	t.Run("nothing is written where a file is broken", func(t *testing.T) {
		inDirectory(t, map[string]string{"a.yaml": "enums:\n    e: [a]\n", "b.yaml": "enums: ["})
		_, stderr, code := ptah(t, nil, "schema", "fmt", "a.yaml", "b.yaml")
		assert.Equal(t, options.Failed, code)
		assert.Contains(t, stderr, "error: b.yaml:1:1: not YAML")
		kept, err := os.ReadFile("a.yaml")
		require.NoError(t, err)
		assert.Equal(t, "enums:\n    e: [a]\n", string(kept))
	})
}

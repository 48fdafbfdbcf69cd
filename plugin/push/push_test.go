package push_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/push/devserver"
)

const shop = `
CREATE SCHEMA app;
CREATE TABLE app.customers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email text NOT NULL UNIQUE);
CREATE TABLE app.orders (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer bigint NOT NULL REFERENCES app.customers,
  total numeric(12, 2) NOT NULL CHECK (total >= 0)
);
`

func startRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// ptah runs one command line as main does, with an empty Docker configuration.
func ptah(t *testing.T, env map[string]string, args ...string) (stdout, stderr string, code options.Code) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	getenv := func(name string) string {
		if value, ok := env[name]; ok || name != "PATH" {
			return value
		}
		return os.Getenv(name)
	}
	global := options.New(streams, options.Screen{}, func() time.Time { return time.Date(2026, 11, 29, 5, 4, 0, 0, time.UTC) }, getenv)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	code = plugin.Run(ctx, global, "kubectl-ptah", args)
	return out.String(), errOut.String(), code
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func needServer(t *testing.T) {
	t.Helper()
	if _, ok := devserver.Find(os.Getenv); !ok {
		t.Skip("PostgreSQL's programs initdb and postgres are not installed")
	}
}

func devDirectories(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "ptah-dev-*"))
	require.NoError(t, err)
	return found
}

func TestPushSchemaThroughADisposableServer(t *testing.T) {
	needServer(t)
	t.Setenv("TMPDIR", worldReadableTemp(t))
	host := startRegistry(t)
	reference := "oci://" + host + "/app/orders:v1"
	source := file(t, "schema.sql", shop)

	first, stderr, code := ptah(t, nil, "push", "schema", source, reference)
	require.Equal(t, options.Done, code, stderr)
	assert.Regexp(t, `^oci://`+host+`/app/orders(:v1)?@sha256:[0-9a-f]{64}\n$`, first)
	assert.Contains(t, stderr, "starting a disposable PostgreSQL")
	assert.Empty(t, devDirectories(t), "the disposable server is gone")

	moved := file(t, "schema.sql", shop)
	second, stderr, code := ptah(t, nil, "push", "schema", moved, reference)
	require.Equal(t, options.Done, code, stderr)
	assert.Equal(t, first, second, "the same input gives the same digest, wherever it lies")

	client, err := artifact.New(artifact.Options{PlainHTTP: true})
	require.NoError(t, err)
	directory := t.TempDir()
	require.NoError(t, client.Fetch(t.Context(), strings.TrimSpace(first), intent.SchemaArtifact, directory))
	data, err := os.ReadFile(filepath.Join(directory, artifact.ModelFile))
	require.NoError(t, err)
	database, err := model.Decode(data)
	require.NoError(t, err)
	assert.NotNil(t, database)
	assert.Contains(t, string(data), "customers")
	kept, err := os.ReadFile(filepath.Join(directory, artifact.SourcesDir, "schema.sql"))
	require.NoError(t, err)
	assert.Equal(t, shop, string(kept))
}

func TestPushSchemaThroughANamedServer(t *testing.T) {
	needServer(t)
	programs, _ := devserver.Find(os.Getenv)
	server, err := devserver.Start(t.Context(), programs)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	host := startRegistry(t)
	source := file(t, "schema.sql", shop)

	for name, args := range map[string][]string{"PTAH_DEV_URL": nil, "CI_URL": {"--dev-url-env", "CI_URL"}} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"push", "schema", source, "oci://" + host + "/app/orders:v1", "-o", "json"}, args...)
			stdout, stderr, code := ptah(t, map[string]string{name: server.URL}, args...)
			require.Equal(t, options.Done, code, stderr)
			assert.NotContains(t, stderr, "disposable")
			var result struct {
				Kind, Reference, Tagged, Digest, ArtifactType string
				Files                                         []string
			}
			require.NoError(t, json.Unmarshal([]byte(stdout), &result))
			assert.Equal(t, "PushResult", result.Kind)
			assert.Equal(t, v1alpha1.SchemaArtifactType, result.ArtifactType)
			assert.Equal(t, []string{"schema.sql"}, result.Files)
			assert.True(t, strings.HasSuffix(result.Reference, "@"+result.Digest))
		})
	}
}

func TestPushSchemaSaysWhereTheSQLIsWrong(t *testing.T) {
	needServer(t)
	source := file(t, "schema.sql", "CREATE TABLE a (id int);\nCREATE TABLE b (id int,,);\n")
	stdout, stderr, code := ptah(t, nil, "push", "schema", source, "oci://"+startRegistry(t)+"/app/orders:v1")
	assert.Equal(t, options.Failed, code)
	assert.Empty(t, stdout)
	assert.Regexp(t, `error: .*schema\.sql.*2`, stderr)
}

func TestPushMigrations(t *testing.T) {
	host := startRegistry(t)
	directory := t.TempDir()
	for name, text := range map[string]string{
		"0000000001_start.up.sql": "CREATE TABLE a (id int);", "0000000001_start.down.sql": "DROP TABLE a;", "README.md": "left out",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600))
	}
	stdout, stderr, code := ptah(t, nil, "push", "migrations", directory, "oci://"+host+"/app/ledger:v1", "--jq", ".files[], .artifactType")
	require.Equal(t, options.Done, code, stderr)
	assert.Equal(t, "0000000001_start.down.sql\n0000000001_start.up.sql\n"+v1alpha1.MigrationArtifactType+"\n", stdout)
}

func TestAVersionIsWrittenOnce(t *testing.T) {
	host := startRegistry(t)
	write := func(body string) string {
		directory := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(directory, "0000000001_a.up.sql"), []byte(body), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(directory, "0000000001_a.down.sql"), []byte("SELECT 1;"), 0o600))
		return directory
	}
	push := func(body string) options.Code {
		_, _, code := ptah(t, nil, "push", "migrations", write(body), "oci://"+host+"/app/ledger", "--version", "v1")
		return code
	}
	assert.Equal(t, options.Done, push("SELECT 1;"))
	assert.Equal(t, options.Done, push("SELECT 1;"), "the same content again is fine")
	assert.NotEqual(t, options.Done, push("SELECT 2;"), "other content is not")

	stdout, stderr, code := ptah(t, nil, "push", "migrations", write("SELECT 3;"), "oci://"+host+"/app/ledger", "--generated-version", "--jq", ".tagged")
	require.Equal(t, options.Done, code, stderr)
	assert.Regexp(t, `:v20261129050400-[a-z2-7]{8}\n$`, stdout)
}

func TestCredentialsNeverAppear(t *testing.T) {
	const secret = "s3cr3t-of-the-dev-server"
	source := file(t, "schema.sql", shop)
	reference := "oci://" + startRegistry(t) + "/app/orders:v1"
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		code options.Code
	}{
		"password in an argument":         {args: []string{"--dev-url", "postgres://ptah:" + secret + "@127.0.0.1/x"}, code: options.Usage},
		"password as a parameter":         {args: []string{"--dev-url", "postgres://127.0.0.1/x?user=ptah&password=" + secret}, code: options.Usage},
		"keyword form":                    {args: []string{"--dev-url", "host=127.0.0.1 password=" + secret}, code: options.Usage},
		"unparsable":                      {args: []string{"--dev-url", "postgres://ptah:" + secret + "@[::1/x"}, code: options.Usage},
		"URL where a name belongs":        {args: []string{"--dev-url-env", "postgres://ptah:" + secret + "@127.0.0.1/x"}, code: options.Usage},
		"server is down":                  {env: map[string]string{"PTAH_DEV_URL": "postgres://ptah:" + secret + "@127.0.0.1:1/x?sslmode=disable"}, code: options.Failed},
		"variable is no URL":              {env: map[string]string{"PTAH_DEV_URL": "ptah:" + secret + "@nowhere"}, code: options.Failed},
		"registry reference carries user": {args: nil, code: options.Usage},
	} {
		t.Run(name, func(t *testing.T) {
			target := reference
			if name == "registry reference carries user" {
				target = "oci://ptah:" + secret + "@registry.example/app/orders:v1"
			}
			stdout, stderr, code := ptah(t, c.env, append([]string{"push", "schema", source, target}, c.args...)...)
			assert.Equal(t, c.code, code, stderr)
			assert.NotContains(t, stdout+stderr, secret)
			assert.NotEmpty(t, stderr)
		})
	}
}

func TestRegistryThatIsNotThere(t *testing.T) {
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, "0000000001_a.up.sql"), []byte("SELECT 1;"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "0000000001_a.down.sql"), []byte("SELECT 1;"), 0o600))
	stdout, stderr, code := ptah(t, nil, "push", "migrations", directory, "oci://127.0.0.1:1/app/ledger:v1")
	assert.Equal(t, options.Failed, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "error: ")
}

// worldReadableTemp is a temporary directory that the server's user can enter, too, when the test runs as root.
func worldReadableTemp(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "ptah-push-test-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	require.NoError(t, os.Chmod(directory, 0o755)) //nolint:gosec // another user has to enter it
	return directory
}

package artifact

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

var (
	model   = []byte(`{"version":1,"schemas":[{"name":"public"}]}` + "\n")
	sources = []File{{Name: "tables/b.sql", Data: []byte("CREATE TABLE b ();\n")}, {Name: "a.sql", Data: []byte("CREATE TABLE a ();\n")}}
	stamped = PushOptions{Annotations: Annotations{Source: "https://git.example/shop", Revision: "abc", BuildRun: "7", Version: "1.0.0"}}
)

// The digests of fixed content. A change here changes every digest that people have pinned: it has to be meant.
const (
	goldenSchema     = "sha256:40609d256f3e763d07be60928e36edc4518a736c96954abb22155ed6f0d19e91"
	goldenMigrations = "sha256:eaf5ef8315b7cb580bb29e88bac43a46a7c47664d21d85c287c614ace10a181c"
)

func captured(t *testing.T) Directory {
	t.Helper()
	d, err := Capture(dirOf(native()), CaptureOptions{})
	require.NoError(t, err)
	d.Files = append(d.Files, File{Name: PtahSumFile, Data: Sum(d)})
	return d
}

func TestSchemaRoundTrip(t *testing.T) {
	for name, o := range map[string]registryOptions{"plain HTTP": {}, "TLS with private CA": {tls: true}, "basic auth over TLS": {tls: true, basic: "robot:hunter2"}} {
		t.Run(name, func(t *testing.T) {
			f := newRegistry(t, o)
			options := Options{}
			if o.basic != "" {
				options.Credential = Credential{Username: "robot", Password: "hunter2"}
			}
			c := f.client(t, options)
			pinned, err := c.PushSchema(t.Context(), f.ref(":v1"), model, sources, stamped)
			require.NoError(t, err)
			assert.Equal(t, f.ref("@"+goldenSchema), pinned)

			resolved, err := c.Resolve(t.Context(), f.ref(":v1"))
			require.NoError(t, err)
			assert.Equal(t, frame.Resolved{
				ResolvedReference: pinned, Digest: goldenSchema, MediaType: ocispec.MediaTypeImageManifest,
				ArtifactType: v1alpha1.SchemaArtifactType, Size: resolved.Size,
			}, resolved)
			assert.Positive(t, resolved.Size)

			dir := filepath.Join(t.TempDir(), "artifact")
			require.NoError(t, c.Fetch(t.Context(), pinned, intent.SchemaArtifact, dir))
			assert.Equal(t, map[string]string{
				"schema.json": string(model), "sources/a.sql": "CREATE TABLE a ();\n", "sources/tables/b.sql": "CREATE TABLE b ();\n",
			}, tree(t, dir))
		})
	}
}

// tree reads a directory, and fails on anything that is not a plain file or directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		require.True(t, d.Type().IsRegular(), path)
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return found
}

func TestMigrationsRoundTrip(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	pinned, err := c.PushMigrations(t.Context(), f.ref(""), captured(t), stamped)
	require.NoError(t, err)
	assert.Equal(t, f.ref("@"+goldenMigrations), pinned)

	resolved, err := c.Resolve(t.Context(), f.ref(""))
	require.NoError(t, err, "no tag means latest")
	assert.Equal(t, v1alpha1.MigrationArtifactType, resolved.ArtifactType)

	dir := t.TempDir()
	require.NoError(t, c.Fetch(t.Context(), pinned, intent.MigrationArtifact, dir), "an empty directory is a fit target")
	again, err := Capture(os.DirFS(dir), CaptureOptions{RequireSum: true, Format: PtahFormat})
	require.NoError(t, err)
	assert.Equal(t, sortedByName(captured(t).Files), again.Files)
}

func TestPushIsDeterministicAndQuiet(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	first, err := c.PushSchema(t.Context(), f.ref(":v1"), model, sources, stamped)
	require.NoError(t, err)
	reversed := []File{sources[1], sources[0]}
	before := len(f.recorded())
	second, err := c.PushSchema(t.Context(), f.ref(":v1"), model, reversed, stamped)
	require.NoError(t, err)
	assert.Equal(t, first, second, "the order of the sources does not matter")
	for _, r := range f.recorded()[before:] {
		assert.Contains(t, []string{http.MethodHead, http.MethodGet}, r.method, "what is there already is not sent again")
	}
	other, err := c.PushSchema(t.Context(), f.ref(":v2"), model, nil, stamped)
	require.NoError(t, err)
	assert.NotEqual(t, first, other)
}

func TestTags(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	other := []byte(`{"version":2}`)
	push := func(suffix string, model []byte, o PushOptions) error {
		_, err := c.PushSchema(t.Context(), f.ref(suffix), model, nil, o)
		return err
	}
	t.Run("an ordinary tag moves", func(t *testing.T) {
		require.NoError(t, push(":stable", model, PushOptions{}))
		require.NoError(t, push(":stable", other, PushOptions{}))
	})
	t.Run("a generated version does not", func(t *testing.T) {
		require.NoError(t, push(":v20260101000000-abcdefgh", model, PushOptions{}))
		require.NoError(t, push(":v20260101000000-abcdefgh", model, PushOptions{}), "the same content is no move")
		requireCode(t, push(":v20260101000000-abcdefgh", other, PushOptions{}), frame.CodeConfigurationInvalid, "written once")
	})
	t.Run("a tag that is asked to stay does not", func(t *testing.T) {
		require.NoError(t, push(":1.0", model, PushOptions{WriteOnce: true}))
		requireCode(t, push(":1.0", other, PushOptions{WriteOnce: true}), frame.CodeConfigurationInvalid, "written once")
	})
	t.Run("a digest is no tag", func(t *testing.T) {
		requireCode(t, push("@"+someDigest, model, PushOptions{}), frame.CodeConfigurationInvalid, "a push names a tag")
		requireCode(t, push(":v1@"+someDigest, model, PushOptions{}), frame.CodeConfigurationInvalid, "a push names a tag")
	})
}

func TestPushRefuses(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	big := make([]byte, MaxLayer+1)
	many := make([]File, MaxFiles)
	for i := range many {
		many[i] = File{Name: fmt.Sprintf("%d.sql", i)}
	}
	var heavy []File
	for i := range 9 {
		heavy = append(heavy, File{Name: fmt.Sprintf("%d.sql", i), Data: big[:MaxLayer]})
	}
	cases := map[string]struct {
		model   []byte
		sources []File
		options PushOptions
		code    frame.Code
		why     string
	}{
		"no model":          {nil, nil, PushOptions{}, frame.CodeArtifactInvalid, "not JSON"},
		"model is SQL":      {[]byte("CREATE"), nil, PushOptions{}, frame.CodeArtifactInvalid, "not JSON"},
		"large model":       {[]byte(`"` + strings.Repeat("x", MaxLayer) + `"`), nil, PushOptions{}, frame.CodeArtifactTooLarge, "8 MiB"},
		"large source":      {model, []File{{Name: "a.sql", Data: big}}, PushOptions{}, frame.CodeArtifactTooLarge, "8 MiB"},
		"heavy altogether":  {model, heavy, PushOptions{}, frame.CodeArtifactTooLarge, "64 MiB"},
		"too many":          {model, many, PushOptions{}, frame.CodeArtifactTooLarge, "2000"},
		"unsafe name":       {model, []File{{Name: "../a.sql"}}, PushOptions{}, frame.CodeArtifactInvalid, "leads out"},
		"case twins":        {model, []File{{Name: "a.sql"}, {Name: "A.sql"}}, PushOptions{}, frame.CodeArtifactInvalid, "letter case"},
		"credential in URL": {model, nil, PushOptions{Annotations: Annotations{Source: "https://ci:hunter2@git.example/x"}}, frame.CodeConfigurationInvalid, "user information"},
		"control in value":  {model, nil, PushOptions{Annotations: Annotations{Revision: "a\nb"}}, frame.CodeConfigurationInvalid, "control"},
		"overlong value":    {model, nil, PushOptions{Annotations: Annotations{BuildRun: strings.Repeat("x", 1025)}}, frame.CodeConfigurationInvalid, "1024"},
		"source is no URL":  {model, nil, PushOptions{Annotations: Annotations{Source: "http://[::1"}}, frame.CodeConfigurationInvalid, "not a URL"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := c.PushSchema(t.Context(), f.ref(":v1"), tc.model, tc.sources, tc.options)
			requireCode(t, err, tc.code, tc.why)
		})
	}
	_, err := c.PushMigrations(t.Context(), f.ref(":v1"), Directory{}, PushOptions{})
	requireCode(t, err, frame.CodeConfigurationInvalid, "format")
	assert.Empty(t, f.recorded(), "nothing was sent")
}

func TestBrokenPushLeavesTheTag(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	pinned, err := c.PushSchema(t.Context(), f.ref(":v1"), model, nil, PushOptions{})
	require.NoError(t, err)
	f.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/blobs/") {
			http.Error(w, "leaky server text", http.StatusInsufficientStorage)
			return true
		}
		return false
	})
	_, err = c.PushSchema(t.Context(), f.ref(":v1"), []byte(`{"version":2}`), nil, PushOptions{})
	requireCode(t, err, frame.CodeRegistryUnreachable, "HTTP 507")
	f.intercept(nil)
	resolved, err := c.Resolve(t.Context(), f.ref(":v1"))
	require.NoError(t, err)
	assert.Equal(t, pinned, resolved.ResolvedReference)
}

func TestAnnotationsFrom(t *testing.T) {
	env := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	assert.Equal(t, Annotations{Version: "1"}, AnnotationsFrom(env(nil), "1"))
	github := map[string]string{"GITHUB_SERVER_URL": "https://git.example", "GITHUB_REPOSITORY": "a/b", "GITHUB_SHA": "c0", "GITHUB_RUN_ID": "9"}
	assert.Equal(t, Annotations{Source: "https://git.example/a/b", Revision: "c0", BuildRun: "9", Version: "1"}, AnnotationsFrom(env(github), "1"))
	gitlab := map[string]string{"CI_PROJECT_URL": "https://lab.example/a", "CI_COMMIT_SHA": "c1", "CI_PIPELINE_ID": "8"}
	assert.Equal(t, Annotations{Source: "https://lab.example/a", Revision: "c1", BuildRun: "8", Version: "1"}, AnnotationsFrom(env(gitlab), "1"))
	github["PTAH_OCI_SOURCE"], github["PTAH_OCI_REVISION"], github["PTAH_OCI_BUILD_RUN"] = "https://own.example", "r", "b"
	assert.Equal(t, Annotations{Source: "https://own.example", Revision: "r", BuildRun: "b", Version: "1"}, AnnotationsFrom(env(github), "1"))
}

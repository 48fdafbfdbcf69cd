package artifact

import (
	"archive/tar"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

// hostile is a manifest as a publisher with bad intentions could write it.
func hostile(artifactType string, layers ...ocispec.Descriptor) ocispec.Manifest {
	return ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: artifactType,
		Config: ocispec.DescriptorEmptyJSON, Layers: layers,
	}
}

func TestFetchRefusesLayouts(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	modelLayer := f.layer(t, v1alpha1.SchemaModelLayerMediaType, ModelFile, model)
	source := func(title string) ocispec.Descriptor {
		return f.layer(t, v1alpha1.SourceLayerMediaType, title, []byte("x"))
	}
	script := func(title string) ocispec.Descriptor {
		return f.layer(t, v1alpha1.MigrationFileLayerMediaType, title, []byte("SELECT 1;\n"))
	}
	packed := func(entries ...entry) ocispec.Descriptor {
		return f.layer(t, "application/vnd.oci.image.layer.v1.tar+gzip", "dir.tar.gz", gzipped(t, archive(t, entries...)))
	}
	resized := func(d ocispec.Descriptor, size int64) ocispec.Descriptor { d.Size = size; return d }
	redigested := func(d ocispec.Descriptor, to digest.Digest) ocispec.Descriptor { d.Digest = to; return d }
	many := make([]ocispec.Descriptor, MaxFiles+1)
	for i := range many {
		many[i] = script("a.sql")
	}
	heavy := make([]ocispec.Descriptor, 9)
	for i := range heavy {
		heavy[i] = resized(script(strings.Repeat("a", i+1)+".sql"), MaxLayer)
	}
	schema, migration := v1alpha1.SchemaArtifactType, v1alpha1.MigrationArtifactType
	cases := map[string]struct {
		kind     intent.ArtifactKind
		manifest ocispec.Manifest
		code     frame.Code
		why      string
	}{
		"container image":               {intent.SchemaArtifact, hostile("", modelLayer), frame.CodeArtifactTypeRefused, "artifact type"},
		"migrations as a schema":        {intent.SchemaArtifact, hostile(migration, modelLayer), frame.CodeArtifactTypeRefused, "artifact type"},
		"schema as migrations":          {intent.MigrationArtifact, hostile(schema, script("a.sql")), frame.CodeArtifactTypeRefused, "artifact type"},
		"no layers":                     {intent.SchemaArtifact, hostile(schema), frame.CodeArtifactTypeRefused, "no layer"},
		"schema.hcl of the toolkit":     {intent.SchemaArtifact, hostile(schema, f.layer(t, "text/plain", "schema.hcl", []byte("x"))), frame.CodeArtifactTypeRefused, "kubectl ptah push schema"},
		"model is not first":            {intent.SchemaArtifact, hostile(schema, source("sources/a.sql"), modelLayer), frame.CodeArtifactTypeRefused, "first layer"},
		"two models":                    {intent.SchemaArtifact, hostile(schema, modelLayer, modelLayer), frame.CodeArtifactInvalid, "twice"},
		"source outside sources":        {intent.SchemaArtifact, hostile(schema, modelLayer, source("evil.sql")), frame.CodeArtifactTypeRefused, "neither"},
		"source leads out":              {intent.SchemaArtifact, hostile(schema, modelLayer, source("sources/../../evil")), frame.CodeArtifactInvalid, "leads out"},
		"archive in a schema":           {intent.SchemaArtifact, hostile(schema, modelLayer, packed()), frame.CodeArtifactTypeRefused, "neither"},
		"layer without a title":         {intent.MigrationArtifact, hostile(migration, script("")), frame.CodeArtifactInvalid, "empty"},
		"absolute title":                {intent.MigrationArtifact, hostile(migration, script("/a.sql")), frame.CodeArtifactInvalid, "absolute"},
		"backslash title":               {intent.MigrationArtifact, hostile(migration, script(`..\a.sql`)), frame.CodeArtifactInvalid, "backslash"},
		"NUL title":                     {intent.MigrationArtifact, hostile(migration, script("a\x00.sql")), frame.CodeArtifactInvalid, "control"},
		"twin titles":                   {intent.MigrationArtifact, hostile(migration, script("a.sql"), script("A.sql")), frame.CodeArtifactInvalid, "letter case"},
		"foreign file":                  {intent.MigrationArtifact, hostile(migration, script("run.sh")), frame.CodeArtifactTypeRefused, "run.sh"},
		"nested sum":                    {intent.MigrationArtifact, hostile(migration, script("a.sql"), script("x/ptah.sum")), frame.CodeArtifactTypeRefused, "ptah.sum"},
		"too many layers":               {intent.MigrationArtifact, hostile(migration, many...), frame.CodeArtifactTooLarge, "2000"},
		"large layer":                   {intent.MigrationArtifact, hostile(migration, resized(script("a.sql"), MaxLayer+1)), frame.CodeArtifactTooLarge, "8 MiB"},
		"absurd size":                   {intent.MigrationArtifact, hostile(migration, resized(script("a.sql"), 1<<62)), frame.CodeArtifactTooLarge, "8 MiB"},
		"negative size":                 {intent.MigrationArtifact, hostile(migration, resized(script("a.sql"), -1)), frame.CodeArtifactInvalid, "negative"},
		"heavy altogether":              {intent.MigrationArtifact, hostile(migration, heavy...), frame.CodeArtifactTooLarge, "64 MiB"},
		"size is a lie":                 {intent.MigrationArtifact, hostile(migration, resized(script("a.sql"), 3)), "", ""},
		"other digest algorithm":        {intent.MigrationArtifact, hostile(migration, redigested(script("a.sql"), digest.Digest("sha512:"+strings.Repeat("0", 128)))), frame.CodeArtifactInvalid, "SHA-256"},
		"layer that is not there":       {intent.MigrationArtifact, hostile(migration, redigested(script("a.sql"), someDigest)), frame.CodeArtifactNotFound, "no such"},
		"archive with a link":           {intent.MigrationArtifact, hostile(migration, packed(entry{header: tar.Header{Name: "a.sql", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}})), frame.CodeArtifactInvalid, "link"},
		"archive that leads out":        {intent.MigrationArtifact, hostile(migration, packed(entry{header: tar.Header{Name: "../../a.sql"}, data: "x"})), frame.CodeArtifactInvalid, "leads out"},
		"archive with a foreign file":   {intent.MigrationArtifact, hostile(migration, packed(entry{header: tar.Header{Name: "run.sh"}, data: "x"})), frame.CodeArtifactTypeRefused, "run.sh"},
		"archive and layer collide":     {intent.MigrationArtifact, hostile(migration, script("a.sql"), packed(entry{header: tar.Header{Name: "A.sql"}, data: "x"})), frame.CodeArtifactInvalid, "letter case"},
		"archive that is not gzip":      {intent.MigrationArtifact, hostile(migration, f.layer(t, "x/y.tar+gzip", "", []byte("no"))), frame.CodeArtifactInvalid, "not gzip"},
		"archive of an unknown packing": {intent.MigrationArtifact, hostile(migration, f.layer(t, "x/y.tar+zstd", "d", []byte("no"))), frame.CodeArtifactTypeRefused, "gzip"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := f.tag(t, "evil", tc.manifest)
			parent := t.TempDir()
			dir := filepath.Join(parent, "artifact")
			err := c.Fetch(t.Context(), f.ref("@"+d.Digest.String()), tc.kind, dir)
			if tc.code == "" {
				require.Error(t, err)
				assert.NotEqual(t, frame.CodeInternal, CodeOf(err))
			} else {
				requireCode(t, err, tc.code, tc.why)
			}
			assert.Empty(t, tree(t, parent), "nothing is left behind")
			entries, err := os.ReadDir(parent)
			require.NoError(t, err)
			assert.Empty(t, entries)
		})
	}
}

func TestFetchReadsOtherPeoplesMigrations(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	layers := []ocispec.Descriptor{
		f.layer(t, "application/octet-stream", "0000000001_a.up.sql", []byte("A")),
		f.layer(t, "application/vnd.oci.image.layer.v1.tar+gzip", "rest", gzipped(t, archive(t, entry{header: tar.Header{Name: "0000000001_a.down.sql"}, data: "B"}))),
	}
	d := f.tag(t, "alias", hostile(v1alpha1.MigrationArtifactTypeAlias, layers...))
	dir := filepath.Join(t.TempDir(), "m")
	require.NoError(t, c.Fetch(t.Context(), f.ref("@"+d.Digest.String()), intent.MigrationArtifact, dir))
	assert.Equal(t, map[string]string{"0000000001_a.up.sql": "A", "0000000001_a.down.sql": "B"}, tree(t, dir))
}

func TestFetchTargets(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	pinned, err := c.PushSchema(t.Context(), f.ref(":v1"), model, nil, PushOptions{})
	require.NoError(t, err)
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o600))
	requireCode(t, c.Fetch(t.Context(), pinned, intent.SchemaArtifact, full), frame.CodeConfigurationInvalid, "not empty")
	requireCode(t, c.Fetch(t.Context(), pinned, intent.SchemaArtifact, filepath.Join(full, "x")), frame.CodeConfigurationInvalid, "not a directory")
	requireCode(t, c.Fetch(t.Context(), pinned, intent.SchemaArtifact, filepath.Join(full, "no", "parent")), frame.CodeConfigurationInvalid, "parent")
	requireCode(t, c.Fetch(t.Context(), f.ref(":v1"), intent.SchemaArtifact, filepath.Join(full, "y")), frame.CodeConfigurationInvalid, "no digest")
	requireCode(t, c.Fetch(t.Context(), pinned, "image", filepath.Join(full, "y")), frame.CodeConfigurationInvalid, "neither schema nor migration")
	assert.Equal(t, map[string]string{"x": ""}, tree(t, full))
}

// TestTamperedContentIsRefused covers a registry that serves other bytes than the digest names.
func TestTamperedContentIsRefused(t *testing.T) {
	for name, part := range map[string]string{"manifest": "/manifests/", "layer": "/blobs/"} {
		t.Run(name, func(t *testing.T) {
			f := newRegistry(t, registryOptions{})
			c := f.client(t, Options{})
			pinned, err := c.PushSchema(t.Context(), f.ref(":v1"), model, nil, PushOptions{})
			require.NoError(t, err)
			f.intercept(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, part) {
					return false
				}
				f.inner.ServeHTTP(&flipper{ResponseWriter: w}, r)
				return true
			})
			dir := filepath.Join(t.TempDir(), "x")
			requireCode(t, c.Fetch(t.Context(), pinned, intent.SchemaArtifact, dir), frame.CodeArtifactInvalid, "other bytes")
			assert.NoDirExists(t, dir)
		})
	}
}

// flipper changes the first byte of a body.
type flipper struct {
	http.ResponseWriter
	done bool
}

func (f *flipper) Write(p []byte) (int, error) {
	if !f.done && len(p) > 0 {
		p = append([]byte{p[0] ^ 1}, p[1:]...)
		f.done = true
	}
	return f.ResponseWriter.Write(p)
}

func TestLargeArtifactPassesWithinBounds(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	d := Directory{Format: AtlasFormat}
	for i := range 300 {
		data := make([]byte, 64<<10)
		_, _ = rand.Read(data)
		d.Files = append(d.Files, File{Name: strings.Repeat("a", i/26+1) + string(rune('a'+i%26)) + ".sql", Data: data})
	}
	pinned, err := c.PushMigrations(t.Context(), f.ref(":big"), d, PushOptions{})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "x")
	require.NoError(t, c.Fetch(t.Context(), pinned, intent.MigrationArtifact, dir))
	assert.Len(t, tree(t, dir), 300)
}

func digestOf(text string) digest.Digest { return digest.Digest(text) }

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	flag "github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The digest of the configuration of an image made of fixed bytes, which covers the unpacked layer. It changes with the layout of the
// image only; say so in the commit. (The manifest also depends on the toolchain's gzip.)
const goldenConfig = "sha256:cd434595a4fa10f3e77a37dc7b9a762cdc60be1535ff41998013fdd5dffdee2c"

func fixture() (image, []executable) {
	return images[0], []executable{{"/manager", []byte("manager")}, {"/ptah-runner", []byte("runner")}}
}

func TestAssembleIsReproducible(t *testing.T) {
	i, programs := fixture()
	first, err := assemble(i, "amd64", programs, map[string]string{"b": "2", "a": "1"})
	require.NoError(t, err)
	second, err := assemble(i, "amd64", programs, map[string]string{"a": "1", "b": "2"})
	require.NoError(t, err)
	assert.Equal(t, first, second)
	assert.Equal(t, goldenConfig, first.blobs[1].descriptor.Digest.String())

	other, err := assemble(i, "arm64", programs, map[string]string{"a": "1", "b": "2"})
	require.NoError(t, err)
	assert.NotEqual(t, first.root.descriptor.Digest, other.root.descriptor.Digest)
}

func TestAssembledImageIsWhatARuntimeExpects(t *testing.T) {
	i, programs := fixture()
	a, err := assemble(i, "amd64", programs, nil)
	require.NoError(t, err)

	manifest, err := v1.ParseManifest(bytes.NewReader(a.root.data))
	require.NoError(t, err)
	assert.Equal(t, ocispec.MediaTypeImageManifest, string(manifest.MediaType))
	config, err := v1.ParseConfigFile(bytes.NewReader(a.blobs[1].data))
	require.NoError(t, err)
	assert.Equal(t, "65532:65532", config.Config.User)
	assert.Equal(t, []string{"/manager"}, config.Config.Entrypoint)
	assert.Equal(t, "linux/amd64", config.Platform().String())
	assert.True(t, config.Created.IsZero())

	entries := map[string]*tar.Header{}
	plain, err := gzip.NewReader(bytes.NewReader(a.blobs[0].data))
	require.NoError(t, err)
	unpacked, err := io.ReadAll(plain)
	require.NoError(t, err)
	digest, _, err := v1.SHA256(bytes.NewReader(unpacked))
	require.NoError(t, err)
	assert.Equal(t, config.RootFS.DiffIDs, []v1.Hash{digest})
	r := tar.NewReader(bytes.NewReader(unpacked))
	for h, err := r.Next(); !errors.Is(err, io.EOF); h, err = r.Next() {
		require.NoError(t, err)
		entries[h.Name] = h
		assert.Zero(t, h.ModTime.Unix(), h.Name)
		assert.Zero(t, h.Uid+h.Gid, h.Name)
	}
	assert.Equal(t, int64(0o755), entries["manager"].Mode)
	assert.Equal(t, int64(0o755), entries["ptah-runner"].Mode)
	assert.Equal(t, int64(0o1777), entries["tmp/"].Mode)
	assert.Len(t, entries, 6)
}

func TestBuildTwiceGivesTheSameDigests(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program twice")
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	hello := buildHello(t)

	lines := func(dir string) string {
		var out, progress bytes.Buffer
		require.NoError(t, run(t.Context(), []string{
			"--registry", host + "/some/prefix", "--prebuilt", hello, "--version", "1.2.3+4", "--revision", "abc",
			"--oci-layout", dir, "--output", "json", filepath.Join(dir, "images.json"),
		}, &out, &progress), progress.String())
		return out.String()
	}
	one, two := t.TempDir(), t.TempDir()
	first := lines(one)
	assert.Equal(t, first, lines(two))
	assert.Regexp(t, `^manager=`+host+`/some/prefix/manager@sha256:[0-9a-f]{64}
executor=`+host+`/some/prefix/executor@sha256:[0-9a-f]{64}
kubectl-ptah=`+host+`/some/prefix/kubectl-ptah@sha256:[0-9a-f]{64}
$`, first)

	for _, name := range []string{"manager.tar", "executor.tar", "kubectl-ptah.tar"} {
		a, err := os.ReadFile(filepath.Join(one, name))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(two, name))
		require.NoError(t, err)
		assert.Equal(t, a, b, name)
		checkLayout(t, a)
	}

	var document struct{ Images []result }
	data, err := os.ReadFile(filepath.Join(one, "images.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &document))
	require.Len(t, document.Images, 3)
	assert.Contains(t, first, document.Images[0].Reference)
	assert.Equal(t, "1.2.3-4", document.Images[0].Tag)

	// The registry has the very content that the lines name.
	response, err := server.Client().Get(server.URL + "/v2/some/prefix/manager/manifests/" + document.Images[0].Digest)
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.Equal(t, 200, response.StatusCode)
}

// buildHello links the fixture through the builder, twice into two places, and lays it out as --prebuilt wants it.
func buildHello(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	platform := "linux/" + runtime.GOARCH
	var contents [][]byte
	for _, name := range []string{"manager", "executor"} {
		b := builder{source: "../..", binDir: dir, version: "1.2.3", revision: "abc", progress: io.Discard}
		file, err := b.file(t.Context(), platform, binary{name: name, path: "./hack/images/testdata/hello"})
		require.NoError(t, err)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		contents = append(contents, data)
	}
	assert.Equal(t, contents[0], contents[1], "the same source links to the same bytes")
	assert.Contains(t, string(contents[0]), "1.2.3")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "linux_"+runtime.GOARCH, "kubectl-ptah"), contents[0], 0o600))
	return dir
}

func checkLayout(t *testing.T, archive []byte) {
	t.Helper()
	files := map[string][]byte{}
	r := tar.NewReader(bytes.NewReader(archive))
	for h, err := r.Next(); !errors.Is(err, io.EOF); h, err = r.Next() {
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		files[h.Name] = data
	}
	top, err := v1.ParseIndexManifest(bytes.NewReader(files["index.json"]))
	require.NoError(t, err)
	require.Len(t, top.Manifests, 1)
	root := files["blobs/sha256/"+top.Manifests[0].Digest.Hex]
	manifest, err := v1.ParseManifest(bytes.NewReader(root))
	require.NoError(t, err)
	for _, d := range append(manifest.Layers, manifest.Config) {
		got, _, err := v1.SHA256(bytes.NewReader(files["blobs/sha256/"+d.Digest.Hex]))
		require.NoError(t, err)
		assert.Equal(t, d.Digest, got)
	}
}

func TestSeveralPlatformsGiveAnIndex(t *testing.T) {
	i, programs := fixture()
	var parts []assembly
	for _, arch := range []string{"amd64", "arm64"} {
		a, err := assemble(i, arch, programs, nil)
		require.NoError(t, err)
		parts = append(parts, a)
	}
	whole, err := index(parts, []string{"amd64", "arm64"}, nil)
	require.NoError(t, err)
	top, err := v1.ParseIndexManifest(bytes.NewReader(whole.root.data))
	require.NoError(t, err)
	require.Len(t, top.Manifests, 2)
	assert.Equal(t, "linux/arm64", top.Manifests[1].Platform.String())
	assert.Len(t, whole.blobs, 6)
}

func TestDynamicAndForeignFilesAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600))
	assert.ErrorContains(t, checkStatic(file), "ELF")
	if sh, err := filepath.EvalSymlinks("/bin/sh"); err == nil {
		assert.ErrorContains(t, checkStatic(sh), "dynamically")
	}
}

func TestPlainHTTPByNature(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost:5000": true, "127.0.0.1:5000": true, "127.1.2.3": true, "[::1]:5000": true, "10.88.0.1:5000": true,
		"10.88.0.2:5000": false, "registry.example:5000": false, "192.0.2.1": false,
	} {
		assert.Equal(t, want, plainByNature(host), host)
	}
}

func TestCommandLine(t *testing.T) {
	refused := map[string][]string{
		"nothing to do":      {},
		"unknown flag":       {"--nope"},
		"bad output":         {"--oci-layout", "x", "--output", "yaml"},
		"file without json":  {"--oci-layout", "x", "out.json"},
		"two files":          {"--oci-layout", "x", "--output", "json", "a", "b"},
		"bad platform":       {"--oci-layout", "x", "--platform", "windows/amd64"},
		"no platform":        {"--oci-layout", "x", "--platform", ""},
		"unknown image":      {"--oci-layout", "x", "--only", "manager,nope"},
		"registry with path": {"--registry", "host/Upper"},
		"bad plain-http":     {"--registry", "host/x", "--plain-http", "maybe"},
	}
	for name, args := range refused {
		t.Run(name, func(t *testing.T) {
			_, err := parse(args, io.Discard)
			var usage usageError
			require.ErrorAs(t, err, &usage)
		})
	}
	var help bytes.Buffer
	_, err := parse([]string{"--help"}, &help)
	require.ErrorIs(t, err, flag.ErrHelp)
	for _, name := range []string{"--registry", "--plain-http", "--oci-layout", "--output", "--platform", "--only", "--bin-dir", "--version"} {
		assert.Contains(t, help.String(), name)
	}
}

// What tests need is made only where it is named, and what is shipped is built without tags.
func TestVariantsAreNeverShipped(t *testing.T) {
	names := func(list []image) []string {
		var out []string
		for _, i := range list {
			out = append(out, i.name)
			for _, f := range i.files {
				if slices.Contains([]string{"manager", "executor", "kubectl-ptah"}, i.name) {
					assert.Empty(t, f.binary.tags, i.name)
				}
			}
		}
		return out
	}
	assert.Equal(t, []string{"manager", "executor", "kubectl-ptah"}, names(chosen(nil)))
	assert.Equal(t, []string{"executor", "manager-failpoints"}, names(chosen([]string{"manager-failpoints", "executor"})))
}

func TestSourceRevisionOutsideARepository(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(t.TempDir()))
	assert.Equal(t, "unknown", sourceRevision(t.Context(), t.TempDir()))
}

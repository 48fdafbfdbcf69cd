package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestArchivesHoldTheSameBytesEveryTime(t *testing.T) {
	contents := []entry{{"kubectl-ptah", 0o755, []byte("program")}, {"LICENSE", 0o644, []byte("terms")}, {"man/man1/kubectl-ptah.1", 0o644, []byte("page")}}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			first, err := pack(goos, contents)
			require.NoError(t, err)
			second, err := pack(goos, contents)
			require.NoError(t, err)
			assert.Equal(t, first, second)
			assert.Equal(t, []string{"kubectl-ptah 755 program", "LICENSE 644 terms", "man/man1/kubectl-ptah.1 644 page"}, unpack(t, goos, first))
		})
	}
}

// unpack lists an archive as "name mode data".
func unpack(t *testing.T, goos string, data []byte) []string {
	t.Helper()
	var list []string
	add := func(name string, mode os.FileMode, r io.Reader) {
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		list = append(list, strings.Join([]string{name, strings.TrimPrefix(mode.Perm().String(), "-"), string(text)}, " "))
	}
	if goos == "windows" {
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, f := range archive.File {
			r, err := f.Open()
			require.NoError(t, err)
			add(f.Name, f.Mode(), r)
		}
		return modes(list)
	}
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return modes(list)
		}
		require.NoError(t, err)
		add(header.Name, header.FileInfo().Mode(), archive)
	}
}

func modes(list []string) []string {
	for i := range list {
		list[i] = strings.NewReplacer("rwxr-xr-x", "755", "rw-r--r--", "644").Replace(list[i])
	}
	return list
}

// TestKrewInstallsTheArchive builds this machine's archive, has krew's validator read the manifest, and installs with krew itself.
func TestKrewInstallsTheArchive(t *testing.T) {
	tools := os.Getenv("PTAH_RELEASE_TOOLS")
	if tools == "" {
		t.Skip(`PTAH_RELEASE_TOOLS names no directory with krew in it; "make test-release" sets it`)
	}
	out := filepath.Join(t.TempDir(), "release")
	r := release{
		source: filepath.Join("..", ".."), out: out, tools: tools, version: "0.1.0", revision: "test",
		baseURL: "https://downloads.example", platforms: []string{runtime.GOOS + "/" + runtime.GOARCH},
	}
	require.NoError(t, r.run(t.Context()))
	name := "kubectl-ptah_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH

	t.Run("the digests are those of the files", func(t *testing.T) {
		check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
		check.Dir = out
		said, err := check.CombinedOutput()
		require.NoError(t, err, string(said))
		assert.Equal(t, 3, strings.Count(string(said), ": OK\n"), string(said))
	})
	t.Run("a second build gives the same bytes", func(t *testing.T) {
		again := r
		again.out = filepath.Join(t.TempDir(), "release")
		require.NoError(t, again.run(t.Context()))
		first, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		require.NoError(t, err)
		second, err := os.ReadFile(filepath.Join(again.out, "SHA256SUMS"))
		require.NoError(t, err)
		assert.Equal(t, string(first), string(second))
	})
	t.Run("the SBOM names what is linked in", func(t *testing.T) {
		var bom struct {
			Components []struct{ Name string } `json:"components"`
		}
		data, err := os.ReadFile(filepath.Join(out, name+".sbom.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &bom))
		var names []string
		for _, c := range bom.Components {
			names = append(names, c.Name)
		}
		assert.Subset(t, names, []string{"github.com/spf13/cobra", "k8s.io/client-go", "std"})
	})
	t.Run("krew installs it", func(t *testing.T) {
		root := t.TempDir()
		install := exec.Command(filepath.Join(tools, "krew"), "install", "--manifest", filepath.Join(out, "ptah.yaml"), "--archive", filepath.Join(out, name+".tar.gz"))
		install.Env = []string{"KREW_ROOT=" + root, "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KREW_NO_UPGRADE_CHECK=1"}
		said, err := install.CombinedOutput()
		require.NoError(t, err, string(said))
		assert.Contains(t, string(said), "Installed plugin: ptah")
		version, err := exec.Command(filepath.Join(root, "bin", "kubectl-ptah"), "version", "--client").CombinedOutput()
		require.NoError(t, err, string(version))
		assert.Contains(t, string(version), "0.1.0")
	})
	t.Run("it runs from the plain archive", func(t *testing.T) {
		directory := t.TempDir()
		said, err := exec.Command("tar", "-xzf", filepath.Join(out, name+".tar.gz"), "-C", directory).CombinedOutput()
		require.NoError(t, err, string(said))
		help, err := exec.Command(filepath.Join(directory, "kubectl-ptah"), "--help").CombinedOutput()
		require.NoError(t, err, string(help))
		assert.FileExists(t, filepath.Join(directory, "man", "man1", "kubectl-ptah.1"))
		assert.FileExists(t, filepath.Join(directory, "LICENSE"))
	})
}

func TestTheManifestNamesEveryPlatform(t *testing.T) {
	out := t.TempDir()
	r := release{source: filepath.Join("..", ".."), out: out, tools: accepting(t), version: "1.2.3", baseURL: "https://downloads.example"}
	var archives []archive
	for _, platform := range strings.Split(allPlatforms, ",") {
		goos, goarch, _ := strings.Cut(platform, "/")
		archives = append(archives, archive{OS: goos, Arch: goarch, File: goos + "-" + goarch, Binary: "kubectl-ptah", SHA256: strings.Repeat("a", 64)})
	}
	require.NoError(t, r.manifest(t.Context(), archives))
	data, err := os.ReadFile(filepath.Join(out, "ptah.yaml"))
	require.NoError(t, err)
	var manifest struct {
		Spec struct {
			Version   string `json:"version"`
			Platforms []struct {
				URI      string `json:"uri"`
				Selector struct {
					MatchLabels map[string]string `json:"matchLabels"`
				} `json:"selector"`
			} `json:"platforms"`
		} `json:"spec"`
	}
	require.NoError(t, yaml.Unmarshal(data, &manifest))
	assert.Equal(t, "v1.2.3", manifest.Spec.Version)
	var names []string
	for _, p := range manifest.Spec.Platforms {
		names = append(names, p.Selector.MatchLabels["os"]+"/"+p.Selector.MatchLabels["arch"])
		assert.True(t, strings.HasPrefix(p.URI, "https://downloads.example/v1.2.3/"), p.URI)
	}
	assert.Equal(t, strings.Split(allPlatforms, ","), names)
}

// accepting is a tools directory whose validator accepts anything: krew's own is in TestKrewInstallsTheArchive.
func accepting(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, "validate-krew-manifest"), []byte("#!/bin/sh\nexit 0\n"), 0o755)) //nolint:gosec // to be run
	return directory
}

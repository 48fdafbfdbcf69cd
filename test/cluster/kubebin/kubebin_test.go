package kubebin

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindVersion(t *testing.T) {
	for name, tc := range map[string]struct{ output, want string }{
		"API server": {"Kubernetes v1.37.2\n", "v1.37.2"},
		"kubectl":    {"Client Version: v1.37.2\nKustomize Version: v5.8.1\n", "v1.37.2"},
		"etcd":       {"etcd Version: 3.7.3\nGit SHA: Not provided\nGo Version: go1.26.8\n", "v3.7.3"},
		"helm":       {"v4.3.1\n", "v4.3.1"},
		"nothing":    {"usage: thing\n", ""},
		"a dot file": {"v..x\n", ""},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, findVersion(tc.output)) })
	}
}

func TestFits(t *testing.T) {
	assert.NoError(t, fits("kubelet", "v1.37.0"))
	assert.ErrorContains(t, fits("kubelet", "v1.38.0"), "wanted v1.37.x")
	assert.ErrorContains(t, fits("kube-apiserver", "v1.36.9"), "it is v1.36.9")
	assert.NoError(t, fits("helm", "v4.0.0"))
	assert.Error(t, fits("helm", "v3.19.0"))
}

// requirements returns the module versions of a go.mod file, replacements applied.
func requirements(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	versions := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) (v\S+)`).FindAllStringSubmatch(string(data), -1) {
		versions[match[1]] = match[2]
	}
	for _, match := range regexp.MustCompile(`(?m)^replace (\S+) => \S+ (v\S+)`).FindAllStringSubmatch(string(data), -1) {
		versions[match[1]] = match[2]
	}
	return versions
}

func TestVersionsAgreeWithTheModule(t *testing.T) {
	versions := requirements(t, "../binaries/go.mod")
	assert.Equal(t, KubernetesVersion, versions["k8s.io/kubernetes"])
	assert.Equal(t, EtcdVersion, versions["go.etcd.io/etcd/server/v3"])
	assert.Equal(t, HelmVersion, versions["helm.sh/helm/v4"])
}

// One different version low in the graph and the tool and the programs share no compiled package any more.
func TestSharedModulesHaveOneVersion(t *testing.T) {
	programs, tool := requirements(t, "../binaries/go.mod"), requirements(t, "../go.mod")
	shared := 0
	for module, version := range tool {
		if strings.HasPrefix(module, "sigs.k8s.io/kind") || kindOnly[module] || programs[module] == "" {
			continue
		}
		shared++
		assert.Equal(t, programs[module], version, module)
	}
	assert.Greater(t, shared, 20)
}

// kindOnly are modules that only the kind driver uses, at the versions kind wants.
var kindOnly = map[string]bool{"github.com/BurntSushi/toml": true, "github.com/evanphx/json-patch/v5": true}

func fakeProgram(t *testing.T, dir, name, output string) {
	t.Helper()
	script := "#!/bin/sh\necho '" + output + "'\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
}

func TestProgramsTheUserPointsAt(t *testing.T) {
	assets := t.TempDir()
	fakeProgram(t, assets, "kube-apiserver", "Kubernetes v1.37.5")
	fakeProgram(t, assets, "etcd", "etcd Version: 3.6.1")
	fakeProgram(t, assets, "kubectl", "Client Version: v1.31.0")
	t.Setenv(assetsVariable, assets)
	t.Setenv(kubeBinVariable, "")
	set, told := Set{Paths: map[string]string{}}, &bytes.Buffer{}
	findPointed(context.Background(), &set, []string{"kube-apiserver", "etcd", "kubectl", "helm"}, told)
	assert.Equal(t, "v1.37.5", set.Version)
	assert.Equal(t, filepath.Join(assets, "etcd"), set.Paths["etcd"])
	assert.NotContains(t, set.Paths, "kubectl", "1.31 does not fit")
	assert.NotContains(t, set.Paths, "helm")
	assert.Contains(t, told.String(), "not using kubectl of KUBEBUILDER_ASSETS: it is v1.31.0, wanted v1.37.x")
}

func TestSecondBuilderWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := lockBuild(context.Background(), path, &bytes.Buffer{})
	require.NoError(t, err)
	told := &bytes.Buffer{}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = lockBuild(ctx, path, told)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Contains(t, told.String(), "another process is building")
	release()
	release, err = lockBuild(context.Background(), path, told)
	require.NoError(t, err)
	release()
}

func TestSourceKeyFollowsTheSource(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"binaries/go.mod", "binaries/go.sum", "binaries/hyperkube/main.go", "cmd/pause/main.go"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(file), 0o644))
	}
	before, err := sourceKey(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "binaries/go.sum"), []byte("other"), 0o644))
	after, err := sourceKey(dir)
	require.NoError(t, err)
	assert.NotEqual(t, before, after)
}

//go:build linux

package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestWriteFilesRendersEveryTemplate(t *testing.T) {
	config := Config{
		Name: "c", StateDir: t.TempDir(), CNIDir: "/usr/lib/cni", Cgroup: "ptah-c",
		PauseImage: "10.88.0.1:5000/p@sha256:0", NoNode: false,
	}
	require.NoError(t, config.WriteFiles())
	entries, err := files.ReadDir("files")
	require.NoError(t, err)
	assert.Len(t, targets, len(entries), "each template has a target")
	for name, target := range targets {
		data, err := os.ReadFile(config.etc(target))
		require.NoError(t, err, name)
		assert.NotContains(t, string(data), "<no value>", name)
		switch filepath.Ext(target) {
		case ".yaml":
			var value map[string]any
			assert.NoError(t, yaml.UnmarshalStrict(data, &value), name)
		case ".conflist":
			assert.True(t, json.Valid(data), name)
		}
	}
}

func TestHiddenDirectories(t *testing.T) {
	for dir, want := range map[string]bool{
		"/run/user/0/cache": true, "/var/lib/jenkins/.cache": true, "/var/lib": true, "/var/run/x": true,
		"/root/.cache/ptah": false, "/var/library": false, "/running": false,
	} {
		assert.Equal(t, want, hidden(dir), dir)
	}
}

func TestSchedulable(t *testing.T) {
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue}
	for name, tc := range map[string]struct {
		taints     []corev1.Taint
		conditions []corev1.NodeCondition
		want       string
	}{
		"ready":                {nil, []corev1.NodeCondition{ready}, ""},
		"ready, still tainted": {[]corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}, []corev1.NodeCondition{ready}, "taint k"},
		"not ready":            {nil, nil, "not ready"},
	} {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{}
			node.Spec.Taints, node.Status.Conditions = tc.taints, tc.conditions
			err := schedulable(node)
			if tc.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func TestLegacyCgroups(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "cpuset/cpuset.cpus"), "0-1\n")
	write(t, filepath.Join(root, "cpuset/cpuset.mems"), "0\n")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "memory"), 0o755))
	added, err := MakeCgroups(root, "ptah-c")
	require.NoError(t, err)
	assert.Empty(t, added)
	data, err := os.ReadFile(filepath.Join(root, "cpuset/ptah-c/cpuset.cpus"))
	require.NoError(t, err)
	assert.Equal(t, "0-1\n", string(data))
	// The kernel's files vanish with their directory; here they must be taken away first.
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		require.NoError(t, os.Remove(filepath.Join(root, "cpuset/ptah-c", file)))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(root, "memory/ptah-c/kubepods/burstable"), 0o755))
	require.NoError(t, RemoveCgroups(root, "ptah-c", nil))
	assert.NoDirExists(t, filepath.Join(root, "memory/ptah-c"))
	assert.NoDirExists(t, filepath.Join(root, "cpuset/ptah-c"))
	assert.DirExists(t, filepath.Join(root, "memory"))
}

func TestEnableControllers(t *testing.T) {
	for name, tc := range map[string]struct {
		available, enabled string
		added              []string
		wantErr            string
	}{
		"all delegated already":   {"cpuset cpu io memory hugetlb pids", "cpuset cpu io memory hugetlb pids", nil, ""},
		"one must be switched on": {"cpuset cpu io memory pids", "cpu io memory pids", []string{"cpuset"}, ""},
		"optional one is missing": {"cpuset cpu memory pids", "", []string{"cpuset", "cpu", "memory", "pids"}, ""},
		"required one is missing": {"cpu memory pids", "cpu memory pids", nil, "cgroup controller cpuset is not available"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "cgroup.controllers"), tc.available+"\n")
			write(t, filepath.Join(dir, "cgroup.subtree_control"), tc.enabled+"\n")
			added, err := enableControllers(dir)
			assert.Equal(t, tc.added, added)
			if tc.wantErr != "" {
				assert.ErrorContains(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			if len(added) > 0 {
				data, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
				require.NoError(t, err)
				assert.Equal(t, "+"+added[len(added)-1], string(data), "one controller a write: one refusal must not hold back others")
			}
		})
	}
}

func TestComponentsUseTheClustersOwnFiles(t *testing.T) {
	config := Config{
		StateDir: "/state", Self: "/state/bin/ptah-cluster", Binaries: map[string]string{"kube-apiserver": "/cache/kube-apiserver"},
	}
	flags := strings.Join(config.apiServer().Argv, " ")
	for _, want := range []string{
		"/cache/kube-apiserver ", "--enable-aggregator-routing=true", "--client-ca-file=/state/pki/ca.crt",
		"--audit-log-path=/state/logs/audit.log", "--authorization-mode=Node,RBAC",
	} {
		assert.Contains(t, flags, want)
	}
	assert.Equal(t, "/state/logs/dns.log", config.dns().LogFile)
}

//go:build linux

package local

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/process"
)

func TestLastLines(t *testing.T) {
	for name, tc := range map[string]struct {
		data string
		n    int
		want string
	}{
		"fewer than asked for": {"a\nb\n", 5, "a\nb\n"},
		"exactly one":          {"a\nb\n", 1, "b\n"},
		"unfinished last line": {"a\nb\nc", 2, "b\nc"},
		"empty":                {"", 3, ""},
		"empty lines count":    {"a\n\n\n", 2, "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.data[lastLines([]byte(tc.data), tc.n):])
		})
	}
}

func newTestDriver(t *testing.T) *Driver {
	t.Helper()
	t.Setenv("PTAH_CACHE_DIR", t.TempDir())
	d, err := New("c", "/nowhere")
	require.NoError(t, err)
	return d
}

func TestNothingIsRunning(t *testing.T) {
	d := newTestDriver(t)
	ctx := context.Background()
	var absent *cluster.NotRunningError
	_, err := d.Env(ctx)
	require.ErrorAs(t, err, &absent)
	_, err = d.Exec(ctx, []string{"true"})
	require.ErrorAs(t, err, &absent)
	require.ErrorAs(t, d.Logs(ctx, io.Discard, cluster.LogOptions{}), &absent)
	_, err = d.StartDatabase(ctx, cluster.DatabaseOptions{Name: "x", Engine: "postgres"})
	assert.Error(t, err)
	require.NoError(t, d.StopDatabase(ctx, "x", false))
	require.NoError(t, d.Down(ctx), "down of nothing is done at once")
	status, err := d.Status(ctx)
	require.NoError(t, err)
	assert.False(t, status.Running)
	assert.NoDirExists(t, string(d.state))
}

func TestADeadClusterIsRemoved(t *testing.T) {
	d := newTestDriver(t)
	require.NoError(t, d.state.Make("logs"))
	// Process 1 of this machine with another start time: a record from before a restart.
	dead := process.Identity{PID: 1, Start: 1, Boot: "another boot"}
	require.NoError(t, d.state.Save(&record{Name: "c", Supervisor: dead, Forwarder: dead, NoNode: true}))
	status, err := d.Status(context.Background())
	require.NoError(t, err)
	assert.False(t, status.Running)
	assert.Contains(t, status.Problem, "first process is gone")
	require.NoError(t, d.Down(context.Background()))
	assert.NoDirExists(t, filepath.Dir(string(d.state)))
}

func TestNamesThatCannotBeDirectories(t *testing.T) {
	for _, name := range []string{"", "..", "a/b", "A", "-a", "a-", "x123456789012345678901234567890123"} {
		_, err := New(name, "/nowhere")
		assert.Error(t, err, name)
	}
}

func TestLogs(t *testing.T) {
	d := newTestDriver(t)
	require.NoError(t, d.state.Make("logs"))
	require.NoError(t, os.WriteFile(d.state.Path("logs", "etcd.log"), []byte("1\n2\n3\n"), 0o644))
	out := &bytes.Buffer{}
	require.NoError(t, d.Logs(context.Background(), out, cluster.LogOptions{Component: "etcd", Lines: 2}))
	assert.Equal(t, "2\n3\n", out.String())
	err := d.Logs(context.Background(), out, cluster.LogOptions{Component: "kubelet"})
	assert.ErrorContains(t, err, "there are: etcd")

	out.Reset()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	time.AfterFunc(50*time.Millisecond, func() {
		file, err := os.OpenFile(d.state.Path("logs", "etcd.log"), os.O_APPEND|os.O_WRONLY, 0)
		if assert.NoError(t, err) {
			_, _ = file.WriteString("4\n")
			file.Close()
		}
	})
	seen := writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("4\n")) {
			cancel()
		}
		return out.Write(p)
	})
	require.NoError(t, d.Logs(ctx, seen, cluster.LogOptions{Component: "etcd", Lines: 1, Follow: true}))
	assert.Equal(t, "3\n4\n", out.String())
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestCheckDisk(t *testing.T) {
	assert.Empty(t, checkDisk(filepath.Join(t.TempDir(), "not", "made", "yet"), false))
	// /proc has no free block at all.
	needs := checkDisk("/proc", true)
	require.Len(t, needs, 1)
	assert.Contains(t, needs[0], "disk space for building Kubernetes: /proc has 0.0 GiB free, 8 GiB are needed")
	assert.Contains(t, needs[0], "PTAH_CACHE_DIR")
}

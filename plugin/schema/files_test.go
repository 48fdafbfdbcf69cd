package schema

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) (string, fs.FileMode) {
		t.Helper()
		data, err := os.ReadFile(at(name))
		require.NoError(t, err)
		info, err := os.Lstat(at(name))
		require.NoError(t, err)
		return string(data), info.Mode()
	}
	require.NoError(t, replaceFile(at("new"), []byte("1")))
	text, mode := read("new")
	assert.Equal(t, "1", text)
	assert.Equal(t, fs.FileMode(0o644), mode)

	require.NoError(t, os.Chmod(at("new"), 0o600))
	require.NoError(t, os.Symlink("new", at("link")))
	require.NoError(t, replaceFile(at("link"), []byte("2")))
	text, mode = read("new")
	assert.Equal(t, "2", text)
	assert.Equal(t, fs.FileMode(0o600), mode)
	_, mode = read("link")
	assert.Equal(t, fs.ModeSymlink, mode.Type())

	require.NoError(t, replaceFile(os.DevNull, []byte("3")))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.False(t, info.Mode().IsRegular())

	require.NoError(t, os.Mkdir(at("directory"), 0o755))
	assert.ErrorContains(t, replaceFile(at("directory"), []byte("4")), "writing "+at("directory"))
	assert.ErrorContains(t, replaceFile(at("missing/file"), []byte("4")), "writing "+at("missing/file"))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 3, "nothing is left beside them")
}

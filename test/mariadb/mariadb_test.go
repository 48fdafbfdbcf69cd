package mariadb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSweepTakesWhatNobodyOwns(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "ptah-my-"+name) }
	for _, name := range []string{"alive", "dead", "young"} {
		require.NoError(t, os.Mkdir(at(name), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(at(name), "pid"), []byte("4194305\n"), 0o600)) // of no process that can be
	}
	alive, dead := &Server{dir: at("alive")}, &Server{dir: at("dead")}
	require.NoError(t, alive.own())
	require.NoError(t, dead.own())
	require.NoError(t, dead.lock.Close(), "as the end of its process does")

	sweep(dir)
	assert.DirExists(t, at("alive"), "its owner lives, whatever process number another namespace sees")
	assert.NoDirExists(t, at("dead"))
	assert.DirExists(t, at("young"), "it has no owner yet")
	alive.Stop()
	assert.NoDirExists(t, at("alive"))
}

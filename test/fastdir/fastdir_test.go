package fastdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSweepTakesWhatNobodyOwns(t *testing.T) {
	parent := t.TempDir()
	owned := func(prefix string) *Dir {
		d, err := in(parent, prefix)
		require.NoError(t, err)
		return d
	}
	alive, dead, other := owned("server-"), owned("server-"), owned("other-")
	young := filepath.Join(parent, "server-young")
	require.NoError(t, os.Mkdir(young, 0o700))
	require.NoError(t, dead.lock.Close(), "as the end of its process does")
	require.NoError(t, other.lock.Close())

	sweep(filepath.Join(parent, "server-*"))
	assert.DirExists(t, alive.Path, "its owner lives, whatever process number another namespace sees")
	assert.NoDirExists(t, dead.Path)
	assert.DirExists(t, young, "it has no owner yet")
	assert.DirExists(t, other.Path, "it is of another kind")
	alive.Remove()
	assert.NoDirExists(t, alive.Path)
}

package debian

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMissingPackagesAreNamedOnce(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "there"), []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", dir)
	assert.Equal(t, []string{"a", "b"}, MissingPackages([]Program{
		{Name: "there", Package: "c"},
		{Name: "gone", Package: "b"},
		{Name: "gone-too", Package: "b"},
		{Name: "elsewhere", Package: "c", Paths: []string{filepath.Join(dir, "th*")}},
		{Name: "there", Package: "a", Paths: []string{"/usr/lib/cni/no-such-plugin"}},
	}))
}

// Policies hold packages back while they are installed, and are gone afterwards unless they were the machine's.
func TestQuietLeavesNothing(t *testing.T) {
	before := policies
	t.Cleanup(func() { policies = before })
	dir := t.TempDir()
	own, theirs := filepath.Join(dir, "a", "b", "policy"), filepath.Join(dir, "theirs")
	require.NoError(t, os.WriteFile(theirs, []byte("kept"), 0o644))
	policies = policies[:0:0]
	for _, path := range []string{own, theirs} {
		policies = append(policies, before[0])
		policies[len(policies)-1].path = path
	}
	undo, err := quiet()
	require.NoError(t, err)
	data, err := os.ReadFile(own)
	require.NoError(t, err)
	assert.Equal(t, "#!/bin/sh\nexit 101\n", string(data))
	undo()
	assert.NoDirExists(t, filepath.Join(dir, "a"))
	data, err = os.ReadFile(theirs)
	require.NoError(t, err)
	assert.Equal(t, "kept", string(data))
}

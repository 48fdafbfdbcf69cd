package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The committed pages are those of the commands.
func TestPagesAreUpToDate(t *testing.T) {
	fresh := t.TempDir()
	require.NoError(t, generate(fresh))
	committed := filepath.Join("..", "..", "docs", "cli")
	for _, pattern := range []string{"*.md", "man/*.1"} {
		want, err := filepath.Glob(filepath.Join(fresh, pattern))
		require.NoError(t, err)
		have, err := filepath.Glob(filepath.Join(committed, pattern))
		require.NoError(t, err)
		assert.Len(t, have, len(want), "pages in docs/cli: run \"go run ./hack/docs\"")
		for _, path := range want {
			name, err := filepath.Rel(fresh, path)
			require.NoError(t, err)
			expected, err := os.ReadFile(path)
			require.NoError(t, err)
			actual, err := os.ReadFile(filepath.Join(committed, name))
			require.NoError(t, err)
			assert.Equal(t, string(expected), string(actual), "%s is out of date: run \"go run ./hack/docs\"", name)
		}
	}
}

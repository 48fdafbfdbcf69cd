// Package cases carries schemas of real projects the whole way: created by their own files, read, published, applied to an empty database, read back,
// and then changed step by step under rows that must survive. The schemas are no part of this repository: PTAH_TEST_CASES names the directory
// that holds them, and without it every test skips.
package cases_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
	mytest.Stop()
}

// directory is where the schemas are.
func directory(t testing.TB) string {
	t.Helper()
	root := os.Getenv("PTAH_TEST_CASES")
	if root == "" {
		t.Skip("no real schemas: point PTAH_TEST_CASES at a directory of them, or run make test-cases")
	}
	return root
}

// found lists the files that match a pattern, in the order of their names, and skips the test where there are none.
func found(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(directory(t), pattern))
	require.NoError(t, err)
	if len(paths) == 0 {
		t.Skipf("nothing in PTAH_TEST_CASES matches %s", pattern)
	}
	return paths
}

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

package mariadb_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/test/mariadb"
)

// TestTemporaryTablesOfTwoServersAreApart holds what lets servers run beside each other: one that starts deletes the temporary tables that it finds.
func TestTemporaryTablesOfTwoServersAreApart(t *testing.T) {
	if !mariadb.Installed() {
		t.Skip(mariadb.ErrNoPrograms)
	}
	directory := func() (path string) {
		s, err := mariadb.Start(t.Context(), mariadb.Options{})
		require.NoError(t, err)
		t.Cleanup(s.Stop)
		db, err := mariadb.Open(s.URL("mysql"))
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT @@tmpdir").Scan(&path))
		return path
	}
	require.NotEqual(t, directory(), directory())
}

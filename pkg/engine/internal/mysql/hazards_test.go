package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
	"github.com/ptah-run/ptah/pkg/plan"
)

// ways are how the server can alter a table, from the lightest to the heaviest: what makes it do so or refuse, and how a plan says it.
var ways = []struct{ clause, lock string }{
	{"ALGORITHM=INSTANT", "a short exclusive metadata lock (ALGORITHM=INSTANT)"},
	{"ALGORITHM=INPLACE, LOCK=NONE", "a short exclusive metadata lock (ALGORITHM=INPLACE, LOCK=NONE)"},
	{"ALGORITHM=INPLACE, LOCK=SHARED", "LOCK=SHARED (ALGORITHM=INPLACE)"},
	{"ALGORITHM=COPY, LOCK=SHARED", "LOCK=SHARED (ALGORITHM=COPY)"},
	{"ALGORITHM=COPY, LOCK=EXCLUSIVE", "nothing says this"},
}

// TestWeightsTellTheTruth runs the plans of all probes, in both directions, and asks the server for the lightest way that it can run each ALTER TABLE in.
// A plan may never say less than that.
func TestWeightsTellTheTruth(t *testing.T) {
	s := mytest.Start(t)
	if !strings.Contains(mytest.Value[string](t, s.URL("mysql"), "SELECT VERSION()"), "MariaDB") {
		t.Skip("the expectations are those of MariaDB")
	}
	for _, name := range slices.Sorted(maps.Keys(probes)) {
		if only := os.Getenv("PTAH_TEST_PROBE"); only != "" && only != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, way := range [][]string{{probes[name].a, probes[name].b}, {probes[name].b, probes[name].a}} {
				target := create(t, s, way[0])
				desired, err := engine.Inspect(testContext(t), create(t, s, way[1]))
				require.NoError(t, err)
				result, err := engine.Plan(testContext(t), engine.Options{URL: target}, desired)
				require.NoError(t, err)
				weigh(t, target, result.Document)
			}
		})
	}
}

func weigh(t *testing.T, target string, doc plan.Document) {
	t.Helper()
	db := mytest.Open(t, target)
	defer func() { _ = db.Close() }()
	for _, setting := range []string{"sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION'", "system_versioning_alter_history = KEEP", "time_zone = '+00:00'"} {
		_, err := db.Exec("SET SESSION " + setting)
		require.NoError(t, err)
	}
	made := map[string]bool{}
	for _, statement := range doc.Statements {
		if statement.Kind == "create_table" {
			made[statement.Table] = true
		}
		// The server takes the words for another engine and other partitions, and copies the table all the same. What the plan made holds nothing.
		if !strings.HasPrefix(statement.SQL, "ALTER TABLE ") || strings.Contains(statement.SQL, "PARTITION") || strings.Contains(statement.SQL, "ENGINE=") || made[statement.Table] {
			_, err := db.Exec(statement.SQL)
			require.NoError(t, err, "%s", statement.SQL)
			continue
		}
		said := slices.IndexFunc(ways, func(w struct{ clause, lock string }) bool { return w.lock == statement.Lock })
		require.GreaterOrEqual(t, said, 0, "%s\nsays %q", statement.SQL, statement.Lock)
		if lightest := lightestWay(t, db, statement.SQL); lightest > said {
			assert.Fail(t, fmt.Sprintf("says %q and needs %s", statement.Lock, ways[lightest].clause), "%s", statement.SQL)
		}
	}
}

// lightestWay runs an ALTER TABLE in the lightest way that the server takes.
func lightestWay(t *testing.T, db *sql.DB, statement string) int {
	t.Helper()
	for i, w := range ways {
		_, err := db.Exec(statement + ", " + w.clause)
		if err == nil {
			return i
		}
		var refused *driver.MySQLError
		require.ErrorAs(t, err, &refused, "%s", statement)
		if !slices.Contains([]uint16{1845, 1846, 4155}, refused.Number) {
			require.NoError(t, errors.New(refused.Message), "%s, %s", statement, w.clause)
		}
	}
	require.Fail(t, "no way at all", "%s", statement)
	return 0
}

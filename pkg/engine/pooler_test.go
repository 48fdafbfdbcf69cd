package engine_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/frame"
)

// TestPoolers goes through PgBouncer. One that gives each session a backend serves everything; one that gives each transaction a backend serves what
// fits in one transaction, and a plan with statements behind it is refused before anything runs. Neither is left with a lock or a setting of ours.
func TestPoolers(t *testing.T) {
	s := pgtest.Start(t)
	for _, mode := range []string{"session", "transaction"} {
		t.Run(mode, func(t *testing.T) {
			through, installed := s.StartPooler(t, mode)
			if !installed {
				t.Skip("PgBouncer is not installed")
			}
			untouched := func(direct string) {
				t.Helper()
				conn, err := pgx.Connect(testContext(t), through(direct)+"&default_query_exec_mode=simple_protocol")
				require.NoError(t, err)
				defer func() { _ = conn.Close(context.Background()) }()
				var path, style, lock, own string
				require.NoError(t, conn.QueryRow(testContext(t), "SELECT current_setting('search_path'), current_setting('intervalstyle'), current_setting('lock_timeout'), current_setting('statement_timeout')").
					Scan(&path, &style, &lock, &own))
				assert.Equal(t, []string{`"$user", public`, "postgres", "0", "0"}, []string{path, style, lock, own})
				var locks int
				require.NoError(t, conn.QueryRow(testContext(t), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").Scan(&locks))
				assert.Zero(t, locks)
			}
			t.Run("one transaction", func(t *testing.T) {
				target := s.NewDatabase(t, onlineBase)
				converge(t, engine.Options{URL: through(target)}, declare(t, s, onlineNext))
				untouched(target)
			})
			t.Run("statements behind it", func(t *testing.T) {
				target := s.NewDatabase(t, onlineBase)
				opts := engine.Options{URL: through(target), TransactionMode: "none"}
				desired := declare(t, s, onlineNext)
				if mode == "session" {
					converge(t, opts, desired)
				} else {
					doc := planned(t, opts, desired)
					_, err := engine.Apply(testContext(t), opts, doc)
					e := refusal(t, err, frame.CodeLockUnverified)
					assert.False(t, e.MutationStarted)
					assert.Equal(t, doc.FromFingerprint, fingerprint(t, target))
				}
				untouched(target)
			})
		})
	}
}

package engine_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

// TestStandbyIsReadAndNeverChanged: a real standby is observed and planned for like its primary, and whatever would change something is refused.
func TestStandbyIsReadAndNeverChanged(t *testing.T) {
	primary := pgtest.StartAnother(t)
	target := primary.NewDatabase(t, base)
	standby := primary.StartStandby(t)
	u, err := url.Parse(target)
	require.NoError(t, err)
	opts := engine.Options{URL: standby.URL(strings.TrimPrefix(u.Path, "/"))}
	require.True(t, query[bool](t, opts.URL, "SELECT pg_is_in_recovery()"))

	desired := declare(t, primary, base+"ALTER TABLE t ADD k int")
	doc := planned(t, opts, desired)
	assert.Equal(t, planned(t, engine.Options{URL: target}, desired), doc)
	_, err = engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeDatabasePermission)
	assert.Contains(t, e.Message, "standby")
	assert.False(t, e.MutationStarted)
	assert.Equal(t, doc.FromFingerprint, fingerprint(t, opts.URL))
	_, err = engine.LoadSQL(testContext(t), standby.URL("postgres"), []engine.Source{{Name: "a.sql", Data: []byte(base)}})
	e = refusal(t, err, frame.CodeDatabasePermission)
	assert.Contains(t, e.Message, "creating a scratch database")

	_, err = engine.Apply(testContext(t), engine.Options{URL: target}, doc)
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return fingerprint(t, opts.URL) == doc.ToFingerprint }, time.Minute, 50*time.Millisecond, "what the primary committed arrives")
}

// TestServerDiesWhileItIsRead kills the server while a reading waits in it: each operation has a server of its own.
func TestServerDiesWhileItIsRead(t *testing.T) {
	for name, run := range map[string]func(opts engine.Options, desired *model.Database, doc plan.Document) error{
		"inspect": func(opts engine.Options, _ *model.Database, _ plan.Document) error {
			_, err := engine.Inspect(testContext(t), opts.URL)
			return err
		},
		"observe": func(opts engine.Options, desired *model.Database, _ plan.Document) error {
			_, err := engine.Observe(testContext(t), opts, desired)
			return err
		},
		"plan": func(opts engine.Options, desired *model.Database, _ plan.Document) error {
			_, err := engine.Plan(testContext(t), opts, desired)
			return err
		},
		"apply": func(opts engine.Options, _ *model.Database, doc plan.Document) error {
			_, err := engine.Apply(testContext(t), opts, doc)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := pgtest.StartAnother(t)
			target, _ := s.TemporaryDatabase(t)
			s.Exec(t, target, base)
			opts := engine.Options{URL: target, LockTimeout: time.Minute}
			desired := declare(t, s, base+"ALTER TABLE t ADD k int")
			doc := planned(t, opts, desired)
			holder, err := pgx.Connect(testContext(t), target)
			require.NoError(t, err)
			t.Cleanup(func() { _ = holder.Close(context.Background()) }) // a connection that nothing refers to is collected, and its lock with it
			_, err = holder.Exec(testContext(t), "BEGIN; LOCK TABLE pg_catalog.pg_attrdef IN ACCESS EXCLUSIVE MODE")
			require.NoError(t, err)
			result := make(chan error, 1)
			go func() { result <- run(opts, desired, doc) }()
			const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND backend_type = 'client backend'"
			for deadline := time.Now().Add(time.Minute); query[int](t, s.URL("postgres"), waiting) == 0; time.Sleep(50 * time.Millisecond) {
				require.True(t, time.Now().Before(deadline), "it never came to the table")
			}
			s.Kill()
			e := refusal(t, <-result, frame.CodeDatabaseUnreachable)
			assert.Contains(t, e.Message, "the connection to the database broke")
			assert.False(t, e.MutationStarted)
			assert.False(t, e.OutcomeUncertain)
		})
	}
}

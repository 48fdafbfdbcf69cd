package engine_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/frame"
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

// TestServerDiesWhileItIsRead kills the server while a reading waits in it.
func TestServerDiesWhileItIsRead(t *testing.T) {
	s := pgtest.StartAnother(t)
	target, _ := s.TemporaryDatabase(t)
	s.Exec(t, target, base)
	desired := declare(t, s, base+"ALTER TABLE t ADD k int")
	doc := planned(t, engine.Options{URL: target}, desired)
	holder, err := pgx.Connect(testContext(t), target)
	require.NoError(t, err)
	_, err = holder.Exec(testContext(t), "BEGIN; LOCK TABLE pg_catalog.pg_attrdef IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	operations := map[string]func() error{
		"inspect": func() error { _, err := engine.Inspect(testContext(t), target); return err },
		"observe": func() error {
			_, err := engine.Observe(testContext(t), engine.Options{URL: target}, desired)
			return err
		},
		"plan": func() error { _, err := engine.Plan(testContext(t), engine.Options{URL: target}, desired); return err },
		"apply": func() error {
			_, err := engine.Apply(testContext(t), engine.Options{URL: target, LockTimeout: time.Minute}, doc)
			return err
		},
	}
	results := map[string]chan error{}
	for name, run := range operations {
		result := make(chan error, 1)
		results[name] = result
		go func() { result <- run() }()
	}
	const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
	require.Eventually(t, func() bool { return query[int](t, s.URL("postgres"), waiting) == len(operations) }, time.Minute, 50*time.Millisecond)
	s.Kill()
	for name, result := range results {
		e := refusal(t, <-result, frame.CodeDatabaseUnreachable)
		assert.Contains(t, e.Message, "the connection to the database broke", name)
		assert.False(t, e.MutationStarted, name)
		assert.False(t, e.OutcomeUncertain, name)
	}
}

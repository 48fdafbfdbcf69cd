package engine_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/internal/postgres"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

// refusal checks the code of an error and that nothing secret is in it.
func refusal(t testing.TB, err error, code frame.Code) *engine.Error {
	t.Helper()
	var e *engine.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, code, e.Code, e.Message)
	for _, secret := range []string{pgtest.Password, "wrong-secret", "@127.0.0.1"} {
		assert.NotContains(t, e.Error(), secret)
	}
	assert.LessOrEqual(t, len(e.Message), frame.MaxMessage)
	return e
}

func planned(t testing.TB, opts engine.Options, desired *model.Database) plan.Document {
	t.Helper()
	result, err := engine.Plan(testContext(t), opts, desired)
	require.NoError(t, err)
	require.False(t, result.NoChange)
	return result.Document
}

func fingerprint(t testing.TB, url string) string {
	t.Helper()
	db, err := engine.Inspect(testContext(t), url)
	require.NoError(t, err)
	return model.Fingerprint(db)
}

func query[T any](t testing.TB, url, sql string) T {
	t.Helper()
	ctx := testContext(t)
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	var v T
	require.NoError(t, conn.QueryRow(ctx, sql).Scan(&v))
	return v
}

func TestStalePlanNamesBothFingerprints(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, base+"ALTER TABLE t ADD k int"))
	s.Exec(t, target, "CREATE TABLE surprise (id int)")
	_, err := engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeStalePlan)
	assert.False(t, e.MutationStarted)
	assert.False(t, e.OutcomeUncertain)
	assert.Contains(t, e.Message, doc.FromFingerprint)
	assert.Contains(t, e.Message, fingerprint(t, target))
}

func TestUnmodelledObjectMakesAPlanStale(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, base+"ALTER TABLE t ADD k int"))
	s.Exec(t, target, "CREATE VIEW w AS SELECT 1 AS one")
	_, err := engine.Apply(testContext(t), opts, doc)
	_ = refusal(t, err, frame.CodeStalePlan)
}

func TestFailedStatementRollsEverythingBack(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base, "INSERT INTO t (id, n) VALUES (1, NULL), (2, 5)")
	before := fingerprint(t, target)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, base+"CREATE TABLE aaa (id int); ALTER TABLE t ALTER n SET NOT NULL"))
	_, err := engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeStatementFailed)
	assert.True(t, e.MutationStarted)
	assert.False(t, e.OutcomeUncertain)
	assert.Contains(t, e.Message, "statement 2 of 2 (set_not_null public.t.n)")
	assert.Contains(t, e.Message, "23502")
	assert.Contains(t, e.Message, "nothing has changed")
	assert.Equal(t, before, fingerprint(t, target))
}

func TestWrongTargetFingerprintIsNotCommitted(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base)
	opts := engine.Options{URL: target}
	before := fingerprint(t, target)
	doc := planned(t, opts, declare(t, s, base+"ALTER TABLE t ADD k int"))
	doc.Statements[0].SQL = strings.Replace(doc.Statements[0].SQL, "integer", "bigint", 1)
	_, err := engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeInternal)
	assert.True(t, e.MutationStarted)
	assert.False(t, e.OutcomeUncertain)
	assert.Contains(t, e.Message, doc.ToFingerprint)
	assert.Equal(t, before, fingerprint(t, target))
}

func TestEveryStatementIsLoggedOnce(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t)
	doc := planned(t, engine.Options{URL: target}, declare(t, s, base+"CREATE INDEX i ON t (n); CREATE INDEX j ON t (s)"))
	_, err := engine.Apply(testContext(t), engine.Options{URL: target}, doc)
	require.NoError(t, err)
	u, err := url.Parse(target)
	require.NoError(t, err)
	log := strings.Join(s.Log(t, strings.TrimPrefix(u.Path, "/")), "\n")
	for _, sql := range statements(doc) {
		first, _, _ := strings.Cut(sql, "\n")
		assert.Equal(t, 1, strings.Count(log, first), sql)
	}
	assert.Equal(t, 1, strings.Count(log, "statement: COMMIT"))
}

func TestConcurrentApply(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, base+"ALTER TABLE t ADD k int; CREATE TABLE u (id int)"))
	const runs = 4
	errs := make([]error, runs)
	var wait sync.WaitGroup
	for i := range runs {
		wait.Go(func() { _, errs[i] = engine.Apply(testContext(t), opts, doc) })
	}
	wait.Wait()
	succeeded := 0
	for _, err := range errs {
		if err == nil {
			succeeded++
			continue
		}
		_ = refusal(t, err, frame.CodeStalePlan)
	}
	assert.Equal(t, 1, succeeded)
}

func TestHeldAdvisoryLockTimesOut(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base)
	ctx := testContext(t)
	holder, err := pgx.Connect(ctx, target)
	require.NoError(t, err)
	defer func() { _ = holder.Close(ctx) }()
	_, err = holder.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_lock(%d)", postgres.LockKey()))
	require.NoError(t, err)
	opts := engine.Options{URL: target, LockTimeout: 200 * time.Millisecond}
	doc := planned(t, opts, declare(t, s, base+"ALTER TABLE t ADD k int"))
	_, err = engine.Apply(ctx, opts, doc)
	e := refusal(t, err, frame.CodeLockTimeout)
	assert.False(t, e.MutationStarted)
	assert.Contains(t, e.Message, "ptah_schema_apply")
}

func TestTableLockTimesOut(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base)
	ctx := testContext(t)
	opts := engine.Options{URL: target, LockTimeout: 200 * time.Millisecond}
	doc := planned(t, opts, declare(t, s, base+"ALTER TABLE t ADD k int"))
	holder, err := pgx.Connect(ctx, target)
	require.NoError(t, err)
	defer func() { _ = holder.Close(ctx) }()
	_, err = holder.Exec(ctx, "BEGIN; LOCK TABLE t IN ACCESS SHARE MODE")
	require.NoError(t, err)
	_, err = engine.Apply(ctx, opts, doc)
	e := refusal(t, err, frame.CodeLockTimeout)
	assert.True(t, e.MutationStarted)
	assert.Contains(t, e.Message, "nothing has changed")
}

func TestCancellationRollsBack(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base)
	opts := engine.Options{URL: target, LockTimeout: time.Minute}
	doc := planned(t, opts, declare(t, s, base+"CREATE TABLE a (id int); ALTER TABLE t ADD k int"))
	holder, err := pgx.Connect(testContext(t), target)
	require.NoError(t, err)
	defer func() { _ = holder.Close(testContext(t)) }()
	_, err = holder.Exec(testContext(t), "BEGIN; LOCK TABLE t IN ACCESS SHARE MODE")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		context func() (context.Context, context.CancelFunc)
		code    frame.Code
	}{
		"cancelled": {func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(700*time.Millisecond, cancel)
			return ctx, cancel
		}, frame.CodeCancelled},
		"deadline": {func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 700*time.Millisecond)
		}, frame.CodeDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := c.context()
			defer cancel()
			_, err := engine.Apply(ctx, opts, doc)
			e := refusal(t, err, c.code)
			assert.False(t, e.OutcomeUncertain)
			assert.False(t, query[bool](t, target, "SELECT to_regclass('a') IS NOT NULL"))
		})
	}
}

func TestProtectedTables(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base+"CREATE TABLE u (id serial)")
	for name, c := range map[string]struct {
		protected string
		sql       string
		refused   bool
	}{
		"bare, other case": {"T", base + "ALTER TABLE t ADD k int; CREATE TABLE u (id serial)", true},
		"qualified":        {"public.T", base + "CREATE INDEX i ON t (n); CREATE TABLE u (id serial)", true},
		"comment":          {"t", base + "COMMENT ON COLUMN t.n IS 'x'; CREATE TABLE u (id serial)", true},
		"owned sequence":   {"u", base + "CREATE TABLE u (id serial); ALTER SEQUENCE u_id_seq CACHE 5", true},
		"dropped":          {"u", base, true},
		"other schema":     {"app.t", base + "ALTER TABLE t ADD k int; CREATE TABLE u (id serial)", false},
		"untouched":        {"u", base + "ALTER TABLE t ADD k int; CREATE TABLE u (id serial)", false},
	} {
		t.Run(name, func(t *testing.T) {
			desired := declare(t, s, c.sql)
			opts := engine.Options{URL: target}
			doc := planned(t, opts, desired)
			opts.ProtectedTables = []string{c.protected}
			_, err := engine.Plan(testContext(t), opts, desired)
			if !c.refused {
				require.NoError(t, err)
				return
			}
			e := refusal(t, err, frame.CodeProtectedTable)
			assert.Contains(t, e.Message, `"public".`)
			_, err = engine.Apply(testContext(t), opts, doc)
			e = refusal(t, err, frame.CodeProtectedTable)
			assert.False(t, e.MutationStarted)
		})
	}
}

func TestConnectionErrorsAreTyped(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base, "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN PASSWORD 'wrong-secret'")
	t.Cleanup(func() { s.Exec(t, s.URL("postgres"), "DROP OWNED BY reader", "DROP ROLE reader") })
	u, err := url.Parse(target)
	require.NoError(t, err)
	database := strings.TrimPrefix(u.Path, "/")
	closed := silentPort(t, false)
	silent := silentPort(t, true)
	for name, c := range map[string]struct {
		url  string
		code frame.Code
		want string
	}{
		"wrong password":   {s.URLAs(database, pgtest.User, "wrong-secret"), frame.CodeDatabaseAuthentication, "28P01"},
		"unknown user":     {s.URLAs(database, "nobody_here", "wrong-secret"), frame.CodeDatabaseAuthentication, "28P01"},
		"unknown database": {s.URL("no_such_database"), frame.CodeDatabaseUnreachable, "does not exist"},
		"TLS refused":      {strings.Replace(target, "sslmode=disable", "sslmode=require", 1), frame.CodeDatabaseTLS, "refuses it"},
		"nothing listens":  {strings.Replace(target, strconv.Itoa(s.Port), strconv.Itoa(closed), 1), frame.CodeDatabaseUnreachable, "refuses connections"},
		"no answer":        {strings.Replace(target, strconv.Itoa(s.Port), strconv.Itoa(silent), 1), frame.CodeDatabaseUnreachable, "did not answer within"},
		"unknown host":     {strings.Replace(target, "127.0.0.1", "no-such-host.invalid", 1), frame.CodeDatabaseUnreachable, "host name"},
		"empty":            {"", frame.CodeCredentialMissing, "empty"},
		"other engine":     {"mysql://root:wrong-secret@localhost/x", frame.CodeDesiredSchemaInvalid, `the declared schema is written for "postgres"`},
		"no engine":        {"sqlite://root:wrong-secret@localhost/x", frame.CodeDatabaseURLInvalid, "postgres"},
		"not a URL":        {"postgres://u:wrong-secret@h:99999999/%zz", frame.CodeDatabaseURLInvalid, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: c.url, ConnectTimeout: 500 * time.Millisecond}, model.New(model.Postgres))
			e := refusal(t, err, c.code)
			assert.Contains(t, e.Message, c.want)
		})
	}
	t.Run("role without privileges", func(t *testing.T) {
		reader := engine.Options{URL: s.URLAs(database, "reader", "wrong-secret")}
		desired := declare(t, s, base+"ALTER TABLE t ADD k int")
		doc := planned(t, reader, desired) // the catalog is readable by everyone
		_, err := engine.Apply(testContext(t), reader, doc)
		e := refusal(t, err, frame.CodeDatabasePermission)
		assert.Contains(t, e.Message, "42501")
		assert.Contains(t, e.Message, "nothing has changed")
		_, err = engine.LoadSQL(testContext(t), reader.URL, []engine.Source{{Name: "a.sql", Data: []byte(base)}})
		e = refusal(t, err, frame.CodeDatabasePermission)
		assert.Contains(t, e.Message, "creating a scratch database")
	})
	t.Run("read-only role", func(t *testing.T) {
		doc := planned(t, engine.Options{URL: target}, declare(t, s, base+"ALTER TABLE t ADD k int"))
		_, err := engine.Apply(testContext(t), engine.Options{URL: target + "&default_transaction_read_only=on"}, doc)
		e := refusal(t, err, frame.CodeDatabasePermission)
		assert.Contains(t, e.Message, "25006")
	})
}

// silentPort returns a port where nothing listens, or where connections are taken and never answered.
func silentPort(t *testing.T, listen bool) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if !listen {
		require.NoError(t, l.Close())
	} else {
		t.Cleanup(func() { _ = l.Close() })
	}
	return l.Addr().(*net.TCPAddr).Port
}

// proxy forwards connections to the server; each may be watched and cut.
type proxy struct {
	port int
	// route picks the upstream address of the n-th connection, counted from 0.
	route func(n int) string
	// cut is asked about every chunk that the client sends; with true the chunk is forwarded and no answer to it gets back.
	cut func(chunk []byte) bool
}

func (p *proxy) start(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	p.port = l.Addr().(*net.TCPAddr).Port
	go func() {
		for n := 0; ; n++ {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client, p.route(n))
		}
	}()
}

func (p *proxy) serve(client net.Conn, upstream string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", upstream)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		cut := p.cut != nil && p.cut(buf[:n])
		if cut {
			_ = client.Close()
		}
		if _, err := server.Write(buf[:n]); err != nil || cut {
			return
		}
	}
}

func TestLostAnswerToCommitIsUncertain(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base)
	upstream := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port))
	for name, c := range map[string]struct {
		word      string
		code      frame.Code
		uncertain bool
	}{
		"at COMMIT":      {"COMMIT\x00", frame.CodeDatabaseUnreachable, true},
		"at a statement": {"ADD COLUMN", frame.CodeDatabaseUnreachable, false},
	} {
		t.Run(name, func(t *testing.T) {
			doc := planned(t, engine.Options{URL: target}, declare(t, s, base+"ALTER TABLE t ADD "+strings.ReplaceAll(name, " ", "_")+" int"))
			p := &proxy{route: func(int) string { return upstream }, cut: func(chunk []byte) bool { return strings.Contains(string(chunk), c.word) }}
			p.start(t)
			_, err := engine.Apply(testContext(t), engine.Options{URL: strings.Replace(target, strconv.Itoa(s.Port), strconv.Itoa(p.port), 1)}, doc)
			e := refusal(t, err, c.code)
			assert.True(t, e.MutationStarted)
			assert.Equal(t, c.uncertain, e.OutcomeUncertain)
			if !c.uncertain {
				assert.Contains(t, e.Message, "nothing has changed")
			}
		})
	}
}

// TestLockIsProvedFromASecondConnection sends the second connection to another database of the same name space, as a balancer would.
func TestLockIsProvedFromASecondConnection(t *testing.T) {
	first, second := pgtest.Start(t), pgtest.StartAnother(t)
	target := first.NewDatabase(t, base)
	u, err := url.Parse(target)
	require.NoError(t, err)
	second.Exec(t, second.URL("postgres"), "CREATE DATABASE "+strings.TrimPrefix(u.Path, "/"))
	doc := planned(t, engine.Options{URL: target}, declare(t, first, base+"ALTER TABLE t ADD k int"))
	p := &proxy{route: func(n int) string {
		port := first.Port
		if n%2 == 1 {
			port = second.Port
		}
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}}
	p.start(t)
	_, err = engine.Apply(testContext(t), engine.Options{URL: strings.Replace(target, strconv.Itoa(first.Port), strconv.Itoa(p.port), 1)}, doc)
	e := refusal(t, err, frame.CodeLockUnverified)
	assert.False(t, e.MutationStarted)
	assert.Equal(t, doc.FromFingerprint, fingerprint(t, target))
}

func TestDriftSeverityIsAThreshold(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, base)
	opts := engine.Options{URL: target, DriftSeverity: "destructive"}
	result, err := engine.Plan(testContext(t), opts, declare(t, s, base+"CREATE TABLE u (id int)"))
	require.NoError(t, err)
	assert.True(t, result.NoChange)
	assert.NotEqual(t, result.From, result.To)
	doc := converge(t, opts, declare(t, s, "CREATE TABLE u (id int)"))
	assert.True(t, doc.Destructive)
	assert.Len(t, doc.Statements, 2)
}

func TestExcludes(t *testing.T) {
	s := pgtest.Start(t)
	const legacy = "CREATE SCHEMA legacy; CREATE TABLE legacy.a (id serial PRIMARY KEY); CREATE VIEW legacy.v AS SELECT 1 AS one; CREATE TABLE tmp_1 (id int); "
	target := s.NewDatabase(t, base+legacy)
	desired := declare(t, s, base+"CREATE TABLE tmp_2 (id int); CREATE TABLE u (id int)")
	opts := engine.Options{URL: target, Exclude: []string{"legacy.*, tmp_?[type=table]"}}
	doc := converge(t, opts, desired)
	assert.Equal(t, []string{"CREATE TABLE \"public\".\"u\" (\n  \"id\" integer\n)"}, statements(doc))
	assert.Equal(t, []string{`"legacy"[type=schema]`, "legacy.*", "tmp_?[type=table]"}, doc.Exclude)

	t.Run("foreign key of an excluded table holds back", func(t *testing.T) {
		held := s.NewDatabase(t, "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE kept (p int CONSTRAINT f REFERENCES p)")
		_, err := engine.Plan(testContext(t), engine.Options{URL: held, Exclude: []string{"kept"}}, declare(t, s, ""))
		e := refusal(t, err, frame.CodeUnsupportedObject)
		assert.Contains(t, e.Message, `foreign key "f" of the excluded table "public"."kept"`)
	})
	t.Run("what Ptah does not know holds back at Apply", func(t *testing.T) {
		held := s.NewDatabase(t, "CREATE FUNCTION f(int, int) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = f)")
		opts := engine.Options{URL: held, Exclude: []string{"==="}}
		doc := planned(t, opts, declare(t, s, ""))
		_, err := engine.Apply(testContext(t), opts, doc)
		e := refusal(t, err, frame.CodeStatementFailed)
		assert.Contains(t, e.Message, "2BP01")
		assert.True(t, query[bool](t, held, "SELECT to_regproc('f') IS NOT NULL"))
	})
	t.Run("another policy than planned", func(t *testing.T) {
		doc := planned(t, engine.Options{URL: target, Exclude: []string{"legacy", "tmp_1"}}, declare(t, s, base))
		_, err := engine.Apply(testContext(t), engine.Options{URL: target, Exclude: []string{"legacy"}}, doc)
		_ = refusal(t, err, frame.CodeConfigurationInvalid)
	})
}

func TestPublicIsNeverDropped(t *testing.T) {
	s := pgtest.Start(t)
	desired := declare(t, s, "DROP SCHEMA public; CREATE SCHEMA app; CREATE TABLE app.t (id int)")
	doc := converge(t, engine.Options{URL: s.NewDatabase(t, "CREATE SCHEMA gone")}, desired)
	assert.Contains(t, statements(doc), `DROP SCHEMA "gone"`)
	assert.NotContains(t, statements(doc), `DROP SCHEMA "public"`)
}

package executor_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/plan"
)

const shopSQL = `CREATE TYPE order_state AS ENUM ('open', 'paid');
CREATE TABLE customers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email text NOT NULL UNIQUE);
CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint NOT NULL REFERENCES customers (id), state order_state NOT NULL DEFAULT 'open', total numeric(12,2) CHECK (total >= 0));
CREATE INDEX orders_by_customer ON orders (customer);`

// reading is an Observe or Plan Pod whose artifact was fetched.
func reading(t *testing.T, op intent.Operation, model, dsn string) *pod {
	p := newPod(t, op)
	p.withDatabase(dsn)
	p.write(v1alpha1.WorkMountPath+"/artifact/schema.json", []byte(model))
	return p
}

// planned computes the plan of a model against a database.
func planned(t *testing.T, model, dsn string) *frame.Planned {
	t.Helper()
	p := reading(t, intent.Plan, model, dsn)
	return p.succeeded(p.run("run")).Plan
}

// applying is an Apply Pod with real plan bytes.
func applying(t *testing.T, document []byte, dsn string) *pod {
	p := newPod(t, intent.Apply)
	p.withDatabase(dsn)
	p.withPlan(document)
	p.withDeadlines(time.Minute, 2*time.Minute)
	return p
}

// The whole way of one schema, every stage a real process, against a real registry and a real server.
func TestWholeWay(t *testing.T) {
	s := startPostgres(t)
	h := newHub(t, sentinel, true)
	h.push(s.model(shopSQL))
	dsn := s.database()

	p := newPod(t, intent.Resolve)
	p.withSource(h, "")
	pinned := p.succeeded(p.run("run")).Resolve.ResolvedReference

	p = newPod(t, intent.Verify)
	p.withSource(h, pinned)
	p.withPolicy(policyText)
	p.succeeded(p.run("run"))

	stages := func(op intent.Operation) *pod {
		p := newPod(t, op)
		p.withSource(h, pinned)
		p.silent(p.run("prepare"))
		p.silent(p.run("fetch"))
		p.withDatabase(dsn)
		return p
	}
	p = stages(intent.Observe)
	observed := p.succeeded(p.run("run")).Observe
	assert.Positive(t, observed.Total)
	assert.Equal(t, "postgres", observed.Dialect)

	p = stages(intent.Plan)
	plan1 := p.succeeded(p.run("run")).Plan
	require.False(t, plan1.NoChange)
	document, err := plan.Decode(plan1.Document)
	require.NoError(t, err)

	p = applying(t, plan1.Document, dsn)
	p.silent(p.run("prepare"))
	f := p.succeeded(p.run("run"))
	assert.True(t, f.MutationStarted)
	assert.Equal(t, len(document.Statements), f.Apply.StatementsExecuted)
	assert.Equal(t, plan1.ToFingerprint, f.Apply.ResultFingerprint)
	for _, statement := range document.Statements {
		first, _, _ := strings.Cut(statement.SQL, "\n")
		assert.Equal(t, 1, s.executed(nameOf(dsn), first), "each planned statement runs once: %s", first)
	}

	p = stages(intent.Observe)
	assert.Zero(t, p.succeeded(p.run("run")).Observe.Total)
	p = stages(intent.Plan)
	proof := p.succeeded(p.run("run")).Plan
	assert.True(t, proof.NoChange)
	assert.Equal(t, plan1.ToFingerprint, proof.FromFingerprint)

	t.Run("the same plan again is stale", func(t *testing.T) {
		p := applying(t, plan1.Document, dsn)
		r := p.run("run")
		assert.Contains(t, p.failed(r, frame.CodeStalePlan).Message, plan1.FromFingerprint, "the diagnostic names the plan's source fingerprint")
		assert.False(t, r.frame.MutationStarted)
		assert.False(t, r.frame.OutcomeUncertain)
	})
}

func nameOf(dsn string) string {
	return dsn[strings.LastIndex(dsn, "/")+1 : strings.LastIndex(dsn, "?")]
}

func TestDatabaseFaults(t *testing.T) {
	s := startPostgres(t)
	dsn := s.database("CREATE TABLE secret_rows (v text)", "INSERT INTO secret_rows VALUES ('row-value-in-no-log')")
	database := nameOf(dsn)
	s.exec(dsn, "CREATE ROLE guest LOGIN PASSWORD '"+strings.ReplaceAll(sentinel, "'", "''")+"'", "REVOKE ALL ON SCHEMA public FROM PUBLIC")
	model := s.model(shopSQL)
	document := planned(t, model, dsn).Document
	tests := map[string]struct {
		dsn  string
		code frame.Code
	}{
		"down":           {sentinelURL("127.0.0.1:1"), frame.CodeDatabaseUnreachable},
		"wrong password": {s.urlAs("app", sentinel+"x", database), frame.CodeDatabaseAuthentication},
		"wrong user":     {s.urlAs("nobody", sentinel, database), frame.CodeDatabaseAuthentication},
		"TLS refused":    {strings.Replace(dsn, "sslmode=disable", "sslmode=require", 1), frame.CodeDatabaseTLS},
		"no such host":   {sentinelURL("no-such-host.invalid:5432"), frame.CodeDatabaseUnreachable},
		"no database":    {s.urlAs("app", sentinel, "absent"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for op, p := range map[string]*pod{
				"observe": reading(t, intent.Observe, model, tt.dsn), "plan": reading(t, intent.Plan, model, tt.dsn), "apply": applying(t, document, tt.dsn),
			} {
				r := p.run("run")
				if tt.code == "" {
					require.NoError(t, r.parseErr)
					require.NotNil(t, r.frame.Error)
					continue
				}
				f := p.failed(r, tt.code)
				assert.NotContains(t, f.Message, "pgconn", op)
				assert.False(t, r.frame.MutationStarted, op)
				assert.False(t, r.frame.OutcomeUncertain, op)
			}
		})
	}
	t.Run("no privilege", func(t *testing.T) {
		p := applying(t, document, s.urlAs("guest", sentinel, database))
		p.failed(p.run("run"), frame.CodeDatabasePermission)
	})
	t.Run("broken model", func(t *testing.T) {
		p := reading(t, intent.Observe, "{}", dsn)
		p.failed(p.run("run"), frame.CodeDesiredSchemaInvalid)
	})
}

// A statement that the server refuses rolls everything back and says so without rows.
func TestStatementRefusedByRows(t *testing.T) {
	s := startPostgres(t)
	dsn := s.database("CREATE TABLE t (v text)", "INSERT INTO t VALUES ('row-value-in-no-log'), ('row-value-in-no-log')")
	document := planned(t, s.model("CREATE TABLE a (id integer); CREATE TABLE t (v text UNIQUE)"), dsn).Document
	p := applying(t, document, dsn)
	r := p.run("run")
	f := p.failed(r, frame.CodeStatementFailed)
	assert.NotContains(t, f.Message, "row-value")
	assert.True(t, r.frame.MutationStarted)
	assert.False(t, r.frame.OutcomeUncertain)
	assert.False(t, scalar[bool](s, dsn, "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'a' AND relkind = 'r')"))
}

// blocked starts an Apply that waits for a lock, lets the test act on the runner, and gives the result and the engine's number.
func blocked(t *testing.T, s *postgres, act func(runner *os.Process, engine int)) (result, string) {
	t.Helper()
	dsn := s.database("CREATE TABLE t (v text)")
	document := planned(t, s.model("CREATE TABLE a (id integer); CREATE TABLE t (v text, w integer)"), dsn).Document
	holder := s.connect(dsn)
	defer func() { _ = holder.Close(t.Context()) }()
	_, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE t IN ACCESS SHARE MODE")
	require.NoError(t, err)
	p := applying(t, document, dsn)
	p.intent.Scope.LockTimeout = intent.Duration(time.Minute)
	r := p.runWith("run", func(process *os.Process) {
		require.Eventually(t, func() bool {
			return scalar[bool](s, dsn, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE%')")
		}, 30*time.Second, 50*time.Millisecond, "the Apply must wait for the lock")
		act(process, childOf(t, process.Pid))
	})
	return r, dsn
}

// childOf finds the engine that a runner started.
func childOf(t *testing.T, parent int) int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if fields[1] == strconv.Itoa(parent) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			require.NoError(t, err)
			return pid
		}
	}
	require.Fail(t, "the runner has no child")
	return 0
}

func assertUntouched(t *testing.T, s *postgres, dsn string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return scalar[int](s, dsn, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()") == 0
	}, 30*time.Second, 100*time.Millisecond, "no session of the Apply stays")
	assert.False(t, scalar[bool](s, dsn, "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'a' AND relkind = 'r')"))
}

func TestSIGTERMDuringApply(t *testing.T) {
	s := startPostgres(t)
	r, dsn := blocked(t, s, func(runner *os.Process, _ int) { _ = runner.Signal(syscall.SIGTERM) })
	require.NoError(t, r.parseErr)
	require.NotNil(t, r.frame.Error)
	assert.Equal(t, frame.CodeCancelled, r.frame.Error.Code, r.frame.Error.Message)
	assert.True(t, r.frame.MutationStarted)
	assert.False(t, r.frame.OutcomeUncertain, "the engine rolled back and said so")
	assertUntouched(t, s, dsn)
}

func TestEngineKilledDuringApply(t *testing.T) {
	s := startPostgres(t)
	r, dsn := blocked(t, s, func(_ *os.Process, engine int) { _ = syscall.Kill(engine, syscall.SIGKILL) })
	require.NoError(t, r.parseErr)
	require.NotNil(t, r.frame.Error)
	assert.Equal(t, frame.CodeOutputInvalid, r.frame.Error.Code, r.frame.Error.Message)
	assert.Equal(t, 137, r.frame.ExitCode)
	assert.True(t, r.frame.MutationStarted)
	assert.True(t, r.frame.OutcomeUncertain)
	assert.Equal(t, 1, r.code)
	assertUntouched(t, s, dsn)
}

func TestExecutionDeadlineDuringApply(t *testing.T) {
	s := startPostgres(t)
	dsn := s.database("CREATE TABLE t (v text)")
	document := planned(t, s.model("CREATE TABLE t (v text, w integer)"), dsn).Document
	holder := s.connect(dsn)
	_, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE t IN ACCESS SHARE MODE")
	require.NoError(t, err)
	p := applying(t, document, dsn)
	p.intent.Scope.LockTimeout = intent.Duration(time.Minute)
	p.withDeadlines(5*time.Second, 8*time.Second)
	r := p.run("run")
	p.failed(r, frame.CodeDeadlineExceeded)
	assert.False(t, r.frame.OutcomeUncertain, r.frame.Error.Message)
	require.NoError(t, holder.Close(t.Context()))
	assertUntouched(t, s, dsn)
}

func TestLockTimeoutDuringApply(t *testing.T) {
	s := startPostgres(t)
	dsn := s.database("CREATE TABLE t (v text)")
	document := planned(t, s.model("CREATE TABLE t (v text, w integer)"), dsn).Document
	holder := s.connect(dsn)
	defer func() { _ = holder.Close(t.Context()) }()
	_, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE t IN ACCESS SHARE MODE")
	require.NoError(t, err)
	p := applying(t, document, dsn)
	p.intent.Scope.LockTimeout = intent.Duration(300 * time.Millisecond)
	p.failed(p.run("run"), frame.CodeLockTimeout)
}

func TestProtectedTableAndExcludes(t *testing.T) {
	s := startPostgres(t)
	dsn := s.database("CREATE TABLE kept (v text)", "CREATE SCHEMA audit", "CREATE TABLE audit.log (v text)")
	model := s.model("CREATE TABLE t (v text); CREATE TABLE kept (v text, w integer)")
	p := reading(t, intent.Plan, model, dsn)
	p.intent.Scope.ProtectedTables = []string{"public.kept"}
	p.failed(p.run("run"), frame.CodeProtectedTable)

	p = reading(t, intent.Plan, model, dsn)
	p.intent.Scope.Exclude = []string{"audit.*"}
	document, err := plan.Decode(p.succeeded(p.run("run")).Plan.Document)
	require.NoError(t, err)
	assert.Contains(t, document.Exclude, "audit.*")
	assert.NotContains(t, fmt.Sprint(document.Statements), "audit")
}

// What the child gets is the canonical spelling: a URL with odd but accepted spelling reaches the same database.
func TestCanonicalURLReachesTheDatabase(t *testing.T) {
	s := startPostgres(t)
	dsn := s.database()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	password, _ := u.User.Password()
	odd := fmt.Sprintf("PostgreSQL:///%s?host=127.0.0.1&port=%s&user=app&password=%s&sslmode=disable&options=-c%%20search_path%%3Dpublic", u.Path[1:], u.Port(), url.QueryEscape(password))
	p := reading(t, intent.Observe, s.model("CREATE TABLE t (v text)"), odd)
	assert.Equal(t, 1, p.succeeded(p.run("run")).Observe.Total)
}

package engine_test

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

const (
	onlineBase = "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE t (n int, s text);"
	onlineNext = onlineBase + `ALTER TABLE t ADD k int; CREATE INDEX i ON t (n); COMMENT ON INDEX i IS 'by n'; CREATE UNIQUE INDEX u ON t (s);
ALTER TABLE t ADD CONSTRAINT c CHECK (n > 0); ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (n) REFERENCES p;`
)

func outside(doc plan.Document) []string {
	var out []string
	for _, s := range doc.Statements {
		if s.Tx == "none" {
			out = append(out, s.SQL)
		}
	}
	return out
}

func TestOnlineFormsRunAfterTheTransaction(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, onlineBase)
	opts := engine.Options{URL: target, TransactionMode: "none"}
	doc := converge(t, opts, declare(t, s, onlineNext))
	assert.Equal(t, []string{
		`ALTER TABLE "public"."t" ADD COLUMN "k" integer`,
		`ALTER TABLE "public"."t" ADD CONSTRAINT "c" CHECK ((n > 0)) NOT VALID`,
		`ALTER TABLE "public"."t" ADD CONSTRAINT "f" FOREIGN KEY ("n") REFERENCES "public"."p" ("id") NOT VALID`,
		`CREATE INDEX CONCURRENTLY "i" ON "public"."t" USING "btree" ("n")`,
		`CREATE UNIQUE INDEX CONCURRENTLY "u" ON "public"."t" USING "btree" ("s")`,
		`ALTER TABLE "public"."t" VALIDATE CONSTRAINT "c"`,
		`ALTER TABLE "public"."t" VALIDATE CONSTRAINT "f"`,
		`COMMENT ON INDEX "public"."i" IS 'by n'`,
	}, statements(doc))
	assert.Len(t, outside(doc), 5)
	assert.NotEqual(t, doc.ToFingerprint, doc.CommittedFingerprint)
	u, err := url.Parse(target)
	require.NoError(t, err)
	log := s.Log(t, strings.TrimPrefix(u.Path, "/"))
	commit := slices.IndexFunc(log, func(line string) bool { return strings.Contains(line, "statement: COMMIT") })
	require.Positive(t, commit)
	for _, sql := range outside(doc) {
		at := slices.IndexFunc(log, func(line string) bool { return strings.Contains(line, sql) })
		assert.Greater(t, at, commit, sql)
	}
	assert.Zero(t, query[int](t, target, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
}

// TestOnlineIsTheSameStateAsOneTransaction compares both ways to one declared schema.
func TestOnlineIsTheSameStateAsOneTransaction(t *testing.T) {
	s := pgtest.Start(t)
	whole, online := s.NewDatabase(t, onlineBase), s.NewDatabase(t, onlineBase)
	desired := declare(t, s, onlineNext)
	one := converge(t, engine.Options{URL: whole}, desired)
	assert.Empty(t, outside(one))
	assert.Empty(t, one.CommittedFingerprint)
	two := converge(t, engine.Options{URL: online, TransactionMode: "none"}, desired)
	assert.Equal(t, one.ToFingerprint, two.ToFingerprint)
	assert.Equal(t, fingerprint(t, whole), fingerprint(t, online))
}

// TestNothingIsOnlineWhereItWouldLeaveAGap keeps an index that is replaced, and a unique index that a new foreign key stands on, in the transaction.
func TestNothingIsOnlineWhereItWouldLeaveAGap(t *testing.T) {
	s := pgtest.Start(t)
	for name, c := range map[string]struct{ from, to string }{
		"replaced index": {onlineBase + "CREATE INDEX i ON t (n)", onlineBase + "CREATE INDEX i ON t (n, s)"},
		"key of a new foreign key": {
			onlineBase + "CREATE TABLE q (n int)",
			onlineBase + "CREATE TABLE q (n int); CREATE UNIQUE INDEX u ON t (n); ALTER TABLE q ADD CONSTRAINT f FOREIGN KEY (n) REFERENCES t (n) NOT VALID",
		},
		"new table": {onlineBase, onlineBase + "CREATE TABLE q (n int REFERENCES p CHECK (n > 0)); CREATE INDEX ON q (n)"},
	} {
		t.Run(name, func(t *testing.T) {
			doc := converge(t, engine.Options{URL: s.NewDatabase(t, c.from), TransactionMode: "none"}, declare(t, s, c.to))
			assert.Empty(t, outside(doc))
		})
	}
}

// TestFailureAfterTheCommitIsUncertain has duplicates under a unique index: what was committed stays, and the next plan builds the index again.
func TestFailureAfterTheCommitIsUncertain(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, onlineBase, "INSERT INTO p VALUES (1); INSERT INTO t VALUES (1, 'twice'), (1, 'twice')")
	opts := engine.Options{URL: target, TransactionMode: "none"}
	desired := declare(t, s, onlineNext)
	doc := planned(t, opts, desired)
	_, err := engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeStatementFailed)
	assert.True(t, e.MutationStarted)
	assert.True(t, e.OutcomeUncertain)
	assert.Contains(t, e.Message, "statement 5 of 8 (create_index public.u)")
	assert.Contains(t, e.Message, "23505")
	assert.Contains(t, e.Message, "was committed and stays")
	assert.NotContains(t, e.Message, "twice")
	assert.Zero(t, query[int](t, target, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))

	_, err = engine.Apply(testContext(t), opts, doc)
	_ = refusal(t, err, frame.CodeStalePlan)
	s.Exec(t, target, "DELETE FROM t WHERE ctid <> (SELECT min(ctid) FROM t)")
	rest := converge(t, opts, desired)
	assert.Equal(t, []string{
		`DROP INDEX "public"."u"`,
		`ALTER TABLE "public"."t" VALIDATE CONSTRAINT "c"`,
		`ALTER TABLE "public"."t" VALIDATE CONSTRAINT "f"`,
		`COMMENT ON INDEX "public"."i" IS 'by n'`,
		`CREATE UNIQUE INDEX CONCURRENTLY "u" ON "public"."t" USING "btree" ("s")`,
	}, statements(rest))
}

// TestConnectionLostAtEachStatementAfterTheCommit converges from wherever a broken connection left the database.
func TestConnectionLostAtEachStatementAfterTheCommit(t *testing.T) {
	s := pgtest.Start(t)
	desired := declare(t, s, onlineNext)
	upstream := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port))
	for _, word := range []string{`CONCURRENTLY "i"`, `CONCURRENTLY "u"`, `VALIDATE CONSTRAINT "c"`, `VALIDATE CONSTRAINT "f"`, "COMMENT ON INDEX", "set_config('search_path', '', false)"} {
		t.Run(word, func(t *testing.T) {
			target := s.NewDatabase(t, onlineBase)
			doc := planned(t, engine.Options{URL: target, TransactionMode: "none"}, desired)
			p := &proxy{route: func(int) string { return upstream }, cut: func(chunk []byte) bool { return strings.Contains(string(chunk), word) }}
			p.start(t)
			_, err := engine.Apply(testContext(t), engine.Options{URL: strings.Replace(target, strconv.Itoa(s.Port), strconv.Itoa(p.port), 1), TransactionMode: "none"}, doc)
			e := refusal(t, err, frame.CodeDatabaseUnreachable)
			assert.True(t, e.MutationStarted)
			assert.True(t, e.OutcomeUncertain)
			require.Eventually(t, func() bool {
				return query[int](t, target, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()") == 0
			}, time.Minute, 20*time.Millisecond)
			converge(t, engine.Options{URL: target, TransactionMode: "none"}, desired)
		})
	}
}

func TestDamagedOrderOfStatementsIsRefused(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, onlineBase)
	opts := engine.Options{URL: target, TransactionMode: "none"}
	doc := planned(t, opts, declare(t, s, onlineNext))
	before := fingerprint(t, target)
	for name, damage := range map[string]func(*plan.Document){
		"order":     func(d *plan.Document) { slices.Reverse(d.Statements) },
		"one state": func(d *plan.Document) { d.CommittedFingerprint = "" },
		"no mark": func(d *plan.Document) {
			for i := range d.Statements {
				d.Statements[i].Tx = ""
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := doc
			damaged.Statements = slices.Clone(doc.Statements)
			damage(&damaged)
			_, err := engine.Apply(testContext(t), opts, damaged)
			assert.False(t, refusal(t, err, frame.CodePlanDamaged).MutationStarted)
		})
	}
	_, err := engine.Apply(testContext(t), engine.Options{URL: target}, doc)
	assert.Contains(t, refusal(t, err, frame.CodeConfigurationInvalid).Message, "transactionMode")
	assert.Equal(t, before, fingerprint(t, target))
}

// TestUndeclaredLeftoverGoes drops an unusable index that nobody declares.
func TestUndeclaredLeftoverGoes(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, onlineBase, "INSERT INTO t VALUES (1, 'twice'), (1, 'twice')")
	opts := engine.Options{URL: target, TransactionMode: "none"}
	_, err := engine.Apply(testContext(t), opts, planned(t, opts, declare(t, s, onlineBase+"CREATE UNIQUE INDEX u ON t (s)")))
	require.True(t, refusal(t, err, frame.CodeStatementFailed).OutcomeUncertain)
	doc := converge(t, engine.Options{URL: target}, declare(t, s, onlineBase))
	assert.Equal(t, []string{`DROP INDEX "public"."u"`}, statements(doc))
}

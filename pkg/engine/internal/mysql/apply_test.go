package mysql_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/mysql"
	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

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

// three is a schema that a plan of three statements leads to.
const three = base + "CREATE TABLE a (x INT); CREATE TABLE b (x INT); CREATE TABLE c (x INT)"

func TestStalePlanNamesBothFingerprints(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, three))
	s.Exec(t, target, "CREATE EVENT surprise ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' DO SELECT 1")
	_, err := engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeStalePlan)
	assert.False(t, e.MutationStarted)
	assert.False(t, e.OutcomeUncertain)
	assert.Contains(t, e.Message, doc.FromFingerprint)
	assert.Contains(t, e.Message, fingerprint(t, target))
}

func TestRefusalOfTheFirstStatementChangesNothing(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, base+"ALTER TABLE t ADD CONSTRAINT ch CHECK (n > 5)"))
	require.Len(t, doc.Statements, 1)
	s.Exec(t, target, "INSERT INTO t (id, n, s) VALUES (1, 1, 'a secret row')")
	_, err := engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeStatementFailed)
	assert.True(t, e.MutationStarted)
	assert.False(t, e.OutcomeUncertain)
	assert.Contains(t, e.Message, "statement 1 of 1 (add_check t)")
	assert.Contains(t, e.Message, "a row violates the check")
	assert.Contains(t, e.Message, "nothing has changed")
	assert.NotContains(t, e.Message, "secret")
	assert.Equal(t, doc.FromFingerprint, fingerprint(t, target))
}

func TestFailureAfterTheFirstStatementIsUncertain(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, "CREATE TABLE t (id INT NOT NULL, n INT, s VARCHAR(20), UNIQUE u (n)); CREATE TABLE a (x INT)"))
	require.Len(t, doc.Statements, 2)
	s.Exec(t, target, "INSERT INTO t (id, n) VALUES (1, 1), (2, 1)")
	_, err := engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeStatementFailed)
	assert.True(t, e.MutationStarted)
	assert.True(t, e.OutcomeUncertain)
	assert.Contains(t, e.Message, "1 of 2 statements have run and stay")
	assert.Contains(t, e.Message, "rows hold duplicates")
	converge(t, opts, declare(t, s, "CREATE TABLE t (id INT NOT NULL, n INT, s VARCHAR(20)); CREATE TABLE a (x INT)"))
}

func TestWrongEndIsUncertain(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, three))
	doc.Statements[2].SQL = "CREATE TABLE c (x BIGINT)"
	doc = plan.Seal(doc)
	_, err := engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeInternal)
	assert.True(t, e.MutationStarted)
	assert.True(t, e.OutcomeUncertain)
	assert.Contains(t, e.Message, doc.ToFingerprint)
}

func TestApplyRefusesBeforeAnythingIsOpened(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	doc := planned(t, engine.Options{URL: target}, declare(t, s, base+"ALTER TABLE t ADD k INT"))
	for name, c := range map[string]struct {
		opts engine.Options
		edit func(*plan.Document)
		code frame.Code
	}{
		"another dialect":   {engine.Options{}, func(d *plan.Document) { d.Dialect = "postgres" }, frame.CodePlanDamaged},
		"another version":   {engine.Options{}, func(d *plan.Document) { d.FormatVersion = 2 }, frame.CodePlanDamaged},
		"a protected table": {engine.Options{ProtectedTables: []string{"shop.T"}}, func(*plan.Document) {}, frame.CodeProtectedTable},
		"another scope":     {engine.Options{Exclude: []string{"x"}}, func(*plan.Document) {}, frame.CodeConfigurationInvalid},
		"one transaction":   {engine.Options{TransactionMode: "all"}, func(*plan.Document) {}, frame.CodeConfigurationInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			edited := doc
			c.edit(&edited)
			c.opts.URL = s.URL("there_is_no_such_database")
			_, err := engine.Apply(testContext(t), c.opts, edited)
			e := refusal(t, err, c.code)
			assert.False(t, e.MutationStarted)
		})
	}
	assert.Equal(t, doc.FromFingerprint, fingerprint(t, target))
}

func TestLockHeldByAnother(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	opts := engine.Options{URL: target, LockTimeout: time.Second}
	doc := planned(t, opts, declare(t, s, three))
	u, err := url.Parse(target)
	require.NoError(t, err)
	held := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		hold(t, target, mysql.LockName(strings.TrimPrefix(u.Path, "/")), held)
	}()
	<-held
	_, err = engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeLockTimeout)
	assert.False(t, e.MutationStarted)
	held <- struct{}{}
	<-done
	_, err = engine.Apply(testContext(t), opts, doc)
	require.NoError(t, err)
}

// hold keeps an advisory lock until it is told to stop.
func hold(t testing.TB, target, name string, held chan struct{}) {
	db := mytest.Open(t, target)
	defer func() { _ = db.Close() }()
	_, err := db.Exec("DO GET_LOCK('" + name + "', 5)")
	assert.NoError(t, err)
	held <- struct{}{}
	<-held
}

func TestMetadataLockTimesOut(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	opts := engine.Options{URL: target, LockTimeout: time.Second}
	doc := planned(t, opts, declare(t, s, base+"ALTER TABLE t ADD k INT"))
	db := mytest.Open(t, target)
	defer func() { _ = db.Close() }()
	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec("INSERT INTO t (id) VALUES (1)")
	require.NoError(t, err)
	_, err = engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeLockTimeout)
	assert.True(t, e.MutationStarted)
	assert.False(t, e.OutcomeUncertain)
	require.NoError(t, tx.Rollback())
	assert.Equal(t, doc.FromFingerprint, fingerprint(t, target))
}

func TestCancelledWhileAStatementWaits(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, base+"ALTER TABLE t ADD k INT"))
	db := mytest.Open(t, target)
	defer func() { _ = db.Close() }()
	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec("INSERT INTO t (id) VALUES (1)")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(testContext(t))
	go func() {
		defer cancel()
		waitFor(t, s, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table metadata lock%'")
	}()
	_, err = engine.Apply(ctx, opts, doc)
	e := refusal(t, err, frame.CodeCancelled)
	assert.True(t, e.MutationStarted)
	assert.False(t, e.OutcomeUncertain, "the server answered the KILL QUERY")
	require.NoError(t, tx.Rollback())
	assert.Equal(t, doc.FromFingerprint, fingerprint(t, target))
}

// waitFor polls until the query counts something.
func waitFor(t testing.TB, s *mytest.Server, query string) {
	db := mytest.Open(t, s.URL("mysql"))
	defer func() { _ = db.Close() }()
	for range 1200 {
		var n int
		if !assert.NoError(t, db.QueryRow(query).Scan(&n)) || n > 0 {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	assert.Fail(t, "nothing came", query)
}

func TestReadOnlyServerIsRefused(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, three))
	s.Exec(t, s.URL("mysql"), "SET GLOBAL read_only = 1")
	defer s.Exec(t, s.URL("mysql"), "SET GLOBAL read_only = 0")
	_, err := engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeDatabasePermission)
	assert.Contains(t, e.Message, "replica")
	assert.False(t, e.MutationStarted)
}

// TestServerDiesWhileItIsRead kills the server between the many statements of a reading.
func TestServerDiesWhileItIsRead(t *testing.T) {
	s := mytest.StartAnother(t)
	target, _ := s.TemporaryDatabase(t)
	load(t, s, target, base+parent+fk)
	result := make(chan error, 1)
	go func() {
		for {
			if _, err := engine.Inspect(context.Background(), target); err != nil {
				result <- err
				return
			}
		}
	}()
	time.Sleep(500 * time.Millisecond)
	s.Kill()
	e := refusal(t, <-result, frame.CodeDatabaseUnreachable)
	assert.False(t, e.MutationStarted)
	assert.False(t, e.OutcomeUncertain)
}

func TestKilledSessionIsUncertain(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	opts := engine.Options{URL: target}
	doc := planned(t, opts, declare(t, s, base+"ALTER TABLE t ADD k INT"))
	db := mytest.Open(t, target)
	defer func() { _ = db.Close() }()
	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec("INSERT INTO t (id) VALUES (1)")
	require.NoError(t, err)
	go func() {
		const waiting = "FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table metadata lock%'"
		waitFor(t, s, "SELECT COUNT(*) "+waiting)
		s.Exec(t, s.URL("mysql"), fmt.Sprintf("KILL CONNECTION %d", mytest.Value[int](t, s.URL("mysql"), "SELECT ID "+waiting+" LIMIT 1")))
	}()
	_, err = engine.Apply(testContext(t), opts, doc)
	e := refusal(t, err, frame.CodeDatabaseUnreachable)
	assert.True(t, e.MutationStarted)
	assert.True(t, e.OutcomeUncertain)
	require.NoError(t, tx.Rollback())
}

// proxy stands between a client and the server and cuts the connection at one statement: before the server has it, or when its answer comes.
type proxy struct {
	listener net.Listener
	cutAt    string
	answered bool
	cuts     atomic.Int64
}

func startProxy(t testing.TB, s *mytest.Server, cutAt string, answered bool) (*proxy, func(string) string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, cutAt: cutAt, answered: answered}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client, s.Address())
		}
	}()
	return p, func(target string) string {
		return strings.Replace(target, s.Address(), l.Addr().String(), 1)
	}
}

func (p *proxy) serve(client net.Conn, address string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	cut := make(chan struct{}, 1)
	go func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil {
				_ = client.Close()
				return
			}
			select {
			case <-cut: // the answer to the statement: it is lost
				_ = client.Close()
				_ = server.Close()
				return
			default:
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	for {
		header := make([]byte, 4)
		if _, err := io.ReadFull(client, header); err != nil {
			return
		}
		size := int(binary.LittleEndian.Uint32([]byte{header[0], header[1], header[2], 0}))
		payload := make([]byte, size)
		if _, err := io.ReadFull(client, payload); err != nil {
			return
		}
		if size > 1 && payload[0] == 3 && string(payload[1:]) == p.cutAt {
			p.cuts.Add(1)
			if !p.answered {
				return
			}
			cut <- struct{}{}
		}
		if _, err := server.Write(append(header, payload...)); err != nil {
			return
		}
	}
}

// TestConnectionCutAtEachStatement loses the connection before and behind every statement of a plan. What is said must be true of the database.
func TestConnectionCutAtEachStatement(t *testing.T) {
	s := mytest.Start(t)
	desired := declare(t, s, three)
	for i := range 3 {
		for _, answered := range []bool{false, true} {
			t.Run(fmt.Sprintf("statement %d, answer lost: %t", i+1, answered), func(t *testing.T) {
				target := create(t, s, base)
				doc := planned(t, engine.Options{URL: target}, desired)
				require.Len(t, doc.Statements, 3)
				p, through := startProxy(t, s, doc.Statements[i].SQL, answered)
				_, err := engine.Apply(testContext(t), engine.Options{URL: through(target)}, doc)
				e := refusal(t, err, frame.CodeDatabaseUnreachable)
				assert.EqualValues(t, 1, p.cuts.Load(), "the statement was sent once")
				assert.True(t, e.MutationStarted)
				assert.True(t, e.OutcomeUncertain)
				assert.Contains(t, e.Message, fmt.Sprintf("statement %d of 3", i+1))
				if i > 0 {
					assert.Contains(t, e.Message, fmt.Sprintf("%d of 3 statements have run and stay", i))
				}
				want := i
				if answered {
					want++
				}
				count := func() int {
					return mytest.Value[int](t, target, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('a', 'b', 'c')")
				}
				assert.Equal(t, want, count())
				converge(t, engine.Options{URL: target}, desired)
			})
		}
	}
}

// TestLockOnAnotherServerIsRefused gives the second connection another server's answer by leading it elsewhere.
func TestLockOnAnotherServerIsRefused(t *testing.T) {
	s := mytest.Start(t)
	other := mytest.StartAnother(t)
	target := create(t, s, base)
	u, err := url.Parse(target)
	require.NoError(t, err)
	name := strings.TrimPrefix(u.Path, "/")
	other.Exec(t, other.URL(""), "CREATE DATABASE "+name)
	doc := planned(t, engine.Options{URL: target}, declare(t, s, three))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	var connections atomic.Int64
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			address := s.Address()
			if connections.Add(1) > 1 {
				address = other.Address()
			}
			go (&proxy{}).serve(client, address)
		}
	}()
	_, err = engine.Apply(testContext(t), engine.Options{URL: strings.Replace(target, s.Address(), l.Addr().String(), 1)}, doc)
	e := refusal(t, err, frame.CodeLockUnverified)
	assert.False(t, e.MutationStarted)
	assert.Equal(t, doc.FromFingerprint, fingerprint(t, target))
}

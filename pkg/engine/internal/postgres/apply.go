package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/engine/scope"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

const (
	defaultLockTimeout = 30 * time.Second
	// idleTimeout lets the server end the transaction by itself when this process is gone and nobody tells it.
	idleTimeout = time.Minute
	// commitTimeout bounds the wait for the answer to COMMIT, which no outer cancellation cuts short.
	commitTimeout = time.Minute
)

// LockKey is the advisory lock's number on the server.
func LockKey() int64 {
	sum := sha256.Sum256([]byte(contract.LockName))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // every 64-bit pattern is a key
}

// applier is one Apply in progress.
type applier struct {
	session *session
	opts    contract.Options
	doc     plan.Document
	scope   scope.Scope
	started bool // a changing statement was sent
	inside  int  // how many statements, from the first, run in the transaction
	pid     uint32
}

// Apply runs a document. The transaction is open before the lock is taken, so that a pooler cannot move either to another backend.
func Apply(ctx context.Context, opts contract.Options, doc plan.Document) (frame.Applied, error) {
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = defaultLockTimeout
	}
	a := &applier{opts: opts, doc: doc}
	if err := a.check(); err != nil {
		return frame.Applied{}, err
	}
	s, err := connect(ctx, opts.URL, opts.ConnectTimeout)
	if err != nil {
		return frame.Applied{}, err
	}
	defer s.close()
	a.session = s
	if err := a.ownBackend(ctx); err != nil {
		return frame.Applied{}, err
	}
	if err := a.begin(ctx); err != nil {
		return frame.Applied{}, err
	}
	if err := a.converge(ctx); err != nil {
		return frame.Applied{}, a.rolledBack(err)
	}
	if err := a.commit(ctx); err != nil {
		return frame.Applied{}, err
	}
	if err := a.finish(ctx); err != nil {
		return frame.Applied{}, err
	}
	return frame.Applied{StatementsExecuted: len(doc.Statements), ResultFingerprint: doc.ToFingerprint}, nil
}

// check refuses what must not be executed, before anything is opened.
func (a *applier) check() error {
	if _, err := checkOptions(a.opts); err != nil {
		return err
	}
	if a.doc.Dialect != model.Postgres {
		return fault.New(frame.CodePlanDamaged, "the plan is written for %q and the database is PostgreSQL", a.doc.Dialect)
	}
	if _, err := plan.Encode(a.doc); err != nil {
		return fault.Wrap(err, frame.CodePlanDamaged, "the plan is not a valid document: %s", contract.DocumentProblem(err))
	}
	if err := a.cut(); err != nil {
		return err
	}
	for i, s := range a.doc.Statements {
		if touches(s.Table, a.opts.ProtectedTables) {
			return fault.New(frame.CodeProtectedTable, "statement %d (%s) touches the protected table %s", i+1, s.Kind, s.Table)
		}
	}
	return a.checkScope()
}

// checkScope takes the managed scope from the document, which was approved. Where the caller names one too, the document may only add schemas
// themselves to it.
func (a *applier) checkScope() error {
	var err error
	if a.scope, err = scope.Parse(a.doc.Exclude); err != nil {
		return fault.Wrap(err, frame.CodePlanDamaged, "the plan's %s", err)
	}
	if len(a.opts.Exclude) == 0 {
		return nil
	}
	asked, err := scope.Parse(a.opts.Exclude)
	if err != nil {
		return fault.Wrap(err, frame.CodeConfigurationInvalid, "%s", err)
	}
	known := asked.Patterns()
	for _, p := range a.scope.Patterns() {
		if !slices.Contains(known, p) && !strings.HasSuffix(p, "[type=schema]") {
			return fault.New(frame.CodeConfigurationInvalid, "the plan excludes %q and the policy does not: plan again", p)
		}
	}
	for _, p := range known {
		if !slices.Contains(a.doc.Exclude, p) {
			return fault.New(frame.CodeConfigurationInvalid, "the policy excludes %q and the plan does not: plan again", p)
		}
	}
	return nil
}

// touches compares the printed table of a statement; a bare protected name matches in every schema.
func touches(table string, protected []string) bool {
	return table != "" && slices.ContainsFunc(protected, func(p string) bool {
		return strings.EqualFold(p, table) || strings.HasSuffix(strings.ToLower(table), "."+strings.ToLower(p))
	})
}

func (a *applier) begin(ctx context.Context) error {
	if err := a.session.run(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED"); err != nil {
		return queryFault(ctx, err, "opening the transaction")
	}
	statementTimeout := time.Duration(0)
	if deadline, ok := ctx.Deadline(); ok {
		statementTimeout = max(time.Until(deadline), time.Millisecond)
	}
	settings := fmt.Sprintf("SELECT set_config('lock_timeout', '%d', true), set_config('statement_timeout', '%d', true), set_config('idle_in_transaction_session_timeout', '%d', true)",
		max(a.opts.LockTimeout.Milliseconds(), 1), statementTimeout.Milliseconds(), idleTimeout.Milliseconds())
	for _, sql := range []string{settings, deparse} {
		if err := a.session.run(ctx, sql); err != nil {
			return queryFault(ctx, err, "preparing the transaction")
		}
	}
	return a.writable(ctx)
}

// writable refuses a standby, which would take the lock and refuse the first statement.
func (a *applier) writable(ctx context.Context) error {
	var standby bool
	if err := a.session.conn.QueryRow(ctx, "SELECT pg_catalog.pg_is_in_recovery()").Scan(&standby); err != nil {
		return queryFault(ctx, err, "preparing the transaction")
	}
	if standby {
		return fault.New(frame.CodeDatabasePermission, "the server is a standby, which takes no changes: the URL has to lead to its primary; nothing was executed")
	}
	return nil
}

// converge does everything between BEGIN and COMMIT.
func (a *applier) converge(ctx context.Context) error {
	if err := a.lock(ctx); err != nil {
		return err
	}
	live, err := a.fingerprint(ctx)
	if err != nil {
		return err
	}
	if live != a.doc.FromFingerprint {
		return fault.New(frame.CodeStalePlan, "the plan is stale: it starts from %s and the database is at %s; nothing was executed", a.doc.FromFingerprint, live)
	}
	for i := range a.inside {
		if ctx.Err() != nil {
			return interrupted(ctx, ctx.Err())
		}
		a.started = true
		if err := a.session.run(ctx, a.doc.Statements[i].SQL); err != nil {
			return a.statementFault(ctx, i, err)
		}
	}
	reached, err := a.fingerprint(ctx)
	if err != nil {
		return err
	}
	if expected := a.committed(); reached != expected {
		return fault.New(frame.CodeInternal, "the statements ran and led to %s instead of %s", reached, expected)
	}
	if ctx.Err() != nil {
		return interrupted(ctx, ctx.Err())
	}
	return nil
}

func (a *applier) fingerprint(ctx context.Context) (string, error) {
	db, err := a.session.readCatalog(ctx)
	if err != nil {
		return "", err
	}
	if err := a.session.readPrivileges(ctx, db, managedPrivileges(a.doc)); err != nil {
		return "", err
	}
	if err := a.session.readRows(ctx, db, rowSets(a.doc)); err != nil {
		return "", err
	}
	return a.managedFingerprint(db), nil
}

func (a *applier) managedFingerprint(db *model.Database) string {
	managed, _ := a.scope.Split(db)
	return model.Fingerprint(managed)
}

// lock takes the advisory lock for the transaction and has a second connection prove that it holds where the DDL runs.
func (a *applier) lock(ctx context.Context) error {
	var recovery bool
	var pid uint32
	if err := a.session.conn.QueryRow(ctx, "SELECT pg_is_in_recovery(), pg_backend_pid()").Scan(&recovery, &pid); err != nil {
		return queryFault(ctx, err, "asking the server for its state")
	}
	if recovery {
		return fault.New(frame.CodeDatabasePermission, "the server is a read-only replica")
	}
	if err := a.session.run(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", LockKey())); err != nil {
		if sqlState(err) == stateLockTimeout {
			return fault.Wrap(err, frame.CodeLockTimeout, "another session held the advisory lock %q for longer than %s; nothing was executed", contract.LockName, a.opts.LockTimeout)
		}
		return queryFault(ctx, err, "taking the advisory lock")
	}
	a.pid = pid
	if err := a.proveLock(ctx, pid); err != nil || !a.hasOutside() {
		return err
	}
	// The transaction's lock ends with it. This one is of the same number and the same session: it waits for nobody.
	if err := a.session.run(ctx, fmt.Sprintf("SELECT pg_advisory_lock(%d)", LockKey())); err != nil {
		return queryFault(ctx, err, "taking the advisory lock")
	}
	return nil
}

func (a *applier) proveLock(ctx context.Context, pid uint32) error {
	second, err := connect(ctx, a.opts.URL, a.opts.ConnectTimeout)
	if err != nil {
		return queryFault(ctx, err, "proving the advisory lock")
	}
	defer second.close()
	key := LockKey()
	var taken, held bool
	err = second.conn.QueryRow(ctx, fmt.Sprintf(`SELECT pg_try_advisory_xact_lock(%d), EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = %d
 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND classid = %d AND objid = %d AND objsubid = 1)`,
		key, pid, uint32(uint64(key)>>32), uint32(uint64(key)&0xffffffff))).Scan(&taken, &held) //nolint:gosec // the two halves of the key, as pg_locks shows them
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return queryFault(ctx, err, "proving the advisory lock")
	}
	if taken || !held {
		return fault.New(frame.CodeLockUnverified, "a second connection does not see the advisory lock %q that the first one holds: the URL does not lead to one server (a pooler or balancer stands between); nothing was executed", contract.LockName)
	}
	return nil
}

// statementFault describes a statement that did not run, without its text and without the server's.
func (a *applier) statementFault(ctx context.Context, index int, err error) error {
	s := a.doc.Statements[index]
	which := fmt.Sprintf("statement %d of %d (%s %s)", index+1, len(a.doc.Statements), s.Kind, s.Object)
	if ctx.Err() != nil {
		return interrupted(ctx, err).Prefix(which)
	}
	state := sqlState(err)
	code := frame.CodeStatementFailed
	switch state {
	case "":
		return fault.Wrap(err, frame.CodeDatabaseUnreachable, "%s: the connection to the database broke", which)
	case stateLockTimeout:
		return fault.Wrap(err, frame.CodeLockTimeout, "%s waited longer than %s for a lock (SQLSTATE 55P03)", which, a.opts.LockTimeout)
	case statePermission, stateReadOnly:
		code = frame.CodeDatabasePermission
	case stateQueryCanceled:
		code = frame.CodeDeadlineExceeded
	}
	return fault.Wrap(err, code, "%s was refused by the server with SQLSTATE %s%s", which, state, hint(state))
}

// hint says what a SQLSTATE means where the reader can do something about it.
func hint(state string) string {
	meaning := map[string]string{
		"23502": "a row holds NULL where the schema forbids it", "23505": "rows hold duplicates", "23503": "rows point to rows that do not exist",
		"23514": "a row violates the check", "2BP01": "something outside of the plan depends on it", "42501": "the role lacks a privilege",
		"42804": "the values cannot be converted", "42846": "the values cannot be converted", "22P02": "a value cannot be converted", "22001": "a value is too long",
		"22003": "a value is out of range", "25006": "the server or the role is read-only", "57014": "cancelled, or out of time", "53100": "the disk is full",
		"42P07": "the name is taken", "42710": "the name is taken", "0A000": "something outside of the plan depends on it",
	}[state]
	if meaning == "" {
		return ""
	}
	return ": " + meaning
}

// rolledBack ends the transaction after an error. COMMIT was never sent, so that nothing can have changed: if even ROLLBACK does
// not get through, the server ends the transaction with the session.
func (a *applier) rolledBack(err error) error {
	a.session.rollback()
	f := asFault(err)
	if !a.started {
		return f
	}
	done := *f
	done.Message = fault.New(f.Code, "%s; the transaction was rolled back and nothing has changed", f.Message).Message
	done.MutationStarted = true
	return &done
}

func asFault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.Wrap(err, frame.CodeInternal, "applying the plan")
}

// commit sends COMMIT. From here on an outer cancellation changes nothing, and only the server's answer tells what happened.
func (a *applier) commit(ctx context.Context) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	results, err := a.session.conn.PgConn().Exec(limited, "COMMIT").ReadAll()
	var f *fault.Error
	switch {
	case err == nil && len(results) == 1 && results[0].CommandTag.String() == "COMMIT":
		return nil
	case err == nil:
		f = fault.New(frame.CodeStatementFailed, "the server answered COMMIT with a rollback; nothing has changed")
	case sqlState(err) != "" && !strings.HasPrefix(sqlState(err), "57P") && !strings.HasPrefix(sqlState(err), "08"):
		f = fault.Wrap(err, frame.CodeStatementFailed, "the server refused COMMIT with SQLSTATE %s%s; nothing has changed", sqlState(err), hint(sqlState(err)))
	default:
		f = fault.Wrap(err, frame.CodeDatabaseUnreachable, "the connection broke while the server was answering COMMIT: nobody knows whether the changes were committed")
		f.OutcomeUncertain = true
	}
	f.MutationStarted = true
	return f
}

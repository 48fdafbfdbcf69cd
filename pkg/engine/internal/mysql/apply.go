package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/engine/scope"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

const (
	defaultLockTimeout = 30 * time.Second
	// idleTimeout lets the server end the session by itself when this process is gone and nobody tells it.
	idleTimeout = time.Minute
	// maxLockName is the longest name that GET_LOCK takes, in characters.
	maxLockName = 64
)

// LockName is the advisory lock of one database. Locks belong to the whole server, so that the name says which database is meant.
func LockName(database string) string {
	name := contract.LockName + "." + database
	if len([]rune(name)) <= maxLockName {
		return name
	}
	sum := sha256.Sum256([]byte(database))
	return contract.LockName + "." + hex.EncodeToString(sum[:16])
}

// applier is one Apply in progress. Every statement commits by itself: what ran stays.
type applier struct {
	session *session
	opts    contract.Options
	doc     plan.Document
	scope   scope.Scope
	done    int  // statements that the server has confirmed
	sent    bool // a changing statement was sent
}

// Apply runs a document on one session, statement by statement, under the advisory lock.
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
	if err := a.converge(ctx); err != nil {
		return frame.Applied{}, a.account(err)
	}
	return frame.Applied{StatementsExecuted: len(doc.Statements), ResultFingerprint: doc.ToFingerprint}, nil
}

// check refuses what must not be executed, before anything is opened.
func (a *applier) check() error {
	if _, err := checkOptions(a.opts); err != nil {
		return err
	}
	if a.doc.Dialect != model.MySQL {
		return fault.New(frame.CodePlanDamaged, "the plan is written for %q and the database is MySQL or MariaDB", a.doc.Dialect)
	}
	if _, err := plan.Encode(a.doc); err != nil {
		return fault.Wrap(err, frame.CodePlanDamaged, "the plan is not a valid document: %s", contract.DocumentProblem(err))
	}
	if len(a.doc.ManagedRows)+len(a.doc.ManagedPrivileges)+len(a.doc.ManagedDefaults) > 0 || a.doc.CommittedFingerprint != "" {
		return fault.New(frame.CodePlanDamaged, "the plan manages rows or privileges or divides a transaction, which no plan for MySQL or MariaDB does")
	}
	for i, s := range a.doc.Statements {
		if s.Table != "" && isProtected(s.Table, a.opts.ProtectedTables) {
			return fault.New(frame.CodeProtectedTable, "statement %d (%s) touches the protected table %s", i+1, s.Kind, s.Table)
		}
	}
	return a.checkScope()
}

// checkScope takes the managed scope from the document, which was approved.
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
	if !slices.Equal(asked.Patterns(), a.scope.Patterns()) {
		return fault.New(frame.CodeConfigurationInvalid, "the policy excludes other objects than the plan: plan again")
	}
	return nil
}

// limits bounds every wait, and every statement where the server can do that by itself.
func (a *applier) limits(ctx context.Context) error {
	seconds := max(int64(a.opts.LockTimeout/time.Second), 1)
	settings := []string{
		fmt.Sprintf("lock_wait_timeout = %d", seconds), fmt.Sprintf("innodb_lock_wait_timeout = %d", seconds), fmt.Sprintf("wait_timeout = %d", int(idleTimeout/time.Second)),
	}
	if deadline, ok := ctx.Deadline(); ok && a.session.server.deadline != "" {
		settings = append(settings, fmt.Sprintf("%s = %d", a.session.server.deadline, max(int64(time.Until(deadline)/time.Second), 1)))
	}
	for _, setting := range settings {
		if err := a.session.run(ctx, "SET SESSION "+setting); err != nil {
			return queryFault(ctx, err, "preparing the session")
		}
	}
	return nil
}

// converge does everything from the lock to the last look.
func (a *applier) converge(ctx context.Context) error {
	if a.session.replicaOnly {
		return fault.New(frame.CodeDatabasePermission, "the server is read-only, as a replica is; nothing was executed")
	}
	if err := a.limits(ctx); err != nil {
		return err
	}
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
	for i := range a.doc.Statements {
		if ctx.Err() != nil {
			return interrupted(ctx, ctx.Err()).Prefix(a.which(i))
		}
		a.sent = true
		if err := a.session.run(ctx, a.doc.Statements[i].SQL); err != nil {
			return a.statementFault(ctx, i, err)
		}
		a.done++
	}
	// From here on an outer cancellation changes nothing.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), idleTimeout)
	defer cancel()
	reached, err := a.fingerprint(limited)
	if err != nil {
		return err
	}
	if reached != a.doc.ToFingerprint {
		return fault.New(frame.CodeInternal, "the statements ran and led to %s instead of %s", reached, a.doc.ToFingerprint)
	}
	return nil
}

func (a *applier) fingerprint(ctx context.Context) (string, error) {
	db, err := a.session.inspect(ctx)
	if err != nil {
		return "", err
	}
	managed, _ := a.scope.Split(db)
	return model.Fingerprint(managed), nil
}

// lock takes the advisory lock for the session and has a second connection prove that this session has it.
func (a *applier) lock(ctx context.Context) error {
	name := LockName(a.session.database)
	var got sql.NullInt64
	err := a.session.conn.QueryRowContext(ctx, fmt.Sprintf("SELECT GET_LOCK(%s, %d)", literal(name), max(int64(a.opts.LockTimeout/time.Second), 1))).Scan(&got)
	switch {
	case err != nil:
		return queryFault(ctx, err, "taking the advisory lock")
	case got.Int64 != 1:
		return fault.New(frame.CodeLockTimeout, "another session held the advisory lock %q for longer than %s; nothing was executed", contract.LockName, a.opts.LockTimeout)
	}
	second, err := connect(ctx, a.opts.URL, a.opts.ConnectTimeout)
	if err != nil {
		return queryFault(ctx, err, "proving the advisory lock")
	}
	defer second.close()
	var holder sql.NullInt64
	if err := second.conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK("+literal(name)+")").Scan(&holder); err != nil {
		return queryFault(ctx, err, "proving the advisory lock")
	}
	// A proxy may have moved the first session since it told its number.
	var own int64
	if err := a.session.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&own); err != nil {
		return queryFault(ctx, err, "proving the advisory lock")
	}
	if !holder.Valid || holder.Int64 != own || uint64(own) != a.session.id || second.id == a.session.id { //nolint:gosec // a connection's number is positive
		return fault.New(frame.CodeLockUnverified, "a second connection does not see the advisory lock %q that the first one holds: the URL does not lead to one server (a proxy or balancer stands between); nothing was executed", contract.LockName)
	}
	return nil
}

func (a *applier) which(i int) string {
	s := a.doc.Statements[i]
	return fmt.Sprintf("statement %d of %d (%s %s)", i+1, len(a.doc.Statements), s.Kind, s.Object)
}

// statementFault describes a statement that did not run, without its text and without the server's.
func (a *applier) statementFault(ctx context.Context, i int, err error) error {
	which, n := a.which(i), number(err)
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx, err).Prefix(which)
	case n == 0, n == errKilled, n == errShutdown:
		f := fault.Wrap(err, frame.CodeDatabaseUnreachable, "%s: the connection to the database broke before the server answered", which)
		f.OutcomeUncertain = true
		return f
	case n == errLockWait:
		return fault.Wrap(err, frame.CodeLockTimeout, "%s waited longer than %s for a lock (error %d)", which, a.opts.LockTimeout, n)
	}
	code, _ := meaning(n)
	if code == frame.CodeInternal {
		code = frame.CodeStatementFailed
	}
	return fault.Wrap(err, code, "%s was refused by the server with error %d%s", which, n, hint(n))
}

// hint says what an error means where the reader can do something about it.
func hint(n uint16) string {
	meaning := map[uint16]string{
		1022: "rows hold duplicates", 1062: "rows hold duplicates", 1048: "a row holds NULL where the schema forbids it", 1138: "a row holds NULL where the schema forbids it",
		1452: "rows point to rows that do not exist", 1451: "rows are pointed to", 1217: "rows are pointed to", 4025: "a row violates the check", 3819: "a row violates the check",
		1264: "a value is out of range", 1265: "a value does not fit the new type", 1406: "a value is too long", 1366: "a value cannot be converted", 1292: "a value cannot be converted",
		1050: "the name is taken", 1061: "the name is taken", 1142: "the account lacks a privilege", 1044: "the account lacks a privilege", 1227: "the account lacks a privilege",
		1005: "a foreign key cannot be built: the referenced columns need an index and the same types", 3780: "the columns of a foreign key have different types", 1822: "the referenced columns have no index",
		1071: "a key is too long", 1118: "the rows are too long", 1021: "the disk is full", 1114: "the table or the disk is full", 3750: "the server demands a primary key (sql_require_primary_key)",
		1419: "the account may not create routines while the binary log is on (log_bin_trust_function_creators)", 1290: "the server is read-only", 1836: "the server is read-only",
		1526: "a row fits into no partition", 1317: "it was killed", 1969: "it ran out of time",
	}[n]
	if meaning == "" {
		return ""
	}
	return ": " + meaning
}

// account says what an error means for the database. The server's refusal of the first statement means that nothing changed, if the database still is
// what the plan starts from; anything after a first success leaves the database between two states.
func (a *applier) account(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		f = fault.Wrap(err, frame.CodeInternal, "applying the plan")
	}
	if !a.sent {
		return f
	}
	out := *f
	out.MutationStarted = true
	total := len(a.doc.Statements)
	switch {
	case a.done == 0 && !f.OutcomeUncertain && a.unchanged():
		out.OutcomeUncertain = false
		return out.Prefix("nothing has changed")
	case a.done == 0:
		out.OutcomeUncertain = true
		return out.Prefix("nobody knows whether the first statement took effect")
	}
	out.OutcomeUncertain = true
	return out.Prefix(fmt.Sprintf("%d of %d statements have run and stay", a.done, total))
}

// unchanged looks whether the database still is what the plan starts from; false where that cannot be told.
func (a *applier) unchanged() bool {
	ctx, cancel := context.WithTimeout(context.Background(), idleTimeout)
	defer cancel()
	s, err := connect(ctx, a.opts.URL, a.opts.ConnectTimeout)
	if err != nil {
		return false
	}
	defer s.close()
	look := &applier{session: s, scope: a.scope}
	live, err := look.fingerprint(ctx)
	return err == nil && live == a.doc.FromFingerprint
}

package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/frame"
)

// cut finds where the statements outside of the transaction begin. All of them come after it.
func (a *applier) cut() error {
	a.inside = len(a.doc.Statements)
	for i, s := range a.doc.Statements {
		switch {
		case s.Tx != "" && a.inside == len(a.doc.Statements):
			a.inside = i
		case s.Tx == "" && a.inside < i:
			return fault.New(frame.CodePlanDamaged, "statement %d (%s %s) runs in the transaction and stands behind one that does not", i+1, s.Kind, s.Object)
		}
	}
	if a.hasOutside() != (a.doc.CommittedFingerprint != "") {
		return fault.New(frame.CodePlanDamaged, "the plan says which state the transaction ends in exactly when statements follow it, and this one does not")
	}
	if a.hasOutside() && a.opts.TransactionMode != contract.TransactionNone {
		return fault.New(frame.CodeConfigurationInvalid, "the plan has statements outside of a transaction and the policy's transactionMode is %q: plan again", a.opts.TransactionMode)
	}
	return nil
}

func (a *applier) hasOutside() bool { return a.inside < len(a.doc.Statements) }

// poolerProbes is how often two sessions are compared. One time would do if nobody else used the pool.
const poolerProbes = 5

// ownBackend refuses statements outside of a transaction where a pooler gives a backend to each transaction: one that is idle serves the next session
// that asks. The session's lock and settings would stay on it, for strangers to meet.
func (a *applier) ownBackend(ctx context.Context) error {
	if !a.hasOutside() {
		return nil
	}
	other, err := connect(ctx, a.opts.URL, a.opts.ConnectTimeout)
	if err != nil {
		return err
	}
	defer other.close()
	for range poolerProbes {
		mine, err := a.session.backend(ctx)
		if err != nil {
			return err
		}
		theirs, err := other.backend(ctx)
		if err != nil {
			return err
		}
		if mine == theirs {
			return fault.New(frame.CodeLockUnverified, "a pooler gives a backend to each transaction, and the plan has statements outside of one, where the advisory lock %q would not hold: the URL has to lead to the server itself or to a pool in session mode; nothing was executed", contract.LockName)
		}
	}
	return nil
}

// committed is the state that the transaction has to end in.
func (a *applier) committed() string {
	if a.hasOutside() {
		return a.doc.CommittedFingerprint
	}
	return a.doc.ToFingerprint
}

// finish runs the statements that follow the transaction, one by one, on the session that still holds the advisory lock, and compares what they
// led to with the plan's target. Any failure leaves the database between two states of the plan: only a fresh reading tells where.
func (a *applier) finish(ctx context.Context) error {
	if !a.hasOutside() {
		return nil
	}
	if err := a.prepareOutside(ctx); err != nil {
		return a.betweenStates(err)
	}
	for i := a.inside; i < len(a.doc.Statements); i++ {
		if ctx.Err() != nil {
			return a.betweenStates(interrupted(ctx, ctx.Err()))
		}
		if err := a.sameBackend(ctx); err != nil {
			return a.betweenStates(err)
		}
		if err := a.session.run(ctx, a.doc.Statements[i].SQL); err != nil {
			return a.betweenStates(a.statementFault(ctx, i, err))
		}
	}
	db, err := a.session.inspect(ctx, rowSets(a.doc), managedPrivileges(a.doc))
	if err != nil {
		return a.betweenStates(err)
	}
	if reached := a.managedFingerprint(db); reached != a.doc.ToFingerprint {
		return a.betweenStates(fault.New(frame.CodeInternal, "the statements ran and led to %s instead of %s", reached, a.doc.ToFingerprint))
	}
	return nil
}

// prepareOutside gives the session what the transaction had for itself.
func (a *applier) prepareOutside(ctx context.Context) error {
	statementTimeout := time.Duration(0)
	if deadline, ok := ctx.Deadline(); ok {
		statementTimeout = max(time.Until(deadline), time.Millisecond)
	}
	settings := fmt.Sprintf("SELECT set_config('lock_timeout', '%d', false), set_config('statement_timeout', '%d', false)",
		max(a.opts.LockTimeout.Milliseconds(), 1), statementTimeout.Milliseconds())
	for _, sql := range []string{settings, strings.ReplaceAll(deparse, ", true)", ", false)")} {
		if err := a.session.run(ctx, sql); err != nil {
			return queryFault(ctx, err, "preparing the session")
		}
	}
	return nil
}

// sameBackend makes sure that the statement is going to run where the lock is held: a pooler may have moved the session when the transaction ended.
func (a *applier) sameBackend(ctx context.Context) error {
	pid, err := a.session.backend(ctx)
	if err != nil {
		return err
	}
	if pid != a.pid {
		return fault.New(frame.CodeLockUnverified, "the session moved to another backend after the transaction (a pooler stands between), where the advisory lock %q is not held", contract.LockName)
	}
	return nil
}

// betweenStates marks an error after COMMIT.
func (a *applier) betweenStates(err error) error {
	f := asFault(err)
	done := *f
	done.Message = fault.New(f.Code, "%s; the transaction before it was committed and stays, and a fresh reading tells what is left to do", f.Message).Message
	done.MutationStarted, done.OutcomeUncertain = true, true
	return &done
}

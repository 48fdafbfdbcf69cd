package mysql

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/engine/scope"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

// Inspect reads the database that the URL names.
func Inspect(ctx context.Context, url string) (*model.Database, error) {
	s, err := connect(ctx, url, 0)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.inspect(ctx)
}

func (s *session) inspect(ctx context.Context) (*model.Database, error) {
	var db *model.Database
	err := s.readOnly(ctx, func(ctx context.Context) (err error) {
		db, err = s.read(ctx)
		return err
	})
	return db, err
}

// Observe compares the whole database with the declared schema.
func Observe(ctx context.Context, opts contract.Options, desired *model.Database) (frame.Observed, error) {
	s, err := connect(ctx, opts.URL, opts.ConnectTimeout)
	if err != nil {
		return frame.Observed{}, err
	}
	defer s.close()
	if err := s.checkServer(desired); err != nil {
		return frame.Observed{}, err
	}
	live, err := s.inspect(ctx)
	if err != nil {
		return frame.Observed{}, err
	}
	return contract.Report(live, desired)
}

// Plan computes the statements that make the managed scope equal to the declared schema.
func Plan(ctx context.Context, opts contract.Options, desired *model.Database) (contract.PlanResult, error) {
	return withSession(ctx, opts, desired, connect, func(s *session, sc scope.Scope) (contract.PlanResult, error) {
		live, err := s.inspect(ctx)
		if err != nil {
			return contract.PlanResult{}, err
		}
		return s.planFrom(opts, sc, live, desired)
	})
}

// PlanFrom is Plan for a database that is as live says, on whatever server opts leads to.
func PlanFrom(ctx context.Context, opts contract.Options, live, desired *model.Database) (contract.PlanResult, error) {
	return withSession(ctx, opts, desired, connectServer, func(s *session, sc scope.Scope) (contract.PlanResult, error) {
		return s.planFrom(opts, sc, live, desired)
	})
}

// withSession plans on a session with a server that the declared schema is for.
func withSession(ctx context.Context, opts contract.Options, desired *model.Database, open func(context.Context, string, time.Duration) (*session, error), do func(*session, scope.Scope) (contract.PlanResult, error)) (contract.PlanResult, error) {
	sc, err := checkOptions(opts)
	if err != nil {
		return contract.PlanResult{}, err
	}
	s, err := open(ctx, opts.URL, opts.ConnectTimeout)
	if err != nil {
		return contract.PlanResult{}, err
	}
	defer s.close()
	if err := s.checkServer(desired); err != nil {
		return contract.PlanResult{}, err
	}
	return do(s, sc)
}

func (s *session) planFrom(opts contract.Options, sc scope.Scope, live, desired *model.Database) (contract.PlanResult, error) {
	from, excluded := sc.Split(live)
	to, _ := sc.Split(desired)
	p, err := newPlanner(from, to, excluded, s.server)
	if err != nil {
		return contract.PlanResult{}, err
	}
	return p.result(opts, sc)
}

func checkOptions(opts contract.Options) (scope.Scope, error) {
	sc, err := contract.CheckDrift(opts)
	if err != nil {
		return sc, err
	}
	switch opts.TransactionMode {
	case "", contract.TransactionFile, contract.TransactionNone: // "file" is what the API fills in
		return sc, nil
	case contract.TransactionAll:
		return sc, fault.New(frame.CodeConfigurationInvalid, `transactionMode "all" is refused: MySQL and MariaDB commit every change of a schema by itself; set it to none`)
	}
	return sc, fault.New(frame.CodeConfigurationInvalid, "transactionMode %q is unknown", opts.TransactionMode)
}

// result runs the planner and seals its document.
func (p *planner) result(opts contract.Options, sc scope.Scope) (contract.PlanResult, error) {
	r := contract.PlanResult{From: model.Fingerprint(p.live), To: model.Fingerprint(p.to)}
	steps, err := p.plan()
	if err != nil {
		return r, err
	}
	if (len(steps) == 0) != (r.From == r.To) || len(steps) == 0 != (p.diff.Empty() && p.renames.empty()) {
		return r, fault.New(frame.CodeInternal, "planning: %d statements for fingerprints %s and %s", len(steps), r.From, r.To)
	}
	doc := plan.Document{Dialect: model.MySQL, FromFingerprint: r.From, ToFingerprint: r.To, Exclude: sc.Patterns()}
	for _, s := range steps {
		doc.Statements = append(doc.Statements, s.Statement)
	}
	doc = plan.Seal(doc)
	if len(steps) == 0 || opts.DriftSeverity == contract.DriftDestructive && !doc.Destructive {
		r.NoChange = true
		return r, nil
	}
	for _, s := range steps {
		if s.table != "" && isProtected(s.table, opts.ProtectedTables) {
			return r, fault.New(frame.CodeProtectedTable, "the plan touches the protected table %q (%s)", s.table, s.Kind)
		}
	}
	if _, err := plan.Encode(doc); err != nil {
		return r, contract.EncodeFault(doc, err)
	}
	r.Document = doc
	return r, nil
}

// isProtected compares without case. A protected name may have a database in front: there is only the one of the URL.
func isProtected(table string, protected []string) bool {
	return slices.ContainsFunc(protected, func(p string) bool {
		return strings.EqualFold(p, table) || strings.HasSuffix(strings.ToLower(p), "."+strings.ToLower(table))
	})
}

package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/engine/scope"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

// publicSchema exists in every new database and is never dropped.
const publicSchema = "public"

// Inspect reads the whole database.
func Inspect(ctx context.Context, url string) (*model.Database, error) {
	s, err := connect(ctx, url, 0)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.inspect(ctx, nil, model.Managed{})
}

// InspectPrivileges reads the whole database with everything that is granted in it.
func InspectPrivileges(ctx context.Context, url string) (*model.Database, error) {
	s, err := connect(ctx, url, 0)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.inspect(ctx, nil, everything)
}

// inspect reads the catalog, the rows of the sets named and the managed privileges, in one snapshot.
func (s *session) inspect(ctx context.Context, sets []model.RowSet, managed model.Managed) (*model.Database, error) {
	var db *model.Database
	err := s.readOnly(ctx, func(ctx context.Context) (err error) {
		if db, err = s.readCatalog(ctx); err != nil {
			return err
		}
		if err = s.readPrivileges(ctx, db, managed); err != nil {
			return err
		}
		return s.readRows(ctx, db, sets)
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
	live, err := s.inspect(ctx, nil, desired.ManagedPrivileges())
	if err != nil {
		return frame.Observed{}, err
	}
	live, desired, _ = s.authority.fit(live, desired)
	if s.authority != nil {
		desired.Grants = withoutOwners(desired.Grants, s.authority.ownerOf)
	}
	return contract.Report(live, settleVersions(live, keepPublic(live, desired), nil).WithoutRows())
}

// keepPublic adds the schema "public" to a declared schema that lacks it, as the database has it.
func keepPublic(live, desired *model.Database) *model.Database {
	isPublic := func(s model.Schema) bool { return s.Name == publicSchema }
	i := slices.IndexFunc(live.Schemas, isPublic)
	if i < 0 || slices.ContainsFunc(desired.Schemas, isPublic) {
		return desired
	}
	d := *desired
	d.Schemas = append(slices.Clone(desired.Schemas), live.Schemas[i])
	slices.SortFunc(d.Schemas, func(a, b model.Schema) int { return strings.Compare(a.Name, b.Name) })
	return &d
}

// Plan computes the statements that make the managed scope equal to the declared schema.
func Plan(ctx context.Context, opts contract.Options, desired *model.Database) (contract.PlanResult, error) {
	sc, err := checkOptions(opts)
	if err != nil {
		return contract.PlanResult{}, err
	}
	s, err := connect(ctx, opts.URL, opts.ConnectTimeout)
	if err != nil {
		return contract.PlanResult{}, err
	}
	defer s.close()
	declared, _ := sc.Split(desired)
	live, err := s.inspect(ctx, declared.Rows, declared.ManagedPrivileges())
	if err != nil {
		return contract.PlanResult{}, err
	}
	return s.planFrom(ctx, opts, sc, live, desired)
}

// PlanFrom is Plan for a database that is as live says, on whatever server opts leads to.
func PlanFrom(ctx context.Context, opts contract.Options, live, desired *model.Database) (contract.PlanResult, error) {
	sc, err := checkOptions(opts)
	if err != nil {
		return contract.PlanResult{}, err
	}
	s, err := connect(ctx, opts.URL, opts.ConnectTimeout)
	if err != nil {
		return contract.PlanResult{}, err
	}
	defer s.close()
	return s.planFrom(ctx, opts, sc, withSetsOf(live, desired), desired)
}

func (s *session) planFrom(ctx context.Context, opts contract.Options, sc scope.Scope, live, desired *model.Database) (contract.PlanResult, error) {
	desired = keepPublic(live, desired)
	shelf, err := s.readShelf(ctx, live, desired)
	if err != nil {
		return contract.PlanResult{}, err
	}
	desired = settleVersions(live, desired, shelf)
	if sc, err = keepInhabited(sc, live, desired); err != nil {
		return contract.PlanResult{}, err
	}
	to, _ := sc.Split(desired)
	live, to, managed := s.authority.fit(live, to)
	from, excluded := sc.Split(live)
	inherited := cloneHeritage(&s.heritage)
	renamed, renames, err := applyRenames(from, to, &inherited, s.major)
	if err != nil {
		return contract.PlanResult{}, err
	}
	renamed, asides, set, err := setAside(renamed, to, excluded)
	if err != nil {
		return contract.PlanResult{}, err
	}
	renames = append(renames, set...)
	p := &planner{live: from, renames: renames, asides: asides, from: renamed, to: to, excluded: excluded, major: s.major, online: opts.TransactionMode == contract.TransactionNone, shelf: shelf, heritage: inherited, ties: s.ties}
	p.privilegePlan = privilegePlan{authority: s.authority, managed: managed, declared: to.Grants}
	p.dropOwners()
	p.diff = diff.Compare(renamed, p.to)
	if p.known, err = s.ask(ctx, p.diff); err != nil {
		return contract.PlanResult{}, err
	}
	return p.result(opts, sc)
}

func checkOptions(opts contract.Options) (scope.Scope, error) {
	switch opts.TransactionMode {
	case "", contract.TransactionFile, contract.TransactionAll, contract.TransactionNone:
		return contract.CheckDrift(opts)
	}
	return scope.Scope{}, fault.New(frame.CodeConfigurationInvalid, "transactionMode %q is unknown", opts.TransactionMode)
}

// keepInhabited takes schemas out of the managed scope that only the database has and that hold something excluded: they cannot be dropped. The
// added selectors travel in the document, so that Apply computes the same scope.
func keepInhabited(sc scope.Scope, live, desired *model.Database) (scope.Scope, error) {
	_, excluded := sc.Split(live)
	patterns := sc.Patterns()
	for _, name := range scope.Inhabited(excluded) {
		if !slices.ContainsFunc(desired.Schemas, func(s model.Schema) bool { return s.Name == name }) {
			patterns = append(patterns, scope.SchemaItself(name))
		}
	}
	out, err := scope.Parse(patterns)
	if err != nil {
		return sc, fault.Wrap(err, frame.CodeInternal, "%s", err)
	}
	return out, nil
}

// ask finds out what the server knows of new types and defaults.
func (s *session) ask(ctx context.Context, d *diff.Diff) (known, error) {
	k := known{conversions: map[conversion]cast{}, volatile: map[model.Name]bool{}}
	var defaults []model.Name
	for i := range d.Tables {
		for _, c := range d.Tables[i].Columns {
			switch {
			case d.Tables[i].Old == nil || c.New == nil:
			case c.Old == nil:
				defaults = append(defaults, routinesIn(c.New.Default)...)
			case c.Old.Type != c.New.Type:
				if err := s.askCast(ctx, conversion{c.Old.Type, c.New.Type}, k.conversions); err != nil {
					return k, err
				}
			}
		}
	}
	return k, s.askVolatility(ctx, defaults, k.volatile)
}

// askCast asks the server for a cast. Types that do not exist there yet have none.
func (s *session) askCast(ctx context.Context, c conversion, into map[conversion]cast) error {
	if _, asked := into[c]; asked {
		return nil
	}
	var found cast
	err := s.readOnly(ctx, func(ctx context.Context) error {
		// A domain may refuse the value, so that none is cast.
		if err := s.run(ctx, "SELECT NULL::"+c.from+"::"+c.to+" WHERE false"); err != nil {
			return err
		}
		found.exists = true
		return s.conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_cast WHERE castsource = $1::text::pg_catalog.regtype AND casttarget = $2::text::pg_catalog.regtype AND castmethod = 'b')", c.from, c.to).Scan(&found.binary)
	})
	if err != nil && !strings.HasPrefix(sqlState(err), "42") {
		return queryFault(ctx, err, "asking the server for a cast")
	}
	into[c] = found
	return nil
}

func (s *session) askVolatility(ctx context.Context, routines []model.Name, into map[model.Name]bool) error {
	if len(routines) == 0 {
		return nil
	}
	names := make([]string, len(routines))
	for i, n := range routines {
		names[i] = n.Name
	}
	err := s.readOnly(ctx, func(ctx context.Context) error {
		rows, err := s.conn.Query(ctx, "SELECT n.nspname::text, p.proname::text, bool_or(p.provolatile = 'v') FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE p.proname::text = ANY ($1::text[]) GROUP BY 1, 2", names)
		if err != nil {
			return err
		}
		var n model.Name
		var volatile bool
		_, err = pgx.ForEachRow(rows, []any{&n.Schema, &n.Name, &volatile}, func() error {
			into[n] = volatile
			return nil
		})
		return err
	})
	if err != nil {
		return queryFault(ctx, err, "asking the server for the routines of new defaults")
	}
	return nil
}

// result runs the planner and seals its document.
func (p *planner) result(opts contract.Options, sc scope.Scope) (contract.PlanResult, error) {
	empty, target := p.diff.Empty() && len(p.renames) == 0, *p.to // the planner changes both for its own use
	steps, err := p.plan()
	target.Grants = p.to.Grants
	r := contract.PlanResult{From: model.Fingerprint(p.live), To: model.Fingerprint(&target)}
	if err != nil {
		return r, err
	}
	steps = slices.Concat(p.renames, steps)
	if (len(steps) == 0) != (r.From == r.To) || len(steps) == 0 != empty {
		return r, fault.New(frame.CodeInternal, "planning: %d statements for fingerprints %s and %s", len(steps), r.From, r.To)
	}
	doc := plan.Document{Dialect: model.Postgres, FromFingerprint: r.From, ToFingerprint: r.To, Exclude: sc.Patterns()}
	doc.ManagedRows, doc.RowsFingerprint = managedRows(&target)
	p.covers(&doc)
	for _, s := range steps {
		doc.Statements = append(doc.Statements, s.Statement)
	}
	if len(p.late) > 0 {
		doc.CommittedFingerprint = model.Fingerprint(p.midway(&target))
	}
	doc = plan.Seal(doc)
	if len(steps) == 0 || opts.DriftSeverity == contract.DriftDestructive && !doc.Destructive {
		r.NoChange = true
		return r, nil
	}
	if err := refuseProtected(steps, opts.ProtectedTables); err != nil {
		return r, err
	}
	if _, err := plan.Encode(doc); err != nil {
		return r, contract.EncodeFault(doc, err)
	}
	r.Document = doc
	return r, nil
}

func refuseProtected(steps []step, protected []string) error {
	for _, s := range steps {
		if s.table != (model.Name{}) && isProtected(s.table, protected) {
			return fault.New(frame.CodeProtectedTable, "the plan touches the protected table %q.%q (%s)", s.table.Schema, s.table.Name, s.Kind)
		}
	}
	return nil
}

func isProtected(table model.Name, protected []string) bool {
	return slices.ContainsFunc(protected, func(p string) bool {
		return strings.EqualFold(p, table.Name) || strings.EqualFold(p, table.Schema+"."+table.Name)
	})
}

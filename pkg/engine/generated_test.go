package engine_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/gentest"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

// fewPairs is how many random pairs run; PTAH_TEST_PAIRS raises it.
const fewPairs = 6

// TestGeneratedRoundTrip draws two schemas A and B and makes each by hand in a database of its own. One goes from A to B and back, the other from B to nothing and to
// A. After each step what is read back must have the facts of the schema, and nothing may be left to plan. A step that is refused by name is counted.
func TestGeneratedRoundTrip(t *testing.T) {
	s := pgtest.Start(t)
	r := &roundTrip{server: s, t: t, major: s.Major()}
	r.contrib = r.hasContrib()
	r.through = func(databaseURL string) string { return databaseURL }
	if through, installed := s.StartPooler(t, "session"); installed {
		r.through = through
	}
	gentest.Check(t, "PostgreSQL "+strconv.Itoa(r.major), "PTAH_TEST_PAIRS", fewPairs, 2, r.pair)
}

type roundTrip struct {
	server  *pgtest.Server
	t       *testing.T
	major   int
	contrib bool
	through func(databaseURL string) string // the pooler, where there is one
}

func (r *roundTrip) hasContrib() bool {
	ctx := testContext(r.t)
	conn, err := pgx.Connect(ctx, r.server.URL("postgres"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var n int
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_available_extensions WHERE name IN ('btree_gist', 'citext')").Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n == 2
}

// drawn is a pair, in a form that a failing test can print.
type drawn struct {
	a, b *drawer
	mode string
}

func (d *drawn) GoString() string { return "mode " + strconv.Quote(d.mode) }

func (r *roundTrip) pair(rt *rapid.T, tally *gentest.Tally) {
	d := rapid.Custom(func(t *rapid.T) *drawn {
		a, b := gentest.Pair(t)
		d := &drawn{a: &drawer{Chooser: a, major: r.major, contrib: r.contrib}, b: &drawer{Chooser: b, major: r.major, contrib: r.contrib}}
		d.mode = []string{"", "none"}[a.Pick(2)]
		d.a.draw()
		d.b.draw()
		return d
	}).Draw(rt, "pair")
	const quiet = "log_statement = 'none'" // thousands of pairs would fill the log
	one, dropOne := r.server.TemporaryDatabase(r.t, quiet)
	defer dropOne()
	two, dropTwo := r.server.TemporaryDatabase(r.t, quiet)
	defer dropTwo()
	one, two = r.through(one), r.through(two)
	a, b := load(rt, one, d.a), load(rt, two, d.b)
	step := func(name, target string, want *model.Database) bool {
		return converges(rt, tally, name, engine.Options{URL: target, TransactionMode: d.mode}, want)
	}
	if step("A to B", one, b) {
		step("B to A", one, a)
	} else {
		step("B to A", two, a)
	}
	step("to nothing", two, model.New(model.Postgres))
	step("create A", two, a)
	tally.Pair()
}

// load makes a schema in an empty database: the model by the statements of its plan, then the statements that were drawn. What is read back must
// have the facts that were written down, as the server would print them: that tests the reader.
func load(rt *rapid.T, target string, d *drawer) *model.Database {
	ctx := rt.Context()
	result, err := engine.Plan(ctx, engine.Options{URL: target}, d.db)
	if err != nil {
		rt.Fatalf("planning what was drawn: %v", err)
	}
	if err := execute(ctx, target, slices.Concat(statements(result.Document), d.sql)); err != nil {
		rt.Fatalf("making what was drawn: %v\n%s", err, joinLines(d.sql))
	}
	got, err := engine.Inspect(ctx, target)
	if err != nil {
		rt.Fatalf("reading what was drawn: %v", err)
	}
	gentest.WasRead(rt, d.db, got, factDifference)
	return got
}

// execute runs statements with an empty search path, all in one transaction.
func execute(ctx context.Context, url string, sql []string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range slices.Concat([]string{"BEGIN", "SET search_path = ''"}, sql, []string{"COMMIT"}) {
		if _, err := conn.PgConn().Exec(ctx, statement).ReadAll(); err != nil {
			return &statementError{statement, err}
		}
	}
	return nil
}

type statementError struct {
	sql string
	err error
}

func (e *statementError) Error() string { return e.sql + "\n" + e.err.Error() }

// converges plans and applies one step, and reports whether it was not refused. What comes from nothing, or goes to it, must not be.
func converges(rt *rapid.T, tally *gentest.Tally, name string, opts engine.Options, want *model.Database) bool {
	ctx := rt.Context()
	change := strings.Contains(name, " to ")
	result, err := engine.Plan(ctx, opts, want)
	if message := refusalOf(err); message != "" && change {
		tally.Refused(message)
		return false
	}
	if err != nil {
		rt.Fatalf("%s: planning: %v", name, err)
	}
	if !result.NoChange {
		if _, err := engine.Apply(ctx, opts, result.Document); err != nil {
			rt.Fatalf("%s: applying: %v\n%s\n%s", name, err, joinLines(statements(result.Document)), whatWentWrong(ctx, opts.URL, result.Document, want))
		}
	}
	again, err := engine.Plan(ctx, opts, want)
	if err != nil || !again.NoChange {
		rt.Fatalf("%s: planning again: %v %v", name, err, statements(again.Document))
	}
	if len(want.Schemas) > 0 && again.From != model.Fingerprint(want) {
		rt.Fatalf("%s: read back something else\n%s", name, joinLines(statements(result.Document)))
	}
	if left, err := orphans(ctx, opts.URL); err != nil || len(left) > 0 {
		rt.Fatalf("%s: constraints that nothing can drop: %v %v\n%s", name, left, err, joinLines(statements(result.Document)))
	}
	tally.Step(change, len(result.Document.Statements))
	return true
}

// refusalOf is the message of a refusal by name; empty for everything else.
func refusalOf(err error) string {
	e, ok := err.(*engine.Error) //nolint:errorlint // every error of the package has this type itself
	if !ok || e.Code != frame.CodeUnsupportedObject {
		return ""
	}
	return e.Message
}

// whatWentWrong runs the statements of a plan that was rolled back, and says what they lead to.
func whatWentWrong(ctx context.Context, url string, doc plan.Document, want *model.Database) string {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, sql := range append([]string{"SET search_path = ''"}, statements(doc)...) {
		if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return (&statementError{sql, err}).Error()
		}
	}
	got, err := engine.Inspect(ctx, url)
	if err != nil {
		return err.Error()
	}
	return factDifference(got, want)
}

func joinLines(lines []string) string {
	out := ""
	for _, l := range lines {
		out += l + ";\n"
	}
	return out
}

func factDifference(got, want *model.Database) string {
	out := ""
	a, b := model.Facts(got), model.Facts(want)
	for _, f := range a {
		if !slices.Contains(b, f) {
			out += "got  " + strconv.Quote(f.Kind+" "+f.Table+" "+f.Name+" "+f.Aspect+" "+f.Value) + "\n"
		}
	}
	for _, f := range b {
		if !slices.Contains(a, f) {
			out += "want " + strconv.Quote(f.Kind+" "+f.Table+" "+f.Name+" "+f.Aspect+" "+f.Value) + "\n"
		}
	}
	return out
}

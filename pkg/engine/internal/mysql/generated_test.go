package mysql_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/gentest"
	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// fewPairs is how many random pairs run; PTAH_TEST_MYSQL_PAIRS raises it.
const fewPairs = 6

// TestGeneratedRoundTrip draws two schemas A and B and makes each by hand in a database of its own. One goes from A to B and back, the other from B to nothing and to
// A. After each step what is read back must have the facts of the schema, and nothing may be left to plan. A step that is refused by name is counted.
func TestGeneratedRoundTrip(t *testing.T) {
	s := mytest.Start(t)
	// One after the other: MariaDB 10.11 was seen to crash when one session reads information_schema.ROUTINES beside another one.
	gentest.Check(t, "MariaDB", "PTAH_TEST_MYSQL_PAIRS", fewPairs, 1, func(rt *rapid.T, tally *gentest.Tally) { generatedPair(t, s, rt, tally) })
}

// drawn is a pair, in a form that a failing test can print.
type drawn struct{ a, b *drawer }

func (d *drawn) GoString() string { return "two schemas" }

func generatedPair(t *testing.T, s *mytest.Server, rt *rapid.T, tally *gentest.Tally) {
	d := rapid.Custom(func(t *rapid.T) *drawn {
		a, b := gentest.Pair(t)
		d := &drawn{a: &drawer{Chooser: a}, b: &drawer{Chooser: b}}
		d.a.draw()
		d.b.draw()
		return d
	}).Draw(rt, "pair")
	one, dropOne := s.TemporaryDatabase(t)
	defer dropOne()
	two, dropTwo := s.TemporaryDatabase(t)
	defer dropTwo()
	a, b := drawnModel(t, rt, one, d.a), drawnModel(t, rt, two, d.b)
	empty := model.New(model.MySQL)
	empty.Server = model.ServerMariaDB
	step := func(name, target string, want *model.Database) bool {
		return generatedStep(rt, tally, name, engine.Options{URL: target}, want)
	}
	if step("A to B", one, b) {
		step("B to A", one, a)
	} else {
		step("B to A", two, a)
	}
	step("to nothing", two, empty)
	step("create A", two, a)
	tally.Pair()
}

// drawnModel makes a schema in an empty database: the model by the statements of its plan, then the statements that were drawn. What is read back must
// have the facts that were written down, as the server would print them: that tests the reader.
func drawnModel(t *testing.T, rt *rapid.T, target string, d *drawer) *model.Database {
	ctx := rt.Context()
	if err := d.db.Validate(); err != nil {
		rt.Fatalf("the test draws a model that is none: %v", err)
	}
	result, err := engine.Plan(ctx, engine.Options{URL: target}, d.db)
	if err != nil {
		rt.Fatalf("planning what was drawn: %v", err)
	}
	db := mytest.Open(t, target)
	defer func() { _ = db.Close() }()
	for _, sql := range slices.Concat(statements(result.Document), d.sql) {
		if _, err := db.ExecContext(ctx, sql); err != nil {
			rt.Fatalf("making what was drawn: %v\n%s\n\n%s\n%s", err, sql, strings.Join(statements(result.Document), ";\n"), strings.Join(d.sql, ";\n"))
		}
	}
	got, err := engine.Inspect(ctx, target)
	if err != nil {
		rt.Fatalf("reading what was drawn: %v", err)
	}
	gentest.WasRead(rt, d.db, got, factDifference)
	return got
}

// generatedStep plans and applies one step, and reports whether it was not refused. What comes from nothing, or goes to it, must not be.
func generatedStep(rt *rapid.T, tally *gentest.Tally, name string, opts engine.Options, want *model.Database) bool {
	ctx := rt.Context()
	change := strings.Contains(name, " to ")
	result, err := engine.Plan(ctx, opts, want)
	if e, ok := err.(*engine.Error); ok && e.Code == frame.CodeUnsupportedObject && change { //nolint:errorlint // every error of the package has this type itself
		tally.Refused(e.Message)
		return false
	}
	if err != nil {
		rt.Fatalf("%s: planning: %v", name, err)
	}
	if !result.NoChange {
		if _, err := engine.Apply(ctx, opts, result.Document); err != nil {
			live, inspectErr := engine.Inspect(ctx, opts.URL)
			if inspectErr != nil {
				rt.Fatalf("%s: applying: %v; inspecting: %v", name, err, inspectErr)
			}
			rt.Fatalf("%s: applying: %v\n%s\n%s", name, err, strings.Join(statements(result.Document), ";\n"), factDifference(live, want))
		}
	}
	again, err := engine.Plan(ctx, opts, want)
	if err != nil || !again.NoChange || again.From != model.Fingerprint(want) {
		rt.Fatalf("%s: planning again: %v %v\nafter:\n%s", name, err, statements(again.Document), strings.Join(statements(result.Document), ";\n"))
	}
	tally.Step(change, len(result.Document.Statements))
	return true
}

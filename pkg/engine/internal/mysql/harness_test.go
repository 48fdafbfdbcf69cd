package mysql_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

func TestMain(m *testing.M) { mytest.Main(m) }

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// declare loads SQL as a publisher would.
func declare(t testing.TB, s *mytest.Server, sql string) *model.Database {
	t.Helper()
	db, err := engine.LoadSQL(testContext(t), s.URL("mysql"), []engine.Source{{Name: "schema.sql", Data: []byte(sql)}})
	require.NoError(t, err, "%s", sql)
	return db
}

// create makes a database that holds what the SQL says.
func create(t testing.TB, s *mytest.Server, sql string) string {
	t.Helper()
	target := s.NewDatabase(t)
	load(t, s, target, sql)
	return target
}

// load runs a script in an existing database: DELIMITER lines and all.
func load(t testing.TB, s *mytest.Server, target, sql string) {
	t.Helper()
	s.Exec(t, target, cut(sql)...)
}

// cut makes statements of a script.
func cut(sql string) []string {
	delimiter := ";"
	var statement strings.Builder
	var all []string
	flush := func(text string) {
		statement.WriteString(text)
		if strings.TrimSpace(statement.String()) != "" {
			all = append(all, statement.String())
		}
		statement.Reset()
	}
	for line := range strings.SplitSeq(sql, "\n") {
		if word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); strings.EqualFold(word, "delimiter") {
			delimiter = strings.TrimSpace(rest)
			continue
		}
		for {
			before, after, found := strings.Cut(line, delimiter)
			if !found {
				break
			}
			flush(before)
			line = after
		}
		statement.WriteString(line + "\n")
	}
	flush("")
	return all
}

func statements(doc plan.Document) []string {
	out := make([]string, len(doc.Statements))
	for i, s := range doc.Statements {
		out[i] = s.SQL
	}
	return out
}

// converge plans, applies and plans again. The result is the plan.
func converge(t testing.TB, opts engine.Options, desired *model.Database) plan.Document {
	t.Helper()
	ctx := testContext(t)
	result, err := engine.Plan(ctx, opts, desired)
	require.NoError(t, err)
	if !result.NoChange {
		_, err = engine.Apply(ctx, opts, result.Document)
		if err != nil {
			live, inspectErr := engine.Inspect(ctx, opts.URL)
			require.NoError(t, inspectErr)
			require.NoError(t, err, "%s\n%s", strings.Join(statements(result.Document), ";\n"), factDifference(live, desired))
		}
	}
	again, err := engine.Plan(ctx, opts, desired)
	require.NoError(t, err)
	require.True(t, again.NoChange, "left over: %v", statements(again.Document))
	return result.Document
}

func factDifference(got, want *model.Database) string {
	var out strings.Builder
	list := func(label string, a, b []model.Fact) {
		known := map[model.Fact]bool{}
		for _, f := range b {
			known[f] = true
		}
		for _, f := range a {
			if !known[f] {
				out.WriteString(label + strconv.Quote(f.Kind+" "+f.Table+" "+f.Name+" "+f.Aspect+" "+f.Value) + "\n")
			}
		}
	}
	list("got  ", model.Facts(got), model.Facts(want))
	list("want ", model.Facts(want), model.Facts(got))
	return out.String()
}

// refusal checks the code of an error and that nothing secret is in it.
func refusal(t testing.TB, err error, code frame.Code) *engine.Error {
	t.Helper()
	var e *engine.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, code, e.Code, e.Message)
	for _, secret := range []string{mytest.Password, "wrong-secret", "@127.0.0.1"} {
		assert.NotContains(t, e.Error(), secret)
	}
	assert.LessOrEqual(t, len(e.Message), frame.MaxMessage)
	return e
}

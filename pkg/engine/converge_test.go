package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// declare loads SQL as a declared schema.
func declare(t testing.TB, s *pgtest.Server, sql string) *model.Database {
	t.Helper()
	db, err := engine.LoadSQL(testContext(t), s.URL("postgres"), []engine.Source{{Name: "schema.sql", Data: []byte(sql)}})
	require.NoError(t, err)
	return db
}

func statements(doc plan.Document) []string {
	var out []string
	for _, s := range doc.Statements {
		out = append(out, s.SQL)
	}
	return out
}

// converge plans and applies, then proves that the database is as declared and that nothing is left to do.
func converge(t testing.TB, opts engine.Options, desired *model.Database) plan.Document {
	t.Helper()
	ctx := testContext(t)
	result, err := engine.Plan(ctx, opts, desired)
	require.NoError(t, err)
	if result.NoChange {
		return plan.Document{}
	}
	again, err := engine.Plan(ctx, opts, desired)
	require.NoError(t, err)
	require.Equal(t, result, again, "two plans of one state")
	data, err := plan.Encode(result.Document)
	require.NoError(t, err)
	doc, err := plan.Decode(data)
	require.NoError(t, err)
	applied, err := engine.Apply(ctx, opts, doc)
	if err != nil {
		require.NoError(t, err, "%s\n%s", joinLines(statements(doc)), whatWentWrong(ctx, opts.URL, doc, desired))
	}
	require.Equal(t, len(doc.Statements), applied.StatementsExecuted)
	require.Equal(t, result.To, applied.ResultFingerprint)
	after, err := engine.Plan(ctx, opts, desired)
	require.NoError(t, err)
	require.True(t, after.NoChange, "left over: %v", statements(after.Document))
	require.Equal(t, after.From, after.To)
	left, err := orphans(ctx, opts.URL)
	require.NoError(t, err)
	require.Empty(t, left, "constraints that nothing can drop\n%s", joinLines(statements(doc)))
	return doc
}

func TestSmoke(t *testing.T) {
	s := pgtest.Start(t)
	desired := declare(t, s, `CREATE TYPE mood AS ENUM ('sad','ok'); CREATE TABLE a (id serial PRIMARY KEY, m mood NOT NULL DEFAULT 'ok', n text UNIQUE CHECK (n <> ''));
CREATE TABLE b (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a int REFERENCES a ON DELETE CASCADE, t timestamptz DEFAULT now()); CREATE INDEX ON b (a DESC NULLS LAST, abs(a)) WHERE a > 0;`)
	data, err := model.Encode(desired)
	require.NoError(t, err)
	t.Log(string(data))
	doc := converge(t, engine.Options{URL: s.NewDatabase(t)}, desired)
	for _, q := range statements(doc) {
		t.Log(q)
	}
}

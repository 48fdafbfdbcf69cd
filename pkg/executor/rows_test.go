package executor_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/plugin/desired"
)

const rowsHCL = `table "plans" {
  schema = schema.public
  column "code" {
    type = text
  }
  column "price" {
    type = numeric(8, 2)
  }
  column "note" {
    type = text
    null = true
  }
  primary_key {
    columns = [column.code]
  }
}

schema "public" {
}

data {
  table = table.plans
  keys  = [column.code]
  rows = [
    { code = "free", price = 0.00 },
    { code = "team", price = 12.50 },
  ]
}
`

// undeclared is what only the database holds, in every place where a value can stand.
const undeclared = "0nly-in-the-database"

// TestManagedRowsOfHCL publishes rows, converges them, finds one that somebody changed, and lets nothing out that only the database holds: neither
// results nor logs of the executor, nor the statements that the server keeps.
func TestManagedRowsOfHCL(t *testing.T) {
	s := startPostgres(t)
	schema, err := desired.Parse([]artifact.File{{Name: "plans.hcl", Data: []byte(rowsHCL)}}, nil, declare.Postgres)
	require.NoError(t, err)
	database, err := schema.Load(t.Context(), s.url("postgres"), t.Logf)
	require.NoError(t, err)
	data, err := model.Encode(database)
	require.NoError(t, err)
	h := newHub(t, sentinel, true)
	h.push(string(data))
	p := newPod(t, intent.Resolve)
	p.withSource(h, "")
	pinned := p.succeeded(p.run("run")).Resolve.ResolvedReference
	dsn := s.database(`CREATE TABLE plans (code text PRIMARY KEY, price numeric(8,2) NOT NULL, note text)`,
		`INSERT INTO plans VALUES ('team', 9, '`+undeclared+`'), ('`+undeclared+`', 1, NULL)`)
	before, err := os.ReadFile(s.log())
	require.NoError(t, err)

	var seen strings.Builder
	run := func(p *pod) result {
		r := p.run("run")
		seen.WriteString(r.stdout + r.stderr)
		return r
	}
	stages := func(op intent.Operation) *pod {
		p := newPod(t, op)
		p.withSource(h, pinned)
		p.silent(p.run("prepare"))
		p.silent(p.run("fetch"))
		p.withDatabase(dsn)
		return p
	}
	converges := func(want ...string) {
		t.Helper()
		p := stages(intent.Observe)
		assert.Zero(t, p.succeeded(run(p)).Observe.Total, "rows are no finding of the drift report")
		p = stages(intent.Plan)
		planned := p.succeeded(run(p)).Plan
		document, err := plan.Decode(planned.Document)
		require.NoError(t, err)
		var got []string
		for _, statement := range document.Statements {
			got = append(got, statement.SQL)
		}
		assert.Equal(t, want, got)
		seen.Write(planned.Document)
		p = applying(t, planned.Document, dsn)
		p.silent(p.run("prepare"))
		applied := p.succeeded(run(p)).Apply
		assert.Equal(t, planned.ToFingerprint, applied.ResultFingerprint)
		p = stages(intent.Plan)
		assert.True(t, p.succeeded(run(p)).Plan.NoChange)
	}
	converges(`INSERT INTO "public"."plans" ("code", "price") VALUES ('free', '0.00')`,
		`UPDATE "public"."plans" SET "price" = '12.50' WHERE "code" = 'team'`,
		`DELETE FROM "public"."plans" WHERE "code" NOT IN ('free', 'team')`)
	assert.Equal(t, undeclared, scalar[string](s, dsn, "SELECT note FROM plans WHERE code = 'team'"), "a column that nobody declares keeps what it has")
	between, err := os.ReadFile(s.log())
	require.NoError(t, err)

	const drift = "UPDATE plans SET price = 987654.32 WHERE code = 'free'"
	s.exec(dsn, drift)
	converges(`UPDATE "public"."plans" SET "price" = '0.00' WHERE "code" = 'free'`)
	after, err := os.ReadFile(s.log())
	require.NoError(t, err)
	seen.Write(between[len(before):])
	seen.WriteString(strings.ReplaceAll(string(after[len(between):]), drift, ""))
	assert.NotContains(t, seen.String(), undeclared)
	assert.NotContains(t, seen.String(), "987654")
	assert.NotContains(t, seen.String(), "'9.00'")
}

package plandiff_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/plandiff"
)

func document(statements ...plan.Statement) plan.Document {
	return plan.Document{Statements: statements}
}

func add(column, kind string) plan.Statement {
	return plan.Statement{SQL: fmt.Sprintf(`ALTER TABLE t ADD COLUMN %s %s`, column, kind), Severity: plan.SeveritySafe, Kind: "add_column", Object: "t." + column}
}

func drop(column string) plan.Statement {
	return plan.Statement{SQL: "ALTER TABLE t DROP COLUMN " + column, Severity: plan.SeverityDestructive, Kind: "drop_column", Object: "t." + column}
}

func TestStatements(t *testing.T) {
	a, b, c := add("a", "int"), add("b", "int"), add("c", "int")
	spaced := a
	spaced.SQL = "ALTER TABLE t\n  ADD COLUMN a int;"
	costly := a
	costly.Hazard = "rewrites the table"
	cases := map[string]struct {
		from, to plan.Document
		want     []string
	}{
		"nothing":               {document(a, b), document(a, b), []string{"same 1 1", "same 2 2"}},
		"added":                 {document(a), document(a, b), []string{"same 1 1", "added 0 2"}},
		"added in front":        {document(a), document(b, a), []string{"added 0 1", "same 1 2"}},
		"removed":               {document(a, b, c), document(a, c), []string{"same 1 1", "removed 2 0", "same 3 2"}},
		"removed all":           {document(a), document(), []string{"removed 1 0"}},
		"changed in place":      {document(a, b), document(add("a", "bigint"), b), []string{"changed 1 1", "same 2 2"}},
		"object done otherwise": {document(a), document(drop("a")), []string{"changed 1 1"}},
		"rated otherwise":       {document(a), document(costly), []string{"changed 1 1"}},
		"only white space":      {document(a), document(spaced), []string{"same 1 1"}},
		"moved":                 {document(a, b, c), document(c, a, b), []string{"moved 3 1", "same 1 2", "same 2 3"}},
		"another object":        {document(a), document(b), []string{"added 0 1", "removed 1 0"}},
		"twice the same":        {document(a, a), document(a), []string{"same 1 1", "removed 2 0"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range plandiff.Statements(c.from, c.to) {
				got = append(got, fmt.Sprintf("%s %d %d", e.Change, e.From, e.To))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestNormal(t *testing.T) {
	for sql, want := range map[string]string{
		"  SELECT\n\t1 ;\n":      "SELECT 1",
		"COMMENT ON t IS 'a  b'": "COMMENT ON t IS 'a  b'",
		`DROP  TABLE "a  b"`:     `DROP TABLE "a  b"`,
		"DROP TABLE `a  b`":      "DROP TABLE `a  b`",
		"SELECT 'it''s  so'":     "SELECT 'it''s  so'",
		"DO $$  x  $$":           "DO $$  x  $$",
		"SELECT 1 --  x\n + 1":   "SELECT 1 --  x\n + 1",
	} {
		assert.Equal(t, want, plandiff.Normal(sql))
	}
}

// Every statement of both plans is told exactly once, and the new plan in its order.
func TestNothingIsLost(t *testing.T) {
	statement := rapid.Custom(func(t *rapid.T) plan.Statement {
		column := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "column")
		if rapid.Bool().Draw(t, "drop") {
			return drop(column)
		}
		return add(column, rapid.SampledFrom([]string{"int", "text"}).Draw(t, "type"))
	})
	rapid.Check(t, func(t *rapid.T) {
		from, to := document(rapid.SliceOfN(statement, 0, 12).Draw(t, "from")...), document(rapid.SliceOfN(statement, 0, 12).Draw(t, "to")...)
		old, next := map[int]bool{}, 1
		for _, e := range plandiff.Statements(from, to) {
			if e.From > 0 {
				if old[e.From] || *e.Old != from.Statements[e.From-1] {
					t.Fatalf("old statement %d is told twice or wrongly", e.From)
				}
				old[e.From] = true
			}
			if e.To > 0 {
				if e.To != next || *e.New != to.Statements[e.To-1] {
					t.Fatalf("new statement %d comes where %d is due", e.To, next)
				}
				next++
			}
			if e.Change == plandiff.Same && (e.From == 0 || e.To == 0 || *e.Old != *e.New) {
				t.Fatalf("statements %d and %d are not the same", e.From, e.To)
			}
		}
		if len(old) != len(from.Statements) || next != len(to.Statements)+1 {
			t.Fatalf("%d of %d old and %d of %d new statements were told", len(old), len(from.Statements), next-1, len(to.Statements))
		}
	})
}

func TestFiles(t *testing.T) {
	file := func(version int64, key, checksum string) v1alpha1.PlannedMigration {
		return v1alpha1.PlannedMigration{Version: version, VersionKey: key, Checksum: checksum}
	}
	sequence := func(files ...v1alpha1.PlannedMigration) *v1alpha1.PtahMigrationPlan {
		return &v1alpha1.PtahMigrationPlan{Spec: v1alpha1.PtahMigrationPlanSpec{Migrations: files}}
	}
	one, two, three := file(1, "0001", "a"), file(2, "0002", "b"), file(3, "", "c")
	cases := map[string]struct {
		from, to *v1alpha1.PtahMigrationPlan
		want     []string
	}{
		"same":        {sequence(one, two, three), sequence(one, two, three), []string{"same 1 1", "same 2 2", "same 3 3"}},
		"run already": {sequence(one, two), sequence(two), []string{"same 2 1", "removed 1 0"}},
		"edited":      {sequence(one, three), sequence(one, file(3, "", "d")), []string{"same 1 1", "changed 2 2"}},
		"moved":       {sequence(one, two), sequence(two, one), []string{"same 2 1", "moved 1 2"}},
		"added":       {sequence(one), sequence(one, two), []string{"same 1 1", "added 0 2"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range plandiff.Files(c.from, c.to) {
				got = append(got, fmt.Sprintf("%s %d %d", f.Change, f.From, f.To))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/frame"
)

// TestPositionsOfColumns has tables whose columns stand in another order than they are declared in, which is no difference, and definitions that
// count them. The server would take one column for another: a value of b would come out as x, which is declared as a.
func TestPositionsOfColumns(t *testing.T) {
	s := pgtest.Start(t)
	const (
		there    = "CREATE TABLE t (b int, a int);"
		declared = "CREATE TABLE t (a int, b int);"
		wanted   = "CREATE TABLE t (a int, n int, b int);"
		words    = "CREATE FUNCTION f() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t';"
	)
	for name, c := range map[string]struct{ from, to, refused string }{
		"a view with a list of columns":        {there, declared + "CREATE VIEW v AS SELECT r.x FROM t r(x, y)", `view "public"."v"`},
		"nothing else differs":                 {there + "CREATE VIEW v AS SELECT r.x FROM t r(x, y)", declared + "CREATE VIEW v AS SELECT r.x FROM t r(x, y)", `view "public"."v"`},
		"a list inside of a join":              {there, declared + "CREATE VIEW v AS SELECT 1 AS one FROM t q JOIN t AS \"R (\"(x) ON (q.a = x)", `view "public"."v"`},
		"a materialized view":                  {there, declared + "CREATE MATERIALIZED VIEW v AS SELECT r.x FROM t r(x)", `materialized view "public"."v"`},
		"a routine that names what it returns": {there, declared + "CREATE FUNCTION f() RETURNS SETOF t LANGUAGE sql BEGIN ATOMIC SELECT * FROM t; END", `function "public"."f"`},
		"a name with a line break":             {`CREATE TABLE "t'` + "\n" + `" (b int, a int)`, `CREATE TABLE "t'` + "\n" + `" (a int, b int); CREATE FUNCTION f(x text DEFAULT 'a` + "\n" + ` RETURNS') RETURNS SETOF "t'` + "\n" + `" LANGUAGE sql BEGIN ATOMIC SELECT * FROM "t'` + "\n" + `"; END`, `function "public"."f"`},
		"a view of a routine":                  {there, declared + words + "CREATE VIEW v AS SELECT r.a FROM f() r", `view "public"."v"`},
		"a column is added in the middle":      {declared, wanted + "CREATE VIEW v AS SELECT r.x FROM t r(x, y)", `view "public"."v"`},
		"a policy":                             {there, declared + "CREATE POLICY p ON t USING (EXISTS (SELECT FROM t r(x) WHERE r.x > 0))", `policy "public"."p"`},
		"a rule":                               {there, declared + "CREATE TABLE u (); CREATE RULE r AS ON DELETE TO u DO ALSO DELETE FROM t USING t z(x) WHERE z.x > t.a", `rule "public"."r"`},
		"names are enough":                     {there, declared + "CREATE VIEW v AS SELECT * FROM t r; CREATE VIEW w AS SELECT z.a FROM t JOIN t z USING (a) WHERE sqrt(z.b) > 0", ""},
		"a routine whose text is its own":      {there, declared + words, ""},
		"a list of another table":              {there, declared + "CREATE TABLE u (n int); CREATE VIEW v AS SELECT x, a FROM u z(x), t", ""},
		"a new child of a parent that gains a column": {
			"CREATE TABLE zp (a int)", "CREATE TABLE zp (a int, n int); CREATE TABLE t (b int) INHERITS (zp); CREATE VIEW v AS SELECT r.x FROM t r(x, y)", `view "public"."v"`,
		},
		"a child whose parent gained a column": {
			"", "CREATE TABLE zp (a int); CREATE TABLE t (b int) INHERITS (zp); ALTER TABLE zp ADD n int; CREATE VIEW v AS SELECT r.x FROM t r(x, y)", `view "public"."v"`,
		},
		"a column of a parent and of its child": {
			"CREATE TABLE zp (); CREATE TABLE t () INHERITS (zp)", "CREATE TABLE zp (a int, b int); CREATE TABLE t (b int) INHERITS (zp); CREATE VIEW v AS SELECT r.x FROM t r(x, y)", `view "public"."v"`,
		},
		"a child in its parent's order": {
			"CREATE TABLE zp (a int); CREATE TABLE t (c int) INHERITS (zp)", "CREATE TABLE zp (a int); CREATE TABLE t (c int) INHERITS (zp); ALTER TABLE zp ADD b int; ALTER TABLE t ADD d int; CREATE VIEW v AS SELECT r.x FROM t r(x, y)", "",
		},
		"the order is the server's":                  {declared, "CREATE TABLE t (a int, b int, n int); CREATE VIEW v AS SELECT r.x FROM t r(x, y, z)", ""},
		"the order is the server's without a column": {"CREATE TABLE t (a int, n int, b int)", declared + "CREATE VIEW v AS SELECT r.x FROM t r(x, y)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			opts := engine.Options{URL: s.NewDatabase(t, c.from)}
			desired := declare(t, s, c.to)
			if c.refused == "" {
				converge(t, opts, desired)
				return
			}
			_, err := engine.Plan(testContext(t), opts, desired)
			e := refusal(t, err, frame.CodeUnsupportedObject)
			require.Contains(t, e.Message, c.refused)
			assert.Contains(t, e.Message, `table "public"."t`)
		})
	}
}

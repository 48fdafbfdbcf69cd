package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/frame"
)

const (
	merged  = "CREATE TABLE zp (a int, b text); CREATE TABLE c (a int, b text) INHERITS (zp); "
	heir    = "CREATE TABLE zp (a int, b text); CREATE TABLE c () INHERITS (zp); "
	narrow  = "CREATE TABLE zp (a int); CREATE TABLE c (a int) INHERITS (zp); "
	diamond = "CREATE TABLE zp (a int); CREATE TABLE l () INHERITS (zp); CREATE TABLE r (a int) INHERITS (zp); CREATE TABLE c (a int) INHERITS (l, r)"
)

// TestMergedColumns changes columns that a child has of its own and from a parent, and back.
func TestMergedColumns(t *testing.T) {
	s := pgtest.Start(t)
	for name, c := range map[string]struct {
		since int
		a, b  string
	}{
		"type":                    {0, merged, "CREATE TABLE zp (a bigint, b text); CREATE TABLE c (a bigint, b text) INHERITS (zp)"},
		"type under defaults":     {0, "CREATE TABLE zp (a text DEFAULT '1'); CREATE TABLE c (a text DEFAULT '2') INHERITS (zp)", "CREATE TABLE zp (a int DEFAULT 3); CREATE TABLE c (a int DEFAULT 4) INHERITS (zp)"},
		"type under one default":  {0, "CREATE TABLE zp (a text DEFAULT '1'); CREATE TABLE c (a text DEFAULT NULL) INHERITS (zp)", "CREATE TABLE zp (a int DEFAULT 3); CREATE TABLE c (a int DEFAULT NULL) INHERITS (zp)"},
		"type, three levels":      {0, merged + "CREATE TABLE g (a int) INHERITS (c)", "CREATE TABLE zp (a bigint, b text); CREATE TABLE c (a bigint, b text) INHERITS (zp); CREATE TABLE g (a bigint) INHERITS (c)"},
		"type, inherited between": {0, heir + "CREATE TABLE g (a int) INHERITS (c)", "CREATE TABLE zp (a bigint, b text); CREATE TABLE c () INHERITS (zp); CREATE TABLE g (a bigint) INHERITS (c)"},
		"type in a diamond":       {0, diamond, "CREATE TABLE zp (a bigint); CREATE TABLE l () INHERITS (zp); CREATE TABLE r (a bigint) INHERITS (zp); CREATE TABLE c (a bigint) INHERITS (l, r)"},
		"type and joining":        {0, "CREATE TABLE zp (a bigint); CREATE TABLE c (a int)", "CREATE TABLE zp (a bigint); CREATE TABLE c (a bigint) INHERITS (zp)"},
		"type and leaving":        {0, merged, "CREATE TABLE zp (a int, b text); CREATE TABLE c (a bigint, b text)"},
		"collation":               {0, merged, `CREATE TABLE zp (a int, b text COLLATE "C"); CREATE TABLE c (a int, b text COLLATE "C") INHERITS (zp)`},
		"enum":                    {0, "CREATE TYPE e AS ENUM ('a', 'b'); CREATE TABLE zp (a e); CREATE TABLE c (a e) INHERITS (zp)", "CREATE TYPE e AS ENUM ('a'); CREATE TABLE zp (a e); CREATE TABLE c (a e) INHERITS (zp)"},
		"column":                  {0, narrow, merged},
		"column, three levels":    {0, narrow + "CREATE TABLE g () INHERITS (c)", merged + "CREATE TABLE g (b text) INHERITS (c)"},
		"column in a diamond":     {0, diamond, "CREATE TABLE zp (a int, n int DEFAULT 1); CREATE TABLE l (n int DEFAULT 2) INHERITS (zp); CREATE TABLE r (a int) INHERITS (zp); CREATE TABLE c (a int, n int DEFAULT 3) INHERITS (l, r)"},
		"column of the child's":   {0, "CREATE TABLE zp (a int); CREATE TABLE c (a int, b text) INHERITS (zp); ", merged},
		"column, retyped":         {0, "CREATE TABLE zp (a int); CREATE TABLE c (a int, b int) INHERITS (zp); ", merged},
		"column, a routine":       {0, narrow + fn, narrow + "CREATE FUNCTION g() RETURNS int LANGUAGE sql AS 'SELECT 1'; ALTER TABLE c ADD n int DEFAULT g(); ALTER TABLE zp ADD n int DEFAULT g()"},
		"parent":                  {0, merged, "CREATE TABLE zp (a int, b text); CREATE TABLE c (a int, b text)"},
		"default":                 {0, merged, "CREATE TABLE zp (a int DEFAULT 1, b text); CREATE TABLE c (a int DEFAULT 2, b text) INHERITS (zp)"},
		"default of the parent":   {0, merged, "CREATE TABLE zp (a int DEFAULT 1, b text); CREATE TABLE c (a int DEFAULT NULL, b text) INHERITS (zp)"},
		"identity":                {0, merged, "CREATE TABLE zp (a int NOT NULL GENERATED ALWAYS AS IDENTITY, b text); CREATE TABLE c (a int NOT NULL, b text) INHERITS (zp)"},
		"not null":                {0, merged, "CREATE TABLE zp (a int NOT NULL, b text); CREATE TABLE c (a int NOT NULL, b text) INHERITS (zp)"},
		"not null of the child's": {0, merged, "CREATE TABLE zp (a int, b text); CREATE TABLE c (a int NOT NULL, b text) INHERITS (zp)"},
		"comment":                 {0, merged, merged + "COMMENT ON COLUMN c.a IS 'x'; COMMENT ON COLUMN zp.a IS 'y'"},
		"storage":                 {0, merged, merged + "ALTER TABLE zp ALTER b SET STORAGE EXTERNAL"},
		"storage of the child's":  {0, merged, merged + "ALTER TABLE ONLY c ALTER b SET STORAGE EXTERNAL"},
		"statistics":              {0, merged, merged + "ALTER TABLE ONLY zp ALTER b SET STATISTICS 7; ALTER TABLE ONLY c ALTER b SET STATISTICS 8"},
		"check":                   {0, merged, merged + "ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0)"},
		"generated":               {16, merged, "CREATE TABLE zp (a int, b text GENERATED ALWAYS AS ('x') STORED); CREATE TABLE c (a int, b text GENERATED ALWAYS AS ('x') STORED) INHERITS (zp)"},
		"generated otherwise": {
			16, "CREATE TABLE zp (a int, b int GENERATED ALWAYS AS (a + 1) STORED); CREATE TABLE c (a int, b int GENERATED ALWAYS AS (a + 2) STORED) INHERITS (zp)",
			"CREATE TABLE zp (a int, b int GENERATED ALWAYS AS (a + 3) STORED); CREATE TABLE c (a int, b int GENERATED ALWAYS AS (a + 2) STORED) INHERITS (zp)",
		},
		"generated otherwise in the child": {
			16, "CREATE TABLE zp (a int, b int GENERATED ALWAYS AS (a + 1) STORED); CREATE TABLE c (a int, b int GENERATED ALWAYS AS (a + 2) STORED) INHERITS (zp)",
			"CREATE TABLE zp (a int, b int GENERATED ALWAYS AS (a + 1) STORED); CREATE TABLE c (a int, b int GENERATED ALWAYS AS (a + 4) STORED) INHERITS (zp)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if s.Major() < c.since {
				t.Skip("the server has no such columns")
			}
			target := s.NewDatabase(t, c.a)
			converge(t, engine.Options{URL: target}, declare(t, s, c.b))
			converge(t, engine.Options{URL: target}, declare(t, s, c.a))
		})
	}
}

// TestMergedColumnsRefused: what no statement of the server changes.
func TestMergedColumnsRefused(t *testing.T) {
	s := pgtest.Start(t)
	two := func(typ string) (merged, inherited string) {
		tables := "CREATE TABLE y (a " + typ + "); CREATE TABLE z (a " + typ + "); CREATE TABLE c ("
		return tables + "a " + typ + ") INHERITS (y, z)", tables + ") INHERITS (y, z)"
	}
	twoInt, heirInt := two("int")
	twoBig, heirBig := two("bigint")
	for name, c := range map[string]struct{ a, b, want string }{
		"becomes merged":         {heir, "CREATE TABLE zp (a int, b text); CREATE TABLE c (a int) INHERITS (zp)", `column "a" of table "public"."c" is declared in the table too and is inherited alone`},
		"becomes inherited":      {merged, heir, `column "a" of table "public"."c" is declared as inherited alone`},
		"parent's comes":         {"CREATE TABLE zp (a int); CREATE TABLE c (b text) INHERITS (zp)", heir, `column "b" of table "public"."c" is declared as inherited alone`},
		"new child of a retyped": {"CREATE TABLE zp (a int)", "CREATE TABLE zp (a bigint); CREATE TABLE m () INHERITS (zp); CREATE TABLE c (a bigint) INHERITS (m)", `column "a" of the new table "public"."c" is declared in its parent "public"."m" too, which takes another type`},
		"parent is excluded":     {"CREATE TABLE keep (a int); CREATE TABLE c () INHERITS (keep)", "CREATE TABLE keep (a bigint); CREATE TABLE c () INHERITS (keep)", `column "a" of table "public"."c" is declared with another type and comes from the excluded table "public"."keep"`},
		"two parents":            {twoInt, twoBig, `column "a" of table "public"."c" is declared with another type and comes from tables "public"."y" and "public"."z"`},
		"two parents, inherits":  {heirInt, heirBig, `column "a" of table "public"."c" is declared with another type and comes from tables "public"."y" and "public"."z"`},
		"a routine to wait for":  {narrow, "CREATE TABLE zp (a int, n int); CREATE FUNCTION h() RETURNS int BEGIN ATOMIC SELECT count(*)::int FROM zp; END; CREATE TABLE c (a int, n int DEFAULT h()) INHERITS (zp)", `column "n" is declared in table "public"."c" and in its parent "public"."zp", and one of them has to wait`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, c.a), Exclude: []string{"keep"}}, declare(t, s, c.b))
			assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, c.want)
		})
	}
}

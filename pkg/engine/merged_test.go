package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
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

// TestMergedNotNulls has parents lose columns with NOT NULL that children keep. Nothing may stay behind as inherited.
func TestMergedNotNulls(t *testing.T) {
	s := pgtest.Start(t)
	const parent, child = "CREATE TABLE zp (a int NOT NULL, b text); ", "CREATE TABLE c (a int NOT NULL, b text) INHERITS (zp); "
	const without = "CREATE TABLE zp (b text); "
	for name, c := range map[string]struct {
		since int
		a, b  string
		back  bool
	}{
		"column goes":           {0, parent + child, without + child, true},
		"column goes with it":   {0, parent + "CREATE TABLE c (a int, b text) INHERITS (zp)", without + "CREATE TABLE c (a int, b text) INHERITS (zp)", true},
		"column stays below":    {0, parent + "CREATE TABLE c () INHERITS (zp)", without + "CREATE TABLE c (a int NOT NULL) INHERITS (zp)", false},
		"goes below":            {0, parent + "CREATE TABLE c () INHERITS (zp)", without + "CREATE TABLE c (a int) INHERITS (zp)", false},
		"key goes":              {0, "CREATE TABLE zp (a int PRIMARY KEY, b text); CREATE TABLE c (a int, b text) INHERITS (zp)", without + "CREATE TABLE c (a int, b text) INHERITS (zp)", true},
		"identity goes":         {0, "CREATE TABLE zp (a int GENERATED ALWAYS AS IDENTITY, b text); CREATE TABLE c (a int NOT NULL, b text) INHERITS (zp)", without + child, true},
		"replica identity goes": {0, parent + child + "CREATE UNIQUE INDEX i ON zp (a); ALTER TABLE zp REPLICA IDENTITY USING INDEX i", without + child, true},
		"the child's key":       {0, parent + "CREATE TABLE c (a int, b text) INHERITS (zp); ALTER TABLE c ADD PRIMARY KEY (a)", without + "CREATE TABLE c (a int PRIMARY KEY, b text) INHERITS (zp)", true},
		"the child's replica identity": {
			0, parent + "CREATE TABLE c (a int, b text) INHERITS (zp); CREATE UNIQUE INDEX i ON c (a); ALTER TABLE c REPLICA IDENTITY USING INDEX i",
			without + "CREATE TABLE c (a int NOT NULL, b text) INHERITS (zp); CREATE UNIQUE INDEX i ON c (a); ALTER TABLE c REPLICA IDENTITY USING INDEX i", true,
		},
		"key of the child's, column stays": {0, parent + "CREATE TABLE c (a int, b text) INHERITS (zp); ALTER TABLE c ADD PRIMARY KEY (a)", "CREATE TABLE zp (a int, b text); CREATE TABLE c (a int PRIMARY KEY, b text) INHERITS (zp)", true},
		"three levels":                     {0, parent + child + "CREATE TABLE g (a int NOT NULL) INHERITS (c)", without + child + "CREATE TABLE g (a int NOT NULL) INHERITS (c)", true},
		"three levels, inherited":          {0, parent + child + "CREATE TABLE g () INHERITS (c)", without + child + "CREATE TABLE g () INHERITS (c)", true},
		"three levels, the last keeps it":  {0, parent + child + "CREATE TABLE g (a int NOT NULL) INHERITS (c)", without + "CREATE TABLE c (b text) INHERITS (zp); CREATE TABLE g (a int NOT NULL) INHERITS (c)", true},
		"three levels, nothing between":    {0, parent + "CREATE TABLE c () INHERITS (zp); CREATE TABLE g (a int NOT NULL) INHERITS (c)", without + "CREATE TABLE c () INHERITS (zp); CREATE TABLE g (a int NOT NULL) INHERITS (c)", true},
		"computed":                         {16, "CREATE TABLE zp (a int, g int NOT NULL GENERATED ALWAYS AS (a + 1) STORED); CREATE TABLE c (a int, g int NOT NULL GENERATED ALWAYS AS (a + 1) STORED) INHERITS (zp)", "CREATE TABLE zp (a int); CREATE TABLE c (a int, g int NOT NULL GENERATED ALWAYS AS (a + 1) STORED) INHERITS (zp)", true},
		"computed otherwise": {
			18, "CREATE TABLE zp (a int, g int NOT NULL GENERATED ALWAYS AS (a + 1) STORED); CREATE TABLE c (a int, g int NOT NULL GENERATED ALWAYS AS (a + 1) STORED) INHERITS (zp)",
			"CREATE TABLE zp (a int, g int NOT NULL GENERATED ALWAYS AS (a + 1) VIRTUAL); CREATE TABLE c (a int, g int NOT NULL GENERATED ALWAYS AS (a + 1) VIRTUAL) INHERITS (zp)", true,
		},
		"two parents": {
			0, "CREATE TABLE y (a int NOT NULL); CREATE TABLE z (a int NOT NULL); CREATE TABLE c (a int NOT NULL) INHERITS (y, z)",
			"CREATE TABLE y (); CREATE TABLE z (a int NOT NULL); CREATE TABLE c (a int NOT NULL) INHERITS (y, z)", true,
		},
		"two parents, one loses it": {
			0, "CREATE TABLE y (a int NOT NULL); CREATE TABLE z (a int NOT NULL); CREATE TABLE c () INHERITS (y, z)",
			"CREATE TABLE y (a int); CREATE TABLE z (a int NOT NULL); CREATE TABLE c () INHERITS (y, z)", true,
		},
		"a partition": {
			18, "CREATE TABLE zp (a int, b int NOT NULL) PARTITION BY LIST (a); CREATE TABLE c PARTITION OF zp DEFAULT; ALTER TABLE c ADD PRIMARY KEY (b)",
			"CREATE TABLE zp (a int, b int) PARTITION BY LIST (a); CREATE TABLE c PARTITION OF zp (PRIMARY KEY (b)) DEFAULT", true,
		},
		"not null stays below":   {0, parent + child + "CREATE TABLE g () INHERITS (c)", "CREATE TABLE zp (a int, b text); CREATE TABLE c (a int, b text) INHERITS (zp); CREATE TABLE g () INHERITS (c); ALTER TABLE g ALTER a SET NOT NULL", false},
		"not null stays between": {0, parent + child + "CREATE TABLE g () INHERITS (zp)", "CREATE TABLE zp (a int, b text); CREATE TABLE c (a int NOT NULL, b text) INHERITS (zp); CREATE TABLE g () INHERITS (zp)", true},
		"new child without it":   {0, parent + child, "CREATE TABLE zp (a int, b text); CREATE TABLE c (a int NOT NULL, b text) INHERITS (zp); CREATE TABLE d () INHERITS (zp)", true},
	} {
		t.Run(name, func(t *testing.T) {
			if s.Major() < c.since {
				t.Skip("the server refuses that")
			}
			target := s.NewDatabase(t, c.a)
			a, err := engine.Inspect(testContext(t), target)
			require.NoError(t, err)
			converge(t, engine.Options{URL: target}, declare(t, s, c.b))
			if c.back {
				converge(t, engine.Options{URL: target}, a)
			}
		})
	}
}

// TestKeyedNotNullRefused: servers that know no constraint behind NOT NULL take it off a partitioned table and its partitions at once.
func TestKeyedNotNullRefused(t *testing.T) {
	s := pgtest.Start(t)
	if s.Major() >= 18 {
		t.Skip("a partition makes the constraint its own there: TestMergedNotNulls")
	}
	const parent = "CREATE TABLE zp (a int, b int NOT NULL) PARTITION BY LIST (a); "
	target := s.NewDatabase(t, parent+"CREATE TABLE c PARTITION OF zp (PRIMARY KEY (b)) DEFAULT")
	_, err := engine.Plan(testContext(t), engine.Options{URL: target}, declare(t, s, "CREATE TABLE zp (a int, b int) PARTITION BY LIST (a); CREATE TABLE c PARTITION OF zp (PRIMARY KEY (b)) DEFAULT"))
	assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, `column "b" of table "public"."zp" is declared without NOT NULL, and the primary key "c_pkey" of its partition "public"."c" needs it`)
	converge(t, engine.Options{URL: target}, declare(t, s, "CREATE TABLE zp (a int, b int) PARTITION BY LIST (a); CREATE TABLE c PARTITION OF zp DEFAULT"))
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
		"becomes merged":          {heir, "CREATE TABLE zp (a int, b text); CREATE TABLE c (a int) INHERITS (zp)", `column "a" of table "public"."c" is declared in the table too and is inherited alone`},
		"becomes inherited":       {merged, heir, `column "a" of table "public"."c" is declared as inherited alone`},
		"parent's comes":          {"CREATE TABLE zp (a int); CREATE TABLE c (b text) INHERITS (zp)", heir, `column "b" of table "public"."c" is declared as inherited alone`},
		"new child of a retyped":  {"CREATE TABLE zp (a int)", "CREATE TABLE zp (a bigint); CREATE TABLE m () INHERITS (zp); CREATE TABLE c (a bigint) INHERITS (m)", `column "a" of the new table "public"."c" is declared in its parent "public"."m" too, which takes another type`},
		"partitioned by a coming": {"CREATE TABLE pp (a int) PARTITION BY LIST (a)", "CREATE TABLE pp (a int, x int) PARTITION BY LIST (a); CREATE TABLE c PARTITION OF pp DEFAULT PARTITION BY LIST (x)", `the new table "public"."c" is partitioned by a column that its parent gains in the same plan`},
		"parent is excluded":      {"CREATE TABLE keep (a int); CREATE TABLE c () INHERITS (keep)", "CREATE TABLE keep (a bigint); CREATE TABLE c () INHERITS (keep)", `column "a" of table "public"."c" is declared with another type and comes from the excluded table "public"."keep"`},
		"two parents":             {twoInt, twoBig, `column "a" of table "public"."c" is declared with another type and comes from tables "public"."y" and "public"."z"`},
		"two parents, inherits":   {heirInt, heirBig, `column "a" of table "public"."c" is declared with another type and comes from tables "public"."y" and "public"."z"`},
		"a routine to wait for":   {narrow, "CREATE TABLE zp (a int, n int); CREATE FUNCTION h() RETURNS int BEGIN ATOMIC SELECT count(*)::int FROM zp; END; CREATE TABLE c (a int, n int DEFAULT h()) INHERITS (zp)", `column "n" is declared in table "public"."c" and in its parent "public"."zp", and one of them has to wait`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, c.a), Exclude: []string{"keep"}}, declare(t, s, c.b))
			assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, c.want)
		})
	}
}

// ruled is a parent with a check, and a child that has it from there; both is one that has it of its own too.
const (
	ruled = "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a int) INHERITS (zp); "
	both  = "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 0)) INHERITS (zp); "
)

// TestMergedChecks changes checks that a child has of its own and from a parent. What cannot be taken back has its own way there alone.
func TestMergedChecks(t *testing.T) {
	s := pgtest.Start(t)
	const plain = "CREATE TABLE zp (a int); CREATE TABLE c (a int) INHERITS (zp); "
	const own = "CREATE TABLE zp (a int); CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 0)) INHERITS (zp); "
	const other = "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 1)); CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 1)) INHERITS (zp); "
	const deep = both + "CREATE TABLE g (a int) INHERITS (c)"
	calls := func(body, tables string) string {
		return "CREATE FUNCTION f(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT " + body + "'; " + tables
	}
	const called = "CREATE TABLE zp (a int, CONSTRAINT k CHECK (f(a))); CREATE TABLE c (a int, CONSTRAINT k CHECK (f(a))) INHERITS (zp)"
	for name, c := range map[string]struct {
		a, b string
		back bool
	}{
		"nothing to both":       {plain, both, true},
		"the child's to both":   {own, both, true},
		"the parent's to both":  {ruled, both, false},
		"the child's to parent": {own, ruled, true},
		"otherwise":             {both, other, true},
		"otherwise, inherited":  {both, "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 1)); CREATE TABLE c (a int) INHERITS (zp)", true},
		"not valid, validated in the child": {
			plain + "ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID",
			plain + "ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID; ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0) NOT VALID; ALTER TABLE c VALIDATE CONSTRAINT k", false,
		},
		"not valid, the child's too": {
			plain + "ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID; COMMENT ON CONSTRAINT k ON c IS 'x'",
			plain + "ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID; ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0) NOT VALID", false,
		},
		"not valid, validated below a new one": {plain + "ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0) NOT VALID", both, false},
		"not valid, a new child's":             {"CREATE TABLE zp (a int); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID", plain + "ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID", true},
		"not valid above a new one":            {plain, own + "ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID", true},
		"not valid above a new one, otherwise": {
			other, "CREATE TABLE zp (a int); CREATE TABLE c (a int) INHERITS (zp); CREATE TABLE g (CONSTRAINT k CHECK (a > 0)) INHERITS (c); ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0) NOT VALID; ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID", true,
		},
		"not valid, joins": {
			"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a int); ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0) NOT VALID", both, false,
		},
		"not valid, becomes a partition": {
			"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)) PARTITION BY LIST (a); CREATE TABLE c (a int); ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0) NOT VALID",
			"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)) PARTITION BY LIST (a); CREATE TABLE c PARTITION OF zp FOR VALUES IN (1)", true,
		},
		"name":            {both, strings.ReplaceAll(both, " k ", " l "), true},
		"comment":         {both, both + "COMMENT ON CONSTRAINT k ON c IS 'x'", true},
		"not valid":       {both, plain + "ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID; ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0) NOT VALID", true},
		"not valid above": {both, own + "ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID", true},
		"not inherited":   {both, "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0) NO INHERIT); CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 0)) INHERITS (zp)", true},
		"type under a strict one": {
			"CREATE TABLE zp (a int); CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 0)) INHERITS (zp); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID",
			"CREATE TABLE zp (a bigint); CREATE TABLE c (a bigint, CONSTRAINT k CHECK (a > 0)) INHERITS (zp); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID", true,
		},
		"type under a strict one below": {
			"CREATE TABLE zp (a int); CREATE TABLE m () INHERITS (zp); CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 0)) INHERITS (m); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID",
			"CREATE TABLE zp (a bigint); CREATE TABLE m () INHERITS (zp); CREATE TABLE c (a bigint, CONSTRAINT k CHECK (a > 0)) INHERITS (m); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID", true,
		},
		"type": {both, "CREATE TABLE zp (a bigint, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a bigint, CONSTRAINT k CHECK (a > 0)) INHERITS (zp)", true},
		"enum": {
			"CREATE TYPE e AS ENUM ('x', 'y'); CREATE TABLE zp (a e, CONSTRAINT k CHECK (a = 'x')); CREATE TABLE c (a e, CONSTRAINT k CHECK (a = 'x')) INHERITS (zp)",
			"CREATE TYPE e AS ENUM ('x'); CREATE TABLE zp (a e, CONSTRAINT k CHECK (a = 'x')); CREATE TABLE c (a e, CONSTRAINT k CHECK (a = 'x')) INHERITS (zp)", true,
		},
		"enum, inherited column": {
			"CREATE TYPE e AS ENUM ('x', 'y'); CREATE TABLE zp (a e, CONSTRAINT k CHECK (a = 'x')); CREATE TABLE c (CONSTRAINT k CHECK (a = 'x')) INHERITS (zp)",
			"CREATE TYPE e AS ENUM ('x'); CREATE TABLE zp (a e, CONSTRAINT k CHECK (a = 'x')); CREATE TABLE c (CONSTRAINT k CHECK (a = 'x')) INHERITS (zp)", true,
		},
		"routine built again": {calls("$1 > 0", called), "CREATE FUNCTION f(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END'; " + called, true},
		"routine, other arguments": {
			calls("$1 > 0", called), "CREATE FUNCTION f(v int, w int DEFAULT 1) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 0'; " + called, true,
		},
		"routine goes":            {calls("$1 > 0", called), plain, true},
		"column of both goes":     {both, "CREATE TABLE zp (); CREATE TABLE c () INHERITS (zp)", true},
		"column of parent goes":   {both, "CREATE TABLE zp (); CREATE TABLE c (a int) INHERITS (zp)", true},
		"column of parent alone":  {"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a int) INHERITS (zp)", "CREATE TABLE zp (); CREATE TABLE c (a int) INHERITS (zp)", true},
		"column of parent, check": {both, "CREATE TABLE zp (); CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 0)) INHERITS (zp)", true},
		"leaves":                  {both, "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 0))", true},
		"leaves without it":       {both, "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a int)", true},
		"joins with the check":    {plain, "CREATE TABLE zp (a int); CREATE TABLE w (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 0)) INHERITS (w)", true},
		"three levels": {
			deep, "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 1)); CREATE TABLE c (a int, CONSTRAINT k CHECK (a > 1)) INHERITS (zp); CREATE TABLE g (a int) INHERITS (c)", true,
		},
		"three levels, the last one's too": {deep, both + "CREATE TABLE g (a int, CONSTRAINT k CHECK (a > 0)) INHERITS (c)", false},
		"three levels, nothing between":    {both + "CREATE TABLE g (a int, CONSTRAINT k CHECK (a > 0)) INHERITS (c)", "CREATE TABLE zp (a int); CREATE TABLE c (a int) INHERITS (zp); CREATE TABLE g (a int, CONSTRAINT k CHECK (a > 0)) INHERITS (c)", true},
		"two parents, one leaves": {
			"CREATE TABLE y (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE z (b int, CONSTRAINT l CHECK (b > 0)); CREATE TABLE c () INHERITS (y, z)",
			"CREATE TABLE y (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE z (b int, CONSTRAINT l CHECK (b > 0)); CREATE TABLE c (b int) INHERITS (y)", false,
		},
		"two parents, one loses it": {
			"CREATE TABLE y (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE z (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (CONSTRAINT k CHECK (a > 0)) INHERITS (y, z)",
			"CREATE TABLE y (a int); CREATE TABLE z (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (CONSTRAINT k CHECK (a > 0)) INHERITS (y, z)", true,
		},
		"a grandparent's, new partition of its partition": {
			"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)) PARTITION BY RANGE (a); CREATE TABLE c PARTITION OF zp FOR VALUES FROM (0) TO (9) PARTITION BY RANGE (a); CREATE TABLE g (a int)",
			"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)) PARTITION BY RANGE (a); CREATE TABLE c PARTITION OF zp FOR VALUES FROM (0) TO (9) PARTITION BY RANGE (a); CREATE TABLE g PARTITION OF c FOR VALUES FROM (1) TO (2)", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := declare(t, s, c.a), declare(t, s, c.b)
			target := s.NewDatabase(t, c.a)
			converge(t, engine.Options{URL: target}, b)
			if c.back {
				converge(t, engine.Options{URL: target}, a)
			}
			for _, db := range []*model.Database{a, b} {
				converge(t, engine.Options{URL: s.NewDatabase(t)}, db)
			}
		})
	}
}

// TestMergedChecksRefused: a check that a table has of its own and from a parent cannot be the parent's alone, nor differ from it.
func TestMergedChecksRefused(t *testing.T) {
	s := pgtest.Start(t)
	held := `the check "k" of table "public"."c" is the table's own and comes from a parent as well`
	for name, c := range map[string]struct{ a, b, want string }{
		"becomes inherited":   {both, ruled, held},
		"under a grandparent": {"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE m () INHERITS (zp); CREATE TABLE c (CONSTRAINT k CHECK (a > 0)) INHERITS (m)", "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE m () INHERITS (zp); CREATE TABLE c () INHERITS (m)", held},
		"under an excluded":   {"CREATE TABLE keep (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (CONSTRAINT k CHECK (a > 0)) INHERITS (keep)", "CREATE TABLE keep (a int); CREATE TABLE c () INHERITS (keep)", held},
		"loses its state": {
			"CREATE TABLE zp (a int); CREATE TABLE c (CONSTRAINT k CHECK (a > 0)) INHERITS (zp); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID",
			"CREATE TABLE zp (a int); CREATE TABLE c () INHERITS (zp); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID; ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0) NOT VALID", held,
		},
		"declared not valid": {
			"CREATE TABLE zp (a int); CREATE TABLE c () INHERITS (zp); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID; ALTER TABLE c VALIDATE CONSTRAINT k",
			"CREATE TABLE zp (a int); CREATE TABLE c () INHERITS (zp); ALTER TABLE zp ADD CONSTRAINT k CHECK (a > 0) NOT VALID; ALTER TABLE c ADD CONSTRAINT k CHECK (a > 0) NOT VALID", `the check "k" of table "public"."c" is declared NOT VALID in the table`,
		},
		"joins without it":      {"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a int)", ruled, `the check "k" of table "public"."c" is declared in its new parent "public"."zp" alone`},
		"joins a grandparent's": {"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE m () INHERITS (zp); CREATE TABLE c (a int)", "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE m () INHERITS (zp); CREATE TABLE c (a int) INHERITS (m)", `the check "k" of table "public"."c" is declared in its new parent "public"."m" alone`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, c.a), Exclude: []string{"keep"}}, declare(t, s, c.b))
			assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, c.want)
		})
	}
}

package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/frame"
)

const (
	parts  = "CREATE TABLE p (id int NOT NULL, at date NOT NULL, n int DEFAULT 1, s text) PARTITION BY RANGE (at); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2020-01-01') TO ('2021-01-01'); "
	nested = "CREATE TABLE p (id int NOT NULL, k text, n int DEFAULT 1) PARTITION BY LIST (k); CREATE TABLE a PARTITION OF p FOR VALUES IN ('a', 'it''s') PARTITION BY HASH (id); CREATE TABLE a0 PARTITION OF a FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE a1 PARTITION OF a FOR VALUES WITH (MODULUS 2, REMAINDER 1); CREATE TABLE d PARTITION OF p DEFAULT; "
	family = "CREATE TABLE zp (a int DEFAULT 1, b text); CREATE TABLE c (z int) INHERITS (zp); "
)

// relationProbes are about what tables are beside their columns, partitions and inheritance among it; converged in both directions.
var relationProbes = map[string]probe{
	"rel exclusion":                      {"CREATE TABLE t (r int4range, n int)", "CREATE TABLE t (r int4range, n int, CONSTRAINT x EXCLUDE USING gist (r WITH &&) WHERE (n > 0)); COMMENT ON CONSTRAINT x ON t IS 'c'"},
	"rel exclusion changed":              {"CREATE TABLE t (r int4range, n int, CONSTRAINT x EXCLUDE USING gist (r WITH &&))", "CREATE TABLE t (r int4range, n int, CONSTRAINT x EXCLUDE USING gist (r WITH -|-) DEFERRABLE INITIALLY DEFERRED)"},
	"rel exclusion column goes":          {"CREATE TABLE t (r int4range, n int, CONSTRAINT x EXCLUDE USING gist (int4range(n, n + 5) WITH &&))", "CREATE TABLE t (r int4range)"},
	"rel exclusion with new type":        {"CREATE TABLE t (r int4range, n int, CONSTRAINT x EXCLUDE (n WITH =))", "CREATE TABLE t (r int4range, n bigint, CONSTRAINT x EXCLUDE (n WITH =))"},
	"rel unlogged":                       {"CREATE TABLE t (id int PRIMARY KEY)", "CREATE UNLOGGED TABLE t (id int PRIMARY KEY)"},
	"rel unlogged with keys":             {"CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int REFERENCES t)", "CREATE UNLOGGED TABLE t (id int PRIMARY KEY); CREATE UNLOGGED TABLE u (id int REFERENCES t)"},
	"rel replica identity":               {base, base + "ALTER TABLE t REPLICA IDENTITY FULL"},
	"rel replica identity index":         {base + "CREATE UNIQUE INDEX i ON t (id)", base + "CREATE UNIQUE INDEX i ON t (id DESC); ALTER TABLE t REPLICA IDENTITY USING INDEX i"},
	"rel replica identity kept":          {base + "CREATE UNIQUE INDEX i ON t (id); ALTER TABLE t REPLICA IDENTITY USING INDEX i", base + "CREATE UNIQUE INDEX i ON t (id DESC); ALTER TABLE t REPLICA IDENTITY USING INDEX i"},
	"rel cluster":                        {base + "CREATE INDEX i ON t (id)", base + "CREATE INDEX i ON t (id); ALTER TABLE t CLUSTER ON i"},
	"rel cluster on key":                 {base + "ALTER TABLE t ADD PRIMARY KEY (id)", base + "ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY (id); ALTER TABLE t CLUSTER ON k"},
	"rel toast options":                  {base + "ALTER TABLE t SET (fillfactor = 70)", base + "ALTER TABLE t SET (fillfactor = 70, toast.autovacuum_enabled = false, toast.vacuum_truncate = off)"},
	"rel toast options new":              {"", "CREATE TABLE t (s text) WITH (toast.autovacuum_enabled = false, fillfactor = 80)"},
	"rel column statistics":              {base, base + "ALTER TABLE t ALTER n SET STATISTICS 500, ALTER s SET STATISTICS 0"},
	"rel column options":                 {base, base + "ALTER TABLE t ALTER n SET (n_distinct = 5, n_distinct_inherited = -0.5)"},
	"rel index statistics":               {base + "CREATE INDEX i ON t (n, (n + 1))", base + "CREATE INDEX i ON t (n, (n + 1)); ALTER INDEX i ALTER COLUMN 2 SET STATISTICS 500"},
	"rel index statistics and type":      {base + "CREATE INDEX i ON t ((n + 1)); ALTER INDEX i ALTER COLUMN 1 SET STATISTICS 500", "CREATE TABLE t (id int NOT NULL, n bigint, s text, v varchar(20)); CREATE INDEX i ON t ((n + 1)); ALTER INDEX i ALTER COLUMN 1 SET STATISTICS 500"},
	"rel row type":                       {"", "CREATE TABLE z (a int); CREATE TABLE a (z z, zs z[]); CREATE TYPE y AS (a int); CREATE TABLE b (y y)"},
	"part table":                         {"", parts},
	"part nested":                        {"", nested},
	"part added":                         {parts, parts + "CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2021-01-01') TO (MAXVALUE); CREATE TABLE pd PARTITION OF p DEFAULT"},
	"part bound":                         {parts, "CREATE TABLE p (id int NOT NULL, at date NOT NULL, n int DEFAULT 1, s text) PARTITION BY RANGE (at); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2019-01-01') TO ('2022-01-01'); "},
	"part attached":                      {"CREATE TABLE p (id int NOT NULL, at date NOT NULL, n int DEFAULT 1, s text, CHECK (n > 0), PRIMARY KEY (id, at)) PARTITION BY RANGE (at); CREATE INDEX pi ON p (n); CREATE TABLE p1 (id int NOT NULL, at date NOT NULL, n int DEFAULT 1, s text, PRIMARY KEY (id, at)); CREATE INDEX p1i ON p1 (n)", "CREATE TABLE p (id int NOT NULL, at date NOT NULL, n int DEFAULT 1, s text, CHECK (n > 0), PRIMARY KEY (id, at)) PARTITION BY RANGE (at); CREATE INDEX pi ON p (n); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')"},
	"part moves to another parent":       {parts + "CREATE TABLE o (LIKE p INCLUDING ALL) PARTITION BY RANGE (at)", "CREATE TABLE p (id int NOT NULL, at date NOT NULL, n int DEFAULT 1, s text) PARTITION BY RANGE (at); CREATE TABLE o (LIKE p INCLUDING ALL) PARTITION BY RANGE (at); CREATE TABLE p1 PARTITION OF o DEFAULT"},
	"part column":                        {nested, nested + "ALTER TABLE p ADD x int NOT NULL DEFAULT 5; ALTER TABLE a1 ALTER x SET DEFAULT 6; COMMENT ON COLUMN a1.x IS 'c'"},
	"part column type":                   {nested, "CREATE TABLE p (id int NOT NULL, k text, n text DEFAULT 'x') PARTITION BY LIST (k); CREATE TABLE a PARTITION OF p FOR VALUES IN ('a', 'it''s') PARTITION BY HASH (id); CREATE TABLE a0 PARTITION OF a FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE a1 PARTITION OF a FOR VALUES WITH (MODULUS 2, REMAINDER 1); CREATE TABLE d PARTITION OF p DEFAULT; ALTER TABLE ONLY a ALTER n SET DEFAULT 'y'; ALTER TABLE d ALTER n DROP DEFAULT"},
	"part column default":                {nested, nested + "ALTER TABLE ONLY p ALTER n SET DEFAULT 7; ALTER TABLE a0 ALTER n SET DEFAULT 8"},
	"part column not null":               {nested, nested + "ALTER TABLE p ALTER n SET NOT NULL"},
	"part column not null in one":        {nested, nested + "ALTER TABLE a0 ALTER n SET NOT NULL, ALTER k SET STATISTICS 50, ALTER k SET STORAGE EXTERNAL"},
	"part generated column":              {nested, nested + "ALTER TABLE p ADD g int GENERATED ALWAYS AS (n + 1) STORED"},
	"part key":                           {nested, nested + "ALTER TABLE p ADD PRIMARY KEY (k, id); CREATE TABLE f (k text, id int, FOREIGN KEY (k, id) REFERENCES p); ALTER TABLE a0 ADD CONSTRAINT own UNIQUE (id)"},
	"part index":                         {nested, nested + "CREATE INDEX i ON p (n); CREATE UNIQUE INDEX j ON a0 (n)"},
	"part check":                         {nested, nested + "ALTER TABLE p ADD CHECK (n > 0); ALTER TABLE a0 ADD CONSTRAINT own CHECK (n > 5); ALTER TABLE a0 SET (fillfactor = 70)"},
	"part foreign key":                   {nested + "CREATE TABLE r (id int PRIMARY KEY)", nested + "CREATE TABLE r (id int PRIMARY KEY); ALTER TABLE p ADD FOREIGN KEY (n) REFERENCES r"},
	"part dropped under a foreign key":   {nested + "ALTER TABLE p ADD PRIMARY KEY (k, id); CREATE TABLE f (k text, id int, FOREIGN KEY (k, id) REFERENCES p); ", "CREATE TABLE p (id int NOT NULL, k text, n int DEFAULT 1, PRIMARY KEY (k, id)) PARTITION BY LIST (k); CREATE TABLE a PARTITION OF p FOR VALUES IN ('a', 'it''s') PARTITION BY HASH (id); CREATE TABLE a0 PARTITION OF a FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE a1 PARTITION OF a FOR VALUES WITH (MODULUS 2, REMAINDER 1); CREATE TABLE f (k text, id int, FOREIGN KEY (k, id) REFERENCES p)"},
	"part new under a changed parent":    {"CREATE TABLE p (id int NOT NULL, at date NOT NULL, n int DEFAULT 1, s text) PARTITION BY RANGE (at)", "CREATE TABLE p (id int NOT NULL, at date NOT NULL, n bigint NOT NULL DEFAULT 2, x text COLLATE \"C\" DEFAULT 'x') PARTITION BY RANGE (at); CREATE TABLE p1 PARTITION OF p (n DEFAULT 3, CONSTRAINT own CHECK (id > 0)) DEFAULT"},
	"part expression key":                {"", `CREATE TABLE "P ""q" (a int, "B b" text COLLATE "C") PARTITION BY RANGE (lower("B b") text_pattern_ops, (a + 1)); CREATE TABLE "select" PARTITION OF "P ""q" FOR VALUES FROM ('it''s', MINVALUE) TO ('z', 5)`},
	"inherit":                            {"", family},
	"inherit two parents":                {"", "CREATE TABLE q (a int, b int); CREATE TABLE zp (b int, x text CHECK (x <> '')); CREATE TABLE c (b int DEFAULT 4, z int) INHERITS (zp, q)"},
	"inherit column":                     {family, family + "ALTER TABLE zp ADD x int DEFAULT 5; ALTER TABLE c ALTER a SET DEFAULT 9"},
	"inherit column type":                {family, "CREATE TABLE zp (a text DEFAULT 'x', b text); CREATE TABLE c (z int) INHERITS (zp)"},
	"inherit column dropped":             {family, "CREATE TABLE zp (b text); CREATE TABLE c (z int) INHERITS (zp)"},
	"inherit check":                      {family, family + "ALTER TABLE zp ADD CHECK (a > 0); ALTER TABLE zp ADD CONSTRAINT ni CHECK (a > 1) NO INHERIT"},
	"inherit not null":                   {family, family + "ALTER TABLE zp ALTER a SET NOT NULL; ALTER TABLE c ALTER b SET NOT NULL"},
	"inherit ends":                       {"CREATE TABLE zp (a int DEFAULT 1, b text, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a int DEFAULT 1, b text, z int, CONSTRAINT k CHECK (a > 0)) INHERITS (zp)", "CREATE TABLE zp (a int DEFAULT 1, b text, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (a int DEFAULT 1, b text, z int, CONSTRAINT k CHECK (a > 0))"},
	"inherit check of both":              {"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (CONSTRAINT k CHECK (a > 0)) INHERITS (zp); CREATE TABLE d () INHERITS (c)", "CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 1)); CREATE TABLE c () INHERITS (zp); CREATE TABLE d () INHERITS (c)"},
	"inherit check of both goes":         {"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0)); CREATE TABLE c (CONSTRAINT k CHECK (a > 0)) INHERITS (zp)", "CREATE TABLE zp (a int); CREATE TABLE c () INHERITS (zp)"},
	"inherit whole family goes":          {family + "CREATE TABLE d () INHERITS (c); CREATE INDEX i ON d (a)", ""},
	"rel table becomes partitions' name": {"CREATE TABLE p1 (a int)", "CREATE TABLE p (a int) PARTITION BY LIST (a); CREATE TABLE p2 PARTITION OF p DEFAULT"},
}

// relationProbes15 need PostgreSQL 15.
var relationProbes15 = map[string]probe{
	"rel unlogged sequence": {"CREATE SEQUENCE q", "CREATE UNLOGGED SEQUENCE q"},
	"rel unlogged serial":   {"CREATE TABLE t (id serial, n int GENERATED ALWAYS AS IDENTITY)", "CREATE UNLOGGED TABLE t (id serial, n int GENERATED ALWAYS AS IDENTITY)"},
}

// relationProbes18 need PostgreSQL 18.
var relationProbes18 = map[string]probe{
	"rel not enforced check":       {base, base + "ALTER TABLE t ADD CONSTRAINT k CHECK (n > 0) NOT ENFORCED"},
	"rel not enforced becomes so":  {base + "ALTER TABLE t ADD CONSTRAINT k CHECK (n > 0)", base + "ALTER TABLE t ADD CONSTRAINT k CHECK (n > 0) NOT ENFORCED"},
	"rel not enforced foreign key": {keys + fk, keys + fk + " NOT ENFORCED"},
	"rel temporal keys":            {"CREATE TABLE t (s int4range, r daterange)", "CREATE TABLE t (s int4range, r daterange, CONSTRAINT k PRIMARY KEY (s, r WITHOUT OVERLAPS), CONSTRAINT u UNIQUE (s, r WITHOUT OVERLAPS)); CREATE TABLE f (s int4range, r daterange, CONSTRAINT ff FOREIGN KEY (s, PERIOD r) REFERENCES t)"},
	"rel temporal added":           {"CREATE TABLE t (s int4range, r daterange); CREATE TABLE f (s int4range, r daterange)", "CREATE TABLE t (s int4range, r daterange, CONSTRAINT k PRIMARY KEY (s, r WITHOUT OVERLAPS)); CREATE TABLE f (s int4range, r daterange, CONSTRAINT ff FOREIGN KEY (s, PERIOD r) REFERENCES t (s, PERIOD r))"},
	"rel not null renamed":         {base + "ALTER TABLE t ALTER n SET NOT NULL", base + "ALTER TABLE t ADD CONSTRAINT nn NOT NULL n; COMMENT ON CONSTRAINT nn ON t IS 'c'"},
	"rel not null not valid":       {base, base + "ALTER TABLE t ADD CONSTRAINT nn NOT NULL n NOT VALID"},
	"rel not null validated":       {base + "ALTER TABLE t ADD CONSTRAINT nn NOT NULL n NOT VALID", base + "ALTER TABLE t ADD CONSTRAINT nn NOT NULL n"},
	"rel not null no inherit":      {"CREATE TABLE t (n int NOT NULL)", "CREATE TABLE t (n int NOT NULL NO INHERIT)"},
	"rel not null in new table":    {"", "CREATE TABLE t (n int CONSTRAINT \"a b\" NOT NULL NO INHERIT, m int); ALTER TABLE t ADD CONSTRAINT mm NOT NULL m NOT VALID; COMMENT ON CONSTRAINT mm ON t IS 'c'"},
	"part identity":                {nested, nested + "ALTER TABLE p ALTER id ADD GENERATED ALWAYS AS IDENTITY"},
}

func TestRelationsRefusedByName(t *testing.T) {
	s := pgtest.Start(t)
	for name, c := range map[string]struct{ a, b, want string }{
		"partition key":              {"CREATE TABLE p (a int, b int) PARTITION BY LIST (a)", "CREATE TABLE p (a int, b int) PARTITION BY LIST (b)", `table "public"."p" is declared with another partition key`},
		"no longer divided":          {"CREATE TABLE p (a int) PARTITION BY LIST (a)", "CREATE TABLE p (a int)", `table "public"."p" is declared with another partition key`},
		"type of a key":              {"CREATE TABLE p (a int) PARTITION BY LIST (a)", "CREATE TABLE p (a bigint) PARTITION BY LIST (a)", `column "a" of the partitioned table "public"."p" is a part of its key`},
		"column made family":         {"CREATE TABLE zp (a int); CREATE TABLE c (a int)", "CREATE TABLE zp (a int); CREATE TABLE c () INHERITS (zp)", `column "a" of table "public"."c" is declared as inherited`},
		"from one family to another": {"CREATE TABLE zp (a int); CREATE TABLE yp (a int); CREATE TABLE c () INHERITS (zp)", "CREATE TABLE zp (a int); CREATE TABLE yp (a int); CREATE TABLE c () INHERITS (yp)", `column "a" of table "public"."c" is declared as inherited`},
		"rows are stored":            {"CREATE TABLE u (a int); CREATE TABLE t (r u)", "CREATE TABLE u (a bigint); CREATE TABLE t (r u)", `column "r" of table "public"."t" holds whole rows of table "public"."u"`},
		"rows are judged":            {"CREATE DOMAIN d AS int; CREATE TABLE u (a d); CREATE TABLE t (r u)", "CREATE DOMAIN d AS int CHECK (VALUE > 0); CREATE TABLE u (a d); CREATE TABLE t (r u)", `column "r" of table "public"."t" holds whole rows of table "public"."u"`},
		"excluded rows are judged":   {"CREATE DOMAIN d AS int; CREATE TABLE u (a d); CREATE MATERIALIZED VIEW keep AS SELECT u AS r FROM u", "CREATE DOMAIN d AS int CHECK (VALUE > 0); CREATE TABLE u (a d)", `which is excluded, stores whole rows of a table`},
		"arrays of rows":             {"CREATE TABLE u (a int); CREATE TABLE keep (r u[])", "CREATE TABLE u (a int, n int DEFAULT 1)", `column "r" of table "public"."keep" holds whole rows of table "public"."u"`},
		"child is excluded":          {"CREATE TABLE p (a int) PARTITION BY LIST (a); CREATE TABLE keep PARTITION OF p DEFAULT", "", `the excluded table "public"."keep" is a child of table "public"."p"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, c.a), Exclude: []string{"keep"}}, declare(t, s, c.b))
			var e *engine.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, frame.CodeUnsupportedObject, e.Code)
			assert.Contains(t, e.Message, c.want)
		})
	}
}

// TestNotNullOfParentsAndChildrenRefused: while a parent has a NOT NULL too, the server cannot rename the child's.
func TestNotNullOfParentsAndChildrenRefused(t *testing.T) {
	s := pgtest.Start(t)
	if s.Major() < 18 {
		t.Skip("NOT NULL has no names before PostgreSQL 18")
	}
	const plain = "CREATE TABLE zp (a int NOT NULL); CREATE TABLE c () INHERITS (zp)"
	for name, c := range map[string]struct{ a, b, want string }{
		"a name for what is inherited": {plain, "CREATE TABLE zp (a int NOT NULL); CREATE TABLE c (CONSTRAINT cn NOT NULL a) INHERITS (zp)", `the NOT NULL constraint "zp_a_not_null" of table "public"."c" is declared as "cn"`},
		"another name":                 {"CREATE TABLE zp (a int NOT NULL); CREATE TABLE c (CONSTRAINT cn NOT NULL a) INHERITS (zp)", plain, `the NOT NULL constraint "cn" of table "public"."c" is declared as "c_a_not_null"`},
		"of a new child":               {"CREATE TABLE zp (a int)", "CREATE TABLE zp (a int, x int NOT NULL DEFAULT 7); CREATE TABLE c (CONSTRAINT cx NOT NULL x) INHERITS (zp)", `the NOT NULL constraint "cx" of the new table "public"."c" is on a column that its parent "public"."zp" gains`},
		"of a new one under a type":    {"CREATE TABLE zp (a int NOT NULL)", "CREATE TABLE zp (a bigint NOT NULL); CREATE TABLE c (CONSTRAINT cn NOT NULL a) INHERITS (zp)", `column "a" of table "public"."zp" changes its type, and its NOT NULL constraint is called "cn" in the new child`},
		"under another type":           {"CREATE TABLE zp (a int NOT NULL); CREATE TABLE c (a int NOT NULL) INHERITS (zp)", "CREATE TABLE zp (a bigint NOT NULL); CREATE TABLE c (a bigint NOT NULL) INHERITS (zp)", `column "a" of table "public"."zp" changes its type, and its NOT NULL constraint "zp_a_not_null" is called "c_a_not_null" in the child "public"."c"`},
		"two levels under another":     {"CREATE TABLE zp (a int CONSTRAINT x NOT NULL); CREATE TABLE m () INHERITS (zp); CREATE TABLE c (CONSTRAINT y NOT NULL a) INHERITS (m)", "CREATE TABLE zp (a bigint CONSTRAINT x NOT NULL); CREATE TABLE m () INHERITS (zp); CREATE TABLE c (CONSTRAINT y NOT NULL a) INHERITS (m)", `its NOT NULL constraint "x" is called "y" in the child "public"."c"`},
		"the parent's with two names":  {"CREATE TABLE zp (a int NOT NULL); CREATE TABLE c (a int NOT NULL) INHERITS (zp)", "CREATE TABLE zp (a int CONSTRAINT pn NOT NULL); CREATE TABLE c (a int NOT NULL) INHERITS (zp)", `the NOT NULL constraint "zp_a_not_null" of table "public"."zp" is declared as "pn", and its child "public"."c" has it as "c_a_not_null"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, c.a)}, declare(t, s, c.b))
			var e *engine.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, frame.CodeUnsupportedObject, e.Code)
			assert.Contains(t, e.Message, c.want)
		})
	}
}

// TestTypeOfNotNullFamilies: the way round that the refusal names, and names that are no hindrance.
func TestTypeOfNotNullFamilies(t *testing.T) {
	s := pgtest.Start(t)
	if s.Major() < 18 {
		t.Skip("NOT NULL has no names before PostgreSQL 18")
	}
	target := s.NewDatabase(t, "CREATE TABLE zp (a int NOT NULL); CREATE TABLE c (a int NOT NULL) INHERITS (zp); INSERT INTO c VALUES (1)")
	for _, sql := range []string{
		"CREATE TABLE zp (a int); CREATE TABLE c (a int NOT NULL) INHERITS (zp)",
		"CREATE TABLE zp (a bigint); CREATE TABLE c (a bigint NOT NULL) INHERITS (zp)",
		"CREATE TABLE zp (a bigint NOT NULL); CREATE TABLE c (a bigint NOT NULL) INHERITS (zp)",
	} {
		converge(t, engine.Options{URL: target}, declare(t, s, sql))
	}
	for _, typ := range [][]string{{"int", "bigint"}, {"varchar(9)", `text COLLATE "C"`}} {
		for _, family := range []string{
			"CREATE TABLE zp (a %s NOT NULL); CREATE TABLE m () INHERITS (zp); CREATE TABLE c () INHERITS (m)",
			"CREATE TABLE zp (k int, a %s NOT NULL) PARTITION BY LIST (k); CREATE TABLE c (LIKE zp); ALTER TABLE zp ATTACH PARTITION c DEFAULT",
			"CREATE TABLE zp (a %s); CREATE TABLE c (CONSTRAINT y NOT NULL a) INHERITS (zp)",
		} {
			converge(t, engine.Options{URL: s.NewDatabase(t, fmt.Sprintf(family, typ[0]))}, declare(t, s, fmt.Sprintf(family, typ[1])))
		}
	}
}

func TestRowsStayWhilePartitionsMove(t *testing.T) {
	s := pgtest.Start(t)
	target := s.NewDatabase(t, nested+"CREATE INDEX i ON p (n); INSERT INTO p SELECT g, CASE WHEN g % 2 = 0 THEN 'a' END FROM generate_series(1, 10) g")
	detached := "CREATE TABLE p (id int NOT NULL, k text, n int DEFAULT 1) PARTITION BY LIST (k); CREATE INDEX i ON p (n); CREATE TABLE a (id int NOT NULL, k text, n int DEFAULT 1) PARTITION BY HASH (id); CREATE TABLE a0 PARTITION OF a FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE a1 PARTITION OF a FOR VALUES WITH (MODULUS 2, REMAINDER 1); CREATE INDEX a_n_idx ON a (n); CREATE TABLE d PARTITION OF p DEFAULT; "
	doc := converge(t, engine.Options{URL: target}, declare(t, s, detached))
	// PostgreSQL 18 renames the NOT NULL constraint as well.
	assert.Equal(t, `ALTER TABLE "public"."p" DETACH PARTITION "public"."a"`, statements(doc)[0])
	assert.NotContains(t, joinLines(statements(doc)), "INDEX")
	assert.True(t, doc.Destructive)
	doc = converge(t, engine.Options{URL: target}, declare(t, s, nested+"CREATE INDEX i ON p (n)"))
	assert.Contains(t, statements(doc), `ALTER TABLE "public"."p" ATTACH PARTITION "public"."a" FOR VALUES IN ('a', 'it''s')`)
	assert.NotContains(t, joinLines(statements(doc)), "INDEX")
	s.Exec(t, target, "DO $$ BEGIN ASSERT (SELECT count(*) FROM p) = 10; END $$")
}

// TestKeysOfGrandparentsStay: a table that becomes a partition of a partition keeps the key and the index that come from further up.
func TestKeysOfGrandparentsStay(t *testing.T) {
	s := pgtest.Start(t)
	const family = "CREATE TABLE g (id int NOT NULL, k text NOT NULL, PRIMARY KEY (id, k)) PARTITION BY LIST (k); CREATE INDEX i ON g (k); CREATE TABLE p PARTITION OF g DEFAULT PARTITION BY LIST (id); "
	target := s.NewDatabase(t, family+"CREATE TABLE c (id int NOT NULL, k text NOT NULL, PRIMARY KEY (id, k)); CREATE INDEX c_k_idx ON c (k)")
	doc := converge(t, engine.Options{URL: target}, declare(t, s, family+"CREATE TABLE c PARTITION OF p FOR VALUES IN (1)"))
	assert.Equal(t, []string{`ALTER TABLE "public"."p" ATTACH PARTITION "public"."c" FOR VALUES IN (1)`}, statements(doc))
}

// TestNotNullNamesTaken: the server would choose another name for a NOT NULL where a constraint has the usual one, and not for one that is written.
func TestNotNullNamesTaken(t *testing.T) {
	s := pgtest.Start(t)
	if s.Major() < 18 {
		t.Skip("NOT NULL has no names before PostgreSQL 18")
	}
	const table = "CREATE TABLE t (a int NOT NULL, b int); "
	for name, c := range map[string][2]string{
		"table behind its copy":    {"", table + "CREATE TABLE copy (LIKE t INCLUDING ALL)"},
		"column":                   {"CREATE TABLE t (b int); CREATE TABLE o (a int, CONSTRAINT t_a_not_null CHECK (a > 0))", "CREATE TABLE t (b int, a int NOT NULL); CREATE TABLE o (a int, CONSTRAINT t_a_not_null CHECK (a > 0))"},
		"not null":                 {"CREATE TABLE t (a int, b int); CREATE DOMAIN d AS int CONSTRAINT t_a_not_null CHECK (VALUE > 0)", table + "CREATE DOMAIN d AS int CONSTRAINT t_a_not_null CHECK (VALUE > 0)"},
		"domain":                   {"", "CREATE TABLE a (x_y int NOT NULL); CREATE DOMAIN a_x_y AS int NOT NULL"},
		"names that join the same": {"", "CREATE TABLE b_b (c int NOT NULL); CREATE TABLE b (b_c int NOT NULL); CREATE TABLE x (b_c int CONSTRAINT b_b_c_not_null NOT NULL)"},
		"inherited":                {"", "CREATE SCHEMA s; CREATE TABLE s.p (x int CONSTRAINT t_a_not_null NOT NULL); CREATE TABLE kid () INHERITS (s.p); " + table},
		"inherited, usual":         {"", "CREATE SCHEMA s; CREATE TABLE s.t (a int NOT NULL); CREATE TABLE m (); CREATE TABLE kid () INHERITS (s.t, m); CREATE TABLE grandchild () INHERITS (kid); " + table},
		"renamed":                  {table + "CREATE TABLE u (a int NOT NULL)", "CREATE TABLE v (a int CONSTRAINT t_a_not_null NOT NULL, b int); CREATE TABLE t (a int NOT NULL, n text); CREATE TABLE u (a int NOT NULL)"},
	} {
		t.Run(name, func(t *testing.T) {
			target := s.NewDatabase(t, c[0])
			converge(t, engine.Options{URL: target}, declare(t, s, c[1]))
			converge(t, engine.Options{URL: target}, declare(t, s, c[0]))
		})
	}
}

func TestNotNullNamesAsTheServer(t *testing.T) {
	s := pgtest.Start(t)
	if s.Major() < 18 {
		t.Skip("NOT NULL has no names before PostgreSQL 18")
	}
	for _, sql := range []string{
		`CREATE TABLE "sixty-three bytes long, which is the most that a name can have." (a int NOT NULL, "another long name of a column, which has to be cut as well" int NOT NULL)`,
		`CREATE TABLE "` + strings.Repeat("ünïcödé ", 5) + `" ("` + strings.Repeat("çölümn ", 5) + `" int NOT NULL)`,
	} {
		for _, table := range declare(t, s, sql).Tables {
			for _, c := range table.Columns {
				assert.Nil(t, c.NotNullRule, "%s", c.Name)
			}
		}
	}
}

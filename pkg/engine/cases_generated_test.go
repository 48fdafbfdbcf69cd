package engine_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
)

// generatedCases are what the generated pairs have found, cut down. Each failed once.
var generatedCases = map[string]probe{
	"a table with new checks becomes a partition": {
		"CREATE TABLE t (k int); CREATE TABLE p (k int) PARTITION BY LIST (k)",
		"CREATE TABLE p (k int, CONSTRAINT c CHECK (k > 1)) PARTITION BY LIST (k); CREATE TABLE t PARTITION OF p (CONSTRAINT own CHECK (k < 9)) FOR VALUES IN (2)",
	},
	"a replica identity whose column keeps its NOT NULL alone": {
		"CREATE TABLE p (k int NOT NULL); CREATE TABLE c () INHERITS (p); CREATE UNIQUE INDEX i ON c (k); ALTER TABLE c REPLICA IDENTITY USING INDEX i",
		"CREATE TABLE p (k int); CREATE TABLE c () INHERITS (p); ALTER TABLE c ALTER k SET NOT NULL; CREATE UNIQUE INDEX i ON c (k); ALTER TABLE c REPLICA IDENTITY USING INDEX i",
	},
	"a domain gains a check under a materialized view of whole rows": {
		"CREATE DOMAIN d AS int; CREATE TABLE t (x d); CREATE MATERIALIZED VIEW m AS SELECT t AS w FROM t",
		"CREATE DOMAIN d AS int CHECK (VALUE > 0); CREATE TABLE t (x d); CREATE MATERIALIZED VIEW m AS SELECT t AS w FROM t",
	},
	"a new child declares a column whose parent stores it otherwise until then": {
		"CREATE TABLE zp (a text COMPRESSION pglz, b text); ALTER TABLE zp ALTER b SET STORAGE EXTERNAL",
		"CREATE TABLE zp (a text, b text); CREATE TABLE c (a text, b text) INHERITS (zp); CREATE TABLE d (b text) INHERITS (c)",
	},
	"a child's default goes as its parent's collation changes": {
		`CREATE TABLE zp (a text COLLATE "C" DEFAULT 'x'); CREATE TABLE c () INHERITS (zp); CREATE TABLE d () INHERITS (zp); ALTER TABLE d ALTER a SET DEFAULT 'y'; CREATE TABLE e () INHERITS (zp); ALTER TABLE e ALTER a DROP DEFAULT`,
		"CREATE TABLE zp (a text); CREATE TABLE c () INHERITS (zp); CREATE TABLE d () INHERITS (zp); ALTER TABLE d ALTER a SET DEFAULT 'z'; CREATE TABLE e () INHERITS (zp)",
	},
	"a child has no default as its parent's collation changes": {
		`CREATE TABLE zp (a text COLLATE "C" DEFAULT 'x'); CREATE TABLE c () INHERITS (zp); ALTER TABLE c ALTER a DROP DEFAULT; CREATE TABLE d () INHERITS (zp)`,
		`CREATE TABLE zp (a text DEFAULT 'x'); CREATE TABLE c () INHERITS (zp); ALTER TABLE c ALTER a DROP DEFAULT; CREATE TABLE d () INHERITS (zp); ALTER TABLE d ALTER a DROP DEFAULT`,
	},
	"statistics with a target of a column that is computed otherwise": {
		"CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a + 1) STORED); CREATE STATISTICS s ON a, g FROM t; ALTER STATISTICS s SET STATISTICS 50; COMMENT ON STATISTICS s IS 'x'; CREATE INDEX i ON t (a, (g + 1)); ALTER INDEX i ALTER COLUMN 2 SET STATISTICS 7; CLUSTER t USING i",
		"CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a + 2) STORED); CREATE STATISTICS s ON a, g FROM t; ALTER STATISTICS s SET STATISTICS 50; COMMENT ON STATISTICS s IS 'x'; CREATE INDEX i ON t (a, (g + 1)); ALTER INDEX i ALTER COLUMN 2 SET STATISTICS 7; CLUSTER t USING i",
	},
	"a new child stands on columns that its parent gains": {
		"CREATE TABLE zp (a int); CREATE TABLE pp (a int) PARTITION BY LIST (a)",
		"CREATE TABLE zp (a int, x int DEFAULT 1, y int); CREATE TABLE c (own int, g int GENERATED ALWAYS AS (own + 1) STORED, gx int GENERATED ALWAYS AS (x + 1) STORED, CHECK (x > 0), CHECK (own > 0), PRIMARY KEY (x, gx), UNIQUE (own), EXCLUDE USING btree (y WITH =), FOREIGN KEY (own) REFERENCES c (own)) INHERITS (zp); COMMENT ON COLUMN c.gx IS 'z'; CREATE TABLE pp (a int, x int) PARTITION BY LIST (a); CREATE TABLE q PARTITION OF pp (CHECK (x > 0), UNIQUE (x)) DEFAULT",
	},
	"a new child stands on columns that wait for a routine": {
		"CREATE TABLE zp (a int); CREATE TABLE q (n int)",
		"CREATE TABLE q (n int); CREATE FUNCTION counted() RETURNS bigint LANGUAGE sql STABLE BEGIN ATOMIC SELECT count(*) FROM q; END; CREATE TABLE zp (a int, x bigint DEFAULT counted()); CREATE TABLE c (gx bigint GENERATED ALWAYS AS (x + 1) STORED, CHECK (x > 0), UNIQUE (gx)) INHERITS (zp); ALTER TABLE c ALTER x SET DEFAULT 5",
	},
	"a sequence leaves a table that becomes unlogged": {
		"CREATE TABLE t (n int); CREATE SEQUENCE q OWNED BY t.n",
		"CREATE UNLOGGED TABLE t (n int); CREATE SEQUENCE q",
	},
	"statistics of columns that stand in another order": {
		"CREATE TABLE t (b int, a int)",
		"CREATE TABLE t (a int, b int); CREATE STATISTICS s (ndistinct) ON a, b, (a + b) FROM t",
	},
	"a column computed from one that waits for a routine": {
		"CREATE TABLE t (a int)",
		"CREATE TABLE q (n int); CREATE FUNCTION counted() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM q; END; CREATE TABLE t (a int, c bigint DEFAULT counted(), g bigint GENERATED ALWAYS AS (c * 3) STORED)",
	},
	"an identity with bounds of its own takes a narrower type": {
		"CREATE TABLE t (n int GENERATED ALWAYS AS IDENTITY (MAXVALUE 2147483646))",
		"CREATE TABLE t (n smallint GENERATED ALWAYS AS IDENTITY (MAXVALUE 32766))",
	},
	"a descending identity takes a narrower type": {
		"CREATE TABLE t (n int GENERATED BY DEFAULT AS IDENTITY (INCREMENT -1 MINVALUE -100000))",
		"CREATE TABLE t (n smallint GENERATED BY DEFAULT AS IDENTITY (INCREMENT -2))",
	},
	"a parent and its partition lose a NOT NULL of both": {
		"CREATE TABLE p (k int, v text NOT NULL) PARTITION BY LIST (k); CREATE TABLE c (k int, v text NOT NULL); ALTER TABLE p ATTACH PARTITION c FOR VALUES IN (1)",
		"CREATE TABLE p (k int, v text) PARTITION BY LIST (k); CREATE TABLE c (k int, v text); ALTER TABLE p ATTACH PARTITION c FOR VALUES IN (1)",
	},
	"a column takes another collation": {
		"CREATE TABLE t (n text)",
		"CREATE TABLE t (n text COLLATE \"C\")",
	},
	"a column leaves a domain that takes no NULL": {
		"CREATE DOMAIN d AS text NOT NULL CHECK (VALUE <> 'x'); CREATE TABLE t (n d)",
		"CREATE DOMAIN d AS text NOT NULL CHECK (VALUE <> 'x'); CREATE TABLE t (n varchar(9))",
	},
	"the replica identity leaves a column that loses NOT NULL": {
		"CREATE TABLE t (a int NOT NULL, b int NOT NULL PRIMARY KEY); CREATE UNIQUE INDEX i ON t (a); ALTER TABLE t REPLICA IDENTITY USING INDEX i",
		"CREATE TABLE t (a int, b int NOT NULL PRIMARY KEY); CREATE UNIQUE INDEX i ON t (a); ALTER TABLE t REPLICA IDENTITY USING INDEX t_pkey",
	},
	"the replica identity goes from one unique constraint to another with NOT NULL": {
		"CREATE TABLE t (a int NOT NULL UNIQUE, b int UNIQUE); ALTER TABLE t REPLICA IDENTITY USING INDEX t_a_key",
		"CREATE TABLE t (a int UNIQUE, b int NOT NULL UNIQUE); ALTER TABLE t REPLICA IDENTITY USING INDEX t_b_key",
	},
	"a parent and a partition with a replica identity lose NOT NULL": {
		"CREATE TABLE p (k int NOT NULL) PARTITION BY LIST (k); CREATE TABLE c PARTITION OF p FOR VALUES IN (1); CREATE UNIQUE INDEX i ON c (k); ALTER TABLE c REPLICA IDENTITY USING INDEX i",
		"CREATE TABLE p (k int) PARTITION BY LIST (k); CREATE TABLE c PARTITION OF p FOR VALUES IN (1); CREATE UNIQUE INDEX i ON c (k); ALTER TABLE c REPLICA IDENTITY FULL",
	},
	"a new child beside a default that is released": {
		"CREATE SEQUENCE gone; CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TABLE p (a int DEFAULT nextval('gone'), b int DEFAULT f(1), c int DEFAULT f(2), d int DEFAULT 3, e int DEFAULT 4)",
		"CREATE FUNCTION f(bigint, n int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT 2'; CREATE TABLE p (a int DEFAULT 7, b int DEFAULT f(1), c int DEFAULT f(2), d int DEFAULT 3, e int DEFAULT 4); CREATE TABLE kid () INHERITS (p); ALTER TABLE kid ALTER a DROP DEFAULT, ALTER c SET DEFAULT 5, ALTER d DROP DEFAULT, ALTER e SET DEFAULT 9",
	},
	"a new child of a new parent with a sequence's default, while a sequence goes": {
		"CREATE SEQUENCE gone; CREATE SEQUENCE q",
		"CREATE SEQUENCE q; CREATE TABLE p (n int DEFAULT nextval('q'), m int DEFAULT nextval('q')); CREATE TABLE kid () INHERITS (p); ALTER TABLE kid ALTER n SET DEFAULT 1, ALTER m DROP DEFAULT",
	},
	"a parent gains a column with a default that its child has not, while a sequence goes": {
		"CREATE SEQUENCE gone; CREATE SEQUENCE q; CREATE TABLE p (a int); CREATE TABLE kid () INHERITS (p)",
		"CREATE SEQUENCE q; CREATE TABLE p (a int, n int DEFAULT nextval('q'), m int DEFAULT nextval('q')); CREATE TABLE kid () INHERITS (p); ALTER TABLE kid ALTER n SET DEFAULT 1, ALTER m DROP DEFAULT",
	},
	"a parent gains an identity that its children have not": {
		"CREATE TABLE p (a int); CREATE TABLE kid () INHERITS (p)",
		"CREATE TABLE p (a int, n int GENERATED ALWAYS AS IDENTITY (START 5)); CREATE TABLE kid () INHERITS (p); CREATE TABLE other () INHERITS (p)",
	},
	"a materialized view holds rows of a table whose column takes another type": {
		"CREATE TABLE t (a int, b text); CREATE MATERIALIZED VIEW v AS SELECT r AS whole FROM t r; CREATE MATERIALIZED VIEW n AS SELECT count(*) FROM t",
		"CREATE TABLE t (a bigint, b text); CREATE MATERIALIZED VIEW v AS SELECT r AS whole FROM t r; CREATE MATERIALIZED VIEW n AS SELECT count(*) FROM t",
	},
	"a materialized view holds rows of a table that gains columns": {
		"CREATE DOMAIN d AS int CHECK (VALUE > 0); CREATE TABLE t (a int); CREATE TABLE u (a int); CREATE MATERIALIZED VIEW v AS SELECT r AS whole, s AS other FROM t r, u s",
		"CREATE DOMAIN d AS int CHECK (VALUE > 0); CREATE TABLE t (a int, n int DEFAULT 4); CREATE TABLE u (a int, b d, g int GENERATED ALWAYS AS IDENTITY); CREATE MATERIALIZED VIEW v AS SELECT r AS whole, s AS other FROM t r, u s",
	},
	"a domain and a text over the same type": {
		"CREATE DOMAIN d AS varchar(9); CREATE TABLE t (a d, b varchar(9), c d, e text[])",
		"CREATE DOMAIN d AS varchar(9); CREATE TABLE t (a varchar(4), b d, c char(3), e varchar(7)[])",
	},
	"a table whose rows another one holds gains columns without values": {
		"CREATE TYPE e AS ENUM ('a'); CREATE DOMAIN d AS int; CREATE TABLE u (a int); CREATE TABLE t (r u, s u[])",
		"CREATE TYPE e AS ENUM ('a'); CREATE DOMAIN d AS int; CREATE TABLE u (a int, b text, c e, d d); CREATE TABLE t (r u, s u[])",
	},
	"a generated column with targets of its own": {
		"CREATE TABLE t (n int)",
		"CREATE TABLE t (n int, g int GENERATED ALWAYS AS (n * 2) STORED); ALTER TABLE t ALTER g SET STATISTICS 50, ALTER g SET (n_distinct = 5)",
	},
}

// newerCases need PostgreSQL 18.
var newerCases = map[string]probe{
	"a generated column with a named NOT NULL that is not valid": {
		"CREATE TABLE t (n int)",
		"CREATE TABLE t (n int, g int GENERATED ALWAYS AS (n * 2) STORED); ALTER TABLE t ADD CONSTRAINT x NOT NULL g NOT VALID",
	},
	"a parent and its child get a NOT NULL each": {
		"CREATE TABLE zp (a int); CREATE TABLE c (a int) INHERITS (zp)",
		"CREATE TABLE zp (a int NOT NULL); CREATE TABLE c (a int NOT NULL) INHERITS (zp)",
	},
	"a parent and its child get a named NOT NULL each": {
		"CREATE TABLE zp (a int); CREATE TABLE c (a int) INHERITS (zp); CREATE TABLE d () INHERITS (c)",
		"CREATE TABLE zp (a int CONSTRAINT pn NOT NULL); CREATE TABLE c (a int CONSTRAINT cn NOT NULL) INHERITS (zp); CREATE TABLE d (CONSTRAINT dn NOT NULL a) INHERITS (c)",
	},
	"new children have a NOT NULL over columns that their parent gains": {
		"CREATE TABLE zp (a int)",
		"CREATE TABLE zp (a int, v int, w int DEFAULT 6, x int NOT NULL DEFAULT 7); CREATE TABLE c (CONSTRAINT cw NOT NULL w) INHERITS (zp); ALTER TABLE c ALTER v SET NOT NULL; CREATE TABLE d () INHERITS (c); ALTER TABLE d ALTER x SET NOT NULL",
	},
	"a child with a NOT NULL takes another name as its parent gets one": {
		"CREATE TABLE zp (a int); CREATE TABLE c (a int NOT NULL) INHERITS (zp)",
		"CREATE TABLE zp (a int NOT NULL); CREATE TABLE c (a int CONSTRAINT cn NOT NULL) INHERITS (zp)",
	},
	"a child keeps the NOT NULL that its parent loses": {
		"CREATE TABLE zp (a int NOT NULL, b int NOT NULL); CREATE TABLE c () INHERITS (zp)",
		"CREATE TABLE zp (a int NOT NULL NO INHERIT, b int); CREATE TABLE c (CONSTRAINT cn NOT NULL a, NOT NULL b) INHERITS (zp)",
	},
	"a new child with a named NOT NULL of both": {
		"CREATE TABLE zp (a int CONSTRAINT pn NOT NULL); CREATE TABLE pp (a int NOT NULL, b int) PARTITION BY LIST (a)",
		"CREATE TABLE zp (a int CONSTRAINT pn NOT NULL); CREATE TABLE c (CONSTRAINT cn NOT NULL a) INHERITS (zp); CREATE TABLE pp (a int NOT NULL, b int) PARTITION BY LIST (a); CREATE TABLE q PARTITION OF pp (CONSTRAINT qn NOT NULL a, CONSTRAINT qb NOT NULL b) DEFAULT",
	},
	"a table with a named NOT NULL becomes a partition": {
		"CREATE TABLE pp (a int NOT NULL) PARTITION BY LIST (a); CREATE TABLE q (a int)",
		"CREATE TABLE pp (a int NOT NULL) PARTITION BY LIST (a); CREATE TABLE q PARTITION OF pp (CONSTRAINT qn NOT NULL a) DEFAULT",
	},
	"a replica identity whose NOT NULL is no longer proved": {
		"CREATE TABLE t (k int NOT NULL); CREATE UNIQUE INDEX i ON t (k); ALTER TABLE t REPLICA IDENTITY USING INDEX i",
		"CREATE TABLE t (k int); ALTER TABLE t ADD CONSTRAINT x NOT NULL k NOT VALID; CREATE UNIQUE INDEX i ON t (k)",
	},
	"a new child keeps the NOT NULL that its parent loses with its type": {
		"CREATE TABLE zp (k int, a int NOT NULL) PARTITION BY LIST (k); CREATE TABLE y (a int NOT NULL)",
		"CREATE TABLE zp (k int, a bigint) PARTITION BY LIST (k); CREATE TABLE c PARTITION OF zp (a NOT NULL) DEFAULT; CREATE TABLE y (a bigint); CREATE TABLE yc (CONSTRAINT n NOT NULL a) INHERITS (y)",
	},
	"a parent's check is not enforced while its column takes another type": {
		"CREATE TABLE zp (a int, CONSTRAINT k CHECK (a > 0) NOT ENFORCED); CREATE TABLE c (CONSTRAINT k CHECK (a > 0)) INHERITS (zp)",
		"CREATE TABLE zp (a bigint, CONSTRAINT k CHECK (a > 0) NOT ENFORCED); CREATE TABLE c (CONSTRAINT k CHECK (a > 0)) INHERITS (zp)",
	},
	"a parent loses the NOT NULL of a child's key": {
		"CREATE TABLE zp (a int NOT NULL); CREATE TABLE c () INHERITS (zp); ALTER TABLE c ADD PRIMARY KEY (a)",
		"CREATE TABLE zp (a int); CREATE TABLE c (PRIMARY KEY (a)) INHERITS (zp)",
	},
	"a parent's NOT NULL takes another name beside a new child": {
		"CREATE TABLE zp (a int NOT NULL)",
		"CREATE TABLE zp (a int CONSTRAINT pn NOT NULL); CREATE TABLE c (CONSTRAINT cn NOT NULL a) INHERITS (zp)",
	},
	"a parent's NOT NULL takes another name": {
		"CREATE TABLE zp (a int NOT NULL); CREATE TABLE c () INHERITS (zp)",
		"CREATE TABLE zp (a int CONSTRAINT pn NOT NULL); CREATE TABLE c () INHERITS (zp)",
	},
}

// TestGeneratedCases goes from each schema of a case to the other, in one transaction and with the online forms.
func TestGeneratedCases(t *testing.T) {
	s := pgtest.Start(t)
	if s.Major() >= 18 {
		maps.Copy(generatedCases, newerCases)
	}
	for name, c := range generatedCases {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []string{"", "none"} {
				a, b := s.NewDatabase(t, c.a), s.NewDatabase(t, c.b)
				modelA, err := engine.Inspect(testContext(t), a)
				require.NoError(t, err)
				modelB, err := engine.Inspect(testContext(t), b)
				require.NoError(t, err)
				converge(t, engine.Options{URL: a, TransactionMode: mode}, modelB)
				converge(t, engine.Options{URL: b, TransactionMode: mode}, modelA)
			}
		})
	}
}

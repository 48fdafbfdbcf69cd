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
	"a sequence leaves a table that becomes unlogged": {
		"CREATE TABLE t (n int); CREATE SEQUENCE q OWNED BY t.n",
		"CREATE UNLOGGED TABLE t (n int); CREATE SEQUENCE q",
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
}

// TestGeneratedCases goes from each schema of a case to the other, in one transaction and with the online forms.
func TestGeneratedCases(t *testing.T) {
	s := pgtest.Start(t)
	if s.Major(t) >= 18 {
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

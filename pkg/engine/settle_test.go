package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
)

// TestExpressionsThatPrintDifferentlyAfterReading declares what a server prints in two forms, in every place that has an expression. It has to
// converge from nothing, and a database that a person made from the same SQL is in sync.
func TestExpressionsThatPrintDifferentlyAfterReading(t *testing.T) {
	s := pgtest.Start(t)
	const columns = "v varchar(9), num numeric"
	for name, sql := range map[string]string{
		"check":         "CREATE TABLE t (" + columns + ", CHECK (v IN ('a', 'it''s, ]')), CHECK (num = ANY (ARRAY[1, 2])))",
		"generated":     "CREATE TABLE t (" + columns + ", g bool GENERATED ALWAYS AS (v NOT IN ('a', 'b')) STORED)",
		"index":         "CREATE TABLE t (" + columns + "); CREATE INDEX i ON t ((v IN ('a', 'b'))) WHERE v IN ('c', 'd')",
		"domain":        "CREATE DOMAIN d AS varchar CHECK (VALUE IN ('a', 'b'))",
		"view":          "CREATE TABLE t (" + columns + "); CREATE VIEW x AS SELECT v IN ('a', 'b') AS y FROM t WHERE v IN ('c', 'd')",
		"matview":       "CREATE TABLE t (" + columns + "); CREATE MATERIALIZED VIEW x AS SELECT v FROM t WHERE v IN ('c', 'd'); CREATE INDEX i ON x (v) WHERE v IN ('a', 'b')",
		"policy":        "CREATE TABLE t (" + columns + "); CREATE POLICY p ON t USING (v IN ('a', 'b')) WITH CHECK (v IN ('c', 'd'))",
		"trigger":       "CREATE TABLE t (" + columns + "); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'begin return new; end'; CREATE TRIGGER g BEFORE UPDATE ON t FOR EACH ROW WHEN (new.v IN ('a', 'b')) EXECUTE FUNCTION f()",
		"rule":          "CREATE TABLE t (" + columns + "); CREATE RULE r AS ON DELETE TO t WHERE old.v IN ('a', 'b') DO INSTEAD NOTHING",
		"standard body": "CREATE FUNCTION f(v varchar) RETURNS bool LANGUAGE sql RETURN v IN ('a', 'b')",
		"string body":   "CREATE FUNCTION f() RETURNS text[] LANGUAGE sql AS $$ SELECT (ARRAY['a'::varchar, 'b'])::text[] $$",
		"partitions":    "CREATE TABLE t (" + columns + ", CHECK (v IN ('a', 'b'))) PARTITION BY LIST (v); CREATE TABLE u PARTITION OF t FOR VALUES IN ('a')",
	} {
		t.Run(name, func(t *testing.T) {
			desired := declare(t, s, sql)
			converge(t, engine.Options{URL: s.NewDatabase(t)}, desired)
			result, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, sql)}, desired)
			require.NoError(t, err)
			assert.True(t, result.NoChange, "%v", statements(result.Document))
		})
	}
}

package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// unmodelled is one statement (or a few) for every kind of object that is not modelled, with the name that its refusal must show. {{n}} is a
// schema of its own.
var unmodelled = map[string]struct{ sql, name string }{
	"typed table":               {"CREATE TYPE {{n}}.y AS (a int); CREATE TABLE {{n}}.u OF {{n}}.y", `typed table "{{n}}"."u"`},
	"foreign table":             {"CREATE FOREIGN DATA WRAPPER {{n}}_w; CREATE SERVER {{n}}_s FOREIGN DATA WRAPPER {{n}}_w; CREATE FOREIGN TABLE {{n}}.f (a int) SERVER {{n}}_s", `foreign table "{{n}}"."f"`},
	"foreign data wrapper":      {"CREATE FOREIGN DATA WRAPPER {{n}}_w", `foreign data wrapper "{{n}}_w"`},
	"foreign server":            {"CREATE FOREIGN DATA WRAPPER {{n}}_w; CREATE SERVER {{n}}_s FOREIGN DATA WRAPPER {{n}}_w", `foreign server "{{n}}_s"`},
	"disabled foreign key":      {"CREATE TABLE {{n}}.t (a int PRIMARY KEY, b int CONSTRAINT off REFERENCES {{n}}.t); ALTER TABLE {{n}}.t DISABLE TRIGGER ALL", `trigger "off" of table "{{n}}"."t"`},
	"table option":              {"CREATE MATERIALIZED VIEW {{n}}.t WITH (toast.autovacuum_enabled = false) AS SELECT 'a'::text AS a", `table option "{{n}}"."t"`},
	"column statistics target":  {"CREATE MATERIALIZED VIEW {{n}}.t AS SELECT 1 AS a; ALTER MATERIALIZED VIEW {{n}}.t ALTER a SET STATISTICS 500", `column statistics target "a" of table "{{n}}"."t"`},
	"column options":            {"CREATE MATERIALIZED VIEW {{n}}.t AS SELECT 1 AS a; ALTER MATERIALIZED VIEW {{n}}.t ALTER a SET (n_distinct = 5)", `column options "a" of table "{{n}}"."t"`},
	"clustered index":           {"CREATE MATERIALIZED VIEW {{n}}.t AS SELECT 1 AS a; CREATE INDEX i ON {{n}}.t (a); ALTER MATERIALIZED VIEW {{n}}.t CLUSTER ON i", `clustered index "i" of table "{{n}}"."t"`},
	"index option":              {"CREATE MATERIALIZED VIEW {{n}}.t AS SELECT 1 AS a; CREATE INDEX i ON {{n}}.t ((a + 1)); ALTER INDEX {{n}}.i ALTER COLUMN 1 SET STATISTICS 500", `index option "i" of table "{{n}}"."t"`},
	"base type":                 {"CREATE TYPE {{n}}.y", `base type "{{n}}"."y"`},
	"conversion":                {"CREATE CONVERSION {{n}}.cv FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8", `conversion "{{n}}"."cv"`},
	"operator":                  {"CREATE OPERATOR {{n}}.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq)", `operator "{{n}}"."==="`},
	"overloaded operator":       {"CREATE OPERATOR {{n}}.~~~ (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq); CREATE OPERATOR {{n}}.~~~ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8eq)", `operator "{{n}}"."~~~"`},
	"operator family":           {"CREATE OPERATOR FAMILY {{n}}.fam USING btree", `operator family "{{n}}"."fam"`},
	"operator class":            {"CREATE OPERATOR CLASS {{n}}.oc FOR TYPE int USING btree AS OPERATOR 3 =, FUNCTION 1 btint4cmp(int, int)", `operator class "{{n}}"."oc"`},
	"text search configuration": {"CREATE TEXT SEARCH CONFIGURATION {{n}}.tc (COPY = simple)", `text search configuration "{{n}}"."tc"`},
	"text search dictionary":    {"CREATE TEXT SEARCH DICTIONARY {{n}}.td (TEMPLATE = simple)", `text search dictionary "{{n}}"."td"`},
	"text search template":      {"CREATE TEXT SEARCH TEMPLATE {{n}}.tt (LEXIZE = dsimple_lexize)", `text search template "{{n}}"."tt"`},
	"text search parser":        {"CREATE TEXT SEARCH PARSER {{n}}.tp (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)", `text search parser "{{n}}"."tp"`},
	"publication":               {"CREATE PUBLICATION {{n}}_pub", `publication "{{n}}_pub"`},
	"cast":                      {"CREATE CAST (bigint AS inet) WITH INOUT", `cast "bigint AS inet"`},
	"access method":             {"CREATE ACCESS METHOD {{n}}_am TYPE INDEX HANDLER bthandler", `access method "{{n}}_am"`},
	"language":                  {"CREATE LANGUAGE {{n}}_lang HANDLER plpgsql_call_handler", `language "{{n}}_lang"`},
}

func schemaOf(kind string) string {
	return "s_" + strings.NewReplacer(" ", "_", "-", "_").Replace(kind)
}

// TestUnmodelledIsRefusedByName makes every kind in one database, each in a schema of its own, and looks at them one by one.
func TestUnmodelledIsRefusedByName(t *testing.T) {
	s := pgtest.Start(t)
	cases := maps.Clone(unmodelled)
	kinds := slices.Sorted(maps.Keys(cases))
	var setup []string
	for _, kind := range kinds {
		setup = append(setup, "CREATE SCHEMA "+schemaOf(kind), strings.ReplaceAll(cases[kind].sql, "{{n}}", schemaOf(kind)))
	}
	url := s.NewDatabase(t, setup...)
	live, err := engine.Inspect(testContext(t), url)
	require.NoError(t, err)
	for _, o := range live.Unmodelled {
		assert.Contains(t, model.UnmodelledKinds(), o.Kind)
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			alone := model.New(model.Postgres)
			for _, o := range live.Unmodelled {
				own := o.Schema == schemaOf(kind) || strings.HasPrefix(o.Name, schemaOf(kind)+"_") || o.Kind == kind && o.Schema == ""
				if own {
					alone.Unmodelled = append(alone.Unmodelled, o)
				}
			}
			refused := engine.CheckSupported(alone, nil)
			var e *engine.Error
			require.ErrorAs(t, refused, &e)
			assert.Equal(t, frame.CodeUnsupportedObject, e.Code)
			assert.Contains(t, e.Message, strings.ReplaceAll(cases[kind].name, "{{n}}", schemaOf(kind)))
		})
	}
	t.Run("plan refuses", func(t *testing.T) {
		_, err := engine.Plan(testContext(t), engine.Options{URL: url}, model.New(model.Postgres))
		var e *engine.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, frame.CodeUnsupportedObject, e.Code)
		assert.Contains(t, e.Message, "and ")
	})
	t.Run("observe counts", func(t *testing.T) {
		observed, err := engine.Observe(testContext(t), engine.Options{URL: url, Exclude: []string{"*"}}, model.New(model.Postgres))
		require.NoError(t, err)
		assert.GreaterOrEqual(t, observed.Total, len(live.Unmodelled))
		assert.Equal(t, "destructive", observed.Highest)
		for _, f := range observed.Findings {
			assert.Contains(t, categories, f.Category)
		}
	})
	t.Run("excluded is left alone", func(t *testing.T) {
		opts := engine.Options{URL: url, Exclude: []string{"s_*", "bigint AS inet"}}
		doc := converge(t, opts, declare(t, s, base))
		assert.Equal(t, 1, len(doc.Statements))
		again, err := engine.Inspect(testContext(t), url)
		require.NoError(t, err)
		assert.Equal(t, live.Unmodelled, again.Unmodelled)
	})
}

// categories is the closed vocabulary of the operator's status.
var categories = strings.Fields(`columns_added columns_modified columns_removed constraints_added constraints_removed enum_values_added enum_values_removed
 enums_added enums_removed extensions_added extensions_modified extensions_removed functions_added functions_modified functions_removed indexes_added
 indexes_removed rls_enabled_tables_added rls_enabled_tables_removed rls_policies_added rls_policies_modified rls_policies_removed roles_added roles_modified
 roles_removed table_constraints_added table_constraints_removed tables_added tables_removed unique_protections_removed vector_dimension_changed`)

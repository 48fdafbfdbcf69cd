package declare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/declare"
)

func source(name, text string) declare.File { return declare.File{Name: name, Data: []byte(text)} }

// TestMerge reads pairs of files: what they declare alike is one object, what they declare differently is refused with both places.
func TestMerge(t *testing.T) {
	yaml := "tables:\n  t:\n    columns:\n      id: {type: bigint, primary: true}\n      note: {type: text, nullable: true}\n"
	for name, c := range map[string]struct {
		second string
		want   string
	}{
		"the same": {second: yaml},
		"said in another way": {
			second: "tables: {public.t: {primary_key: id, columns: [{name: id, type: bigint}, {name: note, type: text, not_null: false}]}}",
		},
		"another type":    {second: strings.Replace(yaml, "text", "varchar", 1), want: `b.yaml:5:20: table "public"."t" is declared differently at a.yaml:5:20: property type of column "note" of table "public"."t"`},
		"another comment": {second: yaml + "    comment: x\n", want: `b.yaml:6:14: table "public"."t" is declared differently at a.yaml:2:3: property comment`},
		"one column more": {second: yaml + "      more: {type: text}\n", want: `b.yaml:6:7: table "public"."t" is declared differently at a.yaml:2:3: column "more" of table "public"."t" stands only here`},
		"another key":     {second: strings.Replace(yaml, ", primary: true", "", 1), want: `is declared differently at a.yaml`},
	} {
		t.Run(name, func(t *testing.T) {
			tree, err := declare.Read([]declare.File{source("a.yaml", yaml), source("b.yaml", c.second)}, declare.Options{Dialect: declare.Postgres})
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, script(t, read(t, source("a.yaml", yaml))), script(t, tree))
		})
	}
}

// TestMergeAcrossLanguages reads the same objects from YAML and HCL.
func TestMergeAcrossLanguages(t *testing.T) {
	tree := read(t,
		source("a.yaml", "tables: {t: {columns: {id: {type: bigint, not_null: true, identity_generation: ALWAYS}}, primary_key: [id]}}\nenums: {e: [a, b]}"),
		source("a.hcl", "table \"t\" {\n  column \"id\" {\n    type = bigint\n    identity {\n      generated = ALWAYS\n    }\n  }\n  primary_key {\n    columns = [column.id]\n  }\n}\nenum \"e\" {\n  schema = schema.public\n  values = [\"a\", \"b\"]\n}\n"),
	)
	assert.Equal(t, 2, strings.Count(script(t, tree), "CREATE"))
}

func TestOrderOfFilesDoesNotMatter(t *testing.T) {
	files := []declare.File{
		source("a.yaml", "indexes: {i: {table: t, fields: [id]}}\nviews: {a: {body: SELECT id FROM b}}"),
		source("b.yaml", "tables: {t: {columns: {id: {type: bigint, default_expr: f()}}}}\nviews: {b: {body: SELECT id FROM t}}"),
		source("c.yaml", "functions: {f: {returns: bigint, language: sql, body: SELECT 1}}"),
	}
	first := script(t, read(t, files...))
	slices.Reverse(files)
	assert.Equal(t, first, script(t, read(t, files...)))
	assert.Less(t, strings.Index(first, `VIEW "public"."b"`), strings.Index(first, `VIEW "public"."a"`))
}

func TestRenames(t *testing.T) {
	tree := read(t, source("a.yaml", "tables:\n  t:\n    renamed_from: old\n    columns:\n      id: {type: int}\n      b: {type: int, renamed_from: a}\n"))
	assert.Equal(t, []declare.Rename{
		{Schema: "public", Table: "t", From: "old", At: declare.Position{File: "a.yaml", Line: 3, Column: 19}},
		{Schema: "public", Table: "t", Column: "b", From: "a", At: declare.Position{File: "a.yaml", Line: 6, Column: 36}},
	}, tree.Renames())
	assert.NotContains(t, script(t, tree), "old")
}

func TestOverridesAreThoseOfTheDialect(t *testing.T) {
	tree := read(t, source("a.yaml", "tables:\n  t:\n    columns:\n      id: {type: int, default: 1, platform: {postgres: {type: bigint, default_expr: 1 + 1}, mysql: {type: mediumint}}}\n"))
	assert.Contains(t, script(t, tree), `"id" bigint DEFAULT (1 + 1)`)
	tree = read(t, source("a.hcl", "table \"t\" {\n  column \"id\" {\n    type = int\n    platform {\n      override \"postgres\" {\n        type = bigint\n      }\n    }\n  }\n}"))
	assert.Contains(t, script(t, tree), `"id" bigint NOT NULL`)
}

func TestVariables(t *testing.T) {
	file := source("a.hcl", "variable \"n\" {\n  type    = list(string)\n  default = [\"a\"]\n}\nvariable \"s\" {\n  type = int\n}\nenum \"e\" {\n  values = var.n\n}\nsequence \"q\" {\n  start = var.s\n}\n")
	tree, err := declare.Read([]declare.File{file}, declare.Options{Dialect: declare.Postgres, Variables: map[string]string{"n": `["x", "y"]`, "s": "7"}})
	require.NoError(t, err)
	assert.Equal(t, "CREATE TYPE \"public\".\"e\" AS ENUM ('x', 'y');\nCREATE SEQUENCE \"public\".\"q\" START WITH 7;\n", script(t, tree))
	for name, c := range map[string]struct {
		vars map[string]string
		want string
	}{
		"not of the type": {map[string]string{"s": `"x"`}, `variable "s" is declared as int: want int`},
		"not a value":     {map[string]string{"s": `1 +`}, `the value that --var gives to "s" is not a int`},
		"of no variable":  {map[string]string{"s": "1", "z": "1"}, `no file declares a variable "z"`},
		"uses others":     {map[string]string{"s": "var.n"}, `the value of a variable may not use anything else`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := declare.Read([]declare.File{file}, declare.Options{Dialect: declare.Postgres, Variables: c.vars})
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestNamesAreQuoted uses names that mean something else without quotes.
func TestNamesAreQuoted(t *testing.T) {
	got := script(t, read(t, source("a.yaml", "tables:\n  '\"a.b\"\"; --\"':\n    comment: \"it's \\\\ \\u00e9\"\n    columns:\n      \"select\": {type: int}\n      \"x\\\"y\\nz\": {type: int}\n")))
	assert.Contains(t, got, `CREATE TABLE "public"."a.b""; --" (`)
	assert.Contains(t, got, "\"x\"\"y\nz\" int")
	assert.Contains(t, got, `IS E'it''s \\ é'`)
}

// TestWhere finds the place in the source for an offset of a statement.
func TestWhere(t *testing.T) {
	statements, err := read(t, source("a.yaml", "tables:\n  t:\n    columns:\n      id: {type: nosuch}\n      b: {type: int, default_expr: nosuch()}\n")).Render()
	require.NoError(t, err)
	sql := statements[0].SQL
	assert.Equal(t, declare.Position{File: "a.yaml", Line: 4, Column: 18}, statements[0].Where(strings.Index(sql, "nosuch")))
	assert.Equal(t, declare.Position{File: "a.yaml", Line: 5, Column: 36}, statements[0].Where(strings.Index(sql, "nosuch()")))
	assert.Equal(t, declare.Position{File: "a.yaml", Line: 2, Column: 3}, statements[0].Where(0))
}

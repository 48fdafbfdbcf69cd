package declare_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/declare"
)

func readFor(t *testing.T, dialect string, files ...declare.File) *declare.Tree {
	t.Helper()
	tree, err := declare.Read(files, declare.Options{Dialect: dialect})
	require.NoError(t, err)
	return tree
}

// TestRenderMySQL compares the whole example with its SQL.
func TestRenderMySQL(t *testing.T) {
	for _, name := range []string{"mysql.yaml", "mysql.hcl"} {
		t.Run(name, func(t *testing.T) {
			got := script(t, readFor(t, declare.MariaDB, example(t, name)))
			if *update {
				require.NoError(t, os.WriteFile("testdata/"+name+".sql", []byte(got), 0o600))
			}
			want, err := os.ReadFile("testdata/" + name + ".sql")
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
	t.Run("MySQL", func(t *testing.T) {
		tree := readFor(t, declare.MySQL, declare.File{Name: "a.yaml", Data: []byte("tables: {t: {columns: {a: {type: int}}, indexes: {i: {fields: [a], invisible: true}}, constraints: {c: {type: CHECK, check: a > 0, enforced: false}}}}")})
		assert.Equal(t, "CREATE TABLE `t` (\n  `a` int,\n  KEY `i` (`a`) INVISIBLE,\n  CONSTRAINT `c` CHECK (a > 0) NOT ENFORCED\n);\n", script(t, tree))
	})
}

// TestOverridesOfADialect lays what is said for one server over what is said for all.
func TestOverridesOfADialect(t *testing.T) {
	file := declare.File{Name: "a.yaml", Data: []byte("tables:\n  t:\n    platform: {mysql: {engine: MyISAM}, mariadb: {engine: Aria}}\n    columns:\n      a: {type: text, platform: {postgres: {storage: MAIN}, mariadb: {type: int, unsigned: true}}}")}
	assert.Equal(t, "CREATE TABLE `t` (\n  `a` text\n) ENGINE=`MyISAM`;\n", script(t, readFor(t, declare.MySQL, file)))
	assert.Equal(t, "CREATE TABLE `t` (\n  `a` int unsigned\n) ENGINE=`Aria`;\n", script(t, readFor(t, declare.MariaDB, file)))
	assert.Contains(t, script(t, readFor(t, declare.Postgres, file)), "SET STORAGE MAIN")
}

func TestRefusesForMySQL(t *testing.T) {
	table := func(column string) string { return "tables:\n  t:\n    columns:\n      a: " + column }
	for name, c := range map[string]struct{ name, text, want string }{
		"enum as a type":      {"a.yaml", "enums:\n  e: [a]", `a.yaml:1:1: enums: enums are no types on MySQL and MariaDB: list the values at the column`},
		"domain":              {"a.yaml", "domains: {d: {type: int}}", `a.yaml:1:1: domains: MySQL and MariaDB have no domains`},
		"extension":           {"a.hcl", "extension \"x\" {}", `a.hcl:1:1: extension: MySQL and MariaDB have no extensions`},
		"materialized":        {"a.hcl", "materialized \"x\" {}", `a.hcl:1:1: materialized: MySQL and MariaDB have no materialized views`},
		"policy":              {"a.yaml", "rls_policies: {}", `a.yaml:1:1: rls_policies: MySQL and MariaDB have no row security`},
		"revocation":          {"a.yaml", "revokes: []", `a.yaml:1:1: revokes: privileges on MySQL and MariaDB belong to accounts`},
		"default privileges":  {"a.yaml", "default_privileges: []", `a.yaml:1:1: default_privileges: privileges on MySQL and MariaDB belong to accounts`},
		"grant":               {"a.yaml", "grants: []", `a.yaml:1:1: grants: privileges on MySQL and MariaDB belong to accounts`},
		"rows":                {"a.yaml", table("{type: int, primary: true}") + "\ndata:\n  t: {keys: [a], rows: []}", `a.yaml:5:1: data: rows are managed on PostgreSQL only`},
		"identity":            {"a.yaml", table("{type: int, identity_generation: ALWAYS}"), `a.yaml:4:22: column "a": identity_generation is refused: it belongs to PostgreSQL`},
		"identity of HCL":     {"a.hcl", "table \"t\" {\n  column \"a\" {\n    type = int\n    identity {}\n  }\n}", `a.hcl:4:5: column: identity is refused: it belongs to PostgreSQL`},
		"partial index":       {"a.yaml", table("{type: int}") + "\n    indexes: {i: {fields: [a], where: a > 0}}", `a.yaml:5:32: index "i": where is refused: it belongs to PostgreSQL`},
		"order of nulls":      {"a.yaml", table("{type: int}") + "\n    indexes: {i: {fields: [{column: a, nulls_last: true}]}}", `nulls_last is refused: it belongs to PostgreSQL`},
		"exclusion":           {"a.yaml", table("{type: int}") + "\n    constraints: {i: {type: EXCLUDE}}", `a.yaml:5:29: constraint "i" of table "t": exclusion constraints belong to PostgreSQL`},
		"row security":        {"a.yaml", table("{type: int}") + "\n    rls_enabled: true", `a.yaml:5:5: table "t": rls_enabled is refused: it belongs to PostgreSQL`},
		"unknown key":         {"a.yaml", table("{typ: int}"), `a.yaml:4:11: column "a": unknown key "typ"; allowed here: auto_inc, auto_increment, charset, check`},
		"two schemas":         {"a.yaml", "schemas: [a, b]", `a.yaml:1:14: schema "b" here and "a" at a.yaml:1:11: on MySQL and MariaDB a declaration is for one database`},
		"unknown schema":      {"a.yaml", "tables: {x.t: {columns: {a: {type: int}}}}", `unknown reference: no schema "x" is declared`},
		"system schema":       {"a.yaml", "schemas: [mysql]", `the system's schemas cannot be declared`},
		"executable comment":  {"a.yaml", table("{type: int, check: \"a /*! ) */ > 0\"}"), `a.yaml:4:29: column check: has a comment that a server may run as SQL`},
		"comment of dashes":   {"a.yaml", table("{type: int, check: \"a > 0 -- )\"}") + "\n    checks: [\") --\"]", `has a ')' that closes nothing`},
		"number sign":         {"a.yaml", table("{type: int, check: \"a > '# )'\"}") + "\n    checks: [\"1 # ' \", \"2 )\"]", `a.yaml:5:24: table checks: expr has a ')' that closes nothing`},
		"escaped quote":       {"a.yaml", table("{type: int, check: \"a > '\\\\') OR (1 > '\"}") + "\n    checks: [\"a > '\\\\'\"]", `a.yaml:5:14: table checks: expr has an unclosed quote`},
		"backticks":           {"a.yaml", table("{type: int, check: \"`a\"}"), `has an unclosed quote`},
		"more than a type":    {"a.yaml", table("{type: int AUTO_INCREMENT}"), `goes beyond a type with the word AUTO_INCREMENT`},
		"update rule":         {"a.yaml", table("{type: datetime, on_update_expr: now() COMMENT 'x'}"), `a.yaml:4:43: column "a" of table "t": ON UPDATE takes CURRENT_TIMESTAMP`},
		"two events":          {"a.yaml", table("{type: int}") + "\ntriggers: {g: {table: t, timing: AFTER, event: INSERT OR UPDATE, body: SET @a = 1}}", `want one of INSERT, UPDATE and DELETE`},
		"statement trigger":   {"a.yaml", table("{type: int}") + "\ntriggers: {g: {table: t, timing: AFTER, event: INSERT, for: STATEMENT, body: SET @a = 1}}", `MySQL and MariaDB run triggers for each ROW`},
		"comment of a view":   {"a.yaml", "views: {v: {body: SELECT 1, comment: x}}", `MySQL and MariaDB keep no comment of a view`},
		"index type":          {"a.yaml", table("{type: int}") + "\n    indexes: {i: {fields: [a], type: gin}}", `want BTREE, HASH, RTREE, FULLTEXT, SPATIAL or VECTOR`},
		"language":            {"a.yaml", "functions: {f: {returns: int, language: plpgsql, body: RETURN 1}}", `MySQL and MariaDB know the language sql alone`},
		"function of nothing": {"a.yaml", "functions: {f: {body: RETURN 1}}", `a.yaml:1:13: function "f": want returns`},
		"long name":           {"a.yaml", "tables: {" + strings.Repeat("é", 65) + ": {columns: {a: {type: int}}}}", `has 65 characters, and a name has at most 64`},
		"two defaults":        {"a.yaml", table("{type: int, auto_increment: true, default: 1}"), `default and auto_increment exclude each other`},
		"nameless old index":  {"a.yaml", table("{type: int}") + "\n    indexes: [{fields: [a], renamed_from: i}]", `a.yaml:5:43: unnamed index of table "t": renamed_from without a name`},
		"values of a number":  {"a.yaml", table("{type: int, enum: [a]}"), `enum and another type than ENUM or SET exclude each other`},
		"enum reference":      {"a.hcl", "table \"t\" {\n  column \"a\" {\n    type = enum.e\n  }\n}", `a.hcl:3:12: unknown reference: no enum "e" is declared`},
	} {
		t.Run(name, func(t *testing.T) {
			tree, err := declare.Read([]declare.File{{Name: c.name, Data: []byte(c.text)}}, declare.Options{Dialect: declare.MariaDB})
			if err == nil {
				_, err = tree.Render()
			}
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			var first *declare.Error
			require.ErrorAs(t, err, &first)
		})
	}
	tree, err := declare.Read([]declare.File{{Name: "a.yaml", Data: []byte(table("{type: int, check: a > 0, comment: '" + strings.Repeat("x", 9) + "'}"))}}, declare.Options{Dialect: declare.Postgres})
	require.NoError(t, err)
	_, err = tree.Render()
	require.NoError(t, err, "the same is fine for PostgreSQL")
	for what, text := range map[string]string{"engine": "tables: {t: {engine: InnoDB, columns: {a: {type: int}}}}", "events": "events: {}", "prefix": table("{type: text}") + "\n    indexes: {i: {fields: [{column: a, prefix: 3}]}}"} {
		_, err := declare.Read([]declare.File{{Name: "a.yaml", Data: []byte(text)}}, declare.Options{Dialect: declare.Postgres})
		require.ErrorContains(t, err, "it belongs to MySQL and MariaDB", what)
	}
}

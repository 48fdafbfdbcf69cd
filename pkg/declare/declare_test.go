package declare_test

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/declare"
)

var update = flag.Bool("update", false, "write the expected SQL instead of comparing")

func example(t testing.TB, name string) declare.File {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return declare.File{Name: name, Data: data}
}

func read(t *testing.T, files ...declare.File) *declare.Tree {
	t.Helper()
	tree, err := declare.Read(files, declare.Options{Dialect: declare.Postgres})
	require.NoError(t, err)
	return tree
}

func script(t *testing.T, tree *declare.Tree) string {
	t.Helper()
	statements, err := tree.Render()
	require.NoError(t, err)
	var b strings.Builder
	for _, s := range statements {
		b.WriteString(s.SQL + ";\n")
	}
	return b.String()
}

// TestRender compares the whole example with its SQL.
func TestRender(t *testing.T) {
	for _, name := range []string{"shop.yaml", "shop.hcl"} {
		t.Run(name, func(t *testing.T) {
			got := script(t, read(t, example(t, name)))
			if *update {
				require.NoError(t, os.WriteFile("testdata/"+name+".sql", []byte(got), 0o600))
			}
			want, err := os.ReadFile("testdata/" + name + ".sql")
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

// faults are documents that are refused, with the error that they must give.
var faults = map[string]struct{ name, text, want string }{
	"unknown section":        {"a.yaml", "tabels: {}", `a.yaml:1:1: unknown key "tabels"; allowed here: composites, constraints, data, default_privileges, domains`},
	"unknown key":            {"a.yaml", "tables:\n  t:\n    columns:\n      id: {typ: int}", `a.yaml:4:12: column "id": unknown key "typ"; allowed here: auto_inc, auto_increment`},
	"duplicate key":          {"a.yaml", "tables:\n  t: {columns: {id: {type: int}}}\n  t: {columns: {id: {type: int}}}", `a.yaml:3:3: tables: key "t" stands twice, first at a.yaml:2:3`},
	"second document":        {"a.yaml", "tables: {}\n---\ntables: {}", `a second document; one file holds one`},
	"wrong type":             {"a.yaml", "tables:\n  t:\n    comment: [1]\n    columns: {id: {type: int}}", `a.yaml:3:14: table comment: want text; put it in quotes`},
	"number as name":         {"a.yaml", "tables:\n  t:\n    columns: [{name: 1, type: int}]", `a.yaml:3:22: column name: want text; put it in quotes`},
	"list for a mapping":     {"a.yaml", "tables:\n  t: []", `a.yaml:2:6: table "t": want a mapping, got a list`},
	"unknown tag":            {"a.yaml", "tables:\n  t: !secret {columns: {}}", `a.yaml:2:6: table "t": want a mapping, got a mapping`},
	"not YAML":               {"a.yaml", "tables:\n\t- x", `a.yaml:2:1: not YAML: found character that cannot start any token`},
	"merge key":              {"a.yaml", "tables:\n  t:\n    <<: {comment: x}\n    columns: {id: {type: int}}", `a.yaml:3:5: table "t": a key has to be text`},
	"semicolon":              {"a.yaml", "tables:\n  t:\n    columns: {id: {type: int, check: \"1); DROP TABLE x; --\"}}", `a.yaml:3:38: column check: has a ')' that closes nothing`},
	"statement in default":   {"a.yaml", "tables:\n  t:\n    columns: {id: {type: int, default_expr: \"1; DROP TABLE x\"}}", `has a semicolon, which would end the statement that it stands in`},
	"more than a type":       {"a.yaml", "tables:\n  t:\n    columns: {id: {type: int NOT NULL}}", `a.yaml:3:26: column type: goes beyond a type with the word NOT`},
	"column in a type":       {"a.yaml", "tables:\n  t:\n    columns: {id: {type: \"int, b int\"}}", `has a comma outside of parentheses`},
	"open quote":             {"a.yaml", "tables:\n  t:\n    columns: {id: {type: int, check: \"x = 'a\"}}", `has an unclosed quote`},
	"continued string":       {"a.yaml", "tables:\n  t:\n    columns: {id: {type: text, check: \"id = E'a'\\n'\\\\'' ); DROP TABLE x; --'\"}}", `closes nothing`},
	"long name":              {"a.yaml", "tables:\n  " + strings.Repeat("x", 64) + ": {columns: {id: {type: int}}}", `has 64 bytes, and a name has at most 63`},
	"unknown column":         {"a.yaml", "tables:\n  t:\n    columns: {id: {type: int}}\n    primary_key: [idd]", `a.yaml:4:19: columns: unknown reference: table "public"."t" has no column "idd"`},
	"unknown table":          {"a.yaml", "tables:\n  t:\n    columns: {id: {type: int, foreign: u(id)}}", `a.yaml:3:40: unknown reference: no table "u" is declared`},
	"unknown schema":         {"a.yaml", "tables:\n  app.t: {columns: {id: {type: int}}}", `a.yaml:2:3: table "app"."t": unknown reference: no schema "app" is declared`},
	"system schema":          {"a.yaml", "tables:\n  pg_catalog.t: {columns: {id: {type: int}}}", `the system's schemas cannot be declared`},
	"password":               {"a.yaml", "roles:\n  r: {login: true, password: hunter2}", `a.yaml:2:20: role "r": password is refused`},
	"refresh":                {"a.yaml", "matviews:\n  m: {body: SELECT 1, refresh_strategy: daily}", `refresh_strategy is refused`},
	"contradiction":          {"a.yaml", "tables:\n  t: {columns: {id: {type: int, nullable: true, not_null: true}}}", `nullable and not_null contradict each other`},
	"two primary keys":       {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}}, constraints: {k: {type: PRIMARY KEY, columns: [id]}}}", `has two primary keys`},
	"meaningless":            {"a.yaml", "tables:\n  t: {columns: {id: {type: int}}, constraints: {k: {type: UNIQUE, columns: [id], check: id > 0}}}", `check has no meaning for the type UNIQUE`},
	"wrong word":             {"a.yaml", "tables:\n  t: {columns: {id: {type: int, foreign: t(id), on_delete: EXPLODE}}}", `want one of NO ACTION, RESTRICT, CASCADE, SET NULL, SET DEFAULT`},
	"unknown dialect":        {"a.yaml", "tables:\n  t: {columns: {id: {type: int, platform: {postgrs: {type: bigint}}}}}", `unknown dialect "postgrs"`},
	"fixed override":         {"a.yaml", "tables:\n  t: {columns: {id: {type: int, platform: {mysql: {name: x}}}}}", `an override for mysql cannot have the key "name"`},
	"alias bomb":             {"a.yaml", bomb(), `aliases counted as what they stand for`},
	"deep":                   {"a.yaml", "tables: " + strings.Repeat("[", 200), `not YAML`},
	"same name":              {"a.yaml", "tables: {t: {columns: {id: {type: int}}}}\nviews: {t: {body: SELECT 1}}", `view "public"."t" has the name of table "public"."t" at a.yaml:1:10`},
	"enum without values":    {"a.yaml", "tables: {t: {columns: {s: {type: ENUM}}}}", `the type ENUM needs enum, the list of its values`},
	"trigger body":           {"a.yaml", "tables: {t: {columns: {id: {type: int}}}}\ntriggers: {g: {table: t, timing: AFTER, event: INSERT, body: SELECT 1}}", `on PostgreSQL the body of a trigger is EXECUTE FUNCTION name()`},
	"HCL syntax":             {"a.hcl", "table \"t\" {", `a.hcl:1:11: unclosed configuration block`},
	"HCL unknown block":      {"a.hcl", "tabel \"t\" {}", `a.hcl:1:1: unknown block "tabel"; allowed here: composite, data`},
	"HCL env":                {"a.hcl", "env \"x\" {}", `a.hcl:1:1: unknown block "env"`},
	"HCL unknown":            {"a.hcl", "table \"t\" {\n  column \"id\" {\n    typ = int\n  }\n}", `a.hcl:3:5: column: unknown attribute "typ"; allowed here: as, auto_increment`},
	"HCL twice":              {"a.hcl", "table \"t\" {\n  column \"id\" {\n    type = int\n    type = int\n  }\n}", `a.hcl:4:5: attribute redefined`},
	"HCL two blocks":         {"a.hcl", "table \"t\" {\n  column \"id\" {\n    type = int\n  }\n  primary_key {\n    columns = [column.id]\n  }\n  primary_key {\n    columns = [column.id]\n  }\n}", `a.hcl:8:3: table: a second block "primary_key"`},
	"HCL reference":          {"a.hcl", "table \"t\" {\n  column \"id\" {\n    type = enum.nope\n  }\n}", `a.hcl:3:12: unknown reference: no enum "nope" is declared`},
	"HCL computed":           {"a.hcl", "locals {\n  a = 1 + 1\n}\ntable \"t\" {\n  comment = local.a\n}", `a.hcl:2:7: this expression cannot be used`},
	"HCL own local":          {"a.hcl", "locals {\n  a = local.b\n  b = local.a\n}\nschema \"s\" {\n  comment = local.a\n}", `is made of itself`},
	"HCL text bomb":          {"a.hcl", textBomb(), `the expressions make more than 8388608 bytes of text`},
	"HCL nesting":            {"a.hcl", "locals {\n  a = " + strings.Repeat("(", 100_000) + "\n}", `nested too deep`},
	"HCL negation":           {"a.hcl", "locals {\n  a = " + strings.Repeat("-", 100_000) + "1\n}", `nested too deep`},
	"HCL no value":           {"a.hcl", "variable \"v\" {\n  type = string\n}\nschema \"s\" {\n  comment = var.v\n}", `a.hcl:1:1: variable "v" has no value; give it one with --var v=VALUE`},
	"HCL forced":             {"a.hcl", "table \"t\" {\n  row_security {\n    enforced = true\n  }\n}", `forced row security cannot be declared`},
	"HCL policy as":          {"a.hcl", "policy \"p\" {\n  on = table.t\n  as = RESTRICTIVE\n}", `restrictive policies cannot be declared`},
	"HCL execute":            {"a.hcl", "trigger \"p\" {\n  on = table.t\n  execute = 1\n}", `execute is refused`},
	"HCL system schema":      {"a.hcl", "schema \"pg_toast\" {}", `the system's schemas cannot be declared`},
	"rows without keys":      {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    rows: [{id: 1}]", "a.yaml:4:3: managed rows: want keys"},
	"rows without rows":      {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]", "a.yaml:4:3: managed rows: want rows"},
	"rows without table":     {"a.hcl", "data {\n  keys = [\"id\"]\n  rows = []\n}", "a.hcl:1:1: managed rows: want table"},
	"rows unknown column":    {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    rows:\n      - {id: 1, m: x}", "a.yaml:7:17: rows: unknown reference: table \"public\".\"t\" has no column \"m\""},
	"rows unknown key":       {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [i]\n    rows: []", "a.yaml:5:12: keys: unknown reference: table \"public\".\"t\" has no column \"i\""},
	"rows null key":          {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    rows:\n      - {id: null}", "a.yaml:7:14: managed rows of table \"public\".\"t\": key \"id\" is null"},
	"rows twice":             {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    rows:\n      - {id: 1}\n      - {id: 1}", "a.yaml:8:9: managed rows of table \"public\".\"t\": a second row with the key (id), the first at a.yaml:7:9"},
	"rows missing column":    {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    rows:\n      - {id: 1, n: x}\n      - {id: 2}", "a.yaml:8:9: managed rows of table \"public\".\"t\": the row has no column \"n\"; write null"},
	"rows more columns":      {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    rows:\n      - {id: 1}\n      - {id: 2, n: x}", "a.yaml:8:17: managed rows of table \"public\".\"t\": column \"n\" stands in this row and not in the first one"},
	"rows no mapping":        {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    rows: [1]", "a.yaml:6:12: managed rows rows: want a mapping of columns"},
	"rows hexadecimal":       {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    rows: [{id: 0x1}]", "a.yaml:6:17: managed rows rows: write numbers in decimal"},
	"rows no JSON":           {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    rows: [{id: 1, n: [1.]}]", "a.yaml:6:24: managed rows rows: column \"n\" holds a number that JSON writes in another way"},
	"rows no file":           {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    file: b.yaml", "a.yaml:6:11: managed rows: file \"b.yaml\" is not there"},
	"rows absolute file":     {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    file: /b.yaml", "a.yaml:6:11: managed rows: want a path that is relative"},
	"rows other file":        {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    file: b.csv", "a.yaml:6:11: managed rows: want a .yaml or .yml file"},
	"rows twice said":        {"a.yaml", "tables:\n  t: {columns: {id: {type: int, primary: true}, n: {type: text}}}\ndata:\n  t:\n    keys: [id]\n    rows: []\n    file: b.yaml", "a.yaml:7:11: managed rows: file and rows exclude each other"},
	"rows alone":             {"a.yaml", "- {id: 1}", "a.yaml:1:1: the document: want a mapping, got a list"},
	"HCL rows unknown table": {"a.hcl", "data {\n  table = table.t\n  keys = [\"id\"]\n  rows = []\n}", "a.hcl:2:11: unknown reference: no table \"t\" is declared"},
	"HCL rows computed":      {"a.hcl", "table \"t\" {\n  column \"id\" {\n    type = int\n  }\n}\ndata {\n  table = table.t\n  keys  = [column.id]\n  rows  = [{ id = sql(\"1\") }]\n}", "a.hcl:9:19: column \"id\" wants a value"},
	"HCL rows in a label":    {"a.hcl", "data \"t\" {\n}", "a data block has no label"},
	"HCL rows bomb":          {"a.hcl", rowsBomb(), `the rows of the sources hold more than`},
	"role":                   {"a.yaml", "roles: {r: {login: true}}", `a.yaml:1:9: role: roles belong to the whole server`},
	"other file":             {"a.txt", "", `a.txt:1:1: not a declaration`},
	"HCL permission":         {"a.hcl", "permission {\n  to = role.r\n  for = extension.f\n  privileges = [SELECT]\n}", `a.hcl:3:9: want a schema, table, view, sequence, function or type`},
	"grant of nothing":       {"a.yaml", "grants: [{role: r, privileges: [SELEKT], on_schema: public}]", `a.yaml:1:33: permission "r": unknown privilege "SELEKT"; allowed here: ALL, `},
	"grant on nothing":       {"a.yaml", "grants: [{role: r, privileges: [SELECT]}]", `want one of on_function, on_schema, on_sequence, on_table, on_type, for`},
	"grant on two":           {"a.yaml", "grants: [{role: r, privileges: [USAGE], on_schema: public, on_type: t}]", `want one of`},
	"grant on unknown":       {"a.yaml", "grants: [{role: r, privileges: [USAGE], on_table: nosuch}]", `unknown reference: no table "nosuch" is declared`},
	"revoke from a role":     {"a.yaml", "revokes: [{from: r, privileges: [USAGE], on_schema: public}]", `a.yaml:1:18: revocation: from is PUBLIC`},
	"revoke of nothing":      {"a.yaml", "schemas: [app]\nrevokes: [{privileges: [USAGE], on_schema: app}]", `a.yaml:2:12: revocation: PUBLIC has no privilege there by itself`},
	"revoke of another":      {"a.yaml", "enums: {e: [a]}\nrevokes: [{privileges: [SELECT], on_type: e}]", `a.yaml:2:25: revocation: PUBLIC does not have SELECT there by itself, but USAGE`},
	"revoke on a table":      {"a.yaml", "revokes: [{privileges: [SELECT], on_table: t}]", `a.yaml:1:34: revocation: unknown key "on_table"`},
	"defaults of nobody":     {"a.yaml", "default_privileges: [{on: tables, privileges: [SELECT]}]", `a.yaml:1:23: default privileges: want one of from, role`},
	"defaults for both":      {"a.yaml", "default_privileges: [{on: tables, privileges: [SELECT], role: r, from: PUBLIC}]", `want one of from, role`},
	"defaults taken":         {"a.yaml", "default_privileges: [{on: types, privileges: [USAGE], from: PUBLIC, in_schema: public}]", `a.yaml:1:80: default privileges: in_schema cannot stand beside from`},
	"defaults taken of one":  {"a.yaml", "default_privileges: [{on: types, privileges: [USAGE], from: r}]", `default privileges: from is PUBLIC`},
	"defaults on what":       {"a.yaml", "default_privileges: [{on: rows, privileges: [USAGE], role: r}]", `want one of FUNCTIONS, SCHEMAS, SEQUENCES, TABLES, TYPES`},
	"defaults in no schema":  {"a.yaml", "default_privileges: [{on: tables, privileges: [SELECT], role: r, in_schema: app}]", `unknown reference: no schema "app" is declared`},
	"HCL revoke on a table":  {"a.hcl", "table \"t\" {\n  column \"id\" {\n    type = int\n  }\n}\nrevocation {\n  from = PUBLIC\n  for = table.t\n  privileges = [SELECT]\n}", `a.hcl:6:1: revocation: PUBLIC has no privilege there by itself`},
	"HCL defaults twice":     {"a.hcl", "default_privileges {\n  on = TABLES\n  to = r\n  privileges = [SELECT]\n}\ndefault_privileges {\n  on = TABLES\n  to = r\n  privileges = [INSERT]\n}", `is declared differently at`},
	"grant on columns":       {"a.yaml", "sequences: {q: {}}\ngrants: [{role: r, privileges: [USAGE], on_sequence: q, columns: [a]}]", `columns are those of tables and views`},
}

// bomb stands for two to the power of thirty values.
func bomb() string {
	var b strings.Builder
	b.WriteString("tables:\n  a: &a0 {columns: {id: {type: int}}}\nviews:\n  v:\n    depends_on: &b0 [x, x]\n    body:\n")
	for i := range 30 {
		b.WriteString("    - &c" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + " [")
		if i > 0 {
			prev := "*c" + string(rune('a'+(i-1)%26)) + string(rune('a'+(i-1)/26))
			b.WriteString(prev + ", " + prev)
		}
		b.WriteString("]\n")
	}
	return b.String()
}

func textBomb() string {
	var b strings.Builder
	b.WriteString("locals {\n  a0 = \"xxxxxxxxxxxxxxxx\"\n")
	for i := range 40 {
		name, prev := "a"+string(rune('1'+i)), "a"+string(rune('0'+i))
		if i >= 9 {
			name, prev = "b"+strings.Repeat("x", i), "b"+strings.Repeat("x", i-1)
			if i == 9 {
				prev = "a9"
			}
		}
		b.WriteString("  " + name + " = \"${local." + prev + "}${local." + prev + "}\"\n")
	}
	b.WriteString("}\nschema \"s\" {\n  comment = local.b" + strings.Repeat("x", 39) + "\n}\n")
	return b.String()
}

// rowsBomb stands for two to the power of forty values.
func rowsBomb() string {
	var b strings.Builder
	b.WriteString("locals {\n  a0 = [1]\n")
	for i := range 40 {
		b.WriteString("  a" + strconv.Itoa(i+1) + " = [local.a" + strconv.Itoa(i) + ", local.a" + strconv.Itoa(i) + "]\n")
	}
	b.WriteString("}\ndata {\n  table = \"t\"\n  keys = [\"id\"]\n  rows = [{ id = 1, n = local.a40 }]\n}\n")
	return b.String()
}

func TestRefuses(t *testing.T) {
	for name, c := range faults {
		t.Run(name, func(t *testing.T) {
			tree, err := declare.Read([]declare.File{{Name: c.name, Data: []byte(c.text)}}, declare.Options{Dialect: declare.Postgres})
			if err == nil {
				_, err = tree.Render()
			}
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			assert.NotContains(t, err.Error(), "hunter2")
			var first *declare.Error
			require.ErrorAs(t, err, &first)
		})
	}
}

// TestNamesThatBelongToTables are declared once for each table, in any mix of files and of ways to call the table.
func TestNamesThatBelongToTables(t *testing.T) {
	tables := declare.File{Name: "a.yaml", Data: []byte("tables:\n  t: {columns: {id: {type: int}}, rls_enabled: true}\n  u: {columns: {id: {type: int}}, rls_enabled: true}\n" +
		"rls_policies:\n  - {name: p, table: t}\n  - {name: p, table: u, for: SELECT}\n" +
		"triggers:\n  - {name: g, table: t, timing: AFTER, event: INSERT, body: EXECUTE FUNCTION f()}\n  - {name: g, table: u, timing: AFTER, event: DELETE, body: EXECUTE FUNCTION f()}\n")}
	more := declare.File{Name: "b.hcl", Data: []byte("policy \"p\" {\n  on = table.public.t\n}\n")}
	got := script(t, read(t, tables, more))
	for _, want := range []string{
		`POLICY "p" ON "public"."t";`, `POLICY "p" ON "public"."u" FOR SELECT`, `TABLE "public"."t" ENABLE ROW LEVEL SECURITY`, `TABLE "public"."u" ENABLE ROW LEVEL SECURITY`,
		`TRIGGER "g" AFTER INSERT ON "public"."t"`, `TRIGGER "g" AFTER DELETE ON "public"."u"`,
	} {
		assert.Equal(t, 1, strings.Count(got, want), "%s in %s", want, got)
	}
	more.Data = []byte("policy \"p\" {\n  on  = table.public.t\n  for = DELETE\n}\n")
	_, err := declare.Read([]declare.File{tables, more}, declare.Options{Dialect: declare.Postgres})
	require.ErrorContains(t, err, `policy "p" of table "public"."t" is declared differently at a.yaml:5:6: property for`)
}

// TestIndexesInsideOfMaterializedViews say the same as those outside and in HCL.
func TestIndexesInsideOfMaterializedViews(t *testing.T) {
	const view = "matviews:\n  m: {body: SELECT 1 AS a"
	inside := script(t, read(t, declare.File{Name: "a.yaml", Data: []byte(view + ", indexes: {i: {fields: [a], unique: true}}}")}))
	assert.Contains(t, inside, `CREATE UNIQUE INDEX "i" ON "public"."m" ("a")`)
	assert.Equal(t, inside, script(t, read(t, declare.File{Name: "a.yaml", Data: []byte(view + "}\nindexes:\n  i: {table: m, fields: [a], unique: true}")})))
	assert.Equal(t, inside, script(t, read(t, declare.File{Name: "a.hcl", Data: []byte("materialized \"m\" {\n  as = \"SELECT 1 AS a\"\n  index \"i\" {\n    columns = [\"a\"]\n    unique  = true\n  }\n}\n")})))
}

// TestKeysOverTheSameColumns are all made where they have names: CREATE TABLE would leave one of two alike out.
func TestKeysOverTheSameColumns(t *testing.T) {
	got := script(t, read(t, declare.File{Name: "a.yaml", Data: []byte("tables:\n  t:\n    columns: {id: {type: int, primary: true, unique: true}, n: {type: int}}\n" +
		"    constraints:\n      a: {type: UNIQUE, columns: [id]}\n      b: {type: UNIQUE, columns: [n]}\n      c: {type: UNIQUE, columns: [n, id]}\n")}))
	assert.Equal(t, "CREATE TABLE \"public\".\"t\" (\n  \"id\" int,\n  \"n\" int,\n  UNIQUE (\"id\"),\n  PRIMARY KEY (\"id\"),\n  CONSTRAINT \"b\" UNIQUE (\"n\"),\n  CONSTRAINT \"c\" UNIQUE (\"n\", \"id\")\n);\n"+
		"ALTER TABLE \"public\".\"t\" ADD CONSTRAINT \"a\" UNIQUE (\"id\");\n", got)
}

// TestVariablesOfFunctionsNeedTheirTypes puts a table in front of a function that has a variable of its rows, and none in front of one that only reads it.
func TestVariablesOfFunctionsNeedTheirTypes(t *testing.T) {
	const tables = "tables:\n  z: {columns: {id: {type: int}}}\nfunctions:\n  f: {returns: int, language: plpgsql, body: \""
	got := script(t, read(t, declare.File{Name: "a.yaml", Data: []byte(tables + "declare r z%rowtype; begin return 1; end\"}")}))
	assert.Less(t, strings.Index(got, "CREATE TABLE"), strings.Index(got, "CREATE FUNCTION"), got)
	got = script(t, read(t, declare.File{Name: "a.yaml", Data: []byte(tables + "begin return (select id from z); end\"}")}))
	assert.Less(t, strings.Index(got, "CREATE FUNCTION"), strings.Index(got, "CREATE TABLE"), got)
}

func TestReferenceIsUpToDate(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/declarations.md")
	require.NoError(t, err)
	assert.Equal(t, declare.Reference(), string(page), "run: go generate ./pkg/declare")
}

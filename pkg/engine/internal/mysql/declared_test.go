package mysql_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	declarations "github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/declare/export"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// rendered turns declarations into what the engine runs, as the plugin does.
func rendered(t testing.TB, s *mytest.Server, files ...declarations.File) engine.Declarations {
	t.Helper()
	dialect, err := engine.DialectOf(testContext(t), s.URL("mysql"))
	require.NoError(t, err)
	tree, err := declarations.Read(files, declarations.Options{Dialect: dialect})
	require.NoError(t, err)
	statements, err := tree.Render()
	require.NoError(t, err)
	var out engine.Declarations
	for i := range statements {
		st := &statements[i]
		out.Statements = append(out.Statements, engine.Declared{
			SQL: st.SQL, Object: model.Object{Kind: string(st.Key.Kind), Schema: st.Key.Schema, Table: st.Key.Table, Name: st.Key.Name},
			At: st.At.String(), Where: func(offset int) string { return st.Where(offset).String() },
		})
	}
	for _, r := range tree.Renames() {
		out.Renames = append(out.Renames, engine.Rename{Table: model.Name{Schema: r.Schema, Name: r.Table}, Column: r.Column, Index: r.Index, From: r.From, At: r.At.String()})
	}
	return out
}

func example(t testing.TB, name string) declarations.File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "declare", "testdata", name))
	require.NoError(t, err)
	return declarations.File{Name: name, Data: data}
}

func loadDeclared(t testing.TB, s *mytest.Server, files ...declarations.File) *model.Database {
	t.Helper()
	db, err := engine.LoadDeclared(testContext(t), s.URL("mysql"), rendered(t, s, files...), nil)
	require.NoError(t, err, "%s", files[0].Data)
	return db
}

// exampleSQL says what testdata/mysql.yaml and mysql.hcl of the declarations say.
const exampleSQL = `
CREATE TABLE customers (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  email VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NOT NULL UNIQUE COMMENT 'with \\ and ''quotes''',
  name VARCHAR(80) DEFAULT 'it''s' CHECK (length(name) > 0),
  upper_name VARCHAR(80) AS (upper(name)) STORED,
  short VARCHAR(9) AS (left(name, 9)),
  kind ENUM('web', 'shop', 'it''s') NOT NULL DEFAULT 'web',
  flags SET('a', 'b'),
  secret INT INVISIBLE DEFAULT 5,
  token CHAR(36) DEFAULT uuid(),
  bits BIT(4) DEFAULT b'101',
  seen DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  price DECIMAL(10,2) UNSIGNED NOT NULL DEFAULT 1.50,
  about TEXT CHARACTER SET latin1,
  KEY by_name (name(10) DESC, kind) KEY_BLOCK_SIZE=4 COMMENT 'For lists',
  KEY by_price (price) USING HASH IGNORED,
  FULLTEXT KEY words (about),
  CONSTRAINT price_given CHECK (price >= 0)
) ENGINE=InnoDB COMMENT='Who buys, it''s said' ROW_FORMAT=DYNAMIC STATS_PERSISTENT=1 COLLATE=utf8mb4_unicode_ci;
CREATE TABLE orders (
  id INT PRIMARY KEY, customer BIGINT UNSIGNED NOT NULL, place POINT NOT NULL, SPATIAL KEY ` + "`where`" + ` (place),
  CONSTRAINT orders_customer FOREIGN KEY (customer) REFERENCES customers (id) ON DELETE CASCADE ON UPDATE NO ACTION
) COLLATE=utf8mb4_unicode_ci;
CREATE TABLE history (id INT NOT NULL, n INT WITHOUT SYSTEM VERSIONING) COLLATE=utf8mb4_unicode_ci WITH SYSTEM VERSIONING;
CREATE TABLE parts (id INT NOT NULL, a DATE NOT NULL, b DATE NOT NULL, PERIOD FOR during (a, b)) COLLATE=utf8mb4_unicode_ci
  PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE);
CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC SQL SECURITY INVOKER NO SQL COMMENT 'Doubles' RETURN n * 2;
CREATE ALGORITHM=MERGE VIEW some_orders AS SELECT id FROM orders WITH CASCADED CHECK OPTION;
CREATE SQL SECURITY INVOKER VIEW expensive AS SELECT id FROM some_orders WHERE id > 1;
CREATE TRIGGER z_first BEFORE INSERT ON customers FOR EACH ROW SET NEW.email = lower(NEW.email);
CREATE TRIGGER a_second BEFORE INSERT ON customers FOR EACH ROW SET NEW.secret = 1;
CREATE EVENT sweep ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' ON COMPLETION PRESERVE DISABLE COMMENT 'Nightly' DO DELETE FROM orders WHERE id < 0;
`

// TestExamplesEqualTheirSQL loads the examples of the grammar and reads back what the equal SQL gives. The bodies of routines keep the layout that each
// language gives them.
func TestExamplesEqualTheirSQL(t *testing.T) {
	s := mytest.Start(t)
	facts := func(db *model.Database) []model.Fact {
		return slices.DeleteFunc(model.Facts(db), func(f model.Fact) bool {
			return strings.Contains(f.Kind, "function") || f.Kind == "procedure" || f.Kind == "event" && f.Aspect != ""
		})
	}
	want := facts(declare(t, s, exampleSQL))
	for _, name := range []string{"mysql.yaml", "mysql.hcl"} {
		t.Run(name, func(t *testing.T) {
			got := loadDeclared(t, s, example(t, name))
			assert.Equal(t, want, facts(got))
			assert.Len(t, got.Definitions, 7)
			converge(t, engine.Options{URL: s.NewDatabase(t)}, got)
		})
	}
}

// hostileSQL has names and texts that a language of declarations might take for its own words.
const hostileSQL = "CREATE TABLE `${x} %{if}` (`c \"\\ \n$${\u00e9` varchar(40) NOT NULL DEFAULT '${a} %{b} \\\\ \" \\n \u00fc' COMMENT 'it''s ${c}\\r', `for` int, `n.u` int UNIQUE, `null` enum('${x}', 'a\"b', '%{'), PRIMARY KEY (`c \"\\ \n$${\u00e9`), KEY `%{k}` (`for` DESC)) COMMENT '%{ if }';" +
	"CREATE TABLE `a\"b` (id int PRIMARY KEY, CONSTRAINT `$${f` FOREIGN KEY (id) REFERENCES `${x} %{if}` (`n.u`)); CREATE VIEW `v.(${` AS SELECT '${v}' AS `%{v}`;" +
	"CREATE TRIGGER `t.${` BEFORE INSERT ON `${x} %{if}` FOR EACH ROW SET NEW.`for` = length('%{b}\n')"

// beyondYAML are the probes that YAML has no words for, with the words of the refusal.
var beyondYAML = map[string]string{
	"without overlaps":          `the period of index "u" of table "t"`,
	"routine with its own mode": `procedure "pr"`,
	"aggregate function":        `function "ag"`,
	"page compression":          "",
}

// TestExportComesBack writes what was read as YAML, which declares the same again, and as HCL, which gives the same statements, for every probe and
// for the examples.
func TestExportComesBack(t *testing.T) {
	s := mytest.Start(t)
	sql := map[string]string{"example": exampleSQL, "hostile": hostileSQL}
	for name, p := range probes {
		sql[name] = p.b
	}
	for _, name := range slices.Sorted(maps.Keys(sql)) {
		if only := os.Getenv("PTAH_TEST_PROBE"); only != "" && only != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			whole := declare(t, s, sql[name])
			yaml, err := export.YAML(whole)
			hcl, sameErr := export.HCL(whole)
			if want := beyondYAML[name]; want != "" {
				var not *export.NotExpressibleError
				require.ErrorAs(t, err, &not)
				assert.Contains(t, err.Error(), want)
				assert.EqualError(t, sameErr, strings.Replace(err.Error(), "YAML", "HCL", 1))
				return
			}
			require.NoError(t, err)
			require.NoError(t, sameErr)
			again := loadDeclared(t, s, declarations.File{Name: "out.yaml", Data: yaml})
			assert.Equal(t, model.Fingerprint(whole), model.Fingerprint(again), "%s\n%s", yaml, factDifference(again, whole))
			formatted, err := declarations.Format("out.yaml", yaml)
			require.NoError(t, err)
			assert.Equal(t, string(yaml), string(formatted))
			assert.Equal(t, sqlOf(rendered(t, s, declarations.File{Name: "out.yaml", Data: yaml})), sqlOf(rendered(t, s, declarations.File{Name: "out.hcl", Data: hcl})), "%s", hcl)
			formatted, err = declarations.Format("out.hcl", hcl)
			require.NoError(t, err)
			assert.Equal(t, string(hcl), string(formatted))
		})
	}
}

func sqlOf(d engine.Declarations) []string {
	out := make([]string, len(d.Statements))
	for i := range d.Statements {
		out[i] = strings.ReplaceAll(d.Statements[i].SQL, ", ", ",") // the languages differ in the numbers of types
	}
	return out
}

func TestDeclaredErrorsNameThePlace(t *testing.T) {
	s := mytest.Start(t)
	for name, c := range map[string]struct{ yaml, want string }{
		"unknown type":     {"tables:\n  t:\n    columns:\n      id: {type: nosuch}", `a.yaml:2:3: Unknown data type: 'nosuch' (error 4161)`},
		"syntax":           {"tables:\n  t:\n    columns:\n      id: {type: int}\n      n: {type: int, check: id id}", `a.yaml:5:29: You have an error in your SQL syntax`},
		"unknown column":   {"views:\n  v:\n    body: SELECT nosuch FROM information_schema.TABLES", `a.yaml:2:3: Unknown column 'nosuch'`},
		"second statement": {"tables:\n  t: {columns: {a: {type: int}}}\ntriggers:\n  g: {table: t, timing: AFTER, event: INSERT, body: SET @a = 1; DROP TABLE t}", `a.yaml:4:`},
		"files":            {"functions:\n  f: {returns: int, body: \"BEGIN SELECT 1 INTO OUTFILE '/tmp/x'; RETURN 1; END\"}", `a.yaml:2:3: reading and writing files is no part of a schema`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.LoadDeclared(testContext(t), s.URL("mysql"), rendered(t, s, declarations.File{Name: "a.yaml", Data: []byte(c.yaml)}), nil)
			assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, c.want)
		})
	}
	text := "x"
	_, err := engine.LoadDeclared(testContext(t), s.URL("mysql"), engine.Declarations{Rows: []engine.DeclaredRows{{Table: model.Name{Name: "t"}, At: "a.yaml:1:1", Rows: []engine.DeclaredRow{{Values: []engine.DeclaredValue{{Text: &text}}}}}}}, nil)
	assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, `a.yaml:1:1: the rows of table "t" are declared, and rows are managed on PostgreSQL only`)
	for _, sql := range []string{"CREATE TABLE t (a int); DROP TABLE t", "SELECT 1;", "SELECT 'a", "-- nothing"} {
		_, err := engine.LoadDeclared(testContext(t), s.URL("mysql"), engine.Declarations{Statements: []engine.Declared{{SQL: sql, At: "a.yaml:1:1"}}}, nil)
		assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, "a.yaml:1:1: what is declared here does not stay within one statement", sql)
	}
}

// TestFilesGoOnFromDeclarations lets SQL files use and extend what is declared, and refuses what creates it again, in silence or not.
func TestFilesGoOnFromDeclarations(t *testing.T) {
	s := mytest.Start(t)
	const yaml = "tables:\n  t: {columns: {id: {type: int, primary: true}}, indexes: {i: {fields: [id], unique: true}, j: {fields: [id]}}}\nviews:\n  v: {body: SELECT id FROM t}\nfunctions:\n  f: {returns: int, body: RETURN 1}\n"
	load := func(sql string) (*model.Database, error) {
		return engine.LoadDeclared(testContext(t), s.URL("mysql"), rendered(t, s, declarations.File{Name: "a.yaml", Data: []byte(yaml)}), []engine.Source{{Name: "b.sql", Data: []byte(sql)}})
	}
	got, err := load("CREATE TABLE u (id INT REFERENCES t (id)); ALTER TABLE t ADD c INT; CREATE PROCEDURE f() SELECT 1; CREATE TEMPORARY TABLE t (x INT)")
	require.NoError(t, err)
	require.NotNil(t, got.Table(model.Name{Name: "t"}).Column("c"))
	for sql, want := range map[string]string{
		"CREATE TABLE IF NOT EXISTS t (x INT)":                                 `b.sql:1:1: table "t" is declared already, at a.yaml:2:3; keep one of the two`,
		"/* c */ create /* d */ or replace table `T` (x int)":                  `b.sql:1:9: table "t" is declared already`,
		"CREATE OR REPLACE ALGORITHM=MERGE DEFINER=`a`@`b` VIEW v AS SELECT 1": `view "v" is declared already, at a.yaml:4:3`,
		"CREATE OR REPLACE FUNCTION f(a INT) RETURNS INT RETURN 2":             `function "f" is declared already, at a.yaml:6:3`,
		"CREATE INDEX IF NOT EXISTS i ON t (id)":                               `index "i" of table "t" is declared already, at a.yaml:2:`,
		"CREATE OR REPLACE INDEX J ON `t` (id)":                                `index "j" of table "t" is declared already, at a.yaml:2:`,
		"CREATE SEQUENCE IF NOT EXISTS t":                                      `table "t" is declared already`,
	} {
		t.Run(sql, func(t *testing.T) {
			_, err := load(sql)
			assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, want)
		})
	}
}

// TestRenamesInYAML declares renames as properties.
func TestRenamesInYAML(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, "CREATE TABLE users (id INT PRIMARY KEY, mail VARCHAR(9), KEY by_mail (mail))")
	s.Exec(t, target, "INSERT INTO users VALUES (1, 'a')")
	desired := loadDeclared(t, s, declarations.File{Name: "a.yaml", Data: []byte("tables:\n  people:\n    renamed_from: users\n    columns:\n      id: {type: int, primary: true}\n      email: {type: varchar(9), renamed_from: mail}\n    indexes:\n      by_email: {fields: [email], renamed_from: by_mail}\n")})
	doc := converge(t, engine.Options{URL: target}, desired)
	assert.Equal(t, []string{"RENAME TABLE `users` TO `people`", "ALTER TABLE `people` RENAME COLUMN `mail` TO `email`,\n  RENAME INDEX `by_mail` TO `by_email`"}, statements(doc))
	assert.Equal(t, "a", mytest.Value[string](t, target, "SELECT email FROM people"))
}

// TestPlanFromAModel plans between two models without a database that is like either.
func TestPlanFromAModel(t *testing.T) {
	s := mytest.Start(t)
	result, err := engine.PlanFrom(testContext(t), engine.Options{URL: s.URL("mysql")}, declare(t, s, base), declare(t, s, base+"ALTER TABLE t ADD k INT"))
	require.NoError(t, err)
	assert.Equal(t, []string{"ALTER TABLE `t` ADD COLUMN `k` int(11) NULL DEFAULT NULL"}, statements(result.Document))
}

// TestDevServerWithoutADatabase publishes and compares over a URL that names none. Reading a database needs one.
func TestDevServerWithoutADatabase(t *testing.T) {
	s := mytest.Start(t)
	server, query, _ := strings.Cut(strings.Replace(s.URL("mysql"), "/mysql", "/", 1), "?")
	for _, url := range []string{server + "?" + query, strings.TrimSuffix(server, "/") + "?" + query} {
		dialect, err := engine.DialectOf(testContext(t), url)
		require.NoError(t, err)
		assert.Equal(t, declarations.MariaDB, dialect)
		loaded, err := engine.LoadSQL(testContext(t), url, []engine.Source{{Name: "a.sql", Data: []byte("CREATE TABLE t (a VARCHAR(9))")}})
		require.NoError(t, err)
		assert.Equal(t, model.Fingerprint(declare(t, s, "CREATE TABLE t (a VARCHAR(9))")), model.Fingerprint(loaded))
		result, err := engine.PlanFrom(testContext(t), engine.Options{URL: url}, loaded, declare(t, s, "CREATE TABLE t (a VARCHAR(9), b INT)"))
		require.NoError(t, err)
		assert.Len(t, result.Document.Statements, 1)
		_, err = engine.Inspect(testContext(t), url)
		assert.Contains(t, refusal(t, err, frame.CodeDatabaseURLInvalid).Message, "database: is missing; its name stands behind the host, as in mysql://HOST/NAME")
		_, err = engine.Plan(testContext(t), engine.Options{URL: url}, loaded)
		_ = refusal(t, err, frame.CodeDatabaseURLInvalid)
	}
}

var fenced = regexp.MustCompile("(?ms)^```(yaml|hcl|sql) mariadb\n(.*?)^```$")

// TestDocumentedDeclarations loads the examples of docs/declared-schemas.md that are for MariaDB. They say the same.
func TestDocumentedDeclarations(t *testing.T) {
	s := mytest.Start(t)
	page, err := os.ReadFile("../../../../docs/declared-schemas.md")
	require.NoError(t, err)
	examples := fenced.FindAllStringSubmatch(string(page), -1)
	require.Len(t, examples, 3)
	loaded := map[string]*model.Database{}
	for _, e := range examples {
		language, text := e[1], []byte(e[2])
		if language == "sql" {
			loaded[language] = declare(t, s, e[2])
			continue
		}
		loaded[language] = loadDeclared(t, s, declarations.File{Name: "a." + language, Data: text})
		formatted, err := declarations.Format("a."+language, text)
		require.NoError(t, err)
		assert.Equal(t, string(text), string(formatted), "examples are formatted")
	}
	assert.Equal(t, loaded["sql"], loaded["yaml"])
	assert.Equal(t, loaded["sql"], loaded["hcl"])
	assert.Equal(t, "mail", loaded["sql"].Tables[0].Column("email").RenamedFrom)
}

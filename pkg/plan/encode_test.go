package plan_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
)

func document(statements ...plan.Statement) plan.Document {
	if len(statements) == 0 {
		statements = []plan.Statement{
			{SQL: `CREATE TABLE "shop"."orders" ("id" bigint NOT NULL)`, Severity: plan.SeveritySafe, Reason: "table orders is declared & missing <here>", Kind: "create_table", Object: "shop.orders", Table: "shop.orders"},
			{SQL: `CREATE INDEX CONCURRENTLY orders_id ON shop.orders (id)`, Severity: plan.SeverityWarning, Reason: "index", Tx: "none"},
		}
	}
	return plan.Seal(plan.Document{
		Dialect: plan.DialectPostgres, FromFingerprint: digest.Bytes([]byte("from")), ToFingerprint: digest.Bytes([]byte("to")), Statements: statements,
	})
}

func TestEncodeIsCanonical(t *testing.T) {
	data, err := plan.Encode(document())
	require.NoError(t, err)
	assert.True(t, bytes.HasSuffix(data, []byte("}\n")))
	assert.Equal(t, 1, bytes.Count(data, []byte("\n")))
	assert.Contains(t, string(data), "declared & missing <here>", "no HTML escapes")
	assert.True(t, strings.HasPrefix(string(data), `{"format_version":1,"name":"plan_`), string(data[:60]))
	again, err := plan.Encode(document())
	require.NoError(t, err)
	assert.Equal(t, data, again)
	back, err := plan.Decode(data)
	require.NoError(t, err)
	assert.Equal(t, document(), back)
}

func TestSealRaisesAndNeverLowers(t *testing.T) {
	d := document(
		plan.Statement{SQL: "DROP TABLE orders", Severity: plan.SeveritySafe, Reason: "the planner says it is safe"},
		plan.Statement{SQL: "CREATE TABLE t (id int)", Severity: plan.SeverityDestructive, Reason: "the planner knows something"},
	)
	assert.True(t, d.Destructive)
	assert.Equal(t, plan.SeverityDestructive, d.Statements[0].Severity)
	assert.Equal(t, plan.SeverityDestructive, d.Statements[1].Severity)
}

func TestDestructiveDoesNotTrustTheDocument(t *testing.T) {
	d := document()
	d.Statements[0].SQL = "ALTER TABLE orders DROP COLUMN total"
	data, err := plan.Encode(d)
	require.NoError(t, err, "a document that rates itself too low is well-formed")
	back, err := plan.Decode(data)
	require.NoError(t, err)
	assert.False(t, back.Destructive)
	assert.True(t, plan.Destructive(back))
}

func TestDecodeRefuses(t *testing.T) {
	good, err := plan.Encode(document())
	require.NoError(t, err)
	text := string(good)
	cases := map[string]string{
		"nothing":                    "",
		"no newline":                 strings.TrimSuffix(text, "\n"),
		"two newlines":               text + "\n",
		"data after it":              text + "{}\n",
		"white space":                strings.Replace(text, `"dialect":`, `"dialect": `, 1),
		"another key order":          strings.Replace(text, `{"format_version":1,`, `{`, 1)[:len(text)-len(`"format_version":1,`)-2] + `,"format_version":1}` + "\n",
		"an unknown key":             strings.Replace(text, `"dialect"`, `"extra":1,"dialect"`, 1),
		"a repeated key":             strings.Replace(text, `"dialect":"postgres"`, `"dialect":"mysql","dialect":"postgres"`, 1),
		"a key in another case":      strings.Replace(text, `"dialect"`, `"Dialect"`, 1),
		"an escaped letter":          strings.Replace(text, `"postgres"`, `"\u0070ostgres"`, 1),
		"another version":            strings.Replace(text, `"format_version":1`, `"format_version":2`, 1),
		"another name":               strings.Replace(text, `"name":"plan_`, `"name":"plam_`, 1),
		"another dialect":            strings.Replace(text, `"postgres"`, `"sqlite"`, 1),
		"a short fingerprint":        strings.Replace(text, `"from_fingerprint":"sha256:`, `"from_fingerprint":"sha256:0`, 1),
		"a flag against statements":  strings.Replace(text, `"destructive":false`, `"destructive":true`, 1),
		"statements against a flag":  strings.Replace(text, `"severity":"safe"`, `"severity":"destructive"`, 1),
		"an unknown severity":        strings.Replace(text, `"severity":"safe"`, `"severity":"fine"`, 1),
		"another tx":                 strings.Replace(text, `"tx":"none"`, `"tx":"file"`, 1),
		"a line break in an object":  strings.Replace(text, `"object":"shop.orders"`, `"object":"shop\norders"`, 1),
		"an empty exclude":           strings.Replace(text, `"statements"`, `"exclude":[],"statements"`, 1),
		"an empty pattern":           strings.Replace(text, `"statements"`, `"exclude":[""],"statements"`, 1),
		"null statements":            text[:strings.Index(text, `"statements"`)] + `"statements":null}` + "\n",
		"no statements":              text[:strings.Index(text, `"statements"`)] + `"statements":[]}` + "\n",
		"a list":                     "[]\n",
		"null":                       "null\n",
		"invalid UTF-8 in a reason":  strings.Replace(text, "declared", "\xff", 1),
		"an astronomical size alone": strings.Repeat(" ", plan.MaxSize+1),
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			require.NotEqual(t, text, data, "the case changes nothing")
			_, err := plan.Decode([]byte(data))
			require.Error(t, err)
		})
	}
}

func TestStatementsThatNoPlanHolds(t *testing.T) {
	cases := map[string]struct{ sql, want string }{
		"nothing":                         {" -- only a comment", "is empty"},
		"a closing semicolon":             {"CREATE TABLE t (id int);", "semicolon"},
		"a second statement":              {"CREATE TABLE t (id int); DROP TABLE u", "semicolon"},
		"a statement after a rule":        {"CREATE RULE r AS ON DELETE TO t DO (DELETE FROM u; DELETE FROM v); DROP TABLE t", "semicolon"},
		"statements in parentheses":       {"CREATE TABLE t (id int; DROP TABLE u)", "semicolon"},
		"a statement after a body":        {"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END; DROP TABLE t", "semicolon"},
		"an open quote":                   {"COMMENT ON TABLE t IS 'it", "not closed"},
		"an open dollar quote":            {"DO $x$ BEGIN END $y$", "not closed"},
		"an open comment":                 {"CREATE TABLE t (id int) /* /* */", "not closed"},
		"an open parenthesis":             {"CREATE TABLE t (id int", "not balanced"},
		"a NUL byte":                      {"CREATE TABLE t\x00 (id int)", "NUL"},
		"a psql command":                  {`\! rm -rf /`, "backslash"},
		"a parameter":                     {"DELETE FROM t WHERE id = $1", "dollar"},
		"an escaped identifier":           {`DROP TABLE U&"\0074"`, "U&"},
		"BEGIN":                           {"BEGIN", "transaction"},
		"COMMIT":                          {"commit", "transaction"},
		"a savepoint":                     {"SAVEPOINT x", "transaction"},
		"another role":                    {"SET ROLE admin", "identity"},
		"another user for the session":    {"SET SESSION AUTHORIZATION admin", "identity"},
		"a role with a password":          {"CREATE ROLE app LOGIN PASSWORD 'hunter2'", "credential"},
		"a role's new password":           {"ALTER USER app WITH ENCRYPTED PASSWORD $$hunter2$$", "credential"},
		"a user mapping":                  {"CREATE USER MAPPING FOR app SERVER s OPTIONS (user 'a', password 'b')", "credential"},
		"a quoted option":                 {`ALTER USER MAPPING FOR app SERVER s OPTIONS (SET "password" 'b')`, "credential"},
		"a subscription":                  {"CREATE SUBSCRIPTION s CONNECTION 'host=a password=b' PUBLICATION p", "credential"},
		"a password inside a DO block":    {"DO $$ BEGIN CREATE ROLE app PASSWORD 'hunter2'; END $$", "credential"},
		"a password inside EXECUTE":       {"DO $$ BEGIN EXECUTE 'CREATE ROLE app PASSWORD ''hunter2'''; END $$", "credential"},
		"a password inside format()":      {"DO $$ BEGIN EXECUTE format('ALTER ROLE %I PASSWORD %L', 'app', 'hunter2'); END $$", "credential"},
		"a password inside a function":    {"CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $f$ ALTER ROLE app PASSWORD 'hunter2' $f$", "credential"},
		"a password after an open bracer": {"CREATE/**/ROLE/* x */app PASSWORD/**/'hunter2'", "credential"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Encode(document(plan.Statement{SQL: c.sql, Severity: plan.SeverityDestructive, Reason: "r"}))
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "hunter2")
			var d *plan.DocumentError
			require.ErrorAs(t, err, &d)
			assert.Equal(t, 0, d.Statement)
		})
	}
}

func TestStatementsThatLookSuspiciousAndAreNot(t *testing.T) {
	for name, sql := range map[string]string{
		"a semicolon in a literal":        "COMMENT ON TABLE t IS 'a; b'",
		"a comment about passwords":       "COMMENT ON TABLE t IS 'set password rules here; ALTER ROLE x PASSWORD rotates'",
		"a default about passwords":       "ALTER TABLE t ADD COLUMN hint text DEFAULT 'SET PASSWORD'",
		"a rule of two actions":           "CREATE OR REPLACE RULE r AS ON DELETE TO t DO ALSO (DELETE FROM u; DELETE FROM v)",
		"a semicolon in a name":           `CREATE TABLE "a;b" (id int)`,
		"a semicolon in a comment":        "CREATE TABLE t (id int) -- a; b\n/* c; d */",
		"a semicolon in a body":           "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $_$ BEGIN RETURN 1; END; $_$",
		"a standard body":                 "CREATE FUNCTION f(a int) RETURNS int BEGIN ATOMIC SELECT CASE WHEN a > 1 THEN 2 ELSE 3 END; SELECT 1; END",
		"a password column":               "CREATE TABLE users (name text, password text NOT NULL)",
		"a role without a password":       "CREATE ROLE reader NOLOGIN PASSWORD NULL",
		"a comment that mentions one":     "COMMENT ON COLUMN users.password IS 'hash of the password ''x'''",
		"a backslash in a literal":        `COMMENT ON TABLE t IS 'C:\temp\'`,
		"an escaped quote in E notation":  `COMMENT ON TABLE t IS E'it\'s; fine'`,
		"a dollar in a name":              "CREATE TABLE a$b$c (id int)",
		"nested comments":                 "CREATE TABLE t /* a /* b */ c */ (id int)",
		"an array with commas":            "ALTER TABLE t ADD COLUMN a int[] DEFAULT ARRAY[1, 2]",
		"a table named like a keyword":    `CREATE TABLE "commit" (id int)`,
		"a column named begin and atomic": `ALTER TABLE t ADD COLUMN "begin" int`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Encode(document(plan.Statement{SQL: sql, Severity: plan.SeveritySafe, Reason: "r"}))
			require.NoError(t, err)
		})
	}
}

func TestEncodeRefusesOversize(t *testing.T) {
	big := plan.Statement{SQL: "COMMENT ON TABLE t IS '" + strings.Repeat("x", plan.MaxSize) + "'", Severity: plan.SeveritySafe}
	_, err := plan.Encode(document(big))
	require.ErrorIs(t, err, plan.ErrTooLarge)
}

func TestNameFollowsContent(t *testing.T) {
	a, b := document(), document()
	b.Statements[1].SQL += " WHERE true"
	assert.NotEqual(t, plan.Name(a), plan.Name(b))
	b = document()
	b.FromFingerprint, b.ToFingerprint = b.ToFingerprint, b.FromFingerprint
	assert.NotEqual(t, plan.Name(a), plan.Name(b))
}

// genDocument draws documents whose statements are harmless and whose texts are hostile to JSON.
func genDocument(t *rapid.T) plan.Document {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab'\"\\;<>&é\u2028𝄞")), 0, 40, -1)
	n := rapid.IntRange(1, 8).Draw(t, "statements")
	d := plan.Document{
		Dialect: plan.DialectPostgres, FromFingerprint: digest.Bytes([]byte(text.Draw(t, "from"))), ToFingerprint: digest.Bytes([]byte(text.Draw(t, "to"))),
		Exclude: rapid.SliceOfN(rapid.StringMatching(`[a-z*.]{1,10}`), 0, 3).Draw(t, "exclude"),
	}
	if len(d.Exclude) == 0 {
		d.Exclude = nil
	}
	for range n {
		d.Statements = append(d.Statements, plan.Statement{
			SQL:      "COMMENT ON TABLE t IS '" + strings.ReplaceAll(text.Draw(t, "literal"), "'", "''") + "'",
			Severity: rapid.SampledFrom([]string{plan.SeveritySafe, plan.SeverityWarning, plan.SeverityDestructive}).Draw(t, "severity"),
			Reason:   text.Draw(t, "reason"), Tx: rapid.SampledFrom([]string{"", "none"}).Draw(t, "tx"),
		})
	}
	return plan.Seal(d)
}

func TestDecodeAfterEncodeIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDocument(t)
		data, err := plan.Encode(d)
		require.NoError(t, err)
		back, err := plan.Decode(data)
		require.NoError(t, err)
		require.Equal(t, d, back)
	})
}

func FuzzDecode(f *testing.F) {
	good, err := plan.Encode(document())
	require.NoError(f, err)
	f.Add(good)
	f.Add([]byte(`{"format_version":1}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := plan.Decode(data)
		if err != nil {
			return
		}
		again, err := plan.Encode(d)
		require.NoError(t, err)
		require.Equal(t, data, again, "what Decode accepts, Encode writes to the byte")
	})
}

// The canonical form is what the encoder of the standard library writes, however it is put together.
func TestEncodeIsTheStandardEncoding(t *testing.T) {
	for name, statements := range map[string][]plan.Statement{
		"one":  {{SQL: `COMMENT ON TABLE t IS ',"statements":['`, Severity: plan.SeveritySafe, Reason: "<&>"}},
		"many": {{SQL: "DROP TABLE t", Severity: plan.SeverityDestructive, Reason: "r"}, {SQL: "CREATE TABLE u (id int)", Severity: plan.SeveritySafe, Reason: "r", Tx: "none"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := document(statements...)
			d.Exclude = []string{`a,"statements":[`}
			d = plan.Seal(d)
			got, err := plan.Encode(d)
			require.NoError(t, err)
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			require.NoError(t, enc.Encode(d))
			assert.Equal(t, want.String(), string(got))
			back, err := plan.Decode(got)
			require.NoError(t, err)
			assert.Equal(t, d, back)
		})
	}
}

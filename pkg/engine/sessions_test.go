package engine_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/frame"
)

// TestSessionsWriteAndReadUTF8 has a database whose sessions begin in another encoding: what is read would be taken for other letters, and what is
// written would become them.
func TestSessionsWriteAndReadUTF8(t *testing.T) {
	s := pgtest.Start(t)
	const text = "CREATE TABLE t (a text DEFAULT 'Größe'); COMMENT ON TABLE t IS 'Gewicht ä €';"
	target := s.NewDatabase(t)
	u, err := url.Parse(target)
	require.NoError(t, err)
	name := strings.TrimPrefix(u.Path, "/")
	s.Exec(t, target, "ALTER DATABASE "+name+" SET client_encoding = 'LATIN1'")
	desired := declare(t, s, text)
	converge(t, engine.Options{URL: target}, desired)
	s.Exec(t, target, "ALTER DATABASE "+name+" RESET client_encoding")
	got, err := engine.Inspect(testContext(t), target)
	require.NoError(t, err)
	require.Equal(t, "Gewicht ä €", got.Tables[0].Comment)
	got, err = engine.Inspect(testContext(t), target+"&client_encoding=LATIN1")
	require.NoError(t, err)
	require.Equal(t, "Gewicht ä €", got.Tables[0].Comment)
}

// TestRowsThatAPolicyHides are not missing and not gone: who cannot see them cannot manage them.
func TestRowsThatAPolicyHides(t *testing.T) {
	s := pgtest.Start(t)
	const table = "CREATE TABLE c (code text PRIMARY KEY, n int); ALTER TABLE c ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON c USING (code = 'de');"
	const role = "reader_of_rows"
	target := s.NewDatabase(t, table+"INSERT INTO c VALUES ('de', 1), ('fr', 2); CREATE ROLE "+role+" LOGIN PASSWORD '"+pgtest.Password+"'; GRANT SELECT ON c TO "+role)
	t.Cleanup(func() { s.Exec(t, target, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	desired := declareRows(t, s, table, set("c", 1, []string{"code", "n"}, []string{"de", "1"}))
	u, err := url.Parse(target)
	require.NoError(t, err)
	_, err = engine.Plan(testContext(t), engine.Options{URL: s.URLAs(strings.TrimPrefix(u.Path, "/"), role, pgtest.Password)}, desired)
	e := refusal(t, err, frame.CodeDatabasePermission)
	assert.Contains(t, e.Message, `table "public"."c"`)
	assert.Contains(t, e.Message, "row-level security")
	result, err := engine.Plan(testContext(t), engine.Options{URL: target}, desired)
	require.NoError(t, err)
	require.Len(t, result.Document.Statements, 1)
	assert.Contains(t, result.Document.Statements[0].SQL, "DELETE")
}

// TestNothingIsCut narrows columns over values that do not fit: the server refuses them, as it would in an INSERT.
func TestNothingIsCut(t *testing.T) {
	s := pgtest.Start(t)
	for _, c := range [][3]string{
		{"text", "varchar(3)", "'abcdef'"},
		{"varchar(10)", "varchar(3)", "'abcdef'"},
		{"char(8)", "varchar(4)", "'abcdef'"},
		{"text", "char(3)", "'abcdef'"},
		{"text", "d3", "'abcdef'"},
		{"bit(8)", "bit(4)", "B'11110000'"},
		{"bit varying(8)", "bit varying(4)", "B'11110000'"},
		{"varchar(10)[]", "varchar(3)[]", "'{abcdef}'"},
		{"int", "smallint", "70000"},
		{"numeric(9,2)", "numeric(4,2)", "1234.5"},
	} {
		t.Run(c[0]+" to "+c[1], func(t *testing.T) {
			const domain = "CREATE DOMAIN d3 AS varchar(3);"
			opts := engine.Options{URL: s.NewDatabase(t, domain+"CREATE TABLE t (a "+c[0]+"); INSERT INTO t VALUES ("+c[2]+")")}
			doc := planned(t, opts, declare(t, s, domain+"CREATE TABLE t (a "+c[1]+")"))
			_, err := engine.Apply(testContext(t), opts, doc)
			assert.False(t, refusal(t, err, frame.CodeStatementFailed).OutcomeUncertain)
			assert.Equal(t, doc.FromFingerprint, fingerprint(t, opts.URL))
			assert.Contains(t, doc.Statements[0].Hazard, "a value that the new type cannot hold stops the plan")
			assert.Equal(t, strings.ContainsAny(c[2][:1], "17"), strings.Contains(doc.Statements[0].Hazard, "rounded"))
		})
	}
}

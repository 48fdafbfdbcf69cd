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

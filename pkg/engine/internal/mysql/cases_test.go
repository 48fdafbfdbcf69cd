package mysql_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// cases are real schemas, which are not part of this repository.
func cases(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv("PTAH_TEST_CASES")
	if root == "" {
		t.Skip("no real schemas: point PTAH_TEST_CASES at a directory of them")
	}
	path := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real schema %s in PTAH_TEST_CASES", filepath.Join(parts...))
	}
	return path
}

func source(t testing.TB, path string) engine.Source {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return engine.Source{Name: filepath.Base(path), Data: data}
}

// roundTrip carries a declared schema as an artifact would, applies it to an empty database and reads it back.
func roundTrip(t *testing.T, s *mytest.Server, files []engine.Source) (*model.Database, string) {
	t.Helper()
	db, err := engine.LoadSQL(testContext(t), s.URL("mysql"), files)
	require.NoError(t, err)
	require.Empty(t, db.Unmodelled)
	data, err := model.Encode(db)
	require.NoError(t, err)
	carried, err := model.Decode(data)
	require.NoError(t, err)
	target := s.NewDatabase(t)
	converge(t, engine.Options{URL: target}, carried)
	live, err := engine.Inspect(testContext(t), target)
	require.NoError(t, err)
	require.Equal(t, model.Fingerprint(db), model.Fingerprint(live), "%s", factDifference(live, db))
	return carried, target
}

// sakilaEdits are changes of real life, each on top of those before.
var sakilaEdits = []string{
	"ALTER TABLE film ADD COLUMN budget DECIMAL(12,2) NOT NULL DEFAULT 0 COMMENT 'in euro'",
	"ALTER TABLE film MODIFY rating ENUM('G','PG','PG-13','R','NC-17','X') DEFAULT 'G'",
	"CREATE INDEX by_payment_date ON payment (payment_date, amount)",
	"ALTER TABLE customer MODIFY email VARCHAR(120)",
	"ALTER TABLE customer ADD CONSTRAINT email_has_an_at CHECK (email LIKE '%@%')",
	"CREATE TABLE award (award_id INT UNSIGNED PRIMARY KEY AUTO_INCREMENT, actor_id INT UNSIGNED NOT NULL, won DATE, CONSTRAINT award_actor FOREIGN KEY (actor_id) REFERENCES actor (actor_id) ON DELETE CASCADE)",
	"CREATE OR REPLACE VIEW actor_awards AS SELECT a.actor_id, a.last_name, COUNT(*) AS awards FROM actor a JOIN award w USING (actor_id) GROUP BY a.actor_id, a.last_name",
	"DROP TRIGGER del_film; CREATE TRIGGER del_film BEFORE DELETE ON film FOR EACH ROW DELETE FROM film_text WHERE film_id = OLD.film_id",
	"ALTER TABLE rental DROP FOREIGN KEY fk_rental_staff; ALTER TABLE rental ADD CONSTRAINT fk_rental_staff FOREIGN KEY (staff_id) REFERENCES staff (staff_id) ON UPDATE CASCADE ON DELETE CASCADE",
	"ALTER TABLE staff DROP COLUMN picture",
}

func TestSakila(t *testing.T) {
	s := mytest.Start(t)
	file := source(t, cases(t, "sakila-mysql", "mysql-sakila-schema.sql"))
	_, err := engine.LoadSQL(testContext(t), s.URL("mysql"), []engine.Source{file})
	e := refusal(t, err, frame.CodeDesiredSchemaInvalid)
	assert.Regexp(t, `^mysql-sakila-schema.sql:\d+:1: DROP of a database`, e.Message)

	text := string(file.Data)
	for _, line := range []string{"DROP SCHEMA IF EXISTS sakila;", "CREATE SCHEMA sakila;", "USE sakila;"} {
		require.Contains(t, text, line)
		text = strings.Replace(text, line, "", 1)
	}
	text = strings.ReplaceAll(text, "sakila.", "")
	file.Data = []byte(text)
	db, target := roundTrip(t, s, []engine.Source{file})
	assert.Len(t, db.Tables, 16)
	views := 0
	for _, d := range db.Definitions {
		if d.Kind == "view" {
			views++
		}
	}
	assert.Equal(t, 7, views)

	edited := text + "\nSET sql_mode = DEFAULT;\nDELIMITER ;\n"
	for i, edit := range sakilaEdits {
		edited += edit + ";\n"
		desired, err := engine.LoadSQL(testContext(t), s.URL("mysql"), []engine.Source{{Name: "edited.sql", Data: []byte(edited)}})
		require.NoError(t, err, "edit %d", i+1)
		assert.NotEmpty(t, converge(t, engine.Options{URL: target}, desired).Statements, "edit %d", i+1)
	}
	// And all of it back at once.
	converge(t, engine.Options{URL: target}, db)
}

// TestUAA runs the migrations of a real product in order and takes the result as a declaration. One of them does not run on MariaDB.
func TestUAA(t *testing.T) {
	s := mytest.Start(t)
	dir := cases(t, "uaa", "mysql")
	paths, err := filepath.Glob(filepath.Join(dir, "V*.sql"))
	require.NoError(t, err)
	version := func(path string) []int {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), "V"), "__")
		var out []int
		for part := range strings.SplitSeq(number, "_") {
			n, err := strconv.Atoi(part)
			require.NoError(t, err)
			out = append(out, n)
		}
		return out
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(slices.Compare(version(a), version(b)), strings.Compare(a, b)) })
	var files []engine.Source
	for _, path := range paths {
		if !strings.HasPrefix(filepath.Base(path), "V4_103") {
			files = append(files, source(t, path))
		}
	}
	require.Greater(t, len(files), 80)
	roundTrip(t, s, files)
}

// TestOpenFGA takes the upward halves of a real product's migrations. One of them does not run on MariaDB.
func TestOpenFGA(t *testing.T) {
	s := mytest.Start(t)
	paths, err := filepath.Glob(filepath.Join(cases(t, "openfga", "mysql"), "*.sql"))
	require.NoError(t, err)
	slices.Sort(paths)
	var files []engine.Source
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "007") {
			continue
		}
		f := source(t, path)
		up, _, _ := strings.Cut(string(f.Data), "-- +goose Down")
		f.Data = []byte(up)
		files = append(files, f)
	}
	require.Len(t, files, 7)
	roundTrip(t, s, files)
}

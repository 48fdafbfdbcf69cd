package cases_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptah-run/ptah/pkg/artifact"
)

func TestPagila15(t *testing.T) {
	s := startPostgres(t, 15)
	realCase{files: sources(t, found(t, "pagila/pg15-revision/*.sql")...), tables: 70, values: pagilaValues, edits: pagilaEdits}.run(t, s)
}

// pagilaValues keep to the domain of years, which one check holds.
var pagilaValues = map[string]string{"film.release_year": "1950 + g % 70", "rental.return_date": "timestamptz '2023-01-03' + g * interval '11 hours'"}

// TestPagila is the newest revision with two of its additions. It has a table of vectors, and the server has no such type: the files are refused, and
// what a server without it makes of them is published.
func TestPagila(t *testing.T) {
	s := startPostgres(t, 18)
	files := sources(t, slices.Concat(found(t, "pagila/pagila-schema.sql"), found(t, "pagila/pagila-schema-jsonb.sql"), found(t, "pagila/pagila-temporal-setup.sql"))...)
	// The second file, a dump by itself, leaves no search path behind.
	files[2].Data = append([]byte("SET search_path = public;\n"), files[2].Data...)
	// Rows of an example, with statements of a later server, follow its tables.
	files[2].Data, _, _ = bytes.Cut(files[2].Data, []byte("-- ACADEMY DINOSAUR (film_id 1)"))
	realCase{
		files: files, tables: 74, values: pagilaValues, edits: pagilaEdits,
		refused: `^pagila/pagila-schema.sql:\d+:\d+: extension "vector" is not available`,
		without: `"(public\.)?(vector|film_embedding)"|public.vector`,
	}.run(t, s)
}

func TestSakila(t *testing.T) {
	s := startPostgres(t, 15)
	refuses(t, s, sources(t, found(t, "sakila-postgres/postgres-sakila-insert-data-using-copy.sql")...), `COPY … FROM stdin carries rows`)
	realCase{files: sources(t, found(t, "sakila-postgres/postgres-sakila-schema.sql")...), tables: 21, data: "sakila-postgres/postgres-sakila-insert-data-using-copy.sql", edits: sakilaEdits}.run(t, s)
}

func synapseSchema(t *testing.T) []artifact.File {
	var files []artifact.File
	for _, part := range []string{"common", "main", "state"} {
		files = append(files, sources(t, found(t, "synapse/"+part+"/full_schemas/72/*.sql.postgres")...)...)
	}
	return files
}

// synapseValues leave the tables empty that hold one row at most.
var synapseValues = map[string]string{
	"appservice_stream_position": "", "event_push_summary_last_receipt_stream_id": "", "event_push_summary_stream_ordering": "", "stats_incremental_position": "", "user_directory_stream_pos": "",
	"delayed_events_stream_pos": "", "device_lists_changes_in_room_max_pruned_stream_id": "", "device_lists_changes_converted_stream_position": "", "room_forgetter_stream_pos": "",
}

func TestSynapse(t *testing.T) {
	realCase{files: synapseSchema(t), tables: 138, values: synapseValues, edits: synapseEdits}.run(t, startPostgres(t, 15))
}

// TestSynapseDeltas runs the changes that followed the full schema, of three databases in one order.
func TestSynapseDeltas(t *testing.T) {
	s := startPostgres(t, 15)
	paths := slices.Concat(found(t, "synapse/*/delta/*/*.sql"), found(t, "synapse/*/delta/*/*.sql.postgres"))
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // 0 is left out
		return n
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return version(path) <= 72 })
	slices.SortFunc(paths, func(a, b string) int {
		if version(a) != version(b) {
			return version(a) - version(b)
		}
		return strings.Compare(filepath.Base(a), filepath.Base(b))
	})
	files := synapseSchema(t)
	for _, f := range sources(t, paths...) {
		files = append(files, changed(f, "$%AUTO_INCREMENT_PRIMARY_KEY%$", "BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY"))
	}
	realCase{files: files, tables: 169, values: synapseValues, edits: synapseEdits}.run(t, s)
}

// lemmy's own tool keeps a table of what has run.
const lemmyBookkeeping = "CREATE TABLE __diesel_schema_migrations (version varchar(50) PRIMARY KEY, run_on timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP)"

func lemmyMigrations(t *testing.T) []artifact.File {
	return sources(t, found(t, "lemmy/migrations/*/up.sql")...)
}

// TestLemmy15 stops at the first migration that needs a later server.
func TestLemmy15(t *testing.T) {
	s := startPostgres(t, 15)
	realCase{files: lemmyMigrations(t)[:247], tables: 76, values: lemmyValues, edits: lemmyEdits}.run(t, s)
}

// lemmyValues keep to checks that allow one of several columns.
var lemmyValues = map[string]string{
	"modlog": "", "notification": "", "previously_run_sql": "", "site_aggregates": "",
	"report_combined.comment_report_id": "NULL", "report_combined.private_message_report_id": "NULL", "report_combined.community_report_id": "NULL",
}

func TestLemmy(t *testing.T) {
	s := startPostgres(t, 16)
	files := append([]artifact.File{{Name: "bookkeeping.sql", Data: []byte(lemmyBookkeeping)}}, lemmyMigrations(t)...)
	files = append(files, artifact.File{Name: "replaceable.sql", Data: []byte("CREATE SCHEMA r")})
	files = append(files, sources(t, slices.Concat(found(t, "lemmy/replaceable_schema/utils.sql"), found(t, "lemmy/replaceable_schema/triggers.sql"))...)...)
	realCase{files: files, tables: 59, values: lemmyValues, edits: lemmyEdits}.run(t, s)
}

func openFGA(t *testing.T, dialect string) []artifact.File {
	var files []artifact.File
	for _, f := range sources(t, found(t, "openfga/"+dialect+"/*.sql")...) {
		files = append(files, upward(f))
	}
	return files
}

func TestOpenFGA(t *testing.T) {
	realCase{files: openFGA(t, "postgres"), tables: 5, edits: openFGAEdits}.run(t, startPostgres(t, 15))
}

func uaa(t *testing.T, dialect string) []artifact.File {
	paths := found(t, "uaa/"+dialect+"/V*.sql")
	slices.SortFunc(paths, compareNumbered)
	return sources(t, paths...)
}

func TestUAA(t *testing.T) {
	realCase{files: uaa(t, "postgresql"), tables: 15, edits: uaaEdits}.run(t, startPostgres(t, 15))
}

func TestMySQLSakila(t *testing.T) {
	s := startMySQL(t)
	files := sources(t, found(t, "sakila-mysql/mysql-sakila-schema.sql")...)
	refuses(t, s, files, `^sakila-mysql/mysql-sakila-schema.sql:\d+:1: DROP of a database`)
	// A schema script that creates its own database is published without those lines.
	files[0] = changed(files[0], "DROP SCHEMA IF EXISTS sakila;", "", "CREATE SCHEMA sakila;", "", "USE sakila;", "", "sakila.", "")
	// A trigger of films fills film_text.
	realCase{files: files, tables: 16, values: map[string]string{"film_text": ""}, edits: mysqlSakilaEdits}.run(t, s)
}

// TestMySQLUAA leaves out the one migration that does not run on MariaDB.
func TestMySQLUAA(t *testing.T) {
	files := slices.DeleteFunc(uaa(t, "mysql"), func(f artifact.File) bool { return strings.Contains(f.Name, "V4_103") })
	realCase{files: files, tables: 15, edits: mysqlUAAEdits}.run(t, startMySQL(t))
}

// TestMySQLOpenFGA leaves out the one migration that does not run on MariaDB.
func TestMySQLOpenFGA(t *testing.T) {
	files := slices.DeleteFunc(openFGA(t, "mysql"), func(f artifact.File) bool { return strings.Contains(f.Name, "/007") })
	realCase{files: files, tables: 5, edits: mysqlOpenFGAEdits}.run(t, startMySQL(t))
}

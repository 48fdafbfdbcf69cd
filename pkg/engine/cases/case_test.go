package cases_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// server is a database server of either dialect.
type server interface {
	// admin is the URL that schemas are published through.
	admin() string
	newDatabase(t testing.TB) string
	// script runs files with the server's own client and returns the errors that it printed; it goes on after one where told to.
	script(t testing.TB, database string, files []string, goOn bool) []string
	// edit runs statements in a database.
	edit(t testing.TB, database, sql string)
	// columns lists the columns of all tables that hold rows themselves, in a stable order.
	columns(t testing.TB, database string) map[string][]string
	// fill gives every table rows of its own.
	fill(t testing.TB, database string, rows int, values map[string]string)
	// checksums are, for each table, the number of rows and one number over the given columns of all of them.
	checksums(t testing.TB, database string, tables []columnsOf) []string
}

// realCase is a schema of a real project.
type realCase struct {
	// files are the project's own, in the order in which it runs them.
	files []artifact.File
	// refused is what publishing the files as they are is refused with; what is published then is a database that was made of them. Empty: the
	// files are published.
	refused string
	// without are the errors of the server that may happen when the files run: what the project has and this server does not.
	without string
	// tables is how many there are.
	tables int
	// before runs in the empty database, in front of the files.
	before string
	// values are expressions of g, the number of a row, for columns that the general ones do not fit. The key is table.column, or a table with the
	// value "", which gets no rows. data is a file with rows instead.
	values map[string]string
	data   string
	edits  []edit
}

// edit is one change of real life, on top of those before it.
type edit struct {
	does string
	sql  string
	// renamed says what a table, or a table.column, was called, as renamed_from does.
	renamed map[string]string
	// changes are columns of which the edit means to change values, or tables of which it means to change rows.
	changes []string
}

const rowsPerTable = 200

// run carries a case the whole way.
func (c realCase) run(t *testing.T, s server) {
	start := time.Now()
	original := s.newDatabase(t)
	if c.before != "" {
		s.edit(t, original, c.before)
	}
	for _, problem := range s.script(t, original, onDisk(t, c.files), c.without != "") {
		require.Regexp(t, c.without, problem)
	}
	created := time.Since(start)
	live, inspected := timed(t, func() (*model.Database, error) { return engine.Inspect(testContext(t), original) })
	require.Empty(t, live.Unmodelled)
	tables := len(live.Tables)
	assert.Equal(t, c.tables, tables)

	carried := publish(t, c.declare(t, s, live), c.files, c.refused == "")

	target := s.newDatabase(t)
	opts := engine.Options{URL: target}
	result, planned := timed(t, func() (engine.PlanResult, error) { return engine.Plan(testContext(t), opts, carried) })
	require.False(t, result.NoChange)
	_, applied := timed(t, func() (struct{}, error) {
		_, err := engine.Apply(testContext(t), opts, result.Document)
		return struct{}{}, wrong(err, result.Document)
	})
	equal(t, opts, carried)
	t.Logf("%d files, %d tables, %d definitions, %d statements: own files %s, inspect %s, plan %s, apply %s", len(c.files), tables, len(live.Definitions),
		len(result.Document.Statements), rounded(created), rounded(inspected), rounded(planned), rounded(applied))

	if c.data != "" {
		require.Empty(t, s.script(t, target, found(t, c.data), false))
	} else {
		s.fill(t, target, rowsPerTable, c.values)
	}
	for i, e := range c.edits {
		if !t.Run(fmt.Sprintf("%02d %s", i+1, e.does), func(t *testing.T) { e.run(t, s, original, opts) }) {
			return
		}
	}
	t.Run("and back", func(t *testing.T) { back(t, original, carried) })
	t.Run("to nothing", func(t *testing.T) {
		empty, err := engine.Inspect(testContext(t), s.newDatabase(t))
		require.NoError(t, err)
		converge(t, opts, empty)
	})
}

// back takes all edits back at once, where no rows are in the way. A column that a table had from a parent is its own for good once it left.
func back(t *testing.T, original string, carried *model.Database) {
	opts := engine.Options{URL: original}
	if _, err := engine.Plan(testContext(t), opts, carried); err != nil && strings.Contains(err.Error(), "PostgreSQL cannot change that") {
		t.Skip(err.Error())
	}
	converge(t, opts, carried)
}

// declare is the schema as publishing loads it from the files, or, where it refuses them, as a database has it that they made.
func (c realCase) declare(t *testing.T, s server, live *model.Database) *model.Database {
	t.Helper()
	if c.refused != "" {
		refuses(t, s, c.files, c.refused)
		return live
	}
	start := time.Now()
	loaded, err := engine.LoadSQL(testContext(t), s.admin(), declared(c.files))
	require.NoError(t, err)
	t.Logf("loaded for publishing in %s", rounded(time.Since(start)))
	require.Equal(t, structure(live), structure(loaded), "%s", difference(live, loaded))
	return loaded
}

func declared(files []artifact.File) []engine.Source {
	var out []engine.Source
	for _, f := range files {
		out = append(out, engine.Source{Name: f.Name, Data: f.Data})
	}
	return out
}

// refuses proves that files cannot be published as they are.
func refuses(t *testing.T, s server, files []artifact.File, why string) {
	t.Helper()
	_, err := engine.LoadSQL(testContext(t), s.admin(), declared(files))
	require.Error(t, err)
	require.Regexp(t, why, err.Error())
	t.Logf("publishing is refused: %s", err)
}

// structure is the fingerprint without versions of extensions and without privileges, which a declaration has only where it names them.
func structure(db *model.Database) string {
	copied := *db
	copied.Grants, copied.DefaultPrivileges = nil, nil
	copied.Extensions = slices.Clone(db.Extensions)
	for i := range copied.Extensions {
		copied.Extensions[i].Version = ""
	}
	return model.Fingerprint(&copied)
}

// publish pushes the schema to a registry and reads it back, byte by byte.
func publish(t *testing.T, db *model.Database, files []artifact.File, withSources bool) *model.Database {
	t.Helper()
	data, err := model.Encode(db)
	require.NoError(t, err)
	front := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer front.Close()
	client, err := artifact.New(artifact.Options{PlainHTTP: true})
	require.NoError(t, err)
	if !withSources {
		files = nil
	}
	reference := artifact.Scheme + strings.TrimPrefix(front.URL, "http://") + "/cases/schema:v1"
	pinned, err := client.PushSchema(testContext(t), reference, data, files, artifact.PushOptions{})
	require.NoError(t, err)
	again, err := client.PushSchema(testContext(t), reference, data, files, artifact.PushOptions{})
	require.NoError(t, err)
	require.Equal(t, pinned, again)
	read, err := client.ReadSchema(testContext(t), pinned)
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, read.Model), "the artifact holds other bytes")
	carried, err := model.Decode(read.Model)
	require.NoError(t, err)
	t.Logf("published %d bytes", len(data))
	return carried
}

// run makes the edit to the original, which is then the declared state, and converges the target, whose rows stay.
func (e edit) run(t *testing.T, s server, original string, opts engine.Options) {
	s.edit(t, original, e.sql)
	want, err := engine.Inspect(testContext(t), original)
	require.NoError(t, err)
	require.Empty(t, want.Unmodelled)
	for name, from := range e.renamed {
		rename(t, want, name, from)
	}
	was, is := e.untouched(s.columns(t, opts.URL), s.columns(t, original))
	require.NotEmpty(t, was)
	before := s.checksums(t, opts.URL, was)
	doc := converge(t, opts, want)
	after := s.checksums(t, opts.URL, is)
	for i, table := range is {
		assert.Equal(t, before[i], after[i], "rows and columns %v of %s", table.columns, table.name)
	}
	for _, st := range doc.Statements {
		t.Logf("%-11s %s %s", st.Severity, st.Kind, firstLine(st.SQL))
	}
	assert.NotEmpty(t, doc.Statements)
}

func rename(t *testing.T, db *model.Database, name, from string) {
	t.Helper()
	table, column, ofColumn := strings.Cut(name, ".")
	for i := range db.Tables {
		switch it := &db.Tables[i]; {
		case it.Name.Name != table:
		case !ofColumn:
			it.RenamedFrom = from
			return
		default:
			for j := range it.Columns {
				if it.Columns[j].Name == column {
					it.Columns[j].RenamedFrom = from
					return
				}
			}
		}
	}
	t.Fatalf("nothing is called %s", name)
}

// columnsOf are some columns of a table.
type columnsOf struct {
	name    string
	columns []string
}

// untouched are the tables and columns that an edit has to keep, under their names before and after it.
func (e edit) untouched(before, after map[string][]string) (was, is []columnsOf) {
	for _, table := range slices.Sorted(maps.Keys(after)) {
		old := columnsOf{name: cmp.Or(e.renamed[table], table)}
		now := columnsOf{name: table}
		for _, column := range after[table] {
			from := cmp.Or(e.renamed[table+"."+column], column)
			if slices.Contains(before[old.name], from) && !slices.Contains(e.changes, table) && !slices.Contains(e.changes, table+"."+column) {
				old.columns, now.columns = append(old.columns, from), append(now.columns, column)
			}
		}
		if len(now.columns) > 0 {
			was, is = append(was, old), append(is, now)
		}
	}
	return was, is
}

// converge plans, applies, and proves that the database is as declared and that the next plan is empty.
func converge(t *testing.T, opts engine.Options, want *model.Database) plan.Document {
	t.Helper()
	start := time.Now()
	result, err := engine.Plan(testContext(t), opts, want)
	require.NoError(t, err)
	planned := time.Since(start)
	if !result.NoChange {
		data, err := plan.Encode(result.Document)
		require.NoError(t, err)
		doc, err := plan.Decode(data)
		require.NoError(t, err)
		_, err = engine.Apply(testContext(t), opts, doc)
		require.NoError(t, wrong(err, doc))
	}
	applied := time.Since(start) - planned
	again, err := engine.Plan(testContext(t), opts, want)
	require.NoError(t, err)
	require.True(t, again.NoChange, "left over: %v", again.Document.Statements)
	require.Equal(t, result.To, again.From)
	t.Logf("%d statements: plan %s, apply %s", len(result.Document.Statements), rounded(planned), rounded(applied))
	return result.Document
}

// equal reads a database back and compares it with what it was converged to: no difference, no drift, nothing to plan.
func equal(t *testing.T, opts engine.Options, want *model.Database) {
	t.Helper()
	live, err := engine.Inspect(testContext(t), opts.URL)
	require.NoError(t, err)
	require.Equal(t, structure(want), structure(live), "%s", difference(want, live))
	again, err := engine.Plan(testContext(t), opts, want)
	require.NoError(t, err)
	require.True(t, again.NoChange, "left over: %v", again.Document.Statements)
	observed, err := engine.Observe(testContext(t), opts, want)
	require.NoError(t, err)
	require.Zero(t, observed.Total, "drift: %v", observed.Findings)
}

func difference(want, got *model.Database) string {
	var out strings.Builder
	list := func(label string, a, b []model.Fact) {
		known := map[model.Fact]bool{}
		for _, f := range b {
			known[f] = true
		}
		for _, f := range a {
			if !known[f] {
				fmt.Fprintf(&out, "%s%q\n", label, f.Kind+" "+f.Table+" "+f.Name+" "+f.Aspect+" "+f.Value)
			}
		}
	}
	list("got  ", model.Facts(got), model.Facts(want))
	list("want ", model.Facts(want), model.Facts(got))
	return out.String()
}

// wrong adds the statements to what went wrong with them.
func wrong(err error, doc plan.Document) error {
	if err == nil {
		return nil
	}
	var all strings.Builder
	for i, s := range doc.Statements {
		fmt.Fprintf(&all, "%d: %s;\n", i+1, s.SQL)
	}
	return fmt.Errorf("%w\n%s", err, all.String())
}

func timed[T any](t *testing.T, run func() (T, error)) (T, time.Duration) {
	t.Helper()
	start := time.Now()
	value, err := run()
	require.NoError(t, err)
	return value, time.Since(start)
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

func firstLine(sql string) string {
	line, _, _ := strings.Cut(sql, "\n")
	return line
}

// sources reads files and names them as publishing does, relative to the directory of the project.
func sources(t testing.TB, paths ...string) []artifact.File {
	t.Helper()
	var out []artifact.File
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		name, err := filepath.Rel(directory(t), path)
		require.NoError(t, err)
		// Publishing wants files that end in .sql.
		out = append(out, artifact.File{Name: strings.Replace(filepath.ToSlash(name), ".sql.postgres", ".postgres.sql", 1), Data: data})
	}
	return out
}

// changed is a file with some of its text replaced.
func changed(f artifact.File, oldnew ...string) artifact.File {
	f.Data = []byte(strings.NewReplacer(oldnew...).Replace(string(f.Data)))
	return f
}

// upward is the half of a goose migration that goes forward.
func upward(f artifact.File) artifact.File {
	f.Data, _, _ = bytes.Cut(f.Data, []byte("-- +goose Down"))
	return f
}

// onDisk writes files for a client to read.
func onDisk(t testing.TB, files []artifact.File) []string {
	t.Helper()
	dir := t.TempDir()
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.Join(dir, fmt.Sprintf("%04d.sql", i))
		require.NoError(t, os.WriteFile(paths[i], f.Data, 0o600))
	}
	return paths
}

var number = regexp.MustCompile(`[0-9]+`)

// compareNumbered orders the paths of migrations by the numbers in their names, so that V1_8_2 comes before V1_10.
func compareNumbered(a, b string) int {
	numbers := func(path string) []int {
		name, _, _ := strings.Cut(filepath.Base(path), "__")
		var out []int
		for _, digits := range number.FindAllString(name, -1) {
			n, _ := strconv.Atoi(digits) // digits, and few
			out = append(out, n)
		}
		return out
	}
	return cmp.Or(slices.Compare(numbers(a), numbers(b)), strings.Compare(a, b))
}

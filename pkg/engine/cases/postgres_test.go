package cases_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
)

// postgresServer is the test binary's PostgreSQL.
type postgresServer struct {
	*pgtest.Server
	psql string
}

// startPostgres skips the test where psql or the server is missing, or the server is older than the major that the case needs.
func startPostgres(t *testing.T, least int) postgresServer {
	t.Helper()
	directory(t)
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("no psql, which runs a project's own files: install the Debian package postgresql-client")
	}
	s := postgresServer{pgtest.Start(t), psql}
	if major := s.Major(); major < least {
		t.Skipf("the schema needs PostgreSQL %d, and PTAH_TEST_PG_BIN leads to %d", least, major)
	}
	return s
}

func (s postgresServer) admin() string { return s.URL("postgres") }

func (s postgresServer) newDatabase(t testing.TB) string { return s.NewDatabase(t) }

func (s postgresServer) edit(t testing.TB, database, sql string) { s.Exec(t, database, sql) }

var psqlError = regexp.MustCompile(`(?m)^psql:.*(ERROR|FATAL): .*$`)

func (s postgresServer) script(t testing.TB, database string, files []string, goOn bool) []string {
	t.Helper()
	stop := "1"
	if goOn {
		stop = "0"
	}
	args := []string{"-X", "-q", "-o", "/dev/null", "-v", "ON_ERROR_STOP=" + stop, "-d", database}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	cmd := exec.CommandContext(testContext(t), s.psql, args...) //nolint:gosec // a test's own files
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	problems := func() []string { return psqlError.FindAllString(stderr.String(), -1) }
	if err := cmd.Run(); err != nil {
		require.NoError(t, err, "%v", problems())
	}
	return problems()
}

func (s postgresServer) columns(t testing.TB, database string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, c := range s.catalog(t, database) {
		out[c.table] = append(out[c.table], c.name)
	}
	return out
}

// pgColumn is a column of a table: its type under any domain, the modifier of it, the bounds of what it takes.
type pgColumn struct {
	table, name, kind, declared string
	length                      int
	labels                      int
	generated, mandatory        bool
}

const pgColumns = `
WITH RECURSIVE base AS (
  SELECT oid AS type, oid AS bottom, typtypmod AS modifier, typnotnull AS mandatory FROM pg_type WHERE typtype <> 'd'
  UNION ALL SELECT d.oid, b.bottom, CASE WHEN d.typtypmod >= 0 THEN d.typtypmod ELSE b.modifier END, d.typnotnull OR b.mandatory FROM pg_type d JOIN base b ON d.typbasetype = b.type WHERE d.typtype = 'd'
)
SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || c.relname, a.attname, CASE WHEN y.typtype = 'e' THEN 'enum' ELSE y.typname END,
  format_type(a.atttypid, a.atttypmod), CASE WHEN a.atttypmod >= 0 THEN a.atttypmod ELSE b.modifier END, (SELECT count(*) FROM pg_enum e WHERE e.enumtypid = y.oid)::int,
  a.attgenerated <> '', a.attnotnull OR b.mandatory
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid JOIN base b ON b.type = a.atttypid JOIN pg_type y ON y.oid = b.bottom
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT FROM pg_depend x WHERE x.classid = 'pg_class'::regclass AND x.objid = c.oid AND x.deptype = 'e')
ORDER BY 1, a.attname`

func (s postgresServer) catalog(t testing.TB, database string) []pgColumn {
	t.Helper()
	ctx := testContext(t)
	conn, err := pgx.Connect(ctx, database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, pgColumns)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c pgColumn, err error) {
		err = row.Scan(&c.table, &c.name, &c.kind, &c.declared, &c.length, &c.labels, &c.generated, &c.mandatory)
		return c, err
	})
	require.NoError(t, err)
	return out
}

// value is an expression of g, the number of the row. It depends on the type alone, so that keys of tables that refer to each other match.
func (c pgColumn) value() string {
	if element, isArray := strings.CutPrefix(c.kind, "_"); isArray {
		return "ARRAY[" + pgColumn{kind: element, length: c.length}.value() + "]::" + c.declared
	}
	switch c.kind {
	case "enum":
		return fmt.Sprintf("(enum_range(NULL::%s))[1 + g %% %d]", c.declared, c.labels)
	case "varchar", "bpchar":
		if c.length >= 4 {
			return fmt.Sprintf("left('v' || g, %d)", c.length-4)
		}
		return "'v' || g"
	case "text", "citext":
		return "'v' || g"
	case "int2", "int4", "int8", "float4", "float8", "oid":
		return "g"
	case "numeric":
		return "g % 90"
	case "bool":
		return "g % 2 = 0"
	case "date":
		return "date '2022-01-03' + g % 150"
	case "timestamp", "timestamptz":
		return "timestamptz '2022-01-03' + g * interval '11 hours'"
	case "time", "interval":
		return "g * interval '1 minute'"
	case "uuid":
		return "md5(g::text)::uuid"
	case "bytea":
		return "decode(md5(g::text), 'hex')"
	case "json", "jsonb":
		return "json_build_object('g', g)"
	case "tsvector":
		return "to_tsvector('simple', 'v' || g)"
	case "inet", "cidr":
		return "inet '10.0.0.0' + g"
	case "daterange":
		return "daterange(date '2020-01-01' + g, NULL)"
	case "ltree":
		return "('n.' || g)::text"
	default:
		return ""
	}
}

func (s postgresServer) fill(t testing.TB, database string, rows int, values map[string]string) {
	t.Helper()
	type insert struct{ columns, values []string }
	inserts := map[string]*insert{}
	var order []string
	for _, c := range s.catalog(t, database) {
		if _, none := values[c.table]; none || c.generated {
			continue
		}
		value, given := values[c.table+"."+c.name]
		if !given {
			value = c.value()
		}
		if value == "" {
			require.False(t, c.mandatory, "no value for the column %s.%s of type %s", c.table, c.name, c.declared)
			continue
		}
		in := inserts[c.table]
		if in == nil {
			in = &insert{}
			inserts[c.table] = in
			order = append(order, c.table)
		}
		in.columns, in.values = append(in.columns, quoted(c.name)), append(in.values, fmt.Sprintf("(%s)::%s", value, c.declared))
	}
	// A replica runs no triggers, those of foreign keys among them.
	sql := []string{"SET session_replication_role = replica", "SET search_path = public"}
	for _, table := range order {
		sql = append(sql, fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM generate_series(1, %d) g", qualified(table), strings.Join(inserts[table].columns, ", "),
			strings.Join(inserts[table].values, ", "), rows))
	}
	s.Exec(t, database, sql...)
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func qualified(table string) string {
	if schema, name, found := strings.Cut(table, "."); found {
		return pgx.Identifier{schema, name}.Sanitize()
	}
	return pgx.Identifier{"public", table}.Sanitize()
}

func (s postgresServer) checksums(t testing.TB, database string, tables []columnsOf) []string {
	t.Helper()
	var sums []string
	for i, table := range tables {
		list := make([]string, len(table.columns))
		for j, c := range table.columns {
			list[j] = quoted(c)
		}
		sums = append(sums, fmt.Sprintf("SELECT %d, count(*) || ' rows, ' || coalesce(sum(hashtextextended(ROW(%s)::text, 0)), 0) FROM %s", i, strings.Join(list, ", "), qualified(table.name)))
	}
	ctx := testContext(t)
	conn, err := pgx.Connect(ctx, database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, "SELECT s.sum FROM ("+strings.Join(sums, " UNION ALL ")+") s (n, sum) ORDER BY s.n")
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return out
}

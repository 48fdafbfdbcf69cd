package cases_test

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
)

// mysqlServer is the test binary's MariaDB.
type mysqlServer struct {
	*mytest.Server
	client string
}

// startMySQL skips the test where the client or the server is missing.
func startMySQL(t *testing.T) mysqlServer {
	t.Helper()
	directory(t)
	client, err := exec.LookPath("mariadb")
	if err != nil {
		t.Skip("no mariadb, which runs a project's own files: install the Debian package mariadb-client")
	}
	return mysqlServer{mytest.Start(t), client}
}

func (s mysqlServer) admin() string { return s.URL("mysql") }

func (s mysqlServer) newDatabase(t testing.TB) string { return s.NewDatabase(t) }

func (s mysqlServer) script(t testing.TB, database string, files []string, goOn bool) []string {
	t.Helper()
	require.False(t, goOn)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		s.run(t, database, data)
	}
	return nil
}

func (s mysqlServer) edit(t testing.TB, database, sql string) { s.run(t, database, []byte(sql)) }

// run sends SQL through the server's own client, which knows DELIMITER.
func (s mysqlServer) run(t testing.TB, database string, sql []byte) {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(s.Address())
	require.NoError(t, err)
	cmd := exec.CommandContext(testContext(t), s.client, "--no-defaults", "--comments", "--protocol=tcp", "--default-character-set=utf8mb4", "-h", host, "-P", port, "-u", mytest.User, strings.TrimPrefix(u.Path, "/")) //nolint:gosec // a test's own server
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+mytest.Password)
	cmd.Stdin = bytes.NewReader(sql)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// myColumn is a column of a table.
type myColumn struct {
	table, name, kind, declared string
	length                      int
	generated                   bool
}

func (s mysqlServer) catalog(t testing.TB, database string) []myColumn {
	t.Helper()
	db := mytest.Open(t, database)
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(testContext(t), `SELECT c.table_name, c.column_name, c.data_type, c.column_type, coalesce(c.character_maximum_length, 0), c.generation_expression IS NOT NULL
FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type LIKE 'BASE TABLE'
WHERE c.table_schema = database() ORDER BY c.table_name, c.column_name`)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	var out []myColumn
	for rows.Next() {
		var c myColumn
		require.NoError(t, rows.Scan(&c.table, &c.name, &c.kind, &c.declared, &c.length, &c.generated))
		out = append(out, c)
	}
	require.NoError(t, rows.Err())
	return out
}

func (s mysqlServer) columns(t testing.TB, database string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, c := range s.catalog(t, database) {
		out[c.table] = append(out[c.table], c.name)
	}
	return out
}

// value is an expression of seq, the number of the row. It depends on the type alone, so that keys of tables that refer to each other match.
func (c myColumn) value() string {
	switch c.kind {
	case "tinyint":
		return "seq % 100"
	case "smallint", "mediumint", "int", "bigint":
		return "seq"
	case "decimal", "float", "double":
		return "seq % 90"
	case "year":
		return "1950 + seq % 70"
	case "date", "datetime", "timestamp":
		return "timestamp '2022-01-03 00:00:00' + INTERVAL seq HOUR"
	case "enum", "set":
		return "1 + seq % 2"
	case "char", "varchar":
		return fmt.Sprintf("left(concat('v', seq), %d)", c.length)
	case "geometry":
		return "point(seq, seq)"
	default:
		return "concat('v', seq)"
	}
}

func (s mysqlServer) fill(t testing.TB, database string, rows int, values map[string]string) {
	t.Helper()
	var order []string
	columns, expressions := map[string][]string{}, map[string][]string{}
	for _, c := range s.catalog(t, database) {
		if _, none := values[c.table]; none || c.generated {
			continue
		}
		value, given := values[c.table+"."+c.name]
		if !given {
			value = c.value()
		}
		if columns[c.table] == nil {
			order = append(order, c.table)
		}
		columns[c.table], expressions[c.table] = append(columns[c.table], backticked(c.name)), append(expressions[c.table], value)
	}
	sql := []string{"SET foreign_key_checks = 0"}
	for _, table := range order {
		sql = append(sql, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM seq_1_to_%d", backticked(table), strings.Join(columns[table], ", "), strings.Join(expressions[table], ", "), rows))
	}
	s.Exec(t, database, sql...)
}

func backticked(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (s mysqlServer) checksums(t testing.TB, database string, tables []columnsOf) []string {
	t.Helper()
	db := mytest.Open(t, database)
	defer func() { _ = db.Close() }()
	out := make([]string, len(tables))
	for i, table := range tables {
		list := make([]string, len(table.columns))
		for j, c := range table.columns {
			list[j] = "coalesce(hex(" + backticked(c) + "), '-')"
		}
		query := fmt.Sprintf("SELECT concat(count(*), ' rows, ', bit_xor(cast(conv(left(md5(concat_ws(' ', %s)), 16), 16, 10) AS unsigned))) FROM %s", strings.Join(list, ", "), backticked(table.name))
		require.NoError(t, db.QueryRowContext(testContext(t), query).Scan(&out[i]))
	}
	return out
}

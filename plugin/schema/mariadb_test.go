package schema_test

import (
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/push/devserver"
	"github.com/ptah-run/ptah/test/mariadb"
)

const (
	mariaSQL = `CREATE TABLE orders (id bigint AUTO_INCREMENT PRIMARY KEY, customer int NOT NULL, state enum('new','paid','sent') NOT NULL DEFAULT 'new', note varchar(40), KEY by_customer (customer),
  CONSTRAINT buyer FOREIGN KEY (customer) REFERENCES customers (id));
DELIMITER //
CREATE TRIGGER noted BEFORE INSERT ON orders FOR EACH ROW BEGIN
  IF NEW.note IS NULL THEN SET NEW.note = 'a;b $$'; END IF; -- both
END//
CREATE FUNCTION twice(n int) RETURNS int DETERMINISTIC BEGIN DECLARE r int; SET r = n * 2; RETURN r; END//
DELIMITER ;
CREATE VIEW paid AS SELECT id, customer FROM orders WHERE state = 'paid';
`
	mariaYAML = "tables:\n  customers:\n    columns:\n      id: {type: int, primary: true}\n      email: {type: varchar(200), not_null: true, unique: true}\n"
)

// TestSchemasOfMariaDB takes one schema of MariaDB through files, an artifact and a database that the server's own client has made.
func TestSchemasOfMariaDB(t *testing.T) {
	if !mariadb.Installed() {
		t.Skip(mariadb.ErrNoPrograms)
	}
	server, err := mariadb.Start(t.Context(), mariadb.Options{})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	live := server.URL("live")
	admin, err := mariadb.Open(server.URL("mysql"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = admin.Close() })
	run := func(statement string) {
		t.Helper()
		_, err := admin.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	run("CREATE DATABASE live")
	env := map[string]string{"PTAH_DEV_URL": server.URL(""), "LIVE_URL": live}
	host := startRegistry(t)
	inDirectory(t, map[string]string{"app/orders.sql": mariaSQL, "app/customers.yaml": mariaYAML, "wrong.sql": "CREATE TABLE a (id int);\nCREATE TABLE b (id itn);", "wrong.yaml": "tables:\n  t:\n    columns:\n      id: {type: int, identity: true}\n"})
	ok := func(args ...string) string {
		t.Helper()
		stdout, stderr, code := ptah(t, env, args...)
		require.Equal(t, options.Done, code, "%s%s", stdout, stderr)
		return stdout
	}

	canonical := ok("schema", "inspect", "app", "-o", "json")
	for _, format := range []string{"yaml", "hcl", "sql"} {
		name := "again." + format
		require.NoError(t, os.WriteFile(name, []byte(ok("schema", "inspect", "app", "-o", format)), 0o600))
		assert.Equal(t, canonical, ok("schema", "inspect", name, "-o", "json"), format)
	}
	pushed := strings.TrimSpace(ok("push", "schema", "app", "oci://"+host+"/app/orders:v1"))
	assert.Equal(t, canonical, ok("schema", "inspect", pushed, "-o", "json"))

	base, err := url.Parse(live)
	require.NoError(t, err)
	script, err := os.Open("again.sql")
	require.NoError(t, err)
	defer func() { _ = script.Close() }()
	client := exec.CommandContext(t.Context(), "mariadb", "--no-defaults", "--protocol=tcp", "--comments", "--default-character-set=utf8mb4", "-h"+base.Hostname(), "-P"+base.Port(), "-u"+mariadb.User, "live")
	client.Stdin, client.Env = script, append(os.Environ(), "MYSQL_PWD="+mariadb.Password)
	out, err := client.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, ok("schema", "diff", "env:LIVE_URL", pushed, "--exit-code"), "Difference:     none")

	run("INSERT INTO live.customers VALUES (1, 'a@example.test')")
	run("INSERT INTO live.orders (customer) VALUES (1)")
	run("ALTER TABLE live.orders MODIFY state enum('new','paid','sent','lost') NOT NULL DEFAULT 'new'")
	run("DROP TRIGGER live.noted")
	run("CREATE TRIGGER live.noted BEFORE INSERT ON live.orders FOR EACH ROW SET NEW.note = 'x'")
	stdout, _, code := ptah(t, env, "schema", "diff", "env:LIVE_URL", "app", "--exit-code")
	assert.Equal(t, options.Findings, code)
	assert.Contains(t, stdout, "a row that holds 'lost' stops the plan")
	assert.Contains(t, stdout, "rows change without the trigger until it is made again, also where the plan stops before")
	assert.Contains(t, stdout, "DELIMITER $$$\n")

	for name, want := range map[string]string{
		"wrong.sql":  "error: wrong.sql:2:",
		"wrong.yaml": "error: wrong.yaml:4:",
	} {
		_, stderr, code := ptah(t, env, "push", "schema", name, "oci://"+host+"/app/orders:v2")
		assert.Equal(t, options.Failed, code)
		assert.Contains(t, stderr, want)
		assert.NotContains(t, stderr, mariadb.Password)
	}
	t.Run("a dev server of another kind", func(t *testing.T) {
		programs, found := devserver.Find(os.Getenv)
		if !found {
			t.Skip("PostgreSQL's programs initdb and postgres are not installed")
		}
		postgres, err := devserver.Start(t.Context(), programs)
		require.NoError(t, err)
		t.Cleanup(postgres.Stop)
		other := map[string]string{"PTAH_DEV_URL": postgres.URL, "LIVE_URL": live}
		_, stderr, code := ptah(t, other, "schema", "inspect", "env:LIVE_URL", "-o", "sql")
		assert.Equal(t, options.Usage, code)
		assert.Contains(t, stderr, "the schema is one of mysql and the dev server speaks postgres")
	})
}

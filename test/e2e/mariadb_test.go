package e2e

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/test/mariadb"
)

const (
	mariaShop = `CREATE TABLE customers (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, email varchar(190) NOT NULL UNIQUE) ENGINE=InnoDB;
CREATE TABLE orders (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, customer bigint unsigned NOT NULL, state enum('open','paid') NOT NULL DEFAULT 'open', placed datetime NOT NULL,
  KEY orders_by_customer (customer), CONSTRAINT orders_customer FOREIGN KEY (customer) REFERENCES customers (id)) ENGINE=InnoDB;
CREATE VIEW open_orders AS SELECT id, customer FROM orders WHERE state = 'open';
`
	mariaStricter = mariaShop + `CREATE TABLE refunds (id bigint NOT NULL PRIMARY KEY) ENGINE=InnoDB;
ALTER TABLE orders ADD UNIQUE KEY one_order_a_customer (customer);
`
)

// TestSchemaConvergesOnMariaDB is the whole path on the other engine: plan, approval, Apply, proof; drift made by hand; and an Apply that fails in its
// middle, where no transaction takes back what ran.
func TestSchemaConvergesOnMariaDB(t *testing.T) {
	server, err := mariadb.Start(t.Context(), mariadb.Options{Host: it.PostgresHost, LogStatements: true})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	password, err := url.PathUnescape(sentinelPassword)
	require.NoError(t, err)
	run := func(database string, statements ...string) {
		t.Helper()
		db, err := mariadb.Open(server.URL(database))
		require.NoError(t, err)
		defer func() { _ = db.Close() }()
		for _, statement := range statements {
			_, err := db.ExecContext(t.Context(), statement)
			require.NoError(t, err, statement)
		}
	}
	run("", "CREATE DATABASE shop", "CREATE DATABASE dev", fmt.Sprintf("CREATE USER sentinel IDENTIFIED BY '%s'", password), "GRANT ALL ON shop.* TO sentinel")

	s := newStage(t, "mariadb")
	s.schema.Engine, s.schema.Interval = "MySQL", "20s"
	s.schema.URL = fmt.Sprintf("mysql://sentinel:%s@%s/shop?tls=false", sentinelPassword, server.Base().Host)
	publish := func(text string) {
		t.Helper()
		file := t.TempDir() + "/schema.sql"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		reference, err := it.PushSchemaOn(t.Context(), server.URL("dev"), "e2e/mariadb", file)
		require.NoError(t, err)
		s.schema.Reference = reference
		s.apply()
	}
	converge := func() {
		t.Helper()
		s.phase("AwaitingApproval")
		offered := s.offered()
		before, err := server.Statements()
		require.NoError(t, err)
		s.approve()
		s.phase("InSync")
		after, err := server.Statements()
		require.NoError(t, err)
		for _, statement := range offered {
			first, _, _ := strings.Cut(statement, "\n")
			assert.Equal(t, 1, strings.Count(after, first)-strings.Count(before, first), "each planned statement runs once: %s", first)
		}
	}

	publish(mariaShop)
	converge()
	run("shop", "INSERT INTO customers (email) VALUES ('a@example.org')", "INSERT INTO orders (customer, placed) VALUES (1, now()), (1, now())")

	run("shop", "DROP VIEW open_orders", "ALTER TABLE orders ALTER state SET DEFAULT 'paid'")
	converge()

	publish(mariaStricter)
	s.phase("AwaitingApproval")
	s.approve()
	s.messageHolds("Applying", "1 of 2 statements have run and stay", "rows hold duplicates")

	run("shop", "DELETE FROM orders WHERE id = 2")
	require.Eventually(t, func() bool {
		got := s.get()
		return got.Status.Phase == v1alpha1.SchemaPhaseAwaitingApproval && len(s.offered()) == 1
	}, patience, time.Second, "what has run is not planned again")
	converge()
}

package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/target"
)

// session is one connection to one server, pinned.
type session struct {
	pool   *sql.DB
	conn   *sql.Conn
	config *driver.Config
	server *server

	id          uint64
	database    string
	account     string // user@host that the server authenticated us as
	foldsNames  bool   // lower_case_table_names
	replicaOnly bool   // read_only
}

// killGrace is how long a killed statement may take to answer before its connection is given up.
const killGrace = 5 * time.Second

func connect(ctx context.Context, databaseURL string, timeout time.Duration) (*session, error) {
	c, err := config(databaseURL, target.Parse)
	if err != nil {
		return nil, err
	}
	return connectConfig(ctx, c, timeout)
}

// connectServer is connect for a dev server, whose URL needs no database.
func connectServer(ctx context.Context, devURL string, timeout time.Duration) (*session, error) {
	c, err := config(devURL, target.ParseServer)
	if err != nil {
		return nil, err
	}
	return connectConfig(ctx, c, timeout)
}

func connectConfig(ctx context.Context, c *driver.Config, timeout time.Duration) (*session, error) {
	if timeout <= 0 {
		timeout = defaultConnectTimeout
	}
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, fault.Wrap(err, frame.CodeDatabaseURLInvalid, "the database URL holds something that the driver does not take")
	}
	s := &session{pool: sql.OpenDB(connector), config: c}
	s.pool.SetMaxOpenConns(1)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if s.conn, err = s.pool.Conn(limited); err == nil {
		err = s.prepare(limited)
	}
	if err != nil {
		s.close()
		if ctx.Err() != nil {
			return nil, interrupted(ctx, err)
		}
		return nil, connectFault(err, timeout)
	}
	return s, nil
}

// prepare learns what the server is, and makes it write and read everything in one way whatever its configuration says.
func (s *session) prepare(ctx context.Context) error {
	var version string
	var database sql.NullString
	var folds int
	var readOnly string
	row := s.conn.QueryRowContext(ctx, "SELECT VERSION(), CONNECTION_ID(), DATABASE(), CURRENT_USER(), @@lower_case_table_names, @@read_only")
	if err := row.Scan(&version, &s.id, &database, &s.account, &folds, &readOnly); err != nil {
		return err
	}
	if s.server = serverOf(version); s.server == nil {
		return fault.New(frame.CodeConfigurationInvalid, "the server is version %q; supported are MySQL from 8.4 and MariaDB from 10.11", clean(version))
	}
	s.database, s.foldsNames, s.replicaOnly = database.String, folds != 0, readOnly != "0" && readOnly != "OFF"
	settings := []string{
		"sql_mode = " + literal(s.server.sqlMode), "sql_quote_show_create = 1", "time_zone = '+00:00'", "foreign_key_checks = 1", "unique_checks = 1",
		"autocommit = 1", "sql_auto_is_null = 0", "explicit_defaults_for_timestamp = 1",
	}
	settings = append(settings, s.server.extra...)
	if err := s.run(ctx, "SET SESSION "+strings.Join(settings, ", SESSION ")); isOneOf(err, errGlobalVariable, errReadOnlyVariable, errAccessDenied, errUnknownVariable) {
		// A server without one of them, or one that guards it, has the rest all the same.
		for _, setting := range settings {
			if err := s.run(ctx, "SET SESSION "+setting); err != nil && !isOneOf(err, errGlobalVariable, errReadOnlyVariable, errAccessDenied, errUnknownVariable) {
				return err
			}
		}
	} else if err != nil {
		return err
	}
	return s.run(ctx, "SET NAMES utf8mb4 COLLATE "+s.server.collation)
}

// clean makes a word of the server fit to be shown.
func clean(s string) string { return display(strings.ToValidUTF8(s, "?")) }

// close ends the session.
func (s *session) close() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
	_ = s.pool.Close() // the server ends an abandoned session by itself
}

// run sends one statement as it stands. When the context ends, the running statement is killed on the server, and its own answer is waited for.
func (s *session) run(ctx context.Context, statement string) error {
	inner, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	done := make(chan error, 1)
	go func() {
		_, err := s.conn.ExecContext(inner, statement)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	s.kill()
	select {
	case err := <-done:
		return err
	case <-time.After(killGrace):
		giveUp()
		return <-done
	}
}

// kill ends the running statement from a second connection. Where that does not work, the caller gives the connection up.
func (s *session) kill() {
	ctx, cancel := context.WithTimeout(context.Background(), killGrace)
	defer cancel()
	connector, err := driver.NewConnector(s.config)
	if err != nil {
		return
	}
	second := sql.OpenDB(connector)
	defer func() { _ = second.Close() }()
	_, _ = second.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", s.id))
}

// readOnly runs f in one READ ONLY transaction with a consistent snapshot, which always ends in a rollback.
func (s *session) readOnly(ctx context.Context, f func(context.Context) error) error {
	if err := s.run(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"); err != nil {
		return queryFault(ctx, err, "opening a read-only transaction")
	}
	defer s.rollback()
	return f(ctx)
}

func (s *session) rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if s.run(ctx, "ROLLBACK") != nil {
		s.close()
	}
}

// rows runs a query and calls f with the values of every row, NULL as "".
func (s *session) rows(ctx context.Context, doing, query string, f func(row []string)) error {
	return s.nullable(ctx, doing, query, func(columns []sql.NullString) {
		row := make([]string, len(columns))
		for i := range columns {
			row[i] = columns[i].String
		}
		f(row)
	})
}

func (s *session) nullable(ctx context.Context, doing, query string, f func(row []sql.NullString)) error {
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return queryFault(ctx, err, doing)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		return queryFault(ctx, err, doing)
	}
	row, targets := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range row {
		targets[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return queryFault(ctx, err, doing)
		}
		f(row)
	}
	if err := rows.Err(); err != nil {
		return queryFault(ctx, err, doing)
	}
	return nil
}

package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/frame"
)

// Majors of the server that the catalog reader knows.
const (
	oldestMajor = 14
	newestMajor = 18
)

const (
	defaultConnectTimeout = 15 * time.Second
	// cancelGrace is how long a cancelled statement may take to answer before its connection is given up.
	cancelGrace = 5 * time.Second
	// closeGrace bounds what is done after the caller's context has ended: ROLLBACK, closing, dropping a scratch database.
	closeGrace = 10 * time.Second
)

// session is one connection to one backend.
type session struct {
	conn  *pgx.Conn
	major int
	// heritage and ties are what the last reading of the catalog left out of the model.
	heritage
	ties []tie
	// authority is what the last reading found of privileges beside the model; nil where none are managed.
	authority *authority
}

// connect opens a session. A cancelled context cancels the running statement on the server and keeps the connection usable, so that the
// transaction can be rolled back and the rollback confirmed.
func connect(ctx context.Context, url string, timeout time.Duration) (*session, error) {
	config, err := parseConfig(url)
	if err != nil {
		return nil, err
	}
	return connectConfig(ctx, config, timeout)
}

func connectConfig(ctx context.Context, config *pgx.ConnConfig, timeout time.Duration) (*session, error) {
	if timeout <= 0 {
		timeout = defaultConnectTimeout
	}
	config.ConnectTimeout = 0 // the context below bounds all attempts together
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(limited, config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, interrupted(ctx, err)
		}
		return nil, connectFault(err, timeout)
	}
	s := &session{conn: conn}
	if err := s.readMajor(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func parseConfig(url string) (*pgx.ConnConfig, error) {
	if url == "" {
		return nil, fault.New(frame.CodeCredentialMissing, "the database URL is empty")
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		// The library's text may quote parts of the URL.
		return nil, fault.Wrap(err, frame.CodeDatabaseURLInvalid, "%s", contract.UnreadableURL)
	}
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cancelGrace}
	}
	// No prepared statements: they do not survive a pooler, and every statement must stand once in the server's log.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.StatementCacheCapacity, config.DescriptionCacheCapacity = 0, 0
	config.RuntimeParams["client_encoding"] = "UTF8" // a database, a role or the URL may have another one
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "ptah"
	}
	return config, nil
}

func (s *session) readMajor() error {
	version := s.conn.PgConn().ParameterStatus("server_version")
	digits := 0
	for digits < len(version) && version[digits] >= '0' && version[digits] <= '9' {
		digits++
	}
	major, err := strconv.Atoi(version[:digits])
	if err != nil || major < oldestMajor || major > newestMajor {
		return fault.New(frame.CodeConfigurationInvalid, "the server is PostgreSQL %q; supported are %d to %d", version, oldestMajor, newestMajor)
	}
	s.major = major
	return nil
}

// backend is the process that serves the session. Behind a pooler it is not what the connection was told at its start.
func (s *session) backend(ctx context.Context) (pid uint32, err error) {
	if err := s.conn.QueryRow(ctx, "SELECT pg_catalog.pg_backend_pid()").Scan(&pid); err != nil {
		return 0, queryFault(ctx, err, "asking the server for its state")
	}
	return pid, nil
}

// close ends the session whatever became of the caller's context.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	_ = s.conn.Close(ctx) // the server ends an abandoned session by itself
}

// run sends one statement as it stands, by the simple protocol: it is logged once.
func (s *session) run(ctx context.Context, sql string) error {
	_, err := s.conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}

// deparse makes the server write and read every name and constant in one way, for the current transaction: no search path, so that all
// names are qualified; fixed styles, so that constants print alike everywhere.
const deparse = `SELECT set_config('search_path', '', true), set_config('datestyle', 'ISO, MDY', true), set_config('intervalstyle', 'postgres', true),
 set_config('timezone', 'UTC', true), set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true),
 set_config('standard_conforming_strings', 'on', true), set_config('quote_all_identifiers', 'off', true), set_config('xmloption', 'content', true),
 set_config('lc_monetary', 'C', true), set_config('default_tablespace', '', true), set_config('default_table_access_method', 'heap', true),
 set_config('transform_null_equals', 'off', true), set_config('array_nulls', 'on', true), set_config('jit', 'off', true)`

// readOnly runs f in one READ ONLY REPEATABLE READ transaction, which always ends in a rollback.
func (s *session) readOnly(ctx context.Context, f func(context.Context) error) error {
	if err := s.run(ctx, "BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ"); err != nil {
		return queryFault(ctx, err, "opening a read-only transaction")
	}
	defer s.rollback()
	if err := s.run(ctx, deparse); err != nil {
		return queryFault(ctx, err, "preparing a read-only transaction")
	}
	return f(ctx)
}

// rollback ends the transaction, if need be by letting the session go.
func (s *session) rollback() {
	if s.conn.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if s.run(ctx, "ROLLBACK") != nil {
		s.close()
	}
}

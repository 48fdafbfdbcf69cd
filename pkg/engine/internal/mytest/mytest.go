// Package mytest gives tests a throw-away MariaDB, one per test binary. It skips the tests where no server programs are installed. PTAH_TEST_MYSQL_URL
// names a server to use instead, such as a MySQL: its account must be allowed everything.
package mytest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/test/mariadb"
)

// The account that tests connect as. It is allowed everything.
const (
	User     = mariadb.User
	Password = mariadb.Password
)

// Server is a running MariaDB.
type Server struct {
	base    *url.URL // without a database
	process *mariadb.Server
}

var (
	once     sync.Once
	shared   *Server
	startErr error
	counter  atomic.Int64
)

// Stop ends the test binary's server, if one was started. Call it at the end of TestMain.
func Stop() {
	if shared != nil {
		shared.Kill()
	}
}

// Main runs the tests and stops the server. Use it as the body of TestMain.
func Main(m *testing.M) {
	m.Run() // whose code the test binary exits with
	Stop()
}

// Start returns the test binary's server and starts it the first time.
func Start(t testing.TB) *Server {
	t.Helper()
	given := os.Getenv("PTAH_TEST_MYSQL_URL")
	if given == "" && !mariadb.Installed() {
		t.Skip("no MariaDB server programs: install the Debian package mariadb-server, or point PTAH_TEST_MYSQL_URL at a server")
	}
	once.Do(func() {
		if given == "" {
			shared, startErr = start()
			return
		}
		var base *url.URL
		if base, startErr = url.Parse(given); startErr == nil {
			shared = &Server{base: base}
		}
	})
	require.NoError(t, startErr)
	return shared
}

func start() (*Server, error) {
	process, err := mariadb.Start(context.Background(), mariadb.Options{})
	if err != nil {
		return nil, err
	}
	return &Server{base: process.Base(), process: process}, nil
}

// Kill ends a server at once, as a crash of its machine would.
func (s *Server) Kill() {
	if s.process != nil {
		s.process.Stop()
	}
}

// URL leads to a database as the account that is allowed everything.
func (s *Server) URL(database string) string { return mariadb.On(s.base, database) }

// URLAs leads to a database as another account.
func (s *Server) URLAs(database, name, password string) string {
	u := *s.base
	u.User = url.UserPassword(name, password)
	return mariadb.On(&u, database)
}

// Address is the host and port of the server.
func (s *Server) Address() string { return s.base.Host }

// Exec runs statements on one session and fails the test on an error.
func (s *Server) Exec(t testing.TB, databaseURL string, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	db, err := mariadb.Open(databaseURL)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		_, err := db.ExecContext(ctx, statement)
		require.NoError(t, err, "%s", statement)
	}
}

// Open gives one session, for the test to close.
func Open(t testing.TB, databaseURL string) *sql.DB {
	t.Helper()
	db, err := mariadb.Open(databaseURL)
	require.NoError(t, err)
	return db
}

// StartAnother starts a second server, for the duration of one test.
func StartAnother(t testing.TB) *Server {
	t.Helper()
	Start(t) // skips without binaries
	if !mariadb.Installed() {
		t.Skip("no MariaDB server programs for a second server")
	}
	s, err := start()
	require.NoError(t, err)
	t.Cleanup(s.Kill)
	return s
}

// Value runs a query and returns the one value that it yields.
func Value[T any](t testing.TB, databaseURL, query string) T {
	t.Helper()
	db, err := mariadb.Open(databaseURL)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	var v T
	require.NoError(t, db.QueryRow(query).Scan(&v), "%s", query)
	return v
}

// NewDatabase creates an empty database, runs statements in it, and drops it after the test.
func (s *Server) NewDatabase(t testing.TB, statements ...string) string {
	t.Helper()
	target, drop := s.TemporaryDatabase(t)
	t.Cleanup(drop)
	if len(statements) > 0 {
		s.Exec(t, target, statements...)
	}
	return target
}

// TemporaryDatabase creates an empty database and returns its URL and what drops it.
func (s *Server) TemporaryDatabase(t testing.TB) (target string, drop func()) {
	t.Helper()
	name := fmt.Sprintf("t%d_%d", os.Getpid(), counter.Add(1))
	s.Exec(t, s.URL(""), "CREATE DATABASE "+name)
	return s.URL(name), func() { s.Exec(t, s.URL(""), "DROP DATABASE IF EXISTS "+name) }
}

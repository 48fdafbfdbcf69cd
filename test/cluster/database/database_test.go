package database

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServerKeepsDataUntilRemoved(t *testing.T) {
	if _, _, err := Programs(0); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	// Not t.TempDir: the server's user must be able to get there.
	parent, err := os.MkdirTemp("", "ptah-database-test")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(parent)) })
	require.NoError(t, os.Chmod(parent, 0o755))
	log := &bytes.Buffer{}
	options := Options{Dir: filepath.Join(parent, "pg"), Password: "it's a secret", LogStatement: "all", Log: log}

	server, err := Start(ctx, options)
	require.NoError(t, err)
	execute(ctx, t, server, "CREATE TABLE kept (id int)")
	server.Stop()
	assert.Contains(t, log.String(), "CREATE TABLE kept", "log_statement is passed on")
	assert.NotContains(t, log.String(), "secret")

	again, err := Start(ctx, options)
	require.NoError(t, err)
	execute(ctx, t, again, "SELECT id FROM kept")
	require.NoError(t, again.Remove())
	assert.NoDirExists(t, options.Dir)
	select {
	case <-again.Done():
	default:
		t.Error("the server still runs")
	}
}

func execute(ctx context.Context, t *testing.T, server *Server, statement string) {
	t.Helper()
	conn, err := pgx.Connect(ctx, server.URL("127.0.0.1", server.Port()))
	require.NoError(t, err)
	_, err = conn.Exec(ctx, statement)
	require.NoError(t, err)
	require.NoError(t, conn.Close(ctx))
}

func TestStartExplainsABadSetting(t *testing.T) {
	if _, _, err := Programs(0); err != nil {
		t.Skip(err)
	}
	parent, err := os.MkdirTemp("", "ptah-database-test")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(parent)) })
	require.NoError(t, os.Chmod(parent, 0o755))
	log := &bytes.Buffer{}
	_, err = Start(context.Background(), Options{
		Dir: filepath.Join(parent, "pg"), Settings: []string{"no_such_setting=1"}, Log: log,
	})
	assert.ErrorContains(t, err, "ended while starting")
	assert.Contains(t, log.String(), "no_such_setting")
}

func TestProgramsOfAVersionThatIsNotThere(t *testing.T) {
	_, _, err := Programs(3)
	var absent *NoServerError
	require.ErrorAs(t, err, &absent)
	assert.ErrorContains(t, err, "PostgreSQL 3")
}

func TestURLQuotesThePassword(t *testing.T) {
	config, err := pgx.ParseConfig(URL("p@ss/w:rd?", "10.88.0.1", 5432))
	require.NoError(t, err)
	assert.Equal(t, "p@ss/w:rd?", config.Password)
	assert.Equal(t, "10.88.0.1", config.Host)
}

package pgtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// StartPooler starts a PgBouncer before the server, for the duration of one test, and returns what makes the URL of a database lead through it. In the
// mode "session" each session has a backend to itself, which the next one finds reset but with a warm catalog cache; in the mode "transaction" it
// has one for each transaction, and nothing is reset. It reports false where PgBouncer is not installed.
func (s *Server) StartPooler(t testing.TB, mode string) (through func(databaseURL string) string, installed bool) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		return nil, false
	}
	port, err := freePort()
	require.NoError(t, err)
	cred, err := credential()
	require.NoError(t, err)
	users := filepath.Join(s.dir, "pooler-users-"+mode)
	require.NoError(t, os.WriteFile(users, fmt.Appendf(nil, "%q %q\n", User, Password), 0o644)) //nolint:gosec // a test password, read by another user
	config := filepath.Join(s.dir, "pooler-"+mode+".ini")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `[databases]
* = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = %s
server_reset_query = DISCARD ALL
max_client_conn = 100
default_pool_size = 10
max_db_connections = 10
ignore_startup_parameters = extra_float_digits
log_connections = 0
log_disconnections = 0
`, s.Port, port, users, mode), 0o644)) //nolint:gosec // read by another user
	process := exec.Command(program, "-q", config)
	process.Dir, process.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: cred, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGINT)
		_ = process.Wait()
	})
	through = func(databaseURL string) string {
		u, err := url.Parse(databaseURL)
		require.NoError(t, err)
		u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		return u.String()
	}
	ready := func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, through(s.URL("postgres")))
		if err != nil {
			return false
		}
		return conn.Close(ctx) == nil
	}
	require.Eventually(t, ready, time.Minute, 50*time.Millisecond, "PgBouncer did not answer")
	return through, true
}

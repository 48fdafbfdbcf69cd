//go:build linux

package forward

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/test/cluster/process"
)

func TestUsualPortIsSteadyAndInRange(t *testing.T) {
	for _, name := range []string{"", "ptah", "ptah-api", "ptah/default"} {
		port := UsualPort(name)
		assert.Equal(t, port, UsualPort(name))
		assert.GreaterOrEqual(t, port, portBase)
		assert.Less(t, port+3, portBase+portSpan)
	}
}

func TestAddTakesTheNextPortWhenOneIsTaken(t *testing.T) {
	first, second := &Sockets{}, &Sockets{}
	defer first.Close()
	defer second.Close()
	want := UsualPort(t.Name())
	taken, err := first.Add(want, "a:1")
	require.NoError(t, err)
	next, err := second.Add(taken, "b:2")
	require.NoError(t, err)
	assert.Greater(t, next, taken)
}

// The namespace is this process's own here; entering another one needs a cluster and is tested with it.
func TestServeCarriesBothDirectionsAndTheEndOfAStream(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("entering a network namespace needs root")
	}
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer echo.Close()
	go func() {
		conn, err := echo.Accept()
		if err != nil {
			return
		}
		data, _ := io.ReadAll(conn) // ends only if the client's half-close is passed on
		_, _ = conn.Write(append([]byte("heard "), data...))
		conn.Close()
	}()
	sockets := &Sockets{}
	port, err := sockets.Add(UsualPort(t.Name()), echo.Addr().String())
	require.NoError(t, err)
	file, err := sockets.listeners[0].File()
	require.NoError(t, err)
	sockets.Close()
	self, err := process.Identify(os.Getpid())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = Serve(ctx, self, []*os.File{file}, []string{echo.Addr().String()}) }()

	conn, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
	_, err = conn.Write([]byte("hello"))
	require.NoError(t, err)
	require.NoError(t, conn.CloseWrite())
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Equal(t, "heard hello", string(answer))
}

func TestServeRefusesAClusterThatIsGone(t *testing.T) {
	self, err := process.Identify(os.Getpid())
	require.NoError(t, err)
	self.Start++
	assert.ErrorContains(t, Serve(context.Background(), self, nil, nil), "the cluster is gone")
}

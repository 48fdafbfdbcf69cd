package registry

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestImageIsTheSameEveryTimeAndSurvivesTheRegistry(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(binary, []byte("content"), 0o755))
	first, err := ProgramImage(binary)
	require.NoError(t, err)
	require.NoError(t, os.Chtimes(binary, time.Unix(1, 0), time.Unix(1, 0)))
	second, err := ProgramImage(binary)
	require.NoError(t, err)
	want, err := Reference("registry:5000", "a/b", first)
	require.NoError(t, err)
	got, err := Reference("registry:5000", "a/b", second)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	ctx, cancel := context.WithCancel(context.Background())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, address, filepath.Join(t.TempDir(), "blobs")) }()
	reference := strings.Replace(want, "registry:5000", address, 1)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.NoError(c, Push(context.Background(), reference, first))
	}, 5*time.Second, 20*time.Millisecond)
	parsed, err := name.NewDigest(reference, name.Insecure)
	require.NoError(t, err)
	pulled, err := remote.Image(parsed)
	require.NoError(t, err)
	file, err := pulled.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, []string{"/program"}, file.Config.Entrypoint)
	cancel()
	assert.NoError(t, <-served)
}

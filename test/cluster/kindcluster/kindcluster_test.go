package kindcluster

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ptah "github.com/ptah-run/ptah/test/cluster"
)

func TestHostsFile(t *testing.T) {
	assert.Equal(t, "server = \"http://172.18.0.1:5000\"\n\n[host.\"http://172.18.0.1:5000\"]\n"+
		"  capabilities = [\"pull\", \"resolve\"]\n", hostsFile("172.18.0.1:5000"))
}

func TestFirstIPv4(t *testing.T) {
	assert.Equal(t, "172.18.0.1", firstIPv4("fc00:f853:ccd:e793::1 172.18.0.1 "))
	assert.Empty(t, firstIPv4("fc00:f853:ccd:e793::1"))
}

func TestAClusterThatWasNeverUp(t *testing.T) {
	t.Setenv("PTAH_CACHE_DIR", t.TempDir())
	driver, err := New("c", "/nowhere")
	require.NoError(t, err)
	status, err := driver.Status(context.Background())
	require.NoError(t, err)
	assert.False(t, status.Running)
	var absent *ptah.NotRunningError
	_, err = driver.Env(context.Background())
	assert.ErrorAs(t, err, &absent)
	assert.NoError(t, driver.Down(context.Background()))
	assert.Error(t, driver.Up(context.Background(), ptah.UpOptions{NoNode: true, Progress: io.Discard}))
}

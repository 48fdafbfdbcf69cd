package process

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIdentityOutlivesNeitherProcessNorReuse(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	identity, err := Detach(cmd, filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	assert.True(t, identity.Alive())

	stranger := identity
	stranger.Start++
	assert.False(t, stranger.Alive(), "the same id started at another time is another process")
	require.NoError(t, stranger.Kill(context.Background()))
	assert.True(t, identity.Alive(), "killing a recorded process must not hit the one that has its id now")

	require.NoError(t, identity.Kill(context.Background()))
	assert.False(t, identity.Alive())
	assert.NoError(t, identity.Kill(context.Background()), "nothing to do")
	assert.False(t, Identity{}.Alive())
}

// manager is shared: it reaps every child of the test process, as process 1 does.
func TestManager(t *testing.T) {
	m := NewManager()
	log := filepath.Join(t.TempDir(), "log")
	state := func(name string) State {
		for _, s := range m.List() {
			if s.Name == name {
				return s
			}
		}
		return State{}
	}
	eventually := func(what string, check func() bool) {
		require.Eventually(t, check, 5*time.Second, 10*time.Millisecond, what)
	}

	require.NoError(t, m.Start(Spec{Name: "once", Argv: []string{"sh", "-c", "echo said; exit 3"}, LogFile: log}))
	eventually("ends by itself", func() bool { return state("once").State == "exited" })
	assert.Equal(t, "exit code 3", state("once").Exit)
	data, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "said\n", string(data))

	require.NoError(t, m.Start(Spec{Name: "again", Argv: []string{"sleep", "0.01"}, LogFile: log, Restart: true}))
	eventually("is started again", func() bool { return state("again").Restarts > 0 })
	assert.Error(t, m.Start(Spec{Name: "again", Argv: []string{"true"}, LogFile: log}), "one process a name")
	require.NoError(t, m.Stop(context.Background(), "again"))

	require.NoError(t, m.Start(Spec{
		Name: "stubborn", Argv: []string{"sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"}, LogFile: log,
	}))
	eventually("has set its trap", func() bool {
		data, err := os.ReadFile(log)
		return err == nil && string(data) == "said\nready\n"
	})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	require.NoError(t, m.Stop(ctx, "stubborn"))
	assert.Empty(t, state("stubborn").Name)
	assert.NoError(t, m.Stop(context.Background(), "unknown"))

	assert.ErrorContains(t, m.Start(Spec{Name: "absent", Argv: []string{"no-such-program"}, LogFile: log}), "starting absent")
}

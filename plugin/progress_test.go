package plugin_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
)

// The API server answers nothing before the command has said on stderr that it waits for it: a command that would not say so would not end.
func TestCommandsSayThatTheyWait(t *testing.T) {
	for _, command := range []string{
		"status -A", "plan orders", "migration ledger", "events orders", "find-stalled -A", "prune -A", "version", "preflight --for uninstall",
		"diff ptah-plan-1 ptah-plan-2", "approve orders --yes", "reject orders --reason no --yes", "suspend orders --yes", "resume orders --yes",
		"clear-unresolved ledger --reason no", "export --all -o {dir}/b.tar", "support-bundle -o {dir}/b.tar.gz",
	} {
		t.Run(command, func(t *testing.T) {
			s, _ := stage(t)
			stderr := &lockedBuffer{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Eventually(t, func() bool { return strings.Contains(stderr.String(), "asking the API server at ") }, 20*time.Second, time.Millisecond, r.URL.Path)
				s.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			directory := t.TempDir()
			kubeconfig := filepath.Join(directory, "kubeconfig")
			writeKubeconfig(t, kubeconfig, &rest.Config{Host: server.URL})
			stdout := &lockedBuffer{}
			global := options.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: stdout, ErrOut: stderr}, options.Screen{}, fixedClock, noEnv)
			global.Patience = 0
			args := words(strings.ReplaceAll(command, "{dir}", directory))
			plugin.Run(t.Context(), global, "kubectl-ptah", append(args, "--kubeconfig", kubeconfig))
			assert.Contains(t, stderr.String(), "asking the API server at "+strings.TrimPrefix(server.URL, "http://"))
			assert.NotContains(t, stdout.String(), "asking")
		})
	}
}

// Cron mails whatever is written, and a collector's job runs under cron: both are silent, however long the API server takes.
func TestFindStalledIsSilentUnderCron(t *testing.T) {
	for _, args := range [][]string{{"--for", "cron"}, {"-o", "prometheus"}} {
		_, kubeconfig := stage(t)
		stderr := &lockedBuffer{}
		global := options.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &lockedBuffer{}, ErrOut: stderr}, options.Screen{}, fixedClock, noEnv)
		code := plugin.Run(t.Context(), global, "kubectl-ptah", append([]string{"find-stalled", "-A", "--kubeconfig", kubeconfig}, args...))
		require.Equal(t, options.Done, code, stderr.String())
		assert.Equal(t, options.Silent, global.Patience, args)
		assert.Empty(t, stderr.String(), args)
	}
}

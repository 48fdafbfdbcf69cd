package options

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const twoContexts = `
apiVersion: v1
kind: Config
current-context: one
clusters: [{name: a, cluster: {server: "https://a.example"}}, {name: b, cluster: {server: "https://b.example"}}]
contexts: [{name: one, context: {cluster: a, user: u, namespace: app}}, {name: two, context: {cluster: b, user: u}}]
users: [{name: u, user: {token: t}}]
`

// parse gives the flags that are typed, in a home without a kubeconfig.
func parse(t *testing.T, args ...string) *Kubeconfig {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	k := &Kubeconfig{}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	k.addFlags(flags)
	require.NoError(t, flags.Parse(args))
	return k
}

func TestFlagsReachTheCluster(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte(twoContexts), 0o600))
	for name, c := range map[string]struct {
		args            []string
		host, namespace string
	}{
		"the current context": {[]string{"--kubeconfig", file}, "https://a.example", "app"},
		"another context":     {[]string{"--kubeconfig", file, "--context", "two"}, "https://b.example", "default"},
		"a namespace":         {[]string{"--kubeconfig", file, "-n", "shop"}, "https://a.example", "shop"},
		"another cluster":     {[]string{"--kubeconfig", file, "--cluster", "b"}, "https://b.example", "app"},
		"a server alone":      {[]string{"-s", "https://c.example"}, "https://c.example", "default"},
	} {
		t.Run(name, func(t *testing.T) {
			k := parse(t, c.args...)
			config, err := k.rest()
			require.NoError(t, err)
			assert.Equal(t, c.host, config.Host)
			namespace, err := k.namespace()
			require.NoError(t, err)
			assert.Equal(t, c.namespace, namespace)
		})
	}
}

func TestImpersonation(t *testing.T) {
	k := parse(t, "-s", "https://c.example", "--as", "alice", "--as-group", "dba", "--as-group", "ops", "--as-uid", "7", "--as-user-extra", "scope=read", "--as-user-extra", "scope=plan=1")
	config, err := k.rest()
	require.NoError(t, err)
	assert.Equal(t, "alice", config.Impersonate.UserName)
	assert.Equal(t, []string{"dba", "ops"}, config.Impersonate.Groups)
	assert.Equal(t, "7", config.Impersonate.UID)
	assert.Equal(t, map[string][]string{"scope": {"read", "plan=1"}}, config.Impersonate.Extra)
}

func TestWhatCannotReachACluster(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
		code Code
	}{
		"no kubeconfig":       {nil, "set KUBECONFIG, or give --kubeconfig or --server", Failed},
		"a file that is gone": {[]string{"--kubeconfig", "nowhere/config"}, "nowhere/config", Failed},
		"an extra of no form": {[]string{"-s", "https://c.example", "--as-user-extra", "scope"}, "want key=value", Usage},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, c.args...).rest()
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, c.code, CodeOf(err))
		})
	}
}

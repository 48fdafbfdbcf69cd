package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/test/cluster"
)

// run runs the real root command in an empty cache, as a user would without any cluster.
func run(t *testing.T, arguments ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("PTAH_CACHE_DIR", t.TempDir())
	for _, variable := range []string{nameVariable, driverVariable, noNodeVariable, cluster.InsideVariable} {
		if _, set := os.LookupEnv(variable); set {
			t.Setenv(variable, "")
		}
	}
	var out, err bytes.Buffer
	code = Main(arguments, &out, &err)
	return code, out.String(), err.String()
}

func TestExitCodesAndMessages(t *testing.T) {
	for name, tc := range map[string]struct {
		arguments []string
		code      int
		stderr    string
	}{
		"unknown flag":         {[]string{"up", "--nope"}, exitUsage, "ptah-cluster: unknown flag: --nope\nSee ptah-cluster --help.\n"},
		"too many arguments":   {[]string{"down", "x"}, exitUsage, "ptah-cluster: accepts 0 arg(s), received 1\nSee ptah-cluster --help.\n"},
		"exec without command": {[]string{"exec"}, exitUsage, "ptah-cluster: exec needs a command\nSee ptah-cluster --help.\n"},
		"unknown driver": {
			[]string{"up", "--driver", "vm"},
			exitUsage,
			"ptah-cluster: unknown cluster driver \"vm\", there are local and kind\nSee ptah-cluster --help.\n",
		},
		"env of nothing": {
			[]string{"env"},
			exitFailure,
			"ptah-cluster: cluster ptah is not running; start it with: ptah-cluster up --name ptah\n",
		},
		"exec in nothing": {
			[]string{"exec", "--name", "x", "--", "true"},
			exitFailure,
			"ptah-cluster: cluster x is not running; start it with: ptah-cluster up --name x\n",
		},
		"bad name": {
			[]string{"up", "--name", "A"},
			exitFailure,
			"ptah-cluster: cluster name \"A\": want 1 to 32 lower case letters, digits and inner dashes\n",
		},
		"down of nothing":  {[]string{"down"}, 0, ""},
		"status of none":   {[]string{"status"}, exitDown, ""},
		"database of none": {[]string{"postgres", "down", "--name", "shop"}, 0, ""},
		"supervise by hand": {
			[]string{"supervise", "x"},
			exitFailure,
			"ptah-cluster: supervise must be process 1 of a namespace of its own, not of the machine's\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := run(t, tc.arguments...)
			assert.Equal(t, tc.code, code)
			assert.Equal(t, tc.stderr, stderr)
		})
	}
}

func TestStatusOfNothing(t *testing.T) {
	_, stdout, _ := run(t, "status")
	assert.Equal(t, "cluster  ptah (local)\nstate    not running\n", stdout)
	_, stdout, _ = run(t, "status", "--no-node", "-o", "json")
	assert.JSONEq(t, `{"name":"ptah-api","driver":"local","running":false,"ready":false}`, stdout)
}

func TestHelpHidesWhatClustersRunForThemselves(t *testing.T) {
	_, stdout, _ := run(t, "--help")
	for _, verb := range []string{"build", "assets", "up", "down", "status", "env", "exec", "logs", "postgres"} {
		assert.Regexp(t, `(?m)^  `+verb+` `, stdout)
	}
	for _, verb := range []string{"supervise", "probe", "forward", "registry", "dns", "serve-database"} {
		assert.NotRegexp(t, `(?m)^  `+verb+` `, stdout)
	}
}

func TestClusterName(t *testing.T) {
	assert.Equal(t, "ptah", (&options{}).clusterName())
	assert.Equal(t, "ptah-api", (&options{noNode: true}).clusterName())
	assert.Equal(t, "mine", (&options{noNode: true, name: "mine"}).clusterName())
}

func TestExportsSurviveAShell(t *testing.T) {
	text := exports(cluster.Env{
		Name: "c", Kubeconfig: "/it's here/config", PathEntry: "/bin dir", Registry: "10.88.0.1:5000", RegistryHost: "127.0.0.1:20001",
	})
	assert.Equal(t, `export KUBECONFIG='/it'\''s here/config'
export PTAH_CLUSTER_NAME='c'
export PTAH_REGISTRY='10.88.0.1:5000'
export PTAH_REGISTRY_HOST='127.0.0.1:20001'
export PATH='/bin dir':"$PATH"
`, text)
	assert.NotContains(t, exports(cluster.Env{Name: "kind"}), "PATH", "kubectl and helm are the user's there")
}

// Whoever is not root is told so, together with everything else, and nothing is touched.
func TestUpWithoutRoot(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("this is root")
	}
	code, _, stderr := run(t, "up")
	assert.Equal(t, exitFailure, code)
	assert.Contains(t, stderr, "this machine cannot run the cluster yet:\n  - root")
	entries, err := os.ReadDir(os.Getenv("PTAH_CACHE_DIR"))
	require.NoError(t, err)
	assert.Empty(t, entries)
	assert.NoFileExists(t, filepath.Join(os.Getenv("PTAH_CACHE_DIR"), "cluster", "ptah.lock"))
}

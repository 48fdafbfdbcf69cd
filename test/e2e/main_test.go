// Package e2e runs the product on the real local cluster: the chart as a user installs it, real Pods, a real registry and a real PostgreSQL.
package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/test/rig"
)

// Sentinels: words that stand in credentials and nowhere else. No log, Event or status may ever hold one of them.
const sentinelPassword = "s3ntinel-pa%2Fss"

// sentinelFragments are the forms in which a leaked password would show.
var sentinelFragments = []string{"s3ntinel-pa", "s3ntinel"}

var (
	it      *rig.Rig
	cluster client.Client
	config  *rest.Config
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if it, err = rig.FromEnv(); err != nil {
		fmt.Fprintf(os.Stderr, "the end-to-end tests need the local cluster: %v\n", err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := setUp(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "setting up: %v\n", err)
		return 1
	}
	return m.Run()
}

func setUp(ctx context.Context) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	var err error
	if config, err = clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")); err != nil {
		return err
	}
	config.QPS = -1
	if cluster, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if err := it.InstallOperator(ctx); err != nil {
		return err
	}
	if err := it.Exec(ctx, "postgres", "SELECT 1"); err != nil {
		return err
	}
	return it.EnsureRole(ctx, "sentinel", "s3ntinel-pa/ss")
}

// stage is one test's own namespace, database and schema.
type stage struct {
	t        *testing.T
	ns, name string
	schema   rig.Schema
}

// newStage makes an empty database owned by the sentinel role and a clean namespace; both go with the test.
func newStage(t *testing.T, name string) *stage {
	t.Helper()
	s := &stage{t: t, ns: "e2e-" + name, name: name}
	database := "e2e_" + name
	require.NoError(t, it.RecreateDatabase(t.Context(), database))
	require.NoError(t, it.Exec(t.Context(), "postgres", fmt.Sprintf(`ALTER DATABASE %q OWNER TO sentinel`, database)))
	require.NoError(t, it.DeleteNamespace(t.Context(), s.ns))
	s.schema = rig.Schema{Namespace: s.ns, Name: name, URL: it.RoleURL("sentinel", sentinelPassword, database), Interval: "1h"}
	t.Cleanup(func() {
		if t.Failed() {
			s.dump()
		}
		s.noSentinel()
		_ = it.DeleteNamespace(context.Background(), s.ns)
	})
	return s
}

func (s *stage) database() string { return "e2e_" + s.name }

// publish pushes SQL text and returns the pinned reference.
func (s *stage) publish(sql string) string {
	s.t.Helper()
	file := s.t.TempDir() + "/schema.sql"
	require.NoError(s.t, os.WriteFile(file, []byte(sql), 0o600))
	ref, err := it.PushSchema(s.t.Context(), "e2e/"+s.name, file)
	require.NoError(s.t, err)
	return ref
}

// apply sends the schema as it stands now.
func (s *stage) apply() {
	s.t.Helper()
	require.NoError(s.t, it.ApplySchema(s.t.Context(), s.schema))
}

// phase waits for a phase.
func (s *stage) phase(want string) {
	s.t.Helper()
	require.NoError(s.t, it.WaitField(s.t.Context(), s.ns, "ptahschema", s.name, ".status.phase", want, patience, nil))
}

// condition waits until a condition has the status and reason, and returns its message.
func (s *stage) condition(kind, status, reason string) string {
	s.t.Helper()
	path := fmt.Sprintf(`.status.conditions[?(@.type==%q)]`, kind)
	require.NoError(s.t, it.WaitField(s.t.Context(), s.ns, "ptahschema", s.name, path+".reason", reason, patience, nil))
	require.NoError(s.t, it.WaitField(s.t.Context(), s.ns, "ptahschema", s.name, path+".status", status, time.Minute, nil))
	message, err := it.Field(s.t.Context(), s.ns, "ptahschema", s.name, path+".message")
	require.NoError(s.t, err)
	return message
}

// messageHolds waits until a condition's message holds the words.
func (s *stage) messageHolds(kind string, words ...string) string {
	s.t.Helper()
	path := fmt.Sprintf(`.status.conditions[?(@.type==%q)].message`, kind)
	message, err := it.WaitWords(s.t.Context(), s.ns, "ptahschema", s.name, path, words, patience)
	require.NoError(s.t, err)
	return message
}

// approve approves the plan on offer through the plugin.
func (s *stage) approve() {
	s.t.Helper()
	_, err := it.Must(s.t.Context(), "", "kubectl-ptah", "approve", s.name, "-n", s.ns, "--yes")
	require.NoError(s.t, err)
}

// get reads the schema.
func (s *stage) get() *v1alpha1.PtahSchema {
	s.t.Helper()
	var out v1alpha1.PtahSchema
	require.NoError(s.t, cluster.Get(s.t.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, &out))
	return &out
}

// events returns reason and message of every Event in the namespace.
func (s *stage) events() []string {
	var list corev1.EventList
	if err := cluster.List(context.Background(), &list, client.InNamespace(s.ns)); err != nil {
		return []string{err.Error()}
	}
	var out []string
	for i := range list.Items {
		out = append(out, list.Items[i].Reason+": "+list.Items[i].Message)
	}
	return out
}

// dump shows what a person would look at.
func (s *stage) dump() {
	for _, args := range [][]string{
		{"kubectl", "get", "ptahschema,ptahschemaplan,ptahschemaapproval", "-n", s.ns, "-o", "yaml"},
		{"kubectl", "get", "events,jobs,pods", "-n", s.ns},
		{"kubectl", "logs", "-n", rig.OperatorNamespace, "-l", "app.kubernetes.io/component=controller", "--tail=60"},
	} {
		res, err := it.Run(context.Background(), "", args[0], args[1:]...)
		s.t.Logf("%v (%v)\n%s%s", args, err, res.Stdout, res.Stderr)
	}
}

// noSentinel greps everything that the operator wrote for the password.
func (s *stage) noSentinel() {
	everything := ""
	for _, args := range [][]string{
		{"kubectl", "get", "ptah,events,jobs,pods,configmaps", "-n", s.ns, "-o", "yaml"},
		{"kubectl", "logs", "-n", rig.OperatorNamespace, "-l", "app.kubernetes.io/component=controller", "--tail=-1"},
	} {
		res, err := it.Run(context.Background(), "", args[0], args[1:]...)
		require.NoError(s.t, err)
		everything += res.Stdout
	}
	for _, fragment := range sentinelFragments {
		require.NotContains(s.t, everything, fragment, "a credential leaked")
	}
}

func writeFile(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

package controller_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/schema"
)

// Every durable write and external effect of a whole convergence, in the order of the lifecycle. The manager is killed right after each.
var boundaries = []string{
	"finalizer/add", "status/binding", "status/claim", "status/snapshot", "job/create", "status/job-uid", "job/cleanup", "status/outcome",
	"lease/acquire", "status/lease-epoch", "plan/publish", "lease/release", "status/released", "finalizer/remove",
	"status/evidence", "approval/Accepted", "approval/Spent",
	"lease/acquire/Apply", "status/lease-epoch/Apply", "status/snapshot/Apply", "status/dispatch", "job/create/Apply", "status/job-uid/Apply",
	"job/cleanup/Apply", "status/outcome/Apply",
}

// The manager dies right after a write, for each kind of write, and comes back: the schema converges, no Apply runs twice, and only a death
// between marker and create costs an approval.
func TestManagerDiesAfterEachWrite(t *testing.T) {
	if cluster.config == nil {
		t.Skip("no API server: KUBEBUILDER_ASSETS is not set")
	}
	binary := filepath.Join(t.TempDir(), "manager")
	build := exec.Command("go", "build", "-tags", "failpoints", "-o", binary, "../../cmd/manager") //nolint:gosec // fixed arguments
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, boundary := range boundaries {
		t.Run(strings.ReplaceAll(boundary, "/", "-"), func(t *testing.T) { dieAfter(t, binary, boundary) })
	}
}

func dieAfter(t *testing.T, binary, boundary string) {
	name := "dies-" + strings.ToLower(strings.ReplaceAll(boundary, "/", "-"))
	before := len(cluster.model.Applied())
	points := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(points, strings.ReplaceAll(boundary, "/", ".")), nil, 0o600))
	m := launch(t, binary, points)
	s := newSchema(name, func(s *v1alpha1.PtahSchema) { s.Spec.Execution.ActiveDeadlineSeconds = 30 })
	create(t, s)
	realm := schema.Realm(s)
	died, approvals := false, 0
	deadline := time.Now().Add(4 * time.Minute)
	for {
		require.True(t, time.Now().Before(deadline), "converging after a death at %s: %+v", boundary, s.Status)
		if !died && m.exited() {
			died = true
			m = launch(t, binary, points)
		}
		if cluster.client.Get(t.Context(), keyOf(s), s) == nil {
			if phase(v1alpha1.SchemaPhaseAwaitingApproval)(s) && s.Status.Plan.Approval == nil && unapproved(t, s) {
				approve(t, s)
				approvals++
			}
			if phase(v1alpha1.SchemaPhaseInSync)(s) && (died || boundary == "finalizer/remove" && len(s.Finalizers) > 0) {
				break
			}
		}
		time.Sleep(30 * time.Millisecond)
	}
	require.True(t, died, "the manager died at %s", boundary)
	assert.Equal(t, "v1", cluster.model.State(realm))
	assert.Len(t, cluster.model.Applied(), before+1, "one Apply ran")
	for id, times := range cluster.model.Applied() {
		assert.Equal(t, 1, times, id)
	}
	if boundary == "status/dispatch" {
		assert.Equal(t, 2, approvals, "nobody knows whether the Job was created: a person decides again")
	} else {
		assert.Equal(t, 1, approvals)
	}
	m.kill()
}

// process is a manager of its own, as a Pod would run it.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func (p *process) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func launch(t *testing.T, binary, points string) *process {
	t.Helper()
	id := testIdentity()
	cmd := exec.CommandContext(context.Background(), binary, //nolint:gosec // our own build
		"--controller-image="+id.ControllerImage, "--controller-revision="+id.ControllerRevision, "--executor-image="+id.ExecutorImage,
		"--runner-image="+id.RunnerImage, "--ptah-version="+id.PtahVersion, "--coordination-namespace="+coordination,
		"--leader-elect=false", "--webhooks=false", "--metrics-bind-address=0", "--health-probe-bind-address=0")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig(t), "PTAH_FAILPOINTS="+points)
	require.NoError(t, cmd.Start())
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(p.kill)
	return p
}

func kubeconfig(t *testing.T) string {
	t.Helper()
	c := cluster.config
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: c.Host, CertificateAuthorityData: c.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {ClientCertificateData: c.CertData, ClientKeyData: c.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, path))
	return path
}

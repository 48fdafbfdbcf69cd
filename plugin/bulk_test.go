package plugin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/plan"
)

// The largest plan that can be stored is read in bounded memory. The stub runs in this process, so the program's memory is its own.
func TestTheLargestPlanFitsIntoMemory(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds the program and reads its peak memory as Linux reports it")
	}
	orders := newSchema("app", "orders", 1)
	object, objects := awaitApproval(orders, 2, manyStatements(plan.MaxSize*4/5))
	s, kubeconfig := stage(t, orders)
	for _, object := range objects {
		s.put(toUnstructured(object))
	}
	binary := buildPlugin(t)
	for _, format := range []string{"json", "sql", "text"} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		require.NoError(t, err)
		command := exec.Command(binary, "plan", "orders", "-o", format, "--kubeconfig", kubeconfig)
		command.Stdout = out
		start := time.Now()
		require.NoError(t, command.Run())
		usage := command.ProcessState.SysUsage().(*syscall.Rusage)
		t.Logf("%s of %d bytes in %d chunks: %s, processor %s, peak %d MiB", format, object.Spec.Size, len(object.Spec.Chunks), time.Since(start).Round(time.Millisecond),
			(command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Round(time.Millisecond), usage.Maxrss>>10)
		assert.Less(t, usage.Maxrss>>10, int64(192), "MiB, of which about 50 are the program itself")
	}
}

func buildPlugin(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "kubectl-ptah")
	output, err := exec.Command("go", "build", "-o", binary, "../cmd/kubectl-ptah").CombinedOutput()
	require.NoError(t, err, string(output))
	return binary
}

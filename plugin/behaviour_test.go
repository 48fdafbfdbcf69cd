package plugin_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
)

// stage is a stub with a kubeconfig that leads to it.
func stage(t *testing.T, objects ...any) (*stub, string) {
	t.Helper()
	s := newStub()
	t.Cleanup(s.Close)
	for _, object := range objects {
		s.put(toUnstructured(object))
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, kubeconfig, (&stubServer{current: s}).config())
	return s, kubeconfig
}

// reader runs a hook before the first byte is read: the moment between showing and deciding.
type reader struct {
	io.Reader
	hook func()
}

func (r *reader) Read(p []byte) (int, error) {
	if r.hook != nil {
		r.hook()
		r.hook = nil
	}
	return r.Reader.Read(p)
}

func TestApproveRefusesAPlanThatChangedWhileItWasShown(t *testing.T) {
	orders := newSchema("app", "orders", 1)
	_, objects := awaitApproval(orders, 2, safeStatements)
	moved := orders.DeepCopy()
	_, others := awaitApproval(moved, 3, safeStatements[:1])
	s, kubeconfig := stage(t)
	s.put(toUnstructured(orders))
	for _, object := range append(objects, others...) {
		s.put(toUnstructured(object))
	}
	stdin := &reader{Reader: strings.NewReader("yes\n"), hook: func() { s.put(toUnstructured(moved)) }}

	var stdout, stderr bytes.Buffer
	global := options.New(genericiooptions.IOStreams{In: stdin, Out: &stdout, ErrOut: &stderr}, options.Screen{In: true}, fixedClock, noEnv)
	code := plugin.Run(t.Context(), global, "kubectl-ptah", []string{"approve", "orders", "--kubeconfig", kubeconfig})

	assert.Equal(t, options.Refused, code)
	assert.Empty(t, stdout.String())
	assert.Contains(t, stderr.String(), "refused: the current plan of app/orders changed while it was shown: run the command again; nothing was changed")
	assert.NotContains(t, strings.Join(s.requests, "\n"), "POST ")
}

func TestApproveRefusesASchemaThatWasMadeAgainWhileItWasShown(t *testing.T) {
	orders := newSchema("app", "orders", 1)
	_, objects := awaitApproval(orders, 2, safeStatements)
	remade := orders.DeepCopy()
	remade.UID = uid(99)
	s, kubeconfig := stage(t, orders)
	for _, object := range objects {
		s.put(toUnstructured(object))
	}
	stdin := &reader{Reader: strings.NewReader("yes\n"), hook: func() { s.put(toUnstructured(remade)) }}

	global := options.New(genericiooptions.IOStreams{In: stdin, Out: io.Discard, ErrOut: io.Discard}, options.Screen{In: true}, fixedClock, noEnv)
	code := plugin.Run(t.Context(), global, "kubectl-ptah", []string{"approve", "orders", "--kubeconfig", kubeconfig})

	assert.Equal(t, options.Refused, code)
	assert.NotContains(t, strings.Join(s.requests, "\n"), "POST ")
}

func TestApproveTwiceMakesOneApproval(t *testing.T) {
	s, kubeconfig := stage(t)
	for _, object := range waitingCluster() {
		s.put(toUnstructured(object))
	}
	first := invoke(scenario{}, []string{"approve", "orders", "--yes", "-o", "name", "--kubeconfig", kubeconfig})
	second := invoke(scenario{}, []string{"approve", "orders", "--yes", "-o", "name", "--kubeconfig", kubeconfig})

	assert.Equal(t, options.Done, first.code)
	assert.Equal(t, options.Done, second.code)
	assert.Equal(t, first.stdout, second.stdout)
	assert.Equal(t, 1, strings.Count(strings.Join(s.requests, "\n"), "POST "))
}

func TestAnInterruptedQuestionChangesNothing(t *testing.T) {
	s, kubeconfig := stage(t)
	for _, object := range waitingCluster() {
		s.put(toUnstructured(object))
	}
	ctx, interrupt := context.WithCancel(t.Context())
	never, _ := io.Pipe()
	stdin := &reader{Reader: never, hook: interrupt}
	global := options.New(genericiooptions.IOStreams{In: stdin, Out: io.Discard, ErrOut: io.Discard}, options.Screen{In: true}, fixedClock, noEnv)

	assert.Equal(t, options.Refused, plugin.Run(ctx, global, "kubectl-ptah", []string{"approve", "orders", "--kubeconfig", kubeconfig}))
	assert.NotContains(t, strings.Join(s.requests, "\n"), "POST ")
}

// A plan of many chunks is the stored bytes exactly, and every byte of every chunk counts.
func TestPlanOfManyChunks(t *testing.T) {
	orders := newSchema("app", "orders", 1)
	object, objects := awaitApproval(orders, 2, manyStatements(3<<20))
	require.Greater(t, len(object.Spec.Chunks), 3)
	s, kubeconfig := stage(t, orders)
	for _, object := range objects {
		s.put(toUnstructured(object))
	}
	args := []string{"plan", "orders", "-o", "json", "--kubeconfig", kubeconfig}

	whole := invoke(scenario{}, args)
	require.Equal(t, options.Done, whole.code, whole.stderr)
	assert.Equal(t, object.Spec.ContentDigest, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(whole.stdout))))

	for _, ref := range object.Spec.Chunks {
		intact := s.get("configmaps", "app", ref.Name)
		damaged := intact.DeepCopy()
		data, _, _ := unstructured.NestedString(damaged.Object, "binaryData", ref.Key)
		flipped := "A"
		if data[1000] == 'A' {
			flipped = "B"
		}
		require.NoError(t, unstructured.SetNestedField(damaged.Object, data[:1000]+flipped+data[1001:], "binaryData", ref.Key))
		s.put(damaged)
		got := invoke(scenario{}, args)
		assert.Equal(t, options.Failed, got.code)
		assert.Empty(t, got.stdout, "not one byte of a damaged plan may reach stdout")
		assert.Contains(t, got.stderr, "reading chunk "+ref.Name)
		s.put(intact)
	}
}

func TestWatchShowsWhatChangesAndEndsWithTheContext(t *testing.T) {
	orders := newSchema("app", "orders", 1)
	_, _ = awaitApproval(orders, 2, safeStatements)
	s, kubeconfig := stage(t, orders, newSchema("app", "other", 5))
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	out := &lockedBuffer{}
	global := options.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: io.Discard}, options.Screen{}, fixedClock, noEnv)
	done := make(chan options.Code)
	go func() {
		done <- plugin.Run(ctx, global, "kubectl-ptah", []string{"status", "--watch", "--every", "100ms", "--kubeconfig", kubeconfig})
	}()
	require.Eventually(t, func() bool { return strings.Count(out.String(), "\n") == 3 }, 10*time.Second, 10*time.Millisecond)
	synced := newSchema("app", "orders", 1)
	s.put(toUnstructured(synced))
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "orders  InSync") }, 10*time.Second, 10*time.Millisecond)
	time.Sleep(300 * time.Millisecond) // several looks without a change
	stop()

	assert.Equal(t, options.Done, <-done)
	assert.Equal(t, 4, strings.Count(out.String(), "\n"), "a title row, two rows, and one row for the change:\n%s", out.String())
}

func TestFindStalledWatchShowsWhatIsNewAndWhatIsOver(t *testing.T) {
	stuck := func(name string, id int) *v1alpha1.PtahSchema {
		s := newSchema("app", name, id)
		s.Status.NextReconciliationTime = agoPtr(4 * time.Hour)
		return s
	}
	s, kubeconfig := stage(t, stuck("orders", 1), newSchema("app", "other", 5))
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	out, told := &lockedBuffer{}, &lockedBuffer{}
	global := options.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: told}, options.Screen{}, fixedClock, noEnv)
	done := make(chan options.Code)
	go func() {
		done <- plugin.Run(ctx, global, "kubectl-ptah", []string{"find-stalled", "--watch", "--every", "100ms", "--kubeconfig", kubeconfig})
	}()
	shows := func(b *lockedBuffer, text string) func() bool {
		return func() bool { return strings.Contains(b.String(), text) }
	}
	require.Eventually(t, shows(out, "1 of 2 resources is stalled"), 10*time.Second, 10*time.Millisecond)
	s.put(toUnstructured(stuck("other", 5)))
	require.Eventually(t, shows(out, "schema  other"), 10*time.Second, 10*time.Millisecond)
	s.put(toUnstructured(newSchema("app", "orders", 1)))
	require.Eventually(t, shows(told, "app/schema/orders is not stalled any more"), 10*time.Second, 10*time.Millisecond)
	stop()

	assert.Equal(t, options.Done, <-done)
	assert.Equal(t, 1, strings.Count(out.String(), "schema  orders"), "what did not change is shown once:\n%s", out.String())
}

// Every verb says what its exit codes mean in the same table, and none of them panics on odd arguments.
func TestOddArgumentsAreUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"plan", "a", "b"},
		{"plan", ""},
		{"approve"},
		{"approve", "a", "b"},
		{"status", "a", "b"},
		{"status", "schema/"},
		{"push", "schema"},
		{"push", "tables"},
		{"push", "migrations", "dir"},
		{"push", "schema", "x.sql", "registry.example/a:b"},
		{"version", "x"},
		{"completion"},
		{"-o", "json"},
		{"status", "--chunk-size", "0"},
		{"status", "--every", "1ms"},
		{"push", "schema", "x.sql", "oci://registry.example/a:b", "--dev-url-env", "a b"},
	} {
		got := invoke(scenario{}, append(args, "--kubeconfig", "testdata/no-kubeconfig"))
		assert.Equal(t, options.Usage, got.code, "%q: %s", args, got.stderr)
		assert.Empty(t, got.stdout, "%q", args)
		assert.True(t, strings.HasPrefix(got.stderr, "error: "), "%q: %s", args, got.stderr)
	}
}

func TestColdStart(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	binary := buildPlugin(t)
	var wall, processor []time.Duration
	for range 20 {
		start := time.Now()
		command := exec.Command(binary, "version", "--client")
		require.NoError(t, command.Run())
		wall = append(wall, time.Since(start))
		processor = append(processor, command.ProcessState.UserTime()+command.ProcessState.SystemTime())
	}
	slices.Sort(wall)
	slices.Sort(processor)
	t.Logf("cold start: wall best %s, median %s; processor best %s, median %s; %d cores", wall[0], wall[10], processor[0], processor[10], runtime.NumCPU())
	if busy() {
		t.Skip("the machine is busy with other work, which makes the figures above meaningless")
	}
	assert.Less(t, wall[0], 60*time.Millisecond)
}

// busy says that more programs want to run than there are processors.
func busy() bool {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return false
	}
	var load float64
	_, err = fmt.Sscan(string(data), &load)
	return err == nil && load > float64(runtime.NumCPU())
}

func fixedClock() time.Time { return now }
func noEnv(string) string   { return "" }

// lockedBuffer is written and read by different goroutines.
type lockedBuffer struct {
	content atomic.Pointer[string]
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	whole := b.String() + string(p)
	b.content.Store(&whole)
	return len(p), nil
}

func (b *lockedBuffer) String() string {
	if content := b.content.Load(); content != nil {
		return *content
	}
	return ""
}

package plugin_test

import (
	"io"
	"strings"
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

// follow starts a wait for orders to be in sync that tells at once what it waits for.
func follow(t *testing.T, kubeconfig string) (stdout, stderr *lockedBuffer, done chan options.Code) {
	t.Helper()
	stdout, stderr, done = &lockedBuffer{}, &lockedBuffer{}, make(chan options.Code, 1)
	global := options.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: stdout, ErrOut: stderr}, options.Screen{}, fixedClock, noEnv)
	global.Patience = 0
	go func() {
		done <- plugin.Run(t.Context(), global, "kubectl-ptah", []string{"wait", "orders", "--for", "insync", "--timeout", "1m", "--kubeconfig", kubeconfig})
	}()
	return stdout, stderr, done
}

func TestWaitSaysWhatStandsInTheWayAndSeesChanges(t *testing.T) {
	for name, prepare := range map[string]func(*stub){
		"watching":               func(*stub) {},
		"after an expired watch": func(s *stub) { s.expired = 1 },
		"without permission to":  func(s *stub) { s.blind = true },
	} {
		t.Run(name, func(t *testing.T) {
			s, kubeconfig := stage(t)
			for _, object := range rereadingCluster() {
				s.put(toUnstructured(object))
			}
			prepare(s)
			stdout, stderr, done := follow(t, kubeconfig)
			require.Eventually(t, func() bool { return strings.Contains(stderr.String(), "waits for the Observe Job") }, 20*time.Second, 10*time.Millisecond)
			for _, object := range waitingCluster() {
				s.put(toUnstructured(object))
			}
			require.Eventually(t, func() bool { return strings.Contains(stderr.String(), "waits for approval of ptah-plan-") }, 20*time.Second, 10*time.Millisecond)
			s.put(toUnstructured(newSchema("app", "orders", 1)))

			assert.Equal(t, options.Done, <-done)
			assert.Equal(t, "ok schema app/orders is in sync\n", stdout.String())
			assert.Equal(t, 2, strings.Count(stderr.String(), "waits for"), "each thing once:\n%s", stderr.String())
		})
	}
}

func TestWaitDoesNotTakeANamesakeForTheResource(t *testing.T) {
	s, kubeconfig := stage(t)
	for _, object := range waitingCluster() {
		s.put(toUnstructured(object))
	}
	_, stderr, done := follow(t, kubeconfig)
	require.Eventually(t, func() bool { return strings.Contains(stderr.String(), "waits for approval") }, 20*time.Second, 10*time.Millisecond)
	s.put(toUnstructured(newSchema("app", "orders", 99)))
	assert.Equal(t, options.Nothing, <-done)
	assert.Contains(t, stderr.String(), "was deleted before it was in sync")
}

// The manager writes the status at any time. That is another version, and not another thing to decide on.
func TestSuspendIgnoresVersionsThatChangeNothingThatWasShown(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*v1alpha1.PtahSchema)
		want options.Code
	}{
		"the status says the same at another time": {func(s *v1alpha1.PtahSchema) { s.Status.NextReconciliationTime = agoPtr(-time.Hour) }, options.Done},
		"an operation started":                     {func(s *v1alpha1.PtahSchema) { s.Status.ActiveOperation = claim(v1alpha1.SchemaApply, 1, 0, true) }, options.Done},
		"the spec changed":                         {func(s *v1alpha1.PtahSchema) { s.Generation++ }, options.Refused},
		"it was made again":                        {func(s *v1alpha1.PtahSchema) { s.UID = uid(99) }, options.Refused},
		"somebody else suspended it":               {func(s *v1alpha1.PtahSchema) { s.Spec.Suspend = true; s.Generation++ }, options.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			s, kubeconfig := stage(t, newSchema("app", "orders", 1))
			moved := newSchema("app", "orders", 1)
			c.edit(moved)
			stdin := &reader{Reader: strings.NewReader("yes\n"), hook: func() { s.put(toUnstructured(moved)) }}
			global := options.New(genericiooptions.IOStreams{In: stdin, Out: io.Discard, ErrOut: io.Discard}, options.Screen{In: true}, fixedClock, noEnv)
			code := plugin.Run(t.Context(), global, "kubectl-ptah", []string{"suspend", "orders", "--kubeconfig", kubeconfig})

			assert.Equal(t, c.want, code)
			suspended, _, _ := unstructured.NestedBool(s.get("ptahschemas", "app", "orders").Object, "spec", "suspend")
			assert.Equal(t, c.want == options.Done || moved.Spec.Suspend, suspended)
		})
	}
}

// With --yes nobody looks at what is shown: what counts is the object and its spec, however often the status moves before the write.
func TestSuspendWithYesWritesAgainWhileOnlyTheStatusMoves(t *testing.T) {
	for name, c := range map[string]struct {
		moves  int // before how many writes the object moves
		edit   func(*v1alpha1.PtahSchema)
		want   options.Code
		stderr string
	}{
		"an operation starts":   {1, func(s *v1alpha1.PtahSchema) { s.Status.ActiveOperation = claim(v1alpha1.SchemaObserve, 1, 0, true) }, options.Done, "in flight now: Observe runs as Job"},
		"it moves four times":   {4, func(s *v1alpha1.PtahSchema) { s.Status.NextReconciliationTime = agoPtr(0) }, options.Done, ""},
		"it never stops moving": {99, func(s *v1alpha1.PtahSchema) { s.Status.NextReconciliationTime = agoPtr(0) }, options.Failed, "written by others 5 times in a row"},
		"its spec changes":      {1, func(s *v1alpha1.PtahSchema) { s.Generation++ }, options.Refused, "changed while it was shown"},
		"it is made again":      {1, func(s *v1alpha1.PtahSchema) { s.UID = uid(99) }, options.Refused, "changed while it was shown"},
	} {
		for _, verb := range []string{"suspend", "resume"} {
			t.Run(name+", "+verb, func(t *testing.T) {
				before := newSchema("app", "orders", 1)
				before.Spec.Suspend = verb == "resume"
				s, kubeconfig := stage(t, before)
				moved := before.DeepCopy()
				c.edit(moved)
				moves := 0
				s.beforePatch = func() {
					if moves++; moves <= c.moves {
						s.put(toUnstructured(moved))
					}
				}
				stderr := &lockedBuffer{}
				global := options.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: stderr}, options.Screen{}, fixedClock, noEnv)
				code := plugin.Run(t.Context(), global, "kubectl-ptah", []string{verb, "orders", "--yes", "--kubeconfig", kubeconfig})

				assert.Equal(t, c.want, code, stderr.String())
				assert.Contains(t, stderr.String(), c.stderr)
				suspended, _, _ := unstructured.NestedBool(s.get("ptahschemas", "app", "orders").Object, "spec", "suspend")
				assert.Equal(t, (verb == "suspend") == (c.want == options.Done), suspended)
			})
		}
	}
}

package plugin_test

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
)

// raced are the refusals that no state of a cluster brings about, each with the test that does.
var raced = map[string]string{
	"%s changed while it was shown: run the command again; nothing was changed":                        "TestSuspendWithYesWritesAgainWhileOnlyTheStatusMoves",
	"approval %s/%s changed since it was shown, perhaps because a run used it: look again; %s":         "TestRejectStopsAtAnApprovalThatChanged",
	"the current plan of %s/%s changed while it was shown: run the command again; nothing was changed": "TestApproveRefusesAPlanThatChangedWhileItWasShown",
	"approval %s/%s exists and names another plan; nothing was changed":                                "TestApproveLeavesAnApprovalOfAnotherPlanAlone",
	"plan %s/%s was approved %d times and every approval was used or overtaken; nothing was changed":   "TestApproveEndsAfterSoManyApprovals",
	"migration %s/%s changed since it was shown: look again; nothing was changed":                      "TestClearUnresolvedRefusesWhatChangedMeanwhile",
	"migration %s/%s is gone; nothing was changed":                                                     "TestClearUnresolvedRefusesWhatChangedMeanwhile",
	"%s/%s has no stored plan with the applied fingerprint %s":                                         "TestPlanOfAnApplyWhosePlanIsGone",
}

// Each refusal is shown by a scenario: what it says stands in an expected stderr. What only a race brings about has a test of its own.
func TestEachRefusalIsShown(t *testing.T) {
	var shown []string
	files, err := filepath.Glob("testdata/*/*/std*")
	require.NoError(t, err)
	for _, file := range files {
		shown = append(shown, strings.Join(strings.Fields(read(t, file)), " "))
	}
	tests, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	declared := ""
	for _, file := range tests {
		declared += read(t, file)
	}
	said := refusals(t)
	require.Greater(t, len(said), 40)
	for _, text := range said {
		if name := raced[text]; name != "" {
			assert.Contains(t, declared, "func "+name+"(", text)
			continue
		}
		pattern := regexp.MustCompile(verbs.ReplaceAllString(regexp.QuoteMeta(strings.Join(strings.Fields(text), " ")), ".*?"))
		found := false
		for _, stderr := range shown {
			found = found || pattern.MatchString(stderr)
		}
		assert.True(t, found, "no scenario shows: %s", text)
	}
	for text := range raced {
		assert.Contains(t, said, text, "no command says this any more")
	}
}

// verbs are those of fmt, in a pattern that was quoted.
var verbs = regexp.MustCompile(`%(\\\[\d+\\\])?[a-z]`)

// refusals are what the commands say where they refuse, or find nothing.
func refusals(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	var said []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(tree, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			function, ok := call.Fun.(*ast.SelectorExpr)
			text, literal := call.Args[0].(*ast.BasicLit)
			if ok && literal && (function.Sel.Name == "Refusedf" || function.Sel.Name == "Nothingf") {
				unquoted, err := strconv.Unquote(text.Value)
				require.NoError(t, err)
				said = append(said, unquoted)
			}
			return true
		})
	}
	return said
}

func TestApproveLeavesAnApprovalOfAnotherPlanAlone(t *testing.T) {
	s, approve := approving(t)
	require.Equal(t, options.Done, approve().code)
	for _, made := range approvalsOf(s) {
		require.NoError(t, unstructured.SetNestedField(made.Object, string(uid(4711)), "spec", "planRef", "uid"))
		s.put(made)
	}
	got := approve()
	assert.Equal(t, options.Refused, got.code)
	assert.Contains(t, got.stderr, "exists and names another plan; nothing was changed")
	assert.Len(t, approvalsOf(s), 1)
}

func TestApproveEndsAfterSoManyApprovals(t *testing.T) {
	s, approve := approving(t)
	for range 100 {
		before := len(approvalsOf(s))
		got := approve()
		if got.code == options.Done {
			require.Len(t, approvalsOf(s), before+1)
			for _, made := range approvalsOf(s) {
				made.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Consumed", "status": "True"}}}
				s.put(made)
			}
			continue
		}
		assert.Equal(t, options.Refused, got.code)
		assert.Contains(t, got.stderr, fmt.Sprintf("was approved %d times and every approval was used or overtaken; nothing was changed", before))
		assert.Len(t, approvalsOf(s), before)
		return
	}
	t.Fatal("a plan can be approved for ever")
}

// approving is a cluster with a plan that waits, and a way to approve it.
func approving(t *testing.T) (*stub, func() result) {
	t.Helper()
	s, kubeconfig := stage(t)
	for _, object := range waitingCluster() {
		s.put(toUnstructured(object))
	}
	return s, func() result {
		return invoke(scenario{}, []string{"approve", "orders", "--yes", "--kubeconfig", kubeconfig})
	}
}

func approvalsOf(s *stub) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*unstructured.Unstructured
	for _, object := range s.objects {
		if object.GetKind() == "PtahSchemaApproval" {
			found = append(found, object.DeepCopy())
		}
	}
	return found
}

func TestPlanOfAnApplyWhosePlanIsGone(t *testing.T) {
	s, kubeconfig := stage(t)
	for _, object := range oldRecordCluster() {
		if o := toUnstructured(object); o.GetKind() != "PtahSchemaPlan" {
			s.put(o)
		}
	}
	got := invoke(scenario{}, []string{"plan", "orders", "--applied", "--kubeconfig", kubeconfig})
	assert.Equal(t, options.Nothing, got.code, got.stderr)
	assert.Contains(t, got.stderr, "app/orders has no stored plan with the applied fingerprint sha256:")
}

// The record is gone when a person stops watching: that is no refusal, after which nothing would have been changed.
func TestAnInterruptedWatchIsNoRefusal(t *testing.T) {
	s := unresolvedStub(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, kubeconfig, (&stubServer{current: s}).config())
	ctx, interrupt := context.WithCancel(t.Context())
	s.afterPatch = interrupt
	var stderr bytes.Buffer
	global := options.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &bytes.Buffer{}, ErrOut: &stderr}, options.Screen{}, fixedClock, noEnv)
	code := plugin.Run(ctx, global, "kubectl-ptah", []string{
		"clear-unresolved", "ledger", "--reason", "repaired", "--yes-i-established-what-ran", sum("operation"), "--wait", "1m", "--kubeconfig", kubeconfig,
	})
	assert.Equal(t, options.Failed, code, stderr.String())
	assert.Contains(t, stderr.String(), "interrupted while watching; the record was cleared")
	_, present, _ := unstructured.NestedMap(s.get("ptahmigrations", "app", "ledger").Object, "status", "unresolvedRun")
	assert.False(t, present)
}

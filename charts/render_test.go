// Package charts_test renders the chart with the helm binary and compares what comes out, object by object.
package charts_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const (
	chart     = "ptah-operator"
	namespace = "ptah-system"
	release   = "ptah"
)

var pin = "sha256:" + strings.Repeat("a", 64)

// required is the four values that a release needs.
func required() []string {
	return []string{
		"image.digest=" + pin,
		"execution.executorImage=registry.internal/executor@" + pin,
		"execution.runnerImage=registry.internal/manager@" + pin,
		"execution.ptahVersion=0.1.0",
	}
}

// helm runs the helm of $HELM, of $KUBEBUILDER_ASSETS or of the PATH, with configuration and caches of its own. It needs Helm 4.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	home := t.TempDir()
	// Cleanups run helm too, when the test's own context is over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, helmBinary(t), args...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "KUBECONFIG=") }),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String() + stderr.String(), err
	}
	return stdout.String(), nil
}

func helmBinary(t *testing.T) string {
	t.Helper()
	candidates := []string{os.Getenv("HELM")}
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		candidates = append(candidates, filepath.Join(assets, "helm"))
	}
	for _, c := range candidates {
		if c == "" {
			continue
		}
		if _, err := os.Stat(c); err == nil {
			return c
		}
	}
	path, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("no helm in $HELM, $KUBEBUILDER_ASSETS or $PATH; make test brings one")
	}
	return path
}

// template renders the chart with --set arguments and further flags.
func template(t *testing.T, set []string, flags ...string) (string, error) {
	t.Helper()
	args := append([]string{"template", release, chart, "--namespace", namespace, "--kube-version", "1.37.2"}, flags...)
	for _, s := range set {
		args = append(args, "--set", s)
	}
	return helm(t, args...)
}

// objects is a rendered release, by "Kind namespace/name".
type objects map[string]*unstructured.Unstructured

func render(t *testing.T, set ...string) objects {
	t.Helper()
	out, err := template(t, append(required(), set...))
	require.NoError(t, err, out)
	found := objects{}
	for document := range strings.SplitSeq(out, "\n---\n") {
		u := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &u.Object), document)
		if len(u.Object) == 0 {
			continue
		}
		key := u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
		require.NotContains(t, found, key)
		found[key] = u
	}
	return found
}

// as decodes one rendered object strictly into its type: a misspelt field is an error.
func as[T any](t *testing.T, found objects, key string) T {
	t.Helper()
	require.Contains(t, found, key)
	var typed T
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(found[key].Object, &typed, true), key)
	return typed
}

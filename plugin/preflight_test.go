package plugin_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/plugin/options"
)

func TestPreflightSeesAnArtifactInARegistry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	client, err := artifact.New(artifact.Options{PlainHTTP: true})
	require.NoError(t, err)
	pushed := pushSomething(t, client, "oci://"+host+"/app/orders:v2")

	w := newReady()
	w.schema.Spec.Desired.OCIRef = "oci://" + host + "/app/orders:v2"
	w.schema.Spec.Desired.Transport = &v1alpha1.Transport{PlainHTTP: true}
	s, kubeconfig := stage(t)
	for _, object := range w.all() {
		s.put(toUnstructured(object))
	}
	got := invoke(scenario{}, []string{"preflight", "schema/orders", "--kubeconfig", kubeconfig})
	assert.Equal(t, options.Done, got.code, got.stdout)
	assert.Contains(t, got.stdout, "is "+pushed)

	ledger := newMigration("app", "ledger", 11)
	ledger.Spec.Artifact, ledger.Spec.Target = w.schema.Spec.Desired, w.schema.Spec.Target
	ledger.Spec.Target.CoordinationKey = "another"
	s.put(toUnstructured(ledger))
	got = invoke(scenario{}, []string{"preflight", "migration/ledger", "--kubeconfig", kubeconfig})
	assert.Equal(t, options.Findings, got.code)
	assert.Contains(t, got.stdout, `is an artifact of type "application/vnd.stokaro.ptah.schema.v1"`)
}

// "Not found" is an answer, and a finding; a registry that asks for credentials or does not answer has said nothing.
func TestPreflightTellsAMissingArtifactFromARegistryThatDoesNotSay(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		verdict string
	}{
		"no such tag":   {http.StatusNotFound, "fail"},
		"unauthorized":  {http.StatusUnauthorized, "unknown"},
		"forbidden":     {http.StatusForbidden, "unknown"},
		"out of order":  {http.StatusServiceUnavailable, "unknown"},
		"not listening": {0, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) }))
			t.Cleanup(server.Close)
			if c.status == 0 {
				server.Close()
			}
			w := newReady()
			w.schema.Spec.Desired.OCIRef = "oci://" + strings.TrimPrefix(server.URL, "http://") + "/app/orders:v2"
			w.schema.Spec.Desired.Transport = &v1alpha1.Transport{PlainHTTP: true}
			s, kubeconfig := stage(t)
			for _, object := range w.all() {
				s.put(toUnstructured(object))
			}
			got := invoke(scenario{}, []string{"preflight", "schema/orders", "--jq", `.results[] | select(.id == "artifact") | [.verdict, .fix] | join(": ")`, "--kubeconfig", kubeconfig})
			assert.True(t, strings.HasPrefix(got.stdout, c.verdict+": "), got.stdout+got.stderr)
			if c.verdict == "fail" {
				assert.Contains(t, got.stdout, "kubectl ptah push")
				assert.Equal(t, options.Findings, got.code)
			}
		})
	}
}

func TestPreflightNeverShowsWhatASecretHolds(t *testing.T) {
	for _, change := range []func(*ready){func(w *ready) { w.withRegistry("127.0.0.1:1") }, func(w *ready) { w.withRegistry("127.0.0.1:1"); w.registry.Data["registry"] = []byte(canary) }} {
		w := newReady()
		change(w)
		s, kubeconfig := stage(t)
		for _, object := range w.all() {
			s.put(toUnstructured(object))
		}
		for _, format := range []string{"text", "json", "yaml", "name"} {
			got := invoke(scenario{}, []string{"preflight", "schema/orders", "-o", format, "--kubeconfig", kubeconfig})
			assert.NotContains(t, got.stdout+got.stderr, canary)
		}
	}
}

// pushSomething publishes a schema that declares nothing, and gives its digest.
func pushSomething(t *testing.T, client *artifact.Client, reference string) string {
	t.Helper()
	pinned, err := client.PushSchema(t.Context(), reference, []byte(`{"format_version":1}`), nil, artifact.PushOptions{})
	require.NoError(t, err)
	_, digest, _ := strings.Cut(pinned, "@")
	return digest
}

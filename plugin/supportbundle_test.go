package plugin_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/plugin/options"
)

const planted = "Pl4nted p@ss/word?"

func unpackBundle(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	compressed, err := gzip.NewReader(file)
	require.NoError(t, err)
	files, archive := map[string]string{}, tar.NewReader(compressed)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		data, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[header.Name] = string(data)
	}
}

// leaky is a cluster that has a database password wherever people and programs put one.
func leaky() []runtime.Object {
	databaseURL := "postgres://orders:" + url.PathEscape(planted) + "@db.example:5432/orders"
	w := newInstalled()
	w.manager.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = `{"spec":{"env":[{"name":"DATABASE_URL","value":"` + databaseURL + `"}]}}`
	w.manager.Annotations["team.example/runbook"] = "psql with " + planted
	w.manager.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PGPASSWORD", Value: planted}, {Name: "DATABASE_URL", Value: databaseURL}}
	w.manager.Spec.Template.Spec.Containers[0].Args = append(w.manager.Spec.Template.Spec.Containers[0].Args, "--url="+databaseURL)
	orders := newSchema("app", "orders", 1)
	orders.Annotations = map[string]string{"note": planted}
	orders.Status.Conditions = append(orders.Status.Conditions,
		condition(v1alpha1.ConditionReconciliationFailed, metav1.ConditionTrue, v1alpha1.ReasonOperationFailed, "connecting to "+databaseURL+": refused for "+planted))
	job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: meta("app", "ptah-plan-orders-0123456789abcdef", 960)}
	job.Labels = map[string]string{v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue, v1alpha1.SchemaLabel: "orders"}
	job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "operation", Env: []corev1.EnvVar{{Name: "PLAIN", Value: planted}}}}
	event := &corev1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}, ObjectMeta: meta("app", "orders.1", 961), Message: "password=" + planted[:7] + " or " + planted,
		InvolvedObject: corev1.ObjectReference{Kind: "PtahSchema", Name: "orders", Namespace: "app"},
	}
	secret := newSecret("orders-database", 962, "url", databaseURL)
	return append(w.objects(), orders, job, event, secret)
}

func TestSupportBundleHoldsNoPasswordAndReadsNoSecret(t *testing.T) {
	s, kubeconfig := stage(t)
	for _, object := range leaky() {
		s.put(toUnstructured(object))
	}
	s.put(withCRDs(t, nil, scenario{Command: "support-bundle"})...)
	s.logs = "connected\npanic: dial " + planted + "\nAuthorization: Basic " + base64.StdEncoding.EncodeToString([]byte("orders:"+planted)) + "\n"
	path := filepath.Join(t.TempDir(), "bug.tar.gz")

	got := invoke(scenario{}, []string{"support-bundle", "-A", "-o", path, "--kubeconfig", kubeconfig})
	assert.Equal(t, options.Done, got.code, got.stderr)
	files := unpackBundle(t, path)
	for name, text := range files {
		for _, spelling := range []string{planted, url.PathEscape(planted), url.QueryEscape(planted), base64.StdEncoding.EncodeToString([]byte(planted)), base64.StdEncoding.EncodeToString([]byte("orders:" + planted))} {
			assert.NotContains(t, text, spelling, name)
		}
	}
	assert.Contains(t, files["ptah-support/operator/logs/ptah-operator-manager-0.manager.log"], "panic: dial [redacted]")
	assert.Contains(t, files["ptah-support/resources/jobs.json"], "ptah-plan-orders-0123456789abcdef")
	assert.Contains(t, files["ptah-support/resources/ptahschemas.json"], `"orders-database"`)
	assert.NotContains(t, strings.Join(s.requests, "\n"), "/secrets")
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	again := invoke(scenario{}, []string{"support-bundle", "-A", "-o", path, "--kubeconfig", kubeconfig})
	assert.Equal(t, options.Refused, again.code)
	other := filepath.Join(t.TempDir(), "bug.tar.gz")
	invoke(scenario{}, []string{"support-bundle", "-A", "-o", other, "--kubeconfig", kubeconfig})
	first, err := os.ReadFile(path)
	require.NoError(t, err)
	second, err := os.ReadFile(other)
	require.NoError(t, err)
	assert.Equal(t, first, second, "the same cluster gives the same bytes")
}

func TestSupportBundleOfOneResourceHoldsNoOther(t *testing.T) {
	s, kubeconfig := stage(t)
	for _, object := range append(newInstalled().objects(), fleetCluster()...) {
		s.put(toUnstructured(object))
	}
	path := filepath.Join(t.TempDir(), "bug.tar.gz")
	invoke(scenario{}, []string{"support-bundle", "schema/orders", "-n", "app", "--log-lines", "0", "-o", path, "--kubeconfig", kubeconfig})
	files := unpackBundle(t, path)
	assert.Contains(t, files["ptah-support/resources/ptahschemas.json"], `"name": "orders"`)
	assert.NotContains(t, files["ptah-support/resources/ptahschemas.json"], `"name": "catalog"`)
	assert.NotContains(t, files["ptah-support/resources/ptahmigrations.json"], "ledger")
	assert.Contains(t, files["ptah-support/resources/ptahschemaplans.json"], "ptah-plan-")
	assert.NotContains(t, files["ptah-support/resources/ptahschemaplans.json"], "ALTER TABLE", "a plan's SQL stays in the cluster")
}

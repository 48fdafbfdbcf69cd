package charts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Each refusal is tried twice: the values schema refuses it, and so does the chart itself when schema validation is skipped.
func TestRefusals(t *testing.T) {
	cases := map[string]struct {
		set        []string
		bySchema   string
		byTemplate string
	}{
		"mutable tag": {
			set: []string{"image.allowMutableTag=true"}, bySchema: "allowMutableTag", byTemplate: "image.allowMutableTag is not a value of this chart",
		},
		"mutable tag, refused": {
			set: []string{"image.allowMutableTag=false"}, bySchema: "allowMutableTag", byTemplate: "image.allowMutableTag is not a value of this chart",
		},
		"test identity digest": {
			set: []string{"image.testIdentityDigest=" + pin}, bySchema: "testIdentityDigest", byTemplate: "image.testIdentityDigest is not a value of this chart",
		},
		"digest of an image ID": {
			set: []string{"image.digest=aaaa"}, bySchema: "/image/digest", byTemplate: "image.digest is required as sha256:",
		},
		"digest in the repository": {
			set: []string{"image.repository=registry.internal/m@" + pin}, bySchema: "/image/repository", byTemplate: "image.repository must name a repository",
		},
		"executor by tag": {
			set: []string{"execution.executorImage=registry.internal/e:1"}, bySchema: "/execution/executorImage", byTemplate: "execution.executorImage is required as",
		},
		"runner by tag": {
			set: []string{"execution.runnerImage=registry.internal/m:1"}, bySchema: "/execution/runnerImage", byTemplate: "execution.runnerImage is required as",
		},
		"version in blanks": {
			set: []string{"execution.ptahVersion= 0.1.0 "}, bySchema: "/execution/ptahVersion", byTemplate: "execution.ptahVersion is required",
		},
		"version too long": {
			set: []string{"execution.ptahVersion=" + strings.Repeat("1", 129)}, bySchema: "/execution/ptahVersion", byTemplate: "execution.ptahVersion is required",
		},
		"two managers without election": {
			set: []string{"leaderElection=false"}, bySchema: "/replicaCount", byTemplate: "more than one manager needs leader election",
		},
		"no manager": {
			set: []string{"replicaCount=0"}, bySchema: "/replicaCount", byTemplate: "replicaCount must be at least 1",
		},
		"foreign account without a name": {
			set: []string{"serviceAccount.create=false"}, bySchema: "/serviceAccount/name", byTemplate: "create the ServiceAccount <name>-v1",
		},
		"account name without room for the epoch": {
			set: []string{"serviceAccount.name=" + strings.Repeat("a", 242)}, bySchema: "/serviceAccount/name", byTemplate: "at most 241 characters",
		},
		"coordination namespace": {
			set: []string{"coordination.namespace=Not_A_Namespace"}, bySchema: "/coordination/namespace", byTemplate: "coordination.namespace must be the name",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := template(t, append(required(), c.set...))
			require.Error(t, err)
			assert.Contains(t, strings.ReplaceAll(out, ".", "/"), strings.ReplaceAll(strings.TrimPrefix(c.bySchema, "/"), ".", "/"))
			assert.Contains(t, out, "schema", "refused by the values schema")

			out, err = template(t, append(required(), c.set...), "--skip-schema-validation")
			require.Error(t, err)
			assert.Contains(t, out, c.byTemplate)
		})
	}
}

// The three images and the version have no default: leaving one out is refused although the schema allows an empty value.
func TestRequiredValues(t *testing.T) {
	for i, value := range required() {
		key, _, _ := strings.Cut(value, "=")
		t.Run(key, func(t *testing.T) {
			set := required()
			for _, flags := range [][]string{nil, {"--skip-schema-validation"}} {
				out, err := template(t, append(set[:i:i], set[i+1:]...), flags...)
				require.Error(t, err)
				assert.Contains(t, out, key+" is required")
			}
		})
	}
}

func TestSchemaRefusesUnknownKeysEverywhere(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	require.NoError(t, err)
	var values map[string]any
	require.NoError(t, yaml.Unmarshal(data, &values))
	free := map[string]bool{"podAnnotations": true, "podLabels": true, "resources": true, "nodeSelector": true, "affinity": true, "serviceAccount.annotations": true}
	paths := []string{""}
	var walk func(prefix string, values map[string]any)
	walk = func(prefix string, values map[string]any) {
		for key, value := range values {
			if child, ok := value.(map[string]any); ok && !free[prefix+key] {
				paths = append(paths, prefix+key+".")
				walk(prefix+key+".", child)
			}
		}
	}
	walk("", values)
	require.Greater(t, len(paths), 10)
	for _, path := range append(paths, "imagePullSecrets[0].", "tolerations[0].") {
		t.Run(path+"unknownKey", func(t *testing.T) {
			out, err := template(t, append(required(), "imagePullSecrets[0].name=pull", path+"unknownKey=x"))
			require.Error(t, err)
			assert.Contains(t, out, "unknownKey")
		})
	}
}

func TestSchemaBounds(t *testing.T) {
	for _, set := range []string{
		"image.pullPolicy=Sometimes", "image.tag=", "admission.defaultNotReadyTolerationSeconds=-1", "admission.defaultTolerationsEnabled=maybe",
		"webhook.port=65536", "webhook.timeoutSeconds=0", "webhook.timeoutSeconds=31", "metrics.service.port=0", "metrics.bindAddress=",
		"podDisruptionBudget.minAvailable=101%", "podDisruptionBudget.minAvailable=-1", "tolerations[0].operator=Like", "podLabels.a=1",
		"serviceAccount.name=Upper",
	} {
		t.Run(set, func(t *testing.T) {
			out, err := template(t, append(required(), set))
			require.Error(t, err, "%s is refused", set)
			assert.Contains(t, out, "schema")
		})
	}
	for _, set := range []string{
		"podDisruptionBudget.minAvailable=50%", "admission.defaultNotReadyTolerationSeconds=0", "tolerations[0].operator=Exists", "image.pullPolicy=Never",
		fmt.Sprintf("serviceAccount.name=%s", strings.Repeat("a", 241)),
	} {
		t.Run(set, func(t *testing.T) {
			out, err := template(t, append(required(), set))
			require.NoError(t, err, out)
		})
	}
}

func TestOnlyTheSupportWindow(t *testing.T) {
	for version, ok := range map[string]bool{"1.34.9": false, "1.35.0": true, "1.36.4-gke.1": true, "1.37.2": true, "1.38.0": false} {
		out, err := template(t, required(), "--kube-version", version)
		assert.Equal(t, ok, err == nil, "%s: %s", version, out)
		if !ok {
			assert.Contains(t, out, "kubeVersion")
		}
	}
}

func TestLintIsClean(t *testing.T) {
	args := []string{"lint", "--strict", chart}
	for _, s := range required() {
		args = append(args, "--set", s)
	}
	out, err := helm(t, args...)
	require.NoError(t, err, out)
	assert.NotContains(t, out, "WARNING")
	assert.NotContains(t, out, "ERROR")
}

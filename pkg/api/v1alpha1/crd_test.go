package v1alpha1_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/release"
)

const crdDir = "../../../charts/ptah-operator/crds"

func crds(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(crdDir, "*.yaml"))
	require.NoError(t, err)
	found := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		crd := &apiextensionsv1.CustomResourceDefinition{}
		require.NoError(t, yaml.UnmarshalStrict(data, crd), file)
		found[crd.Spec.Names.Kind] = crd
	}
	return found
}

func TestCRDsCarryTheirIdentity(t *testing.T) {
	all := crds(t)
	require.Len(t, all, 6)
	for kind, crd := range all {
		digest, err := release.CRDSpecDigest(crd)
		require.NoError(t, err)
		assert.Equal(t, "1", crd.Annotations[v1alpha1.CRDSchemaVersionAnnotation], kind)
		assert.Equal(t, digest, crd.Annotations[v1alpha1.CRDSchemaDigestAnnotation], "%s: run go generate", kind)
		assert.Equal(t, "2", crd.Annotations[v1alpha1.CRDControllerStateAnnotation], kind)
	}
}

func TestCRDNames(t *testing.T) {
	shortNames := map[string]string{
		"PtahSchema": "ptahs", "PtahSchemaPlan": "ptahplan", "PtahSchemaApproval": "ptahapprove",
		"PtahMigration": "ptahm", "PtahMigrationPlan": "ptahmplan", "PtahMigrationApproval": "ptahmapprove",
	}
	all := crds(t)
	for kind, short := range shortNames {
		crd := all[kind]
		require.NotNil(t, crd, kind)
		assert.Equal(t, strings.ToLower(kind)+"s.operator.ptah.run", crd.Name)
		assert.Equal(t, []string{short}, crd.Spec.Names.ShortNames, kind)
		assert.Equal(t, []string{"ptah"}, crd.Spec.Names.Categories, kind)
		assert.Equal(t, apiextensionsv1.NamespaceScoped, crd.Spec.Scope, kind)
		require.Len(t, crd.Spec.Versions, 1, kind)
		assert.NotNil(t, crd.Spec.Versions[0].Subresources.Status, kind)
	}
}

// kubectl explain answers from the descriptions in the CRDs.
func TestEveryFieldIsDocumented(t *testing.T) {
	for kind, crd := range crds(t) {
		root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		for _, part := range []string{"spec", "status"} {
			requireDescriptions(t, kind+"."+part, root.Properties[part])
		}
	}
}

func requireDescriptions(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	assert.NotEmpty(t, schema.Description, path)
	for name, property := range schema.Properties {
		requireDescriptions(t, path+"."+name, property)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		for name, property := range schema.Items.Schema.Properties {
			requireDescriptions(t, path+"[]."+name, property)
		}
	}
}

func readManifest(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "good", name+".yaml"))
	require.NoError(t, err)
	asJSON, err := yaml.YAMLToJSON(data)
	require.NoError(t, err)
	return asJSON
}

func object(t *testing.T, manifest []byte) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	require.NoError(t, u.UnmarshalJSON(manifest))
	u.SetNamespace("default")
	return u
}

func TestGoodManifestsAreAccepted(t *testing.T) {
	c := apiServer(t)
	files, err := filepath.Glob("testdata/good/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			assert.NoError(t, c.Create(t.Context(), object(t, readManifest(t, name)), strict, dryRun))
		})
	}
}

func TestBadManifestsAreRefused(t *testing.T) {
	c := apiServer(t)
	data, err := os.ReadFile("testdata/bad.yaml")
	require.NoError(t, err)
	text := strings.ReplaceAll(string(data), "{digest}", digest('a'))
	text = strings.ReplaceAll(text, "{254}", strings.Repeat("k", 254))
	var cases []struct {
		Name  string         `json:"name"`
		Base  string         `json:"base"`
		Patch map[string]any `json:"patch"`
		Want  []string       `json:"want"`
	}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &cases))
	for _, bad := range cases {
		t.Run(bad.Name, func(t *testing.T) {
			patch, err := yaml.Marshal(bad.Patch)
			require.NoError(t, err)
			patch, err = yaml.YAMLToJSON(patch)
			require.NoError(t, err)
			manifest, err := jsonpatch.MergePatch(readManifest(t, bad.Base), patch)
			require.NoError(t, err)

			err = c.Create(t.Context(), object(t, manifest), strict, dryRun)
			require.Error(t, err)
			for _, want := range bad.Want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	c := apiServer(t)
	cases := map[string]string{
		"schema-minimal": `
target:
  engine: PostgreSQL
  coordinationKey: prod/billing/ledger
  sharedRealm: false
  urlFrom: {name: ledger-db, key: url}
desired:
  ociRef: oci://registry.internal/billing/ledger-schema:stable
  verificationPolicyFrom: {name: schema-policy, key: policy.yaml}
interval: 10m
suspend: false
policy: {apply: OnApproval, allowDestructive: false, driftSeverity: all, lockTimeout: 30s, transactionMode: file}
execution: {activeDeadlineSeconds: 900, connectTimeout: 10s, failureRetryInterval: 30s}`,
		"migration-minimal": `
target:
  engine: MySQL
  coordinationKey: prod/billing/ledger-mysql
  sharedRealm: true
  urlFrom: {name: ledger-mysql, key: url}
artifact:
  ociRef: oci://registry.internal/billing/ledger-migrations@sha256:0123456789012345678901234567890123456789012345678901234567890123
  registryAuthFrom: {name: pull-cred, mode: Environment, usernameKey: username, passwordKey: password, tokenKey: token, dockerConfigJSONKey: .dockerconfigjson}
  verificationPolicyFrom: {name: migration-policy, key: policy.yaml}
interval: 10m
suspend: false
policy: {apply: OnApproval, lockTimeout: 5m}
execution: {activeDeadlineSeconds: 900, connectTimeout: 10s, failureRetryInterval: 30s}`,
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			u := object(t, readManifest(t, name))
			require.NoError(t, c.Create(t.Context(), u, strict, dryRun))
			got, err := yaml.Marshal(u.Object["spec"])
			require.NoError(t, err)
			assert.YAMLEq(t, want, string(got))
		})
	}
}

// Plans and approvals never change once they are stored; schemas and migrations do.
func TestSpecsAreImmutable(t *testing.T) {
	c := apiServer(t)
	cases := map[string]struct {
		path  []string
		value any
		want  string
	}{
		"schemaplan-one-chunk":     {[]string{"spec", "destructive"}, true, "spec is immutable: a plan never changes"},
		"migrationplan":            {[]string{"spec", "currentVersion"}, int64(13), "spec is immutable: a plan never changes"},
		"schemaapproval-stored":    {[]string{"spec", "approver", "username"}, "mallory", "spec is immutable: create another approval"},
		"migrationapproval-stored": {[]string{"spec", "approver", "username"}, "mallory", "spec is immutable: create another approval"},
		"schema-minimal":           {[]string{"spec", "suspend"}, true, ""},
		"migration-minimal":        {[]string{"spec", "suspend"}, true, ""},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			u := object(t, readManifest(t, name))
			u.SetName("immutable-" + u.GetName())
			require.NoError(t, c.Create(t.Context(), u))
			t.Cleanup(func() { _ = c.Delete(context.Background(), u) })
			require.NoError(t, unstructured.SetNestedField(u.Object, change.value, change.path...))
			err := c.Update(t.Context(), u)
			if change.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, change.want)
		})
	}
}

// The server reports what it thinks of the CRDs in their conditions; all six must be healthy and be what the manifests say.
func TestCRDsAreEstablished(t *testing.T) {
	c := apiServer(t)
	for kind, manifest := range crds(t) {
		live := &apiextensionsv1.CustomResourceDefinition{}
		require.Eventually(t, func() bool {
			if err := c.Get(t.Context(), key("", manifest.Name), live); err != nil {
				return false
			}
			return conditionTrue(live, apiextensionsv1.Established) && conditionTrue(live, apiextensionsv1.NamesAccepted)
		}, 10*time.Second, 50*time.Millisecond, kind)
		assert.False(t, conditionTrue(live, apiextensionsv1.NonStructuralSchema), kind)
		digest, err := release.CRDSpecDigest(live)
		require.NoError(t, err)
		assert.Equal(t, manifest.Annotations[v1alpha1.CRDSchemaDigestAnnotation], digest, "%s: the stored CRD has another digest than its manifest", kind)
	}
}

func conditionTrue(crd *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	for _, c := range crd.Status.Conditions {
		if c.Type == kind {
			return c.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

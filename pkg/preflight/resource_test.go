package preflight

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/podspec"
	"github.com/ptah-run/ptah/pkg/realm"
)

func selector(name, key string) corev1.SecretKeySelector {
	return corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
}

func wholeResource() Resource {
	r := Resource{
		Namespace: "app", Name: "orders", UID: "1", Target: v1alpha1.Target{Engine: "PostgreSQL", CoordinationKey: "orders", URLFrom: selector("db", "url")},
		Source: v1alpha1.Source{
			OCIRef: "oci://registry.example/app/orders:v2", RegistryAuthFrom: &v1alpha1.RegistryAuth{Name: "registry"},
			VerificationPolicyFrom: corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "policy"}, Key: "policy.yaml"},
		},
		Dev:      &v1alpha1.Dev{URLFrom: selector("db", "dev")},
		Secrets:  map[string]Known[Secret]{"db": Have(Secret{Keys: []string{"dev", "url"}}), "registry": Have(Secret{Keys: []string{"registry", "token"}})},
		Policy:   Have(Document{HasKey: true, Immutable: true}),
		Grant:    Have(""),
		Artifact: Have(Artifact{Digest: sum, Type: v1alpha1.SchemaArtifactType}),
		Account:  Have(corev1.ServiceAccount{}), Labels: Have(map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}),
		Claimants: Have([]realm.Claimant{}),
	}
	r.LimitRanges.State, r.Quotas.State = Present, Present
	return r
}

func TestAWholeNamespacePasses(t *testing.T) {
	for _, family := range []podspec.Family{podspec.Schema, podspec.Migration} {
		r := wholeResource()
		if r.Family = family; family == podspec.Migration {
			r.Artifact.Value.Type, r.Dev = v1alpha1.MigrationArtifactTypeAlias, nil
		}
		for _, result := range Run(ResourceChecks(), r) {
			assert.Equal(t, Pass, result.Verdict, "%s: %v", result.ID, result.Details)
		}
	}
}

func TestAnUnreadNamespaceNeverPasses(t *testing.T) {
	whole := wholeResource()
	r := Resource{Namespace: "app", Name: "orders", Target: whole.Target, Source: whole.Source, Secrets: map[string]Known[Secret]{}}
	r.Source.Transport = &v1alpha1.Transport{CAFrom: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "ca"}, Key: "ca.crt"}}
	r.Execution.PriorityClassName = "x"
	for _, result := range Run(ResourceChecks(), r) {
		if result.ID != "engine" {
			assert.Equal(t, CouldNotTell, result.Verdict, "%s: %v", result.ID, result.Details)
		}
	}
}

func TestWhatAResourceLacks(t *testing.T) {
	cases := map[string]struct {
		change func(*Resource)
		id     string
		want   Verdict
		says   string
	}{
		"engine":            {func(r *Resource) { r.Target.Engine = "Oracle" }, "engine", Fail, "not implemented"},
		"secret gone":       {func(r *Resource) { r.Secrets["db"] = None[Secret]() }, "secrets", Fail, "database URL, scratch database URL: Secret app/db does not exist"},
		"key gone":          {func(r *Resource) { r.Secrets["db"] = Have(Secret{Keys: []string{"url"}}) }, "secrets", Fail, "has no key dev; it has url"},
		"half a credential": {func(r *Resource) { r.Secrets["registry"] = Have(Secret{Keys: []string{"registry", "username"}}) }, "secrets", Fail, "username and password, nor token"},
		"no grant key":      {func(r *Resource) { r.Secrets["registry"] = Have(Secret{Keys: []string{"token"}}) }, "secrets", Fail, "registry grant"},
		"plain HTTP grant":  {func(r *Resource) { r.Source.Transport = &v1alpha1.Transport{PlainHTTP: true} }, "secrets", Fail, "allowPlainHTTP"},
		"docker config":     {func(r *Resource) { r.Source.RegistryAuthFrom.Mode = v1alpha1.RegistryAuthDockerConfigJSON }, "secrets", Fail, ".dockerconfigjson"},
		"pull secret": {func(r *Resource) {
			r.Execution.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
			r.Secrets["pull"] = None[Secret]()
		}, "secrets", Fail, "image pull Secret"},
		"grant refused":       {func(r *Resource) { r.Grant = Have("another registry") }, "registry-grant", Fail, "another registry"},
		"policy gone":         {func(r *Resource) { r.Policy = None[Document]() }, "verification-policy", Fail, "does not exist"},
		"policy mutable":      {func(r *Resource) { r.Policy.Value.Immutable = false }, "verification-policy", Fail, "not immutable"},
		"policy key":          {func(r *Resource) { r.Policy.Value.HasKey = false }, "verification-policy", Fail, "no key policy.yaml"},
		"policy text":         {func(r *Resource) { r.Policy.Value.Problem = "unknown key" }, "verification-policy", Fail, "unknown key"},
		"artifact elsewhere":  {func(r *Resource) { r.Artifact = Unseen[Artifact]("connection refused") }, "artifact", CouldNotTell, "connection refused"},
		"artifact of another": {func(r *Resource) { r.Artifact.Value.Type = v1alpha1.MigrationArtifactType }, "artifact", Fail, "is an artifact of type"},
		"account":             {func(r *Resource) { r.Account = None[corev1.ServiceAccount]() }, "service-account", Fail, "app/default does not exist"},
		"contested": {func(r *Resource) {
			r.Claimants = Have([]realm.Claimant{{UID: "2", Digest: realm.Digest("postgres", "orders")}})
		}, "realm", Fail, "2 resources claim"},
		"contested by whom": {func(r *Resource) {
			digest := realm.Digest("postgres", "orders")
			r.Claimants = Have([]realm.Claimant{
				{UID: "3", Name: "schema/b -n two", Digest: digest, Shared: true},
				{UID: "2", Name: "migration/a -n one", Digest: digest},
				{UID: "4", Name: "schema/aside -n one", Digest: digest, Suspended: true},
				{UID: "5", Name: "schema/other -n one", Digest: "other"},
			})
		}, "realm", Fail, "besides this one: migration/a -n one (not declared), schema/b -n two"},
		"contested nearby": {func(r *Resource) {
			r.Claimants = Known[[]realm.Claimant]{Why: "forbidden", Value: []realm.Claimant{{UID: "2", Digest: realm.Digest("postgres", "orders")}}}
		}, "realm", Fail, "2 resources claim"},
		"quota": {func(r *Resource) { r.Quotas = Have([]corev1.ResourceQuota{quota(amounts("pods", "0"), nil)}) }, "quota", Fail, "pods needed 1"},
		"job quota": {func(r *Resource) {
			r.Quotas = Have([]corev1.ResourceQuota{quota(amounts("pods", "0"), nil, corev1.ResourceQuotaScopeTerminating)})
		}, "quota", Pass, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := wholeResource()
			tc.change(&r)
			for _, result := range Run(ResourceChecks(), r) {
				if result.ID == tc.id {
					assert.Equal(t, tc.want, result.Verdict, "%v", result.Details)
					assert.Contains(t, join(result.Details), tc.says)
					assert.Equal(t, tc.want != Pass, result.Fix != "")
				}
			}
		})
	}
}

func TestOperationPodsAreRestricted(t *testing.T) {
	r := wholeResource()
	jobs, err := r.drafts()
	require.NoError(t, err)
	require.Len(t, jobs, 2)
	for _, job := range jobs {
		assert.Empty(t, unrestricted(job.Spec.Template.Spec))
	}
	pod := jobs[1].Spec.Template.Spec
	pod.HostNetwork = true
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}})
	pod.Containers[0].SecurityContext = &corev1.SecurityContext{}
	assert.GreaterOrEqual(t, len(unrestricted(pod)), 4)
}

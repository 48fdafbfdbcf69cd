package artifact

import (
	"encoding/json"
	"net/http"
	"testing"

	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

func policyOf(t *testing.T, text string) Policy {
	t.Helper()
	p, err := ParsePolicy([]byte("version: 1\n" + text))
	require.NoError(t, err)
	return p
}

func TestVerify(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	pinned, err := c.PushSchema(t.Context(), f.ref(":v1"), model, nil, stamped)
	require.NoError(t, err)
	types := "artifact_types: [" + v1alpha1.SchemaArtifactType + "]\n"

	t.Run("accepts", func(t *testing.T) {
		policy := policyOf(t, types+"require_annotations: [org.opencontainers.image.revision]\n")
		got, err := c.Verify(t.Context(), Verification{Requested: f.ref(":v1"), Resolved: pinned, Kind: intent.SchemaArtifact, Policy: policy})
		require.NoError(t, err)
		assert.Equal(t, frame.Verified{
			ArtifactType: v1alpha1.SchemaArtifactType, PolicyDigest: policy.Digest, Requirements: []string{"artifact_types", "require_annotations"},
		}, got)
	})
	t.Run("digest pin is judged on the request", func(t *testing.T) {
		policy := policyOf(t, "require_digest_pin: true\n")
		for _, requested := range []string{f.ref(":v1"), f.ref("")} {
			_, err := c.Verify(t.Context(), Verification{Requested: requested, Resolved: pinned, Kind: intent.SchemaArtifact, Policy: policy})
			requireCode(t, err, frame.CodePolicyRefused, "require_digest_pin")
		}
		_, err := c.Verify(t.Context(), Verification{Requested: pinned, Resolved: pinned, Kind: intent.SchemaArtifact, Policy: policy})
		require.NoError(t, err)
	})
	t.Run("all violations at once", func(t *testing.T) {
		policy := policyOf(t, "artifact_types: [x/y]\nrequire_annotations: [a.b, c.d]\nrequire_digest_pin: true\nrequire_signature: true\n")
		_, err := c.Verify(t.Context(), Verification{Requested: f.ref(":v1"), Resolved: pinned, Kind: intent.SchemaArtifact, Policy: policy})
		for _, part := range []string{"artifact_types", `"a.b"`, `"c.d"`, "require_digest_pin", "require_signature"} {
			requireCode(t, err, frame.CodePolicyRefused, part)
		}
	})
	t.Run("another family", func(t *testing.T) {
		policy := policyOf(t, "artifact_types: ["+v1alpha1.SchemaArtifactType+", "+v1alpha1.MigrationArtifactType+"]\n")
		_, err := c.Verify(t.Context(), Verification{Requested: f.ref(":v1"), Resolved: pinned, Kind: intent.MigrationArtifact, Policy: policy})
		requireCode(t, err, frame.CodeArtifactTypeRefused, "artifact type")
	})
	t.Run("inconsistent questions", func(t *testing.T) {
		good := Verification{Requested: f.ref(":v1"), Resolved: pinned, Kind: intent.SchemaArtifact, Policy: policyOf(t, types)}
		for why, change := range map[string]func(*Verification){
			"carries no digest":  func(v *Verification) { v.Resolved = f.ref(":v1") },
			"another repository": func(v *Verification) { v.Requested = Scheme + f.host() + "/other" },
			"another digest":     func(v *Verification) { v.Requested = f.ref("@" + someDigest) },
			"does not start":     func(v *Verification) { v.Requested = "app" },
		} {
			v := good
			change(&v)
			_, err := c.Verify(t.Context(), v)
			requireCode(t, err, frame.CodeConfigurationInvalid, why)
		}
		v := good
		v.Policy = Policy{}
		_, err := c.Verify(t.Context(), v)
		requireCode(t, err, frame.CodePolicyInvalid, "no policy")
	})
}

// TestSignature attaches signatures as referrers, to registries with and without the referrers API.
func TestSignature(t *testing.T) {
	for name, o := range map[string]registryOptions{"referrers API": {}, "referrers tag": {noReferrers: true}} {
		t.Run(name, func(t *testing.T) {
			f := newRegistry(t, o)
			c := f.client(t, Options{})
			pinned, err := c.PushSchema(t.Context(), f.ref(":v1"), model, nil, stamped)
			require.NoError(t, err)
			resolved, err := c.Resolve(t.Context(), pinned)
			require.NoError(t, err)
			question := Verification{Requested: f.ref(":v1"), Resolved: pinned, Kind: intent.SchemaArtifact, Policy: policyOf(t, "require_signature: true\n")}

			_, err = c.Verify(t.Context(), question)
			requireCode(t, err, frame.CodePolicyRefused, "no signature")
			f.attach(t, o, resolved, "application/vnd.example.sbom")
			_, err = c.Verify(t.Context(), question)
			requireCode(t, err, frame.CodePolicyRefused, "no signature")
			f.attach(t, o, resolved, "application/vnd.dev.sigstore.bundle.v0.3+json")
			got, err := c.Verify(t.Context(), question)
			require.NoError(t, err)
			assert.Equal(t, []string{"require_signature"}, got.Requirements)
		})
	}
}

// attach stores a referrer of an artifact, and the tag-schema index where the registry has no referrers API.
func (f *fakeRegistry) attach(t *testing.T, o registryOptions, to frame.Resolved, artifactType string) {
	t.Helper()
	m := hostile(artifactType, f.layer(t, "text/plain", "", []byte("signature")))
	subject := ocispec.Descriptor{MediaType: to.MediaType, Digest: digestOf(to.Digest), Size: to.Size}
	m.Subject = &subject
	data, err := json.Marshal(m)
	require.NoError(t, err)
	d := f.put(t, m.MediaType, data)
	if !o.noReferrers {
		return
	}
	d.ArtifactType = artifactType
	index, err := json.Marshal(ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{d}})
	require.NoError(t, err)
	f.send(t, http.MethodPut, f.URL+"/v2/app/orders/manifests/sha256-"+to.Digest[len("sha256:"):], ocispec.MediaTypeImageIndex, index)
}

func TestResolveRecordsWithoutJudging(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	m := hostile("", f.layer(t, ocispec.MediaTypeImageLayer, "", []byte("layer")))
	m.Config = f.layer(t, ocispec.MediaTypeImageConfig, "", []byte("{}"))
	image := f.tag(t, "image", m)
	resolved, err := c.Resolve(t.Context(), f.ref(":image"))
	require.NoError(t, err)
	assert.Equal(t, ocispec.MediaTypeImageConfig, resolved.ArtifactType)

	index, err := json.Marshal(ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{image}})
	require.NoError(t, err)
	f.send(t, http.MethodPut, f.URL+"/v2/app/orders/manifests/index", ocispec.MediaTypeImageIndex, index)
	resolved, err = c.Resolve(t.Context(), f.ref(":index"))
	require.NoError(t, err)
	assert.Equal(t, ocispec.MediaTypeImageIndex, resolved.MediaType)
	_, err = c.Verify(t.Context(), Verification{
		Requested: f.ref(":index"), Resolved: resolved.ResolvedReference, Kind: intent.SchemaArtifact, Policy: policyOf(t, "require_digest_pin: true\n"),
	})
	requireCode(t, err, frame.CodeArtifactTypeRefused, "index of images")
}

// The tag moves between Resolve and Verify: what was resolved is judged, in both directions.
func TestVerifyInspectsWhatWasResolved(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	pinned, err := c.PushSchema(t.Context(), f.ref(":stable"), model, nil, stamped)
	require.NoError(t, err)
	policy := policyOf(t, "artifact_types: ["+v1alpha1.SchemaArtifactType+"]\n")
	foreign := hostile("", f.layer(t, ocispec.MediaTypeImageLayer, "", []byte("layer")))
	foreign.Config = f.layer(t, ocispec.MediaTypeImageConfig, "", []byte("{}"))
	moved := f.tag(t, "stable", foreign)

	_, err = c.Verify(t.Context(), Verification{Requested: f.ref(":stable"), Resolved: pinned, Kind: intent.SchemaArtifact, Policy: policy})
	require.NoError(t, err, "what the tag leads to now is the next refresh's business")
	_, err = c.Verify(t.Context(), Verification{
		Requested: f.ref(":stable"), Resolved: f.ref(":stable@" + moved.Digest.String()), Kind: intent.SchemaArtifact, Policy: policy,
	})
	requireCode(t, err, frame.CodeArtifactTypeRefused, "artifact type")
}

func TestATagSelectsAndADigestDecides(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	first, err := c.PushSchema(t.Context(), f.ref(":stable"), model, nil, PushOptions{})
	require.NoError(t, err)
	ref, err := ParseReference(first)
	require.NoError(t, err)
	second, err := c.PushSchema(t.Context(), f.ref(":stable"), []byte(`{"version":2}`), nil, PushOptions{})
	require.NoError(t, err)
	moved, err := c.Resolve(t.Context(), f.ref(":stable"))
	require.NoError(t, err)
	assert.Equal(t, second, moved.ResolvedReference)
	pinned, err := c.Resolve(t.Context(), f.ref(":stable@"+ref.Digest))
	require.NoError(t, err)
	assert.Equal(t, first, pinned.ResolvedReference, "with both, the tag is only a label")
	_, err = c.Resolve(t.Context(), f.ref(":stable@"+someDigest))
	requireCode(t, err, frame.CodeArtifactNotFound, "no such")
}

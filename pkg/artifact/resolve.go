package artifact

import (
	"context"
	"errors"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

// Resolve asks the registry what a reference names right now. It does not judge the artifact: Verify and Fetch do.
func (c *Client) Resolve(ctx context.Context, reference string) (frame.Resolved, error) {
	ref, err := ParseReference(reference)
	if err != nil {
		return frame.Resolved{}, err
	}
	m, err := c.read(ctx, ref)
	if err != nil {
		return frame.Resolved{}, classify(ctx, "resolving "+ref.String(), err)
	}
	return frame.Resolved{
		ResolvedReference: ref.Pinned(m.descriptor.Digest.String()),
		Digest:            m.descriptor.Digest.String(),
		MediaType:         m.descriptor.MediaType,
		ArtifactType:      m.artifactType(),
		Size:              m.descriptor.Size,
	}, nil
}

func (c *Client) read(ctx context.Context, ref Reference) (manifest, error) {
	bounded, cancel := c.within(ctx)
	defer cancel()
	repo, err := c.repository(bounded, ref)
	if err != nil {
		return manifest{}, err
	}
	return readManifest(bounded, repo, ref)
}

// Verification is one question to Verify: does the artifact that Requested was resolved to satisfy Policy, as an artifact of Kind?
type Verification struct {
	Requested string // as the author wrote it
	Resolved  string // digest-pinned
	Kind      intent.ArtifactKind
	Policy    Policy
}

// Verify inspects the resolved digest. An artifact of another family is refused with CodeArtifactTypeRefused; a violated policy with
// CodePolicyRefused and the full list of violations. That a signature is attached is all that require_signature proves: no key and no
// identity is checked.
func (c *Client) Verify(ctx context.Context, v Verification) (frame.Verified, error) {
	requested, resolved, err := v.references()
	if err != nil {
		return frame.Verified{}, err
	}
	bounded, cancel := c.within(ctx)
	defer cancel()
	evidence, err := c.inspect(bounded, v, requested, resolved)
	if err != nil {
		return frame.Verified{}, classify(ctx, "verifying "+resolved.String(), err)
	}
	if found := v.Policy.violations(evidence); len(found) > 0 {
		return frame.Verified{}, refuse(frame.CodePolicyRefused, "verifying %s: %s", resolved, strings.Join(found, "; "))
	}
	return frame.Verified{ArtifactType: evidence.artifactType, PolicyDigest: v.Policy.Digest, Requirements: v.Policy.requirements()}, nil
}

func (v Verification) references() (requested, resolved Reference, err error) {
	if requested, err = ParseReference(v.Requested); err != nil {
		return requested, resolved, err
	}
	if resolved, err = ParseReference(v.Resolved); err != nil {
		return requested, resolved, err
	}
	switch {
	case resolved.Digest == "":
		err = refuse(frame.CodeConfigurationInvalid, "verifying %s: the resolved reference carries no digest", resolved)
	case !requested.sameRepository(resolved):
		err = refuse(frame.CodeConfigurationInvalid, "verifying %s: the requested reference names another repository", resolved)
	case requested.Digest != "" && requested.Digest != resolved.Digest:
		err = refuse(frame.CodeConfigurationInvalid, "verifying %s: the requested reference names another digest", resolved)
	case len(v.Policy.requirements()) == 0 || v.Policy.Digest == "":
		err = refuse(frame.CodePolicyInvalid, "verifying %s: no policy is given", resolved)
	}
	return requested, resolved, err
}

func (c *Client) inspect(ctx context.Context, v Verification, requested, resolved Reference) (subject, error) {
	repo, err := c.repository(ctx, resolved)
	if err != nil {
		return subject{}, err
	}
	m, err := readManifest(ctx, repo, resolved)
	if err != nil {
		return subject{}, err
	}
	if err := m.checkFamily(resolved, v.Kind); err != nil {
		return subject{}, err
	}
	found := subject{requested: requested, artifactType: m.artifactType(), annotations: m.content.Annotations}
	if v.Policy.RequireSignature {
		if found.signed, err = signed(ctx, repo, m.descriptor); err != nil {
			return subject{}, err
		}
	}
	return found, nil
}

// signatureTypes are the artifact types by which signing tools attach their signatures as referrers.
var signatureTypes = []string{
	"application/vnd.dev.cosign.artifact.sig.v1+json",  // cosign, OCI 1.1 mode
	"application/vnd.dev.cosign.simplesigning.v1+json", // cosign, simple signing payload as the type
	"application/vnd.dev.sigstore.bundle+json",         // sigstore bundle, unversioned
	"application/vnd.dev.sigstore.bundle.v0.1+json",    // sigstore bundle
	"application/vnd.dev.sigstore.bundle.v0.2+json",    // sigstore bundle
	"application/vnd.dev.sigstore.bundle.v0.3+json",    // sigstore bundle
	"application/vnd.dev.sigstore.bundle+json;version=0.1",
	"application/vnd.dev.sigstore.bundle+json;version=0.2",
	"application/vnd.dev.sigstore.bundle+json;version=0.3",
	"application/vnd.cncf.notary.signature", // notation, JWS and COSE envelopes alike
}

// maxReferrersRead bounds how many referrers are looked into.
const maxReferrersRead = 32

// signed reports whether a signature is attached as a referrer. Registries without the referrers API are read by the tag schema.
func signed(ctx context.Context, repo *remote.Repository, artifact ocispec.Descriptor) (bool, error) {
	var unclear []ocispec.Descriptor
	found := false
	err := repo.Referrers(ctx, artifact, "", func(referrers []ocispec.Descriptor) error {
		for _, r := range referrers {
			switch {
			case slices.Contains(signatureTypes, r.ArtifactType):
				found = true
			case r.ArtifactType == "" || r.ArtifactType == ocispec.MediaTypeEmptyJSON:
				unclear = append(unclear, r)
			}
		}
		return nil
	})
	if found || err != nil {
		return found, err
	}
	// Some registries list the media type of the (empty) config instead of the artifact type; the referrer itself knows.
	for _, r := range unclear[:min(len(unclear), maxReferrersRead)] {
		m, err := readManifest(ctx, repo, Reference{Host: repo.Reference.Registry, Repository: repo.Reference.Repository, Digest: r.Digest.String()})
		var refused *Error
		switch {
		case errors.As(err, &refused), errors.Is(err, errdef.ErrNotFound):
			continue // a referrer that cannot be read is no signature
		case err != nil:
			return false, err
		}
		if subject := m.content.Subject; subject != nil && subject.Digest == artifact.Digest && slices.Contains(signatureTypes, m.artifactType()) {
			return true, nil
		}
	}
	return false, nil
}

package artifact

import (
	"context"
	"encoding/json"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

// manifest is a verified manifest: the bytes hash to the digest that was asked for.
type manifest struct {
	descriptor ocispec.Descriptor
	content    ocispec.Manifest
}

// artifactType is the manifest's own, or the media type of its config where it has none, as OCI 1.1 rules.
func (m manifest) artifactType() string {
	if m.content.ArtifactType != "" {
		return m.content.ArtifactType
	}
	return m.content.Config.MediaType
}

// readManifest resolves what ref selects and reads exactly that. A tag that moves between the two requests does no harm: the second
// asks for the digest that the first named.
func readManifest(ctx context.Context, repo *remote.Repository, ref Reference) (manifest, error) {
	descriptor, err := repo.Resolve(ctx, ref.Selector())
	if err != nil {
		return manifest{}, err
	}
	if !digestPattern.MatchString(descriptor.Digest.String()) {
		return manifest{}, refuse(frame.CodeArtifactInvalid, "reading %s: the registry names a digest that is not SHA-256", ref)
	}
	if ref.Digest != "" && descriptor.Digest.String() != ref.Digest {
		return manifest{}, refuse(frame.CodeArtifactInvalid, "reading %s: the registry names another digest", ref)
	}
	if descriptor.Size > maxManifest {
		return manifest{}, refuse(frame.CodeArtifactTooLarge, "reading %s: the manifest has %d bytes, the bound is 4 MiB", ref, descriptor.Size)
	}
	body, err := repo.Manifests().Fetch(ctx, descriptor)
	if err != nil {
		return manifest{}, err
	}
	defer func() { _ = body.Close() }()
	data, err := readWhole(body, descriptor)
	if err != nil {
		return manifest{}, err
	}
	m := manifest{descriptor: descriptor}
	if json.Unmarshal(data, &m.content) != nil {
		return manifest{}, refuse(frame.CodeArtifactInvalid, "reading %s: the manifest is not JSON of the OCI form", ref)
	}
	if own := m.content.MediaType; own != "" && own != descriptor.MediaType {
		return manifest{}, refuse(frame.CodeArtifactInvalid, "reading %s: the manifest contradicts the media type it was served with", ref)
	}
	return m, nil
}

// checkFamily refuses what is not an artifact of the wanted kind.
func (m manifest) checkFamily(ref Reference, kind intent.ArtifactKind) error {
	if m.descriptor.MediaType != ocispec.MediaTypeImageManifest {
		return refuse(frame.CodeArtifactTypeRefused, "reading %s: it is an index of images, not an artifact", ref)
	}
	accepted, err := typesOf(kind)
	if err != nil {
		return err
	}
	for _, t := range accepted {
		if m.artifactType() == t {
			return nil
		}
	}
	return refuse(frame.CodeArtifactTypeRefused, "reading %s: its artifact type is %s, a %s artifact has %s", ref, quoted(m.artifactType()), kind, accepted[0])
}

// typesOf lists the artifact types that a kind may have, the one that is written first.
func typesOf(kind intent.ArtifactKind) ([]string, error) {
	switch kind {
	case intent.SchemaArtifact:
		return []string{v1alpha1.SchemaArtifactType}, nil
	case intent.MigrationArtifact:
		return []string{v1alpha1.MigrationArtifactType, v1alpha1.MigrationArtifactTypeAlias}, nil
	default:
		return nil, refuse(frame.CodeConfigurationInvalid, "choosing the artifact kind: %s is neither schema nor migration", quoted(string(kind)))
	}
}

func isSHA256(d digest.Digest) bool { return digestPattern.MatchString(d.String()) }

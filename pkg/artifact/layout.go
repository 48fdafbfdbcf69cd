package artifact

import (
	"path"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

// Names inside an artifact.
const (
	ModelFile    = v1alpha1.DefaultDesiredDataFileName // the canonical model of a schema artifact
	SourcesDir   = "sources"                           // where a schema artifact carries what it was made from
	PtahSumFile  = "ptah.sum"
	AtlasSumFile = "atlas.sum"
	LintFile     = ".ptah-lint.yaml"
	hclFile      = "schema.hcl"
)

// layer is one layer that passed the layout check.
type layer struct {
	descriptor ocispec.Descriptor
	title      string
	archive    archiveKind
}

// layersOf checks the layout of a manifest against its kind before a single layer is fetched: counts, sizes, digests, names, order.
func layersOf(m manifest, ref Reference, kind intent.ArtifactKind) ([]layer, error) {
	layers, err := boundedLayers(m, ref)
	if err != nil {
		return nil, err
	}
	if kind == intent.SchemaArtifact {
		return layers, checkSchemaLayout(ref, layers)
	}
	return layers, checkMigrationLayout(ref, layers)
}

// boundedLayers checks what every artifact has to keep to, whatever its kind.
func boundedLayers(m manifest, ref Reference) ([]layer, error) {
	descriptors := m.content.Layers
	if len(descriptors) == 0 {
		return nil, refuse(frame.CodeArtifactTypeRefused, "reading %s: the artifact has no layer", ref)
	}
	if len(descriptors) > MaxFiles {
		return nil, refuse(frame.CodeArtifactTooLarge, "reading %s: %d layers are over the bound of %d", ref, len(descriptors), MaxFiles)
	}
	var layers []layer
	var total int64
	for i, d := range descriptors {
		if err := checkDescriptor(ref, i, d); err != nil {
			return nil, err
		}
		if total += d.Size; total > MaxTotal {
			return nil, refuse(frame.CodeArtifactTooLarge, "reading %s: the layers together are over 64 MiB", ref)
		}
		title := d.Annotations[ocispec.AnnotationTitle]
		layers = append(layers, layer{descriptor: d, title: title, archive: archiveOf(d.MediaType, title)})
	}
	return layers, nil
}

func checkDescriptor(ref Reference, index int, d ocispec.Descriptor) error {
	switch {
	case !isSHA256(d.Digest):
		return refuse(frame.CodeArtifactInvalid, "reading %s: the digest of layer %d is not SHA-256", ref, index)
	case d.Size < 0:
		return refuse(frame.CodeArtifactInvalid, "reading %s: the size of layer %d is negative", ref, index)
	case d.Size > MaxLayer:
		return refuse(frame.CodeArtifactTooLarge, "reading %s: layer %d has %d bytes, the bound is 8 MiB", ref, index, d.Size)
	default:
		return nil
	}
}

// checkSchemaLayout wants the canonical model first and nothing but its sources after it.
func checkSchemaLayout(ref Reference, layers []layer) error {
	first := layers[0]
	if isToolkitLayer(first) {
		return refuse(frame.CodeArtifactTypeRefused,
			"reading %s: its only content is %s, the form that the public toolkit pushes; this build reads the canonical model (%s). Publish it again with kubectl ptah push schema",
			ref, hclFile, ModelFile)
	}
	if first.descriptor.MediaType != v1alpha1.SchemaModelLayerMediaType || first.title != ModelFile {
		return refuse(frame.CodeArtifactTypeRefused, "reading %s: its first layer is %s of type %s, a schema artifact starts with %s of type %s",
			ref, quoted(first.title), quoted(first.descriptor.MediaType), ModelFile, v1alpha1.SchemaModelLayerMediaType)
	}
	names := newNameSet()
	for i, l := range layers {
		if err := names.add(l.title); err != nil {
			return err
		}
		if i > 0 && (l.descriptor.MediaType != v1alpha1.SourceLayerMediaType || !strings.HasPrefix(l.title, SourcesDir+"/")) {
			return refuse(frame.CodeArtifactTypeRefused, "reading %s: layer %s is neither the model nor below %s/", ref, quoted(l.title), SourcesDir)
		}
	}
	return nil
}

// checkMigrationLayout wants one file per layer, of the names that a migration directory has. Archives are checked when unpacked.
func checkMigrationLayout(ref Reference, layers []layer) error {
	names := newNameSet()
	for _, l := range layers {
		switch l.archive {
		case archiveUnknown:
			return refuse(frame.CodeArtifactTypeRefused, "reading %s: layer %s is packed with something other than gzip", ref, quoted(l.title))
		case archiveNone:
			if err := names.add(l.title); err != nil {
				return err
			}
			if err := checkMigrationName(l.title); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkMigrationName accepts what a migration directory is captured from.
func checkMigrationName(name string) error {
	if isMigrationFile(name) {
		return nil
	}
	return refuse(frame.CodeArtifactTypeRefused, "checking file name %s: a migration directory holds *.sql, %s or %s, and %s",
		quoted(name), PtahSumFile, AtlasSumFile, LintFile)
}

func isMigrationFile(name string) bool {
	switch base := path.Base(name); base {
	case PtahSumFile, AtlasSumFile, LintFile:
		return base == name
	default:
		return strings.HasSuffix(base, ".sql") && len(base) > len(".sql")
	}
}

package artifact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
)

// File is one file of an artifact. Name is relative and slash-separated.
type File struct {
	Name string
	Data []byte
}

// PushOptions are what a push is told besides the content.
type PushOptions struct {
	Annotations Annotations
	// WriteOnce refuses to move the tag where it names other content already. Tags of the generated form (v, 14 digits, dash,
	// base32) are always treated so. The check is made by the client before the upload; only the registry itself could make it atomic.
	WriteOnce bool
}

// PushSchema publishes a declared schema: the canonical model first, then the files it was made from below sources/. It returns the
// digest-pinned reference. The same input gives the same digest; a reference that carries a digest is refused.
func (c *Client) PushSchema(ctx context.Context, reference string, model []byte, sources []File, o PushOptions) (string, error) {
	switch {
	case len(model) == 0 || !json.Valid(model):
		return "", refuse(frame.CodeArtifactInvalid, "publishing the schema: the model is not JSON")
	case len(model) > MaxLayer:
		return "", refuse(frame.CodeArtifactTooLarge, "publishing the schema: the model has %d bytes, the bound is 8 MiB", len(model))
	}
	p := newPackage(v1alpha1.SchemaArtifactType, o.Annotations)
	p.add(v1alpha1.SchemaModelLayerMediaType, File{Name: ModelFile, Data: model})
	for _, f := range sortedByName(sources) {
		p.add(v1alpha1.SourceLayerMediaType, File{Name: SourcesDir + "/" + f.Name, Data: f.Data})
	}
	return c.push(ctx, reference, p, o)
}

// PushMigrations publishes a captured migration directory. It returns the digest-pinned reference.
func (c *Client) PushMigrations(ctx context.Context, reference string, d Directory, o PushOptions) (string, error) {
	if d.Format != PtahFormat && d.Format != AtlasFormat {
		return "", refuse(frame.CodeConfigurationInvalid, "publishing the migrations: format %s is neither ptah nor atlas", quoted(string(d.Format)))
	}
	p := newPackage(v1alpha1.MigrationArtifactType, o.Annotations)
	p.annotate(v1alpha1.MigrationDirFormatAnnotation, string(d.Format))
	for _, f := range sortedByName(d.Files) {
		p.add(v1alpha1.MigrationFileLayerMediaType, f)
	}
	return c.push(ctx, reference, p, o)
}

func sortedByName(files []File) []File {
	return slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
}

// pack is an artifact in memory. The first fault sticks.
type pack struct {
	manifest ocispec.Manifest
	order    []blob
	names    *nameSet
	total    int
	fault    error
}

type blob struct {
	descriptor ocispec.Descriptor
	data       []byte
}

func newPackage(artifactType string, a Annotations) *pack {
	annotations, err := a.manifestAnnotations()
	config := blob{descriptor: content.NewDescriptorFromBytes(ocispec.MediaTypeEmptyJSON, ocispec.DescriptorEmptyJSON.Data), data: ocispec.DescriptorEmptyJSON.Data}
	return &pack{
		manifest: ocispec.Manifest{
			Versioned:    specs.Versioned{SchemaVersion: 2},
			MediaType:    ocispec.MediaTypeImageManifest,
			ArtifactType: artifactType,
			Config:       config.descriptor,
			Layers:       []ocispec.Descriptor{},
			Annotations:  annotations,
		},
		order: []blob{config},
		names: newNameSet(),
		fault: err,
	}
}

func (p *pack) annotate(name, value string) {
	if p.fault == nil {
		p.manifest.Annotations[name] = value
	}
}

func (p *pack) add(mediaType string, f File) {
	if p.fault != nil {
		return
	}
	if p.fault = p.names.add(f.Name); p.fault != nil {
		return
	}
	p.total += len(f.Data)
	switch {
	case len(f.Data) > MaxLayer:
		p.fault = refuse(frame.CodeArtifactTooLarge, "publishing %s: it has %d bytes, the bound is 8 MiB", quoted(f.Name), len(f.Data))
	case p.total > MaxTotal:
		p.fault = refuse(frame.CodeArtifactTooLarge, "publishing %s: the files together are over 64 MiB", quoted(f.Name))
	case len(p.manifest.Layers) >= MaxFiles:
		p.fault = refuse(frame.CodeArtifactTooLarge, "publishing %s: there are more than %d files", quoted(f.Name), MaxFiles)
	default:
		descriptor := content.NewDescriptorFromBytes(mediaType, f.Data)
		p.order = append(p.order, blob{descriptor: descriptor, data: f.Data})
		descriptor.Annotations = map[string]string{ocispec.AnnotationTitle: f.Name}
		p.manifest.Layers = append(p.manifest.Layers, descriptor)
	}
}

// encode returns the manifest. encoding/json sorts the annotation maps, so the bytes depend on the content only.
func (p *pack) encode() (blob, error) {
	if p.fault != nil {
		return blob{}, p.fault
	}
	data, err := json.Marshal(p.manifest)
	if err != nil {
		return blob{}, refuse(frame.CodeInternal, "encoding the manifest: it cannot be written as JSON")
	}
	if len(data) > maxManifest {
		return blob{}, refuse(frame.CodeArtifactTooLarge, "publishing: the manifest has %d bytes, the bound is 4 MiB", len(data))
	}
	return blob{descriptor: content.NewDescriptorFromBytes(ocispec.MediaTypeImageManifest, data), data: data}, nil
}

func (c *Client) push(ctx context.Context, reference string, p *pack, o PushOptions) (string, error) {
	ref, err := ParseReference(reference)
	if err != nil {
		return "", err
	}
	if ref.Digest != "" {
		return "", refuse(frame.CodeConfigurationInvalid, "publishing to %s: a push names a tag; the digest follows from the content", ref)
	}
	m, err := p.encode()
	if err != nil {
		return "", err
	}
	bounded, cancel := c.within(ctx)
	defer cancel()
	repo, err := c.repository(bounded, ref)
	if err != nil {
		return "", err
	}
	if err := upload(bounded, repo, ref, p.order, m, o.WriteOnce || ref.WriteOnce()); err != nil {
		return "", classify(ctx, "publishing to "+ref.String(), err)
	}
	return ref.Pinned(m.descriptor.Digest.String()), nil
}

// upload sends the blobs and, last, the manifest under its tag, so that a broken push leaves the tag where it was.
func upload(ctx context.Context, repo *remote.Repository, ref Reference, blobs []blob, m blob, writeOnce bool) error {
	current, err := repo.Resolve(ctx, ref.Selector())
	switch {
	case err == nil && current.Digest == m.descriptor.Digest:
		return nil
	case err == nil && writeOnce:
		return refuse(frame.CodeConfigurationInvalid, "publishing to %s: this tag is written once and already names other content (%s)", ref, current.Digest)
	case err != nil && !errors.Is(err, errdef.ErrNotFound):
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for _, b := range distinct(blobs) {
		group.Go(func() error { return uploadBlob(groupCtx, repo, b) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return repo.Manifests().PushReference(ctx, m.descriptor, bytes.NewReader(m.data), ref.Selector())
}

// distinct drops blobs with the same content: two equal files are two layers and one upload.
func distinct(blobs []blob) []blob {
	seen := map[digest.Digest]bool{}
	return slices.DeleteFunc(slices.Clone(blobs), func(b blob) bool {
		again := seen[b.descriptor.Digest]
		seen[b.descriptor.Digest] = true
		return again
	})
}

func uploadBlob(ctx context.Context, repo *remote.Repository, b blob) error {
	present, err := repo.Blobs().Exists(ctx, b.descriptor)
	if err != nil || present {
		return err
	}
	err = repo.Blobs().Push(ctx, b.descriptor, bytes.NewReader(b.data))
	if errors.Is(err, errdef.ErrAlreadyExists) {
		return nil
	}
	return err
}

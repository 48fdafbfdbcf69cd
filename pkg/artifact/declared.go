package artifact

import (
	"context"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/intent"
)

// Declared is what a schema artifact declares: the canonical model, or the one schema.hcl of the public toolkit, which only a person's own
// command reads, because reading it takes a server.
type Declared struct {
	Pinned     string // the reference with the digest that was read
	Model, HCL []byte
}

// isToolkitLayer recognises the layer that the public toolkit pushes.
func isToolkitLayer(l layer) bool {
	return l.title == hclFile || l.descriptor.MediaType == v1alpha1.SchemaHCLLayerMediaType
}

// ReadSchema reads what the schema artifact declares that a reference names right now.
func (c *Client) ReadSchema(ctx context.Context, reference string) (Declared, error) {
	ref, err := ParseReference(reference)
	if err != nil {
		return Declared{}, err
	}
	bounded, cancel := c.within(ctx)
	defer cancel()
	declared, err := c.readSchema(bounded, ref)
	if err != nil {
		return Declared{}, classify(ctx, "reading "+ref.String(), err)
	}
	return declared, nil
}

func (c *Client) readSchema(ctx context.Context, ref Reference) (Declared, error) {
	repo, err := c.repository(ctx, ref)
	if err != nil {
		return Declared{}, err
	}
	m, err := readManifest(ctx, repo, ref)
	if err != nil {
		return Declared{}, err
	}
	if err := m.checkFamily(ref, intent.SchemaArtifact); err != nil {
		return Declared{}, err
	}
	layers, err := boundedLayers(m, ref)
	if err != nil {
		return Declared{}, err
	}
	toolkit := len(layers) == 1 && isToolkitLayer(layers[0])
	if !toolkit {
		if err := checkSchemaLayout(ref, layers); err != nil {
			return Declared{}, err
		}
	}
	data, err := readLayer(ctx, repo, layers[0])
	if err != nil {
		return Declared{}, err
	}
	declared := Declared{Pinned: ref.Pinned(m.descriptor.Digest.String())}
	if toolkit {
		declared.HCL = data
	} else {
		declared.Model = data
	}
	return declared, nil
}

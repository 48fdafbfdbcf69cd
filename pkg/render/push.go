package render

import "github.com/ptah-run/ptah/pkg/api/v1alpha1"

// PushResult is a published artifact.
type PushResult struct {
	Meta
	Reference    string   `json:"reference"` // pinned to the digest
	Tagged       string   `json:"tagged"`    // as it was asked for, with the tag
	Digest       string   `json:"digest"`
	ArtifactType string   `json:"artifactType"`
	Files        []string `json:"files"`
	Size         int64    `json:"size"` // bytes of all files together
}

// NewPushResult shows a published artifact.
func NewPushResult(result PushResult) *PushResult {
	result.Meta = Meta{APIVersion: APIVersion, Kind: "PushResult"}
	return &result
}

// IsMigration tells the two families of artifacts apart.
func (p *PushResult) IsMigration() bool { return p.ArtifactType == v1alpha1.MigrationArtifactType }

// Data is this view.
func (p *PushResult) Data() any { return p }

// Names is the pinned reference.
func (p *PushResult) Names() []string { return []string{p.Reference} }

// Draw writes the pinned reference alone, so that a pipeline can take it as it is.
func (p *PushResult) Draw(c *Canvas) { c.println(p.Reference) }

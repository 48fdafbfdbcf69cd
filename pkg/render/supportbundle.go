package render

import (
	"fmt"

	"github.com/ptah-run/ptah/pkg/spelling"
)

// SupportBundle is a written bundle.
type SupportBundle struct {
	Meta
	File   string   `json:"file"`
	Scope  string   `json:"scope"`
	Size   int      `json:"size"` // bytes
	Files  []string `json:"files"`
	Unread []Unread `json:"unread"`
}

// Unread is something that could not be read.
type Unread struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Data is this view.
func (b *SupportBundle) Data() any { return b }

// Names is the file.
func (b *SupportBundle) Names() []string { return []string{b.File} }

// Draw says what was written, and what is not in it.
func (b *SupportBundle) Draw(c *Canvas) {
	c.println(fmt.Sprintf("%s: %s of %s", Printable(b.File), spelling.Count(len(b.Files), "file"), b.Scope))
	for _, gap := range b.Unread {
		c.println(c.paint(Caution, "?") + " not in it: " + Printable(gap.What) + ": " + Printable(gap.Why))
	}
}

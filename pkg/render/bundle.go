package render

// BundleInfo says where a bundle was written and what identifies it.
type BundleInfo struct {
	Path   string `json:"path"`
	Digest string `json:"digest"` // of manifest.json, which holds the digest of everything else
	Plans  int    `json:"plans"`
}

package artifact

// Bounds of an artifact. Publishing and fetching hold the same ones, so that whatever is published can be fetched.
const (
	MaxLayer = 8 << 20  // bytes of one layer, and of one file
	MaxTotal = 64 << 20 // bytes of all files together, unpacked
	MaxFiles = 2000     // layers, and files
)

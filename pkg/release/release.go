// Package release says which build this is. The image builder sets both values with -ldflags -X; a plain "go build" leaves the
// defaults and Describe falls back to what the Go toolchain recorded.
package release

import "runtime/debug"

// Version is the product version without a leading "v", Revision the source revision in full. Set at link time.
var (
	Version  = "0.0.0-dev"
	Revision = ""
)

// Describe returns the revision of this build: the stamped one, else the one that the Go toolchain recorded, else "unknown". A
// working tree with uncommitted changes is marked with a "-dirty" suffix.
func Describe() string {
	if Revision != "" {
		return Revision
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return fromSettings(info.Settings)
}

func fromSettings(settings []debug.BuildSetting) string {
	revision, dirty := "", false
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	switch {
	case revision == "":
		return "unknown"
	case dirty:
		return revision + "-dirty"
	default:
		return revision
	}
}

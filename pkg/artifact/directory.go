package artifact

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/frame"
)

// Format is the layout of a migration directory.
type Format string

// The layouts.
const (
	PtahFormat  Format = "ptah"  // NNNNNNNNNN_name.up.sql and .down.sql, always both
	AtlasFormat Format = "atlas" // <version>_name.sql, up only
)

// Directory is a captured migration directory: its bytes, in no way connected to the disk any more.
type Directory struct {
	Format Format
	Files  []File // sorted by name
	Hashed bool   // a sum file is present, and it agrees with the files
}

// CaptureOptions say what a directory must be.
type CaptureOptions struct {
	Format     Format // empty: detect it
	RequireSum bool   // a missing sum file is a fault
}

var nativeName = regexp.MustCompile(`^([0-9]{10}_[a-z0-9_]+(?:\.checkpoint)?)\.(up|down)\.sql$`)

// Capture reads a migration directory: its *.sql files, ptah.sum or atlas.sum, and .ptah-lint.yaml. Anything else is left out. It
// reads twice and refuses a directory that changes meanwhile. A sum file that is present must agree with the files. Refusals have
// CodeArtifactInvalid, CodeArtifactTooLarge or CodeConfigurationInvalid and name the file.
func Capture(dir fs.FS, o CaptureOptions) (Directory, error) {
	first, err := readDirectory(dir)
	if err != nil {
		return Directory{}, err
	}
	second, err := readDirectory(dir)
	if err != nil {
		return Directory{}, err
	}
	if !slices.EqualFunc(first, second, func(a, b File) bool { return a.Name == b.Name && bytes.Equal(a.Data, b.Data) }) {
		return Directory{}, badDirectory("it changed while it was read")
	}
	format, err := detectFormat(first, o.Format)
	if err != nil {
		return Directory{}, err
	}
	hashed, err := verifySum(first, o.RequireSum)
	if err != nil {
		return Directory{}, err
	}
	return Directory{Format: format, Files: first, Hashed: hashed}, nil
}

func readDirectory(dir fs.FS) ([]File, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, badDirectory("it cannot be read")
	}
	var files []File
	total := 0
	for _, entry := range entries {
		if !isMigrationFile(entry.Name()) {
			continue
		}
		file, err := readFile(dir, entry)
		if err != nil {
			return nil, err
		}
		if total += len(file.Data); total > MaxTotal {
			return nil, refuse(frame.CodeArtifactTooLarge, "reading the migration directory: its files together are over 64 MiB")
		}
		if files = append(files, file); len(files) > MaxFiles {
			return nil, refuse(frame.CodeArtifactTooLarge, "reading the migration directory: it has more than %d files", MaxFiles)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

func readFile(dir fs.FS, entry fs.DirEntry) (File, error) {
	name := entry.Name()
	if !entry.Type().IsRegular() {
		return File{}, badDirectory("%s is a link, a directory or a device, not a file", quoted(name))
	}
	if err := checkName(name); err != nil {
		return File{}, err
	}
	f, err := dir.Open(name)
	if err != nil {
		return File{}, badDirectory("%s cannot be read", quoted(name))
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, MaxLayer+1))
	switch {
	case err != nil:
		return File{}, badDirectory("%s cannot be read", quoted(name))
	case len(data) > MaxLayer:
		return File{}, refuse(frame.CodeArtifactTooLarge, "reading the migration directory: %s is over 8 MiB", quoted(name))
	default:
		return File{Name: name, Data: data}, nil
	}
}

// detectFormat decides by the names: one native pair makes the directory native.
func detectFormat(files []File, wanted Format) (Format, error) {
	halves := map[string][]string{}
	scripts := 0
	for _, f := range files {
		if !isScript(f.Name) {
			continue
		}
		scripts++
		if m := nativeName.FindStringSubmatch(f.Name); m != nil {
			halves[m[1]] = append(halves[m[1]], m[2])
		}
	}
	if scripts == 0 {
		return "", badDirectory("it has no .sql file")
	}
	if wanted != "" && wanted != PtahFormat && wanted != AtlasFormat {
		return "", refuse(frame.CodeConfigurationInvalid, "reading the migration directory: format %s is neither ptah nor atlas", quoted(string(wanted)))
	}
	found := AtlasFormat
	if len(halves) > 0 {
		found = PtahFormat
	}
	if wanted != "" && wanted != found {
		return "", refuse(frame.CodeConfigurationInvalid, "reading the migration directory: its files have the %s format, not %s", found, wanted)
	}
	return found, checkPairs(halves)
}

func checkPairs(halves map[string][]string) error {
	versions := map[string]string{}
	for _, stem := range slices.Sorted(maps.Keys(halves)) {
		if len(halves[stem]) != 2 {
			return badDirectory("%s has only its %s half; every migration needs .up.sql and .down.sql", quoted(stem), halves[stem][0])
		}
		version, _, _ := strings.Cut(stem, "_")
		if strings.HasSuffix(stem, ".checkpoint") {
			version += ".checkpoint"
		}
		if other, ok := versions[version]; ok {
			return badDirectory("%s and %s have the same version", quoted(other), quoted(stem))
		}
		versions[version] = stem
	}
	return nil
}

func isScript(name string) bool { return strings.HasSuffix(name, ".sql") }

func badDirectory(format string, args ...any) error {
	return refuse(frame.CodeArtifactInvalid, "reading the migration directory: "+format, args...)
}

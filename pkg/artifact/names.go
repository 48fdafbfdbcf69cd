package artifact

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ptah-run/ptah/pkg/frame"
)

// Bounds of a file name inside an artifact, in bytes.
const (
	maxName     = 512
	maxNamePart = 200
)

// checkName accepts relative slash-separated names that mean the same file on every system. A refusal has CodeArtifactInvalid.
func checkName(name string) error {
	switch {
	case name == "":
		return badName(name, "is empty")
	case len(name) > maxName:
		return badName(name, "is longer than 512 bytes")
	case !utf8.ValidString(name):
		return badName(name, "is not valid UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return badName(name, "holds a control character")
	case strings.ContainsAny(name, `\:`):
		return badName(name, "holds a backslash or a colon")
	case strings.HasPrefix(name, "/"):
		return badName(name, "is absolute")
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			return badName(name, "leads out of its directory")
		case part == "" || part == ".":
			return badName(name, "has an empty or a dot part")
		case len(part) > maxNamePart:
			return badName(name, "has a part longer than 200 bytes")
		case strings.HasSuffix(part, " ") || strings.HasSuffix(part, "."):
			return badName(name, "has a part that ends with a blank or a dot")
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return badName(name, "is not a plain relative name")
	}
	return nil
}

func badName(name, why string) error {
	return refuse(frame.CodeArtifactInvalid, "checking file name %s: it %s", quoted(name), why)
}

// nameSet refuses names that would meet on a file system: the same name, the same name in other letter case, or a file where another
// name needs a directory.
type nameSet struct {
	files, directories map[string]string // folded name to first spelling
}

func newNameSet() *nameSet {
	return &nameSet{files: map[string]string{}, directories: map[string]string{}}
}

func (s *nameSet) add(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	key := fold(name)
	if first, ok := s.files[key]; ok {
		if first == name {
			return badName(name, "appears twice")
		}
		return badName(name, "differs from "+quoted(first)+" in letter case only")
	}
	if _, ok := s.directories[key]; ok {
		return badName(name, "is also used as a directory")
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := s.files[fold(dir)]; ok {
			return badName(name, "needs a directory where "+quoted(dir)+" is a file")
		}
		if first, ok := s.directories[fold(dir)]; ok && first != dir {
			return badName(name, "differs from directory "+quoted(first)+" in letter case only")
		}
		s.directories[fold(dir)] = dir
	}
	s.files[key] = name
	return nil
}

func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

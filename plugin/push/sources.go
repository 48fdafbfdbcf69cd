package push

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/plugin/options"
)

// maxSources bounds how many files one schema is made of.
const maxSources = artifact.MaxFiles - 1 // the model is a file too

// readSources reads the files in the order given; a directory stands for its *.sql files in the order of their names. The names are
// relative to the deepest directory that holds all of them, so that the artifact does not depend on where it was built.
func readSources(args []string) ([]artifact.File, error) {
	paths, err := expand(args)
	if err != nil {
		return nil, err
	}
	if len(paths) > maxSources {
		return nil, fmt.Errorf("reading the schema: %d files, the bound is %d", len(paths), maxSources)
	}
	names, err := relativeNames(paths)
	if err != nil {
		return nil, err
	}
	files := make([]artifact.File, 0, len(paths))
	total := 0
	for i, file := range paths {
		data, err := readBounded(file, artifact.MaxLayer)
		if err != nil {
			return nil, fmt.Errorf("reading the schema: %w", err)
		}
		if total += len(data); total > artifact.MaxTotal {
			return nil, fmt.Errorf("reading the schema: the files together have more than %d bytes", artifact.MaxTotal)
		}
		files = append(files, artifact.File{Name: names[i], Data: data})
	}
	return files, nil
}

func expand(args []string) ([]string, error) {
	var paths []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, fmt.Errorf("reading the schema: %w", err)
		}
		if !info.IsDir() {
			paths = append(paths, arg)
			continue
		}
		matches, err := filepath.Glob(filepath.Join(escapeGlob(arg), "*.sql"))
		if err != nil || len(matches) == 0 {
			return nil, options.Usagef("directory %s has no *.sql files", arg)
		}
		slices.Sort(matches)
		paths = append(paths, matches...)
	}
	return paths, nil
}

// escapeGlob keeps a directory's own name from being read as a pattern.
func escapeGlob(name string) string {
	if filepath.Separator == '\\' {
		return name
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

func relativeNames(paths []string) ([]string, error) {
	names := make([]string, len(paths))
	for i, file := range paths {
		absolute, err := filepath.Abs(file)
		if err != nil {
			return nil, fmt.Errorf("reading the schema: %w", err)
		}
		names[i] = filepath.ToSlash(absolute)
	}
	root := path.Dir(names[0])
	for _, name := range names {
		for !strings.HasPrefix(name, strings.TrimSuffix(root, "/")+"/") {
			root = path.Dir(root)
		}
	}
	seen := map[string]bool{}
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, strings.TrimSuffix(root, "/")+"/")
		if seen[names[i]] {
			return nil, options.Usagef("%s is given twice", paths[i])
		}
		seen[names[i]] = true
	}
	return names, nil
}

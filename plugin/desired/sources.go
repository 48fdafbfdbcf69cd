package desired

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/plugin/options"
)

// maxSources bounds how many files one schema is made of.
const maxSources = artifact.MaxFiles - 1 // the model is a file too

// Read reads the files in the order given; a directory stands for its SQL, YAML and HCL files in the order of their names. The names are
// relative to the deepest directory that holds all of them, so that an artifact does not depend on where it was built. A relative path leads
// to nothing outside of the working directory, through whatever symbolic links. Files of rows that a declaration names come after it.
func Read(args, variables []string) ([]artifact.File, error) {
	paths, err := expand(args)
	if err != nil {
		return nil, err
	}
	if err := confine(paths); err != nil {
		return nil, err
	}
	if paths, err = withRows(paths, variables); err != nil {
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
			if !Recognised(arg) {
				return nil, options.Usagef("%s: want a *.sql, *.yaml, *.yml or *.hcl file", arg)
			}
			paths = append(paths, arg)
			continue
		}
		matches, err := sourcesIn(arg)
		if err != nil {
			return nil, err
		}
		if len(matches) == 0 {
			return nil, options.Usagef("directory %s has no *.sql, *.yaml, *.yml or *.hcl files", arg)
		}
		slices.Sort(matches)
		paths = append(paths, matches...)
	}
	return paths, nil
}

// sourcesIn lists what a directory holds itself. Hidden files are of other tools.
func sourcesIn(directory string) ([]string, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && !strings.HasPrefix(name, ".") && Recognised(name) {
			paths = append(paths, filepath.Join(directory, name))
		}
	}
	return paths, nil
}

// withRows adds the files of rows that the declarations name.
func withRows(paths, variables []string) ([]string, error) {
	values, err := assignments(variables)
	if err != nil {
		return nil, err
	}
	var declarations []declare.File
	total := 0
	for _, p := range paths {
		if !declare.IsSource(p) {
			continue
		}
		data, err := readBounded(p, artifact.MaxLayer)
		if err != nil {
			return nil, fmt.Errorf("reading the schema: %w", err)
		}
		if total += len(data); total > artifact.MaxTotal {
			return nil, fmt.Errorf("reading the schema: the files together have more than %d bytes", artifact.MaxTotal)
		}
		declarations = append(declarations, declare.File{Name: filepath.ToSlash(p), Data: data})
	}
	for _, name := range declare.RowFiles(declarations, declare.Options{Dialect: declare.Postgres, Variables: values}) {
		file := filepath.FromSlash(name)
		if slices.ContainsFunc(paths, func(p string) bool { return filepath.Clean(p) == file }) {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			continue // whoever reads the declarations says where it is named
		}
		if err := confineRows(file, paths); err != nil {
			return nil, err
		}
		paths = append(paths, file)
	}
	return paths, nil
}

// confineRows refuses a file of rows outside of the working directory, unless it is below a declaration that was given by an absolute path.
func confineRows(file string, declarations []string) error {
	if !filepath.IsAbs(file) {
		return confine([]string{file})
	}
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	for _, d := range declarations {
		directory, err := filepath.EvalSymlinks(filepath.Dir(d))
		if err != nil || !filepath.IsAbs(d) {
			continue
		}
		if inside, err := filepath.Rel(directory, resolved); err == nil && filepath.IsLocal(inside) {
			return nil
		}
	}
	return options.Usagef("%s leads out of the directory of the declaration that names it", file)
}

// confine refuses a relative path that leaves the working directory.
func confine(paths []string) error {
	working, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	if working, err = filepath.EvalSymlinks(working); err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	for _, p := range paths {
		if filepath.IsAbs(p) {
			continue
		}
		resolved, err := filepath.EvalSymlinks(p)
		if err != nil {
			return fmt.Errorf("reading the schema: %w", err)
		}
		if !filepath.IsAbs(resolved) {
			resolved = filepath.Join(working, resolved)
		}
		if inside, err := filepath.Rel(working, resolved); err != nil || !filepath.IsLocal(inside) {
			return options.Usagef("%s leads out of the working directory; give an absolute path if that is meant", p)
		}
	}
	return nil
}

// Recognised reports that a file is one that a schema is made of.
func Recognised(name string) bool { return strings.HasSuffix(name, ".sql") || declare.IsSource(name) }

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

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return data, nil
}

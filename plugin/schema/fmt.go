package schema

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/options"
)

type formatOptions struct {
	global *options.Global
	output *options.Output
	check  bool
}

// formatted is a file with its new text; nil where it stays.
type formatted struct {
	path string
	text []byte
}

func (o *formatOptions) run(args []string) error {
	if _, err := o.output.Format(); err != nil {
		return err
	}
	paths, err := declarations(args)
	if err != nil {
		return err
	}
	all, err := formatAll(paths)
	if err != nil {
		return err
	}
	var files []render.FormattedFile
	for _, f := range all {
		if f.text != nil && !o.check {
			if err := replaceFile(f.path, f.text); err != nil {
				return err
			}
		}
		files = append(files, render.FormattedFile{File: f.path, Changed: f.text != nil})
	}
	view := render.NewFormatResult(files, o.check)
	if err := o.output.Print(view); err != nil {
		return err
	}
	if o.check && view.Changed > 0 {
		return &options.ExitError{Code: options.Findings}
	}
	return nil
}

// declarations expands directories.
func declarations(args []string) ([]string, error) {
	var paths []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, fmt.Errorf("reading declarations: %w", err)
		}
		if !info.IsDir() {
			if !declare.IsSource(arg) {
				return nil, options.Usagef("%s: want a *.yaml, *.yml or *.hcl file", arg)
			}
			paths = append(paths, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, fmt.Errorf("reading declarations: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && declare.IsSource(e.Name()) {
				paths = append(paths, filepath.Join(arg, e.Name()))
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// formatAll formats every file before one is written.
func formatAll(paths []string) ([]formatted, error) {
	var all []formatted
	var faults []error
	for _, path := range paths {
		data, err := os.ReadFile(path) //nolint:gosec // the file that the person named
		if err != nil {
			return nil, fmt.Errorf("reading declarations: %w", err)
		}
		text, err := declare.Format(path, data)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		f := formatted{path: path}
		if !bytes.Equal(text, data) {
			f.text = text
		}
		all = append(all, f)
	}
	return all, errors.Join(faults...)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// result is one finished image.
type result struct {
	Name       string   `json:"name"`
	Reference  string   `json:"reference"` // repository@digest
	Repository string   `json:"repository"`
	Digest     string   `json:"digest"`
	Tag        string   `json:"tag"`
	Platforms  []string `json:"platforms"`
	Size       int64    `json:"size"` // bytes of all blobs
	Archive    string   `json:"archive,omitempty"`
}

// localRepository names images that no registry was given for.
const localRepository = "localhost/ptah-run/"

type worker struct {
	settings
	progress io.Writer
}

func (w worker) produce(ctx context.Context) ([]result, error) {
	b := &builder{source: w.source, binDir: w.binDir, prebuilt: w.prebuilt, version: w.version, revision: w.revision, progress: w.progress}
	var results []result
	for _, i := range chosen(w.only) {
		a, err := w.assemble(ctx, b, i)
		if err != nil {
			return nil, err
		}
		if w.binariesOnly {
			continue
		}
		r, err := w.store(ctx, i, a)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// assemble builds what the image holds, for every platform, and puts it together.
func (w worker) assemble(ctx context.Context, b *builder, i image) (assembly, error) {
	annotations := map[string]string{
		ocispec.AnnotationTitle:    i.title,
		ocispec.AnnotationVersion:  w.version,
		ocispec.AnnotationRevision: w.revision,
	}
	var parts []assembly
	var architectures []string
	for _, platform := range w.platforms {
		_, goarch, _ := splitPlatform(platform)
		programs, err := w.programs(ctx, b, platform, i)
		if err != nil {
			return assembly{}, err
		}
		if w.binariesOnly {
			continue
		}
		part, err := assemble(i, goarch, programs, annotations)
		if err != nil {
			return assembly{}, err
		}
		parts, architectures = append(parts, part), append(architectures, goarch)
	}
	if w.binariesOnly {
		return assembly{}, nil
	}
	return index(parts, architectures, annotations)
}

func (w worker) programs(ctx context.Context, b *builder, platform string, i image) ([]executable, error) {
	var programs []executable
	for _, f := range i.files {
		file, err := b.file(ctx, platform, f.binary)
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		programs = append(programs, executable{path: f.path, data: data})
	}
	return programs, nil
}

// store pushes or writes an image, or both.
func (w worker) store(ctx context.Context, i image, a assembly) (result, error) {
	r := result{Name: i.name, Repository: localRepository + i.name, Digest: a.root.descriptor.Digest.String(), Tag: w.tag, Platforms: w.platforms, Size: a.root.descriptor.Size}
	for _, b := range a.blobs {
		r.Size += b.descriptor.Size
	}
	start := time.Now()
	if w.registry != "" {
		t, err := parseTarget(w.registry, w.plainHTTP)
		if err != nil {
			return result{}, err
		}
		if err := t.push(ctx, i.name, w.tag, a); err != nil {
			return result{}, err
		}
		r.Repository = t.repository(i.name)
		_, _ = fmt.Fprintf(w.progress, "pushed %s:%s, %.1f MiB in %.1fs\n", r.Repository, w.tag, float64(r.Size)/(1<<20), time.Since(start).Seconds())
	}
	r.Reference = r.Repository + "@" + r.Digest
	if w.layout != "" {
		r.Archive = filepath.Join(w.layout, i.name+".tar")
		if err := writeLayout(r.Archive, r.Repository, w.tag, a); err != nil {
			return result{}, err
		}
		_, _ = fmt.Fprintf(w.progress, "wrote %s\n", r.Archive)
	}
	return r, nil
}

// report prints what was made. With --output json and a FILE the lines still go to stdout, so that one run serves a person and a
// script.
func report(s settings, results []result, stdout io.Writer) error {
	if s.binariesOnly {
		return nil
	}
	var document bytes.Buffer
	enc := json.NewEncoder(&document)
	enc.SetIndent("", "  ")
	if err := enc.Encode(map[string]any{"version": s.version, "revision": s.revision, "images": results}); err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	if s.output == "json" && s.file == "" {
		_, err := stdout.Write(document.Bytes())
		return err
	}
	for _, r := range results {
		if _, err := fmt.Fprintf(stdout, "%s=%s\n", r.Name, r.Reference); err != nil {
			return fmt.Errorf("printing the result: %w", err)
		}
	}
	if s.file == "" {
		return nil
	}
	if err := os.WriteFile(s.file, document.Bytes(), 0o644); err != nil { //nolint:gosec // nothing secret
		return fmt.Errorf("writing %s: %w", s.file, err)
	}
	return nil
}

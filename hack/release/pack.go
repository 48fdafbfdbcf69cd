package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"
)

// entry is one file of an archive.
type entry struct {
	name string
	mode int64
	data []byte
}

// contents gathers what an archive holds: the binary, the licence and the man pages, in this order.
func (r *release) contents(name, binary string) ([]entry, error) {
	pages, err := filepath.Glob(filepath.Join(r.source, "docs", "cli", "man", "*.1"))
	if err != nil || len(pages) == 0 {
		return nil, fmt.Errorf("finding the man pages in docs/cli/man: %d found: %w", len(pages), err)
	}
	sort.Strings(pages)
	list := []entry{{name: name, mode: 0o755}, {name: "LICENSE", mode: 0o644}}
	files := []string{binary, filepath.Join(r.source, "LICENSE")}
	for _, page := range pages {
		list = append(list, entry{name: "man/man1/" + filepath.Base(page), mode: 0o644})
		files = append(files, page)
	}
	for i, file := range files {
		if list[i].data, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
	}
	return list, nil
}

// pack makes a zip for Windows and a gzipped tar for everything else; nothing in it tells the time or the builder.
func pack(goos string, contents []entry) ([]byte, error) {
	var out bytes.Buffer
	var err error
	if goos == "windows" {
		err = packZip(&out, contents)
	} else {
		err = packTar(&out, contents)
	}
	if err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return out.Bytes(), nil
}

func packTar(out *bytes.Buffer, contents []entry) error {
	compressed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, e := range contents {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(e.data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func packZip(out *bytes.Buffer, contents []entry) error {
	archive := zip.NewWriter(out)
	for _, e := range contents {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		header.SetMode(os.FileMode(e.mode)) //nolint:gosec // permission bits of ours
		w, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := w.Write(e.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
)

// user is the numeric, non-root identity that every image runs as.
const user = "65532:65532"

// The only other files of an image: names for the identities, because some libraries look them up.
const (
	passwd = "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n"
	group  = "root:x:0:\nnonroot:x:65532:\n"
)

// blob is content under its descriptor.
type blob struct {
	descriptor ocispec.Descriptor
	data       []byte
}

func newBlob(mediaType string, data []byte) blob {
	return blob{descriptor: content.NewDescriptorFromBytes(mediaType, data), data: data}
}

// assembly is an image ready to be stored: blobs in the order in which a registry wants them, the root manifest last.
type assembly struct {
	blobs []blob
	root  blob
}

// executable is one program of an image.
type executable struct {
	path string
	data []byte
}

// assemble makes the image of one platform. Its bytes depend on the arguments only: no clock, no user, no file system order.
func assemble(i image, goarch string, programs []executable, annotations map[string]string) (assembly, error) {
	layerTar, err := layerOf(programs)
	if err != nil {
		return assembly{}, fmt.Errorf("assembling the layer of %s: %w", i.name, err)
	}
	packed, err := compress(layerTar)
	if err != nil {
		return assembly{}, fmt.Errorf("compressing the layer of %s: %w", i.name, err)
	}
	layer := newBlob(ocispec.MediaTypeImageLayerGzip, packed)
	config, err := jsonBlob(ocispec.MediaTypeImageConfig, ocispec.Image{
		Platform: ocispec.Platform{OS: "linux", Architecture: goarch},
		Config: ocispec.ImageConfig{
			User:       user,
			Env:        []string{"PATH=/", "HOME=/tmp"},
			Entrypoint: i.entrypoint,
			WorkingDir: "/",
			Labels:     annotations,
		},
		RootFS: ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(layerTar)}},
	})
	if err != nil {
		return assembly{}, fmt.Errorf("assembling the configuration of %s: %w", i.name, err)
	}
	manifest, err := jsonBlob(ocispec.MediaTypeImageManifest, ocispec.Manifest{
		Versioned:   specs.Versioned{SchemaVersion: 2},
		MediaType:   ocispec.MediaTypeImageManifest,
		Config:      config.descriptor,
		Layers:      []ocispec.Descriptor{layer.descriptor},
		Annotations: annotations,
	})
	if err != nil {
		return assembly{}, fmt.Errorf("assembling the manifest of %s: %w", i.name, err)
	}
	return assembly{blobs: []blob{layer, config}, root: manifest}, nil
}

// index joins the images of several platforms; a single one stays a plain manifest.
func index(parts []assembly, architectures []string, annotations map[string]string) (assembly, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	var whole assembly
	var entries []ocispec.Descriptor
	for n, part := range parts {
		entry := part.root.descriptor
		entry.Platform = &ocispec.Platform{OS: "linux", Architecture: architectures[n]}
		entries = append(entries, entry)
		whole.blobs = append(whole.blobs, part.blobs...)
		whole.blobs = append(whole.blobs, part.root)
	}
	root, err := jsonBlob(ocispec.MediaTypeImageIndex, ocispec.Index{
		Versioned:   specs.Versioned{SchemaVersion: 2},
		MediaType:   ocispec.MediaTypeImageIndex,
		Manifests:   entries,
		Annotations: annotations,
	})
	whole.root = root
	return whole, err
}

func jsonBlob(mediaType string, value any) (blob, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return blob{}, fmt.Errorf("encoding %s: %w", mediaType, err)
	}
	return newBlob(mediaType, data), nil
}

// layerOf writes the one layer: /etc with two name files, a /tmp for everybody, and the programs.
func layerOf(programs []executable) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	entries := []tarEntry{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: []byte(group)},
		{name: "etc/passwd", mode: 0o644, data: []byte(passwd)},
		{name: "tmp/", mode: 0o1777},
	}
	for _, p := range programs {
		entries = append(entries, tarEntry{name: strings.TrimPrefix(p.path, "/"), mode: 0o755, data: p.data})
	}
	if err := writeTar(w, entries); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

type tarEntry struct {
	name string // a trailing slash makes it a directory
	mode int64
	data []byte
}

func writeTar(w *tar.Writer, entries []tarEntry) error {
	for _, e := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg,
			Name:     e.name,
			Mode:     e.mode,
			Size:     int64(len(e.data)),
			ModTime:  time.Unix(0, 0).UTC(),
			Format:   tar.FormatUSTAR,
		}
		if strings.HasSuffix(e.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return fmt.Errorf("writing the header of %s: %w", e.name, err)
		}
		if _, err := w.Write(e.data); err != nil {
			return fmt.Errorf("writing %s: %w", e.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("ending the archive: %w", err)
	}
	return nil
}

// compress favours speed: the images are made far more often than they are stored for long.
func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("opening gzip: %w", err)
	}
	if _, err := w.Write(data); err != nil {
		return nil, fmt.Errorf("writing gzip: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("ending gzip: %w", err)
	}
	return out.Bytes(), nil
}

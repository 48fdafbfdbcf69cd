package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"
)

// clusterRegistry is where the local test cluster runs its registry; it speaks plain HTTP inside its own network namespace.
const clusterRegistry = "10.88.0.1"

// target is where images are pushed.
type target struct {
	host, prefix string
	plainHTTP    bool
}

func parseTarget(text, plainHTTP string) (target, error) {
	host, prefix, _ := strings.Cut(strings.TrimSuffix(text, "/"), "/")
	t := target{host: host, prefix: prefix, plainHTTP: plainHTTP == "true" || plainHTTP == "auto" && plainByNature(host)}
	ref := registry.Reference{Registry: host, Repository: t.path("manager")}
	if err := ref.Validate(); err != nil {
		return target{}, fmt.Errorf("registry %q is not HOST[:PORT]/PREFIX", text)
	}
	return t, nil
}

func (t target) path(image string) string { return strings.TrimPrefix(t.prefix+"/"+image, "/") }

func (t target) repository(image string) string { return t.host + "/" + t.path(image) }

// plainByNature is what --plain-http=auto means.
func plainByNature(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if name == "localhost" || name == clusterRegistry {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// push stores an image under its tag. Blobs that the registry has already are not sent again.
func (t target) push(ctx context.Context, image, tag string, a assembly) error {
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return errors.New("reading the Docker configuration: it is not readable")
	}
	repo := &remote.Repository{
		Reference: registry.Reference{Registry: t.host, Repository: t.path(image)},
		PlainHTTP: t.plainHTTP,
		Client:    &auth.Client{Client: retry.DefaultClient, Cache: auth.NewCache(), Credential: credentials.Credential(store)},
	}
	for _, b := range a.blobs {
		if err := pushBlob(ctx, repo, b); err != nil {
			return fmt.Errorf("pushing %s: %w", t.repository(image), err)
		}
	}
	if err := repo.PushReference(ctx, a.root.descriptor, bytes.NewReader(a.root.data), tag); err != nil {
		return fmt.Errorf("pushing %s:%s: %w", t.repository(image), tag, err)
	}
	return nil
}

func pushBlob(ctx context.Context, repo *remote.Repository, b blob) error {
	present, err := repo.Exists(ctx, b.descriptor)
	if err != nil || present {
		return err
	}
	err = repo.Push(ctx, b.descriptor, bytes.NewReader(b.data))
	if errors.Is(err, errdef.ErrAlreadyExists) {
		return nil
	}
	return err
}

// writeLayout stores an image as an OCI layout archive. name is what a container runtime calls the image after importing it.
func writeLayout(file, name, tag string, a assembly) error {
	entries, err := layoutEntries(name, tag, a)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a build product, nothing secret
		return fmt.Errorf("making the directory of %s: %w", file, err)
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("creating %s: %w", file, err)
	}
	err = writeTar(tar.NewWriter(f), entries)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

func layoutEntries(name, tag string, a assembly) ([]tarEntry, error) {
	root := a.root.descriptor
	root.Annotations = map[string]string{
		ocispec.AnnotationRefName:  tag,
		"io.containerd.image.name": name + ":" + tag,
	}
	top, err := json.Marshal(ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{root}})
	if err != nil {
		return nil, fmt.Errorf("encoding the layout index: %w", err)
	}
	entries := []tarEntry{
		{name: ocispec.ImageLayoutFile, mode: 0o644, data: []byte(`{"imageLayoutVersion":"` + ocispec.ImageLayoutVersion + `"}`)},
		{name: ocispec.ImageIndexFile, mode: 0o644, data: top},
		{name: "blobs/", mode: 0o755},
		{name: "blobs/sha256/", mode: 0o755},
	}
	seen := map[string]bool{}
	for _, b := range append(append([]blob{}, a.blobs...), a.root) {
		hex := b.descriptor.Digest.Encoded()
		if !seen[hex] {
			entries = append(entries, tarEntry{name: "blobs/sha256/" + hex, mode: 0o644, data: b.data})
		}
		seen[hex] = true
	}
	return entries, nil
}

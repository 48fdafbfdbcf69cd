// Package registry serves a local OCI registry over plain HTTP, and assembles images from single programs.
package registry

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	ociregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// PauseRepository is where the image that holds a Pod's namespaces open is kept.
const PauseRepository = "ptah-cluster/pause"

// Serve runs a registry that keeps blobs in dir and manifests in memory. It returns when ctx is done.
func Serve(ctx context.Context, address, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the blob directory: %w", err)
	}
	handler := ociregistry.New(
		ociregistry.WithBlobHandler(ociregistry.NewDiskBlobHandler(dir)),
		ociregistry.WithReferrersSupport(true),
		ociregistry.Logger(log.Default()),
	)
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the registry on %s: %w", address, err)
	}
	return nil
}

// ProgramImage assembles an image from one static binary, its entry point. The same binary gives the same digest.
func ProgramImage(binary string) (v1.Image, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("reading the program of an image: %w", err)
	}
	name := filepath.Base(binary)
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	header := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(program)), ModTime: time.Unix(0, 0)}
	if err := archive.WriteHeader(header); err != nil {
		return nil, fmt.Errorf("writing the layer: %w", err)
	}
	if _, err := archive.Write(program); err != nil {
		return nil, fmt.Errorf("writing the layer: %w", err)
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("writing the layer: %w", err)
	}
	return assemble(layer.Bytes(), "/"+name)
}

func assemble(layerTar []byte, entrypoint string) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(layerTar)), nil
	})
	if err != nil {
		return nil, fmt.Errorf("compressing the layer: %w", err)
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("assembling the image: %w", err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the image's configuration: %w", err)
	}
	file = file.DeepCopy()
	file.Architecture, file.OS = runtime.GOARCH, "linux"
	file.Config = v1.Config{Entrypoint: []string{entrypoint}, User: "65532:65532"}
	image, err = mutate.ConfigFile(image, file)
	if err != nil {
		return nil, fmt.Errorf("configuring the image: %w", err)
	}
	return image, nil
}

// Reference is where an image belongs in the registry at address, by digest.
func Reference(address, repository string, image v1.Image) (string, error) {
	digest, err := image.Digest()
	if err != nil {
		return "", fmt.Errorf("computing an image's digest: %w", err)
	}
	return address + "/" + repository + "@" + digest.String(), nil
}

// Push stores an image under a reference by digest.
func Push(ctx context.Context, reference string, image v1.Image) error {
	parsed, err := name.NewDigest(reference, name.Insecure)
	if err != nil {
		return fmt.Errorf("reading image reference %s: %w", reference, err)
	}
	if err := remote.Write(parsed, image, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("pushing %s: %w", reference, err)
	}
	return nil
}

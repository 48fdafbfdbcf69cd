// Package registry serves a local OCI registry over plain HTTP, and assembles the one image the cluster itself needs.
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

// Repository of the image that holds a Pod's namespaces open.
const pauseRepository = "ptah-cluster/pause"

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

// PauseImage assembles the pause image from its binary. The same binary gives the same digest.
func PauseImage(binary string) (v1.Image, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("reading the pause binary: %w", err)
	}
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	header := &tar.Header{Name: "pause", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(program)), ModTime: time.Unix(0, 0)}
	if err := archive.WriteHeader(header); err != nil {
		return nil, fmt.Errorf("writing the pause layer: %w", err)
	}
	if _, err := archive.Write(program); err != nil {
		return nil, fmt.Errorf("writing the pause layer: %w", err)
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("writing the pause layer: %w", err)
	}
	return assemble(layer.Bytes())
}

func assemble(layerTar []byte) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(layerTar)), nil
	})
	if err != nil {
		return nil, fmt.Errorf("compressing the pause layer: %w", err)
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("assembling the pause image: %w", err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the pause image's configuration: %w", err)
	}
	file = file.DeepCopy()
	file.Architecture, file.OS = runtime.GOARCH, "linux"
	file.Config = v1.Config{Entrypoint: []string{"/pause"}, User: "65535:65535"}
	image, err = mutate.ConfigFile(image, file)
	if err != nil {
		return nil, fmt.Errorf("configuring the pause image: %w", err)
	}
	return image, nil
}

// PauseReference is where the image belongs in the registry at address, by digest.
func PauseReference(address string, image v1.Image) (string, error) {
	digest, err := image.Digest()
	if err != nil {
		return "", fmt.Errorf("computing the pause image's digest: %w", err)
	}
	return address + "/" + pauseRepository + "@" + digest.String(), nil
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

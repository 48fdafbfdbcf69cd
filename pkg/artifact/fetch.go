package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

// Fetch writes the files of a digest-pinned artifact into directory, which must not exist yet or be an empty directory that is not a
// mount point; its parent must exist. Everything is checked before it is used and written beside the target first, so that directory
// either holds the whole artifact or is left as it was. A schema gives <directory>/schema.json and <directory>/sources/…, a migration
// artifact its files.
func (c *Client) Fetch(ctx context.Context, reference string, kind intent.ArtifactKind, directory string) error {
	ref, err := ParseReference(reference)
	if err != nil {
		return err
	}
	if ref.Digest == "" {
		return refuse(frame.CodeConfigurationInvalid, "fetching %s: the reference carries no digest", ref)
	}
	stage, err := newStage(directory)
	if err != nil {
		return err
	}
	defer stage.discard()
	bounded, cancel := c.within(ctx)
	defer cancel()
	if err := c.fetchInto(bounded, ref, kind, stage); err != nil {
		return classify(ctx, "fetching "+ref.String(), err)
	}
	return stage.publish()
}

func (c *Client) fetchInto(ctx context.Context, ref Reference, kind intent.ArtifactKind, stage *stage) error {
	repo, err := c.repository(ctx, ref)
	if err != nil {
		return err
	}
	m, err := readManifest(ctx, repo, ref)
	if err != nil {
		return err
	}
	if err := m.checkFamily(ref, kind); err != nil {
		return err
	}
	layers, err := layersOf(m, ref, kind)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for _, l := range layers {
		group.Go(func() error {
			data, err := readLayer(groupCtx, repo, l)
			if err != nil {
				return err
			}
			return stage.keepLayer(l, data)
		})
	}
	return group.Wait()
}

func readLayer(ctx context.Context, repo *remote.Repository, l layer) ([]byte, error) {
	body, err := repo.Blobs().Fetch(ctx, l.descriptor)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	return readWhole(body, l.descriptor)
}

// readWhole reads exactly what a descriptor names. A body that ended by itself and is too short is other content; one that broke off is a
// registry that could not be reached, and worth another attempt.
func readWhole(body io.Reader, descriptor ocispec.Descriptor) ([]byte, error) {
	watched := &endWatcher{Reader: body}
	data, err := content.ReadAll(watched, descriptor)
	if err != nil && watched.ended && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
		return nil, fmt.Errorf("%w: the body is too short", content.ErrMismatchedDigest)
	}
	return data, err
}

// endWatcher notes whether a body came to its proper end.
type endWatcher struct {
	io.Reader
	ended bool
}

func (w *endWatcher) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.ended = w.ended || err == io.EOF
	return n, err
}

// stage is a directory that becomes the target by one rename. It is written through os.Root, so that no name can lead out of it even
// if the checks before were wrong. Layers arrive in any order, one is kept at a time.
type stage struct {
	mu                sync.Mutex
	target, temporary string
	root              *os.Root
	names             *nameSet
	files             int
	bytes             int64
}

func newStage(target string) (*stage, error) {
	entries, err := os.ReadDir(target)
	switch {
	case err == nil && len(entries) > 0:
		return nil, refuse(frame.CodeConfigurationInvalid, "preparing the target directory: it is not empty")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, refuse(frame.CodeConfigurationInvalid, "preparing the target directory: it cannot be read or is not a directory")
	}
	temporary, err := os.MkdirTemp(filepath.Dir(target), ".fetch-")
	if err != nil {
		return nil, refuse(frame.CodeConfigurationInvalid, "preparing the target directory: its parent is missing or cannot be written")
	}
	root, err := os.OpenRoot(temporary)
	if err != nil {
		_ = os.RemoveAll(temporary)
		return nil, refuse(frame.CodeConfigurationInvalid, "preparing the target directory: its parent cannot be used")
	}
	return &stage{target: target, temporary: temporary, root: root, names: newNameSet()}, nil
}

func (s *stage) keepLayer(l layer, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.archive == archiveNone {
		return s.keep(l.title, data)
	}
	const framing = 4 << 20 // headers and padding of MaxFiles entries, generously
	return unpackTar(data, l.archive, MaxTotal-s.bytes+framing, func(name string, data []byte) error {
		if err := checkMigrationName(name); err != nil {
			return err
		}
		return s.keep(name, data)
	})
}

func (s *stage) keep(name string, data []byte) error {
	if err := s.names.add(name); err != nil {
		return err
	}
	if s.files++; s.files > MaxFiles {
		return refuse(frame.CodeArtifactTooLarge, "writing the artifact: it holds more than %d files", MaxFiles)
	}
	if s.bytes += int64(len(data)); s.bytes > MaxTotal {
		return refuse(frame.CodeArtifactTooLarge, "writing the artifact: its files together are over 64 MiB")
	}
	if dir := path.Dir(name); dir != "." {
		if err := s.root.MkdirAll(dir, 0o755); err != nil {
			return writeFailed(name)
		}
	}
	file, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return writeFailed(name)
	}
	_, err = file.Write(data)
	if closeErr := file.Close(); err != nil || closeErr != nil {
		return writeFailed(name)
	}
	return nil
}

func writeFailed(name string) error {
	return refuse(frame.CodeConfigurationInvalid, "writing %s: the target directory cannot be written or is full", quoted(name))
}

// publish makes the stage the target. The temporary directory was made for its owner only; readers in another container need more.
func (s *stage) publish() error {
	if err := os.Chmod(s.temporary, 0o755); err != nil { //nolint:gosec // read by the next container, which may be another user
		return writeFailed(".")
	}
	// Rename does not replace a directory; removing it works for an empty one only, so nothing of anybody's can get lost.
	if err := os.Remove(s.target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return refuse(frame.CodeConfigurationInvalid, "writing the artifact: the target directory is not empty any more, or is a mount point")
	}
	if err := os.Rename(s.temporary, s.target); err != nil {
		return refuse(frame.CodeConfigurationInvalid, "writing the artifact: the target directory cannot be put in place")
	}
	return nil
}

func (s *stage) discard() {
	_ = s.root.Close()
	_ = os.RemoveAll(s.temporary)
}

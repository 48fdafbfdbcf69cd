package artifact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/ptah-run/ptah/pkg/frame"
)

// archiveKind says how a layer is packed.
type archiveKind int

const (
	archiveNone archiveKind = iota
	archiveTar
	archiveTarGzip
	archiveUnknown
)

func archiveOf(mediaType, title string) archiveKind {
	mediaType, title = strings.ToLower(mediaType), strings.ToLower(title)
	switch {
	case hasAnySuffix(mediaType, ".tar+gzip", ".tar.gzip", "tar+gzip"), hasAnySuffix(title, ".tar.gz", ".tgz"):
		return archiveTarGzip
	case hasAnySuffix(mediaType, ".tar", "/tar", "x-tar"), strings.HasSuffix(title, ".tar"):
		return archiveTar
	case strings.Contains(mediaType, "tar+"), hasAnySuffix(mediaType, "+zstd", "+gzip", "/zip", "/gzip"), strings.Contains(title, ".tar."), hasAnySuffix(title, ".zip", ".zst", ".gz"):
		return archiveUnknown
	default:
		return archiveNone
	}
}

func hasAnySuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// unpackTar hands every regular file of an archive to keep. Links, devices and anything else that is neither a file nor a directory
// are refused by name; keep holds the bounds of counts and sizes. budget is how many bytes may still come out of the archive, its
// headers and padding included, so that a small layer cannot expand without end.
func unpackTar(data []byte, kind archiveKind, budget int64, keep func(name string, data []byte) error) error {
	var source io.Reader = bytes.NewReader(data)
	if kind == archiveTarGzip {
		unzipped, err := gzip.NewReader(source)
		if err != nil {
			return refuse(frame.CodeArtifactInvalid, "unpacking a layer: it is not gzip")
		}
		source = unzipped
	}
	limited := &io.LimitedReader{R: source, N: budget + 1}
	archive := tar.NewReader(limited)
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case limited.N <= 0:
			return refuse(frame.CodeArtifactTooLarge, "unpacking a layer: the content is over the bound of 64 MiB")
		case err != nil:
			return refuse(frame.CodeArtifactInvalid, "unpacking a layer: the archive is damaged")
		}
		if err := unpackEntry(archive, header, limited, keep); err != nil {
			return err
		}
	}
}

func unpackEntry(archive *tar.Reader, header *tar.Header, limited *io.LimitedReader, keep func(string, []byte) error) error {
	name := header.Name
	switch header.Typeflag {
	case tar.TypeDir:
		if name == "." || name == "./" {
			return nil
		}
		return checkName(strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/"))
	case tar.TypeReg:
	case tar.TypeSymlink, tar.TypeLink:
		return refuse(frame.CodeArtifactInvalid, "unpacking %s: it is a link", quoted(name))
	case tar.TypeXGlobalHeader:
		return nil
	default:
		return refuse(frame.CodeArtifactInvalid, "unpacking %s: it is neither a file nor a directory", quoted(name))
	}
	if header.Size > MaxLayer {
		return refuse(frame.CodeArtifactTooLarge, "unpacking %s: it has %d bytes, the bound is 8 MiB", quoted(name), header.Size)
	}
	data, err := io.ReadAll(io.LimitReader(archive, MaxLayer+1))
	switch {
	case limited.N <= 0:
		return refuse(frame.CodeArtifactTooLarge, "unpacking %s: the content is over the bound of 64 MiB", quoted(name))
	case err != nil || int64(len(data)) != header.Size:
		return refuse(frame.CodeArtifactInvalid, "unpacking %s: the archive is damaged", quoted(name))
	}
	return keep(strings.TrimPrefix(name, "./"), data)
}

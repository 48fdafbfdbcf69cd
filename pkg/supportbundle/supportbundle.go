// Package supportbundle makes the archive that goes with a bug report: what was gathered, without anything that looks like a credential, in a
// fixed order, with a manifest of what is inside and what could not be read.
package supportbundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Part is one file of a bundle before redaction: a decoded JSON document, or text.
type Part struct {
	Path string
	// About says in a few words what it is.
	About    string
	Document any // decoded JSON: maps, lists, strings, numbers
	Text     string
}

// Gap is something that could not be read.
type Gap struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Manifest is the first file of a bundle.
type Manifest struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	CreatedAt  time.Time `json:"createdAt"`
	Plugin     string    `json:"plugin"`
	Scope      string    `json:"scope"`
	Files      []File    `json:"files"`
	Unread     []Gap     `json:"unread"`
}

// File is one file of a bundle as it is in there.
type File struct {
	Path   string `json:"path"`
	About  string `json:"about"`
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

const readme = `This bundle goes with a bug report about Ptah. manifest.json lists what is inside and what
could not be read.

Secrets were not read. Plans were read without their SQL, which stays in the ConfigMaps of the
cluster. Values of environment variables, annotations of other programs, certificates, URLs'
credentials and whatever looked like a password or a token were taken out; names of objects,
hosts, images and users are in here. Look through it before you send it.
`

// Seal redacts the parts and packs them. Same input, same bytes.
func Seal(manifest Manifest, parts []Part) (Manifest, []byte, error) {
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b Part) int { return strings.Compare(a.Path, b.Path) })
	contents, r, err := redact(parts)
	if err != nil {
		return manifest, nil, err
	}
	manifest.Files = []File{}
	for i, part := range parts {
		sum := sha256.Sum256(contents[i])
		manifest.Files = append(manifest.Files, File{Path: part.Path, About: part.About, Size: len(contents[i]), SHA256: hex.EncodeToString(sum[:])})
	}
	if manifest.Unread == nil {
		manifest.Unread = []Gap{}
	}
	manifest.Unread = slices.Clone(manifest.Unread)
	for i, gap := range manifest.Unread {
		manifest.Unread[i] = Gap{What: r.text(gap.What), Why: r.text(gap.Why)}
	}
	slices.SortFunc(manifest.Unread, func(a, b Gap) int { return strings.Compare(a.What+"\x00"+a.Why, b.What+"\x00"+b.Why) })
	head, err := encode(manifest)
	if err != nil {
		return manifest, nil, err
	}
	data, err := pack(manifest.CreatedAt, append([]entry{{"manifest.json", head}, {"README.txt", []byte(readme)}}, entries(parts, contents)...))
	return manifest, data, err
}

// redact goes over everything twice: first to learn what is a credential anywhere, then to take it out everywhere.
func redact(parts []Part) ([][]byte, *redactor, error) {
	r := &redactor{}
	for _, part := range parts {
		r.learn(part.Text)
		r.clean(part.Document, nil, true)
	}
	contents := make([][]byte, len(parts))
	for i, part := range parts {
		if part.Document == nil {
			contents[i] = []byte(r.text(part.Text))
			continue
		}
		data, err := encode(r.clean(part.Document, nil, false))
		if err != nil {
			return nil, nil, fmt.Errorf("encoding %s: %w", part.Path, err)
		}
		contents[i] = data
	}
	return contents, r, nil
}

func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return out.Bytes(), nil
}

type entry struct {
	path string
	data []byte
}

func entries(parts []Part, contents [][]byte) []entry {
	out := make([]entry, len(parts))
	for i, part := range parts {
		out[i] = entry{part.Path, contents[i]}
	}
	return out
}

// folder is what the archive unpacks into.
const folder = "ptah-support/"

func pack(at time.Time, list []entry) ([]byte, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, e := range list {
		header := &tar.Header{Name: folder + e.path, Mode: 0o600, Size: int64(len(e.data)), ModTime: at.UTC().Truncate(time.Second), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("packing %s: %w", e.path, err)
		}
		if _, err := archive.Write(e.data); err != nil {
			return nil, fmt.Errorf("packing %s: %w", e.path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	if err := compressed.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return out.Bytes(), nil
}

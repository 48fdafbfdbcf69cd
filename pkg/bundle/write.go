package bundle

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
)

// Sink takes the files of a bundle, in order.
type Sink interface {
	WriteFile(path string, data []byte) error
}

// Writer writes a bundle. It holds digests and no plan, so that a bundle may be larger than memory.
type Writer struct {
	sink     Sink
	manifest Manifest
	last     string
}

// NewWriter starts a bundle.
func NewWriter(sink Sink) *Writer {
	return &Writer{sink: sink, manifest: Manifest{APIVersion: APIVersion, Kind: Kind, Plans: []Entry{}, Files: []File{}}}
}

// Order is the order in which plans have to be added: by namespace, then name.
func Order(namespaceA, nameA, namespaceB, nameB string) int {
	return cmp.Compare(dir(namespaceA, nameA), dir(namespaceB, nameB))
}

// Add writes one plan. Its document is checked against the object once more: no bundle is written that would not verify.
func (w *Writer) Add(p Plan) (Entry, error) {
	what := "plan " + p.Namespace + "/" + p.Name
	where := dir(p.Namespace, p.Name)
	if where <= w.last {
		return Entry{}, fmt.Errorf("bundling %s: plans have to be added in order and once", what)
	}
	w.last = where
	files, entry, err := contents(p)
	if err != nil {
		return Entry{}, fmt.Errorf("bundling %s: %w", what, err)
	}
	if problems := checkPlan(entry, where, files); len(problems) > 0 {
		return Entry{}, fmt.Errorf("bundling %s: %s", what, problems[0].Text)
	}
	for _, name := range []string{ApprovalsFile, DocumentFile, PlanFile, SQLFile} {
		data, ok := files[name]
		if !ok {
			continue
		}
		if err := w.write(where+name, data); err != nil {
			return Entry{}, err
		}
	}
	w.manifest.Plans = append(w.manifest.Plans, entry)
	return entry, nil
}

func (w *Writer) write(path string, data []byte) error {
	w.manifest.Files = append(w.manifest.Files, File{Path: path, Size: int64(len(data)), Digest: digest.Bytes(data)})
	return w.sink.WriteFile(path, data)
}

// Close writes the manifest and the sums and returns the digest of the manifest, which identifies the bundle.
func (w *Writer) Close() (string, error) {
	data, err := encode(w.manifest)
	if err != nil {
		return "", fmt.Errorf("bundling the manifest: %w", err)
	}
	own := File{Path: ManifestFile, Size: int64(len(data)), Digest: digest.Bytes(data)}
	if err := w.sink.WriteFile(ManifestFile, data); err != nil {
		return "", err
	}
	return own.Digest, w.sink.WriteFile(SumsFile, sums(append(slices.Clone(w.manifest.Files), own)))
}

// sums writes the digests of files, sorted by path.
func sums(files []File) []byte {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	var out strings.Builder
	for _, f := range files {
		out.WriteString(sumLine(f))
	}
	return []byte(out.String())
}

// contents makes the files of one plan.
func contents(p Plan) (map[string][]byte, Entry, error) {
	object, err := canonical(p.Object)
	if err != nil {
		return nil, Entry{}, err
	}
	files := map[string][]byte{PlanFile: object}
	entry := Entry{Kind: p.Kind, Namespace: p.Namespace, Name: p.Name, Approvals: -1}
	if p.Approvals != nil {
		entry.Approvals = len(p.Approvals)
		if files[ApprovalsFile], err = approvals(p.Approvals); err != nil {
			return nil, Entry{}, err
		}
	}
	if p.Kind == MigrationPlan {
		return files, migrationEntry(entry, object), nil
	}
	document, err := plan.Decode(p.Document)
	if err != nil {
		return nil, Entry{}, err
	}
	files[DocumentFile], files[SQLFile] = p.Document, []byte(plan.Statements(document))
	stored := v1alpha1.PtahSchemaPlan{}
	if err := json.Unmarshal(object, &stored); err != nil {
		return nil, Entry{}, fmt.Errorf("decoding the plan object: %w", err)
	}
	entry.UID, entry.Owner, entry.Fingerprint, entry.ContentDigest = string(stored.UID), stored.Spec.SchemaRef.Name, stored.Spec.Fingerprint, stored.Spec.ContentDigest
	return files, entry, nil
}

func migrationEntry(entry Entry, object []byte) Entry {
	stored := v1alpha1.PtahMigrationPlan{}
	if json.Unmarshal(object, &stored) == nil { // checkPlan reports what is wrong
		entry.UID, entry.Owner, entry.Fingerprint = string(stored.UID), stored.Spec.MigrationRef.Name, stored.Spec.Fingerprint
	}
	entry.Note = MigrationNote
	return entry
}

// approvals is a list sorted by name, so that the order of a listing does not matter.
func approvals(objects [][]byte) ([]byte, error) {
	items := make([]json.RawMessage, 0, len(objects))
	for _, object := range objects {
		item, err := canonical(object)
		if err != nil {
			return nil, fmt.Errorf("an approval: %w", err)
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b json.RawMessage) int { return cmp.Or(cmp.Compare(nameOf(a), nameOf(b)), bytes.Compare(a, b)) })
	return encode(items)
}

func nameOf(object []byte) string {
	var named struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(object, &named) // canonical has decoded it
	return named.Metadata.Name
}

// TarSink writes files to a tar archive whose bytes depend on nothing but theirs.
type TarSink struct{ tar *tar.Writer }

// NewTarSink starts an archive.
func NewTarSink(out io.Writer) *TarSink { return &TarSink{tar.NewWriter(out)} }

// WriteFile adds one file.
func (t *TarSink) WriteFile(path string, data []byte) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(data)), ModTime: time.Unix(0, 0)}
	if err := t.tar.WriteHeader(header); err != nil {
		return fmt.Errorf("writing %s to the archive: %w", path, err)
	}
	if _, err := t.tar.Write(data); err != nil {
		return fmt.Errorf("writing %s to the archive: %w", path, err)
	}
	return nil
}

// Close ends the archive.
func (t *TarSink) Close() error {
	if err := t.tar.Close(); err != nil {
		return fmt.Errorf("ending the archive: %w", err)
	}
	return nil
}

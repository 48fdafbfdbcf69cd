package bundle

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ptah-run/ptah/pkg/digest"
)

// Source gives the files of a bundle one after the other, sorted by path but for the manifest and the sums, which come last. Next returns
// io.EOF after the last.
type Source interface {
	// Next moves to the next file. An irregular one, such as a link, is an *IrregularError, and the source goes on after it.
	Next() (path string, size int64, err error)
	// Read reads from the current file.
	io.Reader
}

// IrregularError is an entry of a bundle that is no plain file.
type IrregularError struct{ Path, What string }

// Error names the entry.
func (e *IrregularError) Error() string {
	return e.Path + " is " + e.What + ", and a bundle has only plain files"
}

// Report is what checking a bundle brought out.
type Report struct {
	// Digest of the manifest; it identifies the bundle. Empty without a manifest.
	Digest   string
	Manifest Manifest
	Problems []Problem
	Files    int
	Bytes    int64
}

// Check reads a whole bundle and proves everything that can be proven offline: that every file is there, unchanged and expected, that every
// chunk and every document has its digest, that fingerprints and SQL follow from what they bind, and that approvals name their plan. It
// returns an error only when the bundle cannot be read at all.
func Check(source Source) (*Report, error) {
	r := &reader{source: source, files: map[string]File{}, plans: map[string][]Problem{}, entries: map[string]Entry{}}
	for {
		path, size, err := source.Next()
		var irregular *IrregularError
		switch {
		case errors.Is(err, io.EOF):
			return r.finish(), nil
		case errors.As(err, &irregular):
			r.problem(irregular.Path, "is %s, and a bundle has only plain files", irregular.What)
			continue
		case err != nil:
			return nil, err
		}
		if err := r.file(path, size); err != nil {
			return nil, err
		}
	}
}

// reader holds the digests of everything, and the files of one plan at a time.
type reader struct {
	source   Source
	report   Report
	files    map[string]File
	manifest []byte
	sums     []byte

	where   string            // directory of the plan that is being read
	current map[string][]byte // its files
	entries map[string]Entry  // by directory: what the plan's own files say
	plans   map[string][]Problem
}

func (r *reader) problem(path, format string, args ...any) {
	r.report.Problems = append(r.report.Problems, Problem{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (r *reader) file(path string, size int64) error {
	if r.report.Files++; r.report.Files > maxFiles {
		return fmt.Errorf("reading the bundle: it has more than %d files", maxFiles)
	}
	where, name, isPlan := parsePath(path)
	limit := sizeLimit(name)
	switch {
	case isPlan:
	case path == ManifestFile, path == SumsFile:
		limit = maxManifest
	default:
		r.problem(printable(path), "is no file of a bundle")
		return nil
	}
	if size < 0 || size > limit {
		r.problem(path, "has %d bytes, at most %d are possible", size, limit)
		return nil
	}
	data, err := readExactly(r.source, size)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	if _, twice := r.files[path]; twice {
		r.problem(path, "is there twice")
		return nil
	}
	r.files[path] = File{Path: path, Size: size, Digest: digest.Bytes(data)}
	r.report.Bytes += size
	switch path {
	case ManifestFile:
		r.manifest = data
	case SumsFile:
		r.sums = data
	default:
		r.planFile(where, name, data)
	}
	return nil
}

// readExactly reads what a header announces without believing it before the bytes are there.
func readExactly(in io.Reader, size int64) ([]byte, error) {
	var data bytes.Buffer
	if n, err := io.Copy(&data, io.LimitReader(in, size)); err != nil {
		return nil, err
	} else if n != size {
		return nil, io.ErrUnexpectedEOF
	}
	return data.Bytes(), nil
}

func (r *reader) planFile(where, name string, data []byte) {
	if where != r.where {
		r.endPlan()
		if _, seen := r.plans[where]; seen {
			r.problem(where+name, "is not beside the other files of its plan")
			return
		}
		r.where, r.current = where, map[string][]byte{}
	}
	r.current[name] = data
}

// endPlan checks a plan against itself and forgets its bytes. Whether it is the plan that the manifest means is seen at the end.
func (r *reader) endPlan() {
	if r.where == "" {
		return
	}
	entry := describe(r.where, r.current)
	r.entries[r.where] = entry
	r.plans[r.where] = checkPlan(entry, r.where, r.current)
	if text := unproven(r.current); text != "" {
		r.plans[r.where] = append(r.plans[r.where], Problem{r.where + PlanFile, text})
	}
	r.where, r.current = "", nil
}

// describe builds the entry that a plan's files would have in a manifest.
func describe(where string, files map[string][]byte) Entry {
	type ref struct {
		Name string `json:"name"`
	}
	var object struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			UID       string `json:"uid"`
		} `json:"metadata"`
		Spec struct {
			SchemaRef     ref    `json:"schemaRef"`
			MigrationRef  ref    `json:"migrationRef"`
			Fingerprint   string `json:"fingerprint"`
			ContentDigest string `json:"contentDigest"`
		} `json:"spec"`
	}
	_ = utiljson.Unmarshal(files[PlanFile], &object) // checkPlan reports what is wrong
	entry := Entry{
		Kind: object.Kind, Namespace: object.Metadata.Namespace, Name: object.Metadata.Name, UID: object.Metadata.UID,
		Owner: cmp.Or(object.Spec.SchemaRef.Name, object.Spec.MigrationRef.Name), Fingerprint: object.Spec.Fingerprint, Approvals: -1,
	}
	if entry.Kind == SchemaPlan {
		entry.ContentDigest = object.Spec.ContentDigest
	}
	if entry.Kind == MigrationPlan {
		entry.Note = MigrationNote
	}
	if data, ok := files[ApprovalsFile]; ok {
		var list []json.RawMessage
		_ = json.Unmarshal(data, &list)
		entry.Approvals = len(list)
	}
	if where != dir(entry.Namespace, entry.Name) {
		entry.Namespace, entry.Name = namesOf(where)
	}
	return entry
}

// finish compares what was found with what the manifest and the sums say.
func (r *reader) finish() *Report {
	r.endPlan()
	r.checkManifest()
	for _, where := range sorted(r.plans) {
		r.report.Problems = append(r.report.Problems, r.plans[where]...)
	}
	r.checkSums()
	return &r.report
}

func (r *reader) checkManifest() {
	if r.manifest == nil {
		r.problem(ManifestFile, "is missing")
		return
	}
	r.report.Digest = digest.Bytes(r.manifest)
	m := &r.report.Manifest
	if err := utiljson.Unmarshal(r.manifest, m); err != nil {
		r.problem(ManifestFile, "cannot be decoded: %s", err)
		return
	}
	if m.APIVersion != APIVersion || m.Kind != Kind {
		r.problem(ManifestFile, "is %s %s, and this program reads %s %s", printable(m.APIVersion), printable(m.Kind), APIVersion, Kind)
		return
	}
	r.compareFiles(m.Files)
	r.comparePlans(m.Plans)
}

func (r *reader) compareFiles(listed []File) {
	known := make(map[string]bool, len(listed))
	for _, want := range listed {
		found, ok := r.files[want.Path]
		switch {
		case known[want.Path]:
			r.problem(printable(want.Path), "is listed twice in the manifest")
		case !ok:
			r.problem(printable(want.Path), "is listed in the manifest and missing")
		case found.Digest != want.Digest || found.Size != want.Size:
			r.problem(want.Path, "has %d bytes and digest %s, the manifest says %d bytes and %s", found.Size, found.Digest, want.Size, printable(want.Digest))
		}
		known[want.Path] = true
	}
	for _, path := range sorted(r.files) {
		if !known[path] && path != ManifestFile && path != SumsFile {
			r.problem(path, "is not listed in the manifest")
		}
	}
}

func (r *reader) comparePlans(listed []Entry) {
	known := make(map[string]bool, len(listed))
	for _, want := range listed {
		where := dir(want.Namespace, want.Name)
		found, ok := r.entries[where]
		switch {
		case known[where]:
			r.problem(printable(where), "is listed twice in the manifest")
		case !ok:
			r.problem(printable(where), "is listed in the manifest and missing")
		case found != want:
			r.problem(where, "is not the plan that the manifest describes: kind, UID, owner, fingerprint, content digest or number of approvals differ")
		}
		known[where] = true
	}
	for _, where := range sorted(r.entries) {
		if !known[where] {
			r.problem(where, "is not listed in the manifest")
		}
	}
}

// checkSums wants exactly what Writer writes: the sums are for people with sha256sum, who must not be led astray.
func (r *reader) checkSums() {
	if r.sums == nil {
		r.problem(SumsFile, "is missing")
		return
	}
	var files []File
	for path, f := range r.files {
		if path != SumsFile {
			files = append(files, f)
		}
	}
	if !bytes.Equal(r.sums, sums(files)) {
		r.problem(SumsFile, "does not say the digests of the files beside it")
	}
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TarSource reads a tar archive and never writes to any path that it names.
type TarSource struct{ tar *tar.Reader }

// NewTarSource reads an archive.
func NewTarSource(in io.Reader) *TarSource { return &TarSource{tar.NewReader(in)} }

// Next moves to the next file.
func (t *TarSource) Next() (string, int64, error) {
	for {
		header, err := t.tar.Next()
		if errors.Is(err, io.EOF) {
			return "", 0, io.EOF
		}
		if err != nil {
			return "", 0, fmt.Errorf("reading the archive: %w", err)
		}
		if sparse(header) {
			return "", 0, &IrregularError{printable(header.Name), "a sparse file"}
		}
		switch header.Typeflag {
		case tar.TypeReg:
			return header.Name, header.Size, nil
		case tar.TypeDir:
			continue // archives that were packed again by hand have them
		default:
			return "", 0, &IrregularError{printable(header.Name), "a link, a device or something else"}
		}
	}
}

// sparse tells a plain file that says less than it unpacks to: a few bytes may claim to be gigabytes of zeros.
func sparse(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// Read reads from the current file.
func (t *TarSource) Read(p []byte) (int, error) { return t.tar.Read(p) }

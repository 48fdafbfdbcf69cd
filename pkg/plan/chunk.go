package plan

import (
	"errors"
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
)

// DamageError says that stored plan bytes are not what the plan object says. Chunk is its name, or "" for the joined whole.
type DamageError struct {
	Chunk           string
	Expected, Found string // a digest, a size or a name, in words
}

// Error names the chunk, what was expected of it and what was found.
func (e *DamageError) Error() string {
	if e.Chunk == "" {
		return fmt.Sprintf("plan content: expected %s, found %s", e.Expected, e.Found)
	}
	return fmt.Sprintf("plan chunk %s: expected %s, found %s", e.Chunk, e.Expected, e.Found)
}

// ErrChunkMissing is what a reader returns where a chunk, or its key, does not exist.
var ErrChunkMissing = errors.New("no such chunk")

// Split cuts encoded bytes into chunks of MaxChunk; only the last may be shorter. The chunks share the memory of data.
func Split(data []byte) [][]byte {
	var chunks [][]byte
	for len(data) > 0 {
		n := min(len(data), MaxChunk)
		chunks = append(chunks, data[:n:n])
		data = data[n:]
	}
	return chunks
}

// ChunkName is the name of a plan's chunk: the plan's name and the index in three digits.
func ChunkName(planName string, index int32) string { return fmt.Sprintf("%s-%03d", planName, index) }

// Describe lists the chunks of a plan as its object records them.
func Describe(planName string, data []byte) []v1alpha1.ChunkRef {
	var refs []v1alpha1.ChunkRef
	for i, chunk := range Split(data) {
		index := int32(i) //nolint:gosec // at most MaxChunks for data that Encode wrote
		refs = append(refs, v1alpha1.ChunkRef{
			Index: index, Name: ChunkName(planName, index), Key: v1alpha1.ChunkKey, Size: int64(len(chunk)), Digest: digest.Bytes(chunk),
		})
	}
	return refs
}

// Join reads the chunks that a plan lists, in order, checks each one's index, size and digest and the whole's size and digest, and returns
// the joined bytes. Nothing is returned unless everything matches. A mismatch or a missing chunk is a *DamageError; any other error of read
// is wrapped as it is.
func Join(spec v1alpha1.PtahSchemaPlanSpec, read func(v1alpha1.ChunkRef) ([]byte, error)) ([]byte, error) {
	if err := checkList(spec); err != nil {
		return nil, err
	}
	data := make([]byte, 0, spec.Size)
	for _, ref := range spec.Chunks {
		chunk, err := read(ref)
		if errors.Is(err, ErrChunkMissing) {
			return nil, &DamageError{ref.Name, fmt.Sprintf("%d bytes under the key %s", ref.Size, ref.Key), "nothing"}
		}
		if err != nil {
			return nil, fmt.Errorf("reading plan chunk %s: %w", ref.Name, err)
		}
		if err := checkBytes(ref.Name, chunk, ref.Size, ref.Digest); err != nil {
			return nil, err
		}
		data = append(data, chunk...)
	}
	if err := checkBytes("", data, spec.Size, spec.ContentDigest); err != nil {
		return nil, err
	}
	return data, nil
}

// checkList refuses a list that Describe would not have written, before anything is read: it bounds what Join may allocate.
func checkList(spec v1alpha1.PtahSchemaPlanSpec) error {
	if n := len(spec.Chunks); n == 0 || n > MaxChunks {
		return &DamageError{"", fmt.Sprintf("1 to %d chunks", MaxChunks), fmt.Sprintf("%d", n)}
	}
	name, err := SchemaPlanName(spec.Fingerprint)
	if err != nil {
		return &DamageError{"", "a fingerprint that is a digest", fmt.Sprintf("%q", spec.Fingerprint)}
	}
	var total int64
	for i, ref := range spec.Chunks {
		last := i == len(spec.Chunks)-1
		switch want := ChunkName(name, int32(i)); { //nolint:gosec // at most MaxChunks
		case int(ref.Index) != i:
			return &DamageError{ref.Name, fmt.Sprintf("index %d", i), fmt.Sprintf("index %d", ref.Index)}
		case ref.Name != want:
			return &DamageError{ref.Name, "the name " + want, ref.Name}
		case ref.Key == "":
			return &DamageError{ref.Name, "a key", "none"}
		case ref.Size < 1 || ref.Size > MaxChunk || (!last && ref.Size != MaxChunk):
			return &DamageError{ref.Name, fmt.Sprintf("%d bytes in every chunk but the last", MaxChunk), fmt.Sprintf("%d bytes", ref.Size)}
		}
		total += ref.Size
	}
	if total != spec.Size {
		return &DamageError{"", fmt.Sprintf("%d bytes", spec.Size), fmt.Sprintf("%d bytes over all chunks", total)}
	}
	return nil
}

func checkBytes(chunk string, data []byte, size int64, want string) error {
	if int64(len(data)) != size {
		return &DamageError{chunk, fmt.Sprintf("%d bytes", size), fmt.Sprintf("%d bytes", len(data))}
	}
	if found := digest.Bytes(data); found != want {
		return &DamageError{chunk, want, found}
	}
	return nil
}

package executor

import (
	"errors"
	"io/fs"
	"os"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/plan"
)

// planBytes rebuilds the approved plan from its mounted chunks and gives it only if every name, index, size and digest, and the digest
// of the whole, are those of the order.
func (s *stage) planBytes() ([]byte, error) {
	ref := s.intent.Plan
	if ref == nil {
		return nil, refuse(frame.CodeConfigurationInvalid, "reading the order: an Apply needs a plan")
	}
	data, err := plan.Join(planSpec(*ref), func(c v1alpha1.ChunkRef) ([]byte, error) {
		return readChunk(s.Layout.Chunk(int(c.Index), c.Key), c)
	})
	var damage *plan.DamageError
	var refused *refusal
	switch {
	case errors.As(err, &damage):
		return nil, refuse(frame.CodePlanDamaged, "rebuilding the plan: %s; nothing was executed", damage.Error())
	case errors.As(err, &refused):
		return nil, refused
	case err != nil:
		return nil, refuse(frame.CodePlanDamaged, "rebuilding the plan: its chunks cannot be read; nothing was executed")
	}
	return data, nil
}

func planSpec(ref intent.PlanRef) v1alpha1.PtahSchemaPlanSpec {
	var spec v1alpha1.PtahSchemaPlanSpec
	spec.Fingerprint, spec.ContentDigest, spec.Size = ref.Fingerprint, ref.ContentDigest, ref.Size
	for _, c := range ref.Chunks {
		spec.Chunks = append(spec.Chunks, v1alpha1.ChunkRef{
			Index: int32(c.Index), Name: c.Name, Key: c.Key, Size: c.Size, Digest: c.Digest, //nolint:gosec // Join refuses an index that is not the position
		})
	}
	return spec
}

// readChunk reads one projected chunk. One byte more than expected is enough to see that it is too long.
func readChunk(path string, c v1alpha1.ChunkRef) ([]byte, error) {
	if !fs.ValidPath(c.Key) {
		return nil, refuse(frame.CodePlanDamaged, "rebuilding the plan: a chunk key is not a file name; nothing was executed")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, plan.ErrChunkMissing
	}
	data, err := readBounded(path, "a plan chunk", max(c.Size, 0)+1, frame.CodePlanDamaged)
	var over *refusal
	if errors.As(err, &over) {
		return nil, refuse(frame.CodePlanDamaged, "rebuilding the plan: chunk %s is longer than %d bytes or cannot be read; nothing was executed", c.Name, c.Size)
	}
	return data, err
}

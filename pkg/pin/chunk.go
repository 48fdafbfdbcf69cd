package pin

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/plan"
)

// Chunk is what has to be remembered of a ConfigMap that calls itself a plan's chunk; its bytes are not part of it.
type Chunk struct {
	Namespace, Name string
	UID             types.UID
	ResourceVersion string
	Plan            string // by its label
	Owner           Ref    // the schema that controls it; empty without one
	Ours            bool   // written by the operator, as far as its labels say
}

// OfChunk keeps what matters of a ConfigMap's metadata.
func OfChunk(m *metav1.PartialObjectMetadata) Chunk {
	c := Chunk{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Plan: m.Labels[v1alpha1.PlanLabel],
		Ours: m.Labels[v1alpha1.ManagedByLabel] == v1alpha1.ManagedByValue,
	}
	if o := metav1.GetControllerOf(m); o != nil && o.Kind == "PtahSchema" && strings.HasPrefix(o.APIVersion, v1alpha1.GroupName+"/") {
		c.Owner = Ref{o.Name, o.UID}
	}
	return c
}

// Belongs says why a ConfigMap is not a chunk that may be deleted with a plan; "" when it is one. Its label alone is not enough: anybody
// can write a label.
func (c Chunk) Belongs(p Plan) string {
	switch {
	case c.Namespace != p.Namespace || c.Plan != p.Name:
		return "it is labelled for another plan"
	case !c.Ours:
		return "it is not labelled as the operator's"
	case c.Owner.UID == "" || c.Owner.UID != p.Owner.UID:
		return "it is not owned by the plan's schema"
	case !listed(p, c.Name):
		return "the plan does not list it"
	default:
		return ""
	}
}

func listed(p Plan, chunk string) bool {
	for _, name := range p.Chunks {
		if name == chunk {
			return true
		}
	}
	return false
}

// ListedBy names another plan that lists a chunk, "" when none does. No plan that the operator wrote shares a chunk; one that somebody else
// wrote may.
func (w *World) ListedBy(c Chunk, than Plan) string {
	for _, p := range w.Plans {
		if p.Family == Schema && p.Namespace == c.Namespace && p.Name != than.Name && listed(p, c.Name) {
			return p.Name
		}
	}
	return ""
}

// Orphan is a chunk whose plan is gone, as an interrupted deletion leaves it.
type Orphan struct {
	Chunk   Chunk
	Verdict Verdict
	Reason  string
}

// Orphans lists the chunks that no stored plan has, in the order given.
func Orphans(w *World, chunks []Chunk) []Orphan {
	stored, taken := map[key]bool{}, map[key]bool{}
	for _, p := range w.Plans {
		stored[key{Schema, p.Namespace, p.Name}] = true
		for _, name := range p.Chunks {
			taken[key{Schema, p.Namespace, name}] = true
		}
	}
	var orphans []Orphan
	for _, c := range chunks {
		if stored[key{Schema, c.Namespace, c.Plan}] || taken[key{Schema, c.Namespace, c.Name}] {
			continue
		}
		orphans = append(orphans, judgeOrphan(w, c))
	}
	return orphans
}

func judgeOrphan(w *World, c Chunk) Orphan {
	gone := Plan{Family: Schema, Namespace: c.Namespace, Name: c.Plan, Owner: c.Owner}
	holding := w.Pins.Of(gone)
	owner, busy := w.Owners.busy(gone)
	o := Orphan{Chunk: c, Verdict: Kept}
	switch {
	case w.Blind[Schema] != "":
		o.Verdict, o.Reason = Unknown, "could not tell: "+w.Blind[Schema]
	case !c.Ours || c.Owner.UID == "" || !chunkName(c):
		o.Reason = "labelled for a plan that is gone, and not a chunk that the operator wrote"
	case len(holding) > 0:
		o.Reason = fmt.Sprintf("its plan is gone and is still named: %s", holding[0].Where())
	case busy:
		o.Verdict, o.Reason = Busy, owner.busyText()
	default:
		o.Verdict, o.Reason = MayGo, "its plan is gone"
	}
	return o
}

// chunkName says whether the name is one that the label's plan would give.
func chunkName(c Chunk) bool {
	for i := range int32(plan.MaxChunks) {
		if c.Name == plan.ChunkName(c.Plan, i) {
			return true
		}
	}
	return false
}

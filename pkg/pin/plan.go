package pin

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Plan is what has to be remembered of a stored plan to decide about it; its statements are not part of it.
type Plan struct {
	Family          Family
	Namespace       string
	Name            string
	UID             types.UID
	ResourceVersion string
	Owner           Ref
	Fingerprint     string
	CreatedAt       time.Time
	// Size is what its chunks hold, in bytes; a migration plan has none.
	Size   int64
	Chunks []string
	Sizes  []int64 // of each of its chunks
	// Stored is false while a schema plan is being published.
	Stored bool
	Labels map[string]string
}

// OfSchemaPlan keeps what matters of a PtahSchemaPlan.
func OfSchemaPlan(p *v1alpha1.PtahSchemaPlan) Plan {
	kept := Plan{
		Family: Schema, Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion, Owner: refOf(p.Spec.SchemaRef),
		Fingerprint: p.Spec.Fingerprint, CreatedAt: p.CreationTimestamp.Time,
		Stored: meta.IsStatusConditionTrue(p.Status.Conditions, string(v1alpha1.ConditionReady)), Labels: p.Labels,
	}
	for _, chunk := range p.Spec.Chunks {
		kept.Size += chunk.Size
		kept.Chunks, kept.Sizes = append(kept.Chunks, chunk.Name), append(kept.Sizes, chunk.Size)
	}
	return kept
}

// OfMigrationPlan keeps what matters of a PtahMigrationPlan.
func OfMigrationPlan(p *v1alpha1.PtahMigrationPlan) Plan {
	return Plan{
		Family: Migration, Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion, Owner: refOf(p.Spec.MigrationRef),
		Fingerprint: p.Spec.Fingerprint, CreatedAt: p.CreationTimestamp.Time, Stored: true, Labels: p.Labels,
	}
}

// names says whether a pin names a plan. A record without a UID names whatever has the name; one with another UID names a plan that is gone.
func (p Pin) names(plan Plan) bool {
	switch {
	case p.Family != plan.Family || p.By.Namespace != plan.Namespace:
		return false
	case p.Plan.Name != "":
		// The same plan published again under its name still describes a run that nobody accounted for.
		return p.Plan.Name == plan.Name && (p.Field == FieldUnresolved || p.sameUID(plan))
	case p.Plan.UID != "":
		return p.Plan.UID == plan.UID
	case p.Owner.Name != plan.Owner.Name && p.Owner.UID != plan.Owner.UID:
		return false
	default:
		return p.Fingerprint == "" || p.Fingerprint == plan.Fingerprint
	}
}

// Pins is everything that live objects say about plans.
type Pins struct {
	named map[key][]Pin
	loose []Pin // without the name of a plan
}

type key struct {
	family          Family
	namespace, name string
}

// Add takes over what an object pins.
func (p *Pins) Add(pins ...Pin) {
	if p.named == nil {
		p.named = map[key][]Pin{}
	}
	for _, pin := range pins {
		if pin.Plan.Name == "" {
			p.loose = append(p.loose, pin)
			continue
		}
		k := key{pin.Family, pin.By.Namespace, pin.Plan.Name}
		p.named[k] = append(p.named[k], pin)
	}
}

// Of lists the pins that hold a plan: the record of a run nobody accounted for first, then in the order in which they were added.
func (p *Pins) Of(plan Plan) []Pin {
	var holding []Pin
	for _, list := range [][]Pin{p.named[key{plan.Family, plan.Namespace, plan.Name}], p.loose} {
		for _, pin := range list {
			if pin.names(plan) {
				holding = append(holding, pin)
			}
		}
	}
	slices.SortStableFunc(holding, func(a, b Pin) int { return rank(a) - rank(b) })
	return holding
}

func rank(p Pin) int {
	if p.Unresolved {
		return 0
	}
	return 1
}

// All lists every pin, in no particular order.
func (p *Pins) All() []Pin {
	all := slices.Clone(p.loose)
	for _, list := range p.named {
		all = append(all, list...)
	}
	return all
}

func (p Pin) sameUID(plan Plan) bool {
	return p.Plan.UID == "" || plan.UID == "" || p.Plan.UID == plan.UID
}

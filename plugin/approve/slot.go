package approve

import (
	"context"
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

// maxSlots bounds how often one plan can be approved: each time after the first, because the approval before was spent or retired.
const maxSlots = 32

// slot is where an approval of a plan goes.
type slot struct {
	name string
	// standing is an approval of this plan that is neither spent nor retired; nothing needs to be written then.
	standing *v1alpha1.PtahSchemaApproval
}

// findSlot gives the deterministic name, or the first free one after approvals that were spent or retired. Without permission to read
// approvals the first name has to do; the server refuses it if it is taken.
func findSlot(ctx context.Context, c client, object *v1alpha1.PtahSchemaPlan) (slot, error) {
	base := slotName(object)
	for i := 1; i <= maxSlots; i++ {
		name := base
		if i > 1 {
			name = fmt.Sprintf("%s-%d", base, i)
		}
		existing, err := c.SchemaApproval(ctx, object.Namespace, name)
		switch {
		case cluster.IsNotFound(err), cluster.IsForbidden(err):
			return slot{name: name}, nil
		case err != nil:
			return slot{}, err
		case existing.Spec.PlanRef.UID != object.UID || existing.Spec.PlanFingerprint != object.Spec.Fingerprint:
			return slot{}, options.Refusedf("approval %s/%s exists and names another plan; nothing was changed", object.Namespace, name)
		case !approval.IsConsumed(existing.Status) && !approval.IsStale(existing.Status):
			return slot{name: name, standing: existing}, nil
		}
	}
	return slot{}, options.Refusedf("plan %s/%s was approved %d times and every approval was used or overtaken; nothing was changed", object.Namespace, object.Name, maxSlots)
}

// slotName follows from the plan object: a plan made again under the same name gets another.
func slotName(object *v1alpha1.PtahSchemaPlan) string {
	short := digest.Hex(digest.Tuple("approval-name", string(object.Spec.SchemaRef.UID), string(object.UID), object.Spec.Fingerprint))[:8]
	return object.Name + "-" + short
}

func samePlan(a, b *v1alpha1.PtahSchemaApproval) bool {
	return a.Spec.SchemaRef == b.Spec.SchemaRef && a.Spec.PlanRef == b.Spec.PlanRef && a.Spec.PlanFingerprint == b.Spec.PlanFingerprint
}

package storedplan

import (
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
)

// CheckMigration proves what a migration plan's object says of itself. It has no chunks; its name follows from its fingerprint.
func CheckMigration(object *v1alpha1.PtahMigrationPlan) error {
	what := "plan " + object.Namespace + "/" + object.Name
	hex := digest.Hex(object.Spec.Fingerprint)
	switch {
	case hex == "":
		return fmt.Errorf("reading %s: its fingerprint %q is no digest; %s", what, object.Spec.Fingerprint, Advice)
	case object.Name != v1alpha1.MigrationPlanPrefix+hex[:24]:
		return fmt.Errorf("reading %s: its name does not follow from its fingerprint %s; %s", what, object.Spec.Fingerprint, Advice)
	case len(object.Spec.Migrations) == 0:
		return fmt.Errorf("reading %s: it lists no migration; %s", what, Advice)
	}
	return nil
}

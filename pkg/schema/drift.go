package schema

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
)

// known is the closed vocabulary of a raw reading. A category that is not in it fails the operation.
var known = map[v1alpha1.DriftCategory]bool{
	v1alpha1.DriftColumnsAdded:             true,
	v1alpha1.DriftColumnsModified:          true,
	v1alpha1.DriftColumnsRemoved:           true,
	v1alpha1.DriftConstraintsAdded:         true,
	v1alpha1.DriftConstraintsRemoved:       true,
	v1alpha1.DriftDataRowsDeleted:          true,
	v1alpha1.DriftDataRowsInserted:         true,
	v1alpha1.DriftDataRowsUpdated:          true,
	v1alpha1.DriftEnumValuesAdded:          true,
	v1alpha1.DriftEnumValuesRemoved:        true,
	v1alpha1.DriftEnumsAdded:               true,
	v1alpha1.DriftEnumsRemoved:             true,
	v1alpha1.DriftExtensionsAdded:          true,
	v1alpha1.DriftExtensionsModified:       true,
	v1alpha1.DriftExtensionsRemoved:        true,
	v1alpha1.DriftFunctionsAdded:           true,
	v1alpha1.DriftFunctionsModified:        true,
	v1alpha1.DriftFunctionsRemoved:         true,
	v1alpha1.DriftIndexesAdded:             true,
	v1alpha1.DriftIndexesRemoved:           true,
	v1alpha1.DriftRLSEnabledTablesAdded:    true,
	v1alpha1.DriftRLSEnabledTablesRemoved:  true,
	v1alpha1.DriftRLSPoliciesAdded:         true,
	v1alpha1.DriftRLSPoliciesModified:      true,
	v1alpha1.DriftRLSPoliciesRemoved:       true,
	v1alpha1.DriftRolesAdded:               true,
	v1alpha1.DriftRolesModified:            true,
	v1alpha1.DriftRolesRemoved:             true,
	v1alpha1.DriftTableConstraintsAdded:    true,
	v1alpha1.DriftTableConstraintsRemoved:  true,
	v1alpha1.DriftTablesAdded:              true,
	v1alpha1.DriftTablesRemoved:            true,
	v1alpha1.DriftUniqueProtectionsRemoved: true,
	v1alpha1.DriftVectorDimensionChanged:   true,
}

// severities is the closed vocabulary of how bad a difference is.
var severities = map[v1alpha1.DriftSeverity]bool{
	v1alpha1.SeveritySafe: true, v1alpha1.SeverityInfo: true, v1alpha1.SeverityWarning: true, v1alpha1.SeverityError: true,
	v1alpha1.SeverityDestructive: true,
}

// observed summarises a raw reading: categories and counts, no names and no SQL.
func (v *View) observed(f *frame.Frame, engine, coordination string) *v1alpha1.TargetStatus {
	o := f.Observe
	t := &v1alpha1.TargetStatus{
		Engine: engine, CoordinationDigest: coordination, IdentityDigest: f.TargetIdentityDigest,
		LastObservedAt: stamp(v.Now), DriftReportDigest: o.ReportDigest,
		DriftFindingCount: int32(min(o.Total, 1<<31-1)), DriftFindingsTruncated: o.Truncated, //nolint:gosec // bounded
		HighestDriftSeverity: v1alpha1.DriftSeverity(o.Highest),
	}
	for _, x := range o.Findings {
		t.DriftFindings = append(t.DriftFindings, v1alpha1.DriftFinding{
			Category: v1alpha1.DriftCategory(x.Category), Count: int32(min(x.Count, 1<<31-1)), //nolint:gosec // bounded
			Severity: v1alpha1.DriftSeverity(x.Severity),
		})
	}
	return t
}

// now is the instant of this pass as a value.
func (v *View) now() metav1.Time { return *stamp(v.Now) }

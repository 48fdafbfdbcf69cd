package schema_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

var categories = []v1alpha1.DriftCategory{
	v1alpha1.DriftColumnsAdded, v1alpha1.DriftColumnsRemoved, v1alpha1.DriftIndexesAdded, v1alpha1.DriftIndexesRemoved, v1alpha1.DriftTablesAdded,
	v1alpha1.DriftTablesRemoved, v1alpha1.DriftRolesAdded, v1alpha1.DriftRolesRemoved, v1alpha1.DriftEnumsAdded, v1alpha1.DriftEnumsRemoved,
	v1alpha1.DriftFunctionsAdded, v1alpha1.DriftFunctionsRemoved, v1alpha1.DriftExtensionsAdded, v1alpha1.DriftExtensionsRemoved,
}

// severities, the worst first.
var severities = []v1alpha1.DriftSeverity{
	v1alpha1.SeverityDestructive, v1alpha1.SeverityError, v1alpha1.SeverityWarning, v1alpha1.SeverityInfo, v1alpha1.SeveritySafe,
}

// report is a reading with findings, as an executor prints it: no more than fit, and the counts of all.
func report(findings []frame.Finding) frame.Frame {
	o := &frame.Observed{Dialect: "postgres", ReportDigest: digestA, Findings: findings}
	for _, f := range findings {
		o.Total += f.Count
	}
	if len(findings) > 0 {
		o.Highest = findings[0].Severity
	}
	if o.Truncated = len(findings) > frame.MaxFindings; o.Truncated {
		o.Findings = findings[:frame.MaxFindings]
	}
	return frame.Frame{
		ProtocolVersion: intent.ProtocolVersion, Operation: intent.Observe, OperationID: "op", CoordinationDigest: digestA, TargetIdentityDigest: digestB, Observe: o,
	}
}

// all are n findings in canonical order, each as often as its place says.
func all(n int) []frame.Finding {
	var out []frame.Finding
	for _, s := range severities {
		sorted := slices.Sorted(slices.Values(categories))
		for _, c := range sorted {
			out = append(out, frame.Finding{Category: string(c), Count: len(out) + 1, Severity: string(s)})
		}
	}
	return out[:n]
}

// From the log to the status: the worst first, then by category, at most 64, and a total that covers what is not displayed. A log that says it in
// another way is none.
func TestFindingsAreABoundedCanonicalSummary(t *testing.T) {
	for name, c := range map[string]struct{ n, shown int }{
		"none": {0, 0}, "one": {1, 1}, "the bound": {64, 64}, "one more": {65, 64}, "as many as there can be here": {70, 64},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			require.NoError(t, frame.Encode(&log, report(all(c.n))))
			f, err := frame.Parse(&log, frame.Expect{Operation: intent.Observe, OperationID: "op"})
			require.NoError(t, err)
			st := conclude(t, view(), intent.Observe, f)
			require.Len(t, st.Target.DriftFindings, c.shown)
			assert.EqualValues(t, c.n*(c.n+1)/2, st.Target.DriftFindingCount, "of the complete report")
			assert.Equal(t, c.n > 64, st.Target.DriftFindingsTruncated)
			for i, x := range st.Target.DriftFindings {
				assert.EqualValues(t, i+1, x.Count, "its place in the report")
			}
			if c.n > 0 {
				assert.Equal(t, v1alpha1.SeverityDestructive, st.Target.HighestDriftSeverity)
			}
			assert.Equal(t, digestA, st.Target.DriftReportDigest)
			require.NotNil(t, st.Target.LastObservedAt)
		})
	}
}

func TestFindingsOutOfOrderAreNoReading(t *testing.T) {
	canonical := all(70)
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a shuffle that is the same every time
	shuffled := slices.Clone(canonical[:20])
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	tooMany := report(canonical)
	tooMany.Observe.Findings = canonical
	short := report(canonical)
	short.Observe.Total = 1
	for name, f := range map[string]frame.Frame{
		"shuffled": report(shuffled), "the mildest first": report([]frame.Finding{canonical[69], canonical[0]}), "more than 64": tooMany, "a total of less": short,
		"a category twice": report([]frame.Finding{canonical[0], canonical[0]}),
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, f.Validate(), frame.ErrInvalid)
			v := view()
			v.Schema.Status.Target.DriftReportDigest = "before"
			st := conclude(t, v, intent.Observe, f)
			assert.Equal(t, "before", st.Target.DriftReportDigest, "what is not canonical is not recorded, whoever let it pass")
			assert.Equal(t, "True/OperationFailed", tuple(st, v1alpha1.ConditionReconciliationFailed))
		})
	}
}

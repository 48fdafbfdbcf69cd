package render_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
)

func TestDriftInWords(t *testing.T) {
	for category, want := range map[v1alpha1.DriftCategory]string{
		v1alpha1.DriftColumnsAdded:             "a plan would add 2 columns",
		v1alpha1.DriftColumnsModified:          "a plan would change 2 columns",
		v1alpha1.DriftIndexesRemoved:           "a plan would remove 2 indexes",
		v1alpha1.DriftEnumValuesAdded:          "a plan would add 2 enum values",
		v1alpha1.DriftTableConstraintsRemoved:  "a plan would remove 2 table constraints",
		v1alpha1.DriftUniqueProtectionsRemoved: "a plan would remove 2 unique protections",
		v1alpha1.DriftRLSEnabledTablesAdded:    "a plan would turn row security on for 2 tables",
		v1alpha1.DriftRLSEnabledTablesRemoved:  "a plan would turn row security off for 2 tables",
		v1alpha1.DriftRLSPoliciesModified:      "a plan would change 2 row security policies",
		v1alpha1.DriftVectorDimensionChanged:   "a plan would change the dimension of 2 vectors",
		v1alpha1.DriftDataRowsInserted:         "a plan would insert 2 rows",
		v1alpha1.DriftDataRowsUpdated:          "a plan would update 2 rows",
		v1alpha1.DriftDataRowsDeleted:          "a plan would delete 2 rows",
		"columns_renamed":                      "columns_renamed: 2",
		"sharks":                               "sharks: 2",
	} {
		assert.Equal(t, want, render.Finding{Category: string(category), Count: 2}.Words())
	}
	assert.Equal(t, "a plan would remove 1 index", render.Finding{Category: string(v1alpha1.DriftIndexesRemoved), Count: 1}.Words())
	assert.Equal(t, "a plan would add 1 row security policy", render.Finding{Category: string(v1alpha1.DriftRLSPoliciesAdded), Count: 1}.Words())
}

// Every category of the API has words: a new one that only shows its identifier fails here.
func TestEveryDriftCategoryHasWords(t *testing.T) {
	source, err := os.ReadFile("../api/v1alpha1/drift_categories.go")
	require.NoError(t, err)
	_, list, _ := strings.Cut(string(source), "Enum=")
	list, _, _ = strings.Cut(list, "\n")
	categories := strings.Split(list, ";")
	require.Greater(t, len(categories), 30)
	for _, category := range categories {
		words := render.Finding{Category: category, Count: 3}.Words()
		assert.True(t, strings.HasPrefix(words, "a plan would "), "%s: %s", category, words)
		assert.NotContains(t, words, "_", category)
	}
}

// The reading and the plan that is made after it may disagree. Which one counts is said where they do, and nowhere else.
func TestDriftSaysWhichReadingCounts(t *testing.T) {
	const isTrue, isFalse = "condition DriftDetected is True by the plan", "condition DriftDetected is False by the plan"
	finding := v1alpha1.DriftFinding{Category: v1alpha1.DriftTablesRemoved, Count: 3, Severity: v1alpha1.SeverityDestructive}
	for name, c := range map[string]struct {
		findings  []v1alpha1.DriftFinding
		truncated bool
		condition metav1.ConditionStatus
		want, not []string
	}{
		"nothing found, nothing planned":     {condition: metav1.ConditionFalse, want: []string{"none in that reading of the whole database"}, not: []string{isTrue, isFalse}},
		"nothing found, a plan all the same": {condition: metav1.ConditionTrue, want: []string{"none in that reading", isTrue}, not: []string{isFalse}},
		"found, and planned": {
			findings: []v1alpha1.DriftFinding{finding}, condition: metav1.ConditionTrue,
			want: []string{"3 differences in that reading", "worst: destructive", "a plan would remove 3 tables (destructive)"}, not: []string{isTrue, isFalse, "and more"},
		},
		"found outside the scope": {findings: []v1alpha1.DriftFinding{finding}, condition: metav1.ConditionFalse, want: []string{"3 differences in that reading", isFalse}, not: []string{isTrue}},
		"not judged yet":          {findings: []v1alpha1.DriftFinding{finding}, not: []string{isTrue, isFalse}},
		"more than the status lists": {
			findings: []v1alpha1.DriftFinding{finding}, truncated: true, condition: metav1.ConditionTrue, want: []string{"and more, which the status does not list"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			observed := metav1.NewTime(now.Add(-time.Minute))
			schema := &v1alpha1.PtahSchema{}
			schema.Status.Target = &v1alpha1.TargetStatus{
				LastObservedAt: &observed, DriftFindings: c.findings, DriftFindingCount: int32(3 * len(c.findings)), DriftFindingsTruncated: c.truncated,
				HighestDriftSeverity: v1alpha1.SeverityDestructive,
			}
			if c.condition != "" {
				schema.Status.Conditions = []metav1.Condition{{Type: string(v1alpha1.ConditionDriftDetected), Status: c.condition, Reason: "Scoped"}}
			}
			out, err := render.Render(render.NewStatus(render.SchemaResource(schema), now), render.Options{Format: render.Format{Kind: render.Text}})
			require.NoError(t, err)
			text := string(out)
			for _, part := range c.want {
				assert.Contains(t, text, part)
			}
			for _, part := range c.not {
				assert.NotContains(t, text, part)
			}
		})
	}
}

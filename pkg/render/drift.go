package render

import (
	"fmt"
	"strings"

	"github.com/ptah-run/ptah/pkg/spelling"
)

// deeds are what the endings of drift categories say that a plan would do.
var deeds = map[string]string{
	"added": "add", "removed": "remove", "modified": "change", "changed": "change", "inserted": "insert", "updated": "update", "deleted": "delete",
}

// nouns are what drift categories count, where it is not their own name.
var nouns = map[string]string{"rls_policies": "row security policy", "vector_dimension": "vector dimension", "data_rows": "row"}

// Words says what a plan would do about a difference: a category is named after that, and not after what happened to the database. A category
// that this program does not know is shown as it is.
func (f Finding) Words() string {
	cut := strings.LastIndexByte(f.Category, '_')
	if cut < 0 || deeds[f.Category[cut+1:]] == "" {
		return fmt.Sprintf("%s: %d", f.Category, f.Count)
	}
	what, deed := f.Category[:cut], deeds[f.Category[cut+1:]]
	switch what {
	case "rls_enabled_tables":
		turn := map[string]string{"add": "on", "remove": "off"}[deed]
		return fmt.Sprintf("a plan would turn row security %s for %s", turn, spelling.Count(f.Count, "table"))
	case "vector_dimension":
		return fmt.Sprintf("a plan would change the dimension of %s", spelling.Count(f.Count, "vector"))
	}
	noun := nouns[what]
	if noun == "" {
		noun = strings.ReplaceAll(strings.TrimSuffix(what, "s"), "_", " ")
		if what == "indexes" {
			noun = "index"
		}
	}
	return fmt.Sprintf("a plan would %s %s", deed, spelling.Count(f.Count, noun))
}

// driftLines says what the last full reading found, and which of two readings counts where they differ: the condition is from the plan, which is
// made after it and inside the managed scope alone.
func (s *Status) driftLines(c *Canvas) []string {
	o := s.Observation
	if o.Differences == 0 {
		lines := []string{"none in that reading of the whole database"}
		if s.driftDetected() == "True" {
			lines = append(lines, "condition DriftDetected is True by the plan, which is made after it, inside the managed scope: the condition counts")
		}
		return lines
	}
	lines := []string{fmt.Sprintf("%s in that reading of the whole database, worst: %s", spelling.Count(o.Differences, "difference"), c.paint(driftTone(o.Worst), o.Worst))}
	for _, finding := range o.Findings {
		lines = append(lines, fmt.Sprintf("%s (%s)", finding.Words(), finding.Severity))
	}
	if o.Truncated {
		lines = append(lines, "and more, which the status does not list")
	}
	if s.driftDetected() == "False" {
		lines = append(lines, "condition DriftDetected is False by the plan, which is made after it, inside the managed scope: the condition counts")
	}
	return lines
}

func (s *Status) driftDetected() string {
	for _, condition := range s.Conditions {
		if condition.Type == "DriftDetected" {
			return condition.Status
		}
	}
	return ""
}

package explain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/explain"
)

// A command that works on one family only is never offered for the other.
func TestRunsFitTheFamily(t *testing.T) {
	forSchemas := []string{"ptah approve ", "ptah plan ", "preflight schema/", "push schema "}
	forMigrations := []string{"ptah clear-unresolved ", "ptah migration ", "preflight migration/", "push migrations "}
	has := func(command string, list []string) bool {
		for _, part := range list {
			if strings.Contains(command, part) {
				return true
			}
		}
		return false
	}
	for _, e := range explain.All() {
		for _, run := range e.Runs() {
			switch {
			case run.Resource == explain.Migration, run.Resource == "" && strings.Contains(e.Where, "PtahMigration") && !strings.Contains(e.Where, "PtahSchema") && !strings.Contains(e.Where, ";"):
				assert.False(t, has(run.Command, forSchemas), "%s %s: %s", e.Kind, e.Name, run.Command)
			case run.Resource == explain.Schema, run.Resource == "" && !strings.Contains(e.Where, "PtahMigration") && strings.Contains(e.Where, "PtahSchema"):
				assert.False(t, has(run.Command, forMigrations), "%s %s: %s", e.Kind, e.Name, run.Command)
			}
		}
	}
}

func TestRuns(t *testing.T) {
	for word, want := range map[string][]explain.Run{
		"AwaitingApproval":    {{Resource: "schema", Command: "kubectl ptah approve NAME -n NAMESPACE"}, {Resource: "migration", Command: "kubectl ptah migration NAME -n NAMESPACE"}},
		"ApplyOutcomeUnknown": {{Resource: "schema", Command: "kubectl ptah status NAME -n NAMESPACE"}, {Resource: "migration", Command: "kubectl ptah clear-unresolved NAME -n NAMESPACE"}},
		"HistoryDirty":        {{Command: "kubectl ptah migration NAME -n NAMESPACE"}},
		"ScopedChanges":       {{Command: "kubectl ptah plan NAME -n NAMESPACE"}},
		"ArtifactNotFound":    {{Resource: "schema", Command: "kubectl ptah push schema FILE... oci://REFERENCE"}, {Resource: "migration", Command: "kubectl ptah push migrations DIRECTORY oci://REFERENCE"}},
		"Suspended":           {{Command: "kubectl ptah resume NAME -n NAMESPACE"}},
		"Published":           nil,
	} {
		t.Run(word, func(t *testing.T) {
			for _, e := range explain.Find(word) {
				if e.Kind == explain.Reason || e.Kind == explain.Failure {
					assert.Equal(t, want, e.Runs())
					return
				}
			}
			require.Fail(t, "no such reason")
		})
	}
}

// Whatever blocks a resource, there is something to run, with its name in it.
func TestAdviseAlwaysHasACommand(t *testing.T) {
	for _, e := range explain.All() {
		for _, family := range []string{explain.Schema, explain.Migration} {
			a := explain.Advise(family, "app", "orders", e.Name)
			assert.True(t, strings.HasPrefix(a.Command, "kubectl ptah "), "%s: %q", e.Name, a.Command)
			assert.NotContains(t, a.Command, "NAME")
			assert.NotContains(t, a.Command, "ptah status", "%s: who asks has just looked", e.Name)
		}
	}
	assert.Equal(t, explain.Advice{Command: "kubectl ptah events schema/orders -n app"}, explain.Advise(explain.Schema, "app", "orders", "OfANewerOperator", ""))
	assert.Equal(t, "kubectl ptah clear-unresolved ledger -n app", explain.Advise(explain.Migration, "app", "ledger", "ApplyOutcomeUnknown").Command)
	assert.Contains(t, explain.Advise(explain.Schema, "app", "orders", "ProtectedTable").Clears, "off the list")
}

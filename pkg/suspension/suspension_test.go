package suspension_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/suspension"
)

func TestSchema(t *testing.T) {
	operation := func(kind v1alpha1.SchemaOperationType, dispatched bool) func(*v1alpha1.PtahSchema) {
		return func(s *v1alpha1.PtahSchema) {
			s.Status.ActiveOperation = &v1alpha1.SchemaOperation{Type: kind, JobName: "job", DispatchStarted: dispatched}
		}
	}
	proof := func(s *v1alpha1.PtahSchema) {
		s.Status.PendingObservation = &v1alpha1.PendingObservation{Outcome: v1alpha1.OutcomeUnknown}
	}
	plan := func(s *v1alpha1.PtahSchema) { s.Status.Plan = &v1alpha1.SchemaPlanRecord{Name: "p"} }
	suspended := func(s *v1alpha1.PtahSchema) { s.Spec.Suspend = true }
	for name, c := range map[string]struct {
		edits     []func(*v1alpha1.PtahSchema)
		suspend   bool
		inFlight  string
		unchanged bool
		writing   bool
		says      []string
		silent    []string
	}{
		"idle":              {nil, true, "", false, false, []string{"no new Job starts"}, []string{"Apply", "lock"}},
		"again":             {[]func(*v1alpha1.PtahSchema){suspended}, true, "", true, false, nil, nil},
		"a plan that waits": {[]func(*v1alpha1.PtahSchema){plan}, true, "", false, false, []string{"plan p takes no approval"}, nil},
		"reading":           {[]func(*v1alpha1.PtahSchema){operation("Observe", true)}, true, "Observe runs as Job job", false, false, []string{"Observe only reads: its result is thrown away"}, nil},
		"applying":          {[]func(*v1alpha1.PtahSchema){plan, operation("Apply", true)}, true, "Apply runs as Job job", false, true, []string{"goes on: its Pod is not deleted", "lock is kept until it is resumed or deleted"}, []string{"given up", "takes no approval"}},
		"about to apply":    {[]func(*v1alpha1.PtahSchema){plan, operation("Apply", false)}, true, "Apply is about to start", false, false, []string{"is given up"}, []string{"goes on"}},
		"a proof is owed":   {[]func(*v1alpha1.PtahSchema){plan, proof}, true, "a proof is owed after an Apply (OutcomeUnknown)", false, false, []string{"lock is kept"}, []string{"takes no approval"}},
		"a proof is read":   {[]func(*v1alpha1.PtahSchema){proof, operation("Observe", true)}, true, "Observe runs as Job job", false, false, []string{"lock is kept"}, []string{"thrown away"}},
		"resume":            {[]func(*v1alpha1.PtahSchema){suspended}, false, "", false, false, []string{"read again"}, []string{"lock"}},
		"resume to a proof": {[]func(*v1alpha1.PtahSchema){suspended, proof}, false, "a proof is owed after an Apply (OutcomeUnknown)", false, false, []string{"the proof that is owed"}, nil},
		"resume again":      {nil, false, "", true, false, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &v1alpha1.PtahSchema{}
			for _, edit := range c.edits {
				edit(s)
			}
			e := suspension.Schema(s, c.suspend)
			assert.Equal(t, c.inFlight, e.InFlight)
			assert.Equal(t, c.unchanged, e.Unchanged)
			assert.Equal(t, c.writing, e.Writing)
			text := strings.Join(e.Lines, "\n")
			for _, want := range c.says {
				assert.Contains(t, text, want)
			}
			for _, unwanted := range c.silent {
				assert.NotContains(t, text, unwanted)
			}
		})
	}
}

func TestMigration(t *testing.T) {
	m := &v1alpha1.PtahMigration{}
	m.Status.UnresolvedRun = &v1alpha1.UnresolvedRun{Outcome: v1alpha1.RunPartial}
	assert.Contains(t, strings.Join(suspension.Migration(m, true).Lines, "\n"), "only a reading clears it")
	assert.Contains(t, strings.Join(suspension.Migration(m, false).Lines, "\n"), "still holds every Apply back")
	m.Status.ActiveOperation = &v1alpha1.MigrationOperation{Type: v1alpha1.MigrationApply, JobName: "job", DispatchStarted: true}
	assert.True(t, suspension.Migration(m, true).Writing)
}

func TestSame(t *testing.T) {
	idle, busy := suspension.Schema(&v1alpha1.PtahSchema{}, true), suspension.Schema(&v1alpha1.PtahSchema{Status: v1alpha1.PtahSchemaStatus{ActiveOperation: &v1alpha1.SchemaOperation{Type: "Observe"}}}, true)
	assert.True(t, suspension.Same(idle, idle))
	assert.False(t, suspension.Same(idle, busy))
}

package waiting_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/waiting"
)

func readyOf(generation int64, status metav1.ConditionStatus, reason v1alpha1.ConditionReason) func(*v1alpha1.PtahSchema) {
	return func(s *v1alpha1.PtahSchema) {
		s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: "Ready", Status: status, Reason: string(reason), ObservedGeneration: generation})
	}
}

func digestOf(digest string) func(*v1alpha1.PtahSchema) {
	return func(s *v1alpha1.PtahSchema) { s.Status.Source = &v1alpha1.SourceStatus{Digest: digest} }
}

func appliedPlan(name, artifact string) func(*v1alpha1.PtahSchema) {
	return func(s *v1alpha1.PtahSchema) {
		s.Status.Applied = &v1alpha1.AppliedRecord{PlanRef: v1alpha1.ObjectRef{Name: name}, ArtifactDigest: artifact}
	}
}

func suspend(s *v1alpha1.PtahSchema) { s.Spec.Suspend = true }

func TestSchemaDistance(t *testing.T) {
	inSync := readyOf(3, "True", v1alpha1.ReasonInSync)
	edited := func(s *v1alpha1.PtahSchema) { s.Generation = 4 }
	waits := readyOf(3, "False", v1alpha1.ReasonAwaitingApproval)
	protected := readyOf(3, "False", v1alpha1.ReasonProtectedTable)
	for name, c := range map[string]struct {
		schema *v1alpha1.PtahSchema
		wish   waiting.Wish
		want   waiting.Progress
	}{
		"in sync":                            {schema(v1alpha1.SchemaPhaseInSync, inSync), waiting.Wish{Goal: "insync"}, waiting.Reached},
		"in sync of the spec before":         {schema(v1alpha1.SchemaPhaseInSync, inSync, edited), waiting.Wish{Goal: "insync"}, waiting.Underway},
		"in sync, condition of before":       {schema(v1alpha1.SchemaPhaseInSync, readyOf(2, "True", v1alpha1.ReasonInSync)), waiting.Wish{Goal: "insync"}, waiting.Underway},
		"in sync, and read anew":             {schema(v1alpha1.SchemaPhaseResolving, inSync), waiting.Wish{Goal: "insync"}, waiting.Underway},
		"in sync with another artifact":      {schema(v1alpha1.SchemaPhaseInSync, inSync, digestOf("old")), waiting.Wish{Goal: "insync", Digest: "new"}, waiting.Underway},
		"in sync with this artifact":         {schema(v1alpha1.SchemaPhaseInSync, inSync, digestOf("new")), waiting.Wish{Goal: "insync", Digest: "new"}, waiting.Reached},
		"needs an approval first":            {schema(v1alpha1.SchemaPhaseAwaitingApproval, waits, plan), waiting.Wish{Goal: "insync"}, waiting.NeedsDecision},
		"an approval about the spec before":  {schema(v1alpha1.SchemaPhaseAwaitingApproval, waits, plan, edited), waiting.Wish{Goal: "insync"}, waiting.Underway},
		"waits for the approval":             {schema(v1alpha1.SchemaPhaseAwaitingApproval, waits, plan), waiting.Wish{Goal: "awaiting-approval"}, waiting.Reached},
		"waited for another spec's approval": {schema(v1alpha1.SchemaPhaseAwaitingApproval, waits, plan, edited), waiting.Wish{Goal: "awaiting-approval"}, waiting.Underway},
		"nothing to approve":                 {schema(v1alpha1.SchemaPhaseInSync, inSync), waiting.Wish{Goal: "awaiting-approval"}, waiting.NeedsRepair},
		"blocked":                            {schema(v1alpha1.SchemaPhaseBlocked, protected), waiting.Wish{Goal: "insync"}, waiting.NeedsRepair},
		"blocked, and read anew":             {schema(v1alpha1.SchemaPhaseObserving, protected), waiting.Wish{Goal: "insync"}, waiting.Underway},
		"blocked under the spec before":      {schema(v1alpha1.SchemaPhaseBlocked, protected, edited), waiting.Wish{Goal: "insync"}, waiting.Underway},
		"a Secret that may be about to come": {schema(v1alpha1.SchemaPhaseFailed, readyOf(3, "False", v1alpha1.ReasonConfigurationError)), waiting.Wish{Goal: "insync"}, waiting.Underway},
		"failed and tried again":             {schema(v1alpha1.SchemaPhaseFailed, failed("LockTimeout: x")), waiting.Wish{Goal: "insync"}, waiting.Underway},
		"suspended":                          {schema(v1alpha1.SchemaPhaseSuspended, suspend), waiting.Wish{Goal: "insync"}, waiting.NeedsRepair},
		"suspended, not seen yet":            {schema(v1alpha1.SchemaPhaseInSync, suspend, edited, inSync), waiting.Wish{Goal: "insync"}, waiting.NeedsRepair},
		"suspended, taken up":                {schema(v1alpha1.SchemaPhaseSuspended, suspend, with("Suspended", "True", "Requested")), waiting.Wish{Goal: "suspended"}, waiting.Reached},
		"suspended, not taken up":            {schema(v1alpha1.SchemaPhaseInSync, suspend, edited), waiting.Wish{Goal: "suspended"}, waiting.Underway},
		"suspended while a proof is owed":    {schema(v1alpha1.SchemaPhaseVerifyingConvergence, suspend, with("Suspended", "True", "Requested"), func(s *v1alpha1.PtahSchema) { pending(s, v1alpha1.OutcomeUnknown) }), waiting.Wish{Goal: "suspended"}, waiting.NeedsRepair},
		"suspended while a proof is read":    {schema(v1alpha1.SchemaPhaseVerifyingConvergence, operation("Observe", 1, true), suspend, with("Suspended", "True", "Requested"), func(s *v1alpha1.PtahSchema) { pending(s, v1alpha1.OutcomeUnknown) }), waiting.Wish{Goal: "suspended"}, waiting.Underway},
		"a proof that suspension holds":      {schema(v1alpha1.SchemaPhaseVerifyingConvergence, suspend, with("Suspended", "True", "Requested"), func(s *v1alpha1.PtahSchema) { pending(s, v1alpha1.OutcomeUnknown) }), waiting.Wish{Goal: "insync"}, waiting.NeedsRepair},
		"nobody asked for suspension":        {schema(v1alpha1.SchemaPhaseInSync, inSync), waiting.Wish{Goal: "suspended"}, waiting.NeedsRepair},
		"applied":                            {schema(v1alpha1.SchemaPhaseObserving, digestOf("a"), appliedPlan("p", "a")), waiting.Wish{Goal: "applied"}, waiting.Reached},
		"applied another artifact":           {schema(v1alpha1.SchemaPhaseObserving, digestOf("b"), appliedPlan("p", "a")), waiting.Wish{Goal: "applied"}, waiting.Underway},
		"nothing was left to apply":          {schema(v1alpha1.SchemaPhaseInSync, inSync, digestOf("b"), appliedPlan("p", "a")), waiting.Wish{Goal: "applied"}, waiting.Reached},
		"applied this plan":                  {schema(v1alpha1.SchemaPhaseInSync, inSync, digestOf("b"), appliedPlan("p", "a")), waiting.Wish{Goal: "applied", Plan: "p"}, waiting.Reached},
		"this plan was overtaken":            {schema(v1alpha1.SchemaPhaseInSync, inSync, digestOf("b"), appliedPlan("p", "a")), waiting.Wish{Goal: "applied", Plan: "q"}, waiting.NeedsRepair},
		"this plan is current":               {schema(v1alpha1.SchemaPhaseReadyToApply, readyOf(3, "False", v1alpha1.ReasonApplyPending), plan), waiting.Wish{Goal: "applied", Plan: "ptah-plan-1"}, waiting.Underway},
		"idle":                               {schema(v1alpha1.SchemaPhaseBlocked, protected), waiting.Wish{Goal: "idle"}, waiting.Reached},
		"busy":                               {schema(v1alpha1.SchemaPhaseObserving, operation("Observe", 1, true)), waiting.Wish{Goal: "idle"}, waiting.Underway},
		"there":                              {schema(v1alpha1.SchemaPhaseInSync, inSync), waiting.Wish{Goal: "deleted"}, waiting.Underway},
		"never looked at":                    {schema("", func(s *v1alpha1.PtahSchema) { s.Status = v1alpha1.PtahSchemaStatus{} }), waiting.Wish{Goal: "insync"}, waiting.Underway},
	} {
		t.Run(name, func(t *testing.T) {
			d := waiting.SchemaDistance(c.schema, c.wish)
			assert.Equal(t, c.want, d.Progress, d.Text)
			assert.Equal(t, c.want == waiting.Reached, d.Text == "", "only what is reached waits for nothing: %q", d.Text)
		})
	}
}

// The same plan can be made, approved and run again: what proved it once says nothing about the run that somebody waits for now.
func TestAnEarlierProofOfTheSamePlanDoesNotCount(t *testing.T) {
	const name = "ptah-plan-1"
	before := func(s *v1alpha1.PtahSchema) { digestOf("a")(s); appliedPlan(name, "a")(s) }
	other := func(s *v1alpha1.PtahSchema) { s.Status.Plan = &v1alpha1.SchemaPlanRecord{Name: "ptah-plan-2"} }
	approved := func(s *v1alpha1.PtahSchema) {
		s.Status.Plan = &v1alpha1.SchemaPlanRecord{Name: name, Approval: &v1alpha1.ApprovalRecord{Name: "monday"}}
	}
	waits := readyOf(3, "False", v1alpha1.ReasonAwaitingApproval)
	differs, matches := with("InSync", "False", "ScopedChanges"), with("InSync", "True", "ScopedConverged")
	inSync := readyOf(3, "True", v1alpha1.ReasonInSync)
	for title, c := range map[string]struct {
		schema      *v1alpha1.PtahSchema
		named, bare waiting.Progress // with --plan, and without
	}{
		"waits for an approval again": {schema(v1alpha1.SchemaPhaseAwaitingApproval, before, plan, waits, differs), waiting.NeedsDecision, waiting.NeedsDecision},
		"approved, not taken up":      {schema(v1alpha1.SchemaPhaseAwaitingApproval, before, approved, waits, differs), waiting.NeedsDecision, waiting.NeedsDecision},
		"approved, and ready":         {schema(v1alpha1.SchemaPhaseReadyToApply, before, approved, readyOf(3, "False", v1alpha1.ReasonApplyPending)), waiting.Underway, waiting.Underway},
		"approved, and read anew":     {schema(v1alpha1.SchemaPhaseObserving, before, approved, operation("Observe", 1, true)), waiting.Underway, waiting.Underway},
		"claimed":                     {schema(v1alpha1.SchemaPhaseApplying, before, approved, operation("Apply", 1, false)), waiting.Underway, waiting.Underway},
		"claimed, its plan unnamed":   {schema(v1alpha1.SchemaPhaseObserving, before, operation("Apply", 1, true)), waiting.Underway, waiting.Underway},
		"the phase says so":           {schema(v1alpha1.SchemaPhaseApplying, before), waiting.Underway, waiting.Underway},
		"a proof is owed":             {schema(v1alpha1.SchemaPhaseVerifyingConvergence, before, func(s *v1alpha1.PtahSchema) { pending(s, v1alpha1.OutcomeApplySucceeded) }), waiting.Underway, waiting.Underway},
		"a proof is read":             {schema(v1alpha1.SchemaPhaseObserving, before, func(s *v1alpha1.PtahSchema) { pending(s, v1alpha1.OutcomeUnknown) }, operation("Plan", 1, true)), waiting.Underway, waiting.Underway},
		"the proof failed":            {schema(v1alpha1.SchemaPhaseFailed, before, differs, failed("x")), waiting.NeedsRepair, waiting.Underway},
		"it failed, and is read anew": {schema(v1alpha1.SchemaPhaseResolving, before, differs), waiting.Underway, waiting.Underway},
		"another plan is current":     {schema(v1alpha1.SchemaPhaseAwaitingApproval, before, other, waits, differs), waiting.NeedsRepair, waiting.NeedsDecision},
		"in sync, nobody knows why":   {schema(v1alpha1.SchemaPhaseInSync, before, inSync, matches, with("Applying", "False", "ConvergedAfterUnknownOutcome")), waiting.NeedsRepair, waiting.Reached},
		"proven":                      {schema(v1alpha1.SchemaPhaseInSync, before, inSync, matches), waiting.Reached, waiting.Reached},
		"proven, and read anew":       {schema(v1alpha1.SchemaPhaseObserving, before, matches, operation("Observe", 1, true)), waiting.Reached, waiting.Reached},
	} {
		t.Run(title, func(t *testing.T) {
			d := waiting.SchemaDistance(c.schema, waiting.Wish{Goal: "applied", Plan: name})
			assert.Equal(t, c.named, d.Progress, d.Text)
			d = waiting.SchemaDistance(c.schema, waiting.Wish{Goal: "applied"})
			assert.Equal(t, c.bare, d.Progress, d.Text)
		})
	}
}

// What a suspension waits for while an Apply runs is the Apply: the manager takes the suspension up when its outcome is known.
func TestSuspensionWaitsForTheApply(t *testing.T) {
	s := schema(v1alpha1.SchemaPhaseApplying, suspend, operation("Apply", 1, true), func(s *v1alpha1.PtahSchema) { s.Generation = 4 })
	assert.Equal(t, waiting.Distance{Text: "the Apply Job job (attempt 1)"}, waiting.SchemaDistance(s, waiting.Wish{Goal: "suspended"}))
	m := &v1alpha1.PtahMigration{}
	m.Spec.Suspend, m.Generation = true, 2
	m.Status.ActiveOperation = &v1alpha1.MigrationOperation{Type: v1alpha1.MigrationApply, JobName: "job", Attempt: 1, DispatchStarted: true}
	assert.Equal(t, waiting.Distance{Text: "the Apply Job job (attempt 1)"}, waiting.MigrationDistance(m, waiting.Wish{Goal: "suspended"}))
}

// Whatever a status says, it counts for nothing while the spec is ahead of it.
func TestNoGoalOfTheDatabaseIsReachedByAnOldStatus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		phases := []v1alpha1.SchemaPhase{"", v1alpha1.SchemaPhaseInSync, v1alpha1.SchemaPhaseAwaitingApproval, v1alpha1.SchemaPhaseBlocked, v1alpha1.SchemaPhaseObserving}
		reasons := []v1alpha1.ConditionReason{v1alpha1.ReasonInSync, v1alpha1.ReasonAwaitingApproval, v1alpha1.ReasonProtectedTable}
		s := schema(rapid.SampledFrom(phases).Draw(t, "phase"), plan, digestOf("a"), appliedPlan("p", "a"),
			readyOf(3, rapid.SampledFrom([]metav1.ConditionStatus{"True", "False"}).Draw(t, "ready"), rapid.SampledFrom(reasons).Draw(t, "reason")))
		s.Generation = rapid.Int64Range(4, 9).Draw(t, "generation")
		goal := rapid.SampledFrom([]waiting.Goal{waiting.GoalInSync, waiting.GoalAwaitingApproval, waiting.GoalApplied}).Draw(t, "goal")
		assert.Equal(t, waiting.Underway, waiting.SchemaDistance(s, waiting.Wish{Goal: goal}).Progress)
	})
}

func TestMigrationDistance(t *testing.T) {
	migration := func(phase v1alpha1.MigrationPhase, edits ...func(*v1alpha1.PtahMigration)) *v1alpha1.PtahMigration {
		m := &v1alpha1.PtahMigration{}
		m.Generation, m.Status.ObservedGeneration, m.Status.Phase = 1, 1, phase
		for _, edit := range edits {
			edit(m)
		}
		return m
	}
	matched := func(m *v1alpha1.PtahMigration) {
		m.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "HistoryMatched", ObservedGeneration: 1}}
	}
	unresolved := func(m *v1alpha1.PtahMigration) {
		m.Status.UnresolvedRun = &v1alpha1.UnresolvedRun{Outcome: v1alpha1.RunPartial}
	}
	for name, c := range map[string]struct {
		migration *v1alpha1.PtahMigration
		wish      waiting.Wish
		want      waiting.Progress
	}{
		"matched":              {migration(v1alpha1.MigrationPhaseInSync, matched), waiting.Wish{Goal: "insync"}, waiting.Reached},
		"applied":              {migration(v1alpha1.MigrationPhaseInSync, matched), waiting.Wish{Goal: "applied"}, waiting.Reached},
		"edited":               {migration(v1alpha1.MigrationPhaseInSync, matched, func(m *v1alpha1.PtahMigration) { m.Generation = 2 }), waiting.Wish{Goal: "insync"}, waiting.Underway},
		"another artifact":     {migration(v1alpha1.MigrationPhaseInSync, matched), waiting.Wish{Goal: "insync", Digest: "new"}, waiting.Underway},
		"a run to account for": {migration(v1alpha1.MigrationPhaseBlocked, unresolved), waiting.Wish{Goal: "insync"}, waiting.NeedsRepair},
		"awaiting":             {migration(v1alpha1.MigrationPhaseAwaitingApproval, func(m *v1alpha1.PtahMigration) { m.Status.Plan = &v1alpha1.ObjectRef{Name: "p"} }), waiting.Wish{Goal: "awaiting-approval"}, waiting.Reached},
		"reading":              {migration(v1alpha1.MigrationPhaseReading), waiting.Wish{Goal: "insync"}, waiting.Underway},
		"suspended":            {migration(v1alpha1.MigrationPhaseSuspended, func(m *v1alpha1.PtahMigration) { m.Spec.Suspend = true }), waiting.Wish{Goal: "suspended"}, waiting.Reached},
		"suspended, not seen":  {migration(v1alpha1.MigrationPhaseInSync, func(m *v1alpha1.PtahMigration) { m.Spec.Suspend = true; m.Generation = 2 }), waiting.Wish{Goal: "suspended"}, waiting.Underway},
		"idle":                 {migration(v1alpha1.MigrationPhaseBlocked), waiting.Wish{Goal: "idle"}, waiting.Reached},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, waiting.MigrationDistance(c.migration, c.wish).Progress) })
	}
}

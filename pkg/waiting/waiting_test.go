package waiting_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/waiting"
)

func schema(phase v1alpha1.SchemaPhase, edits ...func(*v1alpha1.PtahSchema)) *v1alpha1.PtahSchema {
	s := &v1alpha1.PtahSchema{}
	s.Generation = 3
	s.Spec.Target.Engine = "PostgreSQL"
	s.Status.ObservedGeneration = 3
	s.Status.Phase = phase
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func ready(status metav1.ConditionStatus, reason v1alpha1.ConditionReason) func(*v1alpha1.PtahSchema) {
	return with(v1alpha1.ConditionReady, status, reason)
}

func with(kind v1alpha1.ConditionType, status metav1.ConditionStatus, reason v1alpha1.ConditionReason) func(*v1alpha1.PtahSchema) {
	return func(s *v1alpha1.PtahSchema) {
		s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: string(kind), Status: status, Reason: string(reason)})
	}
}

func operation(kind v1alpha1.SchemaOperationType, attempt int32, dispatched bool) func(*v1alpha1.PtahSchema) {
	return func(s *v1alpha1.PtahSchema) {
		s.Status.ActiveOperation = &v1alpha1.SchemaOperation{Type: kind, Attempt: attempt, JobName: "job", DispatchStarted: dispatched}
	}
}

func failed(message string) func(*v1alpha1.PtahSchema) {
	return func(s *v1alpha1.PtahSchema) {
		s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{
			Type: string(v1alpha1.ConditionReconciliationFailed), Status: "True", Reason: string(v1alpha1.ReasonOperationFailed), Message: message,
		})
	}
}

func plan(s *v1alpha1.PtahSchema) { s.Status.Plan = &v1alpha1.SchemaPlanRecord{Name: "ptah-plan-1"} }

func TestSchema(t *testing.T) {
	deleted := metav1.NewTime(time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC))
	for name, c := range map[string]struct {
		schema *v1alpha1.PtahSchema
		party  waiting.Party
		text   string
	}{
		"never seen": {
			schema("", func(s *v1alpha1.PtahSchema) { s.Status = v1alpha1.PtahSchemaStatus{} }), waiting.Ptah, "the manager, to look at it for the first time",
		},
		"edited": {
			schema(v1alpha1.SchemaPhaseInSync, ready("True", v1alpha1.ReasonInSync), func(s *v1alpha1.PtahSchema) { s.Generation = 4 }),
			waiting.Ptah, "the manager, to take up generation 4",
		},
		"in sync":              {schema(v1alpha1.SchemaPhaseInSync, ready("True", v1alpha1.ReasonInSync)), waiting.Nobody, ""},
		"in sync, refreshing":  {schema(v1alpha1.SchemaPhaseResolving, ready("True", v1alpha1.ReasonInSync), operation("Resolve", 1, true)), waiting.Nobody, ""},
		"reading":              {schema(v1alpha1.SchemaPhaseObserving, ready("False", v1alpha1.ReasonOperationInProgress), operation("Observe", 1, true)), waiting.Ptah, "the Observe Job job (attempt 1)"},
		"claimed":              {schema(v1alpha1.SchemaPhaseObserving, ready("False", v1alpha1.ReasonOperationInProgress), operation("Observe", 1, false)), waiting.Ptah, "the start of Observe (attempt 1)"},
		"lock for planning":    {schema(v1alpha1.SchemaPhasePlanning, ready("False", v1alpha1.ReasonOperationInProgress), operation("Plan", 1, false)), waiting.Ptah, "the database lock, to plan"},
		"lock for applying":    {schema(v1alpha1.SchemaPhaseApplying, ready("False", v1alpha1.ReasonOperationInProgress), operation("Apply", 1, false)), waiting.Ptah, "the database lock, to start the Apply"},
		"awaiting approval":    {schema(v1alpha1.SchemaPhaseAwaitingApproval, ready("False", v1alpha1.ReasonAwaitingApproval), plan), waiting.Approver, "approval of ptah-plan-1"},
		"ready to apply":       {schema(v1alpha1.SchemaPhaseReadyToApply, ready("False", v1alpha1.ReasonApplyPending), plan), waiting.Ptah, "the Apply of a plan that may run"},
		"apply never":          {schema(v1alpha1.SchemaPhaseBlocked, ready("False", v1alpha1.ReasonApplyDisabled), plan), waiting.Author, "a person: policy.apply is Never"},
		"destructive":          {schema(v1alpha1.SchemaPhaseBlocked, ready("False", v1alpha1.ReasonPolicyBlocked), plan), waiting.Author, "a person: the plan is destructive and policy.allowDestructive is false"},
		"protected":            {schema(v1alpha1.SchemaPhaseBlocked, ready("False", v1alpha1.ReasonProtectedTable)), waiting.Author, "a person: the plan would change a protected table"},
		"blocked, and reading": {schema(v1alpha1.SchemaPhaseBlocked, ready("False", v1alpha1.ReasonProtectedTable), operation("Observe", 1, true)), waiting.Author, "a person: the plan would change a protected table"},
		"contested":            {schema(v1alpha1.SchemaPhaseBlocked, ready("False", v1alpha1.ReasonRealmConflict)), waiting.Author, "a person: other resources claim this database, and not all declare sharedRealm"},
		"artifact refused":     {schema(v1alpha1.SchemaPhaseBlocked, ready("False", v1alpha1.ReasonPolicyRefused)), waiting.Author, "an artifact that the verification policy accepts"},
		"unsupported engine":   {schema(v1alpha1.SchemaPhaseBlocked, ready("False", v1alpha1.ReasonUnsupportedEngine), func(s *v1alpha1.PtahSchema) { s.Spec.Target.Engine = "Oracle" }), waiting.Author, `a person: engine "Oracle" is not supported`},
		"suspended":            {schema(v1alpha1.SchemaPhaseSuspended, ready("False", v1alpha1.ReasonSuspended), func(s *v1alpha1.PtahSchema) { s.Spec.Suspend = true }), waiting.Author, "a person: suspended (spec.suspend)"},
		"failed":               {schema(v1alpha1.SchemaPhaseFailed, ready("False", v1alpha1.ReasonOperationFailed), with("ReconciliationFailed", "True", v1alpha1.ReasonOperationFailed)), waiting.Ptah, "another try after a failure"},
		"failed, and trying":   {schema(v1alpha1.SchemaPhaseFailed, ready("False", v1alpha1.ReasonOperationFailed), with("ReconciliationFailed", "True", v1alpha1.ReasonOperationFailed), operation("Resolve", 4, false)), waiting.Ptah, "another try of Resolve (attempt 4) after a failure"},
		"failed, and running": {
			schema(v1alpha1.SchemaPhaseObserving, ready("False", v1alpha1.ReasonOperationFailed), failed("DatabaseUnreachable: no connection within 10s"), operation("Observe", 4, true)),
			waiting.Ptah, "the Observe Job job (attempt 4), after a failure: DatabaseUnreachable",
		},
		"failed, with a code": {schema(v1alpha1.SchemaPhaseFailed, failed("RegistryUnauthorized: HTTP 401: again: and again")), waiting.Ptah, "another try after a failure: RegistryUnauthorized"},
		"claimed, and cannot run": {
			schema(v1alpha1.SchemaPhaseObserving, with("ReconciliationFailed", "True", v1alpha1.ReasonConfigurationError), operation("Observe", 1, true)),
			waiting.Author, "a person: Observe cannot run",
		},
		"misconfigured":         {schema(v1alpha1.SchemaPhaseFailed, with("ReconciliationFailed", "True", v1alpha1.ReasonConfigurationError)), waiting.Author, "a person: the configuration is wrong"},
		"applying outranks all": {schema(v1alpha1.SchemaPhaseSuspended, func(s *v1alpha1.PtahSchema) { s.Spec.Suspend = true; s.DeletionTimestamp = &deleted }, operation("Apply", 1, true)), waiting.Ptah, "the Apply Job job (attempt 1)"},
		"proof outranks deletion": {schema(v1alpha1.SchemaPhaseVerifyingConvergence, func(s *v1alpha1.PtahSchema) {
			s.DeletionTimestamp = &deleted
			pending(s, v1alpha1.OutcomeApplySucceeded)
		}), waiting.Ptah, "its finalizer: deletion is under way, and ends once no Pod of the Apply can write"},
		"proof under way":             {schema(v1alpha1.SchemaPhaseVerifyingConvergence, func(s *v1alpha1.PtahSchema) { pending(s, v1alpha1.OutcomeApplySucceeded) }), waiting.Ptah, "a fresh reading that proves the Apply"},
		"suspension holds a proof":    {schema(v1alpha1.SchemaPhaseVerifyingConvergence, suspend, func(s *v1alpha1.PtahSchema) { pending(s, v1alpha1.OutcomeApplySucceeded) }), waiting.Author, "a person: suspended (spec.suspend); the reading that proves the Apply waits until it is resumed"},
		"suspension holds the answer": {schema(v1alpha1.SchemaPhaseVerifyingConvergence, suspend, func(s *v1alpha1.PtahSchema) { pending(s, v1alpha1.OutcomeUnknown) }), waiting.Author, "a person: suspended (spec.suspend); the outcome of the Apply stays unknown until it is resumed"},
		"a proof that runs goes on":   {schema(v1alpha1.SchemaPhaseObserving, suspend, operation("Observe", 1, true), func(s *v1alpha1.PtahSchema) { pending(s, v1alpha1.OutcomeApplySucceeded) }), waiting.Ptah, "a fresh reading that proves the Apply"},
		"unknown outcome":             {schema(v1alpha1.SchemaPhaseVerifyingConvergence, func(s *v1alpha1.PtahSchema) { pending(s, v1alpha1.OutcomeUnknown) }), waiting.Ptah, "a fresh reading: the outcome of the Apply is unknown"},
		"deleting":                    {schema(v1alpha1.SchemaPhaseInSync, ready("True", v1alpha1.ReasonInSync), func(s *v1alpha1.PtahSchema) { s.DeletionTimestamp = &deleted }), waiting.Ptah, "its finalizer: deletion is under way"},
		"a newer manager's reason":    {schema("Dreaming", ready("False", "Nightmare")), waiting.Ptah, "what condition Ready says: Nightmare"},
		"a newer manager, ready":      {schema("Dreaming", ready("True", "Bliss")), waiting.Nobody, ""},
	} {
		t.Run(name, func(t *testing.T) {
			answer := waiting.Schema(c.schema)
			assert.Equal(t, c.party, answer.Party)
			assert.Equal(t, c.text, answer.Text)
			assert.Equal(t, c.party == waiting.Nobody, answer.Text == "", "only nobody waits for nothing")
			assert.Equal(t, c.party == waiting.Approver, waiting.SchemaApproval(c.schema))
		})
	}
}

func pending(s *v1alpha1.PtahSchema, outcome v1alpha1.ObservationOutcome) {
	s.Status.PendingObservation = &v1alpha1.PendingObservation{Outcome: outcome}
}

func TestMigration(t *testing.T) {
	migration := func(phase v1alpha1.MigrationPhase, edits ...func(*v1alpha1.PtahMigration)) *v1alpha1.PtahMigration {
		m := &v1alpha1.PtahMigration{}
		m.Generation, m.Status.ObservedGeneration, m.Status.Phase = 1, 1, phase
		for _, edit := range edits {
			edit(m)
		}
		return m
	}
	conditions := func(list ...metav1.Condition) func(*v1alpha1.PtahMigration) {
		return func(m *v1alpha1.PtahMigration) { m.Status.Conditions = list }
	}
	unresolved := func(m *v1alpha1.PtahMigration) {
		m.Status.UnresolvedRun = &v1alpha1.UnresolvedRun{Outcome: v1alpha1.RunPartial}
	}
	for name, c := range map[string]struct {
		migration *v1alpha1.PtahMigration
		party     waiting.Party
		text      string
	}{
		"never seen": {migration("", func(m *v1alpha1.PtahMigration) { m.Status = v1alpha1.PtahMigrationStatus{} }), waiting.Ptah, "the manager, to look at it for the first time"},
		"matched":    {migration(v1alpha1.MigrationPhaseInSync, conditions(metav1.Condition{Type: "Ready", Status: "True", Reason: "HistoryMatched"})), waiting.Nobody, ""},
		"unresolved outranks suspension": {
			migration(v1alpha1.MigrationPhaseSuspended, unresolved, func(m *v1alpha1.PtahMigration) { m.Spec.Suspend = true }),
			waiting.Operator, "a person: run Partial, nobody accounted for it",
		},
		"running outranks unresolved": {
			migration(v1alpha1.MigrationPhaseApplying, unresolved, func(m *v1alpha1.PtahMigration) {
				m.Status.ActiveOperation = &v1alpha1.MigrationOperation{Type: v1alpha1.MigrationApply, JobName: "job", Attempt: 1, DispatchStarted: true}
			}),
			waiting.Ptah, "the Apply Job job (attempt 1)",
		},
		"dirty": {
			migration(v1alpha1.MigrationPhaseBlocked, conditions(metav1.Condition{Type: "Blocked", Status: "True", Reason: "HistoryDirty"})),
			waiting.Operator, "a person: an interrupted run's revision row has to be repaired",
		},
		"blocked by what we do not know": {
			migration(v1alpha1.MigrationPhaseBlocked, conditions(metav1.Condition{Type: "Blocked", Status: "True", Reason: "Eclipse"})),
			waiting.Operator, "a person: blocked, Eclipse",
		},
		"awaiting approval": {
			migration(v1alpha1.MigrationPhaseAwaitingApproval, conditions(metav1.Condition{Type: "Ready", Status: "False", Reason: "AwaitingApproval"}), func(m *v1alpha1.PtahMigration) {
				m.Status.Plan = &v1alpha1.ObjectRef{Name: "ptah-mplan-1"}
			}),
			waiting.Approver, "approval of ptah-mplan-1",
		},
		"retrying": {
			migration(v1alpha1.MigrationPhaseReading, func(m *v1alpha1.PtahMigration) {
				m.Status.ActiveOperation = &v1alpha1.MigrationOperation{Type: v1alpha1.MigrationHistory, Attempt: 3, RetryNotBefore: &metav1.Time{}}
			}),
			waiting.Ptah, "another try of History (attempt 3) after a failure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			answer := waiting.Migration(c.migration)
			assert.Equal(t, c.party, answer.Party)
			assert.Equal(t, c.text, answer.Text)
		})
	}
}

// Whatever the status says, there is an answer, and it fits a table.
func FuzzSchema(f *testing.F) {
	f.Add("Blocked", "False", "ProtectedTable", int64(1), true, true, false)
	f.Fuzz(func(t *testing.T, phase, status, reason string, observed int64, claimed, dispatched, suspended bool) {
		s := schema(v1alpha1.SchemaPhase(phase), ready(metav1.ConditionStatus(status), v1alpha1.ConditionReason(reason)))
		s.Status.ObservedGeneration, s.Spec.Suspend = observed, suspended
		if claimed {
			s.Status.ActiveOperation = &v1alpha1.SchemaOperation{Type: v1alpha1.SchemaOperationType(phase), DispatchStarted: dispatched}
		}
		answer := waiting.Schema(s)
		assert.NotEmpty(t, answer.Party)
		assert.Equal(t, answer.Party == waiting.Nobody, answer.Text == "")
	})
}

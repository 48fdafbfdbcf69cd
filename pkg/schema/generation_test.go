package schema_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/schema"
)

// edited is a schema with a whole set of conditions about generation 3, whose spec was edited since.
func edited(change ...func(*v1alpha1.PtahSchema)) *schema.View {
	v := view(append([]func(*v1alpha1.PtahSchema){func(s *v1alpha1.PtahSchema) {
		condition(s, v1alpha1.ConditionEngineSupported, "True", v1alpha1.ReasonSupportedEngine)
		condition(s, v1alpha1.ConditionReconciliationFailed, "False", v1alpha1.ReasonSucceeded)
		condition(s, v1alpha1.ConditionDatabaseReachable, "True", v1alpha1.ReasonObserved)
		condition(s, v1alpha1.ConditionApprovalRequired, "False", v1alpha1.ReasonNotRequired)
		condition(s, v1alpha1.ConditionPlanReady, "False", v1alpha1.ReasonNoChanges)
		condition(s, v1alpha1.ConditionApplying, "False", v1alpha1.ReasonJobCompleted)
		condition(s, v1alpha1.ConditionSuspended, "False", v1alpha1.ReasonActive)
	}}, change...)...)
	for i := range v.Schema.Status.Conditions {
		v.Schema.Status.Conditions[i].ObservedGeneration = 3
	}
	v.Schema.Generation = 4
	return v
}

// older lists the conditions that do not speak about a generation.
func older(st *v1alpha1.PtahSchemaStatus, generation int64) []string {
	var out []string
	for _, c := range st.Conditions {
		if c.ObservedGeneration != generation {
			out = append(out, c.Type)
		}
	}
	return out
}

func record(v *schema.View, d operation.Durable, t operation.Turn) *v1alpha1.PtahSchemaStatus {
	status, _ := v.Record(d, t)
	return status.(*v1alpha1.PtahSchemaStatus)
}

// Automation requires observedGeneration to match the resource's generation: a condition may only carry the one that it was found under. What
// takes the new generation up moves what it decides itself, and leaves the rest to whoever looks again.
func TestConditionsOfAnEditKeepTheirGeneration(t *testing.T) {
	resolve := operation.Claim{Type: intent.Resolve, ID: "op", Attempt: 1, StartedAt: now, JobName: "job", BindingEpoch: "v1-e", Holder: "op"}
	for name, c := range map[string]struct {
		turn operation.Turn
		old  []string
	}{
		"taken up by Resolve": {
			operation.Turn{Kind: operation.TurnClaimed, Claim: resolve}, []string{"ArtifactVerified", "ReconciliationFailed", "DatabaseReachable", "PlanReady"},
		},
		"suspended": {operation.Turn{Kind: operation.TurnSuspended}, []string{
			"ArtifactResolved", "ArtifactVerified", "DriftDetected", "InSync", "EngineSupported", "ReconciliationFailed", "DatabaseReachable", "PlanReady",
		}},
		"contested": {operation.Turn{Kind: operation.TurnContested, Census: operation.Census{Contested: true, Claimants: 2, Undeclared: 1}}, []string{
			"ArtifactResolved", "ArtifactVerified", "DriftDetected", "ReconciliationFailed", "DatabaseReachable", "PlanReady",
		}},
		"unsupported": {operation.Turn{Kind: operation.TurnUnsupported, Detail: "no"}, []string{"ArtifactResolved", "ArtifactVerified", "ReconciliationFailed"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := edited()
			d := v.Durable()
			if c.turn.Kind == operation.TurnClaimed {
				d.Claim = &resolve
			}
			st := record(v, d, c.turn)
			assert.EqualValues(t, 4, st.ObservedGeneration)
			assert.ElementsMatch(t, c.old, older(st, 4))
		})
	}
}

// What ran under the generation before an edit, and whatever is proven about it afterwards, says nothing about the edit.
func TestWhatRanBeforeAnEditSpeaksOfItsOwnGeneration(t *testing.T) {
	ran := frame.Frame{Apply: &frame.Applied{StatementsExecuted: 1}, MutationStarted: true, TargetIdentityDigest: digestB, CoordinationDigest: schema.Realm(view().Schema)}
	failed := frame.Frame{Error: &frame.Failure{Code: frame.CodeLockTimeout, Message: "m"}, TargetIdentityDigest: digestB}
	for name, answer := range map[string]frame.Frame{"an Apply that ran": ran, "one that did not": failed} {
		t.Run(name, func(t *testing.T) {
			v := edited(planReady)
			v.Schema.Generation = 3
			claimed(v, intent.Apply)
			v.Schema.Generation = 4
			c := v.Durable().Claim
			e := operation.Evidence{Kind: operation.EvidenceFrame, Result: operation.Result{Frame: answer}, Job: operation.Job{Succeeded: answer.Error == nil}, Quiet: true}
			d, j := v.Durable(), v.Judge(*c, e)
			d.Claim = nil
			if j.Outcome == operation.Succeeded {
				d.Proof = &operation.Proof{OperationID: c.ID}
			}
			st := record(v, d, operation.Turn{Kind: operation.TurnConcluded, Claim: *c, Evidence: e, Judged: j})
			assert.EqualValues(t, 3, st.ObservedGeneration)
			assert.Empty(t, older(st, 3))
			if j.Outcome != operation.Succeeded {
				return
			}
			assert.EqualValues(t, 3, st.PendingObservation.ApplyGeneration)
			v.Schema.Status = *st
			proven(t, v)
		})
	}
}

// proven ends a proof that was suspended and resumed meanwhile: the status describes those edits, the proof does not.
func proven(t *testing.T, v *schema.View) {
	t.Helper()
	v.Schema.Status = *record(v, v.Durable(), operation.Turn{Kind: operation.TurnSuspended})
	st := v.Schema.Status
	assert.EqualValues(t, 4, st.ObservedGeneration)
	assert.NotContains(t, older(&st, 4), "Suspended")
	v.Schema.Generation = 5
	c := claimed(v, intent.Plan)
	e := operation.Evidence{Kind: operation.EvidenceFrame, Result: operation.Result{Frame: frame.Frame{TargetIdentityDigest: digestB, Plan: &frame.Planned{NoChange: true}}}}
	d := v.Durable()
	d.Claim, d.Proof = nil, nil
	j := operation.Judgement{Outcome: operation.Succeeded, Proved: true}
	out := record(v, d, operation.Turn{Kind: operation.TurnConcluded, Claim: c, Evidence: e, Judged: j})
	assert.Equal(t, "False/DesiredStateChanged", tuple(out, v1alpha1.ConditionInSync))
	assert.ElementsMatch(t, []string{"Applying", "Suspended"}, older(out, 3), "as of the suspension")
	assert.NotNil(t, out.Applied, "of the generation that it ran under")
}

func planReady(s *v1alpha1.PtahSchema) {
	s.Status.Plan = &v1alpha1.SchemaPlanRecord{Name: "ptah-plan-1", UID: "plan"}
	s.Status.Plan.TargetIdentityDigest = digestB
}

// At rest every condition speaks about the present generation, whatever the rest is.
func TestConditionsAtRestSpeakOfThePresentGeneration(t *testing.T) {
	const safe = "ALTER TABLE public.orders ADD COLUMN note text"
	for name, c := range map[string]struct {
		policy v1alpha1.SchemaPolicy
		phase  v1alpha1.SchemaPhase
	}{
		"in sync":           {v1alpha1.SchemaPolicy{}, v1alpha1.SchemaPhaseInSync},
		"awaiting approval": {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyOnApproval}, v1alpha1.SchemaPhaseAwaitingApproval},
		"ready to apply":    {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyAlways}, v1alpha1.SchemaPhaseReadyToApply},
		"blocked":           {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyNever}, v1alpha1.SchemaPhaseBlocked},
		"fenced":            {v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyAlways, ProtectedTables: []string{"orders"}}, v1alpha1.SchemaPhaseBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			v := edited(func(s *v1alpha1.PtahSchema) { s.Spec.Policy = c.policy })
			next := frame.Frame{TargetIdentityDigest: digestB, Plan: &frame.Planned{NoChange: true}}
			if name != "in sync" {
				next = planned(t, safe, plan.SeveritySafe)
			}
			v.Published = &v1alpha1.PtahSchemaPlan{ObjectMeta: metav1.ObjectMeta{Name: "ptah-plan-1", UID: "plan"}}
			for _, step := range []struct {
				operation intent.Operation
				answer    frame.Frame
			}{
				{intent.Resolve, resolved(digestA)},
				{intent.Verify, frame.Frame{Verify: &frame.Verified{PolicyDigest: digestA}}},
				{intent.Observe, frame.Frame{TargetIdentityDigest: digestB, Observe: &frame.Observed{Dialect: "postgres", ReportDigest: digestA}}},
				{intent.Plan, next},
			} {
				v.Schema.Status = *conclude(t, v, step.operation, step.answer)
			}
			st := &v.Schema.Status
			assert.Equal(t, c.phase, st.Phase)
			assert.EqualValues(t, 4, st.ObservedGeneration)
			assert.Empty(t, older(st, 4))
		})
	}
}

// The next look after an Apply is the one that proves it. A time of before the Apply would have a table call a proof late that may not begin yet.
func TestNextLookAfterAnApplyIsTheProof(t *testing.T) {
	for name, c := range map[string]struct{ after, want time.Time }{
		"at once":                     {time.Time{}, now},
		"once no Pod can write":       {now.Add(3 * time.Minute), now.Add(3 * time.Minute)},
		"no Pod can write long since": {now.Add(-time.Minute), now},
	} {
		t.Run(name, func(t *testing.T) {
			v := edited(func(s *v1alpha1.PtahSchema) {
				s.Status.Plan = &v1alpha1.SchemaPlanRecord{Name: "p"}
				old := metav1.NewTime(now.Add(-time.Hour))
				s.Status.NextReconciliationTime = &old
			})
			claimed(v, intent.Apply)
			claim := *v.Durable().Claim
			e := operation.Evidence{Kind: operation.EvidenceJobGone, Quiet: true}
			d := v.Durable()
			d.Claim, d.Proof = nil, &operation.Proof{OperationID: claim.ID, ObserveAfter: c.after}
			st := record(v, d, operation.Turn{Kind: operation.TurnConcluded, Claim: claim, Evidence: e, Judged: v.Judge(claim, e)})
			assert.Equal(t, c.want, st.NextReconciliationTime.Time)
		})
	}
}

package schema

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/binding"
	"github.com/ptah-run/ptah/pkg/operation"
)

// writer makes the next status of one turn: a copy of the stored one, changed in one go.
type writer struct {
	view   *View
	status *v1alpha1.PtahSchemaStatus
	was    *v1alpha1.PtahSchemaStatus
	turn   operation.Turn
	notes  []operation.Note
	about  int64 // the generation that the turn speaks about
}

// Record writes the lifecycle's facts and everything that the turn stands for into one new status.
func (v *View) Record(d operation.Durable, t operation.Turn) (operation.Status, []operation.Note) {
	w := &writer{view: v, was: &v.Schema.Status, status: v.Schema.Status.DeepCopy(), turn: t, about: v.about()}
	switch t.Kind {
	case operation.TurnBound:
		w.bound(d)
	case operation.TurnClaimed:
		w.claimed(t.Claim)
	case operation.TurnSeen:
		w.seen()
	case operation.TurnInterrupted:
		w.note(v1alpha1.EventLeaseContinuityLost, true, t.Claim.JobName+": the database Lease was not continuous; its result will not be used")
	case operation.TurnTrouble:
		w.trouble(t.Detail)
	case operation.TurnConcluded:
		w.concluded(d)
	case operation.TurnDropped:
		w.dropped()
	case operation.TurnRevoked:
		w.revoked(t.Detail)
	case operation.TurnRestarted:
		w.note(v1alpha1.EventLeaseContinuityLost, true, "the database Lease was not continuous; the proof after the Apply begins again")
		w.set(v1alpha1.ConditionInSync, isUnknown, v1alpha1.ReasonProofInputsChanged, "the proof after the Apply begins again")
	case operation.TurnSuspended:
		w.suspended(d)
	case operation.TurnUnsupported:
		w.unsupported(t.Detail)
	case operation.TurnContested:
		w.contested(t.Census)
	case operation.TurnEvidence:
		w.evidence(t)
	}
	w.durable(d)
	return w.status, w.notes
}

// durable writes the lifecycle's facts. Fields of a claim or record that the lifecycle does not know stay as they are.
func (w *writer) durable(d operation.Durable) {
	st := w.status
	switch {
	case d.Claim == nil:
		st.ActiveOperation = nil
	case st.ActiveOperation == nil || st.ActiveOperation.ID != d.Claim.ID:
		st.ActiveOperation = w.view.operationOf(*d.Claim)
	default:
		merge(st.ActiveOperation, *d.Claim)
	}
	if d.Claim != nil && d.Claim.Snapshot != "" {
		if snap, ok := w.turn.Judged.Detail.(v1alpha1.AdmissionSnapshot); ok {
			st.ActiveOperation.AdmissionSnapshot = &snap
		}
	}
	switch p := d.Proof; {
	case p == nil:
		st.PendingObservation = nil
	case st.PendingObservation == nil || st.PendingObservation.ApplyOperationID != p.OperationID:
		st.PendingObservation = w.proofOf(*p)
		st.NextReconciliationTime = later(slices.MaxFunc([]time.Time{w.view.Now, p.ObserveAfter}, time.Time.Compare))
	default:
		st.PendingObservation.LeaseEpoch, st.PendingObservation.PlanRequired = p.LeaseEpoch, p.PlanRequired
	}
	st.PendingLockRelease = nil
	if r := d.Owed; r != nil {
		st.PendingLockRelease = &v1alpha1.LockRelease{
			CoordinationDigest: r.Realm, OperationID: r.OperationID, LeaseEpoch: r.Epoch, LeaseDurationSeconds: r.Seconds,
		}
	}
}

// about is the generation that a turn speaks about: that of the Apply which a proof is owed for, or the one that was accepted last. What an
// operation found says nothing about a spec that was edited while it ran.
func (v *View) about() int64 {
	switch st := &v.Schema.Status; {
	case st.PendingObservation != nil && st.PendingObservation.ApplyGeneration != 0:
		return st.PendingObservation.ApplyGeneration
	case st.ObservedGeneration != 0:
		return st.ObservedGeneration
	}
	return v.Schema.Generation
}

func (w *writer) note(reason v1alpha1.EventReason, warning bool, message string) {
	w.notes = append(w.notes, operation.Note{Event: reason, Warning: warning, Message: clip(message, operation.MaxMessage)})
}

func (w *writer) count(m operation.Metric) {
	w.notes = append(w.notes, operation.Note{Metric: m})
}

func (w *writer) next(after time.Duration) {
	w.status.NextReconciliationTime = later(w.view.Now.Add(after))
}

// bound starts a new epoch: evidence of the old one is history.
func (w *writer) bound(d operation.Durable) {
	st := w.status
	changes := binding.Changes(st.ExecutionBinding, w.view.Identity)
	next, _ := binding.Next(st.ExecutionBinding, w.view.Identity, d.Epoch)
	first := st.ExecutionBinding == nil
	st.ExecutionBinding = &next
	if first {
		st.Phase = v1alpha1.SchemaPhasePending
		w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonOperationInProgress, "not looked at yet")
		return
	}
	w.note(v1alpha1.EventExecutionBindingChanged, true, "the execution binding changed ("+strings.Join(changes, ", ")+"); plans and approvals of the old one are retired")
	if d.Proof != nil {
		return // the proof goes on under the new binding; nothing else is current while it stands
	}
	const message = "the execution binding changed; the chain starts again"
	st.Phase = v1alpha1.SchemaPhasePending
	st.Plan = nil
	if st.Source != nil {
		st.Source.Verified = false
	}
	for _, c := range []v1alpha1.ConditionType{
		v1alpha1.ConditionArtifactResolved, v1alpha1.ConditionDatabaseReachable, v1alpha1.ConditionDriftDetected, v1alpha1.ConditionInSync,
	} {
		w.set(c, isUnknown, v1alpha1.ReasonExecutionBindingChanged, message)
	}
	w.set(v1alpha1.ConditionArtifactVerified, isFalse, v1alpha1.ReasonPending, message)
	w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonStale, message)
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonNotRequired, message)
	w.set(v1alpha1.ConditionApplying, isFalse, v1alpha1.ReasonExecutionBindingChanged, message)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonOperationInProgress, message)
	w.next(0)
}

// seen is an operation whose Job is known to exist.
func (w *writer) seen() {
	c := w.turn.Claim
	if w.was.PendingObservation == nil {
		w.status.Phase = phases[c.Type] // a retry was reserved under Failed
	}
	w.note(v1alpha1.EventOperationStarted, false, fmt.Sprintf("%s started as Job %s", c.Type, c.JobName))
	if c.Mutating {
		w.count(operation.Metric{Kind: operation.MetricApply, Outcome: "started"})
	}
}

// trouble says what keeps a claimed operation from running, or takes that back.
func (w *writer) trouble(text string) {
	c := w.turn.Claim
	if text == "" {
		w.set(v1alpha1.ConditionReconciliationFailed, isFalse, v1alpha1.ReasonSucceeded, "")
		w.readyText(fmt.Sprintf("%s is running", c.Type))
		return
	}
	message := troubleText(c, text)
	w.set(v1alpha1.ConditionReconciliationFailed, isTrue, v1alpha1.ReasonConfigurationError, message)
	w.readyText(message)
	w.note(v1alpha1.EventOperationFailed, true, message)
	w.count(operation.Metric{Kind: operation.MetricFailure, Operation: stage(c), Category: "configuration"})
}

func troubleText(c operation.Claim, text string) string {
	return fmt.Sprintf("%s waits: %s", c.Type, text)
}

// readyText changes what Ready says, where it is not True, and leaves its reason.
func (w *writer) readyText(message string) {
	for i := range w.status.Conditions {
		if x := &w.status.Conditions[i]; x.Type == string(v1alpha1.ConditionReady) && x.Status != isTrue {
			x.Message = clip(message, maxConditionMessage)
		}
	}
}

// dropped is a claim that was given up before it changed anything.
func (w *writer) dropped() {
	w.count(operation.Metric{Kind: operation.MetricFailure, Operation: stage(w.turn.Claim), Category: "stale-input"})
	if w.turn.Evidence.Kind == operation.EvidenceInterrupted {
		w.note(v1alpha1.EventLeaseContinuityLost, true, fmt.Sprintf("%s: the database Lease was not continuous; its result is discarded", w.turn.Claim.Type))
		if w.was.PendingObservation == nil {
			w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonLeaseContinuityLost, "the database Lease was not continuous while planning")
		}
	}
	if w.turn.Claim.Mutating {
		w.unApply("the Apply was given up before it was dispatched: " + w.turn.Detail)
	}
}

// unApply takes back what the claim of an Apply had said.
func (w *writer) unApply(message string) {
	w.set(v1alpha1.ConditionApplying, isFalse, v1alpha1.ReasonApprovalRevoked, message)
	if w.status.Plan != nil {
		w.status.Plan.Approval = nil
	}
	w.restart(message)
}

// revoked is an Apply whose authorization ended before its Job was made: nothing ran, and the chain starts again.
func (w *writer) revoked(why string) {
	w.note(v1alpha1.EventApprovalRevoked, true, "the Apply was not started: "+why)
	w.count(operation.Metric{Kind: operation.MetricApply, Outcome: "stale"})
	w.count(operation.Metric{Kind: operation.MetricFailure, Operation: "apply", Category: "stale-input"})
	if why == policyMoved {
		w.policyInvalidated()
	}
	w.unApply("the Apply was not started: " + why)
}

// restart makes the chain begin at Resolve in the next pass. The plan stays recorded, but it is not current until it was made again.
func (w *writer) restart(message string) {
	st := w.status
	st.Phase = v1alpha1.SchemaPhasePending
	if st.Source != nil {
		st.Source.Verified = false
		w.set(v1alpha1.ConditionArtifactResolved, isUnknown, v1alpha1.ReasonRefreshing, message)
	}
	w.set(v1alpha1.ConditionDriftDetected, isUnknown, v1alpha1.ReasonStaleObservation, message)
	w.set(v1alpha1.ConditionInSync, isUnknown, v1alpha1.ReasonSourceRefreshPending, message)
	if st.Plan != nil {
		w.set(v1alpha1.ConditionPlanReady, isUnknown, v1alpha1.ReasonSourceRefreshPending, message)
	}
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonNotRequired, message)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonStalePlan, message)
	w.next(0)
}

func (w *writer) policyInvalidated() {
	w.note(v1alpha1.EventVerificationPolicyInvalidated, true, policyMoved)
	if w.status.Source != nil {
		w.status.Source.Verified = false
	}
	w.set(v1alpha1.ConditionArtifactVerified, isFalse, v1alpha1.ReasonPolicyChanged, policyMoved)
	w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonPolicyChanged, policyMoved)
}

// evidence writes a verdict on stored evidence.
func (w *writer) evidence(t operation.Turn) {
	switch detail := t.Judged.Detail.(type) {
	case v1alpha1.ApprovalRecord:
		w.status.Plan.Approval = detail.DeepCopy()
		w.approved()
	case evidenceVerdict:
		w.verdict(detail, t.Detail)
	}
}

func (w *writer) verdict(kind evidenceVerdict, why string) {
	switch kind {
	case verdictPolicyUnusable:
		w.status.Phase = v1alpha1.SchemaPhaseFailed
		w.set(v1alpha1.ConditionReconciliationFailed, isTrue, v1alpha1.ReasonConfigurationError, why)
		w.set(v1alpha1.ConditionArtifactVerified, isFalse, v1alpha1.ReasonPending, why)
		w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonConfigurationError, why)
		if !says(w.was, v1alpha1.ConditionReconciliationFailed, v1alpha1.ReasonConfigurationError, why) {
			w.note(v1alpha1.EventOperationFailed, true, why)
			w.count(operation.Metric{Kind: operation.MetricFailure, Operation: "verify", Category: "configuration"})
		}
		w.next(w.view.retryInterval())
	case verdictPlanUnusable:
		if why == policyMoved {
			w.policyInvalidated()
		} else {
			w.note(v1alpha1.EventPlanStale, true, why)
		}
		w.count(operation.Metric{Kind: operation.MetricFailure, Operation: "apply", Category: "stale-input"})
		w.status.Plan = nil
		w.restart(why)
		w.set(v1alpha1.ConditionPlanReady, isFalse, v1alpha1.ReasonStale, why)
	case verdictRevoked:
		w.note(v1alpha1.EventApprovalRevoked, true, why)
		w.status.Plan.Approval = nil
		w.offered(why)
	}
}

// approved is a plan whose approval is recorded.
func (w *writer) approved() {
	w.status.Phase = v1alpha1.SchemaPhaseReadyToApply
	w.set(v1alpha1.ConditionApprovalRequired, isFalse, v1alpha1.ReasonSatisfied, "approved by "+w.status.Plan.Approval.Approver.Username)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonApplyPending, "the approved plan is about to be applied")
}

// offered is a plan that waits for a person.
func (w *writer) offered(why string) {
	message := "plan " + w.status.Plan.Name + " needs an approval"
	if why != "" {
		message += ": " + why
	}
	w.status.Phase = v1alpha1.SchemaPhaseAwaitingApproval
	w.set(v1alpha1.ConditionApprovalRequired, isTrue, v1alpha1.ReasonWaiting, message)
	w.set(v1alpha1.ConditionReady, isFalse, v1alpha1.ReasonAwaitingApproval, message)
}

// proofOf keeps everything that the reading after an Apply needs, from the claim that ends in the same patch.
func (w *writer) proofOf(p operation.Proof) *v1alpha1.PendingObservation {
	op := w.was.ActiveOperation
	out := &v1alpha1.PendingObservation{
		Outcome:          v1alpha1.OutcomeUnknown,
		ApplyOperationID: p.OperationID, ApplyGeneration: w.view.Schema.Generation,
		ApplyJobName: p.JobName, ApplyJobUID: uid(p.JobUID),
		CoordinationDigest: p.Realm, LeaseEpoch: p.LeaseEpoch, LeaseDurationSeconds: p.LeaseSeconds,
		ObserveAfter: later(p.ObserveAfter),
	}
	if w.was.ObservedGeneration != 0 {
		out.ApplyGeneration = w.was.ObservedGeneration
	}
	if w.turn.Judged.Outcome == operation.Succeeded {
		out.Outcome = v1alpha1.OutcomeApplySucceeded
	}
	if w.was.Plan != nil {
		out.Plan = *w.was.Plan.DeepCopy()
	}
	for _, pod := range w.turn.Evidence.Pods {
		out.ApplyPodCount++
		if len(out.ApplyPodUIDs) < maxPodUIDs {
			out.ApplyPodUIDs = append(out.ApplyPodUIDs, types.UID(pod.UID))
		}
	}
	if op != nil {
		if op.Source != nil {
			out.Source = *op.Source.DeepCopy()
		}
		if op.Target != nil {
			out.Target = *op.Target.DeepCopy()
		}
		out.Dev, out.Exclude, out.ProtectedTables = op.ObservationDev.DeepCopy(), clone(op.ObservationExclude), clone(op.ObservationProtectedTables)
		out.DriftSeverity, out.LockTimeout, out.ConnectTimeout = op.ObservationSeverity, op.ObservationLockTimeout, op.ObservationConnectTimeout
		out.AdmissionSnapshot = op.AdmissionSnapshot.DeepCopy()
	}
	return out
}

// maxPodUIDs bounds the Pod evidence of an Apply.
const maxPodUIDs = 8

func uid(s string) types.UID { return types.UID(s) }

// stage is the metric label of an operation.
func stage(c operation.Claim) string { return lowerFirst(string(c.Type)) }

// accept makes the present generation the one that the status describes. Conditions that were found under another one keep it until
// somebody looks again.
func (w *writer) accept() {
	w.about = w.view.Schema.Generation
	w.status.ObservedGeneration = w.about
	for i := range w.status.Conditions {
		// That nothing is applied is as true of the present generation as it was before.
		if c := &w.status.Conditions[i]; c.Type == string(v1alpha1.ConditionApplying) && c.Status == isFalse {
			c.ObservedGeneration = w.about
		}
	}
}

// demand is what the policy asks of the recorded plan.
func (w *writer) demand() approval.Demand {
	return approval.Required(w.view.Schema.Spec.Policy, w.status.Plan.Destructive)
}

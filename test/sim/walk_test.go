package sim

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/operation"
)

// fate is what becomes of one call.
type fate int

const (
	succeeds fate = iota
	failsBefore
	replyLost // it took effect and nobody heard
	dies      // it took effect and the manager died
)

// pass is one reconcile pass of a manager: gather, decide, perform one step with the given fate.
func (w *world) pass(b *brain, what fate) operation.Step { return w.passOn(b, what, false) }

func (w *world) passOn(b *brain, what fate, stale bool) operation.Step {
	s, step := w.decide(b, stale)
	w.trace = append(w.trace, fmt.Sprintf("%s %T %s fate=%d stale=%v phase=%s", w.now.Format("15:04:05"), step, reasonOf(step), what, stale, s.Status.Phase))
	if _, waiting := step.(operation.Wait); waiting {
		w.waits++
		return step
	}
	if c, creating := step.(operation.CreateJob); creating {
		b.permit = ""
		w.checkCreate(s, c)
	}
	if what == failsBefore {
		if _, creating := step.(operation.CreateJob); creating {
			w.creates[step.(operation.CreateJob).Claim.ID]++
		}
		return step
	}
	ok := w.perform(b, s, step)
	switch x := step.(type) {
	case operation.PublishPlan:
		w.publish(b, s, x)
	case operation.ReadResult:
		w.result(b, x)
	case operation.PatchStatus:
		if ok && what == succeeds && x.Permit != "" {
			b.permit = x.Permit
		}
	}
	if what == dies {
		*b = brain{}
	}
	return step
}

func reasonOf(step operation.Step) string {
	switch x := step.(type) {
	case operation.PatchStatus:
		return x.Reason
	case operation.Wait:
		return x.Reason
	case operation.MarkApproval:
		return x.Mark.Verdict.Outcome.String()
	}
	return ""
}

// fail carries the trace, so that a counterexample can be read.
type failure struct{ text string }

func (w *world) violated(format string, args ...any) {
	panic(failure{fmt.Sprintf(format, args...) + "\n" + strings.Join(w.trace, "\n")})
}

// checkCreate is I1 and I2, and I5: one create for one claim, under everything that it needs, on one approval.
func (w *world) checkCreate(s *v1alpha1.PtahSchema, c operation.CreateJob) {
	live := w.schema
	if live.Spec.Suspend || live.DeletionTimestamp != nil || live.Status.ExecutionBinding.ExecutionIdentity != w.identity {
		if c.Claim.Mutating {
			w.violated("I2: create for a resource that is suspended, deleted or under another binding")
		}
	}
	if !c.Claim.Mutating {
		if running := w.writing(); running != "" && live.Status.PendingObservation != nil {
			w.violated("a proof begins while the Apply %s may write", running)
		}
		return
	}
	if w.creates[c.Claim.ID] > 0 {
		w.violated("I1: a second create for claim %s", c.Claim.ID)
	}
	op := s.Status.ActiveOperation
	switch {
	case op == nil || !op.DispatchStarted || op.AdmissionSnapshot == nil:
		w.violated("I2: create without claim, snapshot or marker")
	case w.lease == nil || w.lease.Holder != c.Claim.Holder || w.lease.Epoch != c.Claim.LeaseEpoch:
		w.violated("I2: create without the Lease")
	case s.Status.Plan == nil:
		w.violated("I2: create without a plan")
	}
	if approval.Required(s.Spec.Policy, s.Status.Plan.Destructive) != approval.NeedsApproval {
		return
	}
	record := s.Status.Plan.Approval
	if record == nil {
		w.violated("I2: create without an approval")
	}
	found := false
	for i := range w.approvals {
		a := &w.approvals[i]
		if a.UID == record.UID {
			found = approval.IsConsumed(a.Status) && a.Spec.PlanRef.UID == s.Status.Plan.UID && a.Spec.ExecutionBindingID == s.Status.ExecutionBinding.Epoch
		}
	}
	if !found {
		w.violated("I5: create on an approval that is not spent, not of this plan or not of this epoch")
	}
	if w.spent[record.UID] == nil {
		w.spent[record.UID] = map[string]bool{}
	}
	w.spent[record.UID][c.Claim.ID] = true
	if len(w.spent[record.UID]) > 1 {
		w.violated("I5: one approval spent on two claims")
	}
}

// check is what has to hold in every state.
func (w *world) check() {
	if w.gone {
		if running := w.writing(); running != "" {
			w.violated("the schema is gone and its Apply %s runs", running)
		}
		return
	}
	st := &w.schema.Status
	for id, n := range w.applied {
		if n > 1 {
			w.violated("the statements of %s ran %d times", id, n)
		}
	}
	if meta.IsStatusConditionTrue(st.Conditions, string(v1alpha1.ConditionInSync)) && st.ObservedGeneration == w.schema.Generation && st.ActiveOperation == nil {
		if st.Source == nil {
			w.violated("I7: InSync without a source")
		}
	}
	if st.Applied != nil && (w.credited == nil || *w.credited != *st.Applied) {
		if st.PendingObservation != nil {
			w.violated("I7: an Apply is credited while its proof is owed")
		}
		record := *st.Applied
		w.credited = &record
	}
	if p := st.PendingObservation; p != nil && p.Outcome == v1alpha1.OutcomeApplySucceeded && w.broken[p.ApplyOperationID] {
		w.violated("I6: a result was used although its Lease was broken")
	}
	op := st.ActiveOperation
	if op != nil && op.Type == v1alpha1.SchemaApply && st.PendingObservation != nil {
		w.violated("I4: a claim and a record at once")
	}
	if w.ours() && !w.remembers(w.lease.Holder) {
		w.violated("the Lease is held by %s and nothing durable remembers it", w.lease.Holder)
	}
	if running := w.writing(); running != "" {
		claimed := op != nil && op.ID == running
		recorded := st.PendingObservation != nil && st.PendingObservation.ApplyOperationID == running
		if !claimed && !recorded {
			w.violated("I4: an Apply runs and neither a claim nor a record knows it")
		}
		if !w.robbed[running] && (w.lease == nil || w.lease.Holder != running) {
			w.violated("I3: an Apply runs and its Lease is not held")
		}
	}
}

// evidenceOf names the operations that a condition can be found by.
var evidenceOf = map[v1alpha1.ConditionType]string{
	v1alpha1.ConditionArtifactResolved: "Resolve", v1alpha1.ConditionArtifactVerified: "Verify", v1alpha1.ConditionDatabaseReachable: "Observe Plan",
	v1alpha1.ConditionDriftDetected: "Plan", v1alpha1.ConditionInSync: "Plan",
}

// witness is what a status may say of a generation: nothing of one that it does not describe, and what an operation finds only of the one that
// the operation ran under.
func (w *world) witness(next *v1alpha1.PtahSchemaStatus) {
	st := &w.schema.Status
	for _, c := range next.Conditions {
		if next.ObservedGeneration != 0 && c.ObservedGeneration > next.ObservedGeneration || c.ObservedGeneration == 0 {
			w.violated("%s speaks of generation %d, the status of %d", c.Type, c.ObservedGeneration, next.ObservedGeneration)
		}
		by, found := evidenceOf[v1alpha1.ConditionType(c.Type)], c.Status == metav1.ConditionTrue
		if was := meta.FindStatusCondition(st.Conditions, c.Type); was != nil && was.ObservedGeneration == c.ObservedGeneration && was.Status == c.Status || !found || by == "" {
			continue
		}
		op := st.ActiveOperation
		if op == nil || !strings.Contains(by, string(op.Type)) || next.ActiveOperation != nil && next.ActiveOperation.ID == op.ID {
			w.violated("%s became True of generation %d by no operation", c.Type, c.ObservedGeneration)
		}
		if ran := w.ranUnder[op.ID]; ran != c.ObservedGeneration {
			w.violated("%s is True of generation %d, found by an operation of generation %d", c.Type, c.ObservedGeneration, ran)
		}
	}
	if op := next.ActiveOperation; op != nil && w.ranUnder[op.ID] == 0 {
		w.ranUnder[op.ID] = next.ObservedGeneration
		if p := next.PendingObservation; p != nil {
			w.ranUnder[op.ID] = p.ApplyGeneration
		}
	}
}

// ours reports whether the Lease is an acquisition of this schema's.
func (w *world) ours() bool {
	return w.lease != nil && w.lease.Holder != "thief" && w.lease.Epoch != ""
}

// remembers reports whether the status names a holder of the Lease.
func (w *world) remembers(holder string) bool {
	st := &w.schema.Status
	return st.ActiveOperation != nil && st.ActiveOperation.ID == holder ||
		st.PendingObservation != nil && st.PendingObservation.ApplyOperationID == holder ||
		st.PendingLockRelease != nil && st.PendingLockRelease.OperationID == holder
}

// writing is the operation whose Apply Pod may still write.
func (w *world) writing() string {
	for _, p := range w.pods {
		if !p.done && !p.lost && p.order.Operation == "Apply" {
			return p.order.OperationID
		}
	}
	return ""
}

// settle lets the world be kind until the schema rests: InSync, or a refusal. It reports how it ended.
func (w *world) settle(b *brain) v1alpha1.SchemaPhase {
	for range 4000 {
		step := w.pass(b, succeeds)
		w.check()
		wait, waiting := step.(operation.Wait)
		if !waiting {
			continue
		}
		st := &w.schema.Status
		if st.Phase == v1alpha1.SchemaPhaseInSync && st.ActiveOperation == nil && st.PendingObservation == nil && st.PendingLockRelease == nil &&
			st.ObservedGeneration == w.schema.Generation {
			if w.ours() {
				w.violated("nothing is active and the Lease is still held")
			}
			return st.Phase
		}
		if w.startPods() || w.runPods() {
			continue
		}
		if st.Phase == v1alpha1.SchemaPhaseAwaitingApproval && w.approve() {
			continue
		}
		if st.Phase == v1alpha1.SchemaPhaseBlocked || st.Phase == v1alpha1.SchemaPhaseSuspended {
			return st.Phase
		}
		if !wait.Until.After(w.now) {
			w.violated("I10: a wait that has no end in the future")
		}
		w.now = wait.Until
	}
	return w.schema.Status.Phase
}

func guarded(t require.TestingT, f func()) {
	defer func() {
		if r := recover(); r != nil {
			if v, ok := r.(failure); ok {
				require.Fail(t, v.text)
			}
			panic(r)
		}
	}()
	f()
}

func TestKindWorldConverges(t *testing.T) {
	guarded(t, func() {
		w, b := newWorld(), &brain{}
		phase := w.settle(b)
		require.Equal(t, v1alpha1.SchemaPhaseInSync, phase, strings.Join(w.trace, "\n"))
		require.Equal(t, stateNew, w.database)
		require.NotNil(t, w.schema.Status.Applied)
		require.Len(t, w.applied, 1)
		require.Nil(t, w.lease, "the Lease is handed back")
		require.Empty(t, w.schema.Finalizers)
		require.Equal(t, map[string]string{
			"EngineSupported": "True/SupportedEngine", "Ready": "True/InSync", "ReconciliationFailed": "False/Succeeded",
			"ArtifactResolved": "True/DigestPinned", "ArtifactVerified": "True/PolicySatisfied", "DatabaseReachable": "True/Observed",
			"DriftDetected": "False/ScopedConverged", "InSync": "True/ScopedConverged", "ApprovalRequired": "False/Satisfied",
			"PlanReady": "False/NoChanges", "Applying": "False/JobCompleted", "Suspended": "False/Active",
		}, tuples(w.schema))
	})
}

func tuples(s *v1alpha1.PtahSchema) map[string]string {
	out := map[string]string{}
	for _, c := range s.Status.Conditions {
		out[c.Type] = string(c.Status) + "/" + c.Reason
	}
	return out
}

// Every call may fail, lose its reply or be the last thing that the manager does; Pods vanish, people edit, managers are replaced. Whatever
// happens, no invariant breaks, and once the world is kind again the schema converges.
func TestHostileWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		guarded(t, func() {
			w, b, second := newWorld(), &brain{}, &brain{}
			if rapid.Bool().Draw(t, "always") {
				w.schema.Spec.Policy.Apply = v1alpha1.ApplyAlways
			}
			w.advance(b, rapid.IntRange(0, 80).Draw(t, "kind passes"))
			moves := rapid.IntRange(5, 60).Draw(t, "moves")
			for range moves {
				manager := b
				if rapid.IntRange(0, 9).Draw(t, "manager") == 9 {
					manager = second
				}
				w.hostile(t, manager)
				w.check()
				if w.gone {
					return
				}
			}
			if w.schema.DeletionTimestamp != nil {
				require.True(t, w.depart(b), strings.Join(w.trace, "\n"))
				return
			}
			w.kind()
			require.Equal(t, v1alpha1.SchemaPhaseInSync, w.settle(b), strings.Join(w.trace, "\n"))
			require.Equal(t, w.desired[w.registry], w.database)
		})
	})
}

// advance leads the world kindly to somewhere in the middle, so that hostility meets every stage equally often.
func (w *world) advance(b *brain, passes int) {
	for i := range passes {
		wait, waiting := w.pass(b, succeeds).(operation.Wait)
		if !waiting {
			continue
		}
		switch {
		case w.startPods():
			if passes-i < 3 {
				return // with a Pod under way, nothing of it done yet
			}
			w.runPods()
		case w.schema.Status.Phase == v1alpha1.SchemaPhaseAwaitingApproval && w.approve():
		case w.schema.Status.Phase == v1alpha1.SchemaPhaseInSync:
			return
		default:
			w.now = wait.Until
		}
	}
}

// hostile is one move of an adversary.
func (w *world) hostile(t *rapid.T, b *brain) {
	fates := []fate{succeeds, succeeds, succeeds, succeeds, succeeds, succeeds, failsBefore, replyLost, dies}
	move := rapid.IntRange(0, 38).Draw(t, "move")
	w.trace = append(w.trace, fmt.Sprintf("move %d", move))
	switch {
	case move <= 17:
		step := w.passOn(b, rapid.SampledFrom(fates).Draw(t, "fate"), rapid.IntRange(0, 3).Draw(t, "stale") == 3)
		if wait, ok := step.(operation.Wait); ok && !w.startPods() && !w.runPods() {
			w.now = wait.Until
		}
	case move == 18:
		w.startPods()
	case move == 19:
		w.runPods()
	case move == 20:
		w.approve()
	case move == 21:
		w.now = w.now.Add(time.Duration(rapid.IntRange(1, 200).Draw(t, "seconds")) * time.Second)
	case move == 22:
		*b = brain{}
	case move == 23:
		w.vanish(t)
	case move == 24:
		w.edit(func() { w.schema.Spec.Suspend = !w.schema.Spec.Suspend })
	case move == 25:
		w.edit(func() { w.schema.Spec.Interval.Duration += time.Second })
	case move == 26:
		w.registry = rapid.SampledFrom([]string{"", sha("artifact-1"), sha("artifact-2")}).Draw(t, "registry")
	case move == 27:
		w.identity = identity(rapid.IntRange(1, 2).Draw(t, "revision"))
		*b = brain{}
	case move == 28:
		if n := len(w.approvals); n > 0 {
			w.approvals = w.approvals[:n-1]
		}
	case move == 29:
		w.database = rapid.SampledFrom([]string{stateOld, stateNew}).Draw(t, "drift")
	case move == 31, move == 32:
		w.rob(move == 31)
	case move == 33:
		if rapid.IntRange(0, 7).Draw(t, "delete") == 0 && w.schema.DeletionTimestamp == nil {
			at := metav1.NewTime(w.now)
			w.schema.DeletionTimestamp = &at
			w.bump()
		}
	case move == 35, move == 36:
		w.freeze(move == 35)
	case move == 37:
		w.edit(func() {
			w.schema.Spec.Execution.NodeSelector = map[string]string{"edit": strconv.FormatInt(w.schema.Generation, 10)}
		})
	case move == 38:
		w.strip()
	case move == 34:
		w.clear(rapid.IntRange(0, 2).Draw(t, "field"))
	case move == 30:
		w.policyUID = types.UID(rapid.SampledFrom([]string{"policy-1", "policy-2"}).Draw(t, "policy"))
	}
}

// freeze cuts the node of every Pod that runs off, and perhaps lets their Jobs run into their deadlines meanwhile.
func (w *world) freeze(deadline bool) {
	for _, name := range sortedKeys(w.pods) {
		p := w.pods[name]
		if p.done || p.lost {
			continue
		}
		p.frozen = true
		if deadline {
			w.finish(&simPod{job: p.job, jobUID: p.jobUID})
		}
	}
}

// rob takes the realm's Lease for somebody else, or deletes it.
func (w *world) rob(foreign bool) {
	if w.lease == nil {
		return
	}
	w.robbed[w.lease.Holder] = true
	if op := w.schema.Status.ActiveOperation; op != nil && op.ID == w.lease.Holder && op.JobUID != "" {
		w.broken[op.ID] = true
	}
	w.lease = nil
	if foreign {
		w.lease = &operation.Lease{Holder: "thief", Epoch: "v1-thief", Seconds: 60, RenewedAt: w.now}
		w.leaseSeen = w.now
	}
}

// strip takes the epoch off the realm's Lease: whose acquisition it was can no longer be told.
func (w *world) strip() {
	if !w.ours() {
		return
	}
	stripped := *w.lease
	w.rob(false)
	stripped.Epoch = ""
	w.lease, w.leaseSeen = &stripped, w.now
}

// clear is a person who edits a status by hand. Records of what may have run are not among the fields: taking one away is beyond any promise.
func (w *world) clear(field int) {
	st := &w.schema.Status
	switch field {
	case 0:
		st.Conditions = nil
	case 1:
		st.NextReconciliationTime = nil
	case 2:
		st.Phase = ""
	}
	w.bump()
}

// depart lets the world be kind until a deleted schema is gone.
func (w *world) depart(b *brain) bool {
	w.thaw()
	for range 400 {
		step := w.pass(b, succeeds)
		w.check()
		if w.gone {
			return !w.ours()
		}
		wait, waiting := step.(operation.Wait)
		if waiting && !w.startPods() && !w.runPods() {
			w.now = wait.Until
		}
	}
	return false
}

func (w *world) edit(change func()) {
	change()
	w.schema.Generation++
	w.bump()
}

// vanish takes a Job with its Pods, or a finished Pod, away. A Pod that runs is first stopped, as the kubelet does.
func (w *world) vanish(t *rapid.T) {
	names := sortedKeys(w.jobs)
	if len(names) == 0 {
		return
	}
	job := w.jobs[rapid.SampledFrom(names).Draw(t, "job")]
	if rapid.IntRange(0, 2).Draw(t, "orphan") == 0 {
		delete(w.jobs, job.Name) // its Pod goes on for a while
		return
	}
	for _, p := range w.pods {
		if p.jobUID == job.UID {
			p.done, p.lost = true, true
		}
	}
	if rapid.Bool().Draw(t, "with its job") {
		delete(w.jobs, job.Name)
		return
	}
	w.finish(&simPod{job: job.Name, jobUID: job.UID})
}

func (w *world) thaw() {
	for _, p := range w.pods {
		p.frozen = false
	}
}

// kind ends everything that keeps a person's wish from being carried out.
func (w *world) kind() {
	if w.registry == "" {
		w.registry = sha("artifact-1")
	}
	w.thaw()
	// A resource at rest looks again at its interval; an edit makes it look now.
	w.edit(func() { w.schema.Spec.Suspend = false })
}

package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/binding"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/podspec"
	"github.com/ptah-run/ptah/pkg/schema"
)

// world is a cluster, a registry and a database small enough to walk: one schema, whatever Jobs and Pods come of it, one Lease.
type world struct {
	now     time.Time
	nonces  int
	version int

	schema    *v1alpha1.PtahSchema
	jobs      map[string]*batchv1.Job
	pods      map[string]*simPod
	plans     map[string]*v1alpha1.PtahSchemaPlan
	approvals []v1alpha1.PtahSchemaApproval
	lease     *operation.Lease
	leaseSeen time.Time
	policyUID types.UID

	identity binding.Identity
	registry string // digest that the tag leads to; empty while the registry is away
	database string // state of the managed scope
	desired  map[string]string
	identify string // identity digest of the database

	// What the database and the API server saw, for the invariants.
	creates  map[string]int // claim ID of an Apply: creates that took effect or may have
	applied  map[string]int // operation ID: how often its statements ran
	spent    map[types.UID]map[string]bool
	notes    []operation.Note
	waits    int
	gone     bool            // the schema was deleted and its last finalizer went
	robbed   map[string]bool // operations whose Lease somebody took or deleted
	broken   map[string]bool // of them, those that were robbed while their Job existed
	credited *v1alpha1.AppliedRecord
	ranUnder map[string]int64 // the generation that each operation was claimed for, or that its proof is about
	history  []*v1alpha1.PtahSchema
	trace    []string
	settings podspec.AdmissionSettings
}

// simPod is a Pod and the order that it carries out.
type simPod struct {
	uid, name, job string
	jobUID         types.UID
	done, lost     bool
	frozen         bool // on a node that nobody reaches: it may still be writing
	frame          *frame.Frame
	order          intent.Intent
}

// brain is what one manager process remembers; a crash empties it.
type brain struct {
	permit    string
	refusal   operation.Refusal
	result    operation.Result
	published *v1alpha1.PtahSchemaPlan
	claim     string
}

const (
	stateOld = "old"
	stateNew = "new"
)

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func newWorld() *world {
	w := &world{
		now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), jobs: map[string]*batchv1.Job{}, pods: map[string]*simPod{},
		plans: map[string]*v1alpha1.PtahSchemaPlan{}, policyUID: "policy-1", registry: sha("artifact-1"), database: stateOld,
		desired: map[string]string{sha("artifact-1"): stateNew, sha("artifact-2"): "newer"}, identify: sha("database-1"),
		ranUnder: map[string]int64{}, robbed: map[string]bool{}, broken: map[string]bool{}, creates: map[string]int{}, applied: map[string]int{}, spent: map[types.UID]map[string]bool{},
		settings: podspec.AdmissionSettings{DefaultTolerations: true, NotReadySeconds: 300, UnreachableSeconds: 300},
	}
	w.identity = identity(1)
	w.schema = &v1alpha1.PtahSchema{
		ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "shop", UID: "schema-1", Generation: 1},
		Spec: v1alpha1.PtahSchemaSpec{
			Target: v1alpha1.Target{
				Engine: "PostgreSQL", CoordinationKey: "prod/shop",
				URLFrom: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "url"},
			},
			Desired: v1alpha1.Source{
				OCIRef: "oci://registry.example/shop:stable",
				VerificationPolicyFrom: corev1.ConfigMapKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "policy"}, Key: "policy.yaml",
				},
			},
			Interval: metav1.Duration{Duration: 10 * time.Minute},
			Policy:   v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyOnApproval, DriftSeverity: v1alpha1.DriftAll, LockTimeout: metav1.Duration{Duration: 30 * time.Second}, TransactionMode: v1alpha1.TransactionFile},
			Execution: v1alpha1.Execution{
				ActiveDeadlineSeconds: 60, ConnectTimeout: metav1.Duration{Duration: 10 * time.Second}, FailureRetryInterval: metav1.Duration{Duration: 30 * time.Second},
			},
		},
	}
	w.bump()
	return w
}

func identity(n int) binding.Identity {
	return binding.Identity{
		ControllerImage: "manager@" + sha("manager"), ControllerRevision: strconv.Itoa(n), ControllerStateVersion: binding.StateVersion,
		PtahVersion: "1", ExecutorImage: "executor@" + sha("executor"), RunnerImage: "runner@" + sha("runner"), RunnerProtocolVersion: intent.ProtocolVersion,
	}
}

func (w *world) bump() {
	w.version++
	w.schema.ResourceVersion = strconv.Itoa(w.version)
	w.history = append(w.history, w.schema.DeepCopy())
	if len(w.history) > 6 {
		w.history = w.history[1:]
	}
	if w.schema.DeletionTimestamp != nil && len(w.schema.Finalizers) == 0 {
		w.gone = true
	}
}

func (w *world) nonce() string {
	w.nonces++
	return fmt.Sprintf("%032x", w.nonces)
}

// decide is what a reconcile pass does: a first look, and fresh reads for as long as the decision asks for them. A pass with stale caches
// first sees an older schema, no Job, no Pod and no approval of late.
func (w *world) decide(b *brain, stale bool) (*v1alpha1.PtahSchema, operation.Step) {
	s := w.schema
	if stale && len(w.history) > 0 {
		s = w.history[w.version%len(w.history)]
	}
	s = s.DeepCopy()
	snap := w.gather(b, s)
	if stale {
		w.blur(&snap)
	}
	for range 20 {
		step := operation.Next(snap)
		more, reading := step.(operation.ReadFresh)
		if !reading {
			return s, step
		}
		truth := w.gather(b, s)
		if more.Parts&operation.PartResource != 0 {
			s = w.schema.DeepCopy()
			truth = w.gather(b, s)
			fresh := truth
			w.blur(&fresh)
			fresh.Resource.Fresh = true
			snap = fresh
		}
		sharpen(&snap, truth, more.Parts)
	}
	w.violated("a pass that never stops reading")
	return nil, nil
}

// blur turns a true snapshot into one that only the caches know.
func (w *world) blur(s *operation.Snapshot) {
	v := s.Family.(*schema.View)
	s.Resource.Fresh = false
	s.Job = operation.Known[operation.Job]{State: operation.Absent}
	s.Pods, s.ProofPods = operation.Known[[]operation.Pod]{State: operation.Absent}, operation.Known[[]operation.Pod]{State: operation.Absent}
	s.Lease = operation.Known[operation.Lease]{}
	s.Census.Fresh = false
	v.Policy, v.Admission, v.Stored = operation.Known[schema.Policy]{}, operation.Known[podspec.AdmissionInputs]{}, operation.Known[schema.StoredPlan]{}
	v.Approvals.Fresh = false
	if n := len(v.Approvals.Value); n > 0 {
		v.Approvals.Value = v.Approvals.Value[:n-1]
	}
}

// sharpen takes the parts that were asked for from the truth.
func sharpen(s *operation.Snapshot, truth operation.Snapshot, parts operation.Part) {
	v, t := s.Family.(*schema.View), truth.Family.(*schema.View)
	for _, p := range []struct {
		part operation.Part
		take func()
	}{
		{operation.PartJob, func() { s.Job = truth.Job }},
		{operation.PartPods, func() { s.Pods = truth.Pods }},
		{operation.PartProofPods, func() { s.ProofPods = truth.ProofPods }},
		{operation.PartLease, func() { s.Lease = truth.Lease }},
		{operation.PartCensus, func() { s.Census = truth.Census }},
		{operation.PartAdmission, func() { v.Admission = t.Admission }},
		{operation.PartPolicy, func() { v.Policy = t.Policy }},
		{operation.PartPlan, func() { v.Stored = t.Stored }},
		{operation.PartApprovals, func() { v.Approvals = t.Approvals }},
	} {
		if parts&p.part != 0 {
			p.take()
		}
	}
}

// gather is what the edges do, over this world. Everything it reads is true now.
func (w *world) gather(b *brain, s *v1alpha1.PtahSchema) operation.Snapshot {
	v := &schema.View{Schema: s, Now: w.now, Nonce: w.nonce(), Identity: w.identity}
	snap := operation.Snapshot{
		Now: w.now, Nonce: v.Nonce, StateVersion: int64(w.identity.ControllerStateVersion), Family: v,
		Resource: operation.Resource{
			UID: string(s.UID), Generation: s.Generation, Fresh: true, Deleting: s.DeletionTimestamp != nil,
			Finalizer: len(s.Finalizers) > 0, Suspended: s.Spec.Suspend,
		},
		Permit: b.permit, Refusal: b.refusal,
		Census: operation.Known[operation.Census]{State: operation.Present, Fresh: true},
		Lease:  operation.Known[operation.Lease]{State: operation.Absent, Fresh: true},
	}
	if w.lease != nil {
		l := *w.lease
		l.FirstSeen = w.leaseSeen
		snap.Lease = operation.Known[operation.Lease]{State: operation.Present, Fresh: true, Value: l}
	}
	v.Policy = operation.Known[schema.Policy]{State: operation.Present, Fresh: true, Value: schema.Policy{
		UID: w.policyUID, Digest: sha("policy"), Immutable: true, HasKey: true,
	}}
	v.Admission = operation.Known[podspec.AdmissionInputs]{State: operation.Present, Fresh: true, Value: podspec.AdmissionInputs{
		Settings: w.settings, ServiceAccount: &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "sa", ResourceVersion: "1"}},
	}}
	v.Approvals = operation.Known[[]v1alpha1.PtahSchemaApproval]{State: operation.Present, Fresh: true, Value: copyApprovals(w.approvals)}
	v.Stored = operation.Known[schema.StoredPlan]{State: operation.Absent, Fresh: true}
	if r := s.Status.Plan; r != nil && w.plans[r.Name] != nil {
		v.Stored = operation.Known[schema.StoredPlan]{State: operation.Present, Fresh: true, Value: schema.StoredPlan{Plan: w.plans[r.Name].DeepCopy()}}
	}
	w.gatherJob(&snap, v, b)
	return snap
}

func copyApprovals(in []v1alpha1.PtahSchemaApproval) []v1alpha1.PtahSchemaApproval {
	out := make([]v1alpha1.PtahSchemaApproval, 0, len(in))
	for i := range in {
		out = append(out, *in[i].DeepCopy())
	}
	return out
}

func (w *world) gatherJob(snap *operation.Snapshot, v *schema.View, b *brain) {
	snap.Job = operation.Known[operation.Job]{State: operation.Absent, Fresh: true}
	snap.Pods = operation.Known[[]operation.Pod]{State: operation.Absent, Fresh: true}
	snap.ProofPods = operation.Known[[]operation.Pod]{State: operation.Absent, Fresh: true}
	if p := v.Schema.Status.PendingObservation; p != nil {
		snap.ProofPods = w.podsOf(p.ApplyJobName, p.ApplyJobUID)
	}
	op := v.Schema.Status.ActiveOperation
	if op == nil {
		return
	}
	if b.result.ClaimID == op.ID {
		snap.Result = b.result
	}
	if b.claim == op.ID {
		v.Published = b.published
	}
	job := w.jobs[op.JobName]
	if job == nil {
		return
	}
	mismatch := schema.MatchJob(v.Schema, job)
	facts := operation.Job{UID: string(job.UID), Exact: mismatch == "", Mismatch: mismatch, Cleanup: job.Spec.TTLSecondsAfterFinished != nil, Created: w.now}
	if n := len(job.Status.Conditions); n > 0 {
		facts.Terminal, facts.Succeeded = true, job.Status.Conditions[n-1].Type == batchv1.JobComplete
	}
	snap.Job = operation.Known[operation.Job]{State: operation.Present, Fresh: true, Value: facts}
	snap.Pods = w.podsOf(job.Name, job.UID)
}

func (w *world) podsOf(job string, uid types.UID) operation.Known[[]operation.Pod] {
	out := operation.Known[[]operation.Pod]{State: operation.Absent, Fresh: true}
	for _, name := range sortedKeys(w.pods) {
		p := w.pods[name]
		if p.job == job && (uid == "" || p.jobUID == uid) && !p.lost {
			out.State = operation.Present
			out.Value = append(out.Value, operation.Pod{Name: p.name, UID: p.uid, Accepted: true, Stopped: p.done, Container: "operation"})
		}
	}
	return out
}

// perform carries out one step, as if every call succeeded. It reports false where a precondition no longer holds.
func (w *world) perform(b *brain, s *v1alpha1.PtahSchema, step operation.Step) bool {
	switch x := step.(type) {
	case operation.AddFinalizer, operation.RemoveFinalizer:
		return w.finalizer(s, step)
	case operation.PatchStatus:
		if s.ResourceVersion != w.schema.ResourceVersion {
			return false
		}
		w.witness(x.Status.(*v1alpha1.PtahSchemaStatus))
		w.schema.Status = *x.Status.(*v1alpha1.PtahSchemaStatus).DeepCopy()
		w.bump()
		w.notes = append(w.notes, x.Notes...)
	case operation.AcquireLease:
		w.lease = &operation.Lease{Holder: x.Holder, Epoch: x.Epoch, Seconds: x.Seconds, RenewedAt: w.now}
		w.leaseSeen = w.now
	case operation.RenewLease:
		if w.lease == nil || w.lease.Holder != x.Holder || w.lease.Epoch != x.Epoch {
			return false
		}
		w.lease.RenewedAt, w.leaseSeen = w.now, w.now
	case operation.ReleaseLease:
		if w.lease != nil && w.lease.Holder == x.Holder && w.lease.Epoch == x.Epoch {
			w.lease = nil
		}
	case operation.CreateJob:
		return w.create(s, x)
	case operation.ScheduleCleanup:
		if job := w.jobs[x.JobName]; job != nil && string(job.UID) == x.JobUID {
			ttl := podspec.CleanupTTLSeconds
			job.Spec.TTLSecondsAfterFinished = &ttl
		}
	case operation.MarkApproval:
		return w.mark(x)
	case operation.PublishPlan, operation.ReadResult:
	}
	return true
}

func (w *world) finalizer(s *v1alpha1.PtahSchema, step operation.Step) bool {
	if s.ResourceVersion != w.schema.ResourceVersion {
		return false
	}
	w.schema.Finalizers = nil
	if _, add := step.(operation.AddFinalizer); add {
		w.schema.Finalizers = []string{v1alpha1.SchemaFinalizer}
	}
	w.bump()
	return true
}

// create makes the Job. Its Pod is refused by admission where the resource no longer holds the claim, as on a real cluster.
func (w *world) create(s *v1alpha1.PtahSchema, x operation.CreateJob) bool {
	if x.Claim.Mutating {
		w.creates[x.Claim.ID]++
	}
	v := &schema.View{Schema: s, Now: w.now, Identity: w.identity}
	if r := s.Status.Plan; r != nil && w.plans[r.Name] != nil {
		v.Stored = operation.Known[schema.StoredPlan]{State: operation.Present, Fresh: true, Value: schema.StoredPlan{Plan: w.plans[r.Name]}}
	}
	job, err := v.Job(x.Claim)
	if err != nil {
		panic("a step asks for a Job that cannot be built: " + err.Error())
	}
	if w.jobs[job.Name] != nil {
		return false
	}
	w.version++
	job.UID = types.UID(fmt.Sprintf("job-%d", w.version))
	job.ResourceVersion = strconv.Itoa(w.version)
	w.jobs[job.Name] = job
	return true
}

func (w *world) mark(x operation.MarkApproval) bool {
	for i := range w.approvals {
		a := &w.approvals[i]
		if a.Name == x.Mark.Name && string(a.UID) == x.Mark.UID {
			approval.SetConditions(&a.Status.Conditions, x.Mark.Verdict, 1, metav1.NewTime(w.now))
			return true
		}
	}
	return false
}

// publish stores the plan of a step and remembers it in the process.
func (w *world) publish(b *brain, s *v1alpha1.PtahSchema, x operation.PublishPlan) {
	pub := x.Plan.(plan.Publication)
	p := w.plans[pub.Plan.Name]
	if p == nil {
		p = pub.Plan.DeepCopy()
		w.version++
		p.UID = types.UID(fmt.Sprintf("plan-%d", w.version))
		p.CreationTimestamp = metav1.NewTime(w.now)
		for _, c := range p.Spec.Chunks {
			p.Status.PublishedChunks = append(p.Status.PublishedChunks, v1alpha1.PublishedChunk{Index: c.Index, Name: c.Name, UID: types.UID("uid-" + c.Name)})
		}
		p.Status.Conditions = []metav1.Condition{{Type: string(v1alpha1.ConditionReady), Status: metav1.ConditionTrue, Reason: "Published"}}
		w.plans[p.Name] = p
	}
	b.published, b.claim = p, s.Status.ActiveOperation.ID
}

// approve is a person who approves whatever waits, through admission.
func (w *world) approve() bool {
	p := w.schema.Status.Plan
	if p == nil || w.plans[p.Name] == nil {
		return false
	}
	w.version++
	a := v1alpha1.PtahSchemaApproval{ObjectMeta: metav1.ObjectMeta{
		Namespace: "app", Name: fmt.Sprintf("approval-%d", w.version), UID: types.UID(fmt.Sprintf("approval-%d", w.version)),
	}}
	a.Spec.SchemaRef = v1alpha1.ObjectRef{Name: w.schema.Name, UID: w.schema.UID}
	a.Spec.PlanRef = v1alpha1.ObjectRef{Name: p.Name, UID: p.UID}
	a.Spec.PlanFingerprint = p.Fingerprint
	if approval.Bind(&a, w.plans[p.Name]) != nil {
		return false
	}
	approval.Stamp(&a.Spec.ApprovalStamp, approval.User{Username: "ann"}, "request", w.now)
	in := approval.Input{Stage: approval.Admission, Schema: w.schema, Plan: w.plans[p.Name], Policy: &approval.PolicySource{UID: string(w.policyUID), Digest: sha("policy")}}
	if approval.Judge(in, &a).Outcome != approval.Accepted {
		return false
	}
	w.approvals = append(w.approvals, a)
	return true
}

// startPods is the Job controller and Pod admission: a Job whose claim is not there any more gets no Pod.
func (w *world) startPods() bool {
	moved := false
	for _, name := range sortedKeys(w.jobs) {
		job := w.jobs[name]
		if len(job.Status.Conditions) > 0 || len(w.podsOf(job.Name, job.UID).Value) > 0 {
			continue
		}
		op := w.schema.Status.ActiveOperation
		if op == nil || op.JobName != job.Name {
			continue
		}
		order, err := intent.Decode(job.Spec.Template.Spec.Containers[0].Env[0].Value)
		if err != nil {
			panic("a Job without an order: " + err.Error())
		}
		w.version++
		id := fmt.Sprintf("pod-%d", w.version)
		w.pods[id] = &simPod{uid: id, name: id, job: job.Name, jobUID: job.UID, order: order}
		moved = true
	}
	return moved
}

// runPods is the kubelet and the executor.
func (w *world) runPods() bool {
	moved := false
	for _, name := range sortedKeys(w.pods) {
		if p := w.pods[name]; !p.done && !p.lost && !p.frozen {
			w.execute(p)
			w.finish(p)
			moved = true
		}
	}
	return moved
}

func (w *world) finish(p *simPod) {
	p.done = true
	job := w.jobs[p.job]
	if job == nil || job.UID != p.jobUID || len(job.Status.Conditions) > 0 {
		return
	}
	kind := batchv1.JobComplete
	if p.frame == nil || p.frame.Error != nil {
		kind = batchv1.JobFailed
	}
	job.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue}}
}

// execute does what the executor does with an order, on a database of one value.
func (w *world) execute(p *simPod) {
	o := p.order
	f := &frame.Frame{ProtocolVersion: intent.ProtocolVersion, Operation: o.Operation, OperationID: o.OperationID, CoordinationDigest: o.CoordinationDigest}
	p.frame = f
	fail := func(code frame.Code) { f.Error = &frame.Failure{Code: code, Message: "in the model"} }
	if o.TargetIdentityDigest != "" && o.TargetIdentityDigest != w.identify {
		fail(frame.CodeTargetChanged)
		return
	}
	if o.CoordinationDigest != "" {
		f.TargetIdentityDigest = w.identify
	}
	if w.registry == "" && o.Operation != intent.Apply { // every other one fetches something
		fail(frame.CodeRegistryUnreachable)
		return
	}
	switch o.Operation {
	case intent.Resolve:
		f.Resolve = &frame.Resolved{ResolvedReference: "oci://registry.example/shop@" + w.registry, Digest: w.registry, ArtifactType: v1alpha1.SchemaArtifactType}
	case intent.Verify:
		f.Verify = &frame.Verified{ArtifactType: v1alpha1.SchemaArtifactType, PolicyDigest: o.Policy.Digest, Requirements: []string{"artifact_types"}}
	case intent.Observe:
		f.Observe = &frame.Observed{Dialect: "postgres", ReportDigest: sha("report" + w.database)}
	case intent.Plan:
		w.plan(o, f)
	case intent.Apply:
		w.apply(o, f, fail)
	}
}

func (w *world) plan(o intent.Intent, f *frame.Frame) {
	ref := o.Artifact.ResolvedReference
	want := w.desired[ref[len(ref)-71:]]
	f.Plan = &frame.Planned{FromFingerprint: sha(w.database), ToFingerprint: sha(want), NoChange: w.database == want}
	if f.Plan.NoChange {
		return
	}
	doc := plan.Seal(plan.Document{Dialect: "postgres", FromFingerprint: sha(w.database), ToFingerprint: sha(want), Statements: []plan.Statement{
		{SQL: "ALTER TABLE orders ADD COLUMN " + want + " text", Severity: plan.SeveritySafe, Reason: "declared", Kind: "add_column", Object: "public.orders." + want, Table: "public.orders"},
	}})
	data, err := plan.Encode(doc)
	if err != nil {
		panic(err)
	}
	f.Plan.Document = data
}

func (w *world) apply(o intent.Intent, f *frame.Frame, fail func(frame.Code)) {
	if !w.now.Before(*o.DispatchNotAfter) {
		fail(frame.CodeDeadlineExceeded)
		return
	}
	var p *v1alpha1.PtahSchemaPlan
	for _, x := range w.plans {
		if x.Spec.Fingerprint == o.Plan.Fingerprint {
			p = x
		}
	}
	if p == nil {
		fail(frame.CodePlanDamaged)
		return
	}
	if from := p.Spec.ActualStateFingerprint; from != sha(w.database) {
		f.Error = frame.Fail(frame.CodeStalePlan, "the plan starts from %s and the database is at %s", from, sha(w.database))
		return
	}
	for _, to := range w.desired {
		if sha(to) == p.Spec.DesiredStateFingerprint {
			w.database = to
		}
	}
	w.applied[o.OperationID]++
	f.MutationStarted = true
	f.Apply = &frame.Applied{StatementsExecuted: 1, ResultFingerprint: sha(w.database)}
}

// result reads a Pod's log.
func (w *world) result(b *brain, x operation.ReadResult) {
	b.result = operation.Result{State: operation.ResultLost, ClaimID: x.Claim.ID, Failure: "the log is gone", At: w.now}
	if p := w.pods[x.Pod.Name]; p != nil && !p.lost && p.frame != nil {
		b.result = operation.Result{State: operation.ResultFrame, ClaimID: x.Claim.ID, Frame: *p.frame, At: w.now}
	}
}

func sortedKeys[T any](m map[string]T) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

func (w *world) schemaNow() *metav1.Time {
	t := metav1.NewTime(w.now)
	return &t
}

package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/podspec"
	"github.com/ptah-run/ptah/pkg/schema"
)

// Read asks the API server itself for parts of the world. A read that fails leaves its part Unknown. It reports false where the schema is
// gone.
func (p *Pass) Read(ctx context.Context, parts operation.Part) (bool, error) {
	p.scanned = nil
	if parts&operation.PartResource != 0 {
		if gone, err := p.readResource(ctx); gone || err != nil {
			return false, err
		}
	}
	for _, r := range []struct {
		part operation.Part
		read func(context.Context)
	}{
		{operation.PartJob, p.readJob},
		{operation.PartPods, func(ctx context.Context) { p.pods(ctx, true) }},
		{operation.PartProofPods, func(ctx context.Context) { p.proofPods(ctx, true) }},
		{operation.PartLease, p.readLease},
		{operation.PartCensus, func(ctx context.Context) { p.census(ctx, p.world.Direct, true) }},
		{operation.PartAdmission, p.readAdmission},
		{operation.PartPolicy, p.readPolicy},
		{operation.PartPlan, p.readPlan},
		{operation.PartApprovals, p.readApprovals},
	} {
		if parts&r.part != 0 {
			r.read(ctx)
		}
	}
	// What was asked for took its time. A decision that rests on it is taken now, and its claim begins now.
	p.View.Now = p.world.Clock()
	p.Snapshot.Now = p.View.Now
	return true, nil
}

// readResource reads the schema again. Everything else that was read is judged against the version that comes back.
func (p *Pass) readResource(ctx context.Context) (gone bool, err error) {
	s := &v1alpha1.PtahSchema{}
	err = p.world.Direct.Get(ctx, p.Key.NamespacedName, s)
	if apierrors.IsNotFound(err) {
		p.world.Memory.Forget(p.Key)
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading schema %s: %w", p.Key.NamespacedName, err)
	}
	before := p.Schema
	p.adopt(s, true)
	if before.ResourceVersion != s.ResourceVersion {
		// Facts that were read for another version are no facts about this one.
		p.Snapshot.Job, p.Snapshot.Pods = operation.Known[operation.Job]{}, operation.Known[[]operation.Pod]{}
		p.Snapshot.ProofPods, p.Snapshot.Lease = operation.Known[[]operation.Pod]{}, operation.Known[operation.Lease]{}
		p.View.Admission, p.View.Policy = operation.Known[podspec.AdmissionInputs]{}, operation.Known[schema.Policy]{}
		p.View.Stored, p.View.Published = operation.Known[schema.StoredPlan]{}, nil
		p.Snapshot.Result, p.job = operation.Result{}, nil
		p.look(ctx)
	}
	return false, nil
}

func (p *Pass) readJob(ctx context.Context) {
	op := p.Schema.Status.ActiveOperation
	if op == nil {
		p.Snapshot.Job = operation.Known[operation.Job]{State: operation.Absent, Fresh: true}
		return
	}
	job := &batchv1.Job{}
	err := p.world.Direct.Get(ctx, types.NamespacedName{Namespace: p.Schema.Namespace, Name: op.JobName}, job)
	switch {
	case err == nil:
		p.job = job
		p.seeJob(true)
	case apierrors.IsNotFound(err):
		p.job = nil
		p.world.Memory.ForgetJob(p.Key)
		p.Snapshot.Job = operation.Known[operation.Job]{State: operation.Absent, Fresh: true}
	default:
		p.Snapshot.Job = operation.Known[operation.Job]{State: operation.Unknown, Fresh: true}
	}
}

// proofPods finds the Pods of the Apply that a proof is owed for. A fresh look scans the whole namespace.
func (p *Pass) proofPods(ctx context.Context, fresh bool) {
	proof := p.Schema.Status.PendingObservation
	if proof == nil || proof.ApplyJobName == "" {
		p.Snapshot.ProofPods = operation.Known[[]operation.Pod]{State: operation.Absent, Fresh: true}
		return
	}
	owned, err := p.ownedPods(ctx, fresh, proof.ApplyJobName, proof.ApplyJobUID)
	if err != nil {
		p.Snapshot.ProofPods = operation.Known[[]operation.Pod]{State: operation.Unknown, Fresh: fresh}
		return
	}
	facts := make([]operation.Pod, 0, len(owned))
	for i := range owned {
		facts = append(facts, podFacts(&owned[i], ""))
	}
	p.Snapshot.ProofPods = known(facts, fresh)
}

// leaseRealm is the realm whose Lease the durable facts are about.
func leaseRealm(s *v1alpha1.PtahSchema) string {
	st := &s.Status
	switch {
	case st.PendingLockRelease != nil:
		return st.PendingLockRelease.CoordinationDigest
	case st.PendingObservation != nil:
		return st.PendingObservation.CoordinationDigest
	case st.ActiveOperation != nil:
		return st.ActiveOperation.CoordinationDigest
	}
	return schema.Realm(s)
}

func (p *Pass) readLease(ctx context.Context) {
	lease, sight, err := p.world.lease(ctx, leaseRealm(p.Schema))
	switch {
	case err != nil:
		p.Snapshot.Lease = operation.Known[operation.Lease]{State: operation.Unknown, Fresh: true}
	case lease == nil:
		p.Snapshot.Lease = operation.Known[operation.Lease]{State: operation.Absent, Fresh: true}
	default:
		p.Snapshot.Lease = operation.Known[operation.Lease]{State: operation.Present, Fresh: true, Value: leaseFacts(lease, sight)}
	}
}

// readPolicy reads the verification policy: its identity and the digest of its bytes.
func (p *Pass) readPolicy(ctx context.Context) {
	from := p.Schema.Spec.Desired.VerificationPolicyFrom
	cm := &corev1.ConfigMap{}
	err := p.world.Direct.Get(ctx, types.NamespacedName{Namespace: p.Schema.Namespace, Name: from.Name}, cm)
	switch {
	case apierrors.IsNotFound(err):
		p.View.Policy = operation.Known[schema.Policy]{State: operation.Absent, Fresh: true}
		return
	case err != nil:
		p.View.Policy = operation.Known[schema.Policy]{State: operation.Unknown, Fresh: true}
		return
	}
	data, ok := cm.Data[from.Key]
	policy := schema.Policy{UID: cm.UID, HasKey: ok, Immutable: cm.Immutable != nil && *cm.Immutable}
	if ok {
		policy.Digest = digest.Bytes([]byte(data))
	}
	p.View.Policy = operation.Known[schema.Policy]{State: operation.Present, Fresh: true, Value: policy}
}

// readPlan reads the recorded plan and proves its bytes, chunk by chunk.
func (p *Pass) readPlan(ctx context.Context) {
	record := p.Schema.Status.Plan
	if record == nil {
		p.View.Stored = operation.Known[schema.StoredPlan]{State: operation.Absent, Fresh: true}
		return
	}
	stored, err := p.world.storedPlan(ctx, p.Schema, record.Name)
	switch {
	case apierrors.IsNotFound(err):
		p.View.Stored = operation.Known[schema.StoredPlan]{State: operation.Absent, Fresh: true}
	case err != nil:
		p.View.Stored = operation.Known[schema.StoredPlan]{State: operation.Unknown, Fresh: true}
	default:
		p.View.Stored = operation.Known[schema.StoredPlan]{State: operation.Present, Fresh: true, Value: stored}
	}
}

func (w *World) storedPlan(ctx context.Context, s *v1alpha1.PtahSchema, name string) (schema.StoredPlan, error) {
	object := &v1alpha1.PtahSchemaPlan{}
	if err := w.Direct.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: name}, object); err != nil {
		return schema.StoredPlan{}, err
	}
	uids := map[string]types.UID{}
	for _, c := range object.Status.PublishedChunks {
		uids[c.Name] = c.UID
	}
	data, err := plan.Join(object.Spec, func(ref v1alpha1.ChunkRef) ([]byte, error) {
		cm := &corev1.ConfigMap{}
		if err := w.Direct.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: ref.Name}, cm); err != nil {
			if apierrors.IsNotFound(err) {
				return nil, plan.ErrChunkMissing
			}
			return nil, err
		}
		if cm.UID != uids[ref.Name] {
			return nil, &plan.DamageError{Chunk: ref.Name, Expected: "UID " + string(uids[ref.Name]), Found: "UID " + string(cm.UID)}
		}
		if err := plan.CheckChunk(s, ref, cm); err != nil {
			return nil, err
		}
		return cm.BinaryData[ref.Key], nil
	})
	if err == nil {
		_, err = plan.Verify(object, data)
	}
	var damage *plan.DamageError
	var document *plan.DocumentError
	switch {
	case err == nil:
		return schema.StoredPlan{Plan: object}, nil
	case errors.As(err, &damage), errors.As(err, &document), errors.Is(err, plan.ErrChunkMissing):
		return schema.StoredPlan{Plan: object, Damage: err.Error()}, nil
	}
	return schema.StoredPlan{}, fmt.Errorf("reading plan %s/%s: %w", s.Namespace, name, err)
}

func (p *Pass) readApprovals(ctx context.Context) {
	var list v1alpha1.PtahSchemaApprovalList
	if err := p.world.Direct.List(ctx, &list, client.InNamespace(p.Schema.Namespace), client.MatchingFields{v1alpha1.ApprovalSchemaField: p.Schema.Name}); err != nil {
		p.View.Approvals = operation.Known[[]v1alpha1.PtahSchemaApproval]{State: operation.Unknown, Fresh: true}
		return
	}
	p.View.Approvals = operation.Known[[]v1alpha1.PtahSchemaApproval]{State: operation.Present, Fresh: true, Value: list.Items}
}

// readAdmission reads what the API server's own admission looks at for a Pod of this schema.
func (p *Pass) readAdmission(ctx context.Context) {
	in, err := p.world.admission(ctx, p.Schema.Namespace, p.Schema.Spec.Execution)
	if err != nil {
		p.View.Admission = operation.Known[podspec.AdmissionInputs]{State: operation.Unknown, Fresh: true}
		return
	}
	p.View.Admission = operation.Known[podspec.AdmissionInputs]{State: operation.Present, Fresh: true, Value: in}
}

func (w *World) admission(ctx context.Context, namespace string, x v1alpha1.Execution) (podspec.AdmissionInputs, error) {
	in := podspec.AdmissionInputs{Settings: w.Settings.Admission}
	account := x.ServiceAccountName
	if account == "" {
		account = "default"
	}
	sa := &corev1.ServiceAccount{}
	if found, err := w.find(ctx, types.NamespacedName{Namespace: namespace, Name: account}, sa); err != nil {
		return in, err
	} else if found {
		in.ServiceAccount = sa
	}
	var ranges corev1.LimitRangeList
	if err := w.Direct.List(ctx, &ranges, client.InNamespace(namespace)); err != nil {
		return in, fmt.Errorf("listing limit ranges of %s: %w", namespace, err)
	}
	in.LimitRanges = ranges.Items
	if x.RuntimeClassName != "" {
		rc := &nodev1.RuntimeClass{}
		if found, err := w.find(ctx, types.NamespacedName{Name: x.RuntimeClassName}, rc); err != nil {
			return in, err
		} else if found {
			in.RuntimeClass = rc
		}
	}
	return in, w.priority(ctx, x.PriorityClassName, &in)
}

func (w *World) priority(ctx context.Context, name string, in *podspec.AdmissionInputs) error {
	if name != "" {
		pc := &schedulingv1.PriorityClass{}
		found, err := w.find(ctx, types.NamespacedName{Name: name}, pc)
		if found {
			in.PriorityClass = pc
		}
		return err
	}
	var all schedulingv1.PriorityClassList
	if err := w.Direct.List(ctx, &all); err != nil {
		return fmt.Errorf("listing priority classes: %w", err)
	}
	in.PriorityClass = podspec.DefaultPriorityClass(all.Items)
	return nil
}

func (w *World) find(ctx context.Context, name types.NamespacedName, into client.Object) (bool, error) {
	err := w.Direct.Get(ctx, name, into)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", name, err)
	}
	return true, nil
}

// stable takes out of an Event's message what changes from one try to the next: the Pod's generated name.
func stable(message string) string {
	words := strings.Fields(oneLine(message))
	for i, word := range words {
		if strings.HasPrefix(word, `"ptah-`) {
			words[i] = `"…"`
		}
	}
	return strings.Join(words, " ")
}

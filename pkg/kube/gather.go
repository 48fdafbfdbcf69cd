package kube

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/realm"
	"github.com/ptah-run/ptah/pkg/schema"
)

// Pass is one look at one PtahSchema: the snapshot that is decided on, and what reading more of it needs.
type Pass struct {
	Key      Key
	Schema   *v1alpha1.PtahSchema
	View     *schema.View
	Snapshot operation.Snapshot

	world   *World
	job     *batchv1.Job                   // as it was seen, for judging its Pods
	jobAt   time.Time                      // when this process wrote it; meaningless for one from the cache
	scanned []metav1.PartialObjectMetadata // Pods of the namespace that belong to Jobs, as one reading found them; nil before
}

// Gather takes a first look, from the caches. The second result is false where the schema is gone.
func (w *World) Gather(ctx context.Context, k Key) (*Pass, bool, error) {
	s, fresh, err := w.latest(ctx, k)
	if err != nil || s == nil {
		return nil, false, err
	}
	p := &Pass{Key: k, world: w}
	p.adopt(s, fresh)
	p.look(ctx)
	return p, true, nil
}

// look fills the snapshot from memory and caches.
func (p *Pass) look(ctx context.Context) {
	p.recall()
	p.cachedJob(ctx)
	p.proofPods(ctx, false)
	p.cachedApprovals(ctx)
	p.census(ctx, p.world.Cached, false)
}

// latest is the newest version of the schema that this process knows of.
func (w *World) latest(ctx context.Context, k Key) (*v1alpha1.PtahSchema, bool, error) {
	var written client.Object
	direct := false
	w.Memory.with(k, func(r *recollection) { written, direct = r.object, r.direct })
	reader := w.Cached
	if direct {
		reader = w.Direct
	}
	s := &v1alpha1.PtahSchema{}
	err := reader.Get(ctx, k.NamespacedName, s)
	if apierrors.IsNotFound(err) {
		w.Memory.Forget(k)
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading schema %s: %w", k.NamespacedName, err)
	}
	if ours, ok := written.(*v1alpha1.PtahSchema); ok && !direct && ours.UID == s.UID && newer(ours.ResourceVersion, s.ResourceVersion) {
		return ours.DeepCopy(), false, nil
	}
	if written != nil {
		w.Memory.Arrived(k, written.GetResourceVersion())
	}
	return s, direct, nil
}

// adopt makes a version of the schema the one that the pass is about.
func (p *Pass) adopt(s *v1alpha1.PtahSchema, fresh bool) {
	w := p.world
	p.Schema = s
	if p.View == nil {
		p.View = &schema.View{Now: w.Clock(), Nonce: w.Nonce(), Identity: w.Settings.Identity}
	}
	p.View.Schema = s
	p.Snapshot.Now, p.Snapshot.Nonce, p.Snapshot.Family = p.View.Now, p.View.Nonce, p.View
	p.Snapshot.StateVersion = int64(w.Settings.Identity.ControllerStateVersion)
	p.Snapshot.Resource = operation.Resource{
		UID: string(s.UID), Generation: s.Generation, Fresh: fresh, Deleting: s.DeletionTimestamp != nil,
		Finalizer: hasFinalizer(s, v1alpha1.SchemaFinalizer), Suspended: s.Spec.Suspend,
	}
}

func hasFinalizer(o client.Object, name string) bool {
	for _, f := range o.GetFinalizers() {
		if f == name {
			return true
		}
	}
	return false
}

// recall brings in what this process remembers. A resource made again under the same name starts with nothing.
func (p *Pass) recall() {
	p.world.Memory.with(p.Key, func(r *recollection) {
		if r.uid != p.Schema.UID {
			*r = recollection{uid: p.Schema.UID, object: r.object, version: r.version}
		}
		p.Snapshot.Permit, p.Snapshot.Refusal = r.permit, r.refusal
		op := p.Schema.Status.ActiveOperation
		if op == nil {
			r.published, r.result, r.job = nil, operation.Result{}, nil
			return
		}
		if r.result.ClaimID == op.ID {
			p.Snapshot.Result = r.result
		}
		if r.forClaim == op.ID {
			p.View.Published = r.published
		}
		if r.job != nil && r.job.Name == op.JobName {
			p.job, p.jobAt = r.job, r.jobAt
		}
	})
}

// cacheLag is how long a Job that this process wrote may be missing in the cache before that means that somebody deleted it.
const cacheLag = 5 * time.Second

// cachedJob looks the claim's Job and its Pods up in the caches.
func (p *Pass) cachedJob(ctx context.Context) {
	op := p.Schema.Status.ActiveOperation
	if op == nil {
		return
	}
	job := &batchv1.Job{}
	name := types.NamespacedName{Namespace: p.Schema.Namespace, Name: op.JobName}
	err := p.world.Cached.Get(ctx, name, job)
	if err == nil && slimJob(job) {
		err = p.world.Direct.Get(ctx, name, job)
	}
	switch {
	case err == nil && (p.job == nil || p.job.UID != job.UID || !newer(p.job.ResourceVersion, job.ResourceVersion)):
		p.job = job
	case err != nil && !apierrors.IsNotFound(err):
		p.Snapshot.Job.State = operation.Unknown
		return
	case err != nil && p.job != nil && p.View.Now.Sub(p.jobAt) >= cacheLag:
		p.job = nil
	}
	if p.job == nil {
		p.Snapshot.Job.State = operation.Absent
		return
	}
	p.seeJob(false)
	p.pods(ctx, false)
	p.podless(ctx)
}

func (p *Pass) seeJob(fresh bool) {
	p.Snapshot.Job = operation.Known[operation.Job]{
		State: operation.Present, Fresh: fresh, Value: jobFacts(p.job, schema.MatchJob(p.Schema, p.job)),
	}
}

// podless asks why a Job has no Pod. Both the cache and the Job's own counters must say that there never was one.
func (p *Pass) podless(ctx context.Context) {
	j, st := &p.Snapshot.Job.Value, p.job.Status
	counted := st.Active > 0 || st.Failed > 0 || st.Succeeded > 0 ||
		(st.UncountedTerminatedPods != nil && len(st.UncountedTerminatedPods.Succeeded)+len(st.UncountedTerminatedPods.Failed) > 0)
	if p.Snapshot.Pods.State == operation.Absent && !counted && !j.Terminal && p.View.Now.Sub(j.Created) >= troubleAfter {
		j.Trouble = p.world.jobTrouble(ctx, p.job)
	}
}

// pods lists what the claim's Job owns, by its UID: labels can be copied, an owner cannot be shared.
func (p *Pass) pods(ctx context.Context, fresh bool) {
	if p.job == nil {
		p.Snapshot.Pods = operation.Known[[]operation.Pod]{State: operation.Absent, Fresh: fresh}
		return
	}
	owned, err := p.ownedPods(ctx, fresh, p.job.Name, p.job.UID)
	if err != nil {
		p.Snapshot.Pods = operation.Known[[]operation.Pod]{State: operation.Unknown, Fresh: fresh}
		return
	}
	facts := make([]operation.Pod, 0, len(owned))
	for i := range owned {
		pod := &owned[i]
		if slimPod(pod) {
			pod = &corev1.Pod{}
			found, err := p.world.find(ctx, client.ObjectKeyFromObject(&owned[i]), pod)
			if err != nil {
				p.Snapshot.Pods = operation.Known[[]operation.Pod]{State: operation.Unknown, Fresh: fresh}
				return
			}
			if !found {
				continue
			}
		}
		facts = append(facts, podFacts(pod, schema.MatchPod(p.Schema, p.job, pod)))
	}
	p.Snapshot.Pods = known(facts, fresh)
}

func known(facts []operation.Pod, fresh bool) operation.Known[[]operation.Pod] {
	state := operation.Present
	if len(facts) == 0 {
		state = operation.Absent
	}
	return operation.Known[[]operation.Pod]{State: state, Fresh: fresh, Value: facts}
}

// ownedPods finds Pods by their owner. A Job whose UID nobody learned is found by its name. A fresh look goes through the whole namespace, because
// labels are for anybody to change; of a Pod that is not owned it fetches the metadata alone.
func (p *Pass) ownedPods(ctx context.Context, fresh bool, job string, uid types.UID) ([]corev1.Pod, error) {
	owned := func(o client.Object) bool {
		return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
			return r.Kind == "Job" && r.Name == job && (uid == "" || r.UID == uid)
		})
	}
	namespace := p.Schema.Namespace
	if !fresh {
		var list corev1.PodList
		if err := p.world.Cached.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{podOwnerIndex: job}); err != nil {
			return nil, fmt.Errorf("listing pods of job %s/%s: %w", namespace, job, err)
		}
		return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool { return !owned(&pod) }), nil
	}
	if err := p.scanPods(ctx); err != nil {
		return nil, err
	}
	var out []corev1.Pod
	for i := range p.scanned {
		if !owned(&p.scanned[i]) {
			continue
		}
		var pod corev1.Pod
		found, err := p.world.find(ctx, client.ObjectKeyFromObject(&p.scanned[i]), &pod)
		if err != nil {
			return nil, err
		}
		if found && owned(&pod) {
			out = append(out, pod)
		}
	}
	return out, nil
}

// scanPods lists the metadata of the namespace's Pods that some Job owns, once for each reading.
func (p *Pass) scanPods(ctx context.Context) error {
	if p.scanned != nil {
		return nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	scanned := []metav1.PartialObjectMetadata{}
	err := pages(ctx, p.world.Direct, list, func(list *metav1.PartialObjectMetadataList) {
		for i := range list.Items {
			if m := &list.Items[i]; slices.ContainsFunc(m.OwnerReferences, func(r metav1.OwnerReference) bool { return r.Kind == "Job" }) {
				scanned = append(scanned, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name, OwnerReferences: m.OwnerReferences}})
			}
		}
	}, client.InNamespace(p.Schema.Namespace))
	if err != nil {
		return fmt.Errorf("listing the pods of %s: %w", p.Schema.Namespace, err)
	}
	p.scanned = scanned
	return nil
}

func (p *Pass) cachedApprovals(ctx context.Context) {
	var list v1alpha1.PtahSchemaApprovalList
	err := p.world.Cached.List(ctx, &list, client.InNamespace(p.Schema.Namespace), client.MatchingFields{approvalIndex: p.Schema.Name})
	p.View.Approvals = operation.Known[[]v1alpha1.PtahSchemaApproval]{State: operation.Present, Value: list.Items}
	if err != nil {
		p.View.Approvals = operation.Known[[]v1alpha1.PtahSchemaApproval]{State: operation.Unknown}
	}
}

// census counts who claims the schema's realm, over both families and all namespaces.
func (p *Pass) census(ctx context.Context, reader client.Reader, fresh bool) {
	self := SchemaClaimant(p.Schema)
	if self.Digest == "" {
		p.Snapshot.Census = operation.Known[operation.Census]{State: operation.Present, Fresh: fresh}
		return
	}
	others, err := claimants(ctx, reader, fresh, self.Digest, p.Schema.Spec.Target.CoordinationKey)
	if err != nil {
		p.Snapshot.Census = operation.Known[operation.Census]{State: operation.Unknown, Fresh: fresh}
		return
	}
	v := realm.Judge(self, others)
	p.Snapshot.Census = operation.Known[operation.Census]{State: operation.Present, Fresh: fresh, Value: operation.Census{
		Contested: v.Contested, Claimants: v.Claimants, Undeclared: v.Undeclared,
	}}
}

// SchemaClaimant is a schema as the census counts it.
func SchemaClaimant(s *v1alpha1.PtahSchema) realm.Claimant {
	return realm.Claimant{
		UID: string(s.UID), Digest: schema.Realm(s), Shared: s.Spec.Target.SharedRealm, Suspended: s.Spec.Suspend, Deleted: s.DeletionTimestamp != nil,
	}
}

// MigrationClaimant is a migration as the census counts it.
func MigrationClaimant(m *v1alpha1.PtahMigration) realm.Claimant {
	c := realm.Claimant{UID: string(m.UID), Shared: m.Spec.Target.SharedRealm, Suspended: m.Spec.Suspend, Deleted: m.DeletionTimestamp != nil}
	if engine, ok := realm.NormaliseEngine(m.Spec.Target.Engine); ok {
		c.Digest = realm.Digest(engine, m.Spec.Target.CoordinationKey)
	}
	return c
}

// claimants lists who claims a realm: from the index of the caches, or from the API server, which sends only those with the same key.
func claimants(ctx context.Context, reader client.Reader, direct bool, digest, coordinationKey string) ([]realm.Claimant, error) {
	var out []realm.Claimant
	schemas := func(list *v1alpha1.PtahSchemaList) {
		for i := range list.Items {
			out = append(out, SchemaClaimant(&list.Items[i]))
		}
	}
	migrations := func(list *v1alpha1.PtahMigrationList) {
		for i := range list.Items {
			out = append(out, MigrationClaimant(&list.Items[i]))
		}
	}
	var err error
	if direct {
		chosen := client.MatchingFields{v1alpha1.CoordinationKeyField: coordinationKey}
		if err = pages(ctx, reader, &v1alpha1.PtahSchemaList{}, schemas, chosen); err == nil {
			err = pages(ctx, reader, &v1alpha1.PtahMigrationList{}, migrations, chosen)
		}
	} else {
		var s v1alpha1.PtahSchemaList
		var m v1alpha1.PtahMigrationList
		indexed := client.MatchingFields{realmIndex: digest}
		if err = reader.List(ctx, &s, indexed, client.UnsafeDisableDeepCopy); err == nil {
			err = reader.List(ctx, &m, indexed, client.UnsafeDisableDeepCopy)
		}
		schemas(&s)
		migrations(&m)
	}
	if err != nil {
		return nil, fmt.Errorf("counting the claimants of a realm: %w", err)
	}
	return out, nil
}

// pageSize bounds one page of a list.
const pageSize = 500

func pages[L client.ObjectList](ctx context.Context, reader client.Reader, list L, visit func(L), opts ...client.ListOption) error {
	token := ""
	for {
		if err := reader.List(ctx, list, append(slices.Clone(opts), client.Limit(pageSize), client.Continue(token))...); err != nil {
			return err
		}
		visit(list)
		if token = list.GetContinue(); token == "" {
			return nil
		}
	}
}

// troubleAfter is how long a Job may have no Pod before anybody asks why.
const troubleAfter = 5 * time.Second

// jobTrouble says why a Job has no Pod, from the Job controller's own Events: a quota, an admission plugin or a webhook refused it.
func (w *World) jobTrouble(ctx context.Context, job *batchv1.Job) string {
	var list corev1.EventList
	err := w.Direct.List(ctx, &list, client.InNamespace(job.Namespace), client.MatchingFields{
		"involvedObject.uid": string(job.UID), "reason": "FailedCreate",
	}, client.Limit(20))
	newest := corev1.Event{}
	for i := range list.Items {
		if !list.Items[i].LastTimestamp.Before(&newest.LastTimestamp) {
			newest = list.Items[i]
		}
	}
	if err == nil && newest.Message == "" {
		return "" // nobody refused anything: the Job controller is merely slow
	}
	if err != nil {
		return "the Job controller has made no Pod yet; see the Events of Job " + job.Name
	}
	return "the cluster refuses the Pod: " + stable(newest.Message)
}

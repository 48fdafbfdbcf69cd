package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/podspec"
)

// ErrOutdated says that the pass decided on an older version of an object. Nothing was written.
var ErrOutdated = errors.New("the object changed meanwhile")

// WriteStatus replaces the status of the version that the pass was about.
func (p *Pass) WriteStatus(ctx context.Context, status *v1alpha1.PtahSchemaStatus) error {
	next := p.Schema.DeepCopy()
	next.Status = *status
	err := p.world.Writer.Status().Update(ctx, next)
	if err != nil {
		p.world.Memory.Distrust(p.Key)
		return outdated(err, "writing status of schema %s", p.Key.NamespacedName)
	}
	p.Schema = next
	p.world.Memory.Wrote(p.Key, next)
	return nil
}

// SetFinalizer adds or removes the lifecycle's finalizer.
func (p *Pass) SetFinalizer(ctx context.Context, present bool) error {
	finalizers := slices.DeleteFunc(slices.Clone(p.Schema.Finalizers), func(f string) bool { return f == v1alpha1.SchemaFinalizer })
	if present {
		finalizers = append(finalizers, v1alpha1.SchemaFinalizer)
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": p.Schema.ResourceVersion, "uid": p.Schema.UID, "finalizers": finalizers,
	}})
	if err != nil {
		return fmt.Errorf("encoding finalizers: %w", err)
	}
	next := p.Schema.DeepCopy()
	if err := p.world.Writer.Patch(ctx, next, client.RawPatch(types.MergePatchType, body)); err != nil {
		p.world.Memory.Distrust(p.Key)
		return outdated(err, "writing finalizers of schema %s", p.Key.NamespacedName)
	}
	p.Schema = next
	p.world.Memory.Wrote(p.Key, next)
	return nil
}

func outdated(err error, format string, args ...any) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return ErrOutdated
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// CreateJob creates the claim's Job. It is built before the permit is given up: an order that cannot be built was never sent.
func (p *Pass) CreateJob(ctx context.Context, c operation.Claim) error {
	job, err := p.View.Job(c)
	if err != nil {
		return err
	}
	p.world.Memory.Surrender(p.Key)
	if err := p.world.Writer.Create(ctx, job); err != nil {
		return fmt.Errorf("creating job %s/%s: %w", job.Namespace, job.Name, err)
	}
	p.world.Memory.WroteJob(p.Key, job, p.world.Clock())
	return nil
}

// ScheduleCleanup gives exactly this Job its time to live.
func (p *Pass) ScheduleCleanup(ctx context.Context, s operation.ScheduleCleanup) error {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": s.JobUID},
		"spec":     map[string]any{"ttlSecondsAfterFinished": podspec.CleanupTTLSeconds},
	})
	if err != nil {
		return fmt.Errorf("encoding cleanup: %w", err)
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: p.Schema.Namespace, Name: s.JobName}}
	if err := p.world.Writer.Patch(ctx, job, client.RawPatch(types.MergePatchType, body)); err != nil {
		return outdated(err, "scheduling the cleanup of job %s/%s", job.Namespace, job.Name)
	}
	p.world.Memory.WroteJob(p.Key, job, p.world.Clock())
	return nil
}

// MarkApproval writes a verdict on an approval, on the very object that was judged.
func (p *Pass) MarkApproval(ctx context.Context, m operation.Mark) (*v1alpha1.PtahSchemaApproval, error) {
	a := &v1alpha1.PtahSchemaApproval{}
	name := types.NamespacedName{Namespace: p.Schema.Namespace, Name: m.Name}
	if err := p.world.Direct.Get(ctx, name, a); err != nil {
		return nil, outdated(err, "reading approval %s", name)
	}
	if string(a.UID) != m.UID {
		return nil, ErrOutdated
	}
	if !approval.SetConditions(&a.Status.Conditions, m.Verdict, a.Generation, metav1.NewTime(p.View.Now)) {
		// It was said already, and whoever said it told people: the caches that this pass looked at lag behind.
		return nil, ErrOutdated
	}
	a.Status.ObservedGeneration = a.Generation
	if err := p.world.Writer.Status().Update(ctx, a); err != nil {
		return nil, outdated(err, "marking approval %s", name)
	}
	return a, nil
}

// Publish stores a plan: chunks first, then the object that names them, then everything is read back, and only then is it Ready. Each part
// has a deterministic name, so a publication that was interrupted is continued.
func (p *Pass) Publish(ctx context.Context, pub plan.Publication) (*v1alpha1.PtahSchemaPlan, error) {
	w := p.world
	for _, chunk := range pub.Chunks {
		if err := w.Writer.Create(ctx, chunk); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("storing chunk %s/%s: %w", chunk.Namespace, chunk.Name, err)
		}
	}
	object := pub.Plan.DeepCopy()
	err := w.Writer.Create(ctx, object)
	if apierrors.IsAlreadyExists(err) {
		err = w.Direct.Get(ctx, client.ObjectKeyFromObject(pub.Plan), object)
	}
	if err != nil {
		return nil, fmt.Errorf("storing plan %s/%s: %w", pub.Plan.Namespace, pub.Plan.Name, err)
	}
	if !equality.Semantic.DeepEqual(object.Spec, pub.Plan.Spec) || !metav1.IsControlledBy(object, p.Schema) || object.DeletionTimestamp != nil {
		return nil, fmt.Errorf("storing plan %s/%s: another object stands under its name; delete it", object.Namespace, object.Name)
	}
	return object, p.commit(ctx, object)
}

// commit reads every chunk back and records which ConfigMap it is.
func (p *Pass) commit(ctx context.Context, object *v1alpha1.PtahSchemaPlan) error {
	published := make([]v1alpha1.PublishedChunk, 0, len(object.Spec.Chunks))
	for _, ref := range object.Spec.Chunks {
		cm := &corev1.ConfigMap{}
		if err := p.world.Direct.Get(ctx, types.NamespacedName{Namespace: object.Namespace, Name: ref.Name}, cm); err != nil {
			return fmt.Errorf("reading chunk %s/%s back: %w", object.Namespace, ref.Name, err)
		}
		if err := plan.CheckChunk(p.Schema, ref, cm); err != nil {
			return fmt.Errorf("reading chunk %s/%s back: %w", object.Namespace, ref.Name, err)
		}
		published = append(published, v1alpha1.PublishedChunk{Index: ref.Index, Name: ref.Name, UID: cm.UID})
	}
	if approval.Stored(object) && slices.Equal(object.Status.PublishedChunks, published) {
		return nil
	}
	object.Status.PublishedChunks = published
	object.Status.ObservedGeneration = object.Generation
	meta.SetStatusCondition(&object.Status.Conditions, metav1.Condition{
		Type: string(v1alpha1.ConditionReady), Status: metav1.ConditionTrue, Reason: string(v1alpha1.ReasonPublished),
		Message: "every chunk is stored and was read back", ObservedGeneration: object.Generation,
	})
	if err := p.world.Writer.Status().Update(ctx, object); err != nil {
		return fmt.Errorf("recording the chunks of plan %s/%s: %w", object.Namespace, object.Name, err)
	}
	return nil
}

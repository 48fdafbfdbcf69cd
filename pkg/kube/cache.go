package kube

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Fields that the caches are indexed by.
const (
	realmIndex    = "ptah.realm"  // coordination digest, of schemas and migrations
	approvalIndex = "ptah.schema" // name of the schema that an approval is about
	podOwnerIndex = "ptah.job"    // name of the Job that a Pod belongs to
)

// CacheOptions bound what the caches hold: our own kinds, and the Jobs and Pods that carry our label, without their bookkeeping.
func CacheOptions() cache.Options {
	ours := labels.SelectorFromSet(labels.Set{v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue})
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&batchv1.Job{}: {Label: ours, Transform: slim},
			&corev1.Pod{}:  {Label: ours, Transform: slim},
		},
		ReaderFailOnMissingInformer: false,
	}
}

// slim keeps of a Job whose cleanup is due, and of a Pod that has ended, what says how it ended. They are most of what there is, wait for nothing but
// their deletion, and who still has to judge their shape reads it from the API server.
func slim(o any) (any, error) {
	switch x := o.(type) {
	case *batchv1.Job:
		x.ManagedFields = nil
		if x.Spec.TTLSecondsAfterFinished != nil {
			x.Annotations, x.Spec.Template = nil, corev1.PodTemplateSpec{}
		}
	case *corev1.Pod:
		x.ManagedFields = nil
		if ended(x) {
			names := make([]corev1.Container, 0, len(x.Spec.InitContainers)) // for resultContainer
			for i := range x.Spec.InitContainers {
				names = append(names, corev1.Container{Name: x.Spec.InitContainers[i].Name})
			}
			x.Annotations, x.Spec = nil, corev1.PodSpec{InitContainers: names}
		}
	}
	return o, nil
}

// slimJob reports whether a Job came through slim with its shape taken away.
func slimJob(job *batchv1.Job) bool {
	return job.Spec.TTLSecondsAfterFinished != nil && len(job.Spec.Template.Spec.Containers) == 0
}

// slimPod reports the same of a Pod.
func slimPod(pod *corev1.Pod) bool { return ended(pod) && len(pod.Spec.Containers) == 0 }

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Index prepares the lookups of the caches. It is called once, before they start.
func Index(ctx context.Context, indexer client.FieldIndexer) error {
	for _, i := range []struct {
		object client.Object
		field  string
		value  func(client.Object) []string
	}{
		{&v1alpha1.PtahSchema{}, realmIndex, func(o client.Object) []string { return text(SchemaClaimant(o.(*v1alpha1.PtahSchema)).Digest) }},
		{&v1alpha1.PtahMigration{}, realmIndex, func(o client.Object) []string { return text(MigrationClaimant(o.(*v1alpha1.PtahMigration)).Digest) }},
		{&v1alpha1.PtahSchemaApproval{}, approvalIndex, func(o client.Object) []string {
			return text(o.(*v1alpha1.PtahSchemaApproval).Spec.SchemaRef.Name)
		}},
		{&corev1.Pod{}, podOwnerIndex, func(o client.Object) []string {
			if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "Job" {
				return text(owner.Name)
			}
			return nil
		}},
	} {
		if err := indexer.IndexField(ctx, i.object, i.field, i.value); err != nil {
			return fmt.Errorf("indexing %s: %w", i.field, err)
		}
	}
	return nil
}

func text(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const floorNamespace = "bench-floor"

// floor runs as many Jobs as the cold start needs, with the same images and no work in them, as many chains side by side as there are schemas.
func (b *bench) floor(ctx context.Context) (time.Duration, error) {
	if err := b.DeleteNamespace(ctx, floorNamespace); err != nil {
		return 0, err
	}
	if err := b.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: floorNamespace}}); err != nil {
		return 0, fmt.Errorf("making namespace %s: %w", floorNamespace, err)
	}
	began := time.Now()
	chains, ctx := errgroup.WithContext(ctx)
	for chain := range b.count {
		chains.Go(func() error {
			for link := range operations {
				if err := b.runBare(ctx, fmt.Sprintf("bare-%d-%d", chain, link), link); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := chains.Wait(); err != nil {
		return 0, err
	}
	elapsed := time.Since(began)
	return elapsed, b.DeleteNamespace(context.WithoutCancel(ctx), floorNamespace)
}

// stages is how many containers the operation at a place of the chain has: Resolve and Verify one, Apply two, the others three.
var stages = [operations]int{1, 1, 3, 3, 2, 3, 3}

func (b *bench) runBare(ctx context.Context, name string, link int) error {
	container := func(n string) corev1.Container {
		return corev1.Container{Name: n, Image: b.Images["manager"], Command: []string{"/ptah-runner", "engine", "version"}}
	}
	spec := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: ptr.To(false), Containers: []corev1.Container{container("operation")}}
	for i := 1; i < stages[link]; i++ {
		spec.InitContainers = append(spec.InitContainers, container(fmt.Sprintf("init-%d", i)))
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: floorNamespace},
		Spec:       batchv1.JobSpec{BackoffLimit: ptr.To(int32(0)), Template: corev1.PodTemplateSpec{Spec: spec}},
	}
	if err := b.client.Create(ctx, job); err != nil {
		return fmt.Errorf("creating Job %s: %w", name, err)
	}
	for job.Status.Succeeded == 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if err := b.client.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return fmt.Errorf("reading Job %s: %w", name, err)
		}
		if job.Status.Failed > 0 {
			return fmt.Errorf("bare Job %s failed", name)
		}
	}
	return nil
}

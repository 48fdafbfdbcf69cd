package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/intent"
)

const floorNamespace = "floor"

// sequence is what one schema needs from nothing to InSync.
var sequence = [operations]intent.Operation{intent.Resolve, intent.Verify, intent.Observe, intent.Plan, intent.Apply, intent.Observe, intent.Plan}

// floor runs as many bare Jobs as the cold start needs through the same node, as many chains side by side as there are schemas, with the same share
// of slow ones: what the API server and the node can do. No manager runs meanwhile.
func (b *bench) floor(ctx context.Context) (chains, error) {
	limited, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	began := time.Now()
	group, limited := errgroup.WithContext(limited)
	var mu sync.Mutex
	var took []time.Duration
	for chain := range b.count {
		group.Go(func() error {
			for link, operation := range sequence {
				if err := b.runBare(limited, operation, fmt.Sprintf("bare-%04d-%d", chain, link)); err != nil {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(began))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return chains{}, err
	}
	for _, o := range []client.Object{&batchv1.Job{}, &corev1.Pod{}} {
		if err := b.client.DeleteAllOf(ctx, o, client.InNamespace(floorNamespace), client.PropagationPolicy(metav1.DeletePropagationBackground), client.GracePeriodSeconds(0)); err != nil {
			return chains{}, fmt.Errorf("deleting bare %T: %w", o, err)
		}
	}
	return chainsOf(took), nil
}

// runBare creates a Job and waits for its end.
func (b *bench) runBare(ctx context.Context, operation intent.Operation, name string) error {
	order, err := intent.Encode(intent.Intent{ProtocolVersion: intent.ProtocolVersion, Operation: operation, OperationID: name, ResourceUID: bareUID})
	if err != nil {
		return err
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: floorNamespace, Name: name, Labels: map[string]string{v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue}},
		Spec: batchv1.JobSpec{BackoffLimit: ptr.To(int32(0)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: v1alpha1.OperationContainer, Image: "bare", Env: []corev1.EnvVar{{Name: v1alpha1.IntentEnv, Value: order}}}},
		}}},
	}
	if err := b.client.Create(ctx, job); err != nil {
		return fmt.Errorf("creating Job %s: %w", name, err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("waiting for Job %s: %w", name, ctx.Err())
	case ok := <-b.view.finish(job.UID):
		if !ok {
			return fmt.Errorf("bare Job %s failed", name)
		}
		return nil
	}
}

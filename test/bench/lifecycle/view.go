package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// view is what the cluster's watches tell: schemas, Jobs and Leases.
type view struct {
	leases leases

	mu      sync.Mutex
	settled map[types.UID]bool          // schemas, as they are now
	first   map[types.UID]time.Time     // when a schema was settled first
	expires map[client.ObjectKey]expiry // finished Jobs with a cleanup time
	bare    map[types.UID]chan bool     // bare Jobs: whether they succeeded
}

type expiry struct {
	uid types.UID
	at  time.Time
}

func watchCluster(ctx context.Context, config *rest.Config, scheme *runtime.Scheme) (*view, error) {
	v := &view{
		leases: leases{held: map[string]held{}}, settled: map[types.UID]bool{}, first: map[types.UID]time.Time{},
		expires: map[client.ObjectKey]expiry{}, bare: map[types.UID]chan bool{},
	}
	informers, err := cache.New(config, cache.Options{Scheme: scheme, ByObject: map[client.Object]cache.ByObject{
		&coordinationv1.Lease{}: {Namespaces: map[string]cache.Config{coordination: {}}},
	}})
	if err != nil {
		return nil, fmt.Errorf("preparing to watch: %w", err)
	}
	for _, object := range []client.Object{&v1alpha1.PtahSchema{}, &batchv1.Job{}, &coordinationv1.Lease{}} {
		informer, err := informers.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err == nil {
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
				AddFunc: v.see, UpdateFunc: func(_, now any) { v.see(now) }, DeleteFunc: v.gone,
			})
		}
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", object, err)
		}
	}
	go func() { _ = informers.Start(ctx) }()
	if !informers.WaitForCacheSync(ctx) {
		return nil, errors.New("waiting for the first lists: they did not come")
	}
	go func() {
		for sleep(ctx, 200*time.Millisecond) == nil {
			v.leases.look(time.Now())
		}
	}()
	return v, nil
}

func (v *view) see(object any) {
	switch o := object.(type) {
	case *coordinationv1.Lease:
		v.leases.see(o, time.Now())
	case *v1alpha1.PtahSchema:
		v.seeSchema(o)
	case *batchv1.Job:
		v.seeJob(o)
	}
}

func (v *view) gone(object any) {
	if unknown, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	switch o := object.(type) {
	case *coordinationv1.Lease:
		v.leases.gone(o, time.Now())
	case *batchv1.Job:
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.expires, client.ObjectKeyFromObject(o))
	}
}

func (v *view) seeSchema(s *v1alpha1.PtahSchema) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.settled[s.UID] = s.Status.Phase == v1alpha1.SchemaPhaseInSync && s.Status.Applied != nil && s.Status.ActiveOperation == nil &&
		s.Status.PendingLockRelease == nil && s.Status.ObservedGeneration == s.Generation
	if v.settled[s.UID] && v.first[s.UID].IsZero() {
		v.first[s.UID] = time.Now()
	}
}

func (v *view) seeJob(job *batchv1.Job) {
	done, ok, at := outcome(job)
	if !done {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if job.Namespace == floorNamespace {
		select {
		case v.end(job.UID) <- ok:
		default: // told already
		}
	}
	if ttl := job.Spec.TTLSecondsAfterFinished; ttl != nil && job.DeletionTimestamp == nil {
		v.expires[client.ObjectKeyFromObject(job)] = expiry{job.UID, at.Add(time.Duration(*ttl) * time.Second)}
	}
}

func outcome(job *batchv1.Job) (done, ok bool, at time.Time) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return true, c.Type == batchv1.JobComplete, c.LastTransitionTime.Time
		}
	}
	return false, false, time.Time{}
}

// finish tells how a bare Job ends; it may have ended already.
func (v *view) finish(uid types.UID) <-chan bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.end(uid)
}

func (v *view) end(uid types.UID) chan bool {
	if v.bare[uid] == nil {
		v.bare[uid] = make(chan bool, 1)
	}
	return v.bare[uid]
}

// started counts the schemas that were settled once.
func (v *view) started() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.first)
}

// settledFrom counts the schemas that were seen settled at some instant since the first call: some are being refreshed at any one of them.
func (v *view) settledFrom() func() int {
	seen := map[types.UID]bool{}
	return func() int {
		v.mu.Lock()
		defer v.mu.Unlock()
		for uid, settled := range v.settled {
			if settled {
				seen[uid] = true
			}
		}
		return len(seen)
	}
}

// chains is how long one schema took to be settled, and all of them.
func (v *view) chains(began time.Time) chains {
	v.mu.Lock()
	defer v.mu.Unlock()
	var took []time.Duration
	for _, at := range v.first {
		took = append(took, at.Sub(began))
	}
	return chainsOf(took)
}

// chains is the middle and the longest of the times that chains of operations took side by side.
type chains struct{ median, all time.Duration }

func chainsOf(took []time.Duration) chains {
	slices.Sort(took)
	return chains{took[len(took)/2], took[len(took)-1]}
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

const (
	// watchLength is how long one watch lives. It is shorter than a request may take, so that the server ends it and nothing breaks off.
	watchLength = requestTimeout - 10*time.Second
	// pauseBetween is how long to wait after a watch that broke, and between two looks where watching is forbidden.
	pauseBetween = 2 * time.Second
)

// ErrGone says that the object that was followed does not exist any more.
var ErrGone = errors.New("the object is gone")

// FollowSchema calls visit with a PtahSchema as it is now and after every change, until visit reports that it has seen enough. A watch that
// expires or breaks is made again from a fresh read. With ErrGone the object was deleted; it ends there even when one of the same name
// comes after it.
func (c *Client) FollowSchema(ctx context.Context, namespace, name string, visit func(*v1alpha1.PtahSchema) bool) error {
	return follow(ctx, c, Schemas, namespace, name, c.Schema, visit)
}

// FollowMigration does the same for a PtahMigration.
func (c *Client) FollowMigration(ctx context.Context, namespace, name string, visit func(*v1alpha1.PtahMigration) bool) error {
	return follow(ctx, c, Migrations, namespace, name, c.Migration, visit)
}

// object is a typed object with its metadata.
type object interface {
	runtime.Object
	metav1.Object
}

type getter[P object] func(ctx context.Context, namespace, name string) (P, error)

func follow[P object](ctx context.Context, c *Client, resource, namespace, name string, get getter[P], visit func(P) bool) error {
	var first P
	watching := true
	found := false
	for {
		current, err := get(ctx, namespace, name)
		switch {
		case IsNotFound(err) && found:
			return ErrGone
		case err != nil && (!found || !passing(err)):
			return err
		case err != nil:
			if err := sleep(ctx, pauseBetween); err != nil {
				return err
			}
			continue
		case found && current.GetUID() != first.GetUID():
			return ErrGone
		}
		first, found = current, true
		if visit(current) {
			return nil
		}
		if watching {
			done, err := watchOne(ctx, c, resource, current, visit)
			switch {
			case done || errors.Is(err, ErrGone):
				return err
			case ctx.Err() != nil:
				return explain(ctx.Err(), c.host, "watching "+singular(resource)+" "+namespace+"/"+name, "watch", resource, namespace)
			case apierrors.IsForbidden(err):
				watching = false // looking again and again needs no other permission than the first look
			case err == nil:
				continue
			}
		}
		if err := sleep(ctx, pauseBetween); err != nil {
			return explain(err, c.host, "watching "+singular(resource)+" "+namespace+"/"+name, "watch", resource, namespace)
		}
	}
}

// watchOne watches one object from a version on, until visit has enough, the object goes, or the watch ends; then the caller reads again.
func watchOne[P object](ctx context.Context, c *Client, resource string, from P, visit func(P) bool) (bool, error) {
	seconds := int64(watchLength / time.Second)
	options := metav1.ListOptions{
		Watch: true, ResourceVersion: from.GetResourceVersion(), TimeoutSeconds: &seconds, AllowWatchBookmarks: true,
		FieldSelector: fields.OneTermEqualSelector("metadata.name", from.GetName()).String(),
	}
	stream, err := c.ptah.Get().Resource(resource).Namespace(from.GetNamespace()).VersionedParams(&options, metav1.ParameterCodec).Watch(ctx)
	if err != nil {
		return false, err
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		switch event.Type {
		case watch.Added, watch.Modified:
			changed, ok := event.Object.(P)
			if !ok {
				return false, fmt.Errorf("watching %s: the answer is of another kind", resource)
			}
			if changed.GetUID() != from.GetUID() {
				return false, ErrGone
			}
			if visit(changed) {
				return true, nil
			}
		case watch.Deleted:
			return false, ErrGone
		case watch.Error:
			return false, apierrors.FromObject(event.Object)
		}
	}
	return false, nil
}

// passing tells an error that may be over soon from one that needs somebody.
func passing(err error) bool {
	return !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !KindMissing(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

func sleep(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

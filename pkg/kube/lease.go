package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/realm"
)

// ErrHeld says that a Lease changed hands between the decision and the write. The next pass sees how it stands.
var ErrHeld = errors.New("the Lease is held otherwise")

// lease reads a realm's Lease from the API server; nil where there is none. Every look counts towards this process's own first sight.
func (w *World) lease(ctx context.Context, coordinationDigest string) (*coordinationv1.Lease, realm.Sight, error) {
	name, err := realm.LeaseName(coordinationDigest)
	if err != nil {
		return nil, realm.Sight{}, err
	}
	lease := &coordinationv1.Lease{}
	err = w.Direct.Get(ctx, types.NamespacedName{Namespace: w.Settings.CoordinationNamespace, Name: name}, lease)
	if apierrors.IsNotFound(err) {
		return nil, w.Memory.Look(name, nil, w.Clock()), nil
	}
	if err != nil {
		return nil, realm.Sight{}, fmt.Errorf("reading database lease %s: %w", name, err)
	}
	return lease, w.Memory.Look(name, lease, w.Clock()), nil
}

// leaseFacts reads what the lifecycle needs of a Lease.
func leaseFacts(lease *coordinationv1.Lease, sight realm.Sight) operation.Lease {
	record := realm.RecordOf(lease)
	out := operation.Lease{Holder: record.Holder, Epoch: record.Epoch, FirstSeen: sight.Since}
	if lease.Spec.LeaseDurationSeconds != nil {
		out.Seconds = *lease.Spec.LeaseDurationSeconds
	}
	if lease.Spec.RenewTime != nil {
		out.RenewedAt = lease.Spec.RenewTime.Time
	}
	return out
}

// AcquireLease takes a realm.
func (w *World) AcquireLease(ctx context.Context, s operation.AcquireLease) error {
	lease, sight, err := w.lease(ctx, s.Realm)
	if err != nil {
		return err
	}
	claim, err := w.leaseClaim(s.Realm, s.Holder, s.Epoch, s.Seconds)
	if err != nil {
		return err
	}
	return w.writeLease(ctx, realm.Acquire(lease, claim, sight))
}

// RenewLease prolongs exactly one acquisition.
func (w *World) RenewLease(ctx context.Context, s operation.RenewLease) error {
	lease, _, err := w.lease(ctx, s.Realm)
	if err != nil {
		return err
	}
	claim, err := w.leaseClaim(s.Realm, s.Holder, s.Epoch, s.Seconds)
	if err != nil {
		return err
	}
	return w.writeLease(ctx, realm.Renew(lease, claim))
}

// ReleaseLease hands exactly one acquisition back.
func (w *World) ReleaseLease(ctx context.Context, s operation.ReleaseLease) error {
	lease, _, err := w.lease(ctx, s.Realm)
	if err != nil {
		return err
	}
	return w.writeLease(ctx, realm.Release(lease, s.Holder, s.Epoch))
}

func (w *World) leaseClaim(coordinationDigest, holder, epoch string, seconds int32) (realm.Claim, error) {
	name, err := realm.LeaseName(coordinationDigest)
	if err != nil {
		return realm.Claim{}, err
	}
	return realm.Claim{
		Namespace: w.Settings.CoordinationNamespace, Name: name, Holder: holder, Epoch: epoch,
		Duration: time.Duration(seconds) * time.Second, Now: w.Clock(),
	}, nil
}

func (w *World) writeLease(ctx context.Context, d realm.Decision) error {
	var err error
	switch d.Action {
	case realm.Create:
		err = w.Writer.Create(ctx, d.Lease)
	case realm.Update:
		err = w.Writer.Update(ctx, d.Lease)
	case realm.Nothing:
		return nil
	default:
		return ErrHeld
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return ErrHeld
	}
	if err != nil {
		return fmt.Errorf("writing database lease %s: %w", d.Lease.Name, err)
	}
	return nil
}

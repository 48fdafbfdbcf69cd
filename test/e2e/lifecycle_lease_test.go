package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Somebody deletes, overwrites or lets expire the realm's Lease while an Apply runs. Its own result is thrown away, a fresh reading under a fresh
// acquisition tells what the database is like, and no Apply is credited.
func TestLeaseBrokenDuringAnApply(t *testing.T) {
	for _, c := range []struct {
		name string
		// breaks changes the Lease; it returns how long a foreign holder keeps everybody out.
		breaks func(t *testing.T, lease *coordinationv1.Lease) time.Duration
	}{
		{"lease-deleted", func(t *testing.T, lease *coordinationv1.Lease) time.Duration {
			require.NoError(t, cluster.Delete(t.Context(), lease, client.Preconditions{UID: &lease.UID}))
			return 0
		}},
		{"lease-taken", func(t *testing.T, lease *coordinationv1.Lease) time.Duration {
			seize(lease)
			require.NoError(t, cluster.Update(t.Context(), lease))
			return foreignHold
		}},
		{"lease-expired", func(t *testing.T, lease *coordinationv1.Lease) time.Duration {
			expire(lease)
			require.NoError(t, cluster.Update(t.Context(), lease))
			seize(lease) // as another manager may once it has expired
			require.NoError(t, cluster.Update(t.Context(), lease))
			return foreignHold
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLifecycle(t, c.name, 120)
			l.halt()
			claim := l.get().Status.ActiveOperation
			require.NotNil(t, claim)
			lease := l.lease()
			require.True(t, held(lease))
			require.Equal(t, claim.ID, *lease.Spec.HolderIdentity)
			broken := time.Now()
			foreign := c.breaks(t, lease)
			l.letGo()
			l.phase("InSync")

			assert.True(t, l.hasEvent(v1alpha1.EventLeaseContinuityLost), "Events: %v", l.events())
			assert.Equal(t, string(v1alpha1.ReasonConvergedAfterUnknownOutcome), l.reason(v1alpha1.ConditionInSync))
			assert.Nil(t, l.get().Status.Applied, "the result was discarded")
			proofs := l.jobsOf("observe")
			require.NotEmpty(t, proofs)
			last := proofs[0].CreationTimestamp.Time
			for _, job := range proofs {
				if job.CreationTimestamp.After(last) {
					last = job.CreationTimestamp.Time
				}
			}
			assert.False(t, last.Before(broken.Add(foreign).Truncate(time.Second)), "the proof waited for the foreign holder: read at %s, broken at %s", last, broken)
			l.accounted(1, 1)
		})
	}
}

// A Lease that expired and that nobody took is still this acquisition: nothing can have come in between, so the result counts.
func TestLeaseExpiredAndNotTakenDuringAnApply(t *testing.T) {
	t.Parallel()
	l := newLifecycle(t, "lease-late", 120)
	l.halt()
	lease := l.lease()
	epoch := lease.Annotations[v1alpha1.LeaseEpochAnnotation]
	expire(lease)
	require.NoError(t, cluster.Update(t.Context(), lease))
	l.eventually("the Lease is renewed for the claim's own duration", func() bool {
		now := l.lease()
		return now.Annotations[v1alpha1.LeaseEpochAnnotation] == epoch && now.Spec.RenewTime.After(lease.Spec.RenewTime.Add(time.Hour)) &&
			*now.Spec.LeaseDurationSeconds == l.get().Status.ActiveOperation.LeaseDurationSeconds
	})
	l.letGo()
	l.phase("InSync")
	assert.NotNil(t, l.get().Status.Applied)
	l.accounted(1, 1)
}

// foreignHold is how long the foreign holder's record says that it holds.
const foreignHold = 15 * time.Second

// seize writes another holder over the Lease, as a manager of another cluster or a person would.
func seize(lease *coordinationv1.Lease) {
	now := metav1.NowMicro()
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("somebody-else"), LeaseDurationSeconds: ptr.To(int32(foreignHold / time.Second)), AcquireTime: &now, RenewTime: &now,
	}
	lease.Annotations[v1alpha1.LeaseEpochAnnotation] = "v1-somebody-else"
}

// expire moves the renewal a day back and shortens the duration to a second.
func expire(lease *coordinationv1.Lease) {
	long := metav1.NewMicroTime(time.Now().Add(-24 * time.Hour))
	lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &long, ptr.To(int32(1))
}

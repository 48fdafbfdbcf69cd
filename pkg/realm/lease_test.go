package realm_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/realm"
)

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func claim(holder, epoch string, at time.Time) realm.Claim {
	return realm.Claim{Namespace: "coordination", Name: "ptah-realm-x", Holder: holder, Epoch: epoch, Duration: 90 * time.Second, Now: at}
}

// held is a Lease as the API server stores it after a first acquisition.
func held(t *testing.T, holder, epoch string, at time.Time) *coordinationv1.Lease {
	t.Helper()
	d := realm.Acquire(nil, claim(holder, epoch, at), realm.Sight{})
	require.Equal(t, realm.Create, d.Action)
	d.Lease.UID, d.Lease.ResourceVersion = "lease-uid", "1"
	return d.Lease
}

func TestAcquireFree(t *testing.T) {
	lease := held(t, "op-1", "e1", start)
	assert.Equal(t, "op-1", *lease.Spec.HolderIdentity)
	assert.EqualValues(t, 90, *lease.Spec.LeaseDurationSeconds)
	assert.Equal(t, "e1", lease.Annotations[v1alpha1.LeaseEpochAnnotation])
	assert.EqualValues(t, 0, *lease.Spec.LeaseTransitions)

	released := realm.Release(lease, "op-1", "e1")
	require.Equal(t, realm.Update, released.Action)
	assert.Nil(t, released.Lease.Spec.HolderIdentity)
	assert.Equal(t, "op-1", *lease.Spec.HolderIdentity, "what was read is never written into")

	d := realm.Acquire(released.Lease, claim("op-2", "e2", start.Add(time.Second)), realm.Sight{})
	require.Equal(t, realm.Update, d.Action)
	assert.Equal(t, "e2", d.Epoch)
	assert.Equal(t, "1", d.Lease.ResourceVersion, "the update is conditional on what was read")
	assert.EqualValues(t, 1, *d.Lease.Spec.LeaseTransitions)
}

func TestAcquireOursKeepsTheEpoch(t *testing.T) {
	lease := held(t, "op-1", "e1", start)
	d := realm.Acquire(lease, claim("op-1", "fresh", start.Add(time.Hour)), realm.Sight{})
	require.Equal(t, realm.Update, d.Action)
	assert.Equal(t, "e1", d.Epoch, "an acquisition whose epoch was not recorded is adopted")
	assert.Equal(t, lease.Spec.AcquireTime, d.Lease.Spec.AcquireTime)
	assert.Equal(t, lease.Spec.LeaseTransitions, d.Lease.Spec.LeaseTransitions)
	assert.True(t, lease.Spec.RenewTime.Before(d.Lease.Spec.RenewTime))
}

func TestAcquireForeignWaitsFromOurOwnFirstSight(t *testing.T) {
	lease := held(t, "op-1", "e1", start.Add(-24*time.Hour)) // its writer's clock is a day behind
	sight := realm.Look(realm.Sight{}, lease, start)
	d := realm.Acquire(lease, claim("op-2", "e2", start), sight)
	require.Equal(t, realm.Wait, d.Action)
	assert.Equal(t, start.Add(90*time.Second), d.RetryAt)
	d = realm.Acquire(lease, claim("op-2", "e2", start.Add(89*time.Second)), realm.Look(sight, lease, start.Add(89*time.Second)))
	require.Equal(t, realm.Wait, d.Action)
	d = realm.Acquire(lease, claim("op-2", "e2", start.Add(90*time.Second)), sight)
	require.Equal(t, realm.Update, d.Action)
	assert.Equal(t, "op-2", *d.Lease.Spec.HolderIdentity)

	renewed := lease.DeepCopy()
	renewed.ResourceVersion = "2"
	later := start.Add(80 * time.Second)
	d = realm.Acquire(renewed, claim("op-2", "e2", later), realm.Look(sight, renewed, later))
	assert.Equal(t, later.Add(90*time.Second), d.RetryAt, "a renewal starts the count over")
	d = realm.Acquire(renewed, claim("op-2", "e2", start.Add(time.Hour)), sight)
	assert.Equal(t, realm.Wait, d.Action, "a sight of another record counts for nothing")
}

func TestAcquireNeverTakesAnEndlessForeignLease(t *testing.T) {
	lease := held(t, "somebody", "e1", start)
	lease.Spec.LeaseDurationSeconds = nil
	sight := realm.Look(realm.Sight{}, lease, start)
	assert.Equal(t, realm.Wait, realm.Acquire(lease, claim("op-2", "e2", start.Add(1000*time.Hour)), sight).Action)
}

func TestRenewAndContinuity(t *testing.T) {
	lease := held(t, "op-1", "e1", start)
	d := realm.Renew(lease, claim("op-1", "e1", start.Add(time.Minute)))
	require.Equal(t, realm.Update, d.Action)
	assert.Equal(t, start.Add(time.Minute), d.Lease.Spec.RenewTime.Time)
	assert.Equal(t, "e1", d.Lease.Annotations[v1alpha1.LeaseEpochAnnotation])

	noEpoch := lease.DeepCopy()
	noEpoch.Annotations = nil
	freed := realm.Release(lease, "op-1", "e1").Lease
	for name, c := range map[string]struct {
		lease *coordinationv1.Lease
		claim realm.Claim
	}{
		"deleted":             {nil, claim("op-1", "e1", start)},
		"another holder":      {lease, claim("op-2", "e1", start)},
		"another acquisition": {lease, claim("op-1", "e2", start)},
		"epoch wiped":         {noEpoch, claim("op-1", "e1", start)},
		"released":            {freed, claim("op-1", "e1", start)},
		"no epoch recorded":   {noEpoch, claim("op-1", "", start)},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, realm.Lost, realm.Renew(c.lease, c.claim).Action)
			assert.False(t, realm.Holds(c.lease, c.claim.Holder, c.claim.Epoch))
			assert.Equal(t, realm.Nothing, realm.Release(c.lease, c.claim.Holder, c.claim.Epoch).Action, "what is lost is not released")
		})
	}
}

func TestSeconds(t *testing.T) {
	s, err := realm.Seconds(90*time.Second + time.Millisecond)
	require.NoError(t, err)
	assert.EqualValues(t, 91, s, "never shorter than asked for")
	for _, bad := range []time.Duration{0, -time.Second, 1 << 62} {
		_, err := realm.Seconds(bad)
		require.Error(t, err)
	}
}

// store is an API server with one Lease: writes are conditional on the version that was read.
type store struct {
	lease   *coordinationv1.Lease
	version int
}

func (s *store) write(d realm.Decision) bool {
	switch d.Action {
	case realm.Create:
		if s.lease != nil {
			return false
		}
	case realm.Update:
		if s.lease == nil || s.lease.ResourceVersion != d.Lease.ResourceVersion || s.lease.UID != d.Lease.UID {
			return false
		}
	default:
		return false
	}
	s.version++
	s.lease = d.Lease.DeepCopy()
	s.lease.UID, s.lease.ResourceVersion = "uid", fmt.Sprint(s.version)
	return true
}

// actor is one manager working for one operation after another, with a clock of its own. It trusts its hold for the Lease's duration from
// just before the write that it knows to have succeeded.
type actor struct {
	name   string
	skew   time.Duration
	sight  realm.Sight
	read   *coordinationv1.Lease // possibly stale
	op     int
	epoch  string
	until  time.Time // by the world's clock; zero while it holds nothing
	epochs int
}

func (a *actor) claim(world time.Time) realm.Claim {
	c := claim(fmt.Sprintf("%s-op-%d", a.name, a.op), a.epoch, world.Add(a.skew))
	if c.Epoch == "" {
		a.epochs++
		c.Epoch = fmt.Sprintf("%s-e%d", a.name, a.epochs)
	}
	return c
}

func TestNoTwoHoldersAtOnce(t *testing.T) {
	const duration = 90 * time.Second
	rapid.Check(t, func(t *rapid.T) {
		world, s := start, &store{}
		actors := []*actor{{name: "a"}, {name: "b"}, {name: "c"}}
		for _, a := range actors {
			a.skew = time.Duration(rapid.Int64Range(-1e6, 1e6).Draw(t, "skew")) * time.Second
		}
		for range rapid.IntRange(20, 200).Draw(t, "steps") {
			a := rapid.SampledFrom(actors).Draw(t, "actor")
			switch rapid.SampledFrom([]string{"read", "read", "acquire", "acquire", "renew", "release", "forget", "wait"}).Draw(t, "step") {
			case "read":
				a.read = s.lease.DeepCopy()
				a.sight = realm.Look(a.sight, a.read, world.Add(a.skew))
			case "acquire":
				if a.until.After(world) {
					continue
				}
				d := realm.Acquire(a.read, a.claim(world), a.sight)
				if s.write(d) && rapid.IntRange(0, 3).Draw(t, "reply lost") > 0 {
					a.epoch, a.until = d.Epoch, world.Add(duration)
				}
			case "renew":
				c := a.claim(world)
				switch d := realm.Renew(a.read, c); {
				case d.Action == realm.Lost && a.read != nil:
					a.epoch, a.until = "", time.Time{}
				case s.write(d):
					a.until = world.Add(duration)
				}
			case "release":
				if a.epoch == "" {
					continue
				}
				a.until = time.Time{} // stops working first, whatever becomes of the write
				c := a.claim(world)
				if d := realm.Release(a.read, c.Holder, c.Epoch); s.write(d) {
					a.op, a.epoch = a.op+1, ""
				}
			case "forget": // the manager dies: what it held is not given back, and it starts over with another operation
				a.op, a.epoch, a.until, a.sight, a.read = a.op+1, "", time.Time{}, realm.Sight{}, nil
			case "wait":
				world = world.Add(time.Duration(rapid.IntRange(1, 120).Draw(t, "seconds")) * time.Second)
			}
			var holders []string
			for _, x := range actors {
				if x.until.After(world) {
					holders = append(holders, x.name)
				}
			}
			require.LessOrEqual(t, len(holders), 1, "at once: %v", holders)
		}
	})
}

package clearunresolved

import (
	"context"
	"fmt"
	"strings"
	"time"

	coordination "k8s.io/api/coordination/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/realm"
	"github.com/ptah-run/ptah/pkg/unresolved"
	"github.com/ptah-run/ptah/plugin/cluster"
)

func untold(format string, args ...any) unresolved.Lease {
	return unresolved.Lease{Presence: unresolved.NotTold, Problem: fmt.Sprintf(format, args...)}
}

// leases looks for the Lease that the run took. Its database is the one that its plan was bound to, and only the plan says which: the spec may
// have been pointed at another since. Under the spec's database the Lease can still show that the run holds it, never that it does not.
func (o *clearOptions) leases(ctx context.Context, c *cluster.Client, m *v1alpha1.PtahMigration, planned string) unresolved.Lease {
	run := m.Status.UnresolvedRun
	namespace, sure, err := o.coordinationNamespace(ctx, c)
	if err != nil {
		return untold("%s (give --coordination-namespace)", err)
	}
	var now unresolved.Lease
	engine, supported := realm.NormaliseEngine(m.Spec.Target.Engine)
	if supported {
		now = lease(ctx, c, namespace, realm.Digest(engine, m.Spec.Target.CoordinationKey))
		if now.Holder != "" && now.Holder == run.OperationID {
			return now
		}
	}
	switch {
	case planned != "":
		now = lease(ctx, c, namespace, planned)
	case run.OperationID == "":
		if supported && now.Holder != "" {
			return now // which says who holds it, and that it cannot be told whether that is the run
		}
		return untold("the record names neither an operation nor a plan, so that it is not known which database's Lease the run took")
	default:
		now = held(ctx, c, namespace, run.OperationID)
	}
	if now.Presence == unresolved.Gone && !sure {
		return untold("there is none in namespace %s, and that the operator keeps its Leases there is not known", namespace)
	}
	return now
}

// coordinationNamespace is where the operator keeps its Leases. One that was given is believed as far as something is found there; sure says
// that the operator's own configuration names it.
func (o *clearOptions) coordinationNamespace(ctx context.Context, c *cluster.Client) (namespace string, sure bool, err error) {
	where, err := c.Coordination(ctx)
	if o.coordination == "" {
		return where.Namespace, true, err
	}
	return o.coordination, err == nil && where.Namespace == o.coordination, nil
}

// lease reads the Lease of one realm.
func lease(ctx context.Context, c *cluster.Client, namespace, digest string) unresolved.Lease {
	name, err := realm.LeaseName(digest)
	if err != nil {
		return untold("%s", err)
	}
	found, err := c.Lease(ctx, namespace, name)
	switch {
	case cluster.IsNotFound(err):
		return unresolved.Lease{Presence: unresolved.Gone}
	case err != nil:
		return untold("%s", cluster.WhyOf(err))
	}
	return of(found)
}

// held looks through all Leases for one that an operation holds: its plan is gone, and with it which database it was in. Where there is no
// Lease at all, nothing says that any was given back.
func held(ctx context.Context, c *cluster.Client, namespace, operation string) unresolved.Lease {
	answer := unresolved.Lease{Presence: unresolved.Gone}
	err := cluster.EachObject(ctx, c, cluster.KindLeases, cluster.Query{Namespace: namespace}, func(l *coordination.Lease) error {
		switch {
		case answer.Holder != "" || !strings.HasPrefix(l.Name, v1alpha1.RealmLeasePrefix):
		case l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity == operation:
			answer = of(l)
		default:
			answer = unresolved.Lease{Presence: unresolved.There, Searched: true}
		}
		return nil
	})
	if err != nil {
		return untold("its plan is gone or cannot be read, so that it is not known which database's it is; looking through all: %s", cluster.WhyOf(err))
	}
	return answer
}

func of(l *coordination.Lease) unresolved.Lease {
	answer := unresolved.Lease{Presence: unresolved.There}
	if l.Spec.HolderIdentity != nil {
		answer.Holder = *l.Spec.HolderIdentity
	}
	if l.Spec.RenewTime != nil {
		answer.RenewedAt = l.Spec.RenewTime.Time
	}
	if l.Spec.LeaseDurationSeconds != nil {
		answer.Duration = time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	}
	return answer
}

package clearunresolved

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/realm"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/unresolved"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

// seen is one version of a migration with everything around its record.
type seen struct {
	raw       []byte
	migration *v1alpha1.PtahMigration
	input     unresolved.Input
	plan      render.RecordedPlan
}

// gather reads the migration, and what its record names. What cannot be read is a fact like any other; only the migration itself must be read.
func (o *clearOptions) gather(ctx context.Context, c *cluster.Client) (*seen, error) {
	raw, err := cluster.GetObject[json.RawMessage](ctx, c, cluster.PtahKind(cluster.Migrations), o.namespace, o.name)
	if err != nil {
		return nil, missing(err, o.namespace, o.name)
	}
	s := &seen{raw: *raw, migration: &v1alpha1.PtahMigration{}}
	if err := json.Unmarshal(s.raw, s.migration); err != nil {
		return nil, fmt.Errorf("reading migration %s/%s: the answer is not the JSON that was expected", o.namespace, o.name)
	}
	run := s.migration.Status.UnresolvedRun
	if run == nil {
		return s, nil
	}
	var database string
	s.plan, database = plan(ctx, c, s.migration)
	s.input = unresolved.Input{
		Migration: s.migration, Now: o.global.Clock(), Lease: o.leases(ctx, c, s.migration, database), Job: job(ctx, c, s.migration), Pods: pods(ctx, c, s.migration),
	}
	return s, nil
}

func missing(err error, namespace, name string) error {
	if cluster.IsNotFound(err) {
		return options.Nothingf("no migration %q in namespace %q; \"kubectl ptah status -A\" lists all", name, namespace)
	}
	return err
}

// leases looks for the database's Lease under every realm that the run may have been in: that which its plan was bound to, and that of the
// spec, which somebody may have pointed at another database since. The one that this run holds decides, then what could not be told.
func (o *clearOptions) leases(ctx context.Context, c *cluster.Client, m *v1alpha1.PtahMigration, planned string) unresolved.Lease {
	untold := func(why string) unresolved.Lease { return unresolved.Lease{Presence: unresolved.NotTold, Problem: why} }
	var realms []string
	engine, ok := realm.NormaliseEngine(m.Spec.Target.Engine)
	if ok {
		realms = append(realms, realm.Digest(engine, m.Spec.Target.CoordinationKey))
	}
	if planned != "" && !slices.Contains(realms, planned) {
		realms = append(realms, planned)
	}
	if len(realms) == 0 {
		return untold("this program does not know engine " + m.Spec.Target.Engine + ", from which the name of the Lease follows")
	}
	namespace := o.coordination
	if namespace == "" {
		where, err := c.Coordination(ctx)
		if err != nil {
			return untold(err.Error() + " (give --coordination-namespace)")
		}
		namespace = where.Namespace
	}
	found := make([]unresolved.Lease, 0, len(realms))
	for _, digest := range realms {
		l, err := lease(ctx, c, namespace, digest)
		if err != nil {
			l = untold(err.Error())
		}
		found = append(found, l)
	}
	run := m.Status.UnresolvedRun
	rank := func(l unresolved.Lease) int {
		switch {
		case l.Holder != "" && l.Holder == run.OperationID:
			return 0
		case l.Presence == unresolved.NotTold:
			return 1
		case l.Holder != "":
			return 2
		case l.Presence == unresolved.There:
			return 3
		}
		return 4
	}
	return slices.MinFunc(found, func(a, b unresolved.Lease) int { return rank(a) - rank(b) })
}

// lease reads the Lease of one realm.
func lease(ctx context.Context, c *cluster.Client, namespace, digest string) (unresolved.Lease, error) {
	name, err := realm.LeaseName(digest)
	if err != nil {
		return unresolved.Lease{}, err
	}
	found, err := c.Lease(ctx, namespace, name)
	switch {
	case cluster.IsNotFound(err):
		return unresolved.Lease{Presence: unresolved.Gone}, nil
	case err != nil:
		return unresolved.Lease{}, err
	}
	lease := unresolved.Lease{Presence: unresolved.There}
	if found.Spec.HolderIdentity != nil {
		lease.Holder = *found.Spec.HolderIdentity
	}
	if found.Spec.RenewTime != nil {
		lease.RenewedAt = found.Spec.RenewTime.Time
	}
	if found.Spec.LeaseDurationSeconds != nil {
		lease.Duration = time.Duration(*found.Spec.LeaseDurationSeconds) * time.Second
	}
	return lease, nil
}

func job(ctx context.Context, c *cluster.Client, m *v1alpha1.PtahMigration) unresolved.Job {
	run := m.Status.UnresolvedRun
	if run.JobName == "" {
		return unresolved.Job{Presence: unresolved.Gone}
	}
	found, err := cluster.GetObject[batchv1.Job](ctx, c, cluster.KindJobs, m.Namespace, run.JobName)
	switch {
	case cluster.IsNotFound(err), err == nil && !unresolved.SameJob(run, found.UID):
		return unresolved.Job{Presence: unresolved.Gone}
	case err != nil:
		return unresolved.Job{Presence: unresolved.NotTold, Problem: cluster.WhyOf(err)}
	}
	answer := unresolved.Job{Presence: unresolved.There}
	for _, condition := range found.Status.Conditions {
		if (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) && condition.Status == corev1.ConditionTrue {
			answer.Finished = true
		}
	}
	return answer
}

// pods looks at every Pod of the namespace: labels can be lost, an owner and an envelope cannot.
func pods(ctx context.Context, c *cluster.Client, m *v1alpha1.PtahMigration) unresolved.Pods {
	answer := unresolved.Pods{Presence: unresolved.Gone}
	err := cluster.EachObject(ctx, c, cluster.KindPods, cluster.Query{Namespace: m.Namespace}, func(pod *corev1.Pod) error {
		if !unresolved.IsOf(m.Status.UnresolvedRun, &pod.ObjectMeta) {
			return nil
		}
		answer.Presence = unresolved.There
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			answer.Running = append(answer.Running, pod.Name)
		}
		return nil
	})
	if err != nil {
		return unresolved.Pods{Presence: unresolved.NotTold, Problem: cluster.WhyOf(err)}
	}
	return answer
}

// plan reads the recorded plan, and the database realm that it was bound to.
func plan(ctx context.Context, c *cluster.Client, m *v1alpha1.PtahMigration) (answer render.RecordedPlan, database string) {
	ref := m.Status.UnresolvedRun.PlanRef
	if ref == nil {
		return answer, ""
	}
	answer = render.RecordedPlan{Name: ref.Name, UID: string(ref.UID), Presence: string(unresolved.There)}
	found, err := c.MigrationPlan(ctx, m.Namespace, ref.Name)
	switch {
	case cluster.IsNotFound(err), err == nil && found.UID != ref.UID:
		answer.Presence = string(unresolved.Gone)
	case err != nil:
		answer.Presence, answer.Problem = string(unresolved.NotTold), cluster.WhyOf(err)
	default:
		database = found.Spec.CoordinationDigest
		answer.FromVersion, answer.Fingerprint = found.Spec.CurrentVersion, found.Spec.Fingerprint
		for _, migration := range found.Spec.Migrations {
			answer.Versions = append(answer.Versions, migration.Version)
		}
	}
	return answer, database
}

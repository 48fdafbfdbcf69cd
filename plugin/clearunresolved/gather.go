package clearunresolved

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

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
		Census: census(ctx, c, s.migration),
	}
	return s, nil
}

func missing(err error, namespace, name string) error {
	if cluster.IsNotFound(err) {
		return options.Nothingf("no migration %q in namespace %q; \"kubectl ptah status -A\" lists all", name, namespace)
	}
	return err
}

// job looks for the run's Job: under the name that the record has, or, where it has none, by the operation that every Job carries. A name that
// was never confirmed does not mean that nothing was made.
func job(ctx context.Context, c *cluster.Client, m *v1alpha1.PtahMigration) unresolved.Job {
	run := m.Status.UnresolvedRun
	if run.JobName == "" {
		return jobOf(ctx, c, m)
	}
	found, err := cluster.GetObject[batchv1.Job](ctx, c, cluster.KindJobs, m.Namespace, run.JobName)
	switch {
	case cluster.IsNotFound(err), err == nil && !unresolved.SameJob(run, found.UID):
		return unresolved.Job{Presence: unresolved.Gone}
	case err != nil:
		return unresolved.Job{Presence: unresolved.NotTold, Problem: cluster.WhyOf(err)}
	}
	return unresolved.Job{Presence: unresolved.There, Finished: finished(found)}
}

// jobOf looks at every Job of the namespace: labels can be lost, an envelope cannot. One that has not finished outweighs one that has.
func jobOf(ctx context.Context, c *cluster.Client, m *v1alpha1.PtahMigration) unresolved.Job {
	run := m.Status.UnresolvedRun
	if !unresolved.Traceable(run) {
		return unresolved.Job{Presence: unresolved.NotTold, Problem: untraceable}
	}
	answer := unresolved.Job{Presence: unresolved.Gone}
	err := cluster.EachObject(ctx, c, cluster.KindJobs, cluster.Query{Namespace: m.Namespace}, func(job *batchv1.Job) error {
		if unresolved.IsJob(run, &job.ObjectMeta) && (answer.Presence == unresolved.Gone || answer.Finished) {
			answer = unresolved.Job{Presence: unresolved.There, Name: job.Name, Finished: finished(job)}
		}
		return nil
	})
	if err != nil {
		return unresolved.Job{Presence: unresolved.NotTold, Problem: cluster.WhyOf(err)}
	}
	return answer
}

// untraceable is why nothing can be looked for.
const untraceable = "the record names neither an operation nor a Job to look for"

func finished(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// pods looks at every Pod of the namespace: labels can be lost, an owner and an envelope cannot.
func pods(ctx context.Context, c *cluster.Client, m *v1alpha1.PtahMigration) unresolved.Pods {
	if !unresolved.Traceable(m.Status.UnresolvedRun) {
		return unresolved.Pods{Presence: unresolved.NotTold, Problem: untraceable}
	}
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

// census counts who claims the database of the spec. A person needs no permission in other namespaces to clear a record: where they may not be
// listed, that is said, and the conditions are all there is.
func census(ctx context.Context, c *cluster.Client, m *v1alpha1.PtahMigration) unresolved.Census {
	self := cluster.ClaimantOf(string(m.UID), m.Spec.Target, m.Spec.Suspend, m.DeletionTimestamp != nil)
	if self.Digest == "" {
		return unresolved.Census{Told: true} // an engine that is not supported claims nothing
	}
	others, err := c.Claimants(ctx, "")
	verdict := realm.Judge(self, others)
	switch {
	case verdict.Contested: // of those who could be seen, which is enough
		return unresolved.Census{Told: true, Contested: true, Message: verdict.Message()}
	case err != nil:
		return unresolved.Census{Problem: cluster.WhyOf(err)}
	}
	return unresolved.Census{Told: true}
}

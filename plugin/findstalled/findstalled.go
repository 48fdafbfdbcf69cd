package findstalled

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ptah-run/ptah/pkg/convergence"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

// purposeCron is the value of --for.
const purposeCron = "cron"

// reader is what the verb needs from the cluster: list on schemas and migrations; for the reason also get on the operator's mutating
// admission configuration and on its leader Lease.
type reader interface {
	EachHead(ctx context.Context, resource string, query cluster.Query, now time.Time, visit func(*convergence.Object) error) error
	Coordination(ctx context.Context) (cluster.Coordination, error)
	Lease(ctx context.Context, namespace, name string) (*coordination.Lease, error)
}

type stalledOptions struct {
	global                          *options.Global
	output                          *options.Output
	all, watch                      bool
	selector, purpose, coordination string
	olderThan, every                time.Duration
	chunk                           int64

	namespace string
	format    render.Format
	release   cluster.Coordination // what the operator says of itself; empty where it was not asked
}

func (o *stalledOptions) complete() error {
	var err error
	if o.format, err = o.output.Format(); err != nil {
		return err
	}
	text := o.format.Kind == render.Text || o.format.Kind == render.Wide
	switch {
	case o.purpose != "" && o.purpose != purposeCron:
		return options.Usagef("--for %q: want cron", o.purpose)
	case o.purpose == purposeCron && o.format.Kind != render.Text:
		return options.Usagef("--for cron prints lines of text; it does not fit -o %s", o.format.Kind)
	case o.purpose == purposeCron && o.watch:
		return options.Usagef("--for cron looks once; it does not fit --watch")
	case o.watch && !text:
		return options.Usagef("--watch shows text; it does not fit -o %s", o.format.Kind)
	case o.chunk < 1:
		return options.Usagef("--chunk-size %d: want at least 1", o.chunk)
	case o.every < 100*time.Millisecond:
		return options.Usagef("--every %s: want at least 100ms", o.every)
	case o.olderThan < 0:
		return options.Usagef("--older-than %s: want a positive duration", o.olderThan)
	}
	if _, err := labels.Parse(o.selector); err != nil {
		return options.Usagef("--selector %q: %w", o.selector, err)
	}
	if !o.all {
		o.namespace, err = o.global.Namespace()
	}
	return err
}

func (o *stalledOptions) run(ctx context.Context) error {
	if o.purpose == purposeCron || o.format.Kind == render.Prometheus {
		o.global.Patience = options.Silent
	}
	client, err := o.global.Cluster()
	if err != nil {
		return err
	}
	if o.watch {
		return o.follow(ctx, client)
	}
	view, err := o.look(ctx, client)
	if ctx.Err() != nil {
		return err
	}
	// Without anything seen there is no answer, except for a collector, which has to learn that it may see nothing. From a server that does
	// not answer it learns nothing: its last file stays, with what was stalled then, until it is too old.
	if view.Checked() == 0 && err != nil && (o.format.Kind != render.Prometheus || !cluster.Answered(err)) {
		return err
	}
	if printErr := o.print(view); printErr != nil {
		return printErr
	}
	if o.purpose == "" && o.format.Kind == render.Text && len(view.Items) > 0 {
		o.advise(view)
	}
	return verdict(view, err)
}

// advise names what to look at next: the managers where none leads, and otherwise the worst resource.
func (o *stalledOptions) advise(view *render.StalledList) {
	if view.Leader.State == string(convergence.LeaderNone) {
		o.global.Next("kubectl get deployment%s, the Deployment of the manager: why does none of its Pods lead?", o.deployment())
		return
	}
	worst := slices.MaxFunc(view.Items, func(a, b *render.Stalled) int { return cmp.Compare(a.OverdueSeconds, b.OverdueSeconds) })
	o.global.Next("kubectl ptah status %s/%s -n %s", worst.ResourceKind, worst.Name, worst.Namespace)
}

// deployment selects the managers' Deployment, as the chart labels it.
func (o *stalledOptions) deployment() string {
	where, which := "-A", "app.kubernetes.io/name=ptah-operator"
	if o.release.ReleaseNamespace != "" {
		where = "-n " + o.release.ReleaseNamespace
	}
	if o.release.Release != "" {
		which = "app.kubernetes.io/instance=" + o.release.Release
	}
	return fmt.Sprintf(" %s -l app.kubernetes.io/component=controller,%s", where, which)
}

func (o *stalledOptions) print(view *render.StalledList) error {
	if o.purpose == purposeCron {
		return o.output.Print(view.Lines())
	}
	return o.output.Print(view)
}

// verdict is the exit code: what was not seen outweighs what was found.
func verdict(view *render.StalledList, failure error) error {
	if failure != nil {
		return failure
	}
	if len(view.Items) > 0 {
		return &options.ExitError{Code: options.Findings}
	}
	return nil
}

// look reads both kinds at once. Only the rows that a person should see are kept.
func (o *stalledOptions) look(ctx context.Context, client reader) (*render.StalledList, error) {
	now := o.global.Clock()
	progress := o.startProgress()
	kinds := []*tally{{kind: render.KindSchema, resource: cluster.Schemas}, {kind: render.KindMigration, resource: cluster.Migrations}}
	var both sync.WaitGroup
	for _, t := range kinds {
		both.Go(func() { t.read(ctx, client, o.query(), now, o.olderThan, progress) })
	}
	both.Wait()
	progress.end()
	view := render.NewStalledList(now, o.all)
	var failures []error
	for _, t := range kinds {
		view.Items = append(view.Items, t.rows...)
		view.Kinds = append(view.Kinds, t.count())
		if t.err != nil {
			view.Unseen = append(view.Unseen, t.unseen(o.namespace))
			failures = append(failures, t.err)
		}
	}
	slices.SortStableFunc(view.Items, func(a, b *render.Stalled) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(b.ResourceKind, a.ResourceKind), cmp.Compare(a.Name, b.Name))
	})
	if len(view.Items) > 0 {
		view.Explain(o.leader(ctx, client))
	}
	return view, errors.Join(unknowable(kinds, failures)...)
}

// unknowable says of an operator that has one of the kinds only what cannot be known of it. It stays a failure: a monitor must not take half a look for
// a good one.
func unknowable(kinds []*tally, failures []error) []error {
	if len(failures) != 1 || !cluster.KindMissing(failures[0]) {
		return failures
	}
	gone, judged := kinds[0].kind, kinds[1].kind
	if kinds[1].err != nil {
		gone, judged = judged, gone
	}
	return []error{fmt.Errorf("%w; this operator does not record %[2]ss: whether one is stalled cannot be known, and every %[3]s was judged", failures[0], gone, judged)}
}

func (o *stalledOptions) query() cluster.Query {
	return cluster.Query{Namespace: o.namespace, Selector: o.selector, PageSize: o.chunk}
}

// leader reads who leads among the managers. That it cannot be told is part of the answer, not a failure of it.
func (o *stalledOptions) leader(ctx context.Context, client reader) convergence.Leader {
	where := cluster.Coordination{Namespace: o.coordination, LeaderElection: true, LeaderID: cluster.DefaultLeaderID}
	if o.coordination == "" {
		found, err := client.Coordination(ctx)
		if err != nil {
			return convergence.Leader{Problem: err.Error()}
		}
		where, o.release = found, found
	}
	if !where.LeaderElection {
		return convergence.Leader{Problem: "this operator runs without leader election"}
	}
	lease, err := client.Lease(ctx, where.Namespace, where.LeaderID)
	switch {
	case cluster.IsNotFound(err):
		return convergence.Leader{Missing: true}
	case err != nil:
		return convergence.Leader{Problem: err.Error()}
	}
	return leaderOf(lease)
}

func leaderOf(lease *coordination.Lease) convergence.Leader {
	var l convergence.Leader
	if lease.Spec.HolderIdentity != nil {
		l.Holder = *lease.Spec.HolderIdentity
	}
	if lease.Spec.AcquireTime != nil {
		l.Since = lease.Spec.AcquireTime.Time
	}
	if lease.Spec.RenewTime != nil {
		l.RenewedAt = lease.Spec.RenewTime.Time
	}
	if lease.Spec.LeaseDurationSeconds != nil {
		l.Duration = time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second
	}
	return l
}

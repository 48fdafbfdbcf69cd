package events

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/pkg/timeline"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/resource"
)

type eventsOptions struct {
	global          *options.Global
	output          *options.Output
	warnings, watch bool
	everything      bool
	every           time.Duration
	chunk           int64

	namespace, kind, name string
	format                render.Format
}

func (o *eventsOptions) complete(arg string) error {
	var err error
	if o.kind, o.name, err = options.Resource(arg); err != nil {
		return err
	}
	if o.format, err = o.output.Format(); err != nil {
		return err
	}
	switch {
	case o.chunk < 1:
		return options.Usagef("--chunk-size %d: want at least 1", o.chunk)
	case o.every < 100*time.Millisecond:
		return options.Usagef("--every %s: want at least 100ms", o.every)
	case o.watch && o.format.Kind != render.Text && o.format.Kind != render.Wide:
		return options.Usagef("--watch shows text; it does not fit -o %s", o.format.Kind)
	}
	o.namespace, err = o.global.Namespace()
	return err
}

func (o *eventsOptions) run(ctx context.Context) error {
	c, err := o.global.Cluster()
	if err != nil {
		return err
	}
	if o.watch {
		return o.follow(ctx, c)
	}
	story, err := o.look(ctx, c)
	if err != nil {
		return err
	}
	if err := o.output.Print(story.view(o)); err != nil {
		return err
	}
	if story.hidden > 0 && !o.warnings {
		o.global.Note(render.Plain, "%s of Jobs and Pods not shown; all of them: -o wide, or --all", spelling.Count(story.hidden, "normal Event"))
	}
	if err := errors.Join(story.failures...); err != nil {
		return err
	}
	if len(story.entries)+story.hidden == 0 || (o.warnings && len(story.entries) == 0) {
		return options.Nothingf("no Events about %s %s/%s: the API server keeps them for an hour unless it is told otherwise", story.kind, o.namespace, o.name)
	}
	return nil
}

// story is what one look brought back.
type story struct {
	kind     string
	entries  []timeline.Entry
	unseen   []render.Unseen
	failures []error
	hidden   int // entries about Jobs and Pods that nobody asked for
}

func (s *story) view(o *eventsOptions) *render.EventList {
	return render.NewEventList(s.kind, o.namespace, o.name, s.entries, s.unseen, o.global.Clock())
}

// look reads the resource, what belongs to it, and the namespace's Events. Without the Events there is no answer; without plans or approvals
// there is one.
func (o *eventsOptions) look(ctx context.Context, c *cluster.Client) (*story, error) {
	found, err := resource.Find(ctx, c, o.namespace, o.kind, o.name)
	if err != nil {
		return nil, err
	}
	s := &story{kind: found.View().ResourceKind}
	scope := o.scope(ctx, c, found, s)
	var all []corev1.Event
	err = cluster.EachObject(ctx, c, cluster.KindEvents, o.query(), func(e *corev1.Event) error {
		if e.Type == corev1.EventTypeWarning || !o.warnings || e.InvolvedObject.UID == scope.UID {
			all = append(all, *e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.entries = timeline.Merge(all, scope)
	if o.format.Kind == render.Text && !o.everything {
		whole := len(s.entries)
		s.entries = slices.DeleteFunc(s.entries, func(e timeline.Entry) bool { return !e.Telling() })
		s.hidden = whole - len(s.entries)
	}
	if o.warnings {
		s.entries = slices.DeleteFunc(s.entries, func(e timeline.Entry) bool { return !e.Warning })
	}
	return s, nil
}

func (o *eventsOptions) query() cluster.Query {
	return cluster.Query{Namespace: o.namespace, PageSize: o.chunk}
}

func (o *eventsOptions) scope(ctx context.Context, c *cluster.Client, found resource.Found, s *story) timeline.Scope {
	if found.Schema != nil {
		scope := timeline.SchemaScope(found.Schema)
		s.missed(cluster.SchemaPlans, o.namespace, owned(ctx, c, cluster.SchemaPlans, o.query(), &scope, func(p *v1alpha1.PtahSchemaPlan) (types.UID, types.UID) {
			return p.Spec.SchemaRef.UID, p.UID
		}))
		s.missed(cluster.SchemaApprovals, o.namespace, owned(ctx, c, cluster.SchemaApprovals, o.query(), &scope, func(a *v1alpha1.PtahSchemaApproval) (types.UID, types.UID) {
			return a.Spec.SchemaRef.UID, a.UID
		}))
		return scope
	}
	scope := timeline.MigrationScope(found.Migration)
	s.missed(cluster.MigrationPlans, o.namespace, owned(ctx, c, cluster.MigrationPlans, o.query(), &scope, func(p *v1alpha1.PtahMigrationPlan) (types.UID, types.UID) {
		return p.Spec.MigrationRef.UID, p.UID
	}))
	s.missed(cluster.MigrationReviews, o.namespace, owned(ctx, c, cluster.MigrationReviews, o.query(), &scope, func(a *v1alpha1.PtahMigrationApproval) (types.UID, types.UID) {
		return a.Spec.MigrationRef.UID, a.UID
	}))
	return scope
}

// owned adds the objects of one kind that name the resource.
func owned[T any](ctx context.Context, c *cluster.Client, plural string, query cluster.Query, scope *timeline.Scope, of func(*T) (owner, self types.UID)) error {
	return cluster.EachObject(ctx, c, cluster.PtahKind(plural), query, func(object *T) error {
		if owner, self := of(object); owner == scope.UID {
			scope.Owned = append(scope.Owned, self)
		}
		return nil
	})
}

// missed takes note of a kind that could not be listed.
func (s *story) missed(plural, namespace string, err error) {
	if err != nil {
		s.unseen = append(s.unseen, render.Unseen{Resource: plural, Namespace: namespace, Why: cluster.WhyOf(err)})
		s.failures = append(s.failures, err)
	}
}

// follow looks again and again until it is interrupted, and shows what is new or was said again.
func (o *eventsOptions) follow(ctx context.Context, c *cluster.Client) error {
	seen := map[string]bool{}
	told := ""
	for first := true; ; first = false {
		s, err := o.look(ctx, c)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // interrupting is how a person ends this command
		}
		if err != nil && first {
			return err
		}
		if err == nil {
			err = errors.Join(s.failures...)
			if err := o.showNew(s, seen); err != nil {
				return err
			}
		}
		if err != nil && err.Error() != told {
			told = err.Error()
			o.global.Note(render.Caution, "%s", told)
		}
		if !pause(ctx, o.every) {
			return nil
		}
	}
}

func (o *eventsOptions) showNew(s *story, seen map[string]bool) error {
	rows := map[int]bool{}
	first := len(seen) == 0
	for i, e := range s.entries {
		key := e.Kind + "/" + e.Name + "/" + e.Reason + "/" + e.Message + "/" + e.Last.String()
		if !seen[key] {
			seen[key], rows[i] = true, true
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return o.output.PrintRows(s.view(o).Only(rows), first)
}

// pause waits, and reports false when the context ended first.
func pause(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

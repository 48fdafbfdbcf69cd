package status

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/explain"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/waiting"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/rejections"
)

// reader is what the verb needs from the cluster: get and list on schemas and migrations; list on Events for who rejected a plan.
type reader interface {
	Schema(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchema, error)
	Migration(ctx context.Context, namespace, name string) (*v1alpha1.PtahMigration, error)
	EachSchema(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahSchema) error) error
	EachMigration(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahMigration) error) error
	rejections.Reader
}

type statusOptions struct {
	global     *options.Global
	output     *options.Output
	all, watch bool
	selector   string
	every      time.Duration
	chunk      int64

	namespace, kind, name string
	format                render.Format
}

func (o *statusOptions) complete(args []string) error {
	var err error
	if o.format, err = o.output.Format(); err != nil {
		return err
	}
	if len(args) > 0 {
		if o.kind, o.name, err = options.Resource(args[0]); err != nil {
			return err
		}
	}
	if err := o.checkFlags(); err != nil {
		return err
	}
	if !o.all {
		o.namespace, err = o.global.Namespace()
	}
	return err
}

func (o *statusOptions) checkFlags() error {
	switch {
	case o.name != "" && o.all:
		return options.Usagef("a name lives in one namespace: leave out -A or the name")
	case o.name != "" && o.selector != "":
		return options.Usagef("a name and a selector exclude each other")
	case o.chunk < 1:
		return options.Usagef("--chunk-size %d: want at least 1", o.chunk)
	case o.every < 100*time.Millisecond:
		return options.Usagef("--every %s: want at least 100ms", o.every)
	case o.watch && o.format.Kind != render.Text && o.format.Kind != render.Wide:
		return options.Usagef("--watch shows text; it does not fit -o %s", o.format.Kind)
	}
	if _, err := labels.Parse(o.selector); err != nil {
		return options.Usagef("--selector %q: %w", o.selector, err)
	}
	return nil
}

func (o *statusOptions) run(ctx context.Context) error {
	client, err := o.global.Cluster()
	if err != nil {
		return err
	}
	if o.watch {
		return o.follow(ctx, client)
	}
	if o.name != "" {
		return o.one(ctx, client)
	}
	return o.list(ctx, client)
}

// list prints all resources. What could not be listed is an error after the answer, so that it is not blanked by it.
func (o *statusOptions) list(ctx context.Context, client reader) error {
	found, err := o.gather(ctx, client)
	if err != nil {
		return err
	}
	rejections.Mark(ctx, client, o.namespace, found.items...)
	view := render.NewStatusList(found.items, found.unseen, o.global.Clock(), o.all)
	if err := o.output.Print(view); err != nil {
		return err
	}
	if len(found.items) == 0 && len(found.unseen) == 0 && o.forPeople() {
		o.global.Note(render.Plain, "no schemas and no migrations%s", o.where())
	}
	o.warn(found.items)
	if found.missing {
		o.global.Note(render.Caution, "%s", olderOperator)
	}
	return found.err()
}

// olderOperator says what is not known where one of the two kinds does not exist.
const olderOperator = "this operator is older than the plugin and does not have both kinds: only schemas, or only migrations, are shown"

// found is what a look brought back.
type found struct {
	items    []*render.Resource
	unseen   []render.Unseen
	failures []error
	missing  bool // a kind that this operator does not have
}

// err joins what could not be seen; the verb then exits with 1.
func (f found) err() error { return errors.Join(f.failures...) }

// forgive takes a kind that an older operator does not have out of the failures: there is nothing of it that could be shown.
func (f *found) forgive() { f.failures = slices.DeleteFunc(f.failures, cluster.KindMissing) }

// gather lists both kinds. One kind that cannot be listed does not hide the other; when neither can, there is no answer.
func (o *statusOptions) gather(ctx context.Context, client reader) (found, error) {
	query := cluster.Query{Namespace: o.namespace, Selector: o.selector, PageSize: o.chunk}
	var f found
	schemaErr := client.EachSchema(ctx, query, func(s *v1alpha1.PtahSchema) error {
		f.items = append(f.items, render.SchemaResource(s))
		return nil
	})
	f.miss(cluster.Schemas, o.namespace, schemaErr)
	if ctx.Err() != nil {
		return found{}, f.err()
	}
	migrationErr := client.EachMigration(ctx, query, func(m *v1alpha1.PtahMigration) error {
		f.items = append(f.items, render.MigrationResource(m))
		return nil
	})
	f.miss(cluster.Migrations, o.namespace, migrationErr)
	if schemaErr != nil && migrationErr != nil && len(f.items) == 0 {
		return found{}, f.err()
	}
	f.forgive()
	slices.SortStableFunc(f.items, func(a, b *render.Resource) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(b.ResourceKind, a.ResourceKind), cmp.Compare(a.Name, b.Name))
	})
	return f, nil
}

func (f *found) miss(resource, namespace string, err error) {
	if err == nil {
		return
	}
	why := err.Error()
	var request *cluster.Error
	if errors.As(err, &request) {
		why = request.Why()
	}
	f.unseen = append(f.unseen, render.Unseen{Resource: resource, Namespace: namespace, Why: why})
	f.missing = f.missing || cluster.KindMissing(err)
	f.failures = append(f.failures, err)
}

// one prints a resource in full. A bare name is looked up in both kinds; when both have it, both are printed.
func (o *statusOptions) one(ctx context.Context, client reader) error {
	items, err := o.named(ctx, client)
	if len(items) == 0 {
		return err
	}
	rejections.Mark(ctx, client, o.namespace, items...)
	now := o.global.Clock()
	var view render.View = render.NewStatus(items[0], now)
	if len(items) > 1 {
		view = render.NewStatusPair(items, now)
	}
	if printErr := o.output.Print(view); printErr != nil {
		return printErr
	}
	o.advise(items)
	return err
}

// named reads the resources of the given name. With an error and items, something that could exist could not be seen.
func (o *statusOptions) named(ctx context.Context, client reader) ([]*render.Resource, error) {
	var items []*render.Resource
	var failures []error
	if o.kind != render.KindMigration {
		schema, err := client.Schema(ctx, o.namespace, o.name)
		if err == nil {
			items = append(items, render.SchemaResource(schema))
		}
		failures = append(failures, err)
	}
	if o.kind != render.KindSchema {
		migration, err := client.Migration(ctx, o.namespace, o.name)
		if err == nil {
			items = append(items, render.MigrationResource(migration))
		}
		failures = append(failures, err)
	}
	bad := slices.DeleteFunc(failures, func(err error) bool { return err == nil || (o.kind == "" && cluster.IsNotFound(err)) })
	if len(items) > 0 && slices.ContainsFunc(bad, cluster.KindMissing) {
		o.global.Note(render.Caution, "%s", olderOperator)
		bad = slices.DeleteFunc(bad, cluster.KindMissing)
	}
	if len(items) == 0 && len(bad) == 0 {
		return nil, options.Nothingf("no schema and no migration %q in namespace %q; \"kubectl ptah status -A\" lists all", o.name, o.namespace)
	}
	return items, errors.Join(bad...)
}

// advise names the next command for a person who looks at one resource.
func (o *statusOptions) advise(items []*render.Resource) {
	if !o.forPeople() {
		return
	}
	for _, item := range items {
		if item.ResourceKind == render.KindSchema && item.WaitingFor.Party == string(waiting.Approver) {
			o.global.Next("kubectl ptah plan %s -n %s", item.Name, item.Namespace)
		}
		if stuck(item) {
			o.unblock(item)
		}
		if item.Suspended && item.PendingProof != nil && item.WaitingFor.Party == string(waiting.Author) {
			o.global.Next("kubectl ptah resume schema/%s -n %s", item.Name, item.Namespace)
		}
		if sooner(item, o.global.Clock()) {
			o.global.Note(render.Plain, "to have it looked at now, change its spec: kubectl ptah suspend schema/%[1]s -n %[2]s, then kubectl ptah resume schema/%[1]s -n %[2]s", item.Name, item.Namespace)
		}
	}
}

// stuck says whether a person has to put something right first.
func stuck(item *render.Resource) bool {
	party := waiting.Party(item.WaitingFor.Party)
	return !item.Suspended && (party == waiting.Author || party == waiting.Operator || item.Phase == "Blocked")
}

// unblock says what clears what holds a resource, and what to run.
func (o *statusOptions) unblock(item *render.Resource) {
	var code, reason string
	if p := item.Problem; p != nil {
		code, reason = p.Code, p.Reason
	}
	advice := explain.Advise(item.ResourceKind, item.Namespace, item.Name, code, item.WaitingFor.Reason, reason)
	if advice.Clears != "" {
		o.global.Note(render.Plain, "what clears it (%s): %s", advice.Word, advice.Clears)
	}
	o.global.Next("%s", advice.Command)
}

// sooner says whether a schema rests until a time that is some way off. A change of its spec starts a reading at once; suspending and resuming is
// one that leaves nothing behind.
func sooner(item *render.Resource, now time.Time) bool {
	next := item.NextReconciliation
	return item.ResourceKind == render.KindSchema && next != nil && next.Sub(now) > time.Minute && item.Operation == nil &&
		!item.Suspended && !item.Deleting && item.WaitingFor.Party != string(waiting.Approver)
}

// warn points at what a table cannot say in a cell.
func (o *statusOptions) warn(items []*render.Resource) {
	if !o.forPeople() {
		return
	}
	now := o.global.Clock()
	for _, item := range items {
		if item.Plan != nil && item.Plan.Rejection != nil {
			o.global.Note(render.Caution, "%s/%s: %s", item.Namespace, item.Name, item.Plan.Sentence("its plan", now))
		}
		if run := item.UnresolvedRun; run != nil {
			o.global.Note(render.Caution, "%s/%s carries a run nobody accounted for since %s: kubectl ptah status migration/%s -n %s",
				item.Namespace, item.Name, render.Stamp(run.RecordedAt, now), item.Name, item.Namespace)
		}
	}
}

func (o *statusOptions) forPeople() bool {
	return o.format.Kind == render.Text || o.format.Kind == render.Wide
}

func (o *statusOptions) where() string {
	switch {
	case o.all && o.selector != "":
		return " anywhere match " + o.selector
	case o.all:
		return " anywhere"
	case o.selector != "":
		return " in namespace " + o.namespace + " match " + o.selector
	default:
		return " in namespace " + o.namespace
	}
}

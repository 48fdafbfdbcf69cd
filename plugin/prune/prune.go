package prune

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/ptah-run/ptah/pkg/pin"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/storedplan"
)

// Values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// pageSize keeps what is held of a list while it is read to about a megabyte.
const pageSize = 200

// client is what the verb needs from the cluster: list on both families, their plans and approvals and on ConfigMaps, get on plans, and for
// --yes delete on plans and ConfigMaps.
type client interface {
	storedplan.Lister
	storedplan.ChunkLister
	metaLister
	storedplan.Getter
	storedplan.Exporting
	Delete(ctx context.Context, target cluster.Target, dryRun bool) error
}

type pruneOptions struct {
	global                      *options.Global
	output                      *options.Output
	all, check, yes             bool
	whileOperating              bool
	selector, schema, migration string
	export, dryRun              string
	olderThan                   options.Age
	keep                        int
	chunk                       int64

	namespace string
	matches   labels.Selector
	format    render.Format
	memory    memory
}

func (o *pruneOptions) complete() error {
	var err error
	if o.format, err = o.output.Format(); err != nil {
		return err
	}
	if o.matches, err = labels.Parse(o.selector); err != nil {
		return options.Usagef("--selector %q: %w", o.selector, err)
	}
	if o.schema, err = options.SchemaName(o.schema); err != nil {
		return err
	}
	if err := o.checkFlags(); err != nil {
		return err
	}
	if !o.all {
		o.namespace, err = o.global.Namespace()
	}
	return err
}

func (o *pruneOptions) checkFlags() error {
	switch {
	case o.schema != "" && o.migration != "":
		return options.Usagef("--schema and --migration exclude each other")
	case o.all && o.schema+o.migration != "":
		return options.Usagef("--schema and --migration name one resource of one namespace: leave out -A")
	case o.keep < 0:
		return options.Usagef("--keep %d: want 0 or more", o.keep)
	case o.chunk < 1:
		return options.Usagef("--chunk-size %d: want at least 1", o.chunk)
	case o.check && o.yes:
		return options.Usagef("--check deletes nothing, and --yes does: choose one")
	case o.export != "" && !o.deletes():
		return options.Usagef("--export belongs to --yes; \"kubectl ptah export --unpinned\" writes a bundle without deleting anything")
	}
	switch o.dryRun {
	case dryRunNone, dryRunClient, dryRunServer:
		return nil
	}
	return options.Usagef("--dry-run %q: want client, server or none", o.dryRun)
}

// deletes says whether this run changes the cluster.
func (o *pruneOptions) deletes() bool { return o.yes && o.dryRun == dryRunNone }

func (o *pruneOptions) policy() pin.Policy {
	return pin.Policy{OlderThan: time.Duration(o.olderThan), Keep: o.keep, WhileOperating: o.whileOperating}
}

func (o *pruneOptions) scope() storedplan.Scope {
	families := []pin.Family{pin.Schema, pin.Migration}
	switch {
	case o.schema != "":
		families = families[:1]
	case o.migration != "":
		families = families[1:]
	}
	return storedplan.Scope{Namespace: o.namespace, Families: families, PageSize: o.chunk}
}

func (o *pruneOptions) run(ctx context.Context) error {
	connected, err := o.global.Cluster()
	if err != nil {
		return err
	}
	return o.prune(ctx, connected)
}

// prune looks, decides, and only with --yes deletes; then it looks at the pins again. The report comes last and whole.
func (o *pruneOptions) prune(ctx context.Context, c client) error {
	now := o.global.Clock()
	survey, err := o.look(ctx, c, now)
	if err != nil {
		return err
	}
	report := o.decide(survey)
	if err := o.known(survey, report); err != nil {
		return err
	}
	findings, err := survey.Dangling(ctx, c)
	failures := []error{err}
	if err := o.exportFirst(ctx, c, report); err != nil {
		return errors.Join(err, errors.New("nothing was deleted"))
	}
	if o.yes && o.dryRun != dryRunClient {
		failures = append(failures, o.carryOut(ctx, c, report)...)
	}
	if report.deletedAny() {
		findings, err = o.recheck(ctx, c)
		failures = append(failures, err)
	}
	if err := o.output.Print(report.view(findings, survey.Unseen)); err != nil {
		return err
	}
	o.advise(report, survey)
	return o.verdict(report, findings, errors.Join(append(survey.Failures, failures...)...))
}

// look reads everything. Without a single plan list that could be read there is no answer.
func (o *pruneOptions) look(ctx context.Context, c client, now time.Time) (*storedplan.Survey, error) {
	scope := o.scope()
	survey := storedplan.Look(ctx, c, scope, now)
	if len(survey.Missing) == len(scope.Families) {
		return nil, errors.New("listing plans: this cluster does not know the kinds: Ptah's CRDs are not installed, or are older than this plugin")
	}
	if slices.Contains(scope.Families, pin.Schema) && !slices.Contains(survey.Missing, pin.Schema) {
		survey.LookAtChunks(ctx, c, scope)
	}
	if ctx.Err() != nil || (len(survey.Plans)+len(survey.Chunks) == 0 && len(survey.Failures) > 0) {
		return nil, errors.Join(survey.Failures...)
	}
	return survey, nil
}

// decide judges all plans and keeps those that were asked about, in the order in which people read them.
func (o *pruneOptions) decide(survey *storedplan.Survey) *report {
	r := &report{survey: survey, render: render.NewPrune(survey.Now, o.dryRunWord(), o.all)}
	for _, d := range pin.Decide(&survey.World, o.policy()) {
		if o.asked(d.Plan) {
			r.decisions = append(r.decisions, d)
		}
	}
	slices.SortStableFunc(r.decisions, func(a, b pin.Decision) int {
		return cmp.Or(cmp.Compare(a.Plan.Namespace, b.Plan.Namespace), cmp.Compare(b.Plan.Family, a.Plan.Family), cmp.Compare(a.Plan.Owner.Name, b.Plan.Owner.Name),
			a.Plan.CreatedAt.Compare(b.Plan.CreatedAt), cmp.Compare(a.Plan.Name, b.Plan.Name))
	})
	if o.selector == "" {
		for _, orphan := range pin.Orphans(&survey.World, survey.Chunks) {
			if o.schema == "" || orphan.Chunk.Owner.Name == o.schema {
				r.orphans = append(r.orphans, orphan)
			}
		}
	}
	return r
}

func (o *pruneOptions) asked(p pin.Plan) bool {
	return (o.schema == "" || p.Owner.Name == o.schema) && (o.migration == "" || p.Owner.Name == o.migration) && o.matches.Matches(labels.Set(p.Labels))
}

func (o *pruneOptions) dryRunWord() string {
	switch {
	case o.deletes():
		return ""
	case o.yes:
		return o.dryRun
	default:
		return dryRunClient
	}
}

// exportFirst writes what is going to be deleted to a bundle, where that was asked for. If any digest disagrees nothing is deleted: that is a
// finding, and no case for pruning.
func (o *pruneOptions) exportFirst(ctx context.Context, c client, r *report) error {
	var going []pin.Plan
	for _, d := range r.decisions {
		if d.Verdict == pin.MayGo {
			going = append(going, d.Plan)
		}
	}
	if o.export == "" || len(going) == 0 {
		return nil
	}
	destination, err := storedplan.Open(o.export, false)
	if err != nil {
		return err
	}
	defer destination.Discard()
	exported, digest, err := storedplan.Bundle(ctx, c, going, true, destination)
	if err != nil {
		return err
	}
	r.render.Bundle = &render.BundleInfo{Path: o.export, Digest: digest, Plans: len(exported)}
	return destination.Commit()
}

// known refuses to say "nothing" about a schema or a migration that does not exist. Of one that is gone there may still be plans; then it is
// known by them.
func (o *pruneOptions) known(survey *storedplan.Survey, r *report) error {
	name := o.schema + o.migration
	if name == "" || len(r.decisions)+len(r.orphans) > 0 {
		return nil
	}
	family := o.scope().Families[0]
	if survey.Blind[family] != "" || slices.Contains(survey.Missing, family) || survey.Owners.Named(family, o.namespace, name) {
		return nil
	}
	return options.Nothingf("no %s %q in namespace %q; \"kubectl ptah status -A\" lists all", family, name, o.namespace)
}

// recheck reads everything once more after deletions: a pin that leads nowhere now is what must not have happened.
func (o *pruneOptions) recheck(ctx context.Context, c client) ([]pin.Finding, error) {
	after := storedplan.Look(ctx, c, o.scope(), o.global.Clock())
	findings, err := after.Dangling(ctx, c)
	return findings, errors.Join(append(after.Failures, err)...)
}

// advise says on stderr what to do next.
func (o *pruneOptions) advise(r *report, survey *storedplan.Survey) {
	if o.format.Kind != render.Text && o.format.Kind != render.Wide {
		return
	}
	for _, family := range survey.Missing {
		o.global.Note(render.Plain, "this operator has no %s plans", family)
	}
	if len(r.decisions)+len(r.orphans) == 0 {
		o.global.Note(render.Plain, "no stored plans%s%s", o.whose(), o.where())
		return
	}
	for _, family := range o.scope().Families {
		if blind := survey.Blind[family]; blind != "" && o.yes {
			o.global.Note(render.Caution, "no plan of a %s was deleted%s: %s", family, o.where(), blind)
		}
	}
	if held := r.render.Totals; held.HeldBySpent > 0 {
		o.global.Note(render.Plain, "%s kept by nothing but approvals that were used or overtaken, %s: such an approval runs nothing any more and records who decided; "+
			"once that is exported or need not be kept, a person may delete it, and the next run frees its plan",
			plans(held.HeldBySpent), render.Bytes(held.HeldBytes))
	}
	if o.deletes() {
		return
	}
	totals := r.render.Totals
	o.global.Note(render.Plain, "dry run: nothing was deleted; --yes deletes what may go")
	if totals.MayGo > 0 {
		o.global.Next("kubectl ptah export --unpinned%s -o plans.tar", o.place())
	}
}

func (o *pruneOptions) whose() string {
	switch {
	case o.schema != "":
		return " of schema " + o.schema
	case o.migration != "":
		return " of migration " + o.migration
	}
	return ""
}

func (o *pruneOptions) place() string {
	if o.all {
		return " -A"
	}
	return " -n " + o.namespace
}

func (o *pruneOptions) where() string {
	if o.all {
		return " anywhere"
	}
	return " in namespace " + o.namespace
}

// verdict turns the outcome into an exit code: what could not be done before what was found before what was refused.
func (o *pruneOptions) verdict(r *report, findings []pin.Finding, failures error) error {
	totals := r.render.Totals
	switch {
	case failures != nil:
		return failures
	case len(findings) > 0:
		return &options.ExitError{Code: options.Findings}
	case o.yes && r.leftAlone() != "":
		return options.Refusedf("%s", r.leftAlone())
	case o.check && (totals.MayGo > 0 || totals.Chunks > 0):
		return &options.ExitError{Code: options.Findings}
	default:
		return nil
	}
}

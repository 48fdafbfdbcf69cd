package export

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/pin"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/storedplan"
)

// client is what the verb needs from the cluster: get on plans, approvals and ConfigMaps, list on approvals; for --all list on plans, and
// for --unpinned also on schemas and migrations.
type client interface {
	storedplan.Exporting
	storedplan.Lister
	storedplan.Getter
}

type exportOptions struct {
	global                    *options.Global
	output                    *options.Output
	all, unpinned, everywhere bool
	force, withoutApprovals   bool
	destination               string

	namespace string
	names     []string
	format    render.Format
}

func (o *exportOptions) complete(args []string) error {
	var err error
	if o.format, err = o.output.Format(); err != nil {
		return err
	}
	chosen := 0
	for _, set := range []bool{len(args) > 0, o.all, o.unpinned} {
		if set {
			chosen++
		}
	}
	switch {
	case chosen != 1:
		return options.Usagef("want names of plans, --all or --unpinned, and one of these only")
	case o.destination == "":
		return options.Usagef("want -o DIR or -o FILE.tar")
	case isFormat(o.destination):
		return options.Usagef("-o %[1]s: here -o says where to write the bundle, and %[1]s is a format: give --format %[1]s for the answer, and -o ./%[1]s for a directory of that name",
			o.destination)
	case o.everywhere && len(args) > 0:
		return options.Usagef("a name lives in one namespace: leave out -A or the names")
	}
	o.names = args
	if !o.everywhere {
		o.namespace, err = o.global.Namespace()
	}
	return err
}

// isFormat says whether a destination is what -o means with every other verb.
func isFormat(destination string) bool {
	word, _, _ := strings.Cut(destination, "=")
	return slices.Contains(render.Formats(), render.FormatKind(word))
}

func (o *exportOptions) run(ctx context.Context) error {
	connected, err := o.global.Cluster()
	if err != nil {
		return err
	}
	return o.export(ctx, connected)
}

// export chooses, reads and checks everything, and only then puts the bundle in its place.
func (o *exportOptions) export(ctx context.Context, c client) error {
	plans, err := o.choose(ctx, c)
	if err != nil {
		return err
	}
	if len(plans) == 0 {
		return options.Nothingf("no plan to export%s; nothing was written", o.where())
	}
	destination, err := storedplan.Open(o.destination, o.force)
	if err != nil {
		return err
	}
	defer destination.Discard()
	exported, digest, err := storedplan.Bundle(ctx, c, plans, !o.withoutApprovals, destination)
	if err != nil {
		return o.refuse(err)
	}
	if err := destination.Commit(); err != nil {
		return err
	}
	if err := o.output.Print(View(o.destination, digest, exported, o.everywhere)); err != nil {
		return err
	}
	o.advise()
	return nil
}

// View is what is shown of a bundle that was written.
func View(path, digest string, exported []storedplan.Exported, allNamespaces bool) *render.Bundle {
	view := render.NewBundle(path, digest, allNamespaces)
	for _, e := range exported {
		view.Add(e.Entry, e.Size)
	}
	return view
}

// refuse keeps the reason and says that nothing was written.
func (o *exportOptions) refuse(err error) error {
	if cluster.IsForbidden(err) && strings.Contains(err.Error(), "approvals") {
		return errors.Join(err, errors.New("nothing was written; --without-approvals exports plans without who approved them"))
	}
	return errors.Join(err, errors.New("nothing was written"))
}

func (o *exportOptions) choose(ctx context.Context, c client) ([]pin.Plan, error) {
	if len(o.names) > 0 {
		return o.named(ctx, c)
	}
	survey := storedplan.Look(ctx, c, storedplan.Scope{Namespace: o.namespace, Families: []pin.Family{pin.Schema, pin.Migration}}, o.global.Clock())
	if o.all {
		return survey.Plans, o.incomplete(survey)
	}
	var plans []pin.Plan
	for _, d := range pin.Decide(&survey.World, pin.Policy{}) {
		if d.Verdict == pin.MayGo || d.Verdict == pin.Busy {
			plans = append(plans, d.Plan)
		}
	}
	return plans, o.incomplete(survey)
}

// incomplete refuses a bundle that says "all" and is not. With --all, what only pins plans may be unreadable.
func (o *exportOptions) incomplete(survey *storedplan.Survey) error {
	if len(survey.Missing) == 2 {
		return errors.New("listing plans: this cluster does not know the kinds: Ptah's CRDs are not installed, or are older than this plugin")
	}
	needed := survey.Failures
	if o.all {
		needed = survey.PlanFailures
	}
	if len(needed) == 0 {
		return nil
	}
	return o.refuse(errors.Join(needed...))
}

// named reads the plans of the command line.
func (o *exportOptions) named(ctx context.Context, c client) ([]pin.Plan, error) {
	var plans []pin.Plan
	seen := map[string]bool{}
	for _, name := range o.names {
		if seen[name] {
			continue
		}
		seen[name] = true
		family := pin.Schema
		if strings.HasPrefix(name, v1alpha1.MigrationPlanPrefix) {
			family = pin.Migration
		}
		plan, err := storedplan.Get(ctx, c, family, o.namespace, name)
		if cluster.IsNotFound(err) {
			return nil, options.Nothingf("no plan %s/%s is stored; nothing was written", o.namespace, name)
		}
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

func (o *exportOptions) advise() {
	if o.format.Kind == render.Text || o.format.Kind == render.Wide {
		o.global.Next("kubectl ptah verify %s", o.destination)
	}
}

func (o *exportOptions) where() string {
	if o.everywhere {
		return " anywhere"
	}
	return " in namespace " + o.namespace
}

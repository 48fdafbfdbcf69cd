package preflight

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/ptah-run/ptah/charts"
	checks "github.com/ptah-run/ptah/pkg/preflight"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

// Where a release is looked for when nothing is installed and nobody says.
const (
	defaultRelease   = "ptah"
	defaultNamespace = "ptah-system"
)

type preflightOptions struct {
	global                    *options.Global
	output                    *options.Output
	purpose                   string
	values                    []string
	release, releaseNamespace string
	offline                   bool

	kind, name string
	format     render.Format
}

func (o *preflightOptions) complete(args []string, changed func(string) bool) error {
	var err error
	if o.format, err = o.output.Format(); err != nil {
		return err
	}
	if len(args) == 0 {
		return o.completeRelease()
	}
	for _, flag := range []string{"for", "values", "release", "release-namespace"} {
		if changed(flag) {
			return options.Usagef("--%s is about a release and %q about a resource: check one after the other", flag, args[0])
		}
	}
	return o.parseName(args[0])
}

func (o *preflightOptions) completeRelease() error {
	switch {
	case o.purpose == "":
		return options.Usagef("say what to check for: --for install, upgrade or uninstall, or name schema/NAME or migration/NAME")
	case !slices.Contains(purposes(), o.purpose):
		return options.Usagef("--for %q: want install, upgrade or uninstall", o.purpose)
	case o.offline:
		return options.Usagef("--offline is about a resource's artifact")
	}
	return nil
}

func (o *preflightOptions) parseName(arg string) error {
	var err error
	if o.kind, o.name, err = options.Resource(arg); err != nil {
		return err
	}
	if o.kind == "" {
		return options.Usagef("%q: say which kind, schema/%s or migration/%s", arg, arg, arg)
	}
	return nil
}

func (o *preflightOptions) run(ctx context.Context) error {
	files, err := o.readValues()
	if err != nil {
		return err
	}
	client, err := o.global.Cluster()
	if err != nil {
		return err
	}
	var view *render.Preflight
	if o.name != "" {
		view, err = o.resource(ctx, client)
	} else {
		view, err = Release(ctx, client, Request{Purpose: checks.Purpose(o.purpose), Release: o.release, Namespace: o.releaseNamespace, Files: files})
	}
	if err != nil {
		return err
	}
	if err := o.output.Print(view); err != nil {
		return err
	}
	if o.format.Kind == render.Text {
		for _, note := range view.Notes {
			o.global.Note(render.Plain, "note: %s", note)
		}
	}
	switch {
	case view.Failed > 0:
		return &options.ExitError{Code: options.Findings}
	case view.Unknown > 0:
		return &options.ExitError{Code: options.Failed}
	default:
		return nil
	}
}

func (o *preflightOptions) readValues() ([]checks.NamedFile, error) {
	var files []checks.NamedFile
	for _, path := range o.values {
		var data []byte
		var err error
		if path == "-" {
			data, err = io.ReadAll(o.global.In)
		} else {
			data, err = os.ReadFile(path)
		}
		if err != nil {
			return nil, fmt.Errorf("reading values: %w", err)
		}
		files = append(files, checks.NamedFile{Name: path, Data: data})
	}
	return files, nil
}

// Request is what a release is checked for.
type Request struct {
	Purpose            checks.Purpose
	Release, Namespace string // "" for the installed one
	Files              []checks.NamedFile
}

// Release checks the cluster for a release of the chart that this program carries.
func Release(ctx context.Context, client *cluster.Client, request Request) (*render.Preflight, error) {
	chart, err := checks.ReadChart(charts.Operator)
	if err != nil {
		return nil, err
	}
	snapshot, err := gatherRelease(ctx, client, chart, request)
	if err != nil {
		return nil, err
	}
	view := newView(checks.Run(checks.ReleaseChecks(request.Purpose), snapshot))
	view.Purpose, view.Release, view.Namespace = string(request.Purpose), snapshot.Candidate.Release, snapshot.Candidate.Namespace
	view.Chart, view.Sequence = chart.Version, chart.Sequence
	view.Notes = append(view.Notes, checks.Notes(snapshot)...)
	return view, nil
}

func (o *preflightOptions) resource(ctx context.Context, client *cluster.Client) (*render.Preflight, error) {
	namespace, err := o.global.Namespace()
	if err != nil {
		return nil, err
	}
	snapshot, err := gatherResource(ctx, client, o.kind, namespace, o.name, !o.offline)
	if err != nil {
		return nil, err
	}
	list := checks.ResourceChecks()
	if o.offline {
		list = slices.DeleteFunc(list, func(c checks.Check[checks.Resource]) bool { return c.ID == "artifact" })
	}
	view := newView(checks.Run(list, snapshot))
	view.Resource, view.Namespace = o.kind+"/"+o.name, namespace
	return view, nil
}

func newView(results []checks.Result) *render.Preflight {
	sum := checks.Sum(results)
	view := &render.Preflight{
		Meta: render.Meta{APIVersion: render.APIVersion, Kind: "Preflight"}, Results: []render.PreflightResult{}, Notes: []string{},
		Passed: sum.Passed, Failed: sum.Failed, Unknown: sum.Unknown,
	}
	for _, r := range results {
		details := r.Details
		if details == nil {
			details = []string{}
		}
		view.Results = append(view.Results, render.PreflightResult{ID: r.ID, Title: r.Title, Verdict: string(r.Verdict), Details: details, Fix: r.Fix})
	}
	return view
}

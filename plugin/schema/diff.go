package schema

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/options"
)

type diffOptions struct {
	loader
	output   *options.Output
	from, to []string
	exclude  []string
	exitCode bool
}

func (o *diffOptions) complete(args []string) error {
	if len(args) == 2 {
		o.from, o.to = args[:1], args[1:]
	}
	for _, names := range [][]string{o.from, o.to} {
		if err := checkSources(names); err != nil {
			return err
		}
	}
	if err := o.server.Validate(); err != nil {
		return err
	}
	_, err := o.output.Format()
	return err
}

func (o *diffOptions) run(ctx context.Context, flags *pflag.FlagSet) error {
	defer o.close()
	from, err := o.load(ctx, o.from, flags)
	if err != nil {
		return err
	}
	to, err := o.load(ctx, o.to, flags)
	if err != nil {
		return err
	}
	result, err := o.plan(ctx, from, to)
	if err != nil {
		return err
	}
	view := render.NewComparison(render.Comparison{
		From: from.label, To: to.label, Dialect: to.database.Dialect, FromDigest: result.From, ToDigest: result.To, Equal: result.NoChange, Document: result.Document,
	})
	if err := o.output.Print(view); err != nil {
		return err
	}
	if o.exitCode && !view.Equal {
		return &options.ExitError{Code: options.Findings}
	}
	return nil
}

// plan asks the database itself where there is one, and a dev server otherwise.
func (o *diffOptions) plan(ctx context.Context, from, to source) (engine.PlanResult, error) {
	settings := engine.Options{URL: from.url, Exclude: o.exclude}
	if from.url != "" {
		return engine.Plan(ctx, settings, to.database)
	}
	url, err := o.dev(ctx)
	if err != nil {
		return engine.PlanResult{}, err
	}
	settings.URL = url
	return engine.PlanFrom(ctx, settings, from.database, to.database)
}

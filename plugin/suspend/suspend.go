package suspend

import (
	"context"
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/suspension"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/resource"
)

// tries bounds how often a write is made again because the manager has written the status meanwhile.
const tries = 5

// client is what the verb needs from the cluster: get and patch on schemas or migrations.
type client interface {
	resource.Reader
	SuspendSchema(ctx context.Context, schema *v1alpha1.PtahSchema, suspend, dryRun bool) (*v1alpha1.PtahSchema, error)
	SuspendMigration(ctx context.Context, migration *v1alpha1.PtahMigration, suspend, dryRun bool) (*v1alpha1.PtahMigration, error)
}

type suspendOptions struct {
	global  *options.Global
	output  *options.Output
	suspend bool
	yes     bool
	dryRun  options.DryRun

	namespace, kind, name string
}

func (o *suspendOptions) complete(arg string) error {
	var err error
	if o.kind, o.name, err = options.Resource(arg); err != nil {
		return err
	}
	if err := o.dryRun.Validate(); err != nil {
		return err
	}
	if _, err := o.output.Format(); err != nil {
		return err
	}
	o.namespace, err = o.global.Namespace()
	return err
}

func (o *suspendOptions) run(ctx context.Context) error {
	c, err := o.global.Cluster()
	if err != nil {
		return err
	}
	return o.change(ctx, c)
}

// change reads, says what will happen, asks, and writes. Only the last step changes anything.
func (o *suspendOptions) change(ctx context.Context, c client) error {
	found, err := resource.Find(ctx, c, o.namespace, o.kind, o.name)
	if err != nil {
		return err
	}
	effect := o.effect(found)
	if effect.Unchanged {
		return o.print(found, effect, render.SuspensionUnchanged)
	}
	if err := o.global.Show(o.view(found, effect, "")); err != nil {
		return err
	}
	if err := o.ask(ctx, found); err != nil {
		return err
	}
	return o.write(ctx, c, found, effect)
}

func (o *suspendOptions) effect(found resource.Found) suspension.Effect {
	if found.Schema != nil {
		return suspension.Schema(found.Schema, o.suspend)
	}
	return suspension.Migration(found.Migration, o.suspend)
}

func (o *suspendOptions) verb() string {
	if o.suspend {
		return "suspend"
	}
	return "resume"
}

// ask wants a person's word, or --yes. A dry run changes nothing and does not ask.
func (o *suspendOptions) ask(ctx context.Context, found resource.Found) error {
	if o.yes || o.dryRun != options.DryRunNone {
		return nil
	}
	if !o.global.Screen.In {
		return options.Refusedf("stdin is no terminal, so nobody can be asked: give --yes; nothing was changed")
	}
	view := found.View()
	question := "Suspend"
	if !o.suspend {
		question = "Resume"
	}
	return o.global.Confirm(ctx, fmt.Sprintf("%s %s %s/%s?", question, view.ResourceKind, view.Namespace, view.Name), "yes")
}

// write changes exactly what was shown. The manager writes the status at any time, which makes another version of the same thing: while it
// is the same object with the same spec, the write is made again on that version, and what is in flight by now is said.
func (o *suspendOptions) write(ctx context.Context, c client, found resource.Found, effect suspension.Effect) error {
	if o.dryRun == options.DryRunClient {
		return o.print(found, effect, render.SuspensionDryRun)
	}
	shown := identity(found)
	for range tries {
		stored, err := o.patch(ctx, c, found)
		switch {
		case err == nil:
			return o.done(stored, effect)
		case cluster.IsAdmissionRefusal(err):
			return options.Refusedf("%w; nothing was changed", err)
		case !cluster.IsConflict(err):
			return err
		}
		if found, err = resource.Find(ctx, c, o.namespace, o.kind, o.name); err != nil {
			return err
		}
		if identity(found) != shown {
			return options.Refusedf("%s changed while it was shown: run the command again; nothing was changed", o.namespace+"/"+o.name)
		}
		if now := o.effect(found); !suspension.Same(effect, now) {
			effect = now
			o.global.Note(render.Caution, "went on while it was shown; in flight now: %s", orNothing(now.InFlight))
		}
	}
	return fmt.Errorf("changing spec.suspend of %s/%s: it was written by others %d times in a row; try again", o.namespace, o.name, tries)
}

func orNothing(inFlight string) string {
	if inFlight == "" {
		return "nothing"
	}
	return inFlight
}

func identity(found resource.Found) suspension.Identity {
	if found.Schema != nil {
		return suspension.Identity{UID: found.Schema.UID, Generation: found.Schema.Generation}
	}
	return suspension.Identity{UID: found.Migration.UID, Generation: found.Migration.Generation}
}

func (o *suspendOptions) patch(ctx context.Context, c client, found resource.Found) (resource.Found, error) {
	dryRun := o.dryRun == options.DryRunServer
	if found.Schema != nil {
		stored, err := c.SuspendSchema(ctx, found.Schema, o.suspend, dryRun)
		return resource.Found{Schema: stored}, err
	}
	stored, err := c.SuspendMigration(ctx, found.Migration, o.suspend, dryRun)
	return resource.Found{Migration: stored}, err
}

func (o *suspendOptions) done(stored resource.Found, effect suspension.Effect) error {
	if o.dryRun == options.DryRunServer {
		return o.print(stored, effect, render.SuspensionDryRun)
	}
	result := render.SuspensionSuspended
	if !o.suspend {
		result = render.SuspensionResumed
	}
	if err := o.print(stored, effect, result); err != nil {
		return err
	}
	view := stored.View()
	if o.suspend {
		o.global.Next("kubectl ptah wait %s/%s -n %s --for suspended", view.ResourceKind, view.Name, view.Namespace)
	} else {
		o.global.Next("kubectl ptah status %s/%s -n %s", view.ResourceKind, view.Name, view.Namespace)
	}
	return nil
}

func (o *suspendOptions) print(found resource.Found, effect suspension.Effect, result string) error {
	return o.output.Print(o.view(found, effect, result))
}

func (o *suspendOptions) view(found resource.Found, effect suspension.Effect, result string) render.View {
	s := render.Suspension{Action: o.verb(), Result: result, InFlight: effect.InFlight, Effects: effect.Lines, Writing: effect.Writing, Resource: found.View()}
	if result == render.SuspensionDryRun {
		s.DryRun = string(o.dryRun)
	}
	return render.NewSuspension(s)
}

package wait

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/waiting"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/resource"
)

// Values of --fail-fast.
const (
	failBlocked = "blocked"
	failPerson  = "person"
	failNever   = "never"
)

// client is what the verb needs from the cluster: get on schemas and migrations, and watch where it is allowed.
type client interface {
	resource.Reader
	FollowSchema(ctx context.Context, namespace, name string, visit func(*v1alpha1.PtahSchema) bool) error
	FollowMigration(ctx context.Context, namespace, name string, visit func(*v1alpha1.PtahMigration) bool) error
}

type waitOptions struct {
	global                        *options.Global
	output                        *options.Output
	state, failFast, digest, plan string
	timeout                       time.Duration

	namespace, kind, name string
	wish                  waiting.Wish
}

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func goals() []string {
	var words []string
	for _, goal := range waiting.Goals() {
		words = append(words, string(goal))
	}
	return words
}

func goalList() string { return strings.Join(goals(), ", ") }

func (o *waitOptions) complete(arg string) error {
	var err error
	if o.kind, o.name, err = options.Resource(arg); err != nil {
		return err
	}
	switch {
	case o.state == "":
		return options.Usagef("--for is missing: want one of %s", goalList())
	case !slices.Contains(goals(), o.state):
		return options.Usagef("--for %q: want one of %s", o.state, goalList())
	case !slices.Contains([]string{failBlocked, failPerson, failNever}, o.failFast):
		return options.Usagef("--fail-fast %q: want blocked, person or never", o.failFast)
	case o.digest != "" && !digestPattern.MatchString(o.digest):
		return options.Usagef("--digest %q: want sha256: and 64 hex digits, as \"kubectl ptah push\" prints it", o.digest)
	case o.plan != "" && o.state != string(waiting.GoalApplied):
		return options.Usagef("--plan goes with --for applied")
	case o.timeout < 0:
		return options.Usagef("--timeout %s: want zero or more", o.timeout)
	}
	if _, err := o.output.Format(); err != nil {
		return err
	}
	o.wish = waiting.Wish{Goal: waiting.Goal(o.state), Digest: o.digest, Plan: o.plan}
	o.namespace, err = o.global.Namespace()
	return err
}

func (o *waitOptions) run(ctx context.Context) error {
	c, err := o.global.Cluster()
	if err != nil {
		return err
	}
	return o.wait(ctx, c)
}

// wait follows the resource to the end of its way, or of the time.
func (o *waitOptions) wait(ctx context.Context, c client) error {
	found, err := resource.Find(ctx, c, o.namespace, o.kind, o.name)
	if options.CodeOf(err) == options.Nothing && o.wish.Goal == waiting.GoalDeleted {
		return o.print(nil, waiting.Distance{Progress: waiting.Reached})
	}
	if err != nil {
		return err
	}
	if found.Migration != nil && o.plan != "" {
		return options.Usagef("--plan is for schemas: a migration does not record which plan it applied")
	}
	timed, stop := context.WithTimeout(ctx, o.timeout)
	defer stop()
	w := &walk{options: o, last: o.measure(found), view: found.View()}
	if w.arrived() {
		return o.conclude(w)
	}
	if o.timeout > 0 {
		w.reminder = time.AfterFunc(o.global.Patience, w.tell)
		defer w.reminder.Stop()
		err = o.follow(timed, c, found, w)
	} else {
		err = context.DeadlineExceeded
	}
	switch {
	case err == nil, errors.Is(err, cluster.ErrGone):
		w.gone = err != nil
		return o.conclude(w)
	case ctx.Err() != nil:
		return err
	case timed.Err() != nil, o.timeout == 0:
		return o.ranOut(w)
	}
	return err
}

func (o *waitOptions) measure(found resource.Found) waiting.Distance {
	if found.Schema != nil {
		return waiting.SchemaDistance(found.Schema, o.wish)
	}
	return waiting.MigrationDistance(found.Migration, o.wish)
}

func (o *waitOptions) follow(ctx context.Context, c client, found resource.Found, w *walk) error {
	if found.Schema != nil {
		return c.FollowSchema(ctx, o.namespace, o.name, func(s *v1alpha1.PtahSchema) bool { return w.step(resource.Found{Schema: s}) })
	}
	return c.FollowMigration(ctx, o.namespace, o.name, func(m *v1alpha1.PtahMigration) bool { return w.step(resource.Found{Migration: m}) })
}

// conclude answers for the last state that was seen.
func (o *waitOptions) conclude(w *walk) error {
	w.hush()
	if w.gone {
		if o.wish.Goal == waiting.GoalDeleted {
			return o.print(w.view, waiting.Distance{Progress: waiting.Reached})
		}
		return options.Nothingf("%s %s/%s was deleted before it was %s", w.view.ResourceKind, o.namespace, o.name, render.StateWords(o.state))
	}
	if err := o.print(w.view, w.last); err != nil || w.last.Progress == waiting.Reached {
		return err
	}
	return &options.ExitError{Code: options.Findings, Err: w.short(o.state, ", and does not get there by itself")}
}

func (o *waitOptions) ranOut(w *walk) error {
	w.hush()
	if err := o.print(w.view, w.last); err != nil {
		return err
	}
	how := ""
	if o.timeout > 0 {
		how = " within " + o.timeout.String()
	}
	return &options.ExitError{Code: options.TimedOut, Err: w.short(o.state, how)}
}

// print writes the answer. Text is only there for a state that was reached.
func (o *waitOptions) print(view *render.Resource, d waiting.Distance) error {
	return o.output.Print(render.NewWait(render.Wait{
		ResourceKind: o.kind, Namespace: o.namespace, Name: o.name, State: o.state, Reached: d.Progress == waiting.Reached, Missing: d.Text, Resource: view,
	}))
}

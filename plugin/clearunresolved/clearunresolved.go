package clearunresolved

import (
	"context"
	"errors"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/unresolved"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/trace"
)

type clearOptions struct {
	global                      *options.Global
	output                      *options.Output
	token, reason, coordination string
	checked, withoutEvent       bool
	wait                        time.Duration
	waitGiven                   bool
	dryRun                      options.DryRun

	namespace, name string
	format          render.Format
}

func (o *clearOptions) complete(arg string) error {
	var err error
	if o.format, err = o.output.Format(); err != nil {
		return err
	}
	if o.name, err = options.MigrationName(arg); err != nil {
		return err
	}
	if err := o.dryRun.Validate(); err != nil {
		return err
	}
	if o.wait < 0 {
		return options.Usagef("--wait %s: want a positive duration, or 0", o.wait)
	}
	o.namespace, err = o.global.Namespace()
	return err
}

func (o *clearOptions) run(ctx context.Context) error {
	c, err := o.global.Cluster()
	if err != nil {
		return err
	}
	s, err := o.gather(ctx, c)
	if err != nil {
		return err
	}
	if s.migration.Status.UnresolvedRun == nil {
		return o.nothing(s.migration)
	}
	verdict := unresolved.Judge(s.input, o.checked)
	view := render.NewClearing(s.input, verdict, s.plan, o.global.Clock())
	if err := o.global.Show(view); err != nil {
		return err
	}
	if !verdict.CanClear {
		return o.refuse(view, verdict)
	}
	return o.clear(ctx, c, s, view)
}

// nothing answers for a resource without a record. A manager older than the record kept the state in the condition alone.
func (o *clearOptions) nothing(m *v1alpha1.PtahMigration) error {
	for _, c := range m.Status.Conditions {
		if c.Type == string(v1alpha1.ConditionBlocked) && c.Status == metav1.ConditionTrue && c.Reason == string(v1alpha1.ReasonApplyOutcomeUnknown) {
			return options.Nothingf("migration %s/%s is blocked by a run whose outcome is unknown, and this operator does not record which: there is no record to clear; an upgraded operator adopts it",
				m.Namespace, m.Name)
		}
	}
	return options.Nothingf("migration %s/%s carries no run that nobody accounted for", m.Namespace, m.Name)
}

// refuse prints the document for programs, and the reasons for everybody.
func (o *clearOptions) refuse(view *render.Clearing, verdict unresolved.Verdict) error {
	view.Result = render.ClearRefused
	if err := o.document(view); err != nil {
		return err
	}
	refusals := make([]error, 0, len(verdict.Refusals))
	for _, r := range verdict.Refusals {
		text := r.Text
		if r.Guard == unresolved.GuardUntold {
			text += "; look yourself, then give --i-checked-that-nothing-writes"
		}
		refusals = append(refusals, errors.New(text+"; nothing was changed"))
	}
	return &options.ExitError{Code: options.Refused, Err: errors.Join(refusals...)}
}

// document prints the view unless text was asked for, which was shown already.
func (o *clearOptions) document(view *render.Clearing) error {
	if o.format.Kind == render.Text || o.format.Kind == render.Name {
		return nil
	}
	return o.output.Print(view)
}

// clear asks, keeps who is about to clear what and why, writes once, keeps that it was done, and watches.
func (o *clearOptions) clear(ctx context.Context, c *cluster.Client, s *seen, view *render.Clearing) error {
	run := s.migration.Status.UnresolvedRun
	patch, err := unresolved.Patch(s.raw)
	if err != nil {
		return err
	}
	if o.dryRun == options.DryRunClient {
		view.Result, view.DryRun = render.ClearDryRun, string(o.dryRun)
		return o.output.Print(view.Brief())
	}
	if err := o.ask(ctx, run); err != nil {
		return err
	}
	who, err := c.WhoAmI(ctx)
	if err != nil {
		return err
	}
	view.Who, view.Reason = who, unresolved.Reason(o.reason)
	kept := o.trace(c, s.migration)
	if err := kept.Begin(ctx, v1alpha1.EventUnresolvedRunClearRequested, unresolved.RequestMessage(run, who, o.reason), o.dryRun == options.DryRunServer); err != nil {
		return err
	}
	view.RequestEvent = kept.Requested
	// From here on an interruption must not come between the write and what confirms it: each request is bounded by itself.
	signed := context.WithoutCancel(ctx)
	written, err := o.write(signed, c, s.migration, patch)
	switch {
	case cluster.IsConflict(err):
		return options.Refusedf("migration %s/%s changed since it was shown: look again; nothing was changed", o.namespace, o.name)
	case cluster.IsNotFound(err):
		return options.Refusedf("migration %s/%s is gone; nothing was changed", o.namespace, o.name)
	case cluster.IsAdmissionRefusal(err):
		return options.Refusedf("%w; nothing was changed", err)
	case err != nil:
		return err
	case o.dryRun == options.DryRunServer:
		view.Result, view.DryRun = render.ClearDryRun, string(o.dryRun)
		return o.output.Print(view.Brief())
	}
	view.Result = render.ClearCleared
	traceErr := kept.End(signed, v1alpha1.EventUnresolvedRunCleared, unresolved.EventMessage(run, who, o.reason))
	view.Event = kept.Outcome
	waitErr := o.watch(ctx, c, written, view)
	if err := o.output.Print(view.Brief()); err != nil {
		return err
	}
	o.conclude(view)
	return errors.Join(traceErr, waitErr)
}

// write clears. A server that took the write may still not have said so: then a look tells whether the record went, so that no cleared record is
// left without a trace.
func (o *clearOptions) write(ctx context.Context, c *cluster.Client, shown *v1alpha1.PtahMigration, patch []byte) (*v1alpha1.PtahMigration, error) {
	dryRun := o.dryRun == options.DryRunServer
	written, err := c.PatchMigrationStatus(ctx, o.namespace, o.name, patch, dryRun)
	if err == nil || dryRun || cluster.Answered(err) {
		return written, err
	}
	now, lookErr := c.Migration(ctx, o.namespace, o.name)
	switch {
	case lookErr != nil:
		return nil, errors.Join(err, errors.New("whether the record was cleared could not be told; look again"))
	case now.UID == shown.UID && now.Status.UnresolvedRun == nil:
		return now, nil
	}
	return nil, err
}

// ask wants the identity of the run, typed or given. A dry run changes nothing, and checks only what was given.
func (o *clearOptions) ask(ctx context.Context, run *v1alpha1.UnresolvedRun) error {
	o.global.Say("\n")
	want := unresolved.TokenOf(run)
	if o.token != "" && o.token != want.Value {
		return options.Refusedf("--yes-i-established-what-ran is not the %s of this record, which is %s; nothing was changed", want.Kind, want.Value)
	}
	if o.dryRun == options.DryRunServer {
		return nil
	}
	if unresolved.Reason(o.reason) == "" {
		return options.Refusedf("give --reason: what was established, and where that is written down; nothing was changed")
	}
	if o.token != "" {
		return nil
	}
	if !o.global.Screen.In {
		return options.Refusedf("stdin is no terminal, so nobody can be asked: give --yes-i-established-what-ran=%s once you know what the run did; nothing was changed", want.Value)
	}
	return o.global.Confirm(ctx, "Did you establish what this run did to the database? The "+want.Kind+" says so.", want.Value)
}

func (o *clearOptions) trace(c *cluster.Client, m *v1alpha1.PtahMigration) *trace.Trace {
	return &trace.Trace{Global: o.global, Writer: c, Did: "cleared", Subject: unresolved.TokenOf(m.Status.UnresolvedRun).Value, Without: o.withoutEvent, About: corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahMigration", Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
	}}
}

// conclude says what a person should know after the write.
func (o *clearOptions) conclude(view *render.Clearing) {
	switch unresolved.Outcome(view.NextPass) {
	case unresolved.Stayed:
		o.global.Note(render.Good, "the operator's next pass was seen, and the record stayed away")
	case unresolved.Returned:
		o.global.Note(render.Bad, "the record is back: a refusal still stands; repair what condition Blocked names, then clear again")
	case unresolved.Blocked:
		o.global.Note(render.Bad, "the next pass blocked the resource again, and the record comes back with it: %s", strings.Join(view.Comeback, "; "))
	case unresolved.Replaced:
		o.global.Note(render.Caution, "the resource was deleted or made again while its next pass was awaited")
	}
	o.global.Next("kubectl ptah migration %s -n %s", o.name, o.namespace)
}

package reject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/pkg/unresolved"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/trace"
)

type rejectOptions struct {
	global              *options.Global
	output              *options.Output
	reason, fingerprint string
	yes, withoutEvent   bool
	dryRun              options.DryRun

	namespace, kind, name string
}

func (o *rejectOptions) complete(arg string) error {
	var err error
	if _, err = o.output.Format(); err != nil {
		return err
	}
	if o.kind, o.name, err = options.Resource(arg); err != nil {
		return err
	}
	if err := o.dryRun.Validate(); err != nil {
		return err
	}
	if o.dryRun == options.DryRunNone && unresolved.Reason(o.reason) == "" {
		return options.Usagef("want --reason, which whoever made the plan will read")
	}
	if o.fingerprint != "" && !digest.Valid(o.fingerprint) {
		return options.Usagef("--fingerprint %q: want sha256: and 64 hex digits, as \"kubectl ptah plan\" prints it", o.fingerprint)
	}
	o.namespace, err = o.global.Namespace()
	return err
}

// run looks, decides, shows, asks, keeps who is about to reject what and why, withdraws, keeps that it was done, and looks whether it was in time.
func (o *rejectOptions) run(ctx context.Context) error {
	c, err := o.global.Cluster()
	if err != nil {
		return err
	}
	s, err := o.look(ctx, c)
	if err != nil {
		return err
	}
	decision, err := o.decide(s)
	if err != nil {
		return err
	}
	view := render.NewRejection(s.kind, s.namespace, s.name, s.plan, s.fingerprint, decision)
	if err := o.global.Show(view.Question()); err != nil {
		return err
	}
	if o.dryRun == options.DryRunClient {
		view.Result, view.DryRun = render.RejectDryRun, string(o.dryRun)
		return o.output.Print(view)
	}
	if err := o.ask(ctx, s); err != nil {
		return err
	}
	if view.Who, err = c.WhoAmI(ctx); err != nil {
		return err
	}
	view.Reason = unresolved.Reason(o.reason)
	kept := o.trace(c, s)
	asked := message(s, view, "is about to reject", "Approvals to withdraw: "+names(view.Withdrawn))
	if err := kept.Begin(ctx, v1alpha1.EventPlanRejectionRequested, asked, o.dryRun == options.DryRunServer); err != nil {
		return err
	}
	view.RequestEvent = kept.Requested
	// From here on an interruption must not come between the deletions and what confirms them: each request is bounded by itself.
	signed := context.WithoutCancel(ctx)
	withdrawn, err := o.withdraw(signed, c, s, decision.Withdraw)
	switch {
	case o.dryRun == options.DryRunServer && err == nil:
		view.Result, view.DryRun = render.RejectDryRun, string(o.dryRun)
		return o.output.Print(view)
	case o.dryRun == options.DryRunServer || (err != nil && withdrawn == 0):
		return err
	case err != nil:
		part := message(s, view, "began to reject", "Approvals withdrawn: "+names(view.Withdrawn[:withdrawn])+", not withdrawn: "+names(view.Withdrawn[withdrawn:]))
		return errors.Join(err, kept.End(signed, v1alpha1.EventPlanRejected, part))
	}
	traceErr := kept.End(signed, v1alpha1.EventPlanRejected, message(s, view, "rejected", "Approvals withdrawn: "+names(view.Withdrawn)))
	view.Event = kept.Outcome
	return errors.Join(traceErr, o.finish(ctx, c, s, view))
}

func (o *rejectOptions) decide(s *subject) (approval.Rejection, error) {
	what := s.namespace + "/" + s.name
	if s.plan.Name == "" {
		return approval.Rejection{}, options.Nothingf("%s %s has no current plan to reject: it waits for %s", s.kind, what, orNobody(s.waitsFor))
	}
	if o.fingerprint != "" && o.fingerprint != s.fingerprint {
		return approval.Rejection{}, options.Refusedf("the current plan of %s has the fingerprint %s, not %s: look at it before rejecting it; nothing was changed", what, s.fingerprint, o.fingerprint)
	}
	decision := approval.Reject(s.input)
	if decision.Refused != "" {
		return decision, options.Refusedf("%s; nothing was changed", decision.Refused)
	}
	return decision, nil
}

func orNobody(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

func (o *rejectOptions) ask(ctx context.Context, s *subject) error {
	o.global.Say("\n")
	if o.dryRun == options.DryRunServer {
		return nil
	}
	if o.yes {
		return nil
	}
	if !o.global.Screen.In {
		return options.Refusedf("stdin is no terminal, so nobody can be asked: reject with --yes --fingerprint %s; nothing was changed", s.fingerprint)
	}
	return o.global.Confirm(ctx, fmt.Sprintf("Reject this plan of %s/%s?", s.namespace, s.name), "yes")
}

// withdraw deletes exactly the approvals that were shown, and says how many are gone. One that was spent or changed meanwhile stays, and the
// rest with it.
func (o *rejectOptions) withdraw(ctx context.Context, c *cluster.Client, s *subject, list []approval.Standing) (int, error) {
	for i, a := range list {
		err := c.Delete(ctx, cluster.Target{
			Resource: s.approvals, Namespace: s.namespace, Name: a.Ref.Name, UID: a.Ref.UID, ResourceVersion: a.ResourceVersion,
		}, o.dryRun == options.DryRunServer)
		done := "nothing was changed"
		if i > 0 && o.dryRun == options.DryRunNone {
			done = fmt.Sprintf("%d of %s withdrawn before", i, spelling.Count(len(list), "approval"))
		}
		switch {
		case err == nil || cluster.IsNotFound(err):
		case cluster.IsConflict(err):
			return i, options.Refusedf("approval %s/%s changed since it was shown, perhaps because a run used it: look again; %s", s.namespace, a.Ref.Name, done)
		case !cluster.Answered(err):
			return i, fmt.Errorf("%w; whether approval %s was withdrawn could not be told: look again; %s", err, a.Ref.Name, strings.Replace(done, "nothing was", "nothing else was", 1))
		default:
			return i, fmt.Errorf("%w; %s", err, done)
		}
	}
	return len(list), nil
}

// finish says what was done, and when a run was faster than the person.
func (o *rejectOptions) finish(ctx context.Context, c *cluster.Client, s *subject, view *render.Rejection) error {
	view.Result = render.RejectRejected
	if err := o.output.Print(view); err != nil {
		return err
	}
	now, err := o.look(ctx, c)
	switch {
	case err != nil:
		return fmt.Errorf("looking whether a run began meanwhile: %w", err)
	case now.uid == s.uid && now.plan.UID == s.plan.UID && now.input.Apply != "":
		return fmt.Errorf("an Apply of this plan was claimed before its approval was withdrawn (%s): the operator checks the approval again before it starts a Job, so see \"kubectl ptah status %s/%s -n %s\"",
			now.input.Apply, s.kind, s.name, s.namespace)
	}
	o.global.Note(render.Plain, "the plan stays current until its artifact, its database or its policy changes, and could be approved again; \"kubectl ptah suspend %s/%s -n %s\" keeps everything from running", s.kind, s.name, s.namespace)
	return nil
}

func (o *rejectOptions) trace(c *cluster.Client, s *subject) *trace.Trace {
	return &trace.Trace{Global: o.global, Writer: c, Did: "rejected", Subject: string(s.plan.UID), Without: o.withoutEvent, About: corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: s.apiKind, Namespace: s.namespace, Name: s.name, UID: types.UID(s.uid), ResourceVersion: s.resourceVersion,
	}}
}

// maxMessage is the API's bound on an Event's message, in bytes.
const maxMessage = 1024

// message keeps who, why, and whose approvals go: the objects are gone afterwards.
func message(s *subject, view *render.Rejection, did, approvals string) string {
	text := fmt.Sprintf("%s %s plan %s (%s): %s. %s.", unresolved.Reason(view.Who), did, s.plan.Name, s.fingerprint, view.Reason, approvals)
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage-3], "") + "..."
	}
	return text
}

func names(list []render.RejectedApproval) string {
	words := make([]string, 0, len(list))
	for _, a := range list {
		words = append(words, a.Name+" by "+unresolved.Reason(a.Approver))
	}
	return cmp.Or(strings.Join(words, ", "), "none")
}

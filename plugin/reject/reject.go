package reject

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/unresolved"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
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
	if o.fingerprint != "" && !digest.Valid(o.fingerprint) {
		return options.Usagef("--fingerprint %q: want sha256: and 64 hex digits, as \"kubectl ptah plan\" prints it", o.fingerprint)
	}
	o.namespace, err = o.global.Namespace()
	return err
}

// run looks, decides, shows, asks, makes sure that the trace can be kept, withdraws, keeps the trace, and looks whether it was in time.
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
	event := o.event(s, view)
	if err := o.rehearse(ctx, c, event, view); err != nil {
		return err
	}
	if err := o.withdraw(ctx, c, s, decision.Withdraw); err != nil {
		return err
	}
	if o.dryRun == options.DryRunServer {
		view.Result, view.DryRun = render.RejectDryRun, string(o.dryRun)
		return o.output.Print(view)
	}
	return o.finish(ctx, c, s, event, view)
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
	if unresolved.Reason(o.reason) == "" {
		return options.Refusedf("give --reason, which whoever made the plan will read; nothing was changed")
	}
	if o.yes {
		return nil
	}
	if !o.global.Screen.In {
		return options.Refusedf("stdin is no terminal, so nobody can be asked: reject with --yes --fingerprint %s; nothing was changed", s.fingerprint)
	}
	return o.global.Confirm(ctx, fmt.Sprintf("Reject this plan of %s/%s?", s.namespace, s.name), "yes")
}

func (o *rejectOptions) rehearse(ctx context.Context, c *cluster.Client, event *corev1.Event, view *render.Rejection) error {
	err := c.CreateEvent(ctx, event, true)
	switch {
	case err == nil:
		view.Event = event.Name
		return nil
	case o.withoutEvent:
		o.global.Note(render.Caution, "%s: nothing in the cluster will keep who rejected this, when and why", err)
		return nil
	case cluster.IsForbidden(err) || cluster.IsAdmissionRefusal(err):
		return options.Refusedf("%w: who rejected this, when and why would not be kept; get the permission, or give --without-event; nothing was changed", err)
	}
	return err
}

// withdraw deletes exactly the approvals that were shown. One that was spent or changed meanwhile stays, and the rest with it.
func (o *rejectOptions) withdraw(ctx context.Context, c *cluster.Client, s *subject, list []approval.Standing) error {
	for i, a := range list {
		err := c.Delete(ctx, cluster.Target{
			Resource: s.approvals, Namespace: s.namespace, Name: a.Ref.Name, UID: a.Ref.UID, ResourceVersion: a.ResourceVersion,
		}, o.dryRun == options.DryRunServer)
		done := "nothing was changed"
		if i > 0 {
			done = fmt.Sprintf("%d of %d approvals were withdrawn before", i, len(list))
		}
		switch {
		case err == nil || cluster.IsNotFound(err):
		case cluster.IsConflict(err):
			return options.Refusedf("approval %s/%s changed since it was shown, perhaps because a run spent it: look again; %s", s.namespace, a.Ref.Name, done)
		default:
			return fmt.Errorf("%w; %s", err, done)
		}
	}
	return nil
}

// finish keeps the trace, and says when a run was faster than the person.
func (o *rejectOptions) finish(ctx context.Context, c *cluster.Client, s *subject, event *corev1.Event, view *render.Rejection) error {
	view.Result = render.RejectRejected
	if view.Event != "" {
		if err := c.CreateEvent(ctx, event, false); err != nil {
			view.Event = ""
			o.global.Note(render.Bad, "the Event was not written; keep this: %s", event.Message)
			return err
		}
	}
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

func (o *rejectOptions) event(s *subject, view *render.Rejection) *corev1.Event {
	at := metav1.NewTime(o.global.Clock())
	id := digest.Hex(digest.Tuple("plan-rejected", s.uid, string(s.plan.UID), at.UTC().Format(time.RFC3339Nano)))[:16]
	return &corev1.Event{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.name + "." + id},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: s.apiKind, Namespace: s.namespace, Name: s.name, UID: types.UID(s.uid), ResourceVersion: s.resourceVersion,
		},
		Type: corev1.EventTypeWarning, Reason: string(v1alpha1.EventPlanRejected),
		Message: message(s, view),
		Count:   1, FirstTimestamp: at, LastTimestamp: at,
		Source: corev1.EventSource{Component: "kubectl-ptah"}, ReportingController: v1alpha1.GroupName + "/kubectl-ptah",
	}
}

// maxMessage is the API's bound on an Event's message, in bytes.
const maxMessage = 1024

// message keeps who, why, and whose approvals went: the objects are gone afterwards.
func message(s *subject, view *render.Rejection) string {
	withdrawn := make([]string, 0, len(view.Withdrawn))
	for _, a := range view.Withdrawn {
		withdrawn = append(withdrawn, a.Name+" by "+unresolved.Reason(a.Approver))
	}
	text := fmt.Sprintf("%s rejected plan %s (%s): %s. Approvals withdrawn: %s.",
		unresolved.Reason(view.Who), s.plan.Name, s.fingerprint, view.Reason, cmp.Or(strings.Join(withdrawn, ", "), "none"))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage-3], "") + "..."
	}
	return text
}

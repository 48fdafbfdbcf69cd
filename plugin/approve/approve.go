package approve

import (
	"context"
	"fmt"
	"regexp"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/waiting"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/rejections"
	"github.com/ptah-run/ptah/plugin/storedplan"
)

// Values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// client is what the verb needs from the cluster: get on schemas, plans, ConfigMaps and approvals, create on approvals; list on Events for
// who rejected the plan.
type client interface {
	storedplan.Reader
	Schema(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchema, error)
	SchemaPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchemaPlan, error)
	SchemaApproval(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchemaApproval, error)
	CreateSchemaApproval(ctx context.Context, approval *v1alpha1.PtahSchemaApproval, dryRun bool) (*v1alpha1.PtahSchemaApproval, error)
	rejections.Reader
}

type approveOptions struct {
	global                    *options.Global
	output                    *options.Output
	fingerprint, plan, dryRun string
	yes                       bool

	namespace, schema string
	rejected          render.Rejected // what is known about a decision against the plan
}

var fingerprintPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func (o *approveOptions) complete(arg string) error {
	schema, err := options.SchemaName(arg)
	if err != nil {
		return err
	}
	o.schema = schema
	if o.fingerprint != "" && !fingerprintPattern.MatchString(o.fingerprint) {
		return options.Usagef("--fingerprint %q: want sha256: and 64 hex digits, as \"kubectl ptah plan %s\" prints it", o.fingerprint, schema)
	}
	switch o.dryRun {
	case dryRunNone, dryRunClient, dryRunServer:
	default:
		return options.Usagef("--dry-run %q: want client, server or none", o.dryRun)
	}
	if _, err := o.output.Format(); err != nil {
		return err
	}
	o.namespace, err = o.global.Namespace()
	return err
}

func (o *approveOptions) run(ctx context.Context) error {
	connected, err := o.global.Cluster()
	if err != nil {
		return err
	}
	return o.approve(ctx, connected)
}

// approve reads and verifies, judges, shows, asks, reads again, and writes. Only the last step changes anything.
func (o *approveOptions) approve(ctx context.Context, c client) error {
	schema, err := c.Schema(ctx, o.namespace, o.schema)
	if err != nil {
		return err
	}
	object, err := storedplan.Current(ctx, c, schema)
	if options.CodeOf(err) == options.Nothing {
		return options.Nothingf("%w to approve: %s", err, waitsFor(schema))
	}
	if err != nil {
		return err
	}
	if err := o.meant(object); err != nil {
		return err
	}
	if decision := schema.Status.Plan.Approval; decision != nil {
		return o.decided(ctx, c, schema, decision)
	}
	slot, err := findSlot(ctx, c, object)
	if err != nil {
		return err
	}
	if slot.standing != nil {
		return o.unchanged(schema, slot.standing)
	}
	wanted := build(object, slot.name)
	if err := judge(schema, object, wanted); err != nil {
		return err
	}
	verified, err := storedplan.Read(ctx, c, object)
	if err != nil {
		return err
	}
	view := storedplan.View(schema, verified, o.global.Clock())
	view.Rejected = rejections.Of(ctx, c, o.namespace, storedplan.Rejectable(schema, object))
	o.rejected = view.Rejected
	if err := o.global.Show(view); err != nil {
		return err
	}
	if err := o.ask(ctx, schema, object); err != nil {
		return err
	}
	if err := o.unmoved(ctx, c, schema, object); err != nil {
		return err
	}
	return o.write(ctx, c, wanted)
}

// meant compares the current plan with the one that the command line names.
func (o *approveOptions) meant(object *v1alpha1.PtahSchemaPlan) error {
	what := o.namespace + "/" + o.schema
	if o.plan != "" && o.plan != object.Name {
		return options.Refusedf("the current plan of %s is %s, not %s: look at it before approving it; nothing was changed", what, object.Name, o.plan)
	}
	if o.fingerprint != "" && o.fingerprint != object.Spec.Fingerprint {
		return options.Refusedf("the current plan of %s has the fingerprint %s, not %s: look at it before approving it; nothing was changed",
			what, object.Spec.Fingerprint, o.fingerprint)
	}
	return nil
}

// build writes the three fields that a person writes; admission fills in the rest.
func build(object *v1alpha1.PtahSchemaPlan, name string) *v1alpha1.PtahSchemaApproval {
	wanted := &v1alpha1.PtahSchemaApproval{}
	wanted.Namespace, wanted.Name = object.Namespace, name
	wanted.Spec.SchemaRef = object.Spec.SchemaRef
	wanted.Spec.PlanRef = v1alpha1.ObjectRef{Name: object.Name, UID: object.UID}
	wanted.Spec.PlanFingerprint = object.Spec.Fingerprint
	return wanted
}

// judge asks what admission will ask, so that a person learns the reason before the question.
func judge(schema *v1alpha1.PtahSchema, object *v1alpha1.PtahSchemaPlan, wanted *v1alpha1.PtahSchemaApproval) error {
	bound := wanted.DeepCopy()
	if err := approval.Bind(bound, object); err != nil {
		return options.Refusedf("%w; nothing was changed", err)
	}
	verdict := approval.Judge(approval.Input{Stage: approval.Advice, Schema: schema, Plan: object}, bound)
	if verdict.Outcome == approval.Accepted {
		return nil
	}
	return options.Refusedf("%s/%s takes no approval now: %s (%s); %s; nothing was changed",
		schema.Namespace, schema.Name, verdict.Message, verdict.Reason, waitsFor(schema))
}

func waitsFor(schema *v1alpha1.PtahSchema) string {
	answer := waiting.Schema(schema)
	if answer.Party == waiting.Nobody {
		return "it is in sync"
	}
	return "it waits for " + answer.Text
}

// ask wants a person's word, or --yes. A dry run changes nothing and does not ask.
func (o *approveOptions) ask(ctx context.Context, schema *v1alpha1.PtahSchema, object *v1alpha1.PtahSchemaPlan) error {
	o.global.Say("\n")
	if text := o.rejected.Sentence("this plan", o.global.Clock()); text != "" {
		o.global.Note(render.Caution, "%s", text)
	}
	if o.yes || o.dryRun != dryRunNone {
		return nil
	}
	if !o.global.Screen.In {
		return options.Refusedf("stdin is no terminal, so nobody can be asked: approve with --yes --fingerprint %s; nothing was changed", object.Spec.Fingerprint)
	}
	if object.Spec.Destructive {
		return o.global.Confirm(ctx, fmt.Sprintf("This plan is destructive. Run it once against the database of %s/%s?", schema.Namespace, schema.Name), schema.Name)
	}
	return o.global.Confirm(ctx, fmt.Sprintf("Approve running this plan once against the database of %s/%s?", schema.Namespace, schema.Name), "yes")
}

// unmoved reads the schema again: what is approved must be what was shown.
func (o *approveOptions) unmoved(ctx context.Context, c client, shown *v1alpha1.PtahSchema, object *v1alpha1.PtahSchemaPlan) error {
	now, err := c.Schema(ctx, o.namespace, o.schema)
	if err != nil {
		return err
	}
	record := now.Status.Plan
	if now.UID == shown.UID && record != nil && record.UID == object.UID && record.Fingerprint == object.Spec.Fingerprint {
		return nil
	}
	return options.Refusedf("the current plan of %s/%s changed while it was shown: run the command again; nothing was changed", o.namespace, o.schema)
}

func (o *approveOptions) write(ctx context.Context, c client, wanted *v1alpha1.PtahSchemaApproval) error {
	if o.dryRun == dryRunClient {
		return o.print(wanted, render.ApprovalDryRun, dryRunClient)
	}
	stored, err := c.CreateSchemaApproval(ctx, wanted, o.dryRun == dryRunServer)
	switch {
	case cluster.IsAlreadyExists(err):
		return o.lostRace(ctx, c, wanted)
	case cluster.IsAdmissionRefusal(err):
		return options.Refusedf("%w; nothing was changed", err)
	case err != nil:
		return err
	case o.dryRun == dryRunServer:
		return o.print(stored, render.ApprovalDryRun, dryRunServer)
	}
	if err := o.print(stored, render.ApprovalCreated, ""); err != nil {
		return err
	}
	o.global.Next("kubectl ptah status %s -n %s", o.schema, o.namespace)
	return nil
}

func (o *approveOptions) print(object *v1alpha1.PtahSchemaApproval, result, dryRun string) error {
	view := render.NewApproval(object, result, dryRun)
	view.Rejected = o.rejected
	return o.output.Print(view)
}

// lostRace is two people, or a person twice, approving the same plan at the same moment: one approval is enough.
func (o *approveOptions) lostRace(ctx context.Context, c client, wanted *v1alpha1.PtahSchemaApproval) error {
	other, err := c.SchemaApproval(ctx, wanted.Namespace, wanted.Name)
	if err != nil {
		return err
	}
	if !samePlan(other, wanted) {
		return options.Refusedf("approval %s/%s exists and names another plan; nothing was changed", wanted.Namespace, wanted.Name)
	}
	return o.output.Print(render.NewApproval(other, render.ApprovalUnchanged, ""))
}

// decided answers for a plan whose approval the schema has recorded already, whoever gave it.
func (o *approveOptions) decided(ctx context.Context, c client, schema *v1alpha1.PtahSchema, decision *v1alpha1.ApprovalRecord) error {
	standing, err := c.SchemaApproval(ctx, o.namespace, decision.Name)
	if err == nil && standing.UID == decision.UID {
		return o.unchanged(schema, standing)
	}
	return options.Refusedf("the current plan of %s/%s was approved by %s already (%s); %s; nothing was changed",
		schema.Namespace, schema.Name, decision.Approver.Username, decision.Name, waitsFor(schema))
}

// afterApproval says what an approved plan waits for. The manager may not have seen the approval yet.
func afterApproval(schema *v1alpha1.PtahSchema) string {
	if waiting.SchemaApproval(schema) {
		return "the manager has not acted on it yet"
	}
	return waitsFor(schema)
}

// unchanged answers for a plan that was approved already.
func (o *approveOptions) unchanged(schema *v1alpha1.PtahSchema, standing *v1alpha1.PtahSchemaApproval) error {
	if err := o.output.Print(render.NewApproval(standing, render.ApprovalUnchanged, "")); err != nil {
		return err
	}
	o.global.Note(render.Plain, "this plan was approved already, by %s %s; %s",
		standing.Spec.Approver.Username, render.Stamp(standing.Spec.ApprovedAt.Time, o.global.Clock()), afterApproval(schema))
	return nil
}

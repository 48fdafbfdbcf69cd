package plan

import (
	"context"
	"fmt"
	"strings"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/waiting"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/rejections"
	"github.com/ptah-run/ptah/plugin/storedplan"
)

// reader is what the verb needs from the cluster: get on schemas, plans and ConfigMaps, and list on plans for records without a reference.
// List on Events tells who rejected the plan.
type reader interface {
	storedplan.Reader
	Schema(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchema, error)
	SchemaPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchemaPlan, error)
	EachSchemaPlan(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahSchemaPlan) error) error
	rejections.Reader
}

type planOptions struct {
	global           *options.Global
	output           *options.Output
	current, applied bool
	name             string

	namespace, schema string
	format            render.Format
}

func (o *planOptions) complete(args []string) error {
	chosen := 0
	for _, set := range []bool{o.current, o.applied, o.name != ""} {
		if set {
			chosen++
		}
	}
	if chosen > 1 {
		return options.Usagef("--current, --applied and --name exclude each other")
	}
	var err error
	if len(args) > 0 {
		if o.schema, err = options.SchemaName(args[0]); err != nil {
			return err
		}
	}
	if o.format, err = o.output.Format(); err != nil {
		return err
	}
	o.namespace, err = o.global.Namespace()
	return err
}

func (o *planOptions) run(ctx context.Context) error {
	client, err := o.global.Cluster()
	if err != nil {
		return err
	}
	if strings.HasPrefix(o.name, v1alpha1.MigrationPlanPrefix) {
		return o.migrationPlan(ctx, client)
	}
	found, err := o.find(ctx, client)
	if err != nil {
		return err
	}
	verified, err := storedplan.Read(ctx, client, found.object)
	if err != nil {
		return err
	}
	view := storedplan.View(found.schema, verified, o.global.Clock())
	if verified.Unproven != "" && (o.format.Kind == render.SQL || o.format.Kind == render.JSON) { // which have no place for it
		o.global.Note(render.Caution, "%s", render.Unproven(verified.Unproven))
	}
	if o.applied {
		view.Role = render.RoleApplied
	}
	if view.Role == render.RoleCurrent && o.format.Kind != render.SQL && o.format.Kind != render.JSON {
		view.Rejected = rejections.Of(ctx, client, o.namespace, storedplan.Rejectable(found.schema, found.object))
	}
	if err := o.output.Print(view); err != nil {
		return err
	}
	o.advise(found)
	return nil
}

// selection is a plan object with the schema that it belongs to; the schema is nil where it no longer exists.
type selection struct {
	schema *v1alpha1.PtahSchema
	object *v1alpha1.PtahSchemaPlan
}

func (o *planOptions) find(ctx context.Context, client reader) (selection, error) {
	if o.name != "" {
		return o.byName(ctx, client)
	}
	schema, err := client.Schema(ctx, o.namespace, o.schema)
	if err != nil {
		return selection{}, err
	}
	if o.applied {
		object, err := appliedPlan(ctx, client, schema)
		return selection{schema, object}, err
	}
	object, err := storedplan.Current(ctx, client, schema)
	if options.CodeOf(err) == options.Nothing {
		return selection{}, options.Nothingf("%w: %s", err, noPlan(schema))
	}
	return selection{schema, object}, err
}

// noPlan says why a schema has no current plan.
func noPlan(schema *v1alpha1.PtahSchema) string {
	answer := waiting.Schema(schema)
	switch {
	case answer.Party == waiting.Nobody && (schema.Status.ActiveOperation != nil || schema.Status.Phase != v1alpha1.SchemaPhaseInSync):
		return fmt.Sprintf("a new reading is under way (phase %s), and what it finds is not known yet", schema.Status.Phase)
	case answer.Party == waiting.Nobody:
		return "it is in sync"
	}
	return "it waits for " + answer.Text
}

// byName reads any stored plan. Its schema may be gone or made again; the plan is evidence all the same.
func (o *planOptions) byName(ctx context.Context, client reader) (selection, error) {
	object, err := client.SchemaPlan(ctx, o.namespace, o.name)
	if cluster.IsNotFound(err) {
		return selection{}, options.Nothingf("no plan %s/%s is stored", o.namespace, o.name)
	}
	if err != nil {
		return selection{}, err
	}
	owner := object.Spec.SchemaRef
	if o.schema != "" && owner.Name != o.schema {
		return selection{}, fmt.Errorf("plan %s/%s belongs to schema %s, not to %s", o.namespace, o.name, owner.Name, o.schema)
	}
	schema, err := client.Schema(ctx, o.namespace, owner.Name)
	switch {
	case cluster.IsNotFound(err), err == nil && schema.UID != owner.UID:
		return selection{nil, object}, nil
	case err != nil:
		return selection{}, err
	}
	return selection{schema, object}, nil
}

// appliedPlan finds the plan of the last proven Apply. Records older than the reference are matched by fingerprint among the schema's plans.
func appliedPlan(ctx context.Context, client reader, schema *v1alpha1.PtahSchema) (*v1alpha1.PtahSchemaPlan, error) {
	what := schema.Namespace + "/" + schema.Name
	record := schema.Status.Applied
	if record == nil {
		return nil, options.Nothingf("%s has no applied plan: no Apply was proven yet", what)
	}
	if record.PlanRef.Name == "" {
		return matchApplied(ctx, client, schema)
	}
	object, err := client.SchemaPlan(ctx, schema.Namespace, record.PlanRef.Name)
	if cluster.IsNotFound(err) {
		return nil, fmt.Errorf("reading plan %s/%s: status.applied.planRef names it and it does not exist; it was deleted", schema.Namespace, record.PlanRef.Name)
	}
	if err != nil {
		return nil, err
	}
	if object.UID != record.PlanRef.UID || object.Spec.Fingerprint != record.PlanFingerprint {
		return nil, fmt.Errorf("reading plan %s/%s: it is not the plan that status.applied names (UID or fingerprint differ); it was deleted and made again",
			schema.Namespace, record.PlanRef.Name)
	}
	return object, nil
}

func matchApplied(ctx context.Context, client reader, schema *v1alpha1.PtahSchema) (*v1alpha1.PtahSchemaPlan, error) {
	var matches []*v1alpha1.PtahSchemaPlan
	err := client.EachSchemaPlan(ctx, cluster.Query{Namespace: schema.Namespace}, func(p *v1alpha1.PtahSchemaPlan) error {
		if p.Spec.SchemaRef.UID == schema.UID && p.Spec.Fingerprint == schema.Status.Applied.PlanFingerprint {
			matches = append(matches, p.DeepCopy())
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(matches) == 0:
		return nil, options.Nothingf("%s/%s has no stored plan with the applied fingerprint %s", schema.Namespace, schema.Name, schema.Status.Applied.PlanFingerprint)
	case len(matches) > 1:
		return nil, fmt.Errorf("looking for the applied plan of %s/%s: %d stored plans carry its fingerprint", schema.Namespace, schema.Name, len(matches))
	}
	return matches[0], nil
}

// advise names the next command for a person who reads.
func (o *planOptions) advise(found selection) {
	if o.format.Kind != render.Text || found.schema == nil {
		return
	}
	record := found.schema.Status.Plan
	if record != nil && record.UID == found.object.UID && waiting.SchemaApproval(found.schema) {
		o.global.Next("kubectl ptah approve %s -n %s --fingerprint %s", found.schema.Name, o.namespace, record.Fingerprint)
	}
}

package storedplan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/bundle"
	"github.com/ptah-run/ptah/pkg/pin"
	"github.com/ptah-run/ptah/plugin/cluster"
)

// Exporting is what bundling plans needs from the cluster: get on plans, approvals and ConfigMaps, list on approvals.
type Exporting interface {
	Reader
	EachSchemaApproval(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahSchemaApproval) error) error
	EachMigrationApproval(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahMigrationApproval) error) error
	Raw(ctx context.Context, resource, namespace, name string) ([]byte, error)
}

// Exported is one plan of a bundle.
type Exported struct {
	bundle.Entry
	Size int64 // of its document
}

// Bundle writes plans to a sink, every digest checked. A damaged plan does not stop the checking of the others, so that all damage is known
// at once; with any damage there is an error and no bundle. Without approvals, the bundle says so.
func Bundle(ctx context.Context, client Exporting, plans []pin.Plan, withApprovals bool, sink bundle.Sink) ([]Exported, string, error) {
	plans = slices.Clone(plans)
	slices.SortFunc(plans, func(a, b pin.Plan) int { return bundle.Order(a.Namespace, a.Name, b.Namespace, b.Name) })
	var index approvalIndex
	if withApprovals {
		var err error
		if index, err = indexApprovals(ctx, client, plans); err != nil {
			return nil, "", err
		}
	}
	writer := bundle.NewWriter(sink)
	var exported []Exported
	var failures []error
	for _, plan := range plans {
		content, err := index.read(ctx, client, plan)
		if err == nil {
			var entry bundle.Entry
			if entry, err = writer.Add(content); err == nil {
				exported = append(exported, Exported{Entry: entry, Size: int64(len(content.Document))})
				continue
			}
		}
		failures = append(failures, err)
		if ctx.Err() != nil || cluster.IsForbidden(err) {
			break // the others would fail alike
		}
	}
	if len(failures) > 0 {
		return nil, "", errors.Join(failures...)
	}
	digest, err := writer.Close()
	return exported, digest, err
}

// approvalIndex lists the names of approvals by the plan that they name; nil when approvals are not wanted.
type approvalIndex map[approvalKey][]string

type approvalKey struct {
	family          pin.Family
	namespace, plan string
	uid             string
}

// indexApprovals reads the approvals of every namespace and family once.
func indexApprovals(ctx context.Context, client Exporting, plans []pin.Plan) (approvalIndex, error) {
	index := approvalIndex{}
	type list struct {
		family    pin.Family
		namespace string
	}
	done := map[list]bool{}
	add := func(family pin.Family, namespace, name string, ref v1alpha1.ObjectRef) {
		key := approvalKey{family, namespace, ref.Name, string(ref.UID)}
		index[key] = append(index[key], name)
	}
	for _, plan := range plans {
		wanted := list{plan.Family, plan.Namespace}
		if done[wanted] {
			continue
		}
		done[wanted] = true
		query := cluster.Query{Namespace: plan.Namespace}
		var err error
		if plan.Family == pin.Migration {
			err = client.EachMigrationApproval(ctx, query, func(a *v1alpha1.PtahMigrationApproval) error {
				add(pin.Migration, a.Namespace, a.Name, a.Spec.PlanRef)
				return nil
			})
		} else {
			err = client.EachSchemaApproval(ctx, query, func(a *v1alpha1.PtahSchemaApproval) error {
				add(pin.Schema, a.Namespace, a.Name, a.Spec.PlanRef)
				return nil
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return index, nil
}

// read gathers one plan: the object as the server has it, its verified bytes and its approvals.
func (i approvalIndex) read(ctx context.Context, client Exporting, plan pin.Plan) (bundle.Plan, error) {
	content := bundle.Plan{Kind: bundle.SchemaPlan, Namespace: plan.Namespace, Name: plan.Name}
	resource, approvals := cluster.SchemaPlans, cluster.SchemaApprovals
	if plan.Family == pin.Migration {
		content.Kind, resource, approvals = bundle.MigrationPlan, cluster.MigrationPlans, cluster.MigrationReviews
	}
	what := "plan " + plan.Namespace + "/" + plan.Name
	var err error
	if content.Object, err = client.Raw(ctx, resource, plan.Namespace, plan.Name); err != nil {
		return bundle.Plan{}, err
	}
	if content.Document, err = document(ctx, client, plan.Family, content.Object); err != nil {
		return bundle.Plan{}, err
	}
	if i == nil {
		return content, nil
	}
	content.Approvals = [][]byte{}
	for _, name := range i[approvalKey{plan.Family, plan.Namespace, plan.Name, string(plan.UID)}] {
		raw, err := client.Raw(ctx, approvals, plan.Namespace, name)
		if err != nil {
			return bundle.Plan{}, fmt.Errorf("reading the approvals of %s: %w", what, err)
		}
		content.Approvals = append(content.Approvals, raw)
	}
	return content, nil
}

// document reads and verifies the bytes of a schema's plan; a migration's has none.
func document(ctx context.Context, client Reader, family pin.Family, raw []byte) ([]byte, error) {
	if family == pin.Migration {
		object := &v1alpha1.PtahMigrationPlan{}
		if err := json.Unmarshal(raw, object); err != nil {
			return nil, fmt.Errorf("decoding a plan: %w", err)
		}
		return nil, CheckMigration(object)
	}
	object := &v1alpha1.PtahSchemaPlan{}
	if err := json.Unmarshal(raw, object); err != nil {
		return nil, fmt.Errorf("decoding a plan: %w", err)
	}
	verified, err := Read(ctx, client, object)
	if err != nil {
		return nil, err
	}
	return verified.Bytes, nil
}

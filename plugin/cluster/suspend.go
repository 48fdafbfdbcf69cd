package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// SuspendSchema sets spec.suspend of exactly the version that is given. IsConflict tells that there is a newer one.
func (c *Client) SuspendSchema(ctx context.Context, schema *v1alpha1.PtahSchema, suspend, dryRun bool) (*v1alpha1.PtahSchema, error) {
	stored := &v1alpha1.PtahSchema{}
	return stored, c.suspend(ctx, Schemas, schema, suspend, dryRun, stored)
}

// SuspendMigration does the same for a PtahMigration.
func (c *Client) SuspendMigration(ctx context.Context, migration *v1alpha1.PtahMigration, suspend, dryRun bool) (*v1alpha1.PtahMigration, error) {
	stored := &v1alpha1.PtahMigration{}
	return stored, c.suspend(ctx, Migrations, migration, suspend, dryRun, stored)
}

func (c *Client) suspend(ctx context.Context, resource string, of metav1.Object, suspend, dryRun bool, into object) error {
	name, namespace := of.GetName(), of.GetNamespace()
	doing := fmt.Sprintf("changing spec.suspend of %s %s/%s", singular(resource), namespace, name)
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": of.GetUID(), "resourceVersion": of.GetResourceVersion()},
		"spec":     map[string]any{"suspend": suspend},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	options := &metav1.PatchOptions{FieldManager: "kubectl-ptah"}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	err = c.ptah.Patch(types.MergePatchType).Resource(resource).Namespace(namespace).Name(name).
		VersionedParams(options, metav1.ParameterCodec).Body(patch).Do(ctx).Into(into)
	return explain(err, c.host, doing, "patch", resource, namespace)
}

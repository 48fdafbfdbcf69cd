package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// ConfigMaps is the resource that holds the chunks of plans.
const ConfigMaps = configMaps

// MigrationPlan reads one PtahMigrationPlan.
func (c *Client) MigrationPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahMigrationPlan, error) {
	object := &v1alpha1.PtahMigrationPlan{}
	return object, c.get(ctx, c.ptah, MigrationPlans, namespace, name, object)
}

// EachMigrationPlan reads the PtahMigrationPlans of a namespace, or of all for "", page by page.
func (c *Client) EachMigrationPlan(ctx context.Context, query Query, visit func(*v1alpha1.PtahMigrationPlan) error) error {
	return each(ctx, c, MigrationPlans, query, func(list *v1alpha1.PtahMigrationPlanList) error { return visitAll(list.Items, visit) })
}

// EachSchemaApproval reads the PtahSchemaApprovals of a namespace, or of all for "", page by page.
func (c *Client) EachSchemaApproval(ctx context.Context, query Query, visit func(*v1alpha1.PtahSchemaApproval) error) error {
	return each(ctx, c, SchemaApprovals, query, func(list *v1alpha1.PtahSchemaApprovalList) error { return visitAll(list.Items, visit) })
}

// EachMigrationApproval reads the PtahMigrationApprovals of a namespace, or of all for "", page by page.
func (c *Client) EachMigrationApproval(ctx context.Context, query Query, visit func(*v1alpha1.PtahMigrationApproval) error) error {
	return each(ctx, c, MigrationReviews, query, func(list *v1alpha1.PtahMigrationApprovalList) error { return visitAll(list.Items, visit) })
}

// metadataOnly asks for a list without the bytes of its objects.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// EachConfigMapMeta reads the metadata of ConfigMaps page by page; their contents stay on the server.
func (c *Client) EachConfigMapMeta(ctx context.Context, query Query, visit func(*metav1.PartialObjectMetadata) error) error {
	return c.EachMeta(ctx, configMaps, query, visit)
}

// EachMeta reads the metadata of a resource page by page: which objects there are, and in which version.
func (c *Client) EachMeta(ctx context.Context, resource string, query Query, visit func(*metav1.PartialObjectMetadata) error) error {
	options := metav1.ListOptions{LabelSelector: query.Selector, FieldSelector: query.Fields, Limit: query.PageSize}
	if options.Limit <= 0 {
		options.Limit = PageSize
	}
	for {
		raw, err := c.clientFor(resource).Get().Resource(resource).NamespaceIfScoped(query.Namespace, query.Namespace != "").
			VersionedParams(&options, metav1.ParameterCodec).SetHeader("Accept", metadataOnly).DoRaw(ctx)
		doing := "listing " + resource + where(query.Namespace)
		if err != nil {
			return explain(err, c.host, doing, "list", resource, query.Namespace)
		}
		page := metav1.PartialObjectMetadataList{}
		if err := decodeJSON(raw, &page, doing); err != nil {
			return err
		}
		if page.ResourceVersion == "" {
			return explain(errShape, c.host, doing, "list", resource, query.Namespace)
		}
		if err := visitAll(page.Items, visit); err != nil {
			return err
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nil
		}
	}
}

// Raw reads one object of Ptah's group as the server has it, fields that this program does not know included.
func (c *Client) Raw(ctx context.Context, resource, namespace, name string) ([]byte, error) {
	raw, err := c.ptah.Get().Resource(resource).Namespace(namespace).Name(name).DoRaw(ctx)
	return raw, explain(err, c.host, "reading "+singular(resource)+" "+namespace+"/"+name, "get", resource, namespace)
}

// Target is one version of one object.
type Target struct {
	Resource        string // SchemaPlans, MigrationPlans or ConfigMaps
	Namespace, Name string
	UID             types.UID
	ResourceVersion string
}

// Delete deletes exactly the version that it is given: an object that was made again or changed since stays. With dryRun the server only
// says whether it would.
func (c *Client) Delete(ctx context.Context, target Target, dryRun bool) error {
	doing := "deleting " + singular(target.Resource) + " " + target.Namespace + "/" + target.Name
	if target.UID == "" {
		return fmt.Errorf("%s: its UID is not known", doing)
	}
	options := metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &target.UID},
	}
	if target.ResourceVersion != "" {
		options.Preconditions.ResourceVersion = &target.ResourceVersion
	}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	body, err := json.Marshal(options)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	err = c.clientFor(target.Resource).Delete().Resource(target.Resource).Namespace(target.Namespace).Name(target.Name).
		SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").Body(body).Do(ctx).Error()
	return explain(err, c.host, doing, "delete", target.Resource, target.Namespace)
}

func (c *Client) clientFor(resource string) rest.Interface {
	if resource == configMaps {
		return c.core
	}
	return c.ptah
}

// IsConflict tells an object that is not the version that was meant.
func IsConflict(err error) bool { return apierrors.IsConflict(err) }

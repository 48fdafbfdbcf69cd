// Package cluster is the plugin's view of a Kubernetes API server: typed reads and the few writes that verbs make, with errors that say
// what was being done and what to do next. It makes no decision.
package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Plural resource names of the kinds that the plugin reads.
const (
	Schemas          = "ptahschemas"
	SchemaPlans      = "ptahschemaplans"
	SchemaApprovals  = "ptahschemaapprovals"
	Migrations       = "ptahmigrations"
	MigrationPlans   = "ptahmigrationplans"
	MigrationReviews = "ptahmigrationapprovals"
	configMaps       = "configmaps"
)

// PageSize is how many objects a list asks for at once, so that memory does not grow with the cluster.
const PageSize = 500

// requestTimeout bounds one request where --request-timeout sets nothing. A read that takes longer is not going to succeed.
const requestTimeout = 60 * time.Second

// Client speaks to one API server.
type Client struct {
	ptah rest.Interface
	core rest.Interface
	host string
}

// New makes a client. It connects to nothing.
func New(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	// The server's own fairness decides how fast we may ask, as for kubectl.
	config.QPS, config.Burst = -1, -1
	if config.Timeout == 0 {
		config.Timeout = requestTimeout
	}
	ptah, err := restClient(config, v1alpha1.GroupVersion, "/apis", v1alpha1.AddToScheme, runtime.ContentTypeJSON)
	if err != nil {
		return nil, err
	}
	// ConfigMaps carry the plan's bytes; protobuf spares a base64 pass over them.
	core, err := restClient(config, corev1.SchemeGroupVersion, "/api", corev1.AddToScheme, runtime.ContentTypeProtobuf)
	if err != nil {
		return nil, err
	}
	return &Client{ptah: ptah, core: core, host: config.Host}, nil
}

func restClient(base *rest.Config, version schema.GroupVersion, path string, install func(*runtime.Scheme) error, contentType string) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	if err := install(scheme); err != nil {
		return nil, fmt.Errorf("registering %s: %w", version, err)
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config := rest.CopyConfig(base)
	config.GroupVersion = &version
	config.APIPath = path
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType = contentType
	config.AcceptContentTypes = contentType
	if contentType != runtime.ContentTypeJSON {
		config.AcceptContentTypes += "," + runtime.ContentTypeJSON
	}
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("configuring access to the API server: %w", err)
	}
	return client, nil
}

// Host is the API server's address, for messages.
func (c *Client) Host() string { return c.host }

// Schema reads one PtahSchema.
func (c *Client) Schema(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchema, error) {
	object := &v1alpha1.PtahSchema{}
	return object, c.get(ctx, c.ptah, Schemas, namespace, name, object)
}

// SchemaPlan reads one PtahSchemaPlan.
func (c *Client) SchemaPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchemaPlan, error) {
	object := &v1alpha1.PtahSchemaPlan{}
	return object, c.get(ctx, c.ptah, SchemaPlans, namespace, name, object)
}

// SchemaApproval reads one PtahSchemaApproval.
func (c *Client) SchemaApproval(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchemaApproval, error) {
	object := &v1alpha1.PtahSchemaApproval{}
	return object, c.get(ctx, c.ptah, SchemaApprovals, namespace, name, object)
}

// Migration reads one PtahMigration.
func (c *Client) Migration(ctx context.Context, namespace, name string) (*v1alpha1.PtahMigration, error) {
	object := &v1alpha1.PtahMigration{}
	return object, c.get(ctx, c.ptah, Migrations, namespace, name, object)
}

// EachSchema reads the PtahSchemas of a namespace, or of all for "", page by page.
func (c *Client) EachSchema(ctx context.Context, query Query, visit func(*v1alpha1.PtahSchema) error) error {
	return each(ctx, c, Schemas, query, func(list *v1alpha1.PtahSchemaList) error { return visitAll(list.Items, visit) })
}

// EachMigration reads the PtahMigrations of a namespace, or of all for "", page by page.
func (c *Client) EachMigration(ctx context.Context, query Query, visit func(*v1alpha1.PtahMigration) error) error {
	return each(ctx, c, Migrations, query, func(list *v1alpha1.PtahMigrationList) error { return visitAll(list.Items, visit) })
}

// EachSchemaPlan reads the PtahSchemaPlans of a namespace, or of all for "", page by page.
func (c *Client) EachSchemaPlan(ctx context.Context, query Query, visit func(*v1alpha1.PtahSchemaPlan) error) error {
	return each(ctx, c, SchemaPlans, query, func(list *v1alpha1.PtahSchemaPlanList) error { return visitAll(list.Items, visit) })
}

// CreateSchemaApproval creates an approval and returns what the server stored, or would store under a server-side dry run.
func (c *Client) CreateSchemaApproval(ctx context.Context, approval *v1alpha1.PtahSchemaApproval, dryRun bool) (*v1alpha1.PtahSchemaApproval, error) {
	options := &metav1.CreateOptions{FieldManager: "kubectl-ptah"}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	stored := &v1alpha1.PtahSchemaApproval{}
	err := c.ptah.Post().Resource(SchemaApprovals).Namespace(approval.Namespace).
		VersionedParams(options, metav1.ParameterCodec).Body(approval).Do(ctx).Into(stored)
	return stored, explain(err, c.host, "creating approval "+approval.Namespace+"/"+approval.Name, "create", SchemaApprovals, approval.Namespace)
}

// ConfigMapBytes reads one key of a ConfigMap's binaryData; false when the ConfigMap has no such key.
func (c *Client) ConfigMapBytes(ctx context.Context, namespace, name, key string) ([]byte, bool, error) {
	object := &corev1.ConfigMap{}
	if err := c.get(ctx, c.core, configMaps, namespace, name, object); err != nil {
		return nil, false, err
	}
	data, ok := object.BinaryData[key]
	return data, ok, nil
}

// ServerVersion asks the API server for its version.
func (c *Client) ServerVersion(ctx context.Context) (version.Info, error) {
	info := version.Info{}
	raw, err := c.ptah.Get().AbsPath("/version").DoRaw(ctx)
	if err != nil {
		return info, explain(err, c.host, "reading the server's version", "get", "/version", "")
	}
	return info, decodeJSON(raw, &info, "reading the server's version")
}

// GroupVersions lists the versions of Ptah's API group that the server serves; none when the kinds are not installed.
func (c *Client) GroupVersions(ctx context.Context) ([]string, error) {
	raw, err := c.ptah.Get().AbsPath("/apis/" + v1alpha1.GroupName).DoRaw(ctx)
	if IsNotFound(err) || KindMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(err, c.host, "reading API group "+v1alpha1.GroupName, "get", "/apis", "")
	}
	group := metav1.APIGroup{}
	if err := decodeJSON(raw, &group, "reading API group "+v1alpha1.GroupName); err != nil {
		return nil, err
	}
	versions := make([]string, 0, len(group.Versions))
	for _, served := range group.Versions {
		versions = append(versions, served.Version)
	}
	return versions, nil
}

func (c *Client) get(ctx context.Context, client rest.Interface, resource, namespace, name string, into runtime.Object) error {
	err := client.Get().Resource(resource).Namespace(namespace).Name(name).Do(ctx).Into(into)
	if IsNotFound(err) {
		return absent(err, resource, namespace, name)
	}
	return explain(err, c.host, "reading "+singular(resource)+" "+namespace+"/"+name, "get", resource, namespace)
}

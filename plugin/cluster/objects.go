package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	authorization "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Kind is a resource of any API group, for verbs that look at more than Ptah's own kinds.
type Kind struct {
	Group, Version, Plural string
	// Word names one object in messages: "Deployment".
	Word string
}

// Kinds beside Ptah's own.
var (
	KindNamespaces          = Kind{Version: "v1", Plural: "namespaces", Word: "Namespace"}
	KindPods                = Kind{Version: "v1", Plural: "pods", Word: "Pod"}
	KindEvents              = Kind{Version: "v1", Plural: "events", Word: "Event"}
	KindSecrets             = Kind{Version: "v1", Plural: "secrets", Word: "Secret"}
	KindConfigMaps          = Kind{Version: "v1", Plural: "configmaps", Word: "ConfigMap"}
	KindServiceAccounts     = Kind{Version: "v1", Plural: "serviceaccounts", Word: "ServiceAccount"}
	KindLimitRanges         = Kind{Version: "v1", Plural: "limitranges", Word: "LimitRange"}
	KindResourceQuotas      = Kind{Version: "v1", Plural: "resourcequotas", Word: "ResourceQuota"}
	KindDeployments         = Kind{Group: "apps", Version: "v1", Plural: "deployments", Word: "Deployment"}
	KindJobs                = Kind{Group: "batch", Version: "v1", Plural: "jobs", Word: "Job"}
	KindLeases              = Kind{Group: "coordination.k8s.io", Version: "v1", Plural: "leases", Word: "Lease"}
	KindRoleBindings        = Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Plural: "rolebindings", Word: "RoleBinding"}
	KindClusterRoleBindings = Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Plural: "clusterrolebindings", Word: "ClusterRoleBinding"}
	KindPriorityClasses     = Kind{Group: "scheduling.k8s.io", Version: "v1", Plural: "priorityclasses", Word: "PriorityClass"}
	KindRuntimeClasses      = Kind{Group: "node.k8s.io", Version: "v1", Plural: "runtimeclasses", Word: "RuntimeClass"}
	KindCRDs                = Kind{Group: "apiextensions.k8s.io", Version: "v1", Plural: "customresourcedefinitions", Word: "CustomResourceDefinition"}
	KindMutatingWebhooks    = Kind{Group: "admissionregistration.k8s.io", Version: "v1", Plural: "mutatingwebhookconfigurations", Word: "MutatingWebhookConfiguration"}
	KindValidatingWebhooks  = Kind{Group: "admissionregistration.k8s.io", Version: "v1", Plural: "validatingwebhookconfigurations", Word: "ValidatingWebhookConfiguration"}
)

// PtahKind is one of Ptah's own kinds by its plural name.
func PtahKind(plural string) Kind {
	return Kind{Group: v1alpha1.GroupName, Version: v1alpha1.GroupVersion.Version, Plural: plural, Word: singular(plural)}
}

func (k Kind) path(namespace, name string, suffix ...string) []string {
	path := []string{"/api", k.Version}
	if k.Group != "" {
		path = []string{"/apis", k.Group, k.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	path = append(path, k.Plural)
	if name != "" {
		path = append(path, name)
	}
	return append(path, suffix...)
}

func (k Kind) group() string {
	if k.Group == "" {
		return "the core group"
	}
	return k.Group
}

// GetObject reads one object; namespace is "" for kinds of the whole cluster.
func GetObject[T any](ctx context.Context, c *Client, kind Kind, namespace, name string) (*T, error) {
	where := name
	if namespace != "" {
		where = namespace + "/" + name
	}
	doing := "reading " + kind.Word + " " + where
	data, err := raw(ctx, c.ptah.Get().AbsPath(kind.path(namespace, name)...))
	if err != nil {
		return nil, c.explainKind(err, kind, doing, "get", namespace)
	}
	object := new(T)
	return object, decodeJSON(data, object, doing)
}

// raw answers with the bytes of a response, or with the error that the server sent: DoRaw would not read it, and could not tell an object that is
// missing from a kind that is.
func raw(ctx context.Context, request *rest.Request) ([]byte, error) {
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// page is any list, as far as paging goes.
type page[T any] struct {
	Metadata struct {
		Continue        string `json:"continue"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []T `json:"items"`
}

// EachObject reads the objects of a namespace, or of all for "", page by page.
func EachObject[T any](ctx context.Context, c *Client, kind Kind, query Query, visit func(*T) error) error {
	doing := "listing " + kind.Plural
	if query.Namespace != "" {
		doing += " in namespace " + query.Namespace
	}
	limit := query.PageSize
	if limit <= 0 {
		limit = PageSize
	}
	next := ""
	for {
		parameters := url.Values{"limit": {strconv.FormatInt(limit, 10)}}
		if next != "" {
			parameters.Set("continue", next)
		}
		if query.Selector != "" {
			parameters.Set("labelSelector", query.Selector)
		}
		if query.Fields != "" {
			parameters.Set("fieldSelector", query.Fields)
		}
		request := c.ptah.Get().AbsPath(kind.path(query.Namespace, "")...)
		for name := range parameters {
			request = request.Param(name, parameters.Get(name))
		}
		data, err := raw(ctx, request)
		if err != nil {
			return c.explainKind(err, kind, doing, "list", query.Namespace)
		}
		var p page[T]
		if err := decodeJSON(data, &p, doing); err != nil {
			return err
		}
		if p.Metadata.ResourceVersion == "" {
			return c.explainKind(errShape, kind, doing, "list", query.Namespace)
		}
		if err := visitAll(p.Items, visit); err != nil {
			return err
		}
		if next = p.Metadata.Continue; next == "" {
			return nil
		}
	}
}

// Log reads the end of a container's log: at most so many lines and bytes.
func (c *Client) Log(ctx context.Context, namespace, pod, container string, previous bool, lines, bytes int64) ([]byte, error) {
	request := c.ptah.Get().AbsPath(KindPods.path(namespace, pod, "log")...).
		Param("container", container).Param("tailLines", strconv.FormatInt(lines, 10)).Param("limitBytes", strconv.FormatInt(bytes, 10))
	if previous {
		request = request.Param("previous", "true")
	}
	stream, err := request.Stream(ctx)
	if err != nil {
		kind := KindPods
		kind.Plural = "pods/log"
		return nil, c.explainKind(err, kind, "reading the log of "+namespace+"/"+pod, "get", namespace)
	}
	defer func() { _ = stream.Close() }()
	data, err := io.ReadAll(io.LimitReader(stream, bytes))
	if err != nil {
		return nil, fmt.Errorf("reading the log of %s/%s: the connection broke off", namespace, pod)
	}
	return data, nil
}

// May asks the API server whether the person behind this client may do something. Namespace "" asks for the whole cluster.
func (c *Client) May(ctx context.Context, verb, group, resource, namespace string) (bool, error) {
	review := authorization.SelfSubjectAccessReview{Spec: authorization.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorization.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Namespace: namespace},
	}}
	review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
	body, err := json.Marshal(review)
	if err != nil {
		return false, fmt.Errorf("asking what this user may do: %w", err)
	}
	kind := Kind{Group: "authorization.k8s.io", Version: "v1", Plural: "selfsubjectaccessreviews", Word: "SelfSubjectAccessReview"}
	data, err := raw(ctx, c.ptah.Post().AbsPath(kind.path("", "")...).Body(body).SetHeader("Content-Type", "application/json"))
	if err != nil {
		return false, c.explainKind(err, kind, "asking what this user may do", "create", "")
	}
	answer := authorization.SelfSubjectAccessReview{}
	if err := decodeJSON(data, &answer, "asking what this user may do"); err != nil {
		return false, err
	}
	return answer.Status.Allowed && !answer.Status.Denied, nil
}

func (c *Client) explainKind(err error, kind Kind, doing, verb, namespace string) error {
	why := reason(err, c.host, verb, kind.Plural, namespace)
	switch {
	case KindMissing(err) && kind.Group != v1alpha1.GroupName:
		why = "this cluster does not know the kind"
	case apierrors.IsForbidden(err) && !IsAdmissionRefusal(err):
		place := ""
		if namespace != "" {
			place = " in namespace " + namespace
		}
		why = fmt.Sprintf("forbidden: this user may not %s %s (%s)%s", verb, kind.Plural, kind.group(), place)
	}
	return &Error{doing: doing, why: why, err: err}
}

// WhyOf is the reason of a failed request without what was being done, and the whole text of any other error.
func WhyOf(err error) string {
	var request *Error
	if errors.As(err, &request) {
		return request.Why()
	}
	return err.Error()
}

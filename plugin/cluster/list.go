package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Query bounds a list.
type Query struct {
	// Namespace to read; "" is all of them.
	Namespace string
	// Selector over labels; "" selects everything.
	Selector string
	// Fields is a selector over fields: those that a kind of Kubernetes itself lets select, or a CRD declares; "" selects everything.
	Fields string
	// PageSize of one request; 0 is the package's PageSize.
	PageSize int64
	// Limit stops after so many objects; 0 reads all.
	Limit int64
}

// list is a pointer to one of the typed lists.
type list[L any] interface {
	*L
	runtime.Object
	metav1.ListInterface
}

// each reads a list page by page, and forgets a page before it asks for the next.
func each[L any, P list[L]](ctx context.Context, c *Client, resource string, query Query, visit func(P) error) error {
	options := metav1.ListOptions{LabelSelector: query.Selector, FieldSelector: query.Fields, Limit: query.PageSize}
	if options.Limit <= 0 {
		options.Limit = PageSize
	}
	if query.Limit > 0 {
		options.Limit = min(options.Limit, query.Limit)
	}
	for {
		page := P(new(L))
		err := c.ptah.Get().Resource(resource).NamespaceIfScoped(query.Namespace, query.Namespace != "").
			VersionedParams(&options, metav1.ParameterCodec).Do(ctx).Into(page)
		if err == nil && page.GetResourceVersion() == "" {
			err = errShape
		}
		if err := explain(err, c.host, "listing "+resource+where(query.Namespace), "list", resource, query.Namespace); err != nil {
			return err
		}
		if err := visit(page); err != nil {
			return err
		}
		options.Continue = page.GetContinue()
		if options.Continue == "" || query.Limit > 0 {
			return nil
		}
	}
}

func visitAll[T any](items []T, visit func(*T) error) error {
	for i := range items {
		if err := visit(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

func where(namespace string) string {
	if namespace == "" {
		return " in all namespaces"
	}
	return " in namespace " + namespace
}

func decodeJSON(data []byte, into any, doing string) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: the answer is not the JSON that was expected", doing)
	}
	return nil
}

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/convergence"
)

// EachHead reads what the stalled verdict needs of every schema or migration: page by page, and of a page one object at a time, so that
// memory grows neither with the cluster nor with the page. The object that visit gets is used again for the next one.
func (c *Client) EachHead(ctx context.Context, resource string, query Query, visit func(*convergence.Object) error) error {
	options := metav1.ListOptions{LabelSelector: query.Selector, Limit: query.PageSize}
	if options.Limit <= 0 {
		options.Limit = PageSize
	}
	for {
		body, err := c.ptah.Get().Resource(resource).NamespaceIfScoped(query.Namespace, query.Namespace != "").
			VersionedParams(&options, metav1.ParameterCodec).Stream(ctx)
		if err == nil {
			options.Continue, err = walkList(body, visit)
			_ = body.Close()
		}
		if err := explain(err, c.host, "listing "+resource+where(query.Namespace), "list", resource, query.Namespace); err != nil {
			return err
		}
		if options.Continue == "" {
			return nil
		}
	}
}

// errShape is an answer that is no list. It reaches a person as a connection that broke off, which is what it is.
var errShape = errors.New("the answer is no list")

// walkList decodes a list as it arrives and returns its continue token.
func walkList(body io.Reader, visit func(*convergence.Object) error) (string, error) {
	decoder := json.NewDecoder(body)
	if err := expect(decoder, '{'); err != nil {
		return "", err
	}
	var meta struct {
		Continue string `json:"continue"`
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return "", err
		}
		switch key {
		case "items":
			err = walkItems(decoder, visit)
		case "metadata":
			err = decoder.Decode(&meta)
		default:
			var skipped json.RawMessage
			err = decoder.Decode(&skipped)
		}
		if err != nil {
			return "", err
		}
	}
	return meta.Continue, expect(decoder, '}')
}

func walkItems(decoder *json.Decoder, visit func(*convergence.Object) error) error {
	if err := expect(decoder, '['); err != nil {
		return err
	}
	var object convergence.Object
	for decoder.More() {
		conditions := object.Status.Conditions[:0]
		object = convergence.Object{}
		object.Status.Conditions = conditions
		if err := decoder.Decode(&object); err != nil {
			return err
		}
		if err := visit(&object); err != nil {
			return err
		}
	}
	return expect(decoder, ']')
}

func expect(decoder *json.Decoder, want json.Delim) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("%w: %v where %s belongs", errShape, token, want)
	}
	return nil
}

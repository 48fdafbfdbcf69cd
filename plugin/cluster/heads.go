package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/convergence"
)

// EachHead reads what the stalled verdict needs of every schema or migration: page by page, and of a page one object at a time, so that
// memory does not grow with the cluster. While one page is looked through, the server prepares the next. The object that visit gets is used
// again for the next one.
func (c *Client) EachHead(ctx context.Context, resource string, query Query, visit func(*convergence.Object) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := metav1.ListOptions{LabelSelector: query.Selector, Limit: query.PageSize}
	if options.Limit <= 0 {
		options.Limit = PageSize
	}
	read := func(into *bytes.Buffer, token string) error {
		options := options
		options.Continue = token
		into.Reset()
		body, err := c.ptah.Get().Resource(resource).NamespaceIfScoped(query.Namespace, query.Namespace != "").
			VersionedParams(&options, metav1.ParameterCodec).Stream(ctx)
		if err == nil {
			_, err = into.ReadFrom(body)
			_ = body.Close()
		}
		return err
	}
	err := eachPage(read, func(page *bytes.Buffer) (string, error) { return walkList(page, visit) })
	return explain(err, c.host, "listing "+resource+where(query.Namespace), "list", resource, query.Namespace)
}

// eachPage reads pages one ahead of the one that is walked through. The walk says which page comes next; what was read ahead by an earlier
// guess is thrown away where it disagrees.
func eachPage(read func(into *bytes.Buffer, token string) error, walk func(page *bytes.Buffer) (token string, err error)) error {
	page, spare := &bytes.Buffer{}, &bytes.Buffer{}
	if err := read(page, ""); err != nil {
		return err
	}
	for {
		guess := continueToken(page.Bytes())
		ahead := make(chan error, 1)
		if guess != "" {
			go func() { ahead <- read(spare, guess) }()
		}
		token, err := walk(page)
		var failure error
		if guess != "" {
			failure = <-ahead
		}
		switch {
		case err != nil:
			return err
		case token == "":
			return nil
		case token != guess:
			failure = read(spare, token)
		}
		if failure != nil {
			return failure
		}
		page, spare = spare, page
	}
}

// continueToken looks at the end of a page, where a server writes the list's own metadata; "" where it does not stand there.
func continueToken(page []byte) string {
	const key = `"metadata":`
	at := bytes.LastIndex(page, []byte(key))
	if at < 0 {
		return ""
	}
	var meta struct {
		Continue string `json:"continue"`
	}
	if json.NewDecoder(bytes.NewReader(page[at+len(key):])).Decode(&meta) != nil {
		return ""
	}
	return meta.Continue
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

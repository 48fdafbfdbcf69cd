package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/convergence"
)

// tableAccept asks for a list as the table that kubectl get prints: a tenth of the bytes, and of the server's work.
const tableAccept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// EachHead reads what the stalled verdict needs of every schema or migration, page by page, so that memory does not grow with the cluster. A
// page is read as a table first, which says when each resource is looked at next; only a page that holds one whose time has come, or that the
// table says too little about, is read again whole, one object at a time. The object that visit gets is used again for the next one.
func (c *Client) EachHead(ctx context.Context, resource string, query Query, now time.Time, visit func(*convergence.Object) error) error {
	h := &heads{client: c, resource: resource, query: query, now: now, visit: visit}
	return explain(h.run(ctx), c.host, "listing "+resource+where(query.Namespace), "list", resource, query.Namespace)
}

type heads struct {
	client   *Client
	resource string
	query    Query
	now      time.Time
	visit    func(*convergence.Object) error
}

func (h *heads) run(ctx context.Context) error {
	options := metav1.ListOptions{LabelSelector: h.query.Selector, FieldSelector: h.query.Fields, Limit: h.query.PageSize}
	if options.Limit <= 0 {
		options.Limit = PageSize
	}
	for tables := true; ; {
		var token string
		var err error
		if tables {
			token, tables, err = h.table(ctx, options)
		}
		if err == nil && !tables {
			token, err = h.whole(ctx, options)
		}
		if err != nil || token == "" {
			return err
		}
		options.Continue = token
	}
}

func (h *heads) request(options metav1.ListOptions) *rest.Request {
	return h.client.ptah.Get().Resource(h.resource).NamespaceIfScoped(h.query.Namespace, h.query.Namespace != "").VersionedParams(&options, metav1.ParameterCodec)
}

// table reads one page as a table. It reports false where the server has no such table, or none with the column that counts.
func (h *heads) table(ctx context.Context, options metav1.ListOptions) (token string, ok bool, err error) {
	body, err := h.request(options).Param("includeObject", string(metav1.IncludeNone)).SetHeader("Accept", tableAccept).DoRaw(ctx)
	if err != nil {
		return "", false, err
	}
	page, ok := readTable(body)
	if !ok {
		return "", false, nil
	}
	if page.due(h.now) {
		if options.Continue == "" { // a token stands for a state of the store by itself
			options.ResourceVersion, options.ResourceVersionMatch = page.version, metav1.ResourceVersionMatchExact
		}
		token, err = h.whole(ctx, options)
		return token, true, err
	}
	for i := range page.next {
		object := convergence.Object{}
		object.Status.NextReconciliationTime = &page.next[i]
		if err := h.visit(&object); err != nil {
			return "", true, err
		}
	}
	return page.token, true, nil
}

// whole reads one page of full objects.
func (h *heads) whole(ctx context.Context, options metav1.ListOptions) (string, error) {
	body, err := h.request(options).Stream(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	return walkList(body, h.visit)
}

// tablePage is what a table says of a page: when each resource is looked at next. It is unclear where a row says nothing of the kind, or that
// the resource is suspended.
type tablePage struct {
	token, version string
	next           []time.Time
	unclear        bool
}

// due reports whether a resource of the page deserves a closer look.
func (p *tablePage) due(now time.Time) bool {
	return p.unclear || slices.ContainsFunc(p.next, func(t time.Time) bool { return t.Before(now) })
}

// readTable reports false for an answer that is no table, or one without the column Next.
func readTable(body []byte) (*tablePage, bool) {
	var t struct {
		Kind     string          `json:"kind"`
		Metadata metav1.ListMeta `json:"metadata"`
		Columns  []struct {
			Name string `json:"name"`
		} `json:"columnDefinitions"`
		Rows []struct {
			Cells []any `json:"cells"`
		} `json:"rows"`
	}
	if json.Unmarshal(body, &t) != nil || t.Kind != "Table" {
		return nil, false
	}
	next, phase := -1, -1
	for i, column := range t.Columns {
		switch column.Name {
		case "Next":
			next = i
		case "Phase":
			phase = i
		}
	}
	if len(t.Rows) > 0 && (next < 0 || phase < 0) {
		return nil, false
	}
	page := &tablePage{token: t.Metadata.Continue, version: t.Metadata.ResourceVersion}
	for _, row := range t.Rows {
		var at time.Time
		if len(row.Cells) > max(next, phase) && row.Cells[phase] != string(v1alpha1.SchemaPhaseSuspended) {
			text, _ := row.Cells[next].(string)
			at, _ = time.Parse(time.RFC3339, text)
		}
		page.unclear = page.unclear || at.IsZero()
		page.next = append(page.next, at)
	}
	return page, true
}

// errShape is an answer that is no list: every list has a version of its own, so that an empty object is not taken for an empty list. It reaches a person as a connection that broke off, which is what it is.
var errShape = errors.New("the answer is no list")

// walkList decodes a list as it arrives and returns its continue token.
func walkList(body io.Reader, visit func(*convergence.Object) error) (string, error) {
	decoder := json.NewDecoder(body)
	if err := expect(decoder, '{'); err != nil {
		return "", err
	}
	var meta metav1.ListMeta
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
	if meta.ResourceVersion == "" {
		return "", errShape
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

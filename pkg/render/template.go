package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
)

// renderTemplate prints what a person's own expression picks from the document.
func renderTemplate(view View, options Options) ([]byte, error) {
	object, err := asObject(view.Data())
	if err != nil {
		return nil, err
	}
	switch options.Format.Kind {
	case JSONPath:
		return renderJSONPath(object, options.Format.Arg)
	case GoTemplate:
		return renderGoTemplate(object, options.Format.Arg)
	default:
		return renderColumns(object, options)
	}
}

func renderJSONPath(object map[string]any, expression string) ([]byte, error) {
	printer, err := printers.NewJSONPathPrinter(relaxed(expression))
	if err != nil {
		return nil, fmt.Errorf("parsing JSONPath %q: %w", expression, err)
	}
	printer.AllowMissingKeys(true)
	var out bytes.Buffer
	if err := printer.PrintObj(&unstructured.Unstructured{Object: object}, &out); err != nil {
		return nil, fmt.Errorf("running JSONPath %q: %w", expression, err)
	}
	return out.Bytes(), nil
}

func renderGoTemplate(object map[string]any, expression string) ([]byte, error) {
	printer, err := printers.NewGoTemplatePrinter([]byte(expression))
	if err != nil {
		return nil, fmt.Errorf("parsing template %q: %w", expression, err)
	}
	printer.AllowMissingKeys(true)
	var out bytes.Buffer
	if err := printer.PrintObj(&unstructured.Unstructured{Object: object}, &out); err != nil {
		return nil, fmt.Errorf("running template %q: %w", expression, err)
	}
	return out.Bytes(), nil
}

// renderColumns prints TITLE:.path,… like kubectl: one row for each item, or one for a document without items.
func renderColumns(object map[string]any, options Options) ([]byte, error) {
	canvas := &Canvas{painter: newPainter(options.Theme), Headers: !options.NoHeaders}
	table := canvas.table()
	var paths []*jsonpath.JSONPath
	for _, part := range strings.Split(options.Format.Arg, ",") {
		title, path, ok := strings.Cut(part, ":")
		if !ok || title == "" || path == "" {
			return nil, fmt.Errorf("custom column %q: want TITLE:.path", part)
		}
		parsed := jsonpath.New(title).AllowMissingKeys(true)
		if err := parsed.Parse(relaxed(path)); err != nil {
			return nil, fmt.Errorf("parsing custom column %q: %w", part, err)
		}
		table.columns = append(table.columns, column{title: title})
		paths = append(paths, parsed)
	}
	items, ok := object["items"].([]any)
	if !ok {
		items = []any{object}
	}
	for _, item := range items {
		row := make([]cell, 0, len(paths))
		for _, path := range paths {
			text, err := pick(path, item)
			if err != nil {
				return nil, err
			}
			row = append(row, cell{text: text})
		}
		table.rows = append(table.rows, row)
	}
	table.draw(&canvas.out, canvas.Headers)
	return []byte(canvas.out.String()), nil
}

func pick(path *jsonpath.JSONPath, item any) (string, error) {
	results, err := path.FindResults(item)
	if err != nil {
		return "", fmt.Errorf("reading a custom column: %w", err)
	}
	var words []string
	for _, result := range results {
		for _, value := range result {
			words = append(words, fmt.Sprint(value.Interface()))
		}
	}
	if len(words) == 0 {
		return "<none>", nil
	}
	return strings.Join(words, ","), nil
}

// relaxed takes .a.b, a.b and {.a.b} alike, as kubectl does.
func relaxed(expression string) string {
	if strings.Contains(expression, "{") {
		return expression
	}
	return "{." + strings.TrimPrefix(expression, ".") + "}"
}

func asObject(document any) (map[string]any, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encoding the answer for a template: %w", err)
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("reading the answer back for a template: %w", err)
	}
	return object, nil
}

package preflight

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// refused says which values the chart's schema does not take. It knows the parts of JSON Schema that the chart's schema is written in: types,
// properties, closed objects, patterns, bounds and references. A part that it does not know refuses nothing here; Helm reads the whole.
func refused(values, schema map[string]any) []string {
	w := walk{definitions: object(schema["definitions"])}
	w.value("", values, schema)
	slices.Sort(w.problems)
	return w.problems
}

type walk struct {
	definitions map[string]any
	problems    []string
}

func (w *walk) refuse(path, format string, args ...any) {
	w.problems = append(w.problems, path+": "+fmt.Sprintf(format, args...))
}

func (w *walk) value(path string, value any, schema map[string]any) {
	if ref, ok := schema["$ref"].(string); ok {
		schema = object(w.definitions[strings.TrimPrefix(ref, "#/definitions/")])
	}
	if want, ok := schema["type"].(string); ok && !hasType(value, want) {
		w.refuse(path, "must be %s", article(want))
		return
	}
	if allowed, ok := schema["enum"].([]any); ok && !slices.Contains(allowed, value) {
		w.refuse(path, "must be one of %v", allowed)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		w.object(path, v, schema)
	case []any:
		for i, item := range v {
			w.value(fmt.Sprintf("%s[%d]", path, i), item, object(schema["items"]))
		}
	case string:
		w.text(path, v, schema)
	case float64:
		w.number(path, v, schema)
	}
}

func (w *walk) object(path string, value, schema map[string]any) {
	properties := object(schema["properties"])
	extra, open := schema["additionalProperties"]
	closed := open && extra == false
	for _, key := range slices.Sorted(maps.Keys(value)) {
		at := key
		if path != "" {
			at = path + "." + key
		}
		switch property, known := properties[key]; {
		case known:
			w.value(at, value[key], object(property))
		case closed:
			w.refuse(at, "is no value of this chart")
		default:
			w.value(at, value[key], object(extra))
		}
	}
}

func (w *walk) text(path, value string, schema map[string]any) {
	if pattern, ok := schema["pattern"].(string); ok {
		if re, err := regexp.Compile(pattern); err == nil && !re.MatchString(value) {
			w.refuse(path, "does not have the form that the chart wants (%s)", pattern)
			return
		}
	}
	if bound, ok := schema["minLength"].(float64); ok && float64(len(value)) < bound {
		w.refuse(path, "must not be empty")
	}
	if bound, ok := schema["maxLength"].(float64); ok && float64(len([]rune(value))) > bound {
		w.refuse(path, "must have at most %v characters", bound)
	}
}

func (w *walk) number(path string, value float64, schema map[string]any) {
	if bound, ok := schema["minimum"].(float64); ok && value < bound {
		w.refuse(path, "must be at least %v", bound)
	}
	if bound, ok := schema["maximum"].(float64); ok && value > bound {
		w.refuse(path, "must be at most %v", bound)
	}
}

func object(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

func hasType(value any, want string) bool {
	switch v := value.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case string:
		return want == "string"
	case float64:
		return want == "number" || (want == "integer" && v == float64(int64(v)))
	case []any:
		return want == "array"
	case map[string]any:
		return want == "object"
	default:
		return true
	}
}

func article(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

func asType[T error](err error, into *T) bool { return errors.As(err, into) }

// yamlProblem keeps where the parser stopped and drops the text that it quotes: values may hold a password.
func yamlProblem(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("it is not YAML (offset %d)", syntax.Offset)
	}
	text := err.Error()
	if at := regexp.MustCompile(`line \d+`).FindString(text); at != "" {
		return "it is not YAML (" + at + ")"
	}
	if strings.Contains(text, "cannot unmarshal") {
		return "it is not a map of values"
	}
	return "it is not YAML"
}

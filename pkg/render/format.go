package render

import (
	"fmt"
	"slices"
	"strings"
)

// FormatKind is a way to print an answer.
type FormatKind string

// Output formats. JSONPath, GoTemplate and Columns take an argument.
const (
	Text       FormatKind = "text"
	Wide       FormatKind = "wide"
	JSON       FormatKind = "json"
	YAML       FormatKind = "yaml"
	Name       FormatKind = "name"
	SQL        FormatKind = "sql"
	HCL        FormatKind = "hcl"
	JSONPath   FormatKind = "jsonpath"
	GoTemplate FormatKind = "go-template"
	Columns    FormatKind = "custom-columns"
)

// Formats lists the output formats that commands share, whether or not one of them prints all.
func Formats() []FormatKind {
	return []FormatKind{Text, Wide, JSON, YAML, Name, SQL, HCL, JSONPath, GoTemplate, Columns}
}

// Format is an output format with its argument, if it takes one.
type Format struct {
	Kind FormatKind
	Arg  string
}

// ParseFormat reads the value of -o against what the command allows. An empty value is text, or JSON when a jq expression will filter it.
// A jq expression fits JSON only.
func ParseFormat(value, jq string, allowed ...FormatKind) (Format, error) {
	if value == "" {
		if jq != "" {
			value = string(JSON)
		} else {
			value = string(Text)
		}
	}
	kind, arg, hasArg := strings.Cut(value, "=")
	format := Format{Kind: FormatKind(kind), Arg: arg}
	if !slices.Contains(allowed, format.Kind) {
		return Format{}, fmt.Errorf("unknown output format %q: this command prints %s", value, FormatList(allowed))
	}
	if takesArgument(format.Kind) != (hasArg && arg != "") {
		if hasArg {
			return Format{}, fmt.Errorf("output format %q: want %s", value, formatUsage(format.Kind))
		}
		return Format{}, fmt.Errorf("output format %q needs its argument: want %s", value, formatUsage(format.Kind))
	}
	if jq != "" && format.Kind != JSON {
		return Format{}, fmt.Errorf("--jq filters JSON, and the output format is %q", value)
	}
	return format, nil
}

// FormatList spells the allowed formats as help and errors show them: text|json|jsonpath=….
func FormatList(allowed []FormatKind) string {
	words := make([]string, 0, len(allowed))
	for _, kind := range allowed {
		words = append(words, formatUsage(kind))
	}
	return strings.Join(words, "|")
}

func takesArgument(kind FormatKind) bool {
	return kind == JSONPath || kind == GoTemplate || kind == Columns
}

func formatUsage(kind FormatKind) string {
	if takesArgument(kind) {
		return string(kind) + "=…"
	}
	return string(kind)
}

package declare

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"go.yaml.in/yaml/v3"
)

// Format gives a source its canonical layout and keeps its comments. It refuses what is not written in the language at all; whether it
// declares something is Read's question.
func Format(name string, data []byte) ([]byte, error) {
	var b bag
	at := Position{name, 1, 1}
	switch {
	case len(data) > MaxFile:
		b.add(at, "the source is too large: at most %d bytes", MaxFile)
	case formatOf(name) == "hcl":
		if parseHCL(name, data, &b) != nil {
			return withNewline(hclwrite.Format(data)), nil
		}
	case formatOf(name) == "yaml":
		return formatYAML(name, data, &b)
	default:
		b.add(at, "not a declaration: want .yaml, .yml or .hcl")
	}
	return nil, b.err()
}

func withNewline(data []byte) []byte {
	data = bytes.TrimRight(data, "\n")
	if len(data) == 0 {
		return data
	}
	return append(data, '\n')
}

func formatYAML(name string, data []byte, b *bag) ([]byte, error) {
	r := &yamlReader{file: name, bag: b}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	switch {
	case errors.Is(err, io.EOF):
		return data, nil // comments alone, or nothing
	case err != nil:
		r.syntax(err)
		return nil, b.err()
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		b.add(r.at(&second), "a second document; one file holds one")
		return nil, b.err()
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return nil, fmt.Errorf("formatting %s: %w", name, err)
	}
	if err := sameYAML(data, out.Bytes()); err != nil {
		return nil, fmt.Errorf("formatting %s: %w; it stays as it is", name, err)
	}
	return out.Bytes(), nil
}

// sameYAML makes sure that the layout was all that changed.
func sameYAML(before, after []byte) error {
	var a, b yaml.Node
	if yaml.Unmarshal(before, &a) != nil || yaml.Unmarshal(after, &b) != nil || !sameNode(&a, &b, 0) {
		return errors.New("its new layout would not say the same")
	}
	return nil
}

func sameNode(a, b *yaml.Node, depth int) bool {
	if a.Kind != b.Kind || a.Value != b.Value || a.Tag != b.Tag || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) || depth > maxDepth*10 {
		return false
	}
	for _, c := range [][2]string{{a.HeadComment, b.HeadComment}, {a.LineComment, b.LineComment}, {a.FootComment, b.FootComment}} {
		if strings.TrimSpace(c[0]) != strings.TrimSpace(c[1]) {
			return false
		}
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i], depth+1) {
			return false
		}
	}
	return true
}

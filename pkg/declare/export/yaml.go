package export

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// YAML writes a model.
func YAML(d *model.Database) ([]byte, error) {
	root, problems := tree(d)
	if len(problems) > 0 {
		return nil, &NotExpressibleError{Language: "YAML", Objects: problems}
	}
	if len(root.members) == 0 {
		return []byte("{}\n"), nil
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root.yaml()); err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	return out.Bytes(), nil
}

// yaml is the node as the library prints it: text in quotes where it would read as something else.
func (n *node) yaml() *yaml.Node {
	out := &yaml.Node{}
	if n.flow {
		out.Style = yaml.FlowStyle
	}
	switch n.form {
	case text:
		out.SetString(n.text)
	case object:
		out.SetString(n.object.String())
	case number:
		out.Kind, out.Value, out.Tag = yaml.ScalarNode, n.text, "!!int"
		if strings.Contains(n.text, ".") {
			out.Tag = "!!float"
		}
	case flag:
		out.Kind, out.Value, out.Tag = yaml.ScalarNode, n.text, "!!bool"
	case null:
		out.Kind, out.Value, out.Tag = yaml.ScalarNode, "null", "!!null"
	case list:
		out.Kind = yaml.SequenceNode
		for _, item := range n.items {
			out.Content = append(out.Content, item.yaml())
		}
	case mapping:
		out.Kind = yaml.MappingNode
		for _, m := range n.members {
			out.Content = append(out.Content, textNode(m.key).yaml(), m.value.yaml())
		}
	}
	return out
}

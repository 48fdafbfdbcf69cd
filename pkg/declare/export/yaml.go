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
		return nil, notExpressible("YAML", d, problems, splits(d))
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
	if problems := unreadable(d, "out.yaml", out.Bytes()); len(problems) > 0 {
		return nil, notExpressible("YAML", d, problems, insteadSQL)
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
		if n.repeats() {
			return n.withNames().yaml()
		}
		out.Kind = yaml.MappingNode
		for _, m := range n.members {
			out.Content = append(out.Content, textNode(m.key).yaml(), m.value.yaml())
		}
	}
	return out
}

// repeats reports a name that stands twice: that of functions with other parameters, or of triggers and policies of other tables.
func (n *node) repeats() bool {
	seen := map[string]bool{}
	for _, m := range n.members {
		if seen[m.key] {
			return true
		}
		seen[m.key] = true
	}
	return false
}

// withNames lists the members of a mapping, each with its key as its name.
func (n *node) withNames() *node {
	out := newList()
	for _, m := range n.members {
		one := newMapping()
		one.put("name", textNode(m.key))
		one.members = append(one.members, m.value.members...)
		out.items = append(out.items, one)
	}
	return out
}

package export

import (
	"go.yaml.in/yaml/v3"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// grantOn is the property that names what privileges are on.
var grantOn = map[string]string{model.ClassTable: "on_table", model.ClassSequence: "on_sequence", model.ClassType: "on_type"}

// grants writes privileges. What is taken from everybody, and what is granted on objects to come, is for SQL alone.
func (w *writer) grants(root mapping, d *model.Database) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range d.Grants {
		g := &d.Grants[i]
		switch _, known := grantOn[g.Class()]; {
		case len(g.Revoked) > 0:
			w.cannot("what is revoked from PUBLIC on %s %q.%q", g.Kind, g.Schema, g.Name)
		case g.Kind == model.KindIdentity || g.Kind == model.KindRowType || g.Kind == model.KindMultirange || !known && g.Kind != model.KindSchema:
			w.cannot("privileges on %s %q.%q", g.Kind, g.Schema, g.Name)
		default:
			list.Content = append(list.Content, grant(g, g.Privileges, false)...)
			list.Content = append(list.Content, grant(g, g.Grantable, true)...)
		}
	}
	for i := range d.DefaultPrivileges {
		p := &d.DefaultPrivileges[i]
		w.cannot("default privileges on each %s", p.Class)
	}
	if len(list.Content) > 0 {
		root.put("grants", list)
	}
}

func grant(g *model.Grant, privileges []string, option bool) []*yaml.Node {
	if len(privileges) == 0 {
		return nil
	}
	m := newMapping()
	role := g.Grantee
	if role == "" {
		role = "PUBLIC"
	}
	m.text("role", role)
	m.texts("privileges", privileges)
	if g.Kind == model.KindSchema {
		m.text("on_schema", g.Name)
	} else {
		m.text(grantOn[g.Class()], name(model.Name{Schema: g.Schema, Name: g.Name}))
	}
	if g.Column != "" {
		m.texts("columns", []string{g.Column})
	}
	m.flag("with_option", option)
	m.node.Style = yaml.FlowStyle
	return []*yaml.Node{m.node}
}

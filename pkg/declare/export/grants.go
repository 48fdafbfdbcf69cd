package export

import (
	"go.yaml.in/yaml/v3"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// grantOn is the property that names what privileges are on.
var grantOn = map[string]string{model.ClassTable: "on_table", model.ClassSequence: "on_sequence", model.ClassType: "on_type"}

// defaultsOn are the words for the classes that default privileges are about.
var defaultsOn = map[string]string{model.ClassTable: "tables", model.ClassSequence: "sequences", model.ClassFunction: "functions", model.ClassType: "types", model.ClassSchema: "schemas"}

// grants writes privileges, what is taken from everybody, and what is granted on objects to come.
func (w *writer) grants(root mapping, d *model.Database) {
	list, taken, defaults := &yaml.Node{Kind: yaml.SequenceNode}, &yaml.Node{Kind: yaml.SequenceNode}, &yaml.Node{Kind: yaml.SequenceNode}
	for i := range d.Grants {
		g := &d.Grants[i]
		switch _, known := grantOn[g.Class()]; {
		case g.Kind == model.KindIdentity || g.Kind == model.KindRowType || g.Kind == model.KindMultirange || !known && g.Kind != model.KindSchema:
			w.cannot("privileges on %s %q.%q", g.Kind, g.Schema, g.Name)
		default:
			list.Content = append(list.Content, grant(g, g.Privileges, false)...)
			list.Content = append(list.Content, grant(g, g.Grantable, true)...)
			taken.Content = append(taken.Content, revoke(g)...)
		}
	}
	for i := range d.DefaultPrivileges {
		p := &d.DefaultPrivileges[i]
		if defaultsOn[p.Class] == "" {
			w.cannot("default privileges on each %s", p.Class)
			continue
		}
		defaults.Content = append(defaults.Content, defaultPrivilege(p)...)
	}
	for _, section := range []struct {
		name string
		list *yaml.Node
	}{{"grants", list}, {"revokes", taken}, {"default_privileges", defaults}} {
		if len(section.list.Content) > 0 {
			root.put(section.name, section.list)
		}
	}
}

// revoke writes what PUBLIC would have by itself and does not.
func revoke(g *model.Grant) []*yaml.Node {
	if len(g.Revoked) == 0 {
		return nil
	}
	m := newMapping()
	m.text("from", "PUBLIC")
	m.texts("privileges", g.Revoked)
	grantedOn(m, g)
	return []*yaml.Node{m.node}
}

func defaultPrivilege(p *model.DefaultPrivilege) []*yaml.Node {
	var out []*yaml.Node
	add := func(privileges []string, key string, option bool) {
		if len(privileges) == 0 {
			return
		}
		m := newMapping()
		if p.Role != "" {
			m.text("for_role", p.Role)
		}
		if p.Schema != "" {
			m.text("in_schema", p.Schema)
		}
		m.text("on", defaultsOn[p.Class])
		m.text(key, roleName(p.Grantee))
		m.texts("privileges", privileges)
		m.flag("with_option", option)
		m.node.Style = yaml.FlowStyle
		out = append(out, m.node)
	}
	add(p.Privileges, "role", false)
	add(p.Grantable, "role", true)
	add(p.Revoked, "from", false)
	return out
}

func roleName(role string) string {
	if role == "" {
		return "PUBLIC"
	}
	return role
}

// grantedOn names the object of a grant.
func grantedOn(m mapping, g *model.Grant) {
	if g.Kind == model.KindSchema {
		m.text("on_schema", g.Name)
	} else {
		m.text(grantOn[g.Class()], name(model.Name{Schema: g.Schema, Name: g.Name}))
	}
	m.node.Style = yaml.FlowStyle
}

func grant(g *model.Grant, privileges []string, option bool) []*yaml.Node {
	if len(privileges) == 0 {
		return nil
	}
	m := newMapping()
	m.text("role", roleName(g.Grantee))
	m.texts("privileges", privileges)
	grantedOn(m, g)
	if g.Column != "" {
		m.texts("columns", []string{g.Column})
	}
	m.flag("with_option", option)
	return []*yaml.Node{m.node}
}

package export

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// grantOn is the property that names what privileges are on.
var grantOn = map[string]string{model.ClassTable: "on_table", model.ClassSequence: "on_sequence", model.ClassFunction: "on_function", model.ClassType: "on_type"}

// granted are the kinds that privileges can be declared on.
var granted = []string{
	model.KindSchema, model.KindTable, model.KindView, model.KindMaterializedView, model.KindSequence, model.KindFunction, model.KindEnum, model.KindDomain, model.KindComposite,
	model.KindRange,
}

// defaultsOn are the words for the classes that default privileges are about.
var defaultsOn = map[string]string{model.ClassTable: "tables", model.ClassSequence: "sequences", model.ClassFunction: "functions", model.ClassType: "types", model.ClassSchema: "schemas"}

// grants writes privileges, what is taken from everybody, and what is granted on objects to come.
func (w *writer) grants(root *node, d *model.Database) {
	list, taken, defaults := newList(), newList(), newList()
	for i := range d.Grants {
		g := &d.Grants[i]
		switch name := (model.Name{Schema: g.Schema, Name: g.Name}); {
		case !slices.Contains(granted, g.Kind):
			w.cannot("privileges on %s %q.%q", g.Kind, g.Schema, g.Name)
		case g.Kind == model.KindFunction && w.routines[name] > 1:
			w.cannot("privileges on %s %q.%q(%s), one of several of that name", g.Kind, g.Schema, g.Name, g.Arguments)
		case strings.EqualFold(g.Grantee, everybody):
			w.cannot("privileges of role %q, which reads as everybody", g.Grantee)
		default:
			list.items = append(list.items, w.grant(g, g.Privileges, false)...)
			list.items = append(list.items, w.grant(g, g.Grantable, true)...)
			taken.items = append(taken.items, w.revoke(g)...)
		}
	}
	for i := range d.DefaultPrivileges {
		p := &d.DefaultPrivileges[i]
		if defaultsOn[p.Class] == "" {
			w.cannot("default privileges on each %s", p.Class)
			continue
		}
		if strings.EqualFold(p.Grantee, everybody) {
			w.cannot("default privileges of role %q, which reads as everybody", p.Grantee)
			continue
		}
		defaults.items = append(defaults.items, defaultPrivilege(p)...)
	}
	for _, section := range []struct {
		name string
		list *node
	}{{"grants", list}, {"revokes", taken}, {"default_privileges", defaults}} {
		if len(section.list.items) > 0 {
			root.put(section.name, section.list)
		}
	}
}

// revoke writes what PUBLIC would have by itself and does not.
func (w *writer) revoke(g *model.Grant) []*node {
	if len(g.Revoked) == 0 {
		return nil
	}
	m := newMapping()
	m.putText("from", everybody)
	m.putTexts("privileges", g.Revoked)
	w.grantedOn(m, g)
	return []*node{m}
}

func defaultPrivilege(p *model.DefaultPrivilege) []*node {
	var out []*node
	add := func(privileges []string, key string, option bool) {
		if len(privileges) == 0 {
			return
		}
		m := newMapping()
		if p.Role != "" {
			m.putText("for_role", p.Role)
		}
		if p.Schema != "" {
			m.putText("in_schema", p.Schema)
		}
		m.putText("on", defaultsOn[p.Class])
		m.putText(key, roleName(p.Grantee))
		m.putTexts("privileges", privileges)
		m.putFlag("with_option", option)
		m.flow = true
		out = append(out, m)
	}
	add(p.Privileges, "role", false)
	add(p.Grantable, "role", true)
	add(p.Revoked, "from", false)
	return out
}

const everybody = "PUBLIC"

func roleName(role string) string {
	if role == "" {
		return everybody
	}
	return role
}

// grantedOn names the object of a grant.
func (w *writer) grantedOn(m *node, g *model.Grant) {
	if g.Kind == model.KindSchema {
		m.putText("on_schema", g.Name)
	} else {
		kind, _, _ := strings.Cut(g.Kind, " ") // composite and range types are called by their first word
		m.put(grantOn[g.Class()], referenceNode(w.refer(kind, model.Name{Schema: g.Schema, Name: g.Name})))
	}
	m.flow = true
}

func (w *writer) grant(g *model.Grant, privileges []string, option bool) []*node {
	if len(privileges) == 0 {
		return nil
	}
	m := newMapping()
	m.putText("role", roleName(g.Grantee))
	m.putTexts("privileges", privileges)
	w.grantedOn(m, g)
	if g.Column != "" {
		m.putTexts("columns", []string{g.Column})
	}
	m.putFlag("with_option", option)
	return []*node{m}
}

package export

import (
	"go.yaml.in/yaml/v3"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// types writes extensions and the types that are no tables.
func (w *writer) types(root mapping, d *model.Database) {
	extensions := newMapping()
	for _, e := range d.Extensions {
		one := newMapping()
		one.text("schema", e.Schema)
		one.text("version", e.Version)
		one.text("comment", e.Comment)
		extensions.put(e.Name, one.node)
	}
	root.section("extensions", extensions)
	for _, c := range d.Collations {
		w.cannot("collation %q.%q", c.Schema, c.Name.Name)
	}
	enums := newMapping()
	for i := range d.Enums {
		w.enum(enums, &d.Enums[i])
	}
	root.section("enums", enums)
	domains := newMapping()
	for i := range d.Domains {
		domains.put(name(d.Domains[i].Name), w.domain(&d.Domains[i]).node)
	}
	root.section("domains", domains)
	composites := newMapping()
	for i := range d.Composites {
		w.composite(composites, &d.Composites[i])
	}
	root.section("composites", composites)
	ranges := newMapping()
	for i := range d.Ranges {
		r := &d.Ranges[i]
		one := newMapping()
		one.text("subtype", r.Subtype)
		one.text("subtype_opclass", r.Opclass)
		one.text("collation", r.Collation)
		one.text("subtype_diff", r.SubtypeDiff)
		if r.Multirange.Schema != r.Schema {
			w.cannot("range type %q.%q, whose multirange type is in another schema", r.Schema, r.Name.Name)
		}
		one.text("multirange_name", r.Multirange.Name)
		one.text("comment", r.Comment)
		ranges.put(name(r.Name), one.node)
	}
	root.section("ranges", ranges)
}

func (w *writer) enum(enums mapping, e *model.Enum) {
	one := newMapping()
	one.texts("values", e.Values)
	one.text("comment", e.Comment)
	switch {
	case len(e.Values) == 0:
		w.cannot("enum %q.%q, which has no values", e.Schema, e.Name.Name)
	case e.Comment == "":
		enums.put(name(e.Name), one.node.Content[1])
	default:
		enums.put(name(e.Name), one.node)
	}
}

func (w *writer) domain(d *model.Domain) mapping {
	m := newMapping()
	m.text("type", d.Type)
	m.text("collation", d.Collation)
	m.flag("not_null", d.NotNull)
	m.text("default_expr", d.Default)
	checks := newMapping()
	for _, c := range d.Checks {
		if c.NotValid || c.Comment != "" {
			w.cannot("check %q of domain %q.%q, which is not validated or has a comment", c.Name, d.Schema, d.Name.Name)
		}
		checks.text(c.Name, c.Expression)
	}
	m.section("checks", checks)
	m.text("comment", d.Comment)
	return m
}

func (w *writer) composite(composites mapping, c *model.Composite) {
	one := newMapping()
	fields := &yaml.Node{Kind: yaml.SequenceNode}
	for _, a := range c.Attributes {
		f := newMapping()
		f.text("name", a.Name)
		f.text("type", a.Type)
		f.text("collation", a.Collation)
		f.node.Style = yaml.FlowStyle
		fields.Content = append(fields.Content, f.node)
		if a.Comment != "" {
			w.cannot("the comment of attribute %q of composite type %q.%q", a.Name, c.Schema, c.Name.Name)
		}
	}
	if len(c.Attributes) == 0 {
		w.cannot("composite type %q.%q, which has no attributes", c.Schema, c.Name.Name)
	}
	one.put("fields", fields)
	one.text("comment", c.Comment)
	composites.put(name(c.Name), one.node)
}

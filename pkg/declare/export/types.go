package export

import (
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// types writes extensions and the types that are no tables.
func (w *writer) types(root *node, d *model.Database) {
	extensions := newMapping()
	for _, e := range d.Extensions {
		one := newMapping()
		one.putText("schema", e.Schema)
		one.putText("version", e.Version)
		one.putText("comment", e.Comment)
		extensions.put(e.Name, one)
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
		domains.putObject(named(d.Domains[i].Name), w.domain(&d.Domains[i]))
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
		one.putText("subtype", r.Subtype)
		one.putText("subtype_opclass", r.Opclass)
		one.putText("collation", r.Collation)
		one.putText("subtype_diff", r.SubtypeDiff)
		if r.Multirange.Schema != r.Schema {
			w.cannot("range type %q.%q, whose multirange type is in another schema", r.Schema, r.Name.Name)
		}
		one.putText("multirange_name", r.Multirange.Name)
		one.putText("comment", r.Comment)
		ranges.putObject(named(r.Name), one)
	}
	root.section("ranges", ranges)
}

func (w *writer) enum(enums *node, e *model.Enum) {
	one := newMapping()
	one.putTexts("values", e.Values)
	one.putText("comment", e.Comment)
	switch {
	case len(e.Values) == 0:
		w.cannot("enum %q.%q, which has no values", e.Schema, e.Name.Name)
	case e.Comment == "":
		enums.putObject(named(e.Name), one.members[0].value)
	default:
		enums.putObject(named(e.Name), one)
	}
}

func (w *writer) domain(d *model.Domain) *node {
	m := newMapping()
	m.putText("type", d.Type)
	m.putText("collation", d.Collation)
	m.putFlag("not_null", d.NotNull)
	m.putText("default_expr", d.Default)
	checks := newMapping()
	for _, c := range d.Checks {
		if c.NotValid || c.Comment != "" {
			w.cannot("check %q of domain %q.%q, which is not validated or has a comment", c.Name, d.Schema, d.Name.Name)
		}
		checks.putText(c.Name, c.Expression)
	}
	m.section("checks", checks)
	m.putText("comment", d.Comment)
	return m
}

func (w *writer) composite(composites *node, c *model.Composite) {
	one := newMapping()
	fields := newList()
	for _, a := range c.Attributes {
		f := newMapping()
		f.putText("name", a.Name)
		f.putText("type", a.Type)
		f.putText("collation", a.Collation)
		f.flow = true
		fields.items = append(fields.items, f)
		if a.Comment != "" {
			w.cannot("the comment of attribute %q of composite type %q.%q", a.Name, c.Schema, c.Name.Name)
		}
	}
	if len(c.Attributes) == 0 {
		w.cannot("composite type %q.%q, which has no attributes", c.Schema, c.Name.Name)
	}
	one.put("fields", fields)
	one.putText("comment", c.Comment)
	composites.putObject(named(c.Name), one)
}

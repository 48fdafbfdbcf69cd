package scope

import "github.com/ptah-run/ptah/pkg/engine/model"

func (s Scope) splitTypes(d *model.Types) (managed, excluded model.Types) {
	in := func(kind string, n model.Name) bool { return s.excludes(kind, n.Schema, n.Name) }
	// An extension is no part of its schema: a selector for the schema's contents does not reach it, one for its bare name does.
	managed.Extensions, excluded.Extensions = partition(d.Extensions, func(x *model.Extension) bool { return s.excludes(model.KindExtension, "", x.Name) })
	managed.Collations, excluded.Collations = partition(d.Collations, func(x *model.Collation) bool { return in(model.KindCollation, x.Name) })
	managed.Domains, excluded.Domains = partition(d.Domains, func(x *model.Domain) bool { return in(model.KindDomain, x.Name) })
	managed.Composites, excluded.Composites = partition(d.Composites, func(x *model.Composite) bool { return in(model.KindComposite, x.Name) })
	managed.Ranges, excluded.Ranges = partition(d.Ranges, func(x *model.Range) bool { return in(model.KindRange, x.Name) })
	return managed, excluded
}

func inhabitedByTypes(d *model.Types) []string {
	var names []string
	for i := range d.Extensions {
		names = append(names, d.Extensions[i].Schema)
	}
	for i := range d.Collations {
		names = append(names, d.Collations[i].Schema)
	}
	for i := range d.Domains {
		names = append(names, d.Domains[i].Schema)
	}
	for i := range d.Composites {
		names = append(names, d.Composites[i].Schema)
	}
	for i := range d.Ranges {
		names = append(names, d.Ranges[i].Schema)
	}
	return names
}

package engine_test

import (
	"strconv"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// drawTypes makes types that columns can have; each is printed as the server prints it.
func (d *drawer) drawTypes() {
	public := func(name string) model.Name { return model.Name{Schema: "public", Name: name} }
	if d.Keep("own collation", 2) == 1 {
		d.db.Collations = append(d.db.Collations, model.Collation{Name: public("Coll one"), Provider: "libc", Collate: "C", CType: []string{"C", "POSIX"}[d.Keep("collation", 2)], Comment: d.comment()})
	}
	if d.yes() {
		x := model.Domain{Name: public("dom"), Type: []string{"integer", "bigint", "text"}[d.Keep("domain", 3)], NotNull: d.rarely(), Comment: d.comment()}
		if x.Type == "text" && len(d.db.Collations) > 0 {
			x.Collation = `public."Coll one"`
		}
		if x.Type == "text" && d.yes() {
			x.Default = "'it''s'::text"
		}
		if x.Type != "text" && d.yes() {
			x.Checks = append(x.Checks, model.DomainCheck{Name: "ch 1", Expression: "(VALUE > " + strconv.Itoa(d.pick(2)) + ")", NotValid: d.rarely(), Comment: d.comment()})
		}
		d.db.Domains = append(d.db.Domains, x)
		d.typeNames = append(d.typeNames, "public.dom", "public.dom[]")
	}
	if d.yes() {
		x := model.Composite{Name: public("Row type"), Comment: d.comment()}
		for _, name := range []string{"a", "b b", "c"} {
			if d.Keep("attribute "+name, 2) == 1 {
				x.Attributes = append(x.Attributes, model.Attribute{Name: name, Type: []string{"integer", "text", "bigint"}[d.Keep("type of "+name, 3)], Comment: d.comment()})
			}
		}
		if len(d.db.Domains) > 0 && d.Keep("domain in it", 2) == 1 {
			x.Attributes = append(x.Attributes, model.Attribute{Name: "d", Type: "public.dom"})
		}
		d.db.Composites = append(d.db.Composites, x)
		d.typeNames = append(d.typeNames, `public."Row type"`)
	}
	if d.yes() {
		x := model.Range{Name: public("rng"), Subtype: []string{"integer", "bigint"}[d.Keep("range", 2)], Multirange: public("rng multi"), Comment: d.comment()}
		d.db.Ranges = append(d.db.Ranges, x)
		d.typeNames = append(d.typeNames, "public.rng", `public."rng multi"`)
	}
}

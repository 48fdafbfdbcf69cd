package diff

import (
	"cmp"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Change is one object of a kind whose severity needs no method of its own on the pair. Old is nil where it is added, New where it is removed.
type Change[T any] struct{ Old, New *T }

// TypeChanges are the differences of extensions, collations and types.
type TypeChanges struct {
	Extensions []Change[model.Extension]
	Collations []Change[model.Collation]
	Domains    []Change[model.Domain]
	Composites []Change[model.Composite]
	Ranges     []Change[model.Range]
}

func (t *TypeChanges) empty() bool {
	return len(t.Extensions)+len(t.Collations)+len(t.Domains)+len(t.Composites)+len(t.Ranges) == 0
}

func compareTypes(from, to *model.Types) TypeChanges {
	return TypeChanges{
		Extensions: changes(from.Extensions, to.Extensions, func(a, b *model.Extension) int { return cmp.Compare(a.Name, b.Name) }),
		Collations: changes(from.Collations, to.Collations, func(a, b *model.Collation) int { return a.Compare(b.Name) }),
		Domains:    changes(from.Domains, to.Domains, func(a, b *model.Domain) int { return a.Compare(b.Name) }),
		Composites: changes(from.Composites, to.Composites, func(a, b *model.Composite) int { return a.Compare(b.Name) }),
		Ranges:     changes(from.Ranges, to.Ranges, func(a, b *model.Range) int { return a.Compare(b.Name) }),
	}
}

func changes[T any](from, to []T, compare func(a, b *T) int) []Change[T] {
	var out []Change[T]
	pairs(from, to, compare, func(o, n *T) { out = append(out, Change[T]{o, n}) })
	return out
}

// ExtensionSeverity rates a change of an extension: another version may change what its objects do.
func ExtensionSeverity(c Change[model.Extension]) string {
	changed := Safe
	if c.Old != nil && c.New != nil && (c.Old.Version != c.New.Version || c.Old.Schema != c.New.Schema) {
		changed = Warning
	}
	return bySide(c.Old, c.New, Safe, Destructive, changed)
}

// CollationSeverity rates a change of a collation: another one is another order, and perhaps another equality.
func CollationSeverity(c Change[model.Collation]) string {
	return bySide(c.Old, c.New, Safe, Destructive, rebuiltUnless(OnlyCollationComment(c)))
}

// OnlyCollationComment reports that nothing but the comment differs.
func OnlyCollationComment(c Change[model.Collation]) bool {
	if c.Old == nil || c.New == nil {
		return false
	}
	o := *c.Old
	o.Comment = c.New.Comment
	return o == *c.New
}

// RangeSeverity rates a change of a range type, which has to be made anew.
func RangeSeverity(c Change[model.Range]) string {
	return bySide(c.Old, c.New, Safe, Destructive, rebuiltUnless(OnlyRangeComment(c)))
}

// OnlyRangeComment reports that nothing but the comment differs.
func OnlyRangeComment(c Change[model.Range]) bool {
	if c.Old == nil || c.New == nil {
		return false
	}
	o := *c.Old
	o.Comment = c.New.Comment
	return o == *c.New
}

func rebuiltUnless(inPlace bool) string {
	if inPlace {
		return Safe
	}
	return Destructive
}

// DomainSeverity rates a change of a domain: a rule that goes is destructive, one that comes may fail on existing values.
func DomainSeverity(c Change[model.Domain]) string {
	if c.Old == nil || c.New == nil {
		return bySide(c.Old, c.New, Safe, Destructive, "")
	}
	o, n := c.Old, c.New
	var all []string
	add := func(differs bool, severity string) {
		if differs {
			all = append(all, severity)
		}
	}
	add(o.Type != n.Type || o.Collation != n.Collation || o.NotNull && !n.NotNull, Destructive)
	add(!o.NotNull && n.NotNull || o.Default != n.Default, Warning)
	for _, k := range changes(o.Checks, n.Checks, compareChecks) {
		add(true, domainCheckSeverity(k))
	}
	return Worst(all...)
}

// DomainChecks are the rules of a domain that differ.
func DomainChecks(o, n *model.Domain) []Change[model.DomainCheck] {
	return changes(o.Checks, n.Checks, compareChecks)
}

func compareChecks(a, b *model.DomainCheck) int { return cmp.Compare(a.Name, b.Name) }

func domainCheckSeverity(k Change[model.DomainCheck]) string {
	switch {
	case k.Old == nil:
		return Warning
	case k.New == nil || k.Old.Expression != k.New.Expression || !k.Old.NotValid && k.New.NotValid:
		return Destructive
	case k.Old.NotValid != k.New.NotValid:
		return Warning
	}
	return Safe
}

// CompositeSeverity rates a change of a composite type: an attribute that goes takes its values along.
func CompositeSeverity(c Change[model.Composite]) string {
	if c.Old == nil || c.New == nil {
		return bySide(c.Old, c.New, Safe, Destructive, "")
	}
	var all []string
	for _, old := range c.Old.Attributes {
		a := AttributeOf(c.New, old.Name)
		switch {
		case a == nil || a.Collation != old.Collation:
			all = append(all, Destructive)
		case a.Type != old.Type:
			all = append(all, TypeChangeSeverity(old.Type, a.Type))
		}
	}
	return Worst(all...)
}

// AttributeOf finds an attribute; nil where there is none.
func AttributeOf(x *model.Composite, name string) *model.Attribute {
	for i := range x.Attributes {
		if x.Attributes[i].Name == name {
			return &x.Attributes[i]
		}
	}
	return nil
}

func (t tally) types(d *TypeChanges) {
	for _, c := range d.Extensions {
		t.add(bySide(c.Old, c.New, "extensions_added", "extensions_removed", "extensions_modified"), ExtensionSeverity(c))
	}
	for _, c := range d.Collations {
		t.add(bySide(c.Old, c.New, "constraints_added", "constraints_removed", "columns_modified"), CollationSeverity(c))
	}
	for _, c := range d.Domains {
		t.add(bySide(c.Old, c.New, "enums_added", "enums_removed", "columns_modified"), DomainSeverity(c))
	}
	for _, c := range d.Composites {
		t.add(bySide(c.Old, c.New, "enums_added", "enums_removed", "columns_modified"), CompositeSeverity(c))
	}
	for _, c := range d.Ranges {
		t.add(bySide(c.Old, c.New, "enums_added", "enums_removed", "columns_modified"), RangeSeverity(c))
	}
}

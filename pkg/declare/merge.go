package declare

import (
	"maps"
	"slices"
)

// merge adds an object, or finds that it is there already and says the same.
func (t *Tree) merge(o *Object, b *bag) {
	before, twice := t.index[o.Key]
	if !twice {
		t.index[o.Key] = o
		return
	}
	if d := differ(before, o); d != nil {
		b.add(d.second, "%s is declared differently at %s: %s", o.Key, d.first, d.property)
	}
}

// difference is the first property that two declarations of one object do not share.
type difference struct {
	property      string
	first, second Position
}

func differ(a, b *Object) *difference {
	names := slices.Sorted(maps.Keys(a.attrs))
	for name := range b.attrs {
		if !a.has(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if !a.has(name) || !b.has(name) || !a.attrs[name].same(b.attrs[name]) {
			return &difference{"property " + name, a.where(name), b.where(name)}
		}
	}
	if d := differAll("column", a, b, a.columns, b.columns); d != nil {
		return d
	}
	byKey := func(x, y *Object) int { return x.Key.Compare(y.Key) }
	return differAll("part", a, b, slices.SortedFunc(slices.Values(a.parts), byKey), slices.SortedFunc(slices.Values(b.parts), byKey))
}

func differAll(what string, a, b *Object, first, second []*Object) *difference {
	for i := range max(len(first), len(second)) {
		switch {
		case i >= len(first):
			return &difference{second[i].Key.String() + " stands only here", a.At, second[i].At}
		case i >= len(second):
			return &difference{first[i].Key.String() + " stands only there", first[i].At, b.At}
		case first[i].Key != second[i].Key:
			return &difference{what + " " + second[i].Key.String() + " against " + first[i].Key.String(), first[i].At, second[i].At}
		}
		if d := differ(first[i], second[i]); d != nil {
			d.property += " of " + first[i].Key.String()
			return d
		}
	}
	return nil
}

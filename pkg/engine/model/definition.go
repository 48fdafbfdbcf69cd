package model

import (
	"cmp"
	"fmt"
	"slices"
)

// Definition is an object that is described by the statement which creates it, in the server's own canonical words: a view, a routine, a trigger,
// a policy, an event. What can change in place by itself (a comment, whether a trigger fires) is in fields of its own, outside of Create.
type Definition struct {
	Object
	// Arguments tells routines of one name apart: the server's identity arguments, without parentheses. Empty for everything else.
	Arguments string `json:"arguments,omitempty"`
	// Create is the whole statement, without a closing semicolon.
	Create string `json:"create"`
	// Fixed is what CREATE OR REPLACE, or Alter, cannot change: a new definition that starts with the old one's list takes its place. Empty where
	// the object can only be dropped and created. It is no difference of its own: all of it stands in Create.
	Fixed []string `json:"fixed,omitempty"`
	// Alter redefines the existing object, where that is not CREATE OR REPLACE.
	Alter string `json:"alter,omitempty"`
	// Properties follow the object once it exists; each has one statement that sets it. Sorted by name.
	Properties []Property `json:"properties,omitempty"`
	Comment    string     `json:"comment,omitempty"`
	// DependsOn is what must exist first and cannot change under it, sorted. It orders statements and is no difference.
	DependsOn []Dependency `json:"depends_on,omitempty"`
}

// Property is something of an object that the server sets by a statement of its own. Removing it needs another: Unset.
type Property struct {
	Name  string `json:"name"`
	Set   string `json:"set"`
	Unset string `json:"unset,omitempty"`
}

// Dependency is one object, or with Column one column of a relation, that a Definition stands on.
type Dependency struct {
	Object
	Arguments string `json:"arguments,omitempty"`
	Column    string `json:"column,omitempty"`
}

// Compare orders dependencies by object, arguments and column.
func (d Dependency) Compare(o Dependency) int {
	return cmp.Or(d.Object.Compare(o.Object), cmp.Compare(d.Arguments, o.Arguments), cmp.Compare(d.Column, o.Column))
}

// CompareKey orders definitions by what identifies them.
func (d *Definition) CompareKey(o *Definition) int {
	return cmp.Or(d.Compare(o.Object), cmp.Compare(d.Arguments, o.Arguments))
}

// Replaces reports that d can take the place of an old definition without dropping it.
func (d *Definition) Replaces(old *Definition) bool {
	return len(old.Fixed) > 0 && len(d.Fixed) >= len(old.Fixed) && slices.Equal(old.Fixed, d.Fixed[:len(old.Fixed)])
}

// Key is what others call the definition in their DependsOn.
func (d *Definition) Key() Dependency { return Dependency{Object: d.Object, Arguments: d.Arguments} }

func (d *Definition) normalise() {
	slices.SortFunc(d.Properties, func(a, b Property) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(d.DependsOn, Dependency.Compare)
	d.DependsOn = slices.Compact(d.DependsOn)
}

func (d *Definition) validate() error {
	if err := text("definition", append([]string{d.Kind, d.Name, d.Create}, d.Fixed...)...); err != nil {
		return err
	}
	if d.Alter != "" && len(d.Fixed) == 0 {
		return fmt.Errorf("can be altered and does not say what stays fixed")
	}
	if err := ascending("property", d.Properties, func(a, b *Property) int { return cmp.Compare(a.Name, b.Name) }); err != nil {
		return err
	}
	for _, p := range d.Properties {
		if err := text("property", p.Name, p.Set); err != nil {
			return err
		}
	}
	return ascending("dependency", d.DependsOn, func(a, b *Dependency) int { return a.Compare(*b) })
}

func (d *Database) validateDefinitions() error {
	if err := ascending("definition", d.Definitions, (*Definition).CompareKey); err != nil {
		return err
	}
	for i := range d.Definitions {
		def := &d.Definitions[i]
		if err := def.validate(); err != nil {
			return fmt.Errorf("%s %q.%q: %w", def.Kind, def.Schema, def.Name, err)
		}
	}
	return nil
}

func (c *collector) definition(d *Definition) {
	c.object(d.Kind, d.Schema, d.Table, d.Name)
	c.current.Arguments = d.Arguments
	c.add("create", d.Create)
	for _, p := range d.Properties {
		c.add("property "+p.Name, p.Set)
	}
	c.add("comment", d.Comment)
}

// Definition finds a definition by its key; nil where there is none.
func (d *Database) Definition(key Dependency) *Definition {
	wanted := &Definition{Object: key.Object, Arguments: key.Arguments}
	i, ok := slices.BinarySearchFunc(d.Definitions, wanted, func(a Definition, b *Definition) int { return a.CompareKey(b) })
	if !ok {
		return nil
	}
	return &d.Definitions[i]
}

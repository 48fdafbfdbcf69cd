package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Types are what tables are made of, beside built-in types and enums.
type Types struct {
	Extensions []Extension `json:"extensions,omitempty"`
	Collations []Collation `json:"collations,omitempty"`
	Domains    []Domain    `json:"domains,omitempty"`
	Composites []Composite `json:"composites,omitempty"`
	Ranges     []Range     `json:"ranges,omitempty"`
}

// Extension is an installed extension; what it owns is no part of the model. An empty version is whichever the server has or installs. An
// empty comment is the extension's own.
type Extension struct {
	Name    string `json:"name"`
	Schema  string `json:"schema"`
	Version string `json:"version,omitempty"`
	Comment string `json:"comment,omitempty"`
}

// Collation is a collation of the database's own. The version that its provider had is no part of it.
type Collation struct {
	Name
	Provider         string `json:"provider"` // libc, icu or builtin
	Locale           string `json:"locale,omitempty"`
	Collate          string `json:"collate,omitempty"` // libc: LC_COLLATE and LC_CTYPE in place of Locale
	CType            string `json:"ctype,omitempty"`
	Rules            string `json:"rules,omitempty"`
	NonDeterministic bool   `json:"non_deterministic,omitempty"`
	Comment          string `json:"comment,omitempty"`
}

// Domain is a type with rules of its own over another type.
type Domain struct {
	Name
	Type      string        `json:"type"`
	Collation string        `json:"collation,omitempty"` // qualified; empty where it is the type's own
	NotNull   bool          `json:"not_null,omitempty"`
	Default   string        `json:"default,omitempty"`
	Checks    []DomainCheck `json:"checks,omitempty"`
	Comment   string        `json:"comment,omitempty"`
}

// DomainCheck is a rule of a domain.
type DomainCheck struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
	NotValid   bool   `json:"not_valid,omitempty"`
	Comment    string `json:"comment,omitempty"`
}

// Composite is a row type that belongs to no table. The order of its attributes is part of it.
type Composite struct {
	Name
	Attributes []Attribute `json:"attributes,omitempty"`
	Comment    string      `json:"comment,omitempty"`
}

// Attribute is one field of a composite type.
type Attribute struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Collation string `json:"collation,omitempty"` // qualified; empty where it is the type's own
	Comment   string `json:"comment,omitempty"`
}

// Range is a range type with the multirange type that comes with it.
type Range struct {
	Name
	Subtype     string `json:"subtype"`
	Opclass     string `json:"opclass,omitempty"`      // qualified; empty for the default one
	Collation   string `json:"collation,omitempty"`    // qualified; empty where it is the subtype's own
	SubtypeDiff string `json:"subtype_diff,omitempty"` // qualified
	Multirange  Name   `json:"multirange"`
	Comment     string `json:"comment,omitempty"`
}

func (t *Types) normalise() {
	slices.SortFunc(t.Extensions, func(a, b Extension) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(t.Collations, func(a, b Collation) int { return a.Compare(b.Name) })
	slices.SortFunc(t.Domains, func(a, b Domain) int { return a.Compare(b.Name) })
	slices.SortFunc(t.Composites, func(a, b Composite) int { return a.Compare(b.Name) })
	slices.SortFunc(t.Ranges, func(a, b Range) int { return a.Compare(b.Name) })
	for i := range t.Domains {
		slices.SortFunc(t.Domains[i].Checks, func(a, b DomainCheck) int { return cmp.Compare(a.Name, b.Name) })
	}
}

func (d *Database) validateTypes() error {
	if err := ascending("extension", d.Extensions, func(a, b *Extension) int { return cmp.Compare(a.Name, b.Name) }); err != nil {
		return err
	}
	if err := ascending("collation", d.Collations, func(a, b *Collation) int { return a.Compare(b.Name) }); err != nil {
		return err
	}
	if err := ascending("domain", d.Domains, func(a, b *Domain) int { return a.Compare(b.Name) }); err != nil {
		return err
	}
	if err := ascending("composite type", d.Composites, func(a, b *Composite) int { return a.Compare(b.Name) }); err != nil {
		return err
	}
	if err := ascending("range type", d.Ranges, func(a, b *Range) int { return a.Compare(b.Name) }); err != nil {
		return err
	}
	for _, x := range d.Extensions {
		if err := text("extension", x.Name, x.Schema); err != nil {
			return err
		}
	}
	for _, x := range d.Collations {
		if err := text("collation", x.Schema, x.Name.Name, x.Provider); err != nil {
			return err
		}
	}
	for i := range d.Domains {
		if err := d.Domains[i].validate(); err != nil {
			return fmt.Errorf("domain %q.%q: %w", d.Domains[i].Schema, d.Domains[i].Name.Name, err)
		}
	}
	for i := range d.Composites {
		if err := d.Composites[i].validate(); err != nil {
			return fmt.Errorf("composite type %q.%q: %w", d.Composites[i].Schema, d.Composites[i].Name.Name, err)
		}
	}
	for _, x := range d.Ranges {
		if err := text("range type", x.Schema, x.Name.Name, x.Subtype, x.Multirange.Schema, x.Multirange.Name); err != nil {
			return err
		}
	}
	return nil
}

func (x *Domain) validate() error {
	if err := text("name or type", x.Schema, x.Name.Name, x.Type); err != nil {
		return err
	}
	for _, k := range x.Checks {
		if err := text("check", k.Name, k.Expression); err != nil {
			return err
		}
	}
	return ascending("check", x.Checks, func(a, b *DomainCheck) int { return cmp.Compare(a.Name, b.Name) })
}

func (x *Composite) validate() error {
	if err := text("name", x.Schema, x.Name.Name); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, a := range x.Attributes {
		if err := text("attribute", a.Name, a.Type); err != nil {
			return err
		}
		if seen[a.Name] {
			return fmt.Errorf("attribute %q is there twice", a.Name)
		}
		seen[a.Name] = true
	}
	return nil
}

func (c *collector) types(t *Types) {
	for _, x := range t.Extensions {
		c.object(KindExtension, "", "", x.Name)
		c.add("schema", x.Schema)
		c.add("version", x.Version)
		c.add("comment", x.Comment)
	}
	for _, x := range t.Collations {
		c.object(KindCollation, x.Schema, "", x.Name.Name)
		c.add("locale", list(x.Provider, x.Locale, x.Collate, x.CType, x.Rules, strconv.FormatBool(x.NonDeterministic)))
		c.add("comment", x.Comment)
	}
	for i := range t.Domains {
		c.domain(&t.Domains[i])
	}
	for _, x := range t.Composites {
		c.object(KindComposite, x.Schema, "", x.Name.Name)
		for i, a := range x.Attributes {
			c.add("attribute "+strconv.Itoa(i), list(a.Name, a.Type, a.Collation, a.Comment))
		}
		c.add("comment", x.Comment)
	}
	for _, x := range t.Ranges {
		c.object(KindRange, x.Schema, "", x.Name.Name)
		c.add("subtype", list(x.Subtype, x.Opclass, x.Collation, x.SubtypeDiff, x.Multirange.Schema, x.Multirange.Name))
		c.add("comment", x.Comment)
	}
}

func (c *collector) domain(x *Domain) {
	c.object(KindDomain, x.Schema, "", x.Name.Name)
	c.add("type", list(x.Type, x.Collation))
	c.flag("not null", x.NotNull)
	c.add("default", x.Default)
	c.add("comment", x.Comment)
	for _, k := range x.Checks {
		c.object("domain check", x.Schema, x.Name.Name, k.Name)
		c.add("expression", k.Expression)
		c.flag("not valid", k.NotValid)
		c.add("comment", k.Comment)
	}
}

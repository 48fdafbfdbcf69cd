package scope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Scope is the managed part of a database. The zero Scope manages everything.
type Scope struct {
	patterns  []string
	selectors []selector
}

// Parse reads exclude selectors; an item may hold several, separated by commas. Patterns are sorted and unique afterwards.
func Parse(items []string) (Scope, error) {
	var patterns []string
	for _, item := range items {
		for _, p := range splitList(item) {
			patterns = append(patterns, strings.TrimSpace(p))
		}
	}
	slices.Sort(patterns)
	s := Scope{patterns: slices.Compact(patterns)}
	for _, p := range s.patterns {
		sel, err := parseSelector(p)
		if err != nil {
			return Scope{}, fmt.Errorf("exclude selector %q %w", p, err)
		}
		s.selectors = append(s.selectors, sel)
	}
	return s, nil
}

// splitList cuts at commas outside of quotes.
func splitList(item string) []string {
	var out []string
	quoted, start := false, 0
	for i := range len(item) {
		switch item[i] {
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				out = append(out, item[start:i])
				start = i + 1
			}
		}
	}
	return append(out, item[start:])
}

// Patterns are the selectors, sorted and unique.
func (s Scope) Patterns() []string { return slices.Clone(s.patterns) }

// SchemaItself is the selector that keeps a schema out of the managed scope without its contents.
func SchemaItself(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"[type=schema]`
}

func (s Scope) excludes(kind, schema, name string) bool {
	return slices.ContainsFunc(s.selectors, func(sel selector) bool { return sel.matches(kind, schema, name) })
}

func (s Scope) excludesTable(n model.Name) bool { return s.excludes(model.KindTable, n.Schema, n.Name) }

// Split cuts a database into its managed and its excluded part; both are normalised when the database is. Nothing is copied deeply.
func (s Scope) Split(d *model.Database) (managed, excluded *model.Database) {
	managed, excluded = model.New(d.Dialect), model.New(d.Dialect)
	managed.Schemas, excluded.Schemas = partition(d.Schemas, func(x *model.Schema) bool {
		return slices.ContainsFunc(s.selectors, func(sel selector) bool { return sel.matchesSchema(x.Name) })
	})
	managed.Types, excluded.Types = s.splitTypes(&d.Types)
	managed.Enums, excluded.Enums = partition(d.Enums, func(x *model.Enum) bool {
		return s.excludes(model.KindEnum, x.Schema, x.Name.Name)
	})
	managed.Sequences, excluded.Sequences = partition(d.Sequences, func(x *model.Sequence) bool {
		return s.excludes(model.KindSequence, x.Schema, x.Name.Name) || x.Owner != nil && s.excludesTable(x.Owner.Table)
	})
	managed.Tables, excluded.Tables = partition(d.Tables, func(x *model.Table) bool {
		return s.excludesTable(x.Name) || x.Partition != nil && s.excludes(model.KindPartition, x.Schema, x.Name.Name) ||
			x.PartitionBy != "" && s.excludes(model.KindPartitionedTable, x.Schema, x.Name.Name)
	})
	views := s.excludedViews(d)
	managed.Definitions, excluded.Definitions = partition(d.Definitions, func(x *model.Definition) bool {
		of := model.Name{Schema: x.Schema, Name: x.Table}
		return s.excludes(x.Kind, x.Schema, x.Name) || x.Table != "" && (s.excludesTable(of) || views[of])
	})
	managed.Rows, excluded.Rows = partition(d.Rows, func(x *model.RowSet) bool { return s.excludesTable(x.Table) })
	managed.Unmodelled, excluded.Unmodelled = partition(d.Unmodelled, func(x *model.Object) bool {
		return s.excludes(x.Kind, x.Schema, x.Name) || x.Table != "" && s.excludesTable(model.Name{Schema: x.Schema, Name: x.Table})
	})
	s.splitPrivileges(d, managed, excluded)
	return managed, excluded
}

// splitPrivileges keeps privileges with the object that they are on, and default privileges with the contents of their schema.
func (s Scope) splitPrivileges(d, managed, excluded *model.Database) {
	managed.Grants, excluded.Grants = partition(d.Grants, func(g *model.Grant) bool { return !managed.Has(g.Key()) })
	managed.DefaultPrivileges, excluded.DefaultPrivileges = partition(d.DefaultPrivileges, func(p *model.DefaultPrivilege) bool {
		if p.Schema == "" {
			return false
		}
		schema := model.Dependency{Object: model.Object{Kind: model.KindSchema, Name: p.Schema}}
		return !managed.Has(schema) || s.excludes(model.KindDefaultPrivileges, p.Schema, "")
	})
}

// excludedViews are the views that are excluded, and take their triggers, rules and indexes with them.
func (s Scope) excludedViews(d *model.Database) map[model.Name]bool {
	views := map[model.Name]bool{}
	for i := range d.Definitions {
		x := &d.Definitions[i]
		if (x.Kind == model.KindView || x.Kind == model.KindMaterializedView) && s.excludes(x.Kind, x.Schema, x.Name) {
			views[model.Name{Schema: x.Schema, Name: x.Name}] = true
		}
	}
	return views
}

func partition[T any](items []T, excluded func(*T) bool) (in, out []T) {
	for i := range items {
		if excluded(&items[i]) {
			out = append(out, items[i])
		} else {
			in = append(in, items[i])
		}
	}
	return in, out
}

// Inhabited lists the schemas that objects of a database live in, sorted.
func Inhabited(d *model.Database) []string {
	names := inhabitedByTypes(&d.Types)
	for i := range d.Enums {
		names = append(names, d.Enums[i].Schema)
	}
	for i := range d.Sequences {
		names = append(names, d.Sequences[i].Schema)
	}
	for i := range d.Tables {
		names = append(names, d.Tables[i].Schema)
	}
	for i := range d.Definitions {
		if d.Definitions[i].Schema != "" {
			names = append(names, d.Definitions[i].Schema)
		}
	}
	for _, o := range d.Unmodelled {
		if o.Schema != "" {
			names = append(names, o.Schema)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

package export

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Split is what a language can declare of a model of PostgreSQL, without anything that needs what it cannot: that may all be for SQL files, which follow
// declarations. It may leave more to them than it had to. A table that the language knows in part stays in the part, as it knows it.
func Split(d *model.Database) *model.Database {
	s := &splitter{gone: map[model.Name]bool{}, words: map[string]bool{}, weak: map[model.Name]bool{}}
	routines := map[model.Name]int{}
	for i := range d.Definitions {
		if def := &d.Definitions[i]; def.Kind == model.KindFunction {
			routines[model.Name{Schema: def.Schema, Name: def.Name}]++
		}
	}
	part := *d
	for _, c := range d.Collations {
		s.leave(c.Name)
	}
	part.Collations, part.Unmodelled = nil, nil
	part.Sequences, part.Tables = known(d).Sequences, nil
	for i := range d.Tables {
		part.Tables = append(part.Tables, s.reduced(&d.Tables[i]))
	}
	for before := -1; before != s.left; {
		before = s.left
		part.Enums = keep(s, part.Enums, func(m *model.Database, x model.Enum) bool { m.Enums = []model.Enum{x}; return s.name(x.Name) })
		part.Domains = keep(s, part.Domains, func(m *model.Database, x model.Domain) bool {
			m.Domains = []model.Domain{x}
			return s.name(x.Name, append(checks(x.Checks), x.Type, x.Collation, x.Default)...)
		})
		part.Composites = keep(s, part.Composites, func(m *model.Database, x model.Composite) bool {
			m.Composites = []model.Composite{x}
			var texts []string
			for _, a := range x.Attributes {
				texts = append(texts, a.Type, a.Collation)
			}
			return s.name(x.Name, texts...)
		})
		part.Ranges = keep(s, part.Ranges, func(m *model.Database, x model.Range) bool {
			m.Ranges = []model.Range{x}
			return s.name(x.Name, x.Subtype, x.Opclass, x.Collation, x.SubtypeDiff)
		})
		part.Tables = keep(s, part.Tables, func(m *model.Database, x model.Table) bool {
			m.Tables = []model.Table{x}
			return s.name(x.Name, expressions(&x)...) && len(x.Columns) > 0 && x.PartitionBy == "" && len(x.Parents()) == 0
		})
		for i := range part.Tables {
			t := &part.Tables[i]
			t.Constraints = keep(s, t.Constraints, func(_ *model.Database, c model.Constraint) bool {
				return c.Reference == nil || !s.gone[c.Reference.Table] && !s.weak[c.Reference.Table]
			})
		}
		part.Definitions = keep(s, part.Definitions, s.definition)
		part.Grants = keep(s, part.Grants, func(m *model.Database, g model.Grant) bool {
			m.Grants = []model.Grant{g}
			name := model.Name{Schema: g.Schema, Name: g.Name}
			return !s.gone[name] && (g.Kind != model.KindFunction || routines[name] == 1)
		})
		part.DefaultPrivileges = keep(s, part.DefaultPrivileges, func(m *model.Database, p model.DefaultPrivilege) bool {
			m.DefaultPrivileges = []model.DefaultPrivilege{p}
			return true
		})
	}
	for i := range part.Sequences {
		if q := &part.Sequences[i]; q.Owner != nil && s.gone[q.Owner.Table] {
			q.Owner = nil
		}
	}
	return &part
}

// splits is the advice for models that Split is for, or for others.
func splits(d *model.Database) string {
	if d.Dialect == model.Postgres {
		return insteadRest
	}
	return insteadSQL
}

// splitter knows what is left to SQL files so far.
type splitter struct {
	gone    map[model.Name]bool
	words   map[string]bool     // their names without schemas
	weak    map[model.Name]bool // tables that lack a key or an index
	left    int
	current model.Name
}

func (s *splitter) leave(n model.Name) {
	s.gone[n], s.words[n.Name] = true, true
	s.left++
}

// name notes what an object is called and reports that none of its texts mentions anything that is left out.
func (s *splitter) name(n model.Name, texts ...string) bool {
	s.current = n
	return !slices.ContainsFunc(texts, s.mentions)
}

func (s *splitter) mentions(text string) bool {
	for word := range declare.Mentions(text, false) {
		if s.words[word] {
			return true
		}
	}
	return false
}

// keep drops what says that it cannot stay, and what by itself is a model that the writer has no words for.
func keep[T any](s *splitter, all []T, stays func(alone *model.Database, x T) bool) []T {
	var out []T
	for _, x := range all {
		alone := model.New(model.Postgres)
		s.current = model.Name{}
		ok := stays(alone, x)
		if _, problems := tree(alone); ok && len(problems) == 0 {
			out = append(out, x)
			continue
		}
		s.left++
		if s.current.Name != "" {
			s.leave(s.current)
		}
	}
	return out
}

func checks(all []model.DomainCheck) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Expression)
	}
	return out
}

// reduced is a table as the writer knows it, without what it does not know as a whole.
func (s *splitter) reduced(t *model.Table) model.Table {
	out := known(&model.Database{Dialect: model.Postgres, Tables: []model.Table{*t}}).Tables[0]
	out.PartitionBy, out.Partition, out.Inherits = t.PartitionBy, t.Partition, t.Inherits
	constraints, indexes := out.Constraints, out.Indexes
	out.Constraints, out.Indexes = nil, nil
	for i, c := range t.Constraints {
		expressible := c.Kind != model.Exclusion || exclusion(newMapping(), c.Definition)
		if c.Reference != nil && len(c.Reference.DeleteColumns) > 0 || !expressible || !reflect.DeepEqual(c, constraints[i]) {
			s.weak[t.Name] = s.weak[t.Name] || c.Reference == nil
			continue
		}
		out.Constraints = append(out.Constraints, c)
	}
	for i, x := range t.Indexes {
		if !reflect.DeepEqual(x, indexes[i]) {
			s.weak[t.Name] = true
			continue
		}
		out.Indexes = append(out.Indexes, x)
	}
	return out
}

// expressions are the texts of a table that may need other objects.
func expressions(t *model.Table) []string {
	var out []string
	for i := range t.Columns {
		c := &t.Columns[i]
		out = append(out, c.Type, c.Collation, c.Default)
		if c.Generated != nil {
			out = append(out, c.Generated.Expression)
		}
	}
	for i := range t.Constraints {
		out = append(out, t.Constraints[i].Expression, t.Constraints[i].Definition)
	}
	for i := range t.Indexes {
		out = append(out, t.Indexes[i].Predicate)
		for _, k := range t.Indexes[i].Keys {
			out = append(out, k.Expression, k.Collation, k.Opclass)
		}
	}
	return out
}

// definition stays where nothing that it stands on is left out. A function is loaded with its body, which may name what it likes.
func (s *splitter) definition(alone *model.Database, def model.Definition) bool {
	alone.Definitions = []model.Definition{def}
	of := model.Name{Schema: def.Schema, Name: def.Table}
	if def.Table == "" {
		s.current = model.Name{Schema: def.Schema, Name: def.Name}
	}
	if def.Kind == model.KindRowSecurity {
		alone.Tables = []model.Table{{Name: of}}
	}
	for _, dep := range def.DependsOn {
		name := model.Name{Schema: dep.Schema, Name: dep.Name}
		if dep.Table != "" {
			name.Name = dep.Table
		}
		if s.gone[name] || dep.Kind == "constraint" && s.weak[name] {
			return false
		}
	}
	if def.Kind == model.KindFunction && s.mentions(strings.ReplaceAll(def.Create, "$function", " ")) {
		return false
	}
	return def.Table == "" || !s.gone[of]
}

package export

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// unknown names every fact of a model that the writer has no words for. What a model learns to say later is named here by itself, and never left
// out in silence.
func (w *writer) unknown(d *model.Database) {
	covered := map[model.Fact]bool{}
	for _, f := range model.Facts(known(d)) {
		covered[f] = true
	}
	rest := *d
	rest.Definitions, rest.Unmodelled, rest.Collations, rest.Grants, rest.DefaultPrivileges = nil, nil, nil, nil, nil // are named one by one
	for _, f := range model.Facts(&rest) {
		if covered[f] || f.Aspect == "inherited" { // a column has it where its table has parents, which names the table
			continue
		}
		o := model.Object{Kind: f.Kind, Schema: f.Schema, Table: f.Table, Name: f.Name}
		if f.Aspect == "" {
			w.object(o)
			continue
		}
		before := len(w.problems)
		w.object(o)
		w.problems[before] = strings.ReplaceAll(f.Aspect, "_", " ") + " of " + w.problems[before]
	}
	slices.Sort(w.problems)
	w.problems = slices.Compact(w.problems)
}

// known copies what the writer writes.
func known(d *model.Database) *model.Database {
	k := model.New(d.Dialect)
	k.Schemas, k.Enums = d.Schemas, d.Enums
	for i := range d.Sequences {
		s := &d.Sequences[i]
		k.Sequences = append(k.Sequences, model.Sequence{Name: s.Name, Type: s.Type, SequenceOptions: s.SequenceOptions, Owner: s.Owner, Comment: s.Comment})
	}
	k.Extensions, k.Domains, k.Composites, k.Ranges, k.Rows = d.Extensions, d.Domains, d.Composites, d.Ranges, d.Rows
	for i := range d.Tables {
		t := &d.Tables[i]
		if d.Dialect == model.MySQL {
			k.Tables = append(k.Tables, knownMySQL(t))
			continue
		}
		out := model.Table{Name: t.Name, Comment: t.Comment, Options: t.Options}
		for j := range t.Columns {
			c := &t.Columns[j]
			out.Columns = append(out.Columns, model.Column{
				Name: c.Name, Type: c.Type, Collation: c.Collation, NotNull: c.NotNull, Default: c.Default, Identity: c.Identity, Generated: c.Generated,
				Storage: c.Storage, Compression: c.Compression, Comment: c.Comment,
			})
		}
		for j := range t.Constraints {
			c := &t.Constraints[j]
			out.Constraints = append(out.Constraints, model.Constraint{
				Name: c.Name, Kind: c.Kind, Columns: c.Columns, Deferrable: c.Deferrable, Deferred: c.Deferred, NotValid: c.NotValid, Include: c.Include,
				NullsNotDistinct: c.NullsNotDistinct, Options: c.Options, Reference: c.Reference, Expression: c.Expression, NoInherit: c.NoInherit, Comment: c.Comment, Definition: c.Definition,
			})
		}
		for j := range t.Indexes {
			x := &t.Indexes[j]
			out.Indexes = append(out.Indexes, model.Index{
				Name: x.Name, Method: x.Method, Unique: x.Unique, NullsNotDistinct: x.NullsNotDistinct, Keys: x.Keys, Include: x.Include, Options: x.Options,
				Predicate: x.Predicate, Comment: x.Comment,
			})
		}
		k.Tables = append(k.Tables, out)
	}
	return k
}

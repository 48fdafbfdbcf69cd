// Package export writes a model as the YAML or HCL that package declare reads, so that a database can become a declaration. What the grammar has
// no words for is an error that names it.
package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// NotExpressibleError lists what a model holds and a language cannot declare.
type NotExpressibleError struct {
	Language string
	Objects  []string
	Instead  string // what declares it
}

// What declares what a language cannot, as people ask for it.
const (
	insteadSQL   = "-o sql declares everything, and SQL files can stand beside YAML and HCL"
	insteadRest  = "--rest FILE writes that as SQL beside the others, and -o sql declares everything"
	insteadModel = "not all of it is managed by Ptah: -o json shows the whole model"
)

func notExpressible(language string, d *model.Database, problems []string, instead string) error {
	if len(d.Unmodelled) > 0 {
		instead = insteadModel
	}
	slices.Sort(problems)
	return &NotExpressibleError{Language: language, Objects: slices.Compact(problems), Instead: instead}
}

// Error names the objects, and what can say them.
func (e *NotExpressibleError) Error() string {
	const limit = 10
	shown := e.Objects
	more := ""
	if len(shown) > limit {
		shown, more = shown[:limit], fmt.Sprintf(" and %d more", len(e.Objects)-limit)
	}
	return e.Language + " cannot declare " + strings.Join(shown, ", ") + more + "; " + e.Instead
}

type writer struct {
	problems []string
	schemas  map[string][]string // of each name
	routines map[model.Name]int  // how many functions have a name
	secured  map[model.Name]bool // tables with row security
}

// tree is what a model declares, and what of it no language has words for.
func tree(d *model.Database) (root *node, problems []string) {
	w := &writer{schemas: map[string][]string{}, routines: map[model.Name]int{}, secured: map[model.Name]bool{}}
	w.names(d)
	if d.Dialect == model.MySQL {
		root = w.databaseMySQL(d)
	} else {
		root = w.database(d)
	}
	w.unknown(d)
	return root, w.problems
}

func (w *writer) cannot(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// names takes note of where each name stands.
func (w *writer) names(d *model.Database) {
	note := func(n model.Name) { w.schemas[n.Name] = append(w.schemas[n.Name], n.Schema) }
	for i := range d.Tables {
		note(d.Tables[i].Name)
	}
	for i := range d.Sequences {
		note(d.Sequences[i].Name)
	}
	for i := range d.Enums {
		note(d.Enums[i].Name)
	}
	for i := range d.Domains {
		note(d.Domains[i].Name)
	}
	for i := range d.Composites {
		note(d.Composites[i].Name)
	}
	for i := range d.Ranges {
		note(d.Ranges[i].Name)
	}
	for i := range d.Definitions {
		def := &d.Definitions[i]
		name := model.Name{Schema: def.Schema, Name: def.Name}
		switch def.Kind {
		case model.KindView, model.KindMaterializedView:
			note(name)
		case model.KindFunction:
			note(name)
			w.routines[name]++
		case model.KindRowSecurity:
			w.secured[name] = true
		}
	}
}

// refer names an object to the ones that refer to it.
func (w *writer) refer(kind string, n model.Name) reference {
	return reference{kind: kind, Name: n, qualified: len(w.schemas[n.Name]) > 1}
}

// named is an object where it is declared.
func named(n model.Name) reference { return reference{Name: n} }

func (w *writer) database(d *model.Database) *node {
	root := newMapping()
	schemas := newMapping()
	for _, s := range d.Schemas {
		if s.Name == publicSchema && s.Comment == "" {
			continue
		}
		one := newMapping()
		one.putText("comment", s.Comment)
		one.flow = true
		schemas.put(s.Name, one)
	}
	root.section("schemas", schemas)
	w.types(root, d)
	w.sequences(root, d)
	tables := newMapping()
	for i := range d.Tables {
		tables.putObject(named(d.Tables[i].Name), w.table(&d.Tables[i]))
	}
	root.section("tables", tables)
	w.definitions(root, d)
	root.section("data", w.rows(d))
	w.grants(root, d)
	for _, o := range d.Unmodelled {
		w.object(o)
	}
	return root
}

// rows writes the declared rows. Every value is text, which the server reads as the column's type.
func (w *writer) rows(d *model.Database) *node {
	data := newMapping()
	for i := range d.Rows {
		r := &d.Rows[i]
		one, list := newMapping(), newList()
		for _, values := range r.Rows {
			row := newMapping()
			row.flow = true
			for j, v := range values {
				value := &node{form: null}
				if v != nil {
					value = textNode(*v)
				}
				row.put(r.Columns[j], value)
			}
			list.items = append(list.items, row)
		}
		one.putTexts("keys", r.Keys)
		one.put("rows", list)
		data.putObject(w.refer("table", r.Table), one)
	}
	return data
}

func (w *writer) object(o model.Object) { w.problems = append(w.problems, describe(o)) }

func describe(o model.Object) string {
	switch {
	case o.Table != "" && o.Table != o.Name:
		return fmt.Sprintf("%s %q of table %q.%q", o.Kind, o.Name, o.Schema, o.Table)
	case o.Schema != "":
		return fmt.Sprintf("%s %q.%q", o.Kind, o.Schema, o.Name)
	}
	return fmt.Sprintf("%s %q", o.Kind, o.Name)
}

// sequences writes all of them; a serial column's is one of its own with a default that calls it.
func (w *writer) sequences(root *node, d *model.Database) {
	sequences := newMapping()
	for i := range d.Sequences {
		s := &d.Sequences[i]
		one := newMapping()
		one.putText("type", s.Type)
		one.sequence(s.SequenceOptions)
		if s.Owner != nil {
			owner := w.refer("table", s.Owner.Table)
			owner.column = s.Owner.Column
			one.put("owned_by", referenceNode(owner))
		}
		one.putText("comment", s.Comment)
		sequences.putObject(named(s.Name), one)
	}
	root.section("sequences", sequences)
}

func (m *node) sequence(o model.SequenceOptions) {
	m.putNumber("start", o.Start)
	m.putNumber("increment", o.Increment)
	m.putNumber("min_value", o.Min)
	m.putNumber("max_value", o.Max)
	m.putNumber("cache", o.Cache)
	m.putFlag("cycle", o.Cycle)
}

func (w *writer) table(t *model.Table) *node {
	m := newMapping()
	m.putText("comment", t.Comment)
	m.options(t.Options)
	m.putFlag("rls_enabled", w.secured[t.Name])
	columns := newMapping()
	for i := range t.Columns {
		columns.put(t.Columns[i].Name, w.column(&t.Columns[i]))
	}
	m.section("columns", columns)
	constraints := newMapping()
	for i := range t.Constraints {
		constraints.put(t.Constraints[i].Name, w.constraint(t, &t.Constraints[i]))
	}
	m.section("constraints", constraints)
	indexes := newMapping()
	for i := range t.Indexes {
		indexes.put(t.Indexes[i].Name, w.index(&t.Indexes[i]))
	}
	m.section("indexes", indexes)
	return m
}

func (w *writer) column(c *model.Column) *node {
	m := newMapping()
	m.putText("type", c.Type)
	m.putText("collation", c.Collation)
	m.putFlag("not_null", c.NotNull)
	m.putText("default_expr", c.Default)
	if c.Identity != nil {
		generation := "BY_DEFAULT"
		if c.Identity.Always {
			generation = "ALWAYS"
		}
		m.putText("identity_generation", generation)
		o := c.Identity.SequenceOptions
		m.putNumber("identity_start", o.Start)
		m.putNumber("identity_increment", o.Increment)
		cycle := ""
		if o.Cycle {
			cycle = " CYCLE"
		}
		m.putText("identity_options", fmt.Sprintf("MINVALUE %d MAXVALUE %d CACHE %d%s", o.Min, o.Max, o.Cache, cycle))
	}
	if c.Generated != nil {
		m.putText("generated", c.Generated.Expression)
		kind := "STORED"
		if c.Generated.Virtual {
			kind = "VIRTUAL"
		}
		m.putText("generated_kind", kind)
	}
	m.putText("storage", strings.ToUpper(c.Storage))
	m.putText("compression", strings.ToUpper(c.Compression))
	m.putText("comment", c.Comment)
	return m
}

var types = map[model.ConstraintKind]string{model.PrimaryKey: "PRIMARY KEY", model.Unique: "UNIQUE", model.ForeignKey: "FOREIGN KEY", model.Check: "CHECK", model.Exclusion: "EXCLUDE"}

func (w *writer) constraint(t *model.Table, c *model.Constraint) *node {
	m := newMapping()
	m.putText("type", types[c.Kind])
	switch c.Kind {
	case model.Check:
		m.putText("check", c.Expression)
		m.putFlag("no_inherit", c.NoInherit)
	case model.Exclusion:
		if !exclusion(m, c.Definition) {
			w.cannot("exclusion constraint %q of table %q.%q", c.Name, t.Schema, t.Name.Name)
		}
	default:
		m.putTexts("columns", c.Columns)
	}
	m.putTexts("include", c.Include)
	if c.NullsNotDistinct {
		m.put("nulls_distinct", flagNode(false))
	}
	if r := c.Reference; r != nil {
		m.put("foreign_table", referenceNode(w.refer("table", r.Table)))
		m.putTexts("foreign_column", r.Columns)
		m.putFlag("match_full", r.MatchFull)
		m.putText("on_update", r.OnUpdate)
		m.putText("on_delete", r.OnDelete)
		if len(r.DeleteColumns) > 0 {
			w.cannot("the columns that ON DELETE %s of foreign key %q of table %q.%q names", r.OnDelete, c.Name, t.Schema, t.Name.Name)
		}
	}
	m.putFlag("deferrable", c.Deferrable)
	if c.Deferred {
		m.putText("initially", "DEFERRED")
	}
	m.putFlag("not_valid", c.NotValid)
	m.options(c.Options)
	m.putText("comment", c.Comment)
	return m
}

func (w *writer) index(x *model.Index) *node {
	m := newMapping()
	m.putFlag("unique", x.Unique)
	if x.Method != "btree" {
		m.putText("type", x.Method)
	}
	fields := newList()
	for _, k := range x.Keys {
		fields.items = append(fields.items, key(k))
	}
	m.put("fields", fields)
	m.putTexts("include", x.Include)
	if x.NullsNotDistinct {
		m.put("nulls_distinct", flagNode(false))
	}
	m.options(x.Options)
	m.putText("where", x.Predicate)
	m.putText("comment", x.Comment)
	return m
}

// key is a name alone, or a mapping.
func key(k model.IndexKey) *node {
	if k == (model.IndexKey{Column: k.Column}) {
		return textNode(k.Column)
	}
	m := newMapping()
	m.putText("column", k.Column)
	m.putText("expr", k.Expression)
	m.putText("collation", k.Collation)
	m.putText("ops", k.Opclass)
	words := strings.Fields(k.Order)
	m.putFlag("desc", slices.Contains(words, "DESC"))
	m.putFlag("nulls_first", slices.Contains(words, "FIRST"))
	m.putFlag("nulls_last", slices.Contains(words, "LAST"))
	m.flow = true
	return m
}

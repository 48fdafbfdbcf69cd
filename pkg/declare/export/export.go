// Package export writes a model as the YAML that package declare reads, so that a database can become a declaration. What the grammar has no
// words for is an error that names it.
package export

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// NotExpressibleError lists what a model holds and YAML cannot declare.
type NotExpressibleError struct{ Objects []string }

// Error names the objects.
func (e *NotExpressibleError) Error() string {
	const limit = 10
	shown := e.Objects
	more := ""
	if len(shown) > limit {
		shown, more = shown[:limit], fmt.Sprintf(" and %d more", len(e.Objects)-limit)
	}
	return "YAML cannot declare " + strings.Join(shown, ", ") + more + "; json is the whole model"
}

// YAML writes a model.
func YAML(d *model.Database) ([]byte, error) {
	w := &writer{}
	var root mapping
	if d.Dialect == model.MySQL {
		root = w.databaseMySQL(d)
	} else {
		root = w.database(d)
	}
	w.unknown(d)
	if len(w.problems) > 0 {
		return nil, &NotExpressibleError{Objects: w.problems}
	}
	if len(root.node.Content) == 0 {
		return []byte("{}\n"), nil
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root.node); err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	return out.Bytes(), nil
}

type writer struct{ problems []string }

func (w *writer) cannot(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// mapping is a YAML mapping in the order of its making.
type mapping struct{ node *yaml.Node }

func newMapping() mapping { return mapping{&yaml.Node{Kind: yaml.MappingNode}} }

func (m mapping) put(key string, value *yaml.Node) {
	m.node.Content = append(m.node.Content, scalar(key), value)
}

// text puts a text where there is one.
func (m mapping) text(key, value string) {
	if value != "" {
		m.put(key, scalar(value))
	}
}

func (m mapping) flag(key string, value bool) {
	if value {
		m.put(key, plain("true", "!!bool"))
	}
}

func (m mapping) number(key string, value int64) { m.put(key, plain(fmt.Sprint(value), "!!int")) }

// section puts a mapping where it holds something.
func (m mapping) section(key string, value mapping) {
	if len(value.node.Content) > 0 {
		m.put(key, value.node)
	}
}

func (m mapping) texts(key string, values []string) {
	if len(values) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		list.Content = append(list.Content, scalar(v))
	}
	m.put(key, list)
}

// options puts storage parameters, which a model has as key=value.
func (m mapping) options(values []string) {
	options := newMapping()
	for _, v := range values {
		key, value, _ := strings.Cut(v, "=")
		options.text(key, value)
	}
	m.section("options", options)
}

func plain(value, tag string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: value, Tag: tag}
}

// scalar is text, quoted where it would read as something else.
func scalar(value string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(value)
	return n
}

// name writes the name of an object: without the schema that is meant without one.
func name(n model.Name) string {
	if n.Schema == "public" {
		return part(n.Name)
	}
	return part(n.Schema) + "." + part(n.Name)
}

// part quotes a name where it would not be read as one.
func part(s string) string {
	if strings.ContainsAny(s, `."()`) {
		return declare.Quote(s)
	}
	return s
}

func (w *writer) database(d *model.Database) mapping {
	root := newMapping()
	schemas := newMapping()
	for _, s := range d.Schemas {
		if s.Name == "public" && s.Comment == "" {
			continue
		}
		one := newMapping()
		one.text("comment", s.Comment)
		one.node.Style = yaml.FlowStyle
		schemas.put(s.Name, one.node)
	}
	root.section("schemas", schemas)
	w.types(root, d)
	w.sequences(root, d)
	tables := newMapping()
	for i := range d.Tables {
		tables.put(name(d.Tables[i].Name), w.table(&d.Tables[i]).node)
	}
	root.section("tables", tables)
	root.section("data", rows(d))
	w.grants(root, d)
	for i := range d.Definitions {
		o := d.Definitions[i].Object
		w.object(o)
	}
	for _, o := range d.Unmodelled {
		w.object(o)
	}
	return root
}

// rows writes the declared rows. Every value is text, which the server reads as the column's type.
func rows(d *model.Database) mapping {
	data := newMapping()
	for i := range d.Rows {
		r := &d.Rows[i]
		one, list := newMapping(), &yaml.Node{Kind: yaml.SequenceNode}
		for _, values := range r.Rows {
			row := newMapping()
			row.node.Style = yaml.FlowStyle
			for j, v := range values {
				value := plain("null", "!!null")
				if v != nil {
					value = scalar(*v)
				}
				row.put(r.Columns[j], value)
			}
			list.Content = append(list.Content, row.node)
		}
		one.texts("keys", r.Keys)
		one.put("rows", list)
		data.put(name(r.Table), one.node)
	}
	return data
}

func (w *writer) object(o model.Object) {
	switch {
	case o.Table != "" && o.Table != o.Name:
		w.cannot("%s %q of table %q.%q", o.Kind, o.Name, o.Schema, o.Table)
	case o.Schema != "":
		w.cannot("%s %q.%q", o.Kind, o.Schema, o.Name)
	default:
		w.cannot("%s %q", o.Kind, o.Name)
	}
}

// sequences writes all of them; a serial column's is one of its own with a default that calls it.
func (w *writer) sequences(root mapping, d *model.Database) {
	sequences := newMapping()
	for i := range d.Sequences {
		s := &d.Sequences[i]
		one := newMapping()
		one.text("type", s.Type)
		one.sequence(s.SequenceOptions)
		if s.Owner != nil {
			one.text("owned_by", name(s.Owner.Table)+"("+column(s.Owner.Column)+")")
		}
		one.text("comment", s.Comment)
		sequences.put(name(s.Name), one.node)
	}
	root.section("sequences", sequences)
}

func column(name string) string {
	if strings.ContainsAny(name, `()"`) || strings.TrimSpace(name) != name {
		return declare.Quote(name)
	}
	return name
}

func (m mapping) sequence(o model.SequenceOptions) {
	m.number("start", o.Start)
	m.number("increment", o.Increment)
	m.number("min_value", o.Min)
	m.number("max_value", o.Max)
	m.number("cache", o.Cache)
	m.flag("cycle", o.Cycle)
}

func (w *writer) table(t *model.Table) mapping {
	m := newMapping()
	m.text("comment", t.Comment)
	m.options(t.Options)
	columns := newMapping()
	for i := range t.Columns {
		columns.put(t.Columns[i].Name, w.column(&t.Columns[i]).node)
	}
	m.section("columns", columns)
	constraints := newMapping()
	for i := range t.Constraints {
		constraints.put(t.Constraints[i].Name, w.constraint(t, &t.Constraints[i]).node)
	}
	m.section("constraints", constraints)
	indexes := newMapping()
	for i := range t.Indexes {
		indexes.put(t.Indexes[i].Name, w.index(&t.Indexes[i]).node)
	}
	m.section("indexes", indexes)
	return m
}

func (w *writer) column(c *model.Column) mapping {
	m := newMapping()
	m.text("type", c.Type)
	m.text("collation", c.Collation)
	m.flag("not_null", c.NotNull)
	m.text("default_expr", c.Default)
	if c.Identity != nil {
		generation := "BY_DEFAULT"
		if c.Identity.Always {
			generation = "ALWAYS"
		}
		m.text("identity_generation", generation)
		o := c.Identity.SequenceOptions
		m.number("identity_start", o.Start)
		m.number("identity_increment", o.Increment)
		cycle := ""
		if o.Cycle {
			cycle = " CYCLE"
		}
		m.text("identity_options", fmt.Sprintf("MINVALUE %d MAXVALUE %d CACHE %d%s", o.Min, o.Max, o.Cache, cycle))
	}
	if c.Generated != nil {
		m.text("generated", c.Generated.Expression)
		kind := "STORED"
		if c.Generated.Virtual {
			kind = "VIRTUAL"
		}
		m.text("generated_kind", kind)
	}
	m.text("storage", strings.ToUpper(c.Storage))
	m.text("compression", strings.ToUpper(c.Compression))
	m.text("comment", c.Comment)
	return m
}

var types = map[model.ConstraintKind]string{model.PrimaryKey: "PRIMARY KEY", model.Unique: "UNIQUE", model.ForeignKey: "FOREIGN KEY", model.Check: "CHECK"}

func (w *writer) constraint(t *model.Table, c *model.Constraint) mapping {
	m := newMapping()
	typ, known := types[c.Kind]
	if !known {
		w.cannot("%s %q of table %q.%q", c.Kind, c.Name, t.Schema, t.Name.Name)
	}
	m.text("type", typ)
	if c.Kind == model.Check {
		m.text("check", c.Expression)
		m.flag("no_inherit", c.NoInherit)
	} else {
		m.texts("columns", c.Columns)
	}
	m.texts("include", c.Include)
	if c.NullsNotDistinct {
		m.put("nulls_distinct", plain("false", "!!bool"))
	}
	if r := c.Reference; r != nil {
		m.text("foreign_table", name(r.Table))
		m.texts("foreign_column", r.Columns)
		m.flag("match_full", r.MatchFull)
		m.text("on_update", r.OnUpdate)
		m.text("on_delete", r.OnDelete)
		if len(r.DeleteColumns) > 0 {
			w.cannot("the columns that ON DELETE %s of foreign key %q of table %q.%q names", r.OnDelete, c.Name, t.Schema, t.Name.Name)
		}
	}
	m.flag("deferrable", c.Deferrable)
	if c.Deferred {
		m.text("initially", "DEFERRED")
	}
	m.flag("not_valid", c.NotValid)
	m.options(c.Options)
	m.text("comment", c.Comment)
	return m
}

func (w *writer) index(x *model.Index) mapping {
	m := newMapping()
	m.flag("unique", x.Unique)
	if x.Method != "btree" {
		m.text("type", x.Method)
	}
	fields := &yaml.Node{Kind: yaml.SequenceNode}
	for _, k := range x.Keys {
		fields.Content = append(fields.Content, key(k))
	}
	m.put("fields", fields)
	m.texts("include", x.Include)
	if x.NullsNotDistinct {
		m.put("nulls_distinct", plain("false", "!!bool"))
	}
	m.options(x.Options)
	m.text("where", x.Predicate)
	m.text("comment", x.Comment)
	return m
}

// key is a name alone, or a mapping.
func key(k model.IndexKey) *yaml.Node {
	if k == (model.IndexKey{Column: k.Column}) {
		return scalar(k.Column)
	}
	m := newMapping()
	m.text("column", k.Column)
	m.text("expr", k.Expression)
	m.text("collation", k.Collation)
	m.text("ops", k.Opclass)
	words := strings.Fields(k.Order)
	m.flag("desc", slices.Contains(words, "DESC"))
	m.flag("nulls_first", slices.Contains(words, "FIRST"))
	m.flag("nulls_last", slices.Contains(words, "LAST"))
	m.node.Style = yaml.FlowStyle
	return m.node
}

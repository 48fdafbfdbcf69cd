package declare

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// sections are the keys of a document, with the kind of what stands below.
var sections = map[string]Kind{
	"schemas": SchemaKind, "tables": TableKind, "enums": EnumKind, "domains": DomainKind, "composites": CompositeKind, "ranges": RangeKind, "sequences": SequenceKind,
	"extensions": ExtensionKind, "functions": FunctionKind, "views": ViewKind, "matviews": MaterializedKind, "materialized_views": MaterializedKind,
	"procedures": ProcedureKind, "events": EventKind, "triggers": TriggerKind, "rls_enabled_tables": RowSecurityKind, "rls_enabled": RowSecurityKind, "rls_policies": PolicyKind, "roles": RoleKind,
	"grants": GrantKind, "revokes": RevocationKind, "default_privileges": DefaultsKind, "indexes": IndexKind, "constraints": ConstraintKind, "data": DataKind,
}

// twins are two names of one section.
var twins = map[string]string{"materialized_views": "matviews", "rls_enabled": "rls_enabled_tables"}

// yamlReader turns one document into raw objects.
type yamlReader struct {
	file   string
	bag    *bag
	budget *int

	dialect string
	mysql   bool
	objects []*Object
}

// read reads a declaration. A list is none, and is returned: it may be the rows of one.
func (r *yamlReader) read(data []byte) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if !errors.Is(err, io.EOF) {
			r.syntax(err)
		}
		return nil
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		r.bag.add(r.at(&second), "a second document; one file holds one")
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	if len(document.Content) != 1 {
		return nil
	}
	root := document.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.Tag == "!!null":
	case root.Kind == yaml.SequenceNode:
		return root
	default:
		r.document(root)
	}
	return nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?`)

// syntax reports what the parser says. It names lines only.
func (r *yamlReader) syntax(err error) {
	at := Position{File: r.file, Line: 1, Column: 1}
	text := err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if line, err := strconv.Atoi(m[1]); err == nil {
			at.Line = line
		}
	}
	r.bag.add(at, "not YAML: %s", text)
}

func (r *yamlReader) at(n *yaml.Node) Position {
	return Position{File: r.file, Line: max(n.Line, 1), Column: max(n.Column, 1)}
}

// pair is one key of a mapping with its value.
type pair struct {
	key   string
	at    Position
	value *yaml.Node
}

// pairs reads a mapping: no key twice, no key that is not text, no merge key.
func (r *yamlReader) pairs(n *yaml.Node, what string) ([]pair, bool) {
	n = r.target(n)
	if n == nil {
		return nil, false
	}
	if n.Kind != yaml.MappingNode || !plainTag(n) {
		r.bag.add(r.at(n), "%s: want a mapping, got %s", what, kindOf(n))
		return nil, false
	}
	first := map[string]Position{}
	var out []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, at := r.target(n.Content[i]), r.at(n.Content[i])
		if key == nil {
			return nil, false
		}
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || key.Tag == "!!null" {
			r.bag.add(at, "%s: a key has to be text", what)
			continue
		}
		if before, ok := first[key.Value]; ok {
			r.bag.add(at, "%s: key %q stands twice, first at %s", what, key.Value, before)
			continue
		}
		first[key.Value] = at
		out = append(out, pair{key.Value, at, n.Content[i+1]})
	}
	return out, true
}

// target follows an alias and takes the value off the budget, so that a few aliases cannot stand for billions of values.
func (r *yamlReader) target(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		if *r.budget--; *r.budget < 0 {
			break
		}
		n = n.Alias
	}
	if *r.budget--; *r.budget < 0 {
		if *r.budget == -1 {
			r.bag.add(Position{r.file, 1, 1}, "the sources hold more than %d values, aliases counted as what they stand for", maxNodes)
		}
		return nil
	}
	return n
}

func plainTag(n *yaml.Node) bool {
	switch n.Tag {
	case "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		return true
	}
	return false
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!str":
		return "text"
	}
	return "a value of type " + n.Tag
}

func (r *yamlReader) document(root *yaml.Node) {
	pairs, ok := r.pairs(root, "the document")
	if !ok {
		return
	}
	seen := map[string]string{}
	for _, p := range pairs {
		kind, known := sections[p.key]
		if !known {
			r.bag.add(p.at, "unknown key %q; allowed here: %s", p.key, oneOf(r.sections()))
			continue
		}
		if problem := refusedKind(kind, r.dialect); problem != "" {
			r.bag.add(p.at, "%s: %s", p.key, problem)
			continue
		}
		section := p.key
		if twin, ok := twins[section]; ok {
			section = twin
		}
		if other, twice := seen[section]; twice {
			r.bag.add(p.at, "key %q says the same as %q; use one of them", p.key, other)
			continue
		}
		seen[section] = p.key
		r.section(kind, p)
	}
}

// sections are those that the dialect knows.
func (r *yamlReader) sections() []string {
	return slices.DeleteFunc(keysOf(sections), func(name string) bool { return refusedKind(sections[name], r.dialect) != "" })
}

// section reads a mapping of names to objects, or a list of objects.
func (r *yamlReader) section(kind Kind, p pair) {
	for _, e := range r.elements(p.key, p.value) {
		if o := r.top(kind, e); o != nil {
			r.objects = append(r.objects, o)
		}
		if len(r.objects) > maxObjects {
			r.bag.add(e.at, "more than %d objects", maxObjects)
		}
		if r.bag.full() {
			return
		}
	}
}

// elements are the members of a mapping or of a list; those of a list have no key.
func (r *yamlReader) elements(what string, n *yaml.Node) []pair {
	n = r.target(n)
	switch {
	case n == nil:
	case n.Kind == yaml.MappingNode:
		pairs, _ := r.pairs(n, what)
		return pairs
	case n.Kind == yaml.SequenceNode && plainTag(n):
		var out []pair
		for _, e := range n.Content {
			out = append(out, pair{at: r.at(e), value: e})
		}
		return out
	default:
		r.bag.add(r.at(n), "%s: want a mapping or a list, got %s", what, kindOf(n))
	}
	return nil
}

// top reads one member of a section, short forms included.
func (r *yamlReader) top(kind Kind, e pair) *Object {
	n := r.target(e.value)
	if n == nil {
		return nil
	}
	o := &Object{Key: Key{Kind: kind}, At: e.at}
	switch {
	case kind == EnumKind && n.Kind == yaml.SequenceNode && e.key != "":
		r.property(o, "values", property{want: wantTexts}, pair{at: r.at(n), value: e.value})
	case (kind == SchemaKind || kind == RowSecurityKind) && n.Kind == yaml.ScalarNode && e.key == "":
		r.property(o, "name", grammars[kind]["name"], e)
	case (kind == SchemaKind || kind == RowSecurityKind || kind == ExtensionKind) && n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || n.Value == "true" && n.Tag == "!!bool"):
	default:
		return r.object(kind, e)
	}
	r.name(o, e)
	return o
}

// name gives an object the key of its mapping where it has no name of its own.
func (r *yamlReader) name(o *Object, e pair) {
	p, ok := grammars[o.Key.Kind]["name"]
	if e.key == "" || !ok || o.has("name") {
		return
	}
	target := "name"
	if p.alias != "" {
		target = p.alias
	}
	if o.has(target) {
		return
	}
	p.mysql = r.mysql
	v, problem := accept(p, textValue(e.at, e.key))
	if problem != "" {
		r.bag.add(e.at, "the name %q of a %s %s", e.key, o.Key.Kind, problem)
		return
	}
	o.set(target, v)
}

// object reads the mapping of one object.
func (r *yamlReader) object(kind Kind, e pair) *Object {
	o := &Object{Key: Key{Kind: kind}, At: e.at}
	what := string(kind)
	if e.key != "" {
		what += " " + strconv.Quote(oneLine(e.key))
	}
	pairs, ok := r.pairs(e.value, what)
	if !ok {
		return nil
	}
	if len(pairs) > 0 && e.key == "" {
		o.At = pairs[0].at
	}
	g := grammars[kind]
	for _, p := range pairs {
		prop, known := g[p.key]
		name := p.key
		if prop.alias != "" {
			name = prop.alias
		}
		switch {
		case !known:
			r.bag.add(p.at, "%s: unknown key %q; allowed here: %s", what, p.key, oneOf(g.names(r.mysql)))
		case prop.refusal(r.mysql) != "":
			r.bag.add(p.at, "%s: %s is refused: %s", what, p.key, prop.refusal(r.mysql))
		case o.has(name):
			r.bag.add(p.at, "%s: %s says the same as another key; use one of them", what, p.key)
		case prop.want == wantObjects:
			o.set(name, Value{at: p.at})
			r.nested(o, name, p)
		default:
			r.property(o, name, prop, p)
		}
	}
	r.name(o, e)
	return o
}

// nested reads what is itself made of objects.
func (r *yamlReader) nested(o *Object, name string, p pair) {
	kind := map[string]Kind{"columns": ColumnKind, "indexes": IndexKind, "constraints": ConstraintKind}[name]
	if name == "platform" {
		r.platform(o, p)
		return
	}
	for _, e := range r.elements(p.key, p.value) {
		child := r.object(kind, e)
		switch {
		case child == nil:
		case kind == ColumnKind:
			o.columns = append(o.columns, child)
		case child.has("table"):
			r.bag.add(child.where("table"), "%s: table is given by where the %s stands", child.Key.Kind, child.Key.Kind)
		default:
			o.parts = append(o.parts, child)
		}
	}
}

// platform reads the overrides of an object, one mapping for each dialect.
func (r *yamlReader) platform(o *Object, p pair) {
	v := Value{at: p.at, form: formMap}
	pairs, _ := r.pairs(p.value, p.key)
	for _, d := range pairs {
		overrides, ok := r.pairs(d.value, d.key)
		if !ok {
			continue
		}
		e := entry{name: d.key, at: d.at, value: Value{at: d.at, form: formMap}}
		scratch := &Object{Key: o.Key}
		for _, x := range overrides {
			prop, problem := overridable(o.Key.Kind, d.key, x.key)
			if problem != "" {
				r.bag.add(x.at, "%s", problem)
				continue
			}
			name := x.key
			if prop.alias != "" {
				name = prop.alias
			}
			outer := r.mysql
			r.mysql = isMySQL(d.key)
			r.property(scratch, name, prop, x)
			r.mysql = outer
			if value, ok := scratch.attrs[name]; ok {
				e.value.entries = append(e.value.entries, entry{name, x.at, value})
			}
		}
		if problem := checkDialect(d.key); problem != "" {
			r.bag.add(d.at, "%s", problem)
			continue
		}
		v.entries = append(v.entries, e)
	}
	o.set("platform", v)
}

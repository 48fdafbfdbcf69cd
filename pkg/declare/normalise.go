package declare

import (
	"maps"
	"slices"
	"strings"
)

// normaliser gives raw objects their identity and one spelling for what can be said in several ways, so that what means the same compares
// equal.
type normaliser struct {
	bag     *bag
	dialect string
	mysql   bool
	done    []*Object

	database   string // what the files call the one of MySQL and MariaDB
	databaseAt Position
}

// defaultSchema is where a name without a schema lives.
const defaultSchema = "public"

// object normalises one object of the top level.
func (n *normaliser) object(o *Object) {
	n.override(o)
	n.drop(o)
	if o.Key.Kind == DataKind {
		n.require(o, required[DataKind]...)
		if o.has("table") {
			onTable(o)
			n.done = append(n.done, o)
		}
		return
	}
	if !n.identify(o) {
		return
	}
	if o.Key.Kind != IndexKind && o.Key.Kind != ConstraintKind { // whose parts say more
		n.require(o, required[o.Key.Kind]...)
	}
	switch o.Key.Kind {
	case TableKind:
		n.table(o)
	case DomainKind:
		n.nullable(o)
		n.domain(o)
	case FunctionKind:
		if !n.mysql {
			n.require(o, "language")
		}
	case ViewKind, MaterializedKind:
		n.parts(o, o.parts)
	case TriggerKind:
		n.trigger(o)
	case GrantKind:
		n.grant(o)
	case RevocationKind:
		n.grant(o)
		n.fromEverybody(o)
	case DefaultsKind:
		n.defaults(o)
	case IndexKind, ConstraintKind:
		n.require(o, "table")
		n.part(o)
	}
	n.done = append(n.done, o)
}

// override lays what is said for the dialect over what is said for all.
func (n *normaliser) override(o *Object) {
	platform, ok := o.attrs["platform"]
	delete(o.attrs, "platform")
	if !ok {
		return
	}
	own, _ := platform.entry(n.dialect)
	for _, e := range own.entries {
		for _, other := range exclusive[e.name] {
			delete(o.attrs, other)
		}
		o.set(e.name, e.value)
	}
}

// exclusive are properties that an override replaces together.
var exclusive = map[string][]string{
	"default": {"default_expr"}, "default_expr": {"default"}, "nullable": {"not_null"}, "not_null": {"nullable"}, "generated_kind": {"stored"}, "stored": {"generated_kind"},
}

// drop removes what says nothing: flags at their default, and what only generators of Go code read.
func (n *normaliser) drop(o *Object) {
	maps.DeleteFunc(o.attrs, func(name string, v Value) bool {
		switch name {
		case "struct_name", "field_name":
			return true
		case "columns", "indexes", "constraints": // are objects of their own
			return o.Key.Kind == TableKind || o.Key.Kind == MaterializedKind
		case "nulls_distinct":
			return v.flag
		case "nullable", "inherit", "enforced":
			return false
		case "comment":
			return v.text == ""
		}
		return v.form == formFlag && !v.flag && name != "default"
	})
	if o.Key.Kind == RowSecurityKind || o.Key.Kind.isAboutPrivileges() {
		for _, name := range []string{"comment", "name"} {
			delete(o.attrs, name)
		}
	}
}

// identify moves name and schema from the properties into the key.
func (n *normaliser) identify(o *Object) bool {
	k := &o.Key
	name, schema := o.attrs["name"], o.text("schema")
	schemaAt := o.where("schema")
	delete(o.attrs, "name")
	switch k.Kind {
	case SchemaKind, RoleKind:
		k.Name = name.text
		if n.mysql {
			n.schemaMySQL(o)
			return n.named(o)
		}
	case ExtensionKind:
		k.Name = name.text
		return n.named(o)
	case TriggerKind, PolicyKind, IndexKind, ConstraintKind:
		k.Name = name.text
		if k.Kind == TriggerKind || k.Kind == PolicyKind {
			onTable(o)
		}
		return k.Kind == IndexKind || k.Kind == ConstraintKind || n.named(o)
	case RowSecurityKind:
		onTable(o)
		return true
	case GrantKind, RevocationKind, DefaultsKind:
		k.Name = o.text("role")
		// What is granted on other columns, or in the other form, is a grant of its own.
		for _, name := range append(slices.Sorted(maps.Keys(grantOn)), "for", "columns", "with_option", "for_role", "in_schema", "on", "from") {
			k.Arguments += "/" + o.attrs[name].key()
		}
		return true
	default:
		delete(o.attrs, "schema")
		if name.ref != nil {
			parts := name.ref.parts
			k.Name = parts[len(parts)-1]
			if len(parts) == 2 {
				if schema != "" && schema != parts[0] {
					n.bag.add(schemaAt, "schema %q here and %q in the name", schema, parts[0])
				}
				schema = parts[0]
			}
		}
		k.Schema = schema
		switch {
		case n.mysql:
			n.inDatabase(o, schema, schemaAt)
		case k.Schema == "":
			k.Schema = defaultSchema
		}
		if k.Kind == FunctionKind && !n.mysql {
			k.Arguments = strings.Join(strings.Fields(o.text("params")), " ")
		}
	}
	if k.Kind == SchemaKind && isSystem(k.Name) || isSystem(k.Schema) {
		n.bag.add(o.At, "%s: the system's schemas cannot be declared", k)
		return false
	}
	return n.named(o)
}

// onTable tells what is called alike on several tables apart, until it has its table.
func onTable(o *Object) { o.Key.Arguments = o.At.String() }

func (n *normaliser) named(o *Object) bool {
	if o.Key.Name == "" {
		n.bag.add(o.At, "this %s has no name", o.Key.Kind)
		return false
	}
	return true
}

func isSystem(schema string) bool {
	return schema == "information_schema" || strings.HasPrefix(schema, "pg_")
}

// require reports properties that an object cannot be without.
func (n *normaliser) require(o *Object, names ...string) {
	for _, name := range names {
		if !o.has(name) {
			n.bag.add(o.At, "%s: want %s", o.Key, name)
		}
	}
}

// nullable leaves one of two ways to say it.
func (n *normaliser) nullable(o *Object) {
	nullable, a := o.attrs["nullable"]
	notNull, b := o.attrs["not_null"]
	delete(o.attrs, "nullable")
	switch {
	case a && b && nullable.flag == notNull.flag:
		n.bag.add(notNull.at, "%s: nullable and not_null contradict each other", o.Key)
	case a && !nullable.flag:
		o.set("not_null", flagValue(nullable.at, true))
	case a && nullable.flag && !b:
		delete(o.attrs, "not_null")
	}
}

func (n *normaliser) domain(o *Object) {
	n.conflict(o, "default", "default_expr")
	if v, ok := o.attrs["check"]; ok {
		item := Value{at: v.at, form: formMap, entries: []entry{{"expr", v.at, v}}}
		if name, named := o.attrs["check_name"]; named {
			item.entries = append(item.entries, entry{"name", name.at, name})
		}
		checks := o.attrs["checks"]
		checks.form, checks.at = formList, v.at
		checks.list = append(slices.Clone(checks.list), item)
		o.set("checks", checks)
	} else if o.has("check_name") {
		n.bag.add(o.where("check_name"), "%s: check_name without check", o.Key)
	}
	delete(o.attrs, "check")
	delete(o.attrs, "check_name")
}

// conflict reports properties of which only one may be there.
func (n *normaliser) conflict(o *Object, names ...string) {
	first := ""
	for _, name := range names {
		switch {
		case !o.has(name):
		case first == "":
			first = name
		default:
			n.bag.add(o.where(name), "%s: %s and %s exclude each other", o.Key, first, name)
		}
	}
}

// without reports properties that mean nothing where another is missing.
func (n *normaliser) without(o *Object, missing string, names ...string) {
	if o.has(missing) {
		return
	}
	for _, name := range names {
		if o.has(name) {
			n.bag.add(o.where(name), "%s: %s without %s", o.Key, name, missing)
		}
	}
}

func (n *normaliser) trigger(o *Object) {
	if v, ok := o.attrs["for"]; ok {
		v.text = strings.TrimPrefix(v.text, "EACH ")
		o.set("for", v)
	}
	v, ok := o.attrs["event"]
	if !ok {
		return
	}
	out := Value{at: v.at, form: formList}
	for _, item := range v.list {
		for _, event := range splitWord(item.text, "OR") {
			word := strings.ToUpper(event)
			switch {
			case slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "TRUNCATE"}, word):
				event = word
			case strings.HasPrefix(word, "UPDATE OF ") && columnList(event[len("UPDATE OF "):]) != "":
				event = "UPDATE OF " + columnList(event[len("UPDATE OF "):])
			default:
				n.bag.add(item.at, "%s: unknown event %q; allowed here: INSERT, UPDATE, UPDATE OF columns, DELETE, TRUNCATE", o.Key, event)
				return
			}
			out.list = append(out.list, textValue(item.at, event))
		}
	}
	o.set("event", out)
}

// columnList quotes a list of columns; empty where it is none.
func columnList(text string) string {
	var names []string
	for text != "" {
		text = strings.TrimSpace(text)
		var name, rest string
		if end := quotedEnd(text); strings.HasPrefix(text, `"`) && end > 0 {
			name, rest = strings.ReplaceAll(text[1:end-1], `""`, `"`), strings.TrimSpace(text[end:])
			if rest != "" && rest[0] != ',' {
				return ""
			}
			rest = strings.TrimPrefix(rest, ",")
		} else {
			name, rest, _ = strings.Cut(text, ",")
			name = strings.TrimSpace(name)
			if strings.ContainsFunc(name, func(r rune) bool { return r < 0x80 && !isWord(byte(r)) }) {
				return ""
			}
		}
		if checkName(name, false) != "" {
			return ""
		}
		names = append(names, name)
		text = rest
	}
	return quoteAll(names)
}

// splitWord cuts a text at a word that stands by itself.
func splitWord(text, word string) []string {
	var out []string
	var current []string
	for _, f := range strings.Fields(text) {
		if strings.EqualFold(f, word) {
			out, current = append(out, strings.Join(current, " ")), nil
			continue
		}
		current = append(current, f)
	}
	return append(out, strings.Join(current, " "))
}

// key writes a value so that two of the same meaning give the same text.
func (v Value) key() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v Value) write(b *strings.Builder) {
	_, _ = b.WriteString(string(rune('a'+int(v.form))) + Quote(v.text))
	if v.flag {
		b.WriteByte('!')
	}
	if v.ref != nil {
		b.WriteString(Quote(v.ref.parts...) + "#" + Quote(v.ref.column))
	}
	for _, item := range v.list {
		b.WriteByte('[')
		item.write(b)
	}
	for _, e := range v.entries {
		b.WriteString("{" + Quote(e.name))
		e.value.write(b)
	}
	b.WriteByte('.')
}

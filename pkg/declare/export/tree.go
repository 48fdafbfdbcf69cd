package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// form says what a node of the tree is.
type form int

const (
	text form = iota
	number
	flag
	null
	list
	mapping
	object // a reference
)

// node is a part of a declaration, in the keys of YAML. Each language prints the same tree.
type node struct {
	form    form
	text    string // also the numeral, and true or false
	object  reference
	items   []*node
	members []member
	flow    bool // on one line
}

// member of a mapping, which keeps the order of its making. What is an object of a schema has its name in place of a key.
type member struct {
	key   string
	name  *reference
	value *node
}

// reference names an object, or a column of it. Without a schema it means the only object of its name, so that one of several is qualified.
type reference struct {
	kind string // as HCL calls it
	model.Name
	column    string
	qualified bool
}

// String is the name as YAML writes it: without the schema that is meant without one.
func (r reference) String() string {
	name := part(r.Name.Name)
	if r.Schema != "" && (r.qualified || r.Schema != publicSchema) {
		name = part(r.Schema) + "." + name
	}
	if r.column != "" {
		name += "(" + column(r.column) + ")"
	}
	return name
}

const publicSchema = "public"

// part quotes a name where it would not be read as one.
func part(s string) string {
	if strings.ContainsAny(s, `."()`) {
		return declare.Quote(s)
	}
	return s
}

func column(name string) string {
	if strings.ContainsAny(name, `()"`) || strings.TrimSpace(name) != name {
		return declare.Quote(name)
	}
	return name
}

func newMapping() *node { return &node{form: mapping} }

func newList() *node { return &node{form: list} }

func textNode(value string) *node { return &node{text: value} }

func flagNode(value bool) *node { return &node{form: flag, text: strconv.FormatBool(value)} }

func numberNode(numeral string) *node { return &node{form: number, text: numeral} }

func referenceNode(r reference) *node { return &node{form: object, object: r} }

func textsNode(values []string) *node {
	n := newList()
	n.flow = true
	for _, v := range values {
		n.items = append(n.items, textNode(v))
	}
	return n
}

func (n *node) put(key string, value *node) {
	n.members = append(n.members, member{key: key, value: value})
}

// putObject puts what declares an object, or something of it.
func (n *node) putObject(name reference, value *node) {
	n.members = append(n.members, member{key: name.String(), name: &name, value: value})
}

// text puts a text where there is one.
func (n *node) putText(key, value string) {
	if value != "" {
		n.put(key, textNode(value))
	}
}

func (n *node) putFlag(key string, value bool) {
	if value {
		n.put(key, flagNode(true))
	}
}

func (n *node) putNumber(key string, value int64) {
	n.put(key, numberNode(strconv.FormatInt(value, 10)))
}

// section puts a mapping where it holds something.
func (n *node) section(key string, value *node) {
	if len(value.members) > 0 {
		n.put(key, value)
	}
}

func (n *node) putTexts(key string, values []string) {
	if len(values) > 0 {
		n.put(key, textsNode(values))
	}
}

// options puts storage parameters, which a model has as key=value.
func (n *node) options(values []string) {
	options := newMapping()
	for _, v := range values {
		key, value, _ := strings.Cut(v, "=")
		options.putText(key, value)
	}
	n.section("options", options)
}

// member is the value of a key; nil where there is none.
func (n *node) member(key string) *node {
	if i := slices.IndexFunc(n.members, func(m member) bool { return m.key == key }); i >= 0 {
		return n.members[i].value
	}
	return nil
}

// texts are the texts of a list.
func (n *node) texts() []string {
	if n == nil {
		return nil
	}
	out := make([]string, len(n.items))
	for i, item := range n.items {
		out[i] = item.text
	}
	return out
}

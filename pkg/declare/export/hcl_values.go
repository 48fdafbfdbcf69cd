package export

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// attribute says how HCL writes a property of YAML: under another name, maybe, and in its own words.
type attribute struct {
	name  string
	write func(*node) hclwrite.Tokens
}

func (a attribute) tokens(n *node) hclwrite.Tokens {
	if a.write == nil {
		return plain(n)
	}
	return a.write(n)
}

// attributes are the properties that are not just written as they are.
var attributes = map[string]attribute{
	"type": {write: typ}, "subtype": {write: typ}, "returns": {write: typ},
	"default_expr": {"default", sql}, "on_update_expr": {"on_update", sql}, "body": {name: "as"}, "custom_sql": {name: "custom"},
	"columns": {write: columns}, "include": {write: columns}, "keys": {write: columns}, "column": {write: columnName},
	"identity_generation": {write: word}, "generated_kind": {write: word}, "storage": {write: word}, "compression": {write: word}, "on_delete": {write: word}, "on_update": {write: word},
	"initially": {write: word}, "engine": {write: word}, "row_period": {write: word}, "security": {write: word}, "data_access": {write: word}, "algorithm": {write: word},
	"with_check": {write: word}, "status": {write: word}, "volatility": {write: word}, "for": {write: word}, "on": {write: class}, "privileges": {write: words},
	"role": {"to", role}, "from": {write: role}, "in_schema": {"schema", schema}, "with_option": {name: "grantable"},
	"on_schema": {"for", schema}, "on_table": {name: "for"}, "on_sequence": {name: "for"}, "on_type": {name: "for"}, "on_function": {name: "for"}, "table": {name: "on"},
}

// attributesOf writes all properties but some.
func attributesOf(body *hclwrite.Body, n *node, but ...string) {
	for _, m := range n.members {
		if slices.Contains(but, m.key) {
			continue
		}
		name := m.key
		if other := attributes[m.key].name; other != "" {
			name = other
		}
		body.SetAttributeRaw(name, attributes[m.key].tokens(m.value))
	}
}

// all are the members of a mapping that may not be there.
func (n *node) all() []member {
	if n == nil {
		return nil
	}
	return n.members
}

// plain writes a node by what it is.
func plain(n *node) hclwrite.Tokens {
	switch n.form {
	case number, flag, null:
		return hclwrite.TokensForIdentifier(n.numeral())
	case list:
		return tuple(n)
	case mapping:
		return inline(n)
	case object:
		return referTo(n.object)
	}
	return hclwrite.TokensForValue(cty.StringVal(n.text))
}

// numeral is what stands without quotes.
func (n *node) numeral() string {
	if n.form == null {
		return "null"
	}
	return n.text
}

func token(kind hclsyntax.TokenType, bytes string) *hclwrite.Token {
	return &hclwrite.Token{Type: kind, Bytes: []byte(bytes)}
}

// tuple writes a list, mappings on lines of their own.
func tuple(n *node) hclwrite.Tokens {
	items := make([]hclwrite.Tokens, len(n.items))
	lines := false
	for i, item := range n.items {
		items[i] = plain(item)
		lines = lines || item.form == mapping
	}
	if !lines {
		return hclwrite.TokensForTuple(items)
	}
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrack, "["), token(hclsyntax.TokenNewline, "\n")}
	for _, item := range items {
		out = append(append(out, item...), token(hclsyntax.TokenComma, ","), token(hclsyntax.TokenNewline, "\n"))
	}
	return append(out, token(hclsyntax.TokenCBrack, "]"))
}

// inline writes a mapping on one line.
func inline(n *node) hclwrite.Tokens {
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrace, "{")}
	for i, m := range n.members {
		if i > 0 {
			out = append(out, token(hclsyntax.TokenComma, ","))
		}
		key := hclwrite.TokensForValue(cty.StringVal(m.key))
		if isBare(m.key) {
			key = hclwrite.TokensForIdentifier(m.key)
		}
		out = append(append(append(out, key...), token(hclsyntax.TokenEqual, "=")), plain(m.value)...)
	}
	return append(out, token(hclsyntax.TokenCBrace, "}"))
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// isBare reports a text that HCL reads as a word where it stands by itself.
func isBare(s string) bool {
	return identifier.MatchString(s) && !slices.Contains([]string{"true", "false", "null", "for", "if", "in"}, s)
}

// traversal writes a reference; a name that is no identifier stands in brackets.
func traversal(root string, steps ...string) hclwrite.Tokens {
	out := hcl.Traversal{hcl.TraverseRoot{Name: root}}
	for _, s := range steps {
		if identifier.MatchString(s) {
			out = append(out, hcl.TraverseAttr{Name: s})
		} else {
			out = append(out, hcl.TraverseIndex{Key: cty.StringVal(s)})
		}
	}
	return hclwrite.TokensForTraversal(out)
}

func referTo(r reference) hclwrite.Tokens {
	var steps []string
	if r.Schema != "" && (r.qualified || r.Schema != publicSchema) {
		steps = append(steps, r.Schema)
	}
	steps = append(steps, r.Name.Name)
	if r.column != "" {
		steps = append(steps, "column", r.column)
	}
	return traversal(r.kind, steps...)
}

func schema(n *node) hclwrite.Tokens { return traversal("schema", n.text) }

func columnName(n *node) hclwrite.Tokens {
	if identifier.MatchString(n.text) {
		return traversal("column", n.text)
	}
	return plain(n)
}

func columns(n *node) hclwrite.Tokens {
	var out []hclwrite.Tokens
	for _, item := range n.items {
		out = append(out, columnName(item))
	}
	return hclwrite.TokensForTuple(out)
}

// word writes one of a few words.
func word(n *node) hclwrite.Tokens {
	if s := strings.ReplaceAll(n.text, " ", "_"); isBare(s) {
		return hclwrite.TokensForIdentifier(s)
	}
	return plain(n)
}

func words(n *node) hclwrite.Tokens {
	var out []hclwrite.Tokens
	for _, item := range n.items {
		out = append(out, word(item))
	}
	return hclwrite.TokensForTuple(out)
}

func class(n *node) hclwrite.Tokens { return word(textNode(strings.ToUpper(n.text))) }

func role(n *node) hclwrite.Tokens {
	if n.text == everybody {
		return word(n)
	}
	return plain(n)
}

func sql(n *node) hclwrite.Tokens { return hclwrite.TokensForFunctionCall("sql", plain(n)) }

// simpleType is a type that HCL can write without quotes. A word with an underscore may stand for several there.
var simpleType = regexp.MustCompile(`^[a-z][a-z0-9]*(\([0-9]+(, ?[0-9]+)*\))?$`)

func typ(n *node) hclwrite.Tokens {
	if name, _, _ := strings.Cut(n.text, "("); !simpleType.MatchString(n.text) || !isBare(name) || name == "sql" {
		return sql(n)
	}
	return hclwrite.TokensForIdentifier(n.text)
}

package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// HCL writes a model.
func HCL(d *model.Database) ([]byte, error) {
	root, problems := tree(d)
	if composed := root.composed(); len(composed) > 0 {
		return nil, notExpressible("HCL", d, append(problems, composed...), insteadSQL)
	}
	if len(problems) > 0 {
		return nil, notExpressible("HCL", d, problems, splits(d))
	}
	p := &hclPrinter{mysql: d.Dialect == model.MySQL}
	file := hclwrite.NewEmptyFile()
	for _, section := range root.members {
		objects := section.value.members
		for _, item := range section.value.items {
			objects = append(objects, member{value: item})
		}
		for _, o := range objects {
			if len(file.Body().Blocks()) > 0 {
				file.Body().AppendNewline()
			}
			p.top(file.Body(), section.key, o)
		}
	}
	data := hclwrite.Format(file.Bytes())
	if problems := unreadable(d, "out.hcl", data); len(problems) > 0 {
		return nil, notExpressible("HCL", d, problems, insteadSQL)
	}
	return data, nil
}

// composed names the texts that HCL would read as others: it puts the letters of every text into their composed form.
func (n *node) composed() []string {
	var out []string
	check := func(texts ...string) {
		for _, s := range texts {
			if s != cty.StringVal(s).AsString() {
				out = append(out, "the text "+strconv.QuoteToASCII(s)+", which is not in Unicode's composed form (NFC)")
			}
		}
	}
	check(n.text, n.object.Schema, n.object.Name.Name, n.object.column)
	for _, item := range n.items {
		out = append(out, item.composed()...)
	}
	for _, m := range n.members {
		if m.name == nil {
			check(m.key)
		} else {
			check(m.name.Schema, m.name.Name.Name)
		}
		out = append(out, m.value.composed()...)
	}
	return out
}

// hclPrinter writes the tree as blocks. Properties become attributes in front of the blocks inside.
type hclPrinter struct{ mysql bool }

// blocks are what the members of the sections are called.
var blocks = map[string]string{
	"schemas": "schema", "extensions": "extension", "enums": "enum", "domains": "domain", "composites": "composite", "ranges": "range", "sequences": "sequence", "tables": "table",
	"data": "data", "grants": "permission", "revokes": "revocation", "default_privileges": "default_privileges", "functions": "function", "procedures": "procedure", "views": "view",
	"triggers": "trigger", "events": "event", "matviews": "materialized", "rls_policies": "policy",
}

func (p *hclPrinter) top(file *hclwrite.Body, section string, o member) {
	var labels []string
	switch {
	case section == "data":
	case o.name != nil:
		labels = []string{o.name.Name.Name}
	case o.key != "":
		labels = []string{o.key}
	}
	block := file.AppendNewBlock(blocks[section], labels)
	body := block.Body()
	switch {
	case section == "data":
		body.SetAttributeRaw("table", plain(referenceNode(*o.name)))
	case o.name != nil && o.name.Schema != "" && o.name.Schema != publicSchema:
		body.SetAttributeRaw("schema", traversal("schema", o.name.Schema))
	}
	switch section {
	case "tables":
		p.table(body, o.value)
	case "enums":
		p.enum(body, o.value)
	case "domains":
		p.domain(body, o.value)
	case "composites":
		p.composite(body, o.value)
	case "triggers":
		p.trigger(body, o.value)
	case "rls_policies":
		p.policy(body, o.value)
	case "matviews":
		attributesOf(body, o.value, "indexes")
		p.indexes(body, o.value)
	default:
		attributesOf(body, o.value)
	}
}

func (p *hclPrinter) table(body *hclwrite.Body, t *node) {
	attributesOf(body, t, "rls_enabled", "columns", "constraints", "indexes")
	if t.member("rls_enabled") != nil {
		body.AppendNewBlock("row_security", nil).Body().SetAttributeRaw("enabled", plain(flagNode(true)))
	}
	for _, c := range t.member("columns").all() {
		p.column(body.AppendNewBlock("column", []string{c.key}).Body(), c.value)
	}
	for _, c := range t.member("constraints").all() {
		p.constraint(body, c)
	}
	p.indexes(body, t)
}

func (p *hclPrinter) indexes(body *hclwrite.Body, of *node) {
	for _, x := range of.member("indexes").all() {
		p.index(body.AppendNewBlock("index", []string{x.key}).Body(), x.value)
	}
}

// column may hold NULL only where it says so, unlike that of YAML.
func (p *hclPrinter) column(body *hclwrite.Body, c *node) {
	body.SetAttributeRaw("type", typ(c.member("type")))
	if c.member("not_null") == nil {
		body.SetAttributeRaw("null", plain(flagNode(true)))
	}
	attributesOf(body, c, "type", "not_null", "generated", "generated_kind", "identity_generation", "identity_start", "identity_increment", "identity_options")
	p.inner(body, "identity", c, map[string]string{"identity_generation": "generated", "identity_start": "start", "identity_increment": "increment", "identity_options": "options"})
	p.inner(body, "as", c, map[string]string{"generated": "expr", "generated_kind": "type"})
}

// inner makes a block of some properties, which have other names there.
func (p *hclPrinter) inner(body *hclwrite.Body, name string, n *node, names map[string]string) {
	var in *hclwrite.Body
	for _, m := range n.members {
		if inside, ok := names[m.key]; ok {
			if in == nil {
				in = body.AppendNewBlock(name, nil).Body()
			}
			in.SetAttributeRaw(inside, attributes[m.key].tokens(m.value))
		}
	}
}

var constraintBlocks = map[string]string{"PRIMARY KEY": "primary_key", "UNIQUE": "unique", "FOREIGN KEY": "foreign_key", "CHECK": "check", "EXCLUDE": "constraint"}

func (p *hclPrinter) constraint(table *hclwrite.Body, c member) {
	block := constraintBlocks[c.value.member("type").text]
	labels := []string{c.key}
	switch {
	case block == "primary_key" && p.mysql: // every one is called PRIMARY
		labels = nil
	case block == "primary_key" && c.value.member("deferrable") != nil: // for which its own block has no word
		block = "constraint"
	}
	body := table.AppendNewBlock(block, labels).Body()
	if block == "constraint" {
		body.SetAttributeRaw("type", word(c.value.member("type")))
	}
	if block == "check" {
		body.SetAttributeRaw("expr", plain(c.value.member("check")))
	}
	attributesOf(body, c.value, "type", "check", "foreign_table", "foreign_column")
	if target := c.value.member("foreign_table"); target != nil {
		var columns []hclwrite.Tokens
		for _, name := range c.value.member("foreign_column").texts() {
			r := target.object
			r.column = name
			columns = append(columns, plain(referenceNode(r)))
		}
		body.SetAttributeRaw("ref_columns", hclwrite.TokensForTuple(columns))
	}
}

// index lists its columns, or has a block for each key where one is more than a column.
func (p *hclPrinter) index(body *hclwrite.Body, x *node) {
	fields := x.member("fields")
	simple := !slices.ContainsFunc(fields.items, func(key *node) bool { return key.form != text })
	if simple {
		body.SetAttributeRaw("columns", columns(fields))
	}
	if method := x.member("type"); method != nil {
		body.SetAttributeRaw("type", word(method))
	}
	attributesOf(body, x, "fields", "type")
	if simple {
		return
	}
	for _, key := range fields.items {
		on := body.AppendNewBlock("on", nil).Body()
		if key.form == text {
			on.SetAttributeRaw("column", columnName(key))
			continue
		}
		attributesOf(on, key)
	}
}

func (p *hclPrinter) enum(body *hclwrite.Body, e *node) {
	if e.form == list {
		body.SetAttributeRaw("values", plain(e))
		return
	}
	attributesOf(body, e)
}

func (p *hclPrinter) domain(body *hclwrite.Body, d *node) {
	attributesOf(body, d, "not_null", "checks")
	if d.member("not_null") != nil {
		body.SetAttributeRaw("null", plain(flagNode(false)))
	}
	for _, c := range d.member("checks").all() {
		body.AppendNewBlock("check", []string{c.key}).Body().SetAttributeRaw("expr", plain(c.value))
	}
}

func (p *hclPrinter) composite(body *hclwrite.Body, c *node) {
	attributesOf(body, c, "fields")
	for _, field := range c.member("fields").items {
		attributesOf(body.AppendNewBlock("field", []string{field.member("name").text}).Body(), field, "name")
	}
}

func (p *hclPrinter) trigger(body *hclwrite.Body, t *node) {
	attributesOf(body, t, "timing", "event")
	timing := strings.ToLower(strings.ReplaceAll(t.member("timing").text, " ", "_"))
	in := body.AppendNewBlock(timing, nil).Body()
	events := []*node{t.member("event")}
	if events[0].form == list {
		events = events[0].items
	}
	for _, event := range events {
		if len(event.items) > 0 {
			in.SetAttributeRaw("update_of", columns(event))
			continue
		}
		in.SetAttributeRaw(strings.ToLower(event.text), plain(flagNode(true)))
	}
}

func (p *hclPrinter) policy(body *hclwrite.Body, c *node) {
	attributesOf(body, c, "with_check")
	if check := c.member("with_check"); check != nil {
		body.SetAttributeRaw("check", plain(check))
	}
}

package declare

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// hclReader turns the HCL files of one call, which share variables and locals, into raw objects.
type hclReader struct {
	bag    *bag
	budget *int
	given  map[string]string

	dialect string
	mysql   bool

	src     map[string][]byte
	vars    map[string]*hclVariable
	locals  map[string]*hclLocal
	text    int  // bytes that expressions may still produce
	sealed  bool // no variables, locals and references
	objects []*Object
}

// parseHCL reads the syntax of one file, bounded before the parser, which is recursive, sees it.
func parseHCL(file string, data []byte, b *bag) *hclsyntax.Body {
	start := hcl.Pos{Line: 1, Column: 1}
	tokens, diags := hclsyntax.LexConfig(data, file, start)
	if reportHCL(b, diags) {
		return nil
	}
	depth, run, questions := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			depth--
		}
		switch t.Type {
		case hclsyntax.TokenMinus, hclsyntax.TokenBang:
			run++
		case hclsyntax.TokenQuestion:
			questions++
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
		default:
			run = 0
		}
		if depth > maxDepth || run > maxDepth || questions > maxDepth*10 {
			b.add(positionOf(t.Range), "nested too deep")
			return nil
		}
	}
	parsed, diags := hclsyntax.ParseConfig(data, file, start)
	if reportHCL(b, diags) {
		return nil
	}
	body, _ := parsed.Body.(*hclsyntax.Body)
	return body
}

// reportHCL passes on what the parser found.
func reportHCL(b *bag, diags hcl.Diagnostics) bool {
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		at := Position{Line: 1, Column: 1}
		if d.Subject != nil {
			at = positionOf(*d.Subject)
		}
		b.add(at, "%s: %s", strings.ToLower(d.Summary), d.Detail)
	}
	return diags.HasErrors()
}

func positionOf(r hcl.Range) Position {
	return Position{File: r.Filename, Line: max(r.Start.Line, 1), Column: max(r.Start.Column, 1)}
}

// topBlocks says which kind a block of the top level declares.
var topBlocks = map[string]Kind{
	"schema": SchemaKind, "table": TableKind, "enum": EnumKind, "extension": ExtensionKind, "sequence": SequenceKind, "domain": DomainKind, "composite": CompositeKind, "range": RangeKind,
	"role": RoleKind, "permission": GrantKind, "revocation": RevocationKind, "default_privileges": DefaultsKind, "function": FunctionKind, "procedure": ProcedureKind, "event": EventKind, "view": ViewKind, "materialized": MaterializedKind, "trigger": TriggerKind, "policy": PolicyKind, "data": DataKind,
}

// collect takes variables and locals of one file before anything is evaluated.
func (r *hclReader) collect(body *hclsyntax.Body) {
	for _, a := range sortedAttributes(body) {
		r.bag.add(positionOf(a.NameRange), "unknown attribute %q; allowed here are blocks: %s", a.Name, oneOf(r.blockNames()))
	}
	for _, block := range body.Blocks {
		switch block.Type {
		case "variable":
			r.collectVariable(block)
		case "locals":
			r.noBlocks(block)
			for _, a := range sortedAttributes(block.Body) {
				if other, twice := r.locals[a.Name]; twice {
					r.bag.add(positionOf(a.NameRange), "local %q is declared twice, first at %s", a.Name, positionOf(other.expr.Range()))
					continue
				}
				r.locals[a.Name] = &hclLocal{expr: a.Expr}
			}
		}
	}
}

// blockNames are the blocks of the top level that the dialect knows.
func (r *hclReader) blockNames() []string {
	known := slices.DeleteFunc(keysOf(topBlocks), func(name string) bool { return refusedKind(topBlocks[name], r.dialect) != "" })
	return append(known, "variable", "locals")
}

// read takes the objects of one file.
func (r *hclReader) read(body *hclsyntax.Body) {
	for _, block := range body.Blocks {
		kind, known := topBlocks[block.Type]
		switch {
		case block.Type == "variable" || block.Type == "locals":
		case !known:
			r.bag.add(positionOf(block.TypeRange), "unknown block %q; allowed here: %s", block.Type, oneOf(r.blockNames()))
		case refusedKind(kind, r.dialect) != "":
			r.bag.add(positionOf(block.TypeRange), "%s: %s", block.Type, refusedKind(kind, r.dialect))
		default:
			if o := r.top(kind, block); o != nil {
				r.objects = append(r.objects, o)
			}
		}
		if len(r.objects) > maxObjects {
			r.bag.add(positionOf(block.TypeRange), "more than %d objects", maxObjects)
		}
		if r.bag.full() {
			return
		}
	}
}

// top reads one block of the top level. Its labels are the name, or the schema and the name.
func (r *hclReader) top(kind Kind, block *hclsyntax.Block) *Object {
	o := &Object{Key: Key{Kind: kind}, At: positionOf(block.TypeRange)}
	labels := block.Labels
	at := func(i int) Position { return positionOf(block.LabelRanges[i]) }
	_, inSchema := hclGrammars[kind]["schema"]
	switch {
	case kind.isAboutPrivileges() || kind == DataKind:
		if len(labels) > 0 {
			r.bag.add(at(0), "a %s block has no label", block.Type)
			return nil
		}
	case len(labels) == 2 && inSchema && kind != ExtensionKind:
		o.set("schema", textValue(at(0), labels[0]))
		o.set("name", refValue(at(1), labels[1:], ""))
	case len(labels) != 1:
		r.bag.add(o.At, "a %s block has one label, its name", block.Type)
		return nil
	case grammars[kind]["name"].want == wantQName:
		o.set("name", refValue(at(0), labels, ""))
	default:
		o.set("name", textValue(at(0), labels[0]))
	}
	for _, label := range labels {
		if problem := checkName(label, r.mysql); problem != "" {
			r.bag.add(at(0), "the name %q %s", label, problem)
			return nil
		}
	}
	if kind == TableKind {
		r.table(o, block)
	} else {
		r.fill(o, block, hclGrammars[kind], hclBlocks[kind])
	}
	return o
}

// fill reads attributes and nested blocks by their grammars.
func (r *hclReader) fill(o *Object, block *hclsyntax.Block, g grammar, blocks map[string]nestedBlock) {
	for _, a := range sortedAttributes(block.Body) {
		at := positionOf(a.NameRange)
		p, known := g[a.Name]
		name := a.Name
		if p.alias != "" {
			name = p.alias
		}
		switch {
		case !known:
			r.bag.add(at, "%s: unknown attribute %q; allowed here: %s", block.Type, a.Name, r.allowedIn(g, blocks))
		case p.refusal(r.mysql) != "":
			r.bag.add(at, "%s: %s is refused: %s", block.Type, a.Name, p.refusal(r.mysql))
		case o.has(name) && name != "schema":
			r.bag.add(at, "%s: %s says the same as another attribute; use one of them", block.Type, a.Name)
		default:
			r.attribute(o, name, p, a)
		}
	}
	once := map[string]bool{}
	for _, b := range block.Body.Blocks {
		at := positionOf(b.TypeRange)
		nested, known := blocks[b.Type]
		switch {
		case !known:
			r.bag.add(at, "%s: unknown block %q; allowed here: %s", block.Type, b.Type, r.allowedIn(g, blocks))
		case nested.only.refusal(r.mysql) != "":
			r.bag.add(at, "%s: %s is refused: %s", block.Type, b.Type, nested.only.refusal(r.mysql))
		case nested.once && once[b.Type]:
			r.bag.add(at, "%s: a second block %q", block.Type, b.Type)
		case len(b.Labels) < nested.least || len(b.Labels) > nested.most:
			r.bag.add(at, "%s: the block %q has %s", block.Type, b.Type, nested.labels())
		default:
			once[b.Type] = true
			nested.read(r, o, b, nested)
		}
	}
}

// nestedBlock says how a block inside of another is read.
type nestedBlock struct {
	least, most int // labels
	once        bool
	only        side
	keys        grammar                // of its attributes
	blocks      map[string]nestedBlock // inside of it
	read        func(r *hclReader, o *Object, b *hclsyntax.Block, n nestedBlock)
}

func (n nestedBlock) labels() string {
	switch {
	case n.most == 0:
		return "no label"
	case n.least == 0:
		return "at most one label, its name"
	}
	return "one label, its name"
}

func (r *hclReader) allowedIn(g grammar, blocks map[string]nestedBlock) string {
	names := g.names(r.mysql)
	for name, b := range blocks {
		if b.only.refusal(r.mysql) == "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return oneOf(names)
}

// attribute evaluates one attribute for what its property wants.
func (r *hclReader) attribute(o *Object, name string, p property, a *hclsyntax.Attribute) {
	if *r.budget--; *r.budget < 0 {
		r.bag.add(positionOf(a.NameRange), "the sources hold more than %d values", maxNodes)
		return
	}
	v, ok := r.wanted(p, a.Expr)
	if !ok {
		return
	}
	if name == "default" && v.form == formSQL {
		name = "default_expr"
	}
	if name == "schema" && o.has("schema") && o.text("schema") != v.text {
		r.bag.add(v.at, "schema %q here and %q in the label", v.text, o.text("schema"))
		return
	}
	o.set(name, v)
}

func sortedAttributes(body *hclsyntax.Body) []*hclsyntax.Attribute {
	return slices.SortedFunc(maps.Values(body.Attributes), func(a, b *hclsyntax.Attribute) int {
		return a.NameRange.Start.Byte - b.NameRange.Start.Byte
	})
}

func (r *hclReader) noBlocks(block *hclsyntax.Block) {
	for _, b := range block.Body.Blocks {
		r.bag.add(positionOf(b.TypeRange), "%s: unknown block %s; there are no blocks in here", block.Type, strconv.Quote(b.Type))
	}
}

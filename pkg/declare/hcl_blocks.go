package declare

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

var hclInSchema = grammar{"schema": {want: wantName}, "comment": {want: wantText}}

var (
	hclColumn = grammar{
		"type": {want: wantType}, "null": {want: wantFlag, alias: "nullable"}, "default": {want: wantLiteral}, "auto_increment": {want: wantFlag}, "unique": {want: wantFlag},
		"unique_expr": {want: wantSQL}, "check": {want: wantSQL}, "check_name": {want: wantName}, "comment": {want: wantText}, "enum": {want: wantTexts}, "as": {want: wantSQL, alias: "generated"},
		"collation": {want: wantQName}, "storage": grammars[ColumnKind]["storage"], "compression": grammars[ColumnKind]["compression"], "renamed_from": {want: wantName},
		"unsigned": {want: wantFlag, only: onlyMySQL}, "charset": {want: wantName, only: onlyMySQL, words: keyword}, "collate": {want: wantQName, only: onlyMySQL, alias: "collation"},
		"on_update": {want: wantSQL, only: onlyMySQL, alias: "on_update_expr"}, "invisible": {want: wantFlag, only: onlyMySQL}, "row_period": grammars[ColumnKind]["row_period"],
		"without_versioning": {want: wantFlag, only: onlyMySQL},
	}
	hclIndex = grammar{
		"columns": {want: wantColumns, alias: "fields"}, "unique": {want: wantFlag}, "type": {want: wantName, words: keyword}, "where": {want: wantSQL, only: onlyPostgres}, "include": {want: wantNames, only: onlyPostgres},
		"comment": {want: wantText}, "page_per_range": {want: wantInteger, only: onlyPostgres}, "nulls_distinct": {want: wantFlag, only: onlyPostgres}, "granularity": {want: wantInteger, refused: onlyClick},
		"ops": {want: wantType, only: onlyPostgres}, "options": {want: wantOptions}, "parser": {want: wantName, words: keyword, only: onlyMySQL}, "invisible": {want: wantFlag, only: onlyMySQL},
		"renamed_from": {want: wantName, only: onlyMySQL},
	}
	hclKey    = grammar{"columns": {want: wantNames}, "include": {want: wantNames, only: onlyPostgres}, "comment": {want: wantText}, "options": {want: wantOptions, only: onlyPostgres}}
	hclUnique = with(hclKey, grammar{
		"nulls_distinct": {want: wantFlag, only: onlyPostgres}, "deferrable": {want: wantFlag, only: onlyPostgres}, "initially": {want: wantWord, words: foreign, only: onlyPostgres},
	})
	hclForeignKey = grammar{
		"columns": {want: wantNames}, "ref_columns": {want: wantIgnored}, "on_delete": {want: wantWord, words: actions}, "on_update": {want: wantWord, words: actions},
		"deferrable": {want: wantFlag, only: onlyPostgres}, "initially": {want: wantWord, words: foreign, only: onlyPostgres}, "match_full": {want: wantFlag, only: onlyPostgres},
		"not_valid": {want: wantFlag, only: onlyPostgres}, "comment": {want: wantText},
	}
	hclCheck = grammar{
		"expr": {want: wantSQL, alias: "check"}, "comment": {want: wantText}, "not_valid": {want: wantFlag, only: onlyPostgres}, "no_inherit": {want: wantFlag, only: onlyPostgres},
		"enforced": {want: wantFlag, only: onlyMySQL},
	}
)

// Grammars of blocks that stand inside of others.
var (
	hclIdentity = grammar{
		"generated": {want: wantWord, words: grammars[ColumnKind]["identity_generation"].words, alias: "identity_generation"}, "start": {want: wantInteger, alias: "identity_start"},
		"increment": {want: wantInteger, alias: "identity_increment"}, "options": {want: wantText, alias: "identity_options"},
	}
	hclGenerated   = grammar{"expr": {want: wantSQL, alias: "generated"}, "type": {want: wantWord, words: []string{"STORED", "VIRTUAL"}, alias: "generated_kind"}}
	hclRowSecurity = grammar{"enabled": {want: wantFlag}, "enforced": {refused: "forced row security cannot be declared"}}
	hclDomainCheck = grammar{"expr": {want: wantSQL}}
	hclField       = grammar{"type": {want: wantType}, "collation": {want: wantQName}}
	hclArgument    = grammar{"type": {want: wantType}, "default": {want: wantSQL}, "mode": {want: wantWord, words: []string{"IN", "OUT", "INOUT", "VARIADIC"}}}
	hclTiming      = grammar{
		"insert": {want: wantFlag}, "update": {want: wantFlag}, "delete": {want: wantFlag}, "truncate": {want: wantFlag, only: onlyPostgres}, "update_of": {want: wantNames, only: onlyPostgres},
	}
)

const labelIsName = "the label is the name"

// hclGrammars are the attributes of the blocks of the top level.
var hclGrammars = map[Kind]grammar{
	SchemaKind: {
		"comment": {want: wantText, only: onlyPostgres}, "charset": {want: wantName, words: keyword, only: onlyMySQL}, "collation": {want: wantName, words: keyword, only: onlyMySQL},
		"collate": {want: wantName, words: keyword, alias: "collation", only: onlyMySQL},
	},
	TableKind: with(hclInSchema, grammar{
		"engine": {want: wantName, words: keyword, only: onlyMySQL}, "charset": {want: wantName, words: keyword, only: onlyMySQL}, "collation": {want: wantName, words: keyword, only: onlyMySQL},
		"collate": {want: wantName, words: keyword, alias: "collation", only: onlyMySQL}, "auto_increment": {want: wantInteger, only: onlyMySQL},
		"partition_by": {want: wantQuery, only: onlyMySQL}, "system_versioned": {want: wantFlag, only: onlyMySQL}, "options": {want: wantOptions}, "renamed_from": {want: wantName}, "checks": {want: wantChecks}, "custom": {want: wantTexts, alias: "custom_sql"},
	}),
	EnumKind:      with(hclInSchema, grammar{"values": {want: wantTexts}}),
	ExtensionKind: with(grammars[ExtensionKind], grammar{"name": {refused: labelIsName}}),
	SequenceKind: with(hclInSchema, grammar{
		"type": {want: wantType}, "start": {want: wantInteger}, "increment": {want: wantInteger}, "min_value": {want: wantInteger}, "max_value": {want: wantInteger}, "cache": {want: wantInteger},
		"cycle": {want: wantFlag}, "owned_by": {want: wantColumnOf, only: onlyPostgres}, "if_not_exists": {want: wantFlag},
	}),
	DomainKind: with(hclInSchema, grammar{
		"type": {want: wantType}, "null": {want: wantFlag, alias: "nullable"}, "default": {want: wantLiteral}, "collation": {want: wantQName},
	}),
	CompositeKind: hclInSchema,
	RangeKind:     with(grammars[RangeKind], grammar{"name": {refused: labelIsName}}),
	RoleKind:      with(grammars[RoleKind], grammar{"name": {refused: labelIsName}}),
	GrantKind: {
		"to": {want: wantName, words: keyword, alias: "role"}, "for": {want: wantTarget}, "privileges": {want: wantTexts, words: keyword}, "columns": {want: wantNames},
		"grantable": {want: wantFlag, alias: "with_option"}, "comment": {want: wantText},
	},
	RevocationKind: {"from": {want: wantName, words: keyword}, "for": {want: wantTarget}, "privileges": {want: wantTexts, words: keyword}, "comment": {want: wantText}},
	DefaultsKind: {
		"for_role": {want: wantName, words: keyword}, "schema": {want: wantName, alias: "in_schema"}, "on": {want: wantWord, words: defaultsOn}, "to": {want: wantName, words: keyword, alias: "role"},
		"from": {want: wantName, words: keyword}, "privileges": {want: wantTexts, words: keyword}, "grantable": {want: wantFlag, alias: "with_option"}, "comment": {want: wantText},
	},
	FunctionKind: with(grammars[FunctionKind], grammar{
		"name": {refused: labelIsName}, "lang": {want: wantName, words: keyword, alias: "language"}, "return": {want: wantType, alias: "returns"}, "as": {want: wantBody, alias: "body"},
	}),
	ProcedureKind: with(grammars[ProcedureKind], grammar{"name": {refused: labelIsName}, "as": {want: wantBody, alias: "body"}}),
	EventKind:     with(grammars[EventKind], grammar{"name": {refused: labelIsName}, "as": {want: wantBody, alias: "body"}}),
	ViewKind: with(hclInSchema, grammar{
		"as": {want: wantQuery, alias: "body"}, "body": {want: wantQuery}, "with_check": grammars[ViewKind]["with_check"],
		"check_option": {want: wantWord, words: grammars[ViewKind]["with_check"].words, alias: "with_check"}, "depends_on": {want: wantQNames},
		"algorithm": grammars[ViewKind]["algorithm"], "security": grammars[ViewKind]["security"],
	}),
	MaterializedKind: with(hclInSchema, grammar{
		"as": {want: wantQuery, alias: "body"}, "body": {want: wantQuery}, "depends_on": {want: wantQNames}, "refresh_strategy": {want: wantText, refused: refreshRefused},
	}),
	TriggerKind: {
		"on": {want: wantQName, alias: "table"}, "for": {want: wantWord, words: grammars[TriggerKind]["for"].words}, "foreach": {want: wantWord, words: grammars[TriggerKind]["for"].words, alias: "for"},
		"as": {want: wantBody, alias: "body"}, "when": {want: wantSQL, only: onlyPostgres}, "comment": {want: wantText, only: onlyPostgres}, "follows": {want: wantName, only: onlyMySQL},
		"execute": {refused: "the attribute as holds EXECUTE FUNCTION name()"},
	},
	PolicyKind: {
		"on": {want: wantQName, alias: "table"}, "for": grammars[PolicyKind]["for"], "to": {want: wantNames}, "using": {want: wantSQL}, "check": {want: wantSQL, alias: "with_check"},
		"comment": {want: wantText}, "as": {refused: "restrictive policies cannot be declared"},
	},
	DataKind: {"table": {want: wantQName}, "schema": {want: wantName}, "keys": {want: wantNames}, "rows": {want: wantRows}, "file": {want: wantText}},
}

// hclBlocks are the blocks inside of those of the top level.
var hclBlocks map[Kind]map[string]nestedBlock

var hclColumnBlocks map[string]nestedBlock

//nolint:gochecknoinits // the readers of the blocks refer to the tables
func init() {
	hclColumnBlocks = map[string]nestedBlock{
		"identity": {once: true, only: onlyPostgres, keys: hclIdentity, read: (*hclReader).identity},
		"as":       {once: true, keys: hclGenerated, read: (*hclReader).generated},
		"platform": {once: true, read: (*hclReader).platform},
	}
	arguments := map[string]nestedBlock{"arg": {least: 1, most: 1, keys: hclArgument, read: (*hclReader).argument}}
	index := nestedBlock{least: 1, most: 1, keys: hclIndex, blocks: map[string]nestedBlock{"on": {keys: columnKeys}}, read: (*hclReader).index}
	hclBlocks = map[Kind]map[string]nestedBlock{
		TableKind: {
			"column": {least: 1, most: 1, keys: hclColumn, blocks: hclColumnBlocks, read: (*hclReader).column}, "index": index,
			"primary_key": {most: 1, once: true, keys: hclKey, read: constraintBlock("PRIMARY KEY")}, "unique": {most: 1, keys: hclUnique, read: constraintBlock("UNIQUE")},
			"foreign_key": {most: 1, keys: hclForeignKey, read: constraintBlock("FOREIGN KEY")}, "check": {most: 1, keys: hclCheck, read: constraintBlock("CHECK")},
			"constraint":   {most: 1, keys: with(grammars[ConstraintKind], grammar{"name": {refused: labelIsName}, "table": {refused: "the table is the one that it stands in"}}), read: constraintBlock("")},
			"row_security": {once: true, only: onlyPostgres, keys: hclRowSecurity, read: (*hclReader).rowSecurity}, "platform": {once: true, read: (*hclReader).platform},
		},
		MaterializedKind: {"index": index},
		DomainKind:       {"check": {most: 1, keys: hclDomainCheck, read: (*hclReader).domainCheck}},
		CompositeKind:    {"field": {least: 1, most: 1, keys: hclField, read: (*hclReader).field}},
		FunctionKind:     arguments,
		ProcedureKind:    arguments,
		TriggerKind: {
			"before": {once: true, keys: hclTiming, read: timing("BEFORE")}, "after": {once: true, keys: hclTiming, read: timing("AFTER")},
			"instead_of": {once: true, only: onlyPostgres, keys: hclTiming, read: timing("INSTEAD OF")},
		},
	}
}

func (r *hclReader) table(o *Object, block *hclsyntax.Block) {
	r.fill(o, block, hclGrammars[TableKind], hclBlocks[TableKind])
}

// child makes the object of a nested block; the label, if any, is its name.
func (r *hclReader) child(kind Kind, b *hclsyntax.Block) *Object {
	o := &Object{Key: Key{Kind: kind}, At: positionOf(b.TypeRange)}
	if len(b.Labels) == 0 {
		return o
	}
	at := positionOf(b.LabelRanges[0])
	if problem := checkName(b.Labels[0], r.mysql); problem != "" {
		r.bag.add(at, "the name %q %s", b.Labels[0], problem)
	}
	o.set("name", textValue(at, b.Labels[0]))
	return o
}

func (r *hclReader) column(o *Object, b *hclsyntax.Block, n nestedBlock) {
	c := r.child(ColumnKind, b)
	r.fill(c, b, n.keys, n.blocks)
	if !c.has("nullable") {
		c.set("nullable", flagValue(c.At, false))
	}
	o.columns = append(o.columns, c)
}

// inner reads a block without blocks into an object of its own.
func (r *hclReader) inner(o *Object, b *hclsyntax.Block, g grammar) *Object {
	scratch := &Object{Key: Key{Kind: o.Key.Kind}, At: positionOf(b.TypeRange)}
	r.fill(scratch, b, g, nil)
	return scratch
}

func (r *hclReader) identity(o *Object, b *hclsyntax.Block, n nestedBlock) {
	in := r.inner(o, b, n.keys)
	if !in.has("identity_generation") {
		in.set("identity_generation", textValue(in.At, "BY DEFAULT"))
	}
	for name, v := range in.attrs {
		o.set(name, v)
	}
}

func (r *hclReader) generated(o *Object, b *hclsyntax.Block, n nestedBlock) {
	if o.has("generated") {
		r.bag.add(positionOf(b.TypeRange), "column: as stands twice")
		return
	}
	in := r.inner(o, b, n.keys)
	if !in.has("generated") {
		r.bag.add(in.At, "as: want expr")
	}
	for name, v := range in.attrs {
		o.set(name, v)
	}
}

// platform reads override blocks, one for each dialect.
func (r *hclReader) platform(o *Object, b *hclsyntax.Block, _ nestedBlock) {
	v := Value{at: positionOf(b.TypeRange), form: formMap}
	scratch := &Object{Key: o.Key}
	r.fill(scratch, b, nil, map[string]nestedBlock{"override": {least: 1, most: 1, read: func(r *hclReader, _ *Object, b *hclsyntax.Block, _ nestedBlock) {
		at := positionOf(b.LabelRanges[0])
		dialect := b.Labels[0]
		if problem := checkDialect(dialect); problem != "" {
			r.bag.add(at, "%s", problem)
			return
		}
		if _, twice := v.entry(dialect); twice {
			r.bag.add(at, "a second override for %s", dialect)
			return
		}
		g := map[Kind]grammar{TableKind: hclGrammars[TableKind], ColumnKind: hclColumn}[o.Key.Kind]
		g = maps.Clone(g)
		maps.DeleteFunc(g, func(name string, _ property) bool { return slices.Contains(fixed, name) })
		outer := r.mysql
		r.mysql = isMySQL(dialect)
		in := r.inner(o, b, g)
		r.mysql = outer
		e := entry{dialect, at, Value{at: at, form: formMap}}
		for _, name := range slices.Sorted(maps.Keys(in.attrs)) {
			e.value.entries = append(e.value.entries, entry{name, in.attrs[name].at, in.attrs[name]})
		}
		v.entries = append(v.entries, e)
	}}})
	o.set("platform", v)
}

func (r *hclReader) index(o *Object, b *hclsyntax.Block, n nestedBlock) {
	x := r.child(IndexKind, b)
	keys := Value{at: x.At, form: formList}
	on := n.blocks["on"]
	on.read = func(r *hclReader, _ *Object, b *hclsyntax.Block, _ nestedBlock) {
		if key, ok := r.on(b); ok {
			keys.list = append(keys.list, key)
		}
	}
	r.fill(x, b, n.keys, map[string]nestedBlock{"on": on})
	if v, ok := x.attrs["page_per_range"]; ok {
		delete(x.attrs, "page_per_range")
		options := x.attrs["options"]
		options.form, options.at = formMap, v.at
		options.entries = append(slices.Clone(options.entries), entry{"pages_per_range", v.at, v})
		x.set("options", options)
	}
	switch {
	case len(keys.list) > 0 && x.has("fields"):
		r.bag.add(x.where("fields"), "index: columns and on exclude each other")
	case len(keys.list) > 0:
		x.set("fields", keys)
	}
	o.parts = append(o.parts, x)
}

// on reads one key of an index.
func (r *hclReader) on(b *hclsyntax.Block) (Value, bool) {
	r.noBlocks(b)
	v := Value{at: positionOf(b.TypeRange), form: formMap}
	for _, a := range sortedAttributes(b.Body) {
		at := positionOf(a.NameRange)
		value, ok := r.value(a.Expr)
		if !ok {
			return v, false
		}
		switch {
		case a.Name == "column" && value.form == formRef && value.ref.kind == ColumnKind:
			value = textValue(value.at, value.ref.column)
		case value.form == formSQL:
			value.form = formText
		}
		v.entries = append(v.entries, entry{a.Name, at, value})
	}
	at := v.at
	v, problem := acceptItem(wantColumns, v, r.mysql)
	if problem != "" {
		if v.at.Line == 0 {
			v.at = at
		}
		r.bag.add(v.at, "on: %s", problem)
		return v, false
	}
	return v, true
}

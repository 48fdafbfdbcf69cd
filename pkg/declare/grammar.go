package declare

import (
	"maps"
	"slices"
)

// want says what a property has to be.
type want int

const (
	wantText     want = iota // a person's words
	wantName                 // one identifier
	wantQName                // name of an object, with or without its schema
	wantFlag                 //
	wantInteger              //
	wantLiteral              // text, number, flag or null
	wantWord                 // one of a few words
	wantTexts                // list of texts, or one
	wantNames                // list of identifiers, or one
	wantQNames               // list of object names, or one
	wantSQL                  // free SQL that stands between parentheses
	wantType                 // free SQL that stands where a type does
	wantQuery                // free SQL at the end of a statement
	wantElements             // free SQL list that stands between parentheses
	wantBody                 // free text that is quoted as a whole
	wantColumnOf             // table(column)
	wantColumns              // keys of an index
	wantFields               // fields of a composite type
	wantOptions              // mapping of words to scalars
	wantChecks               // list of expressions, or mapping of names to them
	wantIgnored              // text that has no meaning for a database
	wantTarget               // what privileges are granted on
	wantRows                 // rows of a table
	wantObjects              // read by the reader itself
)

// property of an object.
type property struct {
	want  want
	words []string
	// alias is the name that the property is kept under, where that is another.
	alias string
	// refused says why the property is known and cannot be used.
	refused string
}

// grammar of one kind of object.
type grammar map[string]property

// names are the properties that can be used.
func (g grammar) names() []string {
	var out []string
	for name, p := range g {
		if p.refused == "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func with(base grammar, more grammar) grammar {
	out := maps.Clone(base)
	maps.Copy(out, more)
	return out
}

var (
	actions   = []string{"NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"}
	foreign   = []string{"DEFERRED", "IMMEDIATE"}
	onlyClick = "it belongs to ClickHouse, which this engine does not manage"
)

// keyword marks names that HCL may write without quotes.
var keyword = []string{"*"}

const refreshRefused = "when a materialized view is refreshed is no part of its definition"

// named is what nearly everything has.
var named = grammar{
	"name":    {want: wantQName},
	"comment": {want: wantText},
}

var inSchema = with(named, grammar{"schema": {want: wantName}})

// grammars are those of YAML; HCL's differ in hclGrammars.
var grammars = map[Kind]grammar{
	SchemaKind: {"name": {want: wantName}, "comment": {want: wantText}},
	TableKind: with(inSchema, grammar{
		"struct_name": {want: wantIgnored}, "engine": {want: wantText}, "primary_key": {want: wantNames}, "checks": {want: wantChecks}, "custom_sql": {want: wantTexts},
		"columns": {want: wantObjects}, "fields": {want: wantObjects, alias: "columns"}, "indexes": {want: wantObjects}, "constraints": {want: wantObjects},
		"rls_enabled": {want: wantFlag}, "platform": {want: wantObjects}, "overrides": {want: wantObjects, alias: "platform"},
		"options": {want: wantOptions}, "renamed_from": {want: wantName},
	}),
	ColumnKind: {
		"name": {want: wantName}, "field_name": {want: wantIgnored}, "type": {want: wantType}, "nullable": {want: wantFlag}, "not_null": {want: wantFlag}, "primary": {want: wantFlag},
		"auto_increment": {want: wantFlag}, "auto_inc": {want: wantFlag, alias: "auto_increment"},
		"identity_generation": {want: wantWord, words: []string{"ALWAYS", "BY DEFAULT"}}, "identity_start": {want: wantInteger}, "identity_increment": {want: wantInteger},
		"identity_options": {want: wantText}, "unique": {want: wantFlag}, "unique_expr": {want: wantSQL}, "index": {want: wantFlag},
		"generated": {want: wantSQL}, "generated_kind": {want: wantWord, words: []string{"STORED", "VIRTUAL"}}, "stored": {want: wantFlag},
		"default": {want: wantLiteral}, "default_expr": {want: wantSQL}, "foreign": {want: wantColumnOf}, "foreign_key_name": {want: wantName},
		"on_delete": {want: wantWord, words: actions}, "on_update": {want: wantWord, words: actions}, "enum": {want: wantTexts},
		"check": {want: wantSQL}, "check_name": {want: wantName}, "comment": {want: wantText}, "platform": {want: wantObjects}, "overrides": {want: wantObjects, alias: "platform"},
		"collation": {want: wantQName}, "storage": {want: wantWord, words: []string{"PLAIN", "EXTERNAL", "EXTENDED", "MAIN"}},
		"compression": {want: wantWord, words: []string{"PGLZ", "LZ4"}}, "renamed_from": {want: wantName},
	},
	IndexKind: {
		"name": {want: wantName}, "table": {want: wantQName}, "fields": {want: wantColumns}, "columns": {want: wantColumns, alias: "fields"}, "unique": {want: wantFlag},
		"comment": {want: wantText}, "type": {want: wantName, words: keyword}, "where": {want: wantSQL}, "condition": {want: wantSQL, alias: "where"}, "ops": {want: wantType},
		"granularity": {want: wantInteger, refused: onlyClick}, "include": {want: wantNames}, "nulls_distinct": {want: wantFlag}, "options": {want: wantOptions},
	},
	ConstraintKind: {
		"name": {want: wantName}, "table": {want: wantQName}, "type": {want: wantWord, words: []string{"PRIMARY KEY", "UNIQUE", "FOREIGN KEY", "CHECK", "EXCLUDE"}},
		"columns": {want: wantNames}, "foreign_table": {want: wantQName}, "foreign_column": {want: wantNames}, "on_delete": {want: wantWord, words: actions}, "on_update": {want: wantWord, words: actions},
		"check": {want: wantSQL}, "using": {want: wantName, words: keyword}, "elements": {want: wantElements}, "condition": {want: wantSQL}, "comment": {want: wantText},
		"deferrable": {want: wantFlag}, "initially": {want: wantWord, words: foreign}, "include": {want: wantNames}, "nulls_distinct": {want: wantFlag},
		"not_valid": {want: wantFlag}, "no_inherit": {want: wantFlag}, "match_full": {want: wantFlag}, "options": {want: wantOptions},
	},
	EnumKind: with(inSchema, grammar{"values": {want: wantTexts}}),
	DomainKind: with(inSchema, grammar{
		"type": {want: wantType}, "nullable": {want: wantFlag}, "not_null": {want: wantFlag}, "default": {want: wantLiteral}, "default_expr": {want: wantSQL},
		"check": {want: wantSQL}, "check_name": {want: wantName}, "checks": {want: wantChecks}, "collation": {want: wantQName},
	}),
	CompositeKind: with(inSchema, grammar{"fields": {want: wantFields}}),
	RangeKind: with(inSchema, grammar{
		"subtype": {want: wantType}, "subtype_opclass": {want: wantQName}, "subtype_diff": {want: wantQName}, "canonical": {want: wantQName}, "collation": {want: wantQName}, "multirange_name": {want: wantName},
	}),
	SequenceKind: with(inSchema, grammar{
		"type": {want: wantType}, "start": {want: wantInteger}, "increment": {want: wantInteger}, "min_value": {want: wantInteger}, "max_value": {want: wantInteger},
		"cache": {want: wantInteger}, "cycle": {want: wantFlag}, "owned_by": {want: wantColumnOf}, "if_not_exists": {want: wantFlag},
	}),
	ExtensionKind: {"name": {want: wantName}, "schema": {want: wantName}, "if_not_exists": {want: wantFlag}, "version": {want: wantText}, "comment": {want: wantText}},
	FunctionKind: with(inSchema, grammar{
		"params": {want: wantElements}, "parameters": {want: wantElements, alias: "params"}, "returns": {want: wantType}, "language": {want: wantName, words: keyword},
		"security": {want: wantWord, words: []string{"DEFINER", "INVOKER"}}, "volatility": {want: wantWord, words: []string{"IMMUTABLE", "STABLE", "VOLATILE"}}, "body": {want: wantBody},
	}),
	ViewKind: with(inSchema, grammar{
		"body": {want: wantQuery}, "with_check": {want: wantWord, words: []string{"LOCAL", "CASCADED"}}, "depends_on": {want: wantQNames},
	}),
	MaterializedKind: with(inSchema, grammar{
		"body": {want: wantQuery}, "refresh_strategy": {want: wantText, refused: refreshRefused}, "depends_on": {want: wantQNames},
	}),
	TriggerKind: {
		"name": {want: wantName}, "table": {want: wantQName}, "timing": {want: wantWord, words: []string{"BEFORE", "AFTER", "INSTEAD OF"}}, "event": {want: wantTexts},
		"for": {want: wantWord, words: []string{"ROW", "STATEMENT", "EACH ROW", "EACH STATEMENT"}}, "when": {want: wantSQL}, "body": {want: wantBody}, "comment": {want: wantText},
	},
	PolicyKind: {
		"name": {want: wantName}, "table": {want: wantQName}, "for": {want: wantWord, words: []string{"ALL", "SELECT", "INSERT", "UPDATE", "DELETE"}}, "to": {want: wantNames},
		"using": {want: wantSQL}, "with_check": {want: wantSQL}, "comment": {want: wantText}, "as": {want: wantText, refused: "restrictive policies cannot be declared"},
	},
	RowSecurityKind: {"name": {want: wantQName, alias: "table"}, "table": {want: wantQName}, "comment": {want: wantIgnored}, "forced": {want: wantFlag, refused: "forced row security cannot be declared"}},
	RoleKind: {
		"name": {want: wantName}, "login": {want: wantFlag}, "password": {want: wantText, refused: "a password has no place in a schema; set it on the server"}, "superuser": {want: wantFlag},
		"create_db": {want: wantFlag}, "create_role": {want: wantFlag}, "inherit": {want: wantFlag}, "replication": {want: wantFlag}, "comment": {want: wantText},
	},
	GrantKind: {
		"name": {want: wantIgnored}, "role": {want: wantName}, "privilege": {want: wantTexts, alias: "privileges"}, "privileges": {want: wantTexts}, "on_table": {want: wantQName}, "on_schema": {want: wantName},
		"on_sequence": {want: wantQName}, "on_function": {want: wantQName}, "on_type": {want: wantQName}, "columns": {want: wantNames}, "with_option": {want: wantFlag}, "comment": {want: wantText},
	},
	DataKind: {
		"name": {want: wantQName, alias: "table"}, "table": {want: wantQName}, "schema": {want: wantName}, "keys": {want: wantNames}, "rows": {want: wantRows}, "file": {want: wantText},
	},
}

// columnKeys are the properties of one key of an index.
var columnKeys = grammar{
	"column": {want: wantName}, "expr": {want: wantSQL}, "desc": {want: wantFlag}, "nulls_first": {want: wantFlag}, "nulls_last": {want: wantFlag}, "ops": {want: wantType}, "collation": {want: wantQName},
	"prefix": {want: wantInteger, refused: "prefixes of a column belong to MySQL and MariaDB"},
}

// fixed are properties that an override may not touch, because they say what the object is.
var fixed = []string{"name", "schema", "table", "struct_name", "field_name", "renamed_from"}

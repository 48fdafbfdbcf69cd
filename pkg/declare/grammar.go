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
	// refused says why the property is known and cannot be used, and only which dialects have it.
	refused string
	only    side
	// mysql says that a value is read for MySQL or MariaDB.
	mysql bool
}

// side says which dialects know a property or a kind.
type side int

const (
	bothSides side = iota
	onlyPostgres
	onlyMySQL
)

// refusal says why a dialect does not know something; empty where it does.
func (s side) refusal(mysql bool) string {
	switch {
	case s == onlyPostgres && mysql:
		return "it belongs to PostgreSQL"
	case s == onlyMySQL && !mysql:
		return "it belongs to MySQL and MariaDB; put it below platform if it is for those"
	}
	return ""
}

func (p property) refusal(mysql bool) string {
	if p.refused != "" {
		return p.refused
	}
	return p.only.refusal(mysql)
}

const ofAccounts = "privileges on MySQL and MariaDB belong to accounts of the server and are not managed"

// postgresKinds are the kinds that MySQL and MariaDB do not have, with what to do about it.
var postgresKinds = map[Kind]string{
	EnumKind: "enums are no types on MySQL and MariaDB: list the values at the column", DomainKind: "MySQL and MariaDB have no domains", CompositeKind: "MySQL and MariaDB have no composite types",
	RangeKind: "MySQL and MariaDB have no range types", ExtensionKind: "MySQL and MariaDB have no extensions", MaterializedKind: "MySQL and MariaDB have no materialized views",
	PolicyKind: "MySQL and MariaDB have no row security", RowSecurityKind: "MySQL and MariaDB have no row security", RoleKind: "roles belong to the whole server and are not managed",
	GrantKind: ofAccounts, RevocationKind: ofAccounts, DefaultsKind: ofAccounts, DataKind: "rows are managed on PostgreSQL only: declare the table without them",
}

// refusedKind says why objects of a kind cannot be declared for a dialect; empty where they can.
func refusedKind(kind Kind, dialect string) string {
	switch {
	case isMySQL(dialect) && postgresKinds[kind] != "":
		return postgresKinds[kind]
	case !isMySQL(dialect) && (kind == ProcedureKind || kind == EventKind):
		return "it belongs to MySQL and MariaDB; declare it in SQL for PostgreSQL"
	case dialect == MySQL && kind == SequenceKind:
		return "MySQL has no sequences"
	}
	return ""
}

// grammar of one kind of object.
type grammar map[string]property

// names are the properties that can be used.
func (g grammar) names(mysql bool) []string {
	var out []string
	for name, p := range g {
		if p.refusal(mysql) == "" {
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
	actions    = []string{"NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"}
	foreign    = []string{"DEFERRED", "IMMEDIATE"}
	dataAccess = []string{"CONTAINS SQL", "NO SQL", "READS SQL DATA", "MODIFIES SQL DATA"}
	onlyClick  = "it belongs to ClickHouse, which this engine does not manage"
)

// defaultsOn are the classes of objects that default privileges are about.
var defaultsOn = []string{"FUNCTIONS", "SCHEMAS", "SEQUENCES", "TABLES", "TYPES"}

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
	SchemaKind: {
		"name": {want: wantName}, "comment": {want: wantText, only: onlyPostgres},
		"charset": {want: wantName, only: onlyMySQL}, "collation": {want: wantName, only: onlyMySQL},
	},
	TableKind: with(inSchema, grammar{
		"struct_name": {want: wantIgnored}, "engine": {want: wantName, only: onlyMySQL}, "primary_key": {want: wantNames}, "checks": {want: wantChecks}, "custom_sql": {want: wantTexts},
		"columns": {want: wantObjects}, "fields": {want: wantObjects, alias: "columns"}, "indexes": {want: wantObjects}, "constraints": {want: wantObjects},
		"charset": {want: wantName, only: onlyMySQL}, "collation": {want: wantName, only: onlyMySQL}, "auto_increment": {want: wantInteger, only: onlyMySQL},
		"partition_by": {want: wantQuery, only: onlyMySQL}, "system_versioned": {want: wantFlag, only: onlyMySQL},
		"rls_enabled": {want: wantFlag, only: onlyPostgres}, "platform": {want: wantObjects}, "overrides": {want: wantObjects, alias: "platform"},
		"options": {want: wantOptions}, "renamed_from": {want: wantName},
	}),
	ColumnKind: {
		"name": {want: wantName}, "field_name": {want: wantIgnored}, "type": {want: wantType}, "nullable": {want: wantFlag}, "not_null": {want: wantFlag}, "primary": {want: wantFlag},
		"auto_increment": {want: wantFlag}, "auto_inc": {want: wantFlag, alias: "auto_increment"},
		"identity_generation": {want: wantWord, words: []string{"ALWAYS", "BY DEFAULT"}, only: onlyPostgres}, "identity_start": {want: wantInteger, only: onlyPostgres},
		"identity_increment": {want: wantInteger, only: onlyPostgres}, "identity_options": {want: wantText, only: onlyPostgres}, "unique": {want: wantFlag}, "unique_expr": {want: wantSQL}, "index": {want: wantFlag},
		"generated": {want: wantSQL}, "generated_kind": {want: wantWord, words: []string{"STORED", "VIRTUAL"}}, "stored": {want: wantFlag},
		"default": {want: wantLiteral}, "default_expr": {want: wantSQL}, "foreign": {want: wantColumnOf}, "foreign_key_name": {want: wantName},
		"on_delete": {want: wantWord, words: actions}, "on_update": {want: wantWord, words: actions}, "enum": {want: wantTexts},
		"check": {want: wantSQL}, "check_name": {want: wantName}, "comment": {want: wantText}, "platform": {want: wantObjects}, "overrides": {want: wantObjects, alias: "platform"},
		"collation": {want: wantQName}, "storage": {want: wantWord, words: []string{"PLAIN", "EXTERNAL", "EXTENDED", "MAIN"}, only: onlyPostgres},
		"compression": {want: wantWord, words: []string{"PGLZ", "LZ4"}, only: onlyPostgres}, "renamed_from": {want: wantName},
		"unsigned": {want: wantFlag, only: onlyMySQL}, "charset": {want: wantName, only: onlyMySQL}, "on_update_expr": {want: wantSQL, only: onlyMySQL}, "invisible": {want: wantFlag, only: onlyMySQL},
		"row_period": {want: wantWord, words: []string{"START", "END"}, only: onlyMySQL}, "without_versioning": {want: wantFlag, only: onlyMySQL},
	},
	IndexKind: {
		"name": {want: wantName}, "table": {want: wantQName}, "fields": {want: wantColumns}, "columns": {want: wantColumns, alias: "fields"}, "unique": {want: wantFlag},
		"comment": {want: wantText}, "type": {want: wantName, words: keyword}, "where": {want: wantSQL, only: onlyPostgres}, "condition": {want: wantSQL, alias: "where", only: onlyPostgres},
		"ops": {want: wantType, only: onlyPostgres}, "granularity": {want: wantInteger, refused: onlyClick}, "include": {want: wantNames, only: onlyPostgres}, "nulls_distinct": {want: wantFlag, only: onlyPostgres},
		"options": {want: wantOptions}, "parser": {want: wantName, only: onlyMySQL}, "invisible": {want: wantFlag, only: onlyMySQL}, "renamed_from": {want: wantName, only: onlyMySQL},
	},
	ConstraintKind: {
		"name": {want: wantName}, "table": {want: wantQName}, "type": {want: wantWord, words: []string{"PRIMARY KEY", "UNIQUE", "FOREIGN KEY", "CHECK", "EXCLUDE"}},
		"columns": {want: wantNames}, "foreign_table": {want: wantQName}, "foreign_column": {want: wantNames}, "on_delete": {want: wantWord, words: actions}, "on_update": {want: wantWord, words: actions},
		"check": {want: wantSQL}, "using": {want: wantName, words: keyword, only: onlyPostgres}, "elements": {want: wantElements, only: onlyPostgres}, "condition": {want: wantSQL, only: onlyPostgres},
		"comment": {want: wantText}, "deferrable": {want: wantFlag, only: onlyPostgres}, "initially": {want: wantWord, words: foreign, only: onlyPostgres}, "include": {want: wantNames, only: onlyPostgres},
		"nulls_distinct": {want: wantFlag, only: onlyPostgres}, "not_valid": {want: wantFlag, only: onlyPostgres}, "no_inherit": {want: wantFlag, only: onlyPostgres},
		"match_full": {want: wantFlag, only: onlyPostgres}, "options": {want: wantOptions, only: onlyPostgres}, "enforced": {want: wantFlag, only: onlyMySQL},
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
		"cache": {want: wantInteger}, "cycle": {want: wantFlag}, "owned_by": {want: wantColumnOf, only: onlyPostgres}, "if_not_exists": {want: wantFlag},
	}),
	ExtensionKind: {"name": {want: wantName}, "schema": {want: wantName}, "if_not_exists": {want: wantFlag}, "version": {want: wantText}, "comment": {want: wantText}},
	FunctionKind: with(inSchema, grammar{
		"params": {want: wantElements}, "parameters": {want: wantElements, alias: "params"}, "returns": {want: wantType}, "language": {want: wantName, words: keyword},
		"security": {want: wantWord, words: []string{"DEFINER", "INVOKER"}}, "volatility": {want: wantWord, words: []string{"IMMUTABLE", "STABLE", "VOLATILE"}, only: onlyPostgres}, "body": {want: wantBody},
		"deterministic": {want: wantFlag, only: onlyMySQL}, "data_access": {want: wantWord, words: dataAccess, only: onlyMySQL},
	}),
	ProcedureKind: with(inSchema, grammar{
		"params": {want: wantElements}, "parameters": {want: wantElements, alias: "params"}, "security": {want: wantWord, words: []string{"DEFINER", "INVOKER"}}, "deterministic": {want: wantFlag},
		"data_access": {want: wantWord, words: dataAccess}, "body": {want: wantBody},
	}),
	EventKind: with(inSchema, grammar{
		"schedule": {want: wantQuery}, "preserve": {want: wantFlag}, "status": {want: wantWord, words: []string{"ENABLE", "DISABLE", "DISABLE ON SLAVE", "DISABLE ON REPLICA"}}, "body": {want: wantBody},
	}),
	ViewKind: with(inSchema, grammar{
		"body": {want: wantQuery}, "with_check": {want: wantWord, words: []string{"LOCAL", "CASCADED"}}, "depends_on": {want: wantQNames},
		"algorithm": {want: wantWord, words: []string{"MERGE", "TEMPTABLE", "UNDEFINED"}, only: onlyMySQL}, "security": {want: wantWord, words: []string{"DEFINER", "INVOKER"}, only: onlyMySQL},
	}),
	MaterializedKind: with(inSchema, grammar{
		"body": {want: wantQuery}, "indexes": {want: wantObjects}, "refresh_strategy": {want: wantText, refused: refreshRefused}, "depends_on": {want: wantQNames},
	}),
	TriggerKind: {
		"name": {want: wantName}, "table": {want: wantQName}, "timing": {want: wantWord, words: []string{"BEFORE", "AFTER", "INSTEAD OF"}}, "event": {want: wantTexts},
		"for": {want: wantWord, words: []string{"ROW", "STATEMENT", "EACH ROW", "EACH STATEMENT"}}, "when": {want: wantSQL, only: onlyPostgres}, "body": {want: wantBody}, "comment": {want: wantText, only: onlyPostgres},
		"follows": {want: wantName, only: onlyMySQL},
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
	RevocationKind: {
		"name": {want: wantIgnored}, "from": {want: wantName}, "privilege": {want: wantTexts, alias: "privileges"}, "privileges": {want: wantTexts}, "on_schema": {want: wantName},
		"on_function": {want: wantQName}, "on_type": {want: wantQName}, "comment": {want: wantText},
	},
	DefaultsKind: {
		"name": {want: wantIgnored}, "for_role": {want: wantName}, "in_schema": {want: wantName}, "on": {want: wantWord, words: defaultsOn}, "role": {want: wantName}, "from": {want: wantName},
		"privilege": {want: wantTexts, alias: "privileges"}, "privileges": {want: wantTexts}, "with_option": {want: wantFlag}, "comment": {want: wantText},
	},
	DataKind: {
		"name": {want: wantQName, alias: "table"}, "table": {want: wantQName}, "schema": {want: wantName}, "keys": {want: wantNames}, "rows": {want: wantRows}, "file": {want: wantText},
	},
}

// required are the properties that an object cannot be without. A function of PostgreSQL needs its language too.
var required = map[Kind][]string{
	ColumnKind: {"type"}, IndexKind: {"fields"}, ConstraintKind: {"type"}, EnumKind: {"values"}, DomainKind: {"type"}, CompositeKind: {"fields"}, RangeKind: {"subtype"}, FunctionKind: {"body"},
	ProcedureKind: {"body"}, EventKind: {"body", "schedule"}, ViewKind: {"body"}, MaterializedKind: {"body"}, TriggerKind: {"timing", "event", "body", "table"}, PolicyKind: {"table"},
	GrantKind: {"role", "privileges"}, RevocationKind: {"privileges"}, DefaultsKind: {"on", "privileges"}, DataKind: {"table", "keys", "rows"},
}

// columnKeys are the properties of one key of an index.
var columnKeys = grammar{
	"column": {want: wantName}, "expr": {want: wantSQL}, "desc": {want: wantFlag}, "nulls_first": {want: wantFlag, only: onlyPostgres}, "nulls_last": {want: wantFlag, only: onlyPostgres},
	"ops": {want: wantType, only: onlyPostgres}, "collation": {want: wantQName, only: onlyPostgres}, "prefix": {want: wantInteger, only: onlyMySQL},
}

// fixed are properties that an override may not touch, because they say what the object is.
var fixed = []string{"name", "schema", "table", "struct_name", "field_name", "renamed_from"}

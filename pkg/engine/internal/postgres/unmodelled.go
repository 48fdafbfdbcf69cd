package postgres

import (
	"fmt"
	"strings"
)

// unmodelledQuery names everything that exists in the database and that the model does not describe, as (kind, schema, table, name).
// Kinds are those of model.UnmodelledKinds. Ownership and large objects are no part of a schema and are not looked at.
func unmodelledQuery(_ int) string {
	parts := append(relationParts(), schemaParts()...)
	parts = append(parts, databaseParts()...)
	return strings.Join(parts, "\nUNION ALL\n")
}

// inSchema lists the rows of a catalog whose objects live in a schema.
func inSchema(kind, catalog, prefix, condition string) string {
	return fmt.Sprintf(`SELECT %s, n.nspname::text, '', o.%sname::text FROM %s o JOIN pg_namespace n ON n.oid = o.%snamespace
 WHERE %s AND %s AND %s`, kind, prefix, catalog, prefix, condition, userSchema, notOwned(catalog, "o.oid"))
}

// outside lists the rows of a catalog whose objects belong to the database as a whole and were not there from the start.
func outside(kind, catalog, name, condition string) string {
	return fmt.Sprintf(`SELECT '%s', '', '', %s FROM %s o WHERE o.oid >= 16384 AND %s AND %s`, kind, name, catalog, condition, notOwned(catalog, "o.oid"))
}

// ofTable lists parts of tables: from must join the part to its table c and schema n.
func ofTable(kind, name, from, condition string) string {
	return fmt.Sprintf(`SELECT %s, n.nspname::text, c.relname::text, %s FROM %s JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE %s AND %s AND %s`, kind, name, from, condition, userSchema, notOwned("pg_class", "c.oid"))
}

func relationParts() []string {
	// Servers since the minor releases of late 2026 keep an internal attribute version among the options.
	const columnOptions = "c.relkind = 'm' AND a.attnum > 0 AND NOT a.attisdropped AND EXISTS (SELECT FROM unnest(a.attoptions) o WHERE o NOT LIKE 'pg\\_attver=%')"
	return []string{
		inSchema(`CASE WHEN o.relkind = 'f' THEN 'foreign table' ELSE 'typed table' END`,
			"pg_class", "rel", `(o.relkind = 'f' OR o.relkind IN ('r', 'p') AND o.reloftype <> 0)`),
		ofTable("'table access method'", "c.relname::text", "pg_class c JOIN pg_am am ON am.oid = c.relam", "c.relkind = 'm' AND am.amname <> 'heap'"),
		ofTable("'tablespace'", "c.relname::text", "pg_class c", "c.relkind IN ('r', 'p', 'm') AND c.reltablespace <> 0"),
		ofTable("'tablespace'", "ic.relname::text", "pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid", "c.relkind IN ('r', 'p', 'm') AND ic.reltablespace <> 0"),
		ofTable("'table option'", "c.relname::text", "pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid", "c.relkind = 'm' AND t.reloptions IS NOT NULL"),
		ofTable("'column statistics target'", "a.attname::text", "pg_attribute a JOIN pg_class c ON c.oid = a.attrelid", "c.relkind = 'm' AND a.attnum > 0 AND NOT a.attisdropped AND COALESCE(a.attstattarget, -1) <> -1"),
		ofTable("'column options'", "a.attname::text", "pg_attribute a JOIN pg_class c ON c.oid = a.attrelid", columnOptions),
		ofTable("'invalid index'", "ic.relname::text", "pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid", "c.relkind IN ('r', 'p', 'm') AND NOT (i.indisvalid AND i.indisready AND i.indislive)"),
		ofTable("'clustered index'", "ic.relname::text", "pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid", "c.relkind = 'm' AND i.indisclustered"),
		ofTable("'index option'", "ic.relname::text", "pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = ic.oid",
			"c.relkind = 'm' AND a.attnum > 0 AND COALESCE(a.attstattarget, -1) <> -1"),
		// A foreign key whose own triggers were switched off is not what its definition says.
		ofTable("DISTINCT 'trigger'", "k.conname::text", "pg_trigger t JOIN pg_constraint k ON k.oid = t.tgconstraint JOIN pg_class c ON c.oid = t.tgrelid", "t.tgisinternal AND t.tgenabled <> 'O'"),
	}
}

func schemaParts() []string {
	return []string{
		// Arrays, row types and multiranges come and go with what they are made of.
		inSchema(`CASE o.typtype WHEN 'r' THEN 'range type' ELSE 'base type' END`, "pg_type", "typ",
			`(o.typtype = 'r' AND EXISTS (SELECT FROM pg_range r WHERE r.rngtypid = o.oid AND NOT (`+modelledRange+`)) OR o.typtype IN ('b', 'p') AND o.typrelid = 0 AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = o.oid))`),
		inSchema("'collation'", "pg_collation", "coll", "NOT ("+modelledCollation+")"),
		inSchema("'conversion'", "pg_conversion", "con", "true"),
		inSchema("'operator'", "pg_operator", "opr", "true"),
		inSchema("'operator class'", "pg_opclass", "opc", "true"),
		inSchema("'operator family'", "pg_opfamily", "opf", "true"),
		inSchema("'text search configuration'", "pg_ts_config", "cfg", "true"),
		inSchema("'text search dictionary'", "pg_ts_dict", "dict", "true"),
		inSchema("'text search parser'", "pg_ts_parser", "prs", "true"),
		inSchema("'text search template'", "pg_ts_template", "tmpl", "true"),
	}
}

func databaseParts() []string {
	return []string{
		outside("publication", "pg_publication", "o.pubname::text", "true"),
		outside("foreign data wrapper", "pg_foreign_data_wrapper", "o.fdwname::text", "true"),
		outside("foreign server", "pg_foreign_server", "o.srvname::text", "true"),
		outside("language", "pg_language", "o.lanname::text", "true"),
		outside("access method", "pg_am", "o.amname::text", "true"),
		outside("cast", "pg_cast", "format_type(o.castsource, NULL) || ' AS ' || format_type(o.casttarget, NULL)",
			// A range type brings its own cast to its multirange.
			`NOT EXISTS (SELECT FROM pg_depend y WHERE y.classid = 'pg_cast'::regclass AND y.objid = o.oid AND y.deptype = 'i')`),
		outside("transform", "pg_transform", "format_type(o.trftype, NULL)", "true"),
		`SELECT 'subscription', '', '', o.subname::text FROM pg_subscription o WHERE o.subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
		`SELECT DISTINCT 'security label', '', '', l.provider || ' on ' || l.objoid::text FROM pg_seclabel l`,
	}
}

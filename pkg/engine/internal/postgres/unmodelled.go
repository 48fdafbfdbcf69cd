package postgres

import (
	"fmt"
	"strings"
)

// unmodelledQuery names everything that exists in the database and that the model does not describe, as (kind, schema, table, name).
// Kinds are those of model.UnmodelledKinds. Ownership and large objects are no part of a schema and are not looked at. What has one name many
// times, as overloaded operators do, is named once. Each part lists (class, oid, namespace, table, kind, name), and schemas and extensions are asked
// for once, of all of them: that is most of the time that the server needs to plan the query.
func unmodelledQuery(_ int) string {
	parts := append(relationParts(), schemaParts()...)
	parts = append(parts, databaseParts()...)
	return `SELECT DISTINCT o.kind, COALESCE(n.nspname::text, ''), o.part, o.name FROM (
` + strings.Join(parts, "\nUNION ALL\n") + `
) o(class, oid, namespace, part, kind, name) LEFT JOIN pg_namespace n ON n.oid = o.namespace
WHERE (o.namespace = 0 OR ` + userSchema + `) AND NOT EXISTS (SELECT FROM pg_depend x WHERE x.classid = o.class AND x.objid = o.oid AND x.deptype = 'e')`
}

// madeLater leaves out what came with the server.
const madeLater = "o.oid >= " + firstUserOID

// inSchema lists the rows of a catalog whose objects live in a schema.
func inSchema(kind, catalog, prefix, condition string) string {
	return fmt.Sprintf(`SELECT '%[2]s'::regclass, o.oid, o.%[3]snamespace, '', %[1]s, o.%[3]sname::text FROM %[2]s o WHERE %[4]s AND %[5]s`, kind, catalog, prefix, madeLater, condition)
}

// outside lists the rows of a catalog whose objects belong to the database as a whole.
func outside(kind, catalog, name, condition string) string {
	return fmt.Sprintf(`SELECT '%[2]s'::regclass, o.oid, 0::oid, '', '%[1]s', %[3]s FROM %[2]s o WHERE %[4]s AND %[5]s`, kind, catalog, name, madeLater, condition)
}

// ofTable lists parts of tables: from must join the part to its table c. Of the kinds, which are expressions that may be NULL, every one counts.
func ofTable(name, from, condition string, kinds ...string) string {
	return fmt.Sprintf(`SELECT 'pg_class'::regclass, c.oid, c.relnamespace, c.relname::text, w.kind, %s FROM %s CROSS JOIN LATERAL unnest(ARRAY[%s]) w(kind)
 WHERE c.oid >= %s AND %s AND w.kind IS NOT NULL`, name, from, strings.Join(kinds, ", "), firstUserOID, condition)
}

// when is a kind where a condition holds.
func when(condition, kind string) string {
	return "CASE WHEN " + condition + " THEN '" + kind + "' END"
}

func relationParts() []string {
	const (
		indexes = "pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid"
		// Servers since the minor releases of late 2026 keep an internal attribute version among the options.
		hasOptions = `EXISTS (SELECT FROM unnest(a.attoptions) o WHERE o NOT LIKE 'pg\_attver=%')`
		hasTarget  = "COALESCE(a.attstattarget, -1) <> -1"
	)
	return []string{
		inSchema(`CASE WHEN o.relkind = 'f' THEN 'foreign table' ELSE 'typed table' END`,
			"pg_class", "rel", `(o.relkind = 'f' OR o.relkind IN ('r', 'p') AND o.reloftype <> 0)`),
		ofTable("c.relname::text", "pg_class c LEFT JOIN pg_am am ON am.oid = c.relam LEFT JOIN pg_class t ON t.oid = c.reltoastrelid", "c.relkind IN ('r', 'p', 'm')",
			when("c.relkind = 'm' AND am.amname <> 'heap'", "table access method"), when("c.reltablespace <> 0", "tablespace"),
			when("c.relkind = 'm' AND t.reloptions IS NOT NULL", "table option")),
		ofTable("a.attname::text", "pg_class c JOIN pg_attribute a ON a.attrelid = c.oid", "c.relkind = 'm' AND a.attnum > 0 AND NOT a.attisdropped",
			when(hasTarget, "column statistics target"), when(hasOptions, "column options")),
		ofTable("ic.relname::text", indexes, "c.relkind IN ('r', 'p', 'm')",
			when("ic.reltablespace <> 0", "tablespace"), when("NOT (i.indisvalid AND i.indisready AND i.indislive)", "invalid index"),
			when("c.relkind = 'm' AND i.indisclustered", "clustered index"),
			when("c.relkind = 'm' AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = ic.oid AND a.attnum > 0 AND "+hasTarget+")", "index option")),
		// A foreign key whose own triggers were switched off is not what its definition says.
		ofTable("k.conname::text", "pg_trigger t JOIN pg_constraint k ON k.oid = t.tgconstraint JOIN pg_class c ON c.oid = t.tgrelid", "t.tgisinternal AND t.tgenabled <> 'O'", "'trigger'"),
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
		outside("subscription", "pg_subscription", "o.subname::text", "o.subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())"),
		`SELECT 0::regclass, 0::oid, 0::oid, '', 'security label', l.provider || ' on ' || l.objoid::text FROM pg_seclabel l`,
	}
}

package postgres

import (
	"fmt"
	"strings"
)

// unmodelledQuery names everything that exists in the database and that the model does not describe, as (kind, schema, table, name).
// Kinds are those of model.UnmodelledKinds. Ownership, privileges and large objects are no part of a schema and are not looked at.
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
	const anyTable = "c.relkind IN ('r', 'p', 'f')"
	return []string{
		inSchema(`CASE WHEN o.relkind = 'f' THEN 'foreign table' WHEN o.relkind = 'v' THEN 'view' WHEN o.relkind = 'm' THEN 'materialized view' ELSE 'typed table' END`,
			"pg_class", "rel", `(o.relkind IN ('f', 'v', 'm') OR o.relkind IN ('r', 'p') AND o.reloftype <> 0)`),
		ofTable("'row security'", "c.relname::text", "pg_class c", anyTable+" AND (c.relrowsecurity OR c.relforcerowsecurity)"),
		ofTable("'tablespace'", "c.relname::text", "pg_class c", "c.relkind IN ('r', 'p') AND c.reltablespace <> 0"),
		ofTable("'tablespace'", "ic.relname::text", "pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid", "c.relkind IN ('r', 'p') AND ic.reltablespace <> 0"),
		ofTable("'invalid index'", "ic.relname::text", "pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid", "c.relkind IN ('r', 'p') AND NOT (i.indisvalid AND i.indisready AND i.indislive)"),
		ofTable("'trigger'", "t.tgname::text", "pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid", "NOT t.tgisinternal AND t.tgconstraint = 0 AND "+notOwned("pg_trigger", "t.oid")),
		ofTable("'constraint trigger'", "t.tgname::text", "pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid", "NOT t.tgisinternal AND t.tgconstraint <> 0 AND "+notOwned("pg_trigger", "t.oid")),
		// A foreign key whose own triggers were switched off is not what its definition says.
		ofTable("DISTINCT 'trigger'", "k.conname::text", "pg_trigger t JOIN pg_constraint k ON k.oid = t.tgconstraint JOIN pg_class c ON c.oid = t.tgrelid", "t.tgisinternal AND t.tgenabled <> 'O'"),
		ofTable("'policy'", "p.polname::text", "pg_policy p JOIN pg_class c ON c.oid = p.polrelid", "true"),
		ofTable("'rule'", "r.rulename::text", "pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class", "r.rulename <> '_RETURN'"),
	}
}

func schemaParts() []string {
	const implicit = `NOT EXISTS (SELECT FROM pg_depend y WHERE y.classid = 'pg_proc'::regclass AND y.objid = o.oid AND y.deptype = 'i')`
	return []string{
		strings.Replace(inSchema(`CASE o.prokind WHEN 'f' THEN 'function' WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE 'window function' END`,
			"pg_proc", "pro", implicit), "o.proname::text", "o.proname || '(' || pg_get_function_identity_arguments(o.oid) || ')'", 1),
		// Arrays, row types and multiranges come and go with what they are made of.
		inSchema(`CASE o.typtype WHEN 'r' THEN 'range type' ELSE 'base type' END`, "pg_type", "typ",
			`(o.typtype = 'r' AND EXISTS (SELECT FROM pg_range r WHERE r.rngtypid = o.oid AND NOT (`+modelledRange+`)) OR o.typtype IN ('b', 'p') AND o.typrelid = 0 AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = o.oid))`),
		inSchema("'collation'", "pg_collation", "coll", "NOT ("+modelledCollation+")"),
		inSchema("'conversion'", "pg_conversion", "con", "true"),
		inSchema("'operator'", "pg_operator", "opr", "true"),
		inSchema("'operator class'", "pg_opclass", "opc", "true"),
		inSchema("'operator family'", "pg_opfamily", "opf", "true"),
		inSchema("'statistics'", "pg_statistic_ext", "stx", "true"),
		inSchema("'text search configuration'", "pg_ts_config", "cfg", "true"),
		inSchema("'text search dictionary'", "pg_ts_dict", "dict", "true"),
		inSchema("'text search parser'", "pg_ts_parser", "prs", "true"),
		inSchema("'text search template'", "pg_ts_template", "tmpl", "true"),
	}
}

func databaseParts() []string {
	return []string{
		outside("event trigger", "pg_event_trigger", "o.evtname::text", "true"),
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

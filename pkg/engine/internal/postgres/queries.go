package postgres

import "strings"

// Every query is set-based: their number does not grow with the number of tables. $1 is an array of table oids where it is used.

// userSchema keeps system schemas out; n is the alias of pg_namespace.
const userSchema = `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`

// notOwned keeps out what an extension owns. The class filter matters: without it the planner of the server scans pg_depend per row.
func notOwned(class, oid string) string {
	return `NOT EXISTS (SELECT FROM pg_depend x WHERE x.classid = '` + class + `'::regclass AND x.objid = ` + oid + ` AND x.deptype = 'e')`
}

const schemasQuery = `SELECT n.nspname::text, COALESCE(obj_description(n.oid, 'pg_namespace'), '')
FROM pg_namespace n WHERE ` + userSchema + ` AND NOT EXISTS (SELECT FROM pg_depend x WHERE x.classid = 'pg_namespace'::regclass AND x.objid = n.oid AND x.deptype = 'e')
ORDER BY n.nspname COLLATE "C"`

// tablesQuery reads tables, partitioned and partitions among them; every other relation is listed by unmodelledQuery.
var tablesQuery = `SELECT c.oid, n.nspname::text, c.relname::text, COALESCE(d.description, ''), COALESCE(c.reloptions, '{}'),
 c.relpersistence = 'u', CASE WHEN am.amname <> 'heap' THEN am.amname::text ELSE '' END, COALESCE(tc.reloptions, '{}'), c.relreplident::text, COALESCE(pg_get_partkeydef(c.oid), ''),
 COALESCE(pg_get_expr(c.relpartbound, c.oid), ''), c.relispartition
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am am ON am.oid = c.relam LEFT JOIN pg_class tc ON tc.oid = c.reltoastrelid
LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = 0
WHERE c.relkind IN ('r', 'p') AND c.relpersistence IN ('p', 'u') AND c.reloftype = 0 AND ` + userSchema + ` AND ` + notOwned("pg_class", "c.oid")

const parentsQuery = `SELECT i.inhrelid, n.nspname::text, c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE i.inhrelid = ANY($1::oid[]) ORDER BY i.inhrelid, i.inhseqno`

const columnsQuery = `SELECT a.attrelid, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity::text, a.attgenerated::text,
 COALESCE(pg_get_expr(ad.adbin, ad.adrelid), ''),
 CASE WHEN a.attcollation <> 0 AND a.attcollation <> t.typcollation THEN quote_ident(cn.nspname) || '.' || quote_ident(co.collname) ELSE '' END,
 CASE WHEN a.attstorage <> t.typstorage THEN a.attstorage::text ELSE '' END, a.attcompression::text, COALESCE(d.description, ''),
 NOT a.attislocal, NULLIF(a.attstattarget, -1)::int, ARRAY(SELECT o FROM unnest(a.attoptions) o WHERE o NOT LIKE 'pg\_attver=%' ORDER BY 1)
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef ad ON ad.adrelid = a.attrelid AND ad.adnum = a.attnum
LEFT JOIN pg_collation co ON co.oid = a.attcollation LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace
LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = a.attrelid AND d.objsubid = a.attnum
WHERE a.attrelid = ANY($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum`

// attributeNames turns an array of attribute numbers into names, in order.
func attributeNames(relation, numbers string) string {
	return `COALESCE((SELECT array_agg(a.attname::text ORDER BY k.ord) FROM unnest(` + numbers + `) WITH ORDINALITY k(num, ord)
 JOIN pg_attribute a ON a.attrelid = ` + relation + ` AND a.attnum = k.num), '{}')`
}

// constraintsQuery leaves out what is only a shadow of something else: NOT NULL (a property of the column) and foreign keys that the server
// derives for the partitions of the referenced table. It marks what a table has from its parents.
func constraintsQuery(major int) string {
	q := `SELECT c.conrelid, c.conname::text, c.contype::text, ` + attributeNames("c.conrelid", "c.conkey") + `, c.condeferrable, c.condeferred, c.convalidated,
 c.connoinherit, COALESCE(pg_get_expr(c.conbin, c.conrelid), ''), COALESCE(obj_description(c.oid, 'pg_constraint'), ''),
 COALESCE(rn.nspname::text, ''), COALESCE(r.relname::text, ''), ` + attributeNames("c.confrelid", "c.confkey") + `,
 c.confmatchtype::text, c.confupdtype::text, c.confdeltype::text, ` + attributeNames("c.conrelid", "@delsetcols@") + `,
 COALESCE((SELECT array_agg(a.attname::text ORDER BY k.ord) FROM unnest(i.indkey::int2[]) WITH ORDINALITY k(num, ord)
  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.num WHERE k.ord > i.indnkeyatts), '{}'),
 COALESCE(@nnd@, false), COALESCE(ic.reloptions, '{}'), NOT @enforced@, @period@, CASE WHEN c.contype = 'x' THEN pg_get_constraintdef(c.oid) ELSE '' END,
 up.oid IS NOT NULL OR c.coninhcount > 0, c.conislocal, CASE WHEN i.indisclustered THEN 'c' ELSE '' END || CASE WHEN i.indisreplident THEN 'r' ELSE '' END
FROM pg_constraint c LEFT JOIN pg_constraint up ON up.oid = c.conparentid
LEFT JOIN pg_class r ON r.oid = c.confrelid LEFT JOIN pg_namespace rn ON rn.oid = r.relnamespace
LEFT JOIN pg_index i ON c.contype IN ('p', 'u', 'x') AND i.indexrelid = c.conindid LEFT JOIN pg_class ic ON ic.oid = i.indexrelid
WHERE c.conrelid = ANY($1::oid[]) AND c.contype IN ('p', 'u', 'f', 'c', 'x') AND up.conrelid IS DISTINCT FROM c.conrelid
ORDER BY c.conrelid, c.conname COLLATE "C"`
	return byMajor(q, major)
}

func byMajor(q string, major int) string {
	nnd, delsetcols, enforced, period := "i.indnullsnotdistinct", "c.confdelsetcols", "true", "false"
	if major < 15 {
		nnd, delsetcols = "false", "'{}'::int2[]"
	}
	if major >= 18 {
		enforced, period = "c.conenforced", "c.conperiod"
	}
	return strings.NewReplacer("@nnd@", nnd, "@delsetcols@", delsetcols, "@enforced@", enforced, "@period@", period).Replace(q)
}

func indexesQuery(major int) string {
	return byMajor(`SELECT i.indrelid, c.relname::text, am.amname::text, i.indisunique, COALESCE(@nnd@, false), i.indnkeyatts, i.indkey::int2[],
 pg_get_indexdef(i.indexrelid), ARRAY(SELECT pg_get_indexdef(i.indexrelid, k, false) FROM generate_series(1, i.indnatts) k),
 COALESCE(pg_get_expr(i.indpred, i.indrelid), ''), COALESCE(c.reloptions, '{}'), COALESCE(d.description, ''),
 EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid), CASE WHEN i.indisclustered THEN 'c' ELSE '' END || CASE WHEN i.indisreplident THEN 'r' ELSE '' END,
 ARRAY(SELECT a.attnum::int FROM pg_attribute a WHERE a.attrelid = c.oid AND COALESCE(a.attstattarget, -1) <> -1 ORDER BY a.attnum),
 ARRAY(SELECT a.attstattarget::int FROM pg_attribute a WHERE a.attrelid = c.oid AND COALESCE(a.attstattarget, -1) <> -1 ORDER BY a.attnum)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am am ON am.oid = c.relam
LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = 0
WHERE i.indrelid = ANY($1::oid[])
AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = i.indrelid AND k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
ORDER BY i.indrelid, c.relname COLLATE "C"`, major)
}

var enumsQuery = `SELECT n.nspname::text, t.typname::text, COALESCE((SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid), '{}'),
 COALESCE(obj_description(t.oid, 'pg_type'), '')
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE t.typtype = 'e' AND ` + userSchema + ` AND ` + notOwned("pg_type", "t.oid")

// sequencesQuery reads all sequences; identity is the column that a sequence is the inner part of, owner the one that owns it.
var sequencesQuery = `SELECT n.nspname::text, c.relname::text, format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle,
 COALESCE(x.deptype::text, ''), COALESCE(tn.nspname::text, ''), COALESCE(t.relname::text, ''), COALESCE(a.attname::text, ''), COALESCE(d.description, ''), c.relpersistence = 'u'
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_depend x ON x.classid = 'pg_class'::regclass AND x.objid = c.oid AND x.objsubid = 0 AND x.refclassid = 'pg_class'::regclass AND x.refobjsubid > 0 AND x.deptype IN ('a', 'i')
LEFT JOIN pg_class t ON t.oid = x.refobjid LEFT JOIN pg_namespace tn ON tn.oid = t.relnamespace
LEFT JOIN pg_attribute a ON a.attrelid = x.refobjid AND a.attnum = x.refobjsubid
LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = 0
WHERE c.relpersistence IN ('p', 'u') AND ` + userSchema + ` AND ` + notOwned("pg_class", "c.oid")

// notNullsQuery reads the constraints behind NOT NULL, and which of them a table has by itself; they have been objects since PostgreSQL 18.
const notNullsQuery = `SELECT c.conrelid, a.attname::text, c.conname::text, NOT c.convalidated, c.connoinherit, COALESCE(obj_description(c.oid, 'pg_constraint'), ''), c.conislocal, c.coninhcount > 0
FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
WHERE c.contype = 'n' AND c.conrelid = ANY($1::oid[])`

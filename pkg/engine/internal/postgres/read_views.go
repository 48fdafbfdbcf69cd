package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// ownRelation keeps out what is the server's and what an extension owns; c is the relation and n its schema.
var ownRelation = userSchema + ` AND ` + notOwned("pg_class", "c.oid")

// viewsQuery reads views and materialized views with their columns: a replaced view keeps names, types and collations and may add columns.
var viewsQuery = `SELECT c.oid, c.relkind::text, n.nspname::text, c.relname::text, pg_get_viewdef(c.oid), COALESCE(c.reloptions, '{}'), COALESCE(d.description, ''),
 ARRAY(SELECT quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attcollation <> 0 THEN ' ' || a.attcollation::regcollation::text ELSE '' END
  FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = 0
WHERE c.relkind IN ('v', 'm') AND ` + ownRelation

func (d *definitions) readViews(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			oid              uint32
			def              model.Definition
			kind, query      string
			options, columns []string
		)
		if err := rows.Scan(&oid, &kind, &def.Schema, &def.Name, &query, &options, &def.Comment, &columns); err != nil {
			return err
		}
		query = strings.TrimSuffix(query, ";")
		name := qualified(model.Name{Schema: def.Schema, Name: def.Name})
		if kind == "m" {
			// Whether it holds rows now is data: a declared one is created with them.
			def.Kind, def.Create = model.KindMaterializedView, "CREATE MATERIALIZED VIEW "+name+" AS\n"+query+"\nWITH DATA"
		} else {
			def.Kind, def.Create = model.KindView, "CREATE VIEW "+name+" AS\n"+query
			def.Fixed = append([]string{"columns"}, columns...)
		}
		alter := alterView(&def)
		for _, option := range options {
			key, _, _ := strings.Cut(option, "=")
			property(&def, "option "+key, alter+"SET ("+setOptions([]string{option})[0]+")", alter+"RESET ("+ident(key)+")")
		}
		d.byID[catalogID{"pg_class", oid}] = &def
		return nil
	}, viewsQuery)
}

func alterView(def *model.Definition) string {
	return "ALTER " + strings.ToUpper(def.Kind) + " " + qualified(model.Name{Schema: def.Schema, Name: def.Name}) + " "
}

// viewColumnsQuery reads the columns of views that have something of their own.
var viewColumnsQuery = `SELECT c.oid, a.attname::text, COALESCE(pg_get_expr(ad.adbin, ad.adrelid), ''),
 CASE WHEN c.relkind = 'm' AND a.attstorage <> t.typstorage THEN a.attstorage::text ELSE '' END, t.typstorage::text,
 CASE WHEN c.relkind = 'm' THEN a.attcompression::text ELSE '' END, COALESCE(d.description, '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef ad ON ad.adrelid = c.oid AND ad.adnum = a.attnum
LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = a.attnum
WHERE c.relkind IN ('v', 'm') AND ` + userSchema + `
AND (ad.oid IS NOT NULL OR d.description IS NOT NULL OR c.relkind = 'm' AND (a.attstorage <> t.typstorage OR a.attcompression <> ''))`

func (d *definitions) readViewColumns(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			oid                                                           uint32
			column, expression, storage, ownStorage, compression, comment string
		)
		if err := rows.Scan(&oid, &column, &expression, &storage, &ownStorage, &compression, &comment); err != nil {
			return err
		}
		def := d.byID[catalogID{"pg_class", oid}]
		if def == nil {
			return nil // an extension's
		}
		alter := alterView(def) + "ALTER COLUMN " + ident(column) + " "
		if expression != "" {
			property(def, "default "+column, alter+"SET DEFAULT "+expression, alter+"DROP DEFAULT")
		}
		if storage != "" {
			property(def, "storage "+column, alter+"SET STORAGE "+storageModes[storage], alter+"SET STORAGE "+storageModes[ownStorage])
		}
		if compression != "" {
			property(def, "compression "+column, alter+"SET COMPRESSION "+compressionMethods[compression], alter+"SET COMPRESSION default")
		}
		if comment != "" {
			on := "COMMENT ON COLUMN " + qualified(model.Name{Schema: def.Schema, Name: def.Name}) + "." + ident(column) + " IS "
			property(def, "comment "+column, on+literal(comment), on+"NULL")
		}
		return nil
	}, viewColumnsQuery)
}

// viewIndexesQuery reads the indexes of materialized views.
var viewIndexesQuery = `SELECT ic.oid, n.nspname::text, c.relname::text, ic.relname::text, pg_get_indexdef(ic.oid), COALESCE(d.description, '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_index i ON i.indrelid = c.oid JOIN pg_class ic ON ic.oid = i.indexrelid
LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = ic.oid AND d.objsubid = 0
WHERE c.relkind = 'm' AND ` + ownRelation

func (d *definitions) readViewIndexes(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var oid uint32
		def := model.Definition{Object: model.Object{Kind: model.KindIndex}}
		err := rows.Scan(&oid, &def.Schema, &def.Table, &def.Name, &def.Create, &def.Comment)
		d.byID[catalogID{"pg_class", oid}] = &def
		return err
	}, viewIndexesQuery)
}

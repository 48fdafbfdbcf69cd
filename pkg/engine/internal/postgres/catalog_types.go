package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// plpgsql is there in every new database; nobody declares it.
const notPlpgsql = `e.extname <> 'plpgsql'`

// A comment that the extension's own control file gives says nothing.
const extensionsQuery = `SELECT e.extname::text, n.nspname::text, e.extversion, CASE WHEN d.description = a.comment THEN '' ELSE COALESCE(d.description, '') END
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
LEFT JOIN pg_description d ON d.classoid = 'pg_extension'::regclass AND d.objoid = e.oid LEFT JOIN pg_available_extensions a ON a.name = e.extname
WHERE ` + notPlpgsql

// qualifiedCollation prints a collation where it is another than the type's own; co and cn are its aliases.
func qualifiedCollation(used, own string) string {
	return `CASE WHEN ` + used + ` <> 0 AND ` + used + ` <> ` + own + ` THEN (SELECT quote_ident(cn.nspname) || '.' || quote_ident(co.collname)
 FROM pg_collation co JOIN pg_namespace cn ON cn.oid = co.collnamespace WHERE co.oid = ` + used + `) ELSE '' END`
}

func collationsQuery(major int) string {
	locale, rules := "CASE WHEN o.collprovider = 'i' THEN o.collcollate ELSE '' END", "''"
	switch {
	case major >= 17:
		locale, rules = "o.colllocale", "o.collicurules"
	case major == 16:
		locale, rules = "o.colliculocale", "o.collicurules"
	case major == 15:
		locale = "o.colliculocale"
	}
	return `SELECT n.nspname::text, o.collname::text, CASE o.collprovider WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE 'libc' END, COALESCE(` + locale + `, ''),
 CASE WHEN o.collprovider = 'c' THEN o.collcollate ELSE '' END, CASE WHEN o.collprovider = 'c' THEN o.collctype ELSE '' END, COALESCE(` + rules + `, ''),
 NOT o.collisdeterministic, COALESCE(obj_description(o.oid, 'pg_collation'), '')
FROM pg_collation o JOIN pg_namespace n ON n.oid = o.collnamespace WHERE ` + modelledCollation + ` AND ` + userSchema + ` AND ` + notOwned("pg_collation", "o.oid")
}

// modelledCollation leaves out what takes the database's locale, which CREATE COLLATION cannot say.
const modelledCollation = `o.collprovider <> 'd'`

var domainsQuery = `SELECT t.oid, n.nspname::text, t.typname::text, format_type(t.typbasetype, t.typtypmod), ` + qualifiedCollation("t.typcollation", "b.typcollation") + `,
 t.typnotnull, COALESCE(pg_get_expr(t.typdefaultbin, 0), ''), COALESCE(obj_description(t.oid, 'pg_type'), '')
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace JOIN pg_type b ON b.oid = t.typbasetype
WHERE t.typtype = 'd' AND ` + userSchema + ` AND ` + notOwned("pg_type", "t.oid")

const domainChecksQuery = `SELECT c.contypid, c.conname::text, pg_get_expr(c.conbin, 0), NOT c.convalidated, COALESCE(obj_description(c.oid, 'pg_constraint'), '')
FROM pg_constraint c WHERE c.contypid <> 0 AND c.contype = 'c'`

var compositesQuery = `SELECT n.nspname::text, c.relname::text, COALESCE(obj_description(t.oid, 'pg_type'), ''), COALESCE(x.names, '{}'), COALESCE(x.types, '{}'), COALESCE(x.collations, '{}'), COALESCE(x.comments, '{}')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = c.reltype
LEFT JOIN LATERAL (SELECT array_agg(a.attname::text ORDER BY a.attnum) AS names, array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum) AS types,
  array_agg(` + qualifiedCollation("a.attcollation", "y.typcollation") + ` ORDER BY a.attnum) AS collations, array_agg(COALESCE(col_description(c.oid, a.attnum), '') ORDER BY a.attnum) AS comments
  FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) x ON true
WHERE c.relkind = 'c' AND ` + userSchema + ` AND ` + notOwned("pg_type", "t.oid")

// modelledRange leaves out ranges with functions of the database's own: those need the type before they exist.
const modelledRange = `r.rngcanonical = 0 AND NOT EXISTS (SELECT FROM pg_proc f JOIN pg_namespace fn ON fn.oid = f.pronamespace
 WHERE f.oid = r.rngsubdiff AND fn.nspname <> 'pg_catalog' AND NOT EXISTS (SELECT FROM pg_depend x WHERE x.classid = 'pg_proc'::regclass AND x.objid = f.oid AND x.deptype = 'e'))`

var rangesQuery = `SELECT n.nspname::text, t.typname::text, format_type(r.rngsubtype, NULL),
 CASE WHEN o.opcdefault THEN '' ELSE quote_ident(opn.nspname) || '.' || quote_ident(o.opcname) END, ` + qualifiedCollation("r.rngcollation", "s.typcollation") + `,
 COALESCE((SELECT quote_ident(fn.nspname) || '.' || quote_ident(f.proname) FROM pg_proc f JOIN pg_namespace fn ON fn.oid = f.pronamespace WHERE f.oid = r.rngsubdiff), ''),
 mn.nspname::text, m.typname::text, COALESCE(obj_description(t.oid, 'pg_type'), '')
FROM pg_range r JOIN pg_type t ON t.oid = r.rngtypid JOIN pg_namespace n ON n.oid = t.typnamespace JOIN pg_type s ON s.oid = r.rngsubtype
JOIN pg_type m ON m.oid = r.rngmultitypid JOIN pg_namespace mn ON mn.oid = m.typnamespace
JOIN pg_opclass o ON o.oid = r.rngsubopc JOIN pg_namespace opn ON opn.oid = o.opcnamespace
WHERE ` + modelledRange + ` AND ` + userSchema + ` AND ` + notOwned("pg_type", "t.oid")

func (r *reader) readTypes(ctx context.Context) error {
	for _, read := range []func(context.Context) error{r.readExtensions, r.readCollations, r.readDomains, r.readComposites, r.readRanges} {
		if err := read(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readExtensions(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var x model.Extension
		err := rows.Scan(&x.Name, &x.Schema, &x.Version, &x.Comment)
		r.db.Extensions = append(r.db.Extensions, x)
		return err
	}, extensionsQuery)
}

func (r *reader) readCollations(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var x model.Collation
		err := rows.Scan(&x.Schema, &x.Name.Name, &x.Provider, &x.Locale, &x.Collate, &x.CType, &x.Rules, &x.NonDeterministic, &x.Comment)
		r.db.Collations = append(r.db.Collations, x)
		return err
	}, collationsQuery(r.session.major))
}

func (r *reader) readDomains(ctx context.Context) error {
	index := map[uint32]int{}
	err := r.each(ctx, func(rows pgx.Rows) error {
		var (
			oid uint32
			x   model.Domain
		)
		err := rows.Scan(&oid, &x.Schema, &x.Name.Name, &x.Type, &x.Collation, &x.NotNull, &x.Default, &x.Comment)
		index[oid] = len(r.db.Domains)
		r.db.Domains = append(r.db.Domains, x)
		return err
	}, domainsQuery)
	if err != nil {
		return err
	}
	return r.each(ctx, func(rows pgx.Rows) error {
		var (
			oid uint32
			k   model.DomainCheck
		)
		if err := rows.Scan(&oid, &k.Name, &k.Expression, &k.NotValid, &k.Comment); err != nil {
			return err
		}
		if i, ok := index[oid]; ok {
			r.db.Domains[i].Checks = append(r.db.Domains[i].Checks, k)
		}
		return nil
	}, domainChecksQuery)
}

func (r *reader) readComposites(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var (
			x                                  model.Composite
			names, types, collations, comments []string
		)
		if err := rows.Scan(&x.Schema, &x.Name.Name, &x.Comment, &names, &types, &collations, &comments); err != nil {
			return err
		}
		for i := range names {
			x.Attributes = append(x.Attributes, model.Attribute{Name: names[i], Type: types[i], Collation: collations[i], Comment: comments[i]})
		}
		r.db.Composites = append(r.db.Composites, x)
		return nil
	}, compositesQuery)
}

func (r *reader) readRanges(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var x model.Range
		err := rows.Scan(&x.Schema, &x.Name.Name, &x.Subtype, &x.Opclass, &x.Collation, &x.SubtypeDiff, &x.Multirange.Schema, &x.Multirange.Name, &x.Comment)
		r.db.Ranges = append(r.db.Ranges, x)
		return err
	}, rangesQuery)
}

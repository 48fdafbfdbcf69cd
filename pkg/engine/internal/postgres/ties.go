package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Before PostgreSQL 15 the server drops a generated column together with a routine, type or collation that its expression uses, without a word, and
// DROP EXPRESSION leaves that tie behind: the column and its values would still go with the routine. No statement unties them.

// tie is a column and what it goes with.
type tie struct {
	column model.ColumnRef
	on     model.Object
}

// tiesQuery reads ties; a column's own type and collation are no such thing.
const tiesQuery = `SELECT tn.nspname::text, t.relname::text, a.attname::text, x.kind, n.nspname::text, x.name
FROM (
 SELECT d.objid, d.objsubid, ` + routineKind + ` AS kind, p.pronamespace AS nsp, p.proname::text AS name
 FROM pg_depend d JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
 WHERE d.classid = 'pg_class'::regclass AND d.objid = ANY($1::oid[]) AND d.objsubid > 0 AND d.deptype = 'a'
 UNION ALL
 SELECT d.objid, d.objsubid, 'collation', l.collnamespace, l.collname::text
 FROM pg_depend d JOIN pg_collation l ON d.refclassid = 'pg_collation'::regclass AND l.oid = d.refobjid
 WHERE d.classid = 'pg_class'::regclass AND d.objid = ANY($1::oid[]) AND d.objsubid > 0 AND d.deptype = 'a'
 UNION ALL
 SELECT d.objid, d.objsubid, CASE e.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN 'domain' WHEN 'r' THEN 'range type' ELSE 'composite type' END, e.typnamespace, e.typname::text
 FROM pg_depend d JOIN pg_type y ON d.refclassid = 'pg_type'::regclass AND y.oid = d.refobjid
 JOIN pg_type e ON e.oid = CASE WHEN y.typcategory = 'A' AND y.typelem <> 0 THEN y.typelem ELSE y.oid END
 WHERE d.classid = 'pg_class'::regclass AND d.objid = ANY($1::oid[]) AND d.objsubid > 0 AND d.deptype = 'a'
) x
JOIN pg_namespace n ON n.oid = x.nsp JOIN pg_class t ON t.oid = x.objid JOIN pg_namespace tn ON tn.oid = t.relnamespace
JOIN pg_attribute a ON a.attrelid = x.objid AND a.attnum = x.objsubid
ORDER BY 1, 2, 3, 4, 5, 6`

func (r *reader) readTies(ctx context.Context) error {
	if r.session.major >= 15 {
		return nil
	}
	return r.each(ctx, func(rows pgx.Rows) error {
		var t tie
		err := rows.Scan(&t.column.Table.Schema, &t.column.Table.Name, &t.column.Column, &t.on.Kind, &t.on.Schema, &t.on.Name)
		r.ties = append(r.ties, t)
		return err
	}, tiesQuery, r.oids)
}

// refuseTies names a column that would go with something, and is declared to stay.
func (p *planner) refuseTies() error {
	for _, t := range p.ties {
		c := p.survivor(t.column)
		if c == nil || c.Generated != nil { // a generated one is built again
			continue
		}
		name := model.Name{Schema: t.on.Schema, Name: t.on.Name}
		gives := isRoutine(t.on.Kind) && p.moving[name] || p.gives(model.Dependency{Object: t.on}) || t.on.Kind == model.KindEnum && p.asideOf(name) != nil
		if gives {
			return refuseObject("column %q of table %q.%q is, or once was, computed with %s, which the plan would drop: PostgreSQL %d drops the column and its values with it; keep the %s, or declare a new column and move the values",
				t.column.Column, t.column.Table.Schema, t.column.Table.Name, nameDependency(model.Dependency{Object: t.on}), p.major, t.on.Kind)
		}
	}
	return nil
}

// survivor is a column of the target as it is declared, or as it stands outside of the managed scope; nil where it is declared to go.
func (p *planner) survivor(ref model.ColumnRef) *model.Column {
	if t := p.excluded.Table(ref.Table); t != nil {
		return t.Column(ref.Column)
	}
	for i := range p.to.Tables {
		t := &p.to.Tables[i]
		if t.Schema != ref.Table.Schema || t.Name != ref.Table && t.RenamedFrom != ref.Table.Name {
			continue
		}
		for j := range t.Columns {
			if c := &t.Columns[j]; c.Name == ref.Column || c.RenamedFrom == ref.Column {
				return c
			}
		}
	}
	return nil
}

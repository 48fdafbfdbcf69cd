package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// catalogID is what pg_depend calls an object: the catalog that it stands in and its oid.
type catalogID struct {
	class string
	oid   uint32
}

// definitions collects what is described by the statement that creates it.
type definitions struct {
	*reader
	byID map[catalogID]*model.Definition
}

func (r *reader) readDefinitions(ctx context.Context) error {
	d := &definitions{reader: r, byID: map[catalogID]*model.Definition{}}
	for _, read := range []func(context.Context) error{
		d.readRoutines, d.readAggregates, d.readViews, d.readViewColumns, d.readViewIndexes,
		d.readTriggers, d.readRules, d.readPolicies, d.readRowSecurity, d.readStatistics, d.readEventTriggers, d.readDependencies,
	} {
		if err := read(ctx); err != nil {
			return err
		}
	}
	for _, def := range d.byID {
		r.db.Definitions = append(r.db.Definitions, *def)
	}
	return nil
}

// property adds one that is set; removing it takes unset.
func property(def *model.Definition, name, set, unset string) {
	def.Properties = append(def.Properties, model.Property{Name: name, Set: set, Unset: unset})
}

// firing adds when a trigger or rule fires, where that is not the default; format has the action in place of %s.
func firing(def *model.Definition, enabled, before, after string) {
	action := map[string]string{"D": "DISABLE", "R": "ENABLE REPLICA", "A": "ENABLE ALWAYS"}[enabled]
	if action != "" {
		property(def, "enabled", before+action+after, before+"ENABLE"+after)
	}
}

// readDependencies adds what every definition stands on. What is no part of a model (operators, languages, what comes with the server) is left out.
func (d *definitions) readDependencies(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			id  catalogID
			dep model.Dependency
		)
		if err := rows.Scan(&id.class, &id.oid, &dep.Kind, &dep.Schema, &dep.Table, &dep.Name, &dep.Arguments, &dep.Column); err != nil {
			return err
		}
		def := d.byID[id]
		if def == nil || dep.Kind == "" {
			return nil
		}
		if self := (model.Dependency{Object: dep.Object, Arguments: dep.Arguments}); self == def.Key() && !isRoutine(dep.Kind) {
			return nil // a view and its own columns
		}
		def.DependsOn = append(def.DependsOn, dep)
		return nil
	}, dependenciesQuery)
}

func isRoutine(kind string) bool {
	return slices.Contains([]string{model.KindFunction, model.KindProcedure, model.KindAggregate, model.KindWindowFunction}, kind)
}

// relationKind is the model's kind of a relation c.
const relationKind = `CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence'
 WHEN 'f' THEN 'foreign table' WHEN 'c' THEN 'composite type' ELSE '' END`

// routineKind is the model's kind of a routine p.
const routineKind = `CASE p.prokind WHEN 'f' THEN 'function' WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE 'window function' END`

// firstUserOID is where the oids of objects start that did not come with the server. It cuts most of pg_depend off.
const firstUserOID = "16384"

// dependenciesQuery reads pg_depend once per catalog of definitions, and names both ends. A rewrite rule called _RETURN is its view, and so is the
// default of a view's column; an array type is its element, a row type its relation, a multirange its range.
const dependenciesQuery = `WITH x AS MATERIALIZED (
 SELECT DISTINCT d.classid, d.objid, d.refclassid, d.refobjid, d.refobjsubid FROM pg_depend d
 WHERE d.classid IN ('pg_proc'::regclass, 'pg_rewrite'::regclass, 'pg_attrdef'::regclass, 'pg_trigger'::regclass, 'pg_policy'::regclass,
  'pg_statistic_ext'::regclass, 'pg_event_trigger'::regclass, 'pg_class'::regclass)
 AND d.refclassid IN ('pg_proc'::regclass, 'pg_class'::regclass, 'pg_type'::regclass, 'pg_constraint'::regclass, 'pg_collation'::regclass)
 AND d.objid >= ` + firstUserOID + ` AND d.refobjid >= ` + firstUserOID + ` AND d.deptype IN ('n', 'a', 'i')
), o AS MATERIALIZED (
 SELECT CASE x.classid WHEN 'pg_proc'::regclass THEN 'pg_proc' WHEN 'pg_trigger'::regclass THEN 'pg_trigger' WHEN 'pg_policy'::regclass THEN 'pg_policy'
  WHEN 'pg_statistic_ext'::regclass THEN 'pg_statistic_ext' ELSE 'pg_event_trigger' END AS class, x.objid AS oid, x.refclassid, x.refobjid, x.refobjsubid
 FROM x WHERE x.classid NOT IN ('pg_rewrite'::regclass, 'pg_attrdef'::regclass, 'pg_class'::regclass)
 UNION SELECT CASE r.rulename WHEN '_RETURN' THEN 'pg_class' ELSE 'pg_rewrite' END, CASE r.rulename WHEN '_RETURN' THEN r.ev_class ELSE r.oid END, x.refclassid, x.refobjid, x.refobjsubid
 FROM x JOIN pg_rewrite r ON x.classid = 'pg_rewrite'::regclass AND r.oid = x.objid
 UNION SELECT 'pg_class', a.adrelid, x.refclassid, x.refobjid, x.refobjsubid FROM x JOIN pg_attrdef a ON x.classid = 'pg_attrdef'::regclass AND a.oid = x.objid
 UNION SELECT 'pg_class', x.objid, x.refclassid, x.refobjid, x.refobjsubid FROM x JOIN pg_class c ON x.classid = 'pg_class'::regclass AND c.oid = x.objid AND c.relkind IN ('v', 'm', 'i')
)
SELECT o.class, o.oid, ` + relationKind + `, n.nspname::text, '', c.relname::text, '', COALESCE(a.attname::text, '')
FROM o JOIN pg_class c ON o.refclassid = 'pg_class'::regclass AND c.oid = o.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute a ON o.refobjsubid > 0 AND a.attrelid = c.oid AND a.attnum = o.refobjsubid WHERE c.relkind <> 'i'
UNION ALL
SELECT o.class, o.oid, ` + routineKind + `, n.nspname::text, '', p.proname::text, pg_get_function_identity_arguments(p.oid), ''
FROM o JOIN pg_proc p ON o.refclassid = 'pg_proc'::regclass AND p.oid = o.refobjid JOIN pg_namespace n ON n.oid = p.pronamespace
UNION ALL
SELECT o.class, o.oid, 'constraint', n.nspname::text, c.relname::text, k.conname::text, '', ''
FROM o JOIN pg_constraint k ON o.refclassid = 'pg_constraint'::regclass AND k.oid = o.refobjid JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE o.class <> 'pg_trigger'
UNION ALL
SELECT o.class, o.oid, 'collation', n.nspname::text, '', l.collname::text, '', ''
FROM o JOIN pg_collation l ON o.refclassid = 'pg_collation'::regclass AND l.oid = o.refobjid JOIN pg_namespace n ON n.oid = l.collnamespace
UNION ALL
SELECT o.class, o.oid, CASE b.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN 'domain' WHEN 'r' THEN 'range type' WHEN 'c' THEN ` + relationKind + ` ELSE 'base type' END,
 n.nspname::text, '', b.typname::text, '', ''
FROM o JOIN pg_type t ON o.refclassid = 'pg_type'::regclass AND t.oid = o.refobjid
LEFT JOIN pg_range m ON t.typtype = 'm' AND m.rngmultitypid = t.oid
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'm' THEN m.rngtypid WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN t.typelem ELSE t.oid END
JOIN pg_namespace n ON n.oid = b.typnamespace LEFT JOIN pg_class c ON c.oid = b.typrelid AND b.typtype = 'c'`

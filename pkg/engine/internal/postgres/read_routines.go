package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// ownRoutine keeps out what an extension owns and what the server makes along with a type.
var ownRoutine = userSchema + ` AND ` + notOwned("pg_proc", "p.oid") +
	` AND NOT EXISTS (SELECT FROM pg_depend y WHERE y.classid = 'pg_proc'::regclass AND y.objid = p.oid AND y.deptype = 'i')`

var routinesQuery = `SELECT p.oid, ` + routineKind + `, n.nspname::text, p.proname::text, pg_get_function_identity_arguments(p.oid), pg_get_functiondef(p.oid),
 COALESCE(pg_get_function_result(p.oid), ''), p.pronargdefaults, COALESCE(d.description, '')
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
LEFT JOIN pg_description d ON d.classoid = 'pg_proc'::regclass AND d.objoid = p.oid AND d.objsubid = 0
WHERE p.prokind <> 'a' AND ` + ownRoutine

func (d *definitions) readRoutines(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			oid            uint32
			def            model.Definition
			result, create string
			defaults       int
		)
		if err := rows.Scan(&oid, &def.Kind, &def.Schema, &def.Name, &def.Arguments, &create, &result, &defaults, &def.Comment); err != nil {
			return err
		}
		def.Create = created(create)
		// Parameters keep their names and modes, and what is returned its type; a default may be added and not taken away.
		def.Fixed = []string{def.Arguments + " → " + result}
		for range defaults {
			def.Fixed = append(def.Fixed, "default")
		}
		d.byID[catalogID{"pg_proc", oid}] = &def
		return nil
	}, routinesQuery)
}

// created turns the server's CREATE OR REPLACE into CREATE.
func created(sql string) string {
	sql = strings.TrimRight(sql, "\n; ")
	if rest, ok := strings.CutPrefix(sql, "CREATE OR REPLACE "); ok {
		return "CREATE " + rest
	}
	return sql
}

// aggregatesQuery reads the parts of aggregates as (name, text) pairs in the order of the grammar; an absent part is NULL.
var aggregatesQuery = `SELECT p.oid, n.nspname::text, p.proname::text, pg_get_function_identity_arguments(p.oid), COALESCE(pg_get_function_result(p.oid), ''),
 g.aggkind::text, g.aggnumdirectargs, COALESCE(d.description, ''), ARRAY[
 'SFUNC', ` + routineName("g.aggtransfn") + `, 'STYPE', format_type(g.aggtranstype, NULL), 'SSPACE', NULLIF(g.aggtransspace, 0)::text,
 'FINALFUNC', ` + routineName("g.aggfinalfn") + `, 'FINALFUNC_EXTRA', CASE WHEN g.aggfinalextra THEN '' END, 'FINALFUNC_MODIFY', ` + modifies("g.aggfinalfn", "g.aggfinalmodify", "g.aggkind") + `,
 'COMBINEFUNC', ` + routineName("g.aggcombinefn") + `, 'SERIALFUNC', ` + routineName("g.aggserialfn") + `, 'DESERIALFUNC', ` + routineName("g.aggdeserialfn") + `,
 'INITCOND', quote_literal(g.agginitval), 'MSFUNC', ` + routineName("g.aggmtransfn") + `, 'MINVFUNC', ` + routineName("g.aggminvtransfn") + `,
 'MSTYPE', CASE WHEN g.aggmtranstype <> 0 THEN format_type(g.aggmtranstype, NULL) END, 'MSSPACE', NULLIF(g.aggmtransspace, 0)::text,
 'MFINALFUNC', ` + routineName("g.aggmfinalfn") + `, 'MFINALFUNC_EXTRA', CASE WHEN g.aggmfinalextra THEN '' END, 'MFINALFUNC_MODIFY', ` + modifies("g.aggmfinalfn", "g.aggmfinalmodify", "g.aggkind") + `,
 'MINITCOND', quote_literal(g.aggminitval),
 'SORTOP', (SELECT 'OPERATOR(' || quote_ident(s.nspname) || '.' || r.oprname || ')' FROM pg_operator r JOIN pg_namespace s ON s.oid = r.oprnamespace WHERE r.oid = g.aggsortop),
 'PARALLEL', CASE p.proparallel WHEN 's' THEN 'SAFE' WHEN 'r' THEN 'RESTRICTED' END, 'HYPOTHETICAL', CASE WHEN g.aggkind = 'h' THEN '' END]
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_aggregate g ON g.aggfnoid = p.oid
LEFT JOIN pg_description d ON d.classoid = 'pg_proc'::regclass AND d.objoid = p.oid AND d.objsubid = 0
WHERE ` + ownRoutine

func routineName(oid string) string {
	return `(SELECT quote_ident(s.nspname) || '.' || quote_ident(r.proname) FROM pg_proc r JOIN pg_namespace s ON s.oid = r.pronamespace WHERE r.oid = ` + oid + `)`
}

// modifies is what a final function does with the state, where that is not the default of the aggregate's kind.
func modifies(function, letter, kind string) string {
	//nolint:dupword // each CASE has its END
	return fmt.Sprintf(`CASE WHEN %s <> 0 AND %s <> CASE %s WHEN 'n' THEN 'r'::"char" ELSE 'w'::"char" END
  THEN CASE %s WHEN 'r' THEN 'READ_ONLY' WHEN 's' THEN 'SHAREABLE' ELSE 'READ_WRITE' END END`, function, letter, kind, letter)
}

func (d *definitions) readAggregates(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			oid          uint32
			def          = model.Definition{Object: model.Object{Kind: model.KindAggregate}}
			result, kind string
			direct       int
			parts        []*string
		)
		if err := rows.Scan(&oid, &def.Schema, &def.Name, &def.Arguments, &result, &kind, &direct, &def.Comment, &parts); err != nil {
			return err
		}
		def.Create = aggregateSQL(&def, parts)
		def.Fixed = []string{fmt.Sprintf("%s → %s (%s%d)", def.Arguments, result, kind, direct)}
		d.byID[catalogID{"pg_proc", oid}] = &def
		return nil
	}, aggregatesQuery)
}

func aggregateSQL(def *model.Definition, parts []*string) string {
	var options []string
	for i := 0; i+1 < len(parts); i += 2 {
		switch {
		case parts[i+1] == nil:
		case *parts[i+1] == "":
			options = append(options, "  "+*parts[i])
		default:
			options = append(options, "  "+*parts[i]+" = "+*parts[i+1])
		}
	}
	return "CREATE AGGREGATE " + signature(def.Key()) + " (\n" + strings.Join(options, ",\n") + "\n)"
}

// signature is a routine as DROP and COMMENT name it.
func signature(key model.Dependency) string {
	arguments := key.Arguments
	if key.Kind == model.KindAggregate && arguments == "" {
		arguments = "*"
	}
	return qualified(model.Name{Schema: key.Schema, Name: key.Name}) + "(" + arguments + ")"
}

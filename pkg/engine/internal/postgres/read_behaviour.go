package postgres

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

func (d *definitions) relation(def *model.Definition) string {
	return qualified(model.Name{Schema: def.Schema, Name: def.Table})
}

// triggersQuery leaves out what foreign keys are made of, and the copies that partitions inherit.
var triggersQuery = `SELECT t.oid, t.tgconstraint <> 0, n.nspname::text, c.relname::text, t.tgname::text, pg_get_triggerdef(t.oid), t.tgenabled::text, COALESCE(d.description, '')
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_description d ON d.classoid = 'pg_trigger'::regclass AND d.objoid = t.oid AND d.objsubid = 0
WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND ` + notOwned("pg_trigger", "t.oid") + ` AND ` + ownRelation

func (d *definitions) readTriggers(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			oid        uint32
			constraint bool
			enabled    string
			def        model.Definition
		)
		if err := rows.Scan(&oid, &constraint, &def.Schema, &def.Table, &def.Name, &def.Create, &enabled, &def.Comment); err != nil {
			return err
		}
		def.Kind = model.KindConstraintTrigger
		if !constraint {
			def.Kind, def.Fixed = model.KindTrigger, []string{"trigger"}
		}
		firing(&def, enabled, "ALTER TABLE "+d.relation(&def)+" ", " TRIGGER "+ident(def.Name))
		d.byID[catalogID{"pg_trigger", oid}] = &def
		return nil
	}, triggersQuery)
}

var rulesQuery = `SELECT r.oid, n.nspname::text, c.relname::text, r.rulename::text, pg_get_ruledef(r.oid), r.ev_enabled::text, COALESCE(d.description, '')
FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_description d ON d.classoid = 'pg_rewrite'::regclass AND d.objoid = r.oid AND d.objsubid = 0
WHERE r.rulename <> '_RETURN' AND ` + notOwned("pg_rewrite", "r.oid") + ` AND ` + ownRelation

func (d *definitions) readRules(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			oid     uint32
			enabled string
			def     = model.Definition{Object: model.Object{Kind: model.KindRule}, Fixed: []string{"rule"}}
		)
		if err := rows.Scan(&oid, &def.Schema, &def.Table, &def.Name, &def.Create, &enabled, &def.Comment); err != nil {
			return err
		}
		def.Create = created(def.Create)
		firing(&def, enabled, "ALTER TABLE "+d.relation(&def)+" ", " RULE "+ident(def.Name))
		d.byID[catalogID{"pg_rewrite", oid}] = &def
		return nil
	}, rulesQuery)
}

var policiesQuery = `SELECT p.oid, n.nspname::text, c.relname::text, p.polname::text, p.polpermissive, p.polcmd::text, COALESCE(pg_get_expr(p.polqual, p.polrelid), ''),
 COALESCE(pg_get_expr(p.polwithcheck, p.polrelid), ''), ARRAY(SELECT CASE WHEN u = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(u)) END FROM unnest(p.polroles) u),
 COALESCE(d.description, '')
FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_description d ON d.classoid = 'pg_policy'::regclass AND d.objoid = p.oid AND d.objsubid = 0
WHERE ` + notOwned("pg_policy", "p.oid") + ` AND ` + ownRelation

func (d *definitions) readPolicies(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			oid                   uint32
			permissive            bool
			command, using, check string
			roles                 []string
			def                   = model.Definition{Object: model.Object{Kind: model.KindPolicy}}
		)
		if err := rows.Scan(&oid, &def.Schema, &def.Table, &def.Name, &permissive, &command, &using, &check, &roles, &def.Comment); err != nil {
			return err
		}
		kind := "PERMISSIVE"
		if !permissive {
			kind = "RESTRICTIVE"
		}
		command = map[string]string{"r": "SELECT", "a": "INSERT", "w": "UPDATE", "d": "DELETE", "*": "ALL"}[command]
		slices.Sort(roles)
		on, rest := ident(def.Name)+" ON "+d.relation(&def), "\n  TO "+strings.Join(roles, ", ")
		def.Fixed = []string{kind, command}
		if using != "" {
			def.Fixed = append(def.Fixed, "USING")
			rest += "\n  USING (" + using + ")"
		}
		if check != "" {
			def.Fixed = append(def.Fixed, "WITH CHECK")
			rest += "\n  WITH CHECK (" + check + ")"
		}
		def.Create = "CREATE POLICY " + on + " AS " + kind + " FOR " + command + rest
		def.Alter = "ALTER POLICY " + on + rest
		d.byID[catalogID{"pg_policy", oid}] = &def
		return nil
	}, policiesQuery)
}

var rowSecurityQuery = `SELECT c.oid, n.nspname::text, c.relname::text, c.relrowsecurity, c.relforcerowsecurity FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE (c.relrowsecurity OR c.relforcerowsecurity) AND ` + ownRelation

// readRowSecurity makes a definition of each of the two switches of a table.
func (d *definitions) readRowSecurity(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			oid             uint32
			table           model.Name
			enabled, forced bool
		)
		if err := rows.Scan(&oid, &table.Schema, &table.Name, &enabled, &forced); err != nil {
			return err
		}
		add := func(kind, action string) {
			d.byID[catalogID{kind, oid}] = &model.Definition{
				Object:    model.Object{Kind: kind, Schema: table.Schema, Table: table.Name, Name: table.Name},
				Create:    "ALTER TABLE " + qualified(table) + " " + action + " ROW LEVEL SECURITY",
				DependsOn: []model.Dependency{{Object: model.Object{Kind: model.KindTable, Schema: table.Schema, Name: table.Name}}},
			}
		}
		if enabled {
			add(model.KindRowSecurity, "ENABLE")
		}
		if forced {
			add(model.KindForcedRowSecurity, "FORCE")
		}
		return nil
	}, rowSecurityQuery)
}

// statisticsQuery: the table is a part of the name only where both live in one schema.
var statisticsQuery = `SELECT s.oid, n.nspname::text, CASE WHEN c.relnamespace = s.stxnamespace THEN c.relname::text ELSE '' END, s.stxname::text, pg_get_statisticsobjdef(s.oid),
 'CREATE STATISTICS ' || quote_ident(n.nspname) || '.' || quote_ident(s.stxname),
 ARRAY(SELECT quote_ident(a.attname) FROM pg_attribute a WHERE a.attrelid = s.stxrelid AND a.attnum = ANY(s.stxkeys) ORDER BY a.attnum),
 COALESCE(s.stxstattarget, -1)::int, COALESCE(d.description, '')
FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace JOIN pg_class c ON c.oid = s.stxrelid
LEFT JOIN pg_description d ON d.classoid = 'pg_statistic_ext'::regclass AND d.objoid = s.oid AND d.objsubid = 0
WHERE ` + userSchema + ` AND ` + notOwned("pg_statistic_ext", "s.oid")

// columnsByName writes the columns of a statistics object in the order of their names: the server prints them in the order of the table, which says
// nothing. Expressions stand behind them.
func columnsByName(create, head string, columns []string) string {
	rest, ok := strings.CutPrefix(create, head)
	if !ok {
		return create
	}
	const on = " ON "
	printed := on + strings.Join(columns, ", ")
	slices.Sort(columns)
	return head + strings.Replace(rest, printed, on+strings.Join(columns, ", "), 1)
}

func (d *definitions) readStatistics(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			oid     uint32
			target  int
			head    string
			columns []string
			def     = model.Definition{Object: model.Object{Kind: model.KindStatistics}}
		)
		if err := rows.Scan(&oid, &def.Schema, &def.Table, &def.Name, &def.Create, &head, &columns, &target, &def.Comment); err != nil {
			return err
		}
		def.Create = columnsByName(def.Create, head, columns)
		if target >= 0 {
			alter := "ALTER STATISTICS " + qualified(model.Name{Schema: def.Schema, Name: def.Name}) + " SET STATISTICS "
			property(&def, "target", alter+strconv.Itoa(target), alter+"-1")
		}
		d.byID[catalogID{"pg_statistic_ext", oid}] = &def
		return nil
	}, statisticsQuery)
}

var eventTriggersQuery = `SELECT e.oid, e.evtname::text, e.evtevent::text, COALESCE(ARRAY(SELECT t FROM unnest(e.evttags) t ORDER BY t COLLATE "C"), '{}'),
 ` + routineName("e.evtfoid") + `, e.evtenabled::text, COALESCE(d.description, '')
FROM pg_event_trigger e LEFT JOIN pg_description d ON d.classoid = 'pg_event_trigger'::regclass AND d.objoid = e.oid AND d.objsubid = 0
WHERE ` + notOwned("pg_event_trigger", "e.oid")

func (d *definitions) readEventTriggers(ctx context.Context) error {
	return d.each(ctx, func(rows pgx.Rows) error {
		var (
			oid                      uint32
			event, function, enabled string
			tags                     []string
			def                      = model.Definition{Object: model.Object{Kind: model.KindEventTrigger}}
		)
		if err := rows.Scan(&oid, &def.Name, &event, &tags, &function, &enabled, &def.Comment); err != nil {
			return err
		}
		def.Create = "CREATE EVENT TRIGGER " + ident(def.Name) + " ON " + event
		for i, tag := range tags {
			tags[i] = literal(tag)
		}
		if len(tags) > 0 {
			def.Create += " WHEN TAG IN (" + strings.Join(tags, ", ") + ")"
		}
		def.Create += " EXECUTE FUNCTION " + function + "()"
		firing(&def, enabled, "ALTER EVENT TRIGGER "+ident(def.Name)+" ", "")
		d.byID[catalogID{"pg_event_trigger", oid}] = &def
		return nil
	}, eventTriggersQuery)
}

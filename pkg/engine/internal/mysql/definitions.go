package mysql

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// Kinds of definitions.
const (
	kindView      = "view"
	kindFunction  = "function"
	kindProcedure = "procedure"
	kindTrigger   = "trigger"
	kindEvent     = "event"
)

// propertyOrder is the position of a trigger among those of the same table, time and event, where there are several.
const propertyOrder = "order"

// recorded are the settings that the server keeps with a definition, and what ours are. A definition with others carries a property that sets them
// for its creation.
func (r *reader) properties(mode, client, collation, zone string) []model.Property {
	var out []model.Property
	add := func(name, value, ours string) {
		if value != ours && value != "" {
			out = append(out, model.Property{Name: name, Set: "SET SESSION " + name + " = " + literal(value), Unset: "SET SESSION " + name + " = " + literal(ours)})
		}
	}
	add("character_set_client", client, "utf8mb4")
	add("collation_connection", collation, r.server.collation)
	if sameMode(mode, r.server.sqlMode) {
		mode = r.server.sqlMode
	}
	add("sql_mode", mode, r.server.sqlMode)
	add("time_zone", zone, "+00:00")
	return out
}

// sameMode compares modes whatever their order.
func sameMode(a, b string) bool {
	x, y := strings.Split(a, ","), strings.Split(b, ",")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// withoutDefiner takes the definer out of a statement where it is the account that we are.
func withoutDefiner(create, account string) string {
	at := strings.LastIndexByte(account, '@')
	if at < 0 {
		return create
	}
	own := "DEFINER=" + ident(account[:at]) + "@" + ident(account[at+1:]) + " "
	before, after, found := strings.Cut(create, own)
	if !found || strings.ContainsAny(before, "`'\"(") {
		return create
	}
	return before + after
}

func (r *reader) define(d model.Definition) {
	d.Create = withoutDefiner(d.Create, r.account)
	r.db.Definitions = append(r.db.Definitions, d)
}

// body is the text of a definition; where the server keeps it from us, the error says what the account lacks.
func (r *reader) body(kind, name string, text sql.NullString) (string, error) {
	if !text.Valid || text.String == "" {
		return "", fault.New(frame.CodeDatabasePermission, "the account may not read the definition of %s %q: it needs %s, or to be its definer", kind, name, r.server.bodyPrivilege)
	}
	return text.String, nil
}

func (r *reader) readViews(ctx context.Context) error {
	for _, rel := range r.relations {
		if rel.kind != "VIEW" {
			continue
		}
		row, err := r.show(ctx, "VIEW", rel.name)
		if err != nil {
			return err
		}
		create, err := r.body(kindView, rel.name, row["Create View"])
		if err != nil {
			return err
		}
		local, ok := withoutDatabase(create, r.database)
		if !ok {
			r.unmodelled(kindView, "", rel.name)
			continue
		}
		r.define(model.Definition{
			Object: model.Object{Kind: kindView, Name: rel.name}, Create: local,
			Properties: r.properties("", row["character_set_client"].String, row["collation_connection"].String, ""),
			DependsOn:  r.mentioned(local, rel.name),
		})
	}
	return nil
}

// mentioned are the relations that a view's text names. It may name too many, never too few.
func (r *reader) mentioned(text, self string) []model.Dependency {
	var out []model.Dependency
	found := mentions(text)
	for _, rel := range r.relations {
		if rel.name == self || !found[rel.name] {
			continue
		}
		kind := model.KindTable
		if rel.kind == "VIEW" {
			kind = kindView
		}
		out = append(out, model.Dependency{Object: model.Object{Kind: kind, Name: rel.name}})
	}
	return out
}

func (r *reader) readRoutines(ctx context.Context) error {
	type routine struct{ name, kind string }
	var all []routine
	const query = `SELECT ROUTINE_NAME, ROUTINE_TYPE FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() ORDER BY BINARY ROUTINE_NAME, ROUTINE_TYPE`
	if err := r.rows(ctx, doing, query, func(row []string) { all = append(all, routine{row[0], row[1]}) }); err != nil {
		return err
	}
	for _, f := range all {
		if f.kind != "FUNCTION" && f.kind != "PROCEDURE" {
			r.unmodelled(strings.ToLower(f.kind), "", f.name)
			continue
		}
		row, err := r.show(ctx, f.kind, f.name)
		if err != nil {
			return err
		}
		kind := strings.ToLower(f.kind)
		create, err := r.body(kind, f.name, row[map[string]string{"FUNCTION": "Create Function", "PROCEDURE": "Create Procedure"}[f.kind]])
		if err != nil {
			return err
		}
		r.define(model.Definition{
			Object: model.Object{Kind: kind, Name: f.name}, Create: create,
			Properties: r.properties(row["sql_mode"].String, row["character_set_client"].String, row["collation_connection"].String, ""),
		})
	}
	return nil
}

// readTriggers puts the statement together from its parts, so that two ways of writing the same head are equal.
func (r *reader) readTriggers(ctx context.Context) error {
	const query = `SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE, ACTION_TIMING, EVENT_MANIPULATION, ACTION_ORDER, ACTION_STATEMENT, DEFINER, SQL_MODE, CHARACTER_SET_CLIENT, COLLATION_CONNECTION
 FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY BINARY TRIGGER_NAME`
	type group struct{ table, timing, event string }
	members := map[group][]int{}
	positions := map[int]int{}
	err := r.rows(ctx, doing, query, func(row []string) {
		definer := "DEFINER=" + account(row[6]) + " "
		create := "CREATE " + definer + "TRIGGER " + ident(row[0]) + " " + row[2] + " " + row[3] + " ON " + ident(row[1]) + " FOR EACH ROW " + row[5]
		g := group{row[1], row[2], row[3]}
		members[g] = append(members[g], len(r.db.Definitions))
		positions[len(r.db.Definitions)], _ = strconv.Atoi(row[4])
		r.define(model.Definition{
			Object: model.Object{Kind: kindTrigger, Table: row[1], Name: row[0]}, Create: create,
			Properties: r.properties(row[7], row[8], row[9], ""),
			DependsOn:  []model.Dependency{{Object: model.Object{Kind: model.KindTable, Name: row[1]}}},
		})
	})
	for _, same := range members {
		if len(same) < 2 {
			continue
		}
		// Positions may have gaps where a trigger was dropped.
		slices.SortFunc(same, func(a, b int) int { return positions[a] - positions[b] })
		for position, i := range same {
			d := &r.db.Definitions[i]
			d.Properties = append(d.Properties, model.Property{Name: propertyOrder, Set: strconv.Itoa(position + 1)})
		}
	}
	return err
}

// account quotes user@host as SHOW CREATE does.
func account(definer string) string {
	at := strings.LastIndexByte(definer, '@')
	if at < 0 {
		return ident(definer)
	}
	return ident(definer[:at]) + "@" + ident(definer[at+1:])
}

func (r *reader) readEvents(ctx context.Context) error {
	var all []string
	const query = `SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() ORDER BY BINARY EVENT_NAME`
	if err := r.rows(ctx, doing, query, func(row []string) { all = append(all, row[0]) }); err != nil {
		return err
	}
	for _, name := range all {
		row, err := r.show(ctx, "EVENT", name)
		if err != nil {
			return err
		}
		create, err := r.body(kindEvent, name, row["Create Event"])
		if err != nil {
			return err
		}
		r.define(model.Definition{
			Object: model.Object{Kind: kindEvent, Name: name}, Create: create,
			Properties: r.properties(row["sql_mode"].String, row["character_set_client"].String, row["collation_connection"].String, row["time_zone"].String),
		})
	}
	return nil
}

// parseSequence reads the statement that SHOW CREATE SEQUENCE prints.
func parseSequence(name, create string) (model.Sequence, bool) {
	s := model.Sequence{Name: model.Name{Name: name}, Type: "bigint"}
	toks := tokens(create)
	if len(toks) < 3 || !toks[2].quoted() {
		return s, false
	}
	known := true
	for toks = toks[3:]; len(toks) > 0 && known; {
		n := 2
		switch {
		case toks[0].is("nocycle", "cycle"):
			s.Cycle, n = toks[0].is("cycle"), 1
		case toks[0].is("nocache"):
			s.Cache, n = 0, 1
		case toks[0].is("as") && len(toks) > 1:
			s.Type, n = sequenceType(toks[1:])
		case phrase(toks, "start", "with"):
			s.Start, n, known = signed(toks, 2)
		case phrase(toks, "increment", "by"):
			s.Increment, n, known = signed(toks, 2)
		case toks[0].is("minvalue"):
			s.Min, n, known = signed(toks, 1)
		case toks[0].is("maxvalue"):
			s.Max, n, known = signed(toks, 1)
		case toks[0].is("cache"):
			s.Cache, n, known = signed(toks, 1)
		case phrase(toks, "ENGINE", "=") && len(toks) > 2:
			known, n = toks[2].is("InnoDB"), 3
		default:
			known = false
		}
		toks = toks[min(n, len(toks)):]
	}
	return s, known && s.Type != ""
}

func sequenceType(toks []token) (string, int) {
	if len(toks) > 1 && toks[1].is("unsigned") {
		return "", 3 // not modelled
	}
	return map[string]string{"tinyint": "tinyint", "smallint": "smallint", "mediumint": "mediumint", "int": "integer", "bigint": "bigint"}[toks[0].text], 2
}

// signed reads a number at position i and returns where the next clause begins.
func signed(toks []token, i int) (int64, int, bool) {
	text := ""
	if i < len(toks) && toks[i].is("-") {
		text = "-"
		i++
	}
	if i >= len(toks) {
		return 0, i, false
	}
	n, err := strconv.ParseInt(text+toks[i].text, 10, 64)
	return n, i + 1, err == nil
}

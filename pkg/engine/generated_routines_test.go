package engine_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// routine is a function that others can call; result is its type, of its column c1 where it gives rows.
type routine struct{ name, result string }

func (d *drawer) function(name string) *routine {
	for i := range d.routines {
		if d.routines[i].name == name {
			return &d.routines[i]
		}
	}
	return nil
}

func (d *drawer) hasRoutine(name string) bool { return d.function(name) != nil }

// anyType is a type for arguments and results: built in, or the schema's own.
func (d *drawer) anyType() string {
	own := slices.Clone(d.typeNames)
	for i := range d.db.Enums {
		own = append(own, quoteName(d.db.Enums[i].Name))
	}
	if len(own) > 0 && d.yes() {
		return own[d.pick(len(own))]
	}
	return d.of("integer", "text", "bigint", "numeric(10,2)", "integer[]", "timestamp with time zone")
}

// drawRoutines draws routines that stand on no relation.
func (d *drawer) drawRoutines() {
	add := func(name, result string) { d.routines = append(d.routines, routine{name, result}) }
	if d.yes() {
		result := []string{"integer", "bigint"}[d.pick(2)]
		body := d.of("LANGUAGE sql IMMUTABLE RETURN (x + 1)", "LANGUAGE sql IMMUTABLE AS 'SELECT x + 1'", "LANGUAGE plpgsql IMMUTABLE AS 'begin return x + 1; end'", "LANGUAGE sql IMMUTABLE AS 'SELECT x + 2'")
		d.add("CREATE FUNCTION public.f(x integer%s) RETURNS %s%s %s", d.of("", "", " DEFAULT 1", " DEFAULT 2"), result, d.of("", "", " STRICT", " PARALLEL SAFE COST 7"), strings.ReplaceAll(body, "x + ", "x::"+result+" + "))
		d.commentOn("FUNCTION public.f(integer)")
		add("f", result)
	}
	if d.yes() {
		d.add("CREATE FUNCTION public.tf() RETURNS trigger LANGUAGE plpgsql%s AS $$begin return %s; end$$", d.of("", " SECURITY DEFINER", " SET search_path = ''"), d.of("new", "old"))
		d.commentOn("FUNCTION public.tf()")
		add("tf", "trigger")
	}
	if d.yes() {
		result := []string{"integer", "bigint"}[d.pick(2)]
		head := d.of("RETURNS TABLE(c1 "+result+", z text)", "RETURNS SETOF record")
		arguments := "n integer DEFAULT 3"
		if strings.HasSuffix(head, "record") {
			arguments += ", OUT c1 " + result + ", OUT z text"
		}
		d.add(`CREATE FUNCTION public."set of"(%s) %s LANGUAGE sql%s AS 'SELECT 1::%s, ''%s''::text'`, arguments, head, d.of("", " ROWS 5"), result, d.of("a", "b"))
		add("set of", result)
	}
	for i := range 3 {
		d.within("any "+strconv.Itoa(i), func() { d.anyRoutine(i) })
	}
	if d.rarely() {
		d.add("CREATE FUNCTION public.tr(integer, integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 + %s'", d.of("$2", "1"))
		d.add("CREATE AGGREGATE %s(integer) (SFUNC = %s, STYPE = integer, INITCOND = '%s')", `public."Ag g"`, d.of("public.tr", "pg_catalog.int4pl"), d.of("0", "7"))
		d.commentOn(`AGGREGATE public."Ag g"(integer)`)
	}
}

// anyRoutine draws a function or a procedure of any types: overloads of two names.
func (d *drawer) anyRoutine(i int) {
	if !d.yes() {
		return
	}
	first, second, result := d.anyType(), d.anyType(), d.anyType()
	number := []string{"integer", "smallint", "text"}[i] // tells the overloads apart
	arguments := fmt.Sprintf(`k %s, "An arg" %s, %s %s%s`, number, first, d.of("b", "b", "c"), second, d.of("", "", " DEFAULT NULL"))
	identity := fmt.Sprintf("%s, %s, %s", number, first, second)
	name := quoteName(model.Name{Schema: d.schema(), Name: d.of("any", "Any one")})
	if d.rarely() {
		d.add("CREATE PROCEDURE %s(%s) LANGUAGE %s", name, arguments, d.of("plpgsql AS 'begin end'", "plpgsql AS 'begin null; end'", "sql AS 'SELECT 1'", "sql BEGIN ATOMIC SELECT 1; END"))
		d.commentOn("PROCEDURE %s(%s)", name, identity)
		return
	}
	body := d.of("plpgsql AS 'begin return null; end'", "sql AS 'SELECT null::"+result+"'", "plpgsql STABLE AS 'begin /* x */ return null; end'", "sql RETURN NULL::"+result, "sql BEGIN ATOMIC SELECT NULL::"+result+"; END")
	d.add("CREATE FUNCTION %s(%s) RETURNS %s LANGUAGE %s", name, arguments, result, body)
	d.commentOn("FUNCTION %s(%s)", name, identity)
}

// lateRoutines draws functions that stand on relations, and what calls them.
func (d *drawer) lateRoutines() {
	if len(d.relations) == 0 {
		return
	}
	r := &d.relations[d.pick(len(d.relations))]
	if d.rarely() {
		column := ""
		if names := r.integers(); len(names) > 0 {
			column = quoteIdent(names[0])
		}
		body := "AS 'SELECT 1'"
		if column != "" && d.yes() {
			body = "RETURN (r)." + column
		}
		d.add("CREATE FUNCTION public.of_row(r %s) RETURNS bigint LANGUAGE sql IMMUTABLE %s", r, body)
		d.commentOn("FUNCTION public.of_row(%s)", r)
	}
	if d.rarely() {
		d.add("CREATE FUNCTION public.rows() RETURNS SETOF %s LANGUAGE sql %s", r, d.of("BEGIN ATOMIC SELECT * FROM "+r.String()+" r; END", "AS $$SELECT * FROM "+r.String()+"$$"))
		if d.yes() {
			d.add("CREATE VIEW public.of_rows AS SELECT 1 AS one FROM public.rows() r")
		}
	}
	if d.rarely() {
		d.add("CREATE FUNCTION public.counted() RETURNS bigint LANGUAGE sql STABLE %s", d.of("BEGIN ATOMIC SELECT count(*) AS n FROM "+r.String()+" r; END", "RETURN (SELECT max(1) FROM "+r.String()+" r)"))
		d.add("CREATE VIEW public.of_count AS SELECT public.counted() AS n")
		for i := range d.db.Tables {
			if t := &d.db.Tables[i]; d.rarely() {
				d.callAsDefault(t, "public.counted()")
				return
			}
		}
	}
}

// callAsDefault gives a column that has no other one a default which calls a function.
func (d *drawer) callAsDefault(t *model.Table, call string) {
	for j := range t.Columns {
		if c := &t.Columns[j]; c.Type == "bigint" && c.Default == "" && c.Identity == nil && c.Generated == nil && !c.Inherited {
			d.add("ALTER TABLE ONLY %s ALTER COLUMN %s SET DEFAULT %s", quoteName(t.Name), quoteIdent(c.Name), call)
			return
		}
	}
}

func (d *drawer) eventTriggers() {
	if d.pick(8) != 7 {
		return
	}
	d.add("CREATE FUNCTION public.on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'begin end'")
	d.add("CREATE EVENT TRIGGER %s ON ddl_command_end%s EXECUTE FUNCTION public.on_ddl()", quoteIdent("E t"), d.of("", " WHEN TAG IN ('CREATE TABLE', 'DROP TABLE')"))
	if d.rarely() {
		d.add("ALTER EVENT TRIGGER %s %s", quoteIdent("E t"), d.of("DISABLE", "ENABLE ALWAYS", "ENABLE REPLICA"))
	}
	d.commentOn("EVENT TRIGGER %s", quoteIdent("E t"))
}

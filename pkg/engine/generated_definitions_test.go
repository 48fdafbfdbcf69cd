package engine_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// relation is something with columns that views, triggers and the like can stand on.
type relation struct {
	name    model.Name
	kind    string // as COMMENT ON names it
	columns []model.Column
	key     string // a column that is the primary key by itself
	parted  bool   // a partitioned table or a partition
}

func (r *relation) String() string { return quoteName(r.name) }

// integers are the columns that expressions can use.
func (r *relation) integers() []string { return integers(&model.Table{Columns: r.columns}) }

func quoteIdent(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteName(n model.Name) string { return quoteIdent(n.Schema) + "." + quoteIdent(n.Name) }

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// add draws one more statement.
func (d *drawer) add(format string, args ...any) { d.sql = append(d.sql, fmt.Sprintf(format, args...)) }

func (d *drawer) commentOn(format string, args ...any) {
	if c := d.comment(); c != "" {
		d.add("COMMENT ON %s IS %s", fmt.Sprintf(format, args...), quoteText(c))
	}
}

func (d *drawer) of(choices ...string) string { return choices[d.pick(len(choices))] }

// sometimes is the text in half of the cases.
func (d *drawer) sometimes(text string) string {
	if d.yes() {
		return text
	}
	return ""
}

// statements draws what comes after the tables: first what tables can use, then what stands on them.
func (d *drawer) statements() {
	d.sql, d.relations, d.routines = nil, nil, nil
	for i := range d.db.Tables {
		t := &d.db.Tables[i]
		r := relation{name: t.Name, kind: "TABLE", columns: t.Columns, parted: t.Partition != nil || t.PartitionBy != ""}
		for _, c := range t.Constraints {
			if c.Kind == model.PrimaryKey && len(c.Columns) == 1 {
				r.key = c.Columns[0]
			}
		}
		d.relations = append(d.relations, r)
	}
	d.within("extensions", d.extensions)
	d.within("routines", d.drawRoutines)
	for i := range d.db.Tables {
		d.within("parts "+d.db.Tables[i].Name.Name, func() { d.tableParts(&d.db.Tables[i]) })
	}
	d.within("children", d.inheritance)
	tables := slices.Clone(d.relations)
	for i := range 5 {
		d.within("view "+strconv.Itoa(i), func() {
			if d.yes() && len(d.relations) > 0 {
				d.view(i)
			}
		})
	}
	d.within("late routines", d.lateRoutines)
	for i := range tables {
		d.within("on "+tables[i].name.Name, func() { d.onTable(&tables[i], tables) })
	}
	d.within("events", d.eventTriggers)
}

func (d *drawer) extensions() {
	if !d.contrib {
		return
	}
	for _, name := range []string{"btree_gist", "citext"} {
		if d.pick(8) == 7 {
			d.add("CREATE EXTENSION %s SCHEMA public", name)
			if name == "citext" {
				d.typeNames = append(d.typeNames, "public.citext")
			}
			if d.rarely() {
				d.add("COMMENT ON EXTENSION %s IS 'ours'", name)
			}
		}
	}
}

// view draws a view or a materialized view over what is there already.
func (d *drawer) view(i int) {
	name := model.Name{Schema: d.schema(), Name: []string{"v 0", `v"1`, "v2", "View", "v4"}[i]}
	query, columns := d.query()
	r := relation{name: name, kind: "VIEW", columns: columns}
	if d.rarely() {
		r.kind = "MATERIALIZED VIEW"
		d.add("CREATE MATERIALIZED VIEW %s%s AS %s", &r, d.sometimes(" WITH (fillfactor = 80)"), query)
		rows := strings.Contains(query, " UNION ") || slices.ContainsFunc(d.relations, func(o relation) bool { return o.kind != "TABLE" && strings.Contains(query, o.String()) })
		d.viewIndexes(&r, rows)
	} else {
		options := d.of("", "", " WITH (security_barrier = true)", " WITH (security_barrier = false)")
		if d.major >= 15 && options == "" && d.rarely() {
			options = " WITH (security_invoker = true)"
		}
		d.add("CREATE VIEW %s%s AS %s", &r, options, query)
		if names := r.integers(); len(names) > 0 && d.rarely() {
			d.add("ALTER VIEW %s ALTER COLUMN %s SET DEFAULT %d", &r, quoteIdent(names[0]), d.pick(2))
		}
	}
	d.commentOn("%s %s", r.kind, &r)
	if len(columns) > 0 && d.rarely() {
		d.commentOn("COLUMN %s.%s", &r, quoteIdent(columns[0].Name))
	}
	if d.rarely() && r.kind == "VIEW" {
		d.rule(&r, &r, "DO INSTEAD")
	}
	if d.rarely() && r.kind == "VIEW" && d.hasRoutine("tf") {
		d.add("CREATE TRIGGER %s INSTEAD OF %s ON %s FOR EACH ROW EXECUTE FUNCTION public.tf()", quoteIdent("on view"), d.of("INSERT", "UPDATE OR DELETE"), &r)
		d.commentOn("TRIGGER %s ON %s", quoteIdent("on view"), &r)
	}
	d.relations = append(d.relations, r)
}

// viewIndexes draws indexes of a materialized view, and none that is unique where it may hold rows.
func (d *drawer) viewIndexes(r *relation, rows bool) {
	for i, c := range r.columns {
		if i > 2 || !d.yes() {
			continue
		}
		key, name := quoteIdent(c.Name), model.Name{Schema: r.name.Schema, Name: "x " + strconv.Itoa(i) + " " + r.name.Name}
		if isInteger(c.Type) && d.yes() {
			key = "(" + key + " + 1)"
		}
		unique := d.sometimes("UNIQUE ")
		if rows {
			unique = ""
		}
		d.add("CREATE %sINDEX %s ON %s (%s%s)", unique, quoteIdent(name.Name), r, key, d.of("", " DESC"))
		d.commentOn("INDEX %s", quoteName(name))
	}
}

// query draws a SELECT over one or two relations, and says which columns it has.
func (d *drawer) query() (string, []model.Column) {
	r := &d.relations[d.pick(len(d.relations))]
	where := ""
	if names := r.integers(); len(names) > 0 && d.yes() {
		where = fmt.Sprintf(" WHERE r.%s > %d", quoteIdent(names[0]), d.pick(2))
	}
	integer := model.Column{Name: "c1", Type: "integer"}
	bigint := model.Column{Name: "c2", Type: "bigint"}
	switch d.pick(8) {
	case 1:
		o := &d.relations[d.pick(len(d.relations))]
		left, columns := d.selection(r, "r", "")
		prefix := "o "
		for slices.ContainsFunc(columns, func(c model.Column) bool { return strings.HasPrefix(c.Name, prefix) }) {
			prefix = "o" + prefix // a view over another join
		}
		right, more := d.selection(o, "o", prefix)
		if left != "" && right != "" {
			left += ", "
		}
		join := d.of(" JOIN "+o.String()+" o ON true", " LEFT JOIN "+o.String()+" o ON true", ", LATERAL (SELECT * FROM "+o.String()+" i LIMIT 1) o")
		return "SELECT " + left + right + " FROM " + r.String() + " r" + join + where, append(columns, more...)
	case 2:
		return "SELECT count(*) AS c2, " + d.of("1", "2") + " AS c1 FROM " + r.String() + " r" + where, []model.Column{bigint, integer}
	case 3:
		return "WITH w AS (SELECT 1 AS c1 UNION ALL SELECT " + d.of("count(*)::integer", "max(2)") + " FROM " + r.String() + " r" + where + ") SELECT w.c1 FROM w", []model.Column{integer}
	case 4:
		if f := d.function("f"); f != nil {
			return "SELECT public.f(1) AS c1, 'x'::text AS t FROM " + r.String() + " r" + where, []model.Column{{Name: "c1", Type: f.result}, {Name: "t", Type: "text"}}
		}
	case 5:
		if d.rarely() {
			return "SELECT r AS whole FROM " + r.String() + " r" + where, nil
		}
		if f := d.function("set of"); f != nil {
			return `SELECT s.c1 FROM public."set of"(1) s`, []model.Column{{Name: "c1", Type: f.result}}
		}
	case 6:
		if r.key != "" {
			left, columns := d.selection(r, "r", "")
			if left != "" {
				return "SELECT " + left + " FROM " + r.String() + " r" + where + " GROUP BY r." + quoteIdent(r.key), columns
			}
		}
	}
	left, columns := d.selection(r, "r", "")
	return "SELECT " + left + " FROM " + r.String() + " r" + where, columns
}

// selection draws some columns of a relation.
func (d *drawer) selection(r *relation, alias, prefix string) (string, []model.Column) {
	var texts []string
	var columns []model.Column
	for _, c := range r.columns {
		if !d.yes() {
			continue
		}
		text := alias + "." + quoteIdent(c.Name)
		c.Name = prefix + c.Name
		if len(c.Name) > 63 || slices.ContainsFunc(columns, func(o model.Column) bool { return o.Name == c.Name }) {
			continue
		}
		texts = append(texts, text+" AS "+quoteIdent(c.Name))
		c.NotNull, c.Identity, c.Generated = false, nil, nil
		columns = append(columns, c)
	}
	return strings.Join(texts, ", "), columns
}

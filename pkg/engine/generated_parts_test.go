package engine_test

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// tableParts draws what a table has beside what the model was drawn with.
func (d *drawer) tableParts(t *model.Table) {
	table := quoteName(t.Name)
	family := t.Partition != nil || t.PartitionBy != ""
	for _, c := range integers(t) {
		d.within(c, func() { d.calling(t, table, c) })
	}
	if t.Partition != nil {
		return
	}
	d.within("columns", func() { d.columnParts(t, table) })
	d.within("rules of columns", func() { d.newRules(t, table) })
	if family {
		return
	}
	d.within("exclusion", func() { d.exclusion(t, table) })
	d.within("replica", func() { d.marks(t, table) })
	if d.rarely() && !d.joined(t) {
		d.add("ALTER TABLE %s SET UNLOGGED", table)
	}
}

// joined reports whether a foreign key leads from or to a table.
func (d *drawer) joined(t *model.Table) bool {
	for i := range d.db.Tables {
		o := &d.db.Tables[i]
		for _, c := range o.Constraints {
			if c.Kind == model.ForeignKey && (o.Name == t.Name || c.Reference.Table == t.Name) {
				return true
			}
		}
	}
	return false
}

// calling draws parts that call the function f.
func (d *drawer) calling(t *model.Table, table, column string) {
	f := d.function("f")
	if f == nil {
		return
	}
	call := "public.f(" + column + "::integer)"
	if d.rarely() {
		d.add("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s > %d)", table, quoteIdent("calls "+column), call, d.pick(2))
	}
	if d.rarely() {
		d.add("ALTER TABLE %s ADD COLUMN %s %s GENERATED ALWAYS AS (%s) STORED", table, quoteIdent("made "+column), f.result, call)
	}
	if d.rarely() {
		d.add("CREATE INDEX %s ON %s (%s, %s)%s", quoteIdent("calls "+column+" "+t.Name.Name), table, call, column, d.of("", " WHERE "+call+" > 1"))
	}
	if c := t.Column(column); d.rarely() && c.Default == "" && c.Identity == nil {
		d.add("ALTER TABLE %s ALTER COLUMN %s SET DEFAULT public.f(%d)", table, quoteIdent(column), d.pick(2))
	}
}

// columnParts draws targets, options and compression.
func (d *drawer) columnParts(t *model.Table, table string) {
	for i := range t.Columns {
		c := &t.Columns[i]
		d.within(c.Name, func() {
			if d.rarely() {
				d.add("ALTER TABLE ONLY %s ALTER COLUMN %s SET STATISTICS %s", table, quoteIdent(c.Name), d.of("50", "0"))
			}
			if d.pick(8) == 7 {
				d.add("ALTER TABLE ONLY %s ALTER COLUMN %s SET (n_distinct = %s)", table, quoteIdent(c.Name), d.of("5", "-0.5"))
			}
			if c.Type == "text" && d.rarely() {
				d.add("ALTER TABLE ONLY %s ALTER COLUMN %s SET COMPRESSION pglz", table, quoteIdent(c.Name))
			}
		})
	}
}

// newRules draws what PostgreSQL has since 18.
func (d *drawer) newRules(t *model.Table, table string) {
	if d.major < 18 {
		return
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		d.within(c.Name, func() {
			if c.NotNull || c.Identity != nil || !d.rarely() {
				return
			}
			name := quoteIdent("not null " + c.Name)
			if d.yes() { // as a table made by LIKE has it, and as another table of the schema may be given it
				name = quoteIdent(tableNames[d.pick(len(tableNames)-1)] + "_" + c.Name + "_not_null")
			}
			d.add("ALTER TABLE %s ADD CONSTRAINT %s NOT NULL %s%s", table, name, quoteIdent(c.Name), d.of("", "", " NOT VALID"))
			d.commentOn("CONSTRAINT %s ON %s", name, table)
		})
	}
	for _, c := range integers(t) {
		d.within("18 "+c, func() {
			if d.rarely() {
				d.add("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s <> %d) NOT ENFORCED", table, quoteIdent("not enforced "+c), c, d.pick(2))
			}
			if d.rarely() {
				d.add("ALTER TABLE %s ADD COLUMN %s bigint GENERATED ALWAYS AS (%s * %d) VIRTUAL", table, quoteIdent("virtual "+c), c, d.pick(2)+2)
				d.commentOn("COLUMN %s.%s", table, quoteIdent("virtual "+c))
			}
		})
	}
}

// exclusion draws exclusion constraints.
func (d *drawer) exclusion(t *model.Table, table string) {
	for _, c := range t.Columns {
		if c.Type != "public.rng" || c.Generated != nil || !d.rarely() {
			continue
		}
		d.add("ALTER TABLE %s ADD CONSTRAINT %s EXCLUDE USING gist (%s WITH %s)%s", table, quoteIdent("no overlap "+t.Name.Name), quoteIdent(c.Name), d.of("&&", "="), d.of("", " DEFERRABLE INITIALLY DEFERRED"))
		break
	}
	if names := integers(t); len(names) > 0 && d.rarely() {
		c := names[d.pick(len(names))]
		d.add("ALTER TABLE %s ADD CONSTRAINT %s EXCLUDE USING btree (%s WITH =)%s", table, quoteIdent("one each "+t.Name.Name), c, d.of("", fmt.Sprintf(" WHERE (%s > %d)", c, d.pick(2))))
		d.commentOn("CONSTRAINT %s ON %s", quoteIdent("one each "+t.Name.Name), table)
	}
}

// marks draws what points to an index of a table.
func (d *drawer) marks(t *model.Table, table string) {
	var unique, all []string
	for _, x := range t.Indexes {
		all = append(all, x.Name)
	}
	for _, c := range t.Constraints {
		if (c.Kind == model.PrimaryKey || c.Kind == model.Unique) && !c.Deferrable && !slices.ContainsFunc(c.Columns, func(n string) bool { return !t.Column(n).NotNull }) {
			unique = append(unique, c.Name)
		}
	}
	switch {
	case d.rarely():
		d.add("ALTER TABLE %s REPLICA IDENTITY %s", table, d.of("FULL", "NOTHING"))
	case len(unique) > 0 && d.rarely():
		d.add("ALTER TABLE %s REPLICA IDENTITY USING INDEX %s", table, quoteIdent(unique[d.pick(len(unique))]))
	}
	if all = append(all, unique...); len(all) > 0 && d.rarely() {
		if name := all[d.pick(len(all))]; !slices.ContainsFunc(t.Indexes, func(x model.Index) bool { return x.Name == name && x.Predicate != "" }) {
			d.add("ALTER TABLE %s CLUSTER ON %s", table, quoteIdent(name))
		}
	}
}

// inheritance draws tables that inherit from one of those that are there.
func (d *drawer) inheritance() {
	for i := range 2 {
		d.within(strconv.Itoa(i), func() {
			if len(d.relations) == 0 || !d.rarely() {
				return
			}
			wanted := tableNames[d.Keep("parent", len(tableNames))]
			at := slices.IndexFunc(d.relations, func(r relation) bool { return r.name.Name == wanted })
			if at < 0 {
				return
			}
			parent := d.relations[at]
			kid := relation{name: model.Name{Schema: "public", Name: "kid of " + parent.name.Schema + strconv.Itoa(i)}, kind: "TABLE", columns: slices.Clone(parent.columns)}
			both := "" // columns that are its own as well
			for _, c := range parent.columns {
				if c.Generated == nil && c.Collation == "" && d.Keep("own "+c.Name, 4) == 3 {
					both += ", " + quoteIdent(c.Name) + " " + c.Type
				}
			}
			shared := d.sharedCheck(i, &parent)
			d.add("CREATE TABLE %s (own integer%s%s%s) INHERITS (%s)", &kid, d.of("", " DEFAULT 5", " CHECK (own > 0)"), both, shared, &parent)
			for j := range kid.columns {
				c := &kid.columns[j]
				if c.Generated == nil && c.Identity == nil && isInteger(c.Type) && d.rarely() {
					d.add("ALTER TABLE %s ALTER COLUMN %s SET DEFAULT %d", &kid, quoteIdent(c.Name), d.pick(3))
				}
				if d.major < 18 && !c.NotNull && c.Generated == nil && d.rarely() { // since 18 they are constraints: see newRules
					d.add("ALTER TABLE %s ALTER COLUMN %s SET NOT NULL", &kid, quoteIdent(c.Name))
				}
				c.Identity = nil
			}
			d.commentOn("COLUMN %s.own", &kid)
			if d.yes() {
				d.add("CREATE INDEX %s ON %s (own)", quoteIdent("kid index "+strconv.Itoa(i)), &kid)
			}
			d.relations = append(d.relations, kid)
		})
	}
}

// sharedCheck draws a check of a parent, and returns that of its child: the same, or none.
func (d *drawer) sharedCheck(i int, parent *relation) string {
	at := slices.IndexFunc(parent.columns, func(c model.Column) bool { return isInteger(c.Type) && c.Generated == nil })
	if at < 0 {
		return ""
	}
	check := fmt.Sprintf("CONSTRAINT %s CHECK (%s > %d)", quoteIdent("shared "+strconv.Itoa(i)), quoteIdent(parent.columns[at].Name), -1-d.Keep("shared", 2))
	switch d.Keep("sharing", 5) {
	case 2:
		d.add("ALTER TABLE %s ADD %s", parent, check)
	case 3:
		return ", " + check
	case 4:
		d.add("ALTER TABLE %s ADD %s%s", parent, check, d.of("", "", " NOT VALID"))
		return ", " + check
	}
	return ""
}

// onTable draws triggers, rules, policies and statistics.
func (d *drawer) onTable(r *relation, tables []relation) {
	if r.kind != "TABLE" {
		return
	}
	for i, name := range []string{"g 1", "G"} {
		if r.parted {
			name += " " + r.name.Name // a partition gets those of its parent, too
		}
		d.within("trigger "+strconv.Itoa(i), func() { d.trigger(r, quoteIdent(name)) })
	}
	if d.rarely() {
		other := tables[d.pick(len(tables))]
		d.rule(r, &other, d.of("DO ALSO", "DO INSTEAD"))
	}
	d.within("policies", func() { d.policies(r, tables) })
	d.within("statistics", func() { d.statistics(r) })
}

func (d *drawer) trigger(r *relation, name string) {
	if !d.hasRoutine("tf") || !d.rarely() {
		return
	}
	when, of := "", ""
	if names := r.integers(); len(names) > 0 {
		when = d.sometimes(fmt.Sprintf(" WHEN (new.%s > %d)", names[0], d.pick(2)))
		of = d.sometimes(" OF " + names[len(names)-1])
	}
	call := " EXECUTE FUNCTION public.tf(" + d.of("", "'it''s'", "'a', 'b'") + ")"
	kind := d.pick(4)
	switch {
	case kind == 0:
		d.add("CREATE TRIGGER %s BEFORE INSERT OR UPDATE%s ON %s FOR EACH ROW%s%s", name, of, r, when, call)
	case kind == 1 && !r.parted:
		d.add("CREATE CONSTRAINT TRIGGER %s AFTER INSERT ON %s %s FOR EACH ROW%s%s", name, r, d.of("", "DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"), when, call)
	case kind == 2 && !r.parted:
		d.add("CREATE TRIGGER %s AFTER UPDATE ON %s REFERENCING OLD TABLE AS o%s FOR EACH STATEMENT%s", name, r, d.sometimes(" NEW TABLE AS w"), call)
	default:
		d.add("CREATE TRIGGER %s AFTER DELETE ON %s FOR EACH %s%s", name, r, d.of("STATEMENT", "ROW"), call)
	}
	if d.rarely() {
		d.add("ALTER TABLE %s %s TRIGGER %s", r, d.of("DISABLE", "ENABLE ALWAYS", "ENABLE REPLICA"), name)
	}
	d.commentOn("TRIGGER %s ON %s", name, r)
}

func (d *drawer) rule(r, other *relation, how string) {
	name := quoteIdent("R " + d.of("1", "2"))
	event := d.of("INSERT", "UPDATE", "DELETE")
	where := ""
	if names := r.integers(); len(names) > 0 && event != "INSERT" && r.kind == "TABLE" {
		where = d.sometimes(fmt.Sprintf(" WHERE old.%s > %d", quoteIdent(names[0]), d.pick(2)))
	}
	action := d.of("NOTHING", "NOTIFY x", "SELECT 1")
	if other != r && d.yes() {
		action = "INSERT INTO " + other.String() + " DEFAULT VALUES"
	}
	if action == "NOTIFY x" && where != "" || action == "SELECT 1" && (where != "" || how == "DO ALSO") {
		action = "NOTHING"
	}
	d.add("CREATE RULE %s AS ON %s TO %s%s %s %s", name, event, r, where, how, action)
	if r.kind == "TABLE" && d.rarely() {
		d.add("ALTER TABLE %s %s RULE %s", r, d.of("DISABLE", "ENABLE ALWAYS"), name)
	}
	d.commentOn("RULE %s ON %s", name, r)
}

func (d *drawer) policies(r *relation, tables []relation) {
	if d.rarely() {
		d.add("ALTER TABLE %s ENABLE ROW LEVEL SECURITY", r)
	}
	if d.pick(8) == 7 {
		d.add("ALTER TABLE %s FORCE ROW LEVEL SECURITY", r)
	}
	for i := range 2 {
		if !d.rarely() {
			continue
		}
		name, condition := quoteIdent("p "+strconv.Itoa(i)), "true"
		if names := r.integers(); len(names) > 0 {
			condition = names[0] + " > " + d.of("0", "1")
			if d.hasRoutine("f") && d.rarely() {
				condition = "public.f(" + names[0] + "::integer) > 0"
			}
		}
		if d.rarely() {
			condition = "EXISTS (SELECT 1 FROM " + tables[d.pick(len(tables))].String() + " o)"
		}
		rest := d.of(" USING ("+condition+")", " FOR INSERT WITH CHECK ("+condition+")", " AS RESTRICTIVE FOR UPDATE USING ("+condition+") WITH CHECK (true)", " FOR SELECT TO pg_monitor USING ("+condition+")", " TO pg_monitor, current_user")
		d.add("CREATE POLICY %s ON %s%s", name, r, rest)
		d.commentOn("POLICY %s ON %s", name, r)
	}
}

// statistics draws extended statistics of columns whose types surely have an order.
func (d *drawer) statistics(r *relation) {
	var names []string
	for _, c := range r.columns {
		if slices.Contains([]string{"integer", "bigint", "text", "date", "uuid"}, c.Type) {
			names = append(names, quoteIdent(c.Name))
		}
	}
	if len(names) < 2 || !d.rarely() {
		return
	}
	name := quoteName(model.Name{Schema: r.name.Schema, Name: "st " + r.name.Name})
	if ints := r.integers(); len(ints) > 0 && d.rarely() {
		names[1] = "(" + ints[0] + " + " + d.of("1", "2") + ")"
	}
	d.add("CREATE STATISTICS %s%s ON %s, %s FROM %s", name, d.of("", " (ndistinct)", " (dependencies, mcv)"), names[0], names[1], r)
	if d.rarely() {
		d.add("ALTER STATISTICS %s SET STATISTICS 50", name)
	}
	d.commentOn("STATISTICS %s", name)
}

package engine_test

import (
	"slices"
	"strconv"

	"github.com/ptah-run/ptah/pkg/engine/internal/gentest"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// hostileNames are legal and unpleasant. Columns in expressions are called c1 to c3, so that their text needs no quoting rules.
var (
	tableNames  = []string{"t1", `we"ird`, "select", "Ünï çödé", "line\nbreak", "sixty-three bytes long, which is the most that a name can have."}
	columnNames = []string{"c1", "c2", "c3", "Case", "order", `q"q`, "it's", "$1;--"}
	schemaNames = []string{"public", "App two", `s"q`}
)

// valueType is a column type with a default as the server prints it.
type valueType struct{ name, def string }

var valueTypes = []valueType{
	{"integer", "0"},
	{"bigint", "5"},
	{"smallint", "1"},
	{"text", "'it''s'::text"},
	{"character varying(10)", "'x'::character varying"},
	{"character varying(30)", ""},
	{"numeric(10,2)", "1.5"},
	{"boolean", "true"},
	{"uuid", "gen_random_uuid()"},
	{"jsonb", "'{}'::jsonb"},
	{"timestamp with time zone", "now()"},
	{"date", "CURRENT_DATE"},
	{"integer[]", "'{}'::integer[]"},
	{"bytea", `'\x00'::bytea`},
	{"double precision", ""},
}

func isInteger(printed string) bool {
	return printed == "integer" || printed == "bigint" || printed == "smallint"
}

// drawer makes one schema: a model in the words of the server, and statements that come after it.
type drawer struct {
	*gentest.Chooser
	db *model.Database
	// typeNames are the types of the database's own that columns may have.
	typeNames []string
	major     int
	contrib   bool // whether the server has the extensions that come with PostgreSQL
	sql       []string
	relations []relation // that views can stand on
	routines  []routine
}

func (d *drawer) draw() {
	d.db = model.New(model.Postgres)
	d.db.Schemas = []model.Schema{{Name: "public"}}
	for _, name := range schemaNames[1:] {
		if d.yes() {
			d.db.Schemas = append(d.db.Schemas, model.Schema{Name: name, Comment: d.comment()})
		}
	}
	d.within("enums", d.enums)
	d.within("types", d.drawTypes)
	for _, name := range tableNames {
		d.within("table "+name, func() {
			if d.yes() {
				d.table(name)
			}
		})
	}
	d.foreignKeys()
	d.within("sequences", d.sequences)
	d.within("partitions", d.drawPartitions)
	d.db.Normalise()
	d.statements()
}

func (d *drawer) yes() bool { return d.Pick(2) == 1 }

func (d *drawer) pick(n int) int { return d.Pick(n) }

func (d *drawer) rarely() bool { return d.Pick(4) == 3 }

func (d *drawer) comment() string {
	return []string{"", "", "", "a comment", "it's \\ \"two\"\nlines"}[d.pick(5)]
}

// within gives what is drawn in f a place of its own, so that both schemas of a pair can have the same there.
func (d *drawer) within(place string, f func()) { d.Within(place, f) }

func (d *drawer) schema() string { return d.db.Schemas[d.pick(len(d.db.Schemas))].Name }

func (d *drawer) enums() {
	for _, name := range []string{"mood", "Mood two"} {
		if d.yes() {
			values := [][]string{{"a", "b"}, {"a", "it's", "b"}, {"a", "b", "c"}}[d.Keep(name, 3)]
			d.db.Enums = append(d.db.Enums, model.Enum{Name: model.Name{Schema: "public", Name: name}, Values: values, Comment: d.comment()})
		}
	}
}

func (d *drawer) table(name string) {
	t := model.Table{Name: model.Name{Schema: d.schema(), Name: name}, Comment: d.comment()}
	if d.rarely() {
		t.Options = []string{"fillfactor=" + []string{"70", "90"}[d.pick(2)]}
	}
	for _, column := range columnNames {
		d.within(column, func() {
			if d.yes() {
				t.Columns = append(t.Columns, d.column(column))
			}
		})
	}
	for place, draw := range []func(*model.Table){d.generated, d.keys, d.checks, d.indexes} {
		d.within(strconv.Itoa(place), func() { draw(&t) })
	}
	d.db.Tables = append(d.db.Tables, t)
}

func (d *drawer) column(name string) model.Column {
	c := model.Column{Name: name, NotNull: d.yes(), Comment: d.comment()}
	pool := len(valueTypes) + len(d.db.Enums)
	if slices.Contains([]string{"c1", "c2", "c3"}, name) && d.yes() {
		pool = 3 // integers, which the expressions need
	}
	if len(d.typeNames) > 0 && d.rarely() {
		c.Type = d.typeNames[d.pick(len(d.typeNames))]
		return c
	}
	i := d.pick(pool)
	if i >= len(valueTypes) {
		e := d.db.Enums[i-len(valueTypes)]
		c.Type = map[string]string{"mood": "public.mood", "Mood two": `public."Mood two"`}[e.Name.Name]
		if d.yes() {
			c.Default = "'a'::" + c.Type
		}
		return c
	}
	c.Type = valueTypes[i].name
	switch {
	case isInteger(c.Type) && d.rarely():
		c.NotNull, c.Identity = true, &model.Identity{Always: d.yes(), SequenceOptions: d.options(c.Type)}
	case d.yes():
		c.Default = valueTypes[i].def
	}
	if c.Type == "text" && d.rarely() {
		c.Collation = `pg_catalog."C"`
	}
	if (c.Type == "text" || c.Type == "jsonb") && d.rarely() {
		c.Storage = []string{"external", "main"}[d.pick(2)]
	}
	return c
}

func (d *drawer) options(kind string) model.SequenceOptions {
	high := map[string]int64{"smallint": 1<<15 - 1, "integer": 1<<31 - 1, "bigint": 1<<63 - 1}[kind]
	return model.SequenceOptions{Start: 1, Increment: int64(d.pick(2) + 1), Min: 1, Max: high - int64(d.pick(2)), Cache: int64(d.pick(2)*4 + 1), Cycle: d.rarely()}
}

// integers are the columns that expressions can use.
func integers(t *model.Table) []string {
	var names []string
	for i := range t.Columns {
		c := &t.Columns[i]
		if slices.Contains([]string{"c1", "c2", "c3"}, c.Name) && isInteger(c.Type) && c.Generated == nil {
			names = append(names, c.Name)
		}
	}
	return names
}

func (d *drawer) generated(t *model.Table) {
	if names := integers(t); len(names) > 0 && d.yes() {
		base := names[d.pick(len(names))]
		t.Columns = append(t.Columns, model.Column{
			Name: "gen", Type: t.Column(base).Type, NotNull: d.rarely(), Comment: d.comment(),
			Generated: &model.Generated{Expression: "(" + base + " * " + strconv.Itoa(d.pick(2)+2) + ")"},
		})
	}
}

func (d *drawer) keys(t *model.Table) {
	var candidates []string
	for i := range t.Columns {
		if t.Columns[i].NotNull {
			candidates = append(candidates, t.Columns[i].Name)
		}
	}
	suffix := t.Name.Name[:min(len(t.Name.Name), 2)]
	if len(candidates) > 0 && d.yes() {
		columns := candidates[:d.pick(min(2, len(candidates)))+1]
		t.Constraints = append(t.Constraints, model.Constraint{Name: []string{"pk ", "PK "}[d.pick(2)] + suffix, Kind: model.PrimaryKey, Columns: columns, Comment: d.comment()})
	}
	if len(t.Columns) > 0 && d.yes() {
		c := model.Constraint{Name: "u " + suffix, Kind: model.Unique, Columns: []string{t.Columns[d.pick(len(t.Columns))].Name}}
		if d.rarely() {
			c.Deferrable, c.Deferred = true, d.yes()
		}
		t.Constraints = append(t.Constraints, c)
	}
}

func (d *drawer) checks(t *model.Table) {
	for _, column := range integers(t) {
		if d.rarely() {
			t.Constraints = append(t.Constraints, model.Constraint{
				Name: "check " + column, Kind: model.Check, Columns: []string{column}, Comment: d.comment(), NotValid: d.rarely(),
				Expression: "(" + column + []string{" > ", " >= "}[d.pick(2)] + "0)",
			})
		}
	}
}

func (d *drawer) indexes(t *model.Table) {
	suffix := t.Name.Name[:min(len(t.Name.Name), 2)]
	for i := range t.Columns {
		if !d.rarely() {
			continue
		}
		x := model.Index{Name: "i " + suffix + strconv.Itoa(i%3), Method: "btree", Unique: d.rarely(), Comment: d.comment(), Keys: []model.IndexKey{{Column: t.Columns[i].Name}}}
		if slices.ContainsFunc(t.Indexes, func(o model.Index) bool { return o.Name == x.Name }) {
			continue
		}
		x.Keys[0].Order = []string{"", "DESC", "NULLS FIRST", "DESC NULLS LAST"}[d.pick(4)]
		if names := integers(t); len(names) > 0 && d.yes() {
			x.Keys = append(x.Keys, model.IndexKey{Expression: "((" + names[0] + " + 1))"})
			x.Predicate = "(" + names[0] + " IS NOT NULL)"
		}
		t.Indexes = append(t.Indexes, x)
	}
}

// foreignKeys point from any column to a single-column key of the same type.
func (d *drawer) foreignKeys() {
	for i := range d.db.Tables {
		child := &d.db.Tables[i]
		for j := range d.db.Tables {
			parent := &d.db.Tables[j]
			for k := range parent.Constraints {
				key := parent.Constraints[k]
				d.within("fk "+child.Name.Name+parent.Name.Name+key.Name, func() {
					if len(key.Columns) == 1 && !key.Deferrable && (key.Kind == model.PrimaryKey || key.Kind == model.Unique) && d.yes() {
						d.foreignKey(child, parent, key.Columns[0], j*2+k%2)
					}
				})
			}
		}
	}
}

func (d *drawer) foreignKey(child, parent *model.Table, column string, number int) {
	want := parent.Column(column)
	name := "fk " + strconv.Itoa(number)
	if slices.ContainsFunc(child.Constraints, func(c model.Constraint) bool { return c.Name == name }) {
		return
	}
	for i := range child.Columns {
		c := &child.Columns[i]
		if c.Type != want.Type || c.Collation != want.Collation || c.Generated != nil {
			continue
		}
		child.Constraints = append(child.Constraints, model.Constraint{
			Name: name, Kind: model.ForeignKey, Columns: []string{c.Name}, Deferrable: d.rarely(), Comment: d.comment(), NotValid: d.rarely(),
			Reference: &model.Reference{
				Table: parent.Name, Columns: []string{column}, MatchFull: d.rarely(),
				OnDelete: []string{"", "CASCADE", "RESTRICT", "SET NULL"}[d.pick(4)], OnUpdate: []string{"", "CASCADE"}[d.pick(2)],
			},
		})
		return
	}
}

// sequences are owned by a table or by none, and used as defaults.
func (d *drawer) sequences() {
	for _, name := range []string{"q1", "q2"} {
		if !d.yes() {
			continue
		}
		kind := []string{"integer", "bigint"}[d.pick(2)]
		q := model.Sequence{Name: model.Name{Schema: "public", Name: name}, Type: kind, SequenceOptions: d.options(kind), Comment: d.comment()}
		for i := range d.db.Tables {
			d.within(name+d.db.Tables[i].Name.Name, func() { d.useSequence(&d.db.Tables[i], &q) })
		}
		d.db.Sequences = append(d.db.Sequences, q)
	}
}

func (d *drawer) useSequence(t *model.Table, q *model.Sequence) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if !isInteger(c.Type) || c.Identity != nil || c.Generated != nil || !d.rarely() {
			continue
		}
		c.Default = "nextval('public." + q.Name.Name + "'::regclass)"
		if q.Owner == nil && t.Schema == "public" && d.yes() {
			q.Owner = &model.ColumnRef{Table: t.Name, Column: c.Name}
		}
		return
	}
}

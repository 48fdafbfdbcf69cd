package mysql_test

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/internal/gentest"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Legal and unpleasant names. Columns in expressions are called c1 to c3.
var (
	tableNames  = []string{"t1", "we`ird", "select", "Ünï çödé", "line\nbreak", "a.b", strings.Repeat("n", 64)}
	columnNames = []string{"c1", "c2", "c3", "Case", "order", "q`q", "it's", "$1;-- x", "a\"b\\", strings.Repeat("ж", 64)}
)

// valueType is a column type with a default as the server prints it.
type valueType struct {
	name, def string
	text      bool
}

var valueTypes = []valueType{
	{"int(11)", "0", false},
	{"bigint(20) unsigned", "5", false},
	{"smallint(6)", "-1", false},
	{"varchar(10)", `'it''s \\ x'`, true},
	{"varchar(30)", "concat('a',1)", true},
	{"text", "", true},
	{"char(3)", "'x'", true},
	{"enum('a','b','it''s')", "'a'", true},
	{"enum('b','a')", "", true},
	{"set('x','y')", "'x,y'", true},
	{"decimal(10,2)", "1.50", false},
	{"decimal(12,3) unsigned", "", false},
	{"tinyint(1)", "1", false},
	{"datetime(6)", "current_timestamp(6)", false},
	{"date", "'2020-02-02'", false},
	{"blob", "", false},
	{"varbinary(16)", "", false},
	{"double", "", false},
	{"bit(3)", "b'101'", false},
	{"uuid", "uuid()", false},
}

// drawer makes one schema: a model in the words of the server, and statements that come after it.
type drawer struct {
	*gentest.Chooser
	db  *model.Database
	sql []string
}

func (d *drawer) draw() {
	d.db, d.sql = model.New(model.MySQL), nil
	d.db.Server = model.ServerMariaDB
	for _, name := range tableNames {
		d.Within("table "+name, func() {
			if d.yes() {
				d.table(name)
			}
		})
	}
	d.db.Normalise()
	d.foreignKeys()
	d.Within("sequences", d.sequences)
	d.Within("definitions", d.definitions)
	d.db.Normalise()
	d.statements()
}

func (d *drawer) yes() bool      { return d.Pick(2) == 1 }
func (d *drawer) pick(n int) int { return d.Pick(n) }
func (d *drawer) rarely() bool   { return d.Pick(4) == 3 }

func (d *drawer) comment() string {
	return []string{"", "", "", "a comment", "it's \\ \"two\"\nlines"}[d.pick(5)]
}

func (d *drawer) collation() string {
	return []string{"utf8mb4_general_ci", "utf8mb4_general_ci", "utf8mb4_bin", "latin1_swedish_ci"}[d.pick(4)]
}

func (d *drawer) table(name string) {
	t := model.Table{Name: model.Name{Name: name}, Comment: d.comment(), MySQL: &model.TableMySQL{Engine: "InnoDB", Collation: d.collation(), Versioned: d.rarely()}}
	if d.rarely() {
		t.Options = []string{"ROW_FORMAT=" + []string{"COMPACT", "DYNAMIC"}[d.pick(2)]}
	}
	t.Columns = append(t.Columns, model.Column{Name: "id", Type: "int(11)", NotNull: true, MySQL: &model.ColumnMySQL{}})
	for _, column := range columnNames {
		d.Within(column, func() {
			if d.yes() {
				t.Columns = append(t.Columns, d.column(column))
			}
		})
	}
	d.Within("generated", func() { d.generated(&t) })
	d.Within("keys", func() { d.keys(&t) })
	if names := integers(&t); len(names) > 0 && d.yes() {
		c := names[d.pick(len(names))]
		t.Constraints = append(t.Constraints, model.Constraint{Name: "check one " + strings.ToUpper(name[:1]), Kind: model.Check, Columns: []string{c}, Expression: "`" + c + "` > " + strconv.Itoa(d.pick(2))})
	}
	if len(t.Indexes) == 0 && d.rarely() {
		t.MySQL.Partitioning = "PARTITION BY HASH (`id`)\nPARTITIONS " + strconv.Itoa(d.pick(2)+2)
	}
	d.db.Tables = append(d.db.Tables, t)
}

func (d *drawer) column(name string) model.Column {
	c := model.Column{Name: name, NotNull: d.yes(), Comment: d.comment(), MySQL: &model.ColumnMySQL{Invisible: d.rarely()}}
	v := valueTypes[d.pick(len(valueTypes))]
	if slices.Contains([]string{"c1", "c2", "c3"}, name) && d.yes() {
		v = valueTypes[0]
	}
	c.Type = v.name
	if v.text {
		c.Collation = d.collation()
	}
	switch {
	case v.def != "" && d.yes():
		c.Default = v.def
		if v.name == "datetime(6)" && d.yes() {
			c.MySQL.OnUpdate = "current_timestamp(6)"
		}
	case !c.NotNull:
		c.Default = "NULL"
	default:
		c.MySQL.Invisible = false // it would have no value
	}
	if v.name == "int(11)" && d.rarely() && isPlain(name) {
		c.MySQL.Check = "`" + name + "` <> 7"
	}
	return c
}

func isPlain(name string) bool { return !strings.Contains(name, "`") }

func integers(t *model.Table) []string {
	var names []string
	for i := range t.Columns {
		if c := &t.Columns[i]; slices.Contains([]string{"c1", "c2"}, c.Name) && c.Type == "int(11)" {
			names = append(names, c.Name)
		}
	}
	return names
}

func (d *drawer) generated(t *model.Table) {
	if names := integers(t); len(names) > 0 && d.yes() {
		expression := "`" + names[d.pick(len(names))] + "` * " + strconv.Itoa(d.pick(2)+2)
		t.Columns = append(t.Columns, model.Column{Name: "gen", Type: "int(11)", Comment: d.comment(), MySQL: &model.ColumnMySQL{}, Generated: &model.Generated{Expression: expression, Virtual: d.yes()}})
	}
}

func (d *drawer) keys(t *model.Table) {
	if d.yes() {
		x := model.Index{Name: model.PrimaryIndex, Method: "default", Unique: true, Keys: []model.IndexKey{{Column: "id"}}}
		t.Columns[0].MySQL.AutoIncrement = d.yes()
		t.Indexes = append(t.Indexes, x)
	}
	for i, name := range []string{"i one", "ünïque", "i`3"} {
		if !d.yes() {
			continue
		}
		x := model.Index{Name: name, Method: []string{"default", "default", "btree"}[d.pick(3)], Comment: d.comment(), Unique: i == 1}
		for j := range t.Columns {
			if k, ok := d.key(&t.Columns[j]); ok && d.rarely() && len(x.Keys) < 4 {
				x.Keys = append(x.Keys, k)
			}
		}
		if len(x.Keys) == 0 {
			x.Keys = []model.IndexKey{{Column: "id", Order: []string{"", "DESC"}[d.pick(2)]}}
		}
		if d.rarely() && !x.Unique { // a unique index may stand in for the primary key
			x.MySQL = &model.IndexMySQL{Hidden: true}
		}
		t.Indexes = append(t.Indexes, x)
	}
}

func (d *drawer) key(c *model.Column) (model.IndexKey, bool) {
	k := model.IndexKey{Column: c.Name}
	switch {
	case strings.HasPrefix(c.Type, "blob"), strings.HasPrefix(c.Type, "text"):
		k.Prefix = 4
	case strings.HasPrefix(c.Type, "varchar") && d.yes():
		k.Prefix = 3
	}
	if d.rarely() {
		k.Order = "DESC"
	}
	return k, true
}

// foreignKeys point from c3 to the primary key of some table, in circles too.
func (d *drawer) foreignKeys() {
	var parents []string
	for i := range d.db.Tables {
		if t := &d.db.Tables[i]; len(t.Indexes) > 0 && slices.ContainsFunc(t.Indexes, func(x model.Index) bool { return x.Name == model.PrimaryIndex }) {
			parents = append(parents, t.Name.Name)
		}
	}
	for i := range d.db.Tables {
		d.Within("fk "+d.db.Tables[i].Name.Name, func() { d.foreignKey(&d.db.Tables[i], parents, i) })
	}
}

func (d *drawer) foreignKey(t *model.Table, parents []string, i int) {
	c := t.Column("c3")
	if len(parents) == 0 || c == nil || c.Type != "int(11)" || t.MySQL.Partitioning != "" || !d.yes() {
		return
	}
	r := &model.Reference{Table: model.Name{Name: parents[d.pick(len(parents))]}, Columns: []string{"id"}, OnDelete: []string{"", "CASCADE", "NO ACTION"}[d.pick(3)]}
	if !c.NotNull && d.rarely() && c.MySQL.Check == "" {
		r.OnDelete = "SET NULL"
	}
	name := "fk " + strconv.Itoa(i)
	t.Constraints = append(t.Constraints, model.Constraint{Name: name, Kind: model.ForeignKey, Columns: []string{"c3"}, Reference: r})
	t.Indexes = append(t.Indexes, model.Index{Name: name, Method: "default", Keys: []model.IndexKey{{Column: "c3"}}})
}

func (d *drawer) sequences() {
	for _, name := range []string{"a sequence", "s`2"} {
		if d.yes() {
			d.db.Sequences = append(d.db.Sequences, model.Sequence{Name: model.Name{Name: name}, Type: "bigint", SequenceOptions: model.SequenceOptions{
				Start: 1, Increment: int64(d.pick(2) + 1), Min: 1, Max: 1000 - int64(d.pick(2)), Cache: int64(d.pick(2) * 10), Cycle: d.yes(),
			}})
		}
	}
}

func (d *drawer) definitions() {
	add := func(kind, table, name, create string) *model.Definition {
		d.db.Definitions = append(d.db.Definitions, model.Definition{Object: model.Object{Kind: kind, Table: table, Name: name}, Create: create})
		return &d.db.Definitions[len(d.db.Definitions)-1]
	}
	if d.yes() {
		add("function", "", "f one", "CREATE FUNCTION `f one`(a INT) RETURNS int(11)\n    DETERMINISTIC\nRETURN a + "+strconv.Itoa(d.pick(2)))
	}
	if d.yes() {
		add("procedure", "", "p`1", "CREATE PROCEDURE `p``1`(x INT)\nBEGIN\n  IF x THEN SET x = "+strconv.Itoa(d.pick(3))+"; END IF;\nEND")
	}
	if d.yes() {
		add("event", "", "ev", "CREATE EVENT `ev` ON SCHEDULE EVERY "+strconv.Itoa(d.pick(2)+1)+" DAY STARTS '2030-01-01 00:00:00' ON COMPLETION NOT PRESERVE "+[]string{"ENABLE", "DISABLE"}[d.pick(2)]+" DO SELECT 1")
	}
	if len(d.db.Tables) == 0 {
		return
	}
	table := d.db.Tables[d.pick(len(d.db.Tables))].Name.Name
	quoted := "`" + strings.ReplaceAll(table, "`", "``") + "`"
	if d.yes() {
		v := add("view", "", "z view", "CREATE ALGORITHM=UNDEFINED SQL SECURITY "+[]string{"DEFINER", "INVOKER"}[d.pick(2)]+" VIEW `z view` AS select "+quoted+".`id` AS `id` from "+quoted)
		v.DependsOn = []model.Dependency{{Object: model.Object{Kind: "table", Name: table}}}
		if d.yes() {
			second := add("view", "", "a view", "CREATE ALGORITHM=UNDEFINED SQL SECURITY DEFINER VIEW `a view` AS select `z view`.`id` + "+strconv.Itoa(d.pick(2))+" AS `n` from `z view`")
			second.DependsOn = []model.Dependency{{Object: model.Object{Kind: "view", Name: "z view"}}}
		}
	}
	triggers := d.pick(3)
	names := []string{"g1", "g`2"}
	if d.yes() {
		slices.Reverse(names)
	}
	for i := range triggers {
		g := add("trigger", table, names[i], "CREATE TRIGGER `"+strings.ReplaceAll(names[i], "`", "``")+"` BEFORE INSERT ON "+quoted+" FOR EACH ROW SET @x = "+strconv.Itoa(d.pick(2)))
		g.DependsOn = []model.Dependency{{Object: model.Object{Kind: "table", Name: table}}}
		if triggers > 1 {
			g.Properties = []model.Property{{Name: "order", Set: strconv.Itoa(i + 1)}}
		}
	}
}

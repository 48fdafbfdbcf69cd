package export

import (
	"regexp"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// databaseMySQL writes a model of MySQL or MariaDB, whose names have no schema.
func (w *writer) databaseMySQL(d *model.Database) *node {
	root := newMapping()
	sequences := newMapping()
	for i := range d.Sequences {
		s := &d.Sequences[i]
		one := newMapping()
		if s.Type != "bigint" {
			one.putText("type", s.Type)
		}
		one.sequence(s.SequenceOptions)
		sequences.putObject(named(s.Name), one)
	}
	root.section("sequences", sequences)
	tables := newMapping()
	for i := range d.Tables {
		tables.putObject(named(d.Tables[i].Name), w.tableMySQL(d.Server, &d.Tables[i]))
	}
	root.section("tables", tables)
	w.definitionsMySQL(root, d)
	for _, o := range d.Unmodelled {
		w.object(o)
	}
	return root
}

func (w *writer) tableMySQL(server string, t *model.Table) *node {
	m, own := newMapping(), t.MySQLPart()
	m.putText("engine", own.Engine)
	m.putText("collation", own.Collation)
	m.putText("comment", t.Comment)
	m.optionsMySQL(t.Options)
	columns := newMapping()
	for i := range t.Columns {
		columns.put(t.Columns[i].Name, w.columnMySQL(server, t, &t.Columns[i]))
	}
	m.section("columns", columns)
	m.putTexts("custom_sql", own.Periods)
	constraints, indexes := newMapping(), newMapping()
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.Name == model.PrimaryIndex {
			constraints.put(x.Name, w.primaryMySQL(t, x))
			continue
		}
		indexes.put(x.Name, w.indexMySQL(t, x))
	}
	for i := range t.Constraints {
		constraints.put(t.Constraints[i].Name, w.constraintMySQL(t, &t.Constraints[i]))
	}
	m.section("constraints", constraints)
	m.section("indexes", indexes)
	m.putFlag("system_versioned", own.Versioned)
	m.putText("partition_by", strings.TrimPrefix(own.Partitioning, "PARTITION BY "))
	return m
}

// optionsMySQL puts options, which a model has as the server prints them.
func (m *node) optionsMySQL(values []string) {
	options := newMapping()
	for _, v := range values {
		key, value, _ := strings.Cut(v, "=")
		key = strings.Trim(key, "`")
		if numeral.MatchString(value) {
			options.put(key, numberNode(value))
			continue
		}
		options.put(key, textNode(unliteral(value)))
	}
	m.section("options", options)
}

// numeral is a number as it stands in a default.
var numeral = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// unliteral reads what stands between single quotes; other text stays.
func unliteral(printed string) string {
	inner, quoted := strings.CutPrefix(printed, "'")
	if !quoted {
		return printed
	}
	inner = strings.TrimSuffix(inner, "'")
	return strings.NewReplacer("''", "'", `\\`, `\`, `\'`, "'", `\n`, "\n", `\r`, "\r", `\t`, "\t", `\0`, "\x00", `\Z`, "\x1a").Replace(inner)
}

// withoutParentheses takes off those around a whole expression.
func withoutParentheses(expression string) string {
	inner, open := strings.CutPrefix(expression, "(")
	inner, closes := strings.CutSuffix(inner, ")")
	if !open || !closes {
		return expression
	}
	depth := 0
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; c {
		case '\'', '"', '`':
			for i++; i < len(inner) && inner[i] != c; i++ {
				if inner[i] == '\\' && c != '`' {
					i++
				}
			}
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return expression
			}
		}
	}
	return inner
}

func (w *writer) columnMySQL(server string, t *model.Table, c *model.Column) *node {
	m, own := newMapping(), c.MySQLPart()
	m.putText("type", c.Type)
	if c.Collation != t.MySQLPart().Collation {
		m.putText("collation", c.Collation)
	}
	m.putFlag("not_null", c.NotNull)
	w.defaultMySQL(server, m, t, c)
	if c.Generated != nil {
		m.putText("generated", c.Generated.Expression)
		kind := "STORED"
		if c.Generated.Virtual {
			kind = "VIRTUAL"
		}
		m.putText("generated_kind", kind)
	}
	m.putText("row_period", strings.TrimPrefix(own.RowPeriod, "ROW "))
	m.putText("on_update_expr", own.OnUpdate)
	m.putFlag("auto_increment", own.AutoIncrement)
	m.putFlag("invisible", own.Invisible)
	m.putFlag("without_versioning", own.Unversioned)
	m.putText("check", own.Check)
	m.putText("comment", c.Comment)
	return m
}

// defaultless are the types whose columns are printed without a default where they have none but NULL, on MySQL.
var defaultless = regexp.MustCompile(`(text|blob|json|geometry|point|linestring|polygon|collection)$`)

func (w *writer) defaultMySQL(server string, m *node, t *model.Table, c *model.Column) {
	switch d := c.Default; {
	case d == "" && (c.NotNull || c.Generated != nil || c.MySQLPart().RowPeriod != "" || server == model.ServerMySQL && defaultless.MatchString(c.Type)):
	case d == "":
		w.cannot("the lack of any default, NULL too, of column %q of table %q", c.Name, t.Name.Name)
	case d == "NULL":
	case numeral.MatchString(d):
		m.put("default", numberNode(d))
	case d[0] == '\'':
		m.put("default", textNode(unliteral(d)))
	default:
		m.putText("default_expr", withoutParentheses(d))
	}
}

// primaryMySQL writes the primary key, whose columns have neither a prefix nor a direction.
func (w *writer) primaryMySQL(t *model.Table, x *model.Index) *node {
	m := newMapping()
	m.putText("type", "PRIMARY KEY")
	var columns []string
	for _, k := range x.Keys {
		if k != (model.IndexKey{Column: k.Column}) {
			w.cannot("the prefix, direction or period of the primary key of table %q", t.Name.Name)
		}
		columns = append(columns, k.Column)
	}
	if x.Method != "default" || len(x.Options) > 0 || *x.MySQLPart() != (model.IndexMySQL{}) {
		w.cannot("the options of the primary key of table %q", t.Name.Name)
	}
	m.putTexts("columns", columns)
	m.putText("comment", x.Comment)
	return m
}

func (w *writer) indexMySQL(t *model.Table, x *model.Index) *node {
	m, own := newMapping(), x.MySQLPart()
	m.putFlag("unique", x.Unique)
	if x.Method != "default" {
		m.putText("type", strings.ToUpper(x.Method))
	}
	fields := newList()
	for _, k := range x.Keys {
		fields.items = append(fields.items, w.keyMySQL(t, x, k))
	}
	m.put("fields", fields)
	options := newMapping()
	if own.KeyBlockSize > 0 {
		options.putNumber("KEY_BLOCK_SIZE", int64(own.KeyBlockSize))
	}
	m.section("options", options)
	if len(x.Options) > 0 {
		w.cannot("the options of index %q of table %q", x.Name, t.Name.Name)
	}
	m.putText("parser", own.Parser)
	m.putFlag("invisible", own.Hidden)
	m.putText("comment", x.Comment)
	return m
}

func (w *writer) keyMySQL(t *model.Table, x *model.Index, k model.IndexKey) *node {
	if k == (model.IndexKey{Column: k.Column}) {
		return textNode(k.Column)
	}
	if k.Expression != "" && !strings.HasPrefix(k.Expression, "(") {
		w.cannot("the period of index %q of table %q", x.Name, t.Name.Name)
	}
	m := newMapping()
	m.putText("column", k.Column)
	m.putText("expr", withoutParentheses(k.Expression))
	if k.Prefix > 0 {
		m.putNumber("prefix", int64(k.Prefix))
	}
	m.putFlag("desc", k.Order == "DESC")
	m.flow = true
	return m
}

func (w *writer) constraintMySQL(t *model.Table, c *model.Constraint) *node {
	m := newMapping()
	m.putText("type", types[c.Kind])
	if c.Kind == model.Check {
		m.putText("check", c.Expression)
		if c.NotEnforced {
			m.put("enforced", flagNode(false))
		}
		return m
	}
	m.putTexts("columns", c.Columns)
	if r := c.Reference; r != nil {
		if r.Table.Schema != "" {
			w.cannot("foreign key %q of table %q, which points to another database", c.Name, t.Name.Name)
		}
		m.put("foreign_table", referenceNode(w.refer("table", r.Table)))
		m.putTexts("foreign_column", r.Columns)
		m.putText("on_update", r.OnUpdate)
		m.putText("on_delete", r.OnDelete)
	}
	return m
}

// knownMySQL copies what the writer writes of a table.
func knownMySQL(t *model.Table) model.Table {
	own := t.MySQLPart()
	out := model.Table{
		Name: t.Name, Comment: t.Comment, Options: t.Options,
		MySQL: &model.TableMySQL{Engine: own.Engine, Collation: own.Collation, Versioned: own.Versioned, Periods: own.Periods, Partitioning: own.Partitioning},
	}
	for i := range t.Columns {
		c, p := &t.Columns[i], t.Columns[i].MySQLPart()
		out.Columns = append(out.Columns, model.Column{
			Name: c.Name, Type: c.Type, Collation: c.Collation, NotNull: c.NotNull, Default: c.Default, Generated: c.Generated, Comment: c.Comment,
			MySQL: &model.ColumnMySQL{AutoIncrement: p.AutoIncrement, OnUpdate: p.OnUpdate, Invisible: p.Invisible, Unversioned: p.Unversioned, RowPeriod: p.RowPeriod, Check: p.Check},
		})
	}
	for i := range t.Constraints {
		c := &t.Constraints[i]
		out.Constraints = append(out.Constraints, model.Constraint{
			Name: c.Name, Kind: c.Kind, Columns: c.Columns, Reference: c.Reference, Expression: c.Expression, NotEnforced: c.NotEnforced,
		})
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		out.Indexes = append(out.Indexes, model.Index{
			Name: x.Name, Method: x.Method, Unique: x.Unique, Keys: x.Keys, Options: x.Options, Comment: x.Comment, MySQL: x.MySQL,
		})
	}
	return out
}
